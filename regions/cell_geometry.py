# SPDX-License-Identifier: MIT
"""How large are the regions and their facets, and where is a point inside?

In floating point, from the stored corners; nothing here decides anything. Sizes are in input space: chart
measures times the chart's scale. One pass over all corners, in bulk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from regions.partition import Partition

__all__ = ["facet_volumes", "interior_points", "next_corners", "volumes"]

Floats = NDArray[np.float64]


def next_corners(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The corner that follows each corner around its region, for regions with corners ``offsets[r]:offsets[r
    + 1]``."""
    following = np.arange(1, offsets[-1] + 1)
    following[offsets[1:] - 1] = offsets[:-1]
    return following


def volumes(partition: Partition) -> Floats:
    """Length or area of each region, float64 [R]."""
    if partition.dimension == 1:
        left, right = _ends(partition)
        with np.errstate(invalid="ignore", over="ignore"):
            lengths = (right - left) * partition.domain.scale
        # On a line a true end may lie beyond the largest double: infinite minus infinite.
        return np.where(np.isnan(lengths), np.inf, lengths)
    if len(partition) == 0:
        return np.zeros(0)
    # Relative to each region's first corner: the differences of close corners are (nearly) free of rounding,
    # while products of absolute coordinates would cancel. Triangles at the first corner itself add exact
    # zeros.
    _, offsets = _from_first_corner(partition)
    x, y = offsets.T
    following = next_corners(partition.cell_offsets)
    with np.errstate(invalid="ignore"):
        doubled = x * y[following] - y * x[following]
    areas = np.add.reduceat(doubled, partition.cell_offsets[:-1]) / 2
    # A cell thinner than its corners are accurate may come out inside out; its true area is positive.
    # Corners at infinity, of the whole plane, leave nan.
    result: Floats = np.where(np.isnan(areas), np.inf, np.abs(areas) * partition.domain.scale)
    return result


def facet_volumes(partition: Partition) -> Floats:
    """Length of each facet, or 1 for a point (0 for an end at infinity), float64 [F]."""
    if partition.dimension == 1:
        finite: NDArray[np.bool_] = np.isfinite(partition.vertices[partition.facet_vertices[:, 0], 0])
        return finite.astype(np.float64)
    # Lengths through the triangular factor of the chart: the metric itself would square its condition number.
    factor = np.linalg.qr(partition.domain.directions.T, mode="r")
    start, end = partition.facet_vertices.T
    with np.errstate(invalid="ignore"):
        x, y = factor @ (partition.vertices[end] - partition.vertices[start]).T
    lengths: Floats = np.hypot(x, y)
    return np.where(np.isnan(lengths), np.inf, lengths)


def interior_points(partition: Partition) -> Floats:
    """Mean of the corners of each region, or a point beside its finite end, in the chart, float64 [R, d].

    nan for the unbounded regions of a whole plane, whose corners at infinity are not told apart.
    """
    if partition.dimension == 1:
        left, right = _ends(partition)
        # Beyond a finite end a step of 1, or more where doubles are too sparse to tell; a whole line has its
        # 0.
        whole = (left == -np.inf) & (right == np.inf)
        largest = np.finfo(np.float64).max
        with np.errstate(over="ignore", invalid="ignore"):
            inner_left = np.where(left == -np.inf, right - np.maximum(1.0, np.abs(right)), left)
            inner_right = np.where(right == np.inf, left + np.maximum(1.0, np.abs(left)), right)
        low, high = np.clip(inner_left, -largest, largest), np.clip(inner_right, -largest, largest)
        return np.where(whole, 0.0, low / 2 + high / 2)[:, np.newaxis]
    if len(partition) == 0:
        return np.zeros((0, 2))
    first, offsets = _from_first_corner(partition)
    with np.errstate(invalid="ignore"):
        sums = np.add.reduceat(offsets, partition.cell_offsets[:-1], axis=0)
        means = first + sums / partition.corner_counts[:, np.newaxis]
    result: Floats = np.where(np.isfinite(means).all(axis=1, keepdims=True), means, np.nan)
    return result


def _ends(partition: Partition) -> tuple[Floats, Floats]:
    left, right = partition.vertices[partition.cell_vertices, 0].reshape(-1, 2).T
    return left, right


def _from_first_corner(partition: Partition) -> tuple[Floats, Floats]:
    """First corner of each region, float64 [R, 2], and all corners relative to it, float64 [K, 2]."""
    first = partition.vertices[partition.cell_vertices[partition.cell_offsets[:-1]]]
    corners = partition.vertices[partition.cell_vertices]
    with np.errstate(invalid="ignore"):
        return first, corners - np.repeat(first, partition.corner_counts, axis=0)
