# SPDX-License-Identifier: MIT
"""Is every kind of damage to a result noticed, by the item that should notice it, and without an exception?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import regions
from damage_parts import Cell, Damage, assembled, cells_of, damaged, inner_facet, undamaged
from damages import IN_PLANE, ON_LINE
from partition_cases import SQUARE
from random_networks import random_network
from regions.certification import CertificationReport, reference
from regions.certification import verdict as judge
from regions.certification.certification_report import CARRYING
from regions.domains import Domain, Line, Polygon, Ray, Segment
from regions.networks.network import Network
from regions.results.partition import ARRAYS

GENERIC = random_network([2, 6, 5, 3])
LINE = random_network([2, 8, 8, 1], 4), Segment([-2, 1], [3, 0])


def failed(report: CertificationReport) -> list[str]:
    return [item.name for item in report.failed]


def finding(report: CertificationReport, name: str) -> str:
    return next(item.finding.split(" (and ")[0] for item in report.failed if item.name == name)


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "items"), IN_PLANE.values(), ids=IN_PLANE)
def test_damage_in_a_plane_is_noticed(damage: Damage, items: tuple[str, ...]) -> None:
    report = regions.certify(*damaged(damage, undamaged(GENERIC, SQUARE)))
    assert not report.ok and set(items) <= set(failed(report)), report


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "items"), IN_PLANE.values(), ids=IN_PLANE)
def test_values_at_vertices_do_not_prove_damage(
    damage: Damage, items: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "SOON", 0)
    report = regions.certify(*damaged(damage, undamaged(GENERIC, SQUARE)))
    # Stated bounds are sampled here.
    assert not report.ok or not set(items) & set(CARRYING), report


@pytest.mark.parametrize(("damage", "items"), ON_LINE.values(), ids=ON_LINE)
def test_damage_on_a_line_is_noticed(damage: Damage, items: tuple[str, ...]) -> None:
    report = regions.certify(*damaged(damage, undamaged(*LINE)))
    assert not report.ok and set(items) <= set(failed(report)), report


# Damage to results of special networks. Here x and y have a kink each, and the regions are quadrants.
QUADRANTS = Network([(np.eye(2), [0, 0]), ([[1, 1]], [0])])


def test_a_corner_in_the_middle_of_a_straight_side_is_noticed() -> None:
    """Merge the quadrants with x > 0: where the other two meet, the result has a vertex that is not a corner."""
    case = undamaged(QUADRANTS, SQUARE)
    cells = {int(cell.pattern[0]): cell for cell in cells_of(case)}
    vertex = {tuple(xy): number for number, xy in enumerate(case.raw["vertices"].round().tolist())}
    ring = [vertex[xy] for xy in ((0, -1), (1, -1), (1, 1), (0, 1), (0, 0))]
    joined = Cell(ring, [-1, -2, -3, 0, 0], cells[0b11].pattern)
    report = regions.certify(assembled(case, [cells[0b00], cells[0b10], joined]).partition(), QUADRANTS)
    assert {"cells", "inequalities"} <= set(failed(report))
    assert finding(report, "cells").startswith("region 2 is not strictly convex at vertex")


def test_a_kink_that_is_zero_on_a_region_is_off_there() -> None:
    """relu(relu(x)): left of 0 the second kink is zero, not above zero."""
    net = Network([([[1, 0]], [0]), ([[1]], [0]), ([[1]], [0])])
    case = undamaged(net, SQUARE)
    left = case.raw["packed_patterns"][:, 0].tolist().index(0)
    case.raw["packed_patterns"][left] = 0b10
    report = regions.certify(case.partition(), net)
    assert failed(report)[:2] == ["inequalities", "patterns"]
    assert finding(report, "patterns") == f"inside region {left}, kink 1 is not on"


def test_a_unit_above_its_upper_breakpoint_only_is_noticed() -> None:
    net = random_network([2, 4, 4, 1], 1, "hard_tanh")
    case = undamaged(net, SQUARE)
    case.raw["packed_patterns"][0, 0] = 0b10
    report = regions.certify(case.partition(), net)
    assert failed(report) == ["arrays"] and "kink 1 on and kink 0 of the same unit off" in finding(report, "arrays")


def test_a_facet_named_after_a_kink_that_is_only_zero_there_is_noticed() -> None:
    """|x| is above zero on both sides of the line on which it is zero."""
    net = Network([([[1, 0], [-1, 0]], [0, 0]), ([[1, 1]], [0]), ([[1]], [0])])
    case = undamaged(net, SQUARE)
    case.raw["facet_kinks"][inner_facet(case)] = 2
    report = regions.certify(case.partition(), net)
    assert failed(report) == ["neighbours"] and finding(report, "neighbours").endswith(
        "kink 2, which it names, does not flip"
    )


def test_a_copy_of_a_neuron_has_to_flip_with_it() -> None:
    net = Network([([[1, 0], [2, 0]], [0, 0]), ([[1, 1]], [0])])
    case = undamaged(net, SQUARE)
    case.raw["packed_patterns"][case.raw["packed_patterns"] == 0] = 0b10
    case.raw["facet_kinks"][inner_facet(case)] = 0
    report = regions.certify(case.partition(), net)
    assert finding(report, "neighbours").endswith("kink 1 changes sign, but does not flip")


def test_a_kink_that_flips_away_from_its_line_is_noticed() -> None:
    said = []
    for region in range(4):
        case = undamaged(QUADRANTS, SQUARE)
        case.raw["packed_patterns"][region] ^= 0b10
        said.append(finding(regions.certify(case.partition(), QUADRANTS), "neighbours"))
    assert any(each.endswith("flips, but is not zero on it") for each in said)
    assert any(each.endswith("which it names, does not flip") for each in said)


def test_a_region_outside_of_the_domain_is_noticed() -> None:
    """A region without an edge on the domain boundary, so that everything else stays right."""
    case = undamaged(GENERIC, SQUARE)
    cells = cells_of(case)
    alone = assembled(case, [next(cell for cell in cells if min(cell.kinks) >= 0)])
    alone.raw["complete"] = False
    assert regions.certify(alone.partition(), GENERIC).ok
    elsewhere = replace(alone, domain=Polygon([[5, 5], [6, 5], [6, 6], [5, 6]]))
    report = regions.certify(elsewhere.partition(), GENERIC)
    assert failed(report) == ["inequalities"] and "is outside of the domain" in finding(report, "inequalities")


def test_a_breakpoint_called_infinite_is_noticed() -> None:
    line = Line([0, 0], [1, 0.25])
    case = undamaged(GENERIC, line)
    last = int(case.raw["cell_vertices"][-2])
    assert np.isfinite(case.raw["vertices"][last, 0])
    case.put("vertices", last, np.inf).put("vertex_errors", last, np.inf)
    report = regions.certify(case.partition(), GENERIC)
    assert failed(report) == ["coordinates"] and finding(report, "coordinates").endswith("but a double can hold it")


def test_a_finite_volume_of_an_unbounded_region_is_noticed() -> None:
    partition = regions.enumerate(GENERIC, Ray([0, 0], [1, 0.25]))
    partition.__dict__["volumes"] = np.where(np.isinf(partition.volumes), 1e9, partition.volumes)
    assert failed(regions.certify(partition, GENERIC)) == ["volumes"]


@pytest.mark.parametrize(("inside", "items"), [(False, {"border", "volume"}), (True, {"volume", "euler"})])
def test_what_does_not_carry_the_proof_notices_a_hole_by_itself(
    inside: bool, items: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays with a hole do not fit together, and checks stop there. Without that check, these items notice it."""
    monkeypatch.setattr(judge, "first_problem", lambda *arguments: None)
    case = undamaged(GENERIC, SQUARE)
    cells = cells_of(case)
    hole = next(region for region, cell in enumerate(cells) if (min(cell.kinks) >= 0) == inside)
    report = regions.certify(assembled(case, cells[:hole] + cells[hole + 1 :]).partition(), GENERIC)
    assert set(failed(report)) == {*items, "reference"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ARRAYS)
def test_no_change_of_a_number_goes_unnoticed_or_raises(name: str) -> None:
    """Any number of any array, changed to something else. Only bounds may grow."""
    for seed in range(40):
        rng = np.random.default_rng([seed, *name.encode()])
        network, domain = (GENERIC, SQUARE) if seed % 2 else LINE
        case = undamaged(network, domain)
        array = case.raw[name]
        index = tuple(int(rng.integers(size)) for size in array.shape)
        before = array[index]
        if array.dtype == np.float64:
            array[index] = [np.nan, -np.inf, np.inf, before + rng.choice([-1, 1]) * 10.0 ** -rng.integers(0, 10), -1.0][
                rng.integers(5)
            ]
        elif array.dtype == np.uint8:
            array[index] ^= 1 << rng.integers(8)
        else:
            array[index] += rng.choice([-(2**40), -3, -2, -1, 1, 2, 3, 2**40])
        harmless = name == "vertex_errors" and before < array[index] < np.inf
        assert regions.certify(case.partition(), network).ok == harmless, (seed, index, before, array[index])


@pytest.mark.parametrize("seed", range(30))
def test_shuffled_arrays_do_not_raise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = undamaged(*((GENERIC, SQUARE) if seed % 2 else LINE))
    for name in rng.choice(list(ARRAYS), 2, replace=False):
        case.raw[name] = rng.permutation(case.raw[name])
    assert not regions.certify(case.partition(), case.network).ok


@pytest.mark.slow
def test_a_vertex_at_infinity_on_the_other_side_is_noticed() -> None:
    plane = regions.Plane([0, 0], [1, 0], [0, 1])
    case = undamaged(GENERIC, plane)
    at_infinity = np.isinf(case.raw["vertices"])
    assert regions.certify(case.partition(), GENERIC).ok
    for index in np.argwhere(at_infinity)[:6]:
        for instead in (-case.raw["vertices"][tuple(index)], 0.0):
            moved = undamaged(GENERIC, plane).put("vertices", tuple(index), instead)
            assert failed(regions.certify(moved.partition(), GENERIC)) == ["coordinates"]
    finite = int(np.flatnonzero(~at_infinity.any(axis=1))[0])
    gone = undamaged(GENERIC, plane).put("vertices", (finite, 0), np.inf)
    assert "coordinates" in failed(regions.certify(gone.partition(), GENERIC))


def test_a_wrong_affine_map_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    partition = regions.enumerate(GENERIC, SQUARE)
    right = partition.affine_maps

    def wrong(indices: list[int]) -> tuple[np.ndarray, np.ndarray]:
        linear, constant = right(indices)
        return linear, constant * (1 + 2.0**-40)

    monkeypatch.setitem(partition.__dict__, "affine_maps", wrong)
    assert failed(regions.certify(partition, GENERIC)) == ["affine maps"]


@pytest.mark.parametrize(("change", "message"), [(1, "1 regions are missing"), (-1, "is not found")])
def test_what_the_reference_finds_otherwise_is_noticed(
    change: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def otherwise(network: Network, domain: Domain) -> list[tuple[bool, ...]]:
        found = patterns(network, domain)
        return [*found, (True,) * network.kinks] if change > 0 else found[1:]

    patterns = reference.patterns
    monkeypatch.setattr(reference, "patterns", otherwise)
    report = regions.certify(regions.enumerate(GENERIC, SQUARE), GENERIC)
    assert failed(report) == ["reference"] and message in finding(report, "reference")
