# SPDX-License-Identifier: MIT
"""Which hyperplane arrangements have region counts that textbooks know?

Each arrangement is a network of one hidden layer (see `regions.constructions.arrangement`). All but the grid are
central (all hyperplanes contain 0), with weights -1, 0 and 1. In most of them many hyperplanes meet at a time, which is
hard for floating point. The counts are numbers of permutations, of orientations of graphs, or of signs. In more than
two dimensions, enumerate a `Box` of up to six dimensions or a plane through them, count in a `Space`, or count exactly
with `regions.bounds.chambers`. The braid and the graphical arrangements do not change along (1, .., 1), so in three
dimensions a plane across that line meets all of their regions.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product

import numpy as np

from regions.errors import NetworkError
from regions.ground.arithmetic.arguments import integer, integers, list_of, shown
from regions.networks.network import Network
from regions.theory.constructions import arrangement

__all__ = ["braid", "graphical", "grid", "resonance", "threshold", "type_b"]

# The weights of this many pairs take half a gigabyte.
MOST_AXES = 500


def braid(n: int) -> Network:
    """Return the hyperplanes ``x_i = x_j`` of R^n, i < j: ``n!`` regions, one for each order of the coordinates.

    References
    ----------
    Stanley, An introduction to hyperplane arrangements, 2007.

    Examples
    --------
    >>> from regions import Plane, count
    >>> count(braid(3), Plane([0, 0, 0], [1, -1, 0], [0, 1, -1]))
    6
    """
    return graphical(n, combinations(range(integer(n, "n", least=2, most=MOST_AXES)), 2))


def graphical(n: int, edges: Iterable[tuple[int, int]]) -> Network:
    """Return the hyperplanes ``x_i = x_j`` of R^n for the edges (i, j) of a graph on 0, .., n - 1.

    Regions are the acyclic orientations of the graph: ``2**n - 2`` for a cycle through all nodes, ``2**(n - 1)`` for a
    tree, ``n!`` for the complete graph.

    References
    ----------
    Stanley, Acyclic orientations of graphs, 1973; Greene, Zaslavsky 1983.

    Examples
    --------
    >>> from regions.theory.bounds import chambers
    >>> square = graphical(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> chambers(square.layers[0].weights)
    14
    """
    n = integer(n, "n", least=2, most=MOST_AXES)
    normals = []
    for index, edge in enumerate(list_of(edges, "edges", "a list of pairs (i, j)")):
        pair = list_of(edge, f"edges[{index}]", "a pair (i, j)")
        if len(pair) != 2 or not all(isinstance(node, (int, np.integer)) and 0 <= node < n for node in pair):
            pair = [0, 0]
        i, j = map(int, pair)
        if i == j:
            raise NetworkError(
                f"graphical: edges[{index}] must join two different nodes from 0 to {n - 1}, got {shown(edge)}"
            )
        normal = np.zeros(n)
        normal[i], normal[j] = 1.0, -1.0
        normals.append(normal)
    if not normals:
        raise NetworkError("graphical: give at least one edge; edges is empty")
    return arrangement(np.array(normals))


def type_b(n: int) -> Network:
    """Return the hyperplanes ``x_i = 0``, ``x_i = x_j`` and ``x_i = -x_j`` of R^n: ``2**n * n!`` regions.

    References
    ----------
    Stanley, An introduction to hyperplane arrangements, 2007.

    Examples
    --------
    >>> from regions import Plane, count
    >>> count(type_b(2), Plane([0, 0], [1, 0], [0, 1]))
    8
    """
    n = integer(n, "n", most=MOST_AXES)
    unit = np.eye(n)
    pairs = list(combinations(range(n), 2))
    differences = [unit[i] - unit[j] for i, j in pairs]
    return arrangement(np.array([*unit, *differences, *(unit[i] + unit[j] for i, j in pairs)]))


def threshold(n: int) -> Network:
    """Return the hyperplanes ``x_i + x_j = 0`` of R^n, i < j: 2, 8, 46, 332, 2874 regions for n = 2, .., 6.

    Regions are the threshold graphs on n labelled nodes.

    References
    ----------
    Stanley, An introduction to hyperplane arrangements, 2007.

    Examples
    --------
    >>> from regions.theory.bounds import chambers
    >>> chambers(threshold(4).layers[0].weights)
    46
    """
    n = integer(n, "n", least=2, most=MOST_AXES)
    unit = np.eye(n)
    return arrangement(np.array([unit[i] + unit[j] for i, j in combinations(range(n), 2)]))


def resonance(n: int) -> Network:
    """Return the hyperplanes of R^n whose normals are all vectors of zeros and ones but 0: 2, 6, 32 regions for n = 1,
    2, 3.

    Regions say which sums of the coordinates are positive.

    References
    ----------
    Kamiya, Takemura, Terao, Ranking patterns of unfolding models of codimension one, 2011.

    Examples
    --------
    >>> from regions import Plane, count
    >>> count(resonance(2), Plane([0, 0], [1, 0], [0, 1]))
    6
    """
    n = integer(n, "n", most=20)  # beyond, there are more than a million normals
    return arrangement(np.array(list(product((0.0, 1.0), repeat=n))[1:]))


def grid(counts: Iterable[int]) -> Network:
    """Return hyperplanes ``x_i = 0, 1, .., counts[i] - 1`` for each axis: the product of ``counts[i] + 1`` regions.

    With one hyperplane per axis it is the Boolean arrangement, with ``2**n`` regions.

    Examples
    --------
    >>> from regions import Plane, count
    >>> count(grid([3, 2]), Plane([0, 0], [1, 0], [0, 1]))
    12
    """
    sizes = integers(counts, "counts")
    offsets = [-float(position) for size in sizes for position in range(size)]
    return arrangement(np.repeat(np.eye(len(sizes)), sizes, axis=0), offsets)
