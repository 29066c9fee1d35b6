# SPDX-License-Identifier: MIT
"""Is a partition of three to six dimensions what rational arithmetic finds?

The reference gives each region with its exact vertices. From these follow, in integers, which regions share a facet
(the common vertices span one dimension less), the faces, and the volumes. Nothing here uses the partition's facets.
Points are homogeneous, (W, W x, ..) with W > 0 and no common divisor. A face is an integer with a bit for each of its
vertices.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import factorial, gcd, lcm, prod
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from regions.domains.gram import adjugate, determinant, gram_matrix
from regions.ground.arithmetic.types import Floats
from regions.reference import ReferenceRegion

Point = tuple[int, ...]

# Volumes are sums in units of 2^-UNITS, which is less than any bound on an error.
UNITS = 1200


def homogeneous(point: Sequence[Fraction]) -> Point:
    """Return a point in integers."""
    weight = lcm(*(x.denominator for x in point))
    return weight, *(x.numerator * (weight // x.denominator) for x in point)


def eliminated(rows: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """Return as many independent rows of the same span as there are, each with its pivot: no other row has an entry
    in that column.
    """
    found: dict[int, list[int]] = {}
    for each in rows:
        row = list(each)
        for pivot, other in found.items():
            if row[pivot]:
                row = without(row, other, pivot)
        pivot = next((k for k, entry in enumerate(row) if entry), -1)
        if pivot >= 0:
            found = {k: without(other, row, pivot) if other[pivot] else other for k, other in found.items()}
            found[pivot] = row
            if len(found) == len(row):
                break
    return found


def without(row: list[int], other: list[int], column: int) -> list[int]:
    """Return the combination of two rows that is zero in a column, without a common divisor of its entries."""
    a, b = row[column], other[column]
    result = [b * x - a * y for x, y in zip(row, other, strict=True)]
    divisor = gcd(*result)
    return [x // divisor for x in result] if divisor > 1 else result


def span(points: Sequence[Point]) -> int:
    """Return the dimension of the affine hull of points; -1 for none."""
    return len(eliminated(points)) - 1


def members(face: int) -> list[int]:
    """Return the vertices of a face."""
    return [vertex for vertex in range(face.bit_length()) if face >> vertex & 1]


def largest(faces: set[int]) -> list[int]:
    """Return those faces that are not part of another one."""
    return [one for one in faces if not any(one & other == one and one != other for other in faces)]


def pulled(face: int, facets: Sequence[int], dimension: int) -> Iterator[list[int]]:
    """Yield the vertices of each simplex of a face, by its first vertex and the simplices of opposite faces.

    ``facets`` are the facets of the polytope, or of a face of one more dimension. The facets of the face are the
    largest of its intersections with these.
    """
    if face.bit_count() == dimension + 1:
        yield members(face)
        return
    apex = face & -face
    below = largest({face & facet for facet in facets} - {face})
    for each in below:
        if not each & apex:
            for rest in pulled(each, below, dimension - 1):
                yield [apex.bit_length() - 1, *rest]


def volume(rows: Sequence[Point], face: int, facets: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound on the volume of a polytope; they are closer than any bound on an error.

    A determinant is found by elimination without remainders (Bareiss, 1968). Simplices that follow each other begin
    with the same vertices, and these are eliminated once.
    """
    dimension = len(rows[0]) - 1
    before: list[int] = []
    steps: list[tuple[int, int, list[int]]] = []  # divisor, pivot and row of each vertex before
    units = terms = 0
    for simplex in pulled(face, facets, dimension):
        same = next((i for i, (a, b) in enumerate(zip(before, simplex, strict=False)) if a != b), len(before))
        del steps[same:]
        for vertex in simplex[same:]:
            row = list(rows[vertex])
            for divisor, pivot, other in steps:
                a, b = row.pop(pivot), other[pivot]
                rest = other[:pivot] + other[pivot + 1 :]
                row = [(b * x - a * y) // divisor for x, y in zip(row, rest, strict=True)]
            last = steps[-1] if steps else None
            pivot = next(k for k, entry in enumerate(row) if entry)
            steps.append((last[2][last[1]] if last else 1, pivot, row))
        before = simplex
        units += (abs(row[0]) << UNITS) // prod(rows[vertex][0] for vertex in simplex)
        terms += 1
    scale = factorial(dimension) << UNITS
    return Fraction(units, scale), Fraction(units + terms, scale)


def solved(rows: list[list[Fraction]]) -> list[Fraction]:
    """Return the solution of linear equations that have one; the right sides are the last column."""
    unknowns = len(rows[0]) - 1
    found = eliminated([homogeneous(row)[1:] for row in rows])
    return [Fraction(found[k][-1], found[k][k]) for k in range(unknowns)]


# A lower and an upper bound on a size.
Interval = tuple[Fraction, Fraction]


class Shadow(NamedTuple):
    """A facet along an axis: the form that is zero on it, the axis, and the volume of its shadow."""

    form: list[int]
    axis: int
    ends: Interval


class Complex:
    """The regions of the reference.

    Attributes
    ----------
    rows : the points
    regions : for each region, its vertices as a face
    inner : for each pair of regions that share a facet, the facet
    outer : for each region, its facets on the boundary of the domain, by the number of the inequality
    facets : for each region, all its facets
    """

    def __init__(self, regions: Sequence[ReferenceRegion], domain: Any) -> None:
        numbers: dict[Point, int] = {}
        self.regions = [
            sum(1 << numbers.setdefault(homogeneous(vertex), len(numbers)) for vertex in region.vertices)
            for region in regions
        ]
        self.rows, self._spans, self._shadows = list(numbers), dict[int, int](), dict[int, Shadow]()
        self.dimension = len(self.rows[0]) - 1
        # Two regions share a facet iff their common vertices span one dimension less.
        self.inner = {
            (one, other): common
            for one, other in combinations(range(len(regions)), 2)
            if self.is_facet(common := self.regions[one] & self.regions[other])
        }
        self.outer = self._outer(domain.forms)
        self.facets = [sorted(set(facets.values())) for facets in self.outer]
        for (one, other), common in self.inner.items():
            self.facets[one].append(common)
            self.facets[other].append(common)
        gram = gram_matrix(domain.directions)
        self.scale, self.cofactors = determinant(gram), adjugate(gram)

    def is_facet(self, face: int) -> bool:
        """Return whether vertices span one dimension less than a region."""
        if face.bit_count() < self.dimension:
            return False
        if face not in self._spans:
            self._spans[face] = span([self.rows[vertex] for vertex in members(face)])
        return self._spans[face] == self.dimension - 1

    def _outer(self, forms: Floats) -> list[dict[int, int]]:
        result: list[dict[int, int]] = [{} for _ in self.regions]
        for index, row in enumerate(forms.tolist()):
            form = homogeneous(list(map(Fraction, row)))[1:]
            on = sum(1 << number for number, point in enumerate(self.rows) if not sum(map(mul, form, point)))
            for facets, face in zip(result, self.regions, strict=True):
                if self.is_facet(face & on):
                    facets[index] = face & on
        return result

    def _shadow(self, face: int, region: int) -> Shadow:
        """Return the shadow of a facet of a region."""
        if face not in self._shadows:
            found = eliminated([self.rows[vertex] for vertex in members(face)])
            (free,) = set(range(self.dimension + 1)) - set(found)
            common = lcm(*(row[pivot] for pivot, row in found.items()))
            form = [common] * (self.dimension + 1)
            for pivot, row in found.items():
                form[pivot] = -row[free] * common // row[pivot]
            axis = max(range(1, len(form)), key=lambda k: abs(form[k]))  # then the shadow is not much smaller
            points = [point[:axis] + point[axis + 1 :] for point in self.rows]
            ends = volume(points, face, largest({face & facet for facet in self.facets[region]} - {face}))
            self._shadows[face] = Shadow(form, axis, ends)
        return self._shadows[face]

    def squared_volume(self, region: int) -> Interval:
        """Return the square of the volume of a region in input space: of pyramids from one vertex over the facets."""
        face = self.regions[region]
        apex, low, high = self.rows[(face & -face).bit_length() - 1], Fraction(0), Fraction(0)
        for facet in self.facets[region]:
            if not facet & face & -face:
                form, axis, ends = self._shadow(facet, region)
                height = Fraction(abs(sum(map(mul, form, apex))), abs(form[axis]) * apex[0] * self.dimension)
                low, high = low + ends[0] * height, high + ends[1] * height
        return low * low * self.scale, high * high * self.scale

    def squared_area(self, pair: tuple[int, int]) -> Interval:
        """Return the square of the volume of an inner facet in input space.

        The shadow along an axis is smaller by the cosine of the angle between the normal and the axis. Directions that
        are not the axes multiply squares of areas by the form of the cofactors of their products.
        """
        form, axis, (low, high) = self._shadow(self.inner[pair], pair[0])
        size = sum(a * sum(map(mul, row, form[1:])) for a, row in zip(form[1:], self.cofactors, strict=True))
        factor = Fraction(size) / form[axis] ** 2
        return low * low * factor, high * high * factor


def require_exact(part: Any, reference: list[ReferenceRegion]) -> None:
    """Compare a partition with the reference: patterns, vertices, facets, neighbours, volumes and their bounds."""
    patterns = [tuple(row) for row in part.patterns.tolist()]
    expected = {region.pattern: region for region in reference}
    assert sorted(patterns) == sorted(expected)
    found = Complex([expected[pattern] for pattern in patterns], part.domain)
    require_vertices(part, found)
    require_facets(part, found)
    for region, (size, error) in enumerate(zip(part.volumes.tolist(), part.volume_errors.tolist(), strict=True)):
        require_between(*found.squared_volume(region), size, error)
    for facet in np.flatnonzero(part.facet_regions[:, 1] >= 0)[:20].tolist():
        squares = found.squared_area(tuple(part.facet_regions[facet].tolist()))
        require_between(*squares, part.facet_volumes[facet], part.facet_volume_errors[facet])


def require_between(low: Fraction, high: Fraction, size: float, error: float) -> None:
    """Require that all numbers whose squares are in an interval are within a bound of a size."""
    value, bound = Fraction(float(size)), Fraction(float(error))
    assert max(value - bound, Fraction(0)) ** 2 <= low <= high <= (value + bound) ** 2


def require_vertices(part: Any, found: Complex) -> None:
    """Every vertex is within its bound of one true vertex of all regions around it, and there are as many true
    vertices."""
    rows, exact = found.rows, found.regions
    assert len(part.vertices) == len(rows)
    around = defaultdict(list)
    for region, (start, end) in enumerate(zip(part.cell_offsets, part.cell_offsets[1:], strict=False)):
        corners = part.cell_vertices[start:end].tolist()
        assert len(set(corners)) == len(corners) == exact[region].bit_count()
        for vertex in corners:
            around[vertex].append(region)
    of_points = [[region for region, face in enumerate(exact) if face >> number & 1] for number in range(len(rows))]
    for vertex, of in around.items():
        weight, *place = homogeneous(list(map(Fraction, [*part.vertices[vertex], part.vertex_errors[vertex]])))
        error = place.pop()
        common = exact[of[0]]
        for region in of:
            common &= exact[region]
        near = [
            number
            for number in members(common)
            if all(
                abs(a * weight - b * rows[number][0]) <= error * rows[number][0]
                for a, b in zip(rows[number][1:], place, strict=True)
            )
        ]
        assert near
        if len(near) == 1:
            assert of_points[near[0]] == of


def require_facets(part: Any, found: Complex) -> None:
    """Facets separate the regions that share one, have its vertices, and name a kink or an inequality of the domain."""
    outer, sizes = found.outer, np.diff(part.facet_offsets).tolist()
    of_pairs = list(zip(part.facet_regions.tolist(), part.facet_kinks.tolist(), sizes, strict=True))
    between = {(one, other): size for (one, other), _, size in of_pairs if other >= 0}
    assert between == {pair: common.bit_count() for pair, common in found.inner.items()}
    outside: list[list[int]] = [[] for _ in outer]
    for (region, other), kink, size in of_pairs:
        if other < 0:
            assert outer[region][-1 - kink].bit_count() == size
            outside[region].append(outer[region][-1 - kink])
    assert list(map(sorted, outside)) == [sorted(set(facets.values())) for facets in outer]
    bits = part.patterns
    for (one, other), kink, _ in of_pairs:
        assert (kink < 0) == (other < 0) and (kink < 0 or bits[one, kink] != bits[other, kink])


def box_volume(low: Any, high: Any) -> Fraction:
    return prod((Fraction(b) - Fraction(a) for a, b in zip(low, high, strict=True)), start=Fraction(1))
