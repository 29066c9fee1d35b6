# SPDX-License-Identifier: MIT
"""Which regions with one affine map g hang together in the closed set {f = g}?

Regions that share facets do, and in a plane also some that do not: they may touch in a vertex, or be joined by a path
of points and segments, in other regions, on which the network f happens to equal g. In each closed region f is affine,
so its part of {f = g} is convex: empty, a point, a segment or ray, all of it. So are the parts on its facets. Hence
{f = g} hangs together as these parts do, and they meet in vertices with f = g, and in facets that have such a point
between their ends: it is enough to know where these are (`differences.py`).
The set is followed outwards from the regions whose map is g, as far as it goes. (On a line nothing has to be: two
pieces that touch share a facet, and a path between two others is a piece.)
Cost: a few forward passes per region that the set meets. Only maps that several separate pieces have need it: in
generic networks hardly any.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from regions.cell_geometry import next_corners
from regions.definitions.differences import Differences
from regions.definitions.incidence import Corners, at_infinity, ranges
from regions.partition import Partition

__all__ = ["LevelSets", "components"]

Bits = NDArray[np.bool_]
Integers = NDArray[np.int64]


class LevelSets:
    """The sets {f = g} of a network f in a plane, for affine maps g that it has on regions.

    Parameters
    ----------
    partition : Partition
        Of dimension 2.
    """

    def __init__(self, partition: Partition) -> None:
        self.partition, self.corners = partition, Corners.of(partition)
        self.following, self.infinite = next_corners(partition.cell_offsets), at_infinity(partition)
        self.differences = Differences(partition, self.corners.regions)
        self.zero = np.zeros(len(partition.vertices), dtype=bool)  # where f = g, as far as known
        self.reached = np.zeros(len(partition), dtype=bool)

    def components(self, members: Integers) -> Integers:
        """Number the connected components of {f = g} that have interior.

        Parameters
        ----------
        members : int64 [m]
            All regions whose map is g, ascending.

        Returns
        -------
        int64 [m]
            Component of each member; numbers are not consecutive.
        """
        self.differences.subtract(int(members[0]))
        self.zero[self.partition.cell_vertices[self._corners_of(members)]] = True
        self.zero &= ~self.infinite
        # Regions are nodes, and so are vertices, numbered after them.
        links, frontier = [np.stack([members, members])], members
        while frontier.size:
            self.reached[frontier] = True
            links += self._links(frontier)
            near = np.unique(np.concatenate([link[0] for link in links[-2:]]))
            frontier = near[~self.reached[near]]
        self.zero[:] = self.reached[:] = False
        nodes, pairs = np.unique(np.concatenate(links, axis=1), return_inverse=True)
        return components(len(nodes), pairs.reshape(2, -1))[np.searchsorted(nodes, members)]

    def _links(self, regions: Integers) -> list[Integers]:
        """What hangs together around some regions, int64 [2, k] each; the upper row has all regions that do."""
        partition, corners = self.partition, self._corners_of(regions)
        vertices = partition.cell_vertices[corners]
        zero, crossed = self._where_zero(corners, vertices)
        met = np.unique(vertices[zero])
        touching, counts = self.corners.at(met)
        through = corners[crossed]
        return [
            np.stack([self.corners.regions[touching], np.repeat(len(partition) + met, counts)]),
            np.stack([partition.neighbors[through], self.corners.regions[through]]),
        ]

    def _where_zero(self, corners: Integers, vertices: Integers) -> tuple[Bits, Bits]:
        """At which corners f = g, and on which facets after them that is so somewhere between the ends only.

        The corners, ascending, are all those of some regions.
        """
        open_ = np.flatnonzero(~(self.zero[vertices] | self.infinite[vertices]))
        known = self.differences.at(corners, open_)
        for index in open_[~known.nonzero[open_]].tolist():
            vertex = vertices[index]
            self.zero[vertex] = self.zero[vertex] or self.differences.zero_at(int(corners[index]))
        zero = self.zero[vertices]
        following = np.searchsorted(corners, self.following[corners])
        facets = np.flatnonzero((self.partition.neighbors[corners] >= 0) & ~zero & ~zero[following])
        start, end = known.take(facets), known.take(following[facets])
        crossed = np.zeros(len(corners), dtype=bool)
        crossed[facets] = opposite = start.opposite(end)
        for index in facets[~(opposite | start.apart(end))].tolist():
            crossed[index] = self.differences.zero_between(int(corners[index]), int(corners[following[index]]))
        return zero, crossed

    def _corners_of(self, regions: Integers) -> Integers:
        return ranges(self.partition.cell_offsets[regions], self.partition.corner_counts[regions])


def components(count: int, pairs: Integers) -> Integers:
    """Connected component of each of so many nodes, joined in pairs int64 [2, k]: int64 [count]."""
    graph = coo_array((np.ones(pairs.shape[1], dtype=bool), (pairs[0], pairs[1])), shape=(count, count))
    labels: Integers = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels
