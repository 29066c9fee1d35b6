# SPDX-License-Identifier: MIT
"""Is a partition of three to six dimensions what rational arithmetic finds?

The reference gives each region with its exact vertices. From these follow, in fractions, which regions share a facet
(the common vertices span one dimension less), the faces, and the volumes. Nothing here uses the partition's facets.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import factorial, gcd, lcm, prod
from typing import Any

import numpy as np

import regions
from regions import reference

Point = tuple[Fraction, ...]


def rank(rows: list[list[Fraction]]) -> int:
    """Return the rank of a matrix of fractions; in integers, which are faster."""
    left, found = [], 0
    for row in rows:
        whole = lcm(*(x.denominator for x in row))
        left.append([x.numerator * (whole // x.denominator) for x in row])
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(left)) if left[i][column]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        top = left[found]
        for i in range(found + 1, len(left)):
            lead = left[i][column]
            if lead:
                row = [a * top[column] - lead * b for a, b in zip(left[i], top, strict=True)]
                common = gcd(*row)
                left[i] = [a // common for a in row] if common > 1 else row
        found += 1
    return found


@cache
def span(points: frozenset[Point]) -> int:
    """Return the dimension of the affine hull of points; -1 for none."""
    if not points:
        return -1
    first, *others = sorted(points)
    return rank([[a - b for a, b in zip(point, first, strict=True)] for point in others])


def faces_below(face: frozenset[Point], facets: list[frozenset[Point]], dimension: int) -> list[frozenset[Point]]:
    """Return the faces of one dimension less among the intersections of a face with facets."""
    common = {face & facet for facet in facets}
    return [each for each in common if len(each) >= dimension and each != face and span(each) == dimension - 1]


def pulled(face: frozenset[Point], facets: list[frozenset[Point]], dimension: int) -> list[list[Point]]:
    """Return the simplices of a face of a polytope, from its least vertex."""
    known: dict[frozenset[Point], list[list[Point]]] = {}

    def of(face: frozenset[Point], dimension: int) -> list[list[Point]]:
        if face not in known:
            apex = min(face)
            parts = [each for each in faces_below(face, facets, dimension) if apex not in each] if dimension else []
            rests = [rest for each in parts for rest in of(each, dimension - 1)] if dimension else [[]]
            known[face] = [[apex, *rest] for rest in rests]
        return known[face]

    return of(face, dimension)


def volume(vertices: frozenset[Point], facets: list[frozenset[Point]], dimension: int) -> Fraction:
    """Return the volume of a polytope, from its vertices and facets, by simplices from one vertex."""
    simplices = pulled(vertices, facets, dimension)
    return sum(map(spanned, simplices), Fraction(0)) / factorial(dimension)


def spanned(simplex: list[Point]) -> Fraction:
    """Return the volume of a simplex, times the factorial of its dimension; in integers, which are faster."""
    whole = [lcm(*(x.denominator for x in point)) for point in simplex]
    rows = [[n, *(x.numerator * (n // x.denominator) for x in point)] for n, point in zip(whole, simplex, strict=True)]
    return Fraction(abs(determinant(rows)), prod(whole))


def determinant(matrix: list[list[int]]) -> int:
    """Return the determinant of integers, by elimination without remainders (Bareiss, 1968)."""
    rows, sign, last = [list(row) for row in matrix], 1, 1
    for column in range(len(rows)):
        pivot = next((i for i in range(column, len(rows)) if rows[i][column]), None)
        if pivot is None:
            return 0
        if pivot != column:
            rows[column], rows[pivot], sign = rows[pivot], rows[column], -sign
        top = rows[column]
        for i in range(column + 1, len(rows)):
            lead = rows[i][column]
            rows[i] = [(a * top[column] - b * lead) // last for a, b in zip(rows[i], top, strict=True)]
        last = top[column]
    return sign * last


def squared_area(face: frozenset[Point], facets: list[frozenset[Point]]) -> Fraction:
    """Return the square of the volume of a facet of a polytope, in one dimension less: by its shadow on coordinates."""
    points = sorted(face)
    d = len(points[0])
    axis = next(k for k in range(d) if span(frozenset(point[:k] + point[k + 1 :] for point in points)) == d - 1)
    shadow = {point: point[:axis] + point[axis + 1 :] for point in points}
    below = [frozenset(shadow[point] for point in each) for each in faces_below(face, facets, d - 1)]
    # On the facet the coordinate is c + a . shadow, and areas are sqrt(1 + |a|^2) times those of shadows.
    slopes = solved([[Fraction(1), *shadow[point], point[axis]] for point in points])[1:]
    return volume(frozenset(shadow.values()), below, d - 1) ** 2 * (1 + sum(a * a for a in slopes))


def solved(rows: list[list[Fraction]]) -> list[Fraction]:
    """Return the solution of linear equations that have one; the right sides are the last column."""
    rows = [list(row) for row in rows]
    for column in range(len(rows[0]) - 1):
        pivot = next(i for i in range(column, len(rows)) if rows[i][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [a / rows[column][column] for a in rows[column]]
        for i in range(len(rows)):
            if i != column:
                rows[i] = [a - rows[i][column] * b for a, b in zip(rows[i], rows[column], strict=True)]
    return [row[-1] for row in rows[: len(rows[0]) - 1]]


def require_exact(part: Any, net: regions.Network, domain: Any) -> None:
    """Compare a partition with the reference: patterns, vertices, facets, neighbours, volumes and their bounds."""
    d = domain.dimension
    span.cache_clear()
    expected = {region.pattern: frozenset(region.vertices) for region in reference.enumerate(net, domain)}
    patterns = [tuple(row) for row in part.patterns.tolist()]
    assert sorted(patterns) == sorted(expected)
    exact = [expected[pattern] for pattern in patterns]

    # Every vertex is within its bound of one true vertex of all regions around it, and there are as many.
    assert len(part.vertices) == len(frozenset().union(*exact))
    around = defaultdict(set)
    for region, (start, end) in enumerate(zip(part.cell_offsets, part.cell_offsets[1:], strict=False)):
        corners = part.cell_vertices[start:end].tolist()
        assert len(set(corners)) == len(corners) == len(exact[region])
        for vertex in corners:
            around[vertex].add(region)
    places = [tuple(map(Fraction, row)) for row in part.vertices.tolist()]
    for vertex, of in around.items():
        error = Fraction(float(part.vertex_errors[vertex]))
        near = [
            point
            for point in frozenset.intersection(*(exact[region] for region in of))
            if all(abs(a - b) <= error for a, b in zip(point, places[vertex], strict=True))
        ]
        assert near
        if len(near) == 1:
            assert {region for region in range(len(exact)) if near[0] in exact[region]} == of

    # Two regions share a facet iff their common vertices span one dimension less; on the boundary, an inequality.
    inner = {}
    for one, other in combinations(range(len(exact)), 2):
        common = exact[one] & exact[other]
        if len(common) >= d and span(common) == d - 1:
            inner[one, other] = common
    outer = defaultdict(list)
    for form in {tuple(map(Fraction, row)) for row in domain.forms.tolist()}:
        for region, points in enumerate(exact):
            on = frozenset(p for p in points if form[0] + sum(a * x for a, x in zip(form[1:], p, strict=True)) == 0)
            if len(on) >= d and span(on) == d - 1 and on not in outer[region]:
                outer[region].append(on)
    sizes = np.diff(part.facet_offsets).tolist()
    found = {tuple(pair): size for pair, size in zip(part.facet_regions.tolist(), sizes, strict=True) if pair[1] >= 0}
    assert found == {pair: len(common) for pair, common in inner.items()}
    outside = defaultdict(list)
    for (region, other), size in zip(part.facet_regions.tolist(), sizes, strict=True):
        if other < 0:
            outside[region].append(size)
    assert {r: sorted(found) for r, found in outside.items()} == {r: sorted(map(len, s)) for r, s in outer.items() if s}
    bits = part.patterns
    for (one, other), kink in zip(part.facet_regions.tolist(), part.facet_kinks.tolist(), strict=True):
        assert (kink < 0) == (other < 0) and (kink < 0 or bits[one, kink] != bits[other, kink])

    facets = defaultdict(list, {r: list(s) for r, s in outer.items()})
    for (one, other), common in inner.items():
        facets[one].append(common)
        facets[other].append(common)
    scale = Fraction(domain.scale)  # of boxes along axes it is exact
    for region, points in enumerate(exact):
        true = volume(points, facets[region], d) * scale
        assert abs(Fraction(float(part.volumes[region])) - true) <= Fraction(float(part.volume_errors[region]))
    if (domain.metric == np.eye(d)).all():
        for facet in np.flatnonzero(part.facet_regions[:, 1] >= 0)[:20].tolist():
            one, other = part.facet_regions[facet].tolist()
            found, error = (Fraction(float(array[facet])) for array in (part.facet_volumes, part.facet_volume_errors))
            square = squared_area(inner[one, other], facets[one])
            assert max(found - error, Fraction(0)) ** 2 <= square <= (found + error) ** 2


def box_volume(low: Any, high: Any) -> Fraction:
    return prod((Fraction(b) - Fraction(a) for a, b in zip(low, high, strict=True)), start=Fraction(1))
