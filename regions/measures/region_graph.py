# SPDX-License-Identifier: MIT
"""How many neighbours have regions, and how far are they apart in the graph of regions?

The graph has regions for nodes and facets between them for edges; it is exact, so are its degrees and its diameter.
The diameter, without a search from every node: a search from one node u, with the greatest distance e(u), bounds that
of every other node v by e(v) <= e(u) + d(u, v) (Takes, Kosters, Determining the diameter of small world networks,
2011). The next search is from the node with the highest bound, until no bound is above a distance that has been found.
Where only the first layer makes facets, they lie on lines. A straight way crosses each line at most once: no two
regions are farther apart than there are lines, and in a whole plane some are as far: a few searches find them.
Cost: a search is linear in the number of facets. For regions of a network in a polygon a few dozen do, in a whole plane
about as many as there are neurons, at worst as many as regions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regions.arithmetic.types import Integers
from regions.partition import Partition, require_complete

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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
    require_complete(partition)
    return np.add.reduceat(partition.neighbors >= 0, partition.cell_offsets[:-1], dtype=np.int64)


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
    return diameter_bounds(partition)[1]


def diameter_bounds(partition: Partition, most_searches: int | None = None) -> tuple[int, int]:
    """Return the numbers between which the diameter is known to lie after some searches: equal when it is found.

    Parameters
    ----------
    partition : Partition
    most_searches : int, optional
        After how many searches to stop; never before the diameter is found, by default.

    Raises
    ------
    TypeError, ValueError
        No partition, or a partial one; one whose regions are not connected.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-2, -2], [2, -2], [2, 2], [-2, 2]]))
    >>> diameter_bounds(part, 0), diameter_bounds(part)
    ((0, 6), (3, 3))
    """
    from scipy.sparse import csr_array

    require_complete(partition)
    count = len(partition)
    if partition.dimension == 1:
        return count - 1, count - 1
    lines = count - 1
    if partition.facet_layers.max(initial=-1) == 0:
        lines = len(np.unique(partition.facet_kinks[partition.facet_kinks >= 0]))
    table = partition.adjacency
    # What scipy computes with, so that no search has to convert it.
    graph = csr_array((np.ones(table.nnz), table.indices.astype(np.int32), table.indptr.astype(np.int32)), table.shape)
    least, above = 0, np.full(count, min(lines, count - 1))
    searches = 0
    while least < above.max() and searches != most_searches:
        searches += 1
        node = int(above.argmax())
        distances = _distances(graph, node)
        reach = int(distances.max())
        least = max(least, reach)
        np.minimum(above, reach + distances, out=above)
    return least, max(least, int(above.max()))


def _distances(graph: csr_array, node: int) -> Integers:
    """Number of steps from a node to every other one."""
    from scipy.sparse.csgraph import breadth_first_order

    order, predecessors = breadth_first_order(graph, node)
    if len(order) < graph.shape[0]:
        raise ValueError("the regions of this partition are not connected: their graph has no diameter")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    # Nodes come in the order of their distance, and so do the nodes that they were reached from.
    reached_from = place[predecessors[order[1:]]]
    ends = [0, 1]
    while ends[-1] < len(order):
        ends.append(1 + int(np.searchsorted(reached_from, ends[-1])))
    distances = np.empty(len(order), dtype=np.int64)
    distances[order] = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    return distances
