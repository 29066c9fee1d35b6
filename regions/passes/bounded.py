# SPDX-License-Identifier: MIT
"""What are the pre-activations of units, and on which side of their kinks are they, as far as floating point can prove?

This is a forward pass in float64 with a bound on its error, computed node by node. A sign is known if the value is
further from the breakpoint than the bound. A point is *decided*, and its pattern is right, if all its signs are known;
`exact.py` settles the others.

The bound. With u = 2^-53 a computed inner product of n terms, summed in any order, with or without fused
multiply-add, is within g(n) * sum |x_i y_i| of the true one. Here g(n) = n u / (1 - n u) (Higham, Accuracy and
Stability of Numerical Algorithms, section 3.1). Inputs known to within e_i add sum |y_i| e_i. A node that reads several
others has one inner product of all their terms and the bias. `docs/error-bounds.md` proves the bound, including the
rounding of the bounds themselves, underflow and overflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from regions.domains.chart import Chart
from regions.ground.arithmetic.roundoff import TINY, U
from regions.ground.arithmetic.types import Bits, Floats, Indices, Integers
from regions.networks.graph import Graph, Node, Operator, Read
from regions.networks.walk import Forward
from regions.passes.open_paths import wired

__all__ = ["Bounded", "BoundedForms", "BoundedPatterns", "Known", "carried", "magnitudes", "rounding_unit"]

# Values and bounds on their errors, [.., units] each.
Values = tuple[Floats, Floats]


def rounding_unit(terms: int) -> float:
    """Return a factor that, times the sum of magnitudes, bounds the error of an inner product of this many terms; it
    also covers the rounding of the bound."""
    return 4 * (terms + 8) * U


def magnitudes(read: Read) -> Operator:
    """Return the operator of a read with the absolute values of its weights."""
    return read.operator.entrywise(np.abs)


def carried(node: Node, slopes: Floats, errors: Floats) -> Floats:
    """Return errors times the slopes of a node's units, plus underflow, which large weights of the next node can
    magnify.
    """
    sizes = np.abs(slopes)
    result: Floats = sizes * errors + TINY * (sizes > 0.0) if node.units.scaling else sizes * errors
    return result


class Known(NamedTuple):
    """Outputs of a node, bounds on their errors, and the magnitudes of the added terms: [.., units] each."""

    values: Floats
    magnitudes: Floats
    errors: Floats


class Bounded:
    """Values at points of a domain's chart.

    Parameters
    ----------
    graph : Graph
        Nodes that read the inputs read nothing else.
    domain : Chart or None
        Only its chart is used. None for points of input space.
    """

    def __init__(self, graph: Graph, domain: Chart | None) -> None:
        self.magnitudes = cache(magnitudes)
        # Forms of the nodes that read the inputs, [units, 1 + d], and bounds on their errors.
        self.rows: dict[Node, Values] = {}
        if domain is None:
            return
        chart = np.vstack([domain.origin, domain.directions]).T
        for node in graph.nodes:
            for read in node.reads:
                if read.node < 0:
                    with np.errstate(over="ignore", invalid="ignore", under="ignore"):  # overflow is undecided
                        sizes = self.magnitudes(read).apply(np.abs(chart.T)).T
                        rows = read.operator.weights @ chart
                        self.rows[node] = rows, rounding_unit(graph.n_in) * sizes + TINY

    @staticmethod
    def inputs(points: Floats, errors: Floats | float = 0.0) -> Known:
        """Return the values of points [m, d], each coordinate of which is known up to errors [m] or [m, d]."""
        return Known(points, np.abs(points), np.asarray(errors))

    def preactivations(self, node: Node, sources: Sequence[Known]) -> Values:
        if node in self.rows:
            return self._first(node, sources[0])
        return self._next(node, sources, node.biases)

    def _first(self, node: Node, points: Known) -> Values:
        rows, _ = self.rows[node]
        return rows[:, 0] + points.values @ rows[:, 1:].T + node.biases, self.first_errors(node, points)

    def first_errors(self, node: Node, points: Known) -> Floats:
        """Return bounds on the errors of a node that reads the inputs."""
        rows, row_errors = self.rows[node]
        sums = np.abs(rows[:, 0]) + points.magnitudes @ np.abs(rows[:, 1:]).T + np.abs(node.biases)
        errors = row_errors[:, 0] + points.magnitudes @ row_errors[:, 1:].T
        # The error of a point counts in each coordinate.
        errors += points.errors[..., np.newaxis] * (np.abs(rows[:, 1:]) + row_errors[:, 1:]).sum(axis=1)
        unit = rounding_unit(points.values.shape[1] + 2)
        bounds: Floats = (errors + unit * sums) * (1 + unit) + TINY
        return bounds

    def _next(self, node: Node, sources: Sequence[Known], biases: Floats) -> Values:
        unit = rounding_unit(node.terms)
        charge = 2 * unit
        products: list[Values] = []
        for read, source in zip(node.reads, sources, strict=True):
            # Errors of the values and errors of the inner products are both multiplied by the magnitudes of the
            # weights: one product for both. The charge is multiplied last: weights would magnify its underflow.
            charged = source.errors / charge + source.magnitudes
            products.append((read.operator.apply(source.values), self.magnitudes(read).apply(charged) * charge))
        (values, errors), *others = products
        for more, more_errors in others:
            values += more
            errors += more_errors
        values += biases
        errors += unit * np.abs(biases)
        errors *= 1 + unit
        errors += TINY
        # A term can overflow although the true value and the bound are doubles.
        finite = np.isfinite(values)
        if not finite.all():
            errors[~finite] = np.inf
        return values, errors

    def outputs(self, node: Node, before: Values, pieces: Indices) -> Known:
        """Return the outputs; a piece of slope 0 has no error, it is its intercept."""
        slopes, intercepts = node.units.on_pieces(pieces)
        rows, row_errors = (node.units.followed(each, pieces) for each in before)
        products = slopes * rows
        errors = carried(node, slopes, row_errors)
        return Known(products + intercepts, np.abs(products) + np.abs(intercepts), errors)


class BoundedForms(Bounded):
    """Affine forms of the pre-activations in the chart point, [m, 1 + d, units], with the constant terms first."""

    def __init__(self, graph: Graph, domain: Chart) -> None:
        super().__init__(graph, domain)
        origin = self.inputs(np.zeros((1, domain.dimension)), np.zeros(1))
        self.forms: dict[Node, Values] = {}
        for node, (rows, errors) in self.rows.items():
            values, bounds = self._constants(node, len(rows.T)) + rows.T, errors.T.copy()
            bounds[0] = self.first_errors(node, origin)
            self.forms[node] = values[np.newaxis], bounds[np.newaxis]

    @staticmethod
    def _constants(node: Node, terms: int) -> Floats:
        result = np.zeros((terms, len(node.biases)))
        result[0] = node.biases
        return result

    def preactivations(self, node: Node, sources: Sequence[Known]) -> Values:
        if node in self.forms:
            # For many patterns, if kinks of an earlier node already differ.
            values, errors = (np.repeat(each, len(sources[0].values), axis=0) for each in self.forms[node])
            return values, errors
        return self._next(node, sources, self._constants(node, sources[0].values.shape[1]))

    def outputs(self, node: Node, before: Values, pieces: Indices) -> Known:
        """Return the outputs, computed in place."""
        slopes, intercepts = node.units.on_pieces(pieces)
        rows, row_errors = (node.units.followed(each, pieces[:, np.newaxis]) for each in before)
        values = np.multiply(rows, slopes[:, np.newaxis], out=rows)
        sizes = np.abs(values)
        if node.units.shifting:
            values[:, 0] += intercepts
            sizes[:, 0] += np.abs(intercepts)
        return Known(values, sizes, carried(node, slopes[:, np.newaxis], row_errors))

    @staticmethod
    def before_at(before: Values, rows: Integers) -> Values:
        return before[0][rows], before[1][rows]

    @staticmethod
    def after_at(after: Known, rows: Integers) -> Known:
        return Known(*(each[rows] for each in after))


class BoundedPatterns:
    """The patterns of a network on a domain, in floating point with error bounds.

    Parameters
    ----------
    graph : Graph
    domain : Chart
    always_off, always_on : bool [kinks]
        Kinks known to have this bit all over the domain: if their sign is unknown, their side is not.
    """

    def __init__(self, graph: Graph, domain: Chart, always_off: Bits, always_on: Bits) -> None:
        self.graph, self.arithmetic = graph, Bounded(graph, domain)
        self.known_off, self.known_on = always_off, always_on

    def at(self, points: Floats) -> tuple[Bits, Bits]:
        """Return the patterns of chart points [m, d].

        Returns
        -------
        bits : bool [m, kinks]
            Activation patterns, meaningless where not decided.
        decided : bool [m]
            Whether all bits of a point are proven.
        """
        decided = np.ones(len(points), dtype=bool)
        bits = np.zeros((len(points), self.graph.kinks), dtype=bool)
        pieces: list[Indices] = []
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            walk = Forward(self.graph, self.arithmetic, self.arithmetic.inputs(points))
            for node in self.graph.hidden:
                values, errors = before = walk.preactivations(node)
                # The subtraction is correctly rounded: its sign is right, and the bound also covers its error,
                # which is below u * |distance|.
                distance = node.units.compared(values) - node.units.kink_values
                allowed = node.units.either(errors)
                above, below = distance > allowed, distance < -allowed
                if node not in self.arithmetic.rows:
                    self._know_silent_units(node, pieces, above, below)
                on, off = node.units.settled(above, below)
                bits[:, node.kinks] = on = on | (self.known_on[node.kinks] & ~off)
                decided &= (on | off | self.known_off[node.kinks]).all(axis=1)
                if node is self.graph.hidden[-1]:
                    break
                pieces.append(node.units.pieces_of(on))
                walk.leave(node, before, pieces[-1])
        return bits, decided

    def _know_silent_units(self, node: Node, pieces: Sequence[Indices], above: Bits, below: Bits) -> None:
        """Mark, in below [m, kinks of the node], the kinks that are exactly zero all around the point, not just there.

        A row that reads only units which are strictly off keeps the value of its bias near the point. If the bias
        equals the breakpoint, the unit is off in every region there. The same holds for the later one of two equal
        branches. This is common in sparse networks without biases, and distances cannot show it.
        """
        points = np.flatnonzero(~(above | below).all(axis=1))
        if points.size:
            at_breakpoint = node.units.compared(node.biases) == node.units.kink_values
            below[points] |= ~node.units.either(self._reading(node, pieces, points)) & at_breakpoint

    def _reading(self, node: Node, pieces: Sequence[Indices], points: Indices) -> Bits:
        """Return which rows read units that are not off at some of the points."""
        reading = np.zeros((len(points), node.units.rows), dtype=bool)
        for read in node.reads:
            slopes, intercepts = self.graph.nodes[read.node].units.on_pieces(pieces[read.node][points])
            reading |= wired(read).apply(((slopes != 0) | (intercepts != 0)).astype(np.float32)) != 0
        return reading
