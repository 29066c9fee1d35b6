# SPDX-License-Identifier: MIT
"""Are other tools compared on the networks that the page names, and are our own counts there right?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import regions
from compared_networks import DEGENERATE, GENERIC, minimum
from run_tool import TOOLS, relu_regions

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "compared.md"
SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])


def test_the_page_has_a_row_for_each_family() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in GENERIC | DEGENERATE:
        assert f"| {name} |" in text
    assert all(tool in text for tool in TOOLS)


@pytest.mark.parametrize("family", DEGENERATE)
def test_our_counts_are_those_of_the_reference(family: str) -> None:
    layers = DEGENERATE[family](3)
    net = regions.Network([(weights.astype(float), biases.astype(float)) for weights, biases in layers])
    assert relu_regions(layers, "square") == len(regions.reference.enumerate(net, SQUARE))


def test_a_minimum_of_maxima_is_one() -> None:
    layers = minimum(5)
    net = regions.Network([(weights.astype(float), biases.astype(float)) for weights, biases in layers])
    forms = np.random.default_rng(5).integers(-8, 9, (8, 3)) / 8
    points = np.random.default_rng(0).normal(size=(50, 2))
    values = (points @ forms[:, :2].T + forms[:, 2]).reshape(50, 4, 2)
    assert np.allclose(net(points)[:, 0], values.max(axis=2).min(axis=1))
