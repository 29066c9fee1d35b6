// SPDX-License-Identifier: MIT
// What is a cell of dimension one, and how is it cut?
//
// An interval: two vertices, left and right. Cutting leaves one with the cut as its right end, and one as its left.
#pragma once

#include <cassert>

#include "cells/vertex.hpp"
#include "memory/arena.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct Interval {
  static constexpr int dimension = 1;
  int count;                   // 2
  const Vertex<1>** vertices;  // [2]

  static Interval take(const Vertex<1>& left, const Vertex<1>& right, Arena& arena) {
    const Vertex<1>** vertices = arena.take<const Vertex<1>*>(2);
    vertices[0] = &left;
    vertices[1] = &right;
    return {2, vertices};
  }

  static Interval whole(const Vertex<1>* vertices, int, Arena& arena) { return take(vertices[0], vertices[1], arena); }

  // halves[0] is on the left; `first_is_positive` says whether the facet's form is positive there.
  template <class Collector>
  static void split(const Interval& cell, const int* signs, const Facet<1>& facet, Exact& exact, Arena& arena,
                    Collector& collector, Interval* halves, bool* first_is_positive) {
    const Vertex<1>& left = *cell.vertices[0];
    const Vertex<1>& right = *cell.vertices[1];
    Vertex<1>& cut = *arena.take<Vertex<1>>(1);
    cut = {{}, INFINITY, {-1, {facet.name, facet.name}}, -1};
    if (left.position[0] != 0 && right.position[0] != 0) settle(facet, cut);
    if (!(cut.error < placed * distance(left, right))) place_exactly(cut, exact);
    keep_order(left, cut, right);
    assert(signs[0] * signs[1] < 0 && !(left.position[0] != 0 && left.position[1] > cut.position[1]) &&
           !(right.position[0] != 0 && cut.position[1] > right.position[1]));
    collector.identify(cut);
    halves[0] = take(left, cut, arena);
    halves[1] = take(cut, right, arena);
    *first_is_positive = signs[0] > 0;
  }

 private:
  // Rounding may put the cut beyond an end that it is truly within: moved to that end, it is off by no more than
  // either.
  static void keep_order(const Vertex<1>& left, Vertex<1>& cut, const Vertex<1>& right) {
    const double before = cut.position[1];
    if (left.position[0] != 0) cut.position[1] = std::max(cut.position[1], left.position[1]);
    if (right.position[0] != 0) cut.position[1] = std::min(cut.position[1], right.position[1]);
    if (cut.position[1] != before) cut.error = std::max(cut.error, std::max(left.error, right.error));
  }

  // Where the form is zero; then |form| / |slope| at that position bounds the distance from the true zero.
  static void settle(const Facet<1>& facet, Vertex<1>& vertex) {
    const double slope = facet.row->value[1];
    vertex.position[0] = 1;
    vertex.position[1] = (facet.breakpoint - facet.row->value[0]) / slope;
    const Value miss = evaluate(*facet.row, facet.breakpoint, vertex.position);
    vertex.error = 1.01 * (std::fabs(miss.value) + miss.bound) / (std::fabs(slope) - facet.row->error[1]) + 0x1p-1073;
    if (through_origin(facet)) vertex.error = 0;
    if (!(std::fabs(slope) > facet.row->error[1])) vertex.error = INFINITY;
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
