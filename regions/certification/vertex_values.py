# SPDX-License-Identifier: MIT
"""On which side of every kink are the vertices of a partition, with bounds of twice the precision?

This is one forward pass from the stored vertices, in blocks whose vertices share their bounds. Each value consists of
two doubles (`doubled_rows.py`). Units are on the pieces of a given pattern, that of a region at the vertex. A vertex
has *room* r if the pattern is right for all kinks, except the open ones, everywhere within r of the stored point. Then
the bounds hold under the pattern of any region at the vertex that differs in open kinks only: they include the distance
of an open kink from zero, times the change of the slope there. Bounds grow linearly with r, so they have two parts: for
r = 0, and for each unit of r.

With u = 2^-106 an inner product of n terms is within a small multiple of n u times the sum of magnitudes of its terms.
Errors of the inputs of a node pass through it in two ways, and the smaller bound is used: unit by unit through the
magnitudes of the weights, or as the length of the vector of errors, through a bound on the spectral norm. The bounds
are themselves computed in floating point, and factors of 1 + 2^-30 and more cover that.
Cost: one forward pass for each vertex, in about ten times the time of a plain one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.arithmetic.types import Bits, Floats, Indices
from regions.certification.centre_rows import Forms
from regions.certification.doubled_rows import ROUNDING, Pair, plus, scaled, sliced_operators
from regions.certification.open_kinks import OpenKinks
from regions.certification.ties import Ties, ZeroUnits, closed
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Operator, Units
from regions.networks.maxima import Maxima

__all__ = ["Block", "VertexValues", "unit_of_terms"]

TINY, HUGE = 1e-290, 1e270
LOOSE = 1 + 2.0**-30
# Squarings of a Gram matrix: the bound is then within 12% of the spectral norm for a thousand inputs.
SQUARINGS = 5
# Operators whose matrices would have more entries are not made into matrices.
LARGE = 1 << 22


class Block(NamedTuple):
    """Values at the vertices of a block.

    Attributes
    ----------
    values : float64 [m, kinks]
        The form of each kink, which is 0 at the kink; only until the next block.
    bounds : float64 [kinks]
        Bounds on their errors at the stored points, up to a factor of 1 + 2^-50 on the values.
    room : float64 [m]
        Negative if a sign is wrong, or has no bound.
    open : OpenKinks
        The kinks that may be zero at a vertex, by index of the vertex in the block.
    """

    values: Floats
    bounds: Floats
    room: Floats
    open: OpenKinks


class _Known(NamedTuple):
    """Outputs of a node [m, units], the largest magnitude of each, bounds on the errors, and on their length.

    Bounds are at the stored points, and for each unit of distance from there: [2, units] and [2]. The errors of units
    at open kinks can be larger, by ``open`` [2] in all for each vertex. The others have no error if they are not
    ``steep``, bool [units]. ``low`` is the second double.
    """

    values: Floats
    low: Floats
    magnitudes: Floats
    errors: Floats
    lengths: Floats
    open: Floats
    steep: Bits


_NONE = OpenKinks(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


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
        Nodes that read the inputs read nothing else.
    forms : Forms
        From `restricted_forms`.
    """

    def __init__(self, graph: Graph, forms: Forms) -> None:
        self.graph, self.forms = graph, forms
        self.ties = Ties(graph)
        self.sliced = sliced_operators(graph.nodes)
        self.norms = {operator: _norms(operator) for operator in self.sliced}

    def block(self, points: Floats, stated: float, bits: Bits, shifts: Floats) -> Block:
        """Return the values at some vertices.

        Parameters
        ----------
        points : float64 [m, d]
            Stored coordinates in the chart.
        stated : float
            An expected distance from the true positions, as a guess: kinks that may be zero within a few of these
            distances are open.
        bits : bool [m, kinks]
            A pattern for each vertex.
        shifts : float64 [m, d]
            Added to the points.
        """
        values, bounds, room = np.empty(bits.shape), np.empty(bits.shape[1]), np.full(len(points), np.inf)
        live: dict[int, _Known] = {}
        open_: list[OpenKinks] = []
        zeros = ZeroUnits(self.ties, np.packbits(bits, axis=1, bitorder="little"))
        for number, node in enumerate(self.graph.hidden):
            first, here = node in self.forms, node.kinks
            pieces = node.units.pieces_of(bits[:, here])
            slopes, intercepts, steepest = _slopes(node.units, pieces)
            steep = steepest > 0.0
            if first:
                rows, low, errors = self._first(node, points, shifts)
                lengths = _lengths(errors[:, steep])
            else:
                rows, low, errors, lengths = self._next(node, live, steep)
            found = np.subtract(node.units.compared(rows), node.units.kink_values, out=values[:, here])
            # Small differences are exact, so that adding the low parts makes them more accurate.
            found += node.units.compared(low)
            allowed, growth = node.units.either(errors) * LOOSE
            bounds[here] = allowed
            # Rows are much smaller than the largest double if their bounds are.
            if not all((sizes < HUGE).all() for sizes in (allowed, growth, np.abs(node.units.kink_values))):
                return _nothing(values, bounds)
            limit = 2 * (allowed + 4 * stated * growth)
            binding, ties = None, None
            if isinstance(node.units, Maxima):  # only comparisons with the argmax say something
                binding = node.units.binding(pieces)
                ties = zeros.apply(number, bits[:, here], binding)
            who, which, off = _unsure(binding, found, bits[:, here], limit, allowed, growth, room)
            zeros.add(number, who, which)
            charged = np.stack([np.zeros(len(growth)), growth])
            np.maximum.at(charged[0], which, off * (1 + 2.0**-48))
            charged[0] += allowed
            count = int(np.bincount(who, minlength=1).max(initial=0))
            found_open = OpenKinks(who, which, off * (1 + 2.0**-48) + allowed[which], growth[which])
            if isinstance(node.units, Maxima):
                found_open = closed(node.units, pieces, found_open, ties)
            open_.append(found_open._replace(kinks=found_open.kinks + here.start))
            live[number] = self._outputs(
                node, rows, low, errors, lengths, pieces, charged, count, (slopes, intercepts, steepest)
            )
            for old in self.graph.last_reads[number]:
                live.pop(old, None)
        together = OpenKinks(*(np.concatenate(each) for each in zip(_NONE, *open_, strict=True)))
        return Block(values, bounds, np.where(np.isnan(room), -np.inf, room * (1 - 2.0**-30)), together)

    def _first(self, node: Node, points: Floats, shifts: Floats) -> tuple[Floats, Floats, Floats]:
        """Rows of a node that reads the inputs, and bounds on their errors."""
        forms, form_errors = self.forms[node]
        steep = np.abs(forms.high) * (1 + 2.0**-50)
        sizes = np.abs(points).max(axis=0, initial=0.0) + np.abs(shifts).max(axis=0, initial=0.0)
        magnitudes = steep[0] + np.abs(node.biases) + sizes @ steep[1:]
        sum_ = plus(Pair(node.biases, np.zeros(1)), Pair(forms.high[:1], forms.low[:1]))
        for axis in range(points.shape[1]):
            row = Pair(forms.high[axis + 1], forms.low[axis + 1])
            sum_ = plus(sum_, scaled(row, points[:, axis : axis + 1]))
            sum_ = plus(sum_, scaled(row, shifts[:, axis : axis + 1]))
        rounded = 16 * ROUNDING * magnitudes + form_errors[0] + sizes @ form_errors[1:]
        errors = np.stack([rounded, (steep[1:] + form_errors[1:]).sum(axis=0)]) * LOOSE + TINY
        return *sum_, errors

    def _next(self, node: Node, live: dict[int, _Known], steep: Bits) -> tuple[Floats, Floats, Floats, Floats]:
        """Rows of a node that reads other nodes, bounds on their errors, and on the length of those of steep rows."""
        width = len(node.biases)
        rounded = np.zeros((2, width))
        by_unit, by_length, lengths = np.zeros_like(rounded), np.zeros_like(rounded), np.zeros(2)
        total, sizes = Pair(node.biases[np.newaxis], np.zeros((1, 1))), np.abs(node.biases)
        for read in node.reads:
            source, norms = live[read.node], self.norms[read.operator]
            carried = norms.magnitudes.apply(np.vstack([source.magnitudes, source.errors]))
            sizes = sizes + carried[0]
            product, error = self.sliced[read.operator].apply(Pair(source.values, source.low))
            total = plus(total, product)
            rounded[0] += error
            by_unit += carried[1:] + source.open[:, np.newaxis] * norms.largest
            by_length += (source.lengths + source.open)[:, np.newaxis] * norms.rows
            lengths += self._spectral(read.operator, steep, source.steep) * source.lengths
            lengths += norms.spectral * source.open
        rounded[0] += 2 * (len(node.reads) + 2) * ROUNDING * sizes
        errors = (np.minimum(by_unit, by_length) + rounded) * LOOSE + TINY
        lengths = (lengths + _lengths(rounded[:, steep])) * LOOSE
        return *total, errors, np.minimum(_lengths(errors[:, steep]), lengths)

    def _spectral(self, operator: Operator, rows: Bits, columns: Bits) -> float:
        """An upper bound on the largest singular value of a part of an operator, or of all of it."""
        whole = self.norms[operator].spectral
        part = isinstance(operator, Dense) and operator.inputs * operator.outputs <= LARGE
        return min(whole, _by_powers(operator.weights[np.ix_(rows, columns)])) if part else whole

    def _outputs(
        self,
        node: Node,
        high: Floats,
        low: Floats,
        errors: Floats,
        lengths: Floats,
        pieces: Indices,
        off: Floats,
        count: int,
        sloped: tuple[Floats, Floats, Floats],
    ) -> _Known:
        """Outputs on pieces, of rows high + low. ``off`` [2, kinks] bounds the distance of rows from their open kinks,
        and its growth; at most ``count`` kinks are open at one vertex. ``sloped`` comes from `_slopes`.
        """
        units = node.units
        if isinstance(units, Maxima):
            high = units.followed(high, pieces)
            low = units.followed(low, pieces)
            magnitudes = np.maximum(high.max(axis=0, initial=0.0), -high.min(axis=0, initial=0.0))
            changed = count * off.max(axis=1, initial=0.0) * LOOSE
            carried = np.maximum.reduceat(errors, units.starts[:-1], axis=1)
            return _Known(
                high, low, magnitudes * (1 + 2.0**-50), carried, lengths, changed, np.ones(units.count, dtype=bool)
            )
        # The errors of units on other pieces, across open kinks, are in `off`.
        slopes, intercepts, steepest = sloped
        if units.scaling:
            high, low = scaled(Pair(high, low), slopes)
        else:
            high, low = high * slopes, low * slopes
        if units.shifting:
            magnitudes = (np.abs(high) + np.abs(intercepts)).max(axis=0)
            high, low = plus(Pair(high, low), Pair(intercepts, np.zeros(1)))
        else:
            magnitudes = np.maximum(high.max(axis=0, initial=0.0), -high.min(axis=0, initial=0.0))
        rounding = np.zeros((2, len(steepest)))
        if units.scaling or units.shifting:
            rounding[0] = 4 * ROUNDING * magnitudes + TINY
        changes = np.abs(np.diff(units.tables().slopes)).ravel()
        changed = count * (changes * off).max(axis=1, initial=0.0) * LOOSE
        carried = (steepest * errors + rounding) * LOOSE
        longer = (steepest.max(initial=0.0) * lengths + _lengths(rounding)) * LOOSE
        return _Known(high, low, magnitudes * (1 + 2.0**-50), carried, longer, changed, np.asarray(carried.any(axis=0)))


def _unsure(
    binding: Bits | None,
    found: Floats,
    bits: Bits,
    limit: Floats,
    allowed: Floats,
    growth: Floats,
    room: Floats,
) -> tuple[Indices, Indices, Floats]:
    """Return the open kinks of a node (of binding ones, if given): vertices, kinks, and magnitudes of their values.
    Reduce the room in place: to the distance at which another kink may be zero, or to -inf if one has the wrong sign.
    """
    away = np.abs(found)
    unsure = away <= limit
    unsure |= (found > 0) != bits
    if binding is not None:
        unsure &= binding
        away[~binding] = np.inf
    places = np.flatnonzero(unsure)
    who, which = np.divmod(places, max(found.shape[1], 1))
    flat = away.reshape(-1)
    off = flat[places]
    flat[places] = np.inf
    # All others are more than twice the bounds.
    away -= allowed
    away *= (1 - 2.0**-40) / growth
    np.minimum(room, away.min(axis=1, initial=np.inf), out=room)
    close = off <= limit[which]
    room[who[~close]] = -np.inf
    return who[close], which[close], off[close]


def _slopes(units: Units | Maxima, pieces: Indices) -> tuple[Floats, Floats, Floats]:
    """Slopes and intercepts on pieces, and the largest magnitude of the slopes of each row there."""
    if isinstance(units, Maxima):
        return np.ones(0), np.zeros(0), np.ones(units.rows)
    slopes, intercepts = units.on_pieces(pieces)
    return slopes, intercepts, np.abs(slopes).max(axis=0, initial=0.0)


def _nothing(values: Floats, bounds: Floats) -> Block:
    """A block that proves nothing, because bounds are beyond the largest double."""
    return Block(np.zeros_like(values), np.full_like(bounds, np.inf), np.full(len(values), -np.inf), _NONE)


def _norms(operator: Operator) -> _Norms:
    magnitudes = operator.entrywise(np.abs)
    largest = np.array([np.abs(operator.row(i)).max(initial=0.0) for i in range(operator.outputs)])
    scale = max(float(largest.max(initial=0.0)), TINY)
    squares = operator.entrywise(lambda weights: np.square(weights / scale)).apply(np.ones((1, operator.inputs)))[0]
    # Squares below 2^-1022 may be lost.
    rows = (
        scale * np.sqrt(squares + operator.most_terms * 2.0**-1000) * (1 + unit_of_terms(operator.most_terms)) * LOOSE
        + TINY
    )
    return _Norms(magnitudes, rows, largest, _spectral(operator, magnitudes))


def _spectral(operator: Operator, magnitudes: Operator) -> float:
    """An upper bound on the largest singular value."""
    sums = magnitudes.apply(np.ones((1, operator.inputs))).max()
    others = magnitudes.apply_transposed(np.ones((1, operator.outputs))).max()
    bound = float(np.sqrt(sums) * np.sqrt(others) * LOOSE) + TINY  # Schur
    if operator.inputs * operator.outputs > LARGE:
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
    error = float((sizes.T @ sizes).sum(axis=1).max()) * unit_of_terms(len(matrix) + 4)
    logarithm, power = 0.0, 1
    for _ in range(SQUARINGS):
        size = float(np.abs(gram).sum(axis=1).max())
        if not size > 0.0:
            return float("inf")
        gram, error = gram / size, error / size + 2.0**-52
        logarithm += np.log(size) / power
        squared = gram @ gram
        error = (2 * error + error * error + unit_of_terms(len(gram))) * LOOSE
        gram, power = squared, 2 * power
    total = float(np.abs(gram).sum(axis=1).max()) + error
    logarithm += np.log(total) / power
    return float(scale * np.exp(logarithm / 2) * (1 + 2.0**-20))


def _lengths(numbers: Floats) -> Floats:
    """Upper bounds on the lengths of vectors, from [m, n]."""
    scale = np.abs(numbers).max(axis=1, initial=TINY)
    squares = np.square(numbers / scale[:, np.newaxis]).sum(axis=1)
    result: Floats = scale * np.sqrt(squares) * (1 + unit_of_terms(numbers.shape[1])) * LOOSE
    return result


def unit_of_terms(terms: int) -> float:
    """A number above the relative error of an inner product of this many terms."""
    return 2 * (terms + 4) * 2.0**-53
