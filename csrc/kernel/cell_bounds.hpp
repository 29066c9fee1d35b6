// SPDX-License-Identifier: MIT
// What are bounds on rows with columns, over a cell?
//
// A row is an affine form plus weights times columns, and each column lies between two affine forms (rows/relax.hpp). The
// row does too, and an affine form is between its values at the corners. Each bound is widened by everything that may have been
// rounded, so that a decision that rests on it is proven. Unbounded cells have no bounds: they are NaN.
// Cost: rows x columns, a panel of rows at once.
#pragma once

#include <cmath>

#include "cells/halfspaces.hpp"
#include "kernel/sign.hpp"
#include "rows/relax.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Affine forms side by side, at a position with w = 1.
template <int D>
RowLanes at_position(const RowLanes* forms, const double* position) {
  RowLanes at = forms[0];
  for (int k = 1; k <= D; ++k) at += forms[k] * position[k];
  return at;
}

// The least (way = -1) or greatest (way = 1) values of affine forms in the box.
template <int D>
RowLanes beside_middle(const RowLanes* forms, double way, const BoxOfDomain<D>& box) {
  RowLanes at = forms[0];
  for (int k = 1; k <= D; ++k) at += forms[k] * box.middle[k] + way * (absolute(forms[k]) * box.radius[k]);
  return at;
}

// Affine bounds on the rows, each off by at most the margins, and constant bounds; `scale` bounds the terms of the forms.
template <int D>
struct PanelBounds {
  RowLanes upper[D + 1], lower[D + 1];
  RowLanes high, low, margin, scale;
};

// Also sets the rows' sizes. The bounds are valid between all corners but `origin`, if that is not -1.
template <class Cell>
REGIONS_INLINE PanelBounds<Cell::dimension> bounds_over(const Cell& cell, const Extent<Cell>& extent,
                                                        const Relaxation<Cell::dimension>* relaxations, int columns,
                                                        Panel<Cell::dimension>& panel, int origin = -1) {
  constexpr int D = Cell::dimension;
  const PanelRelaxation<D> sum = weighted(panel, relaxations, extent.largest);
  PanelBounds<D> bounds;
  auto& [upper, lower, high, low, margin, scale] = bounds;
  for (int k = 0; k <= D; ++k) {
    upper[k] = sum.center[k] + sum.radius[k];
    lower[k] = sum.center[k] - sum.radius[k];
  }
  high = everywhere(NAN);  // no bound: bounds need a bounded cell
  low = high;
  margin = high;
  scale = sum.scale;
  if (extent.bounded) {
    RowLanes error = panel.error[0] * extent.largest[0];
    RowLanes steepness{};
    for (int k = 1; k <= D; ++k) {
      error += panel.error[k] * extent.largest[k];
      steepness += absolute(sum.center[k]) + absolute(sum.radius[k]);
    }
    // The product with the scale comes first: it overflows before any of the sums that it bounds.
    margin = 1.02 * (error + unit_roundoff * (double(columns + 17) * sum.scale) + steepness * extent.error) +
             extent.underflow;
    if constexpr (may_lack_vertices<Cell>) {
      if (lacks_vertices(cell)) {  // twice D more roundings
        margin += unit_roundoff * (2 * (D + 1) * sum.scale);
        high = beside_middle<D>(upper, 1, *cell.inside->box) + margin;
        low = beside_middle<D>(lower, -1, *cell.inside->box) - margin;
        return bounds;
      }
    }
    const int first = origin == 0;
    high = at_position<D>(upper, cell.vertices[first]->position);
    low = at_position<D>(lower, cell.vertices[first]->position);
    for (int i = first + 1; i < cell.count; ++i) {
      if (i == origin) continue;
      const RowLanes above = at_position<D>(upper, cell.vertices[i]->position);
      const RowLanes below = at_position<D>(lower, cell.vertices[i]->position);
      high = above > high ? above : high;
      low = below < low ? below : low;
    }
    high += margin;
    low -= margin;
  }
  return bounds;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
