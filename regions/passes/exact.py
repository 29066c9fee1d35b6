# SPDX-License-Identifier: MIT
"""What are the pre-activations of units, exactly: at a point, or as affine forms inside a region?

Weights, charts and points are doubles, hence integers times powers of two, and a forward pass only adds and
multiplies. It is done in Python integers (numpy object arrays) with one exponent per array. The walk carries
*columns*: one for the values of units at a point, or 1 + d for the coefficients of forms a0 + a1 x + a2 y; constants
are added to the first column. Reads of the inputs are restricted to the chart once, so wide inputs cost nothing per
point.
Invariant: nothing is rounded, and the cached outputs of a node in `ExactForms` were computed under the current pieces
of all nodes before it. Consecutive regions of a partition mostly differ in late layers only, so they share the early
layers.
Cost: about 40 ns per weight and column at first, more as numbers grow with depth: milliseconds. It is meant for the
few points and facets that floating point cannot decide. A single unit is computed on request; a whole node only if
another node reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.domains.chart import Chart
from regions.ground.arithmetic.dyadic import Dyadic, dyadic
from regions.ground.arithmetic.types import Bits, Floats, Indices
from regions.ground.threads.deadline import check_time
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Read
from regions.networks.walk import Forward

__all__ = ["Exact", "ExactForms", "ExactRows", "ExactSigns", "Form", "compared_rows", "own_row"]

# (a0, a1) or (a0, a1, a2): the form a0 + a1 x + a2 y, times some positive number.
Form = tuple[int, ...]

# Weights of the first layer that are converted at a time, to bound the memory of their integers (about 100 bytes
# each).
BLOCK = 1 << 20


class Columns(NamedTuple):
    """Outputs of a node: the units that are not constantly zero, and their numbers [columns, units]."""

    units: Indices
    numbers: Dyadic


class Exact:
    """Columns that travel through a network.

    Parameters
    ----------
    domain : Chart or None
        The homogeneous coordinates of its chart, 1, x (and y), are the inputs; None for the network's own inputs.
    """

    def __init__(self, domain: Chart | None) -> None:
        self.chart = None if domain is None else dyadic(np.vstack([domain.origin, domain.directions]).T)
        self.operator, self.biases = cache(self._operator), cache(_biases)

    def _operator(self, read: Read) -> tuple[Dense, int]:
        """Return the operator of a read in integers, and their exponent."""
        weights = read.operator.weights
        if read.node >= 0 or self.chart is None:
            integers, exponent = dyadic(weights)
            return Dense(integers), exponent
        step = max(1, BLOCK // weights.shape[1])
        blocks = [dyadic(weights[start : start + step]) for start in range(0, len(weights), step)]
        rows = [block.matrix_times(self.chart) for block in blocks]
        lowest = min(block.exponent for block in rows)
        return Dense(np.concatenate([block.over(lowest) for block in rows])), lowest

    def at(self, point: Floats) -> Columns:
        """Return a point of the chart, or of input space, as one column."""
        whole = dyadic(point if self.chart is None else np.concatenate([[1.0], point]))
        units = np.flatnonzero(whole.integers != 0)
        return Columns(units, whole.at((np.newaxis, units)))

    def forms(self) -> Columns:
        """Return the coordinates of the chart as forms."""
        size = self.chart.integers.shape[1] if self.chart else 0
        return Columns(np.arange(size), dyadic(np.eye(size)))

    def preactivations(self, node: Node, sources: Sequence[Columns], rows: NDArray[np.integer] | None = None) -> Dyadic:
        """Return the columns [columns, rows] of a node, or of some of its rows."""
        chosen = slice(None) if rows is None else rows
        terms = []
        for read, (reads, numbers) in zip(node.reads, sources, strict=True):
            operator, exponent = self.operator(read)
            values = operator.part(chosen, reads).apply(numbers.integers)
            terms.append(Dyadic(values, numbers.exponent + exponent))
        return _plus_constants(sum(terms[1:], start=terms[0]), self.biases(node).at(chosen))

    def outputs(self, node: Node, before: Dyadic, pieces: Indices) -> Columns:
        slopes, intercepts = node.units.on_pieces(pieces)
        units = np.flatnonzero((slopes != 0) | (intercepts != 0))
        numbers = before.at((slice(None), node.units.followed(np.arange(node.units.rows), pieces)[units]))
        if (slopes[units] != 1).any():  # ReLU has none
            numbers = dyadic(slopes[units]).times(numbers)
        if intercepts[units].any():
            numbers = _plus_constants(numbers, dyadic(intercepts[units]))
        return Columns(units, numbers)


class ExactSigns:
    """Signs of points at every kink, exactly.

    Parameters
    ----------
    graph : Graph
    domain : Chart or None
        Points are given in its chart; None for points of input space.
    """

    def __init__(self, graph: Graph, domain: Chart | None) -> None:
        self.graph, self.arithmetic = graph, Exact(domain)
        self.breakpoints = cache(_breakpoints)

    def at(self, point: Floats) -> NDArray[np.int8]:
        """Return the sign of a point [d] at each kink: int8 [kinks] of -1, 0, 1.

        For a breakpoint, the sign of the pre-activation minus the breakpoint. For a pair of branches, 1 if the later
        branch is the only largest one, -1 if it is not among the largest, and 0 if it is one of several largest.
        """
        signs = np.zeros(self.graph.kinks, dtype=np.int8)
        for node, above, below in self._sides(point):
            on, off = node.units.settled(above, below)
            signs[node.kinks] = on.astype(np.int8) - off.astype(np.int8)
        return signs

    def pattern(self, point: Floats) -> Bits:
        """Return the pattern of a point [d], bool [kinks]: of several largest branches the lowest is the argmax."""
        bits = np.zeros(self.graph.kinks, dtype=bool)
        for node, above, below in self._sides(point):
            bits[node.kinks] = node.units.bits_of(node.units.first_pieces(above, below))
        return bits

    def allows(self, point: Floats, patterns: Bits) -> Bits:
        """Return which patterns [m, kinks] have only argmaxes that are among the largest branches at a point: bool [m].

        The patterns agree with the signs that are not 0. These do not exclude branch 0, which has no bit of its own.
        """
        allowed = np.ones(len(patterns), dtype=bool)
        for node, above, below in self._sides(point):
            pieces = node.units.pieces_of(patterns[:, node.kinks])
            allowed &= (pieces >= node.units.first_pieces(above, below)).all(axis=1)
        return allowed

    def outputs(self, point: Floats) -> list[Fraction]:
        """Return the outputs at a point [d]."""
        walk = self._walk(point)
        for _ in self._sides(point, walk):
            pass
        found = walk.preactivations(self.graph.nodes[-1])
        return [int(number) * Fraction(2) ** found.exponent for number in found.integers[0]]

    def _walk(self, point: Floats) -> Forward[Dyadic, Columns]:
        return Forward(self.graph, self.arithmetic, self.arithmetic.at(point))

    def _sides(self, point: Floats, given: Forward[Dyadic, Columns] | None = None) -> Iterator[tuple[Node, Bits, Bits]]:
        """Yield each node, with the kinks whose form is above the breakpoint, and the kinks whose form is below it."""
        walk = given or self._walk(point)
        for node in self.graph.hidden:
            before = walk.preactivations(node)
            compared = Dyadic(node.units.compared(before.integers), before.exponent)
            found = _plus_constants(compared, self.breakpoints(node)).signs()[0]
            yield node, found > 0, found < 0
            # At a breakpoint both pieces have the same value, exactly, so it does not matter that 0 counts as
            # below. The same holds for several largest branches.
            walk.leave(node, before, node.units.first_pieces(found > 0, found < 0))


class ExactForms:
    """Affine forms of the chart point that are zero on kinks, in one region after the other.

    Parameters
    ----------
    graph : Graph
    domain : Chart
        The chart of a domain or polytope.
    """

    def __init__(self, graph: Graph, domain: Chart) -> None:
        self.graph, self.arithmetic = graph, Exact(domain)
        self.inputs, self.breakpoints = self.arithmetic.forms(), cache(_breakpoints)
        self.bits = np.zeros(graph.kinks, dtype=np.bool_)
        self.outputs: list[Columns | None] = [None] * len(graph.hidden)
        self.rows: list[Dyadic | None] = [None] * len(graph.hidden)
        self.kinks: list[dict[int, Form]] = [{} for _ in graph.hidden]
        self.node_of: list[int] = graph.kink_nodes.tolist()

    def enter(self, pattern: Bits) -> None:
        """Enter the region with this pattern, bool [kinks]."""
        changed = np.flatnonzero(self.bits != pattern)
        if changed.size:
            check_time()
            lowest = self.node_of[int(changed[0])]
            self.bits = pattern
            self.outputs[lowest:] = [None] * len(self.outputs[lowest:])
            self.rows[lowest + 1 :] = [None] * len(self.rows[lowest + 1 :])
            for forms in self.kinks[lowest + 1 :]:
                forms.clear()

    def kink(self, kink: int) -> Form:
        """Return the form that is zero on a kink: pre-activation minus breakpoint, or the later branch minus the
        earlier one.
        """
        node = self.node_of[kink]
        known = self.kinks[node].get(kink)
        if known is not None:
            return known
        numbers = self.graph.kink_rows[kink]
        rows = self.preactivations(node, numbers[numbers >= 0])
        if len(rows.integers.T) == 2:
            rows = Dyadic(rows.integers[:, :1] - rows.integers[:, 1:], rows.exponent)
        place = kink - self.graph.nodes[node].kinks.start
        shifted = _plus_constants(rows, self.breakpoints(self.graph.nodes[node]).at(slice(place, place + 1)))
        form: Form = tuple(shifted.integers[:, 0].tolist())
        self.kinks[node][kink] = form
        return form

    def preactivations(self, number: int, rows: NDArray[np.integer] | None = None) -> Dyadic:
        """Return the forms [1 + d, rows] of a node, or of some of its rows, before the activation."""
        node = self.graph.nodes[number]
        return self.arithmetic.preactivations(node, [self._outputs(read.node) for read in node.reads], rows)

    def _outputs(self, number: int) -> Columns:
        if number < 0:
            return self.inputs
        known = self.outputs[number]
        if known is not None:
            return known
        rows = self.rows[number]
        if rows is None:
            rows = self.rows[number] = self.preactivations(number)
        node = self.graph.nodes[number]
        pieces = node.units.pieces_of(self.bits[node.kinks])
        self.outputs[number] = result = self.arithmetic.outputs(node, rows, pieces)
        return result


class ExactRows:
    """Rows [units] that travel from the outputs downwards, multiplied by each node, and the sum of the constants so
    far.

    Parameters
    ----------
    graph : Graph
    arithmetic : Exact
    bits : bool [kinks]
        The pattern.
    """

    def __init__(self, graph: Graph, arithmetic: Exact, bits: Bits) -> None:
        self.graph, self.arithmetic, self.bits = graph, arithmetic, bits
        self.constant = Fraction(0)

    def add_biases(self, number: int, row: Dyadic) -> None:
        self.constant += row.dot(self.arithmetic.biases(self.graph.nodes[number]))

    def of_units(self, number: int, row: Dyadic) -> Dyadic:
        node = self.graph.nodes[number]
        pieces = node.units.pieces_of(self.bits[node.kinks])
        slopes, intercepts = node.units.on_pieces(pieces)
        self.constant += row.dot(dyadic(intercepts))
        row = row.times(dyadic(slopes))
        row = Dyadic(node.units.asked_of_rows(row.integers, pieces), row.exponent)
        self.add_biases(number, row)
        return row

    def of_sources(self, read: Read, row: Dyadic) -> Dyadic:
        units = np.flatnonzero(row.integers != 0)
        on_chart = read.node < 0 and self.arithmetic.chart is not None
        if units.size == 1 and not on_chart:  # the other rows may never be needed
            return row.at(units).matrix_times(dyadic(read.operator.weights[units]))
        operator, exponent = self.arithmetic.operator(read)
        return Dyadic(operator.part(units, slice(None)).apply_transposed(row.integers[units]), row.exponent + exponent)


def compared_rows(graph: Graph, kink: int) -> Dyadic:
    """Return the demand on the rows of a kink's node, [rows], by its compared form: one row, or one minus another."""
    row, taken_off = graph.kink_rows[kink].tolist()
    wanted = np.eye(1, graph.nodes[int(graph.kink_nodes[kink])].units.rows, row)[0]
    if taken_off >= 0:
        wanted[taken_off] = -1.0
    return dyadic(wanted)


def own_row(graph: Graph, kink: int) -> tuple[Dyadic, Fraction]:
    """Return the weights of the compared form of a kink, read by read, and its bias minus the breakpoint."""
    node, (row, taken_off) = graph.nodes[int(graph.kink_nodes[kink])], graph.kink_rows[kink].tolist()
    weights, constant = _weights(node, row), Fraction(float(node.biases[row]))
    if taken_off < 0:
        return weights, constant - Fraction(float(graph.kink_values[kink]))
    other = _weights(node, taken_off)
    return weights + Dyadic(-other.integers, other.exponent), constant - Fraction(float(node.biases[taken_off]))


def _weights(node: Node, row: int) -> Dyadic:
    return dyadic(np.concatenate([read.operator.row(row) for read in node.reads]))


def _biases(node: Node) -> Dyadic:
    return dyadic(node.biases)


def _breakpoints(node: Node) -> Dyadic:
    return dyadic(-node.units.kink_values)


def _plus_constants(columns: Dyadic, constants: Dyadic) -> Dyadic:
    """Add a number [m] to the first of columns [columns, m]; most breakpoints and intercepts are 0."""
    if not constants.integers.any():
        return columns
    lowest = min(columns.exponent, constants.exponent)
    integers = columns.over(lowest)
    integers[0] += constants.over(lowest)
    return Dyadic(integers, lowest)
