# SPDX-License-Identifier: MIT
"""Of which neurons can the sign be flipped, independently of each other?

A flip multiplies the row of a neuron and all columns that read it by -1. If the signs of all neurons are random, the
mean number of regions has an exact meaning (``docs/depth.md``). A flip must not change fixed numbers: the weights of a
skip connection, of a pool or of a convolution. Two numbers that such a weight connects have the same sign, and form a
class with all others that are connected to them.
Invariant: no class has two neurons whose signs are needed, or one of these and an input.
The outputs of a network are on nobody's way to a kink: their signs are not needed, and they are not restored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from regions.errors import NetworkError
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.ground.text.printable import printable
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Maxima, Node, Read
from regions.networks.patches import Patches

__all__ = ["FreeSigns", "free_signs"]


@dataclass(frozen=True)
class FreeSigns:
    """The signs of a graph.

    Attributes
    ----------
    graph : Graph
    count : int
        The number of signs that can be chosen, independently of each other.
    numbers : int64 [units]
        For each input, and each unit of each node, the number of its sign, or -1 if it is always 1.
    """

    graph: Graph
    count: int
    numbers: Integers

    def flipped(self, signs: Floats) -> Graph:
        """Return the graph with these signs, 1 or -1: float64 [count]."""
        chosen = np.append(signs, 1.0)[self.numbers]
        starts = _starts(self.graph)
        sources = {-1: chosen[: self.graph.n_in]}
        nodes = []
        for number, node in enumerate(self.graph.nodes):
            sources[number] = chosen[starts[number] : starts[number] + node.units.count]
            rows = node.units.of_all_rows(sources[number])
            reads = tuple(replace(read, operator=_signed(read, rows, sources[read.node])) for read in node.reads)
            nodes.append(replace(node, biases=rows * node.biases, reads=reads))
        return Graph(self.graph.n_in, nodes)


def free_signs(graph: Graph) -> FreeSigns:
    """Find the signs that can be flipped.

    Raises
    ------
    NetworkError
        An activation other than two slopes that meet at 0, a maximum of more than two branches, or two neurons that
        fixed weights connect. The message names the node.
    """
    for number, node in enumerate(graph.hidden):
        _require_symmetric(node, _name(graph, number))
    starts, needed = _starts(graph), _needed(graph)
    classes = _classes(graph, starts)
    is_input = np.arange(len(classes)) < graph.n_in
    _require_free(graph, starts, classes, needed, is_input)
    own = np.full(int(classes.max()) + 1, -1)
    own[classes[needed]] = np.arange(int(needed.sum()))
    return FreeSigns(graph, int(needed.sum()), own[classes])


def _signed(read: Read, rows: Floats, sources: Floats) -> Dense | Patches:
    """Return the operator with these signs of its rows and columns; patches connect equal signs only."""
    if isinstance(read.operator, Patches):
        return read.operator
    return Dense(rows[:, np.newaxis] * read.operator.weights * sources)


def _require_symmetric(node: Node, name: str) -> None:
    units = node.units
    if isinstance(units, Maxima):
        if units.sizes.max() > 2:
            raise NetworkError(
                f"{name}: a maximum of {units.sizes.max()} branches has no sign; two branches are handled"
            )
        return
    if (units.activation.breakpoints != 0.0).any() or units.each > 1 or units.shifting:
        raise NetworkError(
            f"{name}: {printable(units.name)} has no sign; activations are handled that have two slopes and a kink at "
            "0, such as ReLU, leaky ReLU and abs"
        )


def _starts(graph: Graph) -> Integers:
    """Return the index of the first unit of each node among all units, the inputs first."""
    return np.cumsum([graph.n_in, *(node.units.count for node in graph.nodes)])


def _needed(graph: Graph) -> Bits:
    """Return which units have kinks, and are read on the way to other kinks: bool [units]."""
    read = np.zeros(len(graph.nodes), dtype=bool)
    for number in reversed(range(len(graph.hidden))):
        if read[number] or graph.nodes[number].units.kinks:
            read[[each.node for each in graph.nodes[number].reads if each.node >= 0]] = True
    counts = [graph.n_in, *(node.units.count for node in graph.nodes)]
    has_kinks = [np.zeros(graph.n_in, dtype=bool), *(_with_kinks(node) for node in graph.nodes)]
    return np.concatenate(has_kinks) & np.repeat(np.append(False, read), counts)


def _with_kinks(node: Node) -> Bits:
    found = np.zeros(node.units.count, dtype=bool)
    found[node.units.kink_units] = True
    return found


def _classes(graph: Graph, starts: Integers) -> Integers:
    """Return the class of each unit: int64 [units]. Fixed weights other than 0 connect units of one class."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = [np.zeros((2, 0), dtype=np.int64), *_fixed(graph, starts)]
    one, other = np.concatenate(edges, axis=1)
    size = int(starts[-1])
    links = coo_array((np.ones(len(one), dtype=np.int8), (one, other)), shape=(size, size))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)


def _fixed(graph: Graph, starts: Integers) -> Iterator[Integers]:
    """Yield pairs of units that are connected: int64 [2, pairs]."""
    for number, node in enumerate(graph.nodes):
        unit_of_row = node.units.of_all_rows(np.arange(node.units.count))
        for read in node.reads:
            if not isinstance(read.operator, Patches):
                continue
            patches, rows, terms = np.nonzero(read.operator.kernels[read.operator.kinds])
            sources = read.operator.sources[patches, terms].astype(np.int64)
            targets = unit_of_row[read.operator.targets[patches, rows]] + starts[number]
            first = starts[read.node] if read.node >= 0 else 0
            yield np.stack([targets, sources + first])[:, sources >= 0]


def _require_free(graph: Graph, starts: Integers, classes: Integers, needed: Bits, is_input: Bits) -> None:
    """Refuse a class with two of the needed units, or with one of them and an input."""
    taken = np.full(int(classes.max()) + 1, -1)
    taken[classes[is_input]] = 0
    for unit in np.flatnonzero(needed):
        other = int(taken[classes[unit]])
        if other >= 0:
            known = "the inputs" if is_input[other] else _name(graph, _node_of(starts, other))
            raise NetworkError(
                f"{_name(graph, _node_of(starts, int(unit)))}: its neurons have no signs of their own, because weights "
                f"that are fixed or shared connect them with {known}, as in convolutions, pools, and skip connections "
                "without a matrix"
            )
        taken[classes[unit]] = unit


def _node_of(starts: Integers, unit: int) -> int:
    return int(np.searchsorted(starts, unit, side="right")) - 1


def _name(graph: Graph, number: int) -> str:
    return f"node {number} ({printable(graph.nodes[number].name)})"
