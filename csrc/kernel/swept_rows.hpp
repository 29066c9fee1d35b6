// SPDX-License-Identifier: MIT
// What are the rows of one layer in a sweep over a cell (cell_sweep.hpp)?
//
// They lie side by side in whole vectors, input by input. The inputs are 1, the two coordinates, and the outputs of lower layers.
// Breakpoints are subtracted, so that a row is zero on its line.
// Invariant: at a vertex whose position is off by e, and whose outputs of lower layers are off by f, a value is off by at most
// rounding + steepness e + sum f. The proof is in docs/error-bounds.md, "The sweep over a cell".
// Cost: rows x columns, once for each cell.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "cells/polygon.hpp"
#include "kernel/sign.hpp"
#include "rows/products.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// One bit for each lane where the left number is larger.
REGIONS_INLINE std::uint64_t bits_of_rows_above(RowLanes left, RowLanes right) {
  std::uint64_t bits = 0;
  for (int lane = 0; lane < rows_at_once; lane += lanes_at_once) {
    const Wide one = load<Wide>(reinterpret_cast<const double*>(&left) + lane);
    const Wide other = load<Wide>(reinterpret_cast<const double*>(&right) + lane);
    bits |= std::uint64_t{bits_above(one, other)} << lane;
  }
  return bits;
}

struct SweptRows {
  static constexpr int D = Polygon::dimension;

  int count;
  int room;               // whole vectors; lanes without a row have a tiny value everywhere
  int limbs;
  int first_output;       // of its units among all outputs of a vertex; there are as many below
  double* forms;          // [3 + outputs below, room]
  double* rounding;       // [room]
  double* steepness;      // [room]
  double* sums;           // [room]
  double* slopes[2];      // [room]: an output is slope * value + offset, on either side
  double* offsets[2];     // [room]
  double* steepest;       // [room]: the largest |slope|
  double output_error;    // the rounding of outputs
  bool relu;              // outputs are not rounded, because all units are ReLUs
  std::uint64_t* same;    // [count]: the rows with the same line as this one
  std::uint64_t first_of_line;  // the rows that have no earlier row with the same line
  std::int64_t proven;    // number of signs

  // `blocks`: the layers from the lowest one on; this is number b of them. Their counts, rooms and first outputs are set.
  void read(const Layer& layer, const Block<D>& block, int b, const SweptRows* blocks, const Extent<Polygon>& extent,
            Arena& arena) {
    take(arena);
    relu = true;
    output_error = 0;
    for (int r = 0; r < count; ++r) {
      const Row<D>& row = *block.rows[r];
      const double kink = layer.breakpoints_of(row.unit)[0];
      double size = std::fabs(kink);
      double error = 0;
      double steep = 0;
      for (int k = 0; k <= D; ++k) {
        forms[k * room + r] = row.value[k];
        error += row.error[k] * extent.largest[k];
        size += row.size[k] * extent.largest[k];
        if (k > 0) steep += std::fabs(row.value[k]);
      }
      forms[r] -= kink;
      int column = 0;
      double sum = 0;
      double* form = forms + 3 * room + r;
      for (int below = 0; below < b; ++below)
        for (int c = 0; c < blocks[below].room; ++c, form += room) {
          *form = c < blocks[below].count ? row.coefficients[column++ * rows_at_once] : 0;
          sum += std::fabs(*form);
        }
      rounding[r] = 1.01 * (error + unit_roundoff * ((column + 14) * size)) + room_for_underflow;
      steepness[r] = 1.01 * steep;
      sums[r] = 1.01 * sum;
      read_activation(layer, row.unit, kink, size + error, r);
    }
    find_same_lines(layer, block, arena);
  }

 protected:
  static constexpr int numbers_of_row = 8;              // beside its form
  static constexpr double value_of_padding = 0x1p-900;  // above its bound, and too small to count

  void take(Arena& arena) {
    const int inputs = 3 + first_output;
    double* memory = arena.take<double>(std::size_t(room) * std::size_t(numbers_of_row + inputs));
    for (double** numbers : {&rounding, &steepness, &sums, &slopes[0], &slopes[1], &offsets[0], &offsets[1], &steepest, &forms}) {
      *numbers = memory;
      memory += room;
    }
    for (int r = count; r < room; ++r) {
      for (int k = -numbers_of_row; k < inputs; ++k) forms[k * room + r] = 0;
      forms[r] = value_of_padding;
    }
  }

  // `reach` bounds the unit's absolute values in the cell.
  void read_activation(const Layer& layer, int unit, double kink, double reach, int r) {
    double sizes = 0;
    for (int piece = 0; piece < 2; ++piece) {
      const double slope = layer.slope(unit, piece);
      const double intercept = layer.intercept(unit, piece);
      slopes[piece][r] = slope;
      offsets[piece][r] = slope * kink + intercept;
      sizes += std::fabs(slope) * (reach + std::fabs(kink)) + std::fabs(intercept);
      relu = relu && slope == piece && intercept == 0 && kink == 0;
    }
    steepest[r] = std::max(std::fabs(slopes[0][r]), std::fabs(slopes[1][r]));
    output_error = at_least(output_error, 1.01 * 4 * unit_roundoff * sizes + room_for_underflow);
  }

  void find_same_lines(const Layer& layer, const Block<D>& block, Arena& arena) {
    same = arena.take<std::uint64_t>(std::size_t(count));
    first_of_line = ~std::uint64_t{0};
    for (int r = 0; r < count; ++r) {
      same[r] = std::uint64_t{1} << r;
      if (layer.same_line.empty()) continue;
      for (int before = 0; before < r; ++before) {
        if (!layer.have_same_line(block.rows[before]->unit, block.rows[r]->unit)) continue;
        same[r] |= std::uint64_t{1} << before;
        same[before] |= std::uint64_t{1} << r;
        first_of_line &= ~(std::uint64_t{1} << r);
      }
    }
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
