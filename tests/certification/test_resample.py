# SPDX-License-Identifier: MIT
"""Are the small boxes, in which the reference enumerates again, well chosen and compared with the right regions?"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from generators import draw
from partition_cases import SQUARE
from random_networks import random_network
from regions.certification import resample
from regions.certification.forms import Forms
from regions.certification.layout import Layout
from regions.domains import Line, Segment
from regions.networks.network import Network


def test_boxes_agree_with_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes that hold few regions, and boxes that hold many, where many lines meet and where regions are thin."""
    for met in (2, 9, 30):
        monkeypatch.setattr(resample, "MET", met)
        for net, domain in (draw(family, 2, seed) for family in ("concurrent", "strips", "wide") for seed in range(3)):
            part = regions.enumerate(net, domain)
            assert regions.certify(part, net).ok


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_boxes_have_vertices_of_few_regions(dimension: int) -> None:
    net = random_network([dimension, 24 if dimension < 3 else 8, 8, 1], 3)
    domain = regions.Box([-1] * 3, [1] * 3) if dimension == 3 else SQUARE if dimension == 2 else Segment([-1.0], [1.0])
    part = regions.enumerate(net, domain)
    layout, forms = Layout(part, net), Forms(net, domain)
    for centre in resample._centres(layout, np.random.default_rng(0))[:5]:
        found = resample._box(layout, forms, centre, 16)
        assert found is not None and 0 < len(found[1]) <= 16
        inside = {bytes(pattern) for pattern in regions.reference.patterns(net, found[0])}
        assert {layout.graph.bits(part.packed_patterns[r]).tobytes() for r in found[1]} <= inside


@pytest.mark.parametrize(("asked", "least", "most"), [(1, 2, 8), (20, 2, 20), (130, 8, 128)])
def test_boxes_meet_at_most_as_many_regions_as_are_asked_for(asked: int, least: int, most: int) -> None:
    net = random_network([2, 24, 24, 1], 3)
    report = regions.certify(regions.enumerate(net, SQUARE), net, regions=asked)
    item = next(item for item in report.items if item.name == "reference")
    assert item.status == "sampled" and item.total > 700 and least <= item.checked <= most


def test_boxes_that_meet_all_regions_are_a_sample() -> None:
    net = Network([([[1.0]] * 4, [-0.2, -0.4, -0.6, -0.8]), ([[1.0] * 4], [0.0])])
    part = regions.enumerate(net, Segment([0.0], [1.0]))
    item = next(item for item in regions.certify(part, net, regions=1).items if item.name == "reference")
    assert item.status == "sampled" and item.checked <= 4 and item.total == 5


def test_boxes_beside_points_that_no_double_can_hold() -> None:
    """Breakpoints at 1 and at 1e600 and beyond."""
    net = Network([([[1.0], [1e-300], [1e-301]] * 2, [-1.0, -1e300, -1e300] * 2), ([[1.0] * 6], [0.0])])
    part = regions.enumerate(net, Line([0.0], [1.0]))
    report = regions.certify(part, net)
    assert len(part) == 4 and report.ok and not report.unchecked
