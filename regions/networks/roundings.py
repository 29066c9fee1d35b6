# SPDX-License-Identifier: MIT
"""How large is the rounding error of a network's outputs, if roundings are independent?

It is estimated from the terms of each sum, not from the result: where terms cancel, only rounding is left. Squared
errors are passed from node to node, as variances of independent errors, so that the estimate stays far
below the values even in deep networks. It is not a bound: `regions/passes/bounded.py` has bounds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regions.ground.arithmetic.types import Floats, Indices
from regions.networks.graph import Graph, Node
from regions.networks.walk import preactivations

__all__ = ["rounding_variances"]

# The variance of the rounding of one operation, relative to the square of its result.
UNIT = np.finfo(float).eps ** 2


def rounding_variances(graph: Graph, points: Floats) -> Floats:
    """Return the variances [m, n_out] of the rounding errors of the outputs at points [m, n_in]."""
    inputs = points, np.zeros_like(points)
    found = preactivations(graph, _Roundings(), inputs, lambda node, before: node.units.pieces_at(before[0]))
    *_, (_, variances) = found
    return variances


class _Roundings:
    """Values [m, rows], and the variances of their errors; after the units, [m, units]."""

    def preactivations(self, node: Node, sources: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
        values, squared, carried = node.biases, node.biases**2, np.zeros(node.units.rows)
        for read, (given, variances) in zip(node.reads, sources, strict=True):
            squares = read.operator.entrywise(np.square)
            values = read.operator.apply(given) + values
            squared = squares.apply(given**2) + squared
            carried = squares.apply(variances) + carried
        return values, carried + (node.terms - 1) * UNIT * squared

    def outputs(self, node: Node, before: tuple[Floats, Floats], pieces: Indices) -> tuple[Floats, Floats]:
        slopes, intercepts = node.units.on_pieces(pieces)
        values, variances = (node.units.followed(each, pieces) for each in before)
        return slopes * values + intercepts, variances * np.max(np.abs(node.units.tables().slopes)) ** 2
