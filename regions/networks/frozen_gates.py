# SPDX-License-Identifier: MIT
"""What is a network whose gates are fixed, and not decided by the input?

Each unit follows one of its two pieces everywhere, so that all values are affine functions of the input. The kinks are
where they were: at the zeros of these functions, which are hyperplanes.
Invariant: no weight is multiplied or rounded, so that hyperplanes that coincide, or meet at infinity, still do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from regions.networks.activation import Activation
from regions.networks.graph import Graph, Maxima, Node, Read, Units, entries
from regions.networks.named_activations import identity

__all__ = ["frozen_graph"]


def frozen_graph(graph: Graph, coins: np.random.Generator) -> Graph:
    """Return the graph in which each unit with a kink follows one of its two pieces everywhere, at random.

    Activations must have no intercepts, and maxima at most two branches.
    """
    nodes: list[Node] = []
    place = {-1: -1}
    for number, node in enumerate(graph.nodes):
        reads = tuple(replace(read, node=place[read.node]) for read in node.reads)
        nodes += _frozen_nodes(replace(node, reads=reads), coins)
        place[number] = len(nodes) - 1
    return Graph(graph.n_in, nodes)


def _frozen_nodes(node: Node, coins: np.random.Generator) -> list[Node]:
    """Return nodes with the same kinks; the units of the last one follow pieces that are chosen at random."""
    if not node.units.kinks:
        return [node]
    gates = coins.integers(0, 2, node.units.count)
    if isinstance(node.units, Maxima):
        rows = node.units.starts[:-1] + gates * (node.units.sizes > 1)
        reads = tuple(Read(read.operator.part(rows, slice(None)), read.node) for read in node.reads)
        end = node.kinks.stop
        return [node, Node(node.biases[rows], reads, Units(len(rows), identity()), slice(end, end), node.name)]
    slopes = np.repeat(entries(node.units.activation.slopes, gates)[:, np.newaxis], 2, axis=1)
    straight = Activation("frozen", np.zeros(1), slopes, np.zeros_like(slopes))
    return [replace(node, units=Units(node.units.count, straight))]
