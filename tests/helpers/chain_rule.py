# SPDX-License-Identifier: MIT
"""What is the gradient of an output with respect to the inputs, under a pattern, in fractions?"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions import Network
from regions.networks.graph import Graph, Read
from regions.networks.walk import asked

__all__ = ["exact_gradient", "fractions"]

fractions = np.frompyfunc(Fraction, 1, 1)


class _ChainRule:
    """Gradients of one output in fractions, [units]."""

    def __init__(self, graph: Graph, bits: NDArray[np.bool_]) -> None:
        self.graph, self.bits = graph, bits

    def of_units(self, number: int, gradient: NDArray[Any]) -> NDArray[Any]:
        node = self.graph.nodes[number]
        pieces = node.units.pieces_of(self.bits[node.kinks])
        slopes, _ = node.units.on_pieces(pieces)
        return node.units.asked_of_rows(gradient * fractions(slopes), pieces)

    def of_sources(self, read: Read, gradient: NDArray[Any]) -> NDArray[Any]:
        return gradient @ fractions(read.operator.weights)


def exact_gradient(network: Network, bits: NDArray[np.bool_], output: int) -> list[Fraction]:
    """Return the gradient of an output with respect to the inputs, under a pattern."""
    graph = network.graph
    one = fractions((np.arange(graph.n_out) == output).astype(np.float64))
    *_, (_, gradient) = asked(graph, _ChainRule(graph, bits), len(graph.hidden), one)
    return gradient.tolist()
