# SPDX-License-Identifier: MIT
"""Is all text in a picture readable, however small the picture?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.text import Text

import regions
from cli_cases import SQUARE, Run
from random_networks import random_network
from regions.cli import pictures
from regions.domains import Polygon
from regions.networks.network import Network
from regions.pictures.plot import plot

pytestmark = [pytest.mark.usefixtures("in_folder_with_models"), pytest.mark.filterwarnings("error")]

SENTENCE = "All activation regions of a network with a title that is rather long, and with a formula $x_1 + x_2$ in it"


@pytest.fixture(autouse=True)
def no_figure_stays_open() -> Iterator[None]:
    yield
    pyplot.close("all")


def overlap(one: Any, other: Any) -> bool:
    return bool(min(one.x1, other.x1) > max(one.x0, other.x0) and min(one.y1, other.y1) > max(one.y0, other.y0))


@pytest.mark.parametrize(("size", "kind"), [("2", "value"), ("2x2", "layer"), ("6x2", "value")])
def test_titles_are_inside_the_picture(run: Run, monkeypatch: pytest.MonkeyPatch, size: str, kind: str) -> None:
    figures: list[Any] = []
    monkeypatch.setattr(pictures, "save_figure", lambda figure, path, dpi: figures.append(figure))
    words = ["plot", "model.npz", "--activation", "relu", *SQUARE, "--size", size, "--color-by", kind]
    for title in (SENTENCE, "-".join(["word"] * 30)):
        code, _, err = run(*words, "--title", title, "-o", "out.png")
        assert (code, err) == (0, "")
        (figure,), (ax, *_) = figures, figures[0].axes
        box, whole = ax.title.get_window_extent(), figure.bbox
        assert 0 <= box.x0 and box.x1 <= whole.width and 0 <= box.y0 and box.y1 <= whole.height
        assert "".join(ax.get_title().split()) == "".join(title.split())
        # The drawing has room too.
        assert ax.get_window_extent().width > 0.35 * whole.width or size == "6x2"
        figures.clear()


def test_names_of_marks_do_not_hide_each_other() -> None:
    partition = regions.enumerate(random_network([2, 4, 1]), Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    places = {
        "zero": (0, 0),
        "near": (0.02, 0),
        "also": (0, 0.02),
        "q": (0.03, 0.03),
        "corner": (1, 1),
        "left": (-1, 0),
    }
    ax = plot(partition, mark={name: np.array(place, dtype=float) for name, place in places.items()}, title="")
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    points = ax.transData.transform([text.xy for text in ax.texts])
    whole = ax.get_window_extent()
    for index, box in enumerate(boxes):
        assert not any(overlap(box, other) for other in boxes[:index])
        assert not ((points > box.min) & (points < box.max)).all(axis=1).any()
        assert whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1


def test_what_all_numbers_of_a_bar_have_in_common_is_in_its_label() -> None:
    tiny = 1e-9 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    network = Network([(np.eye(2), None), ([[1.0, 1.0]], [1.0])])
    ax = plot(regions.enumerate(network, Polygon(tiny)), color_by="value")
    bar = ax.child_axes[0]
    assert bar.get_ylabel().startswith("output 0  (") and r"\times" in bar.get_ylabel()
    assert not bar.yaxis.get_offset_text().get_visible()
    plain = plot(regions.enumerate(network, Polygon(1e9 * tiny)), color_by="value")
    assert plain.child_axes[0].get_ylabel() == "output 0"
