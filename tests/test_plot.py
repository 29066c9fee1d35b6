# SPDX-License-Identifier: MIT
"""Does a picture show the partition it is given?

Checked on the artists, before anything is rendered; rendering is tried once for each kind of picture.
"""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Iterator

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection, TriMesh

from partition_cases import CASES, IN_PLANE, ON_LINE, random_network
from raw_from_reference import partition_from_reference
from regions.colors import pattern_colors
from regions.domains import Line, Segment
from regions.errors import MissingDependencyError
from regions.network import Network
from regions.partition import Partition
from regions.plot import plot

# By its full name: `regions.plot` is the function.
plot_module = importlib.import_module("regions.plot")


@pytest.fixture(autouse=True)
def no_windows() -> Iterator[None]:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def partition_of(name: str) -> Partition:
    return partition_from_reference(*CASES[name])


def of_type(ax: object, kind: type) -> list:
    return [artist for artist in ax.collections if isinstance(artist, kind)]  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("color_by", ["layer", "value", "pattern"])
@pytest.mark.parametrize("name", ["parallelogram", "affine", "line"])
def test_every_picture_renders(name: str, color_by: str) -> None:
    ax = plot(partition_of(name), color_by=color_by)
    for kind in ("png", "svg"):
        ax.figure.savefig(io.BytesIO(), format=kind)


def test_edges_have_the_color_of_their_layer() -> None:
    partition = partition_of("square")
    ax = plot(partition)
    edges = {
        tuple(np.round(lines.get_colors()[0], 6)): len(lines.get_segments())
        for lines in of_type(ax, LineCollection)
    }
    colors = [*matplotlib.colormaps["tab10"](range(2)), matplotlib.colors.to_rgba(plot_module.BORDER)]
    expected = {
        tuple(np.round(color, 6)): int((partition.facet_layers == layer).sum())
        for color, layer in zip(colors, (0, 1, -1), strict=True)
    }
    assert edges == expected
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["layer 1", "layer 2"]
    assert len(of_type(ax, PolyCollection)[0].get_paths()) == len(partition)


def test_faces_have_the_color_of_their_pattern() -> None:
    partition = partition_of("square")
    faces = of_type(plot(partition, color_by="pattern"), PolyCollection)[0]
    np.testing.assert_allclose(faces.get_facecolors()[:, :3], pattern_colors(partition.packed_patterns))
    for region, path in zip(partition, faces.get_paths(), strict=True):
        assert (path.vertices[:-1] == region.vertices).all()


def test_colors_are_light_and_differ() -> None:
    colors = pattern_colors(np.arange(256, dtype=np.uint8)[:, np.newaxis])
    assert ((colors >= 0.5) & (colors <= 1)).all()
    assert len(np.unique(colors.round(3), axis=0)) > 250


@pytest.mark.parametrize("output", [0, 2])
def test_shades_are_the_values_of_the_output(output: int) -> None:
    partition = partition_of("square")
    (mesh,) = of_type(plot(partition, color_by="value", output_index=output), TriMesh)
    expected = partition.network(partition.domain.to_input(partition.vertices))[:, output]
    np.testing.assert_array_equal(mesh.get_array(), expected)
    triangles = partition.vertices[plot_module._triangles(partition)]
    (x1, y1), (x2, y2) = (triangles[:, 1:] - triangles[:, :1]).transpose(1, 2, 0)
    areas = (x1 * y2 - x2 * y1) / 2
    assert (areas > 0).all() and areas.sum() == pytest.approx(4)
    assert len(areas) == (partition.corner_counts - 2).sum()


@pytest.mark.parametrize("name", ON_LINE)
def test_a_line_shows_the_function_and_its_kinks(name: str) -> None:
    partition = partition_of(name)
    ax = plot(partition)
    (curve,) = of_type(ax, LineCollection)
    segments = np.array(curve.get_segments())
    assert len(segments) == len(partition)
    on_curve = partition.domain.to_input(segments[:, :, :1])
    np.testing.assert_allclose(segments[:, :, 1], partition.network(on_curve)[:, :, 0])
    assert (segments[1:, 0] == segments[:-1, 1]).all()  # without gaps
    dots = np.sort(np.concatenate([line.get_xdata() for line in ax.lines]))
    kinks = partition.vertices[partition.facet_vertices[partition.facet_kinks >= 0, 0], 0]
    assert (dots == np.sort(kinks)).all()
    low, high = ax.get_xlim()
    assert low <= dots[0] and dots[-1] <= high
    if not partition.domain.bounded:
        assert high > dots[-1]


def test_a_line_without_a_kink() -> None:
    for domain in (Line([0.0], [1.0]), Segment([0.0], [1.0])):
        ax = plot(partition_from_reference(Network([([[2.0]], [1.0])]), domain))
        assert ax.get_legend() is None and len(of_type(ax, LineCollection)[0].get_segments()) == 1


def test_given_axes_are_used_and_returned() -> None:
    from matplotlib import pyplot

    _, axes = pyplot.subplots(2)
    assert plot(partition_of("square"), axes[1]) is axes[1]
    assert not axes[0].collections


def test_axes_have_the_proportion_of_the_chart() -> None:
    assert plot(partition_of("square")).get_aspect() == 1.0
    assert plot(partition_of("rectangle")).get_aspect() == pytest.approx(1 / 3)


def test_many_regions_become_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot_module, "MOST_VECTOR_REGIONS", 3)
    ax = plot(partition_of("square"))
    assert all(artist.get_rasterized() for artist in ax.collections)


def test_deep_networks_have_a_color_for_each_layer() -> None:
    deep = random_network([2, *[2] * 12, 1], 3)
    partition = partition_from_reference(deep, IN_PLANE["square"][1])
    colors = plot_module._layer_colors(partition)
    assert len({tuple(color) for color in colors}) == 12
    plot(partition)


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    partition = partition_of("segment")
    with pytest.raises(ValueError, match="layer, value, pattern"):
        plot(partition, color_by="slope")
    for output in (-1, 1, None, 0.0):
        with pytest.raises(ValueError, match="output_index must be a number from 0 to 0"):
            plot(partition, output_index=output)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"relu-regions\[plot\]"):
        plot(partition)
