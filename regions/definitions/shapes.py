# SPDX-License-Identifier: MIT
"""Which polygons, or intervals, do merged regions make?

Merging only leaves facets out (`outlines.py`), and no coordinate is computed. So the area of a merged polygon is the
sum of those of its members. Where rounding has folded or flattened a cell, a polygon around it can cross or touch
itself. Then shapely makes it valid, which computes coordinates, and can leave slivers. That is taken if its area is the
same, up to what the errors of its vertices account for; else the polygon stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regions.convert import require_bounded
from regions.definitions.outlines import Rings, rings_around
from regions.errors import DomainError
from regions.folding import unit_exponents

if TYPE_CHECKING:
    from regions.partition import Partition

__all__ = ["merged_intervals", "merged_polygons"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

EPSILON = 2.0**-52


def merged_polygons(partition: Partition, labels: Integers) -> NDArray[np.object_]:
    """See `LinearRegions.polygons`."""
    import shapely

    if partition.dimension == 1:
        raise DomainError("regions on a line make no polygons: take `intervals`")
    require_bounded(partition)
    rings, exponents = rings_around(partition, labels), unit_exponents(partition)
    result = _geometries(rings, partition.vertices)
    small = _geometries(rings, np.ldexp(partition.vertices, -exponents))
    invalid = np.flatnonzero(~shapely.is_valid(small))
    errors = np.maximum.reduceat(partition.vertex_errors[rings.vertices], rings.ring_offsets[rings.label_rings[:-1]])
    errors = np.ldexp(errors, -exponents.min())
    for label, shape in zip(invalid.tolist(), _made_valid(small[invalid], errors[invalid]), strict=True):
        if shape is not None:
            result[label] = shapely.transform(shape, lambda points: np.ldexp(points, exponents))
    return result


def _geometries(rings: Rings, vertices: Floats) -> NDArray[np.object_]:
    """A Polygon for each label, or a MultiPolygon where it has several pieces."""
    import shapely

    pieces = shapely.from_ragged_array(
        shapely.GeometryType.POLYGON, vertices[rings.vertices], (rings.ring_offsets, rings.piece_offsets)
    )
    counts = np.diff(rings.label_offsets)
    result: NDArray[np.object_] = pieces[rings.label_offsets[:-1]]
    several = np.flatnonzero(counts > 1)
    numbers = np.repeat(np.arange(several.size), counts[several])
    result[several] = shapely.multipolygons(pieces[np.repeat(counts > 1, counts)], indices=numbers)
    return result


def _made_valid(shapes: NDArray[np.object_], errors: Floats) -> Iterator[Any]:
    """Valid polygons instead of shapes whose vertices have these errors; None where the area would be another one."""
    import shapely

    for shape, error in zip(shapes.tolist(), errors.tolist(), strict=True):
        try:
            valid = shapely.make_valid(shape, method="structure", keep_collapsed=False)
        except shapely.errors.GEOSException:
            yield None
        else:
            # Coordinates are at most 1, and an edge of the outline sweeps over less than this when its ends move.
            allowed = 4 * shape.length * (error + EPSILON)
            yield valid if valid.is_valid and abs(valid.area - shape.area) <= allowed else None


def merged_intervals(partition: Partition, labels: Integers) -> list[NDArray[np.float64]]:
    """See `LinearRegions.intervals`."""
    if partition.dimension == 2:
        raise DomainError("regions in a plane make no intervals: take `polygons`")
    left, right = partition.cell_vertices.reshape(-1, 2).T
    order, ends = _sorted(labels)
    result = []
    for start, end in zip([0, *ends], ends, strict=False):
        members = order[start:end]
        # One goes on in the next where both have a vertex in common; regions are sorted along the line.
        breaks = left[members[1:]] != right[members[:-1]]
        runs = left[members[np.append(True, breaks)]], right[members[np.append(breaks, True)]]
        result.append(partition.vertices[np.stack(runs, axis=1), 0])
    return result


def _sorted(labels: Integers) -> tuple[Integers, list[int]]:
    """The regions sorted by label, and where each label's end in this order."""
    return np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels)).tolist()
