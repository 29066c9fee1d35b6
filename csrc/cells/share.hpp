// SPDX-License-Identifier: MIT
// Where between two points is a form zero, and are such points certainly distinct?
//
// Counting the regions of an arrangement needs only the fraction of the way, with a bound. Exact arithmetic is not used: if two
// points may coincide, the answer is that they are not distinct, and nothing is concluded.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "cells/vertex.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// The zero of a form that is positive at one point and negative at the other, as a fraction of the way between them.
//
// With a = |value at start| and b = |value at end|, each known to its bound, a / (a + b) is off by at most
// max(bounds) / (a + b - bounds), plus rounding.
struct Share {
  double share;
  double error;
  bool usable() const { return error < 0x1p-6; }  // false for NaN too
};

inline Share zero_between(Value at_start, Value at_end) {
  const double a = std::fabs(at_start.value);
  const double b = std::fabs(at_end.value);
  const double certain = (a - at_start.bound) + (b - at_end.bound);
  // If the sum is beyond the largest double, the fraction is unknown, however certain the values are.
  if (!(certain > 0 && a + b < INFINITY)) return {0, INFINITY};
  return {a / (a + b), 1.01 * (std::max(at_start.bound, at_end.bound) / certain + 4 * unit_roundoff)};
}

// The point at that fraction of the way between two finite vertices. It is a convex combination of them, so its error is at
// most theirs, plus the fraction's error times the distance, plus rounding: of a difference, which is up to twice the
// largest coordinate, of a product as large, and of a sum.
template <int D>
Vertex<D> placed_between(const Vertex<D>& start, const Vertex<D>& end, const Share& share) {
  Vertex<D> vertex{};
  vertex.position[0] = 1;
  for (int k = 1; k <= D; ++k)
    vertex.position[k] = start.position[k] + share.share * (end.position[k] - start.position[k]);
  const double size = std::max(largest_coordinate(start), largest_coordinate(end));
  vertex.error = 1.01 * (std::max(start.error, end.error) + share.error * distance(start, end) +
                         5 * unit_roundoff * size) + room_for_underflow;
  return vertex;
}

inline bool distinct(const Share& before, const Share& after) {
  return after.share - before.share > before.error + after.error;
}

// Sorts the fractions, and returns whether they are certainly distinct.
inline bool all_distinct(std::vector<Share>& shares) {
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.share < b.share; });
  for (std::size_t i = 1; i < shares.size(); ++i)
    if (!distinct(shares[i - 1], shares[i])) return false;
  return true;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
