# SPDX-License-Identifier: MIT
"""Which region contains a point, by its activation pattern?

This is for points so close to a boundary that the rounded corners do not decide. Most of their patterns still come from
floating point with a proven error bound. The rest are computed exactly, and then a kink may be exactly zero: the point
lies on a boundary. A region's closure contains the point iff its pattern agrees with all non-zero signs there, and the
argmax of each max unit is one of the largest branches there: by continuity every pre-activation has the same value
under both patterns, so the region's weak inequalities hold at the point. The lowest of these regions is taken.
Cost: a pass through the network, with bounds; a millisecond or more if the pass is exact.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from regions.ground.arithmetic.pattern_index import PatternIndex
from regions.ground.arithmetic.types import Floats, Integers
from regions.passes.bounded import BoundedPatterns
from regions.passes.exact import ExactSigns
from regions.results.cells.complex import CellComplex

__all__ = ["ByPattern"]

# Numbers per temporary array.
CHUNK = 1 << 20


class ByPattern:
    """Looks up points of a domain by their activation patterns; everything is built at the first such point."""

    def __init__(self, cells: CellComplex) -> None:
        self.network, self.domain = cells.network, cells.domain
        self.packed, self.complete = cells.packed_patterns, cells.complete
        self.exact: ExactSigns | None = None

    @cached_property
    def index(self) -> PatternIndex:
        return PatternIndex(self.packed)

    @cached_property
    def bounded(self) -> BoundedPatterns:
        # A bit that is the same in all regions of a complete partition is the same all over the domain: its
        # sign need not be known (a dead unit's pre-activation may be zero everywhere).
        if self.complete:
            ever, always = np.bitwise_or.reduce(self.packed, axis=0), np.bitwise_and.reduce(self.packed, axis=0)
        else:
            ever, always = np.full((2, self.packed.shape[1]), [[255], [0]], dtype=np.uint8)
        on, off = (self.network.graph.bits(packed).view(np.bool_) for packed in (always, ~ever))
        return BoundedPatterns(self.network.graph, self.domain, off, on)

    def find(self, points: Floats) -> Integers:
        """Return the region of each of the chart points [m, d] in the domain, or -1: int64 [m]."""
        step = max(1, CHUNK // max(self.network.kinks, *self.network.widths, 1))
        parts = [self._find(points[start : start + step]) for start in range(0, len(points), step)]
        return np.concatenate(parts)

    def _find(self, points: Floats) -> Integers:
        bits, decided = self.bounded.at(points)
        result = np.full(len(points), -1, dtype=np.int64)
        result[decided] = self.index.find(np.packbits(bits[decided], axis=1, bitorder="little"))
        for undecided in np.flatnonzero(~decided):
            result[undecided] = self._find_exactly(points[undecided])
        return result

    def _find_exactly(self, point: Floats) -> int:
        if self.exact is None:
            self.exact = ExactSigns(self.network.graph, self.domain)
        signs = self.exact.at(point)
        same = self.bounded.known_on | self.bounded.known_off
        free = np.flatnonzero((signs == 0) & ~same)
        matching = self.index.matching(np.where(same, self.bounded.known_on, signs > 0), free)
        bits = self.network.graph.bits(self.packed[matching]).view(np.bool_)
        return int(next(iter(matching[self.exact.allows(point, bits)]), -1))
