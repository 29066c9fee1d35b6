// SPDX-License-Identifier: MIT
// Which values do the rows of a swept cell have at the corners of its parts?
//
// A table has a record for each corner: outputs of the lower layers, values of the rows at work, and bounds on the values. The sweeps of
// counts and of enumerations (kernel/cell_sweep.hpp, kernel/region_sweep.hpp) share it, and differ in how they bound errors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cells/vertex.hpp"
#include "kernel/swept_rows.hpp"
#include "rows/panel.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Of the values of some rows at a corner: bounds on their errors, and the absolute values up to which signs are not proven.
struct BoundAndDoubt {
  RowLanes bound;
  RowLanes doubt;
};

template <class Corner>
struct SweptPoints {
  static constexpr std::uint64_t all_bits = (std::uint64_t{1} << rows_at_once) - 1;
  static constexpr int most_rows = 32;  // of a layer, except for units with branches

  int vertex_count = 0;
  std::vector<Corner, AlignedAllocator<Corner>> vertices;

  // Starts without vertices. `outputs` is the number of outputs of all layers but the last, and `widest` the room of a layer.
  void lay_out(int outputs, int widest) {
    outputs_ = outputs;
    widest_ = widest;
    record_ = std::size_t(outputs + 2 * widest);
    vertex_count = 0;
  }

  int new_vertex() {
    const std::size_t vertex = std::size_t(vertex_count++);
    if (vertex == vertices.size()) vertices.resize(2 * vertex + 64);
    if ((vertex + 1) * record_ > records_.size()) records_.resize((2 * vertex + 64) * record_);
    return int(vertex);
  }

  double* outputs_of(int vertex) { return records_.data() + std::size_t(vertex) * record_; }
  double* values_of(int vertex) { return outputs_of(vertex) + outputs_; }
  double* bounds_of(int vertex) { return values_of(vertex) + widest_; }
  Value value_of(int vertex, int row) { return {values_of(vertex)[row], bounds_of(vertex)[row]}; }

  // Computes the values of a layer's rows at all vertices. Returns false if a sign is not proven. bound(row, vertex) returns a
  // BoundAndDoubt of `rows_at_once` rows.
  template <int vectors = 1, class Rows, class Bound>
  bool evaluate(Rows& rows, Bound bound) {
    if (rows.room == vectors * rows_at_once) return evaluate_all<vectors>(rows, bound);
    if constexpr (vectors * rows_at_once < most_rows) return evaluate<vectors + 1>(rows, bound);
    return false;  // impossible
  }

 private:
  template <int vectors, class Rows, class Bound>
  __attribute__((noinline)) bool evaluate_all(Rows& rows, Bound bound) {
    constexpr int sums_at_once = rows_at_once == 8 ? 24 : 12;
    constexpr int several = std::max(1, std::min(6, sums_at_once / vectors));
    rows.proven = std::int64_t(vertex_count) * rows.count;
    int vertex = 0;
    for (; vertex + several <= vertex_count; vertex += several)
      if (!evaluate_some<vectors, several>(rows, vertex, bound)) return false;
    for (; vertex < vertex_count; ++vertex)
      if (!evaluate_some<vectors, 1>(rows, vertex, bound)) return false;
    return true;
  }

  // The same for some vertices, from this one on.
  template <int vectors, int several, class Rows, class Bound>
  REGIONS_INLINE bool evaluate_some(const Rows& rows, int first, Bound bound) {
    constexpr int room = vectors * rows_at_once;
    RowLanes sums[several][vectors];
    const double* outputs[several];
    for (int i = 0; i < several; ++i) {
      const Corner& vertex = vertices[std::size_t(first + i)];
      outputs[i] = outputs_of(first + i);
      for (int j = 0; j < vectors; ++j) {
        const double* form = rows.forms + j * rows_at_once;
        sums[i][j] = load<RowLanes>(form);
        sums[i][j] += load<RowLanes>(form + room) * vertex.x;
        sums[i][j] += load<RowLanes>(form + 2 * room) * vertex.y;
      }
    }
    const double* column = rows.forms + 3 * room;
    for (int c = 0; c < rows.first_output; ++c, column += room)
      for (int j = 0; j < vectors; ++j) {
        const RowLanes coefficients = load<RowLanes>(column + j * rows_at_once);
        for (int i = 0; i < several; ++i) sums[i][j] += coefficients * outputs[i][c];
      }
    RowLanes total{};
    RowMask proven = RowMask{} - 1;
    for (int i = 0; i < several; ++i) {
      Corner& vertex = vertices[std::size_t(first + i)];
      vertex.positive = vertex.zero = 0;
      double* values = values_of(first + i);
      double* bounds = bounds_of(first + i);
      for (int j = 0; j < vectors; ++j) {
        const int row = j * rows_at_once;
        const BoundAndDoubt at = bound(row, vertex);
        store(values + row, sums[i][j]);
        store(bounds + row, at.bound);
        vertex.positive |= bits_of_rows_above(sums[i][j], RowLanes{}) << row;
        proven &= absolute(sums[i][j]) > at.doubt;
        total += absolute(sums[i][j]);
      }
    }
    const RowLanes infinite = everywhere(INFINITY);
    return bits_of_rows_above(infinite, proven ? total : infinite) == all_bits;  // false if any sum has overflowed, too
  }

  std::vector<double, AlignedAllocator<double>> records_;
  int outputs_ = 0;         // of a vertex, of all layers but the last
  int widest_ = 0;          // layer's room
  std::size_t record_ = 0;  // numbers of a vertex
};

}  // namespace REGIONS_TARGET
}  // namespace regions
