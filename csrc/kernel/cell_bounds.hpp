// SPDX-License-Identifier: MIT
// What are bounds on rows with columns, over a cell?
//
// A row is an affine form plus weights times columns, and each column lies between two affine forms (rows/relax.hpp). The
// row does too, and an affine form is between its values at the corners. Each bound is widened by everything that may have been
// rounded, so that a decision that rests on it is proven. On an unbounded cell the bounds are those over the base of its cone
// (cone_base.hpp), or NaN.
// Cost: rows x columns, a panel of rows at once.
#pragma once

#include <cmath>

#include "cells/halfspaces.hpp"
#include "kernel/cone_base.hpp"
#include "kernel/sign.hpp"
#include "rows/relax.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Affine forms side by side, at a position with w = 1.
template <int N>
RowLanes at_position(const RowLanes* forms, const double* position) {
  RowLanes at = forms[0];
  for (int k = 1; k <= N; ++k) at += forms[k] * position[k];
  return at;
}

// The least (way = -1) or greatest (way = 1) values of affine forms in the box.
template <int D>
RowLanes beside_middle(const RowLanes* forms, double way, const BoxOfDomain<D>& box) {
  RowLanes at = forms[0];
  for (int k = 1; k <= box.dims; ++k) at += forms[k] * box.middle[k] + way * (absolute(forms[k]) * box.radius[k]);
  return at;
}

// Affine bounds on the rows, each off by at most the margins, and constant bounds; `scale` bounds the terms of the forms.
template <int D>
struct PanelBounds {
  RowLanes upper[D + 1], lower[D + 1];
  RowLanes high, low, margin, scale;
};

// Bounds over the base of a cone, from the sums' errors.
template <class Cell>
__attribute__((noinline)) void bound_over_base(const ConeBase<Cell>& base, const PanelRelaxation<Cell::dimension>& sum,
                                               const RowLanes* errors, int columns, PanelBounds<Cell::dimension>& bounds) {
  const Extent<Cell>& extent = base.extent();
  RowLanes error{};
  RowLanes steepness{};
  for (int k = 0; k <= extent.dims; ++k) {
    error += errors[k] * extent.largest[k];
    steepness += absolute(sum.center[k]) + absolute(sum.radius[k]);
  }
  bounds.margin = 1.02 * (error + unit_roundoff * (double(columns + 18) * sum.scale) + steepness * extent.error) + extent.underflow;
  base.values(bounds.upper, bounds.lower, bounds.high, bounds.low);
  bounds.high += bounds.margin;
  bounds.low -= bounds.margin;
}

// The same for an affine row: its relaxation.
template <class Cell>
__attribute__((noinline)) Relaxation<Cell::dimension> relax_over_base(const ConeBase<Cell>& base, const Layer& layer,
                                                                      const Row<Cell::dimension>& row,
                                                                      const AffineLanes<Cell::dimension>& size) {
  constexpr int D = Cell::dimension;
  const Extent<Cell>& extent = base.extent();
  RowLanes forms[D + 1];
  double scale = 0;
  double error = 0;
  double steepness = 0;
  for (int k = 0; k <= extent.dims; ++k) {
    forms[k] = everywhere(row.value[k]);
    scale += std::fabs(row.value[k]) * extent.largest[k];
    error += row.error[k] * extent.largest[k];
    steepness += std::fabs(row.value[k]) + row.error[k];
  }
  const double margin = 1.02 * (error + unit_roundoff * ((extent.dims + 4) * scale) + steepness * extent.error) + extent.underflow;
  RowLanes high, low;
  base.values(forms, forms, high, low);
  return relax<D>(layer, row, size, row.value, row.value, low[0] - margin, high[0] + margin, margin, scale, extent.one,
                  extent.terms, extent.underflow);
}

// Also sets the rows' sizes. The bounds are valid between all corners but `origin`, if that is not -1. If the cell is
// unbounded, `base` is the base of its cone, or null, and `extent` its extent.
template <class Cell>
REGIONS_INLINE PanelBounds<Cell::dimension> bounds_over(const Cell& cell, const Extent<Cell>& extent,
                                                        const Relaxation<Cell::dimension>* relaxations, int columns,
                                                        Panel<Cell::dimension>& panel, const ConeBase<Cell>* base,
                                                        int origin = -1) {
  constexpr int D = Cell::dimension;
  const Dims<D> dims = dims_of(cell);
  const PanelRelaxation<D> sum = weighted(panel, relaxations, extent.largest);
  PanelBounds<D> bounds;
  auto& [upper, lower, high, low, margin, scale] = bounds;
  for (int k = 0; k <= dims; ++k) {
    upper[k] = sum.center[k] + sum.radius[k];
    lower[k] = sum.center[k] - sum.radius[k];
  }
  high = everywhere(NAN);  // no bound
  low = high;
  margin = high;
  scale = sum.scale;
  if (extent.bounded) {
    RowLanes error = panel.error[0] * extent.largest[0];
    RowLanes steepness{};
    for (int k = 1; k <= dims; ++k) {
      error += panel.error[k] * extent.largest[k];
      steepness += absolute(sum.center[k]) + absolute(sum.radius[k]);
    }
    // The product with the scale comes first: it overflows before any of the sums that it bounds.
    margin = 1.02 * (error + unit_roundoff * (double(columns + 17) * sum.scale) + steepness * extent.error) +
             extent.underflow;
    if constexpr (may_lack_vertices<Cell>) {
      if (lacks_vertices(cell)) {  // twice D more roundings
        margin += unit_roundoff * (2 * (dims + 1) * sum.scale);
        high = beside_middle<D>(upper, 1, *cell.inside->box) + margin;
        low = beside_middle<D>(lower, -1, *cell.inside->box) - margin;
        return bounds;
      }
    }
    const int first = origin == 0;
    with_dims<D>(dims, [&](auto n) {
      constexpr int N = n();
      bounds.high = at_position<N>(bounds.upper, cell.vertices[first]->position);
      bounds.low = at_position<N>(bounds.lower, cell.vertices[first]->position);
      for (int i = first + 1; i < cell.count; ++i) {
        if (i == origin) continue;
        const RowLanes above = at_position<N>(bounds.upper, cell.vertices[i]->position);
        const RowLanes below = at_position<N>(bounds.lower, cell.vertices[i]->position);
        bounds.high = above > bounds.high ? above : bounds.high;
        bounds.low = below < bounds.low ? below : bounds.low;
      }
    });
    high += margin;
    low -= margin;
  } else if (base != nullptr) {
    bound_over_base(*base, sum, panel.error, columns, bounds);
  }
  return bounds;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
