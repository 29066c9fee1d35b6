# SPDX-License-Identifier: MIT
"""How far is a point from the facets of a partition of a box?

A facet is the convex hull of its vertices. The point of the hull that is nearest to 0, after moving the given point
there, is found by Wolfe's algorithm (Mathematical Programming 11, 1976): least squares over a few of the vertices, of
which one is added or removed at a time. Wherever the algorithm stops, both bounds are proven: the distance is at most
the length of the point q that was found, and at least the least product of q / |q| with a vertex. A facet is in a ball
and near a plane through its center. If these are farther than the nearest facet so far, it is left out.
Coordinates are those with the lengths of input space (`Chart.length_factor`), scaled by a power of two for each point.
Invariant: errors count the stored vertices' bounds, the gap between both bounds, and rounding: with M the length of a
vector, taking its components along the chart's directions together, vectors are off by at most 8 u M, and their
products and sums by 16 u M; together less than 128 u M.
Cost: for each point some 0.1 microseconds for each facet, and 0.1 milliseconds for each facet that is not left out.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.roundoff import UP, U
from regions.ground.arithmetic.types import Exponents, Floats, Integers
from regions.results.cells.cell_errors import LEAST
from regions.results.partition import Partition

__all__ = ["SolidFacets"]

# Steps of Wolfe's algorithm: each vertex is added a few times at most.
STEPS = 1000


class SolidFacets:
    """Some facets of a partition of a box, at least one.

    Parameters
    ----------
    partition : Partition
    facets : int64 [m]
    """

    def __init__(self, partition: Partition, facets: Integers) -> None:
        starts, ends = partition.facet_offsets[facets].tolist(), partition.facet_offsets[facets + 1].tolist()
        corners = [partition.facet_vertices[start:end] for start, end in zip(starts, ends, strict=True)]
        self.places = [partition.vertices[each] for each in corners]
        self.factor, self.exponents = partition.domain.length_factor
        self.lengths: Floats = partition.domain.direction_lengths
        self.reach: Floats = np.abs(partition.vertices).max(axis=0)
        self.displaced = float(partition.vertex_errors[np.concatenate(corners)].max() * self.lengths.sum())
        self.shift = self._shift(self.reach)
        every = self._vectors(partition.vertices, self.shift)
        self.centers: Floats = np.array([every[each].mean(axis=0) for each in corners])
        offsets = [every[each] - center for each, center in zip(corners, self.centers, strict=True)]
        self.radii: Floats = np.array([np.linalg.norm(each, axis=1).max() for each in offsets])
        self.normals: Floats = np.array([np.linalg.svd(each)[2][-1] for each in offsets])
        self.heights: Floats = np.array(
            [np.abs(each @ normal).max() for each, normal in zip(offsets, self.normals, strict=True)]
        )

    def nearest(self, points: Floats) -> tuple[Integers, Floats, Floats, Floats]:
        """Return the nearest facet to each chart point [n, d], as its place in ``facets``: int64 [n]; the distance,
        float64 [n]; the nearest point in the chart, [n, d]; and a bound on the error of the distance, [n].
        """
        best, distances, gaps = np.zeros(len(points), dtype=np.int64), np.zeros(len(points)), np.zeros(len(points))
        nearest = np.zeros_like(points)
        with np.errstate(all="ignore"):
            for index, point in enumerate(points):
                best[index], distances[index], nearest[index], gaps[index] = self._nearest(point)
            rounded = 128 * U * ((np.abs(points) + self.reach) @ self.lengths)
            errors = (gaps + self.displaced + rounded) * UP + LEAST
        return best, distances, nearest, np.where(np.isnan(errors), np.inf, errors)

    def _nearest(self, point: Floats) -> tuple[int, float, Floats, float]:
        shift = max(self.shift, self._shift(np.abs(point)))
        at_least = self._bounds(point, shift)
        found, best, least, lowest = point, 0, np.inf, np.inf
        for facet in np.argsort(at_least, kind="stable").tolist():
            if at_least[facet] >= least:
                break
            vectors = self._vectors(self.places[facet] - point, shift)
            chosen, weights = _shortest(vectors)
            shortest = weights @ vectors[chosen]
            length = float(np.linalg.norm(shortest))
            # Nothing is known if the length is not a number.
            lowest = min(lowest, max(float((vectors @ shortest).min()), 0.0) / length if length > 0 else 0.0)
            if length < least:
                found, best, least = weights @ self.places[facet][chosen], facet, length
        return best, float(np.ldexp(least, shift)), found, float(np.ldexp(least - lowest, shift))

    def _bounds(self, point: Floats, shift: int) -> Floats:
        """Return lower bounds on the distances from all facets: each is in a ball, and near a plane through its
        center.
        """
        rounding = 32 * U * float(np.ldexp((np.abs(point) + self.reach) @ self.lengths, -shift))
        radii, heights = (np.ldexp(each, self.shift - shift) for each in (self.radii, self.heights))
        away = np.ldexp(self.centers, self.shift - shift) - self._vectors(point, shift)
        above = np.abs((away * self.normals).sum(axis=1))
        far, high = np.maximum(np.linalg.norm(away, axis=1) - rounding, 0), above + heights + rounding
        along = np.sqrt(np.maximum(far * far - high * high, 0)) * (1 - 8 * U)
        bounds: Floats = np.hypot(np.maximum(above - heights - rounding, 0), np.maximum(along - radii, 0))
        return bounds

    def _vectors(self, offsets: Floats, shift: int) -> Floats:
        """Return vectors of the chart [.., d] with the lengths of input space, divided by two to the shift."""
        return np.ldexp(offsets, self.exponents - np.intc(shift)) @ self.factor.T

    def _shift(self, sizes: Floats) -> int:
        """Return an exponent such that coordinates of these sizes [d] become at most about one."""
        exponents: Exponents = np.frexp(sizes)[1] + self.exponents
        return int(exponents[sizes > 0].max(initial=-1000))


def _shortest(vectors: Floats) -> tuple[list[int], Floats]:
    """Return some of the vectors [m, d], with weights that make their sum nearly the shortest vector in the hull."""
    squares = (vectors * vectors).sum(axis=1)
    chosen, weights = [int(squares.argmin())], np.ones(1)
    for _ in range(STEPS):
        shortest = weights @ vectors[chosen]
        products = vectors @ shortest
        entering = int(products.argmin())
        if entering in chosen or products[entering] >= shortest @ shortest - 8 * U * squares.max():
            break
        chosen, weights = [*chosen, entering], np.append(weights, 0.0)
        while True:
            wanted = _least_squares(vectors[chosen])
            if not (wanted <= 0).any():  # also if these are not numbers
                break
            # Go towards the affine minimum as far as weights stay positive, and drop a vector whose weight is zero.
            leaving = np.flatnonzero(wanted <= 0)
            steps = weights[leaving] / (weights[leaving] - wanted[leaving])
            weights = weights + np.nanmin(steps) * (wanted - weights)
            dropped = int(leaving[np.nanargmin(steps)])
            chosen.pop(dropped)
            weights = np.delete(weights, dropped)
        weights = wanted / wanted.sum()
    return chosen, weights


def _least_squares(vectors: Floats) -> Floats:
    """Return the weights, of sum one, that make the sum of vectors [k, d] the shortest."""
    sides = vectors[1:] - vectors[0]
    others = np.linalg.lstsq(sides.T, -vectors[0], rcond=None)[0]
    return np.concatenate([[1 - others.sum()], others])
