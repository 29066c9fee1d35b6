# SPDX-License-Identifier: MIT
"""How far can the computed sizes of regions and facets be from the true ones?

There are two sources of error. Stored corners are off by up to their ``vertex_errors``. Moving every corner i by d_i
changes twice an area by the sum of d_i x (corner after i - corner before i) + d_i x d_(i+1), exactly, and a length
by no more than its ends move. And computation rounds, with u = 2^-53 each time (Higham, Accuracy and Stability of
Numerical Algorithms, section 3.1). The bounds count all operations of `line_sizes.py` and `plane_sizes.py`, and the
rounding of the chart's factor.
Invariant: no bound is too small, with overflow and underflow too. Bounds are computed in floating point, which adds
a relative 2^-40 (`UP`), and underflow (`LEAST`). The error is 0 for an endless size, and
infinite for a size that is infinite because no double can hold it.
Cost: as much as the sizes.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

import numpy as np

from regions.ground.arithmetic.roundoff import SMALLEST, UP, U
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.results.cells.cell_geometry import difference
from regions.results.cells.complex import CellComplex

__all__ = ["LEAST", "endless", "finished", "infinite", "loosest_bound", "sum_error", "sum_errors", "way_errors"]

# For all underflow in computing a number of size about one, and for the final rounding to a double.
LEAST = 16 * SMALLEST


def loosest_bound(cells: CellComplex) -> Fraction | None:
    """Return a number above all bounds of the core, which places a vertex within 1/64 of the edge's length, or
    exactly.
    """
    domain = cells.domain
    if not domain.bounded:
        return None
    lanes = [[Fraction(x) for x in lane] for lane in domain.generators[:, 1:].T.tolist()]
    largest = max(abs(x) for lane in lanes for x in lane)
    return max(max(lane) - min(lane) for lane in lanes) / 32 + 8 * Fraction(U) * largest + Fraction(1, 2**1074)


def sum_error(values: Floats, errors: Floats) -> float:
    """Return a bound on the error of the correctly rounded sum of some sizes with bounds on their errors."""
    return float(sum_errors(values, errors, np.zeros(len(values), dtype=np.int64), 1)[0])


def sum_errors(values: Floats, errors: Floats, groups: Integers, count: int) -> Floats:
    """Return bounds on the errors of the sums of the sizes in each group, float64 [count]."""

    def total(weights: Floats | Bits) -> Floats:
        return np.bincount(groups, weights, count).astype(np.float64)

    totals, beyond = total(values), np.isinf(values)
    # Adding up n non-negative numbers one by one loses at most n u.
    up = UP * (1.0 + 2.0 * U * np.bincount(groups, minlength=count))
    bounds = (total(errors) + 2.0 * U * totals) * up
    counted = (total((errors != 0.0) | (values != np.floor(values))) == 0.0) & (totals < 2.0**53)
    # A sum with an endless size is endless, exactly.
    infinite, without_end = total(beyond) > 0.0, total(beyond & (errors == 0.0)) > 0.0
    return np.where(counted | without_end, 0.0, np.where(infinite, np.inf, bounds))


def endless(cells: CellComplex) -> Bits:
    """Return which vertices lie at infinity, not only beyond the largest double: bool [V]."""
    return infinite(cells) & np.isfinite(cells.vertex_errors)


def infinite(cells: CellComplex) -> Bits:
    """Return which vertices lie at infinity or beyond the largest double: bool [V]."""
    # Column by column, because numpy takes 20 times as long for `any` along rows of two.
    return reduce(np.logical_or, np.isinf(cells.vertices).T)


def way_errors(cells: CellComplex, ends: Integers) -> Floats:
    """Return bounds on the errors of the computed distances between two vertices each, [m, 2].

    On each axis, a difference of coordinates is off by the errors of both vertices. The difference, the factor's
    entries, products, sums and the root are rounded: each term is rounded 8 times in all.
    """
    low, high = cells.vertices[ends[:, 0]], cells.vertices[ends[:, 1]]
    moved = cells.vertex_errors[ends].sum(axis=1)
    steps, shift = difference(high, low)
    lengths = cells.domain.direction_lengths
    # Multiplied in this order, because a difference can be so small that its product with U underflows to 0.
    bounds: Floats = moved * lengths.sum() + 16.0 * U * (np.ldexp(np.abs(steps), shift) @ lengths)
    return bounds * UP + LEAST


def finished(bounds: Floats, sizes: Floats, without_end: Bits) -> Floats:
    """Return the bounds: infinite if unknown, and 0 for an endless size."""
    beyond = np.isnan(bounds) | ~np.isfinite(sizes)
    return np.where(without_end, 0.0, np.where(beyond, np.inf, bounds))
