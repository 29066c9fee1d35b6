# SPDX-License-Identifier: MIT
"""Is the distance from a point to the boundary in a box within its bound of the exact one?

The nearest point of a convex hull is in a simplex of its vertices, and is the nearest point of that simplex's plane.
All planes through vertices are tried, in fractions.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from polytope_cases import OF_THEIR_OWN, he_normal, network_of
from regions import measures
from regions.domains.gram import determinant, gram_matrix
from regions.measures.boundary import Boundary

Row = list[Fraction]
EVERY = [family for family in (*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES) if family not in OF_THEIR_OWN]
CASES = [(family, 3) for family in EVERY]
CASES += [pytest.param(family, 4, marks=pytest.mark.slow) for family in ("ternary_weights", "touching")]
MOST = {3: 12, 4: 4}  # regions in drawn cases


def solved(rows: list[Row], right: Row) -> Row | None:
    """Return the solution of linear equations, or None if it is not the only one."""
    whole = determinant(rows)
    if not whole:
        return None
    columns = range(len(rows))
    return [
        determinant([[*row[:k], x, *row[k + 1 :]] for row, x in zip(rows, right, strict=True)]) / whole for k in columns
    ]


def squared_distance(point: Row, vertices: list[Row], gram: list[Row]) -> Fraction:
    """Return the square of the distance of a chart point from the hull of vertices."""

    def dot(a: Row, b: Row) -> Fraction:
        return sum(
            (x * y * z for x, row in zip(a, gram, strict=True) for y, z in zip(b, row, strict=True)), Fraction(0)
        )

    found = []
    offsets = [[x - y for x, y in zip(vertex, point, strict=True)] for vertex in vertices]
    for size in range(1, len(point) + 1):
        for first, *others in combinations(offsets, size):
            sides = [[x - y for x, y in zip(other, first, strict=True)] for other in others]
            weights = (
                solved([[dot(a, b) for b in sides] for a in sides], [-dot(a, first) for a in sides]) if sides else []
            )
            if weights is not None and all(w >= 0 for w in weights) and sum(weights) <= 1:
                nearest = [
                    x + sum(w * side[k] for w, side in zip(weights, sides, strict=True)) for k, x in enumerate(first)
                ]
                found.append(dot(nearest, nearest))
    return min(found)


def require_exact_distances(part: regions.PolytopePartition, points: np.ndarray, boundary: Boundary) -> None:
    found = measures.distance_in_domain(part, points, boundary, space="chart")
    chosen = np.flatnonzero(measures.boundary_facets(part, boundary)).tolist()
    if not chosen:
        assert np.isinf(found.distances).all() and (found.facets == -1).all() and np.isnan(found.nearest).all()
        return
    exact, gram = list(part.exact_vertices()), gram_matrix(part.domain.directions)
    facets = {
        facet: [list(exact[v]) for v in part.facet_vertices[slice(*part.facet_offsets[facet : facet + 2])].tolist()]
        for facet in chosen
    }
    for index, point in enumerate(points.tolist()):
        place = list(map(Fraction, point))
        squares = {facet: squared_distance(place, facets[facet], gram) for facet in chosen}
        value, error = Fraction(found.distances[index]), Fraction(found.errors[index])
        for square in (min(squares.values()), squares[int(found.facets[index])]):
            assert max(value - error, Fraction(0)) ** 2 <= square <= (value + error) ** 2
        # The nearest point is as far, and is on the facet.
        nearest = list(map(Fraction, found.nearest[index].tolist()))
        assert squared_distance(place, [nearest], gram) <= (value + error) ** 2
        assert squared_distance(nearest, facets[int(found.facets[index])], gram) <= error**2
        assert found.kinks[index] == part.facet_kinks[found.facets[index]]


@pytest.mark.parametrize(("family", "dimension"), CASES)
def test_distances_are_those_of_rational_arithmetic(family: str, dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    for seed in range(3):
        net, domain = draw(family, dimension, seed)
        if not domain.bounded or regions.count(net, domain) > MOST[dimension]:
            continue
        part = regions.enumerate(net, domain)
        inside = part.interior_points[:: max(1, len(part) // 2)]
        spread = np.ptp(part.vertices, axis=0)
        points = np.concatenate([inside[:1], part.vertices[:1], inside[:1] + spread * rng.uniform(-2, 2, dimension)])
        for boundary in ("activation", "gradient"):
            require_exact_distances(part, points, boundary)


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1.0, 1e60])
def test_skew_charts_of_any_size(size: float) -> None:
    rng = np.random.default_rng(2)
    directions = rng.standard_normal((3, 7))
    directions[1] = directions[0] + 2.0**-20 * directions[1]
    net = regions.Network([(rng.standard_normal((4, 7)) / size, 0.1 * rng.standard_normal(4)), (np.ones((1, 4)), [0])])
    part = regions.enumerate(net, regions.Box.around(np.zeros(7), 1, size * directions))
    points = np.concatenate([rng.uniform(-1, 1, (2, 3)), part.vertices[:1], [[1e9, -1e9, 0]]])
    require_exact_distances(part, points, "activation")
    found = measures.distance_in_domain(part, points[:2], space="chart")
    assert (found.errors <= 1e-9 * size).all()


def test_planes_of_a_grid() -> None:
    part = regions.enumerate(network_of(np.eye(3), np.zeros(3)), regions.Box([-1] * 3, [1] * 3))
    found = measures.distance_in_domain(part, [[[0.5, -0.25, 0.75], [3, 4, 5]], [[0, 0.5, 0.25], [-3, 0.5, -1]]])
    assert found.distances[0, 0] == 0.25 and found.nearest[0, 0].tolist() == [0.5, 0, 0.75]
    assert found.distances[1, 0] <= found.errors[1, 0] and found.kinks[0, 0] == 1
    # The nearest point of the three squares is on the edge of one of them.
    assert abs(found.distances[0, 1] - np.sqrt(3**2 + 3**2 + 4**2)) < 1e-12
    assert abs(found.distances[1, 1] - np.sqrt(2**2 + 0.5**2)) < 1e-12
    assert (found.errors < 1e-12).all()


@pytest.mark.parametrize("sizes", [(3, 12, 12, 1), (4, 8, 8, 1)])
def test_in_the_box_no_boundary_is_nearer_than_in_the_whole_space(sizes: tuple[int, ...]) -> None:
    net, d = he_normal([*sizes]), sizes[0]
    part = regions.enumerate(net, regions.Box([-1] * d, [1] * d))
    points = np.random.default_rng(0).uniform(-1, 1, (30, d))
    here, anywhere = measures.distance_in_domain(part, points), measures.distance_to_boundary(net, points)
    assert (here.distances >= anywhere.distances - here.errors - 1e-9).all()
    inside = (np.abs(anywhere.nearest) <= 1).all(axis=1)
    assert inside.sum() > 20 and np.allclose(here.distances[inside], anywhere.distances[inside], rtol=1e-9, atol=1e-9)
