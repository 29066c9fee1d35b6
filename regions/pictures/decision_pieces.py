# SPDX-License-Identifier: MIT
"""Where is each output of a network the largest?

Inside a region all outputs are affine, so an output that is the largest at all of its corners is the largest
throughout. The other regions are cut into the convex pieces of their classes, where one output exceeds every other one
(Sutherland and Hodgman 1974), with values interpolated along edges. This is for pictures: it is in floating point, and
where outputs tie, the lowest class wins, as with `numpy.argmax`. A network with one output has two classes: output at
most 0, and output above 0.
Cost: the maps of all regions; for each region that is cut, some microseconds for each pair of classes in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.ground.arithmetic.types import Floats, Integers
from regions.results.cells.output_maps import outputs_at_vertices
from regions.results.partition import Partition

__all__ = [
    "IntervalPieces",
    "PlanePieces",
    "largest_on_intervals",
    "largest_on_polygons",
    "outputs_at",
    "scores_at",
]

# A corner (x, y and the value of each class), and the class beyond the edge that follows it, or -1.
Corner = tuple[Floats, int]


class PlanePieces(NamedTuple):
    """Convex pieces of the regions, each with one class.

    Attributes
    ----------
    corners : float64 [K, 2]
    offsets : int64 [m + 1]
        Piece i has the corners ``offsets[i]:offsets[i + 1]``.
    classes : int64 [m]
    borders : float64 [s, 2, 2]
        Segments inside regions with another class on either side.
    """

    corners: Floats
    offsets: Integers
    classes: Integers
    borders: Floats


class IntervalPieces(NamedTuple):
    """Pieces of intervals, float64 [m, 2], each with one class, int64 [m]."""

    ends: Floats
    classes: Integers


def outputs_at(partition: Partition, points: Floats) -> Floats:
    """Return all outputs of the network at chart points [m, d]: float64 [m, n_out]."""
    return partition.network(partition.domain.to_input(points))


def scores_at(partition: Partition, points: Floats) -> Floats:
    """Return the numbers whose largest is the class, float64 [m, classes]: all outputs, or 0 and a single output."""
    return _scores(outputs_at(partition, points))


def _scores(outputs: Floats) -> Floats:
    return outputs if outputs.shape[-1] > 1 else np.insert(outputs, 0, 0.0, axis=-1)


def largest_on_polygons(partition: Partition) -> PlanePieces:
    """Return the pieces of the regions of a partition in a plane, by the largest output."""
    scores = _scores(outputs_at_vertices(partition))
    largest = scores.argmax(axis=1)[partition.cell_vertices]
    starts, counts = partition.cell_offsets[:-1], partition.corner_counts
    lowest, highest = np.minimum.reduceat(largest, starts), np.maximum.reduceat(largest, starts)
    whole = lowest == highest
    points = partition.vertices[partition.cell_vertices]
    pieces: list[Floats] = []
    classes: list[int] = []
    borders: list[Floats] = []
    for region in np.flatnonzero(~whole).tolist():
        own = slice(starts[region], starts[region] + counts[region])
        for best, piece in _cut(points[own], scores[partition.cell_vertices[own]]):
            ring = np.array([corner for corner, _ in piece])[:, :2]
            pieces.append(ring)
            classes.append(best)
            # From the lower class only, so that each segment is listed once.
            borders += [
                np.stack([ring[i], ring[(i + 1) % len(ring)]]) for i, (_, other) in enumerate(piece) if other > best
            ]
    kept = points[np.repeat(whole, counts)]
    sizes = np.concatenate([counts[whole], np.array([len(piece) for piece in pieces], dtype=np.int64)])
    return PlanePieces(
        np.concatenate([kept, *pieces]),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([lowest[whole], np.array(classes, dtype=np.int64)]),
        np.array(borders).reshape(-1, 2, 2),
    )


def largest_on_intervals(partition: Partition, ends: Floats) -> IntervalPieces:
    """Return the pieces of intervals float64 [m, 2] of a line, on each of which all outputs are affine."""
    values = scores_at(partition, ends.reshape(-1, 1)).reshape(len(ends), 2, -1)
    pieces: list[tuple[float, float]] = []
    classes: list[int] = []
    for (left, right), (here, there) in zip(ends.tolist(), values, strict=True):
        slopes = there - here
        place = 0.0
        best = int(np.lexsort((np.arange(len(here)), -slopes, -here))[0])
        while True:
            steeper = np.flatnonzero(slopes > slopes[best])
            crossings = (here[best] - here[steeper]) / (slopes[steeper] - slopes[best])
            following = float(crossings.min(initial=1.0))
            stop = max(place, following)
            if stop > place:
                pieces.append((left + place * (right - left), right if stop == 1 else left + stop * (right - left)))
                classes.append(best)
            if following >= 1:
                break
            at_once = steeper[crossings == following]
            place, best = stop, int(at_once[np.argmax(slopes[at_once])])
    return IntervalPieces(np.array(pieces).reshape(-1, 2), np.array(classes, dtype=np.int64))


def _cut(corners: Floats, values: Floats) -> list[tuple[int, list[Corner]]]:
    """Return the pieces of a convex polygon [k, 2] whose corners have the values [k, n_out], with their classes."""
    # An output that is nowhere above the smallest value of another one has no piece.
    candidates = np.flatnonzero(values.max(axis=0) >= values.min(axis=0).max())
    rows = np.hstack([corners, values[:, candidates]])
    found = []
    for place, best in enumerate(candidates.tolist()):
        piece: list[Corner] = [(row, -1) for row in rows]
        for other_place, other in enumerate(candidates.tolist()):
            if other_place != place:
                piece = _clipped(piece, 2 + place, 2 + other_place, other, keep_ties=place < other_place)
        if len(piece) > 2:
            found.append((best, piece))
    return found


def _clipped(piece: list[Corner], column: int, other_column: int, other: int, *, keep_ties: bool) -> list[Corner]:
    """Return the part of a polygon where one column is above another one."""
    leads = [float(row[column] - row[other_column]) for row, _ in piece]
    if max(leads, default=0.0) <= 0 and not (keep_ties and min(leads, default=0.0) == 0):
        return []
    result: list[Corner] = []
    for index, (row, beyond) in enumerate(piece):
        lead, next_lead = leads[index], leads[(index + 1) % len(piece)]
        if lead > 0 or (lead == 0 and next_lead >= 0):
            result.append((row, beyond))
        elif lead == 0:
            result.append((row, other))
        if lead > 0 > next_lead or lead < 0 < next_lead:
            crossing = row + lead / (lead - next_lead) * (piece[(index + 1) % len(piece)][0] - row)
            result.append((crossing, other if lead > 0 else beyond))
    return result
