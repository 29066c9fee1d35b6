# SPDX-License-Identifier: MIT
"""Does `certify` prove right results in boxes, and reject each damaged one?"""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import regions
from damages_in_boxes import DAMAGES, is_right
from generators import FAMILIES, draw
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES, network_of_maxima
from loose_results import apart, together
from polytope_cases import OF_THEIR_OWN, braid, he_normal, network_of, signed
from regions.certification import verdict

MOST = 100  # regions in drawn cases


@pytest.fixture(params=["integers", "values"])
def decided(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Small results are decided in integers, or by values at vertices like large ones."""
    monkeypatch.setattr(verdict, "SOON", 1 << 40 if request.param == "integers" else 0)
    return str(request.param)


def items(report: regions.CertificationReport, *names: str) -> list[str]:
    """Return the status of some items, of all but the sampled ones by default."""
    left = {item.name: item.status for item in report.items}
    return [left[name] for name in names or left if name not in ("affine maps", "reference") or names]


@pytest.mark.parametrize(
    ("family", "dimension"),
    [
        pytest.param(family, d, marks=[pytest.mark.slow] * (d > 3))
        for family in (*FAMILIES, *GRAPH_FAMILIES)
        for d in (3, 4)
        if family not in OF_THEIR_OWN
    ],
)
def test_right_results_of_every_family_are_proved(family: str, dimension: int, decided: str) -> None:
    for net, domain in (draw(family, dimension, seed) for seed in range(2)):
        if domain.bounded and regions.count(net, domain) <= MOST:
            report = regions.certify(regions.enumerate(net, domain), net)
            assert report.all_proved, report


@pytest.mark.parametrize(
    "normals", [braid(4), signed(3, single=True), np.repeat(np.eye(3), 2, axis=0), np.array([[1, 1, 0], [1, -1, 0]])]
)
def test_many_facets_at_a_vertex_and_kinks_that_coincide(normals: np.ndarray, decided: str) -> None:
    d = normals.shape[1]
    net = network_of(normals, np.zeros(len(normals)))
    part = regions.enumerate(net, regions.Box([-1] * d, [1] * d))
    report = regions.certify(part, net)
    assert set(items(report)) == {"proved"} if decided == "integers" else report.all_proved
    assert report.conclusion == f"proved: there are exactly {len(part)} regions"


def test_a_network_without_kinks_is_proved(decided: str) -> None:
    """A corner at 1/3 is rounded, so values of its facets are computed with twice the digits."""
    net = regions.Network([(np.ones((1, 3)), [0.0])])
    domain = regions.Polytope([[-3, 0, 0], [0, -1, 0], [0, 0, -1], [1, 3, 7]], [-1, 0, 0, 1])
    assert regions.certify(regions.enumerate(net, domain), net).all_proved


def test_other_polytopes_and_charts_are_proved(decided: str) -> None:
    rng = np.random.default_rng(1)
    octahedron = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], float)
    wide = regions.Network([(rng.standard_normal((6, 9)), rng.standard_normal(6)), (np.ones((1, 6)), [0])])
    for net, domain in (
        (he_normal([3, 5, 4, 1]), regions.Polytope(np.vstack([octahedron, octahedron[:2], [[1, 0, 0]]]), [1.0] * 11)),
        (wide, regions.Box.around(rng.standard_normal(9), 0.5, rng.standard_normal((4, 9)))),
        (network_of(np.eye(3) - 5, [1, 2, 3]), regions.Box([0, 0, 0], [1e-12, 1, 1e12])),
    ):
        report = regions.certify(regions.enumerate(net, domain), net)
        assert report.all_proved and report.ok, report


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[3, 16, 16, 1], [4, 9, 9, 1], [5, 7, 7, 1], [6, 4, 4, 1], [3, *[6] * 6, 1]])
def test_large_results_are_proved_by_values(sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict, "SOON", 0)
    net, d = he_normal(sizes), sizes[0]
    part = regions.enumerate(net, regions.Box([-1] * d, [1] * d))
    fractions = []
    report = regions.certify(part, net, progress=lambda fraction, done: fractions.append(fraction))
    assert report.all_proved and report.ok, report
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    finding = next(item.finding for item in report.items if item.name == "inequalities")
    assert len(part) < 100 or int(finding.split(" of ")[0].replace(",", "")) < len(part.vertices) / 2


def test_some_regions_or_all_in_integers() -> None:
    net = he_normal([3, 6, 5, 1])
    part = regions.enumerate(net, regions.Box([-1] * 3, [1] * 3))
    report = regions.certify(part, net, regions=10)
    assert report.conclusion.startswith("no fault found: 1") and not report.ok and not report.failed
    assert items(report, "border", "volume") == ["unchecked", "unchecked"]
    assert regions.certify(part, net, regions="all").all_proved
    json.dumps(report.as_dict())


def test_a_partial_result_has_real_regions(decided: str) -> None:
    net = he_normal([3, 8, 8, 1])
    with pytest.raises(regions.LimitReached) as stopped:
        regions.enumerate(net, regions.Box([-1] * 3, [1] * 3), limit=20)
    report = regions.certify(stopped.value.partial, net)
    more = "there may be more, because this is a partial result"
    assert report.ok and not report.complete
    assert report.conclusion == f"partial: {len(stopped.value.partial)} regions, each of them real; {more}"


def test_another_network_is_rejected(decided: str) -> None:
    net = he_normal([3, 4, 3, 1])
    part = regions.enumerate(net, regions.Box([-1] * 3, [1] * 3))
    layers = [(layer.weights.copy(), layer.biases) for layer in net.layers]
    layers[1][0][0, 0] = np.nextafter(layers[1][0][0, 0], 9)
    assert items(regions.certify(part, regions.Network(layers)), "network") == ["failed"]
    assert not regions.certify(part, he_normal([3, 5, 3, 1])).ok


def blocks_of(net: regions.Network, box: regions.Box, size: int) -> list[regions.PolytopePartition]:
    return list(regions.stream(net, box, regions_per_block=size))


@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.slow), 30, 1000])
def test_blocks_of_a_stream_are_all_regions(size: int) -> None:
    for net in (he_normal([3, 6, 5, 1]), network_of(braid(4), np.zeros(6)), network_of(np.eye(3), np.full(3, 9.0))):
        box = regions.Box([-1] * 3, [1] * 3)
        blocks = blocks_of(net, box, size)
        whole, other = regions.StreamCertification(net, box), regions.StreamCertification(net, box)
        for number, block in enumerate(blocks[::-1]):
            (other if number % 3 == 1 else whole).add(block)
            assert not whole.report().failed
        if len(blocks) > 1:
            assert not whole.report().ok and whole.waiting
        whole.merge(pickle.loads(pickle.dumps(other)))
        report = whole.report()
        number = regions.count(net, box)
        assert report.all_proved and report.regions == number, report


@pytest.mark.parametrize("family", sorted(MAX_FAMILIES))
@pytest.mark.parametrize("dimension", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_blocks_with_max_units_are_all_regions(family: str, dimension: int) -> None:
    for net, box in (draw(family, dimension, seed) for seed in range(4)):
        if not box.bounded or not 1 < (count := regions.count(net, box)) <= MOST:
            continue
        whole = regions.StreamCertification(net, box)
        for block in blocks_of(net, box, max(1, count // 6))[::-1]:
            assert not whole.report().all_proved
            whole.add(block)
        report = whole.report()
        assert report.all_proved and report.regions == count, report


def test_blocks_with_max_units_that_are_missing_or_doubled() -> None:
    """Three branches that are equal along a line, and a fourth equal to one of them everywhere."""
    branches = np.array([[0.0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]])
    net = network_of_maxima(3, [(branches, [4])])
    box = regions.Box([-1] * 3, [1] * 3)
    blocks = blocks_of(net, box, 1)
    assert len(blocks) == 3
    for chosen, ok in ((blocks, True), (blocks[:2], False), (blocks[1:], False), (blocks * 2, False)):
        whole = regions.StreamCertification(net, box)
        for block in chosen:
            whole.add(block)
        assert whole.report().all_proved == ok, whole.report()
        assert bool(whole.waiting) == (len(chosen) == 2)


@pytest.mark.slow
def test_blocks_that_are_missing_doubled_or_damaged() -> None:
    net, box = he_normal([3, 5, 4, 1]), regions.Box([-1] * 3, [1] * 3)
    blocks = blocks_of(net, box, 20)
    for number in range(len(blocks)):
        for chosen in (blocks[:number] + blocks[number + 1 :], [*blocks, blocks[number]], blocks[:number] * 2):
            whole = regions.StreamCertification(net, box)
            for block in chosen:
                whole.add(block)
            assert not whole.report().all_proved
    twice = regions.StreamCertification(net, box)
    for block in blocks * 2:
        twice.add(block)
    assert items(twice.report(), "disjoint") == ["failed"] and not twice.waiting
    for name in ("wrong_kink", "bit_flipped", "vertex_dropped_from_a_facet", "region_missing", "patterns_exchanged"):
        loose = apart(blocks[1])
        DAMAGES[name](loose, np.random.default_rng(0))
        whole = regions.StreamCertification(net, box)
        for block in (blocks[0], together(loose, blocks[1]), *blocks[2:]):
            whole.add(block)
        assert not whole.report().all_proved, name


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_damaged_results_are_rejected(name: str, decided: str) -> None:
    """Reject each damaged result, unless it is right all the same; each kind of damage is wrong at least once."""
    wrong = 0
    for seed in range(4):
        dimension = 3 + seed % 2
        rng = np.random.default_rng([seed, *name.encode()])
        net = he_normal([dimension, 4, 3, 1])
        truth = regions.enumerate(net, regions.Box([-1] * dimension, [1] * dimension))
        loose = apart(truth)
        try:
            DAMAGES[name](loose, rng)
        except (IndexError, ValueError):
            continue
        damaged = together(loose, truth)
        report = regions.certify(damaged, net)
        assert report.ok == is_right(damaged, truth), (seed, report)
        wrong += not report.ok
    assert wrong


def test_an_undamaged_result_is_right() -> None:
    net = he_normal([3, 4, 3, 1])
    truth = regions.enumerate(net, regions.Box([-1] * 3, [1] * 3))
    assert together(apart(truth), truth) == truth and is_right(together(apart(truth), truth), truth)


@pytest.mark.parametrize(("dimension", "side"), [(3, 2.0**342), (6, 1e52)])
def test_volumes_beyond_the_largest_double_are_infinite(dimension: int, side: float) -> None:
    net = regions.Network([(np.eye(1, dimension), [0.0]), ([[1.0]], [0.0])])
    part = regions.enumerate(net, regions.Box([-side] * dimension, [side] * dimension))
    assert np.isinf(part.volumes).all() and regions.certify(part, net).all_proved
