# SPDX-License-Identifier: MIT
"""Does a picture show the partition it is given?

This is checked on the artists, without rendering; each kind of picture is rendered once.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection, TriMesh
from matplotlib.colors import to_rgba
from matplotlib.path import Path

import regions
from partition_cases import CASES, IN_PLANE, ON_LINE
from random_networks import random_network
from raw_from_reference import partition_from_reference
from regions.domains import Line, Segment
from regions.errors import MissingDependencyError
from regions.networks.network import Network
from regions.pictures import plane_picture
from regions.pictures.plane_picture import LIGHT, OUTLINE
from regions.pictures.plot import plot
from regions.results.pages.colors import layer_colors, region_colors
from regions.results.partition import Partition


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


def edges_by_color(ax: object) -> dict[tuple, set]:
    """Return the line segments of each colour, as sets of their ends."""
    found: dict[tuple, set] = {}
    for lines in of_type(ax, PolyCollection):
        if len(lines.get_facecolors()) or not len(lines.get_edgecolors()):
            continue
        for path in lines.get_paths():
            assert (path.codes.reshape(-1, 2) == [Path.MOVETO, Path.LINETO]).all()
            ends = {frozenset(map(tuple, pair)) for pair in path.vertices.reshape(-1, 2, 2).tolist()}
            color = tuple(lines.get_edgecolors()[0].round(6).tolist())
            assert not found.setdefault(color, set()) & ends
            found[color] |= ends
    return found


def faces_by_color(ax: object) -> dict[tuple, list[np.ndarray]]:
    """Return the polygons of each colour, as arrays of their corners."""
    found: dict[tuple, list[np.ndarray]] = {}
    for faces in of_type(ax, PolyCollection):
        for color in faces.get_facecolors()[:1]:
            polygons = found.setdefault(tuple(color.round(6).tolist()), [])
            for path in faces.get_paths():
                starts = np.flatnonzero(path.codes == Path.MOVETO)
                assert (path.codes[np.append(starts[1:], len(path.codes)) - 1] == Path.CLOSEPOLY).all()
                polygons += [ring[:-1] for ring in np.split(path.vertices, starts[1:])]
    return found


def edges_of(partition: Partition, chosen: np.ndarray) -> set:
    """Return some facets as sets of their ends."""
    pairs = partition.vertices[partition.facet_vertices[chosen]]
    return {frozenset(map(tuple, pair)) for pair in pairs.tolist()}


@pytest.mark.slow
@pytest.mark.parametrize("color_by", ["layer", "value", "pattern", "none"])
@pytest.mark.parametrize("name", ["parallelogram", "affine", "line"])
def test_every_picture_renders(name: str, color_by: str) -> None:
    ax = plot(partition_of(name), color_by=color_by)
    for kind in ("png", "svg", "pdf"):
        ax.figure.savefig(io.BytesIO(), format=kind)


def test_edges_have_the_color_of_their_layer() -> None:
    partition = partition_of("square")
    ax = plot(partition)
    colors = [*map(to_rgba, layer_colors(2)), to_rgba(OUTLINE)]
    assert edges_by_color(ax) == {
        tuple(np.round(color, 6).tolist()): edges_of(partition, partition.facet_layers == layer)
        for color, layer in zip(colors, (0, 1, -1), strict=True)
    }
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["layer 1", "layer 2"]
    ((color, faces),) = faces_by_color(ax).items()
    assert len(faces) == len(partition) and color == tuple(np.round(to_rgba(LIGHT), 6).tolist())


def test_faces_have_the_color_of_their_region() -> None:
    partition = partition_of("square")
    faces = faces_by_color(plot(partition, color_by="pattern"))
    for region, color in zip(partition, region_colors(partition), strict=True):
        found = [ring for ring in faces[(*color.round(6).tolist(), 1.0)] if np.array_equal(ring, region.vertices)]
        assert len(found) == 1
    assert sum(map(len, faces.values())) == len(partition)


def test_without_colors_all_edges_are_alike() -> None:
    partition = partition_of("square")
    edges = edges_by_color(plot(partition, color_by="none"))
    dark = tuple(np.round(to_rgba(OUTLINE), 6).tolist())
    assert edges == {dark: edges_of(partition, partition.facet_kinks < len(partition.network.kink_layers))}


@pytest.mark.parametrize("output", [0, 2])
def test_shades_are_the_values_of_the_output(output: int) -> None:
    partition = partition_of("square")
    (mesh,) = of_type(plot(partition, color_by="value", output_index=output), TriMesh)
    triangulation = mesh._triangulation
    points = np.column_stack([triangulation.x, triangulation.y])
    expected = partition.network(partition.domain.to_input(points))[:, output]
    count = len(partition.vertices)
    assert (points[:count] == partition.vertices).all()
    np.testing.assert_allclose(mesh.get_array(), expected, atol=1e-12)
    triangles = points[triangulation.triangles]
    (x1, y1), (x2, y2) = (triangles[:, 1:] - triangles[:, :1]).transpose(1, 2, 0)
    areas = (x1 * y2 - x2 * y1) / 2
    assert (areas > 0).all() and areas.sum() == pytest.approx(4)
    # So small that colours can be interpolated between corners.
    heights = mesh.get_array()[triangulation.triangles]
    assert np.ptp(heights, axis=1).max() <= np.ptp(expected) / 32 * (1 + 1e-9)


@pytest.mark.parametrize("name", ON_LINE)
def test_a_line_shows_the_function_and_its_kinks(name: str) -> None:
    partition = partition_of(name)
    ax = plot(partition)
    (curve,) = of_type(ax, LineCollection)
    segments = np.array(curve.get_segments())
    assert len(segments) == len(partition)
    turned = ax.get_xlabel() == "$x$"  # the axis is the input, not the chart
    on_curve = segments[:, :, :1] if turned else partition.domain.to_input(segments[:, :, :1])
    np.testing.assert_allclose(segments[:, :, 1], partition.network(on_curve)[:, :, 0])
    assert (segments[1:, 0] == segments[:-1, 1]).all()  # without gaps
    dots = np.sort(np.concatenate([line.get_xdata() for line in ax.lines]))
    kinks = partition.vertices[partition.facet_vertices[partition.facet_kinks >= 0, 0]]
    assert (dots == np.sort((partition.domain.to_input(kinks) if turned else kinks)[:, 0])).all()
    low, high = ax.get_xlim()
    assert low <= dots[0] and dots[-1] <= high
    if not partition.domain.bounded:
        assert high - low > np.ptp(dots)


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
    assert plot(partition_of("rectangle")).get_aspect() == 1.0


def test_many_regions_become_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_image() -> list[bool]:
        return [bool(artist.get_rasterized()) for artist in plot(partition_of("square"), mark=False).collections]

    assert not any(as_image())
    monkeypatch.setattr(plane_picture, "MOST_VECTOR_REGIONS", 3)
    *regions_and_edges, border = as_image()
    assert all(regions_and_edges) and not border


def test_deep_networks_have_a_color_bar() -> None:
    deep = random_network([2, *[2] * 12, 1], 3)
    ax = plot(partition_from_reference(deep, IN_PLANE["square"][1]))
    (bar,) = ax.child_axes
    assert ax.get_legend() is None
    assert (bar.get_ylim(), bar.get_ylabel()) == ((0.5, 12.5), "layer")
    assert bar.get_yticks().tolist() == [2, 4, 6, 8, 10, 12]


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    partition = partition_of("segment")
    with pytest.raises(ValueError, match="'layer', 'value', 'pattern'"):
        plot(partition, color_by="slope")
    with pytest.raises(TypeError, match="legend must be True or False, got 'no'"):
        plot(partition, legend="no")  # type: ignore[arg-type]
    for output in (-1, 1, None, 0.0):
        with pytest.raises(ValueError, match="output_index must be a number from 0 to 0"):
            plot(partition, output_index=output)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"relu-regions\[plot\]"):
        plot(partition)


@pytest.mark.parametrize("text", ["a\x1b[31m", "\x00", "tab\t", "\ud800"], ids=["escape", "nul", "tab", "half"])
def test_what_no_font_has_is_refused(text: str) -> None:
    partition = regions.enumerate(*IN_PLANE["square"])
    with pytest.raises(ValueError, match="^title has characters that cannot be drawn: '"):
        regions.plot(partition, title=text)
    with pytest.raises(ValueError, match="^mark: the name of a point has characters that cannot be drawn: '"):
        regions.plot(partition, mark={text: [0.0, 0.0]})
    regions.plot(partition, title="two\nlines, \u00a0\u2009\u03b1", mark={"\u00e9": [0.0, 0.0]})


def test_formulas_in_titles() -> None:
    partition = regions.enumerate(*IN_PLANE["square"])
    assert regions.plot(partition, title=r"$\alpha^2$ for 3 \$").get_title() == r"$\alpha^2$ for 3 \$"
    with pytest.raises(ValueError, match=r"^title has an invalid formula: \\nonsense "):
        regions.plot(partition, title=r"$\nonsense$")


def test_long_titles() -> None:
    partition = regions.enumerate(*IN_PLANE["square"])
    title = regions.plot(partition, title="abcde" * 40).get_title()
    assert title.replace("\n", "") == "abcde" * 40 and len(title.split("\n")) > 3
    with pytest.raises(ValueError, match="^title has 100,000 characters; a picture has room for 500$"):
        regions.plot(partition, title="a" * 100_000)


def test_three_dimensions_are_drawn_in_three_planes() -> None:
    net, box = random_network([4, 8, 8, 3], 3), regions.Box([-1, -1, 0.5, -1], [1, 1, 0.5, 2])
    part = regions.enumerate(net, box)
    point = [0.25, 0, 0.5, 0.125]
    axes = plot(part, color_by="pattern", at=point)
    names = ["$x_{3}$ = 0.125", "$x_{1}$ = 0", "$x_{0}$ = 0.25"]
    for panel, chosen, name in zip(axes, ((0, 1), (0, 2), (1, 2)), names, strict=True):
        alone = regions.enumerate(net, box.section(point, chosen))
        assert panel.get_title() == f"{name}: {len(alone):,} regions"
        assert edges_by_color(panel) == edges_by_color(plot(alone, color_by="pattern"))
    assert [panel.get_ylabel() for panel in axes] == ["$x_{1}$", "$x_{3}$", "$x_{3}$"]
    chart = regions.Box.around(np.zeros(3), 1.0, [[1, 1, 0], [0, 1, 0], [0, 0, 1]])
    titles = [panel.get_title() for panel in plot(regions.enumerate(random_network([3, 6, 1], 1), chart))]
    assert [title.split(" = ")[0] for title in titles] == ["$x_{2}$", "$p_1$", "$p_0$"]


def test_what_has_no_three_planes() -> None:
    part = regions.enumerate(random_network([4, 4, 1]), regions.Box([-1] * 4, [1] * 4))
    with pytest.raises(
        regions.errors.DomainError,
        match="pictures exist in 1 to 3 dimensions; this domain has 4. Take a Box that fixes one coordinate",
    ):
        plot(part)
    with pytest.raises(ValueError, match="at= is for partitions of three dimensions"):
        plot(partition_of("square"), at=[0, 0])
    with pytest.raises(ValueError, match="3 panels"):
        plot(regions.enumerate(random_network([3, 4, 1]), regions.Box([-1] * 3, [1] * 3)), title=["a"])
