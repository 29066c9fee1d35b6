// SPDX-License-Identifier: MIT
// Which groups of units are excluded on a cell?
//
// The units of the last hidden layer may have groups (task/network.hpp). A unit that is proven to be below its first
// breakpoint all over the closed cell excludes its group, there and on all parts of the cell; so does a unit that must be at its
// breakpoint, if it is proven to be above it. A cell on which all groups are excluded is not cut further, and its regions are
// left out. Only bounds count: a unit that is zero somewhere excludes nothing.
#pragma once

#include "kernel/sign.hpp"
#include "rows/panel.hpp"
#include "rows/rows.hpp"
#include "task/network.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Whether the unit excludes its group also where it is above its breakpoint.
inline bool must_be_at_breakpoint(const Network& network, int unit) { return network.group_of[std::size_t(unit)] < 0; }

template <int D>
void exclude_group_of(const Network& network, int unit, LocalNetwork<D>& local) {
  const std::int32_t group = network.group_of[std::size_t(unit)];
  std::uint8_t& excluded = local.excluded[group < 0 ? ~group : group];
  local.open_groups -= excluded == 0;
  excluded = 1;
}

// Affine rows, with the sides of their lines as far as bounds prove them.
template <int D>
__attribute__((noinline)) void exclude(const Network& network, const Block<D>& block, const Lines<D>& lines, const Side* sides,
                                       LocalNetwork<D>& local) {
  if (block.layer != network.last_hidden()) return;
  for (int line = 0; line < lines.count; ++line) {
    if (lines.breakpoints[line] != 0) continue;
    const int unit = block.rows[lines.owners[line]]->unit;
    if (sides[line] == Side::inactive || (sides[line] == Side::active && must_be_at_breakpoint(network, unit)))
      exclude_group_of(network, unit, local);
  }
}

// Rows with columns, with bounds.
template <int D>
__attribute__((noinline)) void exclude(const Network& network, int layer, int count, const Row<D>* rows, const RowLanes& low,
                                       const RowLanes& high, LocalNetwork<D>& local) {
  if (layer != network.last_hidden()) return;
  for (int r = 0; r < count; ++r) {
    const int unit = rows[r].unit;
    const double breakpoint = network.layers[std::size_t(layer)].breakpoints_of(unit)[0];
    if (high[r] < breakpoint || (low[r] > breakpoint && must_be_at_breakpoint(network, unit)))
      exclude_group_of(network, unit, local);
  }
}

// Whether no region in the cell is wanted.
template <int D>
bool is_closed(const LocalNetwork<D>& local) {
  return local.excluded != nullptr && local.open_groups == 0;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
