# SPDX-License-Identifier: MIT
"""Which graphs are parts of another?

One that ends earlier, one with some of the outputs, and one in which units compare them. Nodes are shared, not copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Operator, Read, Units
from regions.networks.named_activations import identity, leaky_relu
from regions.networks.patches import Patches

__all__ = ["comparing", "ending", "with_outputs"]


def ending(graph: Graph, depth: int, sources: Sequence[int]) -> Graph:
    """The first ``depth`` hidden nodes; the outputs are units of the last of them, or 0 where a source is -1."""
    kept, numbers = graph.nodes[:depth], np.asarray(sources)
    selection = Patches.selection(kept[-1].units.count, numbers)
    operator = Dense(selection.weights) if isinstance(kept[-1].reads[0].operator, Dense) else selection
    units, end = Units(len(numbers), identity()), kept[-1].kinks.stop
    last = Node(np.zeros(len(numbers)), (Read(operator, depth - 1),), units, slice(end, end), "readout")
    return Graph(graph.n_in, [*kept, last])


def with_outputs(graph: Graph, chosen: NDArray[np.integer]) -> Graph:
    """The graph with some of its outputs, in the order given."""
    last = graph.nodes[-1]
    reads = tuple(Read(_rows(read.operator, chosen), read.node) for read in last.reads)
    node = replace(last, biases=last.biases[chosen], reads=reads, units=Units(len(chosen), identity()))
    return Graph(graph.n_in, [*graph.hidden, node])


def comparing(graph: Graph) -> tuple[Graph, NDArray[np.int64]]:
    """The graph with one more hidden node, of a unit for each two outputs, and what each of them compares: [units, 2].

    The unit of (i, j), with j < i, has output i minus output j, and a kink where that is 0.
    """
    pairs = np.array([(i, j) for i in range(graph.n_out) for j in range(i)], dtype=np.int64).reshape(-1, 2)
    differences = np.zeros((len(pairs), graph.n_out))
    differences[np.arange(len(pairs)), pairs[:, 0]], differences[np.arange(len(pairs)), pairs[:, 1]] = 1.0, -1.0
    last, units = graph.nodes[-1], Units(len(pairs), leaky_relu(1.0))
    end = last.kinks.start
    compared = slice(end, end + units.kinks)
    node = Node(np.zeros(len(pairs)), (Read(Dense(differences), len(graph.hidden)),), units, compared, "comparisons")
    read, one = Read(Dense(np.zeros((1, len(pairs)))), len(graph.hidden) + 1), Units(1, identity())
    after = slice(compared.stop, compared.stop)
    return Graph(graph.n_in, [*graph.nodes, node, Node(np.zeros(1), (read,), one, after, "nothing")]), pairs


def _rows(operator: Operator, numbers: NDArray[np.integer]) -> Operator:
    if isinstance(operator, Dense):
        return Dense(operator.weights[numbers])
    return Dense(np.stack([operator.row(number) for number in numbers.tolist()]))
