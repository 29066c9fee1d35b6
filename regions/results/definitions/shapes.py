# SPDX-License-Identifier: MIT
"""Which polygons, or intervals, are merged regions?

Merging only removes facets (`outlines.py`), and computes no coordinate. So the area of a merged polygon is the sum of
the areas of its members. If rounding has folded or flattened a cell, a polygon around it can cross or touch itself.
Then shapely makes it valid, which computes coordinates, and can leave slivers. This is done in coordinates local to the
polygon, because coordinates far from the origin have few digits left. The valid polygon is used if its area is the
same, up to the errors of its vertices on each axis; otherwise the polygon stays as it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from regions.ground.arithmetic.roundoff import U
from regions.ground.arithmetic.types import Exponents, Floats, Integers, Objects
from regions.results.cells.complex import CellComplex
from regions.results.cells.folding import unit_exponents
from regions.results.definitions.outlines import Rings, rings_around

__all__ = ["merged_intervals", "merged_polygons"]


def merged_polygons(partition: CellComplex, labels: Integers) -> Objects:
    """See `LinearRegions.polygons`."""
    import shapely

    rings, exponents = rings_around(partition, labels), unit_exponents(partition)
    result = _geometries(rings, partition.vertices)
    vertices = np.ldexp(partition.vertices, -exponents)
    small = _geometries(rings, vertices)
    for label in np.flatnonzero(~shapely.is_valid(small)).tolist():
        first, last = rings.label_rings[label : label + 2].tolist()
        bounds = rings.ring_offsets[first : last + 1]
        corners = np.split(rings.vertices[bounds[0] : bounds[-1]], bounds[1:-1] - bounds[0])
        errors = [np.ldexp(partition.vertex_errors[ring, np.newaxis], -exponents) for ring in corners]
        shape = _made_valid(small[label], [vertices[ring] for ring in corners], errors)
        if shape is not None:
            result[label] = shapely.transform(shape, lambda points: np.ldexp(points, exponents))
    return result


def _geometries(rings: Rings, vertices: Floats) -> Objects:
    """Return a Polygon for each label, or a MultiPolygon if it has several pieces."""
    import shapely

    pieces = shapely.from_ragged_array(
        shapely.GeometryType.POLYGON, vertices[rings.vertices], (rings.ring_offsets, rings.piece_offsets)
    )
    counts = np.diff(rings.label_offsets)
    result: Objects = pieces[rings.label_offsets[:-1]]
    several = np.flatnonzero(counts > 1)
    numbers = np.repeat(np.arange(several.size), counts[several])
    result[several] = shapely.multipolygons(pieces[np.repeat(counts > 1, counts)], indices=numbers)
    return result


def _made_valid(shape: Any, rings: list[Floats], errors: list[Floats]) -> Any:
    """Return a valid polygon instead of a shape with these closed rings, whose vertices have these errors by axis, [k,
    2].

    None if the area would change.
    """
    import shapely

    frame = _frame(np.concatenate(rings), np.concatenate(errors))
    try:
        local = shapely.make_valid(shapely.transform(shape, frame.enter), method="structure", keep_collapsed=False)
    except shapely.errors.GEOSException:
        return None
    valid = shapely.transform(local, frame.leave)
    # Leaving the frame rounds, so the resulting polygon is checked.
    changed = abs(shapely.transform(valid, frame.enter).area - shapely.transform(shape, frame.enter).area)
    allowed = sum(
        _area_error(frame.enter(ring), np.ldexp(error, -frame.exponents))
        for ring, error in zip(rings, errors, strict=True)
    )
    return valid if valid.is_valid and changed <= allowed else None


class Frame(NamedTuple):
    """Coordinates local to a polygon: relative to ``start``, over two to the ``exponents``; both [2]."""

    start: Floats
    exponents: Exponents

    def enter(self, points: Floats) -> Floats:
        """Map points to the frame; exact for all points within the range that the frame was made for."""
        return np.ldexp(points - self.start, -self.exponents)

    def leave(self, points: Floats) -> Floats:
        """Map points back, rounded to doubles."""
        return np.ldexp(points, self.exponents) + self.start


def _frame(points: Floats, errors: Floats) -> Frame:
    """Return a frame in which points and errors are at most 1 on each axis, and one of them is at least 1/4.

    shapely snaps to about 2^-40 of the largest coordinate: far from the origin, or with one axis much shorter than the
    other, that can be the whole polygon.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    # Differences are exact if no number is more than twice as large as another (Sterbenz 1974). Otherwise the
    # polygon is at least half as wide as its largest coordinate, and needs no other start.
    far = ((low > 0.0) & (high <= 2.0 * low)) | ((high < 0.0) & (2.0 * high <= low))
    start = np.where(far, low, 0.0)
    sizes = np.maximum.reduce([np.abs(low - start), np.abs(high - start), errors.max(axis=0)])
    return Frame(start, np.frexp(sizes)[1])


def _area_error(ring: Floats, errors: Floats) -> float:
    """Bound the error of the area of a closed ring, from the errors of its vertices on each axis, [k, 2], and rounding.

    As in `regions/results/cells/cell_errors.py`, with a separate error for each vertex and axis.
    """
    ring, errors = ring[:-1], errors[:-1]
    around = np.abs(np.roll(ring, -1, axis=0) - np.roll(ring, 1, axis=0))
    following = np.roll(errors, -1, axis=0)
    moved = (errors * (around + following)[:, ::-1]).sum()
    # Rounding in shapely: sums of offsets along the first axis, times differences along the other.
    rounded = 2 * (len(ring) + 16) * U * (np.abs(ring[:, 0] - ring[0, 0]) * around[:, 1]).sum()
    return float(moved + rounded) / 2


def merged_intervals(partition: CellComplex, labels: Integers) -> list[Floats]:
    """See `LinearRegions.intervals`."""
    left, right = partition.cell_vertices.reshape(-1, 2).T
    order, ends = _sorted(labels)
    result = []
    for start, end in zip([0, *ends], ends, strict=False):
        members = order[start:end]
        # An interval continues in the next one if both share a vertex; regions are sorted along the line.
        breaks = left[members[1:]] != right[members[:-1]]
        runs = left[members[np.append(True, breaks)]], right[members[np.append(breaks, True)]]
        result.append(partition.vertices[np.stack(runs, axis=1), 0])
    return result


def _sorted(labels: Integers) -> tuple[Integers, list[int]]:
    """Return the regions sorted by label, and the end of each label in this order."""
    return np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels)).tolist()
