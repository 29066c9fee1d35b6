// SPDX-License-Identifier: MIT
// How are weights laid out for products with many vectors at once?
//
// In panels of 32 units, one after another: input by input, the weights of the panel's units side by side. The last
// panel is as narrow as possible, padded to a multiple of eight with zeros.
#pragma once

#include <algorithm>
#include <vector>

#include "task/network.hpp"

namespace regions {

constexpr std::size_t panel_width = 32;

inline std::vector<double> in_panels(const Layer& layer) {
  const std::size_t inputs = std::size_t(layer.inputs);
  const std::size_t units = std::size_t(layer.units);
  const std::size_t padded_units = (units + 7) / 8 * 8;
  std::vector<double> panels(padded_units * inputs, 0.0);
  for (std::size_t unit = 0; unit < units; ++unit) {
    const double* row = layer.weights.row(int(unit));
    const std::size_t panel = unit / panel_width * panel_width;
    const std::size_t width = std::min(panel_width, padded_units - panel);
    double* target = panels.data() + panel * inputs + (unit - panel);
    for (std::size_t input = 0; input < inputs; ++input) target[input * width] = row[input];
  }
  return panels;
}

}  // namespace regions
