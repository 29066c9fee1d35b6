# SPDX-License-Identifier: MIT
"""What is the largest disc in each region, in floating point, with an error bound?

The linear program of `exact_discs.py` is solved in the same way, for all regions with k corners at once. Edges are
taken between stored corners, and the direction of a short one is noise, so the result is a guess. It is then checked by
facts that do not depend on directions:
- The disc is in the region up to the distance of its centre from the segments between stored corners, if the centre is
  inside. The centre is inside if it is a mean of points on three of the segments, up to less than that distance.
- Let unit vectors u and weights l with sum one have sum(l u) = 0. Then no radius is larger than sum(l h), where h is
  the reach of the region in direction u, at most the reach of its stored corners. The u are the normals of the three
  edges that the disc touches; their deviation from sum(l u) = 0 counts with the size of the region.
The true corners are off by their stored errors. So a disc in the stored region, made smaller by these errors, is in the
true region, and the other way round.
Invariant: the bound holds for any input. After overflow or underflow, or if nothing can be proven, it is infinite.
Cost: some 60 passes over the corners.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.domains import Domain
from regions.domains.gram import determinant, gram_matrix
from regions.ground.arithmetic.dyadic import nearest_float, square_root
from regions.ground.arithmetic.roundoff import U
from regions.ground.arithmetic.types import Floats, Integers
from regions.results.partition import Partition

# In units of rounding times the size of the region: coordinates with lengths, relative to a corner, are off by
# less than 8, and distances and support values computed from them by less than 40.
ROUNDING = 64 * U
# Far above any underflow. Sizes are relative to the size of the domain.
TINY = 2.0**-500


class RoundedDiscs(NamedTuple):
    """Radii [R] and centres [R, d] of discs, and bounds [R] on the errors of radii; infinite if unknown."""

    radii: Floats
    centers: Floats
    errors: Floats


class _Chart(NamedTuple):
    """Map from chart coordinates to coordinates with lengths: times two to ``exponents`` [2], then times ``factor``.

    The factor [2, 2] is upper triangular, and each entry has a relative error of at most 3 * 2^-53. Lengths are then
    multiples of two to the power of ``unit``; the domain's own is about one.
    """

    factor: Floats
    exponents: Integers
    unit: int

    @classmethod
    def of(cls, domain: Domain, vertices: Floats) -> _Chart:
        directions, exponents = domain.split_directions
        gram = gram_matrix(directions)
        first = square_root(gram[0][0])
        factor = np.array(
            [[first, nearest_float(gram[0][1]) / first], [0.0, square_root(determinant(gram) / gram[0][0])]]
        )
        _, largest = np.frexp(np.abs(vertices).max(axis=0))
        unit = int((largest + exponents).max())
        return cls(factor, exponents.astype(np.int64) - unit, unit)

    def offsets(self, start: Floats, end: Floats) -> Floats:
        """Return offsets from chart points [.., 2] to others, along the chart's axes."""
        return np.ldexp(end - start, self.exponents.astype(np.intc))

    def back(self, point: Floats) -> Floats:
        """Return the offset in chart coordinates, [m, 2], of points [2, m] with lengths."""
        (a, b), (_, c) = self.factor
        y = point[1] / c
        x = (point[0] - b * y) / a
        return np.ldexp(np.stack([x, y], axis=1), -self.exponents.astype(np.intc))


def rounded_discs(partition: Partition) -> RoundedDiscs:
    """Return the largest discs in the regions of a partition of a bounded domain, with proven error bounds."""
    with np.errstate(all="ignore"):
        radii, centers, errors = (_on_a_line if partition.dimension == 1 else _in_a_plane)(partition)
    proven = np.isfinite(radii) & np.isfinite(centers).all(axis=1) & np.isfinite(errors)
    return RoundedDiscs(radii, centers, np.where(proven, errors, np.inf))


def _on_a_line(partition: Partition) -> RoundedDiscs:
    ends = partition.cell_vertices.reshape(-1, 2)
    left, right = partition.vertices[ends, 0].T
    length, exponent = partition.domain.split_scale
    half = right / 2 - left / 2
    errors = partition.vertex_errors[ends].sum(axis=1) / 2 + 8 * U * half
    radii = np.ldexp(half * length, exponent)
    errors = 2 * np.ldexp(errors * length, exponent)
    return RoundedDiscs(radii, (left / 2 + right / 2)[:, np.newaxis], np.where(radii > TINY**2, errors, np.inf))


def _in_a_plane(partition: Partition) -> RoundedDiscs:
    chart = _Chart.of(partition.domain, partition.vertices)
    counts, starts = partition.corner_counts, partition.cell_offsets[:-1]
    corners = partition.vertices[partition.cell_vertices]
    first = corners[starts]
    offsets = chart.offsets(np.repeat(first, counts, axis=0), corners)
    lengths = np.hypot(*chart.factor)  # of the two directions
    points = np.stack([offsets @ chart.factor[0], offsets[:, 1] * chart.factor[1, 1]])
    sizes = np.maximum.reduceat(np.abs(offsets) @ lengths, starts)
    moved = np.maximum.reduceat(partition.vertex_errors[partition.cell_vertices], starts)
    slack = chart.offsets(np.zeros(2), moved[:, np.newaxis]) @ lengths + ROUNDING * sizes
    radii, errors = np.zeros((2, len(partition)))
    centers = np.zeros((len(partition), 2))
    for count in np.unique(counts).tolist():
        regions = np.flatnonzero(counts == count)
        edges = _Edges.between(points[:, (starts[regions] + np.arange(count)[:, np.newaxis])])
        guess = _largest_discs(edges)
        centers[regions] = first[regions] + chart.back(guess.centers)
        # From here on, the disc as stored.
        offset = chart.offsets(first[regions], centers[regions])
        stored = np.stack([offset @ chart.factor[0], offset[:, 1] * chart.factor[1, 1]])
        least, most = _bounds(edges, guess, stored, sizes[regions], slack[regions])
        radii[regions] = guess.radii
        errors[regions] = np.where(slack[regions] > TINY, np.maximum(most - guess.radii, guess.radii - least), np.inf)
    return RoundedDiscs(np.ldexp(radii, chart.unit), centers, 2 * np.ldexp(errors, chart.unit))


class _Edges(NamedTuple):
    """Edges of m polygons with k corners: starts [2, k, m], inner normals [2, k, m], lengths [k, m]."""

    starts: Floats
    normals: Floats
    lengths: Floats

    @classmethod
    def between(cls, corners: Floats) -> _Edges:
        """Make the edges from each corner [2, k, m] to the next one, counter-clockwise."""
        ways = np.roll(corners, -1, axis=1) - corners
        lengths = np.sqrt(ways[0] ** 2 + ways[1] ** 2)
        return cls(corners, np.stack([-ways[1], ways[0]]) / lengths, lengths)


class _Guess(NamedTuple):
    """Discs: centres [2, m], radii [m], and the edges that they touch, [3, m]."""

    centers: Floats
    radii: Floats
    touched: Integers


def _largest_discs(edges: _Edges) -> _Guess:
    """Solve the program as in `exact_discs.py`; stop after too many exchanges."""
    (x, y), count = edges.normals, len(edges.lengths)
    heights = x * edges.starts[0] + y * edges.starts[1]
    # The first edge, the last one to the left of it, and the one after that.
    last = np.clip((x[0] * y[1:] - y[0] * x[1:] > 0.0).sum(axis=0), 1, count - 2)
    touched = np.stack([np.zeros_like(last), last, last + 1])
    everywhere = np.arange(edges.lengths.shape[1])
    centers, radii = _touching(*(part[touched, everywhere] for part in (x, y, heights)))
    moving = everywhere if count > 3 else everywhere[:0]
    for _ in range(4 * count):
        values = x[:, moving] * centers[0, moving] + y[:, moving] * centers[1, moving] - heights[:, moving]
        crossed = values.argmin(axis=0)
        far = values[crossed, np.arange(len(moving))] < radii[moving] * (1 - 2.0**-46)
        moving, crossed = moving[far], crossed[far]
        if not moving.size:
            break
        three = touched[:, moving]
        sides = x[three, moving] * y[crossed, moving] - y[three, moving] * x[crossed, moving]
        keep = ((sides <= 0.0) & (np.roll(sides, -1, axis=0) >= 0.0)).argmax(axis=0)
        column = np.arange(len(moving))
        three = np.stack([three[keep, column], three[keep - 2, column], crossed])
        touched[:, moving] = three
        centers[:, moving], radii[moving] = _touching(*(part[three, moving] for part in (x, y, heights)))
    return _Guess(centers, radii, touched)


def _touching(x: Floats, y: Floats, heights: Floats) -> tuple[Floats, Floats]:
    """Return centres [2, m] and radii [m] of the discs that touch three lines, with normals and heights [3, m]."""
    x1, x2, y1, y2 = x[1] - x[0], x[2] - x[0], y[1] - y[0], y[2] - y[0]
    h1, h2 = heights[1] - heights[0], heights[2] - heights[0]
    determinants = x1 * y2 - y1 * x2
    centers = np.stack([(h1 * y2 - y1 * h2) / determinants, (x1 * h2 - h1 * x2) / determinants])
    return centers, x[0] * centers[0] + y[0] * centers[1] - heights[0]


def _bounds(edges: _Edges, guess: _Guess, centers: Floats, sizes: Floats, slack: Floats) -> tuple[Floats, Floats]:
    """Return bounds on the largest radius, [m] each; the lower is minus infinity if the centre may not be inside."""
    (x, y), columns = edges.normals, np.arange(len(sizes))
    to_x, to_y = centers[0] - edges.starts[0], centers[1] - edges.starts[1]
    heights = x * to_x + y * to_y
    along = y * to_x - x * to_y
    beyond = np.maximum(np.maximum(-along, along - edges.lengths), 0.0)
    distances = np.sqrt((beyond * beyond + heights * heights).min(axis=0))
    x, y = x[guess.touched, columns], y[guess.touched, columns]
    weights = _weights(x, y)
    short = np.hypot((weights * x).sum(axis=0), (weights * y).sum(axis=0))
    # Reach of the corners beyond the centre, against the normals.
    reach = np.stack([(x[i] * to_x + y[i] * to_y).max(axis=0) for i in range(3)])
    most = (weights * reach).sum(axis=0) + 2 * sizes * short + slack
    touching = weights * heights[guess.touched, columns]
    away = np.hypot((touching * x).sum(axis=0), (touching * y).sum(axis=0))
    away += (weights * beyond[guess.touched, columns]).sum(axis=0)
    return np.where(distances > away + 2 * slack, distances - slack, -np.inf), most


def _weights(x: Floats, y: Floats) -> Floats:
    """Return weights [3, m] with sum one that make the sum of three unit vectors [3, m] zero, up to rounding."""
    left, right = (1, 2, 0), (2, 0, 1)
    weights = np.maximum(x[left, :] * y[right, :] - y[left, :] * x[right, :], 0.0)
    # If the vectors are nearly on one line, all weights are small and noisy, and proportional to each other only
    # across it. Along it the vector that is alone on its side has to balance the others.
    columns, largest = np.arange(weights.shape[1]), weights.argmax(axis=0)
    weights[largest, columns] = 0.0
    other_x, other_y = (weights * x).sum(axis=0), (weights * y).sum(axis=0)
    balance = -(other_x * x[largest, columns] + other_y * y[largest, columns])
    weights[largest, columns] = np.maximum(balance, 0.0)
    return weights / weights.sum(axis=0)
