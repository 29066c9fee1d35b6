# SPDX-License-Identifier: MIT
"""Where exactly are the corners of a region, and what is a point inside an unbounded region?

A corner is where two facets of the region meet. Each facet lies on a kink or on an edge of the domain. These are affine
forms with integer coefficients (`passes/exact.py`), so the corner is their cross product: a point (w, w x, w y) with
integer coordinates. On a line a corner is the zero of one form. Nothing is rounded, and nothing is divided.
The edges of a whole plane are the edges of a square from -M to M for a symbolic M (csrc/DESIGN.md). A line meets them
at infinity, and only its direction is stored. To find a point inside an unbounded region, M gets a value: if it is
large enough, the square contains a piece of the region, and the mean of the piece's corners is inside the region.
Cost: a cross product per corner, in addition to the forms.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd

import numpy as np
from numpy.typing import NDArray

from regions.errors import CheckpointError
from regions.ground.arithmetic.dyadic import dyadic, nearest_float
from regions.ground.arithmetic.types import Floats, Integers
from regions.passes.exact import ExactForms, Form
from regions.results.cells.cell_geometry import next_corners
from regions.results.cells.complex import CellComplex

__all__ = ["ExactOutlines", "Point", "points_inside"]

# (w, w x) or (w, w x, w y) with w > 0; or w = 0 and the direction in which a vertex at infinity lies. No common
# divisor.
Point = tuple[int, ...]


class ExactOutlines:
    """The facets and corners of a partition's regions; fastest when regions are visited in order.

    Attributes
    ----------
    previous : int64 [K]
        The corner before each one, around its region.
    """

    previous: Integers

    def __init__(self, cells: CellComplex) -> None:
        self.cells, self.domain = cells, cells.domain
        self.forms = ExactForms(cells.network.graph, cells.domain)
        self.generators: list[Point] = [tuple(dyadic(row)[0].tolist()) for row in cells.domain.generators]
        self.kinks: list[int] = cells.facet_kinks[cells.cell_facets].tolist()
        self.owners: list[int] = np.repeat(np.arange(len(cells)), cells.corner_counts).tolist()
        self.previous = np.empty(len(self.kinks), dtype=np.int64)
        if self.kinks:
            self.previous[next_corners(cells.cell_offsets)] = np.arange(len(self.kinks))

    def vertex(self, corner: int) -> Point:
        """Return the vertex at a corner."""
        self._enter(self.owners[corner])
        kink = self.kinks[corner]
        if self.cells.dimension == 1:
            if kink < 0:
                return _reduced(self.generators[-1 - kink])
            constant, slope = self.forms.kink(kink)
            return _meeting((slope, -constant))
        before = self.kinks[self.previous[corner]]
        if self.domain.bounded or min(before, kink) >= 0:
            return _meeting(_cross(self._line(before, self.generators), self._line(kink, self.generators)))
        if max(before, kink) < 0:
            return self.generators[-1 - kink]  # where that edge begins
        return self._end(max(before, kink), -1 - min(before, kink))

    def places(self, corners: Iterable[int]) -> list[list[Fraction]]:
        """Return the positions of corners; an empty list if a corner has no position, as in a modified file."""
        try:
            points = [self.vertex(corner) for corner in corners]
        except CheckpointError:
            return []
        if not all(weight for weight, *_ in points):
            return []
        return [[Fraction(other, weight) for other in others] for weight, *others in points]

    def lines(self, region: int) -> list[Form]:
        """Return the line of each edge of a region in a bounded part of a plane: a form, positive inside."""
        self._enter(region)
        start, stop = self.cells.cell_offsets[region : region + 2].tolist()
        result = []
        for kink in self.kinks[start:stop]:
            line = self._line(kink, self.generators)
            # Generators run counter-clockwise, so lines through them are positive inside.
            result.append(line if kink < 0 or self.forms.bits[kink] else tuple(-x for x in line))
        return result

    def point_inside(self, region: int) -> tuple[Fraction, Fraction]:
        """Return a point inside a region of a whole plane, exactly: the mean of the corners of its piece in a
        square.
        """
        self._enter(region)
        start, stop = self.cells.cell_offsets[region : region + 2].tolist()
        kinks = self.kinks[start:stop]
        sides = [(self.forms.kink(kink), 1 if self.forms.bits[kink] else -1) for kink in kinks if kink >= 0]
        reach = self._reach(start, stop)
        # Lines whose coefficients are at most B meet at coordinates of at most 2 B^2; larger squares are equivalent.
        beyond = 2 * max((a.bit_length() for form, _ in sides for a in form), default=0) + 2
        for attempt in range(max(beyond - reach, 0).bit_length() + 1):
            exponent = reach + (1 << attempt) - 1
            up, down = 1 << max(exponent, 0), 1 << max(-exponent, 0)
            frame: list[Point] = [(down, up * x, up * y) for _, x, y in self.generators]
            lines = [self._line(kink, frame) for kink in kinks]
            corners = [_cross(a, b) for a, b in zip(lines[-1:] + lines[:-1], lines, strict=True)]
            if all(weight for weight, _, _ in corners):
                x, y = (sum((Fraction(c[k], c[0]) for c in corners), Fraction(0)) / len(corners) for k in (1, 2))
                if all(sign * (a + b * x + c * y) > 0 for (a, b, c), sign in sides):
                    return x, y
        raise _contradiction(f"region {region} has no interior")

    def _reach(self, start: int, stop: int) -> int:
        """Return an exponent such that some corners of a region are at coordinates of about 2 to this power."""
        vertices = np.abs(self.cells.vertices[self.cells.cell_vertices[start:stop]])
        return int(np.frexp(vertices.max(where=np.isfinite(vertices).all(axis=1, keepdims=True), initial=0.0))[1])

    def _enter(self, region: int) -> None:
        packed = self.cells.packed_patterns[region]
        self.forms.enter(self.cells.network.graph.bits(packed).view(np.bool_))

    def _line(self, kink: int, corners: list[Point]) -> Form:
        """Return the form that is zero on a kink, or on an edge (stored as -1 - e) of the domain with these corners."""
        return self.forms.kink(kink) if kink >= 0 else _cross(*self._edge(-1 - kink, corners))

    def _edge(self, edge: int, corners: list[Point]) -> tuple[Point, Point]:
        return corners[edge], corners[(edge + 1) % len(corners)]

    def _end(self, kink: int, edge: int) -> Point:
        """Return the intersection of a kink and an edge of the whole plane: the direction of its line outwards."""
        _, a, b = self.forms.kink(kink)
        (_, x, y), (_, next_x, next_y) = self._edge(edge, self.generators)
        outward = next_y - y, x - next_x
        sign = 1 if a * outward[1] > b * outward[0] else -1
        return _reduced((0, -sign * b, sign * a))


def points_inside(cells: CellComplex, regions: NDArray[np.integer]) -> Floats:
    """Return a point inside each of some regions of a whole plane, in the chart, rounded: float64 [m, 2]."""
    outlines = ExactOutlines(cells)
    largest = np.finfo(np.float64).max
    points = [[nearest_float(x) for x in outlines.point_inside(region)] for region in regions.tolist()]
    return np.clip(np.array(points), -largest, largest)


def _cross(a: Form, b: Form) -> Point:
    """Return the point on both of two lines, or the line through two points, up to a factor."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _meeting(point: Point) -> Point:
    if point[0] == 0:
        raise _contradiction("two facets that should meet in a vertex are parallel")
    return _reduced(point if point[0] > 0 else tuple(-x for x in point))


def _reduced(point: Point) -> Point:
    divisor = gcd(*point)
    if divisor == 0:
        raise _contradiction("a facet of a region lies on no line")
    return tuple(x // divisor for x in point)


def _contradiction(what: str) -> CheckpointError:
    # Loading a file does not check its geometry, which would cost as much as computing exact corners.
    return CheckpointError(
        f"{what}: this is not a result of enumerate, but a partition from a modified file (regions.certify gives "
        "details); if enumerate did return it, please report it"
    )
