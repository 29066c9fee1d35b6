// SPDX-License-Identifier: MIT
// How many regions are there in a small cell, once the rows of all remaining layers are written?
//
// Most cells of the recursion are of this kind: a few lines, and a few rows of each layer above. They would be cut again and
// again, and the rows rewritten for each half. If regions are only counted, the layers are taken one by one instead, as on
// segments (sweep.hpp). The cell is divided into parts, which are lists of corners. A matrix product gives the rows of a layer
// their values at all corners (swept_corners.hpp). Signs are bit masks, and rows with both signs at the corners of a part cut it.
// Everything at a new corner lies between two others. The units' outputs at the corners are the inputs of the next layer. In the
// last layer no part is cut: the ends of chords tell how many regions it has (chords.hpp).
// A unit with several kinks has a row for each of them. Its output is the sum of their outputs, of which all but the first are the
// changes of slope. A unit with two branches has one row, their difference (swept_maxima.hpp).
// In a homogeneous network, if the origin is a corner of the cell, all lines pass through it, and each part is a fan around it.
// Invariant: in each part, the layers below are affine. At each corner the position, the outputs of lower layers and the
// values of the current layer are known, with bounds on their distance from the true ones at the true corner.
// The proof is in docs/error-bounds.md, "The sweep over a cell". If rounded arithmetic does not prove every sign, nothing is
// concluded, and the recursion continues as usual.
// Cost: rows x columns for each corner, and a few operations on vectors of rows for each new corner.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "cells/polygon.hpp"
#include "kernel/chords.hpp"
#include "kernel/sign.hpp"
#include "kernel/swept_corners.hpp"
#include "kernel/swept_maxima.hpp"
#include "kernel/swept_rows.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Cells of other types are left to the recursion.
template <class Cell>
class CellSweep {
 public:
  CellSweep(const Network&, Arena&, Signs<Cell>&) {}
  int size(const LocalNetwork<Cell::dimension>&, const Cell&) const { return 0; }
  std::int64_t count(const LocalNetwork<Cell::dimension>&, const Cell&) { return unknown; }
  int parts() const { return 0; }
};

template <>
class CellSweep<Polygon> : SweptCorners {
 public:
  static constexpr int D = Polygon::dimension;

  CellSweep(const Network& network, Arena& arena, Signs<Polygon>& signs)
      : network_(network), arena_(arena), signs_(signs), whole_(network.is_whole()), blocks_(network.layers.size()), maxima_(network) {}

  // The number of undecided rows, or 0 if the cell is not of this kind.
  int size(const LocalNetwork<D>& network, const Polygon& cell) const {
    if (!network.bounded || network.block_count < 2 || network.frontier != network_.last()) return 0;
    if (network.lines.count > most_lines || cell.count > most_corners_of_cell) return 0;
    int rows = 0;
    int last = 0;
    for (int b = 0; b < network.block_count; ++b) {
      const Block<D>& block = network.blocks[b];
      const Layer& layer = network_.layers[std::size_t(block.layer)];
      last = SweptRows::rows_of(layer, block);
      if (last == 0 || last > (layer.has_maxima() && b + 1 < network.block_count ? most_maxima : most_rows)) return 0;
      rows += last;
    }
    return rows - last > most_outputs ? 0 : rows;
  }

  // Returns the number of regions in the cell, or `unknown`.
  std::int64_t count(const LocalNetwork<D>& network, const Polygon& cell) {
    const Arena::Mark mark = arena_.mark();
    const std::int64_t regions = sweep(network, cell);
    arena_.release(mark);
    return regions;
  }

  // Number of parts of the last counted cell, below the last layer.
  int parts() const { return int(parts_.size()); }

 private:
  // All kernels have the same limits, so that they prove the same signs.
  static constexpr int most_lines = 16;
  static constexpr int most_maxima = 64;    // of a layer below the last
  static constexpr int most_outputs = 512;  // of all layers but the last
  static constexpr int most_corners_of_cell = 16;
  static constexpr int most_corners = SweptPart::most_corners;
  static_assert(most_rows <= Chords::most_lines);
  static constexpr int most_vertices = 4096;

  std::int64_t sweep(const LocalNetwork<D>& network, const Polygon& cell) {
    const Extent<Polygon> extent(cell);
    lay_out(network);
    begin(cell, network.origin);
    std::int64_t regions = unknown;
    for (int b = 0; b < network.block_count; ++b) {
      SweptRows& rows = blocks_[std::size_t(b)];
      const Block<D>& block = network.blocks[b];
      const Layer& layer = network_.layers[std::size_t(block.layer)];
      has_maxima_ = layer.has_maxima();
      if (has_maxima_) {
        maxima_.read(block, b, blocks_.data(), extent, arena_);
        if (!maxima_.evaluate(rows, *this, parts_)) return unknown;
      } else {
        rows.read(layer, block, b, blocks_.data(), extent, arena_);
        if (!evaluate(rows)) return unknown;
      }
      if (b + 1 == network.block_count) {
        regions = count_last(rows);
        break;
      }
      if (!cut_all(rows)) return unknown;
      if (!has_maxima_)
        set_outputs(rows);
      else if (!maxima_.set_outputs(rows, *this, parts_))
        return unknown;
      if (network_.layers[std::size_t(network.blocks[b + 1].layer)].has_maxima()) note_positive_rows();
    }
    for (int b = 0; regions != unknown && b < network.block_count; ++b) {
      const SweptRows& rows = blocks_[std::size_t(b)];
      signs_.counts.prove(rows.limbs, rows.proven);
      if (fans_) signs_.prove_zeros(rows.limbs, rows.count);
    }
    return regions;
  }

  void lay_out(const LocalNetwork<D>& network) {
    int outputs = 0;
    int widest = 0;
    for (int b = 0; b < network.block_count; ++b) {
      SweptRows& rows = blocks_[std::size_t(b)];
      const Block<D>& block = network.blocks[b];
      rows.count = SweptRows::rows_of(network_.layers[std::size_t(block.layer)], block);
      rows.units = block.units;
      rows.listed = !whole_;
      rows.room = (rows.count + rows_at_once - 1) / rows_at_once * rows_at_once;
      rows.limbs = block.rows[0]->limbs;
      rows.first_output = outputs;
      if (b + 1 < network.block_count) outputs += rows.room;
      widest = std::max(widest, rows.room);
    }
    SweptCorners::lay_out(outputs, widest);
  }

  // ---- the vertices ----

  // If there is an origin, parts do not list it: they begin after it and end before it.
  void begin(const Polygon& cell, int origin) {
    fans_ = origin >= 0;
    parts_.resize(1);
    parts_[0].count = 0;
    parts_[0].on = parts_[0].settled = 0;
    for (int i = fans_ ? 1 : 0; i < cell.count; ++i) {
      const Vertex<D>& corner = *cell.vertices[fans_ ? (origin + i) % cell.count : i];
      const int vertex = new_vertex();
      vertices[std::size_t(vertex)] = {corner.position[1], corner.position[2], corner.error, 0, 0, 0, 0};
      parts_[0].append(vertex);
    }
  }

  // ---- cutting parts ----

  // For the next layer, before signs are overwritten.
  void note_positive_rows() {
    for (SweptPart& part : parts_) {
      part.on = 0;
      for (int i = 0; i < part.count; ++i) part.on |= vertices[part.corners[i]].positive & ~vertices[part.corners[i]].zero;
    }
  }

  // The rows with both signs at the part's corners.
  std::uint64_t crossing(const SweptPart& part) const {
    std::uint64_t any = 0;
    std::uint64_t all = ~std::uint64_t{0};
    for (int i = 0; i < part.count; ++i) {
      const std::uint64_t positive = vertices[part.corners[i]].positive;
      any |= positive;
      all &= positive;
    }
    return any & ~all;
  }

  // Cuts each part along all lines of the layer; false if that is not proven.
  __attribute__((noinline)) bool cut_all(SweptRows& rows) {
    if (known_.empty()) known_.resize(std::size_t{1} << log_of_known);
    ++stamp_;
    for (SweptPart& part : parts_) {
      part.done = part.settled;
      part.crossing = crossing(part);
    }
    for (std::size_t part = 0; part < parts_.size(); ++part)
      while (const std::uint64_t lines = parts_[part].crossing & ~parts_[part].done)
        if (!cut(rows, part, __builtin_ctzll(lines))) return false;
    return true;
  }

  // Replaces a part by one side of it, and appends the other side.
  bool cut(SweptRows& rows, std::size_t which, int row) {
    parts_.emplace_back();
    const SweptPart whole = parts_[which];
    if (whole.count == most_corners) return false;
    SweptPart* sides[2] = {&parts_.back(), &parts_[which]};
    for (SweptPart* side : sides) {
      side->done = whole.done | rows.same[row];
      side->on = whole.on;
      side->settled = whole.settled;
      side->count = 0;
    }
    std::uint64_t any[2] = {0, 0};
    std::uint64_t all[2] = {~std::uint64_t{0}, ~std::uint64_t{0}};
    const auto append = [&](int side, int vertex, std::uint64_t positive) {
      sides[side]->append(vertex);
      any[side] |= positive;
      all[side] &= positive;
    };
    int meetings = 0;
    std::uint64_t signs = vertices[whole.corners[0]].positive;
    for (int i = 0; i < whole.count; ++i) {
      const int start = whole.corners[i];
      const int end = whole.corners[whole.next(i)];
      const int side = int(signs >> row & 1);
      append(side, start, signs);
      signs = vertices[std::size_t(end)].positive;
      if (side == int(signs >> row & 1)) continue;
      if (fans_ && i + 1 == whole.count) continue;  // the line passes through the origin
      const int vertex = between(rows, row, start, end);
      if (vertex < 0 || ++meetings > 2) return false;
      if (has_maxima_ && (vertices[std::size_t(vertex)].open & ~whole.settled) != 0) return false;
      for (int each = 0; each < 2; ++each) append(each, vertex, vertices[std::size_t(vertex)].positive);
    }
    for (int side = 0; side < 2; ++side) sides[side]->crossing = any[side] & ~all[side];
    return true;
  }

  // The vertex where a row is zero on an edge, or -1 if it may be on other lines, too. Two parts have the edge, and the second
  // one finds the vertex of the first.
  int between(SweptRows& rows, int row, int start, int end) {
    if (start > end) std::swap(start, end);
    const unsigned hash = unsigned(start) * 0x9E3779B1u + unsigned(end) * 0x85EBCA77u + unsigned(row) * 0xC2B2AE3Du;
    Known& known = known_[hash >> (32 - log_of_known)];
    if (known.stamp == stamp_ && known.start == start && known.end == end && known.row == row) return known.vertex;
    const int vertex = make_between(rows, row, start, end);
    if (vertex >= 0) known = {stamp_, start, end, row, vertex};
    return vertex;
  }

  __attribute__((noinline)) int make_between(SweptRows& rows, int row, int start, int end) {
    if (vertex_count == most_vertices) return -1;
    const int made = new_vertex();
    SweptCorner& vertex = vertices[std::size_t(made)];
    const SweptCorner& from = vertices[std::size_t(start)];
    const SweptCorner& to = vertices[std::size_t(end)];
    const Share share = zero_between(value_of(start, row), value_of(end, row));
    if (!share.usable()) return -1;
    const double t = share.share;
    vertex.x = from.x + (to.x - from.x) * t;
    vertex.y = from.y + (to.y - from.y) * t;
    const double size = std::max({std::fabs(from.x), std::fabs(from.y), std::fabs(to.x), std::fabs(to.y)});
    const double distance = std::max(std::fabs(from.x - to.x), std::fabs(from.y - to.y));
    vertex.error = slack * (std::max(from.error, to.error) + share.error * distance + 5 * unit_roundoff * size) +
                   room_for_underflow;

    const double* of_start = outputs_of(start);
    const double* of_end = outputs_of(end);
    double* outputs = outputs_of(made);
    RowLanes change{};
    RowLanes magnitude{};
    for (int c = 0; c < rows.first_output; c += rows_at_once) {
      const RowLanes a = load<RowLanes>(of_start + c);
      const RowLanes b = load<RowLanes>(of_end + c);
      const RowLanes difference = absolute(b - a);
      const RowLanes sum = absolute(a) + absolute(b);
      change = difference > change ? difference : change;
      magnitude = sum > magnitude ? sum : magnitude;
      store(outputs + c, a + (b - a) * t);
    }
    vertex.below = slack * (std::max(from.below, to.below) + share.error * largest_of(change) +
                            4 * unit_roundoff * largest_of(magnitude)) +
                   room_for_underflow;

    std::uint64_t open = 0;
    vertex.positive = 0;
    vertex.zero = (from.zero & to.zero) | rows.same[row];
    double* values = values_of(made);
    double* bounds = bounds_of(made);
    for (int r = 0; r < rows.room; r += rows_at_once) {
      const RowLanes a = load<RowLanes>(values_of(start) + r);
      const RowLanes b = load<RowLanes>(values_of(end) + r);
      const RowLanes value = a + (b - a) * t;
      const RowLanes from_bound = load<RowLanes>(bounds_of(start) + r);
      const RowLanes to_bound = load<RowLanes>(bounds_of(end) + r);
      const RowLanes bound = slack * ((from_bound > to_bound ? from_bound : to_bound) + share.error * absolute(b - a) +
                                      4 * unit_roundoff * (absolute(a) + absolute(b))) +
                             room_for_underflow;
      store(values + r, value);
      store(bounds + r, bound);
      vertex.positive |= bits_of_rows_above(value, RowLanes{}) << r;
      open |= (all_bits ^ bits_of_rows_above(absolute(value), bound)) << r;
    }
    vertex.open = open & ~vertex.zero;
    if (vertex.open != 0 && !has_maxima_) return -1;
    for (std::uint64_t zeros = vertex.zero; zeros != 0; zeros &= zeros - 1) {
      values[__builtin_ctzll(zeros)] = 0;
      bounds[__builtin_ctzll(zeros)] = 0;
    }
    rows.proven += rows.count;
    return made;
  }

  // ---- the last layer ----

  std::int64_t count_last(const SweptRows& rows) {
    std::int64_t regions = 0;
    for (const SweptPart& part : parts_) {
      const std::uint64_t lines = crossing(part) & rows.first_of_line & ~part.settled;
      const auto positive_at = [&](int corner) { return vertices[part.corners[corner]].positive; };
      const auto value_at = [&](int corner, int row) { return value_of(part.corners[corner], row); };
      const std::int64_t crossings = fans_ ? chords_.crossings_of_fan(part.count, lines, positive_at, value_at)
                                           : chords_.crossings(part.count, lines, positive_at, value_at);
      if (crossings < 0) return unknown;
      regions += 1 + __builtin_popcountll(lines) + crossings;
    }
    return regions;
  }

  // A vertex between two others, in the layer with this stamp.
  struct Known {
    std::uint64_t stamp;
    int start, end, row, vertex;
  };
  static constexpr int log_of_known = 10;

  const Network& network_;
  Arena& arena_;
  Signs<Polygon>& signs_;
  const bool whole_;
  std::vector<SweptRows> blocks_;
  bool has_maxima_ = false;   // whether units of the current layer have branches
  SweptMaxima maxima_;        // of the current layer
  bool fans_ = false;         // parts have another corner, the origin, where all rows are zero
  std::vector<SweptPart> parts_;
  std::vector<Known> known_;  // by hashes
  std::uint64_t stamp_ = 0;
  Chords chords_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
