# SPDX-License-Identifier: MIT
"""What is the greatest value of a quadratic function on a convex polygon, exactly?

A quadratic function q has a polar form B: symmetric, affine in each argument, with q(x) = B(x, x). On an edge from u to
v with q(u), B(u, v) and q(v) known, q is a polynomial in one variable. The greatest value is at a corner, at the
stationary point of an edge on which q is concave, or at the stationary point of the plane. The last one counts only
if q is strictly concave and the point is in the polygon: in all other cases q does not decrease along some line, which
reaches the boundary. An affine function is the case without curvature. All points are fractions.
On a simplex, q is a mean of the values B(u, v) over pairs of corners, with weights that are not negative. So the
largest of these values is an upper bound, which needs no fractions (`candidates.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias, TypeVar

__all__ = ["clipped", "greatest"]

# A point of the chart.
Place = tuple[Fraction, ...]
Value = TypeVar("Value")
Polar: TypeAlias = Callable[[Value, Value], Fraction]


def clipped(corners: list[Place], form: Sequence[Fraction]) -> list[Place]:
    """Return the part of a convex polygon where a form is at most 0: corners in order, which may coincide."""
    values = [form[0] + sum((a * x for a, x in zip(form[1:], corner, strict=True)), Fraction(0)) for corner in corners]
    result = []
    following = zip(corners[1:] + corners[:1], values[1:] + values[:1], strict=True)
    for corner, value, (end, end_value) in zip(corners, values, following, strict=True):
        if value <= 0:
            result.append(corner)
        if value * end_value < 0:
            result.append(_between(corner, end, value / (value - end_value)))
    return result


def greatest(corners: Sequence[Place], values: Sequence[Value], polar: Polar[Value]) -> tuple[Fraction, Place]:
    """Return the greatest value of a quadratic function on a convex polygon or segment, and where it is.

    ``polar(values[i], values[j])`` is the polar form at two corners.
    """
    found = [(polar(value, value), corner) for value, corner in zip(values, corners, strict=True)]
    own = [value for value, _ in found]
    for i in range(len(corners)):
        j = (i + 1) % len(corners)
        rise = polar(values[i], values[j]) - own[i]
        curvature = own[j] - own[i] - 2 * rise
        if curvature < 0 < rise < -curvature:
            found.append((own[i] - rise * rise / curvature, _between(corners[i], corners[j], -rise / curvature)))
    base = _triangle(corners)
    if base is not None:
        found += _stationary(corners, [values[i] for i in base], [corners[i] for i in base], polar)
    return max(found, key=lambda each: each[0])


def _triangle(corners: Sequence[Place]) -> tuple[int, int, int] | None:
    """Three corners that do not lie on one line."""
    if len(corners[0]) < 2:
        return None
    triples = ((0, i, j) for i, j in combinations(range(1, len(corners)), 2))
    return next((each for each in triples if _area(*(corners[i] for i in each))), None)


def _stationary(
    corners: Sequence[Place],
    values: Sequence[Value],
    places: Sequence[Place],
    polar: Callable[[Value, Value], Fraction],
) -> list[tuple[Fraction, Place]]:
    """The value at the stationary point, if it is a maximum in the plane and in the polygon."""
    base = polar(values[0], values[0])
    slopes = [polar(values[0], values[k]) - base for k in (1, 2)]
    a, c = (polar(values[k], values[k]) - base - 2 * slopes[k - 1] for k in (1, 2))
    b = polar(values[1], values[2]) - base - slopes[0] - slopes[1]
    determinant = a * c - b * b
    if not (a < 0 < determinant):
        return []
    s = (b * slopes[1] - c * slopes[0]) / determinant
    t = (b * slopes[0] - a * slopes[1]) / determinant
    origin, first, second = places
    point = tuple(o + s * (x - o) + t * (y - o) for o, x, y in zip(origin, first, second, strict=True))
    turns = [_area(u, v, point) for u, v in zip(corners, [*corners[1:], corners[0]], strict=True)]
    if min(turns) < 0 < max(turns):
        return []
    return [(base + s * slopes[0] + t * slopes[1], point)]


def _area(a: Place, b: Place, c: Place) -> Fraction:
    """Twice the signed area of a triangle."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _between(start: Place, end: Place, share: Fraction) -> Place:
    return tuple(x + share * (y - x) for x, y in zip(start, end, strict=True))
