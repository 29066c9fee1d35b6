// SPDX-License-Identifier: MIT
// Which numbers are known at the corners of parts, in a sweep over a cell (cell_sweep.hpp)?
//
// A position, the outputs of lower layers, and the values of the current layer's rows, all with bounds on their distance from the
// true ones at the true corner. A matrix product evaluates the rows of a layer at all corners, a few of them at once.
// The proof is in docs/error-bounds.md, "The sweep over a cell".
// Cost: rows x columns for each corner.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernel/swept_rows.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct SweptCorner {
  double x, y;
  double error;            // of its position
  double below;            // the largest error of an output of lower layers
  std::uint64_t positive;  // signs of the rows at work
  std::uint64_t zero;      // rows that are zero at it
  std::uint64_t open;      // rows whose signs are not proven, in a layer with branches
};

struct SweptPart {
  static constexpr int most_corners = 24;

  std::uint64_t done;      // rows with a line along which the part was cut
  std::uint64_t crossing;  // rows with both signs at its corners, among others that are done
  std::uint64_t on;        // rows of the layer below that are positive in it, if the current layer has branches
  std::uint64_t settled;   // rows of the current layer that need no signs in it
  int count;
  std::uint16_t corners[most_corners];  // counter-clockwise

  void append(int vertex) { corners[count++] = std::uint16_t(vertex); }
  int next(int corner) const { return corner + 1 == count ? 0 : corner + 1; }
};

struct SweptCorners {
  static constexpr std::uint64_t all_bits = (std::uint64_t{1} << rows_at_once) - 1;
  static constexpr int most_rows = 32;  // of a layer, except for units with branches

  int vertex_count = 0;
  std::vector<SweptCorner> vertices;
  std::vector<double, AlignedAllocator<double>> records;

  // Starts with no vertices; of the layers but the last with this many outputs, and a widest layer of this room.
  void lay_out(int outputs, int widest) {
    outputs_ = outputs;
    widest_ = widest;
    record_ = std::size_t(outputs + 2 * widest);
    vertex_count = 0;
  }

  int new_vertex() {
    const std::size_t vertex = std::size_t(vertex_count++);
    if (vertex == vertices.size()) vertices.resize(2 * vertex + 64);
    if ((vertex + 1) * record_ > records.size()) records.resize((2 * vertex + 64) * record_);
    return int(vertex);
  }

  // Outputs of the lower layers at a vertex, values of the rows at work, and their bounds.
  double* outputs_of(int vertex) { return records.data() + std::size_t(vertex) * record_; }
  double* values_of(int vertex) { return outputs_of(vertex) + outputs_; }
  double* bounds_of(int vertex) { return values_of(vertex) + widest_; }
  Value value_of(int vertex, int row) { return {values_of(vertex)[row], bounds_of(vertex)[row]}; }

  // The values of a layer's rows at all vertices; false if a sign is not proven.
  template <int vectors = 1>
  bool evaluate(SweptRows& rows) {
    if (rows.room == vectors * rows_at_once) return evaluate_all<vectors>(rows);
    if constexpr (vectors * rows_at_once < most_rows) return evaluate<vectors + 1>(rows);
    return false;  // impossible
  }

  template <int vectors>
  __attribute__((noinline)) bool evaluate_all(SweptRows& rows) {
    constexpr int sums_at_once = rows_at_once == 8 ? 24 : 12;
    constexpr int several = std::max(1, std::min(6, sums_at_once / vectors));
    rows.proven = std::int64_t(vertex_count) * rows.count;
    int vertex = 0;
    for (; vertex + several <= vertex_count; vertex += several)
      if (!evaluate_some<vectors, several>(rows, vertex)) return false;
    for (; vertex < vertex_count; ++vertex)
      if (!evaluate_some<vectors, 1>(rows, vertex)) return false;
    return true;
  }

  // The same for some vertices, from this one on.
  template <int vectors, int several>
  REGIONS_INLINE bool evaluate_some(const SweptRows& rows, int first) {
    constexpr int room = vectors * rows_at_once;
    RowLanes sums[several][vectors];
    const double* outputs[several];
    for (int i = 0; i < several; ++i) {
      const SweptCorner& vertex = vertices[std::size_t(first + i)];
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
      SweptCorner& vertex = vertices[std::size_t(first + i)];
      vertex.positive = vertex.zero = 0;
      double* values = values_of(first + i);
      double* bounds = bounds_of(first + i);
      for (int j = 0; j < vectors; ++j) {
        const int row = j * rows_at_once;
        const RowLanes bound = load<RowLanes>(rows.rounding + row) + load<RowLanes>(rows.steepness + row) * vertex.error +
                               load<RowLanes>(rows.sums + row) * vertex.below;
        store(values + row, sums[i][j]);
        store(bounds + row, bound);
        vertex.positive |= bits_of_rows_above(sums[i][j], RowLanes{}) << row;
        proven &= absolute(sums[i][j]) > bound;
        total += absolute(sums[i][j]);
      }
    }
    const RowLanes infinite = everywhere(INFINITY);
    return bits_of_rows_above(infinite, proven ? total : infinite) == all_bits;  // false if any sum has overflowed, too
  }

  // The outputs of a layer's units at all vertices, for the layers above.
  __attribute__((noinline)) void set_outputs(const SweptRows& rows) {
    for (int v = 0; v < vertex_count; ++v) {
      double* outputs = outputs_of(v) + rows.first_output;
      const double* values = values_of(v);
      const double* bounds = bounds_of(v);
      RowLanes most{};
      for (int r = 0; r < rows.room; r += rows_at_once) {
        const RowLanes value = load<RowLanes>(values + r);
        RowLanes error = load<RowLanes>(bounds + r);
        RowLanes output = value > 0 ? value : RowLanes{};
        if (!rows.relu) {
          error *= load<RowLanes>(rows.steepest + r);
          output = value > 0 ? load<RowLanes>(rows.slopes[1] + r) * value + load<RowLanes>(rows.offsets[1] + r)
                             : load<RowLanes>(rows.slopes[0] + r) * value + load<RowLanes>(rows.offsets[0] + r);
        }
        store(outputs + r, output);
        most = error > most ? error : most;
      }
      SweptCorner& vertex = vertices[std::size_t(v)];
      vertex.below = std::max(vertex.below, slack * (largest_of(most) + (rows.relu ? 0 : rows.output_error)));
    }
  }

  static double largest_of(RowLanes lanes) {
    double most = lanes[0];
    for (int lane = 1; lane < rows_at_once; ++lane) most = lanes[lane] > most ? lanes[lane] : most;
    return most;
  }

 private:
  int outputs_ = 0;         // of a vertex, of all layers but the last
  int widest_ = 0;          // layer's room
  std::size_t record_ = 0;  // numbers of a vertex
};

}  // namespace REGIONS_TARGET
}  // namespace regions
