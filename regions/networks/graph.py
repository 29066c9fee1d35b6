# SPDX-License-Identifier: MIT
"""What is a network, seen as a graph of operators and units?

Nodes are in topological order. Each *row* of a node, a pre-activation, is a bias plus a sum of *reads*. A read is a
linear operator applied to all outputs of one node, or to all inputs. Operators select and reorder, so that skips,
slices and concatenations are reads like any other. A unit is a piecewise-linear function of its one row (`Units`), or
the largest of several rows, its branches (`Maxima`). The last node has the outputs of the network; its units are the
identity.
Invariant: a node reads only earlier nodes; in a network's graph, a node that reads the inputs reads nothing else. A
chain of layers is the simplest case, in which each node reads the node before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.types import Floats, Indices, Integers, Packed
from regions.networks.dense import Dense
from regions.networks.layer import Layer
from regions.networks.maxima import Maxima
from regions.networks.patches import Patches
from regions.networks.units import Units, entries

__all__ = ["Graph", "Maxima", "Node", "Operator", "Read", "Units", "entries"]

Operator = Dense | Patches


@dataclass(frozen=True, eq=False)
class Read:
    """A linear operator and the node that it is applied to.

    Parameters
    ----------
    operator : Operator
        Its inputs are all outputs of the node.
    node : int
        Index in `Graph.nodes`; -1 for the inputs of the network.
    """

    operator: Operator
    node: int


@dataclass(frozen=True, eq=False)
class Node:
    """Some units, and the reads that they depend on.

    Parameters
    ----------
    biases : float64 [rows]
    reads : tuple of Read
        Their operators have as many outputs as there are rows.
    units : Units or Maxima
    kinks : slice
        Position of the bits of its units in a pattern.
    name : str
        Name in messages.
    """

    biases: Floats
    reads: tuple[Read, ...]
    units: Units | Maxima
    kinks: slice
    name: str = "node"

    @cached_property
    def terms(self) -> int:
        """Number of terms in the sum of one row, bias included."""
        return sum(read.operator.most_terms for read in self.reads) + 1


class Graph:
    """Nodes in topological order.

    Parameters
    ----------
    n_in : int
    nodes : iterable of Node

    Attributes
    ----------
    hidden : tuple of Node
        All nodes but the last one, which has the outputs.
    """

    def __init__(self, n_in: int, nodes: Iterable[Node]) -> None:
        self.n_in, self.nodes = n_in, tuple(nodes)
        self.hidden = self.nodes[:-1]
        self.n_out, self.widths = self.nodes[-1].units.count, tuple(node.units.count for node in self.hidden)
        self.kinks = sum(node.units.kinks for node in self.hidden)

    @classmethod
    def chain(cls, layers: Iterable[Layer]) -> Graph:
        """Return the graph of a network in which each layer reads the one before it."""
        nodes, first_kink = [], 0
        for number, layer in enumerate(layers):
            units = Units(len(layer.biases), layer.activation)
            kinks = slice(first_kink, first_kink + units.kinks)
            nodes.append(Node(layer.biases, (Read(layer.operator, number - 1),), units, kinks, layer.name))
            first_kink = kinks.stop
        return cls(nodes[0].reads[0].operator.inputs, nodes)

    def layers(self) -> list[Layer] | None:
        """Return the layers if each node reads the one before it, through a dense operator; else None."""
        layers = []
        for number, node in enumerate(self.nodes):
            (read, *others) = node.reads
            if others or read.node != number - 1 or not isinstance(read.operator, Dense):
                return None
            if not isinstance(node.units, Units):
                return None
            layers.append(Layer(read.operator.weights, node.biases, node.units.activation, node.name))
        return layers

    def stored_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays that define the graph, node by node, by name."""
        arrays: dict[str, NDArray[Any]] = {}
        for number, node in enumerate(self.nodes):
            prefix = f"node_{number}"
            arrays[f"{prefix}_biases"] = node.biases
            arrays.update((f"{prefix}_{name}", array) for name, array in node.units.stored_arrays().items())
            arrays[f"{prefix}_reads"] = np.array([read.node for read in node.reads], dtype=np.int64)
            for index, read in enumerate(node.reads):
                named = read.operator.stored_arrays()
                arrays.update((f"{prefix}_read_{index}_{name}", array) for name, array in named.items())
        return arrays

    @cached_property
    def products(self) -> int:
        """Number of products in one evaluation."""
        return sum(read.operator.multiply_adds for node in self.nodes for read in node.reads)

    @cached_property
    def last_reads(self) -> list[list[int]]:
        """For each node, the indices of the nodes that it reads and no later node does."""
        last = {read.node: number for number, node in enumerate(self.nodes) for read in node.reads}
        return [[read for read, reader in last.items() if reader == number] for number in range(len(self.nodes))]

    @cached_property
    def kink_nodes(self) -> Integers:
        """Hidden node, from 0, of each pattern bit, int64 [kinks]."""
        return np.repeat(np.arange(len(self.hidden), dtype=np.int64), [node.units.kinks for node in self.hidden])

    @cached_property
    def kink_units(self) -> Integers:
        """Unit, within its node, of each pattern bit, int64 [kinks]."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(node.units.kink_units for node in self.hidden)])

    @cached_property
    def kink_values(self) -> Floats:
        """Breakpoint of each pattern bit, float64 [kinks]; 0 where two branches are compared."""
        return np.concatenate([np.zeros(0), *(node.units.kink_values for node in self.hidden)])

    @cached_property
    def kink_rows(self) -> Integers:
        """Row, within its node, of each pattern bit, and the row subtracted from it, or -1: int64 [kinks, 2]."""
        return np.concatenate([np.zeros((0, 2), dtype=np.int64), *(node.units.kink_rows for node in self.hidden)])

    @cached_property
    def kink_biases(self) -> Floats:
        """Bias of the compared form at each pattern bit, float64 [kinks]."""
        return np.concatenate([np.zeros(0), *(node.units.compared(node.biases) for node in self.hidden)])

    def binding(self, bits: NDArray[Any]) -> NDArray[np.bool_]:
        """Return the kinks whose side is determined by the bits [.., kinks] of patterns: [.., kinks]."""
        each = [node.units.binding(pieces) for node, pieces in self.pieces(bits)]
        return np.concatenate([np.ones((*bits.shape[:-1], 0), dtype=bool), *each], axis=-1)

    def bits(self, packed: Packed) -> Packed:
        """Unpack patterns uint8 [.., bytes] to bits [.., kinks]."""
        return np.unpackbits(packed, axis=-1, count=self.kinks, bitorder="little")

    def pieces(self, bits: NDArray[Any]) -> Iterator[tuple[Node, Indices]]:
        """Yield each hidden node, and the pieces [.., units] of its units under patterns with bits [.., kinks]."""
        for node in self.hidden:
            yield node, node.units.pieces_of(bits[..., node.kinks])
