// SPDX-License-Identifier: MIT
// What is a cell on a circle?
//
// An arc of the unit circle around the chart's origin, counter-clockwise from its start to its end, at most a quarter of
// a turn. A form a + b X + c Y is a sinusoid on it: it may have one sign at both ends and the other one between them, or
// touch zero there, which is not a crossing. So a line cuts an arc into two or three parts, and the signs at the ends are not
// enough: `bulge` returns whether a form is above zero between them.
// Vertices: where a line meets the circle, rising or falling counter-clockwise. This is enough to distinguish the two points,
// and `Exact` decides signs there in numbers A + B sqrt(D). The domain's ends are directions.
// Bounds over a cell need corners around it: the third vertex is where the tangents at the two ends meet. It is not a point
// of the cell (`outer`). Triangles of parts of an arc lie inside the triangle of the arc.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "cells/cell.hpp"
#include "cells/share.hpp"
#include "rows/twice.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct Arc {
  using Trace = FacetRun;
  static constexpr int dimension = 2;
  static constexpr int most_children = 3;
  static constexpr int outer = 1;
  static constexpr int facet_corners = 1;
  int count;                   // 3
  const Vertex<2>** vertices;  // start, end, and the intersection of their tangents

  static Arc take(const Vertex<2>& start, const Vertex<2>& end, Arena& arena) {
    Vertex<2>& apex = *arena.take<Vertex<2>>(1);
    // (start + end) / (1 + start . end), with a denominator of 1 or more.
    const double below = 1 + start.position[1] * end.position[1] + start.position[2] * end.position[2];
    apex = {{1, (start.position[1] + end.position[1]) / below, (start.position[2] + end.position[2]) / below},
            5 * (start.error + end.error) + 16 * unit_roundoff,
            {-1, {-1, -1}},
            -1};
    const Vertex<2>** vertices = arena.take<const Vertex<2>*>(3);
    vertices[0] = &start;
    vertices[1] = &end;
    vertices[2] = &apex;
    return {3, vertices};
  }

  // The domain's ends are given as directions.
  static Arc whole(Vertex<2>* vertices, int, Exact& exact, Arena& arena) {
    for (int i = 0; i < 2; ++i) place(vertices[i], exact);
    return take(vertices[0], vertices[1], arena);
  }

  int facet_count() const { return 2; }
  FacetOfCell facet(int end) const { return {vertices[end]->name.boundaries[0], end, end}; }

  // Returns whether sign * (row - breakpoint), at most zero at both ends, is above zero between them: 1 yes, 0 no, -1 if rounded
  // arithmetic cannot decide. Its greatest value is in the direction sign * (b, c): that direction must be within the arc, and
  // the value above zero.
  int bulge(const Row<2>& row, double breakpoint, int sign) const {
    const double b = sign * row.value[1];
    const double c = sign * row.value[2];
    const double size = std::fabs(b) + std::fabs(c);
    const double greatest = sign * (row.value[0] - breakpoint) + length_of(b, c);
    const double margin = margin_of(row, breakpoint);
    if (greatest < -margin) return 0;
    bool within = greatest > margin;
    for (int end = 0; end < 2; ++end) {
      const Vertex<2>& vertex = *vertices[end];
      const double across = vertex.position[1] * c - vertex.position[2] * b;
      const double ahead = end == 0 ? across : -across;
      const double bound = 1.01 * (size * vertex.error + (row.error[1] + row.error[2]) * (1 + vertex.error) +
                                   unit_roundoff * (4 * size)) +
                           room_for_underflow;
      if (ahead < -bound) return 0;
      within = within && ahead > bound;
    }
    return within ? 1 : -1;
  }

  template <class Collector>
  static void cut(const Arc& cell, const Facet<2>& facet, Exact& exact, Arena& arena, Collector& collector,
                  Cut<Arc>& result) {
    const Vertex<2>& start = *cell.vertices[0];
    const Vertex<2>& end = *cell.vertices[1];
    const int* signs = result.signs;
    result.take(most_children, arena);
    result.count = signs[0] * signs[1] > 0 ? 3 : 2;  // a zero at an end is one of the two meetings
    int sign = signs[0] != 0 ? signs[0] : -signs[1];
    const Vertex<2>* before = &start;
    for (int child = 0; child < result.count; ++child, sign = -sign) {
      const Vertex<2>* after = &end;
      if (child + 1 < result.count) {
        const Meeting meeting = sign < 0 ? Meeting::rising : Meeting::falling;
        Vertex<2>& cut = meeting_of(facet, meeting, distance(start, end), exact, arena);
        collector.identify(cut);
        after = &cut;
      }
      result.children[child] = take(*before, *after, arena);
      result.sides[child] = sign > 0 ? Side::active : Side::inactive;
      before = after;
    }
  }

  // Along the arc, one branch is above all others until another branch rises above it, and so on to the end. To find where that
  // happens, the other branches are tried one by one, and the part on which the branch is highest is shortened. It falls below another
  // branch at a single point: it is not below at the part's start, and two forms are equal at no more than two points of the circle.
  // Where a part ends, the branch that is highest right after it continues.
  template <class Arms, class Collector>
  static void arrange(const Arc& cell, Arms& arms, Exact& exact, Arena& arena, Collector& collector,
                      Cut<Arc>& result) {
    const auto& all = arms.all();
    result.take(2 * int(all.size()) - 1, arena);  // each pair swaps at most twice
    result.winners = arena.take<const Row<2>*>(2 * all.size() - 1);
    result.count = 0;
    const Row<2>* winner = highest_at_start(cell, arms, all.front(), nullptr);
    for (Arc left = cell;;) {
      Arc part = left;
      const Row<2>* next = nullptr;
      for (const Row<2>* other : all) {
        if (other == winner) continue;
        const bool below = arms.sign(*winner, *other, *part.vertices[1]) < 0;
        if (!below && !arms.comes_above(*other, *winner, part)) continue;
        part = take(*left.vertices[0], change_of(*winner, *other, arms, left, exact, arena), arena);
        next = other;
      }
      result.winners[result.count] = winner;
      if (next == nullptr) {
        result.children[result.count++] = left;
        break;
      }
      const Row<2>* highest = highest_at_start(take(*part.vertices[1], *left.vertices[1], arena), arms, next, winner);
      Vertex<2>& cut = change_of(*winner, *highest, arms, left, exact, arena);
      collector.identify(cut);
      result.children[result.count++] = take(*left.vertices[0], cut, arena);
      left = take(cut, *left.vertices[1], arena);
      winner = highest;
    }
    std::fill_n(result.sides, result.count, Side::active);
  }

  template <class Collector>
  static void join(const Arc&, const Cut<Arc>& cut, FacetRun* traces, Collector& collector) {
    for (int child = 1; child < cut.count; ++child)
      collector.match(cut.traces[child - 1][1].last, cut.traces[child][0].first);
    traces[0] = cut.traces[0][0];
    traces[1] = cut.traces[cut.count - 1][1];
  }

  // m distinct points make 1 + m regions; each line has one or two points.
  class Arrangement {
   public:
    std::int64_t count(const Lines<2>& lines, const Arc& cell, std::int64_t = 0, Monitor* = nullptr) {
      shares_.clear();
      for (int line = 0; line < lines.count; ++line) {
        const Value at_start = line_value(lines, line, *cell.vertices[0]);
        const Value at_end = line_value(lines, line, *cell.vertices[1]);
        if (!is_certain(at_start) || !is_certain(at_end)) return unknown;
        if (at_start.value < 0 || at_end.value > 0)
          if (!add(lines, line, Meeting::rising, cell)) return unknown;
        if (at_start.value > 0 || at_end.value < 0)
          if (!add(lines, line, Meeting::falling, cell)) return unknown;
      }
      return all_distinct(shares_) ? 1 + std::int64_t(shares_.size()) : unknown;
    }

   private:
    static bool is_certain(const Value& at) { return std::fabs(at.value) > at.bound; }

    // Along the chord: points have the same order there as on the arc.
    bool add(const Lines<2>& lines, int line, Meeting meeting, const Arc& cell) {
      Vertex<2> vertex{};
      meet(lines.value[0][line], lines.value[1][line], lines.value[2][line], lines.margin[line], meeting, vertex);
      const double* start = cell.vertices[0]->position;
      const double* end = cell.vertices[1]->position;
      const double along[2] = {end[1] - start[1], end[2] - start[2]};
      const double square = along[0] * along[0] + along[1] * along[1];
      const double share = ((vertex.position[1] - start[1]) * along[0] + (vertex.position[2] - start[2]) * along[1]) / square;
      shares_.push_back({share, 2 * (vertex.error + 8 * unit_roundoff) / std::sqrt(square)});
      return shares_.back().usable();
    }

    std::vector<Share> shares_;
  };

 private:
  static void place(Vertex<2>& vertex, Exact& exact) {
    exact.coordinates(vertex.name, vertex.position);
    vertex.error = 0x1p-49;
  }

  // Where a form meets the circle within an arc of this length.
  static Vertex<2>& meeting_of(const Facet<2>& facet, Meeting meeting, double length, Exact& exact, Arena& arena) {
    Vertex<2>& vertex = *arena.take<Vertex<2>>(1);
    vertex = {{}, INFINITY, {-1, {facet.name, Boundary(meeting)}}, -1};
    const Row<2>& row = *facet.row;
    meet(row.value[0] - facet.breakpoint, row.value[1], row.value[2], margin_of(row, facet.breakpoint), meeting, vertex);
    if (!(vertex.error < placed * length)) place(vertex, exact);
    return vertex;
  }

  // Where the first branch falls below the second, within the arc.
  template <class Arms>
  static Vertex<2>& change_of(const Row<2>& one, const Row<2>& other, Arms& arms, const Arc& within, Exact& exact,
                              Arena& arena) {
    const Meeting meeting = arms.are_in_order(one, other) ? Meeting::rising : Meeting::falling;
    return meeting_of(arms.facet(one, other), meeting, distance(*within.vertices[0], *within.vertices[1]), exact, arena);
  }

  // The highest branch right after the start. The comparison begins with `known`; `but` is left out.
  template <class Arms>
  static const Row<2>* highest_at_start(const Arc& arc, Arms& arms, const Row<2>* known, const Row<2>* but) {
    for (const Row<2>* other : arms.all())
      if (other != known && other != but && is_above_after_start(*other, *known, arc, arms)) known = other;
    return known;
  }

  // For two forms that are equal at the start, and so at no more than one other point. If the first is above the second at the
  // end, it is above right after the start unless the second rises above it; otherwise only if it rises above the second.
  template <class Arms>
  static bool is_above_after_start(const Row<2>& one, const Row<2>& other, const Arc& arc, Arms& arms) {
    const int at_start = arms.sign(one, other, *arc.vertices[0]);
    if (at_start != 0) return at_start > 0;
    if (arms.sign(one, other, *arc.vertices[1]) > 0) return !arms.comes_above(other, one, arc);
    return arms.comes_above(one, other, arc);
  }

  // Bound on the error of a form anywhere on the circle.
  static double margin_of(const Row<2>& row, double breakpoint) {
    const double size =
        std::fabs(row.value[0]) + std::fabs(breakpoint) + std::fabs(row.value[1]) + std::fabs(row.value[2]);
    return 1.01 * (row.error[0] + row.error[1] + row.error[2] + unit_roundoff * (8 * size)) + room_for_underflow;
  }

  // Where a + b X + c Y = a + r cos(angle) is zero. The true form differs by at most `margin`. It is zero only where this form is at
  // most the margin, so where the cosine is within `slack` of -a / r. If this interval does not contain 1 or -1, there is one zero
  // where the form rises and one where it falls, and the arc cosine is steepest at an end of the interval.
  static void meet(double a, double b, double c, double margin, Meeting meeting, Vertex<2>& vertex) {
    const double r = length_of(b, c);
    const double cosine = -a / r;
    const double slack = 1.01 * (margin / r + unit_roundoff * (4 * std::fabs(cosine)));
    const double clear = 1 - (std::fabs(cosine) + slack);
    const double sine = std::sqrt((1 - cosine) * (1 + cosine)) * (meeting == Meeting::rising ? 1 : -1);
    vertex.position[0] = 1;
    vertex.position[1] = (cosine * b + sine * c) / r;
    vertex.position[2] = (cosine * c - sine * b) / r;
    vertex.error = clear > 0 ? 1.01 * slack / std::sqrt(clear * (2 - clear)) + 16 * unit_roundoff : INFINITY;
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
