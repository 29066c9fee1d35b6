# SPDX-License-Identifier: MIT
"""Which closed paths surround merged regions?

Merged regions are surrounded by the facets that have another label, or the outside of the domain, on their other side.
These facets are followed with the region on the left: at the end of a facet the path turns around the vertex, through
regions with the same label, to the next such facet. So each path surrounds one piece, that is, one component of regions
that are connected across facets, even if pieces touch in a vertex. If a path returns to a vertex before it is complete,
it is cut there. This leaves rings without repeated vertices: for each piece its shell, and its holes.
The shell is where a path from outside of the domain first enters the piece, because a hole is a simple closed curve
with the piece outside of it. The inside of the hole is connected across facets, and has neither the piece nor the
outside of the domain in it.
Invariant: only identities of facets and vertices are used; coordinates decide nothing. Every facet of a ring is a
facet of the regions, so signed areas of rings add up to areas of regions, however vertices were rounded.
Cost: linear, except for sorting; a loop in Python over the facets of the rings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.ground.arithmetic.types import Bits, Integers
from regions.results.cells.cell_geometry import next_corners
from regions.results.cells.complex import CellComplex
from regions.results.definitions.level_sets import components

__all__ = ["Rings", "rings_around"]


class Rings(NamedTuple):
    """Rings around merged regions; the rings of one piece are consecutive, its shell first.

    Attributes
    ----------
    vertices : int64 [k]
        Vertices of all rings; each ring runs once around, with the piece on the left, and ends in its first vertex.
    ring_offsets : int64 [rings + 1]
        Ring i has the vertices ``ring_offsets[i]:ring_offsets[i + 1]``.
    piece_offsets : int64 [pieces + 1]
        Piece j has the rings ``piece_offsets[j]:piece_offsets[j + 1]``.
    label_offsets : int64 [labels + 1]
        Label l has the pieces ``label_offsets[l]:label_offsets[l + 1]``.
    """

    vertices: Integers
    ring_offsets: Integers
    piece_offsets: Integers
    label_offsets: Integers

    @property
    def label_rings(self) -> Integers:
        """Label l has the rings ``label_rings[l]:label_rings[l + 1]``."""
        return self.piece_offsets[self.label_offsets]


def rings_around(partition: CellComplex, labels: Integers) -> Rings:
    """Return the rings around regions with one label.

    Parameters
    ----------
    partition : Partition
        Complete, of dimension 2.
    labels : int64 [R]
        Label of each region, from 0 without gaps.
    """
    owners = np.repeat(np.arange(len(partition)), partition.corner_counts)
    inside = partition.neighbors >= 0
    # A facet of a ring; others have the same label on both sides. Facets are represented by their first corners.
    on_ring = ~inside | (labels[partition.neighbors] != labels[owners])
    pieces = components(len(partition), np.stack([owners, partition.neighbors])[:, ~on_ring])
    rings = [ring for way in _ways(partition, on_ring) for ring in _simple(way, partition.cell_vertices)]
    first = np.array([ring[0] for ring in rings], dtype=np.int64)
    ring_of = np.empty(len(owners), dtype=np.int64)
    lengths = np.array([len(ring) for ring in rings], dtype=np.int64)
    ring_of[[corner for ring in rings for corner in ring]] = np.repeat(np.arange(len(rings)), lengths)
    is_hole = np.ones(len(rings), dtype=bool)
    is_hole[ring_of[_entrances(partition, on_ring, pieces)]] = False
    order = np.lexsort((is_hole, pieces[owners[first]], labels[owners[first]]))
    closed = [corner for ring in order.tolist() for corner in (*rings[ring], rings[ring][0])]
    shells = np.flatnonzero(~is_hole[order])
    return Rings(
        partition.cell_vertices[closed],
        np.append(0, np.cumsum(lengths[order] + 1)),
        np.append(shells, len(rings)),
        np.append(0, np.cumsum(np.bincount(labels[owners[first[order[shells]]]]))),
    )


def _across(partition: CellComplex) -> Integers:
    """Return the corner at which each facet starts on its other side, int64 [K]; its own if it has no other side."""
    corners = np.arange(len(partition.cell_facets))
    sums = np.bincount(partition.cell_facets, weights=corners).astype(np.int64)
    return np.where(partition.neighbors >= 0, sums[partition.cell_facets] - corners, corners)


def _ways(partition: CellComplex, on_ring: Bits) -> list[list[int]]:
    """Return the corners of each closed path, in order."""
    following, across = next_corners(partition.cell_offsets), _across(partition)
    starts = np.flatnonzero(on_ring)
    after = np.full(len(on_ring), -1)
    after[starts] = following[starts]
    turning = starts[~on_ring[after[starts]]]
    while turning.size:
        after[turning] = following[across[after[turning]]]
        turning = turning[~on_ring[after[turning]]]
    to, result = after.tolist(), []
    for start in starts.tolist():
        way, corner = [], start
        while to[corner] >= 0:
            way.append(corner)
            to[corner], corner = -1, to[corner]
        if way:
            result.append(way)
    return result


def _simple(way: list[int], vertex_at: Integers) -> list[list[int]]:
    """Cut a closed path into rings that visit no vertex twice."""
    vertices = vertex_at[way].tolist()
    if len(set(vertices)) == len(way):
        return [way]
    rings: list[list[int]] = []
    path: list[tuple[int, int]] = []
    place: dict[int, int] = {}
    for corner, vertex in zip(way, vertices, strict=True):
        if vertex in place:
            start = place[vertex]
            rings.append([c for c, _ in path[start:]])
            for _, other in path[start:]:
                del place[other]
            del path[start:]
        place[vertex] = len(path)
        path.append((corner, vertex))
    return [*rings, [c for c, _ in path]]


def _entrances(partition: CellComplex, on_ring: Bits, pieces: Integers) -> Integers:
    """Return for each piece a corner whose facet a path from outside of the domain crosses when it first enters the
    piece.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    facets = np.flatnonzero(on_ring)
    count = int(pieces.max()) + 1
    owners = np.repeat(np.arange(len(partition)), partition.corner_counts)
    here = pieces[owners[facets]]
    # The outside of the domain is one more node, after the pieces.
    there = np.where(partition.neighbors[facets] >= 0, pieces[partition.neighbors[facets]], count)
    table = coo_array((np.ones(2 * len(facets)), (np.append(there, here), np.append(here, there))), 2 * (count + 1,))
    _, before = breadth_first_order(table.tocsr(), count)
    entering = facets[before[here] == there]
    result = np.empty(count, dtype=np.int64)
    result[pieces[owners[entering]]] = entering
    return result
