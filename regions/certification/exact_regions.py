# SPDX-License-Identifier: MIT
"""What are regions in exact arithmetic, and which inequalities of a wrong region are false?

The positions of some vertices are known exactly (`signs.py`). Second opinions ask for the corners of regions of which
all vertices are. For a region that the bits find wrong, its own forms at these corners say which kinks are on the wrong
side, which facets its vertices are not on, and whether the network has another pattern inside.
Cost: the forms of a region (`forms.py`), and d + 1 products for each corner and column.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regions.certification.conditions import Fault
from regions.certification.forms import Forms, value
from regions.certification.layout import Layout
from regions.certification.reference.integers import Form, Point
from regions.certification.signs import VertexSigns
from regions.ground.arithmetic.types import Integers

__all__ = ["ExactRegions"]


class ExactRegions:
    """The regions of which all corners are known exactly.

    Parameters
    ----------
    layout : Layout
    forms : Forms
    signs : VertexSigns
        Its ``positions`` are those of the corners.
    """

    def __init__(self, layout: Layout, forms: Forms, signs: VertexSigns) -> None:
        self.layout, self.forms, self.positions, self.partition = layout, forms, signs.positions, layout.part

    def placed(self) -> Integers:
        """Return the regions of which all corners are known exactly."""
        known = np.zeros(len(self.layout.vertices), dtype=bool)
        known[list(self.positions)] = True
        return np.flatnonzero(self.layout.with_all(known))

    def pattern(self, region: int) -> bytes:
        """Return the pattern of a region, a byte for each kink."""
        return self.layout.graph.bits(self.partition.packed_patterns[region]).tobytes()

    def corners(self, region: int) -> list[Point]:
        """Return the corners of a region."""
        return [self.positions[vertex] for vertex in self.layout.corners_of(region)]

    def inside(self, region: int) -> Point:
        """Return a point inside a region: the sum of its corners as vectors with positive weights."""
        return tuple(map(sum, zip(*self.corners(region), strict=True)))

    def is_counter_clockwise(self, region: int) -> bool:
        """Return whether a region of a plane turns to the left, or one of a line goes to the right."""
        rows = self.corners(region)[: self.layout.dimension + 1]
        if len(rows) == 2:
            return rows[0][0] * rows[1][1] > rows[0][1] * rows[1][0]
        (a, b, c), (d, e, f), (g, h, i) = rows
        return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0

    def wrong_pattern(self, region: int) -> Fault | None:
        """Compare the pattern of a region with the pattern at a point inside."""
        found, pattern = self.forms.pattern_at(self.inside(region)), self.pattern(region)
        if found == pattern:
            return None
        kink = next(k for k, (a, b) in enumerate(zip(found, pattern, strict=True)) if a != b)
        return Fault(region, "patterns", f"inside region {region}, kink {kink} is not {('off', 'on')[pattern[kink]]}")

    def faults(self, regions: Sequence[int]) -> list[Fault]:
        """Return what is wrong with some regions according to their own forms."""
        patterns, found = [self.pattern(region) for region in regions], list[Fault]()
        for index, kinks in self.forms.walk(patterns):
            region = regions[index]
            found += self._faults_at_corners(region, patterns[index], [*kinks, *self.forms.edges])
            wrong = self.wrong_pattern(region)
            found += [wrong] if wrong else []
            if self.layout.dimension < 3 and not self.is_counter_clockwise(region):
                found.append(Fault(region, "cells", f"the corners of region {region} are not in order"))
        return found

    def _faults_at_corners(self, region: int, pattern: bytes, every: list[Form]) -> list[Fault]:
        layout, found = self.layout, list[Fault]()
        vertices, corners, kinks = layout.corners_of(region), self.corners(region), layout.kinks
        binding = self.forms.binding(pattern)
        for column, form in enumerate(every):
            values = [value(form, point) for point in corners]
            low, high = min(values), max(values)
            if column >= kinks:
                if low < 0:
                    what = f"vertex {vertices[values.index(low)]} of region {region} is outside of the domain"
                    found.append(Fault(region, "inequalities", what))
            elif binding[column] and ((low < 0 or high == 0) if pattern[column] else high > 0):
                where, state = vertices[values.index(low if pattern[column] else high)], ("off", "on")[pattern[column]]
                what = f"kink {column}, {state} in region {region}, is not so at vertex {where}"
                found.append(Fault(region, "inequalities", what))
        for facet in layout.facets_of(region):
            ends = layout.ends_of(facet)
            form = every[layout.facet_columns[facet]]
            for vertex, point in zip(vertices, corners, strict=True):
                on = value(form, point) == 0
                if vertex in ends and not on:
                    what = f"vertex {vertex} is not on facet {facet} of region {region}"
                    found.append(Fault(region, "vertices", what))
                elif vertex not in ends and on and layout.dimension < 3:
                    found.append(Fault(region, "cells", f"region {region} is not strictly convex at vertex {vertex}"))
                elif vertex not in ends and on:
                    what = f"facet {facet} of region {region} goes on to vertex {vertex}, which it does not list"
                    found.append(Fault(region, "cells", what))
        return found
