# SPDX-License-Identifier: MIT
"""Are classes, marked points, windows, proportions and files of pictures right?"""

from __future__ import annotations

import math
from pathlib import Path as FilePath
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure

import regions
from partition_cases import SQUARE
from random_networks import random_network
from regions.constructions import arrangement
from regions.domains import Domain, Line, Plane, Polygon, Ray, Rectangle, Segment, circumsquare
from regions.errors import DomainError, NonFiniteError, ShapeMismatchError
from regions.networks.network import Network
from regions.pictures.decision_pieces import largest_on_intervals, largest_on_polygons
from regions.pictures.picture_files import save_figure, trim_height
from regions.results.pages.colors import LIGHT, class_colors, color_numbers, layer_colors, light_colors

CLASSIFIER = random_network([2, 8, 6, 5], 3)
TRIANGLE = np.array([[0.0, -0.5], [1.0, 0.25], [-0.5, 0.5]])


def axes(count: int = 1) -> list[Axes]:
    return list(Figure(layout="constrained").subplots(1, count, squeeze=False)[0])


def draw(shown: Any, **options: Any) -> Axes:
    ax = axes()[0]
    assert regions.plot(shown, ax, **options) is ax
    return ax


def area(corners: np.ndarray) -> float:
    (x, y), (u, v) = corners.T, np.roll(corners, -1, axis=0).T
    return float((x * v - y * u).sum() / 2)


class TestClasses:
    def test_the_border_between_two_classes_is_where_they_tie(self) -> None:
        # The outputs are relu(x) and relu(-x) - 1, which tie at x = -1.
        network = Network([([[1.0, 0.0], [-1.0, 0.0]], [0.0, 0.0]), ([[1.0, 0.0], [0.0, 1.0]], [0.0, -1.0])])
        pieces = largest_on_polygons(regions.enumerate(network, Polygon([[-2, -2], [2, -2], [2, 2], [-2, 2]])))
        found = {}
        for winner, start, stop in zip(pieces.classes.tolist(), pieces.offsets, pieces.offsets[1:], strict=False):
            found.setdefault(winner, set()).update(map(tuple, pieces.corners[start:stop].tolist()))
        assert found == {
            0: {(-1.0, -2.0), (0.0, -2.0), (0.0, 2.0), (-1.0, 2.0), (2.0, -2.0), (2.0, 2.0)},
            1: {(-2.0, -2.0), (-1.0, -2.0), (-1.0, 2.0), (-2.0, 2.0)},
        }
        (border,) = pieces.borders.tolist()
        assert sorted(border) == [[-1.0, -2.0], [-1.0, 2.0]]

    def test_pieces_cover_the_square_and_their_class_wins(self) -> None:
        partition = regions.enumerate(CLASSIFIER, SQUARE)
        pieces = largest_on_polygons(partition)
        rings = np.split(pieces.corners, pieces.offsets[1:-1])
        assert len(rings) > len(partition) and len(set(pieces.classes.tolist())) > 2
        assert math.fsum(map(area, rings)) == pytest.approx(4, abs=1e-12)
        assert min(map(area, rings)) > 0
        values = CLASSIFIER(np.array([ring.mean(axis=0) for ring in rings]))
        assert (values.argmax(axis=1) == pieces.classes).all()
        at_border = np.sort(CLASSIFIER(pieces.borders.reshape(-1, 2)), axis=1)
        np.testing.assert_allclose(at_border[:, -1], at_border[:, -2], atol=1e-12)

    def test_a_class_can_win_inside_and_at_no_corner(self) -> None:
        # max(0, x - 1/2, -x - 1/2): class 0 only in the middle of a region without corners there.
        flat = Network([(np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]), [0.0, -0.5, -0.5])])
        partition = regions.enumerate(flat, SQUARE)
        pieces = largest_on_polygons(partition)
        rings = np.split(pieces.corners, pieces.offsets[1:-1])
        sizes = {c: area(ring) for c, ring in zip(pieces.classes, rings, strict=True)}
        assert len(partition) == 1 and sizes == {0: 2.0, 1: 1.0, 2: 1.0}

    def test_ties_go_to_the_lowest_class(self) -> None:
        same = Network([(np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]), [0.0, 0.0, 0.0])])
        assert set(largest_on_polygons(regions.enumerate(same, SQUARE)).classes.tolist()) == {0, 2}
        on_line = largest_on_intervals(regions.enumerate(same, Segment([-1, 0], [1, 0])), np.array([[0.0, 1.0]]))
        assert (on_line.classes.tolist(), on_line.ends.tolist()) == ([2, 0], [[0.0, 0.5], [0.5, 1.0]])

    def test_on_a_line_each_piece_has_the_largest_output(self) -> None:
        partition = regions.enumerate(CLASSIFIER, Segment([-3, 1], [3, -1]))
        ends = partition.vertices[partition.cell_vertices, 0].reshape(-1, 2)
        pieces = largest_on_intervals(partition, ends)
        assert pieces.ends[0, 0] == 0 and pieces.ends[-1, 1] == 1
        assert (pieces.ends[1:, 0] == pieces.ends[:-1, 1]).all() and (pieces.ends[:, 0] < pieces.ends[:, 1]).all()
        middle = partition.domain.to_input(pieces.ends.mean(axis=1)[:, np.newaxis])
        assert (CLASSIFIER(middle).argmax(axis=1) == pieces.classes).all()

    def test_the_legend_names_the_classes_that_are_drawn(self) -> None:
        partition = regions.enumerate(CLASSIFIER, SQUARE)
        classes = np.unique(largest_on_polygons(partition).classes)
        ax = draw(partition, color_by="class")
        assert [text.get_text() for text in ax.get_legend().get_texts()] == [f"class {c}" for c in classes]
        colors = [tuple(handle.get_facecolor()[:3]) for handle in ax.get_legend().get_patches()]
        assert colors == [tuple(class_colors(10)[c]) for c in classes]

    def test_the_curves_of_a_line_are_the_outputs_that_win(self) -> None:
        partition = regions.enumerate(CLASSIFIER, Segment([-3, 1], [3, -1]))
        ax = draw(partition, color_by="class")
        ends = partition.vertices[partition.cell_vertices, 0].reshape(-1, 2)
        values = CLASSIFIER(partition.domain.to_input(ends[:, :, np.newaxis]))
        for output, curve in zip(
            np.unique(largest_on_intervals(partition, ends).classes),
            (lines for lines in ax.collections if isinstance(lines, LineCollection)),
            strict=True,
        ):
            np.testing.assert_array_equal(np.array(curve.get_segments())[:, :, 1], values[:, :, output])

    def test_the_classes_of_one_output_are_its_signs(self) -> None:
        """|x| + |y| - 1 is at most 0 in a square of area 2, whose border is the zero level."""
        layers = [([[1, 0], [0, 1], [-1, 0], [0, -1]], [0, 0, 0, 0]), ([[1, 1, 1, 1]], [-1])]
        corner = regions.Network(layers)
        partition = regions.enumerate(corner, SQUARE)
        pieces = largest_on_polygons(partition)
        areas = [chart_area(pieces.corners[a:b]) for a, b in zip(pieces.offsets, pieces.offsets[1:], strict=False)]
        inside = pieces.classes == 0
        assert np.sum(areas, where=inside) == pytest.approx(2) and np.sum(areas, where=~inside) == pytest.approx(2)
        assert np.linalg.norm(np.diff(pieces.borders, axis=1), axis=2).sum() == pytest.approx(4 * math.sqrt(2))
        ax = draw(partition, color_by="class")
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["output ≤ 0", "output > 0"]
        on_line = draw(regions.enumerate(corner, Segment([-1, 0], [1, 0.5])), color_by="class")
        assert len([lines for lines in on_line.collections if isinstance(lines, LineCollection)]) == 2


def chart_area(corners: np.ndarray) -> float:
    x, y = corners.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


class TestColors:
    def test_neighbors_differ(self) -> None:
        for network in (random_network([2, 20, 20, 1], 1), arrangement(np.eye(2), [0.0, 0.0])):
            partition = regions.enumerate(network, SQUARE)
            numbers = color_numbers(partition, np.arange(len(partition)))
            first, second = partition.facet_regions[partition.facet_regions[:, 1] >= 0].T
            assert (numbers[first] != numbers[second]).all()

    def test_a_region_with_many_neighbors_takes_paler_colors(self) -> None:
        # All labels touch each other, and there are more labels than colours.
        partition = regions.enumerate(random_network([2, 20, 20, 1], 1), SQUARE)
        labels = np.arange(len(partition)) % 12
        numbers = color_numbers(partition, labels)
        assert len(set(zip(labels.tolist(), numbers.tolist(), strict=True))) == 12
        first, second = partition.facet_regions[partition.facet_regions[:, 1] >= 0].T
        apart = labels[first] != labels[second]
        assert (numbers[first] != numbers[second])[apart].all() and numbers.max() >= len(LIGHT)

    def test_colors_are_light_and_differ(self) -> None:
        colors = light_colors(20)
        assert len(np.unique(colors.round(6), axis=0)) == 20 and ((colors >= 0) & (colors <= 1)).all()
        assert (colors @ [0.2126, 0.7152, 0.0722] > 0.5).all()

    @pytest.mark.parametrize("count", [1, 2, 3, 8, 60])
    def test_layers_get_lighter(self, count: int) -> None:
        colors = layer_colors(count)
        assert colors.shape == (count, 3) and (np.diff(colors @ [0.2126, 0.7152, 0.0722]) > 0).all()

    def test_the_sign_of_a_single_output_has_a_color(self) -> None:
        hat = Network([(np.eye(2), [0.0, 0.0]), ([[1.0, -3.0]], [0.0])])
        ax = draw(regions.enumerate(hat, SQUARE), color_by="value")
        (mesh,) = [artist for artist in ax.collections if artist.norm.vmax]
        assert (mesh.norm.vmin, mesh.norm.vmax, mesh.get_cmap().name) == (-3.0, 3.0, "RdBu_r")


class TestMarks:
    def marks(self, ax: Axes) -> dict[str, tuple[float, float]]:
        dots = [artist for artist in ax.collections if artist.get_zorder() == 5]
        assert len(dots) <= 1 and all(isinstance(artist, PathCollection) for artist in dots)
        places = dots[0].get_offsets().tolist() if dots else []
        assert [list(text.xy) for text in ax.texts] == places
        return {text.get_text(): tuple(place) for text, place in zip(ax.texts, places, strict=True)}

    def test_the_points_of_a_domain(self) -> None:
        square = circumsquare(*TRIANGLE)
        assert square.points.tolist() == TRIANGLE.tolist() and not square.points.flags.writeable
        partition = regions.enumerate(CLASSIFIER, square)
        found = self.marks(draw(partition))
        assert list(found) == ["a", "b", "c"]
        np.testing.assert_allclose(list(found.values()), TRIANGLE, atol=1e-12)
        assert self.marks(draw(partition, mark=False)) == {}
        segment = Segment(*TRIANGLE[:2])
        on_line = self.marks(draw(regions.enumerate(CLASSIFIER, segment), output_index=3))
        values = CLASSIFIER(TRIANGLE[:2])[:, 3]
        assert list(on_line) == ["a", "b"]
        np.testing.assert_allclose(list(on_line.values()), [(0, values[0]), (1, values[1])], atol=1e-12)
        for other in (SQUARE, Line([0, 0], [1, 1]), Ray([0, 0], [1, 1]), Plane([0, 0], [1, 0], [0, 1])):
            assert other.points.shape == (0, 2)

    def test_points_are_kept_by_copies_and_are_not_compared(self) -> None:
        import copy

        square = circumsquare(*TRIANGLE)
        again = copy.deepcopy(square)
        assert again == square and again.points.tolist() == TRIANGLE.tolist() and not again.points.flags.writeable
        bare = Polygon.in_chart(square.origin, square.directions, square.generators[:, 1:])
        assert bare == square and not len(bare.points)

    def test_given_points(self) -> None:
        partition = regions.enumerate(CLASSIFIER, SQUARE)
        assert self.marks(draw(partition, mark=TRIANGLE)) == {str(i): tuple(p) for i, p in enumerate(TRIANGLE)}
        named = {"one $ two": TRIANGLE[0], "far": [3.0, 0.0]}
        assert self.marks(draw(partition, mark=named)) == {"one $ two": (0.0, -0.5)}  # the other one is outside

    def test_on_a_line_of_classes_marks_are_on_the_largest_output(self) -> None:
        network = regions.Network([([[1.0]], [0.0]), ([[0.0], [1.0]], [0.5, 0.0])], activation="relu")
        ax = draw(regions.enumerate(network, Segment([-1], [1])), color_by="class")
        assert self.marks(ax) == {"a": (-1.0, 0.5), "b": (1.0, 1.0)}

    def test_one_region_is_not_several(self) -> None:
        network = regions.Network([([[1.0]], [9.0]), ([[1.0]], [0.0])], activation="relu")
        assert draw(regions.enumerate(network, Segment([-1], [1]))).get_title() == "1 region"

    @pytest.mark.parametrize("place", [(-1, -1), (1, -1), (1, 1), (-1, 1), (0.7, 0)])
    def test_names_are_not_cut_off(self, place: tuple[float, float]) -> None:
        ax = draw(regions.enumerate(CLASSIFIER, SQUARE), mark={"a long name": place}, legend=False)
        trim_height(ax.figure)
        ax.figure.draw_without_rendering()
        (name,) = ax.texts
        assert name.get_path_effects()
        if abs(place[0]) == 1:  # at a corner: inside of the axes
            box = name.get_window_extent()
            assert ax.bbox.x0 < box.x0 and box.x1 < ax.bbox.x1 and ax.bbox.y0 < box.y0 and box.y1 < ax.bbox.y1
        outer = ax.figure.bbox
        for text in (name, ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()):
            box = text.get_window_extent()
            assert outer.x0 <= box.x0 and box.x1 <= outer.x1 and outer.y0 <= box.y0 and box.y1 <= outer.y1

    def test_refusals(self) -> None:
        partition = regions.enumerate(random_network([3, 4, 2]), Rectangle([0, 0, 1], [1, 0, 0], [0, 1, 0]))
        with pytest.raises(DomainError, match="point 'off' is 1 away from the plane that is drawn"):
            draw(partition, mark={"off": [0, 0, 2]})
        with pytest.raises(ShapeMismatchError, match="point '0' has 2 coordinates"):
            draw(partition, mark=[[0, 0]])
        with pytest.raises(NonFiniteError):
            draw(partition, mark=[[0, np.nan, 0]])
        for wrong in (None, "abc", {1: [0, 0, 1]}):
            with pytest.raises(TypeError, match="mark"):
                draw(partition, mark=wrong)


class TestViews:
    def test_no_margin_around_the_domain(self) -> None:
        triangle = Polygon([[-1.5, 0], [2, 0], [0, 0.75]])
        ax = draw(regions.enumerate(CLASSIFIER, triangle))
        assert (ax.get_xlim(), ax.get_ylim()) == ((-1.5, 2.0), (0.0, 0.75))

    @pytest.mark.parametrize(("width", "height", "aspect", "labels"), [
        (3, 1, 1, ["$x_{0}$", "$x_{1}$"]),
        (6, 1, 2, ["$x_{0}$", "$x_{1}$ (2× stretched)"]),
        (1, 12, 0.25, ["$x_{0}$ (4× stretched)", "$x_{1}$"]),
    ])  # fmt: skip
    def test_a_strip_is_stretched_and_says_so(self, width: int, height: int, aspect: float, labels: list[str]) -> None:
        strip = Polygon([[0, 0], [width, 0], [width, height], [0, height]])
        ax = draw(regions.enumerate(CLASSIFIER, strip))
        assert ax.get_aspect() == pytest.approx(aspect)
        assert [ax.get_xlabel(), ax.get_ylabel()] == labels

    @pytest.mark.parametrize(("domain", "names", "limits"), [
        (Rectangle([-1.5, -1], [4, 0], [0, 2.5]), ["$x_{0}$", "$x_{1}$"], [(-1.5, 2.5), (-1, 1.5)]),
        (Rectangle([1, 5, 9], [0, 0, -2], [4, 0, 0]), ["$x_{2}$", "$x_{0}$"], [(7, 9), (1, 5)]),
        (Segment([0, 1, 2, 0, 0, 0, 0], [0, 1, -2, 0, 0, 0, 0]), ["$x_{2}$"], [(-2, 2)]),
        (Segment([3], [-1]), ["$x$"], [(-1, 3)]),
        (circumsquare([0, 0, 1], [1, 0, 0], [0, 1, 0]), ["$p_0$", "$p_1$"], None),
        (Segment([0, 0], [1, 1]), ["$p$"], [(0, 1)]),
        (Rectangle([1e9, 0], [1, 0], [0, 1]), ["$p_0$", "$p_1$"], [(0, 1), (0, 1)]),
    ])  # fmt: skip
    def test_axes_show_input_coordinates_where_the_chart_allows_it(
        self, domain: Domain, names: list[str], limits: list[tuple[float, float]] | None
    ) -> None:
        weights = np.random.default_rng(0).standard_normal((6, domain.n_in))
        partition = regions.enumerate(regions.Network([(weights, np.ones(6)), (np.ones((1, 6)), [0.0])]), domain)
        ax = draw(partition)
        labels = [ax.get_xlabel(), ax.get_ylabel()][: domain.dimension]
        assert labels == names
        if limits is not None:
            assert [ax.get_xlim(), ax.get_ylim()][: domain.dimension] == limits

    def test_two_inputs_are_drawn_where_they_are(self) -> None:
        """In a chart that is turned against the axes, vertices are at their input coordinates."""
        domain = circumsquare([0, 0], [3, 1], [1, 2])
        partition = regions.enumerate(CLASSIFIER, domain)
        drawn = np.concatenate([path.vertices for path in draw(partition, mark=False).collections[0].get_paths()])
        expected = domain.to_input(partition.vertices)
        gaps = np.abs(drawn[:, np.newaxis] - expected).max(axis=2)
        assert gaps.min(axis=0).max() < 1e-12 and gaps.min(axis=1).max() < 1e-12

    @pytest.mark.slow
    def test_a_new_figure_is_as_high_as_the_domain_asks_for(self) -> None:
        heights = []
        for height in (1, 6):
            ax = regions.plot(regions.enumerate(CLASSIFIER, Polygon([[0, 0], [4, 0], [4, height], [0, height]])))
            ax.figure.draw_without_rendering()
            box, inches = ax.figure.get_tightbbox(), ax.figure.get_size_inches()
            assert inches[1] - box.height < 0.15 and inches[0] - box.width < 0.15
            heights.append(inches[1])
            matplotlib.pyplot.close(ax.figure)
        assert heights == sorted(heights) and heights[-1] < 7

    def test_a_window_of_a_plane_is_exact(self) -> None:
        lines = arrangement([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, 1.0])
        partition = regions.enumerate(lines, Plane([0, 0], [1, 0], [0, 1]))
        ax = draw(partition, color_by="pattern")
        assert ax.get_title() == "7 regions"
        low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
        crossings = partition.vertices[np.isfinite(partition.vertices).all(axis=1)]
        assert ((low < crossings) & (crossings < high)).all()
        faces = [artist for artist in ax.collections if len(artist.get_facecolors())]
        corners = np.concatenate([path.vertices for artist in faces for path in artist.get_paths()])
        assert np.isfinite(corners).all() and len(np.unique(corners, axis=0)) > len(crossings) + 4

    def test_far_crossings_do_not_make_a_window_large(self) -> None:
        slopes = [0.0, 1.0, 2.0, -1.0, -2.0, 1e-6]
        lines = arrangement([[s, 1.0] for s in slopes], [0.0, 0.5, 0.25, 0.125, 0.0, 1.0])
        partition = regions.enumerate(lines, Plane([0, 0], [1, 0], [0, 1]))
        ax = draw(partition, mark={"here": [30.0, 0.0]})
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        assert 30 < right < 100 and -100 < left < 0 and -100 < bottom < top < 100
        assert " of them here" in ax.get_title() and ax.get_title().startswith(f"{len(partition)} regions")

    def test_planes_without_crossings(self) -> None:
        plane = Plane([0, 0], [1, 0], [0, 1])
        parallels = arrangement([[1.0, 0.0], [2.0, 0.0]], [0.0, 1.0])
        assert draw(regions.enumerate(parallels, plane)).get_title() == "3 regions"
        assert draw(regions.enumerate(Network([(np.eye(2), [0.0, 0.0])]), plane)).get_title() == "1 region"

    def test_far_kinks_of_a_line_are_counted(self) -> None:
        kinks = arrangement([[1.0]] * 6, [0.0, -1.0, -2.0, -3.0, -4.0, -1e6])
        ax = draw(regions.enumerate(kinks, Line([0.0], [1.0])))
        assert ax.get_title() == "7 regions, 1 kink outside"
        assert ax.get_xlim()[1] < 10


class TestPanels:
    def test_linear_regions_have_no_edges_inside(self) -> None:
        hat = Network([(np.array([[1.0, 0.0]] * 3), [0.0, -0.25, -0.5]), ([[1.0, -2.0, 1.0]], [0.0])])
        partition = regions.enumerate(hat, SQUARE)
        flat = regions.linear_regions(partition, "affine")
        ax = draw(flat, color_by="pattern")
        assert ax.get_title() == "3 regions (affine)" and len(partition) == 4
        faces = [artist for artist in ax.collections if len(artist.get_facecolors())]
        assert len(faces) == 3  # one colour each, and the flat part has two pieces
        # The second unit bends at x = -0.25, but no output reads it.
        twice = Network([(np.array([[1.0, 0.0], [1.0, 0.0]]), [0.0, 0.25]), ([[1.0, 0.0]], [0.0])])
        partition = regions.enumerate(twice, SQUARE)
        for shown, expected in ((partition, {-0.25, 0.0}), (regions.linear_regions(partition, "open"), {0.0})):
            edges = [artist for artist in draw(shown).collections if not len(artist.get_facecolors())]
            ends = [pair for artist in edges for path in artist.get_paths() for pair in path.vertices.reshape(-1, 2, 2)]
            assert {x for (x, y), (u, v) in ends if x == u and abs(x) < 1} == expected

    def test_panels_share_colors_and_one_legend(self) -> None:
        small = regions.enumerate(CLASSIFIER, Polygon([[0, 0], [0.5, 0], [0, 0.5]]))
        large = regions.enumerate(CLASSIFIER, SQUARE)
        given = axes(2)
        drawn = regions.plot([small, large], given, color_by="value", title=["near", "far"])
        assert drawn == given and [ax.get_title() for ax in drawn] == ["near", "far"]
        norms = {(artist.norm.vmin, artist.norm.vmax) for ax in drawn for artist in ax.collections if artist.norm.vmax}
        values = CLASSIFIER(np.concatenate([small.vertices, large.vertices]))[:, 0]
        ((low, high),) = norms
        assert (low, high) == pytest.approx((values.min(), values.max()), rel=1e-12)
        assert [len(ax.child_axes) for ax in drawn] == [0, 1]
        for color_by in ("layer", "class"):
            drawn = regions.plot([small, large], np.array(axes(2)), color_by=color_by)
            assert [ax.get_legend() is not None for ax in drawn] == [False, True]
        assert draw(large, legend=False).get_legend() is None

    def test_refusals(self) -> None:
        partition = regions.enumerate(CLASSIFIER, SQUARE)
        polar = Figure().add_subplot(projection="polar")
        for wrong in (Figure(), "axes", 3, [None], polar):
            with pytest.raises(TypeError, match="ax must be matplotlib axes"):
                regions.plot(partition, wrong)
        with pytest.raises(ValueError, match="1 panels to draw and 2 axes"):
            regions.plot(partition, axes(2))
        with pytest.raises(ValueError, match="empty"):
            regions.plot([])
        for wrong in (3, ["x"], {}):
            with pytest.raises(TypeError, match="title must be a string"):
                draw(partition, title=wrong)
        with pytest.raises(ValueError, match="2 panels or steps and 1 titles"):
            regions.plot([partition, partition], axes(2), title="both")
        with pytest.raises(TypeError, match="Partition"):
            draw([partition, SQUARE])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
@pytest.mark.parametrize("domain", [SQUARE, Segment([-1, 0], [1, 0.5])], ids=["plane", "line"])
def test_the_same_picture_is_the_same_file(tmp_path: FilePath, domain: Any, kind: str) -> None:
    contents = []
    for _ in range(2):
        path = tmp_path / f"picture.{kind}"
        corner = domain.to_input(domain.generators[0, 1:])
        ax = draw(regions.enumerate(CLASSIFIER, domain), color_by="value", mark=[corner])
        save_figure(ax.figure, path)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    if kind == "pdf":
        assert b"/FontFile2" in contents[0] and b"/Type3" not in contents[0] and b"Date" not in contents[0]
