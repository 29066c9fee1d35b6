# SPDX-License-Identifier: MIT
"""Does a page, in a browser, find what its partition finds? `look_judge.py` describes the questions."""

from __future__ import annotations

import numpy as np
import pytest

import regions
from browser import Opened, Page
from generators import draw
from look_cases import CASES, partition_of
from look_judge import differences
from regions.results.partition import Partition

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OF_LINES = ("generic", "ternary", "maxima", "hard tanh", "segment")


@pytest.mark.parametrize(
    ("browser", "case"),
    [("chromium", case) for case in CASES] + [("firefox", case) for case in ("ternary", "plane", "partial", "segment")],
    indirect=["browser"],
)
def test_the_page_finds_what_the_partition_finds(case: str, opened: Opened) -> None:
    part = partition_of(case)
    page = opened(part, width=400, height=300)
    found = differences(page, part, points=10_000)
    assert found["random points"][1] and found["patterns"][1]
    assert {name: differing for name, (differing, _) in found.items()} == dict.fromkeys(found, 0)
    if case in OF_LINES:
        require_whole_lines(page, part)


def require_whole_lines(page: Page, part: Partition) -> None:
    """The line of each neuron has all its facets."""
    net = part.network
    neurons = list(zip(net.kink_layers.tolist(), net.kink_units.tolist(), strict=True))
    switching = part.patterns[part.facet_regions[:, 0]] != part.patterns[part.facet_regions[:, 1]]
    switching[part.facet_regions[:, 1] < 0] = False
    for kink, neuron in enumerate(neurons):
        own = [other for other, each in enumerate(neurons) if each == neuron]
        assert page.call("look.facetsOf", kink) == np.flatnonzero(switching[:, own].any(axis=1)).tolist()


def test_outputs_are_right_beside_a_steep_region(opened: Opened) -> None:
    """Beside outputs of 1e23 they rise to 1e62 in a sliver, whose slope multiplies the rounding errors of vertices."""
    part = regions.enumerate(*draw("wild_magnitudes", 2, 12))
    found = differences(opened(part, width=400, height=300), part, points=200)
    assert found["outputs"] == (0, 100)


def test_a_point_on_an_edge_is_in_the_lowest_region_beside_it(opened: Opened) -> None:
    """The edges of ternary networks go through points of a grid, exactly."""
    part = partition_of("ternary")
    page = opened(part)
    grid = np.stack(np.meshgrid(*[np.arange(-8, 9) / 8] * 2), axis=-1).reshape(-1, 2)
    found = page.call("points => points.map(([x, y]) => look.locate(x, y))", grid.tolist())
    assert found == part.locate(grid, space="chart").tolist()
