# SPDX-License-Identifier: MIT
"""In which polygon does a plane cut a domain?

The plane goes through a point along two directions of the domain's chart, and has these as its own chart. Each
inequality of the domain becomes an inequality of the polygon, in exact fractions. These inequalities cut a rectangle
that contains the polygon. Corners are then rounded to doubles, and the polygon is their convex hull. For a box the
corners are exactly the given doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import ArrayLike

from regions.domains.abilities import SECTIONS, require
from regions.domains.domain import Domain
from regions.domains.polygons import Polygon
from regions.errors import DegenerateDomainError
from regions.ground.arithmetic.arguments import integer, list_of, shown
from regions.ground.arithmetic.types import Floats

__all__ = ["plane_section"]

Corner = tuple[Fraction, Fraction]


def plane_section(domain: Domain, point: ArrayLike | None = None, axes: tuple[int, int] = (0, 1)) -> Polygon:
    """Return the polygon through an input point along two axes of the chart; see `Polytope.section`."""
    require(SECTIONS, domain)
    numbers = list_of(axes, "axes", "the numbers of two directions, such as (0, 1)")
    chosen = [integer(each, "axes", least=0, most=domain.dimension - 1) for each in numbers]
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise ValueError(f"axes must be the numbers of two different directions, got {shown(axes)}")
    around = domain.generators[:, 1:]
    return _through(domain, (around / len(around)).sum(axis=0) if point is None else domain.to_chart(point), chosen)


def _through(domain: Domain, place: Floats, axes: Sequence[int]) -> Polygon:
    """Return the polygon through a chart point [d]."""
    first, second = axes
    others = [k for k in range(domain.dimension) if k not in axes]
    fixed = [Fraction(x) for x in place.tolist()]
    corners = _surrounding(domain.generators[:, 1:][:, [first, second]])
    for constant, *gradient in domain.inequalities:
        height = constant + sum(gradient[k] * fixed[k] for k in others)
        corners = _cut(corners, height, gradient[first], gradient[second])
    hull = _hull([(float(x), float(y)) for x, y in corners])
    if len(hull) < 3:
        raise DegenerateDomainError(
            f"{domain!r} has no section through the chart point {place.tolist()} along the axes {first} and "
            f"{second}; take a point in its interior"
        )
    origin = domain.origin + place[others] @ domain.directions[others]
    return Polygon.in_chart(origin, domain.directions[[first, second]], hull)


def _surrounding(places: Floats) -> list[Corner]:
    """Return a rectangle that contains the rounded corners [v, 2] of a polygon, and also the exact corners."""
    (left, low), (right, high) = (
        tuple(Fraction(x) for x in ends.tolist()) for ends in (places.min(axis=0), places.max(axis=0))
    )
    left, low = floor(left) - 1 - abs(left), floor(low) - 1 - abs(low)
    right, high = ceil(right) + 1 + abs(right), ceil(high) + 1 + abs(high)
    return [(left, low), (right, low), (right, high), (left, high)]


def _cut(corners: Sequence[Corner], height: Fraction, a: Fraction, b: Fraction) -> list[Corner]:
    """Return the part of a convex polygon where ``height + a x + b y >= 0``; an empty list if the plane lies in a
    facet.
    """
    if not a and not b:  # all of the plane is inside, on the facet's plane, or outside
        return list(corners) if height > 0 else []
    heights = [height + a * x + b * y for x, y in corners]
    found: list[Corner] = []
    for k, (x, y) in enumerate(corners):
        before, here = heights[k - 1], heights[k]
        if (before < 0 < here) or (here < 0 < before):
            (u, v), share = corners[k - 1], before / (before - here)
            found.append((u + share * (x - u), v + share * (y - v)))
        if here >= 0:
            found.append((x, y))
    return found


def _hull(points: Sequence[tuple[float, float]]) -> np.ndarray:
    """Return the corners of the convex hull, counter-clockwise, exactly; points in the middle of sides are not
    corners.
    """
    chains = []
    for ordered in (sorted(set(points)), sorted(set(points), reverse=True)):
        chain: list[tuple[float, float]] = []
        for point in ordered:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains += chain[:-1]
    return np.array(chains).reshape(len(chains), 2) + 0.0


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> Fraction:
    ax, ay, bx, by, cx, cy = map(Fraction, (*a, *b, *c))
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
