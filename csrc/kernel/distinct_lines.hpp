// SPDX-License-Identifier: MIT
// Which lines of a cell are the same line?
//
// Kinks of one layer whose forms are multiples of each other make one cut, and an arrangement has the regions of its distinct
// lines. Two such kinks are either both lines of a cell or neither, because decisions follow true signs.
// Cost: nothing if all lines of the layer differ, otherwise the pairs of lines.
#pragma once

#include "rows/rows.hpp"
#include "task/network.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// The kink of a line, counted from the first of its layer.
template <int D>
std::int64_t kink_of(const Layer& layer, const Block<D>& block, const Lines<D>& lines, int line) {
  return std::int64_t(block.rows[lines.owners[line]]->unit) * layer.kinks + lines.breakpoints[line];
}

// The first of these lines that is the same as this one, or -1 if it is the first.
template <int D>
int same_before(const Layer& layer, const Block<D>& block, const Lines<D>& lines, int line) {
  if (layer.same_line.empty()) return -1;
  const std::int64_t kink = kink_of(layer, block, lines, line);
  for (int before = 0; before < line; ++before)
    if (layer.have_same_line(kink_of(layer, block, lines, before), kink)) return before;
  return -1;
}

// The lines without those that are the same as an earlier one.
template <int D>
Lines<D> distinct(const Layer& layer, const Block<D>& block, const Lines<D>& lines, Arena& arena) {
  if (layer.same_line.empty()) return lines;
  Lines<D> result = Lines<D>::take(lines.count, lines.dims, arena);
  for (int line = 0; line < lines.count; ++line)
    if (same_before(layer, block, lines, line) < 0) result.append(lines, line, lines.owners[line]);
  result.pad();
  return result;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
