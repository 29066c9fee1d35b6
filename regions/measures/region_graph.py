# SPDX-License-Identifier: MIT
"""How many neighbours do regions have, and how far apart are they in the graph of regions?

The nodes of the graph are the regions, its edges the facets between them; it is exact, and so are degrees and diameter.
The diameter does not need a search from every node. A search from one node u, with the greatest distance e(u), bounds
the greatest distance of every other node v by e(v) <= e(u) + d(u, v) (Takes, Kosters, Determining the diameter of small
world networks, 2011). The next search is from the node with the highest bound, until no bound is above a distance that
has been found. If only the first layer makes facets, they lie on lines, or hyperplanes. A straight path crosses each at
most once, so the distance of two regions is at most the number of these lines or hyperplanes. In a whole plane some
regions are that far apart: a few searches find them.
Cost: a search is linear in the number of facets. For regions of a network in a polygon a few dozen suffice, in a whole
plane about as many as there are neurons, at worst as many as regions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regions.ground.arithmetic.types import Integers
from regions.ground.threads.deadline import check_time_of_call, present_end
from regions.results.partition import Partition, require_complete

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def degrees(partition: Partition) -> Integers:
    """Return the number of neighbours of each region, int64 [R]: its facets that are not on the domain boundary.

    Parameters
    ----------
    partition : Partition

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one.

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
    return np.add.reduceat(partition.neighbors >= 0, partition.cell_facet_offsets[:-1], dtype=np.int64)


def diameter(partition: Partition) -> int:
    """Return the greatest number of facets that a path between two regions has to cross.

    Parameters
    ----------
    partition : Partition

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one.

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
    """Return bounds on the diameter after some searches; they are equal if it is known.

    Parameters
    ----------
    partition : Partition
    most_searches : int, optional
        Number of searches after which to stop; by default when the diameter is known.

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one; one whose regions are not connected.

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
    # In scipy's own type, so that no search has to convert it.
    graph = csr_array((np.ones(table.nnz), table.indices.astype(np.int32), table.indptr.astype(np.int32)), table.shape)
    least, above = 0, np.full(count, min(lines, count - 1))
    searches = 0
    while least < above.max() and searches != most_searches:
        if present_end() is not None:
            check_time_of_call()
        searches += 1
        node = int(above.argmax())
        distances = _distances(graph, node)
        reach = int(distances.max())
        least = max(least, reach)
        np.minimum(above, reach + distances, out=above)
    return least, max(least, int(above.max()))


def _distances(graph: csr_array, node: int) -> Integers:
    """Return the number of steps from a node to every other node."""
    from scipy.sparse.csgraph import breadth_first_order

    order, predecessors = breadth_first_order(graph, node)
    if len(order) < graph.shape[0]:
        raise ValueError("the regions of this partition are not connected: their graph has no diameter")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    # Nodes are in the order of their distance, and so are the nodes that they were reached from.
    reached_from = place[predecessors[order[1:]]]
    ends = [0, 1]
    while ends[-1] < len(order):
        ends.append(1 + int(np.searchsorted(reached_from, ends[-1])))
    distances = np.empty(len(order), dtype=np.int64)
    distances[order] = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    return distances
