# SPDX-License-Identifier: MIT
"""Which signs do all kinks have at the vertices of regions in a box?

The signs of all kinks at a point, and of the inequalities of the domain, are a *sign vector*. A vertex is the only
point with its sign vector. Two vertices are therefore the same point exactly if their sign vectors are equal, and no
positions have to be compared: docs/why-certify-proves.md ("Three dimensions and more").
One region around a vertex, its *owner*, defines the point. The signs also hold for every other region whose pattern
differs from them only in kinks that are zero there, because units at a zero kink have the same value on both sides.
For a maximum, the sign vector has the set of branches that are the largest: *ties*. The comparisons of ties are zero,
and the other bits are those of the lowest of the ties.
Invariant: where `known`, the signs are proven, by values (`signs_by_values.py`) or in integers
(`signs_in_integers.py`).
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Bits, Indices, Integers, Packed
from regions.networks.maxima import Maxima
from regions.networks.network import Network
from regions.partition.polytopes import PolytopePartition

__all__ = ["VertexSigns", "of_ties", "packed"]


class VertexSigns:
    """The signs at the vertices of a partition, as far as they are known.

    Parameters
    ----------
    part : PolytopePartition
        Its arrays fit together (`regions/cells/consistency.py`).
    network : Network
        With as many kinks as the partition's.
    regions : int64 [m], optional
        Only these may be owners; by default, all regions.

    Attributes
    ----------
    every : int
        Number of kinks and of inequalities of the domain, which follow the kinks and count as kinks.
    owners : int64 [V]
        -1 for a vertex without one.
    facet_starts : int64 [V + 1]
        Vertex v is on the facets ``facets[facet_starts[v]:facet_starts[v + 1]]`` of its owner.
    above, zero : uint8 [V, bytes]
        Packed bits: the kink is above zero, or zero, at the vertex.
    known : bool [V]
    near : float64 [V]
        A bound on the distance of the stored from the true vertex, in each coordinate; infinite if there is none.
    """

    def __init__(self, part: PolytopePartition, network: Network, regions: Indices | None = None) -> None:
        self.part, self.network = part, network
        count = len(part.vertices)
        self.every = network.kinks + len(part.domain.forms)
        owners = np.repeat(np.arange(len(part)), np.diff(part.cell_offsets))
        allowed = np.ones(len(part), dtype=bool) if regions is None else np.isin(np.arange(len(part)), regions)
        corners = np.flatnonzero(allowed[owners])[::-1]  # the first region around a vertex comes last
        self.owners = np.full(count, -1, dtype=np.int64)
        self.owners[part.cell_vertices[corners]] = owners[corners]
        self.facet_starts, self.facets = self._facets_of_owners()
        bytes_ = -(-self.every // 8)
        self.above, self.zero = np.zeros((2, count, bytes_), dtype=np.uint8)
        self.known, self.near = np.zeros(count, dtype=bool), np.full(count, np.inf)

    def _facets_of_owners(self) -> tuple[Integers, Integers]:
        part = self.part
        facets = np.repeat(np.arange(len(part.facet_kinks)), np.diff(part.facet_offsets))
        mine = self.owners[part.facet_vertices]
        chosen = np.flatnonzero(((part.facet_regions[facets] == mine[:, np.newaxis]).any(axis=1)) & (mine >= 0))
        chosen = chosen[np.argsort(part.facet_vertices[chosen], kind="stable")]
        counts = np.bincount(part.facet_vertices[chosen], minlength=len(part.vertices))
        return np.concatenate([[0], np.cumsum(counts)]), facets[chosen]

    def facet_columns(self, vertices: Indices) -> Indices:
        """Return the kinks of the facets of the owner at vertices that are on d of them, [m, d]."""
        starts = self.facet_starts[vertices][:, np.newaxis] + np.arange(self.part.dimension)
        return self.columns(self.facets[starts])

    def columns(self, facets: Indices) -> Indices:
        """Return the kinks that facets name, with inequalities of the domain after the kinks."""
        kinks = self.part.facet_kinks[facets]
        return np.where(kinks >= 0, kinks, self.network.kinks - 1 - kinks)

    def record(self, vertices: Indices, above: Bits, zero: Bits) -> None:
        """Store the signs of some vertices, bool [m, every], as known."""
        self.above[vertices], self.zero[vertices] = packed(above), packed(zero)
        self.known[vertices] = True

    def patterns(self) -> Packed:
        """Return the patterns of all regions, followed by a 1 for each inequality of the domain: [R, bytes]."""
        part, kinks = self.part, self.network.kinks
        result = np.zeros((len(part), self.above.shape[1]), dtype=np.uint8)
        result[:, : part.packed_patterns.shape[1]] = part.packed_patterns
        return result | packed(np.arange(self.every)[np.newaxis] >= kinks)


def packed(bits: Bits) -> Packed:
    """Pack bits [m, n] to bytes [m, ceil(n / 8)]."""
    return np.packbits(bits, axis=1, bitorder="little")


def of_ties(units: Maxima, argmaxes: Indices, equal: Bits) -> tuple[Bits, Bits]:
    """Return which kinks of maxima are above zero, and which are zero, bool [m, kinks] each.

    ``equal`` are the kinks [m, kinks] at which another branch equals one of the argmaxes [m, units].
    """
    ties = units.branches == argmaxes[:, units.row_units]
    later, earlier = units.kink_rows.T
    for rows in (later, earlier):
        where = np.nonzero(equal)
        ties[where[0], rows[where[1]]] = True
    zero = ties[:, later] & ties[:, earlier]
    lowest = np.minimum.reduceat(np.where(ties, units.branches, units.rows), units.starts[:-1], axis=1)
    return units.bits_of(lowest) & ~zero, zero
