# SPDX-License-Identifier: MIT
"""Is a point of the chart in a domain, exactly?

The array that defines a domain holds doubles, so that fractions decide without rounding. The boundary belongs to the
domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from regions.domains.domain import Domain
from regions.ground.arithmetic.dyadic import dyadic
from regions.ground.arithmetic.roundoff import TINY, U
from regions.ground.arithmetic.types import Bits, Floats

__all__ = ["contains", "inside"]


def contains(domain: Domain, place: Sequence[Fraction]) -> bool:
    """Return whether a point of the chart, Fraction [d], is in a domain, its boundary included."""
    return all(_value(form, place) >= 0 for form in domain.inequalities)


def inside(domain: Domain, points: Floats) -> Bits:
    """Return whether chart points [m, d] lie in the closed domain, exactly: bool [m]."""
    if domain.dimension > 2:
        return _satisfying(domain.forms, points)
    result = np.ones(len(points), dtype=bool)
    if domain.dimension == 1:
        (left_bounded, left), (right_bounded, right) = domain.generators
        if left_bounded:
            result &= points[:, 0] >= left
        if right_bounded:
            result &= points[:, 0] <= right
        return result
    if not domain.bounded:  # the whole plane
        return result
    corners = domain.generators[:, 1:]
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            left, right = (b[0] - a[0]) * (points[:, 1] - a[1]), (b[1] - a[1]) * (points[:, 0] - a[0])
            side = left - right
            # Each product is within 3 u of its true value and the difference adds one more rounding (Shewchuk
            # 1997): 8 u is more than enough, and the constant covers underflow. Overflow gives NaN, which is
            # undecided as well.
            known = np.abs(side) > 8 * U * (np.abs(left) + np.abs(right)) + TINY
        result &= ~known | (side > 0)
        for index in np.flatnonzero(~known & result):
            result[index] = _left_of(a, b, points[index])
    return result


def _satisfying(forms: Floats, points: Floats) -> Bits:
    """Return whether no form c + a . p, rows (c, a), is negative at points [m, d], exactly: bool [m]."""
    with np.errstate(all="ignore"):
        values = forms[:, 0] + points @ forms[:, 1:].T
        sizes = np.abs(forms[:, 0]) + np.abs(points) @ np.abs(forms[:, 1:]).T
        # At most 7 products and 6 sums, in any order. Overflow gives NaN or infinity, which is undecided as well.
        known = np.abs(values) > 16 * U * sizes + TINY
    result: Bits = ~(known & (values < 0)).any(axis=1)
    for index, row in np.argwhere(~known & result[:, np.newaxis]):
        constant, *slopes = map(Fraction, forms[row].tolist())
        terms = (slope * Fraction(x) for slope, x in zip(slopes, points[index].tolist(), strict=True))
        result[index] &= constant + sum(terms) >= 0
    return result


def _left_of(a: Floats, b: Floats, point: Floats) -> bool:
    """Return whether a point lies on the line from a to b or to the left of it, in integers of one exponent."""
    (ax, ay), (bx, by), (x, y) = dyadic(np.array([a, b, point]))[0]
    return bool((bx - ax) * (y - ay) >= (by - ay) * (x - ax))


def _value(form: Sequence[Fraction], place: Sequence[Fraction]) -> Fraction:
    constant, *slopes = form
    return constant + sum((a * x for a, x in zip(slopes, place, strict=True)), Fraction(0))
