// SPDX-License-Identifier: MIT
// How is a network restricted to a small cell represented?
//
// It has only the units still undecided there. A row is one unit's pre-activation, written as an affine form of the chart plus a
// combination of the outputs of undecided units below it (its columns); everything decided has been folded into the affine form.
// The lowest undecided layer has no columns: its rows are affine, and each of their kinks is a line (a point, in dimension one)
// across the cell.
//
// Layers are *brought in* (their rows are written) one after another, up to `frontier`. The next layer will read the outputs of
// the frontier's decided units, which are stored.
//
// Invariant (error): for every p in the cell, the row evaluated with the true outputs of its columns differs from the
// true pre-activation by at most error . (1, |p|). It is `own`, the rounding in this row itself, plus the part inherited
// from the units folded into it (residuals.hpp). Invariant (size): size . (1, |p|) bounds the sum of the
// absolute values of the row's terms, and once the row is decided `own` is a part of it: a size of 0 proves that
// nothing was rounded. Bounds are vectors, so that a form without a constant term is known to be exactly zero at the origin.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "memory/arena.hpp"
#include "rows/columns.hpp"
#include "rows/dims.hpp"
#include "rows/lanes.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <int D>
using AffineLanes = std::conditional_t<LaneCount<D>::value == 4, Lanes4, std::conditional_t<LaneCount<D>::value == 8, Lanes8, Lanes16>>;

// Without its signs: one operation, where a comparison would be three.
template <class Lanes>
REGIONS_INLINE Lanes absolute(Lanes lanes) {
  return Lanes(decltype(lanes < lanes)(lanes) & 0x7fffffffffffffff);
}

// For nonzero numbers, at least the floor of sizes; for NaN, NaN.
template <int D>
AffineLanes<D> floored(AffineLanes<D> sizes) {
  const AffineLanes<D> floor = AffineLanes<D>{} + floor_of_sizes;
  return sizes == 0 ? AffineLanes<D>{} : (sizes < floor ? floor : sizes);
}

template <int D>
double dot(const AffineLanes<D>& left, const AffineLanes<D>& right) {
  double sum = left[0] * right[0];
  for (int k = 1; k <= D; ++k) sum += left[k] * right[k];
  return sum;
}

// Coefficients are laid out in whole vectors of eight.
inline int padded(int columns) { return (columns + 7) / 8 * 8; }

inline double floored_magnitude(double weight) {
  const double magnitude = std::fabs(weight);
  return magnitude < floor_of_sizes ? floor_of_sizes : magnitude;
}

inline double floored_size(double number) { return number == 0 ? 0 : floored_magnitude(number); }

// Lanes and numbers beyond the dimensions are zero.
template <int D>
struct Row {
  AffineLanes<D> value;
  AffineLanes<D> size;
  AffineLanes<D> own;
  AffineLanes<D> error;
  AffineLanes<D>* low;           // [limbs - 1] of the value, in rows of several limbs (limbs.hpp)
  double* coefficients;          // [columns] of a panel (panel.hpp); for an output, see is_padded
  double* low_coefficients;      // [limbs - 1] times as many, limb after limb
  const ColumnList* list;        // the columns, if layers read patches; null if they are 0, 1, ..
  int columns;
  int unit;
  int lowest_piece;  // the unit is on one of the pieces lowest..highest; for a branch, its number
  int highest_piece;
  int limbs = 1;     // 1 if rows have the working precision
};

constexpr int is_an_arm = -1;     // a highest piece
constexpr int is_an_output = -2;  // the same; the row is kept until it has no columns

// An output's coefficients are contiguous. Products run over whole vectors of them, so the padding must be zero.
template <int D>
bool is_padded(const Row<D>& row) {
  bool zeros = true;
  for (int k = row.columns; k < padded(row.columns); ++k) {
    zeros = zeros && row.coefficients[k] == 0;
    for (int m = 0; m + 1 < row.limbs; ++m)
      zeros = zeros && row.low_coefficients[m * padded(row.columns) + k] == 0;
  }
  return zeros;
}

// Whether the row is zero everywhere, without any rounding, such as a row that reads only neurons which are off.
template <int D>
bool is_zero(const Row<D>& row) {
  bool zero = true;
  for (int k = 0; k <= D; ++k) zero = zero && row.value[k] == 0 && row.error[k] == 0;
  return zero;
}

// The invariant of Row::size, as far as the value shows; NaN proves nothing, and is accepted.
template <int D>
bool is_sized(const Row<D>& row) {
  bool sized = true;
  for (int k = 0; k <= D; ++k) sized = sized && !(row.size[k] < std::fabs(row.value[k]));
  return sized;
}

// The undecided kinks of the lowest layer, as a structure of arrays padded to whole vectors of eight. For each unit with
// branches, one pair: their difference, which is a line only if the unit has no other branches.
template <int D>
struct Lines {
  int count;
  int capacity;
  double* value[D + 1];   // pre-activation minus breakpoint
  double* margin;         // bound on the rounding of its values in the cell, for exact vertices
  double* steepness;      // 1-norm of the gradient, rounded up: the factor of a vertex's error
  int* owners;            // the row of the kink, as an index into the rows of the lowest block; of several rows the first
  int* breakpoints;
  [[no_unique_address]] Dims<D> dims;

  static Lines take(int capacity, Dims<D> dims, Arena& arena) {
    const std::size_t stride = std::size_t(padded(capacity));
    double* memory = arena.take<double>(stride * (dims + 3));
    int* indices = arena.take<int>(stride * 2);
    Lines lines;
    lines.count = 0;
    lines.capacity = capacity;
    lines.dims = dims;
    for (int k = 0; k <= dims; ++k) lines.value[k] = memory + stride * std::size_t(k);
    lines.margin = memory + stride * (dims + 1);
    lines.steepness = memory + stride * (dims + 2);
    lines.owners = indices;
    lines.breakpoints = indices + stride;
    return lines;
  }

  void append(const Lines& source, int index, int owner) {
    assert(count < capacity);
    for (int k = 0; k <= dims; ++k) value[k][count] = source.value[k][index];
    margin[count] = source.margin[index];
    steepness[count] = source.steepness[index];
    owners[count] = owner;
    breakpoints[count] = source.breakpoints[index];
    ++count;
  }

  void pad() {
    for (int i = count; i % 8 != 0; ++i) {
      for (int k = 0; k <= dims; ++k) value[k][i] = 0;
      margin[i] = steepness[i] = 0;
    }
  }
};

// The undecided rows of one layer. The order of their units, each with its rows one after another, is the order of
// their columns in the layers above.
template <int D>
struct Block {
  int layer;
  int count;
  int units;
  const Row<D>** rows;

  // The end of the rows of the unit that has this row.
  int end_of_unit(int row) const {
    int end = row + 1;
    while (end < count && rows[end]->unit == rows[row]->unit) ++end;
    return end;
  }
};

// Residuals of the decided units of a layer on a cell (residuals.hpp).
template <int D>
struct LayerResiduals {
  AffineLanes<D> largest;  // of their outputs' own errors
  AffineLanes<D> most;     // limit of the error of any unit of the layer
};

template <int D>
struct Residuals {
  int first;                  // the lowest layer at work
  AffineLanes<D> below;       // the residuals that it inherits
  LayerResiduals<D>* layers;  // [frontier - first + 1]
};

template <int D>
struct LocalNetwork {
  Residuals<D> residuals;
  Lines<D> lines;     // of blocks[0]
  bool bounded;       // whether the cell is bounded
  bool has_bounds;    // whether rows with columns have bounds there
  int origin = -1;    // in a homogeneous network the cell's corner at the origin, or -1
  bool only_lines;    // whether no unit of blocks[0] has more than two branches left
  int open_groups;    // number of groups that are not excluded (task/network.hpp); 0 if there are none
  std::uint8_t* excluded;  // [groups], null if there are none
  int best_line;      // the line whose smaller side is the largest
  int block_count;    // layers with undecided rows, lowest first
  Block<D>* blocks;
  int frontier;       // the highest layer brought in so far
  int output_count;   // number of decided outputs that the layer above the frontier will read
  const Row<D>** outputs;

  int columns() const {
    int total = 0;
    for (int i = 0; i < block_count; ++i) total += blocks[i].units;
    return total;
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
