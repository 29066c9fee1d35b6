# SPDX-License-Identifier: MIT
"""At which corner is an output greatest, exactly?

Corners at which the output may be greatest are found by rounded values with error bounds. If there are several, their
values are computed in fractions. Of corners with the same value, the one with the smallest first coordinate in the
chart is taken; of several such corners the one with the smallest second coordinate, and so on. Regions towards infinity
come first: if an output grows without bound in one of them, there is no greatest value.
Invariant: no comparison is decided by a rounded number alone.
Cost: up to a millisecond for each region that rounding leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from regions.answers.corner_values import CornerValues, value_at
from regions.answers.extreme_values import CornerExtreme, Extreme, KnownExtreme, Target
from regions.ground.arithmetic.types import Bits, Floats, Indices, Integers
from regions.results.cells.exact_outline import Point

__all__ = ["first_of", "greatest_at"]


def greatest_at(at: CornerValues, targets: Sequence[Target], leg: int) -> list[Extreme]:
    """Return the value that answers each target on a part of the domain."""
    values, errors = (np.ascontiguousarray(each.T) for each in at.rounded)
    ends = _Ends(at)

    def greatest(output: int, sign: int) -> Extreme:
        return replace(_greatest(at, ends, output, sign, sign * values[output], errors[output]), leg=leg)

    return [first_of([greatest(output, sign) for output in outputs], sign) for sign, outputs in targets]


def first_of(found: Sequence[Extreme], sign: int) -> Extreme:
    """The first of the values that are the greatest, after multiplication by a sign; decided exactly."""
    if len(found) == 1:
        return found[0]
    if (without_end := next((each for each in found if each.unbounded), None)) is not None:
        return without_end
    values, errors = np.array([each.rounded for each in found]).T
    near = np.flatnonzero(_may_be_greatest(sign * values, errors, np.ones(len(found), dtype=bool)))
    if len(near) == 1:
        return found[near[0]]

    def size(index: int) -> Fraction:
        value = found[index].value
        assert value is not None
        return sign * value

    return found[max(near.tolist(), key=size)]


def _greatest(
    at: CornerValues, ends: _Ends, output: int, sign: int, values: Floats, errors: Floats
) -> KnownExtreme | CornerExtreme:
    """The greatest value of sign times an output."""
    without_end = ends.rising(output, sign)
    if without_end is not None:
        return without_end
    corners = _distinct(at, np.sort(at.corners[_may_be_greatest(values, errors, ~at.infinite)]))
    if len(corners) == 1 and not len(ends.without_vertex):
        (corner,) = corners.tolist()
        vertex = int(at.partition.cell_vertices[corner])
        if np.isfinite(errors[vertex]):
            rounded = float(sign * values[vertex]), float(errors[vertex])
            return CornerExtreme(at.exact, output, corner, int(at.regions[corner]), 0, rounded)
    largest: Fraction | None = None
    tied: list[int] = []
    for value, corner in _values_at(at, output, corners):
        if largest is None or sign * (value - largest) > 0:
            largest, tied = value, []
        if value == largest:
            tied.append(corner)
    best = None
    if largest is not None:
        corner = _first_corner(at, np.array(tied))
        best = KnownExtreme(largest, output, at.exact.point(corner), int(at.regions[corner]), 0)
    for value, point, region in ends.on_lines(output):
        if best is None or best.value is None or sign * (value - best.value) > 0:
            best = KnownExtreme(value, output, point, region, 0)
    assert best is not None
    return best


def _distinct(at: CornerValues, corners: Integers) -> Integers:
    """Return the first of corners that are certainly the same point, in order.

    Where cells are left out, a vertex of a plane can be found twice. Two corners are the same point if they are between
    the same two kinks, or edges of the domain, and their regions have the same bits except for these kinks: the form of
    the lower kink is then the same in both regions, and the forms of the other one are equal where the lower kink is,
    because units are continuous.
    """
    part = at.partition
    if len(corners) < 2 or part.dimension != 2:
        return corners
    kept: dict[bytes, int] = {}
    ends = part.cell_offsets[at.regions[corners] + 1]
    starts = part.cell_offsets[at.regions[corners]]
    before = np.where(corners > starts, corners, ends) - 1
    pairs = np.sort(part.facet_kinks[part.cell_facets[np.stack([before, corners], axis=1)]], axis=1)
    patterns = part.packed_patterns[at.regions[corners]]
    for column in pairs.T:
        rows = np.flatnonzero(column >= 0)
        patterns[rows, column[rows] // 8] &= ~(np.uint8(1) << (column[rows] % 8).astype(np.uint8))
    for corner, pair, pattern in zip(corners.tolist(), pairs, patterns, strict=True):
        kept.setdefault(pair.tobytes() + pattern.tobytes(), corner)
    return np.array(list(kept.values()), dtype=np.int64)


def _values_at(at: CornerValues, output: int, corners: Integers) -> Iterator[tuple[Fraction, int]]:
    """The exact values of an output at corners, which are sorted by region."""
    region, constant = -1, False
    form: tuple[Fraction, ...] = ()
    for corner in corners.tolist():
        here = int(at.regions[corner])
        if here != region:
            region, form = here, at.exact.forms(here)[output]
            constant = not any(form[1:])
        yield form[0] if constant else value_at(form, at.exact.point(corner)), corner


def _first_corner(at: CornerValues, corners: Integers) -> int:
    """The corner with the smallest coordinates, the first coordinate first; exactly."""
    vertices = at.partition.cell_vertices[corners]
    places, errors = at.partition.vertices[vertices], at.partition.vertex_errors[vertices]
    left = np.arange(len(corners))
    for coordinates in places.T:
        with np.errstate(all="ignore"):
            low = np.nextafter(coordinates[left] - errors[left], -np.inf)
            high = np.nextafter(coordinates[left] + errors[left], np.inf)
        left = left[~(low > np.min(np.where(np.isnan(high), np.inf, high)))]
        if errors[left].any() or (coordinates[left] != coordinates[left[0]]).any():
            break  # the next coordinate counts only if these are equal
    if len(left) == 1:
        return int(corners[left[0]])

    def place(corner: int) -> tuple[Fraction, ...]:
        weight, *coordinates = at.exact.point(corner)
        return tuple(Fraction(x, weight) for x in coordinates)

    return min(corners[left].tolist(), key=place)


def _may_be_greatest(values: Floats, errors: Floats, finite: Bits) -> Bits:
    """Find the numbers, known up to errors, that may be the greatest of all."""
    with np.errstate(invalid="ignore", over="ignore"):
        known = finite & np.isfinite(errors)
        best = np.max(values - errors, where=known, initial=-np.inf)
        # Rounded outwards: sums of two doubles are off by less than the distance to the next double.
        below = np.nextafter(np.nextafter(best, -np.inf), -np.inf)
        return finite & ~(known & (values + errors < below))


class _Ends:
    """The behaviour of outputs towards infinity."""

    def __init__(self, at: CornerValues) -> None:
        self.at = at
        endless = at.infinite[at.partition.cell_vertices]
        self.corners: Indices = np.flatnonzero(endless)
        # A region whose corners are all at infinity has a whole line in it.
        finite = np.bincount(at.regions[~endless], minlength=len(at.partition))
        self.without_vertex: Indices = np.flatnonzero(finite == 0)

    def rising(self, output: int, sign: int) -> KnownExtreme | None:
        """Find a direction in which sign times an output is unbounded, or return None."""
        region = -1
        form: tuple[Fraction, ...] = ()
        for corner in self.corners.tolist():
            here = int(self.at.regions[corner])
            if here != region:
                region, form = here, self.at.exact.forms(here)[output]
            if not any(form[1:]):
                continue
            point = self.at.exact.point(corner)
            if sign * sum(a * x for a, x in zip(form[1:], point[1:], strict=True)) > 0:
                return KnownExtreme(None, output, point, region, 0)
        return None

    def on_lines(self, output: int) -> Iterator[tuple[Fraction, Point, int]]:
        """The values on the boundary lines of regions without a vertex; along such a line the output is constant."""
        for region in self.without_vertex.tolist():
            form = self.at.exact.forms(region)[output]
            for point in self._points(region):
                yield value_at(form, point), point, region

    def _points(self, region: int) -> list[Point]:
        """A point on each boundary line of a region without a vertex; any point, if it has no boundary."""
        part = self.at.partition
        kinks = part.facet_kinks[part.cell_facets[self.at.exact.corners_of(region)]]
        points: list[Point] = []
        for kink in kinks[kinks >= 0].tolist():
            self.at.exact.exact_forms.enter(self.at.graph.bits(part.packed_patterns[region]).view(np.bool_))
            form = self.at.exact.exact_forms.kink(kink)
            points.append((sum(a * a for a in form[1:]), *(-form[0] * a for a in form[1:])))
        return points or [(1,) + (0,) * part.dimension]
