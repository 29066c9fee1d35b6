# SPDX-License-Identifier: MIT
"""Does `regions.check` compare the right numbers, and would it notice a wrong one?"""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from random_networks import random_network
from regions import bounds
from regions.checking import BoundItem, CheckReport, Invariant
from regions.constructions import arrangement, serra_fold
from regions.domains import Domain, Line, Plane, Polygon, Segment
from regions.ensembles import MaxoutEnsemble
from regions.errors import LimitReached
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Read
from regions.networks.named_activations import identity, relu
from regions.networks.network import Network
from regions.networks.units import Units

PLANE = Plane([0, 0], [1, 0], [0, 1])
SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
CROSS = Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
# E1 of Stargalla et al.: max(-y, min(0, -x)).
E1 = Network([([[1, 0], [0, 1], [0, -1]], [0, 0, 0]), ([[1, -1, 1], [1, 0, 0]], [0, 0]), ([[1, -1]], [0])])


def bound(report: CheckReport, name: str) -> BoundItem:
    return next(item for item in report.bounds if item.name == name)


def invariant(report: CheckReport, name: str) -> Invariant:
    return next(item for item in report.invariants if item.name == name)


def test_the_counts_of_each_definition() -> None:
    report = regions.check(E1, Polygon([[-8, -8], [8, -8], [8, 8], [-8, 8]]))
    counts = [(item.definition, item.regions) for item in report.counts]
    names = ("pattern", "activation", "convex", "open", "closed", "affine")
    assert counts == list(zip(names, (7, 5, None, 3, 3, 3), strict=True))
    assert "between 3 and 5" in report.counts[2].note
    assert bound(report, "trivial").found == 7  # the bound is for patterns, including patterns without area
    assert [layer.regions for layer in report.layers] == [4, 5] and report.ok
    # The first layer is (x, y, -y), with two patterns more where y = 0. Its four maps of x+, y+ and (-y)+ all differ.
    assert [item.regions for item in report.layers[0].counts] == [6, 4, 4, 4, 4, 4]
    # The second one is (x+ - y+ + (-y)+)+ and x+ alone.
    by_hand = Network([*((layer.weights, layer.biases) for layer in E1.layers[:2]), (np.eye(2), [0, 0])])
    second = {item.definition: item.regions for item in report.layers[1].counts}
    for name in ("pattern", "open", "closed", "affine"):
        assert second[name] == regions.count(by_hand, report.partition.domain, name)


def test_a_layer_in_general_position_reaches_its_bounds() -> None:
    net = random_network([2, 7, 1], bias=1.0)
    report = regions.check(net, PLANE)
    assert report.ok and not report.violations
    for name in ("raghu", "montufar2017", "serra2018_upper", "hinz_vandegeer", "zaslavsky"):
        item = bound(report, name)
        assert (item.status, item.found, item.value, item.ratio) == ("holds", 29, 29, 1.0), name
    assert bound(report, "zaslavsky_bounded").found == bound(report, "zaslavsky_bounded").value == 15
    for name in ("gaines_bi_degree", "gaines_bi_min_degree", "gaines_bi_diameter"):
        assert bound(report, name).status == "holds"
    mean = bound(report, "gaines_bi_degree")
    assert mean.found == pytest.approx(2 * 49 / 29)  # 7 lines, each cut into 7 edges by the others


def test_each_layer_is_compared() -> None:
    net = serra_fold([3, 4])
    report = regions.check(net, Line([0.0], [1.0]))
    assert [layer.regions for layer in report.layers] == [4, 20]
    assert bound(report, "serra2018_upper").after_each_layer == (4, 20)
    zaslavsky = bound(report, "zaslavsky")
    assert (zaslavsky.found, zaslavsky.value, zaslavsky.after_each_layer) == (4, 4, (4, None))
    assert zaslavsky.note.startswith("after layer 1 only")
    best = bound(report, "serra2018_lower")
    assert (best.status, best.found, best.value) == ("for information", 20, 20)


@pytest.mark.parametrize(
    ("activation", "value", "not_for"),
    [
        ("relu", 7 * 7, {"raghu_hard_tanh[2k]", "raghu_hard_tanh[pairs]"}),
        ("leaky_relu(0.1)", 7 * 7, {"serra2018_upper", "hinz_vandegeer", "raghu_hard_tanh[2k]", "gaines_bi_degree"}),
        ("hard_tanh", 19 * 19, {"serra2018_upper", "hinz_vandegeer", "zaslavsky", "gaines_bi_degree"}),
        (["relu", "hard_tanh"], 7 * 19, {"raghu_hard_tanh[2k]", "gaines_bi_degree"}),
        (["hard_tanh", "relu"], 19 * 7, {"serra2018_upper", "zaslavsky", "gaines_bi_degree"}),
    ],
)
def test_activations(activation: str | list[str], value: int, not_for: set[str]) -> None:
    report = regions.check(random_network([2, 3, 3, 1], activation=activation, bias=1.0), PLANE)
    assert report.ok and bound(report, "raghu").value == value
    unmet = {item.name for item in report.bounds if item.status == "does not apply"}
    assert not_for <= unmet
    assert all(bound(report, name).note for name in unmet)
    if activation == ["relu", "hard_tanh"]:  # the first layer still has ReLUs
        assert bound(report, "serra2018_upper").after_each_layer == (7, None)
    if activation == "hard_tanh":
        assert bound(report, "raghu_hard_tanh[2k]").value == 22 * 22


def test_zero_biases_need_a_plane_through_the_origin() -> None:
    net = arrangement(np.random.default_rng(0).standard_normal((5, 3)))
    a, b = [1.0, 2.0, 0.0], [0.0, 1.0, 3.0]
    through = {
        Plane([0, 0, 0], a, b): True,
        Plane([1.0, 3.0, 3.0], a, b): True,  # a + b
        Plane([1.0, 3.0, 4.0], a, b): False,
        Line([2.0, 4.0, 0.0], a): True,
        Line([2.0, 4.0, 1.0], a): False,
    }
    for domain, applies in through.items():
        report = regions.check(net, domain)
        assert report.ok
        assert (bound(report, "cover_central").status == "holds") is applies, domain
        assert applies or len(report.partition) > bounds.cover_central(domain.dimension, 5)
    assert bound(regions.check(random_network([2, 3, 1], bias=1.0), PLANE), "cover_central").status == "does not apply"


def test_general_position_is_found_out_exactly() -> None:
    def reason(normals: list[list[float]], offsets: list[float]) -> str:
        return bound(regions.check(arrangement(normals, offsets), PLANE), "gaines_bi_min_degree").note

    assert not reason([[1, 0], [0, 1]], [0, 0])
    assert "parallel" in reason([[1, 0], [3, 0]], [0, 1])  # one neighbour only
    assert "same place" in reason([[1, 0], [3, 0], [0, 1]], [0, 0, 0])
    assert "four facets" in reason([[1, 0], [0, 1], [1, 1]], [0, 0, 0])


def test_means_over_networks_are_not_compared_with_one() -> None:
    report = regions.check(CROSS, SQUARE)
    expected = [item for item in report.bounds if item.kind.startswith("expected")]
    assert expected and all(item.status == "does not apply" and "mean" in item.note for item in expected)


@pytest.mark.parametrize("domain", [SQUARE, PLANE, Segment([-1, -1], [1, 2]), Line([0, 1], [1, 1])])
def test_what_must_hold_holds(domain: Domain) -> None:
    report = regions.check(random_network([2, 5, 4, 2], bias=1.0), domain)
    assert report.ok
    undecided = {item.name for item in report.invariants if item.status == "not decided"}
    unbounded = {"errors", "volume", "neurons", "perimeters"} if domain.dimension == 2 else {"errors", "volume"}
    assert undecided == (set() if domain.bounded else unbounded)
    if not domain.bounded:
        assert all(item.value is None and item.note for item in report.orders[1:])


@pytest.mark.filterwarnings("error")
def test_max_units_at_corners_at_infinity() -> None:
    net = MaxoutEnsemble([2, 4, 1], 3).draw(rng=1)
    report = regions.check(net, Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0]))
    assert invariant(report, "patterns").status == "holds"
    assert "0 of 144 signs are proven" in invariant(report, "patterns").note
    large = Polygon(1e4 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]))
    assert report.layers[-1].regions == len(regions.enumerate(net, large)) == 12


def test_orders() -> None:
    twins, density, jumps, crossings, distance = regions.check(CROSS, SQUARE).orders
    assert (twins.value, twins.in_units, twins.order) == (4.0, 1.0, "mean of twins, 4")
    assert twins.note == "with random signs 4 +- 0; this network 4"
    assert (crossings.value, crossings.in_units) == (1 / 4, 1 / 4)  # one pair, one crossing in an area of 4
    assert (density.value, density.in_units) == (1.0, 0.5) and jumps.value == 1.0
    # The mean over the square of min(|x|, |y|) is 1/3; 500 points have a standard error of 0.0105.
    assert distance.value == pytest.approx(1 / 3, abs=0.04)
    assert distance.in_units == pytest.approx(2 * distance.value)


def test_a_network_without_hidden_layers() -> None:
    report = regions.check(Network([([[1.0, 2.0]], [0.0])]), SQUARE)
    assert report.ok and len(report.partition) == 1 and report.layers == ()
    assert {item.status for item in report.bounds} == {"does not apply"}
    assert "one region" in report.conclusion or report.conclusion.startswith("1 region:")


def test_a_broken_bound_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound that is too small by one, after the first layer only."""
    claimed = replace(
        next(row for row in bounds.BOUNDS if row.name == "raghu"),
        function=lambda n_in, widths, breakpoints: 28 if len(widths) == 1 else 10**6,
    )
    monkeypatch.setattr("regions.theory.bounds.BOUNDS", (claimed,))
    report = regions.check(random_network([2, 7, 3, 1], bias=1.0), PLANE)
    (violation,) = report.violations
    assert not report.ok and (violation.found, violation.value) == (29, 28)
    assert violation.note.startswith("violated after layer 1")
    assert "bug" in report.conclusion and claimed.name in report.conclusion
    assert claimed.name in str(report) and "class='violated'" in report.to_html()
    assert json.loads(report.to_json())["violations"] == [claimed.name]


def test_bounds_on_patterns_are_compared_with_patterns_after_each_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first layer of E1 has four activation regions, and six patterns."""
    trivial = next(row for row in bounds.BOUNDS if row.name == "trivial")
    claimed = replace(trivial, function=lambda n_in, widths, breakpoints: 5 if len(widths) == 1 else 7)
    monkeypatch.setattr("regions.theory.bounds.BOUNDS", (claimed,))
    (item,) = regions.check(E1, PLANE).bounds
    assert (item.status, item.found, item.value) == ("violated", 6, 5)


def test_what_is_refused() -> None:
    part = regions.enumerate(CROSS, SQUARE)
    with pytest.raises(ValueError, match="another network"):
        regions.check(E1, part)
    with pytest.raises(LimitReached) as stopped:
        regions.enumerate(CROSS, SQUARE, limit=2)
    with pytest.raises(ValueError, match="partial"):
        regions.check(CROSS, stopped.value.partial)
    for network, domain in (("net", SQUARE), (CROSS, "square")):
        with pytest.raises(TypeError):
            regions.check(network, domain)  # type: ignore[arg-type]


def test_json_has_everything_and_no_infinity() -> None:
    for domain in (SQUARE, PLANE):
        report = regions.check(random_network([2, 4, 3, 1], activation=["hard_tanh", "abs"], bias=1.0), domain)
        facts = json.loads(report.to_json(), parse_constant=pytest.fail)
        assert len(facts["bounds"]) == len(bounds.BOUNDS) and facts["ok"] is True
        assert {"counts", "layers", "invariants", "orders", "fingerprints"} <= facts.keys()


def test_bounds_of_thousands_of_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds for 15,000 neurons are numbers that Python does not print."""
    trivial = next(row for row in bounds.BOUNDS if row.name == "trivial")
    huge = replace(trivial, function=lambda n_in, widths, breakpoints: 2**15_000)
    monkeypatch.setattr("regions.theory.bounds.BOUNDS", (trivial, huge))
    report = regions.check(CROSS, SQUARE)
    assert report.ok and report.bounds[1].ratio == 0.0 and "2.82e+4515" in str(report) and "e+4515" in report.to_html()
    first, second = (item["value"] for item in json.loads(report.to_json())["bounds"])
    assert (first, second) == (4, None)


def test_the_page_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    report = regions.check(CROSS, SQUARE)
    page = report.to_html()
    assert page.startswith("<!DOCTYPE html>") and "src='data:image/png;base64," in page
    assert "http" not in page and "<script" not in page
    assert "src='data:image/png;base64," in regions.check(CROSS, PLANE).to_html()
    with monkeypatch.context() as small:
        small.setattr("regions.pictures.picture_view.LARGEST_DRAWN", 0.5)
        assert "numbers above 0.5 cannot be drawn" in report.to_html()
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    page = report.to_html()
    assert "matplotlib is needed" in page and "<img" not in page and "serra2018_upper" in page


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["line", "polygon", "plane"])
def test_hard_inputs_violate_nothing(shape: str) -> None:
    for family in list(FAMILIES)[len(shape) % 3 :: 3]:
        net, domain = draw(family, 1 if shape == "line" else 2, 3)
        if shape == "plane":
            domain = Plane(domain.origin, *domain.directions)
        report = regions.check(net, domain)
        assert report.ok, (family, report.conclusion)


def skipping(*layers: tuple[int, tuple[int, ...]]) -> Network:
    """Return a Gaussian network with two inputs. Each layer has a width, and reads some layers; -1 is the input."""
    rng, widths, nodes, kinks = np.random.default_rng(0), {-1: 2}, [], 0
    for number, (width, sources) in enumerate([*layers, (1, (len(layers) - 1,))]):
        is_output = number == len(layers)
        reads = tuple(Read(Dense(rng.standard_normal((width, widths[source]))), source) for source in sources)
        units = Units(width, identity() if is_output else relu())
        nodes.append(Node(rng.standard_normal(width), reads, units, slice(kinks, kinks + units.kinks)))
        widths[number], kinks = width, kinks + units.kinks
    return Network.from_graph(Graph(2, nodes))


@pytest.mark.parametrize(
    ("layers", "reads", "is_beyond"),
    [
        # A concatenation: the second layer has two dimensions. A node passes the inputs on, and is layer 1.
        (((1, (-1,)), (8, (-1, 0))), "layer 2 reads the input", True),
        (((2, (-1,)), (1, (0,)), (24, (0, 1))), "layer 3 reads layer 1", False),
        (((1, (-1,)), (8, (-1,)), (8, (1,))), "layer 2 reads the input", False),
    ],
)
def test_bounds_for_chains_are_not_for_skips(layers: tuple, reads: str, is_beyond: bool) -> None:  # type: ignore[type-arg]
    net = skipping(*layers)
    report = regions.check(net, PLANE)
    assert report.ok
    widths, found = [width for width, _ in layers], regions.reference.count(net, PLANE)
    if is_beyond:
        assert found > max(bounds.montufar2017(2, widths), bounds.serra2018_upper(2, widths))
    for name in ("trivial", "raghu"):
        assert bound(report, name).found == found and None not in bound(report, name).after_each_layer
    item = bound(report, "montufar2017")
    assert item.status == "holds" and item.after_each_layer[-1] is None and reads in item.note
    assert reads in bound(report, "gaines_bi_degree").note or net.widths[0] == 2
