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
#include <cassert>
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

// Rows side by side, with the factors of their bounds.
struct SweptForms {
  int room;           // whole vectors
  double* forms;      // [3 + outputs below, room]
  double* rounding;   // [room]
  double* steepness;  // [room]
  double* sums;       // [room]

  // The values of a vector of rows, from this one on, at (x, y), and their bounds.
  void evaluate(int row, int outputs_below, double x, double y, const double* outputs, double position_error, double output_error,
                RowLanes& value, RowLanes& bound) const {
    const double* column = forms + row;
    value = load<RowLanes>(column);
    value += load<RowLanes>(column += room) * x;
    value += load<RowLanes>(column += room) * y;
    for (int c = 0; c < outputs_below; ++c) value += load<RowLanes>(column += room) * outputs[c];
    bound = load<RowLanes>(rounding + row) + load<RowLanes>(steepness + row) * position_error +
            load<RowLanes>(sums + row) * output_error;
  }
};

struct SweptRows : SweptForms {
  static constexpr int D = Polygon::dimension;

  int units;              // undecided ones
  int count;              // of rows: one for each undecided kink of a unit, or one for each unit with two branches
  int limbs;
  int first_output;       // of its rows among all outputs of a vertex; there are as many below
  bool listed;            // whether rows may have lists of columns
  bool several;           // whether units may have several rows each: then their outputs are sums
  int* first_row;         // [units + 1], in that case
  double* largest;        // [count]: bounds on the outputs, in that case
  double* slopes[2];      // [room]: an output is slope * value + offset, on either side
  double* offsets[2];     // [room]
  double* steepest;       // [room]: the largest |slope|
  double output_error;    // the rounding of outputs
  bool relu;              // outputs are not rounded, because all units are ReLUs
  std::uint64_t* same;    // [count]: the rows with the same line as this one
  std::uint64_t first_of_line;  // the rows that have no earlier row with the same line
  std::int64_t proven;    // number of signs

  // The number of rows of a block; 0 if a unit has more than two branches, or if the layer has outputs.
  static int rows_of(const Layer& layer, const Block<D>& block) {
    if (layer.kinks == 1) return block.count;
    if (layer.has_maxima()) return block.count == 2 * block.units ? block.units : 0;
    int rows = 0;
    if (layer.kinks > 1)
      for (int i = 0; i < block.count; ++i) rows += block.rows[i]->highest_piece - block.rows[i]->lowest_piece;
    return rows;
  }

  // `blocks`: the layers from the lowest one on; this is number b of them. Their counts, rooms and first outputs are set.
  void read(const Layer& layer, const Block<D>& block, int b, const SweptRows* blocks, const Extent<Polygon>& extent,
            Arena& arena) {
    take(arena);
    if (!has_all_columns(b, blocks)) clear_columns(*this, b, blocks);
    several = count > units;
    if (several) {
      first_row = arena.take<int>(std::size_t(units + 1));
      largest = arena.take<double>(std::size_t(count));
    }
    relu = true;
    output_error = 0;
    int r = 0;
    for (int i = 0; i < block.count; ++i) {
      const Row<D>& row = *block.rows[i];
      if (several) first_row[i] = r;
      for (int kink = row.lowest_piece; kink < row.highest_piece; ++kink, ++r) {
        const double breakpoint = layer.breakpoints_of(row.unit)[kink];
        const Sizes sizes = write(*this, r, row, breakpoint, b, blocks, extent);
        const double outputs = read_activation(layer, row, kink, breakpoint, sizes.size + sizes.error, r);
        if (several) largest[r] = outputs;
      }
    }
    if (several) first_row[units] = r;
    find_same_lines(layer, block, arena);
  }

  // Calls work(layer, number of the unit in it, coefficient) for each column of a row above these layers.
  template <class Rows, class Work>
  REGIONS_INLINE static void for_each_term(const Row<D>& row, int b, const Rows* blocks, Work work) {
    const ColumnList* list = b > 0 && blocks[0].listed ? row.list : nullptr;
    int place = 0;
    int first = 0;  // column of the layer
    for (int below = 0; below < b; first += blocks[below++].units) {
      const Rows& layer = blocks[below];
      if (list == nullptr)
        for (int unit = 0; unit < layer.units; ++unit, ++place) work(layer, unit, row.coefficients[place * rows_at_once]);
      else
        for (; place < row.columns && list->columns[place] < first + layer.units; ++place)
          work(layer, list->columns[place] - first, row.coefficients[place * rows_at_once]);
    }
    assert(place <= row.columns);  // columns of units of the row's own layer may follow; their coefficients are 0
  }

  std::uint64_t rows_of_unit(int unit) const {
    if (!several) return std::uint64_t{1} << unit;
    return (std::uint64_t{1} << first_row[unit + 1]) - (std::uint64_t{1} << first_row[unit]);
  }

  // Returns whether the unit's output is exactly zero where none of its rows is positive. Units with branches have no such rows.
  bool is_zero_when_off(int unit) const {
    const int r = several ? first_row[unit] : unit;
    return slopes[0][r] == 0 && offsets[0][r] == 0;
  }

  // Bounds in the cell: on all terms of a row together, and on its error. And the number of its columns.
  struct Sizes {
    double size;
    double error;
    int terms;
  };

  // Writes a row, minus a breakpoint, as row r.
  REGIONS_INLINE static Sizes write(const SweptForms& to, int r, const Row<D>& row, double breakpoint, int b,
                                    const SweptRows* blocks, const Extent<Polygon>& extent) {
    double size = std::fabs(breakpoint);
    double error = 0;
    double steep = 0;
    for (int k = 0; k <= D; ++k) {
      to.forms[k * to.room + r] = row.value[k];
      error += row.error[k] * extent.largest[k];
      size += row.size[k] * extent.largest[k];
      if (k > 0) steep += std::fabs(row.value[k]);
    }
    to.forms[r] -= breakpoint;
    double sum = 0;
    int terms = 0;
    const auto write_term = [&](int output, double coefficient) {
      to.forms[(3 + output) * to.room + r] = coefficient;
      sum += std::fabs(coefficient);
      ++terms;
    };
    if (has_all_columns(b, blocks)) {  // the usual case
      const double* coefficient = row.coefficients;
      double* form = to.forms + 3 * to.room + r;
      for (int below = 0; below < b; ++below)
        for (int c = 0; c < blocks[below].room; ++c, form += to.room) {
          *form = c < blocks[below].count ? *coefficient : 0;
          coefficient += c < blocks[below].count ? rows_at_once : 0;
          sum += std::fabs(*form);
        }
      terms = row.columns;
    } else {
      for_each_term(row, b, blocks, [&](const SweptRows& below, int unit, double coefficient) {
        if (!below.several) return write_term(below.first_output + unit, coefficient);
        for (int each = below.first_row[unit]; each < below.first_row[unit + 1]; ++each) {
          write_term(below.first_output + each, coefficient);
          size += std::fabs(coefficient) * below.largest[each];  // terms may cancel
        }
      });
    }
    to.rounding[r] = 1.01 * (error + unit_roundoff * ((terms + 14) * size)) + room_for_underflow;
    to.steepness[r] = 1.01 * steep;
    to.sums[r] = 1.01 * sum;
    return {size, error, terms};
  }

  // Returns whether rows have coefficients of all units of these layers, and each of these has one row.
  static bool has_all_columns(int b, const SweptRows* blocks) {
    bool all = true;
    for (int below = 0; below < b; ++below) all = all && !blocks[below].listed && !blocks[below].several;
    return all;
  }

  // Zeroes the padding columns, and all columns if rows may lack some.
  template <class Rows>
  static void clear_columns(const SweptForms& of, int b, const Rows* blocks) {
    for (int below = 0; below < b; ++below) {
      const int first = blocks[0].listed ? 0 : blocks[below].count;
      std::fill_n(of.forms + (3 + blocks[below].first_output + first) * of.room, (blocks[below].room - first) * of.room, 0.0);
    }
  }

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

  void find_same_lines(const Layer& layer, const Block<D>& block, Arena& arena) {
    same = arena.take<std::uint64_t>(std::size_t(count));
    first_of_line = ~std::uint64_t{0};
    for (int r = 0; r < count; ++r) same[r] = std::uint64_t{1} << r;
    if (layer.same_line.empty()) return;
    std::int64_t* kinks = arena.take<std::int64_t>(std::size_t(count));  // of the rows, counted from the layer's first
    int r = 0;
    for (int i = 0; i < block.count; ++i)
      for (int kink = block.rows[i]->lowest_piece; kink < block.rows[i]->highest_piece; ++kink, ++r) {
        kinks[r] = std::int64_t(block.rows[i]->unit) * layer.kinks + kink;
        for (int before = 0; before < r; ++before) {
          if (!layer.have_same_line(kinks[before], kinks[r])) continue;
          same[r] |= std::uint64_t{1} << before;
          same[before] |= std::uint64_t{1} << r;
          first_of_line &= ~(std::uint64_t{1} << r);
        }
      }
  }

 protected:
  static constexpr int numbers_of_row = 8;              // beside its form
  static constexpr double value_of_padding = 0x1p-900;  // above its bound, and too small to count

  // `reach` bounds the unit's absolute values in the cell. The output of a unit's first row is the unit's output up to the next kink;
  // later rows have the changes of slope times the positive parts of their values. Returns a bound on the output.
  double read_activation(const Layer& layer, const Row<D>& row, int kink, double breakpoint, double reach, int r) {
    double sizes = 0;
    const bool first = kink == row.lowest_piece;
    for (int side = 0; side < 2; ++side) {
      double slope = layer.slope(row.unit, kink + side);
      double intercept = layer.intercept(row.unit, kink + side);
      sizes += std::fabs(slope) * (reach + std::fabs(breakpoint)) + std::fabs(intercept);
      relu = relu && slope == side && intercept == 0 && breakpoint == 0 && first;
      if (first) {
        slopes[side][r] = slope;
        offsets[side][r] = slope * breakpoint + intercept;
      } else {
        slopes[side][r] = side == 0 ? 0 : slope - layer.slope(row.unit, kink);
        offsets[side][r] = 0;
      }
    }
    steepest[r] = std::max(std::fabs(slopes[0][r]), std::fabs(slopes[1][r]));
    output_error = at_least(output_error, 1.01 * 4 * unit_roundoff * sizes + room_for_underflow);
    return 1.01 * sizes;
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
