# SPDX-License-Identifier: MIT
"""Are the small boxes, in which the reference enumerates again, well chosen and compared with the right regions?"""

from __future__ import annotations

import pytest

import regions
from generators import draw
from partition_cases import SQUARE
from random_networks import random_network
from regions.certification import resample
from regions.domains import Line, Segment
from regions.networks.network import Network


def test_boxes_agree_with_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes that hold one region, and boxes that hold many, where many lines meet and where regions are thin."""
    monkeypatch.setattr(resample, "FEWEST", 2)
    for few in (2, 9, 30):
        monkeypatch.setattr(resample, "FEW", few)
        for net, domain in (draw(family, 2, seed) for family in ("concurrent", "strips", "wide") for seed in range(3)):
            part = regions.enumerate(net, domain)
            assert regions.certify(part, net).ok


@pytest.mark.parametrize(("asked", "least", "most"), [(1, 2, 8), (20, 2, 20), (130, 16, 128)])
def test_boxes_meet_at_most_as_many_regions_as_are_asked_for(asked: int, least: int, most: int) -> None:
    """Boxes are halved until few enough regions can meet them; the last halving leaves a quarter of these, or more."""
    net = random_network([2, 24, 24, 1], 3)
    report = regions.certify(regions.enumerate(net, SQUARE), net, regions=asked)
    item = next(item for item in report.items if item.name == "reference")
    assert item.status == "sampled" and item.total > 700 and least <= item.checked <= most


def test_boxes_that_meet_all_regions_are_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resample, "FEWEST", 2)
    monkeypatch.setattr(resample, "FEW", 2)
    net = Network([([[1.0], [1.0]], [-0.25, -0.75]), ([[1.0, 1.0]], [0.0])])
    report = regions.certify(regions.enumerate(net, Segment([0.0], [1.0])), net)
    item = next(item for item in report.items if item.name == "reference")
    assert (item.status, item.checked, item.total) == ("sampled", 3, 3)


def test_boxes_beside_points_that_no_double_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Breakpoints at 1 and at 1e600 and beyond."""
    monkeypatch.setattr(resample, "FEWEST", 2)
    monkeypatch.setattr(resample, "FEW", 2)
    net = Network([([[1.0], [1e-300], [1e-301]], [-1.0, -1e300, -1e300]), ([[1.0, 1.0, 1.0]], [0.0])])
    part = regions.enumerate(net, Line([0.0], [1.0]))
    report = regions.certify(part, net)
    assert len(part) == 4 and report.ok and not report.unchecked


def test_touching_is_not_overlapping() -> None:
    unit, beside, across, inside = [
        [(1, x, y), (1, x + a, y), (1, x + a, y + a), (1, x, y + a)]
        for x, y, a in ((0, 0, 4), (4, 0, 4), (3, 3, 4), (1, 1, 2))
    ]
    assert not resample._overlap(unit, beside) and not resample._overlap(beside, unit)
    assert resample._overlap(unit, across) and resample._overlap(across, unit)
    assert resample._overlap(unit, inside) and resample._overlap(inside, unit)
    triangle = [(1, 8, 1), (1, 8, 9), (1, 3, 5)]
    assert not resample._overlap([(1, 0, 0), (1, 4, 0), (1, 4, 4), (1, 0, 4)], [(1, 5, 2), (1, 5, 9), (1, 2, 9)])
    assert resample._overlap(triangle, across) and not resample._overlap([(1, 0), (1, 2)], [(1, 2), (1, 3)])
