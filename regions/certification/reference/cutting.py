# SPDX-License-Identifier: MIT
"""Into which two parts does a form cut a convex cell, in integers?

A cell on a line has two ends; in a plane, its corners in order; from three dimensions on, its corners in any order,
each with the facets that it is on. Points are homogeneous, (W, W x, ..) with W > 0, and a form (a0, a1, ..) has at such
a point the value W (a0 + a1 x + ..), so nothing is ever divided.
"""

from __future__ import annotations

from math import gcd
from operator import mul
from typing import Any

from regions.certification.reference.integers import Form, Point

__all__ = ["Corner", "cut", "first_cell"]

# A corner and what is known of it: in a plane, the line of the edge that leaves it; from three dimensions on, the forms
# of the facets that it is on; on a line, nothing.
Corner = tuple[Point, Any]


def first_cell(points: list[Point], forms: list[Form]) -> list[Corner]:
    """Return the cell with these corners; from three dimensions on, the part of their box where no form is negative."""
    if len(points[0]) == 2:
        return [(point, ()) for point in points]
    if len(points[0]) > 3:
        cell = [_on_facets(point) for point in points]
        for form in forms:
            cell = cut(cell, form)[1]
        return cell
    return [(a, _cross(a, b)) for a, b in zip(points, points[1:] + points[:1], strict=True)]


def cut(corners: list[Corner], form: Form) -> tuple[list[Corner], list[Corner]]:
    """Return the part of a cell where a form is not above zero and the part where it is.

    An empty list means no part. A cell on which the form is zero, or touches zero from one side, is not cut.
    """
    values = [sum(map(mul, form, point)) for point, _ in corners]
    if max(values) <= 0:
        return corners, []
    if min(values) >= 0:
        return [], corners
    if len(form) == 2:
        left, right = corners
        middle: Corner = _positive((form[1], -form[0])), ()
        parts = [left, middle], [middle, right]
        return parts if values[0] < 0 else parts[::-1]
    if len(form) > 3:
        return _halves(corners, values, form)
    below: list[Corner] = []
    above: list[Corner] = []
    for (point, edge), here, there in zip(corners, values, values[1:] + values[:1], strict=True):
        # Each part takes its corners in order. Where the boundary leaves a part, the part continues along the cut.
        if here <= 0:
            below.append((point, form if here == 0 < there else edge))
        if here >= 0:
            above.append((point, form if here == 0 > there else edge))
        if here < 0 < there or there < 0 < here:
            crossing = _meet(edge, form)
            below.append((crossing, form if here < 0 else edge))
            above.append((crossing, edge if here < 0 else form))
    return below, above


def _on_facets(point: Point) -> Corner:
    """Return a corner of a box around the origin, with its facets: forms that are zero there and positive inside."""
    weight, *position = point
    size = abs(position[0])
    axes = range(len(position))
    return point, frozenset(
        (size, *(-weight * (i == k) * (1 if x > 0 else -1) for i in axes)) for k, x in zip(axes, position, strict=True)
    )


def _halves(corners: list[Corner], values: list[int], form: Form) -> tuple[list[Corner], list[Corner]]:
    """Cut a cell of three or more dimensions, given the form's values at its corners, which have both signs.

    Two corners are the ends of an edge iff no third corner is on all facets that both are on. In d dimensions these are
    d - 1 or more.
    """
    below: list[Corner] = []
    above: list[Corner] = []
    for (point, facets), value in zip(corners, values, strict=True):
        here = (point, facets | {form} if value == 0 else facets)
        below += [here] * (value <= 0)
        above += [here] * (value >= 0)
    for one, (start, some) in zip(values, corners, strict=True):
        for other, (end, more) in zip(values, corners, strict=True):
            if not one < 0 < other:
                continue
            shared = some & more
            if len(shared) < len(form) - 2 or sum(shared <= facets for _, facets in corners) > 2:
                continue
            point = tuple(other * a - one * b for a, b in zip(start, end, strict=True))
            factor = gcd(*point)
            crossing = tuple(x // factor for x in point), shared | {form}
            below.append(crossing)
            above.append(crossing)
    return below, above


def _meet(a: Form, b: Form) -> Point:
    """Return the point where two lines meet."""
    return _positive(_cross(a, b))


def _cross(a: Form | Point, b: Form | Point) -> Form | Point:
    """Return the point on both of two lines, or the line through two points, up to a factor."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _positive(point: Point) -> Point:
    return point if point[0] > 0 else tuple(-x for x in point)
