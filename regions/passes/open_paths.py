# SPDX-License-Identifier: MIT
"""Which units have an open path to the outputs, and which units does a unit read?

A unit is open under a pattern if the slope of its piece is not 0, and a path is open if all its units are open and all
weights between them are not 0. Hanin and Rolnick (2019) call a unit *good* if an open path leads from it to the
outputs; the values of other units do not matter there.
The arithmetic is sums and products of zeros and ones, so nothing is rounded.
Cost: one pass backwards through the network for each pattern.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.types import Bits, Packed
from regions.networks.graph import Graph, Operator, Read
from regions.networks.walk import asked

__all__ = ["bending_kinks", "kinks_read", "leading_to_outputs", "wired"]


def wired(read: Read) -> Operator:
    """Return the operator of a read with 1 in place of each nonzero weight; sums of that many ones are exact."""
    return read.operator.entrywise(lambda weights: (weights != 0).astype(np.float32))


class _OpenPaths:
    """Whether units [m, units] are reached through units on pieces with a slope."""

    def __init__(self, graph: Graph, bits: Packed) -> None:
        self.nodes = list(graph.pieces(bits))

    def of_units(self, number: int, reached: Bits) -> Bits:
        node, pieces = self.nodes[number]
        return node.units.asked_of_rows(reached & (node.units.on_pieces(pieces)[0] != 0), pieces)

    def of_sources(self, read: Read, reached: Bits) -> Bits:
        if read.node < 0:
            return reached[:, :0]  # inputs have no kinks
        return np.asarray(wired(read).apply_transposed(reached.astype(np.float32)) > 0)


class _AllPaths(_OpenPaths):
    """Whether units are reached, on any pieces."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def of_units(self, number: int, reached: Bits) -> Bits:
        return self.graph.nodes[number].units.of_all_rows(reached)


def leading_to_outputs(graph: Graph, packed: Packed) -> Bits:
    """Return for each pattern and kink whether an open path leads from its unit, open or not, to an output.

    Parameters
    ----------
    graph : Graph
    packed : uint8 [m, bytes]
        Patterns.

    Returns
    -------
    bool [m, kinks]

    Examples
    --------
    Two units side by side, and a unit that reads the first of them, off in one pattern and on in the other:

    >>> from regions import Network
    >>> chain = Network([([[1.0], [1.0]], [0.0, 0.0]), ([[1.0, 0.0]], [-1.0]), ([[1.0]], None)])
    >>> leading_to_outputs(chain.graph, np.array([[0b011], [0b111]], dtype=np.uint8))
    array([[False, False,  True],
           [ True, False,  True]])
    """
    outputs = np.ones((len(packed), graph.n_out), dtype=bool)
    return _at_kinks(graph, _OpenPaths(graph, graph.bits(packed)), len(graph.hidden), outputs)


def kinks_read(graph: Graph, kink: int) -> Bits:
    """Return the kinks of all units that the compared form of a kink reads, directly or indirectly: bool [kinks]."""
    number = int(graph.kink_nodes[kink])
    rows = np.isin(np.arange(graph.nodes[number].units.rows), graph.kink_rows[kink])
    return _at_kinks(graph, _AllPaths(graph), number, rows[np.newaxis]).ravel()


def _at_kinks(graph: Graph, arithmetic: _OpenPaths, number: int, rows: Bits) -> Bits:
    """Return the kinks of units that are reached from the rows of a node, bool [m, rows]: bool [m, kinks]."""
    result = np.zeros((len(rows), graph.kinks), dtype=bool)
    for below, reached in asked(graph, arithmetic, number, rows):
        if below >= 0:
            node = graph.nodes[below]
            result[:, node.kinks] = node.units.at_kinks(reached)
    return result


def bending_kinks(graph: Graph) -> Bits:
    """Return the kinks at which the slope of the unit changes, bool [kinks]; Leaky ReLU with slope 1 does not bend."""
    changes = [node.units.bending() for node in graph.hidden]
    return np.concatenate([np.zeros(0, dtype=bool), *changes])
