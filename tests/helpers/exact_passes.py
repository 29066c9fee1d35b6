# SPDX-License-Identifier: MIT
"""What are the outputs of a graph at a chart point, in fractions?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from regions import Domain
from regions.networks.graph import Graph

__all__ = ["exact_outputs"]

fractions = np.frompyfunc(Fraction, 1, 1)


def exact_outputs(graph: Graph, domain: Domain, vertex: tuple[Fraction, ...]) -> list[Fraction]:
    """The outputs at a chart point: a forward pass in fractions."""
    steps = zip(vertex, fractions(domain.directions), strict=True)
    known = {-1: fractions(domain.origin) + sum((x * direction for x, direction in steps), Fraction(0))}
    for number, node in enumerate(graph.nodes):
        rows = fractions(node.biases)
        for read in node.reads:
            rows = rows + fractions(read.operator.weights) @ known[read.node]
        pieces = node.units.pieces_at(rows)
        slopes, intercepts = (fractions(each) for each in node.units.on_pieces(pieces))
        known[number] = slopes * node.units.followed(rows, pieces) + intercepts
    return known[len(graph.nodes) - 1].tolist()
