# SPDX-License-Identifier: MIT
"""Is every right result proved, are sampled claims reported as such, and is the report readable?"""

from __future__ import annotations

import json
import signal
from typing import Any

import numpy as np
import pytest

import regions
from damage_parts import assembled, cells_of, undamaged
from fuzz import Case, drawn
from generators import draw
from partition_cases import SQUARE, everywhere, families
from random_networks import random_network
from raw_from_reference import partition_from_reference, raw_from_reference, without_last_region
from regions.certification import CertificationReport, forms, signs
from regions.certification import verdict as judge
from regions.certification.certification_report import CLAIMS, LOOKED_AT
from regions.certification.forms import Forms
from regions.certification.reference.integers import products_of_integers, to_integers
from regions.domains import Domain, Line, Plane, Ray, Segment
from regions.errors import LimitReached
from regions.networks.network import Network
from regions.results.partition import Partition, raw_arrays

GENERIC = random_network([2, 6, 5, 3])


def names(items: tuple[regions.certification.CertificationItem, ...]) -> set[str]:
    return {item.name for item in items}


def assert_proved(report: CertificationReport, count: int) -> None:
    assert report.ok and not report.unchecked, str(report)
    assert names(report.sampled) <= {"affine maps", "reference"}
    assert (
        report.conclusion
        == f"proved: there {'is' if count == 1 else 'are'} exactly {count:,} region{'s' * (count > 1)}"
    )


@pytest.mark.slow
@families
def test_every_family(family: str, dimension: int) -> None:
    for seed in range(2):
        network, domain = draw(family, dimension, seed)
        part = regions.enumerate(network, domain)
        assert_proved(regions.certify(part, network), len(part))


@pytest.mark.slow
@families
def test_every_family_without_end(family: str, dimension: int) -> None:
    network, domain = draw(family, dimension, 2)
    kind = (Line, Plane)[dimension - 1]
    whole = kind(domain.origin, *domain.directions)
    part = regions.enumerate(network, whole)
    assert_proved(regions.certify(part, network), len(part))


@everywhere
def test_what_the_reference_made(network: Network, domain: Domain) -> None:
    part = partition_from_reference(network, domain)
    assert_proved(regions.certify(part, network), len(part))


def test_known_counts_in_the_plane() -> None:
    """Five lines in general position, and as many through one point."""
    plane = Plane([0, 0], [1, 0], [0, 1])
    for offsets, count in ((np.arange(5.0) ** 2, 16), (np.zeros(5), 10)):
        net = Network(
            [(np.stack([np.arange(1.0, 6.0), np.arange(5.0) ** 3 - 7], axis=1), offsets), (np.ones((1, 5)), [0])]
        )
        assert_proved(regions.certify(regions.enumerate(net, plane), net), count)


def test_order_does_not_matter() -> None:
    """Which region is first, and at which corner each begins, is not part of the result."""
    case = undamaged(GENERIC, SQUARE)
    cells = cells_of(case)
    rng = np.random.default_rng(0)
    turned = []
    for index in rng.permutation(len(cells)).tolist():
        cell, by = cells[index], int(rng.integers(3))
        turned.append(
            type(cell)(cell.vertices[by:] + cell.vertices[:by], cell.kinks[by:] + cell.kinks[:by], cell.pattern)
        )
    assert_proved(regions.certify(assembled(case, turned).partition(), GENERIC), len(cells))


def test_an_interval_of_one_ulp() -> None:
    net = Network([([[1.0], [1.0]], [-1.0, -np.nextafter(1.0, 2)]), ([[1.0, 1.0]], [0.0])])
    assert_proved(regions.certify(regions.enumerate(net, Segment([0.0], [2.0])), net), 3)


def test_no_hidden_layer_and_no_kinks() -> None:
    affine = random_network([2, 3], 7)
    identity = Network([(np.eye(2), [0, 0]), (np.ones((1, 2)), [0])], "identity")
    for net in (affine, identity):
        for domain in (SQUARE, Segment([0, 0], [1, 1]), Ray([0, 0], [1, 1]), Plane([0, 0], [1, 0], [0, 1])):
            assert_proved(regions.certify(regions.enumerate(net, domain), net), 1)


# Partial results, and results of which only a part is checked.


def test_a_partial_result_is_real_as_far_as_it_goes() -> None:
    with pytest.raises(LimitReached) as stopped:
        regions.enumerate(random_network([2, 12, 12, 1]), SQUARE, limit=40)
    part = stopped.value.partial
    report = regions.certify(part, part.network)
    assert report.ok and names(report.unchecked) == {"border", "volume", "euler"}
    assert not report.complete and not report.all_proved
    more = "there may be more, because this is a partial result"
    assert report.conclusion == f"partial: {len(part)} regions, each of them real; {more}"
    raw = without_last_region(raw_from_reference(GENERIC, SQUARE))
    assert regions.certify(Partition(GENERIC, SQUARE, raw), GENERIC).ok


def test_a_partial_result_without_regions() -> None:
    raw = {name: array[:0] for name, array in undamaged(GENERIC, SQUARE).raw.items() if isinstance(array, np.ndarray)}
    raw["cell_offsets"] = np.zeros(1)
    report = regions.certify(Partition(GENERIC, SQUARE, {**raw, "stats": {}, "complete": False}), GENERIC)
    assert report.ok and report.regions == 0


def test_a_partial_result_with_a_region_that_is_not_real() -> None:
    raw = without_last_region(raw_from_reference(GENERIC, SQUARE))
    raw["packed_patterns"][0, 0] ^= 1
    assert not regions.certify(Partition(GENERIC, SQUARE, raw), GENERIC).ok


@pytest.mark.parametrize("domain", [SQUARE, Segment([-1, -1], [1, 0.5])])
def test_values_at_vertices_prove_what_would_be_too_much_work(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "SOON", 0)
    monkeypatch.setattr(judge, "PRODUCTS", 20_000)
    net = random_network([2, 20, 20, 1], 3)
    part = regions.enumerate(net, domain)
    report = regions.certify(part, net)
    assert report.conclusion == f"proved: there are exactly {len(part):,} regions"
    assert not report.unchecked and {"affine maps"} <= names(report.sampled) <= {"affine maps", "reference"}
    finding = next(item.finding for item in report.items if item.name == "inequalities")
    assert 0 < int(finding.split(" of ")[0]) < len(part.vertices) / 2


@pytest.mark.parametrize("domain", [SQUARE, Segment([-1, -1], [1, 0.5])])
@pytest.mark.parametrize("damage", ["moved", "bound"])
def test_every_vertex_of_a_large_result_is_within_its_bound(
    domain: Domain, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Coordinates were once sampled in large results."""
    monkeypatch.setattr(judge, "SOON", 0)
    net = random_network([2, 12, 12, 1], 3)
    part = regions.enumerate(net, domain)
    for vertex in (len(part.vertices) // 2, len(part.vertices) // 3):
        raw = {**raw_arrays(part)}
        if damage == "moved":
            raw["vertices"] = part.vertices.copy()
            raw["vertices"][vertex] += 8 * part.vertex_errors[vertex]
        else:
            raw["vertex_errors"] = part.vertex_errors.copy()
            raw["vertex_errors"][vertex] = 0.0
        report = regions.certify(Partition(net, domain, raw), net)
        assert {"coordinates"} <= names(report.failed) <= {"coordinates", "volumes"}
        assert f"vertex {vertex} is stored as" in report.failed[0].finding


@pytest.mark.parametrize("domain", [Ray([-1, -1], [1, 0.5]), Plane([0, 0], [1, 0], [0, 1])])
def test_some_regions_of_an_unbounded_domain(domain: Domain) -> None:
    net = random_network([2, 20, 20, 1], 3)
    part, seen = regions.enumerate(net, domain), 12
    report = regions.certify(part, net, regions=seen)
    assert not report.ok and not report.failed and names(report.unchecked) == {"border", "volume"}
    assert names(report.proved) == {"network", "arrays", "disjoint", "euler"}
    assert next(item.checked for item in report.sampled if item.name == "cells") == seen < len(part)
    assert next(item.checked for item in report.sampled if item.name == "neighbours") > 0
    each = net.kinks + (4 if domain.dimension == 2 else 2)
    assert report.inequalities == each
    assert report.conclusion == (
        f"no fault found: {seen} of {len(part):,} regions checked "
        f"({seen} of {len(part):,} patterns, {each * seen:,} of {each * len(part):,} inequalities)"
    )


class TestHowMany:
    def test_as_many_as_are_wanted(self) -> None:
        part = regions.enumerate(GENERIC, SQUARE)
        for wanted in (1, 5, len(part) - 1):
            report = regions.certify(part, GENERIC, regions=wanted)
            assert not report.ok and not report.failed
            assert f"no fault found: {wanted} of {len(part)} regions" in report.conclusion
            assert report == regions.certify(part, GENERIC, regions=np.int64(wanted))
        for wanted in (len(part), 10**9, "all"):
            assert regions.certify(part, GENERIC, regions=wanted) == regions.certify(part, GENERIC)

    def test_all_of_them_in_integers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        part = regions.enumerate(GENERIC, SQUARE)
        whole = regions.certify(part, GENERIC)
        monkeypatch.setattr(judge, "SOON", 0)
        by_values = regions.certify(part, GENERIC)
        assert by_values.conclusion == whole.conclusion and by_values != whole
        assert regions.certify(part, GENERIC, regions="all") == whole
        assert_proved(whole, len(part))

    @pytest.mark.parametrize("wanted", [0, -1, 1.5, True, "some", "5", [3], np.array([1, 2])])
    def test_anything_but_a_number_is_refused(self, wanted: object) -> None:
        with pytest.raises(ValueError, match='regions must be a number of regions, 1 or more, or "all", got '):
            regions.certify(regions.enumerate(GENERIC, SQUARE), GENERIC, regions=wanted)  # type: ignore[arg-type]


class TestProgress:
    def test_each_region_once(self) -> None:
        part, reports = regions.enumerate(GENERIC, SQUARE), []
        report = regions.certify(part, GENERIC, progress=lambda *report: reports.append(report))
        shares, numbers = zip(*reports, strict=True)
        assert list(shares) == sorted(shares) and shares[-1] == 1.0
        assert list(numbers) == sorted(numbers) and numbers[0] == 1 and numbers[-1] == len(part)
        assert report == regions.certify(part, GENERIC)

    def test_values_at_vertices_are_half_of_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(judge, "SOON", 0)
        part, shares = regions.enumerate(GENERIC, SQUARE), list[float]()
        regions.certify(part, GENERIC, progress=lambda share, _: shares.append(share))
        assert shares == sorted(shares) and shares[-1] == 1 and 0.5 in shares

    def test_a_bar(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FORCE_COLOR", "1")
        regions.certify(regions.enumerate(GENERIC, SQUARE), GENERIC, progress=True)
        printed = capsys.readouterr()
        assert "regions" in printed.err and not printed.out

    def test_ctrl_c_keeps_what_was_checked(self) -> None:
        part = regions.enumerate(GENERIC, SQUARE)

        def report(share: float, found: int) -> None:
            if found >= 7:
                signal.raise_signal(signal.SIGINT)

        with pytest.raises(KeyboardInterrupt) as stopped:
            regions.certify(part, GENERIC, progress=report)
        partial = stopped.value.partial
        assert not partial.ok and not partial.failed
        seen = next(item.checked for item in partial.items if item.name == "cells")
        assert 7 <= seen < len(part) and f"no fault found: {seen} of {len(part)} regions" in partial.conclusion
        assert names(partial.proved) == {"network", "arrays", "disjoint", "euler"}
        assert names(partial.sampled) == {"vertices", "cells", "inequalities", "patterns", "neighbours"}
        assert {item.finding for item in partial.unchecked} == {"stopped before"}

    @pytest.mark.parametrize("workers", [1, 2])
    def test_ctrl_c_keeps_what_values_proved(self, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """Regions whose vertices have all been passed are proved, and no others."""
        monkeypatch.setattr(judge, "SOON", 0)
        monkeypatch.setattr(signs, "CHUNK", 600)
        net = random_network([2, 16, 16, 1], 3)
        part, seen = regions.enumerate(net, SQUARE), list[float]()

        def report(share: float, found: int) -> None:
            seen.append(share)
            if share > 0.15:  # of the values in doubles, which are a quarter
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as stopped:
            regions.certify(part, net, progress=report, workers=workers)
        partial = stopped.value.partial
        (checked,) = {item.checked for item in partial.items if item.name in LOOKED_AT}
        assert not partial.failed and partial.ok == (checked == len(part))
        # Two threads may have finished all regions or none when Ctrl-C comes.
        assert 0 < checked < len(part) or workers == 2

    def test_ctrl_c_keeps_what_is_wrong(self) -> None:
        """Each region is damaged, so one is enough."""
        case = undamaged(GENERIC, SQUARE)
        case.raw["packed_patterns"] ^= 1

        def report(share: float, found: int) -> None:
            signal.raise_signal(signal.SIGINT)

        with pytest.raises(KeyboardInterrupt) as stopped:
            regions.certify(case.partition(), GENERIC, progress=report)
        assert "patterns" in names(stopped.value.partial.failed)

    @pytest.mark.parametrize("step", ["check_disjoint", "check_border", "check_against_reference", "ask_cddlib"])
    def test_ctrl_c_in_every_step(self, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(judge, step, interrupted)
        part = regions.enumerate(GENERIC, SQUARE)
        with pytest.raises(KeyboardInterrupt) as stopped:
            regions.certify(part, GENERIC)
        seen = 0 if step == "check_disjoint" else len(part)
        partial = stopped.value.partial
        assert {item.checked for item in partial.items if item.name in LOOKED_AT} == {seen}
        proved = step not in ("check_disjoint",)
        assert partial.conclusion.startswith("proved: there are exactly" if proved else "no fault found: 0 of ")


def test_long_numbers_count_for_more() -> None:
    short, long = (
        Forms(Network([(np.full((4, 2), w), None), (np.full((4, 4), w), None), (np.ones((1, 4)), None)]), SQUARE)
        for w in (1.0, 2.0**700 + 2.0**660)
    )
    assert long.products_per_pattern > short.products_per_pattern


# The report.


def test_the_report_as_text_and_as_json() -> None:
    part = regions.enumerate(GENERIC, SQUARE)
    report = regions.certify(part, GENERIC)
    lines = str(report).splitlines()
    places = f"{SQUARE.fingerprint}: 4 corners in R^2: {SQUARE.generators[:, 1:].tolist()}"
    assert (report.network, report.domain) == (GENERIC.fingerprint, places)
    about = [f"network {GENERIC.fingerprint}", f"domain {places}", ""]
    assert lines[:4] == [f"proved: there are exactly {len(part)} regions", *about]
    assert [line.split("   ")[0] for line in lines[4:]] == list(CLAIMS)
    facts = json.loads(report.to_json())
    assert (facts["ok"], facts["regions"], facts["complete"]) == (True, len(part), True)
    assert [item["name"] for item in facts["items"]] == list(CLAIMS)
    assert facts["items"][2] == {
        "name": "disjoint",
        "claim": CLAIMS["disjoint"],
        "status": "proved",
        "checked": len(part),
        "total": len(part),
        "unit": "regions",
        "finding": "",
    }
    assert len(report.items) == sum(map(len, (report.proved, report.sampled, report.failed, report.unchecked)))


def test_a_failure_says_where_and_how_many() -> None:
    case = undamaged(GENERIC, SQUARE)
    case.raw["packed_patterns"][:] = case.raw["packed_patterns"][5]
    report = regions.certify(case.partition(), GENERIC)
    disjoint = next(item for item in report.failed if item.name == "disjoint")
    others = len(case.raw["packed_patterns"]) - 2
    assert disjoint.finding == f"regions 0 and 1 have the same pattern (and {others} more)"
    assert report.conclusion.startswith("failed: disjoint, ")
    assert report.conclusion.endswith(f"; {report.failed[0].finding}")
    assert f"disjoint       failed      {others + 2} of {others + 2} regions" in str(report)


@pytest.mark.slow
def test_the_same_every_time() -> None:
    net = random_network([2, 16, 16, 1], 2)
    part = regions.enumerate(net, SQUARE)
    assert regions.certify(part, net) == regions.certify(part, net)


def too_large(monkeypatch: pytest.MonkeyPatch) -> int:
    """Make a network too large for integers; return its number of weights."""
    weights = sum(layer.weights.size for layer in GENERIC.layers)
    assert products_of_integers(GENERIC.graph) == weights
    monkeypatch.setattr(forms, "MOST_PRODUCTS", weights - 1)
    return weights


def test_what_is_too_large_for_integers_is_proven_by_values(monkeypatch: pytest.MonkeyPatch) -> None:
    part, weights = regions.enumerate(GENERIC, SQUARE), too_large(monkeypatch)
    report = regions.certify(part, GENERIC)
    assert report.ok and report.conclusion == f"proved: there are exactly {len(part)} regions"
    assert names(report.unchecked) == {"affine maps", "reference"} and not report.sampled
    assert all(f"too large: a forward pass takes {weights:,} products" in item.finding for item in report.unchecked)


def test_what_values_leave_open_is_said_if_it_is_too_large_for_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plane is unbounded, and vertices at infinity have no values."""
    part = regions.enumerate(GENERIC, Plane([0, 0], [1, 0], [0, 1]))
    too_large(monkeypatch)
    report = regions.certify(part, GENERIC)
    assert not report.ok and not report.failed
    assert report.conclusion.startswith(f"no fault found: 0 of {len(part)} regions checked")
    assert "the network is too large" in next(item.finding for item in report.items if item.name == "cells")


@pytest.mark.parametrize("wanted", [1, "all"])
def test_what_is_too_large_is_said_at_once(wanted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    part, weights = regions.enumerate(GENERIC, SQUARE), too_large(monkeypatch)
    report = regions.certify(part, GENERIC, regions=wanted)
    assert [item.name for item in report.proved] == ["network", "arrays", "disjoint", "euler"]
    assert all(f"too large: a forward pass takes {weights:,} products" in item.finding for item in report.unchecked)
    assert not report.ok and not report.failed
    assert report.conclusion.startswith(f"no fault found: 0 of {len(part)} regions checked")
    path = regions.trajectory(GENERIC, regions.Segment([-1, -1], [1, 1]))
    assert [item.name for item in regions.certify(path, GENERIC, regions=wanted).proved] == ["network", "arrays"]
    monkeypatch.setattr(forms, "MOST_PRODUCTS", weights)
    assert regions.certify(part, GENERIC, regions=wanted).proved[3:]


@pytest.mark.parametrize("family", ["graph_ternary", "max_integers", "graph_deep"])
@pytest.mark.parametrize("seed", range(4))
def test_products_are_counted_without_making_integers(family: str, seed: int) -> None:
    network, domain = drawn(Case(family, "polygon", seed))
    rows = (row for layer in to_integers(network, domain).layers for row in layer.rows)
    assert products_of_integers(network.graph) == sum(len(row.weights) for row in rows)


def test_wrong_types_are_refused() -> None:
    part = regions.enumerate(GENERIC, SQUARE)
    with pytest.raises(TypeError, match=r"expected a regions.Partition, got Network"):
        regions.certify(GENERIC, part)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected a regions.Network, got list"):
        regions.certify(part, [1])  # type: ignore[arg-type]
