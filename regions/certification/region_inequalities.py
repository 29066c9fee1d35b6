# SPDX-License-Identifier: MIT
"""Is each region the set that the inequalities of its pattern describe?

A facet's kink names a line, on which its form is zero under the region's pattern; an edge of the domain is a line too.
A corner is the exact point where the lines of its facets meet; stored coordinates are not used.
Then a region is compared with *all* its inequalities, one for each kink and each edge of the domain, at all its
corners. For a maximum, only kinks that compare the argmax with another branch count. The conditions are:

- none is violated at a corner, so the polygon lies in the set that they describe;
- the inequalities of its facets are zero at the ends of their facet and positive at the other corners, so each facet is
  an edge of the polygon, which is strictly convex, and the set lies in the polygon.

Therefore the polygon is the set. The sum of its corners, as homogeneous vectors with positive weights, is a point
inside, and a forward pass from there must give the region's pattern.
Cost: per region, corners times kinks times d + 1 products of integers, and the forms (`forms.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import NamedTuple, Protocol

import numpy as np

from regions.certification.certification_report import Findings
from regions.certification.forms import Forms, line_through, value
from regions.networks.network import Network
from regions.partition import Partition
from regions.partition.polytopes import PolytopePartition
from regions.reference.integers import Form, Point
from regions.threads.progress import Report

__all__ = ["Cell", "Cells", "Judged", "reduced", "turn"]


class Cell(NamedTuple):
    """One region, derived from its inequalities. Sets of kinks are integers, with bit k for kink k."""

    corners: list[Point]
    zero_on: list[int]  # for each corner, the kinks that are zero all along the facet from there
    zero: int  # the kinks that are zero on the whole region


class Judged(Protocol):
    """Regions that were checked in exact arithmetic, as second opinions need them."""

    @property
    def partition(self) -> Partition | PolytopePartition: ...

    @property
    def forms(self) -> Forms: ...

    def pattern(self, region: int) -> bytes: ...

    def corners(self, region: int) -> list[Point]: ...


class Cells:
    """The regions of a partition in exact arithmetic, as many as were requested.

    Attributes
    ----------
    positions : dict of int to Point
        Position of each vertex, in lowest terms, for the vertices seen so far.
    cells : dict of int to Cell
        The regions seen so far, except those with a corner that does not exist.
    """

    def __init__(self, partition: Partition, network: Network, forms: Forms, findings: Findings) -> None:
        self.partition, self.network, self.forms, self._findings = partition, network, forms, findings
        self.positions: dict[int, Point] = {}
        self.cells: dict[int, Cell] = {}
        self._vertex_at: dict[Point, int] = {}
        self._patterns: dict[int, bytes] = {}

    def see(self, regions: Iterable[int], report: Report | None = None) -> None:
        """Check some regions, unless they have been checked already, and add faults to the findings.

        The report function is called after each thousandth of them. After an exception, ``seen`` counts only regions
        that were checked completely.
        """
        new = [region for region in regions if region not in self._patterns]
        packed = self.partition.packed_patterns[np.array(new, dtype=np.intp)]
        bits = np.unpackbits(packed, axis=1, count=self.network.kinks, bitorder="little")
        patterns = [row.tobytes() for row in bits]
        step = max(1, len(new) // 1000)
        for done, (index, forms) in enumerate(self.forms.walk(patterns), 1):
            self._see_one(new[index], patterns[index], forms)
            self._patterns[new[index]] = patterns[index]
            if report is not None and (done % step == 0 or done == len(new)):
                report(done / len(new), done)

    @property
    def seen(self) -> int:
        """Number of regions that have been checked."""
        return len(self._patterns)

    def pattern(self, region: int) -> bytes:
        """Return the pattern of a checked region."""
        return self._patterns[region]

    def corners(self, region: int) -> list[Point]:
        """Return the corners of a checked region, if they exist."""
        return self.cells[region].corners

    def _see_one(self, region: int, pattern: bytes, forms: list[Form]) -> None:
        part = self.partition
        span = slice(part.cell_offsets[region], part.cell_offsets[region + 1])
        vertices, facets = part.cell_vertices[span].tolist(), part.cell_facets[span].tolist()
        kinks = part.facet_kinks[facets].tolist()
        lines = [forms[kink] if kink >= 0 else self.forms.edges[-1 - kink] for kink in kinks]
        corners = self._corners(region, vertices, facets, lines)
        if corners is None:
            return
        values = self._inequalities(region, pattern, forms, vertices, corners)
        planar = len(corners[0]) == 3
        size, sound = len(corners), True
        for side, (facet, kink) in enumerate(zip(facets, kinks, strict=True)):
            ends = (side, (side + 1) % size) if planar else (side,)
            for corner, found in enumerate(values[kink]):
                if corner in ends and found:
                    self._findings.wrong(
                        "vertices", f"vertex {vertices[corner]} is not on facet {facet} of region {region}"
                    )
                elif corner not in ends and not found:
                    sound = False
                    self._findings.wrong(
                        "cells", f"region {region} is not strictly convex at vertex {vertices[corner]}"
                    )
        if turn(corners[: len(corners[0])]) <= 0:
            sound = False
            self._findings.wrong("cells", f"the corners of region {region} are not in order")
        if sound:
            self._pattern_inside(region, pattern, corners)
        self.cells[region] = _cell(corners, values, planar)

    def _corners(self, region: int, vertices: list[int], facets: list[int], lines: list[Form]) -> list[Point] | None:
        """Return the corners of a region; the first region around a vertex decides, and the others must agree."""
        corners = []
        for corner, vertex in enumerate(vertices):
            if vertex not in self.positions:
                here, before = lines[corner], lines[corner - 1]
                point = (here[1], -here[0]) if len(here) == 2 else line_through(before, here)
                if point[0] == 0:
                    names = f"{facets[corner - 1]} and {facets[corner]}" if len(here) == 3 else f"{facets[corner]}"
                    self._findings.wrong("vertices", f"facets {names} of region {region} do not meet in a point")
                    return None
                position = self.positions[vertex] = reduced(point)
                other = self._vertex_at.setdefault(position, vertex)
                # In a partial result two regions may touch in a point that only missing regions would connect.
                if other != vertex and self.partition.complete:
                    self._findings.wrong("vertices", f"vertices {other} and {vertex} are the same point")
            corners.append(self.positions[vertex])
        return corners

    def _inequalities(
        self, region: int, pattern: bytes, forms: list[Form], vertices: list[int], corners: list[Point]
    ) -> dict[int, list[int]]:
        """Return the values at the corners of every kink, by its number, and of edge e of the domain, by -1 - e."""
        values, binding = {}, self.forms.binding(pattern)
        for kink, (form, active) in enumerate(zip(forms, pattern, strict=True)):
            found = _values(form, corners)
            low, high = min(found), max(found)
            if binding[kink] and ((low < 0 or high == 0) if active else high > 0):
                where = vertices[found.index(low if active else high)]
                state = "on" if active else "off"
                self._findings.wrong(
                    "inequalities", f"kink {kink}, {state} in region {region}, is not so at vertex {where}"
                )
            values[kink] = found
        for edge, form in enumerate(self.forms.edges):
            found = _values(form, corners)
            if min(found) < 0:
                where = vertices[found.index(min(found))]
                self._findings.wrong("inequalities", f"vertex {where} of region {region} is outside of the domain")
            values[-1 - edge] = found
        return values

    def _pattern_inside(self, region: int, pattern: bytes, corners: list[Point]) -> None:
        inside = tuple(map(sum, zip(*corners, strict=True)))
        found = self.forms.pattern_at(inside)
        if found != pattern:
            kink = next(k for k, (a, b) in enumerate(zip(found, pattern, strict=True)) if a != b)
            self._findings.wrong(
                "patterns", f"inside region {region}, kink {kink} is not {('off', 'on')[pattern[kink]]}"
            )


def reduced(point: Sequence[int]) -> Point:
    """Return a point in lowest terms, with a positive weight: equal points get equal tuples."""
    divisor = gcd(*point) if point[0] > 0 else -gcd(*point)
    return tuple(x // divisor for x in point)


def turn(points: Sequence[Point]) -> int:
    """Return a positive number if three points of the plane turn left, or two of the line go right."""
    if len(points) == 2:
        left, right = points
        return left[0] * right[1] - right[0] * left[1]
    a, b, c = points
    return value(line_through(a, b), c)


def _values(form: Form, points: Sequence[Point]) -> list[int]:
    if len(form) == 2:
        a, b = form
        return [a * w + b * x for w, x in points]
    a, b, c = form
    return [a * w + b * x + c * y for w, x, y in points]


def _cell(corners: list[Point], values: dict[int, list[int]], planar: bool) -> Cell:
    zero_on, zero = [0] * len(corners), 0
    for kink, found in values.items():
        if kink >= 0 and 0 in found:
            bit = 1 << kink
            here = [number == 0 for number in found]
            zero |= bit * all(here)
            following = here[1:] + here[:1] if planar else here
            for corner, (start, end) in enumerate(zip(here, following, strict=True)):
                zero_on[corner] |= bit * (start and end)
    return Cell(corners, zero_on, zero)
