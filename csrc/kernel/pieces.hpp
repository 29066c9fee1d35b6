// SPDX-License-Identifier: MIT
// What are the outputs of a layer's units, by their pieces, in a sweep?
//
// Tables by kink and by piece, with the units side by side, padded to whole vectors: a lookup for eight units at once is a
// load for each kink. A unit whose only kink is at 0 and that has no intercepts is *simple*; if all units are simple,
// there is one comparison and one product, and the loops over kinks are compiled away.
// Rounding: a value is off by 2 u of its own product and 2 u of the intercept; the charge is in `intercept_size`.
#pragma once

#include <algorithm>
#include <cmath>

#include "memory/arena.hpp"
#include "rows/doubled.hpp"
#include "rows/limbs.hpp"
#include "rows/twice.hpp"
#include "task/network.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct Pieces {
  int kinks = 0;
  bool simple = false;
  std::size_t stride = 0;          // padded units
  double steepest = 0;
  double intercept_size = 0;       // 2-norm of the largest intercepts, and of slopes times kinks; 0 if simple
  double* breakpoints = nullptr;   // [kinks, stride], padded with zeros as are all others
  double* slopes = nullptr;        // [kinks + 1, stride]
  double* intercepts = nullptr;    // [kinks + 1, stride]
  double* at_kinks = nullptr;      // [kinks, stride], outputs there to twice the working precision
  double* low_at_kinks = nullptr;
  double* rest_at_kinks[2] = {};   // third and fourth limbs, if the sweep needs them

  std::size_t at(int kink, std::size_t unit) const { return std::size_t(kink) * stride + unit; }
};

inline bool is_simple(const Layer& layer) {
  const auto zero = [](const double* first, std::size_t count) {
    return std::all_of(first, first + count, [](double value) { return value == 0; });
  };
  const std::size_t units = std::size_t(layer.units);
  return layer.kinks == 1 && zero(layer.breakpoints, units) && zero(layer.intercepts, 2 * units);
}

inline Pieces pieces_of(const Layer& layer, std::size_t stride, Arena& arena) {
  const std::size_t kinks = std::size_t(layer.kinks);
  Pieces all;
  all.kinks = layer.kinks;
  all.simple = is_simple(layer);
  all.stride = stride;
  const auto zeros = [&](std::size_t rows) {
    double* table = arena.take<double>(rows * stride);
    std::fill_n(table, rows * stride, 0.0);
    return table;
  };
  for (double** table : {&all.breakpoints, &all.at_kinks, &all.low_at_kinks}) *table = zeros(kinks);
  for (double** table : {&all.slopes, &all.intercepts}) *table = zeros(kinks + 1);
  for (int i = 0; i < layer.units; ++i)
    for (int piece = 0; piece <= layer.kinks; ++piece) {
      const double slope = all.slopes[all.at(piece, std::size_t(i))] = layer.slope(i, piece);
      all.steepest = at_least(all.steepest, std::fabs(slope));
    }
  if (all.simple) return all;
  double squares = 0;
  for (int i = 0; i < layer.units; ++i) {
    const std::size_t unit = std::size_t(i);
    double size = std::fabs(all.intercepts[unit] = layer.intercept(i, 0));
    for (int kink = 0; kink < layer.kinks; ++kink) {
      const double place = all.breakpoints[all.at(kink, unit)] = layer.breakpoints_of(i)[kink];
      const double intercept = all.intercepts[all.at(kink + 1, unit)] = layer.intercept(i, kink + 1);
      const Twice output =
          Twice{all.slopes[all.at(kink, unit)], 0} * Twice{place, 0} + Twice{all.intercepts[all.at(kink, unit)], 0};
      all.at_kinks[all.at(kink, unit)] = output.high;
      all.low_at_kinks[all.at(kink, unit)] = output.low;
      size = at_least(size, at_least(std::fabs(intercept), all.steepest * std::fabs(place)));
    }
    squares += size * size;
  }
  all.intercept_size = std::sqrt(squares) * slack + floor_of_sizes * double(layer.units);
  return all;
}

// Sets the outputs at kinks to four limbs.
inline void refine_kinks(const Layer& layer, Pieces& all, Arena& arena) {
  if (all.simple || all.rest_at_kinks[0] != nullptr) return;
  const std::size_t count = std::size_t(all.kinks) * all.stride;
  for (double*& table : all.rest_at_kinks) std::fill_n(table = arena.take<double>(count), count, 0.0);
  double* const tables[4] = {all.at_kinks, all.low_at_kinks, all.rest_at_kinks[0], all.rest_at_kinks[1]};
  for (int i = 0; i < layer.units; ++i)
    for (int kink = 0; kink < all.kinks; ++kink) {
      const std::size_t at = all.at(kink, std::size_t(i));
      Limbs<4, Lanes4> output{};
      output.add_product<0>(Lanes4{} + all.slopes[at], Lanes4{} + all.breakpoints[at]);
      output.add<0>(Lanes4{} + all.intercepts[at]);
      output = output.normalized();
      for (int m = 0; m < 4; ++m) tables[m][at] = output.limb[m][0];
    }
}

struct Piece {
  Lanes8 slope;
  Lanes8 intercept;
};

// The pieces of eight values.
template <bool IsSimple>
REGIONS_INLINE Piece piece_at(const Pieces& all, const Doubled<Lanes8>& value, std::size_t i) {
  const Lanes8 lowest = load<Lanes8>(all.slopes + i);
  if (IsSimple) return {value.high > 0 ? load<Lanes8>(all.slopes + all.stride + i) : lowest, Lanes8{}};
  Piece piece{lowest, load<Lanes8>(all.intercepts + i)};
  for (int kink = 0; kink < all.kinks; ++kink) {
    const auto above = (value.high - load<Lanes8>(all.breakpoints + all.at(kink, i))) + value.low > 0;
    piece.slope = above ? load<Lanes8>(all.slopes + all.at(kink + 1, i)) : piece.slope;
    piece.intercept = above ? load<Lanes8>(all.intercepts + all.at(kink + 1, i)) : piece.intercept;
  }
  return piece;
}

// The outputs of eight values. Lower parts are neither read nor written if they are not stored.
template <bool IsDoubled, bool IsSimple>
REGIONS_INLINE void keep_output(const Doubled<Lanes8>& value, const Piece& piece, double* high, double* low) {
  if (!IsDoubled) {
    const Lanes8 product = value.high * piece.slope;
    store(high, IsSimple ? product : product + piece.intercept);
    return;
  }
  Doubled<Lanes8> result{};
  result.add_product(value.high, piece.slope);
  result.low += value.low * piece.slope;
  if (!IsSimple) result.add(piece.intercept);
  result = result.normalized();
  store(high, result.high);
  store(low, result.low);
}

}  // namespace REGIONS_TARGET
}  // namespace regions
