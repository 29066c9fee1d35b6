# SPDX-License-Identifier: MIT
"""Does `regions.check` notice wrong regions, by the right identity, and without an exception?"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import regions
from damage_parts import Case, Damage, damaged, undamaged
from damages import IN_PLANE, ON_LINE
from partition_cases import SQUARE
from random_networks import random_network
from regions.checking import CheckReport
from regions.checking import check_all as judge
from regions.checking.invariants import definitions_item, invariant_items
from regions.checking.patterns import prefix_counts
from regions.domains import Polygon, Segment
from regions.errors import InternalError
from regions.measures import boundary_volume
from regions.networks.network import Network
from regions.results.cells.consistency import first_problem
from regions.results.partition import ARRAYS

NET = random_network([2, 6, 5, 3])
LINE = random_network([2, 8, 8, 1], 4), Segment([-2, 1], [3, 0])

# Only exact arithmetic detects these errors, errors in the position of an edge, and errors in the position of a vertex
# around which all regions have the same two kinks: `regions.certify` finds them.
UNNOTICED = {
    "vertex_moved",
    "error_understated",
    "wrong_edge_of_the_domain",
    "all_clockwise",
    "breakpoint_moved",
    "error_of_a_breakpoint_understated",
    "ends_of_the_domain_exchanged",
}


def violated(report: CheckReport) -> set[str]:
    return {item.name for item in report.violations}


def checked(case: Case) -> CheckReport:
    report = regions.check(case.network, case.partition())
    assert str(report) and report.to_html() and json.loads(report.to_json())["ok"] == report.ok
    return report


@pytest.mark.parametrize("name", [*IN_PLANE, *ON_LINE])
def test_damage_is_noticed_or_refused(name: str) -> None:
    damage: Damage = {**IN_PLANE, **ON_LINE}[name][0]
    partition, network = damaged(damage, undamaged(*((NET, SQUARE) if name in IN_PLANE else LINE)))
    arrays = {each: getattr(partition, each) for each in ARRAYS}
    if first_problem(partition.network, partition.domain, arrays, partition.complete):
        return  # `load_partition` refuses it
    try:
        report = regions.check(network, partition)
    except ValueError:
        return
    assert report.ok == (name in UNNOTICED), report


def test_nothing() -> None:
    report = checked(undamaged(NET, SQUARE))
    assert report.ok and all(item.status == "holds" for item in report.invariants)


def test_two_patterns_exchanged() -> None:
    case = undamaged(NET, SQUARE)
    report = checked(case.put("packed_patterns", [0, 7], case.raw["packed_patterns"][[7, 0]]))
    assert violated(report) == {"facets", "patterns"}
    # Nothing is computed from these arrays.
    assert [item.definition for item in report.counts] == ["activation"]
    assert {item.status for item in report.bounds} == {"does not apply"}
    assert {item.value for item in report.orders} == {None}
    assert "violate an invariant" in report.bounds[0].note
    assert report.invariants[-1].note.endswith("an invariant: facets, patterns")
    assert "altered" in report.conclusion


def test_kinks_of_facets_in_another_order() -> None:
    case = undamaged(NET, SQUARE)
    inside = np.flatnonzero(case.raw["facet_kinks"] >= 0)
    report = checked(case.put("facet_kinks", inside, case.raw["facet_kinks"][np.roll(inside, 1)]))
    assert violated(report) == {"facets"}
    item = next(item for item in report.invariants if item.name == "facets")
    assert int(item.found) < int(item.expected) == len(inside) and "does not switch across facet" in item.note


@pytest.mark.slow
def test_a_kink_of_a_facet_need_only_be_one_of_those_that_switch() -> None:
    net = Network([([[1, 0], [2, 0]], [0, 0]), ([[1, 1]], [0])])
    for kink in (0, 1):
        case = undamaged(net, SQUARE)
        assert checked(case.put("facet_kinks", case.raw["facet_kinks"] >= 0, kink)).ok


def test_a_kink_that_no_facet_has() -> None:
    """A unit that is active everywhere is said to be inactive: facets, counts and lengths do not change."""
    net = Network([([[1, 0], [0, 1], [0, 1]], [0, 0, 9]), ([[1, 1, 1]], [0])])
    case = undamaged(net, SQUARE)
    assert violated(checked(case.put("packed_patterns", ..., case.raw["packed_patterns"] ^ 0b100))) == {"patterns"}


@pytest.mark.slow
def test_errors_that_say_nothing() -> None:
    case = undamaged(NET, SQUARE)
    assert violated(checked(case.put("vertex_errors", ..., 1.0))) == {"errors"}
    # The bound is allowed, but then nothing follows for the volume.
    report = checked(case.put("vertex_errors", ..., 1 / 16))
    assert report.ok
    status = {item.name: (item.status, item.note) for item in report.invariants}
    assert status["errors"][0] == "holds"
    assert status["volume"][0] == "not decided" and "too roughly" in status["volume"][1]
    patterns = status["patterns"][1].split(" signs")[0]
    assert int(patterns.split(" of ")[0]) < int(patterns.split(" of ")[1])


def test_a_corner_of_the_domain() -> None:
    case = undamaged(NET, SQUARE)
    corner = np.abs(case.raw["vertices"]).sum(axis=1).argmax()
    assert violated(checked(case.put("vertices", corner, case.raw["vertices"][corner] * (1 - 1e-9)))) >= {
        "volume",
        "perimeters",
    }


def test_a_graph_in_two_parts() -> None:
    """The facets of one region have no neighbours."""
    case = undamaged(NET, SQUARE)
    apart = case.put("facet_regions", (case.raw["facet_regions"] == 0).any(axis=1), -1)
    assert "connected" in violated(checked(apart))


def test_a_facet_that_names_no_kink() -> None:
    case = undamaged(NET, SQUARE)
    inside = (case.raw["facet_kinks"] >= 0).argmax()
    part = case.put("facet_kinks", inside, 999).partition()
    boundary = boundary_volume(part)
    items = invariant_items(part, boundary, prefix_counts(part), prefix_counts(part))
    assert {item.name for item in items if item.status == "violated"} == {"facets"}


def test_a_facet_that_is_said_to_be_border() -> None:
    case = undamaged(NET, SQUARE)
    assert "perimeters" in violated(checked(case.put("facet_kinks", (case.raw["facet_kinks"] >= 0).argmax(), -1)))


def test_counts_that_disagree() -> None:
    part = regions.enumerate(NET, SQUARE)
    begin, count = prefix_counts(part), len(part)

    def violated(counted: list[int | None]) -> set[str]:
        items = invariant_items(part, boundary_volume(part), begin, counted)
        return {item.name for item in items if item.status == "violated"}

    assert violated([*begin]) == violated([None, count]) == set()
    assert violated([begin[0] + 1, count]) == {"layers"}
    assert violated([count + 1, count]) == {"layers", "growth"}
    assert violated([begin[0], count + 1]) == {"layers", "count"}
    assert definitions_item({"activation": 5, "affine": 6}).status == "violated"


def test_a_boundary_of_neurons_that_is_not_the_whole() -> None:
    part = regions.enumerate(NET, SQUARE)
    boundary = boundary_volume(part)
    boundary = replace(boundary, neurons=boundary.neurons * (1 + 1e-12))
    items = invariant_items(part, boundary, prefix_counts(part), prefix_counts(part))
    assert {item.name for item in items if item.status == "violated"} == {"neurons"}


def test_what_definitions_find_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong bit that floating point cannot prove wrong may still come out in exact arithmetic."""

    def by_definition(partition: regions.Partition) -> None:
        raise InternalError("kink 3 is on in a region and negative at its corner 5")

    monkeypatch.setattr(judge, "by_definition", by_definition)
    report = checked(undamaged(NET, SQUARE))
    assert violated(report) == {"definitions"} and "kink 3" in str(report)
    assert {item.status for item in report.bounds} == {"does not apply"}


@pytest.mark.parametrize(
    ("sizes", "activation"), [([2, 9, 1, 17, 1], "relu"), ([2, 3, 4, 1], "hard_tanh"), ([2, 8, 8, 8, 1], "abs")]
)
def test_beginnings(sizes: list[int], activation: str) -> None:
    for domain in (SQUARE, Polygon([[3, 3], [3.001, 3], [3, 3.001]]), Segment([-1, 0], [2, 1])):
        part = regions.enumerate(random_network(sizes, 1, activation), domain)
        found = [len({tuple(row) for row in part.patterns[:, part.network.kink_layers <= k]}) for k in range(2)]
        assert prefix_counts(part)[:2] == found and prefix_counts(part)[-1] == len(part)
    repeated = undamaged(random_network(sizes, 1, activation), SQUARE)
    repeated.raw["packed_patterns"][:] = repeated.raw["packed_patterns"][0]
    assert prefix_counts(repeated.partition()) == [1] * (len(sizes) - 2)


def test_patterns_without_bits() -> None:
    net = Network([([[1, 0]], [0]), ([[1]], [0])], "identity")
    assert prefix_counts(regions.enumerate(net, SQUARE)) == [1] and regions.check(net, SQUARE).ok
