# SPDX-License-Identifier: MIT
"""Is the distance within a line or plane right: to segments, rays and lines, for both kinds of boundary, at any scale?

It is compared with the distances to all facets in fractions, with exact vertices, with the polygons of a partition, and
with closed forms.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, isnan

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from partition_cases import SQUARE
from random_networks import random_network
from regions import Partition, bounds
from regions.domains import Line, Plane, Polygon, Ray, Rectangle, Segment
from regions.domains.gram import gram_matrix
from regions.errors import DegenerateDomainError, NonFiniteError
from regions.ground.arithmetic.dyadic import square_root
from regions.measures import boundary_facets, boundary_volume, distance_in_domain, distance_to_boundary
from regions.measures.boundary import Boundary
from regions.networks.network import Network
from regions.results.cells.exact_outline import ExactOutlines
from regions.results.partition import raw_arrays

pytestmark = pytest.mark.filterwarnings("error")

R2 = Plane([0, 0], [1, 0], [0, 1])
AXES = Network([([[1.0, 0.0], [0.0, 1.0]], None), ([[1.0, 1.0]], None)])


class Judge:
    """Squares of distances from facets to chart points, in fractions, by the exact vertices."""

    def __init__(self, partition: Partition, boundary: Boundary) -> None:
        self.partition, self.metric = partition, gram_matrix(partition.domain.directions)
        self.facets = np.flatnonzero(boundary_facets(partition, boundary)).tolist()
        self.points = partition.exact_vertices().points

    def dot(self, a: list[Fraction], b: list[Fraction]) -> Fraction:
        rows = range(len(a))
        return sum((a[i] * self.metric[i][j] * b[j] for i in rows for j in rows), Fraction(0))

    def line(self, facet: int) -> tuple[list[Fraction], list[Fraction], int | None, int | None]:
        """Return a point, a direction, and the interval of multiples of it that the facet spans."""
        ends = [self.points[vertex] for vertex in self.partition.facet_vertices[facet]]
        finite = [[Fraction(x, end[0]) for x in end[1:]] if end[0] else None for end in ends]
        infinite = [[Fraction(x) for x in end[1:]] for end in ends]
        low, high = finite[0], finite[-1]
        if low and high:
            return low, [b - a for a, b in zip(low, high, strict=True)], 0, 1
        if low or high:
            return (low or high or []), infinite[-1 if low else 0], 0, None
        forms = ExactOutlines(self.partition)
        forms.vertex(int(self.partition.cell_offsets[self.partition.facet_regions[facet, 0]]))
        c, a, b = forms.forms.kink(int(self.partition.facet_kinks[facet]))
        point = [Fraction(-c, a), Fraction(0)] if a else [Fraction(0), Fraction(-c, b)]
        return point, [Fraction(b), Fraction(-a)], None, None

    def squared(self, facet: int, point: np.ndarray) -> Fraction:
        start, along, least, most = self.line(facet)
        offset = [Fraction(float(x)) - y for x, y in zip(point, start, strict=True)]
        length = self.dot(along, along)
        share = self.dot(offset, along) / length if length else Fraction(0)
        share = share if least is None else max(share, Fraction(least))
        share = share if most is None else min(share, Fraction(most))
        rest = [x - share * y for x, y in zip(offset, along, strict=True)]
        return self.dot(rest, rest)


def check(partition: Partition, points: np.ndarray, boundary: Boundary = "activation") -> None:
    """Require distances that are right up to the rounding of coordinates and vertices, of the facets that are named."""
    judge = Judge(partition, boundary)
    found = distance_in_domain(partition, points, boundary, space="chart")
    errors = partition.vertex_errors[np.isfinite(partition.vertex_errors)].max(initial=0.0)
    axes = sum(square_root(judge.metric[k][k]) for k in range(partition.dimension))
    for index, point in enumerate(points):
        if not judge.facets:
            assert (found.facets[index], found.kinks[index], found.distances[index]) == (-1, -1, inf)
            continue
        expected = square_root(min(judge.squared(facet, point) for facet in judge.facets))
        named = square_root(judge.squared(int(found.facets[index]), point))
        tolerance = 1e-13 * expected + axes * (errors + 1e-14 * np.abs(point).max())
        assert abs(found.distances[index] - expected) <= tolerance
        assert abs(found.distances[index] - named) <= tolerance


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dimension", [1, 2])
def test_every_family_against_fractions(family: str, dimension: int) -> None:
    for seed in range(2):
        network, domain = draw(family, dimension, seed)
        partition = regions.enumerate(network, domain)
        if len(partition.facet_kinks) > 200:
            continue
        vertices = partition.vertices[np.isfinite(partition.vertices).all(axis=1)]
        anywhere = np.random.default_rng(seed).standard_normal((3, dimension))
        size = min(np.abs(vertices).max(initial=0.0), 1e300)
        check(partition, np.concatenate([anywhere, size * anywhere, 0 * anywhere[:1], vertices[:2]]), "gradient")


@pytest.mark.slow
@pytest.mark.parametrize("domain", [R2, Plane([1, -2], [3, 1], [1, 2])], ids=["R2", "skew"])
@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("sizes", [[2, 1, 1], [2, 5, 1], [2, 4, 4, 1]], ids=str)
def test_rays_and_whole_lines(sizes: list[int], bias: float, domain: Plane) -> None:
    rng = np.random.default_rng(0)
    partition = regions.enumerate(random_network(sizes, rng, bias=bias), domain)
    points = rng.standard_normal((10, 2))
    for boundary in ("activation", "gradient"):
        check(partition, np.concatenate([points, 1e6 * points, 1e-6 * points, 0 * points[:1]]), boundary)


def test_facets_may_be_told_from_either_side() -> None:
    """The order of a facet's regions, and therefore its direction, is not promised."""
    partition = regions.enumerate(random_network([2, 4, 3, 1]), R2)
    raw = raw_arrays(partition)
    turned = partition.facet_kinks >= 0
    for name in ("facet_vertices", "facet_regions"):
        raw[name] = np.where(turned[:, np.newaxis], raw[name][:, ::-1], raw[name])
    points = 10 * np.random.default_rng(0).standard_normal((50, 2))
    found, expected = (distance_in_domain(each, points) for each in (Partition(partition.network, R2, raw), partition))
    assert found.distances == pytest.approx(expected.distances, rel=1e-14)


@pytest.mark.parametrize("crossed", [False, True])
def test_far_ends_cost_no_digits(crossed: bool) -> None:
    """Two parallel lines, 4e-6 apart, that end, or cross others, at 1e13: rounded there, they are 1e-3 off."""
    (x, y), gap = (1.0, 2.3), 1e-5
    rows, biases = [[x, y], [x, y], [x * (1 + 1e-13), y]], [0.0, -gap, -1.0]
    if crossed:
        rows, biases = [*rows, rows[2], [y, -x]], [*biases, 1.0, 10.0]
    network = Network([(rows, biases), (np.ones((1, len(rows))), None)])
    partition = regions.enumerate(network, R2)
    length = np.hypot(x, y)
    for share in (0.2, 0.8):
        along = np.array([-30.0, -6.0, 0.5, 7.0, 30.0])[:, np.newaxis]
        points = along * [y / length, -x / length] + share * gap / length**2 * np.array([x, y])
        found = distance_in_domain(partition, points)
        assert found.distances == pytest.approx(0.2 * gap / length, rel=1e-9)
        assert (found.kinks == (share > 0.5)).all()


def test_parallel_lines_and_a_plane_without_boundary() -> None:
    network = Network([([[1.0, 0.0], [1.0, 0.0], [2.0, 0.0]], [0.0, -1.0, -6.0]), ([[1.0, 1.0, 0.0]], None)])
    partition = regions.enumerate(network, R2)
    points = [[0.25, 1e9], [0.75, -1e300], [2.5, 0.0], [1e200, 3.0]]
    assert distance_in_domain(partition, points).distances.tolist() == [0.25, 0.25, 0.5, 1e200]
    found = distance_in_domain(partition, points, "gradient")
    assert (found.distances.tolist(), found.kinks.tolist()) == ([0.25, 0.25, 1.5, 1e200], [0, 1, 1, 1])
    assert found.nearest.tolist() == [[0.0, 1e9], [1.0, -1e300], [1.0, 0.0], [1.0, 3.0]]
    nowhere = distance_in_domain(regions.enumerate(Network([([[1.0, 2.0]], [3.0])]), R2), points)
    assert nowhere.distances.tolist() == [inf] * 4 and np.isnan(nowhere.nearest).all()


def test_the_boundary_of_the_gradient_on_all_of_r2() -> None:
    """Without biases all facets are rays from 0, so no point is farther from them than from 0."""
    network = Network([(layer.weights, None) for layer in random_network([2, 8, 8, 1], seed=5).layers])
    partition = regions.enumerate(network, R2)
    points = np.random.default_rng(1).standard_normal((200, 2))
    found = distance_in_domain(partition, points, "gradient")
    assert (found.distances < np.linalg.norm(points, axis=1) * (1 + 1e-15)).all()
    assert distance_in_domain(partition, 2.0**500 * points, "gradient").distances == pytest.approx(
        2.0**500 * found.distances, rel=1e-12
    )
    assert distance_in_domain(partition, points).distances == pytest.approx(
        distance_to_boundary(network, points).distances, rel=1e-12
    )


def test_vertices_beyond_the_largest_double() -> None:
    """Two lines that meet at (0, 2^1074): one is x = 0, and no double tells them apart near 0."""
    network = Network([([[1.0, 0.0], [1.0, 5e-324]], [0.0, -1.0]), ([[1.0, 1.0]], None)])
    partition = regions.enumerate(network, R2)
    found = distance_in_domain(partition, [[0.25, 1.0], [0.875, 1e300], [-3.0, 0.0]])
    assert (found.distances.tolist(), found.kinks.tolist()) == ([0.25, 0.125, 3.0], [0, 1, 0])
    # Here only the nearest point is beyond the doubles: on x = 0, at 1e400 times the second direction.
    skew = Plane([0.0, 0.0], [1e200, 1e200], [0.0, 1e-200])
    one = regions.enumerate(Network([([[1.0, 0.0]], [0.0]), ([[1.0]], None)]), skew)
    assert distance_in_domain(one, [[1e-200, 1.0]], space="chart").distances == pytest.approx([1.0], rel=1e-15)
    for sign in (1.0, -1.0):
        with pytest.raises(
            NonFiniteError, match=r"the nearest point of the boundary at points\[0\] is beyond the large"
        ):
            distance_in_domain(one, [[sign, 1.0]], space="chart")
    # On a line, one kink at 2^1074 alone.
    network = Network([([[5e-324]], [-1.0]), ([[1.0]], None)])
    with pytest.raises(NonFiniteError, match=r"the distance to the boundary at points\[0\] is beyond the largest"):
        distance_in_domain(regions.enumerate(network, Line([0.0], [1.0])), [[0.0], [1.0]])


@pytest.mark.parametrize("exponent", [-1000, -550, 550, 1000])
def test_any_scale(exponent: int) -> None:
    """A power of two only scales distances, although squares are beyond the doubles."""
    network, scale = random_network([2, 6, 5, 1], seed=3), 2.0**exponent
    scaled = Network([(layer.weights, scale * layer.biases) for layer in network.layers])
    points = np.random.default_rng(3).uniform(-1.5, 1.5, (60, 2))
    expected = distance_in_domain(regions.enumerate(network, SQUARE), points)
    square = Polygon(scale * SQUARE.generators[:, 1:])
    for domain in (square, Rectangle([-scale, -scale], [2 * scale, 0], [0, 2 * scale])):
        found = distance_in_domain(regions.enumerate(scaled, domain), scale * points)
        assert found.distances / scale == pytest.approx(expected.distances, rel=1e-12)
        assert found.nearest / scale == pytest.approx(expected.nearest, abs=1e-14)
    endless = [
        distance_in_domain(regions.enumerate(net, R2), x) for net, x in ((network, points), (scaled, scale * points))
    ]
    assert endless[1].distances / scale == pytest.approx(endless[0].distances, rel=1e-12)


def test_all_scales_at_once() -> None:
    network = Network([([[1, 0], [1, 0], [1, 0], [0, 1], [1, 1]], [-1e-200, -1, -1e200, 0, 0]), ([[1] * 5], None)])
    points = np.array([[3e-201, 1], [2e-200, -7e-200], [0.4, 3], [1e200, 1e-300], [1e-250, 1e-260], [-1e300, 1e307]])
    found = distance_in_domain(regions.enumerate(network, R2), points)
    assert found.distances == pytest.approx([7e-201, 1e-200, 0.4, 0.0, 1e-260, 1e300], rel=1e-12, abs=0.0)
    largest = np.finfo(np.float64).max
    line = Network([([[1.0, 1.0]], [0.0]), ([[1.0]], None)])
    assert distance_in_domain(regions.enumerate(line, R2), [[-largest, largest]]).distances.tolist() == [0.0]
    corners = Polygon([[-largest, -largest], [largest, -largest], [largest, largest], [-largest, largest]])
    partition = regions.enumerate(Network([([[1.0, 2.0], [2.0, -1.0]], None), ([[1.0, 1.0]], None)]), corners)
    found = distance_in_domain(partition, [[1.0, 1.0], [0.0, 0.0], [5e-324, 0.0]])
    assert found.distances == pytest.approx([np.sqrt(0.2), 0.0, 5e-324], rel=1e-15)
    diagonal = regions.enumerate(line, corners)
    found = distance_in_domain(diagonal, [[largest / 4, largest / 2]])
    assert found.distances == pytest.approx([np.sqrt(0.28125) * largest], rel=1e-15)
    # Shorter than the smallest double, but not on the boundary.
    tiny = regions.enumerate(Network([([[1.0]], [0.0]), ([[1.0]], None)]), Line([0.0], [5e-324]))
    assert distance_in_domain(tiny, [[0.25], [0.0], [3.0]], space="chart").distances.tolist() == [5e-324, 0.0, 1.5e-323]
    # Chart coordinates of size 1 that nearly cancel.
    skew = regions.enumerate(AXES, Plane([0, 0], [1, 0], [1, 1e-200]))
    found = distance_in_domain(skew, [[-4.0, 5.0], [-5.0, 5.0], [-5.0, -5.0]], space="chart")
    assert found.distances == pytest.approx([5e-200, 0.0, 5e-200], rel=1e-15)
    wide = regions.enumerate(AXES, Rectangle([-1e307, -1e307], [1e308, 0], [0, 1e308]))
    assert distance_in_domain(wide, [[0.4, 0.3]], space="chart").distances == pytest.approx([2e307], rel=1e-15)
    with pytest.raises(NonFiniteError, match=r"the distance to the boundary at points\[1\] is beyond the largest"):
        distance_in_domain(wide, [[0.4, 0.3], [100.0, 0.5]], space="chart")


@pytest.mark.parametrize("half", [inf, 1e201], ids=["R2", "square"])
def test_most_facets_are_tiny(half: float) -> None:
    """Measured in the units of some facets, the ends of others are beyond the doubles, so facets are compared one by
    one.
    """
    tiny = 1e-200 * np.arange(5.0)
    biases = [*-tiny, -1e200, *-tiny, -1e200]
    network = Network([([[1.0, 0.0]] * 6 + [[0.0, 1.0]] * 6, biases), ([[1.0] * 12], None)])
    square = [[-half, -half], [half, -half], [half, half], [-half, half]]
    partition = regions.enumerate(network, R2 if half == inf else Polygon(square))
    points = np.array([[1.25e-200, 2.5e-200], [1.5, -2.5], [1.5e200, 3e200], [0.75e200, 0.625e200], [1e200, 5e200]])
    found = distance_in_domain(partition, points)
    assert found.distances == pytest.approx([0.25e-200, 1.5, 0.5e200, 0.25e200, 0.0], rel=1e-12, abs=0.0)


def test_agrees_with_the_partition_where_the_domain_does_not_end() -> None:
    network = random_network([2, 10, 10, 1], seed=5)
    partition = regions.enumerate(network, Polygon([[-3, -3], [3, -3], [3, 3], [-3, 3]]))
    points = np.random.default_rng(5).uniform(-2, 2, (300, 2))
    everywhere, inside = distance_to_boundary(network, points), distance_in_domain(partition, points)
    near = everywhere.distances < 1.0
    assert near.sum() > 250
    assert inside.distances[near] == pytest.approx(everywhere.distances[near], rel=1e-9)
    assert inside.nearest[near] == pytest.approx(everywhere.nearest[near], abs=1e-9)
    assert (partition.facet_kinks[inside.facets[near]] == everywhere.kinks[near]).mean() > 0.99


def test_boundary_of_the_gradient_in_a_plane() -> None:
    """Compare with the distance to each facet. The plane is slanted, and its chart is not orthonormal."""
    network = random_network([3, 4, 3, 2, 1], seed=8)
    partition = regions.enumerate(network, Rectangle([-2, -2, 0], [4, 1, 0], [1, 3, 2]))
    assert not boundary_facets(partition, "gradient")[partition.facet_kinks >= 0].all()
    chart = np.random.default_rng(7).random((50, 2))
    for boundary in ("activation", "gradient"):
        found = distance_in_domain(partition, chart, boundary, space="chart")
        segments = partition.facet_vertices[boundary_facets(partition, boundary)]
        a, b = (partition.domain.to_input(partition.vertices[ends]) for ends in segments.T)
        x = partition.domain.to_input(chart)[:, np.newaxis]
        share = (((x - a) * (b - a)).sum(axis=2) / ((b - a) ** 2).sum(axis=1)).clip(0, 1)[..., np.newaxis]
        expected = np.linalg.norm(a + share * (b - a) - x, axis=2).min(axis=1)
        assert found.distances == pytest.approx(expected, rel=1e-9)
        reached = partition.domain.to_input(found.nearest) - x[:, 0]
        assert np.linalg.norm(reached, axis=1) == pytest.approx(expected, rel=1e-9)
        assert boundary_facets(partition, boundary)[found.facets].all()


def test_on_a_line() -> None:
    network = Network([([[1.0, 0.0]] * 3, [0.0, -0.5, -2.0]), ([[1.0, 1.0, 0.0]], [0.0])])
    partition = regions.enumerate(network, Segment([-1, 0], [3, 0]))
    points = [[-1.0, 0.0], [0.2, 0.0], [0.3, 0.0], [1.5, 0.0], [2.5, 0.0]]
    assert distance_in_domain(partition, points).distances == pytest.approx([1.0, 0.2, 0.2, 0.5, 0.5])
    assert distance_in_domain(partition, points, "gradient").distances == pytest.approx([1.0, 0.2, 0.2, 1.0, 2.0])
    nowhere = distance_in_domain(regions.enumerate(network, Segment([3, 0], [4, 0])), [[3.5, 0.0]])
    assert (nowhere.distances.tolist(), nowhere.facets.tolist(), isnan(nowhere.nearest[0, 0])) == ([inf], [-1], True)


@pytest.mark.slow
def test_points_near_the_boundary_fill_no_more_than_its_tube() -> None:
    """Lemma 12 of Hanin and Rolnick, and nearly with equality for small radii."""
    partition = regions.enumerate(random_network([2, 6, 6, 1], seed=8), SQUARE)
    length, crossings = boundary_volume(partition, "gradient").strata
    points = np.random.default_rng(8).uniform(-1, 1, (20000, 2))
    distances = distance_in_domain(partition, points, "gradient").distances
    for radius, least in ((0.002, 0.9), (0.02, 0.6)):
        share = 4.0 * (distances < radius).mean() / bounds.tube_volume([crossings, length, 0.0], radius)
        assert least < share < 1.05


def test_what_is_nearest_and_in_which_space() -> None:
    """Layers, units and the distribution belong to the nearest facets; points keep their shape."""
    network = random_network([3, 6, 5, 2], seed=2, activation="hard_tanh")
    for domain in (
        Rectangle([-1, -1, 0], [2, 0, 1], [1, 2, 0]),
        Plane([-1, -1, 0], [2, 0, 1], [1, 2, 0]),
        Ray([0] * 3, [1] * 3),
    ):
        partition = regions.enumerate(network, domain)
        chart = np.random.default_rng(4).random((2, 30, domain.dimension))
        for boundary in ("activation", "gradient"):
            found = distance_in_domain(partition, domain.to_input(chart), boundary)
            in_chart = distance_in_domain(partition, chart, boundary, space="chart")
            assert found.distances.shape == found.kinks.shape == found.facets.shape == (2, 30)
            assert found.nearest.shape == (2, 30, 3) and in_chart.nearest.shape == chart.shape
            assert found.nearest == pytest.approx(domain.to_input(in_chart.nearest), rel=1e-12)
            away = np.linalg.norm(found.nearest - domain.to_input(chart), axis=2)
            assert found.distances == pytest.approx(away, rel=1e-9)
            assert (found.kinks == partition.facet_kinks[found.facets]).all()
            assert (found.layers == network.kink_layers[found.kinks]).all()
            assert (found.units == network.kink_units[found.kinks]).all()
            assert found.times_neurons().value == pytest.approx(11 * found.distances.mean())
            densities, edges = found.log_histogram(5)
            assert (densities * np.diff(edges)).sum() == pytest.approx(1.0)
    assert repr(found) == f"DomainDistances(60 points, {network!r})"


def test_points_beside_the_domain() -> None:
    """Points off the plane are projected. From outside the polygon, distances go to the boundary inside it."""
    network = Network([(np.eye(3)[:2], None), ([[1.0, 1.0]], None)])
    partition = regions.enumerate(network, Polygon([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]))
    found = distance_in_domain(partition, [[3.0, 5.0, 0.0], [0.25, 0.5, 7.0], [0.0, -9.0, 1.0]])
    assert found.distances.tolist() == [5.0, 0.25, 8.0]  # the first from (0, 1), not from the axis
    assert found.nearest.tolist() == [[0.0, 1.0, 0.0], [0.0, 0.5, 0.0], [0.0, -1.0, 0.0]]


def test_refusals() -> None:
    partition = regions.enumerate(random_network([1, 3, 1]), Line([0], [1]))
    with pytest.raises(ValueError, match="space must be one of 'chart', 'input'"):
        distance_in_domain(partition, [[0.0]], space="plane")
    with pytest.raises(NonFiniteError):
        distance_in_domain(partition, [[inf]])
    nowhere = regions.enumerate(random_network([2, 1]), R2)
    with pytest.raises(
        NonFiniteError, match=r"^no boundary, .* at 4 of 4 points, first at points\[0, 0\]: .*leave such"
    ):
        distance_in_domain(nowhere, np.zeros((2, 2, 2))).times_neurons()
    thin = regions.enumerate(AXES, Rectangle([-0.5, 0], [1, 0], [1, 5e-324]))
    with pytest.raises(DegenerateDomainError, match="so nearly dependent .* give chart points"):
        distance_in_domain(thin, [[0.0, 0.0]])
