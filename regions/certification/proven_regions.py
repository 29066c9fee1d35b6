# SPDX-License-Identifier: MIT
"""Which regions are proven by values at their vertices alone, without exact arithmetic for each region?

Let v be a vertex, and i and j the facets (one, on a line) before and after it in one region there, edges of the domain
included. The *true position* of v is the point where the forms of i and j are zero under the pattern of this region.
Write g for a form, c for the next corner of the region along the facet of i, and d for the next one along the facet of
j. At stored points the values of g are known up to bounds (`vertex_values.py`). The true position is
v + s (c - v) + t (d - v), where A (s, t) = -(g_i(v), g_j(v)) and A has the differences g_i(c) - g_i(v), g_i(d) - g_i(v)
in its first row. The first of these is small, because i is zero at both ends of its facet; the second is not. Therefore
Cramer's rule bounds s and t. The vertex is *near* if this keeps the true position within the room of the vertex.

All kinks that are not open at v then have at the true position the sign that the patterns say. Open kinks other than i
and j are shown to be zero there: the determinant of the forms of i, j and such a kink is the value of the kink, times
the determinant of the slopes of i and j. All three forms are multiples of known powers of two, because weights are
doubles. If a bound on the determinant is less than the product of these powers, it is zero. So are all open kinks, and
under the pattern of each region around v, if it differs in open kinks only: units have the same value on both sides.

A region is proven if this holds at all its corners, if the kink of each facet is open at the two ends of the facet and
at no other corner, if no kink that is 1 in the pattern is open at all corners, and if one corner turns left. Then the
form of a facet is zero at the two ends and has the right sign at all other corners: each facet is an edge of the convex
hull, the corners go around it once, and its form is that of one of the inequalities. All inequalities hold at all
corners. This is what `region_inequalities.py` shows in integers. Two vertices of proven regions are different points:
otherwise the regions around one of them would overlap those around the other.
Across a facet of a proven region only kinks can change their sign that are open at both ends.

Cost: one forward pass for each vertex, and a few operations for each corner and each byte of its pattern. Vertices of
regions that are not proven are passed again, up to ROUNDS times, with two doubles for each value, and each time from a
point that is closer to the true position. Memory: that of the partition, and blocks of CHUNK numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.arithmetic.types import Bits, Floats, Indices, Integers
from regions.certification.corners import Corners, Near, Open
from regions.certification.vertex_values import VertexValues
from regions.domains import Domain
from regions.networks.graph import Graph
from regions.networks.network import Network
from regions.partition import Partition
from regions.reference.integers import binary_places
from regions.text.progress import Report, share_of

__all__ = ["Proven", "proven_regions"]

# Numbers in the values of a block.
CHUNK = 1 << 20
# Most vertices in a block, for plain and for doubled values.
PLAIN, DOUBLED = 1 << 12, 1 << 8
# Error bounds are of no use if more kinks than this are open at a vertex, on average.
MOST_OPEN = 64
# How often the points at which values are computed move closer to the true positions. The first move is as precise as
# plain values, and leaves about as much; later ones leave about so much of the move.
ROUNDS = 3
CLOSER = 2.0**-20
U = 2.0**-53
TINY = 1e-290


class Proven(NamedTuple):
    """What was proven.

    Attributes
    ----------
    regions : bool [R]
    near : float64 [V]
        For vertices of proven regions, a bound on the distance of the stored from the true position, in each
        coordinate.
    """

    regions: Bits
    near: Floats


def proven_regions(partition: Partition, network: Network, report: Report | None = None) -> Proven:
    """Prove as many regions as values at vertices can; on an unbounded domain, none.

    Parameters
    ----------
    partition : Partition
        Its arrays fit together (`regions/cells/consistency.py`).
    network : Network
        With as many kinks as the partition's.
    report : callable, optional
        Called with the fraction of vertices passed, and no number of regions.
    """
    if not partition.domain.bounded:
        return Proven(np.zeros(len(partition), dtype=bool), np.full(len(partition.vertices), np.inf))
    state = _State(partition, network)
    known = np.isfinite(partition.vertices).all(axis=1) & np.isfinite(partition.vertex_errors)
    state.pass_over(np.flatnonzero(known), False, share_of(report, 0, 2))
    proven = state.proven()
    for number in range(ROUNDS):
        left = partition.cell_vertices[np.repeat(~proven.regions, np.diff(partition.cell_offsets))]
        left = np.unique(left[known[left]])
        if not left.size:
            break
        state.move(left, CLOSER if number else 1.0)
        state.pass_over(left, True, share_of(share_of(report, 1, 2), number, ROUNDS))
        # Each state proves facts, so they can be collected.
        found = state.proven()
        proven = Proven(proven.regions | found.regions, np.minimum(proven.near, found.near))
    if report is not None:
        report(1.0, 0)
    return proven


class _State:
    """Values and open kinks at all vertices so far."""

    def __init__(self, part: Partition, network: Network) -> None:
        self.part, self.network, self.corners = part, network, Corners(part, network)
        count = len(part.vertices)
        self.asked, self.places = self.corners.asked(), _places_of_forms(network.graph, part.domain)
        self.room, self.shifts = np.full(count, -np.inf), np.zeros(part.vertices.shape)
        # Guesses of the distance to the true positions.
        self.stated = part.vertex_errors.copy()
        # Open kinks: keys, and bounds on their forms at the point, and for each unit of distance.
        self.keys, self.most, self.growth = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
        self.open = Open(self.keys, count, self.corners.every)
        self.fits = np.zeros(self.corners.count, dtype=bool)
        self.near: Near
        self.values: dict[bool, VertexValues] = {}

    def pass_over(self, chosen: Indices, doubled: bool, report: Report | None) -> None:
        """Compute the room, the open kinks and the asked values of some vertices."""
        part, corners = self.part, self.corners
        if doubled not in self.values:
            self.values = {doubled: VertexValues(self.network.graph, part.domain, doubled)}
        kinks = self.network.kinks
        step = min(DOUBLED if doubled else PLAIN, max(1, CHUNK // max(kinks, 1)))
        order, starts = _blocks(chosen, self.stated[chosen], step)
        place = np.full(len(part.vertices), len(order))
        place[order] = np.arange(len(order))
        wanted = np.flatnonzero((self.asked.kinks < kinks) & (place[self.asked.vertices] < len(order)))
        wanted = wanted[np.argsort(place[self.asked.vertices[wanted]], kind="stable")]
        ends = np.searchsorted(place[self.asked.vertices[wanted]], starts)
        found = [self._open_edges(chosen)]
        for index, (start, stop) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
            here = order[start:stop]
            bits = np.unpackbits(part.packed_patterns[corners.first[here]], axis=1, count=kinks, bitorder="little")
            shifts = self.shifts[here] if doubled else None
            block = self.values[doubled].block(
                part.vertices[here], float(self.stated[here].max()), bits.view(np.bool_), shifts
            )
            self.room[here] = np.minimum(self.room[here], block.room)
            if not doubled and len(block.vertices) > MOST_OPEN * len(here):
                self.room[order[start:]] = -np.inf
                break
            which = wanted[ends[index] : ends[index + 1]]
            rows, columns = place[self.asked.vertices[which]] - start, self.asked.kinks[which]
            self.asked.values[which], self.asked.bounds[which] = block.values[rows, columns], block.bounds[columns]
            found.append((here[block.vertices] * corners.every + block.kinks, block.most, block.growth))
            if report is not None:
                report(float(stop / len(order)), 0)
        old = place[self.keys // corners.every] == len(order)
        found.append((self.keys[old], self.most[old], self.growth[old]))
        keys, most, growth = (np.concatenate(each) for each in zip(*found, strict=True))
        ascending = np.argsort(keys, kind="stable")
        self.keys, self.most, self.growth = keys[ascending], most[ascending], growth[ascending]
        self.open = Open(self.keys, len(part.vertices), corners.every)
        again = np.flatnonzero(place[part.cell_vertices] < len(order))
        self.fits[again] = corners.agree(self.open, again)

    def _open_edges(self, chosen: Indices) -> tuple[Integers, Floats, Floats]:
        """Edges of the domain on which some vertices may be, and the rooms inside of the others."""
        part, every = self.part, self.corners.every
        self.room[chosen] = np.inf
        keys, mosts, growths = [], [], []
        for edge in range(len(part.domain.generators)):
            number = self.network.kinks + edge
            values, bounds, slope = _at_edge(part.domain, edge, part.vertices[chosen], self.shifts[chosen])
            is_open = np.abs(values) <= 2 * (bounds + 4 * self.stated[chosen] * slope)
            room = (values - bounds) / slope * (1 - 2.0**-30)
            self.room[chosen] = np.minimum(self.room[chosen], np.where(is_open, np.inf, room))
            keys.append(chosen[is_open] * every + number)
            mosts.append(np.abs(values[is_open]) + bounds[is_open])
            growths.append(np.full(int(is_open.sum()), slope))
            here = np.flatnonzero(self.asked.kinks == number)
            at = self.asked.vertices[here]
            self.asked.values[here], self.asked.bounds[here], _ = _at_edge(
                part.domain, edge, part.vertices[at], self.shifts[at]
            )
        return np.concatenate(keys), np.concatenate(mosts), np.concatenate(growths)

    def proven(self) -> Proven:
        """Compare what is known of all vertices."""
        corners = self.corners
        fits = (self.room >= 0)[self.part.cell_vertices] & self.fits & corners.named_apart
        moved = np.abs(self.shifts).max(axis=1, initial=0.0)
        self.near = corners.near(fits, self.asked, moved)
        good = (self.near.bounds <= self.room) & self._open_are_zero()
        # A vertex counts for all regions around it, or for none.
        good &= corners.all_fit(fits)
        proven = corners.all_good(good) & corners.turn_left(self.near.bounds + moved)
        if proven.any():
            proven &= corners.bounded_by_facets(self.open) & corners.not_zero_above(self.open)
        near = (self.near.bounds + moved) * (1 + 2.0**-50)
        return Proven(np.asarray(proven), np.where(good, near, np.inf))

    def _open_are_zero(self) -> Bits:
        """Whether all open kinks are zero at the true position, bool [V]."""
        result = np.ones(len(self.room), dtype=bool)
        vertices, kinks = np.divmod(self.keys, self.corners.every)
        several = self.open.counts[vertices] > self.part.dimension
        vertices, kinks = vertices[several], kinks[several]
        corner = self.corners.chosen[vertices]
        names = [self.corners.kinks[corner]]
        if self.part.dimension == 2:
            names.append(self.corners.kinks[self.corners.before[corner]])
        most = (self.most[several] + self.near.bounds[vertices] * self.growth[several]) * (1 + 2.0**-40)
        determinants = self.near.determinants[vertices] * most * (1 + 2.0**-40)
        places = self.places[kinks] + sum(self.places[name] for name in names)
        zero = (determinants < np.ldexp(1.0, -np.minimum(places, 1000))) & (places < 1000)
        for name in names:
            zero |= kinks == name
        result[vertices[~zero]] = False
        return result

    def move(self, chosen: Indices, share: float) -> None:
        """Move the points of some vertices to estimates of the true positions, from the values so far; the distance
        that is left is about a share of the move.
        """
        every = np.ones(self.corners.count, dtype=bool)
        moves = self.corners.near(every, self.asked, np.zeros(len(self.room))).shifts[chosen]
        shifts = self.shifts[chosen] + moves
        # Points stay near the stored ones, or there if an estimate is missing.
        small = np.abs(shifts).max(axis=1) <= 4 * self.part.vertex_errors[chosen]
        self.shifts[chosen] = np.where(small[:, np.newaxis], shifts, 0.0)
        left = np.where(small, np.abs(moves).max(axis=1) * share, self.part.vertex_errors[chosen])
        self.stated[chosen] = left


def _blocks(chosen: Indices, errors: Floats, step: int) -> tuple[Indices, Indices]:
    """An order of vertices, and where blocks of it start and end; errors in a block are similar."""
    by_size = np.argsort(errors, kind="stable")
    sizes = np.frexp(errors[by_size])[1] // 2
    changes = np.flatnonzero(np.diff(sizes)) + 1
    starts = [
        start
        for low, high in zip([0, *changes.tolist()], [*changes.tolist(), len(chosen)], strict=True)
        for start in range(low, high, step)
    ]
    return chosen[by_size], np.array([*starts, len(chosen)])


def _at_edge(domain: Domain, edge: int, points: Floats, shifts: Floats) -> tuple[Floats, Floats, float]:
    """A form that is zero on an edge of the domain and positive inside, at points [n, d] plus shifts, bounds on the
    errors, and the sum of the magnitudes of its slopes.
    """
    here = domain.generators[edge, 1:]
    if domain.dimension == 1:
        sign = 1 if edge == 0 else -1
        values = ((points[:, 0] - here[0]) + shifts[:, 0]) * sign
        return values, 4 * U * (np.abs(values) + np.abs(shifts[:, 0])) + TINY, 1.0
    along = domain.generators[(edge + 1) % len(domain.generators), 1:] - here
    x, y = (points - here).T
    dx, dy = shifts.T
    values = (along[0] * y - along[1] * x) + (along[0] * dy - along[1] * dx)
    sizes = np.abs(along[0] * y) + np.abs(along[1] * x) + np.abs(along[0] * dy) + np.abs(along[1] * dx)
    return values, 16 * U * sizes + TINY, float(np.abs(along).sum()) * (1 + 4 * U)


def _places_of_forms(graph: Graph, domain: Domain) -> Integers:
    """For each kink and each edge of the domain a number e such that its forms are multiples of 2^-e, in all
    coefficients, whatever the pattern: int64 [kinks + edges].
    """
    places = {-1: _places(domain.origin, domain.directions)}
    kinks = []
    for number, node in enumerate(graph.nodes):
        tables = node.units.tables()
        reads = [places[read.node] + _places(*_weights(read.operator)) for read in node.reads]
        rows = max(*reads, _places(node.biases))
        kinks.append(np.full(node.units.kinks, max(rows, _places(tables.breakpoints))))
        places[number] = max(rows + _places(tables.slopes), _places(tables.intercepts))
    edges = np.full(len(domain.generators), 2 * _places(domain.generators))
    return np.concatenate([*kinks[:-1], edges]).astype(np.int64)


def _weights(operator: object) -> list[Floats]:
    """The arrays of weights that an operator consists of; the others are indices."""
    stored = operator.stored_arrays()  # type: ignore[attr-defined]
    return [array for array in stored.values() if array.dtype.kind == "f"]


def _places(*arrays: Floats) -> int:
    """The least e >= 0 for which all numbers times 2^e are integers."""
    return max(map(binary_places, arrays))
