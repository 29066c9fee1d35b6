# SPDX-License-Identifier: MIT
"""Do level sets agree with rational arithmetic, and are curves, areas and holes right?"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_maxima import MAX_FAMILIES
from level_set_judge import level_set_findings
from regions import Line, Network, Plane, Polygon, Segment, level_set

BOX = Polygon([[-3.0, -3.0], [3.0, -3.0], [3.0, 3.0], [-3.0, 3.0]])
# |x| + |y|.
DIAMOND = Network([(np.vstack([np.eye(2), -np.eye(2)]), None), ([[1.0] * 4], None)])


@pytest.mark.parametrize("family", [*FAMILIES, *MAX_FAMILIES])
def test_level_sets_are_those_of_rational_arithmetic(family: str) -> None:
    for dimension in (1, 2):
        net, domain = draw(family, dimension, 1)
        assert list(level_set_findings(net, domain)) == []


def rings() -> Network:
    """Return a network for the distance of |x| + |y| from 2, which is small on a ring around a diamond."""
    far = np.vstack([np.eye(2), -np.eye(2)])
    return Network([(far, None), ([[1.0] * 4, [-1.0] * 4], [-2.0, 2.0]), ([[1.0, 1.0]], None)])


def test_nested_areas_and_holes() -> None:
    found = level_set(rings(), BOX, 0.5)
    assert found.above.tolist().count(False) == 1 and len(found.above) == 3 and len(found.curves) == 2
    (ring,) = np.flatnonzero(~found.above).tolist()
    (outer,) = np.flatnonzero(found.parents == -1).tolist()
    (inner,) = {0, 1, 2} - {ring, outer}
    assert found.parents[ring] == outer and found.parents[inner] == ring
    assert found.holes[ring] == 1 and found.holes[outer] == 1 and found.holes[inner] == 0
    assert found.length == pytest.approx(4 * 2**0.5 * (2.5 + 1.5)) and found.area_above == pytest.approx(
        36 - 12.5 + 4.5
    )
    assert found.error < 1e-11 and found.area_error < 1e-11


def test_curves_have_the_area_above_on_the_left_and_exact_ends() -> None:
    found = level_set(DIAMOND, BOX, 1 / 3)
    (curve,), (exact,) = found.polylines, found.exact_polylines()
    assert curve[0].tolist() == curve[-1].tolist() and len(curve) == 5
    assert {abs(x) + abs(y) for x, y in exact} == {Fraction(1 / 3)}
    (x, y), (far_x, far_y) = curve[:-1].T, curve[1:].T
    assert (x * far_y - y * far_x).sum() < 0  # clockwise: the outside is on the left


def test_on_lines_and_planes() -> None:
    found = level_set(DIAMOND, Line([0.0, 0.25], [1.0, 0.0]), 1.0)
    assert found.length == 2.0 and sorted(point[0, 0] for point in found.polylines) == [-0.75, 0.75]
    assert found.as_dict()["polylines"] == [] and found.holes.tolist() == [0, 0, 0]
    whole = level_set(DIAMOND, Plane([0, 0], [1, 0], [0, 1]), 1.0)
    assert whole.length == pytest.approx(4 * 2**0.5) and whole.parents.tolist().count(-1) == 1


def test_a_plateau_at_the_threshold_is_not_above_it() -> None:
    net = Network([(np.eye(2), None), ([[1.0, 1.0]], None)])
    found = level_set(net, BOX)
    assert found.area_above == 27.0 and found.length == 6.0
    assert level_set(net, BOX, -1e-300).length == 0.0


def test_no_layer_is_added_for_the_threshold() -> None:
    # Small layers at the end keep sweeps out: enumerations then take twice as long.
    for domain in (BOX, Segment([-1.0, 0.0], [2.0, 1.0])):
        part = level_set(DIAMOND, domain, 0.1).decisions.partition
        assert part.network.widths == (4, 1)
        assert part.network.graph.kink_values.tolist() == [0.0] * 4 + [0.1]
    assert level_set(three_inputs(), regions.Box([-1] * 3, [1] * 3), 0.1).partition.network.widths == (6, 1)


def three_inputs() -> Network:
    return Network([(np.vstack([np.eye(3), -np.eye(3)]), None), ([[1.0] * 6], None)])


def test_reports() -> None:
    found = level_set(DIAMOND.outputs([0]), BOX, 1.0, 0)
    assert repr(found) == "LevelSet(1 curve, length 5.65685, 2 areas)" and "areas above" in found._repr_html_()
    assert found.as_dict()["length"] == found.length and '"holes"' in found.to_json()


def test_pictures_have_the_exact_borders() -> None:
    pytest.importorskip("matplotlib")
    found = level_set(DIAMOND, BOX, 1.0)
    ax = regions.plot(found)
    assert ax.get_title() == "4 regions"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["output ≤ 1", "output > 1"]
    drawn = {tuple(map(tuple, np.round(path.vertices, 9))) for each in ax.collections for path in each.get_paths()}
    border = np.concatenate(
        [
            np.stack([a, b])
            for a, b in zip(*(c[k : len(c) - 1 + k] for c in found.polylines for k in (0, 1)), strict=True)
        ]
    )
    assert any({*map(tuple, np.round(border, 9))} == {*path} for path in drawn)
    two = Network([(np.eye(2), None), (np.eye(2), None)])
    names = regions.plot(regions.decisions(two, BOX)).get_legend().get_texts()
    assert [text.get_text() for text in names] == ["class 0", "class 1"]


def test_pictures_on_a_line_have_bands_that_end_at_the_boundary() -> None:
    LineCollection = pytest.importorskip("matplotlib.collections").LineCollection
    found = level_set(DIAMOND, Segment([-2, 0], [2, 0]), 1.0)
    ax = regions.plot(found)
    bands = {(path.vertices[0, 0], path.vertices[1, 0]) for path in ax.collections[0].get_paths()}
    ends = found.partition.domain.to_input(found.partition.vertices)[:, 0]
    assert {end for band in bands for end in band} == {*ends} and {-1.0, 1.0} <= {*ends}
    scores = [line.get_segments() for line in ax.collections if isinstance(line, LineCollection)]
    points = next(each for each in ax.collections if len(each.get_offsets()) == 2).get_offsets()
    assert points[:, 1].tolist() == [2.0, 2.0]  # the ends, on the curve of the largest score
    assert ax.get_ylabel() == "scores" and len(scores) == 2 and {y for piece in scores[0] for _, y in piece} == {1.0}


def test_a_whole_plane_is_drawn_in_a_window() -> None:
    pytest.importorskip("matplotlib")
    found = level_set(DIAMOND, Plane([0, 0], [1, 0], [0, 1]), 1.0)
    ax = regions.plot(found)
    corners = {(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)}
    (border,) = ax.collections[-1].get_paths()
    assert ax.get_title() == "4 regions" and {*map(tuple, border.vertices.round(9).tolist())} == corners


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"threshold": np.nan}, ValueError, "threshold must be a finite number"),
        ({"output": 1}, ValueError, "output must be at most 0"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        level_set(DIAMOND, BOX, **options)


def test_an_output_must_be_chosen() -> None:
    with pytest.raises(ValueError, match="output is missing: the network has 2 outputs"):
        level_set(Network([(np.eye(2), None)]), BOX)
