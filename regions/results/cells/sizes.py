# SPDX-License-Identifier: MIT
"""How large are the regions and their facets, and what is a point inside, even if corners are beyond the doubles?

Sizes are computed from stored corners, in bulk (`line_sizes.py`, `plane_sizes.py`). A corner beyond the largest
double is stored as infinite, with an infinite error, but a region or facet between two such corners can still have a
size that is a double. Such a size is computed from exact corners (`exact_outline.py`) and rounded once. If a corner
truly lies at infinity, sizes are infinite.
Cost: about a millisecond for each region or facet with such a corner; networks of ordinary size have none.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

import numpy as np

from regions.domains.gram import determinant, gram_matrix
from regions.domains.shape import SHAPES
from regions.ground.arithmetic.dyadic import square_root
from regions.ground.arithmetic.roundoff import SMALLEST, U
from regions.ground.arithmetic.types import Bits, Exponents, Floats, Indices
from regions.results.cells import line_sizes, plane_sizes, polytope_sizes
from regions.results.cells.cell_errors import endless, finished, infinite
from regions.results.cells.complex import CellComplex, cached
from regions.results.cells.exact_outline import ExactOutlines, points_inside

__all__ = [
    "error_and_point",
    "facet_volume_errors",
    "facet_volumes",
    "interior_points",
    "rounded_volumes",
    "volume_errors",
    "volumes",
]


class _Sizes(Protocol):
    """The functions of one dimension."""

    def split_sizes(self, cells: CellComplex) -> tuple[Floats, Exponents]: ...
    def size_errors(self, cells: CellComplex) -> Floats: ...
    def exact_size(self, points: list[list[Fraction]]) -> Fraction: ...
    def facet_sizes(self, cells: CellComplex) -> Floats: ...
    def facet_errors(self, cells: CellComplex, sizes: Floats) -> Floats: ...
    def interior_points(self, cells: CellComplex) -> Floats: ...


_OF_DIMENSION: dict[int, _Sizes] = {1: line_sizes, 2: plane_sizes}


def _sizes(cells: CellComplex) -> _Sizes:
    return _OF_DIMENSION[cells.dimension]


@cached
def volumes(cells: CellComplex) -> Floats:
    """Return the length or area of each region in input space, float64 [R]; infinite if endless or beyond doubles."""
    if cells.dimension > 2:
        return polytope_sizes.volumes(cells)
    sizes, far = rounded_volumes(cells), _far_regions(cells)
    if far.size:
        sizes[far] = _exact_volumes(cells, far)
    return sizes


@cached
def volume_errors(cells: CellComplex) -> Floats:
    """Return a proven bound on the error of each of ``volumes``, float64 [R]; 0 for a region without an end."""
    if cells.dimension > 2:
        return polytope_sizes.volume_errors(cells)
    sizes = volumes(cells)
    if len(cells) == 0:
        return np.zeros(0)
    with np.errstate(all="ignore"):
        bounds = _sizes(cells).size_errors(cells)
    ends = np.add.reduceat(endless(cells)[cells.cell_vertices], cells.cell_offsets[:-1], dtype=np.int64)
    return _rounded_once(finished(bounds, sizes, ends > 0), sizes, _far_regions(cells))


@cached
def facet_volumes(cells: CellComplex) -> Floats:
    """Return the length of each facet in input space, float64 [F]; for d = 1 a point counts 1, an infinite end 0."""
    if cells.dimension > 2:
        return polytope_sizes.facet_volumes(cells)
    sizes, far = _sizes(cells).facet_sizes(cells), _far_facets(cells)
    if far.size:
        sizes[far] = plane_sizes.exact_facet_sizes(cells, far)
    return sizes


@cached
def facet_volume_errors(cells: CellComplex) -> Floats:
    """Return a proven bound on the error of each of ``facet_volumes``, float64 [F]; 0 for points and endless facets."""
    if cells.dimension > 2:
        return polytope_sizes.facet_volume_errors(cells)
    sizes = facet_volumes(cells)
    return _rounded_once(_sizes(cells).facet_errors(cells, sizes), sizes, _far_facets(cells))


@cached
def interior_points(cells: CellComplex) -> Floats:
    """Return one point inside each region, chart coordinates float64 [R, d]: the mean of its corners.

    On a line, in a region with an infinite end, the point is a step away from the finite end. Points are rounded: in a
    region thinner than the spacing of doubles a point can fall on or over the boundary, as `locate` will then show. In
    an unbounded region of a plane the point is computed in exact arithmetic, which can take a millisecond.
    """
    if cells.dimension > 2:
        return polytope_sizes.interior_points(cells)
    points = _sizes(cells).interior_points(cells)
    unbounded = np.flatnonzero(np.isnan(points).any(axis=1))
    if unbounded.size and not cells.domain.bounded:
        points[unbounded] = points_inside(cells, unbounded)
    return points


def error_and_point(cells: CellComplex, region: int) -> tuple[float, Floats]:
    """Return the bound on the error of one region's size, and a point inside: a float, and float64 [d].

    Where all bounds are not known yet, they are not computed for the other regions.
    """
    if cells.dimension < 3:
        cells, region = _alone(cells, region), 0
    return float(volume_errors(cells)[region]), interior_points(cells)[region]


def _alone(cells: CellComplex, region: int) -> CellComplex:
    """Return a complex with one region of a line or plane."""
    corners = slice(*cells.cell_offsets[region : region + 2].tolist())
    vertices, facets = cells.cell_vertices[corners], cells.cell_facets[corners]
    order = np.argsort(vertices)
    count = len(vertices)
    arrays = {
        "vertices": cells.vertices[vertices],
        "vertex_errors": cells.vertex_errors[vertices],
        "cell_offsets": np.array([0, count]),
        "cell_vertices": np.arange(count),
        "cell_facets": np.arange(count),
        "facet_vertices": order[np.searchsorted(vertices, cells.facet_vertices[facets], sorter=order)],
        "facet_regions": np.tile([0, -1], (count, 1)),
        "facet_kinks": cells.facet_kinks[facets],
        "packed_patterns": cells.packed_patterns[region : region + 1],
    }
    return CellComplex(cells.network, cells.domain, {**arrays, "stats": {}, "complete": False})


def rounded_volumes(cells: CellComplex) -> Floats:
    """Return the length or area of each region, by the stored corners alone: float64 [R]."""
    if len(cells) == 0:
        return np.zeros(0)
    scale, scale_exponent = cells.domain.split_scale
    with np.errstate(all="ignore"):
        sizes, exponents = _sizes(cells).split_sizes(cells)
        result = np.ldexp(sizes * scale, exponents + np.intc(scale_exponent))
    # NaN comes from infinity minus infinity, at corners at infinity of a whole plane or ends on a line beyond the
    # doubles.
    return np.where(np.isnan(result), np.inf, result)


def _far_regions(cells: CellComplex) -> Indices:
    """Return the bounded regions with a corner beyond the largest double."""
    far, at_infinity = _far_and_endless(cells)
    if not far.any():  # the usual case, without looking at the corners
        return np.zeros(0, dtype=np.intp)
    corners, starts = cells.cell_vertices, cells.cell_offsets[:-1]
    reaching, open_ended = (np.logical_or.reduceat(those[corners], starts) for those in (far, at_infinity))
    return np.flatnonzero(reaching & ~open_ended)


def _far_facets(cells: CellComplex) -> Indices:
    """Return the bounded facets in a plane with an end beyond the largest double."""
    far, at_infinity = _far_and_endless(cells)
    if not far.any() or SHAPES[cells.dimension].facet_size is None:
        return np.zeros(0, dtype=np.intp)
    reaching, open_ended = (those[cells.facet_vertices].any(axis=1) for those in (far, at_infinity))
    return np.flatnonzero(reaching & ~open_ended)


def _far_and_endless(cells: CellComplex) -> tuple[Bits, Bits]:
    """Return which vertices [V] are beyond the largest double, and which are at infinity."""
    at_infinity = endless(cells)
    return infinite(cells) & ~at_infinity, at_infinity


def _exact_volumes(cells: CellComplex, regions: Indices) -> Floats:
    """Return the lengths or areas of some regions, [m], each rounded once."""
    outlines, squared_scale = ExactOutlines(cells), determinant(gram_matrix(cells.domain.directions))
    sizes = []
    for region in regions.tolist():
        points = outlines.places(range(*cells.cell_offsets[region : region + 2].tolist()))
        if not points:
            sizes.append(np.inf)
            continue
        size = _sizes(cells).exact_size(points)
        sizes.append(square_root(size * size * squared_scale))
    return np.array(sizes)


def _rounded_once(errors: Floats, sizes: Floats, far: Indices) -> Floats:
    """Set the bounds of the sizes in ``far``, which were rounded once; infinite for infinite sizes."""
    bounds = errors.copy()
    bounds[far] = 2 * U * sizes[far] + SMALLEST
    return bounds
