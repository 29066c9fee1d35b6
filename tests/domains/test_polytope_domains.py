# SPDX-License-Identifier: MIT
"""Which boxes and polytopes are domains, and what are they?"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import regions
from regions.domains.domain import from_chart
from regions.errors import DegenerateDomainError, NonFiniteError, ShapeMismatchError

CUBE = np.concatenate([np.eye(3), -np.eye(3)])


def test_a_box_is_its_inequalities() -> None:
    box = regions.Box([-1, 0, 2], [1, 0.5, 3])
    assert box.forms.tolist() == [
        [1, 1, 0, 0],
        [1, -1, 0, 0],
        [0, 0, 1, 0],
        [0.5, 0, -1, 0],
        [-2, 0, 0, 1],
        [3, 0, 0, -1],
    ]
    corners = {tuple(corner) for corner in box.generators[:, 1:].tolist()}
    assert corners == {(x, y, z) for x in (-1, 1) for y in (0, 0.5) for z in (2, 3)}
    assert box.bounded and box.dimension == 3


def test_fixed_coordinates_are_left_out_of_the_chart() -> None:
    box = regions.Box([0, 5, 0, 0], [1, 5, 1, 1])
    assert box.dimension == 3
    assert box.to_input([0.25, 0.5, 1]).tolist() == [0.25, 5, 0.5, 1]


def test_images_make_boxes_of_images() -> None:
    directions = np.eye(3, 8).reshape(3, 2, 2, 2)
    box = regions.Box.around(np.zeros((2, 2, 2)), 0.5, directions)
    assert box.input_shape == (2, 2, 2) and box.n_in == 8


@pytest.mark.parametrize(
    "make",
    [
        lambda: regions.Box([0, 0, 0], [1, 1, 1]),
        lambda: regions.Polytope(CUBE, [1, 1, 1, 0, 0, 0]),
        lambda: regions.Space([0, 0, 0], np.eye(3)),
    ],
)
def test_polytopes_survive_pickling_and_are_equal(make: object) -> None:
    one, other = make(), make()  # type: ignore[operator]
    again = pickle.loads(pickle.dumps(one))
    assert one == other == again and hash(one) == hash(again) and type(again) is type(one)
    assert not again.forms.flags.writeable and not again.generators.flags.writeable
    with pytest.raises(AttributeError, match="immutable"):
        one.forms = 3


def test_redundant_and_repeated_inequalities_change_no_corner() -> None:
    more = np.concatenate([CUBE, CUBE[:2], [[1, 1, 1], [0, 0, 0]]])
    polytope = regions.Polytope(more, [1, 1, 1, 0, 0, 0, 1, 2, 3, 0])
    assert len(polytope.forms) == 9  # without the one that says nothing
    assert {tuple(row) for row in polytope.generators.tolist()} == {
        tuple(row) for row in regions.Polytope(CUBE, [1, 1, 1, 0, 0, 0]).generators.tolist()
    }


def test_a_corner_that_is_no_double_is_rounded() -> None:
    corner = regions.Polytope([[3, 0, 0], [0, 7, 0], [0, 0, 5], [-1, -1, -1]], [1, 1, 1, 0]).generators[:, 1:]
    assert [1 / 3, 1 / 7, 1 / 5] in corner.tolist()


def test_unbounded_sets_have_corners_at_infinity() -> None:
    octant = regions.Polytope(-np.eye(3), [0, 0, 0])
    assert not octant.bounded
    assert [1, 0, 0, 0] in octant.generators.tolist()
    assert repr(octant) == "Polytope(in R^3, unbounded)"


@pytest.mark.parametrize(
    ("normals", "offsets"),
    [
        (CUBE, [1, 1, 1, -2, 0, 0]),
        (CUBE, [1, 1, 1, -1, 0, 0]),
        (np.concatenate([CUBE, [[0, 0, 0]]]), [1, 1, 1, 0, 0, 0, -1]),
        ([[1, 1, 1], [-1, -1, -1]], [1, -1 - 2**-52]),
    ],
)
def test_sets_without_interior_are_refused(normals: object, offsets: object) -> None:
    with pytest.raises(DegenerateDomainError, match="no point satisfies all inequalities strictly"):
        regions.Polytope(normals, offsets)


def test_thin_sets_are_not_flat() -> None:
    assert regions.Polytope([[1, 1, 1], [-1, -1, -1]], [1, -1 + 2**-52]).dimension == 3


def test_more_facets_than_fit_are_refused() -> None:
    normals = np.random.default_rng(0).standard_normal((400, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    assert regions.Polytope(normals[:100], np.ones(100)).bounded
    with pytest.raises(regions.errors.DomainError, match="more than 128 facets; take fewer inequalities"):
        regions.Polytope(normals, np.ones(400))


def test_a_box_of_more_than_ten_dimensions_has_no_corners() -> None:
    box = regions.Box([-1] * 30 + [2], [1] * 30 + [2])
    assert repr(box) == "Box(in R^31, 30 dimensions)" and box.bounded and box.volume == 2.0**30
    assert pickle.loads(pickle.dumps(box)) == box and "30 dimensions" in box._repr_html_()
    assert box.input_axes is not None and box.input_axes.tolist() == list(range(30))
    with pytest.raises(regions.errors.DomainError, match=r"has 2\^30 corners: take `ends`"):
        _ = box.generators
    with pytest.raises(regions.errors.DomainError, match="counts exist in 1 to 10 dimensions; this domain has 30"):
        regions.count(regions.Network([(np.eye(31), None), (np.ones((1, 31)), None)]), box)
    with pytest.raises(DegenerateDomainError, match="do not bound each coordinate"):
        from_chart(regions.Box, box.origin, box.directions, -box.forms)


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ShapeMismatchError, match="2 coordinates have low < high; 3 to 1024 are possible. Take"):
        regions.Box([0, 0], [1, 1])
    with pytest.raises(ShapeMismatchError, match="1025 coordinates have low < high; 3 to 1024 are possible. Fix"):
        regions.Box([0] * 1025, [1] * 1025)
    with pytest.raises(ShapeMismatchError, match="expected 3 to 10 dimensions, got 11"):
        regions.Box.around(np.zeros(12), 1.0, np.tri(11, 12))
    with pytest.raises(DegenerateDomainError, match=r"low\[1\] = 2 is above high\[1\] = 1"):
        regions.Box([0, 2, 0], [1, 1, 1])
    with pytest.raises(NonFiniteError):
        regions.Box([0, 0, 0], [1, 1, np.inf])
    with pytest.raises(ShapeMismatchError, match="4 normals need as many offsets, got 3"):
        regions.Polytope(np.ones((4, 3)), [1, 1, 1])
    with pytest.raises(ShapeMismatchError, match=r"3 directions need normals of shape \[f, 3\], got \[1, 4\]"):
        regions.Polytope.in_chart([0] * 4, np.eye(3, 4), [[1, 1, 1, 1]], [1])
    with pytest.raises(DegenerateDomainError, match="the 3 directions are linearly dependent"):
        regions.Space([0] * 3, [[1, 0, 0], [0, 1, 0], [1, 1, 0]])
    with pytest.raises(ShapeMismatchError, match="expected 3 to 10 dimensions, got 2; take a Line or a Plane"):
        regions.Space([0] * 3, [[1, 0, 0], [0, 1, 0]])
    with pytest.raises(DegenerateDomainError, match="radius must be above 0, got 0.0"):
        regions.Box.around([0] * 3, 0, np.eye(3))
    with pytest.raises(NonFiniteError, match="radius must be a finite number, got inf"):
        regions.Box.around([0] * 3, np.inf, np.eye(3))


def test_what_needs_a_line_or_a_plane_refuses_a_box_by_name() -> None:
    net = regions.Network([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), [0.0])])
    box = regions.Box([-1] * 3, [1] * 3)
    for call in (
        regions.function,
        regions.image,
    ):
        with pytest.raises(regions.errors.DomainError, match=r"this domain has 3\. Take a (Segment|Polygon) in it"):
            call(net, box)
    with pytest.raises(ShapeMismatchError, match="the network takes 3 inputs"):
        regions.count(net, regions.Box([0] * 4, [1] * 4))


def test_sections_of_a_box_are_its_rectangles() -> None:
    box = regions.Box([-1, 5, 0, 2], [1, 5, 0.1, 3])
    for axes, rest in (((0, 1), 2), ((2, 0), 1), ((1, 2), 0)):
        point = np.array([0.25, 5, 0.0625, 2.5])
        plane = box.section(point, axes)
        inputs = [(0, 2, 3)[axis] for axis in (*axes, rest)]
        assert plane.directions.tolist() == np.eye(4)[inputs[:2]].tolist()
        corners = plane.to_input(plane.generators[:, 1:])
        low, high = np.array([-1, 5, 0, 2.0]), np.array([1, 5, 0.1, 3])
        assert (corners[:, inputs[2]] == point[inputs[2]]).all() and len(corners) == 4
        for column in inputs[:2]:
            assert set(corners[:, column]) == {low[column], high[column]}
    assert box.section() == box.section(box.to_input([0, 0.05, 2.5]))


def test_sections_of_polytopes() -> None:
    simplex = regions.Polytope(np.vstack([np.ones(4), -np.eye(4)]), [1, 0, 0, 0, 0])
    corners = simplex.section([0, 0, 0.25, 0.25]).generators[:, 1:]
    assert corners.tolist() == [[0, 0], [0.5, 0], [0, 0.5]]
    third = simplex.section([0.1, 0.2, 1 / 3, 0.1], (3, 0))
    assert np.allclose(sorted(third.generators[:, 1:].tolist()), [[0, 0], [0, 1 - 0.2 - 1 / 3], [1 - 0.2 - 1 / 3, 0]])
    # Inequalities that are redundant, or repeated, or meet the plane in one line.
    again = regions.Polytope(np.vstack([CUBE, CUBE, [[1, 1, 0]]]), [1, 1, 1, 0, 0, 0] * 2 + [1.5])
    assert len(again.section().generators) == 5
    chart = regions.Box.around(np.zeros(5), 0.5, np.random.default_rng(0).standard_normal((3, 5)))
    point = chart.to_input([0.1, 0.2, 0.3])
    plane = chart.section(point, (1, 2))
    assert np.allclose(chart.to_chart(plane.origin), [0.1, 0, 0])
    assert np.allclose(abs(plane.generators[:, 1:]), 0.5) and len(plane.generators) == 4


def test_what_has_no_section() -> None:
    box = regions.Box([0, 0, 0], [1, 1, 1])
    for height in (0, 1, 2):  # touched, touched, missed
        with pytest.raises(DegenerateDomainError, match="no section through the chart point .* along the axes 0 and 1"):
            box.section([0.5, 0.5, height])
    with pytest.raises(regions.errors.DomainError, match="unbounded"):
        regions.Space([0, 0, 0], np.eye(3)).section()
    for axes in ((0,), (1, 1), (0, 1, 2)):
        with pytest.raises(ValueError, match="two different directions"):
            box.section(axes=axes)
    with pytest.raises(ValueError, match="axes"):
        box.section(axes=(0, 3))
    with pytest.raises(TypeError, match="axes"):
        box.section(axes=0)
    with pytest.raises(ShapeMismatchError):
        box.section([0.5, 0.5])
