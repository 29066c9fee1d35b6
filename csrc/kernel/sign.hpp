// SPDX-License-Identifier: MIT
// On which side of a kink is a vertex, or a whole cell?
//
// This is the only place where signs are decided. First by rounded arithmetic, against a bound that accounts for all
// rounding: the row's coefficients (Row::error), the vertex (Vertex::error), and the evaluation itself (a
// sum of D + 2 products), including underflow (lanes.hpp). Signs that the filter cannot decide are decided exactly, and
// zero is an answer. A bound of exactly 0 is a proof of zero too: at a vertex without error (not at infinity, where the constant
// term decides), or if the form is zero everywhere.
// Overflow decides nothing either: a bound is infinite wherever a sum can overflow, and NaN compares false.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cells/cell.hpp"
#include "rows/panel.hpp"
#include "rows/rows.hpp"
#include "task/outcome.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// The extent of a cell, or of the base of its cone (cone_base.hpp).
template <class Cell>
struct Extent {
  static constexpr int D = Cell::dimension;
  static constexpr int vectors = (D + 2 + 3) / 4;
  AffineLanes<D> largest{};  // (1, max |p_1|, ...); the padding lanes are zero
  AffineLanes<D> one{1};     // the form that is 1 everywhere
  double terms = 1;          // bounds the sum of the absolute values of the terms of `one`
  double error = 0;          // of its vertices
  double underflow = 0;      // room for underflow in the value of a form anywhere in the cell
  bool bounded = true;
  [[no_unique_address]] Dims<D> dims;

  Extent() = default;

  explicit Extent(const Cell& cell) : dims(dims_of(cell)) {
    double reach[D + 1] = {};
    if constexpr (may_lack_vertices<Cell>)
      if (lacks_vertices(cell)) std::copy_n(cell.inside->box->reach, dims + 1, reach);
    // The largest of each coordinate, and of the error, which follows them.
    static_assert(offsetof(Vertex<D>, error) == (D + 1) * sizeof(double) && sizeof(Vertex<D>) >= vectors * sizeof(Lanes4));
    Lanes4 most[vectors] = {};
    for (int i = 0; i < cell.count; ++i) {
      const double* position = cell.vertices[i]->position;
      for (int part = 0; part < vectors; ++part) most[part] = at_least(most[part], absolute(load<Lanes4>(position + 4 * part)));
      bounded = bounded && position[0] != 0;
    }
    for (int k = 1; k <= dims; ++k) reach[k] = at_least(reach[k], most[k / 4][k % 4]);
    error = most[(D + 1) / 4][(D + 1) % 4];
    largest[0] = 1;
    double sum = 1;
    for (int k = 1; k <= dims; ++k) {
      largest[k] = reach[k] + error;
      sum += largest[k];
    }
    underflow = room_for_underflow * sum;
  }
};

// Bound on the rounding in a line's values in a cell, for exact vertices, and the factor of the vertices' errors. It is
// infinite if the sum of a value's terms can overflow on the way to a value that is a double.
template <int D>
void set_margin(Lines<D>& lines, int index, const Row<D>& row, double breakpoint, const AffineLanes<D>& largest) {
  double size = std::fabs(breakpoint);
  double error = 0;
  double steepness = 0;
  for (int k = 0; k <= lines.dims; ++k) {
    size += std::fabs(row.value[k]) * largest[k];
    error += row.error[k] * largest[k];
    if (k > 0) steepness += std::fabs(row.value[k]) + row.error[k];
  }
  lines.margin[index] = 1.01 * (error + unit_roundoff * ((lines.dims + 3) * size)) + room_for_underflow;
  lines.steepness[index] = 1.01 * steepness;
}

// Affine forms, laid out side by side, at a position.
template <int N>
RowLanes values_at(const RowLanes* forms, const double* position) {
  RowLanes at = forms[0] * position[0];
  for (int k = 1; k <= N; ++k) at += forms[k] * position[k];
  return at;
}

// The least and the greatest value of every line over the corners, and the side of the cell that follows.
template <int N, class Cell>
void classify(const Lines<Cell::dimension>& lines, const Cell& cell, double vertex_error, double* least,
              double* greatest, Side* sides) {
  const auto everywhere_is = [](Side side) { return RowMask{} + std::int64_t(side); };
  for (int start = 0; start < lines.count; start += rows_at_once) {
    RowLanes forms[N + 1];
    for (int k = 0; k <= N; ++k) forms[k] = load<RowLanes>(lines.value[k] + start);
    RowLanes low = values_at<N>(forms, cell.vertices[0]->position);
    RowLanes high = low;
    RowLanes corners_low = low;  // vertices that enclose a curved cell are not part of it
    RowLanes corners_high = high;
    for (int i = 1; i < cell.count; ++i) {
      const RowLanes at = values_at<N>(forms, cell.vertices[i]->position);
      low = at < low ? at : low;
      high = at > high ? at : high;
      if (Cell::outer == 0 || i < cell.count - Cell::outer) {
        corners_low = low;
        corners_high = high;
      }
    }
    store(least + start, low);
    store(greatest + start, high);
    const RowLanes margin =
        load<RowLanes>(lines.margin + start) + load<RowLanes>(lines.steepness + start) * vertex_error;
    const RowMask above = low > margin;
    const RowMask below = high < -margin;
    const RowMask both = (corners_high > margin) & (corners_low < -margin);
    const RowMask unless_both = both ? everywhere_is(Side::crossing) : everywhere_is(Side::uncertain);
    const RowMask unless_above = above ? everywhere_is(Side::active) : unless_both;
    store(sides + start, below ? everywhere_is(Side::inactive) : unless_above);
  }
}

template <class Cell>
void classify(const Lines<Cell::dimension>& lines, const Cell& cell, double vertex_error, double* least,
              double* greatest, Side* sides) {
  with_dims<Cell::dimension>(lines.dims, [&](auto n) { classify<n()>(lines, cell, vertex_error, least, greatest, sides); });
}

template <class Cell>
class Signs {
 public:
  static constexpr int D = Cell::dimension;
  Signs(const Network& network, Exact& exact) : network_(network), exact_(exact), dims_(exact.dimension()) {}

  // -1, 0, 1: the sign of the kink's form at the vertex.
  int at_vertex(int layer, const Row<D>& row, int breakpoint, const Vertex<D>& vertex) {
    return at_vertex(layer, row, breakpoint, at(layer, row, breakpoint), vertex);
  }

  int at_vertex(int layer, const Row<D>& row, int breakpoint, double at, const Vertex<D>& vertex) {
    const Value value = evaluate(row, at, vertex.position, dims_);
    const double sum = value.value;
    double bound = value.bound;
    for (int k = 1; k <= dims_; ++k) bound += 1.01 * (std::fabs(row.value[k]) + row.error[k]) * vertex.error;
    if (sum > bound || sum < -bound) {
      counts.prove(row.limbs);
      return sum > 0 ? 1 : -1;
    }
    if (sum == 0 && bound == 0 && ((vertex.error == 0 && vertex.position[0] != 0) || is_zero(row))) {
      prove_zeros(row.limbs, 1);
      return 0;
    }
#ifdef REGIONS_EXACT_UNREACHABLE  // bench/certified_cost.py: the cost of trusting the filter
    __builtin_unreachable();
#endif
    const int sign = exact_.sign(layer, row.unit, breakpoint, vertex.name);
    ++counts.exact;
    if (sign == 0) ++counts.zero;
    return sign;
  }

  // The same for a line of the cell that the vertex belongs to: first with the bound that is valid in all of the cell.
  int at_vertex(int layer, const Row<D>& row, const Lines<D>& lines, int line, const Vertex<D>& vertex) {
    const Value value = line_value(lines, line, vertex);
    if (std::fabs(value.value) > value.bound) {
      counts.prove(row.limbs);
      return value.value > 0 ? 1 : -1;
    }
    return at_vertex(layer, row, lines.breakpoints[line], vertex);
  }

  // The same at all corners of the cell.
  void at_corners(int layer, const Row<D>& row, const Lines<D>& lines, int line, const Cell& cell, int* signs) {
    const int corners = cell.count - Cell::outer;
    const double margin = lines.margin[line];
    const double steepness = lines.steepness[line];
    int proven = 0;
    with_dims<D>(dims_, [&](auto n) {
      double form[n() + 1];
      for (int k = 0; k <= n(); ++k) form[k] = lines.value[k][line];
      for (int i = 0; i < corners; ++i) {
        const Vertex<D>& vertex = *cell.vertices[i];
        double value = form[0] * vertex.position[0];
        for (int k = 1; k <= n(); ++k) value += form[k] * vertex.position[k];
        const double bound = margin + steepness * vertex.error;
        signs[i] = int(value > bound) - int(value < -bound);
        proven += signs[i] & 1;
      }
    });
    if (proven > 0) counts.prove(row.limbs, proven);
    for (int i = 0; i < corners && proven < corners; ++i)
      if (signs[i] == 0) signs[i] = at_vertex(layer, row, lines.breakpoints[line], *cell.vertices[i]);
  }

  // The side of the cell, from its corners: zero at a corner is on neither side, zero at all of them is inactive. Between the
  // corners of a curved cell there may be another sign.
  Side over_cell(int layer, const Row<D>& row, int breakpoint, const Cell& cell) {
    bool positive = false;
    bool negative = false;
    const double here = at(layer, row, breakpoint);
    if constexpr (is_touched<Cell>) zeros.clear();
    for (int i = 0; i < cell.count - Cell::outer && !(positive && negative); ++i) {
      const int sign = at_vertex(layer, row, breakpoint, here, *cell.vertices[i]);
      positive = positive || sign > 0;
      negative = negative || sign < 0;
      if constexpr (is_touched<Cell>)
        if (sign == 0) zeros.push_back(i);
    }
    if constexpr (Cell::outer > 0) {
      positive = positive || bulges(layer, row, breakpoint, cell, 1);
      negative = negative || bulges(layer, row, breakpoint, cell, -1);
    }
    all_zero = !positive && !negative;
    return positive && negative ? Side::crossing : positive ? Side::active : Side::inactive;
  }

  // Returns whether the form, times the sign, is above zero between the corners, given that it is not above zero at them.
  bool bulges(int layer, const Row<D>& row, int breakpoint, const Cell& cell, int sign) {
    const int filtered = cell.bulge(row, at(layer, row, breakpoint), sign);
    if (filtered >= 0) {
      counts.prove(row.limbs);
      return filtered > 0;
    }
    ++counts.exact;
    return exact_.bulges(layer, row.unit, breakpoint, cell.vertices[0]->name, cell.vertices[1]->name, sign);
  }

  void prove_zeros(int limbs, std::int64_t signs) {
    counts.prove(limbs, signs);
    counts.zero += signs;
  }

  SignCounts counts;
  bool all_zero = false;   // whether the last form was zero all over a cell
  std::vector<int> zeros;  // of cells that are touched: the corners at which the last side over a cell, not crossing it, was zero

 private:
  double at(int layer, const Row<D>& row, int breakpoint) const {
    return network_.layers[std::size_t(layer)].breakpoint(row.unit, breakpoint);
  }

  const Network& network_;
  Exact& exact_;
  const Dims<D> dims_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
