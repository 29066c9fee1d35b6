# SPDX-License-Identifier: MIT
"""Does `regions.check` compare the right numbers in three to ten dimensions, bounded and not?"""

from __future__ import annotations

import json
from dataclasses import replace
from math import comb

import numpy as np
import pytest

import regions
from partition_cases import SQUARE
from random_networks import random_network
from regions import bounds
from regions.checking import BoundItem, CheckReport, Invariant, check_all, layers
from regions.checking.whole_domain import uniform_points
from regions.constructions import arrangement
from regions.domains import Box, Polytope, Space
from regions.errors import ShapeMismatchError, TimeoutReached
from regions.networks.network import Network
from regions.results.cells.complex import raw_arrays

CUBE = Box([-1.0] * 3, [1.0] * 3)
# x, y, z >= -1 and x + y + z <= 1: edges of length 4 along the axes, volume 4^3 / 6.
SIMPLEX = Polytope([[-1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 1, 1]], [1, 1, 1, 1])


def whole(dimension: int) -> Space:
    return Space(np.zeros(dimension), np.eye(dimension))


def bound(report: CheckReport, name: str) -> BoundItem:
    return next(item for item in report.bounds if item.name == name)


def invariant(report: CheckReport, name: str) -> Invariant:
    return next(item for item in report.invariants if item.name == name)


def test_octants() -> None:
    report = regions.check(arrangement(np.eye(3)), CUBE)
    assert report.ok and {item.status for item in report.invariants} == {"holds"}
    assert [(item.definition, item.regions) for item in report.counts] == [
        *((name, 8) for name in ("pattern", "activation", "convex", "open", "closed", "affine"))
    ]
    (layer,) = report.layers
    assert (layer.regions, layer.boundary) == (8, 12.0)  # three squares of 4
    assert (invariant(report, "volume").found, invariant(report, "volume").expected) == ("8", "8")
    assert invariant(report, "euler").note == "27, 54, 36, 8 faces"
    # 8 cubes have perimeters of 6 each; the cube has 24.
    assert invariant(report, "perimeters").found == "12"
    assert bound(report, "zaslavsky").ratio == bound(report, "raghu").ratio == 1.0
    assert (bound(report, "gaines_bi_degree").found, bound(report, "gaines_bi_degree").value) == (3.0, 6)
    assert "whole space" in bound(report, "gaines_bi_diameter").note
    assert report.orders[1].value == 12 / 8
    assert json.loads(report.to_json())["ok"]


@pytest.mark.slow
def test_the_picture_shows_sections() -> None:
    assert "<img" in regions.check(arrangement(np.eye(3)), CUBE, distances=False).to_html()
    four = regions.check(arrangement(np.eye(4)), Box([-1.0] * 4, [1.0] * 4), distances=False)
    assert "No picture: pictures exist in 1 to 3 dimensions; this domain has 4" in four.to_html()


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 6])
def test_single_layers_reach_theorem_1(dimension: int) -> None:
    """With equality, for ReLU, and for hard tanh with its pairs of parallel hyperplanes."""
    domains = {1: regions.Line([0.0], [1.0]), 2: regions.Plane([0, 0], [1, 0], [0, 1])}
    domain = domains.get(dimension) or whole(dimension)
    for activation, name in (("relu", "raghu"), ("hard_tanh", "raghu_hard_tanh[pairs]")):
        units = 3 if activation == "hard_tanh" and dimension > 3 else dimension + 1
        report = regions.check(random_network([dimension, units, 1], activation=activation, bias=1.0), domain)
        item = bound(report, name)
        pieces = 2 if activation == "hard_tanh" else 1
        assert report.ok and (item.status, item.found, item.ratio) == ("holds", item.value, 1.0)
        assert item.value == sum(comb(units, k) * pieces**k for k in range(dimension + 1))


def test_a_whole_space_is_counted() -> None:
    net = random_network([3, 5, 4, 1], bias=1.0)
    report = regions.check(net, whole(3))
    assert report.ok and report.partition is None and report.domain == whole(3)
    assert [layer.regions for layer in report.layers] == [26, regions.count(net, whole(3))]
    assert report.regions == report.layers[-1].regions and report.conclusion.startswith(f"{report.regions} regions: ")
    assert [item.definition for item in report.counts] == ["activation"]
    assert all(layer.boundary is None and not layer.counts for layer in report.layers)
    assert invariant(report, "growth").status == "holds"
    (left,) = (item for item in report.invariants if item.status == "not decided")
    assert left.note == "not enumerated, because the domain is unbounded, in 3 dimensions"
    assert bound(report, "serra2018_upper").after_each_layer == (26, bounds.serra2018_upper(3, (5, 4)))
    assert "only counted here" in bound(report, "zaslavsky_bounded").note
    twins, *others = report.orders
    assert twins.value == report.regions and "with random signs" in twins.note
    assert all(order.value is None and order.note for order in others)
    assert "No picture" in report.to_html()
    facts = json.loads(report.to_json())
    assert facts["ok"] and facts["layers"][0]["boundary"] is None
    assert f"{report.regions} regions" in str(report)


def test_ten_dimensions_are_counted_with_distances() -> None:
    net = random_network([10, 4, 2, 1], bias=1.0)
    report = regions.check(net, Box([-1.0] * 10, [1.0] * 10))
    assert report.ok and [layer.regions for layer in report.layers][0] <= 16
    assert "more than 6 dimensions" in invariant(report, "partition").note
    assert report.orders[-1].value is not None and "500 points" in report.orders[-1].note
    assert regions.check(net, Box([-1.0] * 10, [1.0] * 10), distances=False).orders[-1].note == "left out, as asked"
    corner = Polytope(np.vstack([np.eye(10), -np.ones((1, 10))]), [1.0] * 11)
    assert "points are drawn" in regions.check(net, corner).orders[-1].note


def test_bounds_for_zero_biases() -> None:
    net = random_network([3, 5, 1], bias=0.0)
    item = bound(regions.check(net, whole(3)), "cover_central")
    assert (item.status, item.found, item.value) == ("holds", 22, 22)
    moved = Space([1.0, 0.0, 0.0, 1.0], np.eye(3, 4))
    away = regions.check(random_network([4, 5, 1], bias=0.0), moved)
    assert bound(away, "cover_central").note == "is for lines, planes and spaces through the origin"


@pytest.mark.parametrize(
    ("normals", "offsets", "regions_by_hand"),
    [
        ([[1, 0, 0]] * 3, [0, 0, 0], 2),  # one plane, three times
        ([[1, 0, 0], [-2, 0, 0], [0, 1, 0]], [0, 1, 0], 6),  # parallel planes, and one across
        ([[1, 0, 0], [0, 1, 0], [1, 1, 0]], [0, 0, 0], 6),  # through one line
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], [0, 0, 0, 0], 14),  # through one point
        ([[1, 0, 0], [1, 0, 0]], [1, -1], 1),  # two sides of the cube
        ([[0, 0, 0], [0, 0, 1]], [1, 0], 2),  # a constant unit
    ],
)
def test_degenerate_arrangements(normals: list[list[float]], offsets: list[float], regions_by_hand: int) -> None:
    report = regions.check(arrangement(normals, offsets), CUBE, distances=False)
    assert report.ok and report.regions == regions_by_hand
    assert {item.status for item in report.invariants} == {"holds"}
    if regions_by_hand == 14:
        assert "too many bent hyperplanes" in bound(report, "gaines_bi_degree").note


def test_a_dead_layer() -> None:
    net = Network([(np.eye(3), np.zeros(3)), (-np.ones((2, 3)), [-1.0, -1.0]), (np.ones((1, 2)), [0.0])])
    report = regions.check(net, CUBE, distances=False)
    assert report.ok and [layer.regions for layer in report.layers] == [8, 8]
    assert [layer.boundary for layer in report.layers] == [12.0, 0.0]
    assert {item.definition: item.regions for item in report.counts}["affine"] == 1


def test_a_polytope_has_the_volume_of_its_one_region() -> None:
    report = regions.check(arrangement(np.eye(3), [0.5, 0.0, 0.0]), SIMPLEX, distances=False)
    assert report.ok and float(invariant(report, "volume").expected) == pytest.approx(4**3 / 6, rel=1e-14)
    assert report.orders[1].value == pytest.approx(report.layers[0].boundary / (4**3 / 6))


def test_damage_is_noticed() -> None:
    part = regions.enumerate(random_network([3, 4, 3, 1], bias=1.0), CUBE)
    raw = raw_arrays(part)

    def violated(**changed: np.ndarray) -> set[str]:
        altered = type(part)(part.network, part.domain, raw | changed)
        report = regions.check(part.network, altered, distances=False)
        assert not report.ok and len(report.counts) == 1
        return {item.name for item in report.violations}

    vertices = part.vertices.copy()
    vertices[0] += 0.25
    assert violated(vertices=vertices) & {"volume", "patterns", "perimeters"}
    facet = int(np.flatnonzero(part.facet_kinks >= 0)[0])
    patterns = part.packed_patterns.copy()
    patterns[part.facet_regions[facet, 0], 0] ^= 1 << part.facet_kinks[facet]
    assert {"facets", "patterns"} <= violated(packed_patterns=patterns)
    kinks = part.facet_kinks.copy()
    kinks[facet] = (kinks[facet] + 1) % 7
    assert violated(facet_kinks=kinks) == {"facets"}


def test_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    net = random_network([3, 4, 3, 1], bias=1.0)
    monkeypatch.setattr(layers, "FACES_BUDGET", 0)
    report = regions.check(net, CUBE, distances=False)
    assert report.ok and invariant(report, "euler").status == "not decided"
    assert report.counts[0].regions is None and "too long" in report.counts[0].note
    assert "not decided" in bound(report, "gaines_bi_degree").note
    monkeypatch.setattr(layers, "COUNT_BUDGET", 0)
    counted = regions.check(net, whole(3))
    assert [layer.regions for layer in counted.layers] == [None, counted.regions]
    assert bound(counted, "raghu").status == "holds"
    assert bound(counted, "zaslavsky").note.startswith("the number of regions of an arrangement")


def test_violations_in_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    raghu = next(row for row in bounds.BOUNDS if row.name == "raghu")
    claimed = replace(raghu, function=lambda n_in, widths, breakpoints: 25 if len(widths) == 1 else 10**6)
    monkeypatch.setattr("regions.theory.bounds.BOUNDS", (claimed,))
    report = regions.check(random_network([3, 5, 4, 1], bias=1.0), whole(3))
    (violation,) = report.violations
    assert (violation.found, violation.value) == (26, 25) and not report.ok


def test_a_timeout_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    net = random_network([3, 4, 1], bias=1.0)

    def stop(*given: object) -> None:
        raise TimeoutReached("out of time", timeout=1.0)

    monkeypatch.setattr(check_all, "bound_items", stop)
    with pytest.raises(TimeoutReached) as counted:
        regions.check(net, whole(3))
    assert counted.value.partial == regions.count(net, whole(3))
    with pytest.raises(TimeoutReached) as listed:
        regions.check(net, CUBE)
    assert listed.value.partial == regions.enumerate(net, CUBE)


def test_what_is_refused() -> None:
    net = random_network([3, 4, 1])
    with pytest.raises(ShapeMismatchError, match="space of 4 dimensions"):
        regions.check(net, whole(4))
    with pytest.raises(TypeError, match="expected a domain"):
        regions.check(net, regions.Polyline([[0, 0, 0], [1, 1, 1]]))
    with pytest.raises(ValueError, match="another network"):
        regions.check(random_network([3, 4, 1], seed=1), regions.enumerate(net, CUBE))


def test_uniform_points() -> None:
    rng = np.random.default_rng(0)
    low, high = np.array([0.0, -1.0, 2.0]), np.array([1.0, 3.0, 2.5])
    points = uniform_points(Box(low, high), 4000, rng)
    assert (points >= low).all() and (points <= high).all()
    error = (high - low) / np.sqrt(12 * 4000)
    assert (abs(points.mean(axis=0) - (low + high) / 2) < 5 * error).all()
    # In a simplex the mean is the mean of the corners, and half of its volume is cut off at 1 - 0.5^(1/3) of a height.
    points = uniform_points(SIMPLEX, 4000, rng)
    assert (points >= -1).all() and (points.sum(axis=1) <= 1 + 1e-12).all()
    assert points.mean(axis=0) == pytest.approx([0.0] * 3, abs=0.08)
    assert np.mean(points[:, 0] + 1 > 4 * (1 - 0.5 ** (1 / 3))) == pytest.approx(0.5, abs=0.04)
    assert uniform_points(SQUARE, 10, rng).shape == (10, 2)
