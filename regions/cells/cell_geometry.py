# SPDX-License-Identifier: MIT
"""How large are the regions and their facets, and what is a point inside?

Everything is computed in floating point from the stored corners, and decides nothing. Sizes are in input space: chart
measures times the chart's scale. One pass over all corners, in bulk. Products are taken of mantissas, and powers of
two are multiplied in at the end, exactly: nothing overflows or underflows if the size is a double.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Bits, Exponents, Floats, Integers
from regions.cells.complex import CellComplex

__all__ = ["difference", "facet_volumes", "from_first_corner", "interior_points", "next_corners", "volumes"]

# Its reciprocal is a double as well.
LEAST_EXPONENT = -1022
# The exponent of zero: so low that it never decides the common scale of several numbers.
BELOW_ALL_EXPONENTS = -(2**13)


def next_corners(offsets: Integers) -> Integers:
    """Return the corner that follows each corner around its region, for regions with corners ``offsets[r]:offsets[r
    + 1]``."""
    following = np.arange(1, offsets[-1] + 1)
    following[offsets[1:] - 1] = offsets[:-1]
    return following


def volumes(cells: CellComplex) -> Floats:
    """Return the length or area of each region, float64 [R]; infinite also beyond the largest double."""
    if len(cells) == 0:
        return np.zeros(0)
    scale, scale_exponent = cells.domain.split_scale
    with np.errstate(all="ignore"):
        if cells.dimension == 1:
            left, right = _ends(cells)
            lengths, shift = difference(right, left)
            sizes, exponents = np.frexp(lengths)
            exponents += shift
        else:
            # Relative to each region's first corner: the differences of close corners are (nearly) free of
            # rounding, while products of absolute coordinates would cancel. Triangles at the first corner
            # itself add exact zeros.
            _, offsets, exponents_of_axes = from_first_corner(cells)
            x, y = offsets.T
            following = next_corners(cells.cell_offsets)
            doubled = x * y[following] - y * x[following]
            # A cell thinner than the errors of its corners may be inside out; its true area is positive.
            sizes = np.abs(np.add.reduceat(doubled, cells.cell_offsets[:-1])) / 2
            exponents = exponents_of_axes[:, 0] + exponents_of_axes[:, 1]
        result = np.ldexp(sizes * scale, exponents + np.intc(scale_exponent))
    # Infinity minus infinity: corners at infinity of a whole plane, or ends on a line beyond the doubles.
    return np.where(np.isnan(result), np.inf, result)


def facet_volumes(cells: CellComplex) -> Floats:
    """Return the length of each facet, or 1 for a point (0 for an end at infinity), float64 [F]."""
    if cells.dimension == 1:
        finite: Bits = np.isfinite(cells.vertices[cells.facet_vertices[:, 0], 0])
        # A kink is a point, even if it is beyond the doubles.
        return (finite | (cells.facet_kinks >= 0)).astype(np.float64)
    # Lengths through the triangular factor of the chart: the metric itself would square its condition number.
    factor, direction_exponents = cells.domain.length_factor
    start, end = cells.facet_vertices.T
    with np.errstate(all="ignore"):
        offsets, shift = difference(cells.vertices[end], cells.vertices[start])
        offsets, exponents = np.frexp(offsets)
        exponents += direction_exponents + shift
        exponents[offsets == 0] = BELOW_ALL_EXPONENTS
        largest = exponents.max(axis=1)
        x, y = factor @ np.ldexp(offsets, exponents - largest[:, np.newaxis]).T
        lengths: Floats = np.ldexp(np.hypot(x, y), largest)
    return np.where(np.isnan(lengths), np.inf, lengths)


def interior_points(cells: CellComplex) -> Floats:
    """Return the mean of the corners of each region, or a point next to its finite end, in the chart, float64 [R, d].

    NaN for the unbounded regions of a whole plane, whose corners at infinity are not told apart.
    """
    if cells.dimension == 1:
        left, right = _ends(cells)
        # A step of 1 from a finite end, or more if doubles are too sparse there; 0 on a line without kinks.
        whole = (left == -np.inf) & (right == np.inf)
        largest = np.finfo(np.float64).max
        with np.errstate(over="ignore", invalid="ignore"):
            inner_left = np.where(left == -np.inf, right - np.maximum(1.0, np.abs(right)), left)
            inner_right = np.where(right == np.inf, left + np.maximum(1.0, np.abs(left)), right)
        low, high = np.clip(inner_left, -largest, largest), np.clip(inner_right, -largest, largest)
        return np.where(whole, 0.0, low / 2 + high / 2)[:, np.newaxis]
    if len(cells) == 0:
        return np.zeros((0, 2))
    first, offsets, exponents = from_first_corner(cells)
    with np.errstate(all="ignore"):
        means = np.add.reduceat(offsets, cells.cell_offsets[:-1], axis=0) / cells.corner_counts[:, np.newaxis]
        # In halves, because corners on opposite sides of 0 can be farther apart than the largest double.
        points = 2 * (first / 2 + np.ldexp(means, exponents - 1))
    return np.where(np.isfinite(points).all(axis=1, keepdims=True), points, np.nan)


def _ends(cells: CellComplex) -> tuple[Floats, Floats]:
    left, right = cells.vertices[cells.cell_vertices, 0].reshape(-1, 2).T
    return left, right


def from_first_corner(cells: CellComplex) -> tuple[Floats, Floats, Exponents]:
    """Return the first corner of each region, float64 [R, 2]; all corners relative to it, float64 [K, 2]; exponents.

    Relative corners are scaled, for each region and axis, by two to minus the exponent [R, 2], to at most 1.
    """
    corners = cells.vertices[cells.cell_vertices]
    starts, counts = cells.cell_offsets[:-1], cells.corner_counts
    first = corners[starts]
    relative, shift = difference(corners, np.repeat(first, counts, axis=0))
    _, exponents = np.frexp(np.maximum.reduceat(np.abs(relative), starts, axis=0))
    np.maximum(exponents, LEAST_EXPONENT, out=exponents)
    return first, relative * np.repeat(np.ldexp(1.0, -exponents), counts, axis=0), exponents + shift


def difference(a: Floats, b: Floats) -> tuple[Floats, np.intc]:
    """Return ``a - b`` over two to the second result: 1 if any difference is beyond the largest double, or else 0."""
    with np.errstate(all="ignore"):
        difference = a - b
        if (np.isinf(difference) & np.isfinite(a) & np.isfinite(b)).any():
            return a / 2 - b / 2, np.intc(1)
    return difference, np.intc(0)
