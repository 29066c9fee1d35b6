# SPDX-License-Identifier: MIT
"""Are other tools compared on the networks that the page names, and which counts there are right?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import regions
from compare import Run, column, exact, settled
from compared_networks import DEGENERATE, GENERIC, minimum, twins
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


def test_a_wrong_count_of_regioncam() -> None:
    counted = 147  # by regioncam 0.5.2, which is not installed here
    layers = twins(0)
    assert exact(layers, "square") == relu_regions(layers, "square") == 102 != counted
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"{counted} faces on the first network of twins, where rational arithmetic finds 102 regions" in text


def test_a_disagreement_is_a_wrong_count() -> None:
    layers = [(np.eye(2, dtype=np.float32), np.zeros(2, np.float32)), (np.ones((1, 2), np.float32), np.zeros(1))]
    right, wrong, refused = Run(4, 0.0123456, 50.0, None), Run(5, 1.8412, 60.0, None), Run(None, 0.0, 0.0, "refused")
    assert settled(layers, "square", (wrong, wrong)) == 5  # the reference is asked only if tools disagree
    for other in (wrong, refused):
        assert settled(layers, "square", (right, other)) == settled(layers, "square", (other, right)) == 4
    assert settled(layers, "plane", (refused, refused)) == 4
    assert column([right], [4]) == "1 of 1, 12.3, 50" and column([wrong], [4]) == "0 of 1, 1,840, 60"
    assert column([refused], [4]) == "0 of 1 (1 refused)"


def test_a_minimum_of_maxima_is_one() -> None:
    layers = minimum(5)
    net = regions.Network([(weights.astype(float), biases.astype(float)) for weights, biases in layers])
    forms = np.random.default_rng(5).integers(-8, 9, (8, 3)) / 8
    points = np.random.default_rng(0).normal(size=(50, 2))
    values = (points @ forms[:, :2].T + forms[:, 2]).reshape(50, 4, 2)
    assert np.allclose(net(points)[:, 0], values.max(axis=2).min(axis=1))
