// SPDX-License-Identifier: MIT
// What is a cell of dimension one?
//
// An interval: two vertices, left and right, which are its facets too. A cut is the right end of one child, and the left
// end of the other. Regions come from left to right, and neighbours share the cut's vertex from the start.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "cells/cell.hpp"
#include "cells/share.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct Interval {
  using Trace = FacetRun;
  static constexpr int dimension = 1;
  static constexpr int most_children = 2;
  static constexpr int outer = 0;
  static constexpr int facet_corners = 1;
  int count;                   // 2
  const Vertex<1>** vertices;  // [2]

  static Interval take(const Vertex<1>& left, const Vertex<1>& right, Arena& arena) {
    const Vertex<1>** vertices = arena.take<const Vertex<1>*>(2);
    vertices[0] = &left;
    vertices[1] = &right;
    return {2, vertices};
  }

  static Interval whole(Vertex<1>* vertices, int, Exact&, Arena& arena) {
    return take(vertices[0], vertices[1], arena);
  }

  int facet_count() const { return 2; }
  FacetOfCell facet(int end) const { return {vertices[end]->name.boundaries[0], end, end}; }

  template <class Collector>
  static void cut(const Interval& cell, const Facet<1>& facet, Exact& exact, Arena& arena, Collector& collector,
                  Cut<Interval>& result) {
    const Vertex<1>& left = *cell.vertices[0];
    const Vertex<1>& right = *cell.vertices[1];
    Vertex<1>& cut = meeting(left, right, facet, exact, arena);
    assert(result.signs[0] * result.signs[1] < 0 && is_ordered(left, cut) && is_ordered(cut, right));
    collector.identify(cut);
    result.take(2, arena);
    result.count = 2;
    for (int child = 0; child < 2; ++child) {
      result.children[child] = child == 0 ? take(left, cut, arena) : take(cut, right, arena);
      result.sides[child] = result.signs[child] > 0 ? Side::active : Side::inactive;
    }
  }

  static Interval unclipped(const Interval& cell, Arena&) { return cell; }

  // The part where the form is positive, given its signs at both ends.
  static Interval clip(const Interval& cell, const Facet<1>& facet, const int* signs, int, Exact& exact, Arena& arena) {
    const Vertex<1>& left = *cell.vertices[0];
    const Vertex<1>& right = *cell.vertices[1];
    if (signs[0] * signs[1] >= 0) return signs[0] + signs[1] > 0 ? cell : Interval{0, nullptr};
    const Vertex<1>& cut = meeting(left, right, facet, exact, arena);
    return signs[0] > 0 ? take(left, cut, arena) : take(cut, right, arena);
  }

  // Children that are parts of the cell, clipped independently, come from left to right and share their ends.
  template <class Arms, class Collector>
  static void arrange(const Interval& cell, Arms& arms, Exact& exact, Arena& arena, Collector& collector,
                      Cut<Interval>& result) {
    std::sort(result.winners, result.winners + result.count,
              [&](const Row<1>* one, const Row<1>* other) { return one != other && arms.sign(*one, *other, *cell.vertices[0]) > 0; });
    const Vertex<1>* left = cell.vertices[0];
    for (int child = 0; child < result.count; ++child) {
      const Vertex<1>* right = cell.vertices[1];
      if (child + 1 < result.count) {
        Vertex<1>& cut = meeting(*left, *right, arms.facet(*result.winners[child], *result.winners[child + 1]), exact, arena);
        collector.identify(cut);
        right = &cut;
      }
      result.children[child] = take(*left, *right, arena);
      left = right;
    }
  }

  template <class Collector>
  static void join(const Interval&, const Cut<Interval>& cut, FacetRun* traces, Collector& collector) {
    for (int child = 1; child < cut.count; ++child)
      collector.match(cut.traces[child - 1][1].last, cut.traces[child][0].first);
    traces[0] = cut.traces[0][0];
    traces[1] = cut.traces[cut.count - 1][1];
  }

  // m distinct points make 1 + m regions.
  class Arrangement {
   public:
    std::int64_t count(const Lines<1>& lines, const Interval& cell, std::int64_t = 0, Monitor* = nullptr) {
      shares_.clear();
      for (int line = 0; line < lines.count; ++line) {
        Value values[2];
        for (int i = 0; i < 2; ++i) values[i] = line_value(lines, line, *cell.vertices[i]);
        const Share share = zero_between(values[0], values[1]);
        if (!share.usable() || !(values[0].value * values[1].value < 0)) return unknown;
        shares_.push_back(share);
      }
      return all_distinct(shares_) ? 1 + std::int64_t(lines.count) : unknown;
    }

   private:
    std::vector<Share> shares_;
  };

 private:
  static bool is_ordered(const Vertex<1>& left, const Vertex<1>& right) {
    return left.position[0] == 0 || right.position[0] == 0 || left.position[1] <= right.position[1];
  }

  // Where the form is zero, between two vertices.
  static Vertex<1>& meeting(const Vertex<1>& left, const Vertex<1>& right, const Facet<1>& facet, Exact& exact,
                            Arena& arena) {
    Vertex<1>& cut = *arena.take<Vertex<1>>(1);
    cut = {{}, INFINITY, {-1, {facet.name}}, -1};
    if (left.position[0] != 0 && right.position[0] != 0) settle(facet, cut);
    if (!(cut.error < placed * distance(left, right))) place_exactly(cut, exact);
    keep_order(left, cut, right);
    return cut;
  }

  // Rounding may put the cut beyond an end, although it is truly between them. It is then moved to that end, and its error is at most
  // the larger of both.
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
