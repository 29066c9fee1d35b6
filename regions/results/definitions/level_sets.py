# SPDX-License-Identifier: MIT
"""Which regions with one affine map g are connected in the closed set {f = g}?

Regions that share facets are connected. In a plane, others may be too: they may touch in a vertex, or be joined by a
path of points and segments, in other regions, on which the network f happens to equal g. In each closed region f is
affine, so its part of {f = g} is convex: empty, a point, a segment or ray, or the whole region; likewise on its
facets. These parts meet in vertices with f = g, and in facets that have such a point between their ends. It is
therefore enough to know these vertices and facets (`differences.py`).
The sets are followed outwards from the regions whose map is g, for many maps g at a time, as far as they go, or until
all these regions are connected. This is tested after 1, 2, 4, 8 and so on steps. (A line needs none of this: two pieces
that touch share a facet, and a path between two others is a piece.)
Cost: about five microseconds for each region that a set meets, including `differences.py`. Only maps with several
separate pieces need it. Generic networks have hardly any. If a network is constant on many regions, each region is met
by about ten sets.
"""

from __future__ import annotations

from math import inf

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.types import Bits, Integers
from regions.ground.threads.deadline import check_time_of_call, present_end
from regions.results.cells.cell_geometry import next_corners
from regions.results.cells.mesh import ranges
from regions.results.definitions.differences import Differences, apart, opposite
from regions.results.definitions.incidence import Corners, at_infinity
from regions.results.partition import Partition

__all__ = ["LevelSets", "components"]


class LevelSets:
    """The sets {f = g} of a network f in a plane, for affine maps g that it has on regions.

    In each set, the nodes are vertices, and regions, numbered after them. ``map * nodes + node`` is a node of a set.

    Parameters
    ----------
    partition : Partition
        Of dimension 2.
    maps : int64 [R]
        Number of each region's map, from 0 in the order of occurrence.
    """

    def __init__(self, partition: Partition, maps: Integers) -> None:
        self.partition, self.maps = partition, maps
        self.corners, self.infinite = Corners.of(partition), at_infinity(partition)
        self.to_next = next_corners(partition.cell_offsets) - np.arange(len(partition.cell_vertices))
        self.differences = Differences(partition, maps, self.corners)
        self.nodes = len(partition.vertices) + len(partition)

    def components(self, members: Integers, most: float = inf) -> Integers | None:
        """Number the connected components, if they have interior, of some of the sets.

        Parameters
        ----------
        members : int64 [m]
            All regions with certain maps.
        most : float
            Most links between nodes to store, 16 bytes each (and temporarily a few times that).

        Returns
        -------
        int64 [m] or None
            Component of each member; numbers are not consecutive. None if there are more links.
        """
        own = self._regions(self.maps[members], members)
        corners, levels = self._corners_of(self.maps[members], members)
        covered = _distinct(levels * self.nodes + self.partition.cell_vertices[corners])
        # In a region next to one with map g across a facet, f = g on that facet only.
        neighbors = self.partition.neighbors[corners]
        ended = _distinct(np.append(own, self._regions(levels, neighbors)[neighbors >= 0]))
        links, before, frontier = [np.stack([own, own])], own[:0], np.sort(own)
        steps = 0
        while frontier.size:
            if present_end() is not None:
                check_time_of_call()
            found, near = self._links(frontier, covered)
            links.append(found)
            most -= found.shape[1]
            if most < 0:
                return None
            # Links go both ways, so neighbours of the frontier are in it, in the previous one, or new.
            seen = np.concatenate([before, frontier])
            before, frontier = frontier, np.setdiff1d(near[~_contains(ended, near)], seen, assume_unique=True)
            steps += 1
            if steps & (steps - 1) == 0:
                frontier = frontier[self._apart(frontier, own, links)]
        return _linked(own, links)

    def _apart(self, frontier: Integers, own: Integers, links: list[Integers]) -> Bits:
        """Return which regions are in sets whose own regions are not yet all connected."""
        linked, sets = _linked(own, links), own // self.nodes
        order = np.lexsort([linked, sets])
        apart = (np.diff(sets[order]) == 0) & (np.diff(linked[order]) != 0)
        return np.isin(frontier // self.nodes, sets[order][1:][apart])

    def _links(self, frontier: Integers, covered: Integers) -> tuple[Integers, Integers]:
        """Return pairs of connected regions, int64 [2, k], and all regions in them, ascending.

        ``covered`` are the vertices, ascending, of regions with map g, where f = g.
        """
        levels, regions = np.divmod(frontier, self.nodes)
        corners, levels = self._corners_of(levels, regions - len(self.partition.vertices))
        vertices = levels * self.nodes + self.partition.cell_vertices[corners]
        zero, crossed = self._where_zero(corners, levels, vertices, covered)
        own = self._regions(levels, self.corners.regions[corners])
        across = self._regions(levels, self.partition.neighbors[corners])[crossed]
        met = _distinct(vertices[zero])
        touching, counts = self.corners.at(met % self.nodes)
        around = self._regions(np.repeat(met // self.nodes, counts), self.corners.regions[touching])
        links = np.stack([np.append(own[zero], own[crossed]), np.append(vertices[zero], across)])
        return links, _distinct(np.append(around, across))

    def _where_zero(self, corners: Integers, levels: Integers, nodes: Integers, covered: Integers) -> tuple[Bits, Bits]:
        """Return at which corners f = g, and on which facets after them f = g only between the ends.

        The corners are all corners of some regions, one region after the other; their vertices are the nodes.
        """
        zero = _contains(covered, nodes)
        finite = ~self.infinite[self.partition.cell_vertices[corners]]
        zero &= finite
        open_ = np.flatnonzero(finite & ~zero)
        asked, rows = np.unique(nodes[open_], return_inverse=True)
        known = self.differences.at(asked % self.nodes, asked // self.nodes)
        zero[open_] = ~np.any(known.nonzero, axis=1)[rows]
        # Nothing is known at infinity.
        row_at = np.full(len(corners), len(asked))
        row_at[open_] = rows
        nothing = np.full((1, known.value.shape[1]), np.nan)
        known = Proven.joined([known, Proven(nothing, nothing)])
        following = np.arange(len(corners)) + self.to_next[corners]
        facets = np.flatnonzero((self.partition.neighbors[corners] >= 0) & ~zero & ~zero[following])
        start, end = known[row_at[facets]], known[row_at[following[facets]]]
        crossed = np.zeros(len(corners), dtype=bool)
        crossed[facets] = between_ends = opposite(start, end)
        open_ = facets[~(between_ends | apart(start, end))]
        between = self.differences.exact.zero_between
        crossed[open_] = between(corners[open_], corners[following[open_]], levels[open_])
        return zero, crossed

    def _regions(self, levels: Integers, regions: Integers) -> Integers:
        """Return regions as nodes of sets."""
        return levels * self.nodes + len(self.partition.vertices) + regions

    def _corners_of(self, levels: Integers, regions: Integers) -> tuple[Integers, Integers]:
        """Return the corners of regions, and for each the map of the set."""
        counts = self.partition.corner_counts[regions]
        return ranges(self.partition.cell_offsets[regions], counts), np.repeat(levels, counts)


def _linked(own: Integers, links: list[Integers]) -> Integers:
    """Return the component of each of some nodes, all of which have links."""
    nodes, pairs = np.unique(np.concatenate(links, axis=1), return_inverse=True)
    return components(len(nodes), pairs.reshape(2, -1))[np.searchsorted(nodes, own)]


def _distinct(values: Integers) -> Integers:
    """Return the distinct values, ascending. (Faster than `numpy.unique`, which hashes integers.)"""
    ascending = np.sort(values)
    return ascending[np.append(True, ascending[1:] != ascending[:-1])] if len(values) else ascending


def _contains(ascending: Integers, values: Integers) -> Bits:
    """Return which values are in a non-empty ascending array."""
    places = np.searchsorted(ascending, values)
    return ascending[np.minimum(places, len(ascending) - 1)] == values


def components(count: int, pairs: Integers) -> Integers:
    """Return the connected component of each of ``count`` nodes, joined in pairs int64 [2, k]: int64 [count]."""
    graph = coo_array((np.ones(pairs.shape[1], dtype=bool), (pairs[0], pairs[1])), shape=(count, count))
    return connected_components(graph, directed=False)[1].astype(np.int64)
