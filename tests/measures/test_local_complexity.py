# SPDX-License-Identifier: MIT
"""Which kinks cut a polytope around a point, and how many regions meet a disc: exactly, on boundaries and in ties?

Signs at vertices are compared with values in fractions, by simple loops, and kinks that cut with the facets of a
partition. Regions in discs are compared with distances in fractions, and with shapes whose answer is known.
"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_maxima import MAX_FAMILIES
from partition_cases import SQUARE, drawn
from random_networks import random_network
from regions import Network, measures
from regions.domains import Plane, Polygon, Rectangle, Segment
from regions.domains.gram import gram_matrix
from regions.errors import DomainError, NonFiniteError, ShapeMismatchError
from regions.measures import local_complexity, regions_in_discs
from regions.passes.exact import ExactSigns

CROSS = Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])


def signs_in_fractions(network: Network, point: np.ndarray) -> list[int]:
    """Return the sign of pre-activation minus breakpoint of each kink, by plain loops through the layers."""
    values, signs = [Fraction(x) for x in point.tolist()], []
    for layer in network.layers[:-1]:
        act, outputs, units = layer.activation, [], len(layer.biases)
        slopes, intercepts, breaks = (
            np.broadcast_to(t, (units, t.shape[-1])).tolist() for t in (act.slopes, act.intercepts, act.breakpoints)
        )
        for unit, (row, bias) in enumerate(zip(layer.weights.tolist(), layer.biases.tolist(), strict=True)):
            h = sum((Fraction(w) * v for w, v in zip(row, values, strict=True)), Fraction(bias))
            signs += [(h > Fraction(t)) - (h < Fraction(t)) for t in breaks[unit]]
            piece = sum(h > Fraction(t) for t in breaks[unit])
            outputs.append(Fraction(slopes[unit][piece]) * h + Fraction(intercepts[unit][piece]))
        values = outputs
    return signs


@pytest.mark.parametrize("family", FAMILIES)
def test_signs_in_every_family(family: str) -> None:
    network, domain = drawn(family, 2, seed=3)
    rng = np.random.default_rng(0)
    some = rng.standard_normal((3, network.n_in))
    # Points with short coordinates put vertices on kinks of networks with short weights.
    points = np.concatenate([some, 0 * some[:1], np.round(some[:2]), np.round(4 * some[:2]) / 4])
    directions = np.concatenate([np.eye(network.n_in), np.round(2 * rng.standard_normal((2, network.n_in)))])
    for radius in (0.5, 1.0):
        found = local_complexity(network, points, radius, directions=directions)
        for point, cut in zip(points, found.cut, strict=True):
            vertices = np.concatenate([point + radius * directions, point - radius * directions])
            signs = np.array([signs_in_fractions(network, vertex) for vertex in vertices])
            assert (cut == ((signs > 0).any(axis=0) & (signs < 0).any(axis=0))).all()


@pytest.mark.parametrize("activation", ["relu", "hard_tanh", "abs"])
def test_a_kink_that_cuts_has_a_facet_inside(activation: str) -> None:
    network, rng = random_network([2, 9, 9, 1], 3, activation), np.random.default_rng(1)
    for point in rng.standard_normal((15, 2)):
        inside = regions.enumerate(network, Polygon(point + 0.5 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])))
        there = np.zeros(network.kinks, dtype=bool)
        there[inside.facet_kinks[inside.facet_kinks >= 0]] = True
        found = local_complexity(network, point, 0.5)
        first = network.kink_layers == 0
        assert (found.cut[first] == there[first]).all() and (found.cut <= there).all()
        assert found.counts == found.cut.sum() == found.layers.sum()


def test_touching_is_not_cutting() -> None:
    # The vertices of these two are on the kinks, and beside them by the least step.
    beside = np.nextafter(1.0, 2.0)
    assert local_complexity(CROSS, [[1.0, 5.0], [beside, 5.0]], 1.0).counts.tolist() == [0, 0]
    assert local_complexity(CROSS, [[np.nextafter(1.0, 0.0), 5.0]], 1.0).counts.tolist() == [1]
    # So small that every vertex rounds to the point.
    assert local_complexity(CROSS, [[1.0, 1.0]], 1e-30).counts.tolist() == [0]


def test_a_sum_that_rounds_to_zero_has_a_sign() -> None:
    # 1 + 2^-60 - 1: in floating point the sum is 0 or 2^-60, depending on the order.
    tiny = 2.0**-60
    network = Network([([[1.0, 1.0, 1.0]], [0.0]), ([[1.0]], [0.0])])
    points = [[1.0, tiny, -1.0], [1.0, 0.0, -1.0]]
    along = [[0.0, 2 * tiny, 0.0]]
    assert local_complexity(network, points, 1.0, directions=along).counts.tolist() == [1, 1]
    assert local_complexity(network, points, 0.5, directions=along).counts.tolist() == [0, 1]


@pytest.mark.parametrize("family", MAX_FAMILIES)
def test_max_units(family: str) -> None:
    for seed in range(3):
        network, _ = draw(family, 2, seed)
        points, exact = np.random.default_rng(seed).standard_normal((6, network.n_in)), ExactSigns(network.graph, None)
        steps = np.concatenate([np.eye(network.n_in), -np.eye(network.n_in)])
        found = local_complexity(network, points, 1.0)
        for point, cut in zip(points, found.cut, strict=True):
            signs = np.array([exact.at(vertex) for vertex in point + steps])
            assert (cut == ((signs > 0).any(axis=0) & (signs < 0).any(axis=0))).all()


def test_shapes_and_networks_without_kinks() -> None:
    images = np.zeros((2, 3, 2))
    assert local_complexity(CROSS, images, 1.0).layers.shape == (2, 3, 1)
    assert local_complexity(CROSS, images[:0], 1.0).counts.shape == (0, 3)
    affine = Network([([[1.0, 1.0]], [0.0])])
    found = local_complexity(affine, [[0.0, 0.0]], 1.0)
    assert (found.counts.tolist(), found.layers.shape) == ([0], (1, 0))
    assert repr(found).startswith("LocalComplexity(1 points, radius 1, Network(")
    assert "kinks that cut" in local_complexity(CROSS, images, 1.0)._repr_html_()


def test_in_pieces_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    network, points = random_network([3, 8, 8, 1]), np.random.default_rng(0).standard_normal((20, 3))
    at_once = local_complexity(network, points, 0.5).cut
    monkeypatch.setattr(sys.modules["regions.measures.local_complexity"], "CHUNK", 100)
    assert (local_complexity(network, points, 0.5).cut == at_once).all()


def test_wrong_directions_and_vertices() -> None:
    with pytest.raises(ShapeMismatchError, match=r"directions must be an array \[m, 2\]"):
        local_complexity(CROSS, [[0.0, 0.0]], 1.0, directions=[[1.0]])
    with pytest.raises(ShapeMismatchError, match="at least one"):
        local_complexity(CROSS, [[0.0, 0.0]], 1.0, directions=np.zeros((0, 2)))
    with pytest.raises(NonFiniteError, match="smaller radius"):
        local_complexity(CROSS, [[1e308, 0.0]], 1e308)


def nearer(partition: regions.Partition, region: int, point: np.ndarray, radius: float) -> bool:
    """Return whether a region meets an open disc, in fractions, edge by edge."""
    metric = gram_matrix(partition.domain.directions)
    exact = partition.exact_vertices(partition.cell_vertices[slice(*partition.cell_offsets[region : region + 2])])
    centre, corners = [Fraction(x) for x in point.tolist()], list(exact)

    def dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
        return sum((x * metric[i][j] * y for i, x in enumerate(a) for j, y in enumerate(b)), Fraction(0))

    def minus(a: object, b: object) -> list[Fraction]:
        return [x - y for x, y in zip(a, b, strict=True)]  # type: ignore[call-overload]

    least = []
    for low, high in zip(corners, corners[1:] + corners[:1], strict=True):
        along, offset = minus(high, low), minus(centre, low)
        share = min(max(dot(offset, along) / dot(along, along), Fraction(0)), Fraction(1))
        rest = [x - share * y for x, y in zip(offset, along, strict=True)]
        least.append(dot(rest, rest))
    return min(least) < Fraction(radius) ** 2


@pytest.mark.parametrize("family", list(FAMILIES)[::3])
def test_discs_in_fractions(family: str) -> None:
    network, domain = drawn(family, 2, seed=5)
    partition = regions.enumerate(network, domain)
    if len(partition) > 60:
        return
    corners = partition.vertices[: 3 * len(partition) : len(partition)]
    points = np.concatenate([corners, corners.mean(axis=0, keepdims=True), np.zeros((1, 2))])
    radius = float(np.sqrt(domain.volume)) / 4
    found = regions_in_discs(partition, points, radius, space="chart")
    for point, number in zip(points, found, strict=True):
        own = int(partition.locate(point, space="chart"))
        near = {region for region in range(len(partition)) if nearer(partition, region, point, radius)}
        assert number == len(near | ({own} - {-1}))


def test_a_disc_that_touches_a_facet() -> None:
    partition = regions.enumerate(CROSS, SQUARE)
    assert regions_in_discs(partition, [[0.25, 0.5]], 0.25).tolist() == [1]
    assert regions_in_discs(partition, [[0.25, 0.5]], np.nextafter(0.25, 1.0)).tolist() == [2]
    # Outside of the domain, touching it, and meeting it.
    assert regions_in_discs(partition, [[2.0, 0.5], [1.5, 0.5], [1.25, 0.5]], 0.5).tolist() == [0, 0, 1]


def test_discs_are_round_in_input_space() -> None:
    skew = regions.enumerate(CROSS, Rectangle([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0]))
    assert regions_in_discs(skew, [[0.25, 0.75]], 0.5).tolist() == [2]
    line = regions.enumerate(CROSS, Segment([-2.0, 0.5], [2.0, 0.5]))
    assert regions_in_discs(line, [[1.0, 0.5], [1.0, 0.5]], 1.0).tolist() == [1, 1]
    assert regions_in_discs(line, [[1.0, 0.5]], 1.25).tolist() == [2]


def test_discs_need_a_bounded_domain() -> None:
    with pytest.raises(DomainError, match="counts in discs exist in bounded domains"):
        measures.regions_in_discs(regions.enumerate(CROSS, Plane([0, 0], [1, 0], [0, 1])), [[0, 0]], 1.0)
