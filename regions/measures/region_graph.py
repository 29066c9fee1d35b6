# SPDX-License-Identifier: MIT
"""How many neighbours have regions, and how far are they apart in the graph of regions?

The graph has regions for nodes and facets between them for edges; it is exact, so are its degrees and its diameter.
The diameter, without a search from every node: a search from one node u, with the greatest distance e(u), bounds the
greatest distance of every other node v by max(d(u, v), e(u) - d(u, v)) <= e(v) <= e(u) + d(u, v). Searches from the
nodes with the highest upper and the lowest lower bound, in turn, close the gap (Takes, Kosters, Determining the
diameter of small world networks, 2011); for regions of a network a few dozen do.
Cost: a search is linear in the number of facets. At worst there are as many searches as regions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regions.measures.arguments import complete

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from regions.partition import Partition

__all__ = ["degrees", "diameter"]

Integers = NDArray[np.int64]


def degrees(partition: Partition) -> Integers:
    """Number of neighbours of each region, int64 [R]: its facets, but for those on the border of the domain.

    Parameters
    ----------
    partition : Partition

    Raises
    ------
    TypeError, ValueError
        No partition, or a partial one.

    References
    ----------
    Bounds on their mean and least: `regions.bounds.gaines_bi_degree` and `gaines_bi_min_degree`.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [1.0]], [0.0, -0.5]), ([[1.0, 1.0]], [0.0])])
    >>> degrees(regions.enumerate(net, regions.Segment([-1.0], [1.0])))
    array([1, 2, 1])
    """
    complete(partition)
    result: Integers = np.add.reduceat(partition.neighbors >= 0, partition.cell_offsets[:-1], dtype=np.int64)
    return result


def diameter(partition: Partition) -> int:
    """Greatest number of facets that a way between two regions has to cross.

    Parameters
    ----------
    partition : Partition

    Raises
    ------
    TypeError, ValueError
        No partition, or a partial one.

    References
    ----------
    A bound on it: `regions.bounds.gaines_bi_diameter`.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 0.0]], [0.0])])
    >>> diameter(regions.enumerate(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])))
    2
    """
    complete(partition)
    if partition.dimension == 1:
        return len(partition) - 1
    graph = partition.adjacency
    lower, upper = np.zeros(len(partition), dtype=np.int64), np.full(len(partition), len(partition), dtype=np.int64)
    from_above = True
    while lower.max() < upper.max():
        candidates = np.flatnonzero(lower < upper)
        node = candidates[upper[candidates].argmax() if from_above else lower[candidates].argmin()]
        from_above = not from_above
        distances = _distances(graph, node)
        reach = int(distances.max())
        np.maximum(lower, np.maximum(distances, reach - distances), out=lower)
        np.minimum(upper, reach + distances, out=upper)
        lower[node] = upper[node] = reach
    return int(lower.max())


def _distances(graph: csr_array, node: np.int64) -> Integers:
    """Number of steps from a node to every other one, breadth first."""
    starts, neighbors = graph.indptr, graph.indices
    distances = np.full(len(starts) - 1, -1, dtype=np.int64)
    distances[node] = steps = 0
    front = np.array([node])
    while front.size:
        steps += 1
        counts = starts[front + 1] - starts[front]
        ends = np.cumsum(counts)
        reached = neighbors[np.repeat(starts[front] - ends + counts, counts) + np.arange(ends[-1])]
        reached = reached[distances[reached] < 0]
        distances[reached] = steps
        front = np.unique(reached)
    return distances
