// SPDX-License-Identifier: MIT
// What is a vertex of a cell, and how well is its position known?
//
// Its name (the boundaries that meet in it) is exact; a rounded position with a proven bound is fast.
// The bound is computed afterwards, from the position itself: the forms of the boundaries that meet there are evaluated
// at it, and their values, solved for a displacement, bound the distance. So errors do not accumulate from cut
// to cut, however a position was found (Polygon::settle, Interval::settle).
#pragma once

#include <algorithm>
#include <cmath>

#include "exact/exact.hpp"
#include "rows/rows.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <int D>
struct Vertex {
  double position[D + 1];  // lane 0 is w: 1, or 0 for a vertex at infinity, whose position is a direction
  double error;            // bound on the largest coordinate's distance from the truth
  VertexName<D> name;
  std::int64_t id;  // assigned by the collector
};

constexpr std::int64_t unidentified = -1;

// A value, and a bound on its distance from the true one.
struct Value {
  double value;
  double bound;
};

// A boundary with the form that is zero on it: row - breakpoint.
template <int D>
struct Facet {
  Boundary name;
  const Row<D>* row;
  double breakpoint;
};

// Returns whether every product has a factor that is known to be zero.
template <int D>
bool vanishes(const Row<D>& row, double breakpoint, const double* position, Dims<D> dims) {
  bool zero = breakpoint == 0;
  for (int k = 0; k <= dims; ++k) zero = zero && (position[k] == 0 || (row.value[k] == 0 && row.error[k] == 0));
  return zero;
}

// Returns whether the form is known to vanish at the chart's origin, where all boundaries of a network without biases meet.
template <int D>
bool through_origin(const Facet<D>& facet) {
  return facet.breakpoint == 0 && facet.row->value[0] == 0 && facet.row->error[0] == 0;
}

// A form at a position, which is taken to be exact, with its bound: the row's error, and D + 2 products and sums. A
// bound of 0 is a proof.
template <int D>
inline Value evaluate(const Row<D>& row, double breakpoint, const double* position, Dims<D> dims = constant_dims<D>()) {
  double value = -breakpoint * position[0];
  double size = std::fabs(value);
  double error = 0;
  for (int k = 0; k <= dims; ++k) {
    const double reach = std::fabs(position[k]);
    value += row.value[k] * position[k];
    size += std::fabs(row.value[k]) * reach;
    error += row.error[k] * reach;
  }
  if (size == 0 && vanishes(row, breakpoint, position, dims)) return {0, 0};
  return {value, 1.01 * (error + unit_roundoff * ((dims + 3) * size)) + room_for_underflow};  // infinite before any overflow
}

// The value of a line at a vertex of the cell that it crosses, with a bound.
template <int D>
Value line_value(const Lines<D>& lines, int line, const Vertex<D>& vertex) {
  double value = lines.value[0][line] * vertex.position[0];
  with_dims<D>(lines.dims, [&](auto n) {
    for (int k = 1; k <= n(); ++k) value += lines.value[k][line] * vertex.position[k];
  });
  return {value, lines.margin[line] + lines.steepness[line] * vertex.error};
}

// Returns -1 or 1 if the vertex is proven to be on that side of a facet, otherwise 0.
template <int D>
int proven_side(const Facet<D>& facet, const Vertex<D>& vertex, Dims<D> dims = constant_dims<D>()) {
  if (vertex.position[0] == 0) return 0;
  const Value at = evaluate(*facet.row, facet.breakpoint, vertex.position, dims);
  double bound = at.bound;
  for (int k = 1; k <= dims; ++k) bound += 1.01 * (std::fabs(facet.row->value[k]) + facet.row->error[k]) * vertex.error;
  return at.value > bound ? 1 : at.value < -bound ? -1 : 0;
}

template <int D>
double largest_coordinate(const Vertex<D>& vertex, Dims<D> dims = constant_dims<D>()) {
  double largest = 0;
  for (int k = 1; k <= dims; ++k) largest = std::max(largest, std::fabs(vertex.position[k]));
  return largest;
}

template <int D, class Number>
double distance(const Vertex<D>& left, const Vertex<D>& right, Number dims) {
  double largest = 0;
  for (int k = 1; k <= dims; ++k) largest = std::max(largest, std::fabs(left.position[k] - right.position[k]));
  return largest;
}

template <int D>
double distance(const Vertex<D>& left, const Vertex<D>& right) {
  return distance(left, right, constant_dims<D>());
}

// The rounding of the exact position: for vertices at infinity, and for those that rounded arithmetic cannot place.
template <int D>
void place_exactly(Vertex<D>& vertex, Exact& exact, Dims<D> dims = constant_dims<D>()) {
  exact.coordinates(vertex.name, vertex.position);
  vertex.error = 0x1p-51 * largest_coordinate(vertex, dims) + 0x1p-1073;
}

// A cut between two vertices counts as placed if its error is at most this fraction of their distance.
constexpr double placed = 0x1p-6;

}  // namespace REGIONS_TARGET
}  // namespace regions
