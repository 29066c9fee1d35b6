# SPDX-License-Identifier: MIT
"""Are values at the vertices of a cluster within their bounds, on all sides of open kinks, and right about the rest?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from exact_passes import exact_values
from fuzz_certificates import drawn
from partition_cases import SQUARE
from random_networks import random_network
from regions.certification import cluster_values
from regions.certification.centre_rows import restricted_forms
from regions.certification.cluster_values import Cluster, ClusterValues
from regions.certification.proven_regions import proven_regions
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Read, Units
from regions.networks.named_activations import identity, relu
from regions.networks.network import Network
from regions.partition import Partition


def cluster_of(
    net: Network, domain: regions.Domain, points: np.ndarray, stated: float, packed: np.ndarray, every: bool = True
) -> Cluster:
    """The cluster of some points; with all values, or with those that are needed."""
    values, centre = ClusterValues(net.graph, restricted_forms(net.graph, domain)), points.mean(axis=0)
    asked = np.arange(net.kinks if every else 0)
    with np.errstate(all="ignore"):
        centres = values.centre_rows.at(centre[np.newaxis], packed[:1])
        return values.cluster(points - centre, np.full(len(points), stated), packed, asked, centres, 0)


def require_within_bounds(
    net: Network, domain: regions.Domain, point: np.ndarray, bits: np.ndarray, cluster: Cluster, row: int
) -> int:
    """Compare the values at a point with exact ones; return the number of kinks compared."""
    exact, compared = exact_values(net, domain, bits, point), 0
    for kink, found, scale, bound in zip(
        cluster.columns.tolist(),
        cluster.values[row].tolist(),
        cluster.scales.tolist(),
        cluster.bounds.tolist(),
        strict=True,
    ):
        if np.isfinite([found * scale, bound]).all():
            value = Fraction(found) * Fraction(scale)
            assert abs(exact[kink] - value) <= Fraction(bound) + abs(value) / 2**50, kink
            compared += 1
    return compared


def near(part: Partition, region: int, count: int) -> np.ndarray:
    """The regions around a region, nearest first."""
    points = part.interior_points
    return np.argsort(np.abs(points - points[region]).max(axis=1), kind="stable")[:count]


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize(
    "family", ["generic", "deep_generic", "clipped", "graph_generic", "wild_magnitudes", "max_generic", "max_integers"]
)
def test_values_are_within_their_bounds(family: str, doubled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns of a cluster differ, so that units deviate from their pieces at the centre."""
    monkeypatch.setattr(cluster_values, "DEEP", -1 if doubled else 1000)
    compared = 0
    for seed in range(1 if "deep" in family else 4):
        net, domain = drawn(family, 2, seed)
        part = regions.enumerate(net, domain)
        some = near(part, 0, 6)
        points = part.interior_points[some]
        if net.kinks and np.isfinite(points).all():
            cluster = cluster_of(net, domain, points, 0.0, part.packed_patterns[some])
            for row, region in enumerate(some.tolist()):
                compared += require_within_bounds(net, domain, points[row], part.patterns[region], cluster, row)
    assert compared > 20


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize("activation", ["relu", "leaky_relu(0.1)", "hard_tanh", "soft_shrink(0.5)", "abs"])
def test_each_activation(activation: str, doubled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_values, "DEEP", -1 if doubled else 1000)
    net = random_network([2, 8, 8, 8, 1], 4, activation)
    part = regions.enumerate(net, SQUARE)
    for start in range(0, len(part), max(1, len(part) // 4)):
        some = near(part, start, 12)
        cluster = cluster_of(net, SQUARE, part.interior_points[some], 0.0, part.packed_patterns[some])
        assert len(cluster.columns) == net.kinks and (cluster.room > 0).all() and not len(cluster.open.kinks)
        for row, region in enumerate(some.tolist()):
            require_within_bounds(net, SQUARE, part.interior_points[region], part.patterns[region], cluster, row)


def test_within_its_room_a_vertex_has_its_pattern() -> None:
    net = random_network([2, 8, 8, 8, 1], 4)
    part = regions.enumerate(net, SQUARE)
    for start in (0, len(part) // 2):
        some = near(part, start, 10)
        points = part.interior_points[some]
        cluster = cluster_of(net, SQUARE, points, 0.0, part.packed_patterns[some], every=False)
        assert (cluster.room > 0).all() and len(cluster.columns) < net.kinks
        for point, room, region in zip(points, cluster.room, some.tolist(), strict=True):
            for corner in ([-1, -1], [-1, 1], [1, -1], [1, 1]):
                values = exact_values(net, SQUARE, part.patterns[region], point + room * np.array(corner))
                assert [value > 0 for value in values] == part.patterns[region].tolist()


@pytest.mark.parametrize("family", ["max_generic", "max_integers"])
def test_within_its_room_a_vertex_has_its_argmaxes(family: str) -> None:
    compared = 0
    for seed in range(4):
        net, domain = drawn(family, 2, seed)
        part = regions.enumerate(net, domain)
        some = near(part, 0, 5)
        points = part.interior_points[some]
        if not domain.bounded or not net.kinks or not np.isfinite(points).all():
            continue
        cluster = cluster_of(net, domain, points, 0.0, part.packed_patterns[some], every=False)
        for point, room, region in zip(points, cluster.room, some.tolist(), strict=True):
            binding = net.graph.binding(part.patterns[region])
            for corner in ([-1, -1], [-1, 1], [1, -1], [1, 1]):
                values = exact_values(net, domain, part.patterns[region], point + max(room, 0.0) * np.array(corner))
                signs = np.array([value > 0 for value in values])
                assert room < 0 or (signs == part.patterns[region])[binding].all()
                compared += room > 0
    assert compared > 10


def test_a_pattern_of_another_region_has_no_room() -> None:
    net = random_network([2, 8, 8, 1], 4)
    part = regions.enumerate(net, SQUARE)
    some = near(part, 0, 8)
    packed = part.packed_patterns[some]
    packed[3] = part.packed_patterns[some[4]]
    cluster = cluster_of(net, SQUARE, part.interior_points[some], 0.0, packed, every=False)
    assert cluster.room[3] < 0 and (np.delete(cluster.room, 3) > 0).all()


@pytest.mark.parametrize("doubled", [False, True])
def test_values_hold_on_all_sides_of_the_open_kinks(doubled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vertices are moved, so that their units are far from their kinks, and the other sides differ."""
    monkeypatch.setattr(cluster_values, "DEEP", -1 if doubled else 1000)
    net = random_network([2, 8, 8, 8, 1], 4)
    part = regions.enumerate(net, SQUARE)
    moved = part.vertices + np.random.default_rng(0).uniform(-1e-4, 1e-4, part.vertices.shape)
    owners, compared = np.repeat(np.arange(len(part)), part.corner_counts), 0
    for vertex in range(0, len(part.vertices), 60):
        some = np.argsort(np.abs(moved - moved[vertex]).max(axis=1), kind="stable")[:5]
        firsts = np.array([owners[part.cell_vertices == each][0] for each in some])
        around = owners[part.cell_vertices == vertex]
        kinks = np.unique(part.facet_kinks[(part.facet_vertices == vertex).any(axis=1)])
        cluster = cluster_of(net, SQUARE, moved[some], 1e-3, part.packed_patterns[firsts])
        if len(around) != 4 or cluster.room[0] < 0:
            continue
        if not np.isin(kinks, cluster.open.kinks[cluster.open.vertices == 0]).all():
            continue
        for region in around.tolist():
            compared += require_within_bounds(net, SQUARE, moved[vertex], part.patterns[region], cluster, 0)
    assert compared > 80


def test_bounds_beyond_the_largest_double_prove_nothing() -> None:
    net = Network([([[1e200, 0], [0, 1e200]], [0, 0]), ([[1e200, 1e200]], [1]), ([[1]], [0])])
    cluster = cluster_of(net, SQUARE, np.array([[0.5, 0.5]]), 0.0, np.array([[7]], dtype=np.uint8))
    assert (cluster.room < 0).all() and not cluster.columns.size


def test_two_nodes_that_read_the_inputs() -> None:
    """The second one is computed when units of the first one bend already."""
    rng, nodes = np.random.default_rng(0), []
    for number, (width, inputs, read) in enumerate([(5, 2, -1), (5, 2, -1), (1, 5, 0)]):
        reads = [Read(Dense(rng.standard_normal((width, inputs))), read)]
        if number == 2:
            reads.append(Read(Dense(rng.standard_normal((width, inputs))), 1))
        kinks = slice(5 * number, 5 * number + 5) if number < 2 else slice(10, 10)
        units = Units(width, relu() if number < 2 else identity())
        nodes.append(Node(rng.standard_normal(width) / 4, tuple(reads), units, kinks))
    net = Network.from_graph(Graph(2, nodes))
    part = regions.enumerate(net, SQUARE)
    some, compared = near(part, 0, 8), 0
    cluster = cluster_of(net, SQUARE, part.interior_points[some], 0.0, part.packed_patterns[some])
    assert (cluster.room > 0).all()
    for row, region in enumerate(some.tolist()):
        compared += require_within_bounds(
            net, SQUARE, part.interior_points[region], part.patterns[region], cluster, row
        )
    assert compared == 8 * net.kinks


def test_a_network_without_hidden_layers() -> None:
    net = Network([([[1, 1]], [0])])
    assert proven_regions(regions.enumerate(net, SQUARE), net).regions.tolist() == [True]
