// SPDX-License-Identifier: MIT
// What is a cell of dimension two, and how is it cut?
//
// A strictly convex polygon: its corners counter-clockwise, and for each the boundary that the edge from it to the
// next corner lies on. A line cuts it where the signs at the corners change: at a corner of sign 0, or inside an edge.
// Invariant: no corner lies on the segment between its neighbours, so a line that has both signs meets the boundary in
// exactly two points. Cost: proportional to the number of corners.
#pragma once

#include <cassert>
#include <stdexcept>

#include "cells/vertex.hpp"
#include "memory/arena.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct Polygon {
  static constexpr int dimension = 2;
  int count;
  const Vertex<2>** vertices;  // [count]
  const Facet<2>** edges;      // [count]
  int* origins;                // [count] the edge of the parent cell this edge is a part of, -1 for the cut

  static Polygon take(int capacity, Arena& arena) {
    return {0, arena.take<const Vertex<2>*>(std::size_t(capacity)), arena.take<const Facet<2>*>(std::size_t(capacity)),
            arena.take<int>(std::size_t(capacity))};
  }

  // The domain: its edges' forms are computed here, positive on the left, with their rounding as rows know it.
  static Polygon whole(const Vertex<2>* vertices, int count, Arena& arena) {
    Polygon result = take(count, arena);
    for (int i = 0; i < count; ++i) {
      const double* start = vertices[i].position;
      const double* end = vertices[i + 1 == count ? 0 : i + 1].position;
      Row<2>* row = arena.take<Row<2>>(1);
      *row = Row<2>{};
      for (int k = 0; k < 3; ++k) {
        const int left = (k + 1) % 3;
        const int right = (k + 2) % 3;
        row->value[k] = start[left] * end[right] - start[right] * end[left];
        const double size = std::fabs(start[left] * end[right]) + std::fabs(start[right] * end[left]);
        row->error[k] = 4 * unit_roundoff * size + room_for_underflow;
      }
      Facet<2>* edge = arena.take<Facet<2>>(1);
      *edge = {-1 - Boundary(i), row, 0.0};
      result.append(vertices[i], *edge, -1);
    }
    return result;
  }

  void append(const Vertex<2>& vertex, const Facet<2>& edge, int origin) {
    vertices[count] = &vertex;
    edges[count] = &edge;
    origins[count] = origin;
    ++count;
  }

  // halves[0] is where the facet's form is positive.
  template <class Collector>
  static void split(const Polygon& cell, const int* signs, const Facet<2>& facet, Exact& exact, Arena& arena,
                    Collector& collector, Polygon* halves, bool* first_is_positive) {
    *first_is_positive = true;
    refuse_unless_two_meetings(cell, signs);
    for (int side = 0; side < 2; ++side) halves[side] = take(cell.count + 1, arena);
    for (int i = 0; i < cell.count; ++i) {
      const int next = i + 1 == cell.count ? 0 : i + 1;
      const Vertex<2>& here = *cell.vertices[i];
      const Facet<2>& edge = *cell.edges[i];
      if (signs[i] == 0) {
        // The half that the boundary walk leaves here closes with the cut; the other one goes on along this edge.
        halves[0].append(here, signs[next] > 0 ? edge : facet, signs[next] > 0 ? i : -1);
        halves[1].append(here, signs[next] < 0 ? edge : facet, signs[next] < 0 ? i : -1);
        continue;
      }
      Polygon& half = halves[signs[i] > 0 ? 0 : 1];
      half.append(here, edge, i);
      if (signs[i] * signs[next] >= 0) continue;
      const Vertex<2>& there = *cell.vertices[next];
      Vertex<2>& cut = *arena.take<Vertex<2>>(1);
      cut = {{}, INFINITY, {-1, {edge.name, facet.name}}, -1};
      if (here.position[0] != 0 && there.position[0] != 0) settle(edge, facet, cut);
      if (!(cut.error < placed * distance(here, there))) place_exactly(cut, exact);
      collector.identify(cut);
      half.append(cut, facet, -1);
      halves[signs[i] > 0 ? 1 : 0].append(cut, edge, i);
    }
    for (int side = 0; side < 2; ++side) assert(halves[side].count <= cell.count + 1 && is_convex(halves[side]));
  }

 private:
  // As far as rounded arithmetic can tell: each edge on a line of its own, its two corners on that line, all others on
  // one side. For assertions.
  static bool is_convex(const Polygon& cell) {
    bool convex = cell.count >= 3;
    for (int i = 0; i < cell.count; ++i) {
      const Facet<2>& edge = *cell.edges[i];
      bool positive = false;
      bool negative = false;
      for (int k = 0; k < cell.count; ++k) {
        const int side = proven_side(edge, *cell.vertices[k]);
        const bool on_edge = k == i || k == (i + 1) % cell.count;
        positive = positive || side > 0;
        negative = negative || side < 0;
        convex = convex && !(on_edge && side != 0) && (k == i || cell.edges[k]->name != edge.name);
      }
      convex = convex && !(positive && negative);
    }
    return convex;
  }

  // A convex polygon's boundary meets a line that crosses it twice; anything else would be a wrong sign.
  static void refuse_unless_two_meetings(const Polygon& cell, const int* signs) {
    int meetings = 0;
    for (int i = 0; i < cell.count; ++i)
      meetings += signs[i] == 0 || signs[i] * signs[i + 1 == cell.count ? 0 : i + 1] < 0;
    if (meetings != 2) throw std::logic_error("a line meets the boundary of a cell in other than two points");
  }

  // Where both forms are zero, by Cramer's rule; by the same rule, what they still miss there bounds the distance.
  static void settle(const Facet<2>& first, const Facet<2>& second, Vertex<2>& vertex) {
    const Row<2>& one = *first.row;
    const Row<2>& two = *second.row;
    const double straight = one.value[1] * two.value[2];
    const double across = one.value[2] * two.value[1];
    const double determinant = straight - across;
    const double first_offset = one.value[0] - first.breakpoint;
    const double second_offset = two.value[0] - second.breakpoint;
    double* position = vertex.position;
    position[0] = 1;
    position[1] = (one.value[2] * second_offset - two.value[2] * first_offset) / determinant;
    position[2] = (two.value[1] * first_offset - one.value[1] * second_offset) / determinant;

    const Value miss[2] = {evaluate(one, first.breakpoint, position), evaluate(two, second.breakpoint, position)};
    const double steepest_one = std::max(std::fabs(one.value[1]), std::fabs(one.value[2]));
    const double steepest_two = std::max(std::fabs(two.value[1]), std::fabs(two.value[2]));
    const double error_one = std::max(one.error[1], one.error[2]);
    const double error_two = std::max(two.error[1], two.error[2]);
    const double certain = std::fabs(determinant) -
                           1.01 * (4 * unit_roundoff * (std::fabs(straight) + std::fabs(across)) +
                                   2 * (steepest_one * error_two + steepest_two * error_one + error_one * error_two)) -
                           room_for_underflow;
    const double distance = (steepest_two + error_two) * (std::fabs(miss[0].value) + miss[0].bound) +
                            (steepest_one + error_one) * (std::fabs(miss[1].value) + miss[1].bound);
    vertex.error = certain > 0 ? 1.01 * (distance + room_for_underflow) / certain + 0x1p-1073 : INFINITY;
    if (certain > 0 && through_origin(first) && through_origin(second)) vertex.error = 0;
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
