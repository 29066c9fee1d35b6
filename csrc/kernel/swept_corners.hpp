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

#include "kernel/swept_points.hpp"
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

struct SweptCorners : SweptPoints<SweptCorner> {
  // The values of a layer's rows at all vertices; false if a sign is not proven.
  bool evaluate(SweptRows& rows) {
    return SweptPoints::evaluate(rows, [&](int row, const SweptCorner& vertex) {
      const RowLanes bound = load<RowLanes>(rows.rounding + row) + load<RowLanes>(rows.steepness + row) * vertex.error +
                             load<RowLanes>(rows.sums + row) * vertex.below;
      return BoundAndDoubt{bound, bound};
    });
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
};

}  // namespace REGIONS_TARGET
}  // namespace regions
