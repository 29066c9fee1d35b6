# SPDX-License-Identifier: MIT
"""Which polygons, or intervals, do merged regions make?

The regions of a partition form a coverage: common edges are bit-equal. So merging only leaves edges out, and no
coordinate is computed. Where rounding has folded a cell (`Partition.folded_cells`), it is made valid, and a union in
the general sense takes the place of that of a coverage: both compute coordinates, and can leave slivers, lines and
points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regions.errors import DomainError

if TYPE_CHECKING:
    from regions.partition import Partition

__all__ = ["merged_intervals", "merged_polygons"]

Integers = NDArray[np.int64]


def merged_polygons(partition: Partition, labels: Integers) -> NDArray[np.object_]:
    """See `LinearRegions.polygons`."""
    import shapely

    if partition.dimension == 1:
        raise DomainError("regions on a line make no polygons: take `intervals`")
    polygons = partition.to_shapely()
    folded = partition.folded_cells()
    polygons[folded] = shapely.make_valid(polygons[folded])
    mended = set(labels[folded].tolist())
    order, ends = _sorted(labels)
    result = np.empty(len(ends), dtype=object)
    for index, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        union = shapely.union_all if index in mended else shapely.coverage_union_all
        result[index] = polygons[order[start]] if end - start == 1 else union(polygons[order[start:end]])
    return result


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
