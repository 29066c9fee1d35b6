# SPDX-License-Identifier: MIT
"""Which regions are proven by values at their vertices alone, without exact arithmetic?

A vertex v where the facets name exactly two kinks i and j (one, on a line), edges of the domain included, has a true
position under the pattern of each region around it: the point where the forms of i and j are zero. Write g for a form,
c for the next corner of the region along the facet of i, and d for the next one along the facet of j. At stored points
the values of g are known up to bounds (`vertex_values.py`). The true point is v + s (c - v) + t (d - v), where
A (s, t) = -(g_i(v), g_j(v)) and A has the differences g_i(c) - g_i(v), g_i(d) - g_i(v) in its first row. The first of
these is small, because i is zero at both ends of its facet; the second is not. Therefore Cramer's rule bounds s and t.
The true point is *near* if this keeps it within the room of the vertex.

If the vertex is near, all other kinks have at the true point the side that the patterns say. Two regions
around v whose patterns differ in i and j only have the same true point: the forms of the kink in the earlier layer are
the same, and where it is zero the other form is too, because its unit has the same value on both sides.

A region is proven if this holds at all its corners, if its facets name different kinks, and if one corner turns left.
Then the form of a facet is zero at the two ends and has the right sign at all other corners: each facet is an edge of
the convex hull, the corners go around it once, and its form is that of one of the inequalities. All inequalities hold
at all corners, and each strictly at one of them. This is what `region_inequalities.py` shows in integers.
Across a facet of a proven region only the named kink can change its sign, because all other kinks have the same sign on
both sides at one end of the facet.

Cost: one forward pass for each vertex, and a few operations for each corner and each byte of its pattern.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from regions.arithmetic.types import Bits, Floats, Indices, Integers
from regions.cells.cell_geometry import next_corners
from regions.certification.vertex_values import VertexValues
from regions.domains import Domain
from regions.networks.maxima import Maxima
from regions.networks.network import Network
from regions.partition import Partition
from regions.text.progress import Report

__all__ = ["Proven", "provable", "proven_regions"]

# Numbers in the values of a block.
CHUNK = 1 << 20
# Most vertices in a block, and the type of the values, for all vertices and again for those that are left.
STAGES = ((1 << 12, np.float64), (1 << 3, np.float64), (1 << 3, np.longdouble))
# Most vertices for which the forward pass is repeated.
MOST_AGAIN = 20_000
U = 2.0**-53
TINY = 1e-290


class Proven(NamedTuple):
    """What was proven.

    Attributes
    ----------
    regions : bool [R]
    near : float64 [V]
        For vertices of proven regions, a bound on the distance from the true position, in each coordinate.
    """

    regions: Bits
    near: Floats


def provable(partition: Partition, network: Network) -> bool:
    """Whether the domain and the network are such that values at vertices can prove regions."""
    return partition.domain.bounded and not any(isinstance(node.units, Maxima) for node in network.graph.nodes)


def proven_regions(partition: Partition, network: Network, report: Report | None = None) -> Proven:
    """Prove as many regions as values at vertices can, if they are `provable`.

    Parameters
    ----------
    partition : Partition
        Its arrays fit together (`regions/cells/consistency.py`).
    network : Network
        With as many kinks as the partition's.
    report : callable, optional
        Called with the fraction of vertices passed, and no number of regions; not for those that are passed again.
    """
    names, corners = _Names(partition), _Corners(partition)
    known = names.few & np.isfinite(partition.vertices).all(axis=1) & np.isfinite(partition.vertex_errors)
    agree = corners.agree(names)
    asked, room = corners.asked(), np.full(len(known), -np.inf)
    possible = corners.different_names()
    _answer_edges(partition, asked)
    # Bounds are shared by a block of vertices, so smaller blocks have smaller bounds.
    values = VertexValues(network.graph, partition.domain)
    for most, precision in STAGES:
        if precision is not values.precision:
            values = VertexValues(network.graph, partition.domain, precision)
        _pass(corners, values, names, known, most, asked, room, report)
        report = None
        fits = (room >= 0)[partition.cell_vertices] & agree & corners.named_apart
        near = corners.distances(fits, asked)
        good = (near <= room) & _inside(partition, names, near) & _apart(partition, near)
        # A vertex counts for all regions around it, or for none.
        good &= np.bincount(partition.cell_vertices[~fits], minlength=len(good)) == 0
        whole = np.logical_and.reduceat(good[partition.cell_vertices], partition.cell_offsets[:-1])
        proven = whole & possible & corners.turn_left(near)
        left = np.unique(partition.cell_vertices[np.repeat(possible & ~proven, np.diff(partition.cell_offsets))])
        known &= np.isin(np.arange(len(known)), left)
        if not 0 < len(left) <= MOST_AGAIN:
            break
    return Proven(proven, near)


class _Names:
    """The kinks that the facets around each vertex name; edges of the domain are negative numbers.

    Attributes
    ----------
    few : bool [V]
        Whether exactly d different kinks or edges are named.
    kinks : int64 [V, d]
        The named kinks and edges if there are d of them, otherwise -1.
    """

    def __init__(self, part: Partition) -> None:
        ends = part.facet_vertices.ravel()
        kinks = np.repeat(part.facet_kinks, part.facet_vertices.shape[1])
        edges = len(part.domain.generators)
        pairs = np.unique(ends * (part.network.kinks + edges) + kinks + edges)
        vertices, named = np.divmod(pairs, part.network.kinks + edges)
        counts = np.bincount(vertices, minlength=len(part.vertices))
        self.few = counts == part.dimension
        self.kinks = np.full((len(part.vertices), part.dimension), -1)
        first = np.cumsum(counts) - counts
        for column in range(part.dimension):
            self.kinks[self.few, column] = named[first[self.few] + column] - edges


class _Asked(NamedTuple):
    """Values of kinks at vertices, int64 [n] each, and bounds on their errors, which start as infinite."""

    vertices: Integers
    kinks: Integers
    values: Floats
    bounds: Floats

    def magnitudes(self, part: slice) -> Floats:
        """Upper bounds on some values."""
        found: Floats = np.abs(self.values[part]) * (1 + 2.0**-50) + self.bounds[part]
        return found

    def least(self, part: slice) -> Floats:
        """Lower bounds on the magnitudes of some values."""
        found: Floats = np.abs(self.values[part]) * (1 - 2.0**-50) - self.bounds[part]
        return found


class _Corners:
    """The corners of regions, with the facets from them and to them."""

    def __init__(self, part: Partition) -> None:
        self.part, self.count = part, len(part.cell_vertices)
        self.regions = np.repeat(np.arange(len(part)), np.diff(part.cell_offsets))
        # The first region at each vertex: of several numbers assigned to one place the last one stays.
        self.first = np.empty(len(part.vertices), dtype=np.int64)
        self.first[part.cell_vertices[::-1]] = self.regions[::-1]
        self.after = next_corners(part.cell_offsets)
        self.before = np.empty_like(self.after)
        self.before[self.after] = np.arange(self.count)
        self.kinks = part.facet_kinks[part.cell_facets]
        # On a line a corner has one facet.
        self.named_apart = (self.kinks != self.kinks[self.before]) | (part.dimension == 1)

    def agree(self, names: _Names) -> Bits:
        """Whether the pattern at each corner equals the pattern of the first region there, but for the named kinks."""
        part, result = self.part, np.empty(self.count, dtype=bool)
        step = max(1, CHUNK // max(part.packed_patterns.shape[1], 1))
        for start in range(0, self.count, step):
            here = slice(start, start + step)
            vertices = part.cell_vertices[here]
            apart = part.packed_patterns[self.regions[here]] ^ part.packed_patterns[self.first[vertices]]
            for kinks in names.kinks[vertices].T:
                rows = np.flatnonzero(kinks >= 0)
                numbers = kinks[rows]
                apart[rows, numbers >> 3] &= ~(np.uint8(1) << (numbers & 7).astype(np.uint8))
            result[here] = ~apart.any(axis=1)
        return result

    def asked(self) -> _Asked:
        """The values that `distances` needs: of the facet's kink at the corner and at one that is not on the facet; on
        a plane of both facets.
        """
        vertices = self.part.cell_vertices
        if self.part.dimension == 1:
            places, kinks = [vertices, vertices[self.after]], [self.kinks] * 2
        else:
            last = self.kinks[self.before]
            places = [vertices, vertices[self.before], vertices, vertices[self.after]]
            kinks = [self.kinks, self.kinks, last, last]
        at, numbers = np.concatenate(places), np.concatenate(kinks)
        return _Asked(at, numbers, np.zeros(len(at)), np.full(len(at), np.inf))

    def distances(self, fits: Bits, asked: _Asked) -> Floats:
        """Bounds on the distance of each vertex from the true position, float64 [V], from the best corner there.

        Values hold at corners that fit.
        """
        part, n = self.part, self.count
        parts = [slice(k * n, (k + 1) * n) for k in range(2 * part.dimension)]
        places = part.vertices[part.cell_vertices]
        ahead = np.abs(places[self.after] - places).max(axis=1)
        small, large = asked.magnitudes(parts[0]), asked.least(parts[1]) - asked.magnitudes(parts[0])
        if part.dimension == 1:
            shares, valid = small / large, (large > 0) & fits & fits[self.after]
            found = shares * ahead
        else:
            behind = np.abs(places[self.before] - places).max(axis=1)
            other, other_large = asked.magnitudes(parts[2]), asked.least(parts[3]) - asked.magnitudes(parts[2])
            # The values at the other end of a facet are values of a named kink there.
            along, other_along = small + other[self.after], other + small[self.before]
            products = large * other_large
            left = 1 - along * other_along / products * (1 + 2.0**-40)
            to_behind = (small / large + along * other / products) / left
            to_ahead = (other / other_large + other_along * small / products) / left
            found = to_ahead * ahead + to_behind * behind
            valid = (large > 0) & (other_large > 0) & (left > 0) & fits & fits[self.after] & fits[self.before]
        found = np.where(valid & np.isfinite(found), found * (1 + 2.0**-40) + TINY, np.inf)
        order = np.argsort(part.cell_vertices, kind="stable")
        sorted_vertices = part.cell_vertices[order]
        starts = np.flatnonzero(np.diff(sorted_vertices, prepend=-1))
        result = np.full(len(part.vertices), np.inf)
        result[sorted_vertices[starts]] = np.minimum.reduceat(found[order], starts)
        return result

    def different_names(self) -> Bits:
        """Whether no two facets of a region name the same kink, bool [R]."""
        edges = len(self.part.domain.generators)
        every = self.part.network.kinks + edges
        keys = np.sort(self.regions * every + self.kinks + edges)
        result = np.ones(len(self.part), dtype=bool)
        result[keys[1:][keys[1:] == keys[:-1]] // every] = False
        return result

    def turn_left(self, near: Floats) -> Bits:
        """Whether some corner of a region surely turns left; on a line, whether the right end is right of the left
        one: bool [R].
        """
        part = self.part
        places, errors = part.vertices[part.cell_vertices], near[part.cell_vertices]
        ahead = places[self.after] - places
        if part.dimension == 1:
            sure = ahead[:, 0] * (1 - 2 * U) > 2 * (errors + errors[self.after])
            return sure[part.cell_offsets[:-1]]
        behind = places[self.before] - places
        worst = np.maximum(errors, np.maximum(errors[self.after], errors[self.before]))
        turn = ahead[:, 0] * behind[:, 1] - ahead[:, 1] * behind[:, 0]
        sizes = np.abs(ahead[:, 0] * behind[:, 1]) + np.abs(ahead[:, 1] * behind[:, 0])
        lengths = np.abs(ahead).sum(axis=1) + np.abs(behind).sum(axis=1)
        sure = turn > 8 * U * sizes + 4 * worst * (lengths + 2 * worst) + TINY
        return np.logical_or.reduceat(sure, part.cell_offsets[:-1])


def _pass(
    corners: _Corners,
    values: VertexValues,
    names: _Names,
    known: Bits,
    most: int,
    asked: _Asked,
    room: Floats,
    report: Report | None,
) -> None:
    """Compute the room of each known vertex, negative if a sign is not proven, and the asked values there."""
    part, kinks = corners.part, values.graph.kinks
    order, starts = _blocks(part.vertex_errors, known, min(most, max(1, CHUNK // max(kinks, 1))))
    place = np.full(len(known), len(order))
    place[order] = np.arange(len(order))
    wanted = np.flatnonzero((asked.kinks >= 0) & known[asked.vertices])
    wanted = wanted[np.argsort(place[asked.vertices[wanted]], kind="stable")]
    ends = np.searchsorted(place[asked.vertices[wanted]], starts)
    for index, (start, stop) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
        chosen = order[start:stop]
        bits = np.unpackbits(part.packed_patterns[corners.first[chosen]], axis=1, count=kinks, bitorder="little")
        stated = float(part.vertex_errors[chosen].max())
        block = values.block(part.vertices[chosen], stated, bits.view(np.bool_), names.kinks[chosen])
        room[chosen] = block.room
        which = wanted[ends[index] : ends[index + 1]]
        rows, columns = place[asked.vertices[which]] - start, asked.kinks[which]
        asked.values[which], asked.bounds[which] = block.values[rows, columns], block.bounds[columns]
        if report is not None:
            report(float(stop / len(order)), 0)


def _blocks(errors: Floats, known: Bits, step: int) -> tuple[Indices, Indices]:
    """An order of the known vertices, and where blocks of it start and end; errors in a block are similar."""
    chosen = np.flatnonzero(known)
    order = chosen[np.argsort(errors[chosen], kind="stable")]
    sizes = np.frexp(errors[order])[1] // 2
    changes = np.flatnonzero(np.diff(sizes)) + 1
    starts = [
        start
        for low, high in zip([0, *changes.tolist()], [*changes.tolist(), len(order)], strict=True)
        for start in range(low, high, step)
    ]
    return order, np.array([*starts, len(order)])


def _at_edge(domain: Domain, edge: int, points: Floats) -> tuple[Floats, Floats, float]:
    """A form that is zero on an edge of the domain and positive inside, at points [n, d], bounds on the errors, and
    the sum of the magnitudes of its slopes.
    """
    here = domain.generators[edge, 1:]
    if domain.dimension == 1:
        values = (points[:, 0] - here[0]) * (1 if edge == 0 else -1)
        return values, 2 * U * np.abs(values) + TINY, 1.0
    along = domain.generators[(edge + 1) % len(domain.generators), 1:] - here
    x, y = (points - here).T
    values, sizes = along[0] * y - along[1] * x, np.abs(along[0] * y) + np.abs(along[1] * x)
    return values, 8 * U * sizes + TINY, float(np.abs(along).sum()) * (1 + 4 * U)


def _answer_edges(part: Partition, asked: _Asked) -> None:
    for edge in range(len(part.domain.generators)):
        here = np.flatnonzero(asked.kinks == -1 - edge)
        asked.values[here], asked.bounds[here], _ = _at_edge(part.domain, edge, part.vertices[asked.vertices[here]])


def _apart(part: Partition, near: Floats) -> Bits:
    """Whether each vertex is surely another point than all others, bool [V]."""
    result = np.zeros(len(near), dtype=bool)
    finite = np.flatnonzero(np.isfinite(part.vertices).all(axis=1))
    # Half of the distance to the nearest other vertex is more than the errors of both, if each has that.
    distances, _ = cKDTree(part.vertices[finite]).query(part.vertices[finite], k=2, p=np.inf)
    result[finite] = distances[:, 1] * (1 - 2.0**-40) > 2 * near[finite]
    return result


def _inside(part: Partition, names: _Names, near: Floats) -> Bits:
    """Whether each vertex is surely inside of all edges of the domain but the named ones, bool [V]."""
    result = np.ones(len(near), dtype=bool)
    for edge in range(len(part.domain.generators)):
        values, bounds, slopes = _at_edge(part.domain, edge, part.vertices)
        named = (names.kinks == -1 - edge).any(axis=1)
        result &= named | (values > bounds + near * slopes * (1 + 2.0**-40))
    return result
