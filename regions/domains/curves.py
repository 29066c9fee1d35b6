# SPDX-License-Identifier: MIT
"""What is a curve through input space?

A curve is a sequence of legs, each a straight segment or an arc of an ellipse that is at most a quarter of a turn. An
arc is the chart ``x = origin + X u + Y v`` with (X, Y) on the unit circle, counter-clockwise from one direction to
another. All of it is float64, and results are exact for these doubles: an end is the direction as stored, not the
rounded point there. The parameter t runs from 0 to 1, in equal parts over the legs, and on each leg in proportion to
its length or, on arcs, its angle.
Source: Raghu et al. 2017 (section 2.1) and Price and Tanner 2020 use such curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions import core
from regions.domains.domain import digest_of, keep_shape
from regions.domains.gram import independent
from regions.domains.lines import Segment, segments_between
from regions.domains.points import many_points, one_point, same_length
from regions.errors import DegenerateDomainError, DomainError, ShapeMismatchError
from regions.ground.arithmetic.arrays import real_numbers, require_finite
from regions.ground.arithmetic.types import Floats
from regions.ground.text.tables import facts_table

__all__ = ["Arc", "ArcLeg", "Circle", "Curve", "GreatCircle", "Leg", "Polyline", "as_curve"]

QUARTERS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [1.0, 0.0]])


@dataclass(frozen=True, eq=False)
class ArcLeg:
    """An arc of an ellipse, at most a quarter of a turn.

    Attributes
    ----------
    origin : float64 [n_in]
    directions : float64 [2, n_in]
        Linearly independent.
    ends : float64 [2, 2]
        Directions in the chart, of any length: counter-clockwise from the first to the second.
    """

    origin: Floats
    directions: Floats
    ends: Floats

    @property
    def n_in(self) -> int:
        """Dimension of the input space."""
        return len(self.origin)

    @cached_property
    def generators(self) -> Floats:
        """The ends in the format of the core, float64 [2, 3]."""
        return np.column_stack([np.zeros(2), self.ends])

    @cached_property
    def compiled(self) -> core.CompiledDomain:
        """The form that the core needs."""
        return core.CompiledDomain(self.origin, self.directions, self.generators, arc=True)

    def __post_init__(self) -> None:
        for array in (self.origin, self.directions, self.ends):
            array.setflags(write=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return ArcLeg, (self.origin, self.directions, self.ends)  # because unpickled arrays are writeable

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Flat."""
        return (self.n_in,)

    @cached_property
    def angle(self) -> float:
        """The angle from the first end to the second, in radians."""
        (px, py), (qx, qy) = (end / np.hypot(*end) for end in self.ends)
        return float(np.arctan2(px * qy - py * qx, px * qx + py * qy))

    def part_at(self, end: int) -> ArcLeg:
        """Return a short part of the arc at its first end (0) or its last (1); the whole arc if no direction between
        its ends could be stored.
        """
        here, other = self.ends[end], self.ends[1 - end]
        between = here + (other - here) * 2.0**-20
        if not self._turn(self.ends[0], between) > 0 < self._turn(between, self.ends[1]):
            return self
        return ArcLeg(self.origin, self.directions, np.stack([here, between] if end == 0 else [between, here]))

    @staticmethod
    def _turn(start: Floats, stop: Floats) -> Fraction:
        """Return a number above 0 iff the turn from one direction to another is counter-clockwise, exactly."""
        (a, b), (c, d) = ([Fraction(entry) for entry in direction.tolist()] for direction in (start, stop))
        return a * d - b * c

    def chart_points(self, shares: Floats) -> Floats:
        """Return points of the unit circle, float64 [k, 2], at fractions [k] of the angle."""
        start, end = (end / np.hypot(*end) for end in self.ends)
        weights = np.sin(np.stack([1.0 - shares, shares], axis=-1) * self.angle) / np.sin(self.angle)
        return weights @ np.stack([start, end])

    def shares(self, chart_points: Floats) -> Floats:
        """Return the fractions [k] of the angle at which points [k, 2] of the arc are, clipped to 0 and 1 after
        rounding.
        """
        x, y = self.ends[0] / np.hypot(*self.ends[0])
        along = np.arctan2(x * chart_points[:, 1] - y * chart_points[:, 0], chart_points @ [x, y])
        return np.clip(along / self.angle, 0.0, 1.0)

    def to_input(self, shares: Floats) -> Floats:
        """Return input points float64 [k, n_in] at fractions [k] of the angle."""
        return self.origin + self.chart_points(shares) @ self.directions


Leg = Segment | ArcLeg


class Curve:
    """A sequence of segments or arcs.

    Made by `Polyline`, `Arc`, `Circle` or `GreatCircle`.

    Attributes
    ----------
    legs : tuple of Segment or ArcLeg
        The legs in order.
    closed : bool
        Whether the last leg ends where the first one begins. Then a piece may continue through that point.
    input_shape : tuple of int
        As for `Domain`: ``(C, H, W)`` if it was made from images.

    Raises
    ------
    TypeError, ShapeMismatchError
        Objects that are not legs, or legs in different spaces.
    DomainError
        A leg that does not begin where the one before ends.
    """

    legs: tuple[Leg, ...] = ()
    closed: bool
    input_shape: tuple[int, ...]

    def __init__(self, legs: Sequence[Leg], closed: bool) -> None:
        kinds = {type(leg) for leg in legs} if isinstance(legs, (list, tuple)) else set()
        if len(kinds) != 1 or not kinds <= {Segment, ArcLeg}:
            raise TypeError("Curve: legs are one or more Segment, or one or more ArcLeg; Polyline, Arc, .. make them")
        if len({leg.n_in for leg in legs}) > 1:
            raise ShapeMismatchError("Curve: all legs lie in one space")
        self.__dict__.update(legs=tuple(legs), closed=bool(closed), input_shape=legs[0].input_shape)
        if type(self) is Curve:
            self._require_joints()

    def _require_joints(self) -> None:
        """Check that each leg begins where the one before ends, up to the rounding in making them."""
        joints = len(self.legs) if self.closed else len(self.legs) - 1
        for index in range(joints):
            following = (index + 1) % len(self.legs)
            before, after = (
                leg.to_input(np.array([[0.0], [1.0]]) if isinstance(leg, Segment) else np.array([0.0, 1.0]))
                for leg in (self.legs[index], self.legs[following])
            )
            if np.abs(before[1] - after[0]).max() > 1e-9 * np.abs(before).max():
                raise DomainError(f"Curve: leg {following} does not begin where leg {index} ends")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a curve is immutable; make a new one instead of setting {name!r}")

    @property
    def dimension(self) -> int:
        """Always 1."""
        return 1

    @property
    def n_in(self) -> int:
        """Dimension of the input space."""
        return self.legs[0].n_in

    def to_input(self, t: ArrayLike) -> Floats:
        """Return points of the curve, float64 [.., n_in], at parameters t [..] from 0 to 1, in floating point.

        Raises
        ------
        TypeError, ValueError
            Not real numbers; NaN.
        DomainError
            A parameter below 0 or above 1.
        """
        times = real_numbers(t, "t")
        if times.size and not (0.0 <= times.min() and times.max() <= 1.0):
            raise DomainError(f"t runs from 0 to 1 along a curve; got {times.min():g} to {times.max():g}")
        flat = times.reshape(-1) * len(self.legs)
        which = np.minimum(flat.astype(np.int64), len(self.legs) - 1)
        met, places = np.unique(which, return_inverse=True)
        shares, legs = flat - which, [self.legs[index] for index in met]
        if isinstance(self.legs[0], Segment) and legs:
            origins, directions = np.stack([(leg.origin, leg.directions[0]) for leg in legs], axis=1)
            with np.errstate(over="ignore"):
                result = require_finite(origins[places] + shares[:, np.newaxis] * directions[places], "the input point")
        else:
            result = np.empty((flat.size, self.n_in))
            for index, leg in enumerate(legs):
                result[places == index] = leg.to_input(shares[places == index])
        return result.reshape(*times.shape, self.n_in)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the legs, 64 hexadecimal digits; the same for equal curves, however they were made."""
        arrays = (array for leg in self.legs for array in (leg.origin, leg.directions, leg.generators))
        return digest_of(arrays, b"closed" if self.closed else b"open")

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, Curve) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def _repr_html_(self) -> str:
        closed = "yes" if self.closed else "no"
        facts = [("lies in", f"R^{self.n_in}"), ("legs", f"{len(self.legs):,}"), ("closed", closed)]
        return facts_table(repr(self), facts)

    def __repr__(self) -> str:
        legs = f", {len(self.legs)} legs" if len(self.legs) > 1 else ""
        kind = type(self.legs[0]) if type(self) is Curve and len(self.legs) == 1 else type(self)
        return f"{kind.__name__}(in R^{self.n_in}{legs})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_legs, (type(self), self.legs, self.closed, self.input_shape)


def as_curve(given: Any, name: str = "curve") -> Curve:
    """Return a curve unchanged, and a segment as a curve of one leg."""
    if isinstance(given, Segment):
        return Curve([given], False)
    if not isinstance(given, Curve):
        expected = "a curve such as regions.Arc or regions.Polyline, or a Segment"
        raise TypeError(f"{name}: expected {expected}, got {type(given).__name__}")
    return given


def _from_legs(kind: type[Curve], legs: Sequence[Leg], closed: bool, input_shape: tuple[int, ...]) -> Curve:
    curve = object.__new__(kind)
    Curve.__init__(curve, legs, closed)
    curve.__dict__["input_shape"] = input_shape
    return curve


class Polyline(Curve):
    """Straight pieces from point to point.

    Parameters
    ----------
    points : array_like [n, n_in] or [n, C, H, W]
        Two or more; consecutive points differ. If the last point equals the first, the curve is closed, and a piece
        may continue through that point.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        As for `Segment`.
    DegenerateDomainError
        Fewer than two points; two equal ones in a row.

    Examples
    --------
    >>> Polyline([[0, 0], [3, 4], [3, 5]]).to_input([0.25, 1.0])
    array([[1.5, 2. ],
           [3. , 5. ]])
    """

    def __init__(self, points: ArrayLike) -> None:
        corners = many_points(points, "Polyline: points")
        if len(corners) < 2:
            raise DegenerateDomainError(f"Polyline: expected two points or more, got {len(corners)}")
        super().__init__(segments_between(corners, "Polyline"), np.array_equal(corners[0], corners[-1]))
        keep_shape(self, points=points)


class Arc(Curve):
    """A quarter of an ellipse around the origin: ``cos(pi t / 2) x0 + sin(pi t / 2) x1``.

    Parameters
    ----------
    x0, x1 : array_like [n_in] or [C, H, W]
        Its ends; linearly independent.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        Points that are not [n_in] or differ in length; NaN or infinity.
    DegenerateDomainError
        The points lie on one line through the origin.

    References
    ----------
    Raghu et al. 2017, section 2.1: the circular arc of their trajectories.

    Examples
    --------
    >>> Arc([1, 0], [0, 2]).to_input([0.0, 0.5, 1.0]).round(3)
    array([[1.   , 0.   ],
           [0.707, 1.414],
           [0.   , 2.   ]])
    """

    def __init__(self, x0: ArrayLike, x1: ArrayLike) -> None:
        start, end = one_point(x0, "Arc: x0"), one_point(x1, "Arc: x1")
        same_length("Arc", x0=start, x1=end)
        super().__init__(_arcs(np.zeros(len(start)), QUARTERS[:2], "Arc", x0=start, x1=end), False)
        keep_shape(self, x0=x0, x1=x1)


class Circle(Curve):
    """A full turn around an ellipse: ``center + cos(2 pi t) u + sin(2 pi t) v``.

    Parameters
    ----------
    center, u, v : array_like [n_in] or [C, H, W]
        ``u`` and ``v`` are linearly independent; the curve is a circle if they are orthogonal and of equal length.

    Raises
    ------
    ShapeMismatchError, NonFiniteError, DegenerateDomainError
        As for `Arc`.

    Examples
    --------
    >>> Circle([0, 0], [1, 0], [0, 1]).to_input([0.25, 0.5])
    array([[ 0.,  1.],
           [-1.,  0.]])
    """

    def __init__(self, center: ArrayLike, u: ArrayLike, v: ArrayLike) -> None:
        given = {"center": center, "u": u, "v": v}
        middle, first, second = (one_point(point, f"Circle: {name}") for name, point in given.items())
        same_length("Circle", center=middle, u=first, v=second)
        super().__init__(_arcs(middle, QUARTERS, "Circle", u=first, v=second), True)
        keep_shape(self, **given)


class GreatCircle(Curve):
    """The shorter arc between two points of equal norm, on the sphere around the origin.

    Parameters
    ----------
    x0, x1 : array_like [n_in] or [C, H, W]
        Of equal norm, to about 1e-9 of it, and linearly independent. The curve begins in ``x0``, and ends in the
        direction of ``x1`` up to rounding.

    Raises
    ------
    ShapeMismatchError, NonFiniteError, DegenerateDomainError
        As for `Arc`; also for opposite points.
    DomainError
        Different norms.

    Examples
    --------
    >>> GreatCircle([2, 0], [-1, 3**0.5]).to_input([0.5]).round(3)
    array([[1.   , 1.732]])
    """

    def __init__(self, x0: ArrayLike, x1: ArrayLike) -> None:
        start, end = one_point(x0, "GreatCircle: x0"), one_point(x1, "GreatCircle: x1")
        same_length("GreatCircle", x0=start, x1=end)
        # Scaled to about 2^400, because squares of very small and very large numbers are out of range.
        exponent = np.frexp(max(np.abs(start).max(), np.abs(end).max()))[1] - 400
        near, far = np.ldexp(start, -exponent), np.ldexp(end, -exponent)
        radius, other = float(np.linalg.norm(near)), float(np.linalg.norm(far))
        if abs(radius - other) > 1e-9 * radius:
            raise DomainError(
                f"GreatCircle: points on one sphere around the origin have equal norms, these have "
                f"{np.ldexp(radius, exponent):.12g} and {np.ldexp(other, exponent):.12g}; scale one, or use Arc"
            )
        _require_plane("GreatCircle", x0=start, x1=end)
        unit = near / radius
        across = far - unit * (unit @ far)
        across -= unit * (unit @ across)  # a second time, for points that are nearly parallel
        _, closer = np.frexp(np.abs(across).max())
        direction = np.ldexp(across, -closer)
        size = float(np.linalg.norm(direction))
        if size == 0.0:
            raise DegenerateDomainError("GreatCircle: in doubles, the points lie on one line through the origin")
        first, last = QUARTERS[0], np.array([unit @ far, np.ldexp(size, closer)]) / radius
        half = first + last / np.hypot(*last)  # the direction halfway, so that t is proportional to the angle
        ends = np.stack([first, last] if last[0] >= 0 else [first, half, last])
        across = np.ldexp(direction * (radius / size), exponent)
        super().__init__(_arcs(np.zeros(len(start)), ends, "GreatCircle", x0=start, across=across), False)
        keep_shape(self, x0=x0, x1=x1)


def _arcs(origin: Floats, ends: Floats, name: str, **directions: Floats) -> list[ArcLeg]:
    """Return legs around an ellipse from each direction [k, 2] of its chart to the next; two directions span its
    plane."""
    _require_plane(name, **directions)
    axes = np.stack(list(directions.values()))
    return [ArcLeg(origin, axes, ends[index : index + 2].copy()) for index in range(len(ends) - 1)]


def _require_plane(name: str, **directions: Floats) -> None:
    """Refuse two vectors [n_in] that do not span a plane."""
    for which, vector in directions.items():
        if not vector.any():
            raise DegenerateDomainError(f"{name}: {which} is zero, so the two vectors do not span a plane")
    if len(vector) < 2:
        raise DegenerateDomainError(f"{name}: a line has no arcs; inputs need at least two coordinates")
    if not independent(np.stack(list(directions.values()))):
        both = " and ".join(directions)
        raise DegenerateDomainError(f"{name}: {both} lie on one line through the origin, so they do not span a plane")
