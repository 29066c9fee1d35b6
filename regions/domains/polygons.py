# SPDX-License-Identifier: MIT
"""Which parts of a plane are domains, and what are their charts?

Convex polygons and whole planes. In the plane itself (n_in = 2) the chart of a polygon is the identity: its corners are
the given doubles. In more dimensions the chart is computed once, in floating point (`plane_chart.py`). `Rectangle` and
`Polygon.in_chart` specify the chart exactly.
A whole plane has the given chart, neither normalised nor rotated. The core treats it as a square of symbolic size,
larger than all numbers (csrc/DESIGN.md), and its generators are the corners of this square.
Invariant: convexity, orientation and zero area are decided exactly, on the doubles of the chart.
"""

from __future__ import annotations

from math import hypot, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions.domains.corners import convex_corners
from regions.domains.domain import WHOLE_PLANE, Domain, from_chart, keep_points, keep_shape
from regions.domains.plane_chart import orthonormal_chart, plane_through
from regions.domains.points import (
    along_axes,
    as_points,
    bounds,
    many_points,
    one_point,
    same_length,
    shape_of_points,
    two_directions,
)
from regions.errors import (
    DegenerateDomainError,
    NonFiniteError,
    NotConvexError,
    NotCoplanarError,
    ShapeMismatchError,
)
from regions.ground.arithmetic.arguments import shown
from regions.ground.arithmetic.arrays import as_numpy, read_only
from regions.ground.arithmetic.keywords import helped
from regions.ground.arithmetic.types import Floats

# The chart of the plane itself.
IDENTITY = read_only(np.eye(2))


class Plane(Domain):
    """The whole plane ``x = origin + p[0] * e1 + p[1] * e2``, all real p.

    On all of R^2, ``Plane([0, 0], [1, 0], [0, 1])``, line arrangements have the numbers of regions found in textbooks.

    Parameters
    ----------
    origin : array_like [n_in]
    e1, e2 : array_like [n_in]
        Linearly independent; not normalised.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
    DegenerateDomainError
        ``e1`` and ``e2`` are parallel, or one is zero.

    Examples
    --------
    >>> Plane([0, 0, 1], [1, 0, 0], [0, 2, 0])
    Plane(in R^3, unbounded)
    """

    def __init__(self, origin: ArrayLike, e1: ArrayLike, e2: ArrayLike) -> None:
        super().__init__(origin, two_directions("Plane", e1, e2), WHOLE_PLANE)
        keep_shape(self, origin=origin, e1=e1, e2=e2)


class Polygon(Domain):
    """A convex polygon in a plane through input space.

    Parameters
    ----------
    vertices : array_like [v, n_in] or [v, C, H, W], or shapely.Polygon
        In the order of the boundary, either way around. A vertex in the middle of a straight side is dropped.
        With n_in = 2 the chart is the input space itself; clockwise vertices are reversed, the first one
        stays first. With n_in > 2 the origin is the first vertex, and the orthonormal directions are turned
        so that the order is kept.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        Not [v, n_in] with n_in >= 2; NaN or infinity.
    DegenerateDomainError
        Fewer than three vertices, coincident vertices, zero area.
    NotConvexError
        A dent, or edges that cross.
    NotCoplanarError
        Vertices far from one plane (more than 1e-5 of the polygon's width).

    Examples
    --------
    >>> triangle = Polygon([[0, 0], [0, 2], [2, 0]])
    >>> triangle
    Polygon(in R^2, 3 corners, area 2)
    >>> triangle.generators[:, 1:].tolist()
    [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]]
    """

    def __init__(self, vertices: ArrayLike) -> None:
        if type(vertices).__module__.startswith("shapely."):
            vertices = _ring(vertices)
        vertices = as_points(vertices, "Polygon: vertices")
        given = many_points(vertices, "Polygon: vertices")
        if given.shape[1] < 2:
            raise ShapeMismatchError("Polygon: a polygon needs at least 2 input dimensions, the points have 1")
        advice = ""
        try:
            if given.shape[1] == 2:
                origin, directions, coordinates = np.zeros(2), IDENTITY, given
            else:
                origin, directions, coordinates = plane_through(given)
                advice = (
                    ". In more than 2 dimensions this speaks of the corners' rounded coordinates in their "
                    "plane: a vertex on, or nearly on, a straight side can come out as a dent; leave it out"
                )
            corners = convex_corners(coordinates)
        except (DegenerateDomainError, NonFiniteError, NotConvexError, NotCoplanarError) as error:
            raise type(error)(f"Polygon: {error}{advice}") from None
        generators = _homogeneous(coordinates[corners])
        if directions is IDENTITY:
            self._store_chart(origin, directions, vertices.shape[1:])
            self._store_generators(generators)
        else:
            super().__init__(origin, directions, generators)
            self.__dict__["input_shape"] = vertices.shape[1:]

    @classmethod
    def in_chart(cls, origin: ArrayLike, directions: ArrayLike, corners: ArrayLike) -> Polygon:
        """Make a polygon from its chart ``x = origin + p @ directions`` and corners, all exactly as given.

        Parameters
        ----------
        origin : array_like [n_in]
        directions : array_like [2, n_in]
            Linearly independent; neither unit length nor right angles are needed.
        corners : array_like [v, 2]
            Chart coordinates, strictly convex and counter-clockwise.

        Examples
        --------
        >>> Polygon.in_chart([0, 0, 5], [[1, 0, 0], [0, 2, 0]], [[0, 0], [1, 0], [0, 1]])
        Polygon(in R^3, 3 corners, area 1)
        """
        given = many_points(corners, "Polygon: corners")
        if given.shape[1] != 2:
            raise ShapeMismatchError(f"Polygon: corners are chart points [v, 2], got {list(given.shape)}")
        return from_chart(
            Polygon,
            one_point(origin, "Polygon: origin"),
            many_points(directions, "Polygon: directions"),
            _homogeneous(given),
            input_shape=shape_of_points("Polygon", origin=origin, directions=directions),
        )


def _ring(given: Any) -> ArrayLike:
    """Return the corners of a polygon of shapely."""
    if getattr(given, "geom_type", "") != "Polygon":
        raise TypeError(f"Polygon: vertices: expected points or a shapely.Polygon, got {shown(given)}")
    if given.is_empty:
        raise DegenerateDomainError("Polygon: this shapely.Polygon is empty")
    if len(given.interiors):
        raise NotConvexError("Polygon: this shapely.Polygon has holes; split it into convex polygons")
    return np.array(given.exterior.coords)[:-1]


class Rectangle(Polygon):
    """The parallelogram ``origin + p[0] * e1 + p[1] * e2``, 0 <= p <= 1.

    It is a rectangle if e1 and e2 are perpendicular, which is not required. The chart is exactly the three
    given points, and the corners are the corners of the unit square, counter-clockwise in the chart.

    Parameters
    ----------
    origin : array_like [n_in]
        One corner.
    e1, e2 : array_like [n_in]
        The two sides, as vectors.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
    DegenerateDomainError
        ``e1`` and ``e2`` are parallel, or one is zero.

    Examples
    --------
    >>> Rectangle([0, 0, 1], [3, 4, 0], [0, 0, 2])
    Rectangle(in R^3, 4 corners, area 10)
    """

    @helped("Rectangle.from_bounds(low, high) takes two corners.")
    def __init__(self, origin: ArrayLike, e1: ArrayLike, e2: ArrayLike) -> None:
        sides = two_directions("Rectangle", e1, e2)
        unit_square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        Domain.__init__(self, origin, sides, _homogeneous(unit_square))
        keep_shape(self, origin=origin, e1=e1, e2=e2)

    @staticmethod
    def from_bounds(low: ArrayLike, high: ArrayLike) -> Polygon:
        """Return the rectangle of all x with ``low <= x <= high``, with sides along two input axes.

        Parameters
        ----------
        low, high : array_like [n_in] or [C, H, W]
            Two coordinates have ``low < high``, and are the chart. The others are fixed, with ``low == high``.

        Raises
        ------
        ShapeMismatchError, NonFiniteError
            Arrays of different shapes, or another number of coordinates that are not fixed; NaN or infinity.
        DegenerateDomainError
            ``low > high``.

        Examples
        --------
        >>> rectangle = Rectangle.from_bounds([-1, 0, 0.5], [1, 3, 0.5])
        >>> rectangle, rectangle.directions.tolist()
        (Polygon(in R^3, 4 corners, area 6), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        """
        least, most, free = bounds("Rectangle", low, high)
        if len(free) != 2:
            raise ShapeMismatchError(
                f"Rectangle: {len(free)} coordinates have low < high, and a rectangle has two. Take a "
                + ("Segment" if len(free) < 2 else "Box")
            )
        origin, directions = along_axes(least, free)
        (left, bottom), (right, top) = least[free], most[free]
        rectangle = Polygon.in_chart(origin, directions, [[left, bottom], [right, bottom], [right, top], [left, top]])
        keep_shape(rectangle, low=low, high=high)
        return rectangle


def circumsquare(
    a: ArrayLike, b: ArrayLike | None = None, c: ArrayLike | None = None, *, side: float | None = None
) -> Polygon:
    """Return the square around the circumcentre of three points, in their plane.

    This is the window of Hanin & Rolnick 2019, Fig. 8. The paper gives the centre, not the size. By default
    the square circumscribes the circumcircle: its side is twice the circumradius, so that (up to rounding) it
    contains the three points in any orientation. Its orthonormal chart has the circumcentre as origin and its
    first direction along ``b - a``.

    Parameters
    ----------
    a, b, c : array_like [n_in] or [C, H, W]
        Three points, not on one line; n_in >= 2. Or one array of three points.
    side : float, optional
        Length of a side, if not the default.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        Points that are not [n_in] or differ in length; NaN, infinity, or a circle beyond the largest double.
    DegenerateDomainError
        The points lie on one line, or ``side`` is not above zero.

    Examples
    --------
    >>> square = circumsquare([0, 0, 7], [2, 0, 7], [0, 2, 7])
    >>> square.origin
    array([1., 1., 7.])
    >>> round(square.volume, 12)
    8.0
    """
    if b is None and c is None:
        three = many_points(a, "circumsquare: points")
        if len(three) != 3:
            raise ShapeMismatchError(f"circumsquare: three points are needed, got {len(three)}")
        a, b, c = as_numpy(a, "circumsquare: points")
    elif b is None or c is None:
        raise ShapeMismatchError("circumsquare: two points are given; pass three, or one array of three")
    points = {name: one_point(x, f"circumsquare: {name}") for name, x in (("a", a), ("b", b), ("c", c))}
    same_length("circumsquare", **points)
    given = None if side is None else _half(side)
    try:
        directions, coordinates, exponent = orthonormal_chart(np.stack(list(points.values())), along=1)
    except (DegenerateDomainError, NonFiniteError) as error:
        raise type(error)(f"circumsquare: {error}") from None
    x1, (x2, y2) = coordinates[1, 0], coordinates[2]
    centre = x1 / 2, (x2 * (x2 - x1) + y2 * y2) / (2 * y2)  # of the points (0, 0), (x1, 0), (x2, y2)
    with np.errstate(over="ignore"):
        origin = points["a"] + np.ldexp(centre @ directions, exponent)
        half = np.float64(np.ldexp(hypot(*centre), exponent) if given is None else given)
    if not np.isfinite(origin).all() or not np.isfinite(half):
        raise NonFiniteError("circumsquare: the circle through the points is beyond the largest double")
    corners = half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    square = Polygon.in_chart(origin, directions, corners)
    keep_points(square, list(points.values()))
    keep_shape(square, a=a, b=b, c=c)
    return square


def _half(side: float) -> float:
    if isinstance(side, bool) or not isinstance(side, (int, float, np.integer, np.floating)):
        raise TypeError(f"circumsquare: side must be a number, got {type(side).__name__}")
    try:
        half = float(side) / 2
    except OverflowError:  # an integer beyond the largest double
        half = float("inf")
    if not isfinite(half):
        raise NonFiniteError(f"circumsquare: side must be a finite double, got {shown(side)}")
    if half <= 0:
        raise DegenerateDomainError(f"circumsquare: side must be above 0, got {shown(side)}")
    return half


def _homogeneous(corners: Floats) -> Floats:
    generators = np.empty((len(corners), 3))
    generators[:, 0], generators[:, 1:] = 1.0, corners
    return generators
