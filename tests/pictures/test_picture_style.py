# SPDX-License-Identifier: MIT
"""Does a picture have the look that its words ask for, and are wrong words refused before anything is drawn?"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb, to_rgba

import regions
from random_networks import random_network
from regions.pictures.picture_points import dot_color
from regions.results.pages.colors import class_colors

SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
NET = random_network([2, 8, 8, 3], 3, bias=0.1, he=True)
PART = regions.enumerate(NET, SQUARE)
DATA = np.random.default_rng(0).uniform(-0.9, 0.9, (40, 2))
LABELS = np.arange(40) % 3


@pytest.fixture(autouse=True)
def no_windows() -> Iterator[None]:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def named(ax: Any, name: str) -> list[Any]:
    return [artist for artist in ax.collections if artist.get_gid() == name]


def legend(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


class TestPoints:
    def test_in_a_plane_of_two_inputs(self) -> None:
        ax = regions.plot(PART, color_by="class", points=DATA, labels=LABELS, classes=["a", "b", "c"], mark=False)
        (dots,) = named(ax, "points")
        assert np.allclose(dots.get_offsets(), DATA)
        wanted = np.array([dot_color(class_colors(3)[number]) for number in LABELS])
        assert np.allclose(dots.get_facecolors()[:, :3], wanted)
        assert legend(ax) == ["a", "b", "c", "40 points"]

    def test_dots_differ_from_the_faces_of_their_class_and_from_each_other(self) -> None:
        faces = class_colors(10)
        dots = np.array([dot_color(face) for face in faces])
        assert np.abs(dots - faces).max(axis=1).min() > 0.3
        assert (np.abs(dots[:, np.newaxis] - dots).max(axis=2) + np.eye(10)).min() > 0.17

    def test_names_as_labels(self) -> None:
        words = np.array(["cat", "ant", "bee"])[LABELS]
        ax = regions.plot(PART, points=DATA, labels=words, classes=["cat", "ant", "bee"])
        assert legend(ax)[-4:] == ["cat", "ant", "bee", "40 points"]
        ax = regions.plot(PART, color_by="class", points=DATA, labels=words, classes=["cat", "ant", "bee"])
        (dots,) = named(ax, "points")
        assert np.allclose(dots.get_facecolors()[0, :3], dot_color(class_colors(1)[0]))

    def test_projections_and_distances(self) -> None:
        net = random_network([5, 6, 6, 2], 1, bias=0.1)
        rng = np.random.default_rng(1)
        domain = regions.Rectangle(rng.standard_normal(5), rng.standard_normal(5), [1, 0, 0, 2, 0])
        chart = rng.uniform(0.1, 0.9, (9, 2))
        away = rng.standard_normal((9, 5))
        away -= away @ np.linalg.pinv(domain.directions) @ domain.directions
        away *= np.arange(9)[:, np.newaxis] / np.linalg.norm(away, axis=1, keepdims=True)
        part, points = regions.enumerate(net, domain), domain.to_input(chart) + away
        ax = regions.plot(part, points=points)
        (dots,) = named(ax, "points")
        assert np.allclose(dots.get_offsets(), chart) and legend(ax)[-1] == "9 points,\nup to 8 away"
        ax = regions.plot(part, points=points, within=3.5)
        assert len(named(ax, "points")[0].get_offsets()) == 4 and legend(ax)[-1] == "4 points,\nup to 3 away"
        ax = regions.plot(part, points=points + 1e3 * domain.directions[0])
        assert not named(ax, "points") and legend(ax)[-1] == "0 points"

    def test_legends_name_only_classes_that_are_drawn(self) -> None:
        net = regions.Network([([[1.0, 0.0]], [0.0]), ([[-1.0], [1.0], [0.0]], [0.5, -0.5, -9.0])])
        part = regions.enumerate(net, SQUARE)
        for color_by in ("class", "layer"):
            ax = regions.plot(part, color_by=color_by, points=[[0.5, 0.5], [3.0, 0.5]], labels=[0, 2])
            assert "class 0" in legend(ax) and "class 2" not in legend(ax) and legend(ax)[-1] == "1 point"

    def test_on_a_segment_they_are_on_the_curve(self) -> None:
        segment = regions.Segment([-1.0, 0.5], [1.0, -0.5])
        points = np.array([[0.0, 0.0], [0.5, -0.25]])
        ax = regions.plot(regions.enumerate(NET, segment), output_index=1, points=points)
        (dots,) = named(ax, "points")
        assert np.allclose(dots.get_offsets(), np.column_stack([[0.5, 0.75], NET(points)[:, 1]]))

    def test_each_panel_and_each_figure(self) -> None:
        left, right = regions.plot([PART, regions.linear_regions(PART, "open")], points=DATA)
        assert len(named(left, "points")) == len(named(right, "points")) == 1
        assert left.get_legend() is None and legend(right)[-1] == "40 points"


class TestColoursAndLines:
    def test_numbers_of_regions(self) -> None:
        for given in (PART.volumes, PART.volumes.tolist(), lambda region: region.volume):
            ax = regions.plot(PART, color_by=given, cmap="cividis")
            (faces,) = named(ax, "faces")
            low, high = PART.volumes.min(), PART.volumes.max()
            wanted = matplotlib.colormaps["cividis"]((PART.volumes - low) / (high - low))
            assert np.allclose(faces.get_facecolors(), wanted) and len(faces.get_paths()) == len(PART)

    def test_numbers_in_a_window_and_of_merged_regions(self) -> None:
        whole = regions.enumerate(NET, regions.Plane([0, 0], [1, 0], [0, 1]))
        numbers = np.arange(len(whole), dtype=float)
        ax = regions.plot(whole, color_by=numbers, cmap="gray")
        (faces,) = named(ax, "faces")
        for path, color in zip(faces.get_paths(), faces.get_facecolors(), strict=True):
            region = whole.locate(path.vertices[:-1].mean(axis=0))
            assert abs(color[0] * (len(whole) - 1) - numbers[region]) < len(whole) / 250
        merged = regions.linear_regions(PART, "open")
        ax = regions.plot(merged, color_by=np.arange(len(merged)), cmap="gray")
        (faces,) = named(ax, "faces")
        assert len(np.unique(faces.get_facecolors(), axis=0)) == len(merged)

    def test_bands_on_a_segment(self) -> None:
        part = regions.enumerate(NET, regions.Segment([-1.0, 0.5], [1.0, -0.5]))
        ax = regions.plot(part, color_by=part.volumes, alpha=0.5)
        (bands,) = named(ax, "bands")
        assert len(bands.get_facecolors()) == len(part) and np.allclose(bands.get_facecolors()[:, 3], 0.5)

    @pytest.mark.parametrize(
        "palette", ["tab10", ["tab:blue", "red", (0, 1, 0)], {0: "tab:blue", 1: "red", 2: "lime"}, "viridis"]
    )
    def test_palettes(self, palette: Any) -> None:
        ax = regions.plot(PART, color_by="class", palette=palette, alpha=0.25)
        for number in range(3):
            for faces in named(ax, f"class {number}"):
                color = faces.get_facecolors()[0]
                assert color[3] == 0.25
                if not isinstance(palette, str):
                    assert np.allclose(color[:3], to_rgb(palette[number]))
        if isinstance(palette, list):
            ax = regions.plot(PART, palette=palette)
            assert np.allclose(named(ax, "layer 2")[0].get_edgecolors()[0], to_rgba("red"))

    def test_edges(self) -> None:
        ax = regions.plot(PART, edgecolor="green", linewidth=2.5)
        for name in ("layer 1", "layer 2"):
            (edges,) = named(ax, name)
            assert np.allclose(edges.get_edgecolors(), to_rgba("green")) and edges.get_linewidths() == [2.5]
        ax = regions.plot(PART, linewidth=0)
        assert not named(ax, "layer 1") and len(named(ax, "domain boundary")) == 1

    def test_lines_images_and_names_of_axes(self) -> None:
        ax = regions.plot(PART, linestyle="--", rasterized=True, zorder=2.5, xlabel="width", ylabel="")
        for artist in named(ax, "layer 1") + named(ax, "layer 2") + named(ax, "faces"):
            assert artist.get_rasterized() and artist.get_zorder() == 2.5 and artist.get_linestyle()[0][1] is not None
        (boundary,) = named(ax, "domain boundary")
        assert boundary.get_linestyle() == [(0, None)] and (ax.get_xlabel(), ax.get_ylabel()) == ("width", "")
        segment = regions.enumerate(NET, regions.Segment([-1.0, 0.5], [1.0, -0.5]))
        ax = regions.plot(segment, linewidth=3, linestyle=":", ylabel="logit")
        (curve,) = named(ax, "output 0")
        assert curve.get_linewidths() == [3] and curve.get_linestyle()[0][1] is not None and ax.get_ylabel() == "logit"

    def test_legends_of_matplotlib_name_all_parts(self) -> None:
        ax = regions.plot(PART, color_by="class", points=DATA, legend=False)
        ax.legend()
        assert set(legend(ax)) >= {"class 0", "edges", "domain boundary", "class borders", "points"}
        # The keys are rectangles, and not pictures of the regions.
        assert all(type(key).__name__ == "Rectangle" for key in ax.get_legend().legend_handles[:3])
        segment = regions.enumerate(NET, regions.Segment([-1.0, 0.5], [1.0, -0.5]))
        ax = regions.plot(segment, legend=False)
        ax.legend()
        assert legend(ax) == ["output 0", "kinks of layer 1", "kinks of layer 2", "marks"]

    def test_sizes_and_names_in_files(self) -> None:
        ax = regions.plot(PART, color_by="class", figsize=(3.5, 5), points=DATA)
        assert ax.figure.get_size_inches().tolist() == [3.5, 5.0]
        file = io.BytesIO()
        ax.figure.savefig(file, format="svg")
        assert all(f'id="{name}"'.encode() in file.getvalue() for name in ("class 0", "points", "class borders"))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"colour_by": "class"}, TypeError, "'colour_by'; did you mean 'color_by'"),
        ({"cmpa": "gray"}, TypeError, "did you mean 'cmap'"),
        ({"s": 3}, TypeError, "The look is set by alpha, "),
        ({"lw": 3}, TypeError, "did you mean 'linewidth'"),
        ({"hue": "class"}, TypeError, "did you mean 'color_by'"),
        ({"linestyle": "dashed-ish"}, ValueError, "linestyle must be one of matplotlib"),
        ({"rasterized": 1.5}, TypeError, "rasterized"),
        ({"zorder": "top"}, TypeError, "zorder"),
        ({"xlabel": 3}, TypeError, "xlabel"),
        ({"cmap": "virids"}, ValueError, "did you mean 'viridis'"),
        ({"cmap": 3}, TypeError, "cmap must be the name"),
        ({"palette": []}, ValueError, "palette has no colour"),
        ({"palette": ["red"], "color_by": "class"}, ValueError, "palette has 1 of the 2 colours"),
        ({"palette": ["red"]}, ValueError, "palette has 1 of the 2 colours"),
        ({"palette": ["reddish"]}, ValueError, "palette: colour 0 must be a colour"),
        ({"palette": {"a": "red"}}, TypeError, "by number"),
        ({"palette": {7: "red"}, "color_by": "class"}, ValueError, "no colour for"),
        ({"classes": "ab"}, TypeError, "classes must be a name for each"),
        ({"classes": [1, 2]}, TypeError, "the name of class 0"),
        ({"classes": {"a": "b"}}, TypeError, "by number"),
        ({"points": DATA[:, :1]}, regions.errors.ShapeMismatchError, "1 coordinates, and the network has 2"),
        ({"points": DATA * np.nan}, regions.errors.NonFiniteError, "points"),
        ({"labels": LABELS}, ValueError, "pass points="),
        ({"within": 3}, ValueError, "pass points="),
        ({"points": DATA, "labels": LABELS[:3]}, regions.errors.ShapeMismatchError, "one item for each of the 40"),
        ({"points": DATA, "labels": -LABELS}, ValueError, "from 0 to"),
        ({"points": DATA, "labels": LABELS / 2}, TypeError, "whole numbers or names"),
        ({"points": DATA, "labels": ["a"] * 40, "classes": ["b"]}, ValueError, "'a' is not among the classes"),
        ({"points": DATA, "labels": ["a", "b"] * 20}, ValueError, "give classes= too"),
        ({"points": DATA, "labels": ["a"] * 40, "classes": ["a", "a"]}, ValueError, "same name"),
        ({"points": DATA, "labels": LABELS + 1, "color_by": "class"}, ValueError, "classes 0 to 2, got 3"),
        ({"points": DATA, "within": -1}, ValueError, "a number from 0"),
        ({"points": DATA, "within": np.nan}, regions.errors.NonFiniteError, "within"),
        ({"alpha": 1.5}, ValueError, "alpha must be from 0 to 1"),
        ({"linewidth": -1}, ValueError, "linewidth must be from 0"),
        ({"edgecolor": "greenish"}, ValueError, "edgecolor must be a colour"),
        ({"figsize": (3,)}, ValueError, "a width and a height"),
        ({"figsize": (3, 0)}, ValueError, "figsize must be from 1"),
        ({"color_by": [1.0, 2.0]}, regions.errors.ShapeMismatchError, "one number for each"),
        ({"color_by": lambda region: "x"}, TypeError, "color_by"),
        ({"color_by": None}, TypeError, "color_by"),
    ],
)
def test_wrong_words_are_refused(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        regions.plot(PART, **given)


def test_words_that_do_not_fit_what_is_drawn() -> None:
    with pytest.raises(ValueError, match="pass a function"):
        regions.plot([PART, PART], color_by=PART.volumes)
    with pytest.raises(TypeError, match="drawn by class"):
        regions.plot(regions.decisions(NET, SQUARE), color_by=[1.0])
    for wrong in ([7, 0], ["0", "1"]):
        with pytest.raises(ValueError, match="labels"):
            regions.plot(regions.decisions(NET, SQUARE), points=DATA[:2], labels=wrong)
        with pytest.raises(ValueError, match="labels"):
            regions.plot(regions.level_set(NET, SQUARE, 0.0, output=0), points=DATA[:2], labels=wrong)
    with pytest.raises(ValueError, match="figsize is for a new figure"):
        regions.plot(PART, matplotlib.figure.Figure().add_subplot(), figsize=(3, 3))


def test_legends_can_be_read_on_a_dark_figure() -> None:
    from matplotlib import pyplot

    with pyplot.style.context("dark_background"):
        by_layer, by_class = (regions.plot(PART, color_by=color).get_legend() for color in ("layer", "class"))
    frame, (text, *_) = by_layer.get_frame(), by_layer.get_texts()
    assert by_layer.get_frame_on() and min(to_rgb(frame.get_facecolor())) > 0.9 and max(to_rgb(text.get_color())) < 0.5
    assert not by_class.get_frame_on() and min(to_rgb(by_class.get_texts()[0].get_color())) > 0.9
    assert not regions.plot(PART).get_legend().get_frame_on()
