# SPDX-License-Identifier: MIT
"""How many regions meet a disc, exactly?

A region is convex and open. It meets an open disc if and only if it contains the disc's centre, or one of its facets
meets the disc: otherwise the straight line from the centre to a common point would leave the disc. So the regions of
all facets nearer than the radius are counted, with the region of the centre. On a line, a disc is an interval.
A distance that is nearer to the radius than the bound on its error is compared exactly, in fractions: squares in the
metric of input space, from exact vertices.
Cost: a few dozen operations for each pair of a point and a facet.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from regions.domains.abilities import DISC_COUNTS, require
from regions.domains.gram import gram_matrix
from regions.ground.arithmetic.arguments import positive
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.measures.domain_distance import chart_points, errors_of_distances
from regions.measures.facet_distance import StraightFacets
from regions.results.partition import Partition, require_complete

__all__ = ["regions_in_discs"]


def regions_in_discs(partition: Partition, points: ArrayLike, radius: float, *, space: str = "input") -> Integers:
    """Count the regions that meet the open disc around each point, within the domain.

    Parameters
    ----------
    partition : Partition
        Its domain is bounded.
    points : array_like [.., n_in], or [.., d] with ``space="chart"``
        Centres. Points of input space are projected on the domain's line or plane, in floating point. The number is
        exact for the resulting chart point.
    radius : float
        In input space.
    space : "input" or "chart"

    Returns
    -------
    int64 [..]
        0 for a disc outside of the domain.

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one; an unknown space; a radius that is not a positive number.
    DomainError
        A domain that is not bounded.
    ShapeMismatchError, NonFiniteError
        Points of another length; NaN, infinity.
    DegenerateDomainError
        Points of input space, and directions of the chart that floating point cannot tell from parallel ones.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 0.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> regions_in_discs(part, [[0.25, 0.5], [0.25, 0.25], [0.0, 0.0]], 0.25)
    array([1, 1, 4])
    >>> regions_in_discs(part, [[0.25, 0.5], [0.25, 0.25]], 0.3)
    array([2, 3])
    """
    require_complete(partition)
    domain, size = partition.domain, positive(radius, "radius")
    require(DISC_COUNTS, domain)
    given = chart_points(domain, points, space)
    flat = given.reshape(-1, domain.dimension)
    facets = np.arange(len(partition.facet_kinks))
    straight, exact = StraightFacets(partition, facets), _ExactDistances(partition, size)
    result = np.zeros(len(flat), dtype=np.int64)
    centres = partition.locate(flat, space="chart")
    for index, point in enumerate(flat):
        near = _near(straight, exact, partition, point, size)
        sides = partition.facet_regions[near]
        found = np.union1d(sides[sides >= 0], centres[index : index + 1])
        result[index] = (found >= 0).sum()
    return result.reshape(given.shape[:-1])


def _near(straight: StraightFacets, exact: _ExactDistances, partition: Partition, point: Floats, size: float) -> Bits:
    """Return which facets are nearer to a chart point than the radius: bool [facets]."""
    count = len(straight.steps)
    distances, _ = straight.distances(np.arange(count), np.broadcast_to(point, (count, len(point))))
    errors = errors_of_distances(partition, straight, point[np.newaxis], distances)
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = np.nextafter(distances - errors, -np.inf), np.nextafter(distances + errors, np.inf)
    near: Bits = high < size
    for facet in np.flatnonzero(~(near | (low >= size))).tolist():
        near[facet] = exact.nearer(facet, point)
    return near


class _ExactDistances:
    """Squares of distances from chart points to facets, in fractions."""

    def __init__(self, partition: Partition, radius: float) -> None:
        self.partition, self.squared_radius = partition, Fraction(radius) ** 2
        self.metric = gram_matrix(partition.domain.directions)

    def nearer(self, facet: int, point: Floats) -> bool:
        """Return whether a facet is nearer to a chart point [d] than the radius."""
        exact = self.partition.exact_vertices(self.partition.facet_vertices[facet])
        ends = [[Fraction(x, end[0]) for x in end[1:]] for end in exact.points]
        low, high = ends[0], ends[-1]
        offset = [Fraction(x) - y for x, y in zip(point.tolist(), low, strict=True)]
        along = [y - x for x, y in zip(low, high, strict=True)]
        length = self._dot(along, along)
        share = min(max(self._dot(offset, along) / length, Fraction(0)), Fraction(1)) if length else Fraction(0)
        rest = [x - share * y for x, y in zip(offset, along, strict=True)]
        return self._dot(rest, rest) < self.squared_radius

    def _dot(self, a: list[Fraction], b: list[Fraction]) -> Fraction:
        rows = range(len(a))
        return sum((a[i] * self.metric[i][j] * b[j] for i in rows for j in rows), Fraction(0))
