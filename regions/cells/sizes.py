# SPDX-License-Identifier: MIT
"""How large are the regions and their facets, and what is a point inside, for corners of any size?

Sizes are computed from stored corners, in bulk (`cell_geometry.py`, `cell_errors.py`). A corner beyond the largest
double is stored as infinite, with an infinite error, but a region or facet between two such corners can still have a
size that is a double. These are computed from exact corners (`exact_outline.py`) and rounded once. If a corner truly
lies at infinity, sizes are infinite.
Cost: about a millisecond for each region or facet with such a corner; networks of ordinary size have none.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from regions.arithmetic.dyadic import square_root
from regions.arithmetic.types import Bits, Floats, Indices
from regions.cells import cell_errors, cell_geometry
from regions.cells.complex import CellComplex, cached
from regions.cells.exact_outline import ExactOutlines, points_inside
from regions.domains.gram import determinant, gram_matrix
from regions.errors import CheckpointError

__all__ = ["facet_volume_errors", "facet_volumes", "interior_points", "volume_errors", "volumes"]


@cached
def volumes(cells: CellComplex) -> Floats:
    """Return the length or area of each region in input space, float64 [R]; infinite if endless or beyond doubles."""
    sizes, far = cell_geometry.volumes(cells), _far_regions(cells)
    if far.size:
        sizes[far] = _exact_volumes(cells, far)
    return sizes


@cached
def volume_errors(cells: CellComplex) -> Floats:
    """Return a proven bound on the error of each of ``volumes``, float64 [R]; 0 for a region without an end."""
    sizes = volumes(cells)
    return _rounded_once(cell_errors.volume_errors(cells, sizes), sizes, _far_regions(cells))


@cached
def facet_volumes(cells: CellComplex) -> Floats:
    """Return the length of each facet in input space, float64 [F]; for d = 1 a point counts 1, an infinite end 0."""
    sizes, far = cell_geometry.facet_volumes(cells), _far_facets(cells)
    if far.size:
        sizes[far] = _exact_lengths(cells, far)
    return sizes


@cached
def facet_volume_errors(cells: CellComplex) -> Floats:
    """Return a proven bound on the error of each of ``facet_volumes``, float64 [F]; 0 for points and endless facets."""
    sizes = facet_volumes(cells)
    return _rounded_once(cell_errors.facet_volume_errors(cells, sizes), sizes, _far_facets(cells))


@cached
def interior_points(cells: CellComplex) -> Floats:
    """Return one point inside each region, chart coordinates float64 [R, d]: the mean of its corners.

    Next to an infinite end it is a step away from the finite one. It is rounded: in a region thinner than the spacing
    of doubles it can fall on or over the boundary, as `locate` will then show. In the unbounded regions of a plane it
    is computed in exact arithmetic, which can take a millisecond for each.
    """
    points = cell_geometry.interior_points(cells)
    endless = np.flatnonzero(np.isnan(points).any(axis=1))
    if endless.size and not cells.domain.bounded:
        points[endless] = points_inside(cells, endless)
    return points


def _far_regions(cells: CellComplex) -> Indices:
    """Return the bounded regions with a corner beyond the largest double."""
    far, endless = _far_and_endless(cells)
    if not far.any():  # the usual case, without looking at the corners
        return np.zeros(0, dtype=np.intp)
    corners, starts = cells.cell_vertices, cells.cell_offsets[:-1]
    reaching, open_ended = (np.logical_or.reduceat(those[corners], starts) for those in (far, endless))
    return np.flatnonzero(reaching & ~open_ended)


def _far_facets(cells: CellComplex) -> Indices:
    """Return the bounded facets in a plane with an end beyond the largest double."""
    far, endless = _far_and_endless(cells)
    if cells.dimension == 1 or not far.any():
        return np.zeros(0, dtype=np.intp)
    reaching, open_ended = (those[cells.facet_vertices].any(axis=1) for those in (far, endless))
    return np.flatnonzero(reaching & ~open_ended)


def _far_and_endless(cells: CellComplex) -> tuple[Bits, Bits]:
    """Return which vertices [V] are beyond the largest double, and which are at infinity."""
    endless = cell_errors.endless(cells)
    return np.isinf(cells.vertices).any(axis=1) & ~endless, endless


def _exact_volumes(cells: CellComplex, regions: Indices) -> Floats:
    """Return the lengths or areas of some regions, [m], each rounded once."""
    outlines, squared_scale = ExactOutlines(cells), determinant(gram_matrix(cells.domain.directions))
    sizes = []
    for region in regions.tolist():
        points = _places(outlines, range(*cells.cell_offsets[region : region + 2].tolist()))
        if not points:
            sizes.append(np.inf)
            continue
        if cells.dimension == 1:
            size = points[1][0] - points[0][0]
        else:
            around = zip(points, points[1:] + points[:1], strict=True)
            size = sum((a[0] * b[1] - a[1] * b[0] for a, b in around), Fraction(0)) / 2
        sizes.append(square_root(size * size * squared_scale))
    return np.array(sizes)


def _exact_lengths(cells: CellComplex, facets: Indices) -> Floats:
    """Return the lengths of some facets in a plane, [m], each rounded once."""
    outlines, gram = ExactOutlines(cells), gram_matrix(cells.domain.directions)
    following = cell_geometry.next_corners(cells.cell_offsets)
    corner_of = np.empty(len(cells.facet_vertices), dtype=np.intp)
    corner_of[cells.cell_facets] = np.arange(len(cells.cell_facets))
    lengths = []
    for corner in corner_of[facets].tolist():
        ends = _places(outlines, (corner, int(following[corner])))
        if not ends:
            lengths.append(np.inf)
            continue
        x, y = (b - a for a, b in zip(*ends, strict=True))
        lengths.append(square_root(x * x * gram[0][0] + 2 * x * y * gram[0][1] + y * y * gram[1][1]))
    return np.array(lengths)


def _places(outlines: ExactOutlines, corners: Iterable[int]) -> list[list[Fraction]]:
    """Return the positions of corners; an empty list if a corner has none, as in a modified file."""
    try:
        points = [outlines.vertex(corner) for corner in corners]
    except CheckpointError:
        return []
    if not all(weight for weight, *_ in points):
        return []
    return [[Fraction(other, weight) for other in others] for weight, *others in points]


def _rounded_once(errors: Floats, sizes: Floats, far: Indices) -> Floats:
    """Set the bounds of the sizes in ``far``, which were rounded once; infinite for infinite sizes."""
    bounds = errors.copy()
    bounds[far] = 2.0**-52 * sizes[far] + np.finfo(np.float64).smallest_subnormal
    return bounds
