// SPDX-License-Identifier: MIT
// Is a row within its error bound? For assertions.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernel/step.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <int D>
int number_of(const Layer& layer, const Row<D>& row) {
  return layer.row_of(row.unit, row.lowest_piece);
}

// The invariant of Row::error, at the corners within the doubles, and without possible lower limbs.
template <class Cell>
bool keeps_its_bound(Step<Cell>& step, int index, const Row<Cell::dimension>& row, const Cell& cell) {
  constexpr int D = Cell::dimension;
  constexpr int spare = LaneCount<D>::value - 1;
  const Layer& layer = step.network.layers[std::size_t(index)];
  const int number = number_of(layer, row);
  Panel<D> whole;
  whole.dims = dims_of(cell);
  const Row<D>* rows[rows_at_once];
  std::fill_n(rows, rows_at_once, &row);
  read_affine_parts(rows, 1, whole);
  set_errors(everywhere(layer.norms[number]), step.residuals.below(index), whole);
  double limbs[most_limbs][spare + 1];
  store(limbs[0], row.value);
  for (int m = 1; m < row.limbs; ++m) store(limbs[m], row.low[m - 1]);
  for (int m = 0; m < row.limbs; ++m)
    if (!std::all_of(limbs[m], limbs[m] + whole.dims + 1, [](double entry) { return std::isfinite(entry); })) return true;
  bool kept = true;
  for (int i = 0; i < cell.count - Cell::outer; ++i) {
    const double* position = cell.vertices[i]->position;
    if (position[0] == 0) continue;
    if (!std::all_of(position, position + whole.dims + 1, [](double entry) { return std::isfinite(entry); })) continue;
    double bound = 0;
    for (int k = 0; k <= whole.dims; ++k) bound += whole.error[k][0] * std::fabs(position[k]);
    const double allowed = 1.001 * bound + room_for_underflow;  // corners are rounded themselves
    const double missed = step.exact.miss(index, number, limbs[0], row.limbs, spare + 1, position);
    kept = kept && !(missed > allowed);
  }
  return kept;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
