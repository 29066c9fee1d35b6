# SPDX-License-Identifier: MIT
"""Is each region the closure of the set of points with its pattern, and what is wrong if it is not?

Given the sign vectors of the vertices (`signs.py`), only bits are compared. docs/why-certify-proves.md proves that
these conditions are enough:

- no two vertices of a complete result have the same sign vector;
- the pattern of a region differs from the sign vector of each of its vertices only in columns that are zero there, and
  its argmaxes are among the largest branches;
- the column of each facet is one that the pattern decides. It is zero at the vertices of the facet, and at no other
  vertex of the region;
- no column that is 1 in the pattern is zero at all vertices of the region;
- the facets close the region: on a line and in a plane arrays show this, otherwise `closed_cells.py`;
- the regions of a line go to the right, and those of a plane are counter-clockwise.

Invariant: nothing is reported of regions with vertices whose signs are not known.
Cost: a few operations for each corner and byte of signs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from regions.certification.bounded_forms import U
from regions.certification.certification_report import Findings
from regions.certification.closed_cells import closed_regions
from regions.certification.forms import Forms
from regions.certification.layout import Layout, first_equal, has, packed, ranges
from regions.certification.reference.integers import Point
from regions.certification.signs import VertexSigns
from regions.ground.arithmetic.types import Bits, Indices, Integers, Packed
from regions.networks.graph import Maxima

__all__ = ["Fault", "check_different_vertices", "faults_of_regions", "unsure_turns"]

# Bytes that are compared at a time, and the number of bits that are 1 in each byte.
CHUNK = 1 << 23
ONES = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


class Fault(NamedTuple):
    """What is wrong with a region, and the item of the report that says so."""

    region: int
    item: str
    what: str


def check_different_vertices(layout: Layout, signs: VertexSigns, findings: Findings) -> None:
    """Check that no two vertices of a complete result are the same point: that their sign vectors differ. Wrong
    patterns may give one point two sign vectors, so positions that are known exactly are compared, too.
    """
    numbers = np.flatnonzero(signs.known)
    same = first_equal(np.hstack([signs.above, signs.zero])[numbers])
    twice = np.flatnonzero(same != np.arange(len(same)))
    pairs = set(zip(numbers[same[twice]].tolist(), numbers[twice].tolist(), strict=True))
    first = dict[Point, int]()
    for vertex, point in sorted(signs.positions.items()):
        pairs |= {(first[point], vertex)} if point in first else set()
        first.setdefault(point, vertex)
    for one, other in sorted(pairs):
        findings.wrong("vertices", f"vertices {one} and {other} are the same point")


def faults_of_regions(layout: Layout, signs: VertexSigns, seen: Bits) -> Iterator[Fault]:
    """Yield the faults of the ``seen`` regions, all of whose vertices are known."""
    ordinary = np.ones(layout.every, dtype=bool)
    for node in signs.maxima:
        ordinary[node.kinks] = False
    zeros = ONES[signs.zero].sum(axis=1, dtype=np.int64)
    step, start = max(1, CHUNK // signs.zero.shape[1]), 0
    while start < layout.regions:
        end = np.searchsorted(layout.cell_offsets, layout.cell_offsets[start] + step, side="right")
        stop = max(start + 1, int(end) - 1)
        yield from _Some(layout, signs, zeros, seen, start, stop).faults(packed(ordinary))
        start = stop
    if layout.dimension > 2:
        for region in np.flatnonzero(seen & ~closed_regions(layout)).tolist():
            yield Fault(region, "cells", f"the facets of region {region} do not close it")
    else:
        clockwise, _ = _turns(layout, signs)
        for region in np.flatnonzero(seen & clockwise).tolist():
            yield Fault(region, "cells", f"the corners of region {region} are not in order")


class _Some:
    """The regions from start to stop, their corners, and their sides: the facets of each."""

    def __init__(self, layout: Layout, signs: VertexSigns, zeros: Integers, seen: Bits, start: int, stop: int) -> None:
        self.layout, self.signs, self.start, self.stop, self.seen = layout, signs, start, stop, seen
        self.zeros = zeros  # the number of columns that are zero at each vertex
        self.corners = slice(layout.cell_offsets[start], layout.cell_offsets[stop])
        self.sides = slice(layout.cell_facet_offsets[start], layout.cell_facet_offsets[stop])
        self.at, self.of = layout.cell_vertices[self.corners], layout.corner_regions[self.corners]
        self.facets, self.owners = layout.cell_facets[self.sides], layout.side_regions[self.sides]
        self.zero = signs.zero[self.at]

    def faults(self, ordinary: Packed) -> Iterator[Fault]:
        layout, signs = self.layout, self.signs
        wrong = (layout.patterns[self.of] ^ signs.above[self.at]) & ~self.zero & ordinary
        for corner in self._seen(np.asarray(wrong.any(axis=1)), self.of):
            region, vertex, column = self.of[corner], self.at[corner], _first(wrong[corner])
            yield Fault(int(region), "inequalities", _on_the_wrong_side(layout, int(region), int(vertex), column))
        yield from self._faults_of_maxima()
        offsets = layout.cell_offsets[self.start : self.stop] - self.corners.start
        flat = np.bitwise_and.reduceat(self.zero, offsets) & layout.patterns[self.start : self.stop]
        for index in np.flatnonzero(flat.any(axis=1) & self.seen[self.start : self.stop]).tolist():
            region, column = self.start + index, _first(flat[index])
            what = f"kink {column}, on in region {region}, is zero there"
            yield Fault(region, "patterns", what if column < layout.kinks else f"region {region} is flat")
        yield from self._faults_of_facets(offsets)

    def _faults_of_maxima(self) -> Iterator[Fault]:
        """Find argmaxes that are not the largest branch, and facets of kinks that the pattern does not decide."""
        columns = self.layout.facet_columns[self.facets]
        for node in self.signs.maxima:
            units, here = node.units, node.kinks
            assert isinstance(units, Maxima)
            patterns = self.layout.graph.bits(self.layout.part.packed_patterns[self.start : self.stop])[:, here]
            pieces = units.pieces_of(patterns)
            argmaxes = packed(units.branches == pieces[:, units.row_units])
            smaller = (argmaxes[self.of - self.start] & ~self.signs.ties[node][self.at]).any(axis=1)
            for corner in self._seen(np.asarray(smaller), self.of):
                region, vertex = int(self.of[corner]), self.at[corner]
                what = f"at vertex {vertex} of region {region} another branch of a maximum is larger"
                yield Fault(region, "inequalities", what)
            (inside,) = np.nonzero((here.start <= columns) & (columns < here.stop))
            decided = units.binding(pieces[self.owners[inside] - self.start])
            undecided = ~decided[np.arange(len(inside)), columns[inside] - here.start]
            for place in self._seen(undecided, self.owners[inside]):
                facet, region = self.facets[inside[place]], int(self.owners[inside[place]])
                what = f"facet {facet} of region {region} names a kink that its pattern does not decide"
                yield Fault(region, "vertices", what)

    def _faults_of_facets(self, offsets: Integers) -> Iterator[Fault]:
        """Find facets whose column is not zero at their vertices, or zero at another vertex of the region."""
        layout, start = self.layout, self.start
        columns, sizes = layout.facet_columns[self.facets], np.diff(layout.facet_offsets)[self.facets]
        ends = layout.facet_vertices[ranges(layout.facet_offsets[self.facets], sizes)]
        sides = np.repeat(np.arange(len(sizes)), sizes)
        on = has(self.signs.zero, ends, columns[sides])
        for place in self._seen(~on, self.owners[sides]):
            facet, region = self.facets[sides[place]], int(self.owners[sides[place]])
            yield Fault(region, "vertices", f"vertex {ends[place]} is not on facet {facet} of region {region}")
        # If a region has as many zeros at its corners as ends of facets, and no name twice, no facet goes on elsewhere.
        listed = np.bincount(self.owners[sides] - start, minlength=self.stop - start)
        unsure = np.add.reduceat(self.zeros[self.at], offsets) != listed
        names = np.sort(self.owners * layout.every + columns)
        unsure[names[1:][names[1:] == names[:-1]] // layout.every - start] = True
        (some,) = np.nonzero((unsure & self.seen[start : self.stop])[self.owners - start])
        counts = np.diff(layout.cell_offsets)[self.owners[some]]
        corners = ranges(layout.cell_offsets[self.owners[some]], counts)
        found = has(self.signs.zero, layout.cell_vertices[corners], np.repeat(columns[some], counts))
        touching = np.add.reduceat(found, np.cumsum(counts) - counts, dtype=np.int64) if some.size else counts
        for side in some[touching > sizes[some]].tolist():
            region, facet, column = int(self.owners[side]), self.facets[side], columns[side]
            mine = np.array(layout.corners_of(region))
            others = np.setdiff1d(mine[has(self.signs.zero, mine, np.full(len(mine), column))], ends[sides == side])
            other = [*others, *ends[sides == side]][0]
            what = f"facet {facet} of region {region} goes on to vertex {other}, which it does not list"
            if layout.dimension < 3:
                what = f"region {region} is not strictly convex at vertex {other}"
            yield Fault(region, "cells", what)

    def _seen(self, wrong: Bits, regions: Indices) -> list[int]:
        """Return where something is wrong with a region whose vertices are all known."""
        (places,) = np.nonzero(wrong)
        return places[self.seen[regions[places]]].tolist()


def _on_the_wrong_side(layout: Layout, region: int, vertex: int, column: int) -> str:
    if column >= layout.kinks:
        return f"vertex {vertex} of region {region} is outside of the domain"
    state = "on" if layout.patterns[region, column >> 3] >> (column & 7) & 1 else "off"
    return f"kink {column}, {state} in region {region}, is not so at vertex {vertex}"


def _first(row: Packed) -> int:
    return int(np.unpackbits(row, bitorder="little").argmax())


def _turns(layout: Layout, signs: VertexSigns) -> tuple[Bits, Bits]:
    """Return which regions surely go to the left, or around clockwise; and which surely in the other sense.

    Only vertices count that values have proven to be within their bounds E of the stored ones. Differences to the first
    corner, of at most W, are then off by at most s = 2 E + u W. Each of the 2 n products is off by at most 2 s (W + s),
    and its rounding and that of the sum is at most (2 n + 2) u W^2.
    """
    if not layout.regions:
        return np.zeros(0, dtype=bool), np.zeros(0, dtype=bool)
    starts, sizes = layout.cell_offsets[:-1], np.diff(layout.cell_offsets)
    at = layout.cell_vertices
    places = layout.vertices[at] - np.repeat(layout.vertices[at[starts]], sizes, axis=0)
    width = np.maximum.reduceat(np.abs(places).max(axis=1), starts)
    errors = np.where(signs.near <= layout.errors, layout.errors, np.inf)
    slip = 2 * np.maximum.reduceat(errors[at], starts) + U * width
    if layout.dimension == 1:
        area, bound = places[1::2, 0], 2 * slip
    else:
        after = np.arange(len(at)) + 1
        after[layout.cell_offsets[1:] - 1] = starts
        area = np.add.reduceat(places[:, 0] * places[after, 1] - places[:, 1] * places[after, 0], starts)
        bound = sizes * (5 * slip * (width + slip) + 5 * (sizes + 1) * U * width**2) + 2.0**-1000
    return area < -bound, area > bound


def unsure_turns(layout: Layout, signs: VertexSigns, seen: Bits) -> Integers:
    """Return regions for which exact arithmetic must show that they go to the right or around counter-clockwise.

    Facets have opposite directions in their two regions. If one region of a complete result goes around
    counter-clockwise, so do all.
    """
    if layout.dimension > 2:
        return np.zeros(0, dtype=np.int64)
    (unsure,) = np.nonzero(seen & ~_turns(layout, signs)[1])
    if layout.complete and seen.all():
        return unsure[:1] if len(unsure) == layout.regions else unsure[:0]
    return unsure


def check_neighbours(
    layout: Layout, signs: VertexSigns, seen: Bits, faulty: Bits, forms: Forms | None, findings: Findings
) -> None:
    """Check that the named kink flips across facets, and that exactly the kinks flip that change sign.

    The second claim follows from the conditions above, so it is compared only for facets of ``faulty`` regions.
    """
    inner = np.flatnonzero(layout.facet_regions[:, 1] >= 0)
    inner_seen = inner[seen[layout.facet_regions[inner]].all(axis=1)]
    one, other = (
        has(layout.patterns, sides, layout.facet_columns[inner_seen]) for sides in layout.facet_regions[inner_seen].T
    )
    named = one != other
    doubtful = faulty[layout.facet_regions[inner_seen]].any(axis=1)
    for facet in inner_seen[~named | doubtful].tolist():
        fault = _wrong_flip(layout, signs, facet, forms)
        if fault:
            here, there = layout.facet_regions[facet].tolist()
            findings.wrong("neighbours", f"across facet {facet} of regions {here} and {there}, {fault}")
    findings.checked("neighbours", len(inner_seen), len(inner), "facets")


def _wrong_flip(layout: Layout, signs: VertexSigns, facet: int, forms: Forms | None) -> str:
    """Describe what is wrong with the patterns across a facet; empty if nothing is."""
    regions, kink = layout.facet_regions[facet].tolist(), int(layout.facet_columns[facet])
    one, other = (layout.graph.bits(layout.part.packed_patterns[region]) for region in regions)
    flips, explained = one != other, one != other
    if forms is not None:
        switched, may_change = forms.switched(one.tobytes(), other.tobytes())
        flips, explained = (np.isin(np.arange(layout.kinks), list(each)) for each in (switched, may_change))
    zero = layout.graph.bits(np.bitwise_and.reduce(signs.zero[layout.ends_of(facet)])).view(bool)
    everywhere = layout.graph.bits(np.bitwise_and.reduce(signs.zero[layout.corners_of(regions[0])])).view(bool)
    if not flips[kink]:
        return f"kink {kink}, which it names, does not flip"
    if (flips & ~zero).any():
        return f"kink {(flips & ~zero).argmax()} flips, but is not zero on it"
    nodes = layout.graph.kink_nodes
    missing = zero & layout.graph.binding(one) & ~everywhere & ~explained & (nodes == nodes[flips.argmax()])
    return f"kink {missing.argmax()} changes sign, but does not flip" if missing.any() else ""
