// SPDX-License-Identifier: MIT
// What is a cell of dimension one, and how is it cut?
//
// An interval: two vertices, left and right. Cutting leaves one with the cut as its right end, and one as its left.
#pragma once

#include "arena.hpp"
#include "vertex.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct Interval {
  static constexpr int dimension = 1;
  int count;            // 2
  Vertex<1>* vertices;  // [2]

  static Interval take(int count, Arena& arena) { return {count, arena.take<Vertex<1>>(std::size_t(count))}; }

  static Interval whole(const Vertex<1>* vertices, int count, Arena& arena) {
    Interval result = take(count, arena);
    std::copy(vertices, vertices + count, result.vertices);
    return result;
  }

  // halves[0] is on the left; `first_is_positive` says whether the facet's form is positive there.
  template <class Collector>
  static void split(const Interval& cell, const int* signs, const Value* values, const Facet<1>& facet, Exact& exact,
                    Arena& arena, Collector& collector, Interval* halves, bool* first_is_positive) {
    const Vertex<1>& left = cell.vertices[0];
    const Vertex<1>& right = cell.vertices[1];
    Vertex<1> cut{{}, INFINITY, {-1, {facet.name, facet.name}}, -1};
    const Share share = zero_between(values[0], values[1]);
    if (left.position[0] != 0 && right.position[0] != 0 && share.usable()) {
      place(left, right, share, cut.position);
      settle(facet, cut);
    }
    if (!(cut.error < placed * distance(left, right))) place_exactly(cut, exact);
    keep_order(left, cut, right);
    collector.identify(cut);
    for (int side = 0; side < 2; ++side) halves[side] = take(2, arena);
    halves[0].vertices[0] = left;
    halves[0].vertices[1] = cut;
    halves[1].vertices[0] = cut;
    halves[1].vertices[1] = right;
    *first_is_positive = signs[0] > 0;
  }

 private:
  // Rounding may put the cut beyond an end that it is truly within: moved to that end, it is off by no more than either.
  static void keep_order(const Vertex<1>& left, Vertex<1>& cut, const Vertex<1>& right) {
    const double before = cut.position[1];
    if (left.position[0] != 0) cut.position[1] = std::max(cut.position[1], left.position[1]);
    if (right.position[0] != 0) cut.position[1] = std::min(cut.position[1], right.position[1]);
    if (cut.position[1] != before) cut.error = std::max(cut.error, std::max(left.error, right.error));
  }

  // One Newton step, then |form| / |slope| at the new position bounds the distance to its zero.
  static void settle(const Facet<1>& facet, Vertex<1>& vertex) {
    const double slope = facet.row->value[1];
    vertex.position[1] -= evaluate(*facet.row, facet.breakpoint, vertex.position).value / slope;
    const Value miss = evaluate(*facet.row, facet.breakpoint, vertex.position);
    vertex.error = 1.01 * (std::fabs(miss.value) + miss.bound) / (std::fabs(slope) - facet.row->error[1]) + 0x1p-1073;
    if (!(std::fabs(slope) > facet.row->error[1])) vertex.error = INFINITY;
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
