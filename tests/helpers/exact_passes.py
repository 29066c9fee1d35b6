# SPDX-License-Identifier: MIT
"""What are the outputs of a graph at a chart point, and the forms of its kinks under a pattern, in fractions?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from regions import Domain
from regions.networks.graph import Graph
from regions.networks.network import Network
from regions.passes.exact import ExactForms

__all__ = ["exact_outputs", "exact_values"]

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


def exact_values(net: Network, domain: Domain, bits: np.ndarray, point: np.ndarray) -> list[Fraction]:
    """Return the exact value of each kink's form at a chart point, under a pattern."""
    forms, values = ExactForms(net.graph, domain), list[Fraction]()
    forms.enter(bits)
    place = [Fraction(1), *map(Fraction, point.tolist())]
    for number, node in enumerate(net.graph.hidden):
        rows = forms.preactivations(number)
        scale = Fraction(2) ** rows.exponent
        exact = [
            sum((int(a) * x for a, x in zip(column, place, strict=True)), Fraction(0)) * scale
            for column in rows.integers.T
        ]
        compared = [exact[a] - (exact[b] if b >= 0 else 0) for a, b in node.units.kink_rows.tolist()]
        values += [a - Fraction(b) for a, b in zip(compared, node.units.kink_values.tolist(), strict=True)]
    return values
