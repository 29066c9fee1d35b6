# SPDX-License-Identifier: MIT
"""Are other tools compared on the networks that the page names, and which counts there are right?"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import picture
import regions
from compare import Run, column, exact, settled
from compared_networks import BOXES, DEGENERATE, GENERIC, SPACES, minimum, twins
from run_tool import TOOLS, relu_regions, relu_regions_count

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "compared.md"
SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])


def test_the_page_has_a_row_for_each_family() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in GENERIC | DEGENERATE | SPACES | BOXES:
        assert f"| {name} |" in text
    assert all(tool.removesuffix(" count") in text for tool in TOOLS)


@pytest.mark.parametrize("family", DEGENERATE)
def test_our_counts_are_those_of_the_reference(family: str) -> None:
    layers = DEGENERATE[family](3)
    net = regions.Network([(weights.astype(float), biases.astype(float)) for weights, biases in layers])
    assert relu_regions(layers, "square") == len(regions.reference.enumerate(net, SQUARE))


@pytest.mark.parametrize("family", SPACES)
def test_our_counts_in_all_of_space_are_those_of_the_reference(family: str) -> None:
    layers = SPACES[family](0)
    assert relu_regions_count(layers, "space") == exact(layers, "space")


def test_boxes() -> None:
    layers = BOXES["3 inputs, 16 + 16"](3)
    assert relu_regions(layers, "box") == relu_regions_count(layers, "box") == 4896  # nnenum's number of sets


def test_the_picture_shows_edges_that_do_not_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    layers = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    monkeypatch.setattr(regions, "load", lambda model: regions.Network(layers))
    ends = [([0, -2], [0, 2]), ([-2, 0], [2, 0]), ([1, 0.5], [1, 1.5])]  # the last one does not exist
    edges = [SimpleNamespace(vertices=[SimpleNamespace(inputs=end) for end in both]) for both in ends]
    faces = [SimpleNamespace(area=area) for area in (4.0, 4.0, 4.0, 4.0, 1e-12)]
    monkeypatch.setattr(picture, "regioncam_of", lambda *given: SimpleNamespace(edges=edges, faces=faces))
    picture.main("cross.onnx", str(tmp_path / "cross.png"))
    assert capsys.readouterr().out.splitlines() == [
        "regions: 4, in rational arithmetic 4",
        "faces of regioncam: 5, of which 1 have an area below 1e-9",
        "edges of regioncam: 3, of which 1 are inside of regions",
    ]
    for drawn in (tmp_path / "cross.png", PAGE.parent / "compared.png"):
        assert 3_000 < drawn.stat().st_size < 200_000


def test_a_wrong_count_of_regioncam() -> None:
    counted = 147  # by regioncam 0.5.2, which is not installed here
    layers = twins(0)
    assert exact(layers, "square") == relu_regions(layers, "square") == 102 != counted
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert (
        f"{counted} faces on the first network with every neuron twice, where rational arithmetic finds 102 regions"
        in text
    )


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
