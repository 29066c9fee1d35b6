# SPDX-License-Identifier: MIT
"""Does `certify` prove results along curves, and notice errors in them?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from generators_arcs import arc_case
from generators_arcs_maxima import maxima_arc_case, meeting_arms_case
from random_networks import random_network
from regions import Arc, Circle, GreatCircle, Network, Polyline, Segment, certify, trajectory
from regions.domains.curves import ArcLeg, Curve
from regions.studies.trajectory import Trajectory

CURVES = {
    "segment": Segment([-1, 0.5, 2], [1, 1, -2]),
    "polyline": Polyline([[0, 0, 1], [1, 0, 0], [-1, 2, 0], [0, 0, 1]]),
    "arc": Arc([1, 0.5, 0], [-1, 2, 1]),
    "circle": Circle([0.1, 0, 0.3], [1, 1, 0], [0, -1, 2]),
    "great": GreatCircle([0, 3, 0], [0, -1.8, 2.4]),
}
NAMES = ["network", "arrays", "patterns", "coordinates", "numbers"]


def path_along(name: str, activation: str = "relu") -> tuple[Trajectory, Network]:
    net = random_network([3, 9, 7, 2], 5, activation=activation)
    return trajectory(net, CURVES[name]), net


@pytest.mark.parametrize("activation", ["relu", "hardtanh"])
@pytest.mark.parametrize("name", CURVES)
def test_all_is_proved(name: str, activation: str) -> None:
    path, net = path_along(name, activation)
    report = certify(path, net)
    assert report.conclusion == f"proved: there are exactly {path.pieces[-1]} pieces", report
    assert [item.name for item in report.proved] == NAMES
    assert "lengths of images are not looked at" in str(report)
    assert str(report).splitlines()[1:3] == [
        f"network {net.fingerprint}",
        f"curve {path.curve.fingerprint}: {path.curve!r}",
    ]


@pytest.mark.parametrize("draw", [arc_case, maxima_arc_case, meeting_arms_case])
def test_degenerate_arcs(draw: Callable[[int], tuple[Network, ArcLeg]]) -> None:
    for seed in range(40):
        net, leg = draw(seed)
        path = trajectory(net, Curve([leg], False))
        assert certify(path, net).conclusion.startswith("proved"), seed


@pytest.mark.parametrize("name", CURVES)
def test_some_are_sampled(name: str) -> None:
    path, net = path_along(name)
    report = certify(path, net, regions=4)
    assert not report.ok and not report.failed
    assert [item.name for item in report.sampled] == ["patterns", "coordinates"]
    assert report.conclusion.startswith("no fault found: ")


def test_progress_and_interrupts() -> None:
    path, net = path_along("circle")
    told: list[tuple[float, int]] = []
    certify(path, net, progress=lambda share, done: told.append((share, done)))
    assert told[-1] == (1.0, len(path.strands)) and len(told) == 4

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        certify(path, net, progress=stop)
    report = stopped.value.partial
    assert not report.ok and [item.status for item in report.items] == [
        "proved",
        "proved",
        "sampled",
        "sampled",
        "unchecked",
    ]


def damaged(path: Trajectory, what: str) -> Trajectory:
    strands = path.strands
    packed, ends = strands.packed_patterns.copy(), strands.ends.copy()
    if what == "a flipped bit":
        packed[2, 0] ^= 1
    elif what == "a strand is missing":
        keep = np.arange(len(packed)) != 1
        ends[2, 0] = ends[0, 1]
        cut = replace(
            strands, legs=strands.legs[keep], ends=ends[keep], errors=strands.errors[keep], packed_patterns=packed[keep]
        )
        return replace(path, strands=cut)
    elif what == "an end is moved":
        ends[1, 1, 0] += 1e-9
        ends[2, 0] = ends[1, 1]
    elif what == "a gap":
        ends[2, 0, 0] += 1e-9
    elif what == "a number":
        return replace(path, kink_transitions=path.kink_transitions[::-1])
    elif what == "a count":
        return replace(path, pieces=path.pieces + 1)
    return replace(path, strands=replace(strands, packed_patterns=packed, ends=ends))


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("a flipped bit", ["patterns", "numbers"]),
        ("a strand is missing", ["patterns", "numbers"]),
        ("an end is moved", ["coordinates"]),
        ("a gap", ["arrays"]),
        ("a number", ["numbers"]),
        ("a count", ["numbers"]),
    ],
)
@pytest.mark.parametrize("name", ["segment", "circle"])
def test_damage_is_noticed(name: str, what: str, names: list[str]) -> None:
    path, net = path_along(name)
    report = certify(damaged(path, what), net)
    assert {item.name for item in report.failed} <= set(names) and names[0] in report.conclusion, report
    assert not report.ok


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("errors", lambda errors: errors * np.nan),
        ("ends", lambda ends: ends + np.inf),
        ("ends", lambda ends: ends.tolist()),
        ("packed_patterns", lambda patterns: patterns.ravel()),
        ("packed_patterns", lambda patterns: patterns.astype(float)),
        ("packed_patterns", lambda patterns: patterns[:, :1]),
        ("legs", lambda legs: None),
    ],
)
def test_arrays_of_other_kinds_are_noticed(name: str, array: Callable[[Any], Any]) -> None:
    path, net = path_along("arc")
    report = certify(replace(path, strands=replace(path.strands, **{name: array(getattr(path.strands, name))})), net)
    assert report.conclusion.startswith("failed: arrays; ")


def test_an_infinite_bound_says_nothing() -> None:
    path, net = path_along("arc")
    assert certify(replace(path, strands=replace(path.strands, errors=path.strands.errors + np.inf)), net).ok


def test_another_network() -> None:
    path, _ = path_along("arc")
    report = certify(path, random_network([3, 9, 7, 2], 6))
    assert report.conclusion.startswith("failed: network; it is of the network ")
    assert report.conclusion.endswith(": give that one, or follow the curve again")
    assert [item.status for item in report.items[1:]] == ["unchecked"] * 4
    assert report.as_dict()["ok"] is False and "network" in str(report) and "<table" in report._repr_html_()


def test_anything_but_a_result_is_refused() -> None:
    with pytest.raises(TypeError, match=r"expected a regions.Partition"):
        certify(CURVES["arc"], random_network([3, 9, 7, 2], 5))
    with pytest.raises(ValueError, match="regions must be a number"):
        certify(*path_along("arc"), regions=0)
