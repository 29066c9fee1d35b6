# SPDX-License-Identifier: MIT
"""On which side of every kink are the vertices of a partition, up to proven bounds?

This is one forward pass from the stored vertices, in blocks whose vertices share their bounds. A unit is on the piece
of a given pattern, that of a region at the vertex. A vertex has *room* r if the pattern is right for all kinks, except
the two that are named there, everywhere within r of the stored point. Then the values are those of the affine forms
under the pattern of any region at the vertex that differs in the named kinks only, up to the bounds: a named unit can
be on the other side of its kink, and its distance from there, times the change of its slope, is charged. Bounds grow
linearly with r, so they have two parts: for r = 0, and for each unit of r.

The bounds. With u = 2^-53 an inner product of n terms, in any order, with or without fused multiply-add, is within
n u / (1 - n u) times the sum of magnitudes of its terms (Higham, Accuracy and Stability of Numerical Algorithms,
section 3.1). Errors of what a node reads pass through it in two ways, and the smaller bound counts: unit by unit
through the magnitudes of the weights, or as the length of the vector of errors, through a bound on the spectral norm.
The bounds are themselves computed in floating point, and factors of 1 + 2^-30 and more cover that.
Cost: one forward pass for each vertex, and one with magnitudes for each block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.arithmetic.types import Bits, Floats, Integers
from regions.domains import Domain
from regions.networks.graph import Graph, Node, Operator

__all__ = ["Block", "VertexValues"]

TINY = 1e-290
LOOSE = 1 + 2.0**-30
# Squarings of a Gram matrix: the bound is then within 12% of the spectral norm for a thousand inputs.
SQUARINGS = 5
# Networks with more nodes need it: errors pass through magnitudes of weights with a factor for each layer.
DEEP = 2
# Operators with more entries, as matrices, are not made into matrices.
LARGE = 1 << 22


class Block(NamedTuple):
    """Values at the vertices of a block.

    Attributes
    ----------
    values : float64 [m, kinks]
        The form of each kink, which is 0 at the kink.
    bounds : float64 [kinks]
        On their errors, at the stored points, but for a factor of 1 + 2^-52 on the values.
    room : float64 [m]
        Negative if a sign is open at the stored point.
    """

    values: Floats
    bounds: Floats
    room: Floats


class _Known(NamedTuple):
    """Outputs of a node [m, units], the largest magnitude of each, bounds on the errors, and on their length.

    Bounds are at the stored points, and for each unit of distance from there: [2, units] and [2]. The errors of named
    units can be larger, by ``named`` [2] in all for each vertex.
    """

    values: Floats
    magnitudes: Floats
    errors: Floats
    lengths: Floats
    named: Floats


class _Norms(NamedTuple):
    """An operator with the magnitudes of its weights, and bounds on norms."""

    magnitudes: Operator
    rows: Floats  # lengths of rows
    largest: Floats  # largest magnitude in each row
    spectral: float


class VertexValues:
    """Values of all kinks at vertices.

    Parameters
    ----------
    graph : Graph
        Without maxima; nodes that read the inputs read nothing else.
    domain : Domain
        Only its chart is used.
    precision : type, optional
        `numpy.longdouble` for more precise values, in a hundred times the time.
    """

    def __init__(self, graph: Graph, domain: Domain, precision: type = np.float64) -> None:
        self.graph, self.precision = graph, precision
        self.unit = float(np.finfo(precision).eps) / 2
        chart = np.vstack([domain.origin, domain.directions])
        self.first: dict[Node, tuple[Floats, Floats]] = {}
        self.norms: dict[Operator, _Norms] = {}
        for node in graph.nodes:
            for read in node.reads:
                if read.node < 0:  # the only one of this node
                    self.first[node] = _restricted(read.operator, chart, precision)
                elif read.operator not in self.norms:
                    self.norms[read.operator] = _norms(read.operator, len(graph.nodes) > DEEP)

    def block(self, points: Floats, stated: float, bits: Bits, named: Integers) -> Block:
        """Return the values at some vertices.

        Parameters
        ----------
        points : float64 [m, d]
            Stored coordinates in the chart.
        stated : float
            A distance from the true positions that is usual. It proves nothing: vertices with larger values at named
            kinks are left out, so that others do not pay for them.
        bits : bool [m, kinks]
            A pattern for each vertex.
        named : int64 [m, k]
            Kinks named at each vertex; negative numbers stand for none.
        """
        values, bounds = np.empty(bits.shape), np.empty(bits.shape[1])
        vertices, kinks = np.nonzero(named >= 0)[0], named[named >= 0]
        room = np.full(len(points), np.inf)
        live: dict[int, _Known] = {}
        for number, node in enumerate(self.graph.hidden):
            first, here = node in self.first, node.kinks
            rows, errors, lengths = self._first(node, points) if first else self._next(node, live)
            found = values[:, here]
            found[:] = node.units.compared(rows) - node.units.kink_values
            distances, (allowed, growth) = np.abs(found), node.units.either(errors) * LOOSE
            bounds[here] = allowed
            left = (distances * (1 - 2.0**-50) - allowed) / growth
            left[(found > 0) != bits[:, here]] = -np.inf
            inside = (here.start <= kinks) & (kinks < here.stop)
            who, which = vertices[inside], kinks[inside] - here.start
            left[who, which] = np.inf
            off = distances[who, which]
            # A named kink has to be close to 0, so that little is charged for its unit.
            close = off <= 2 * (allowed + 4 * stated * growth)[which]
            room = np.minimum(room, left.min(axis=1, initial=np.inf))
            room[who[~close]] = -np.inf
            charged = np.stack([np.zeros(len(growth)), growth])
            np.maximum.at(charged[0], which[close], off[close])
            charged[0] += allowed
            live[number] = self._outputs(node, rows, errors, lengths, bits[:, here], charged)
            for old in self.graph.last_reads[number]:
                live.pop(old, None)
        known = np.isfinite(values.sum(axis=1)) & np.isfinite(bounds.sum())
        return Block(values, bounds, np.where(known, room * (1 - 2.0**-30), -np.inf))

    def _first(self, node: Node, points: Floats) -> tuple[Floats, Floats, Floats]:
        """Rows of a node that reads the inputs, bounds on their errors, and on the lengths of these."""
        forms, form_errors = self.first[node]
        rows = points.astype(self.precision) @ forms[1:] + (forms[0] + node.biases)
        sizes, steep = np.abs(points).max(axis=0, initial=0.0), np.abs(forms).astype(np.float64)
        magnitudes = steep[0] + np.abs(node.biases) + sizes @ steep[1:]
        rounded = self._error(len(forms) + 2) * magnitudes + form_errors[0] + sizes @ form_errors[1:]
        errors = np.stack([rounded, (steep[1:] + form_errors[1:]).sum(axis=0)]) * LOOSE + TINY
        return rows, errors, _lengths(errors)

    def _next(self, node: Node, live: dict[int, _Known]) -> tuple[Floats, Floats, Floats]:
        unit = self._error(node.terms)
        rows, rounded = None, np.zeros((2, len(node.biases)))
        rounded[0] = unit * np.abs(node.biases)
        by_unit, by_length, lengths = np.zeros_like(rounded), np.zeros_like(rounded), np.zeros(2)
        for read in node.reads:
            source, norms = live[read.node], self.norms[read.operator]
            product = read.operator.apply(source.values)
            rows = product if rows is None else rows + product
            rounded[0] += norms.magnitudes.apply(2 * unit * source.magnitudes[np.newaxis])[0]
            by_unit += norms.magnitudes.apply(source.errors) + source.named[:, np.newaxis] * norms.largest
            by_length += source.lengths[:, np.newaxis] * norms.rows
            lengths += norms.spectral * source.lengths
        assert rows is not None
        rows += node.biases
        errors = (np.minimum(by_unit, by_length) + rounded) * LOOSE + TINY
        return rows, errors, np.minimum(_lengths(errors), (lengths + _lengths(rounded)) * LOOSE)

    def _error(self, terms: int) -> float:
        """More than the relative error of an inner product of so many terms."""
        return _unit(terms) * (self.unit / 2.0**-53)

    def _outputs(self, node: Node, rows: Floats, errors: Floats, lengths: Floats, bits: Bits, off: Floats) -> _Known:
        """Outputs on the pieces of patterns, in place; ``off`` [2, kinks] bounds the distance of named rows from their
        kinks, and its growth.
        """
        units, pieces = node.units, node.units.pieces_of(bits)
        slopes, intercepts = units.on_pieces(pieces)
        tables = units.tables()
        steepest = np.abs(tables.slopes).max(axis=1)
        values = np.multiply(rows, slopes, out=rows)
        if units.shifting:
            magnitudes = (np.abs(values) + np.abs(intercepts)).max(axis=0).astype(np.float64)
            values += intercepts
        else:
            magnitudes = np.maximum(values.max(axis=0, initial=0.0), -values.min(axis=0, initial=0.0)).astype(
                np.float64
            )
        rounding = np.zeros((2, len(steepest)))
        if units.scaling or units.shifting:
            rounding[0] = 4 * self.unit * magnitudes + TINY
        changes = np.abs(np.diff(tables.slopes)).ravel()
        named = 2 * (changes * off).max(axis=1, initial=0.0) * LOOSE
        carried = (steepest * errors + rounding) * LOOSE
        longer = (steepest.max(initial=0.0) * lengths + _lengths(rounding) + named) * LOOSE
        return _Known(values, magnitudes, carried, longer, named)


def _restricted(operator: Operator, chart: Floats, precision: type) -> tuple[Floats, Floats]:
    """Forms of the rows of an operator in the chart, [1 + d, rows], and bounds on their errors."""
    magnitudes = operator.entrywise(np.abs).apply(np.abs(chart))
    if operator.inputs * operator.outputs > LARGE:
        forms = operator.apply(chart)
        return forms, _unit(operator.most_terms + 4) * magnitudes + TINY
    exact = chart.astype(np.longdouble) @ operator.weights.T.astype(np.longdouble)
    errors = 2 * (operator.inputs + 4) * float(np.finfo(np.longdouble).eps) * magnitudes + TINY
    forms = exact.astype(precision)
    return forms, errors + (2.0**-52 if precision is np.float64 else 0.0) * np.abs(exact).astype(np.float64)


def _norms(operator: Operator, deep: bool) -> _Norms:
    magnitudes = operator.entrywise(np.abs)
    squares = operator.entrywise(np.square).apply(np.ones((1, operator.inputs)))[0]
    rows = np.sqrt(squares) * (1 + _unit(operator.most_terms)) * LOOSE + TINY
    largest = np.array([np.abs(operator.row(i)).max(initial=0.0) for i in range(operator.outputs)])
    return _Norms(magnitudes, rows, largest, _spectral(operator, magnitudes, deep))


def _spectral(operator: Operator, magnitudes: Operator, deep: bool) -> float:
    """An upper bound on the largest singular value."""
    sums = magnitudes.apply(np.ones((1, operator.inputs))).max()
    others = magnitudes.apply_transposed(np.ones((1, operator.outputs))).max()
    bound = float(np.sqrt(sums) * np.sqrt(others) * LOOSE) + TINY  # Schur
    if not deep or operator.inputs * operator.outputs > LARGE:
        return bound
    return min(bound, _by_powers(operator.weights))


def _by_powers(weights: Floats) -> float:
    """The largest singular value is the root of the largest row sum of a power of the Gram matrix, or less."""
    matrix = weights if len(weights) >= weights.shape[1] else weights.T
    scale = float(np.abs(matrix).max(initial=0.0))
    if not 0.0 < scale < np.inf:
        return scale
    matrix = matrix / scale
    # The Gram matrix, and a bound on the largest row sum of its errors; quotients are rounded as well.
    gram = matrix.T @ matrix
    sizes = np.abs(matrix)
    error = float((sizes.T @ sizes).sum(axis=1).max()) * _unit(len(matrix) + 4)
    logarithm, power = 0.0, 1
    for _ in range(SQUARINGS):
        size = float(np.abs(gram).sum(axis=1).max())
        if not size > 0.0:
            return float("inf")
        gram, error = gram / size, error / size + 2.0**-52
        logarithm += np.log(size) / power
        squared = gram @ gram
        error = (2 * error + error * error + _unit(len(gram))) * LOOSE
        gram, power = squared, 2 * power
    total = float(np.abs(gram).sum(axis=1).max()) + error
    logarithm += np.log(total) / power
    return float(scale * np.exp(logarithm / 2) * (1 + 2.0**-20))


def _lengths(numbers: Floats) -> Floats:
    """Upper bounds on the lengths of vectors, from [m, n]."""
    scale = np.abs(numbers).max(axis=1, initial=TINY)
    squares = np.square(numbers / scale[:, np.newaxis]).sum(axis=1)
    result: Floats = scale * np.sqrt(squares) * (1 + _unit(numbers.shape[1])) * LOOSE
    return result


def _unit(terms: int) -> float:
    """More than the relative error of an inner product of so many terms."""
    return 2 * (terms + 4) * 2.0**-53
