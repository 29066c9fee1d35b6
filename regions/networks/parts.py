# SPDX-License-Identifier: MIT
"""Which graphs are derived from another graph?

- a graph that ends earlier;
- a graph with some of the outputs, forms of them, or the largest of them;
- a graph with units that compare outputs;
- two graphs side by side, or one after the other;
- a graph in which an extra node hands the inputs on, so that no node reads both inputs and nodes.

Nodes are shared, not copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from regions.errors import NetworkError
from regions.ground.arithmetic.arguments import integer, shown
from regions.ground.arithmetic.types import Floats
from regions.ground.text.printable import printable
from regions.networks.activation import Activation
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Operator, Read, Units
from regions.networks.maxima import Maxima
from regions.networks.named_activations import identity
from regions.networks.patches import Patches

__all__ = [
    "comparing",
    "ending",
    "in_chart",
    "in_sequence",
    "number_of",
    "pairs_of",
    "side_by_side",
    "signing",
    "with_affine_inputs",
    "with_forms",
    "with_inputs_apart",
    "with_largest",
    "with_outputs",
]


def ending(graph: Graph, depth: int, sources: Sequence[int]) -> Graph:
    """Return the first ``depth`` hidden nodes; the outputs are units of the last, or 0 where a source is -1."""
    kept, numbers = graph.nodes[:depth], np.asarray(sources)
    selection = Patches.selection(kept[-1].units.count, numbers)
    operator = Dense(selection.weights) if isinstance(kept[-1].reads[0].operator, Dense) else selection
    units, end = Units(len(numbers), identity()), kept[-1].kinks.stop
    last = Node(np.zeros(len(numbers)), (Read(operator, depth - 1),), units, slice(end, end), "readout")
    return Graph(graph.n_in, [*kept, last])


def number_of(graph: Graph, node: int | str) -> int:
    """Return the index of a hidden node, given its index or name."""
    names = [each.name for each in graph.hidden]
    if not names:
        raise NetworkError("node: this network is affine and has no hidden node to end with")
    if not isinstance(node, str):
        return integer(node, "node", least=0, most=len(names) - 1)
    if names.count(node) != 1:
        raise ValueError(
            f"node: {names.count(node)} hidden nodes are called {printable(node)!r}; there are {shown(names)}"
        )
    return names.index(node)


def with_outputs(graph: Graph, chosen: NDArray[np.integer]) -> Graph:
    """Return the graph with some of its outputs, in the order given."""
    last = graph.nodes[-1]
    reads = tuple(Read(_rows(read.operator, chosen), read.node) for read in last.reads)
    node = replace(last, biases=last.biases[chosen], reads=reads, units=Units(len(chosen), identity()))
    return Graph(graph.n_in, [*graph.hidden, node])


def with_forms(graph: Graph, forms: Floats, constants: Floats | None = None, of_inputs: Floats | None = None) -> Graph:
    """The graph whose outputs are forms of the outputs of another one: coefficients [m, n_out], constants [m] or 0.

    Forms may read the inputs too, with coefficients ``of_inputs`` [m, n_in].
    """
    reads = [Read(Dense(forms), len(graph.hidden))]
    if of_inputs is not None and of_inputs.any():
        reads.append(Read(Dense(of_inputs), -1))
    end = graph.nodes[-1].kinks.stop
    biases = np.zeros(len(forms)) if constants is None else constants
    node = Node(biases, tuple(reads), Units(len(forms), identity()), slice(end, end), "forms")
    return with_inputs_apart(Graph(graph.n_in, [*graph.nodes, node]))


def side_by_side(first: Graph, second: Graph, of_first: Floats, of_second: Floats) -> Graph:
    """Return the graph of two networks, whose outputs are forms of the first plus forms of the second: [m, n_out]."""
    nodes = _with_all_nodes(first, second, -1)
    both = Read(Dense(of_first), len(first.nodes) - 1), Read(Dense(of_second), len(nodes) - 1)
    size, end = len(of_first), nodes[-1].kinks.stop
    nodes.append(Node(np.zeros(size), both, Units(size, identity()), slice(end, end), "both"))
    return Graph(first.n_in, nodes)


def in_sequence(first: Graph, second: Graph) -> Graph:
    """Return the graph of ``second(first(x))``: outputs of the first become a node, and no weights are multiplied."""
    return Graph(first.n_in, _with_all_nodes(first, second, len(first.nodes) - 1))


def _with_all_nodes(first: Graph, second: Graph, inputs: int) -> list[Node]:
    """Return the nodes of both graphs; in the second one, this node of the first replaces the inputs."""
    count, kinks = len(first.nodes), first.nodes[-1].kinks.stop
    nodes = list(first.nodes)
    for node in second.nodes:
        reads = tuple(Read(read.operator, read.node + count if read.node >= 0 else inputs) for read in node.reads)
        nodes.append(replace(node, reads=reads, kinks=slice(node.kinks.start + kinks, node.kinks.stop + kinks)))
    return nodes


def with_largest(graph: Graph, sizes: Sequence[int], factor: float) -> Graph:
    """Return the graph with a maximum for each group of consecutive outputs, of these sizes, all times a factor."""
    last, units = graph.nodes[-1], Maxima.of_sizes(sizes)
    kinks = slice(last.kinks.stop, last.kinks.stop + units.kinks)
    read = Read(Dense(factor * np.eye(graph.n_out)), len(graph.hidden))
    nodes = [*graph.nodes, Node(np.zeros(graph.n_out), (read,), units, kinks, "largest")]
    return ending(Graph(graph.n_in, nodes), len(nodes), range(units.count))


def pairs_of(outputs: int) -> NDArray[np.int64]:
    """Return all pairs (i, j) of outputs with j < i: int64 [pairs, 2]."""
    return np.array([(i, j) for i in range(outputs) for j in range(i)], dtype=np.int64).reshape(-1, 2)


def comparing(graph: Graph, pairs: NDArray[np.int64]) -> Graph:
    """Return the graph with one more hidden node, of a unit for each of these pairs of outputs.

    The unit of (i, j) has output i minus output j, and a kink where that is 0. The only output is 0.
    """
    differences = np.zeros((len(pairs), graph.n_out))
    differences[np.arange(len(pairs)), pairs[:, 0]], differences[np.arange(len(pairs)), pairs[:, 1]] = 1.0, -1.0
    compared = signing(with_forms(graph, differences))
    return ending(compared, len(compared.hidden), [-1])


def signing(graph: Graph, threshold: float = 0.0) -> Graph:
    """Return the graph in which each output has a kink where it equals a threshold. The outputs are the same."""
    last = graph.nodes[-1]
    units = Units(graph.n_out, Activation("threshold", np.array([threshold]), np.ones(2), np.zeros(2)))
    kinks = slice(last.kinks.stop, last.kinks.stop + units.kinks)
    nodes = [*graph.hidden, replace(last, units=units, kinks=kinks, name="comparisons")]
    return ending(Graph(graph.n_in, nodes), len(nodes), range(graph.n_out))


def with_inputs_apart(graph: Graph) -> Graph:
    """Return the graph in which a node that reads the inputs does so once, and reads nothing else.

    If a node reads more, a node of identity units stands for the inputs there.
    """
    if all(len(node.reads) == 1 or all(read.node >= 0 for read in node.reads) for node in graph.nodes):
        return graph
    every = Patches.selection(graph.n_in, np.arange(graph.n_in))
    return with_affine_inputs(graph, every, np.zeros(graph.n_in), lambda node: len(node.reads) > 1)


def with_affine_inputs(graph: Graph, operator: Operator, constants: Floats, reads_it: Callable[[Node], bool]) -> Graph:
    """Return the graph with one more node, which applies an operator to the inputs and adds constants. Nodes for which
    ``reads_it`` is true read this node instead of the inputs.
    """
    units = Units(len(constants), identity())
    nodes = [Node(constants, (Read(operator, -1),), units, slice(0, 0), "inputs")]
    for node in graph.nodes:
        inputs = 0 if reads_it(node) else -1
        reads = (Read(read.operator, read.node + 1 if read.node >= 0 else inputs) for read in node.reads)
        nodes.append(replace(node, reads=tuple(reads)))
    return Graph(graph.n_in, nodes)


def in_chart(graph: Graph, origin: Floats, directions: Floats) -> Graph:
    """Return the graph whose inputs are coordinates p of a chart ``origin + p @ directions``, in one more node.

    No products of weights are formed, so bounds on its values count all rounding.
    """
    operator = Dense(directions.T.copy())
    moved = with_affine_inputs(graph, operator, origin, lambda node: any(read.node < 0 for read in node.reads))
    return Graph(len(directions), moved.nodes)


def _rows(operator: Operator, numbers: NDArray[np.integer]) -> Operator:
    if isinstance(operator, Dense):
        return Dense(operator.weights[numbers])
    return Dense(np.stack([operator.row(number) for number in numbers.tolist()]))
