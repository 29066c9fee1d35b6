# SPDX-License-Identifier: MIT
"""Do the corners of all regions fit together, given the kinks that may be zero at each vertex?

A kink is *open* at a vertex if values there do not prove its sign. Open kinks are stored as sorted numbers, vertex
times `every` plus kink; edges of the domain follow the kinks. This file compares the patterns of regions, the names of
facets and the open kinks, without any floating point, and bounds the true positions of vertices.
Cost: a few operations for each corner, each byte of its pattern, and each open kink there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.arithmetic.types import Bits, Floats, Indices, Integers, Packed
from regions.cells.cell_geometry import next_corners
from regions.networks.maxima import Maxima
from regions.networks.network import Network
from regions.partition import Partition

__all__ = ["Asked", "Corners", "Near", "Open", "bits_of"]

# Numbers in a block of patterns.
CHUNK = 1 << 20
U = 2.0**-53
TINY = 1e-290
# Number of open kinks of a vertex that are compared one by one; generic vertices have two.
SOUGHT = 2
# Number of bits of each byte.
BITS_OF_BYTES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).sum(axis=1).astype(np.uint8)


class Open:
    """The kinks that may be zero, by vertex.

    Parameters
    ----------
    keys : int64 [n]
        Vertex times ``every`` plus kink, each once, sorted.
    """

    def __init__(self, keys: Integers, vertices: int, every: int) -> None:
        self.keys, self.every = keys, every
        self.kinks = keys % every
        self.starts = np.searchsorted(keys, np.arange(vertices + 1) * every)
        self.counts = np.diff(self.starts)
        self.padded = np.concatenate([self.kinks, np.full(SOUGHT, -1)])

    def has(self, vertices: Integers, kinks: Integers) -> Bits:
        """Whether each kink is open at each vertex."""
        starts, counts = self.starts[vertices], self.counts[vertices]
        result = np.zeros(len(vertices), dtype=bool)
        for offset in range(SOUGHT):
            result |= (counts > offset) & (self.padded[starts + offset] == kinks)
        left = np.flatnonzero((counts > SOUGHT) & ~result)
        wanted = vertices[left] * self.every + kinks[left]
        result[left] = self.keys[np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)] == wanted
        return result

    def at(self, vertices: Integers) -> tuple[Indices, Integers]:
        """All open kinks at some vertices: the index of the vertex among these, and the kink."""
        counts = self.counts[vertices]
        owners = np.repeat(np.arange(len(vertices)), counts)
        places = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        return owners, self.kinks[self.starts[vertices][owners] + places]


class Asked(NamedTuple):
    """Values of kinks at vertices, int64 [n] each, and bounds on their errors, which start as infinite."""

    vertices: Integers
    kinks: Integers
    values: Floats
    bounds: Floats

    def magnitudes(self, part: slice) -> Floats:
        """Upper bounds on some values."""
        found: Floats = np.abs(self.values[part]) * (1 + 2.0**-48) + self.bounds[part]
        return found

    def least(self, part: slice) -> Floats:
        """Lower bounds on the magnitudes of some values."""
        found: Floats = np.abs(self.values[part]) * (1 - 2.0**-48) - self.bounds[part]
        return found


class Near(NamedTuple):
    """Where the true vertices are.

    Attributes
    ----------
    bounds : float64 [V]
        On the distance of the true position from the point at which values are known, in each coordinate.
    shifts : float64 [V, d]
        An estimate of the true position minus the point.
    determinants : float64 [V]
        An upper bound on the magnitude of the determinant of the slopes of the two facets at the chosen corner; on a
        line, of the slope.
    """

    bounds: Floats
    shifts: Floats
    determinants: Floats


class Corners:
    """The corners of regions, with the facets from them and to them.

    At each vertex one of them is *chosen*. Its facets define the true position there, and values are computed under the
    pattern of its region.

    Attributes
    ----------
    chosen, first : int64 [V]
        The chosen corner of each vertex, and its region.
    """

    def __init__(self, part: Partition, network: Network) -> None:
        self.part, self.network, self.count = part, network, len(part.cell_vertices)
        self.every = network.kinks + len(part.domain.generators)
        self.regions = np.repeat(np.arange(len(part)), np.diff(part.cell_offsets))
        self.after = next_corners(part.cell_offsets)
        self.before = np.empty_like(self.after)
        self.before[self.after] = np.arange(self.count)
        # Edges of the domain follow the kinks.
        names = part.facet_kinks[part.cell_facets]
        self.kinks = np.where(names < 0, network.kinks - 1 - names, names)
        self.maxima = [(n.kinks, n.units) for n in network.graph.hidden if isinstance(n.units, Maxima)]
        # On a line a corner has one facet.
        self.named_apart = (self.kinks != self.kinks[self.before]) | (part.dimension == 1)
        self.chosen = self._farthest()
        self.first = self.regions[self.chosen]

    def _farthest(self) -> Indices:
        """For each vertex, the corner there whose neighbours are farthest away: int64 [V], 0 without corners. Corners
        with fewer facets of maxima come first, because comparisons of branches are zero where units below are.
        """
        part = self.part
        places = part.vertices[part.cell_vertices]
        lengths = np.abs(places[self.after] - places).max(axis=1)
        if part.dimension == 2:
            lengths = np.minimum(lengths, lengths[self.before])
        order = np.argsort(part.cell_vertices, kind="stable")
        at = part.cell_vertices[order]
        starts, sorted_ = np.flatnonzero(np.diff(at, prepend=-1)), lengths[order]
        sizes = np.diff(starts, append=len(order))
        compared = np.zeros(self.count, dtype=np.int64)
        for span, _ in self.maxima:
            compared += (span.start <= self.kinks) & (self.kinks < span.stop)
        compared = (compared + compared[self.before])[order]
        sorted_[compared > np.repeat(np.minimum.reduceat(compared, starts), sizes)] = -1.0
        largest = np.repeat(np.maximum.reduceat(sorted_, starts), sizes)
        best = np.flatnonzero(sorted_ == largest)
        result = np.zeros(len(part.vertices), dtype=np.int64)
        result[at[best]] = order[best]
        return result

    def agree(self, open_: Open, which: Indices) -> Bits:
        """Return whether the pattern at each corner differs from the pattern at the chosen corner in open kinks
        only, and the kinks of its facets are open.
        """
        part, result = self.part, np.empty(len(which), dtype=bool)
        step = max(1, CHUNK // max(part.packed_patterns.shape[1], 1))
        for start in range(0, len(which), step):
            corners = which[start : start + step]
            vertices = part.cell_vertices[corners]
            mine = part.packed_patterns[self.regions[corners]]
            other = part.packed_patterns[self.first[vertices]]
            apart = mine ^ other
            fits = np.ones(len(corners), dtype=bool)
            for here, units in self.maxima:
                fits &= self._same_argmax(here, units, mine, other, vertices, open_)
                _clear(apart, here)
            rows = np.flatnonzero(apart.any(axis=1))
            owners, kinks = open_.at(vertices[rows])
            inside = kinks < self.network.kinks
            owners, kinks = owners[inside], kinks[inside]
            explained = (apart[rows[owners], kinks >> 3] >> (kinks & 7).astype(np.uint8)) & 1
            found = np.bincount(owners, explained, minlength=len(rows))
            fits[rows] &= found == BITS_OF_BYTES[apart[rows]].sum(axis=1, dtype=np.int64)
            fits &= open_.has(vertices, self.kinks[corners])
            if part.dimension == 2:
                fits &= open_.has(vertices, self.kinks[self.before[corners]])
            result[start : start + step] = fits
        return result

    def _same_argmax(
        self, here: slice, units: Maxima, mine: Packed, other: Packed, vertices: Integers, open_: Open
    ) -> Bits:
        """Whether argmaxes of the units of a node are the same, or their comparison is open."""
        one, two = (units.pieces_of(bits_of(packed, here)) for packed in (mine, other))
        rows, changed = np.nonzero(one != two)
        low, high = np.minimum(one, two)[rows, changed], np.maximum(one, two)[rows, changed]
        kinks = here.start + np.searchsorted(units.kink_units, changed) + high * (high - 1) // 2 + low
        result = np.ones(len(mine), dtype=bool)
        result[rows[~open_.has(vertices[rows], kinks)]] = False
        return result

    def asked(self) -> Asked:
        """The values that `near` needs, [V] each. In a plane, values of the form of the facet from the chosen corner,
        at the chosen corner, the last one and the next one; and of the form of the facet to it, at the chosen corner,
        the next one and the last one. On a line, values of the only form at both ends.
        """
        at, here = self.part.cell_vertices, self.chosen
        after, before = self.after[here], self.before[here]
        if self.part.dimension == 1:
            places, kinks = [at[here], at[after]], [self.kinks[here]] * 2
        else:
            places = [at[here], at[before], at[after], at[here], at[after], at[before]]
            kinks = [self.kinks[here]] * 3 + [self.kinks[before]] * 3
        numbers = np.concatenate(kinks)
        return Asked(np.concatenate(places), numbers, np.zeros(len(numbers)), np.full(len(numbers), np.inf))

    def near(self, fits: Bits, asked: Asked, moved: Floats) -> Near:
        """Bounds on the distance of each vertex from the true position, from the chosen corner there.

        Values hold at corners that fit, at most ``moved`` [V] away from the stored points.
        """
        part, here, n = self.part, self.chosen, len(self.part.vertices)
        after, before, at = self.after[here], self.before[here], self.part.cell_vertices
        parts = [slice(k * n, (k + 1) * n) for k in range(len(asked.values) // max(n, 1))]
        places = part.vertices[at[here]]
        to_next = part.vertices[at[after]] - places
        slack = moved + moved[at[after]]
        ahead = np.abs(to_next).max(axis=1)
        small = asked.magnitudes(parts[0])
        large = asked.least(parts[1]) - small
        slope = asked.values[parts[1]] - asked.values[parts[0]]
        share, steep = small / large, asked.magnitudes(parts[1]) + small
        valid = (large > 0) & fits[here] & fits[after]
        if part.dimension == 1:
            determinants = (steep + TINY) / np.maximum(ahead * (1 - 2.0**-50) - slack, 0.0)
            reach = ahead + slack
            found = share * reach
            shifts = (-asked.values[parts[0]] / slope)[:, np.newaxis] * to_next
        else:
            to_last = part.vertices[at[before]] - places
            slack = np.maximum(slack, moved + moved[at[before]])
            ahead, behind = ahead + slack, np.abs(to_last).max(axis=1) + slack
            reach = ahead + behind
            other = asked.magnitudes(parts[3])
            other_large = asked.least(parts[4]) - other
            other_share, other_steep = other / other_large, asked.magnitudes(parts[4]) + other
            along, other_along = small + asked.magnitudes(parts[2]), other + asked.magnitudes(parts[5])
            tilt, other_tilt = along / large, other_along / other_large
            left = 1 - tilt * other_tilt * (1 + 2.0**-40)
            found = ((share + tilt * other_share) * behind + (other_share + other_tilt * share) * ahead) / left
            valid &= (other_large > 0) & (left > 0) & fits[before]
            other_slope = asked.values[parts[4]] - asked.values[parts[3]]
            # The forms are zero along their facets, up to terms of second order.
            shifts = (-asked.values[parts[0]] / slope)[:, np.newaxis] * to_last
            shifts += (-asked.values[parts[3]] / other_slope)[:, np.newaxis] * to_next
            turn = to_next[:, 0] * to_last[:, 1] - to_next[:, 1] * to_last[:, 0]
            sizes = np.abs(to_next[:, 0] * to_last[:, 1]) + np.abs(to_next[:, 1] * to_last[:, 0])
            area = (turn - 16 * U * sizes - 4 * slack * reach) * (1 - 2.0**-40) - TINY
            determinants = (steep * other_steep + along * other_along + TINY) / np.maximum(area, 0.0)
        # Quotients and products that are too small for doubles.
        lost = 2.0**-200 * reach
        found = np.where(valid & np.isfinite(found), found * (1 + 2.0**-40) + lost + TINY, np.inf)
        return Near(found, shifts, determinants * (1 + 2.0**-40))

    def all_fit(self, fits: Bits) -> Bits:
        """Whether all corners at a vertex fit, bool [V]; True for vertices without corners."""
        return np.asarray(np.bincount(self.part.cell_vertices[~fits], minlength=len(self.part.vertices)) == 0)

    def all_good(self, vertices: Bits) -> Bits:
        """Whether all corners of a region are among the given vertices, bool [V]; returns bool [R]."""
        return np.logical_and.reduceat(vertices[self.part.cell_vertices], self.part.cell_offsets[:-1])

    def bounded_by_facets(self, open_: Open, among: Bits) -> Bits:
        """Whether each facet's kink is open at the two ends of the facet, and at no other corner of the region, and is
        one of the inequalities of the region: bool [R], for some of all regions, ``among`` [R].
        """
        part, result = self.part, among.copy()
        sizes = np.diff(part.cell_offsets)
        here, ends = np.flatnonzero(among[self.regions]), 1 if part.dimension == 1 else 2
        place = here.copy()
        for distance in range(int(sizes.max(initial=0))):
            left = sizes[self.regions[here]] > distance
            here, place = here[left], place[left]
            is_open = open_.has(part.cell_vertices[place], self.kinks[here])
            result[self.regions[here[is_open != (distance < ends)]]] = False
            place = self.after[place]
        for span, units in self.maxima:
            inside = np.flatnonzero(among[self.regions] & (span.start <= self.kinks) & (self.kinks < span.stop))
            step = max(1, CHUNK // units.rows)
            for start in range(0, len(inside), step):
                corners = inside[start : start + step]
                pieces = units.pieces_of(bits_of(part.packed_patterns[self.regions[corners]], span))
                binding = units.binding(pieces)[np.arange(len(corners)), self.kinks[corners] - span.start]
                result[self.regions[corners[~binding]]] = False
        return result

    def not_zero_above(self, open_: Open) -> Bits:
        """Whether no kink that is 1 in the pattern of a region is open at all its corners, bool [R]."""
        part, result = self.part, np.ones(len(self.part), dtype=bool)
        sizes = np.diff(part.cell_offsets)
        # A kink that is open at all corners is not that of a facet, so only vertices with more than two matter.
        many = np.logical_and.reduceat((open_.counts > part.dimension)[part.cell_vertices], part.cell_offsets[:-1])
        candidates = np.flatnonzero(many)
        step = max(1, CHUNK // max(int(open_.counts.max(initial=1)), 1))
        for start in range(0, len(candidates), step):
            some = candidates[start : start + step]
            chosen = np.flatnonzero(np.isin(self.regions, some)) if len(candidates) > step else None
            corners = np.flatnonzero(many[self.regions]) if chosen is None else chosen
            owners, kinks = open_.at(part.cell_vertices[corners])
            keys, counts = np.unique(self.regions[corners][owners] * self.every + kinks, return_counts=True)
            regions, kinks = np.divmod(keys, self.every)
            inside = (counts == sizes[regions]) & (kinks < self.network.kinks)
            regions, kinks = regions[inside], kinks[inside]
            above = (part.packed_patterns[regions, kinks >> 3] >> (kinks & 7).astype(np.uint8)) & 1
            result[regions[above > 0]] = False
        return result

    def turn_left(self, near: Floats, among: Bits) -> Bits:
        """Whether some corner of a region surely turns left; on a line, whether the right end is right of the left
        one: bool [R], for some of all regions, ``among`` [R].
        """
        part, result = self.part, np.zeros(len(self.part), dtype=bool)
        if part.dimension == 1:
            here = part.cell_offsets[:-1][among]
        else:
            here = np.flatnonzero(among[self.regions])
        mine, next_, last = (part.cell_vertices[corners] for corners in (here, self.after[here], self.before[here]))
        ahead, errors = part.vertices[next_] - part.vertices[mine], near[mine]
        if part.dimension == 1:
            sure = ahead[:, 0] * (1 - 2 * U) > 2 * (errors + near[next_])
            result[self.regions[here[sure]]] = True
            return result
        behind = part.vertices[last] - part.vertices[mine]
        worst = np.maximum(errors, np.maximum(near[next_], near[last]))
        turn = ahead[:, 0] * behind[:, 1] - ahead[:, 1] * behind[:, 0]
        sizes = np.abs(ahead[:, 0] * behind[:, 1]) + np.abs(ahead[:, 1] * behind[:, 0])
        lengths = np.abs(ahead).sum(axis=1) + np.abs(behind).sum(axis=1)
        sure = turn > 8 * U * sizes + 4 * worst * (lengths + 2 * worst) + TINY
        result[self.regions[here[sure]]] = True
        return result


def bits_of(packed: Packed, here: slice) -> Packed:
    """The bits of some kinks, [n, kinks], from packed patterns."""
    start = here.start >> 3
    unpacked = np.unpackbits(packed[:, start : (here.stop + 7) >> 3], axis=1, bitorder="little")
    return unpacked[:, here.start - 8 * start : here.stop - 8 * start]


def _clear(packed: Packed, here: slice) -> None:
    """Set the bits of some kinks to 0 in packed patterns."""
    mask = np.packbits(~np.isin(np.arange(8 * packed.shape[1]), np.arange(here.start, here.stop)), bitorder="little")
    packed &= mask
