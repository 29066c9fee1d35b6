# SPDX-License-Identifier: MIT
"""Are data drawn at the right places of a page, in the colours of their classes, and in saved pictures?"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex

import regions
from browser import Opened
from look_cases import SQUARE
from page_parts import header_of
from random_networks import random_network
from regions.errors import DomainError

NET = random_network([2, 8, 8, 3], 3, bias=0.1, he=True)
PART = regions.enumerate(NET, SQUARE)
DATA = np.random.default_rng(0).uniform(-0.9, 0.9, (40, 2))
LABELS = np.arange(40) % 3


def header(part: regions.Partition, folder: Path, **style: object) -> dict:
    part.to_html(folder / "page.html", **style)
    return header_of((folder / "page.html").read_text("ascii"))


def test_what_a_page_knows_of_dots(tmp_path: Path) -> None:
    found = header(PART, tmp_path, points=DATA, labels=LABELS)
    np.testing.assert_allclose(PART.domain.to_input(found["dots"]["places"]), DATA, atol=1e-8)
    assert found["dots"]["classes"] == LABELS.tolist() and found["dots"]["text"] == "40 points"
    assert header(PART, tmp_path, points=DATA)["dots"]["classes"] is None
    found = header(PART, tmp_path, points=DATA[:3], labels=["c", "a", "b"], classes=["b", "c", "a"])
    assert found["classes"] == ["b", "c", "a"] and found["dots"]["classes"] == [1, 2, 0]
    for wrong in (["c", "a", "b"], [0, 1, 3]):
        with pytest.raises(ValueError, match="labels"):
            header(PART, tmp_path, points=DATA[:3], labels=wrong)
    assert header(PART, tmp_path, classes={1: "one"})["classes"] == ["class 0", "one", "class 2"]
    assert header(PART, tmp_path, points=DATA + 10)["dots"]["places"] == []
    assert header(PART, tmp_path)["dots"] is None


def test_projections_and_distances(tmp_path: Path) -> None:
    net, plane = random_network([3, 6, 2], 1, bias=0.1), regions.Rectangle([0, 0, 0], [1, 0, 0], [0, 1, 0])
    points = [[0.25, 0.5, 0.0], [0.5, 0.5, -2.0], [0.5, 0.25, 4.0]]
    part = regions.enumerate(net, plane)
    found = header(part, tmp_path, points=points)["dots"]
    assert found["places"] == [[0.25, 0.5], [0.5, 0.5], [0.5, 0.25]] and found["text"] == "3 points, up to 4 away"
    found = header(part, tmp_path, points=points, within=3)["dots"]
    assert len(found["places"]) == 2 and found["text"] == "2 points, up to 2 away"
    cube = regions.enumerate(net, regions.Box([-1] * 3, [1] * 3))
    with pytest.raises(DomainError, match="take a section"):
        cube.to_html(tmp_path / "cube.html", points=points)


def test_palettes_and_colour_maps(tmp_path: Path) -> None:
    colors = header(PART, tmp_path, palette=["tab:red", "#00ff00", "blue"], cmap="gray")["colours"]
    assert colors["classes"] == [to_hex("tab:red"), "#00ff00", to_hex("blue")] and colors["plain"]
    assert (colors["ramp"][0], colors["ramp"][-1], len(colors["ramp"])) == ("#000000", "#ffffff", 33)
    with pytest.raises(ValueError, match="palette has 2 of the 3 colours"):
        header(PART, tmp_path, palette=["red", "blue"])
    assert "ramp" not in header(PART, tmp_path)["colours"]


COLOURS = """places => {
  const all = document.getElementById("dots"), ratio = Math.min(devicePixelRatio || 1, 2);
  const pen = new OffscreenCanvas(all.width, all.height).getContext("2d", { willReadFrequently: true });
  pen.drawImage(all, 0, 0);
  return places.map(([x, y]) => {
    const [px, py] = look.toScreen(...look.toPage(x, y)).map(part => part * ratio);
    const seen = px > 0 && py > 0 && px < all.width && py < all.height;
    return seen ? [...pen.getImageData(px, py, 1, 1).data] : null;
  });
}"""


def test_dots_are_at_their_places_also_after_a_move(opened: Opened) -> None:
    page = opened(PART, points=DATA[:12], labels=LABELS[:12], palette=["#f00", "#0f0", "#00f"], mark=False)
    places = PART.domain.to_chart(DATA[:12]).tolist()
    for _ in range(2):
        found = page.call(COLOURS, places)
        seen = [color for color in zip(found, LABELS[:12].tolist(), strict=True) if color[0] is not None]
        assert len(seen) >= 4 and all(color[3] == 255 and np.argmax(color[:3]) == label for color, label in seen)
        assert page.call(COLOURS, [[0.0, 0.0]])[0][3] == 0
        page.press("+", "+")
        page.settle()
    in_view = sum(color is not None for color in page.call(COLOURS, places))
    assert len(re.findall("<circle", page.value("look.vectors()"))) >= 2 * in_view > 0
    assert "12 points" in page.value("document.getElementById('legend').innerText")


def test_dots_on_a_line_are_on_the_highest_curve(opened: Opened) -> None:
    segment = regions.Segment([-1.0, 0.5], [1.0, -0.5])
    page = opened(regions.enumerate(NET, segment), points=segment.to_input([[0.25], [0.75]]), labels=[0, 2], mark=False)
    saved = page.value("look.vectors()")
    rims = [float(radius) for radius in re.findall(r'<circle cx="[\d.]+" cy="[\d.]+" r="([\d.]+)"', saved)]
    assert len(rims) == 4 and rims[0] > rims[1]
    centres = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', saved)[::2]
    values = NET(segment.to_input([[0.25], [0.75]])).max(axis=1)
    assert (float(centres[0][1]) < float(centres[1][1])) == bool(values[0] > values[1])
