# SPDX-License-Identifier: MIT
"""Does each facet between two blocks have a region on either side, and is a test point in exactly one region?

A facet has a sign vector, like a vertex (`signs.py`): the kinks that are zero at all its vertices, and the pattern bits
of all other kinks. Two facets with the same sign vector are the same set, and if their regions have different patterns,
they are on its two sides: docs/why-certify-proves.md ("Why are blocks enough?"). For a max unit, the zeros say which
branches attain the maximum on the facet, if there are several. The other bits of the unit depend on which of these is
the argmax of the region, so they belong to the side, not to the sign vector.
If no facet waits for its other side, every point that is on no facet is in the same number of regions. One point that
is on no kink is enough: it is in the regions that have its pattern, which are counted.
Invariant: only bits are compared.
Memory: the sign vectors of the facets whose other side has not come yet. Cost: a look-up for each of these.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from regions.certification.forms import Forms, value
from regions.certification.layout import Layout, packed
from regions.certification.reference.integers import Point
from regions.certification.signs import VertexSigns
from regions.domains import Domain
from regions.errors import InternalError
from regions.ground.arithmetic.types import Bits, Packed
from regions.networks.maxima import Maxima

__all__ = ["Seams"]

# At most TRIED test points are tried. Each is a mean of corners with random weights of at most WEIGHT.
TRIED, WEIGHT = 1000, 1 << 20


class Seams:
    """The facets between blocks that wait for the other side, and the regions around one point.

    Parameters
    ----------
    forms : Forms
    domain : Domain
        Bounded.

    Attributes
    ----------
    matched : int
        Facets whose two sides have come.
    around : int
        Regions so far that have the pattern of the point.
    """

    def __init__(self, forms: Forms, domain: Domain) -> None:
        self.matched, self.around = 0, 0
        pattern = np.frombuffer(_pattern_of_a_point(forms, domain), dtype=np.uint8)
        self._pattern = np.packbits(pattern, bitorder="little").tobytes()
        # The signs of a facet: the patterns of the regions that came, on its zero kinks.
        self._waiting: dict[bytes, list[bytes]] = {}

    @property
    def waiting(self) -> int:
        """Number of facets with a region on one side only."""
        return sum(map(len, self._waiting.values()))

    def add(self, layout: Layout, signs: VertexSigns, proven: Bits) -> None:
        """Match the open facets of the proven regions of a block, and count regions around the point."""
        self.around += [row.tobytes() for row in layout.part.packed_patterns].count(self._pattern)
        facets = np.flatnonzero((layout.facet_columns < layout.kinks) & (layout.facet_regions[:, 1] < 0))
        facets = facets[proven[layout.facet_regions[facets, 0]]]
        patterns = layout.patterns[layout.facet_regions[facets, 0]]
        max_units = _kinks_of_max_units(layout)
        for facet, pattern in zip(facets.tolist(), patterns, strict=True):
            zero = np.bitwise_and.reduce(signs.zero[layout.ends_of(facet)], axis=0)
            tied = max_units[(max_units & zero).any(axis=1)]
            side = np.bitwise_or.reduce(tied, axis=0) | zero
            self._meet((zero.tobytes() + (pattern & ~side).tobytes()), (pattern & side).tobytes())

    def merge(self, other: Seams) -> None:
        """Match the facets that wait in both. This finds no faults."""
        self.matched, self.around = self.matched + other.matched, self.around + other.around
        for key, sides in other._waiting.items():
            for side in sides:
                self._meet(key, side)

    def _meet(self, key: bytes, side: bytes) -> None:
        """Match a facet with one of another region that waits, or let it wait."""
        sides = self._waiting.setdefault(key, [])
        other = next((index for index, each in enumerate(sides) if each != side), None)
        if other is None:
            sides.append(side)
            return
        self.matched += 1
        sides.pop(other)
        if not sides:
            del self._waiting[key]


def _kinks_of_max_units(layout: Layout) -> Packed:
    """Return the kinks of each max unit, packed bits [units, bytes]."""
    rows = []
    for node in layout.graph.hidden:
        if isinstance(node.units, Maxima):
            units = np.full(layout.every, -1)
            units[node.kinks] = node.units.kink_units
            rows += [units == unit for unit in np.unique(node.units.kink_units)]
    return packed(np.array(rows, dtype=bool).reshape(len(rows), layout.every))


def _pattern_of_a_point(forms: Forms, domain: Domain) -> bytes:
    """Return the pattern of a point inside the domain that is on no kink, a byte for each kink. Forms may be zero there
    if they are zero everywhere.
    """
    rng, corners = np.random.default_rng(0), [list(map(Fraction, row)) for row in domain.generators[:, 1:].tolist()]
    for _ in range(TRIED):
        weights = rng.integers(1, WEIGHT, len(corners)).tolist()
        place = [
            sum((w * x for w, x in zip(weights, lane, strict=True)), Fraction(0)) / sum(weights)
            for lane in zip(*corners, strict=True)
        ]
        weight = lcm(*(x.denominator for x in place))
        point: Point = (weight, *(int(x * weight) for x in place))
        if not all(value(form, point) > 0 for form in forms.edges):
            continue
        pattern = forms.pattern_at(point)
        ((_, kinks),) = forms.walk([pattern])
        if all(value(form, point) or not any(form) for form in kinks):
            return pattern
    raise InternalError("no point of the domain was found that is on no kink")
