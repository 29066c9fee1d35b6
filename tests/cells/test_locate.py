# SPDX-License-Identifier: MIT
"""Does `locate` find the right region for every point, on boundaries and one rounding away from them too?

It is compared with geometry in fractions: the lowest of the reference's regions whose closed polygon contains the
point.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from generators import draw
from generators_maxima import MAX_FAMILIES
from partition_cases import CASES, SQUARE, drawn, everywhere, families
from random_networks import random_network
from raw_from_reference import partition_from_reference, raw_from_reference, sorted_regions
from regions.certification.reference.subdivision import ReferenceRegion
from regions.domains import Domain, Line, Polygon, Rectangle, Segment
from regions.errors import DegenerateDomainError, DomainError, InternalError, NonFiniteError, ShapeMismatchError
from regions.ground.arithmetic import pattern_index
from regions.ground.arithmetic.pattern_index import PatternIndex
from regions.networks.network import Network
from regions.passes.bounded import BoundedPatterns
from regions.passes.exact import ExactSigns
from regions.results.cells import locate
from regions.results.partition import Partition


def lowest_region(regions: tuple[ReferenceRegion, ...], point: np.ndarray) -> int:
    exact = [Fraction(float(x)) for x in point]
    return next((index for index, region in enumerate(regions) if _contains(region, exact)), -1)


def _contains(region: ReferenceRegion, point: list[Fraction]) -> bool:
    corners = region.vertices
    if len(point) == 1:
        left, right = corners
        return (left is None or left[0] <= point[0]) and (right is None or point[0] <= right[0])
    return all(
        (b[0] - a[0]) * (point[1] - a[1]) >= (b[1] - a[1]) * (point[0] - a[0])
        for a, b in zip(corners, corners[1:] + corners[:1], strict=True)
    )


def awkward_points(partition: Partition) -> np.ndarray:
    """Rounded vertices and middles of facets, their neighbours one rounding away, and the points inside."""
    ends = partition.vertices[partition.facet_vertices]
    ends = ends[np.isfinite(ends).all(axis=(1, 2))][:25]
    on = np.concatenate([ends[:, 0], ends.mean(axis=1), partition.interior_points[:25]])
    return np.concatenate([on, np.nextafter(on, np.inf), np.nextafter(on, -np.inf)])


@pytest.mark.slow
@families
def test_every_family_at_and_near_boundaries(family: str, dimension: int) -> None:
    network, domain = drawn(family, dimension, seed=1)
    partition = partition_from_reference(network, domain)
    points = awkward_points(partition)
    expected = [lowest_region(sorted_regions(network, domain), point) for point in points]
    assert partition.locate(points, space="chart").tolist() == expected


@pytest.mark.parametrize("family", MAX_FAMILIES)
def test_where_branches_of_max_units_are_equal(family: str) -> None:
    for seed in range(8, 11):
        network, domain = draw(family, 2, seed)
        regions = sorted_regions(network, domain)
        if len(regions) > 40 or not domain.bounded:
            continue
        partition = partition_from_reference(network, domain)
        points = np.unique(np.concatenate([partition.vertices, domain.generators[:, 1:]]), axis=0)
        expected = [lowest_region(regions, point) for point in points]
        inside = np.array(expected) >= 0  # rounded vertices may be outside of the domain
        assert partition.locate(points[inside], space="chart").tolist() == np.array(expected)[inside].tolist()


@everywhere
def test_points_of_input_space(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    inside = domain.to_input(partition.interior_points)
    assert (partition.locate(inside) == np.arange(len(partition))).all()
    assert partition.locate(inside[0]).shape == ()
    assert partition.locate(inside[:1].reshape(1, 1, -1)).tolist() == [[0]]
    assert partition.locate(inside.astype(np.float32)).shape == (len(partition),)
    assert partition.locate(np.zeros((0, domain.n_in))).shape == (0,)
    assert partition.locate(inside).dtype == np.int64


def test_the_border_belongs_to_the_domain_and_nothing_beyond_does() -> None:
    partition = partition_from_reference(*CASES["square"])
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.3, 1.0], [-1.0, 0.7]])
    assert (partition.locate(corners) >= 0).all()
    assert (partition.locate(np.nextafter(corners, 2 * np.sign(corners))) == -1).all()
    segment = partition_from_reference(random_network([1, 4, 1]), Segment([0.1], [0.7]))
    chart = [[0.0], [1.0], [np.nextafter(0, -1)], [np.nextafter(1, 2)], [1e300]]
    assert (segment.locate(chart, space="chart") >= 0).tolist() == [True, True, False, False, False]


def test_inside_is_exact_along_a_slanted_edge() -> None:
    triangle = Polygon([[0.1, 0.1], [0.9, 0.3], [0.2, 0.8]])
    corners = [[Fraction(x) for x in corner] for corner in triangle.generators[:, 1:].tolist()]
    rng = np.random.default_rng(0)
    weights = rng.random((300, 1))
    a, b = triangle.generators[[0, 1], 1:]
    points = a + weights * (b - a)  # on the edge, rounded: to either side of it
    points = np.concatenate([points, [[1e308, -1e308], [-1e308, 1e308], [1e-320, 0.1], a, b]])
    exact = [
        all(
            (q[0] - p[0]) * (Fraction(y) - p[1]) >= (q[1] - p[1]) * (Fraction(x) - p[0])
            for p, q in zip(corners, corners[1:] + corners[:1], strict=True)
        )
        for x, y in points.tolist()
    ]
    assert 50 < sum(exact) < 250
    assert locate.inside(triangle, points).tolist() == exact


# Answers that floating point proves are right, and most answers are proven.


@pytest.mark.slow
@families
def test_certified_bits_are_right(family: str, dimension: int) -> None:
    network, domain = drawn(family, dimension, seed=2)
    nothing_known = np.zeros(network.kinks, dtype=bool)
    bounded = BoundedPatterns(network.graph, domain, nothing_known, nothing_known)
    points = awkward_points(partition_from_reference(network, domain))
    bits, decided = bounded.at(points)
    exact = ExactSigns(network.graph, domain)
    for point, found in zip(points[decided], bits[decided], strict=True):
        assert (found == (exact.at(point) > 0)).all()


def test_generic_points_are_decided_in_floating_point() -> None:
    partition = partition_from_reference(random_network([2, 10, 10, 1], 8), SQUARE)
    assert partition._locator.patterns.bounded.at(partition.interior_points)[1].all()
    partition.locate(partition.interior_points)
    assert partition._locator.patterns.exact is None


def test_dead_units_need_no_exact_arithmetic() -> None:
    """A unit that is zero on the whole domain, and one that is zero wherever its inputs are inactive."""
    first = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    second = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, -1.0, 0.0]]
    network = Network([(first, None), (second, None), ([[1.0, 1.0, 1.0]], None)])
    partition = partition_from_reference(network, SQUARE)
    points = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    found = partition.locate(points)
    assert partition._locator.patterns.exact is None
    assert (partition.patterns[found] == network.pattern(points)).all()
    # Where the input unit is itself zero, a neighbour with a lower number may contain the point, too.
    for point in ([0.0, 0.5], [0.0, 0.0], [0.0, -0.5], [-0.5, 0.0]):
        assert partition.locate(point) == lowest_region(sorted_regions(network, SQUARE), np.array(point))


# Looking up patterns.


def test_colliding_hashes_cost_time_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_index, "hash_patterns", lambda packed: (packed[:, 0] % 3).astype(np.uint64))
    packed = np.arange(200, dtype=np.uint8)[:, np.newaxis]
    index = PatternIndex(np.random.default_rng(0).permutation(packed))
    wanted = np.arange(256, dtype=np.uint8)[:, np.newaxis]
    found = index.find(wanted)
    assert (found[200:] == -1).all()
    assert (index.packed[found[:200]] == wanted[:200]).all()


@pytest.mark.parametrize("most_free_bits", [0, 8])
def test_free_bits(most_free_bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_index, "MOST_FREE_BITS", most_free_bits)
    rng = np.random.default_rng(1)
    patterns = np.unique(rng.integers(0, 2, (300, 11)).astype(bool), axis=0)
    patterns = rng.permutation(patterns)
    index = PatternIndex(np.packbits(patterns, axis=1, bitorder="little"))
    for _ in range(100):
        free = rng.choice(11, rng.integers(0, 6), replace=False)
        wanted = rng.integers(0, 2, 11).astype(bool)
        fixed = np.setdiff1d(np.arange(11), free)
        matches = np.flatnonzero((patterns[:, fixed] == wanted[fixed]).all(axis=1))
        assert index.matching(wanted, free).tolist() == matches.tolist()


def test_different_patterns_have_different_hashes() -> None:
    single_bits = np.packbits(np.eye(192, dtype=bool), axis=1, bitorder="little")
    pairs = (single_bits[:, np.newaxis] | single_bits).reshape(-1, 24)
    hashes = pattern_index.hash_patterns(np.unique(pairs, axis=0))
    assert len(np.unique(hashes)) == len(hashes)


# Refusals.


def test_points_that_are_refused() -> None:
    partition = partition_from_reference(*CASES["parallelogram"])
    with pytest.raises(ShapeMismatchError, match=r"\[.., 3\], got \[2\]"):
        partition.locate([0.0, 0.0])
    with pytest.raises(ShapeMismatchError, match=r"\[.., 2\], got \[3\]"):
        partition.locate([0.0, 0.0, 0.0], space="chart")
    with pytest.raises(NonFiniteError, match=r"points\[1, 2\] is nan"):
        partition.locate([[0.0, 0.0, 1.0], [0.0, 0.0, np.nan]])
    with pytest.raises(TypeError, match="real numbers"):
        partition.locate([["a", "b", "c"]])
    with pytest.raises(ValueError, match="space must be one of 'chart', 'input', got 'plane'"):
        partition.locate([[0.0, 0.0, 1.0]], space="plane")  # type: ignore[arg-type]
    with pytest.raises(NonFiniteError, match="^the point has chart coordinates beyond"):
        partition_from_reference(random_network([1, 2, 1]), Segment([0.0], [1e-9])).locate([1e300])
    on_plane = partition.domain.to_input([0.4, 0.4])
    with pytest.raises(DomainError, match=r"points\[1, 0\] is 0.00\d+ away from the domain's plane") as caught:
        partition.locate([[on_plane], [on_plane + [0.0, 0.01, -0.01]]])
    assert "to_chart" in str(caught.value)
    with pytest.raises(DomainError, match=r"^the point is 0.00\d+ away"):
        partition.locate(on_plane + [0.0, 0.01, -0.01])


@pytest.mark.filterwarnings("error")
def test_points_far_away() -> None:
    """Their squares, and intermediate results of the projection, are beyond the largest double."""
    square = partition_from_reference(*CASES["square"])
    assert square.locate([[1e308, -1e308], [-1.7e308, 1.7e308], [0.5, 1e-300]]).tolist()[:2] == [-1, -1]
    network = Network([([[1.0, 0.0]], [-1.0]), ([[1.0]], [0.0])])
    line = partition_from_reference(network, Line([0.0, 0.0], [1.0, 1.0]))
    assert line.locate([[-1e300, -1e300], [1e308, 1e308]]).tolist() == [0, 1]
    with pytest.raises(DomainError, match=r"^points\[1\] is 1.41e\+200 away from the domain's line"):
        line.locate([[1e200, 1e200], [1e200, -1e200]])


def test_points_have_no_chart_coordinates_if_directions_are_nearly_parallel() -> None:
    network, _ = CASES["square"]
    thin = partition_from_reference(network, Rectangle([0, 0], [1, 0], [1, 5e-324]))
    assert thin.locate([0.5, 0.5], space="chart") >= 0
    with pytest.raises(DegenerateDomainError, match="so nearly dependent .* give chart points"):
        thin.locate([0.5, 0.0])


def test_many_points_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    partition = partition_from_reference(*CASES["parallelogram"])
    points = partition.domain.to_input(np.random.default_rng(0).uniform(-0.2, 1.2, (200, 2)))
    whole = partition.locate(points)
    monkeypatch.setattr(locate, "CHUNK", 100)
    assert (partition.locate(points) == whole).all()
    points[150] += [0.0, 1.0, -1.0]
    with pytest.raises(DomainError, match=r"points\[150\]"):
        partition.locate(points)


def test_missing_regions() -> None:
    """In a partial result a point of a missing region gives -1; in a complete one it is a bug."""
    network, domain = CASES["segment"]
    raw = raw_from_reference(network, domain)
    half = len(raw["packed_patterns"]) // 2
    kept = {**raw, "packed_patterns": raw["packed_patterns"][:half], "cell_offsets": raw["cell_offsets"][: half + 1]}
    points = Partition(network, domain, raw).interior_points
    found = Partition(network, domain, {**kept, "complete": False}).locate(points, space="chart")
    assert found.tolist() == [*range(half), *[-1] * (len(points) - half)]
    with pytest.raises(InternalError, match="please report"):
        Partition(network, domain, kept).locate(points, space="chart")
