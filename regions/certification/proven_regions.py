# SPDX-License-Identifier: MIT
"""Which regions are proven by values at their vertices alone, without exact arithmetic for each region?

docs/why-certify-proves.md has the proof ("How are large results checked?"). In short: at each vertex one region is
chosen. The true position of the vertex is the point where the forms of the two facets before and after it in this
region (of one facet, on a line) are zero. Values of these forms at the vertex and its neighbours bound its distance
from the stored point (`corners.py`). A kink is *open* at the vertex if values there do not prove its sign. The *room*
of the vertex is a distance within which all other kinks have the sign that the patterns say. If the true position is
within the room, only open kinks may be zero there. The others are on the side that the patterns say, and open kinks
are shown to be zero by determinants, which are multiples of known powers of two.
A region is proven if this holds at all its vertices, if the kink of each facet is open at the two ends of the facet and
at no other corner, if no kink that is 1 in the pattern is open at all corners, and if one corner turns left.
`region_inequalities.py` shows the same in integers.
Vertices are evaluated in clusters. Vertices of regions that are not proven, and vertices whose true positions are not
known as precisely as the partition claims, are evaluated again: in smaller clusters, if the network has few layers, and
then up to ROUNDS times with two doubles for each value (`vertex_values.py`), first from the stored points, and then
each time from a point that is closer to the true position.
Cost: that of the clusters, and a few operations for each corner and each byte of its pattern. Memory: that of the
partition, and blocks of CHUNK numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from regions.arithmetic.types import Bits, Floats, Indices, Integers, Packed
from regions.certification.centre_rows import Centres, restricted_forms
from regions.certification.cluster_values import ClusterValues
from regions.certification.corners import Corners, Near, Open
from regions.certification.open_kinks import OpenKinks
from regions.certification.vertex_values import VertexValues
from regions.domains import Domain
from regions.networks.graph import Graph
from regions.networks.network import Network
from regions.partition import Partition
from regions.reference.integers import binary_places
from regions.threads.progress import Report, share_of
from regions.threads.workers import each_by_workers

__all__ = ["Proven", "proven_regions"]

# Most numbers in the values of a block, and most vertices in a block.
CHUNK, BLOCK = 1 << 20, 1 << 8
# Number of vertices in a cluster, in the first pass and for the vertices that are left after it. One thread evaluates
# the centres of GROUP clusters together.
CLUSTERS, GROUP = (256, 32), 16
# Error bounds are of no use if more kinks than this are open at a vertex of a cluster, on average.
MOST_OPEN = 64
# Number of passes with two doubles for each value. Moving a point leaves about the fraction CLOSER of its distance to
# the true position.
ROUNDS = 3
CLOSER = 2.0**-20
U = 2.0**-53
TINY = 1e-290


class Proven(NamedTuple):
    """The result of `proven_regions`.

    Attributes
    ----------
    regions : bool [R]
        Whether the region is proven.
    near : float64 [V]
        A bound on the distance of the stored from the true position of each vertex, in each coordinate; infinite if
        none is proven.
    """

    regions: Bits
    near: Floats


def proven_regions(partition: Partition, network: Network, report: Report | None = None, threads: int = 1) -> Proven:
    """Prove as many regions as values at vertices can; on an unbounded domain, none.

    Parameters
    ----------
    partition : Partition
        Its arrays fit together (`regions/cells/consistency.py`).
    network : Network
        With as many kinks as the partition's.
    report : callable, optional
        Called with the fraction of vertices passed, and no number of regions.
    threads : int
        The result does not depend on it.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C; ``proven`` is what was proven until then.
    """
    proven = Proven(np.zeros(len(partition), dtype=bool), np.full(len(partition.vertices), np.inf))
    if not partition.domain.bounded:
        return proven
    state = _State(partition, network, threads)
    known = np.isfinite(partition.vertices).all(axis=1) & np.isfinite(partition.vertex_errors)
    sizes = CLUSTERS[:1] if state.clusters.doubled else CLUSTERS
    left, passes = np.flatnonzero(known), len(sizes) + ROUNDS
    try:
        for number in range(passes):
            if number:
                there = partition.cell_vertices[np.repeat(~proven.regions, np.diff(partition.cell_offsets))]
                left = np.union1d(there, np.flatnonzero(proven.near > partition.vertex_errors))
                left = left[known[left]]
            if not left.size:
                break
            # The first pass takes most of the time.
            share = share_of(report, 0, 2) if number == 0 else share_of(share_of(report, 1, 2), number - 1, passes - 1)
            if number < len(sizes):
                state.pass_clusters(left, sizes[number], share)
            else:
                if number > len(sizes):
                    state.move(left)
                state.pass_blocks(left, share)
            # Each state proves facts, so they can be collected.
            found = state.proven(~proven.regions)
            proven = Proven(proven.regions | found.regions, np.minimum(proven.near, found.near))
            if state.stopped is not None:
                raise state.stopped
    except KeyboardInterrupt as stopped:
        stopped.proven = proven  # type: ignore[attr-defined]
        raise
    if report is not None:
        report(1.0, 0)
    return proven


class _State:
    """Values and open kinks at all vertices so far."""

    def __init__(self, part: Partition, network: Network, threads: int) -> None:
        self.part, self.network, self.corners = part, network, Corners(part, network)
        self.threads = threads
        count = len(part.vertices)
        self.asked, self.places = self.corners.asked(), _places_of_forms(network.graph, part.domain)
        self.room, self.shifts = np.full(count, -np.inf), np.zeros(part.vertices.shape)
        # Guesses of the distance to the true positions.
        self.stated = part.vertex_errors.copy()
        # Open kinks, sorted by key, vertex times `every` plus kink.
        self.keys, self.most, self.growth = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
        self.open = Open(self.keys, count, self.corners.every)
        self.fits = np.zeros(self.corners.count, dtype=bool)
        self.near: Near
        self.forms = restricted_forms(network.graph, part.domain)
        self.clusters = ClusterValues(network.graph, self.forms)
        self.values: VertexValues | None = None
        self.stopped: KeyboardInterrupt | None = None

    def pass_clusters(self, chosen: Indices, size: int, report: Report | None) -> None:
        """Compute the room, the open kinks and the asked values of some vertices, in clusters of about this size.

        After Ctrl-C, vertices of unfinished groups have no room, so that nothing is proven from them.
        """
        part, packed = self.part, self.part.packed_patterns[self.corners.first[chosen]]
        order, starts = _clusters(part.vertices[chosen], size)
        chosen, packed = chosen[order], packed[order]
        edges, blocks = self._open_edges(chosen), list(self._blocks(chosen, starts))

        def passed(number: int, report: Report | None) -> list[OpenKinks]:
            group = blocks[number * GROUP : (number + 1) * GROUP]
            middles = np.stack([_middle(part.vertices[chosen[here]]) for here, _, _ in group])
            centres = self.clusters.centre_rows.at(middles, packed[[here.start for here, _, _ in group]])
            found = []
            for index, (here, which, rows) in enumerate(group):
                found += self._pass_cluster(chosen[here], packed[here], which, rows, middles[index], centres, index)
                if report is not None:
                    report((index + 1) / len(group), 0)
            return found

        found: list[list[OpenKinks]] = []
        try:
            self._by_threads(passed, -(-len(blocks) // GROUP), report, found)
        except KeyboardInterrupt as stopped:
            self.stopped, unfinished = stopped, blocks[len(found) * GROUP :]
            self.room[chosen[unfinished[0][0].start if unfinished else len(chosen) :]] = -np.inf
        self._collect(chosen, [edges, *chain.from_iterable(found)])

    def _pass_cluster(
        self,
        points: Indices,
        packed: Packed,
        which: Indices,
        rows: Indices,
        middle: Floats,
        centres: Centres,
        index: int,
    ) -> list[OpenKinks]:
        """Compute the room and the asked values of a cluster of vertices, and return their open kinks."""
        offsets, kinks = self.part.vertices[points] - middle, self.asked.kinks[which]
        cluster = self.clusters.cluster(offsets, self.stated[points], packed, kinks, centres, index)
        useful = len(cluster.open.kinks) <= MOST_OPEN * len(points)
        self.room[points] = np.minimum(self.room[points], cluster.room if useful else -np.inf)
        if not useful or not cluster.columns.size:
            return []
        columns = np.searchsorted(cluster.columns, kinks)
        self.asked.values[which] = cluster.values[rows, columns] * cluster.scales[columns]
        self.asked.bounds[which] = cluster.bounds[columns]
        return [cluster.open._replace(vertices=points[cluster.open.vertices])]

    def _by_threads(
        self,
        work: Callable[[int, Report | None], list[OpenKinks]],
        total: int,
        report: Report | None,
        found: list[list[OpenKinks]],
    ) -> None:
        """Do some parts of the work, and append the open kinks in their order. No two parts share a vertex."""

        def quietly(number: int, report: Report | None) -> list[OpenKinks]:
            with np.errstate(all="ignore"):  # threads do not inherit this
                return work(number, report)

        each_by_workers(quietly, total, self.threads, report, found)

    def pass_blocks(self, chosen: Indices, report: Report | None) -> None:
        """Compute the room, the open kinks and the asked values of some vertices, with two doubles for each value, at
        points moved by the shifts.
        """
        part, kinks = self.part, self.network.kinks
        if self.values is None:
            self.values = VertexValues(self.network.graph, self.forms)
        order, starts = _of_similar_size(self.stated[chosen], min(BLOCK, max(1, CHUNK // max(kinks, 1))))
        chosen = chosen[order]
        edges, blocks, values = self._open_edges(chosen), list(self._blocks(chosen, starts)), self.values

        def passed(number: int, report: Report | None) -> list[OpenKinks]:
            here, which, rows = blocks[number]
            points = chosen[here]
            packed = part.packed_patterns[self.corners.first[points]]
            bits = np.unpackbits(packed, axis=1, count=kinks, bitorder="little").view(np.bool_)
            stated = float(self.stated[points].max())
            block = values.block(part.vertices[points], stated, bits, self.shifts[points])
            self.room[points] = np.minimum(self.room[points], block.room)
            columns = self.asked.kinks[which]
            self.asked.values[which], self.asked.bounds[which] = block.values[rows, columns], block.bounds[columns]
            return [block.open._replace(vertices=points[block.open.vertices])]

        found: list[list[OpenKinks]] = []
        self._by_threads(passed, len(blocks), report, found)
        self._collect(chosen, [edges, *chain.from_iterable(found)])

    def _blocks(self, chosen: Indices, starts: Indices) -> Iterator[tuple[slice, Indices, Indices]]:
        """Yield each block of some vertices, which values are asked there, and at which of its vertices."""
        place = np.full(len(self.part.vertices), len(chosen))
        place[chosen] = np.arange(len(chosen))
        wanted = np.flatnonzero((self.asked.kinks < self.network.kinks) & (place[self.asked.vertices] < len(chosen)))
        wanted = wanted[np.argsort(place[self.asked.vertices[wanted]], kind="stable")]
        ends = np.searchsorted(place[self.asked.vertices[wanted]], starts)
        for (start, stop), (first, last) in zip(pairwise(starts.tolist()), pairwise(ends.tolist()), strict=True):
            which = wanted[first:last]
            yield slice(start, stop), which, place[self.asked.vertices[which]] - start

    def _collect(self, chosen: Indices, found: list[OpenKinks]) -> None:
        """Replace the open kinks of some vertices, and compare patterns there again."""
        part, every = self.part, self.corners.every
        passed = np.zeros(len(part.vertices), dtype=bool)
        passed[chosen] = True
        old = ~passed[self.keys // every]
        vertices, kinks, most, growth = (np.concatenate(each) for each in zip(*found, strict=True))
        keys = np.concatenate([vertices * every + kinks, self.keys[old]])
        ascending = np.argsort(keys, kind="stable")
        self.keys = keys[ascending]
        self.most = np.concatenate([most, self.most[old]])[ascending]
        self.growth = np.concatenate([growth, self.growth[old]])[ascending]
        self.open = Open(self.keys, len(part.vertices), every)
        again = np.flatnonzero(passed[part.cell_vertices])
        self.fits[again] = self.corners.agree(self.open, again)

    def _open_edges(self, chosen: Indices) -> OpenKinks:
        """Return the edges of the domain that are open at some vertices; set rooms to the distances from the others."""
        part = self.part
        self.room[chosen] = np.inf
        found = []
        for edge in range(len(part.domain.generators)):
            number = self.network.kinks + edge
            values, bounds, slope = _at_edge(part.domain, edge, part.vertices[chosen], self.shifts[chosen])
            is_open = np.abs(values) <= 2 * (bounds + 4 * self.stated[chosen] * slope)
            room = (values - bounds) / slope * (1 - 2.0**-30)
            self.room[chosen] = np.minimum(self.room[chosen], np.where(is_open, np.inf, room))
            count, most = int(is_open.sum()), np.abs(values[is_open]) + bounds[is_open]
            found.append((chosen[is_open], np.full(count, number), most, np.full(count, slope)))
            here = np.flatnonzero(self.asked.kinks == number)
            at = self.asked.vertices[here]
            self.asked.values[here], self.asked.bounds[here], _ = _at_edge(
                part.domain, edge, part.vertices[at], self.shifts[at]
            )
        return OpenKinks(*(np.concatenate(each) for each in zip(*found, strict=True)))

    def proven(self, among: Bits) -> Proven:
        """Return which of the regions ``among`` [R] are proven by the values so far, and bounds for all vertices."""
        corners = self.corners
        fits = (self.room >= 0)[self.part.cell_vertices] & self.fits & corners.named_apart
        moved = np.abs(self.shifts).max(axis=1, initial=0.0)
        self.near = corners.near(fits, self.asked, moved)
        good = (self.near.bounds <= self.room) & self._open_are_zero()
        # A vertex counts for all regions around it, or for none.
        good &= corners.all_fit(fits)
        proven = corners.all_good(good) & among
        if proven.any():
            proven = corners.turn_left(self.near.bounds + moved, proven)
            proven = corners.bounded_by_facets(self.open, proven)
            proven &= corners.not_zero_above(self.open)
            proven = self.clusters.ties.named_apart(corners, proven)
        near = np.where(self._at_corners_of_domain(), 0.0, (self.near.bounds + moved) * (1 + 2.0**-50))
        return Proven(np.asarray(proven), np.where(good, near, np.inf))

    def _at_corners_of_domain(self) -> Bits:
        """Whether the true position of a vertex is a corner of the domain and stored exactly, bool [V]."""
        corners, kinks = self.corners, self.network.kinks
        generators = self.part.domain.generators[:, 1:]
        after = corners.kinks[corners.chosen] - kinks
        before = corners.kinks[corners.before[corners.chosen]] - kinks
        at = after >= 0
        if self.part.dimension == 2:  # edge k goes from corner k to the next one
            at &= before == (after - 1) % len(generators)
        return np.asarray(at & (self.part.vertices == generators[np.maximum(after, 0)]).all(axis=1))

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
        known = (self.most[several] == 0.0) & (self.growth[several] == 0.0)
        determinants = self.near.determinants[vertices] * most * (1 + 2.0**-40)
        places = self.places[kinks] + sum(self.places[name] for name in names)
        zero = known | ((determinants < np.ldexp(1.0, -np.minimum(places, 1000))) & (places < 1000))
        for name in names:
            zero |= kinks == name
        result[vertices[~zero]] = False
        return result

    def move(self, chosen: Indices) -> None:
        """Move the points of some vertices to estimates of the true positions, from the values so far."""
        every = np.ones(self.corners.count, dtype=bool)
        moves = self.corners.near(every, self.asked, np.zeros(len(self.room))).shifts[chosen]
        shifts = self.shifts[chosen] + moves
        # If an estimate is missing, or far from the stored point, the point stays at the stored one.
        small = np.abs(shifts).max(axis=1) <= 4 * self.part.vertex_errors[chosen]
        self.shifts[chosen] = np.where(small[:, np.newaxis], shifts, 0.0)
        left = np.where(small, np.abs(moves).max(axis=1) * CLOSER, self.part.vertex_errors[chosen])
        self.stated[chosen] = left


def _clusters(points: Floats, size: int) -> tuple[Indices, Indices]:
    """An order of points [n, d], and where clusters of at most this size start and end: strips of one coordinate, cut
    by the other one.
    """
    order, count = np.argsort(points[:, 0], kind="stable"), -(-len(points) // size)
    if points.shape[1] == 1:
        return order, np.linspace(0, len(points), count + 1).astype(np.int64)
    starts, ends = [0], np.linspace(0, len(points), int(np.ceil(np.sqrt(count))) + 1).astype(np.int64)
    for first, last in pairwise(ends.tolist()):
        strip = order[first:last]
        order[first:last] = strip[np.argsort(points[strip, 1], kind="stable")]
        starts += np.linspace(first, last, -(-(last - first) // size) + 1).astype(np.int64)[1:].tolist()
    return order, np.array(starts)


def _middle(points: Floats) -> Floats:
    """A point between some points."""
    return np.asarray(points.min(axis=0) / 2 + points.max(axis=0) / 2)


def _of_similar_size(errors: Floats, step: int) -> tuple[Indices, Indices]:
    """An order of vertices, and where blocks of it start and end; errors in a block are similar."""
    by_size = np.argsort(errors, kind="stable")
    sizes = np.frexp(errors[by_size])[1] // 2
    changes = np.flatnonzero(np.diff(sizes)) + 1
    starts = [
        start
        for low, high in zip([0, *changes.tolist()], [*changes.tolist(), len(errors)], strict=True)
        for start in range(low, high, step)
    ]
    return by_size, np.array([*starts, len(errors)])


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
