# SPDX-License-Identifier: MIT
"""How far can the computed sizes of regions and facets be from the true ones?

There are two sources of error. Stored corners are off by up to their ``vertex_errors``. Moving every corner i by d_i
changes twice an area by the sum of d_i x (corner after i - corner before i) + d_i x d_(i+1), exactly, and a length
by no more than its ends move. And computation rounds, with u = 2^-53 each time (Higham, Accuracy and Stability of
Numerical Algorithms, section 3.1). The operations of `cell_geometry.py` are counted here, and the operations that
compute the chart's metric, whose factor is rounded once from its exact value.
Invariant: no bound is too small, with overflow and underflow too. Bounds are computed in floating point, which adds
a relative 2^-40 (`UP`), and underflow (`TINY`). The error is 0 for an endless size, and
infinite for a size that is infinite because no double can hold it.
Cost: as much as the sizes.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Bits, Floats, Integers
from regions.cells.cell_geometry import LEAST_EXPONENT, difference, from_first_corner, next_corners
from regions.cells.complex import CellComplex

__all__ = ["TINY", "UP", "U", "endless", "facet_volume_errors", "sum_error", "sum_errors", "volume_errors"]

U = 2.0**-53
# Room for the rounding of a bound: far fewer than 2^12 roundings affect any term here.
UP = 1.0 + 2.0**-40
# For all underflow in computing a number of size about one, and for the final rounding to a double.
TINY = 2.0**-1070


def volume_errors(cells: CellComplex, volumes: Floats) -> Floats:
    """Return bounds on the errors of the lengths or areas of all regions, float64 [R]."""
    if len(cells) == 0:
        return np.zeros(0)
    with np.errstate(all="ignore"):
        bounds = _area_errors(cells) if cells.dimension == 2 else _way_errors(cells, cells.cell_vertices.reshape(-1, 2))
    ends = np.add.reduceat(endless(cells)[cells.cell_vertices], cells.cell_offsets[:-1], dtype=np.int64)
    return _finished(bounds, volumes, ends > 0)


def facet_volume_errors(cells: CellComplex, volumes: Floats) -> Floats:
    """Return bounds on the errors of the lengths of all facets, float64 [F]; points are counted, without error."""
    if cells.dimension == 1:
        return np.zeros(len(cells.facet_vertices))
    ends = cells.facet_vertices
    with np.errstate(all="ignore"):
        bounds = _way_errors(cells, ends)
    far = endless(cells)
    return _finished(bounds, volumes, far[ends[:, 0]] | far[ends[:, 1]])


def sum_error(values: Floats, errors: Floats) -> float:
    """Return a bound on the error of the correctly rounded sum of some sizes with bounds on their errors."""
    return float(sum_errors(values, errors, np.zeros(len(values), dtype=np.int64), 1)[0])


def sum_errors(values: Floats, errors: Floats, groups: Integers, count: int) -> Floats:
    """Return such bounds for the sums of the sizes of each group, float64 [count]."""

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
    return np.isinf(cells.vertices).any(axis=1) & np.isfinite(cells.vertex_errors)


def _way_errors(cells: CellComplex, ends: Integers) -> Floats:
    """Return bounds on the errors of the computed distances between two vertices each, [m, 2].

    Per axis a coordinate is off by both vertices' errors. The difference, the factor's entries, products, sums and the
    root are rounded: 8 times together, in each term.
    """
    low, high = cells.vertices[ends[:, 0]], cells.vertices[ends[:, 1]]
    moved = cells.vertex_errors[ends].sum(axis=1)
    steps, shift = difference(high, low)
    lengths = cells.domain.direction_lengths
    # In this order, because a step can be so small that the product with U would be 0.
    bounds: Floats = moved * lengths.sum() + 16.0 * U * (np.ldexp(np.abs(steps), shift) @ lengths)
    return bounds * UP + TINY


def _area_errors(cells: CellComplex) -> Floats:
    """Return bounds on the errors of computed areas; offsets from the first corner are scaled to one on each axis."""
    starts, counts = cells.cell_offsets[:-1], cells.corner_counts
    _, offsets, exponents = from_first_corner(cells)
    errors = cells.vertex_errors[cells.cell_vertices]
    # A region whose corners nearly coincide can be thinner than their errors, which then set the scale.
    largest = np.maximum.reduceat(errors, starts)
    sizes = np.where(largest > 0.0, np.frexp(largest)[1], LEAST_EXPONENT)
    rescaled = np.maximum(exponents, sizes[:, np.newaxis])
    offsets = np.ldexp(offsets, np.repeat(exponents - rescaled, counts, axis=0))
    moved = np.ldexp(errors[:, np.newaxis], -np.repeat(rescaled, counts, axis=0))
    following = next_corners(cells.cell_offsets)
    preceding = np.empty_like(following)
    preceding[following] = np.arange(len(following))
    # The differences of offsets are rounded, and so are the offsets themselves, which are at most 1.
    around = np.abs(offsets[following] - offsets[preceding]) + 4.0 * U
    (x, y), (far_x, far_y), (to_x, to_y) = np.abs(offsets).T, moved.T, around.T
    first_order = far_x * to_y + far_y * to_x
    second_order = far_x * far_y[following] + far_y * far_x[following]
    products = x * y[following] + y * x[following]
    roundings = np.repeat(counts + 16.0, counts) * U
    twice = np.add.reduceat(first_order + second_order + roundings * products, starts)
    scale, scale_exponent = cells.domain.split_scale
    areas = (twice / 2 * UP + (counts + 16.0) * TINY) * scale * UP
    shift = rescaled[:, 0] + rescaled[:, 1] + np.intc(scale_exponent)
    return np.ldexp(areas, shift) * UP + TINY


def _finished(bounds: Floats, sizes: Floats, without_end: Bits) -> Floats:
    """Return the bounds: infinite if unknown, and 0 for an endless size."""
    beyond = np.isnan(bounds) | ~np.isfinite(sizes)
    return np.where(without_end, 0.0, np.where(beyond, np.inf, bounds))
