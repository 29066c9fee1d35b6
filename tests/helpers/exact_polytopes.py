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
from typing import Any

import numpy as np

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
    """Return a multiple of a row plus a multiple of another one, where a column is zero, without common divisor."""
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
    """Return a number at most the volume of a polytope, and one that is at least that; they are closer than any bound.

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


def squared_area(rows: Sequence[Point], face: int, facets: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Return such numbers for the square of the volume of a facet of a polytope: by its shadow along an axis."""
    found = eliminated([rows[vertex] for vertex in members(face)])
    (free,) = set(range(len(rows[0]))) - set(found)
    common = lcm(*(row[pivot] for pivot, row in found.items()))
    normal = [common] * len(rows[0])
    for pivot, row in found.items():
        normal[pivot] = -row[free] * common // row[pivot]
    axis = next(k for k, entry in enumerate(normal) if k and entry)
    shadows = [point[:axis] + point[axis + 1 :] for point in rows]
    # The shadow of a part is smaller by the cosine of the angle between the normal and the axis.
    factor = Fraction(sum(a * a for a in normal[1:]), normal[axis] ** 2)
    low, high = volume(shadows, face, largest({face & facet for facet in facets} - {face}))
    return low * low * factor, high * high * factor


def solved(rows: list[list[Fraction]]) -> list[Fraction]:
    """Return the solution of linear equations that have one; the right sides are the last column."""
    unknowns = len(rows[0]) - 1
    found = eliminated([homogeneous(row)[1:] for row in rows])
    return [Fraction(found[k][-1], found[k][k]) for k in range(unknowns)]


def require_exact(part: Any, reference: list[ReferenceRegion]) -> None:
    """Compare a partition with the reference: patterns, vertices, facets, neighbours, volumes and their bounds."""
    d, domain = part.dimension, part.domain
    patterns = [tuple(row) for row in part.patterns.tolist()]
    expected = {region.pattern: region.vertices for region in reference}
    assert sorted(patterns) == sorted(expected)
    numbers: dict[Point, int] = {}
    exact = []  # of each region, its vertices as a face
    for pattern in patterns:
        points = (homogeneous(vertex) for vertex in expected[pattern])
        exact.append(sum(1 << numbers.setdefault(point, len(numbers)) for point in points))
    rows = list(numbers)
    spans: dict[int, int] = {}

    def is_facet(face: int) -> bool:
        if face.bit_count() < d:
            return False
        if face not in spans:
            spans[face] = span([rows[vertex] for vertex in members(face)])
        return spans[face] == d - 1

    # Every vertex is within its bound of one true vertex of all regions around it, and there are as many.
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

    # Two regions share a facet iff their common vertices span one dimension less; on the boundary, an inequality.
    inner = {
        (one, other): common
        for one, other in combinations(range(len(exact)), 2)
        if is_facet(common := exact[one] & exact[other])
    }
    outer = defaultdict(dict)  # of each region, its facets on the boundary, each with the number of an inequality
    for index, row in enumerate(domain.forms.tolist()):
        form = homogeneous(list(map(Fraction, row)))[1:]
        on = sum(1 << number for number, point in enumerate(rows) if not sum(map(mul, form, point)))
        for region, face in enumerate(exact):
            if is_facet(face & on):
                outer[region][index] = face & on
    sizes = np.diff(part.facet_offsets).tolist()
    of_pairs = list(zip(part.facet_regions.tolist(), part.facet_kinks.tolist(), sizes, strict=True))
    found = {(one, other): size for (one, other), _, size in of_pairs if other >= 0}
    assert found == {pair: common.bit_count() for pair, common in inner.items()}
    outside = defaultdict(list)
    for (region, other), kink, size in of_pairs:
        if other < 0:
            assert outer[region][-1 - kink].bit_count() == size
            outside[region].append(outer[region][-1 - kink])
    assert {r: sorted(s) for r, s in outside.items()} == {r: sorted(set(s.values())) for r, s in outer.items()}
    bits = part.patterns
    for (one, other), kink, _ in of_pairs:
        assert (kink < 0) == (other < 0) and (kink < 0 or bits[one, kink] != bits[other, kink])

    facets = defaultdict(list, {region: list(set(faces.values())) for region, faces in outer.items()})
    for (one, other), common in inner.items():
        facets[one].append(common)
        facets[other].append(common)
    scale = Fraction(domain.scale)  # of boxes along axes it is exact
    for region, face in enumerate(exact):
        low, high = volume(rows, face, facets[region])
        size, error = Fraction(float(part.volumes[region])), Fraction(float(part.volume_errors[region]))
        assert size - error <= low * scale and high * scale <= size + error
    if (domain.metric == np.eye(d)).all():
        for facet in np.flatnonzero(part.facet_regions[:, 1] >= 0)[:20].tolist():
            one, other = part.facet_regions[facet].tolist()
            size, error = (Fraction(float(array[facet])) for array in (part.facet_volumes, part.facet_volume_errors))
            low, high = squared_area(rows, inner[one, other], facets[one])
            assert max(size - error, Fraction(0)) ** 2 <= low and high <= (size + error) ** 2


def box_volume(low: Any, high: Any) -> Fraction:
    return prod((Fraction(b) - Fraction(a) for a, b in zip(low, high, strict=True)), start=Fraction(1))
