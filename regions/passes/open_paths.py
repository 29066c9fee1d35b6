# SPDX-License-Identifier: MIT
"""From which units does an open path lead to the outputs, and which ones does a unit read?

A unit is open under a pattern if the piece that it is on has a slope other than 0, and a path is open if all units on
it are, and all weights between them are other than 0. Hanin and Rolnick (2019) call the units at whose end of an open
path the outputs are *good*: the others do not matter there, whatever their values.
Sums and products of zeros and ones, so nothing is rounded.
Cost: one pass backwards through the network for each pattern.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Bits, Packed
from regions.networks.graph import Graph, Operator, Read
from regions.networks.walk import asked

__all__ = ["bending_kinks", "kinks_read", "leading_to_outputs", "wired"]


def wired(read: Read) -> Operator:
    """The operator of a read with 1 for each weight other than 0; as many ones as there are weights add up exactly."""
    return read.operator.entrywise(lambda weights: (weights != 0).astype(np.float32))


class _OpenPaths:
    """Whether units [m, units] are reached, past units that are on a piece with a slope."""

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
    """Whether units are reached, whatever the pieces."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def of_units(self, number: int, reached: Bits) -> Bits:
        return self.graph.nodes[number].units.of_all_rows(reached)


def leading_to_outputs(graph: Graph, packed: Packed) -> Bits:
    """Tell for each pattern and kink whether an open path leads from its unit to an output, be it open itself or not.

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
    Two units side by side, and one after them that reads them, which is off, and then on:

    >>> from regions import Network
    >>> chain = Network([([[1.0], [1.0]], [0.0, 0.0]), ([[1.0, 0.0]], [-1.0]), ([[1.0]], None)])
    >>> leading_to_outputs(chain.graph, np.array([[0b011], [0b111]], dtype=np.uint8))
    array([[False, False,  True],
           [ True, False,  True]])
    """
    outputs = np.ones((len(packed), graph.n_out), dtype=bool)
    return _at_kinks(graph, _OpenPaths(graph, graph.bits(packed)), len(graph.hidden), outputs)


def kinks_read(graph: Graph, kink: int) -> Bits:
    """The kinks of all units that what is compared at a kink reads, directly or through others: bool [kinks]."""
    number = int(graph.kink_nodes[kink])
    rows = np.isin(np.arange(graph.nodes[number].units.rows), graph.kink_rows[kink])
    return _at_kinks(graph, _AllPaths(graph), number, rows[np.newaxis]).ravel()


def _at_kinks(graph: Graph, arithmetic: _OpenPaths, number: int, rows: Bits) -> Bits:
    """The kinks of units that are reached from the rows of a node, bool [m, rows]: bool [m, kinks]."""
    result = np.zeros((len(rows), graph.kinks), dtype=bool)
    for below, reached in asked(graph, arithmetic, number, rows):
        if below >= 0:
            node = graph.nodes[below]
            result[:, node.kinks] = node.units.at_kinks(reached)
    return result


def bending_kinks(graph: Graph) -> Bits:
    """Tell at which kinks the slope of the unit changes, bool [kinks]; Leaky ReLU with a slope of 1 does not bend."""
    changes = [node.units.bending() for node in graph.hidden]
    return np.concatenate([np.zeros(0, dtype=bool), *changes])
