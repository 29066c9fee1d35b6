# SPDX-License-Identifier: MIT
"""How large are the regions of a plane and their edges, and what is a point inside?

`line_sizes.py` has the same functions, and `sizes.py` chooses between the two files.
Products are taken of mantissas, and powers of two are multiplied in at the end, exactly: nothing overflows or
underflows if the result is a double.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from regions.domains.gram import gram_matrix
from regions.ground.arithmetic.dyadic import square_root
from regions.ground.arithmetic.roundoff import UP, U
from regions.ground.arithmetic.types import Exponents, Floats, Indices
from regions.results.cells.cell_errors import LEAST, endless, finished, way_errors
from regions.results.cells.cell_geometry import LEAST_EXPONENT, difference, next_corners
from regions.results.cells.complex import CellComplex
from regions.results.cells.exact_outline import ExactOutlines

__all__ = [
    "exact_facet_sizes",
    "exact_size",
    "facet_errors",
    "facet_sizes",
    "interior_points",
    "size_errors",
    "split_sizes",
]

# The exponent of zero: so low that it never decides the common scale of several numbers.
BELOW_ALL_EXPONENTS = -(2**13)


def split_sizes(cells: CellComplex) -> tuple[Floats, Exponents]:
    """Return the areas of the regions in the chart, as mantissas and exponents: float64 [R], int32 [R]."""
    # Relative to each region's first corner: the differences of close corners are (nearly) free of rounding, while
    # products of absolute coordinates would cancel. Triangles at the first corner itself add exact zeros.
    _, offsets, exponents_of_axes = _from_first_corner(cells)
    x, y = offsets.T
    following = next_corners(cells.cell_offsets)
    doubled = x * y[following] - y * x[following]
    # A cell thinner than the errors of its corners may be inside out; its true area is positive.
    sizes = np.abs(np.add.reduceat(doubled, cells.cell_offsets[:-1])) / 2
    return sizes, exponents_of_axes[:, 0] + exponents_of_axes[:, 1]


def size_errors(cells: CellComplex) -> Floats:
    """Return bounds on the errors of the computed areas, float64 [R]; NaN if unknown.

    Offsets from the first corner are scaled to one on each axis.
    """
    starts, counts = cells.cell_offsets[:-1], cells.corner_counts
    _, offsets, exponents = _from_first_corner(cells)
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
    areas = (twice / 2 * UP + (counts + 16.0) * LEAST) * scale * UP
    shift = rescaled[:, 0] + rescaled[:, 1] + np.intc(scale_exponent)
    return np.ldexp(areas, shift) * UP + LEAST


def exact_size(points: list[list[Fraction]]) -> Fraction:
    """Return the area of a region in the chart, from its exact corners."""
    around = zip(points, points[1:] + points[:1], strict=True)
    return sum((a[0] * b[1] - a[1] * b[0] for a, b in around), Fraction(0)) / 2


def facet_sizes(cells: CellComplex) -> Floats:
    """Return the length of each facet, float64 [F]; infinite also beyond the largest double."""
    # Lengths through the triangular factor of the chart: the metric itself would square its condition number.
    factor, direction_exponents = cells.domain.length_factor
    start, end = cells.facet_vertices.T
    with np.errstate(all="ignore"):
        offsets, shift = difference(cells.vertices.take(end, axis=0), cells.vertices.take(start, axis=0))
        offsets, exponents = np.frexp(offsets)
        exponents += direction_exponents + shift
        exponents[offsets == 0] = BELOW_ALL_EXPONENTS
        largest = np.maximum(*exponents.T)
        x, y = factor @ np.ldexp(offsets, exponents - largest[:, np.newaxis]).T
        lengths: Floats = np.ldexp(np.hypot(x, y), largest)
    return np.where(np.isnan(lengths), np.inf, lengths)


def facet_errors(cells: CellComplex, sizes: Floats) -> Floats:
    """Return bounds on the errors of the lengths of all facets, float64 [F]."""
    ends, far = cells.facet_vertices, endless(cells)
    with np.errstate(all="ignore"):
        bounds = way_errors(cells, ends)
    return finished(bounds, sizes, far[ends[:, 0]] | far[ends[:, 1]])


def exact_facet_sizes(cells: CellComplex, facets: Indices) -> Floats:
    """Return the lengths of some facets, float64 [m], each rounded once."""
    outlines, gram = ExactOutlines(cells), gram_matrix(cells.domain.directions)
    following = next_corners(cells.cell_offsets)
    corner_of = np.empty(len(cells.facet_vertices), dtype=np.intp)
    corner_of[cells.cell_facets] = np.arange(len(cells.cell_facets))
    lengths = []
    for corner in corner_of[facets].tolist():
        ends = outlines.places((corner, int(following[corner])))
        if not ends:
            lengths.append(np.inf)
            continue
        x, y = (b - a for a, b in zip(*ends, strict=True))
        lengths.append(square_root(x * x * gram[0][0] + 2 * x * y * gram[0][1] + y * y * gram[1][1]))
    return np.array(lengths)


def interior_points(cells: CellComplex) -> Floats:
    """Return the mean of the corners of each region, in the chart: float64 [R, 2].

    NaN for the unbounded regions of a whole plane, because their corners at infinity have no coordinates.
    """
    if len(cells) == 0:
        return np.zeros((0, 2))
    first, offsets, exponents = _from_first_corner(cells)
    with np.errstate(all="ignore"):
        means = np.add.reduceat(offsets, cells.cell_offsets[:-1], axis=0) / cells.corner_counts[:, np.newaxis]
        # In halves, because corners on opposite sides of 0 can be farther apart than the largest double.
        points = 2 * (first / 2 + np.ldexp(means, exponents - 1))
    return np.where(np.isfinite(points).all(axis=1, keepdims=True), points, np.nan)


def _from_first_corner(cells: CellComplex) -> tuple[Floats, Floats, Exponents]:
    """Return the first corner of each region, float64 [R, 2]; all corners relative to it, float64 [K, 2]; exponents.

    Relative corners are scaled, for each region and axis, by two to minus the exponent [R, 2], to at most 1.
    """
    corners = cells.vertices.take(cells.cell_vertices, axis=0)  # in a tenth of the time of indexing
    starts, counts = cells.cell_offsets[:-1], cells.corner_counts
    first, regions = corners.take(starts, axis=0), np.repeat(np.arange(len(starts)), counts)
    relative, shift = difference(corners, first.take(regions, axis=0))
    # Column by column: along an axis of several, numpy lets no other thread run meanwhile.
    largest = np.stack([np.maximum.reduceat(each, starts) for each in np.abs(relative).T], axis=1)
    _, exponents = np.frexp(largest)
    np.maximum(exponents, LEAST_EXPONENT, out=exponents)
    return first, relative * np.ldexp(1.0, -exponents).take(regions, axis=0), exponents + shift
