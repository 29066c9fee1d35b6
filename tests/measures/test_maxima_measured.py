# SPDX-License-Identifier: MIT
"""Are results on networks with maxima right: boundary, definitions, distances, curves, checks, and refusals?

Known answers are for max(x, y, 0) around 0, whose three regions meet there, and for max-pools in a row.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import regions
from fuzz import Case, drawn
from generators_maxima import MAX_FAMILIES, network_of_maxima
from regions import measures
from regions.errors import NotACheckpointError, UnsupportedLayerError
from regions.measures.boundary import switching_kinks
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Maxima, Node, Read, Units, switched_kinks
from regions.networks.named_activations import identity
from regions.networks.network import Network


def largest(weights: list[list[float]], biases: list[float]) -> Network:
    """Return the largest of some affine functions."""
    rows = np.array(weights)
    units = Maxima(np.array([0, len(rows)]))
    first = Node(np.array(biases), (Read(Dense(rows), -1),), units, slice(0, units.kinks), "largest")
    last = Node(np.zeros(1), (Read(Dense(np.ones((1, 1))), 0),), Units(1, identity()), slice(units.kinks, units.kinks))
    return Network.from_graph(Graph(rows.shape[1], [first, last]))


THREE = largest([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [0.0, 0.0, 0.0])
SQUARE = regions.Rectangle([-1, -1], [2, 0], [0, 2])


def test_three_regions_meet() -> None:
    part = regions.enumerate(THREE, SQUARE)
    assert len(part) == 3 and regions.certify(part, THREE).ok
    winners = [THREE.graph.nodes[0].units.pieces_of(row).item() for row in part.patterns]
    assert sorted(winners) == [0, 1, 2]
    facets, kinks = switching_kinks(part)
    assert sorted(kinks.tolist()) == [0, 1, 2] and sorted(part.facet_kinks[facets]) == [0, 1, 2]
    boundary = measures.boundary_volume(part)
    assert boundary.total == pytest.approx(2 + 2**0.5) and boundary.coincident == 0
    assert boundary.kinks == pytest.approx([2**0.5, 1, 1]) and boundary.neurons == pytest.approx([2 + 2**0.5])
    assert [regions.linear_regions(part, name).count for name in ("open", "closed", "affine")] == [3, 3, 3]
    inside = SQUARE.to_input(part.interior_points)
    assert (part.locate(inside) == [0, 1, 2]).all()
    assert part.locate(np.zeros((1, 2)))[0] in (0, 1, 2)
    near = measures.distance_in_domain(part, [[0.5, 0.25], [-0.5, -0.25]], "activation")
    assert near.distances == pytest.approx([0.25 / 2**0.5, 0.25])


def test_arms_that_are_alike_are_one() -> None:
    """Branches 1 and 2 are equal, and 0 is never above them, so kinks are crossed only at 0."""
    same = largest([[0.0], [1.0], [1.0], [-1.0]], [-1.0, 0.0, 0.0, 0.0])
    part = regions.enumerate(same, regions.Segment([-2.0], [2.0]))
    assert len(part) == 2 and part.facet_kinks[part.facet_kinks >= 0].tolist() == [4]  # branches 1 and 3
    assert measures.boundary_volume(part, "gradient").total == 1.0


def test_kinks_that_switch_together() -> None:
    """Of five branches, the argmax changes from 1 to 4, and from 0 to 2 in a second unit."""
    five = Maxima([0, 5, 8])
    nodes = [Node(np.zeros(8), (Read(Dense(np.zeros((8, 1))), -1),), five, slice(0, five.kinks))]
    graph = Graph(
        1, [*nodes, Node(np.zeros(1), (Read(Dense(np.zeros((1, 2))), 0),), Units(1, identity()), slice(13, 13))]
    )
    changed = np.flatnonzero(five.bits_of(np.array([1, 0])) ^ five.bits_of(np.array([4, 2])))
    places, kinks = switched_kinks(graph, np.full(len(changed), 7), changed)
    assert places.tolist() == [7, 7] and kinks.tolist() == [4 * 3 // 2 + 1, 10 + 2 * 1 // 2 + 0]


@pytest.mark.parametrize("family", list(MAX_FAMILIES))
def test_segments_are_trajectories(family: str) -> None:
    for seed in range(5):
        network, domain = drawn(Case(family, "line", 50 + seed))
        if not isinstance(domain, regions.Segment):
            continue
        part, found = regions.enumerate(network, domain), regions.trajectory(network, domain)
        assert found.strands.count == len(part) and regions.certify(found, network).ok
        _, kinks = switching_kinks(part)
        assert (np.bincount(kinks, minlength=network.kinks) == found.kink_transitions).all()


@pytest.mark.parametrize("family", list(MAX_FAMILIES))
def test_checked_and_kept(family: str, tmp_path: Path) -> None:
    network, domain = drawn(Case(family, "polygon", 60))
    part = regions.enumerate(network, domain)
    report = regions.check(network, domain)
    assert report.ok
    part.save(tmp_path / "part.npz")
    again = regions.load_partition(tmp_path / "part.npz")
    assert again.network == network and (again.packed_patterns == part.packed_patterns).all()


@pytest.mark.parametrize("family", list(MAX_FAMILIES))
def test_points_are_located(family: str) -> None:
    rng = np.random.default_rng(4)
    for seed in range(70, 76):
        network, domain = drawn(Case(family, "polygon", seed))
        part = regions.enumerate(network, domain)
        assert (part.locate(domain.to_input(part.interior_points)) == np.arange(len(part))).all()
        mixed = rng.dirichlet(np.ones(len(domain.generators)), 40) @ domain.generators[:, 1:]
        points = domain.to_input(mixed)
        found = part.locate(points)
        assert (found >= 0).all()
        same = (network.pattern(points) == network.graph.bits(part.packed_patterns[found])).all(axis=1)
        assert same.all() or family != "max_generic"  # otherwise branches may be equal up to rounding


def test_progress_is_told() -> None:
    rng = np.random.default_rng(0)
    widths = [2, *[160] * 8]  # hundreds of thousands of regions: seconds, on any machine
    layers = [(rng.standard_normal((640, width + 1)), [4] * 160) for width in widths[:8]]
    told: list[tuple[float, int]] = []

    class Enough(Exception):
        pass

    def report(share: float, found: int) -> None:
        told.append((share, found))
        if len(told) == 3:
            raise Enough

    with pytest.raises(Enough):
        regions.count(network_of_maxima(2, layers), SQUARE, progress=report)
    assert told == sorted(told) and 0 < told[-1][0] < 1 and told[-1][1] > 0


def test_what_is_not_handled_says_so() -> None:
    part = regions.enumerate(THREE, SQUARE)
    with pytest.raises(UnsupportedLayerError, match=r"node 0 \(largest\) has max units, for which the definition 'pat"):
        regions.linear_regions(part, "pattern")


def test_distances_to_arms() -> None:
    points = [[1.0, 0.5], [-1.0, -2.0], [-1.0, 0.0], [0.0, 0.0], [2.0, 2.0], [-3.0, -3.0], [-0.5, 4.0]]
    found = measures.distance_to_boundary(THREE, points)
    assert found.distances.tolist() == [np.sqrt(0.125), 1.0, 0.0, 0.0, 0.0, 3.0, np.sqrt(10.125)]
    assert found.kinks.tolist() == [0, 1, 2, 0, 0, 1, 0]
    assert found.nearest[[0, 1, 5, 6]].tolist() == [[0.75, 0.75], [0.0, -2.0], [0.0, -3.0], [1.75, 1.75]]
    # Branches that are equal everywhere have no boundary.
    same = measures.distance_to_boundary(largest([[1.0, 0.0], [1.0, 0.0]], [2.0, 2.0]), points)
    assert np.isinf(same.distances).all() and (same.kinks == -1).all()


@pytest.mark.parametrize("seed", range(12))
def test_distances_are_those_to_the_facets_of_the_plane(seed: int) -> None:
    """On a whole plane with small integers, so that points often lie on facets and branches are often equal."""
    rng = np.random.default_rng(seed)
    tables = [(rng.integers(-2, 3, (7, n_in + 1)), [3, 2, 2]) for n_in in (2, 3)]
    network = network_of_maxima(2, tables)
    part = regions.enumerate(network, regions.Plane([0, 0], [1, 0], [0, 1]))
    points = rng.integers(-6, 7, (60, 2)) / 2.0
    found, expected = measures.distance_to_boundary(network, points), measures.distance_in_domain(part, points)
    assert ((found.distances == 0) == (expected.distances < 1e-12)).all()  # those are of rounded vertices
    np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-12, atol=1e-12)
    assert len(set(found.kinks.tolist())) > 2


def test_the_pattern_changes_at_that_distance_and_not_before() -> None:
    rng = np.random.default_rng(3)
    tables = [(rng.standard_normal((9, n_in + 1)), [3, 3, 3]) for n_in in (5, 3)]
    network, points = network_of_maxima(5, tables), rng.standard_normal((40, 5))
    found = measures.distance_to_boundary(network, points)
    ways = found.nearest - points
    np.testing.assert_allclose(np.linalg.norm(ways, axis=1), found.distances, rtol=1e-12)
    before, after = (network.pattern(points + factor * ways) for factor in (1 - 1e-9, 1 + 1e-9))
    at = network.pattern(points)
    assert (before == at).all() and (after != at).any(axis=1).all()
    assert all(after[i, kink] != at[i, kink] or at[i, kink] for i, kink in enumerate(found.kinks))
    others = rng.standard_normal((40, 30, 5))
    others *= (0.999 * found.distances[:, None] / np.linalg.norm(others, axis=2))[..., None]
    assert (network.pattern(points[:, None] + others) == at[:, None]).all()


def test_patterns_without_a_winner_are_refused(tmp_path: Path) -> None:
    part, path = regions.enumerate(THREE, SQUARE), tmp_path / "part.npz"
    part.save(path)
    arrays = dict(np.load(path))
    arrays["packed_patterns"] = np.array([[0b010], *part.packed_patterns[1:].tolist()], dtype=np.uint8)
    np.savez(path, **arrays)
    with pytest.raises(NotACheckpointError, match="region 0 has bits of unit 0 of node 0 that fit no argmax"):
        regions.load_partition(path)
