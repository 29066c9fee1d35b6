# SPDX-License-Identifier: MIT
"""What is a network, as that which its values travel through?

Nodes in topological order. What each unit of a node gets, its pre-activation, is its bias plus a sum of *reads*; a read
is a linear operator applied to all outputs of one node, or to all inputs. Operators leave out and reorder by
themselves, so that skips, slices and joints are reads like others. What each unit gives is a piecewise-linear function
of one variable of that, a function of its own. The last node has the outputs of the network; its units give what they
get.
Invariant: a node reads nodes that come before it; in a network's graph, one that reads the inputs reads nothing else. A
chain of layers is the simplest case, in which each node reads the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.types import Bits, Floats, Indices, Integers, Packed
from regions.networks.activation import Activation
from regions.networks.dense import Dense
from regions.networks.layer import Layer
from regions.networks.patches import Patches

__all__ = ["Graph", "Node", "Operator", "Read", "Units", "entries"]

Operator = Dense | Patches


@dataclass(frozen=True, eq=False)
class Read:
    """A linear operator and what it is applied to.

    Parameters
    ----------
    operator : Operator
        It takes all outputs of the node.
    node : int
        Its number in `Graph.nodes`; -1 for the inputs of the network.
    """

    operator: Operator
    node: int


class UnitTables(NamedTuple):
    """Breakpoints of units, float64 [units, k], and slopes and intercepts of their pieces, [units, k + 1]."""

    breakpoints: Floats
    slopes: Floats
    intercepts: Floats


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a node, each a piecewise-linear function of one variable.

    Parameters
    ----------
    count : int
    activation : Activation
        A kind of units: breakpoints, slopes and intercepts, each for all units or, with an axis more, for each of them.
    """

    count: int
    activation: Activation

    @cached_property
    def kinks(self) -> int:
        """Breakpoints, summed over units."""
        return self.count * self.each

    @property
    def each(self) -> int:
        """Breakpoints of each unit."""
        return int(self.activation.breakpoints.shape[-1])

    @cached_property
    def kink_units(self) -> Integers:
        """Unit of each kink, int64 [kinks]: unit by unit, breakpoint ascending."""
        return self.at_kinks(np.arange(self.count, dtype=np.int64))

    @cached_property
    def kink_values(self) -> Floats:
        """Breakpoint of each kink, float64 [kinks]."""
        return self.tables().breakpoints.ravel()

    def at_kinks(self, values: NDArray[Any]) -> NDArray[Any]:
        """What each unit has, [.., units], for each of its kinks, [.., kinks]."""
        return values if self.each == 1 else np.repeat(values, self.each, axis=-1)

    def above(self, values: Floats) -> Bits:
        """Which kinks values [.., units] are above: bits [.., kinks]."""
        return np.asarray(self.at_kinks(values) > self.kink_values)

    def pieces_at(self, values: Floats) -> Indices:
        """Piece of each unit at values [.., units]."""
        return self.pieces_of(self.above(values))

    def bits_of(self, pieces: Indices) -> Bits:
        """The bits [.., kinks] of units on pieces [.., units]."""
        return np.asarray(self.at_kinks(pieces) > np.tile(np.arange(self.each), self.count))

    def pieces_of(self, bits: NDArray[Any]) -> Indices:
        """Piece of each unit, integers [.., units], by bits [.., kinks]: how many of its breakpoints it is above."""
        if self.each == 1:
            return bits.astype(np.uint8, copy=False)
        pieces = np.zeros((*bits.shape[:-1], self.count), dtype=np.intp)
        for breakpoint_ in range(self.each):
            pieces += bits[..., breakpoint_ :: self.each]
        return pieces

    def on_pieces(self, pieces: Indices) -> tuple[Floats, Floats]:
        """Slopes and intercepts of units on pieces [.., units]."""
        return entries(self.activation.slopes, pieces), entries(self.activation.intercepts, pieces)

    @cached_property
    def scaling(self) -> bool:
        """Whether some slope is another number than -1, 0 and 1, so that products with it are rounded."""
        return not np.isin(self.activation.slopes, (-1.0, 0.0, 1.0)).all()

    def tables(self) -> UnitTables:
        """What each unit is, unit by unit."""
        shapes = ((self.count, self.each), (self.count, self.each + 1), (self.count, self.each + 1))
        given = self.activation.breakpoints, self.activation.slopes, self.activation.intercepts
        return UnitTables(*map(np.broadcast_to, given, shapes))


@dataclass(frozen=True, eq=False)
class Node:
    """Some units, and what they read.

    Parameters
    ----------
    biases : float64 [units]
    reads : tuple of Read
    units : Units
    kinks : slice
        Where the bits of its units are in a pattern.
    name : str
        What messages call it.
    """

    biases: Floats
    reads: tuple[Read, ...]
    units: Units
    kinks: slice
    name: str = "node"

    @cached_property
    def terms(self) -> int:
        """How many numbers a unit adds up, with its bias."""
        return sum(read.operator.inputs for read in self.reads) + 1


class Graph:
    """Nodes in topological order.

    Parameters
    ----------
    n_in : int
    nodes : iterable of Node

    Attributes
    ----------
    hidden : tuple of Node
        All but the last one, which has the outputs.
    """

    def __init__(self, n_in: int, nodes: Iterable[Node]) -> None:
        self.n_in, self.nodes = n_in, tuple(nodes)
        self.hidden = self.nodes[:-1]
        self.n_out, self.widths = self.nodes[-1].units.count, tuple(node.units.count for node in self.hidden)
        self.kinks = sum(node.units.kinks for node in self.hidden)

    @classmethod
    def chain(cls, layers: Iterable[Layer]) -> Graph:
        """The graph of a network in which each layer reads the one before it."""
        nodes, first_kink = [], 0
        for number, layer in enumerate(layers):
            units = Units(len(layer.biases), layer.activation)
            kinks = slice(first_kink, first_kink + units.kinks)
            nodes.append(Node(layer.biases, (Read(layer.operator, number - 1),), units, kinks, layer.name))
            first_kink = kinks.stop
        return cls(nodes[0].reads[0].operator.inputs, nodes)

    def layers(self) -> list[Layer] | None:
        """The layers, if each node reads the one before it, and by a dense operator; else None."""
        layers = []
        for number, node in enumerate(self.nodes):
            (read, *others) = node.reads
            if others or read.node != number - 1 or not isinstance(read.operator, Dense):
                return None
            layers.append(Layer(read.operator.weights, node.biases, node.units.activation, node.name))
        return layers

    def stored_arrays(self) -> dict[str, NDArray[Any]]:
        """All that makes the graph, node by node, as arrays by name."""
        arrays: dict[str, NDArray[Any]] = {}
        for number, node in enumerate(self.nodes):
            prefix, activation = f"node_{number}", node.units.activation
            arrays[f"{prefix}_biases"] = node.biases
            for name in ("breakpoints", "slopes", "intercepts"):
                arrays[f"{prefix}_{name}"] = getattr(activation, name)
            arrays[f"{prefix}_reads"] = np.array([read.node for read in node.reads], dtype=np.int64)
            for index, read in enumerate(node.reads):
                named = read.operator.stored_arrays()
                arrays.update((f"{prefix}_read_{index}_{name}", array) for name, array in named.items())
        return arrays

    @cached_property
    def last_reads(self) -> list[list[int]]:
        """For each node the numbers of those that no later node reads."""
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
        """Breakpoint of each pattern bit, float64 [kinks]."""
        return np.concatenate([np.zeros(0), *(node.units.kink_values for node in self.hidden)])

    @cached_property
    def kink_biases(self) -> Floats:
        """Bias of the unit of each pattern bit, float64 [kinks]."""
        return np.concatenate([np.zeros(0), *(node.units.at_kinks(node.biases) for node in self.hidden)])

    def bits(self, packed: Packed) -> Packed:
        """Bits [.., kinks] of patterns uint8 [.., bytes]."""
        return np.unpackbits(packed, axis=-1, count=self.kinks, bitorder="little")

    def pieces(self, bits: NDArray[Any]) -> Iterator[tuple[Node, Indices]]:
        """Each hidden node and the pieces [.., units] that its units are on under patterns, bits [.., kinks]."""
        for node in self.hidden:
            yield node, node.units.pieces_of(bits[..., node.kinks])


def entries(table: Floats, pieces: Indices) -> Floats:
    """The entry for the piece [.., units] of each unit, of a table [pieces] or [units, pieces]."""
    if table.ndim > 1:
        return table[np.arange(len(table)), pieces]
    if (table == table[0]).all():
        return np.broadcast_to(table[0], pieces.shape)
    # Slopes of 0 and 1 are the numbers of their pieces.
    return pieces.astype(np.float64) if (table == np.arange(len(table))).all() else table[pieces]
