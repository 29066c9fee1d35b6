// SPDX-License-Identifier: MIT
// With how many limbs are the rows of each layer stored?
//
// From layer to layer, rounding errors grow more than values do. If the error of a layer would be more than 2^-28 of the values at the
// top, its rows get another limb (rows/limbs.hpp). In a small domain values differ by less than their size, and signs depend on
// the differences: there the limit is 2^-28 of these. A wrong guess costs only time. Layers of outputs have as many limbs as the
// last hidden layer, so that the limbs of other layers do not depend on them.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "rows/lanes.hpp"
#include "task/network.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// The difference of the domain's points relative to their size, if that is small; else 1.
inline double smallness(const Chart& chart, const Domain& domain) {
  if (domain.arc) return 1;
  const std::size_t width = std::size_t(chart.dimension) + 1;
  double apart = 0;
  double largest = 0;
  for (int vertex = 0; vertex < domain.count; ++vertex) {
    const double* generator = domain.generators + std::size_t(vertex) * width;
    if (generator[0] == 0) return 1;
    double difference = 0;
    double size = 0;
    for (int input = 0; input < chart.inputs; ++input) {
      double here = chart.origin[input];
      double moved = 0;
      for (std::size_t k = 1; k < width; ++k) {
        const double direction = chart.directions[(k - 1) * std::size_t(chart.inputs) + std::size_t(input)];
        here += generator[k] * direction;
        moved += (generator[k] - domain.generators[k]) * direction;
      }
      difference += moved * moved;
      size += here * here;
    }
    apart = std::fmax(apart, difference);
    largest = std::fmax(largest, size);
  }
  const double ratio = std::sqrt(apart / largest);
  return ratio < 0.25 ? ratio : 1;  // also for NaN
}

inline std::vector<int> limbs_of_layers(const Network& network, const Chart& chart, const Domain& domain) {
  std::vector<int> result(network.layers.size(), 1);
  const double allowed = 0x1p-28 * smallness(chart, domain);
  double growth = 1;
  int limbs = 1;
  const auto rounding = [&](double terms) {
    return limbs == 1 ? unit_roundoff * (terms + 3) : rounding_of_limbs(limbs, terms);
  };
  for (std::size_t l = std::size_t(network.last_hidden()) + 1; --l > 0;) {
    const Layer& layer = network.layers[l];
    const double sizes = std::sqrt(double(layer.units)) * layer.largest_sum;
    while (limbs < most_limbs && rounding(0.5 * layer.most_terms) * sizes * growth > allowed) ++limbs;
    result[l] = limbs;
    growth *= layer.growth;
  }
  std::fill(result.begin() + network.last_hidden() + 1, result.end(), result[std::size_t(network.last_hidden())]);
  return result;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
