# SPDX-License-Identifier: MIT
"""What does the core read of a network?

A chain of layers: flat arrays for each hidden node, in which every unit has breakpoints, slopes and intercepts of its
own. Arrays of weights are those of the graph, not copies.
"""

from __future__ import annotations

from regions.arithmetic.types import Floats
from regions.networks.graph import Graph

__all__ = ["DEEP", "lowered"]

# From so many hidden nodes on, good bounds on the spectral norms are worth their time; until then crude ones do.
DEEP = 5


def lowered(graph: Graph) -> list[tuple[Floats, Floats, Floats, Floats, Floats, float]]:
    """Weights [units, inputs], biases [units], breakpoints [units, k], slopes and intercepts [units, k + 1] of each
    hidden node, and an upper bound on the spectral norm of its weights."""
    layers = []
    for node in graph.hidden:
        (read,) = node.reads
        norm = read.operator.norm_bound if len(graph.hidden) >= DEEP else float("inf")
        layers.append((read.operator.weights, node.biases, *node.units.tables(), norm))
    return layers
