# SPDX-License-Identifier: MIT
"""How much does each input contribute to the change of an output along a path, up to proven bounds?

A path has legs, and a leg is cut into strands (`cells/strands.py`), on each of which the gradient is constant. A
backward pass computes it for all strands at a time. The pass is linear in the demand on the outputs (`networks/walk.py`
defines demands), which has two consequences. Strands share it down to the first node at which their patterns differ,
and demands on nodes that read the inputs are integrated over a leg before the product with the weights. So no gradient
with respect to the inputs is ever stored for a strand, only one sum for each leg. Units of these nodes are integrated
by parts: a slope that changes from s to s' where the integral of the demand is A contributes (s - s') A. So no demand
on them is stored either.

Errors are bounded as in `bounded_together.py`, with one bound for each unit and leg: from the largest demands on the
strands of the leg, unit by unit and, in deep networks, by length. After overflow a value or its bound is infinite or
NaN.
Cost: for each node, a product with its transposed weights for each run of strands that agree in all later nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.roundoff import TINY, UP, U
from regions.ground.arithmetic.types import Floats, Indices, Integers, Packed
from regions.networks.graph import Graph, Operator, Read
from regions.networks.lowering import DEEP
from regions.networks.walk import asked, preactivations, under
from regions.passes.bounded import Bounded, magnitudes, rounding_unit

__all__ = ["PathStrands", "leg_attributions", "leg_changes"]

# Numbers per temporary array: 8 MB.
CHUNK = 1 << 20
# With at least this many runs per leg, taking the maximum leg by leg is faster in numpy.
LONG = 8


@dataclass(frozen=True)
class PathStrands:
    """Strands of some legs, in order.

    Attributes
    ----------
    origins : float64 [legs, n_in]
    directions : float64 [legs, d, n_in]
        The charts of the legs.
    legs : int64 [m]
        The leg of each strand, ascending, from 0; no leg is left out.
    ends : float64 [m, 2, d]
        Coordinates of the two ends of each strand in the chart of its leg.
    errors : float64 [m, 2]
        Bounds on the errors of these coordinates.
    packed : uint8 [m, bytes]
        Patterns.
    """

    origins: Floats
    directions: Floats
    legs: Integers
    ends: Floats
    errors: Floats
    packed: Packed


def leg_attributions(graph: Graph, strands: PathStrands, outputs: Integers) -> tuple[Floats, Floats]:
    """Integrate the gradient of an output along each leg, input by input.

    Parameters
    ----------
    graph : Graph
    strands : PathStrands
    outputs : int64 [legs]
        Which output on each leg.

    Returns
    -------
    float64 [legs, n_in], float64 [legs, n_in]
        The integrals, and bounds on their errors.
    """
    directions = strands.directions
    values, errors = np.zeros((2, *directions.shape))
    with np.errstate(all="ignore"):
        arithmetic = _Backward(graph)
        for block in _blocks(arithmetic.size, len(strands.legs)):
            here = slice(strands.legs[block.start], strands.legs[block.stop - 1] + 1)
            arithmetic.enter(strands, block)
            *_, (_, found) = asked(graph, arithmetic, len(graph.hidden), arithmetic.first(outputs[here]))
            assert isinstance(found, _Totals)
            values[here] += found.at_end
            errors[here] += found.errors + TINY + 2 * U * np.abs(values[here])
        products = directions * values
        rounded = rounding_unit(directions.shape[1]) * np.abs(products)
        return products.sum(axis=1), (np.abs(directions) * errors + rounded).sum(axis=1) * UP + TINY


def leg_changes(graph: Graph, strands: PathStrands, outputs: Integers) -> Proven:
    """Subtract an output at the beginning of each leg from the same output at its end: [legs]."""
    firsts = np.flatnonzero(np.diff(strands.legs, prepend=-1))
    lasts = np.append(firsts[1:], len(strands.legs)) - 1
    with np.errstate(all="ignore"):
        start, end = (
            Proven(*_at_ends(graph, strands, which, side, outputs)) for side, which in enumerate((firsts, lasts))
        )
        return end - start


def _blocks(size: int, count: int) -> Iterator[slice]:
    """Yield slices of ``count`` rows, which need this number of array entries each."""
    step = max(1, CHUNK // size)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def _at_ends(graph: Graph, strands: PathStrands, which: Indices, side: int, outputs: Integers) -> tuple[Floats, Floats]:
    """Return an output at the beginning (0) or end (1) of a strand of each leg, and bounds on the errors."""
    arithmetic = Bounded(graph, None)
    values, errors = np.empty((2, len(which)))
    for block in _blocks(max(node.units.rows for node in graph.nodes), len(which)):
        directions, origins, ends = strands.directions[block], strands.origins[block], strands.ends[which[block], side]
        points = origins + np.einsum("ld,ldi->li", ends, directions)
        sizes = np.abs(origins) + np.einsum("ld,ldi->li", np.abs(ends), np.abs(directions))
        moved = strands.errors[which[block], side, np.newaxis] * np.abs(directions).sum(axis=1)
        inputs = arithmetic.inputs(points, (moved + rounding_unit(1 + ends.shape[1]) * sizes) * UP + TINY)
        bits = graph.bits(strands.packed[which[block]])
        *_, found = preactivations(graph, arithmetic, inputs, under(bits))
        values[block], errors[block] = (each[np.arange(len(bits)), outputs[block]] for each in found)
    return values, errors


@dataclass(frozen=True)
class _Rows:
    """Demands on the units of a node, a row for each of some runs of strands.

    Attributes
    ----------
    starts : int64 [k]
        The first strand of each run.
    values : float64 [k, units]
    largest : float64 [legs, units]
        The largest magnitudes on the runs of each leg.
    errors : float64 [legs, units]
        Bounds on the errors on all runs of each leg.
    lengths : float64 [legs]
        Bounds on the Euclidean length of the vector of all errors on a run.
    """

    starts: Integers
    values: Floats
    largest: Floats
    errors: Floats
    lengths: Floats

    def __add__(self, other: _Rows) -> _Rows:
        coarse, fine = sorted((self, other), key=lambda each: len(each.starts))
        values = fine.values + coarse.values[_places(coarse.starts, fine.starts)]
        largest = self.largest + other.largest
        rounded = 2 * U * largest
        lengths = (self.lengths + other.lengths + _norms(rounded)) * UP
        return _Rows(fine.starts, values, largest, (self.errors + other.errors + rounded) * UP, lengths)


@dataclass(frozen=True)
class _Totals:
    """Integrals, from the beginning of each leg, of demands on the units of a node that reads the inputs.

    Attributes
    ----------
    at_end : float64 [legs, d, units]
        To the end of the leg.
    at_switches : float64 [switches, d]
        To the point of each switch, of the demand on the unit that switches.
    moves : float64 [switches]
        The part of the errors of ``at_switches`` that comes from errors in the positions of the switches: bounds.
    sizes, errors : float64 [legs, d, units]
        Bounds on the magnitudes of all integrals, and on their other errors.
    """

    at_end: Floats
    at_switches: Floats
    moves: Floats
    sizes: Floats
    errors: Floats

    def __add__(self, other: _Totals) -> _Totals:
        sizes = self.sizes + other.sizes
        errors = (self.errors + other.errors + 2 * U * sizes) * UP
        at_switches, moves = self.at_switches + other.at_switches, (self.moves + other.moves) * UP
        return _Totals(self.at_end + other.at_end, at_switches, moves, sizes, errors)


_Asked = _Rows | _Totals


class _Switches(NamedTuple):
    """Units of a node that move from one piece to another, where strands begin."""

    strands: Integers
    units: Integers
    before: Indices
    after: Indices


class _Backward:
    """Demands that travel from the outputs to the inputs, for all strands of a block at a time."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.deep = graph, len(graph.hidden) >= DEEP
        self.magnitudes, self.column_norms = cache(magnitudes), cache(_column_norms)
        self.first_nodes = {number for number, node in enumerate(graph.hidden) if node.reads[0].node < 0}

    @property
    def size(self) -> int:
        """Number of array entries that one strand needs; patterns have an eighth of the size of other numbers."""
        rows = [node.units.rows for number, node in enumerate(self.graph.nodes) if number not in self.first_nodes]
        return max(*rows, self.graph.kinks // 8)

    def enter(self, strands: PathStrands, block: slice) -> None:
        """Turn to the strands of a block."""
        self.ends, self.errors, legs = strands.ends[block], strands.errors[block], strands.legs[block]
        self.legs = legs - legs[0]
        self._nothing = np.zeros((0, self.ends.shape[2])), np.zeros(0)
        self.bits = self.graph.bits(strands.packed[block])
        self.first_strands = np.flatnonzero(np.diff(legs, prepend=-1))
        self.last_strands = np.append(self.first_strands[1:], len(legs)) - 1
        changes = strands.packed[block].copy()
        changes[1:] ^= strands.packed[block][:-1]
        changes[self.first_strands] = 0
        strand, kink = _ones(changes)
        self.last_change = np.full(len(legs), -1)
        self.last_change[strand] = kink  # ascending: the last one stays
        self.last_change[self.first_strands] = self.graph.kinks
        self.switches = {number: self._switches(number, strand, kink) for number in self.first_nodes}

    def _switches(self, number: int, strands: Integers, kinks: Integers) -> _Switches:
        """The switches of a node, given all kinks whose bits change, and the strands before which they do."""
        node = self.graph.nodes[number]
        own = (node.kinks.start <= kinks) & (kinks < node.kinks.stop)
        units = node.units.kink_units[kinks[own] - node.kinks.start]
        strands, units = np.divmod(np.unique(strands[own] * node.units.count + units), node.units.count)
        pieces = node.units.pieces_of(self.bits[:, node.kinks])
        return _Switches(strands, units, pieces[strands - 1, units], pieces[strands, units])

    def first(self, outputs: Integers) -> _Rows:
        """Return the demand on one output for each leg."""
        demands = np.eye(self.graph.n_out)[outputs]
        return _Rows(self.first_strands, demands, demands, np.zeros_like(demands), np.zeros(len(demands)))

    def of_units(self, number: int, asked: _Asked) -> _Asked:
        if isinstance(asked, _Totals):
            return self._through_switches(number, asked)
        node = self.graph.nodes[number]
        starts = np.flatnonzero(self.last_change >= node.kinks.start)
        pieces = node.units.pieces_of(self.bits[starts, node.kinks])
        slopes, _ = node.units.on_pieces(pieces)
        values = asked.values[_places(asked.starts, starts)]
        values = node.units.asked_of_rows(np.multiply(values, slopes, out=values), pieces)
        steepest = self._largest(node.units.asked_of_rows(np.abs(slopes), pieces), starts)
        underflow = np.where(steepest > 0.0, TINY, 0.0)
        errors = steepest * node.units.of_all_rows(asked.errors) + underflow
        lengths = steepest.max(axis=1, initial=0.0) * asked.lengths * UP + _norms(underflow)
        return _Rows(starts, values, self._largest(np.abs(values), starts), errors * UP, lengths)

    def _through_switches(self, number: int, asked: _Totals) -> _Totals:
        """Integrate slope times demand by parts: at the end, minus at each switch times the change of the slope."""
        units, switches = self.graph.nodes[number].units, self.switches[number]
        pieces = units.pieces_of(self.bits[self.last_strands, self.graph.nodes[number].kinks])
        slopes = units.asked_of_rows(units.on_pieces(pieces)[0], pieces)
        values = units.of_all_rows(asked.at_end) * slopes[:, np.newaxis]
        weights, moves, terms = np.abs(slopes), np.zeros(slopes.shape), np.ones(slopes.shape)
        legs = self.legs[switches.strands]
        for which, sign in ((switches.before, 1.0), (switches.after, -1.0)):
            rows, steps = units.rows_on(switches.units, which)
            np.add.at(values.transpose(0, 2, 1), (legs, rows), sign * steps[:, np.newaxis] * asked.at_switches)
            np.add.at(weights, (legs, rows), np.abs(steps))
            np.add.at(moves, (legs, rows), np.abs(steps) * asked.moves)
            np.add.at(terms, (legs, rows), 1.0)
        sizes, errors = (units.of_all_rows(each) * weights[:, np.newaxis] for each in (asked.sizes, asked.errors))
        errors = errors + moves[:, np.newaxis] + rounding_unit(int(terms.max(initial=0.0))) * sizes
        return _Totals(values, *self._nothing, sizes, errors * UP + TINY)

    def of_sources(self, read: Read, asked: _Asked) -> _Asked:
        if isinstance(asked, _Totals):
            return self._to_source(read, asked)
        if read.node < 0 or read.node in self.first_nodes:
            return self._to_source(read, self._integrals(asked), asked)
        weights = self.magnitudes(read)
        unit = rounding_unit(weights.most_terms_transposed)
        values = read.operator.apply_transposed(asked.values)
        # The product of a slope and a demand was rounded too: once for each term.
        rounded, errors = weights.apply_transposed(np.stack([asked.largest, asked.errors]))
        rounded *= 2 * unit  # not before, because weights would magnify underflow
        lengths: Floats = np.full(len(errors), np.inf)
        if self.deep:
            errors = np.minimum(errors, self.column_norms(weights) * asked.lengths[:, np.newaxis])
            lengths = read.operator.norm_bound * asked.lengths + _norms(rounded)
        errors = (errors + rounded) * (1 + unit) + TINY
        lengths = np.minimum(lengths, _norms(errors)) * (1 + unit)
        return _Rows(asked.starts, values, self._largest(np.abs(values), asked.starts), errors, lengths)

    def _integrals(self, asked: _Rows) -> _Totals:
        """Integrate demands on a node over each leg."""
        legs, steps = self._runs_of_legs(asked.starts), self._steps(asked.starts)
        values: list[Floats] = []
        moves: list[Floats] = []
        for leg, last in zip(legs, self.last_strands, strict=True):
            moved = np.append(self.errors[asked.starts[leg], 0], self.errors[last, 1])
            # An error in the place of a boundary between two runs is multiplied by the change of the demand there.
            jumps = np.abs(np.diff(asked.values[leg], axis=0, prepend=0.0, append=0.0))
            values.append(steps[leg].T @ asked.values[leg])
            moves.append(moved @ jumps + 2 * moved.sum() * asked.errors[len(moves)])
        ways = np.stack([np.abs(steps[leg]).sum(axis=0) for leg in legs])[..., np.newaxis]
        sizes = asked.largest[:, np.newaxis] * ways * (1 + rounding_unit(len(steps)))
        errors = asked.errors[:, np.newaxis] * ways + np.stack(moves)[:, np.newaxis]
        errors = (errors + rounding_unit(len(steps)) * sizes) * UP + TINY
        return _Totals(np.stack(values), *self._nothing, sizes, errors)

    def _to_source(self, read: Read, totals: _Totals, rows: _Rows | None = None) -> _Totals:
        """Pass integrals of the demands on a node to a node that it reads, with integrals up to the switches of the
        latter.
        """
        weights, charged, at_switches = self.magnitudes(read), totals.sizes, self._nothing
        if rows is not None and read.node >= 0:
            at_switches = self._partial(read, rows)
            charged = charged + rows.largest[:, np.newaxis] * self.errors.max(initial=0.0)
        unit = rounding_unit(weights.most_terms_transposed)
        # The charge is multiplied last, because weights would magnify its underflow.
        sizes, errors = weights.apply_transposed(np.stack([totals.sizes, totals.errors / (2 * unit) + charged]))
        values = read.operator.apply_transposed(totals.at_end)
        return _Totals(values, *at_switches, sizes * (1 + unit), errors * (2 * unit) * (1 + unit) + TINY)

    def _partial(self, read: Read, asked: _Rows) -> tuple[Floats, Floats]:
        """The integrals from the beginning of the leg to each switch of the node that is read, [switches, d], and
        bounds on their errors from the error in the place of the switch, [switches]."""
        switches, operator = self.switches[read.node], read.operator
        legs, steps = self._runs_of_legs(asked.starts), self._steps(asked.starts)
        runs = _places(asked.starts, switches.strands)
        within = self.ends[switches.strands, 0] - self.ends[asked.starts[runs], 0]
        here = operator.column_products(switches.units, asked.values, runs)
        found = here[:, np.newaxis] * within
        for axis in range(steps.shape[1]):
            before = asked.values * steps[:, axis, np.newaxis]
            for leg in legs:
                _add_up(before[leg])
            found[:, axis] += operator.column_products(switches.units, before, runs)
        return found, self.errors[switches.strands, 0] * np.abs(here)

    def _runs_of_legs(self, starts: Integers) -> list[slice]:
        """Return the runs of each leg, given the first strand of each run."""
        firsts = np.searchsorted(starts, self.first_strands).tolist()
        return [slice(*pair) for pair in pairwise([*firsts, len(starts)])]

    def _steps(self, starts: Integers) -> Floats:
        """Return the vector from the beginning of each run to its end, [k, d], given the first strand of each run."""
        lasts = np.append(starts[1:], len(self.ends)) - 1
        return self.ends[lasts, 1] - self.ends[starts, 0]

    def _largest(self, values: Floats, starts: Integers) -> Floats:
        """Return the largest values [k, units] on the runs of each leg."""
        if len(starts) < LONG * len(self.first_strands):
            return np.maximum.reduceat(values, np.searchsorted(starts, self.first_strands), axis=0)
        return np.stack([values[leg].max(axis=0) for leg in self._runs_of_legs(starts)])


def _ones(packed: Packed) -> tuple[Integers, Integers]:
    """Return the rows and positions of the bits of packed rows [m, bytes] that are 1, in ascending order."""
    places = np.flatnonzero(packed != 0)
    which, offsets = np.nonzero(np.unpackbits(packed.ravel()[places][:, np.newaxis], axis=1, bitorder="little"))
    rows, columns = np.divmod(places[which], packed.shape[1])
    return rows, 8 * columns + offsets


def _add_up(rows: Floats) -> None:
    """Replace each row [k, n] by the sum of the rows before it; `numpy.cumsum` takes several times as long."""
    total, following = np.zeros((2, rows.shape[1]))
    for row in rows:
        np.add(total, row, out=following)
        row[:] = total
        total, following = following, total


def _places(coarse: Integers, fine: Integers) -> Integers:
    """Return the index of the coarse run that contains each fine one, given the first strand of each run."""
    return np.searchsorted(coarse, fine, side="right") - 1


def _norms(rows: Floats) -> Floats:
    """Return upper bounds on the lengths of rows [.., n]."""
    # 1e-150 is the square root of the underflow in a sum of squares, of as many terms as fit into memory.
    lengths = np.linalg.norm(rows, axis=-1) * (1 + rounding_unit(rows.shape[-1])) + 1e-150
    return np.asarray(lengths)


def _column_norms(weights: Operator) -> Floats:
    """Return upper bounds on the lengths of the columns of an operator with weights of at least 0: [inputs]."""
    squares = weights.entrywise(np.square).apply_transposed(np.ones((1, weights.outputs)))[0]
    lengths: Floats = np.sqrt(squares) * (1 + rounding_unit(weights.most_terms_transposed)) + 1e-150
    return lengths
