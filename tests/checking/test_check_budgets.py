# SPDX-License-Identifier: MIT
"""Is the work of `regions.check` bounded, and does its report say what is left out, and which numbers exceed the
doubles?
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import regions
from partition_cases import SQUARE
from random_networks import random_network
from regions import bounds
from regions.checking import OrderItem, against_bounds, layers, orders
from regions.checking.whole_domain import uniform_points
from regions.domains import Domain, Plane, Polygon, Rectangle, Segment
from regions.networks.derived import cut_off
from regions.networks.network import Network

PLANE = Plane([0, 0], [1, 0], [0, 1])
NET = random_network([2, 6, 5, 4, 1], seed=1)
LONG = "twins are left out, as 30 counts like this one take long: call regions.sign_twins for them"
CROSS = Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])


def test_counts_after_each_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    full = regions.check(NET, SQUARE)
    monkeypatch.setattr(layers, "COUNT_BUDGET", 0)
    counted: list[Network] = []
    count = layers.count
    monkeypatch.setattr(layers, "count", lambda net, domain: counted.append(net) or count(net, domain))
    report = regions.check(NET, SQUARE)
    assert [net.widths for net in counted] == [(6, 5, 4)]  # the whole network is always counted
    # The other counts follow from the patterns.
    assert [layer.regions for layer in report.layers] == [layer.regions for layer in full.layers]
    invariant = next(item for item in report.invariants if item.name == "layers")
    assert report.ok and invariant.found == f"{len(report.partition)}" and "layers 1, 2:" in invariant.note
    first = full.layers[0].regions
    monkeypatch.setattr(layers, "COUNT_BUDGET", first * (18 + layers.PER_REGION))
    counted.clear()
    regions.check(NET, SQUARE)
    assert [net.widths for net in counted] == [(6,), (6, 5, 4)]


def test_definitions_after_each_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    first = regions.check(NET, SQUARE).layers[0]
    monkeypatch.setattr(layers, "DEFINITIONS_BUDGET", first.regions * (18 + 36))
    report = regions.check(NET, SQUARE)
    assert [bool(layer.counts) for layer in report.layers] == [True, False, False]
    assert report.layers[0].counts == first.counts and str(report).count("not counted by definition") == 2
    assert len(report.counts) == len(first.counts)  # the counts of the network itself


def test_cut_off_networks_are_small() -> None:
    net = Network([(np.ones((3000, 1)), np.arange(3000.0)), (np.ones((1, 3000)), [0.0])])
    assert cut_off(net, 1).layers[-1].weights.shape == (1, 3000)
    point = [0.5, 0.25]
    activations = np.maximum(NET.preactivations(point)[1], 0.0)
    assert cut_off(NET, 2, readout=True)(point).tolist() == activations.tolist()


def test_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    def order(budget: float) -> OrderItem:
        monkeypatch.setattr(orders, "DISTANCE_BUDGET", budget)
        return regions.check(NET, SQUARE).orders[-1]

    each = 2 * (2 + 6 * 5 + 5 * 4)  # two coordinates
    assert order(500 * each).note.endswith("from 500 points")
    assert "from 499 points, as many as" in order(500 * each - 1).note
    assert "from 20 points, as many as" in order(20 * each).note
    few = order(20 * each - 1)
    assert few.value is None and few.note == "20 points would take more than 2e+03 multiplications"


def test_distances_in_many_inputs() -> None:
    """A first layer with fewer units than inputs makes coordinates once, and their cost counts, too."""
    wide = Network([(np.eye(3, 1000), [0.0] * 3), (np.ones((1, 3)), [0.0])])
    assert orders._affordable_samples(wide) == 500
    wider = Network([(np.zeros((4000, 5000)), np.zeros(4000)), (np.ones((1, 4000)), [0.0])])
    assert orders._affordable_samples(wider) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("bound", "status"), [(10**6, "holds"), (3, "violated"), (120, "does not apply")])
def test_a_diameter_that_is_not_searched_to_the_end(bound: int, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = next(row for row in bounds.BOUNDS if row.quantity == "diameter")
    monkeypatch.setattr("regions.theory.bounds.BOUNDS", (replace(row, function=lambda n_in, widths: bound),))
    monkeypatch.setattr(against_bounds, "SEARCH_BUDGET", 0)
    net = random_network([2, 40, 40, 1], seed=2)
    report = regions.check(net, PLANE)
    (found,) = report.bounds
    assert found.status == status
    assert status == "violated" or found.note.startswith("not searched to the end: at least ")
    monkeypatch.setattr(against_bounds, "SEARCH_BUDGET", 1e9)
    (found,) = regions.check(net, PLANE).bounds
    exactly = regions.measures.diameter(report.partition)
    assert 3 < exactly < 120 and (found.found, found.note) == (exactly, "")
    assert found.status == ("violated" if status == "violated" else "holds")


SIZE = "the size of the domain is not a double above 0"
TINY, HUGE = "the area of the domain is below the least double", "the area of the domain is beyond the largest double"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "notes"),
    [
        (lambda: Rectangle([-1e-170, -1e-170], [2e-170, 0], [0, 2e-170]), [TINY, TINY, SIZE, "+- "]),
        (lambda: Rectangle([-1e-320, -1e-320], [2e-320, 0], [0, 2e-320]), [TINY, TINY, SIZE, "+- "]),
        (lambda: Rectangle([-1e200, -1e200], [2e200, 0], [0, 2e200]), [HUGE, HUGE, SIZE, "+- "]),
        (lambda: Segment([-1e307, 0.0], [1e307, 1.0]), ["", "", "+- "]),
        (lambda: Segment([-1e-323, 0.0], [1e-323, 1e-323]), ["beyond the largest double"] * 2 + ["+- 0"]),
        (lambda: Polygon([[1e8, 1e8], [1e8 + 1, 1e8 + 1], [1e8 + 0.5, 1e8 + 0.5000001]]), ["", "", "", "+- "]),
        (lambda: Domain([0, 0], [[1, 0]], [[1, -1.7e308], [1, 1.7e308]]), ["the length of"] * 2 + ["+- "]),
    ],
)
def test_domains_at_the_ends_of_the_doubles(make: Callable[[], Domain], notes: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = regions.check(CROSS, make())
    assert report.ok and json.loads(report.to_json(), parse_constant=pytest.fail)["ok"]
    for order, note in zip(report.orders, ["with random signs ", *notes], strict=True):
        assert order.note.startswith(note), order
        assert (order.value is None) == (bool(note) and not note.startswith(("+-", "with")))
        assert "inf" not in order.note


def test_sign_twins(monkeypatch: pytest.MonkeyPatch) -> None:
    twins = regions.check(NET, SQUARE).orders[0]
    found = regions.sign_twins(NET, SQUARE)
    assert (twins.name, twins.value, twins.note) == ("regions", float(found.regions), str(found))
    assert twins.in_units == found.regions / found.mean
    clipped = regions.Network([(np.eye(2), None), (np.eye(2), None)], "hard_tanh")
    twins = regions.check(clipped, SQUARE).orders[0]
    assert twins.value is None and twins.note.startswith("twins are left out: node 0 (layer 0): hard_tanh has no sign")
    most = int(found.counts.max())
    assert found.regions < most
    for limit, note in ((most, str(found)), (most - 1, LONG)):
        budget = (limit + 0.5) * 30 * (NET.graph.products + 3000)
        monkeypatch.setattr("regions.checking.random_signs.TWINS_BUDGET", budget)
        assert regions.check(NET, SQUARE).orders[0].note == note
    monkeypatch.setattr("regions.checking.random_signs.TWINS_BUDGET", 0.0)
    twins = regions.check(NET, SQUARE).orders[0]
    assert (twins.value, twins.note) == (None, LONG)


def test_a_region_of_a_space_of_many_dimensions_takes_longer() -> None:
    """Unbounded cells are kept with all their vertices, so 30 twins would take a minute here, and hours beyond."""
    net = random_network([6, 5, 4, 1], seed=0)
    whole = regions.check(net, regions.Space([0] * 6, np.eye(6))).orders[0]
    assert whole.value is None and whole.note == LONG
    assert regions.check(net, regions.Box([-1] * 6, [1] * 6)).orders[0].note.startswith("with random signs")


def test_uniform_points_of_a_sliver() -> None:
    """An area that is smaller than the rounding error of a difference of products."""
    sliver = Polygon([[1e8, 1e8], [1e8 + 1, 1e8 + 1], [1e8 + 0.5, 1e8 + 0.5 + 2.0**-26], [1e8, 1e8 + 2.0**-26]])
    points = uniform_points(sliver, 1000, np.random.default_rng(0)) - 1e8
    assert points.min() >= -1e-7 and points.max() <= 1 + 1e-7
    # The two triangles of the fan have areas of 2 to 1, and their means are at 1/2 and 1/6.
    assert points[:, 0].mean() == pytest.approx(7 / 18, abs=0.03)


def test_distances_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        pytest.fail("a distance was asked for")

    net = random_network([2, 8, 1], seed=2)
    everything = regions.check(net, SQUARE)
    monkeypatch.setattr(orders, "distance_to_boundary", fail)
    report = regions.check(net, SQUARE, distances=False)
    *densities, distance = report.orders
    assert (distance.value, distance.note) == (None, "left out, as asked")
    assert densities == list(everything.orders[:-1]) and everything.orders[-1].value is not None
    assert (report.counts, report.layers, report.bounds) == (everything.counts, everything.layers, everything.bounds)
    with pytest.raises(TypeError, match="distances must be True or False, got 'no'"):
        regions.check(net, SQUARE, distances="no")  # type: ignore[arg-type]
