# SPDX-License-Identifier: MIT
"""What does a result list, in the same arrays for each dimension, and which region defines each vertex?

The inequalities of the domain are *columns* after the kinks, with a bit that is 1 in every pattern. On a line and in a
plane each region has as many facets as corners, and the vertices of facets are rows; here all lists are flat. One
region around a vertex, its *owner*, defines it: the point where the forms of the owner's facets there are zero. The
owner is the region whose pattern comes first in lexicographic order, so that few patterns have to be walked through.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from regions.domains import Domain
from regions.ground.arithmetic.pattern_index import hash_patterns
from regions.ground.arithmetic.types import Bits, Indices, Integers, Packed
from regions.networks.network import Network
from regions.results.partition import Partition

__all__ = ["Edge", "Layout", "first_equal", "has", "packed", "ranges"]

# An inequality of the domain: the constant and the slopes of a form that is positive inside.
Edge = tuple[Fraction, ...]
# Each byte with its bits in the other order.
REVERSED = np.packbits(np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little"), axis=1)


class Layout:
    """The arrays of a partition.

    Parameters
    ----------
    part : Partition
        Its arrays fit together (`regions/results/cells/consistency.py`).
    net : Network
        With as many kinks as the partition's.
    chosen : int64 [m], optional
        Only these regions may be owners; by default, all.

    Attributes
    ----------
    every : int
        Number of columns: kinks, and inequalities of the domain.
    edges : list of Edge
    facet_columns : int64 [F]
        The column that each facet names.
    patterns : uint8 [R, bytes]
        Packed bits of all columns.
    corner_regions, side_regions : int64
        The region of each entry of ``cell_vertices`` and of ``cell_facets``.
    rank : int64 [R]
        Place of each pattern in lexicographic order.
    owners : int64 [V]
        -1 for a vertex without one.
    meet : int64 [V, d]
        The columns of the first d facets of the owner at each vertex, -1 if there are fewer.
    """

    def __init__(self, part: Partition, net: Network, chosen: Indices | None = None) -> None:
        self.part, self.net, self.graph, self.domain = part, net, net.graph, part.domain
        self.dimension, self.regions = part.dimension, len(part)
        self.vertices, self.errors, self.complete = part.vertices, part.vertex_errors, part.complete
        self.cell_offsets, self.cell_vertices, self.cell_facets = (
            part.cell_offsets,
            part.cell_vertices,
            part.cell_facets,
        )
        self.cell_facet_offsets, self.facet_offsets = part.cell_facet_offsets, part.facet_offsets
        self.facet_vertices, self.facet_regions = part.facet_vertices.reshape(-1), part.facet_regions
        self.kinks = net.kinks
        # Only the number of inequalities matters for an unbounded domain, in which integers decide everything.
        bounded = part.domain.bounded
        self.edges = exact_edges(part.domain) if bounded else [()] * part.domain.sides
        self.every = self.kinks + len(self.edges)
        self.facet_columns = np.where(part.facet_kinks >= 0, part.facet_kinks, self.kinks - 1 - part.facet_kinks)
        self.patterns = np.zeros((self.regions, -(-self.every // 8)), dtype=np.uint8)
        self.patterns[:, : part.packed_patterns.shape[1]] = part.packed_patterns
        self.patterns |= packed(np.arange(self.every) >= self.kinks)
        self.corner_regions = np.repeat(np.arange(self.regions), np.diff(self.cell_offsets))
        self.side_regions = np.repeat(np.arange(self.regions), np.diff(self.cell_facet_offsets))
        self._find_owners(chosen)

    def __len__(self) -> int:
        return self.regions

    def _find_owners(self, chosen: Indices | None) -> None:
        order = np.argsort(_keys(REVERSED.ravel()[self.part.packed_patterns]), kind="stable")
        self.rank = np.empty_like(order)
        self.rank[order] = np.arange(len(order))
        ranks = self.rank
        if chosen is not None:
            ranks = np.full(self.regions, self.regions)
            ranks[chosen] = self.rank[chosen]
        first = np.full(len(self.vertices), self.regions)
        np.minimum.at(first, self.cell_vertices, ranks[self.corner_regions])
        self.owners = np.append(order, -1)[first]
        # The facets of each owner at its vertices, in order of vertices.
        ends = np.repeat(np.arange(len(self.facet_columns)), np.diff(self.facet_offsets))
        mine = self.owners[self.facet_vertices]
        here = np.flatnonzero((self.facet_regions[ends] == mine[:, np.newaxis]).any(axis=1) & (mine >= 0))
        here = here[np.argsort(self.facet_vertices[here], kind="stable")]
        counts = np.bincount(self.facet_vertices[here], minlength=len(self.vertices))
        self._facets, self._starts = ends[here], np.concatenate([[0], np.cumsum(counts)])
        place = self._starts[:-1, np.newaxis] + np.arange(self.dimension)
        enough = counts[:, np.newaxis] >= self.dimension
        columns = np.append(self.facet_columns[self._facets], -1)
        self.meet = np.where(enough, columns[np.minimum(place, len(columns) - 1)], -1)

    def meeting_columns(self, vertex: int) -> list[int]:
        """Return the columns of all facets of the owner at a vertex."""
        columns: list[int] = self.facet_columns[self._facets[self._starts[vertex] : self._starts[vertex + 1]]].tolist()
        return columns

    def corners_of(self, region: int) -> list[int]:
        """Return the vertices of a region."""
        return self.cell_vertices[self.cell_offsets[region] : self.cell_offsets[region + 1]].tolist()

    def facets_of(self, region: int) -> list[int]:
        """Return the facets of a region."""
        return self.cell_facets[self.cell_facet_offsets[region] : self.cell_facet_offsets[region + 1]].tolist()

    def ends_of(self, facet: int) -> list[int]:
        """Return the vertices of a facet."""
        return self.facet_vertices[self.facet_offsets[facet] : self.facet_offsets[facet + 1]].tolist()

    def vertices_of(self, regions: Indices) -> Integers:
        """Return the vertices of some regions, ascending."""
        some = np.zeros(self.regions, dtype=bool)
        some[regions] = True
        return np.unique(self.cell_vertices[some[self.corner_regions]])

    def with_all(self, vertices: Bits) -> Bits:
        """Return the regions of which each corner is one of some vertices [V], bool [R]."""
        if not self.regions:
            return np.zeros(0, dtype=bool)
        return np.asarray(np.logical_and.reduceat(vertices[self.cell_vertices], self.cell_offsets[:-1]))


def exact_edges(domain: Domain) -> list[Edge]:
    """Return the inequalities of a bounded domain, each times a power of two, so that its coefficients are near 1."""
    return [_near_one(row) for row in domain.inequalities]


def _near_one(row: Edge) -> Edge:
    largest = max(map(abs, row))
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length()
    return tuple(x / Fraction(2) ** exponent for x in row)


def packed(bits: Bits) -> Packed:
    """Pack bits [.., n] to bytes [.., ceil(n / 8)]."""
    return np.packbits(bits, axis=-1, bitorder="little")


def has(rows: Packed, places: Indices, columns: Indices) -> Bits:
    """Return one bit of each of some packed rows [n, bytes]: those of columns [m] at places [m]."""
    return np.asarray(rows[places, columns >> 3] >> (columns & 7).astype(np.uint8) & 1 > 0)


def first_equal(rows: Packed) -> Integers:
    """Return the number of the first row that is equal to each row [n, bytes]; int64 [n].

    Rows are hashed, and those whose hash comes more than once are compared in full.
    """
    hashes, result = hash_patterns(rows), np.arange(len(rows))
    order = np.argsort(hashes, kind="stable")
    again = hashes[order[1:]] == hashes[order[:-1]]
    doubtful = np.sort(order[np.append(again, False) | np.append(False, again)]) if again.any() else order[:0]
    _, first, index = np.unique(_keys(rows[doubtful]), return_index=True, return_inverse=True)
    result[doubtful] = doubtful[first[index]]
    return result


def _keys(rows: Packed) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return one item for each row [n, bytes], which are equal if and only if the rows are."""
    wide = rows if rows.shape[1] else np.zeros((len(rows), 1), dtype=np.uint8)
    return np.ascontiguousarray(wide).view(f"V{wide.shape[1]}").reshape(-1)


def ranges(starts: Integers, sizes: Integers) -> Integers:
    """Concatenate ranges with these starts and sizes."""
    return np.arange(sizes.sum()) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
