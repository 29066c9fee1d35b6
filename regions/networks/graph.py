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

from regions.errors import NetworkError, ShapeMismatchError
from regions.ground.arithmetic.arrays import require_finite
from regions.ground.arithmetic.types import Floats, Indices, Integers, Packed
from regions.ground.text.printable import printable
from regions.networks.dense import Dense
from regions.networks.layer import Layer, layer_of_operator
from regions.networks.maxima import Maxima
from regions.networks.named_activations import identity
from regions.networks.patches import Patches
from regions.networks.units import Units, entries

__all__ = ["Graph", "Maxima", "Node", "Operator", "Read", "Units", "entries", "require_sound", "switched_kinks"]

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
            layers.append(layer_of_operator(read.operator, node.biases, node.units.activation, node.name))
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
    def first_skip(self) -> tuple[int, int]:
        """The first hidden node that does not read only the node before, and the first other one that it reads.

        -1 stands for the inputs. Without skips it is the number of hidden nodes, and -1.
        """
        for number, node in enumerate(self.hidden):
            others = {read.node for read in node.reads} - {number - 1}
            if others:
                return number, min(others)
        return len(self.hidden), -1

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


def require_sound(graph: Graph) -> None:
    """Refuse numbers that are not finite, nodes that do not fit together, and a last node with an activation."""
    for number, node in enumerate(graph.nodes):
        label = f"node {number} ({printable(node.name)})"
        require_finite(node.biases, f"{label}: a bias")
        for read in node.reads:
            if not -1 <= read.node < number:
                raise NetworkError(f"{label} reads node {read.node}, which does not come before it")
            given = graph.n_in if read.node < 0 else graph.nodes[read.node].units.count
            if (read.operator.inputs, read.operator.outputs) != (given, node.units.rows):
                raise ShapeMismatchError(
                    f"{label}: an operator takes {read.operator.inputs} values and gives {read.operator.outputs}; node "
                    f"{read.node} gives {given}, and there are {node.units.rows} rows"
                )
            for array in read.operator.stored_arrays().values():
                if array.dtype.kind not in "iu":
                    require_finite(array, f"{label}: a weight")
        if node.biases.shape != (node.units.rows,):
            raise ShapeMismatchError(
                f"{label}: there are {node.units.rows} rows, and biases of shape {list(node.biases.shape)}"
            )
    last = graph.nodes[-1].units
    if not isinstance(last, Units) or last.activation != identity():
        raise NetworkError("the last node must be linear: append one with the identity as its activation")


def switched_kinks(graph: Graph, places: Integers, bits: Integers) -> tuple[Integers, Integers]:
    """Return which kinks switch, given the bits of patterns that change.

    For units with breakpoints, each changed bit is a kink. When the argmax of a maximum changes, several bits change:
    (i, b) for all i before the new argmax b, and (i, a) for all i before the old argmax a. They are one kink, the pair
    (a, b).

    Parameters
    ----------
    graph : Graph
    places, bits : int64 [m]
        Pairs of a position and a bit that changes there. Positions ascend, and so do the bits of each position.

    Returns
    -------
    places, kinks : int64 [n]
        In the same order.
    """
    pairs = np.flatnonzero(graph.kink_rows[bits, 1] >= 0)
    if not pairs.size:
        return places, bits
    later, earlier = graph.kink_rows[bits[pairs]].T
    # The bits of one unit at one position are consecutive.
    units = np.stack([places[pairs], graph.kink_nodes[bits[pairs]], graph.kink_units[bits[pairs]]])
    begins = np.flatnonzero(np.append(True, (units[:, 1:] != units[:, :-1]).any(axis=0)))
    group = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(pairs))))
    one = np.maximum.reduceat(later, begins)
    # The other argmax: the later branch of a remaining bit, or branch 0, which precedes every argmax.
    rest = np.where(later < one[group], later, -1)
    other = np.maximum(np.maximum.reduceat(rest, begins), np.minimum.reduceat(earlier, begins))
    kept = np.ones(len(bits), dtype=bool)
    kept[pairs] = (later == one[group]) & (earlier == other[group])
    return places[kept], bits[kept]
