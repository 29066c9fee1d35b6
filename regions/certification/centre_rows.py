# SPDX-License-Identifier: MIT
"""What are the rows of all nodes at the centres of clusters of vertices, in twice the precision?

This is a forward pass from points inside a domain, each under a given pattern, which need not be the pattern at the
point: rows are values of the affine forms under that pattern. Values are unevaluated sums of two doubles
(`doubled_rows.py`), and errors pass through the magnitudes of the weights, with u^2 in place of u = 2^-53.
Cost: one forward pass in twice the precision for each centre, a few hundred vertices each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.arithmetic.types import Floats, Indices, Packed
from regions.certification.doubled_rows import ROUNDING, Pair, SlicedOperator, plus, scaled, sliced_operators
from regions.domains import Domain, Polytope
from regions.networks.graph import Graph, Node, Units
from regions.networks.maxima import Maxima

__all__ = ["CentreRows", "Centres", "restricted_forms"]

TINY = 1e-290
LOOSE = 1 + 2.0**-30
Forms = dict[Node, tuple[Pair, Floats]]


def restricted_forms(graph: Graph, domain: Domain | Polytope) -> Forms:
    """Return the forms in the chart, [1 + d, rows], of the rows of nodes that read the inputs, without biases, and
    bounds on their errors.
    """
    chart, forms = np.vstack([domain.origin, domain.directions]), {}
    for node in graph.nodes:
        for read in node.reads:
            if read.node < 0:  # the only one of this node
                found, error = SlicedOperator(read.operator).apply(Pair(chart, np.zeros_like(chart)))
                forms[node] = found, np.broadcast_to(error, found.high.shape)
    return forms


class Centres(NamedTuple):
    """What is known at some centres, for each hidden node: rows [centres, rows], bounds on their errors [rows], and
    the pieces [centres, units] of the patterns.
    """

    rows: list[Pair]
    errors: list[Floats]
    pieces: list[Indices]


class CentreRows:
    """Rows at points, under given patterns.

    Parameters
    ----------
    graph : Graph
        Nodes that read the inputs read nothing else.
    forms : Forms
        From `restricted_forms`.
    """

    def __init__(self, graph: Graph, forms: Forms) -> None:
        self.graph, self.forms = graph, forms
        self.sliced = sliced_operators(graph.hidden)
        self.magnitudes = {operator: operator.entrywise(np.abs) for operator in self.sliced}

    def at(self, centres: Floats, packed: Packed) -> Centres:
        """Return all rows at some points [centres, d], each under one pattern, uint8 [centres, bytes]."""
        bits = np.unpackbits(packed, axis=1, count=self.graph.kinks, bitorder="little")
        live: dict[int, tuple[Pair, Floats]] = {}
        result = Centres([], [], [])
        for number, node in enumerate(self.graph.hidden):
            units, pieces = node.units, node.units.pieces_of(bits[:, node.kinks])
            total, sizes = Pair(node.biases[np.newaxis], np.zeros((1, 1))), np.abs(node.biases)
            if node in self.forms:
                forms, off = self.forms[node]
                total, sizes = plus(total, Pair(forms.high[:1], forms.low[:1])), sizes + np.abs(forms.high[0])
                most = np.abs(centres).max(axis=0)
                for axis in range(centres.shape[1]):
                    row = Pair(forms.high[axis + 1], forms.low[axis + 1])
                    total = plus(total, scaled(row, centres[:, axis : axis + 1]))
                    sizes = sizes + np.abs(row.high) * most[axis]
                errors = off[0] + most @ off[1:]
            else:
                errors = np.zeros(len(node.biases))
                for read in node.reads:
                    values, before = live[read.node]
                    product, error = self.sliced[read.operator].apply(values)
                    total = plus(total, product)
                    carried = self.magnitudes[read.operator].apply(np.stack([np.abs(values.high).max(axis=0), before]))
                    sizes, errors = sizes + carried[0], errors + carried[1] + error
            errors = (errors + (2 * len(node.reads) + 16) * ROUNDING * sizes) * LOOSE + TINY
            result.rows.append(total)
            result.errors.append(errors)
            result.pieces.append(pieces)
            live[number] = _on_pieces(units, total, errors, pieces)
            for old in self.graph.last_reads[number]:
                live.pop(old, None)
        return result


def _on_pieces(units: Units | Maxima, rows: Pair, errors: Floats, pieces: Indices) -> tuple[Pair, Floats]:
    """Outputs [m, units] from rows, in doubled precision, on pieces [m, units], and bounds on their errors."""
    if isinstance(units, Maxima):
        carried = np.maximum.reduceat(errors, units.starts[:-1])
        return Pair(units.followed(rows.high, pieces), units.followed(rows.low, pieces)), carried
    slopes, intercepts = units.on_pieces(pieces)
    values = scaled(rows, slopes) if units.scaling else Pair(rows.high * slopes, rows.low * slopes)
    sizes = np.abs(values.high)
    if units.shifting:
        values, sizes = plus(values, Pair(intercepts, np.zeros(1))), sizes + np.abs(intercepts)
    carried = np.abs(slopes).max(axis=0) * errors
    if units.scaling or units.shifting:
        carried = carried + 4 * ROUNDING * sizes.max(axis=0) + TINY
    return values, carried * LOOSE
