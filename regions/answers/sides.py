# SPDX-License-Identifier: MIT
"""On which side of each side of a polygon, or end of a segment, do points lie?

A polygon that fills the plane of its points is where some affine forms are at least 0, one for each side. The forms are
computed in fractions from the exact corners. Divided by the lengths of their normals and rounded, they give distances
with bounds on their errors; a sign that these leave open is decided in fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from regions.domains import Domain
from regions.domains.abilities import SIDES, require
from regions.domains.domain import require_domain
from regions.errors import DomainError
from regions.ground.arithmetic.dyadic import nearest_float, square_root
from regions.ground.arithmetic.proven import Proven

__all__ = ["Sides", "sides_of"]

# The coefficients of 1, x (and y).
ExactForm = tuple[Fraction, ...]


class Sides:
    """Affine forms that are at least 0 inside a convex set.

    Attributes
    ----------
    forms : list of tuple of Fraction [1 + n]
    """

    def __init__(self, forms: list[ExactForm]) -> None:
        self.forms = forms
        self.rounded = np.array([[nearest_float(x) for x in _normalised(form)] for form in forms])

    def within(self, domain: Domain) -> Sides:
        """The same forms as functions of the chart point of a domain."""
        origin, *directions = (
            [Fraction(x) for x in row] for row in [domain.origin.tolist(), *domain.directions.tolist()]
        )
        constants = [form[0] + _dot(form[1:], origin) for form in self.forms]
        slopes = ([_dot(form[1:], direction) for direction in directions] for form in self.forms)
        return Sides([(constant, *each) for constant, each in zip(constants, slopes, strict=True)])

    def distances(self, points: Proven) -> Proven:
        """The signed distances of points [V, n]: [V, sides]."""
        forms = Proven.rounded(self.rounded.T, 4)
        with np.errstate(all="ignore"):
            return points @ forms[1:] + forms[0]

    def outside(self, point: Sequence[Fraction]) -> bool:
        """Whether a point is outside, exactly: not inside and not on the boundary."""
        return any(form[0] + _dot(form[1:], point) < 0 for form in self.forms)


def sides_of(polygon: Domain, dimension: int, name: str) -> Sides:
    """Return the sides of a polygon in the plane, or the ends of a segment in the line, of this dimension.

    Raises
    ------
    DomainError
        The domain is unbounded, has more than two dimensions, or does not fill the space.
    TypeError
        Not a domain.
    """
    require(SIDES, require_domain(polygon), name)
    if not polygon.n_in == polygon.dimension == dimension:
        if dimension > 2:
            raise DomainError(
                f"{name}: points have {dimension} coordinates here, and no segment or polygon fills a space of more "
                "than 2 dimensions; use it with 1 or 2 coordinates only"
            )
        kind = ("a segment in a space of 1 dimension", "a polygon in a space of 2 dimensions")[dimension - 1]
        raise DomainError(f"{name} must be {kind}, because points have {dimension} coordinates; got {polygon!r}")
    corners = [_corner(polygon, place) for place in polygon.generators[:, 1:].tolist()]
    if dimension == 1:
        (low,), (high,) = sorted(corners)
        return Sides([(-low, Fraction(1)), (high, Fraction(-1))])
    sides = []
    inside = [sum(axis, Fraction(0)) / len(corners) for axis in zip(*corners, strict=True)]
    for (x, y), (next_x, next_y) in zip(corners, [*corners[1:], corners[0]], strict=True):
        a, b = y - next_y, next_x - x
        form = (-a * x - b * y, a, b)
        turned = form[0] + a * inside[0] + b * inside[1] < 0
        sides.append(tuple(-coefficient for coefficient in form) if turned else form)
    return Sides(sides)


def _corner(domain: Domain, place: list[float]) -> list[Fraction]:
    rows = [Fraction(1), *map(Fraction, place)]
    columns = np.vstack([domain.origin, domain.directions]).T.tolist()
    return [_dot(rows, [Fraction(x) for x in column]) for column in columns]


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def _normalised(form: ExactForm) -> list[Fraction]:
    """Divide a form by the length of its normal, up to the rounding of the length."""
    largest = max(abs(x) for x in form[1:])
    if not largest:  # constant, as a side is on a line parallel to it
        return list(form)
    normal = [x / largest for x in form[1:]]
    length = Fraction(square_root(_dot(normal, normal)))
    return [form[0] / largest / length, *(x / length for x in normal)]
