# SPDX-License-Identifier: MIT
"""Does a domain have the requested chart and convex set, and does every refusal name what is wrong?"""

from __future__ import annotations

import pickle
from fractions import Fraction
from math import inf, sqrt

import numpy as np
import pytest

from regions import certified_count, count, ensembles
from regions.domains import (
    Domain,
    Line,
    Plane,
    Polygon,
    Ray,
    Rectangle,
    Segment,
    circumsquare,
)
from regions.domains.lines import segments_of
from regions.errors import DegenerateDomainError, NonFiniteError, NotConvexError, ShapeMismatchError

SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def corners(domain: Domain) -> list[list[float]]:
    return domain.generators[:, 1:].tolist()


def in_space(rng: np.random.Generator, points: np.ndarray, n_in: int) -> np.ndarray:
    """Plane points [v, 2] moved to a random place in R^n_in, by a rotation and a shift."""
    basis, _ = np.linalg.qr(rng.standard_normal((n_in, 2)))
    return points @ basis.T + rng.standard_normal(n_in)


class TestLines:
    def test_a_segment_runs_from_0_to_1(self) -> None:
        segment = Segment([1, 2, 3], [4, 6, 3])
        assert segment.dimension == 1 and segment.n_in == 3 and segment.bounded
        assert segment.generators.tolist() == [[1, 0], [1, 1]]
        assert segment.volume == segment.scale == 5
        assert segment.metric.tolist() == [[25]]
        assert segment.to_input([[0], [1], [0.5]]).tolist() == [[1, 2, 3], [4, 6, 3], [2.5, 4, 3]]
        assert segment.to_chart([4, 6, 7]) == pytest.approx([1])  # projected onto the line

    def test_rays_and_lines_never_end(self) -> None:
        ray, line = Ray([0, 1], [2, 0]), Line([0, 1], [2, 0])
        assert ray.generators.tolist() == [[1, 0], [0, 1]]
        assert line.generators.tolist() == [[0, -1], [0, 1]]
        assert not ray.bounded and not line.bounded
        assert ray.volume == line.volume == inf
        assert ray.scale == 2

    def test_direction_is_the_rounded_difference(self) -> None:
        a, b = np.array([1e16]), np.array([1.0])
        assert Segment(a, b).directions[0, 0] == b[0] - a[0]

    def test_input_types_are_taken_exactly(self) -> None:
        segment = Segment(np.array([0.1], dtype=np.float32), [2**53])
        assert segment.origin[0] == float(np.float32(0.1))
        assert segment.origin.dtype == np.float64


class TestPolygons:
    def test_in_the_plane_the_chart_is_the_input_space(self) -> None:
        triangle = Polygon([[0.1, 0.2], [1.7, 0.3], [0.4, 2.9]])
        assert triangle.origin.tolist() == [0, 0]
        assert triangle.directions.tolist() == [[1, 0], [0, 1]]
        assert corners(triangle) == [[0.1, 0.2], [1.7, 0.3], [0.4, 2.9]]
        points = np.random.default_rng(0).standard_normal((5, 2))
        assert (triangle.to_chart(points) == points).all()
        assert (triangle.to_input(points) == points).all()

    def test_clockwise_vertices_are_reversed(self) -> None:
        assert corners(Polygon(SQUARE[::-1])) == SQUARE[[3, 0, 1, 2]].tolist()

    def test_vertices_on_straight_sides_are_dropped(self) -> None:
        with_middles = [[-1, -1], [0, -1], [0.25, -1], [1, -1], [1, 1], [-1, 1], [-1, 0.5]]
        assert Polygon(with_middles) == Polygon(SQUARE)
        assert corners(Polygon(np.roll(with_middles, -1, axis=0)[::-1])) == [
            [-1, -1],
            [1, -1],
            [1, 1],
            [-1, 1],
        ]

    def test_collinear_is_decided_to_the_last_bit(self) -> None:
        middle = 0.1 + 0.2  # (middle, middle) is on the line through (0, 0) and (1, 1), and (middle, below) is not
        assert len(corners(Polygon([[0, 0], [middle, middle], [1, 1], [0, 1]]))) == 3
        below = np.nextafter(middle, 0)
        assert len(corners(Polygon([[0, 0], [middle, below], [1, 1], [0, 1]]))) == 4
        with pytest.raises(NotConvexError, match="vertex 1"):
            Polygon([[0, 0], [below, middle], [1, 1], [0, 1]])

    @pytest.mark.parametrize("n_in", [3, 5, 784])
    @pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
    def test_in_space_the_chart_is_orthonormal_and_keeps_shape_and_order(self, n_in: int, size: float) -> None:
        plane = np.array([[0.0, 0.0], [2.0, 0.5], [2.5, 2.0], [0.5, 1.5], [-0.5, 0.5]])
        for given in (plane, plane[::-1]):
            vertices = size * in_space(np.random.default_rng(3), given, n_in)
            polygon = Polygon(vertices)
            assert np.allclose(polygon.metric, np.eye(2), atol=1e-14)
            assert (polygon.origin == vertices[0]).all()
            assert np.allclose(polygon.to_input(corners(polygon)) / size, vertices / size, atol=1e-12)
            assert np.allclose(polygon.to_chart(vertices) / size, np.array(corners(polygon)) / size, atol=1e-12)
        if size == 1:
            assert polygon.volume == pytest.approx(Polygon(plane).volume, rel=1e-12)

    def test_corners_rounded_to_float32_still_lie_in_one_plane(self) -> None:
        points = in_space(np.random.default_rng(1), 3 * SQUARE, 100).astype(np.float32)
        assert Polygon(points).volume == pytest.approx(36, rel=1e-5)

    def test_a_rectangle_is_its_three_points(self) -> None:
        rectangle = Rectangle([1, 2, 3], [0.1, 0, 0], [0.3, 0.7, 0])  # not perpendicular
        assert rectangle.origin.tolist() == [1, 2, 3]
        assert rectangle.directions.tolist() == [[0.1, 0, 0], [0.3, 0.7, 0]]
        assert corners(rectangle) == [[0, 0], [1, 0], [1, 1], [0, 1]]
        assert rectangle.volume == float(Fraction(0.1) * Fraction(0.7))
        assert isinstance(rectangle, Polygon)

    def test_in_chart_takes_everything_as_given(self) -> None:
        polygon = Polygon.in_chart([0.1, 0.2], [[3.0, 1.0], [0.0, 1e-300]], SQUARE / 3)
        assert polygon.origin.tolist() == [0.1, 0.2]
        assert polygon.directions.tolist() == [[3.0, 1.0], [0.0, 1e-300]]
        assert corners(polygon) == (SQUARE / 3).tolist()
        assert polygon.to_chart(polygon.to_input([0.25, 0.5]))[0] == pytest.approx(0.25)

    def test_the_whole_plane_is_a_domain(self) -> None:
        plane = Plane([0, 0, 1], [1, 0, 0], [0, 2, 0])
        assert not plane.bounded and plane.volume == inf and plane.scale == 2


class TestCircumsquare:
    @pytest.mark.parametrize("n_in", [2, 3, 784])
    @pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
    def test_centre_side_and_chart(self, n_in: int, size: float) -> None:
        points = size * np.random.default_rng(n_in).standard_normal((3, n_in))
        square = circumsquare(*points)
        distances = np.linalg.norm((points - square.origin) / size, axis=1)
        assert np.allclose(distances, distances[0], rtol=1e-9)
        half = square.generators[2, 1]
        assert half / size == pytest.approx(distances[0], rel=1e-9)
        assert corners(square) == (half * SQUARE).tolist()
        assert np.allclose(square.metric, np.eye(2), atol=1e-14)
        along = (points[1] - points[0]) / size
        assert square.directions[0] @ along == pytest.approx(np.linalg.norm(along))
        # In the plane of the three points: projecting them onto it changes nothing.
        assert np.allclose(square.to_input(square.to_chart(points)) / size, points / size, atol=1e-9)

    def test_known_triangle(self) -> None:
        square = circumsquare([0, 0], [6, 0], [0, 8])
        assert square.origin.tolist() == [3, 4]
        assert square.volume == 100
        assert circumsquare([0, 0], [6, 0], [0, 8], side=3).volume == 9


class TestDomain:
    def test_volume_and_scale_agree(self) -> None:
        rng = np.random.default_rng(5)
        rectangle = Rectangle(rng.standard_normal(7), *rng.standard_normal((2, 7)))
        assert rectangle.scale == pytest.approx(sqrt(np.linalg.det(rectangle.metric)), rel=1e-12)
        assert rectangle.volume == rectangle.scale

    def test_volume_neither_overflows_nor_vanishes_on_the_way(self) -> None:
        assert Segment([0, 0], [3e300, 4e300]).volume == 5e300
        assert Segment([0, 0], [3e-300, 4e-300]).volume == 5e-300
        assert Rectangle([0, 0], [1e-160, 0], [0, 1e-160]).volume == 1e-160 * 1e-160 == 1e-320
        assert Rectangle([0, 0], [1e300, 0], [0, 1e300]).volume == inf
        assert Rectangle([0, 0], [1e300, 0], [-1e300, 1e300]).metric[0].tolist() == [inf, -inf]

    def test_points_of_other_shapes_are_mapped_along_the_last_axis(self) -> None:
        rectangle = Rectangle([0.0, 0, 1], [1, 0, 0], [0, 1, 0])
        assert rectangle.to_input(np.zeros((4, 5, 2))).shape == (4, 5, 3)
        assert rectangle.to_chart(np.zeros((4, 5, 3))).shape == (4, 5, 2)
        for call, points in (
            (rectangle.to_input, [1, 2, 3]),
            (rectangle.to_chart, [1, 2]),
            (rectangle.to_chart, 1),
        ):
            with pytest.raises(ShapeMismatchError, match="must have shape"):
                call(points)

    @pytest.mark.filterwarnings("error")
    def test_points_that_cannot_be_mapped(self) -> None:
        line = Line([0, 0], [1e308, 1e308])
        for call, points, error, message in (
            (line.to_input, [[0.1], [10.0]], NonFiniteError, r"the input point at points\[1\] is beyond"),
            (line.to_input, [np.nan], NonFiniteError, r"coordinate\[0\] is nan"),
            (Line([0], [1e-300]).to_chart, [1e300], NonFiniteError, "the chart point is beyond"),
            (line.to_chart, [1j, 0], TypeError, "input points must be real numbers .* got dtype complex128"),
            (line.to_chart, np.array([1j, 0]), TypeError, "complex128"),
        ):
            with pytest.raises(error, match=message):
                call(points)
        # Half of the sum of 1.7e308 and 1.7e308: the sum alone is beyond the largest double.
        assert Line([0, 0], [1, 1]).to_chart([1.7e308, 1.7e308]) == pytest.approx([1.7e308])

    def test_domains_are_immutable(self) -> None:
        segment = Segment([0.0], [1.0])
        with pytest.raises(AttributeError, match="immutable"):
            segment.origin = np.zeros(1)
        for array in (segment.origin, segment.directions, segment.generators, segment.metric):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 7

    def test_the_array_given_is_copied(self) -> None:
        point = np.zeros(2)
        segment = Segment(point, [1, 1])
        point[0] = 5
        assert segment.origin[0] == 0

    def test_equal_charts_are_equal_domains(self) -> None:
        segment = Segment([0.0, 0.0], [1.0, 2.0])
        same = Domain([-0.0, 0.0], [[1.0, 2.0]], [[1, 0], [1, 1]])
        assert segment == same and hash(segment) == hash(same) and segment.fingerprint == same.fingerprint
        assert len(segment.fingerprint) == 64
        others = [
            Segment([0, 0], [1, 2.5]),
            Segment([0.5, 0], [1.5, 2]),
            Ray([0, 0], [1, 2]),
            Line([0, 0], [1, 2]),
        ]
        assert len({segment, *others}) == 5
        assert segment != "segment"

    @pytest.mark.parametrize(
        "domain",
        [Segment([0], [1]), Line([0, 1], [1, 1]), Polygon(SQUARE), circumsquare([0, 0], [1, 0], [0, 1])],
    )
    def test_pickles(self, domain: Domain) -> None:
        copy = pickle.loads(pickle.dumps(domain))
        assert copy == domain and type(copy) is type(domain)
        assert not copy.generators.flags.writeable

    def test_repr_says_where_and_how_large(self) -> None:
        assert repr(Segment(np.zeros(784), np.ones(784))) == "Segment(in R^784, length 28)"
        assert repr(Line([0.0], [2.0])) == "Line(in R^1, unbounded)"
        assert repr(Polygon(SQUARE)) == "Polygon(in R^2, 4 corners, area 4)"
        assert repr(Plane([0, 0], [1, 0], [0, 1])) == "Plane(in R^2, unbounded)"


class TestArraysOfEnds:
    @pytest.mark.parametrize("shape", [(3, 2, 4), (1, 2, 1), (3, 2, 2, 1, 3)])
    def test_they_are_the_segments(self, shape: tuple[int, ...]) -> None:
        ends = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        found = segments_of(ends, "ends")
        expected = [Segment(*each) for each in ends]
        assert found == expected
        for one, other in zip(found, expected, strict=True):
            assert one.input_shape == other.input_shape and one.fingerprint == other.fingerprint
            assert np.array_equal(one.points, other.points)
            assert not any(array.flags.writeable for array in (one.origin, one.directions, one.points, one.generators))
        assert ends.flags.writeable

    def test_they_are_counted(self) -> None:
        rng = np.random.default_rng(1)
        nets = [ensembles.he([3, 8, 8, 1]).draw(rng) for _ in range(2)]
        ends = rng.standard_normal((20, 2, 3))
        segments = [Segment(*each) for each in ends]
        assert count(nets[0], ends).tolist() == count(nets[0], segments).tolist()
        assert count(nets, ends, workers=2).tolist() == count(nets, segments).tolist()
        assert certified_count(nets[0], ends)[1][3].domain == repr(segments[3])
        assert count(nets, ends[:0]).shape == (2, 0)

    @pytest.mark.parametrize(
        ("ends", "error", "message"),
        [
            (np.zeros((2, 3)), ShapeMismatchError, r"expected shape \[n, 2, n_in\]: two points in each row"),
            (np.zeros((2, 3, 4)), ShapeMismatchError, r"expected shape \[n, 2, n_in\].*got \[2, 3, 4\]"),
            (np.zeros((2, 2, 0)), ShapeMismatchError, "which is empty"),
            ([[[0.0], [1.0]], [[2.0], [2.0]]], DegenerateDomainError, r"ends\[1\]: the two ends are the same point"),
            ([[[1e308], [-1e308]]], NonFiniteError, r"ends\[0\]: the second end minus the first is beyond the largest"),
            ([[[0.0], [np.nan]]], NonFiniteError, r"ends\[0, 1, 0\]"),
        ],
    )
    def test_what_is_refused(self, ends, error, message) -> None:  # type: ignore[no-untyped-def]
        with pytest.raises(error, match=message):
            segments_of(np.array(ends), "ends")


def test_rectangles_from_bounds() -> None:
    low, high = np.array([0.1, -3.0, 0.5, 7.0]), np.array([0.1, 1 / 3, 0.7, 7.0])
    rectangle = Rectangle.from_bounds(low, high)
    corners = {tuple(corner) for corner in rectangle.to_input(rectangle.generators[:, 1:]).tolist()}
    assert corners == {(0.1, x, y, 7.0) for x in (-3.0, 1 / 3) for y in (0.5, 0.7)}
    assert rectangle == Polygon.in_chart(
        [0.1, 0, 0, 7], np.eye(4)[1:3], [[-3, 0.5], [1 / 3, 0.5], [1 / 3, 0.7], [-3, 0.7]]
    )
    images = Rectangle.from_bounds(np.zeros((1, 2, 2)), [[[0, 1], [2, 0]]])
    assert images.input_shape == (1, 2, 2)


def test_polygons_of_shapely() -> None:
    shapely = pytest.importorskip("shapely")
    assert Polygon(shapely.box(-1, -1, 1, 2)) == Polygon([[1, -1], [1, 2], [-1, 2], [-1, -1]])
    slanted = [(0, 0, 1), (1, 0, 1), (1, 1, 2)]
    assert Polygon(shapely.Polygon(slanted)) == Polygon(slanted)
    for given, error, message in (
        (shapely.Point(0, 0), TypeError, "expected points or a shapely.Polygon"),
        (shapely.Polygon(), DegenerateDomainError, "is empty"),
        (shapely.box(0, 0, 3, 3).difference(shapely.box(1, 1, 2, 2)), NotConvexError, "has holes"),
        (shapely.box(0, 0, 3, 3).difference(shapely.box(1, 1, 3, 3)), NotConvexError, "dent"),
    ):
        with pytest.raises(error, match=message):
            Polygon(given)


def test_a_square_round_one_array_of_points() -> None:
    points = np.random.default_rng(0).standard_normal((3, 5))
    assert circumsquare(points) == circumsquare(*points)
    images = points[:, np.newaxis, np.newaxis]
    assert circumsquare(images).input_shape == (1, 1, 5)
