# SPDX-License-Identifier: MIT
"""Which convex parts of three and more dimensions are domains, and what are their charts?

A polytope is a chart, ``x = origin + p @ directions`` with p in R^d, and the set of all p where some affine forms
``c + a . p`` are at least zero: d = 3 to 10, or up to 1024 for a box along the inputs. It is stored by
its forms and not by its corners, because the coordinates of a corner are in general not doubles.
Invariant: all arrays are finite float64 and read-only. The set has an interior, decided exactly; its corners are
rounded to the last bit or so, and no decision depends on them.
The core cuts a box of symbolic size, larger than all numbers, by one form after the other (`csrc/cells/polytope.hpp`),
so unbounded sets need nothing else.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from regions import core
from regions.domains.abilities import MOST_BOUNDED, MOST_DIMENSIONS
from regions.domains.chart import Chart
from regions.domains.domain import Domain
from regions.domains.gram import independent
from regions.domains.plane_sections import plane_section
from regions.domains.points import along_axes, bounds, many_points, one_point, shape_of_points
from regions.domains.polygons import Polygon
from regions.errors import DegenerateDomainError, DomainError, NonFiniteError, ShapeMismatchError
from regions.ground.arithmetic.arguments import real
from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.dyadic import square_root
from regions.ground.arithmetic.types import Floats, Integers
from regions.ground.text.tables import facts_table

__all__ = ["Box", "Polytope", "Space"]


class Polytope(Domain):
    """The set of points p in three to ten dimensions with ``normals @ p <= offsets``, bounded or not.

    A `Box` along the inputs is a polytope of up to 1024 dimensions. Regions are counted in it
    (`regions.count`, `regions.certified_count`), and if it is bounded, enumerated.

    Parameters
    ----------
    normals : array_like [f, d]
        d = 3 to 10; the chart is the input space itself, n_in = d. `Polytope.in_chart` takes another chart.
        Inequalities may be repeated or redundant.
    offsets : array_like [f]

    Attributes
    ----------
    origin, directions : float64 [n_in], [d, n_in]
        The chart.
    forms : float64 [f, d + 1]
        Rows (c, a): the inequality ``c + a . p >= 0``, exactly as given; without rows in which a is zero. The polytope
        *is* these doubles.
    generators : float64 [v, d + 1]
        Its corners, rows (1, p), or (0, p) for a corner at infinity in the direction p. Rounded to the last bit or so.
    input_shape : tuple of int
        As for `Domain`.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        Arrays that do not fit together, or another number of dimensions; NaN or infinity.
    DegenerateDomainError
        No point satisfies all inequalities strictly: the set is empty or flat; or the directions are dependent.
    DomainError
        The set, or the set that only some of the inequalities define, has more than 128 facets.

    Examples
    --------
    >>> simplex = Polytope([[-1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 1, 1]], [0, 0, 0, 1])
    >>> simplex
    Polytope(in R^3, 4 corners)
    >>> simplex.generators[:, 1:].tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """

    def __init__(self, normals: ArrayLike, offsets: ArrayLike) -> None:
        name = type(self).__name__
        forms = _forms(name, normals, offsets)
        dimension = forms.shape[1] - 1
        self._define(name, np.zeros(dimension), np.eye(dimension), forms)

    @classmethod
    def in_chart(cls, origin: ArrayLike, directions: ArrayLike, normals: ArrayLike, offsets: ArrayLike) -> Polytope:
        """Make a polytope from its chart ``x = origin + p @ directions`` and inequalities ``normals @ p <= offsets``.

        Parameters
        ----------
        origin : array_like [n_in] or [C, H, W]
        directions : array_like [d, n_in] or [d, C, H, W]
            Linearly independent, d = 3 to 10.
        normals, offsets : array_like [f, d], [f]

        Raises
        ------
        ShapeMismatchError, NonFiniteError, DegenerateDomainError
            As for `Polytope`.

        Examples
        --------
        >>> Polytope.in_chart([0, 0, 0, 5], np.eye(3, 4), [[1, 1, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]], [1, 0, 0, 0])
        Polytope(in R^4, 4 corners)
        """
        polytope = object.__new__(Polytope)
        polytope._define("Polytope", origin, directions, _forms("Polytope", normals, offsets))
        return polytope

    def _define(self, name: str, origin: ArrayLike, directions: ArrayLike, defining: Floats) -> None:
        forms = defining
        Chart.__init__(self, name, origin, directions)
        wide = isinstance(self, Box) and _are_axes(self.directions)
        most = MOST_BOUNDED if wide else MOST_DIMENSIONS
        if not 3 <= self.dimension <= most:
            smaller = "a Line or a Plane" if name == "Space" else "a Segment or a Polygon"
            advice = f"; take {smaller}" if self.dimension < 3 else ""
            raise ShapeMismatchError(f"{name}: expected 3 to {most} dimensions, got {self.dimension}{advice}")
        if forms.shape[1] != self.dimension + 1:
            raise ShapeMismatchError(
                f"{name}: {self.dimension} directions need normals of shape [f, {self.dimension}], "
                f"got {[len(forms), forms.shape[1] - 1]}"
            )
        if self.dimension > MOST_DIMENSIONS:
            _require_box(name, forms)
            self.__dict__.update(forms=read_only(forms), points=np.zeros((0, self.n_in)))
            return
        if not independent(self.directions):
            raise DegenerateDomainError(f"{name}: the {self.dimension} directions are linearly dependent")
        empty = (forms[:, 1:] == 0.0).all(axis=1) & (forms[:, 0] >= 0.0)  # always true: 0 <= offset
        try:
            corners = core.corners(forms[~empty])
        except RuntimeError as error:
            raise DomainError(f"{name}: {error}; take fewer inequalities") from None
        if not len(corners):
            raise DegenerateDomainError(
                f"{name}: no point satisfies all inequalities strictly, so the set is empty or flat"
            )
        self.__dict__["forms"] = read_only(forms[~empty])
        self._store_generators(corners + 0.0)  # without negative zeros

    def section(self, point: ArrayLike | None = None, axes: tuple[int, int] = (0, 1)) -> Polygon:
        """Return the polygon in which a plane cuts the polytope.

        The plane goes through a point along two directions of the chart. Regions are counted and enumerated in the
        polygon as in every `Polygon`.

        Parameters
        ----------
        point : array_like [n_in], optional
            A point of the input space, by default the mean of the corners. Only its coordinates along the other
            directions matter.
        axes : two int
            The numbers of the two directions, from 0.

        Returns
        -------
        Polygon
            With the two directions as its chart. The corners are exact if the directions are along input coordinates,
            as in a `Box`, and rounded otherwise.

        Raises
        ------
        ValueError
            Not the numbers of two different directions.
        ShapeMismatchError, NonFiniteError
            As for `to_chart`.
        DomainError
            The polytope is unbounded.
        DegenerateDomainError
            The plane does not meet the interior of the polytope.

        Examples
        --------
        >>> box = Box([-1, -1, -1], [1, 1, 1])
        >>> box.section([0, 0, 0.25], (0, 2))
        Polygon(in R^3, 4 corners, area 4)
        >>> box.section([0, 0, 0.25]).to_input([1, 1])
        array([1.  , 1.  , 0.25])
        """
        return plane_section(self, point, axes)

    @cached_property
    def volume(self) -> float:
        """Infinite. A bounded polytope that is not a box has none: `enumerate` computes volumes, with their errors.

        Raises
        ------
        AttributeError
            The polytope is bounded.
        """
        if self.bounded:
            raise AttributeError(
                f"{self!r} is not a box, so its volume comes with its regions: add up the volumes of a partition"
            )
        return float("inf")


class Box(Polytope):
    """The box of all x with ``low <= x <= high``.

    Parameters
    ----------
    low, high : array_like [n_in] or [C, H, W]
        Three or more coordinates, up to 1024, have ``low < high``, and are the chart. The others are fixed, with
        ``low == high``. Regions are counted in up to ten dimensions, and enumerated in up to six. In more, outputs are
        bounded: see `regions.extremes`.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        Arrays of different shapes, or another number of coordinates that are not fixed; NaN or infinity.
    DegenerateDomainError
        ``low > high``.

    Examples
    --------
    >>> Box([-1, -1, -1], [1, 1, 1])
    Box(in R^3, 8 corners)
    >>> Box([0, 0, 0, 0.5], [1, 2, 3, 0.5]).directions.tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    """

    def __init__(self, low: ArrayLike, high: ArrayLike) -> None:
        least, most, free = bounds("Box", low, high)
        if not 3 <= len(free) <= MOST_BOUNDED:
            advice = " Fix the others, or take Box.around."
            if len(free) < 3:
                advice = (" It is a single point.", " Take a Segment.", " Take Rectangle.from_bounds.")[len(free)]
            raise ShapeMismatchError(
                f"Box: {len(free)} coordinates have low < high; 3 to {MOST_BOUNDED} are possible.{advice}"
            )
        self._define("Box", *along_axes(least, free), _sides(least[free], most[free]))
        self.__dict__["input_shape"] = shape_of_points("Box", low=low, high=high)

    @classmethod
    def around(cls, point: ArrayLike, radius: float, directions: ArrayLike) -> Box:
        """Make the box ``x = point + p @ directions`` with ``-radius <= p_k <= radius``.

        Parameters
        ----------
        point : array_like [n_in] or [C, H, W]
        radius : float
            Positive.
        directions : array_like [d, n_in] or [d, C, H, W]
            Linearly independent, d = 3 to 10; not normalised.

        Raises
        ------
        ShapeMismatchError, NonFiniteError, DegenerateDomainError
            As for `Box`; the radius is not finite, or not above 0.

        Examples
        --------
        >>> box = Box.around(np.ones(10), 0.25, np.eye(4, 10))
        >>> box, box.dimension
        (Box(in R^10, 16 corners), 4)
        """
        try:
            size = real(radius, "Box: radius")
        except ValueError as error:
            raise NonFiniteError(str(error)) from None
        if size <= 0.0:
            raise DegenerateDomainError(f"Box: radius must be above 0, got {size!r}")
        one_point(point, "Box: point")
        sides = np.full(len(many_points(directions, "Box: directions")), size)
        box = object.__new__(Box)
        box._define("Box", point, directions, _sides(-sides, sides))
        return box

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """The lowest and the highest chart coordinates, float64 [d] each."""
        # The two forms of each coordinate are p - low and high - p.
        return -self.forms[::2, 0], self.forms[1::2, 0]

    @property
    def input_axes(self) -> Integers | None:
        """The inputs that are the chart coordinates, int64 [d], or None if these are not inputs."""
        axes = self.directions.argmax(axis=1)
        return axes if _are_axes(self.directions) and not self.origin[axes].any() else None

    @cached_property
    def generators(self) -> Floats:  # type: ignore[override]
        """Not stored in more than ten dimensions, where a box has too many corners."""
        raise DomainError(f"{self!r} has 2^{self.dimension} corners: take `ends`, its lowest and highest coordinates")

    @cached_property
    def bounded(self) -> bool:
        """True."""
        return True

    @cached_property
    def _squared_scale(self) -> Fraction:
        return Fraction(1) if _are_axes(self.directions) else super()._squared_scale

    @cached_property
    def volume(self) -> float:
        """Volume in input space."""
        ends = zip(*(each.tolist() for each in self.ends), strict=True)
        size = prod((Fraction(high) - Fraction(low) for low, high in ends), start=Fraction(1))
        return square_root(self._squared_scale * size**2)

    def _repr_html_(self) -> str:
        if self.dimension <= MOST_DIMENSIONS:
            return super()._repr_html_()
        return facts_table(repr(self), [("lies in", f"R^{self.n_in}"), ("volume", f"{self.volume:.6g}")])

    def __repr__(self) -> str:
        if self.dimension <= MOST_DIMENSIONS:
            return super().__repr__()
        return f"Box(in R^{self.n_in}, {self.dimension} dimensions)"


class Space(Polytope):
    """All points ``x = origin + p @ directions``, without bounds.

    On all of R^d, arrangements of hyperplanes have the numbers of regions found in textbooks.

    Parameters
    ----------
    origin : array_like [n_in] or [C, H, W]
    directions : array_like [d, n_in] or [d, C, H, W]
        Linearly independent, d = 3 to 10; not normalised.

    Raises
    ------
    ShapeMismatchError, NonFiniteError, DegenerateDomainError
        As for `Polytope`.

    Examples
    --------
    >>> Space([0, 0, 0], np.eye(3))
    Space(in R^3, unbounded)
    """

    def __init__(self, origin: ArrayLike, directions: ArrayLike) -> None:
        dimension = len(many_points(directions, "Space: directions"))
        self._define("Space", origin, directions, np.zeros((0, dimension + 1)))


def _forms(name: str, normals: ArrayLike, offsets: ArrayLike) -> Floats:
    """Return the forms (offset, -normal)."""
    rows, ends = many_points(normals, f"{name}: normals"), one_point(offsets, f"{name}: offsets")
    if len(rows) != len(ends):
        raise ShapeMismatchError(f"{name}: {len(rows)} normals need as many offsets, got {len(ends)}")
    return np.column_stack([ends, -rows]) + 0.0


def _sides(low: Floats, high: Floats) -> Floats:
    """Return the forms of a box, p_k - low_k and high_k - p_k for each coordinate."""
    axes = np.eye(len(low))
    below, above = np.column_stack([-low, axes]), np.column_stack([high, -axes])
    return np.stack([below, above], axis=1).reshape(-1, len(low) + 1) + 0.0


def _are_axes(directions: Floats) -> bool:
    """Whether directions [d, n_in] are different unit vectors."""
    axes = directions.argmax(axis=1)
    alone = (directions != 0.0).sum(axis=1) == 1
    return bool(alone.all() and (directions.max(axis=1) == 1.0).all() and len(set(axes.tolist())) == len(axes))


def _require_box(name: str, forms: Floats) -> None:
    """Refuse forms that are not those of a box whose lower ends are below its upper ends."""
    low, high = -forms[::2, 0], forms[1::2, 0]
    if len(low) != len(high) or not np.array_equal(forms, _sides(low, high)) or not (low < high).all():
        raise DegenerateDomainError(f"{name}: the inequalities do not bound each coordinate from below and above")
