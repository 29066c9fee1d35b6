# SPDX-License-Identifier: MIT
"""Do curves agree with their formulas, and are bad ones refused?"""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest

import regions
from regions import Arc, Circle, Curve, GreatCircle, Polyline, Segment
from regions.domains.curves import as_curve
from regions.errors import DegenerateDomainError, DomainError, NonFiniteError, ShapeMismatchError

PLANE = [[1.0, 0.0], [0.0, 1.0]]
TIMES = np.linspace(0, 1, 33)


def test_arc_matches_its_formula() -> None:
    x0, x1 = np.random.default_rng(0).standard_normal((2, 5))
    angles = np.pi / 2 * TIMES[:, np.newaxis]
    assert np.allclose(Arc(x0, x1).to_input(TIMES), np.cos(angles) * x0 + np.sin(angles) * x1, atol=1e-15)


def test_circle_matches_its_formula() -> None:
    center, u, v = np.random.default_rng(1).standard_normal((3, 4))
    angles = 2 * np.pi * TIMES[:, np.newaxis]
    circle = Circle(center, u, v)
    assert np.allclose(circle.to_input(TIMES), center + np.cos(angles) * u + np.sin(angles) * v, atol=1e-14)
    assert circle.closed and len(circle.legs) == 4


@pytest.mark.parametrize("cosine", [0.9, 0.0, -0.6, -0.999, 1 - 2**-40])
def test_great_circle_stays_on_the_sphere_and_ends_in_its_points(cosine: float) -> None:
    x0, x1 = np.array([2.0, 0.0, 0.0]), 2 * np.array([cosine, (1 - cosine**2) ** 0.5, 0.0])
    points = GreatCircle(x0, x1).to_input(TIMES)
    assert np.allclose(np.linalg.norm(points, axis=1), 2.0, atol=1e-14)
    assert np.allclose(points[[0, -1]], [x0, x1], atol=1e-14)
    assert all(0 < leg.angle <= np.pi / 2 for leg in GreatCircle(x0, x1).legs)  # type: ignore[union-attr]


@pytest.mark.parametrize("tiny", [1e-160, 1e-200, 5e-324])
def test_great_circle_between_points_next_to_each_other(tiny: float) -> None:
    (leg,) = GreatCircle([1, 0], [1, tiny]).legs
    assert leg.directions.tolist() == PLANE and leg.generators[1].tolist() == [0, 1, tiny]


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e200, 1e300])
def test_great_circle_of_any_size(scale: float) -> None:
    points = GreatCircle([scale, 0], [0, scale]).to_input([0.0, 0.5, 1.0]) / scale
    assert np.allclose(points, [[1, 0], [0.5**0.5, 0.5**0.5], [0, 1]], atol=1e-15)


def test_polyline() -> None:
    corners = [[0, 0], [3, 4], [3, 5], [0, 0]]
    line = Polyline(corners)
    assert line.to_input(np.arange(4) / 3).round(12).tolist() == corners
    assert line.closed and not Polyline(corners[:3]).closed
    assert [type(leg) for leg in line.legs] == [Segment] * 3


def test_shares_match_the_points() -> None:
    for leg in Circle([0, 0], [1, 0], [0, 1]).legs:
        assert np.allclose(leg.shares(leg.chart_points(TIMES)), TIMES, atol=1e-15)  # type: ignore[union-attr]
        assert leg.chart_points(np.array([0.0, 1.0])).tolist() == leg.ends.tolist()  # type: ignore[union-attr]


def test_equal_curves_are_equal_after_pickling_too() -> None:
    curves = [Arc([1, 0], [0, 1]), Circle([0, 0], [1, 0], [0, 1]), Polyline([[0, 0], [1, 0]])]
    assert len({*curves, Arc([1, 0], [0, 1])}) == 3
    for curve in curves:
        copy = pickle.loads(pickle.dumps(curve))
        assert copy == curve and type(copy) is type(curve) and hash(copy) == hash(curve)
        assert copy != 0
    with pytest.raises(AttributeError, match="immutable"):
        curves[0].closed = True
        for leg in copy.legs:
            assert not leg.directions.flags.writeable and not leg.origin.flags.writeable
    assert as_curve(Segment([0, 0], [1, 0])) == curves[2]
    assert [repr(curve) for curve in curves] == [
        "Arc(in R^2)",
        "Circle(in R^2, 4 legs)",
        "Polyline(in R^2)",
    ]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Arc([1, 0], [2, 0]), DegenerateDomainError, "Arc: x0 and x1 lie on one line"),
        (lambda: Arc([1, 0], [0, 1, 0]), ShapeMismatchError, "x0 has 2, x1 has 3"),
        (lambda: Arc([1, 0], [0, np.inf]), NonFiniteError, "Arc: x1"),
        (lambda: Circle([0, 0], [0, 0], [0, 1]), DegenerateDomainError, "Circle: u is zero"),
        (lambda: Circle([0], [1, 0], [0, 1]), ShapeMismatchError, "center has 1"),
        (lambda: GreatCircle([1, 0], [0, 2]), DomainError, "these have 1 and 2"),
        (lambda: GreatCircle([1, 0], [-1, 0]), DegenerateDomainError, "one line through the origin"),
        (lambda: GreatCircle([0, 0], [0, 0]), DegenerateDomainError, "GreatCircle: x0 is zero"),
        (lambda: Polyline([[0, 0]]), DegenerateDomainError, "two points or more, got 1"),
        (lambda: Polyline([[0, 0], [1, 0], [1, 0]]), DegenerateDomainError, "points 1 and 2 are the same"),
        (lambda: Arc([1, 0], [0, 1]).to_input(1.5), DomainError, "t runs from 0 to 1"),
        (lambda: Curve([], False), TypeError, "legs are one or more Segment"),
        (lambda: Curve([Segment([0], [1]), Segment([0, 0], [1, 1])], False), ShapeMismatchError, "one space"),
        (lambda: Curve(None, False), TypeError, "legs are one or more Segment"),  # type: ignore[arg-type]
        (lambda: Curve([Segment([0], [1]), Segment([2], [3])], False), DomainError, "leg 1 does not begin where leg 0"),
        (lambda: Curve([Segment([0], [1]), Segment([1], [3])], True), DomainError, "leg 0 does not begin where leg 1"),
        (lambda: as_curve("x"), TypeError, "expected a curve such as regions.Arc .* got str"),
    ],
)
def test_bad_curves_are_refused(make: Callable[[], Curve], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_curves_are_not_domains() -> None:
    net = regions.Network([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])])
    with pytest.raises(TypeError, match=r"expected a domain .* got Arc"):
        regions.enumerate(net, Arc([1, 0], [0, 1]))  # type: ignore[arg-type]


def test_the_legs_of_a_polyline_are_segments() -> None:
    """Segments made all at once equal segments made one by one."""
    points = [[0.0, 1.0], [3.0, -0.0], [3.0, 0.1], [-1e300, 7.0]]
    for leg, start, end in zip(Polyline(points).legs, points, points[1:], strict=False):
        alone = Segment(start, end)
        assert leg == alone and repr(leg) == repr(alone) and isinstance(leg, Segment)
        assert leg.points.tolist() == alone.points.tolist() and leg.input_shape == alone.input_shape
        assert not any(array.flags.writeable for array in (leg.origin, leg.directions, leg.generators, leg.points))
        assert pickle.loads(pickle.dumps(leg)) == alone


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0, 0], [1, 0], [1, 0], [2, 0]], "points 1 and 2 are the same"),
        ([[0, 0], [-1.7e308, 0], [1.7e308, 1]], "Polyline: point 2 minus point 1 is beyond the largest double"),
    ],
)
def test_which_points_of_a_polyline_make_no_leg(points: list[list[float]], message: str) -> None:
    with pytest.raises(regions.errors.RegionsError, match=message):
        Polyline(points)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Arc([1], [2]), "Arc: a line has no arcs"),
        (lambda: Arc([0, 0], [1, 2]), "Arc: x0 is zero"),
        (lambda: Circle([0, 0], [1, 2], [0, 0]), "Circle: v is zero"),
        (lambda: GreatCircle([1, 0], [0, 1 + 1e-8]), "these have 1 and 1.00000001;"),
    ],
)
def test_what_spans_no_plane(make: Callable[[], Curve], message: str) -> None:
    with pytest.raises(regions.errors.RegionsError, match=message):
        make()
