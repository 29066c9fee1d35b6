// SPDX-License-Identifier: MIT
// How are the parts of a cell cut, in a sweep that keeps regions (region_sweep.hpp)?
//
// A part is a list of corners, and of edges between them. Signs are bit masks, and rows with both signs at the corners of a part
// cut it. The parts on both sides of an edge share it, and its new corner.
// Invariant: in each part, the layers below are affine. The signs of all rows in each part are known.
// The proof is in docs/error-bounds.md, "The sweep over a cell".
// Cost: a few operations for each corner of a part that is cut, and a new corner for each edge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cells/polygon.hpp"
#include "kernel/swept_vertices.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

class SweptParts {
 public:
  static constexpr int D = Polygon::dimension;
  // All kernels have the same limits, so that they prove the same signs.
  static constexpr int most_corners_of_cell = 16;
  static constexpr int most_corners = 24;  // of a part

  // Between two corners. The parts on both sides are cut along the same rows, the lowest first, so they divide it alike.
  struct Edge {
    double across;            // distance from the true line: of the points where values are known, and of all between them; or 0
    std::uint16_t line;       // an edge of the cell, or a row (`line_of`)
    std::uint16_t vertex;     // that divides it, or `whole`
    std::uint16_t halves[2];  // edges, the one with the corner of lower number first
    static constexpr std::uint16_t whole = 0;  // no new vertex has this number
  };

  struct Part {
    std::uint64_t done;      // rows with a line along which the part was cut
    std::uint64_t crossing;  // rows with both signs at its corners, among others that are done
    std::uint32_t positive;  // other rows that are positive at a corner
    int count;
    std::uint16_t corners[most_corners];  // counter-clockwise
    std::uint16_t edges[most_corners];    // from each corner to the next one

    void append(int vertex, int edge) {
      edges[count] = std::uint16_t(edge);
      corners[count++] = std::uint16_t(vertex);
    }
    int next(int corner) const { return corner + 1 == count ? 0 : corner + 1; }
  };

  SweptVertices vertices;
  std::vector<Edge> edges;
  int edge_count = 0;

  // Begins with the cell as the only part. Vertices get room for this many outputs of lower layers, and rows at work. If there is one
  // layer, its `lines` are given.
  void begin(const Polygon& cell, int layers, int outputs, int widest, const Facet<D>* lines) {
    layers_ = layers;
    lines_ = lines;
    cell_edges_ = cell.edges;
    vertices.lay_out(outputs, widest);
    edge_count = 0;
    reserve_edges();
    places_.assign(1, 0);
    following_.assign(1, none);
    spare_ = 1;
    unused_ = 2;
    Part& whole = part_at(0);
    whole.count = 0;
    for (int i = 0; i < cell.count; ++i)
      whole.append(vertices.append(*cell.vertices[i]), new_edge(i, lines == nullptr ? across(cell, i) : 0));
  }

  int count() const { return int(places_.size()); }
  const Part& part(int number) const { return room_[std::size_t(places_[std::size_t(number)])]; }

  // The numbers of all parts, with the two sides of a cut one after the other, as the recursion would find them.
  const std::vector<int>& in_order() {
    order_.clear();
    for (int number = 0; number != none; number = following_[std::size_t(number)]) order_.push_back(number);
    return order_;
  }

  // For each layer, the rows that are positive in a part.
  const std::uint32_t* signs_in(int part) const { return signs_.data() + std::size_t(part) * std::size_t(layers_); }

  // The number of a row's line.
  static int line_of(const KeptRows& rows, int row) { return most_corners_of_cell + rows.first_output + row; }

  // Cuts each part along all lines of a layer, the one with this number; false if that is not proven.
  __attribute__((noinline)) bool cut_all(KeptRows& rows, int layer) {
    for (const int place : places_) {
      Part& part = room_[std::size_t(place)];
      const Reach reach = reach_of(part);
      part.done = 0;
      part.crossing = reach.crossing();
      part.positive = std::uint32_t(reach.any);
    }
    for (int number = 0; number < count(); ++number)
      while (const std::uint64_t lines = part(number).crossing & ~part(number).done)
        if (!cut(rows, number, __builtin_ctzll(lines))) return false;
    for (int number = 0; number < count(); ++number) signs_of(number)[layer] = part(number).positive;
    return true;
  }

 private:
  // Rows that are positive at any, and at all corners of a part.
  struct Reach {
    std::uint64_t any = 0;
    std::uint64_t all = ~std::uint64_t{0};

    void add(std::uint64_t positive) {
      any |= positive;
      all &= positive;
    }
    std::uint64_t crossing() const { return any & ~all; }
  };

  Reach reach_of(const Part& part) const {
    Reach reach;
    for (int i = 0; i < part.count; ++i) reach.add(vertices[part.corners[i]].positive);
    return reach;
  }

  // Room for more edges than one cut, or a cell, needs.
  void reserve_edges() {
    if (std::size_t(edge_count) + 64 > edges.size()) edges.resize(2 * std::size_t(edge_count) + 64);
  }

  // An edge of the cell has both ends on its line, up to the form's values there.
  static double across(const Polygon& cell, int edge) {
    const Facet<D>& facet = *cell.edges[edge];
    const Row<D>& row = *facet.row;
    double miss = 0;
    for (const int corner : {edge, edge + 1 == cell.count ? 0 : edge + 1}) {
      const Value value = evaluate(row, facet.breakpoint, cell.vertices[corner]->position);
      miss = at_least(miss, std::fabs(value.value) + value.bound);
    }
    const double length = std::sqrt(row.value[1] * row.value[1] + row.value[2] * row.value[2]);
    const double least = length / slack - 1.5 * std::max(row.error[1], row.error[2]);
    return least > 0 && length < INFINITY ? slack * (miss / least) + room_for_underflow : INFINITY;
  }

  int new_edge(int line, double across) {
    const std::size_t edge = std::size_t(edge_count++);
    edges[edge] = {across, std::uint16_t(line), Edge::whole, {}};
    return int(edge);
  }

  Part& part_at(int place) {
    if (std::size_t(place) >= room_.size()) room_.resize(2 * std::size_t(place) + 64);
    return room_[std::size_t(place)];
  }

  std::uint32_t* signs_of(int part) {
    const std::size_t end = (std::size_t(part) + 1) * std::size_t(layers_);
    if (end > signs_.size()) signs_.resize(2 * end);
    return signs_.data() + end - layers_;
  }

  // Replaces a part by one side of it, and appends the other side. Nothing is copied: a wide load would wait for narrow stores.
  bool cut(KeptRows& rows, int number, int row) {
    const int places[2] = {unused_, spare_};
    part_at(unused_);
    reserve_edges();
    const Part& whole = part(number);
    if (whole.count == most_corners) return false;
    // The corners where the part's boundary crosses the line next, and the signs at all corners.
    std::uint64_t signs[most_corners];
    std::uint32_t positive = 0;
    for (int i = 0; i < whole.count; ++i) {
      signs[i] = vertices[whole.corners[i]].positive;
      positive |= std::uint32_t(signs[i] >> row & 1) << i;
    }
    const std::uint32_t next = positive >> 1 | (positive & 1) << (whole.count - 1);
    const std::uint32_t crossed = positive ^ next;
    if (__builtin_popcount(crossed) != 2) return false;
    const int at[2] = {__builtin_ctz(crossed), 31 - __builtin_clz(crossed)};
    int made[2];
    SweptVertices::Slope slope{};
    if (lines_ == nullptr)
      slope = vertices.slope_in_part(rows, row, whole.corners[at[0]], whole.corners[whole.next(at[0])], whole.corners[at[1]],
                                     whole.corners[whole.next(at[1])]);
    for (int k = 0; k < 2; ++k) {
      made[k] = vertex_on(rows, row, whole, at[k], slope);
      if (made[k] < 0) return false;
    }
    const int chord = lines_ == nullptr ? new_chord(rows, row, whole, at, made, slope) : new_edge(line_of(rows, row), 0);
    for (int side = 0; side < 2; ++side) {
      Part& part = room_[std::size_t(places[side])];
      part.done = whole.done | rows.same[row];
      part.count = 0;
      Reach reach;
      const int first = at[side];
      const int last = at[1 - side];
      part.append(made[side], half_of(whole, first, false));
      for (int i = whole.next(first); i != last; i = whole.next(i)) {
        part.append(whole.corners[i], whole.edges[i]);
        reach.add(signs[i]);
      }
      part.append(whole.corners[last], half_of(whole, last, true));
      reach.add(signs[last]);
      part.append(made[1 - side], chord);
      for (const int vertex : made) reach.add(vertices[vertex].positive);
      part.crossing = reach.crossing();
      part.positive = std::uint32_t(reach.any);
    }
    ++unused_;
    spare_ = places_[std::size_t(number)];
    places_[std::size_t(number)] = places[1];
    places_.push_back(places[0]);
    std::uint32_t* own = signs_of(count() - 1);  // may move all others
    std::copy_n(signs_in(number), layers_, own);
    const int after = following_[std::size_t(number)];
    following_[std::size_t(number)] = count() - 1;
    following_.push_back(after);
    return true;
  }

  // The vertex where a row is zero on an edge of a part, or -1 if that is not proven. The part on the other side may have
  // made it.
  int vertex_on(KeptRows& rows, int row, const Part& part, int i, const SweptVertices::Slope& slope) {
    Edge& edge = edges[part.edges[i]];
    if (edge.vertex != Edge::whole) return edge.vertex;
    const int start = std::min(part.corners[i], part.corners[part.next(i)]);
    const int end = std::max(part.corners[i], part.corners[part.next(i)]);
    const int vertex = lines_ == nullptr ? vertices.between(rows, row, start, end, edge.across, slope)
                                         : vertices.meeting(rows, row, start, end, facet(edge.line), lines_[row]);
    if (vertex < 0) return -1;
    edge.vertex = std::uint16_t(vertex);
    edge.halves[0] = std::uint16_t(new_edge(edge.line, edge.across));
    edge.halves[1] = std::uint16_t(new_edge(edge.line, edge.across));
    return vertex;
  }

  // The line of an edge, if there is one layer.
  const Facet<D>& facet(int line) const { return line < most_corners_of_cell ? *cell_edges_[line] : lines_[line - most_corners_of_cell]; }

  // The edge between the two new corners.
  int new_chord(const KeptRows& rows, int row, const Part& part, const int* at, const int* made,
                const SweptVertices::Slope& slope) {
    const double miss = std::max(vertices.miss(made[0], row), vertices.miss(made[1], row));
    double least = slope.least;
    for (int k = 0; k < 2; ++k)
      least = vertices.least_slope(row, part.corners[at[k]], part.corners[part.next(at[k])], least);
    return new_edge(line_of(rows, row), slack * (miss / least) + room_for_underflow);
  }

  // The half of an edge of a part that was divided, with its first corner or with its last one.
  int half_of(const Part& part, int i, bool with_first) const {
    return edges[part.edges[i]].halves[(part.corners[i] > part.corners[part.next(i)]) == with_first];
  }

  static constexpr int none = -1;

  int layers_ = 0;
  const Facet<D>* lines_ = nullptr;  // of the rows, or null
  const Facet<D>* const* cell_edges_ = nullptr;
  std::vector<int> places_;   // of the parts, where they are in the room
  std::vector<Part, AlignedAllocator<Part>> room_;
  std::vector<int> following_, order_;  // numbers of parts
  int spare_ = 0;             // a place without a part
  int unused_ = 0;            // the first place that never had one
  std::vector<std::uint32_t> signs_;  // [parts, layers]
};

}  // namespace REGIONS_TARGET
}  // namespace regions
