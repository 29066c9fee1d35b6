// SPDX-License-Identifier: MIT
// What do the units of a layer give, by their pieces, in a sweep?
//
// Tables kink by kink and piece by piece, the units side by side, padded to whole vectors: what is asked of eight units
// at once is a load for each kink. A unit whose only kink is at 0 and that has no intercepts is *simple*; where all are,
// there is one comparison and one product, and the kinks' loops are compiled away.
// Rounding: a value is off by 2 u of its own product and 2 u of the intercept; what is charged is in `intercept_size`.
#pragma once

#include <cmath>

#include "memory/arena.hpp"
#include "rows/doubled.hpp"
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

  std::size_t at(int kink, std::size_t unit) const { return std::size_t(kink) * stride + unit; }
};

inline Pieces pieces_of(const Layer& layer, std::size_t stride, Arena& arena) {
  const std::size_t kinks = std::size_t(layer.kinks);
  Pieces all;
  all.kinks = layer.kinks;
  all.simple = layer.kinks == 1;
  all.stride = stride;
  for (double** table : {&all.breakpoints, &all.at_kinks, &all.low_at_kinks}) *table = arena.take<double>(kinks * stride);
  for (double** table : {&all.slopes, &all.intercepts}) *table = arena.take<double>((kinks + 1) * stride);
  for (std::size_t i = 0; i < stride; ++i)
    for (int piece = 0; piece <= layer.kinks; ++piece) {
      const bool real = i < std::size_t(layer.units);
      all.slopes[all.at(piece, i)] = real ? layer.slope(int(i), piece) : 0;
      all.intercepts[all.at(piece, i)] = real ? layer.intercept(int(i), piece) : 0;
      all.steepest = at_least(all.steepest, std::fabs(all.slopes[all.at(piece, i)]));
      all.simple = all.simple && all.intercepts[all.at(piece, i)] == 0;
    }
  double squares = 0;
  for (std::size_t i = 0; i < stride; ++i) {
    double size = std::fabs(all.intercepts[i]);
    for (int kink = 0; kink < layer.kinks; ++kink) {
      const double place = i < std::size_t(layer.units) ? layer.breakpoints_of(int(i))[kink] : 0;
      const Twice output = Twice{all.slopes[all.at(kink, i)], 0} * Twice{place, 0} + Twice{all.intercepts[all.at(kink, i)], 0};
      all.breakpoints[all.at(kink, i)] = place;
      all.at_kinks[all.at(kink, i)] = output.high;
      all.low_at_kinks[all.at(kink, i)] = output.low;
      all.simple = all.simple && place == 0;
      size = at_least(size, at_least(std::fabs(all.intercepts[all.at(kink + 1, i)]), all.steepest * std::fabs(place)));
    }
    squares += size * size;
  }
  if (!all.simple) all.intercept_size = std::sqrt(squares) * slack + floor_of_sizes * double(layer.units);
  return all;
}

struct Piece {
  Lanes8 slope;
  Lanes8 intercept;
};

// Those on which eight values are.
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

// What eight values become. Lower parts are neither read nor written where they are not kept.
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
