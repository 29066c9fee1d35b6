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

from regions.arithmetic.types import Bits, Floats, Indices, Integers
from regions.certification.doubled_rows import ROUNDING, Pair, SlicedOperator, plus, scaled
from regions.domains import Domain, Polytope
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Operator, Units
from regions.networks.maxima import Maxima

__all__ = ["Block", "VertexValues"]

TINY, HUGE = 1e-290, 1e270
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
        The form of each kink, which is 0 at the kink; only until the next block.
    bounds : float64 [kinks]
        Bounds on their errors at the stored points, up to a factor of 1 + 2^-50 on the values.
    room : float64 [m]
        Negative if a sign is wrong, or has no bound.
    vertices, kinks : int64 [n]
        The open kinks, which may be zero at a vertex, by index of the vertex in the block.
    most, growth : float64 [n]
        Bounds on the magnitudes of the forms of open kinks at the stored points, and for each unit of distance from
        there; 0 where two branches are zero because a third one equals both.
    """

    values: Floats
    bounds: Floats
    room: Floats
    vertices: Integers
    kinks: Integers
    most: Floats
    growth: Floats


class _Known(NamedTuple):
    """Outputs of a node [m, units], the largest magnitude of each, bounds on the errors, and on their length.

    Bounds are at the stored points, and for each unit of distance from there: [2, units] and [2]. The errors of units
    at open kinks can be larger, by ``open`` [2] in all for each vertex. Others have none if they are not ``steep``,
    bool [units]. ``low`` is the second double, if there is one.
    """

    values: Floats
    low: Floats | None
    magnitudes: Floats
    errors: Floats
    lengths: Floats
    open: Floats
    steep: Bits


class _OpenKinks(NamedTuple):
    vertices: Integers
    kinks: Integers
    most: Floats
    growth: Floats


_NONE = _OpenKinks(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


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
    domain : Domain or Polytope
        Only its chart is used.
    doubled : bool, optional
        Compute with two doubles for each value (`doubled_rows.py`), in about ten times the time.
    """

    def __init__(self, graph: Graph, domain: Domain | Polytope, doubled: bool = False) -> None:
        self.graph, self.doubled = graph, doubled
        self.unit = 2.0**-100 if doubled else 2.0**-53
        chart = np.vstack([domain.origin, domain.directions])
        self.first: dict[Node, tuple[Pair, Floats]] = {}
        self.norms: dict[Operator, _Norms] = {}
        self.sliced: dict[Operator, SlicedOperator] = {}
        # New pages of memory cost as much as an operation on them.
        self._values, self._scratch = np.empty((0, 0)), np.empty(0)
        for node in graph.nodes:
            for read in node.reads:
                if read.node < 0:  # the only one of this node
                    self.first[node] = _restricted(read.operator, chart)
                elif read.operator not in self.norms:
                    self.norms[read.operator] = _norms(read.operator, len(graph.nodes) > DEEP)
                    if doubled:
                        self.sliced[read.operator] = SlicedOperator(read.operator)

    def block(self, points: Floats, stated: float, bits: Bits, shifts: Floats | None = None) -> Block:
        """Return the values at some vertices.

        Parameters
        ----------
        points : float64 [m, d]
            Stored coordinates in the chart.
        stated : float
            A distance from the true positions that is usual. It proves nothing: kinks that may be zero within a few of
            these distances are open.
        bits : bool [m, kinks]
            A pattern for each vertex.
        shifts : float64 [m, d], optional
            Added to the points; only if values are doubled.
        """
        if self._values.shape != bits.shape:
            self._values, self._scratch = np.empty(bits.shape), np.empty(bits.size)
        values, bounds, room = self._values, np.empty(bits.shape[1]), np.full(len(points), np.inf)
        live: dict[int, _Known] = {}
        open_: list[_OpenKinks] = []
        for number, node in enumerate(self.graph.hidden):
            first, here = node in self.first, node.kinks
            pieces = node.units.pieces_of(bits[:, here])
            slopes, intercepts, steepest = _slopes(node.units, pieces, not self.doubled)
            steep = steepest > 0.0
            if first:
                rows, low, errors = self._first(node, points, shifts)
                lengths = _lengths(errors[:, steep])
            else:
                rows, low, errors, lengths = self._next(node, live, steep)
            found = np.subtract(node.units.compared(rows), node.units.kink_values, out=values[:, here])
            if low is not None:  # differences that are small are exact, so that the low parts count
                found += node.units.compared(low)
            allowed, growth = node.units.either(errors) * LOOSE
            bounds[here] = allowed
            # Rows are much smaller than the largest double if their bounds are.
            if not all((sizes < HUGE).all() for sizes in (allowed, growth, np.abs(node.units.kink_values))):
                return _nothing(values, bounds)
            limit = 2 * (allowed + 4 * stated * growth)
            who, which, off = _unsure(
                node.units, found, bits[:, here], pieces, limit, allowed, growth, room, self._scratch
            )
            charged = np.stack([np.zeros(len(growth)), growth])
            np.maximum.at(charged[0], which, off * (1 + 2.0**-48))
            charged[0] += allowed
            count = int(np.bincount(who, minlength=1).max(initial=0))
            found_open = _OpenKinks(who, which, off * (1 + 2.0**-48) + allowed[which], growth[which])
            if isinstance(node.units, Maxima):
                found_open = _closed(node.units, pieces, found_open)
            open_.append(found_open._replace(kinks=found_open.kinks + here.start))
            live[number] = self._outputs(
                node, rows, low, errors, lengths, pieces, charged, count, (slopes, intercepts, steepest)
            )
            for old in self.graph.last_reads[number]:
                live.pop(old, None)
        together = [np.concatenate(each) for each in zip(_NONE, *open_, strict=True)]
        return Block(values, bounds, np.where(np.isnan(room), -np.inf, room * (1 - 2.0**-30)), *together)

    def _first(self, node: Node, points: Floats, shifts: Floats | None) -> tuple[Floats, Floats | None, Floats]:
        """Rows of a node that reads the inputs, and bounds on their errors."""
        forms, form_errors = self.first[node]
        steep = np.abs(forms.high) * (1 + 2.0**-50)
        sizes = np.abs(points).max(axis=0, initial=0.0)
        if shifts is not None:
            sizes = sizes + np.abs(shifts).max(axis=0, initial=0.0)
        magnitudes = steep[0] + np.abs(node.biases) + sizes @ steep[1:]
        low: Floats | None = None
        if self.doubled:
            sum_ = plus(Pair(node.biases, np.zeros(1)), Pair(forms.high[:1], forms.low[:1]))
            for axis in range(points.shape[1]):
                row = Pair(forms.high[axis + 1], forms.low[axis + 1])
                sum_ = plus(sum_, scaled(row, points[:, axis : axis + 1]))
                if shifts is not None:
                    sum_ = plus(sum_, scaled(row, shifts[:, axis : axis + 1]))
            rows, low = sum_
            rounded = 16 * ROUNDING * magnitudes + form_errors[0] + sizes @ form_errors[1:]
        else:
            rows = points @ forms.high[1:] + (forms.high[0] + node.biases)
            # The low parts of the forms are left out.
            left = form_errors + np.abs(forms.low)
            rounded = _unit(len(steep) + 2) * magnitudes + left[0] + sizes @ left[1:]
        errors = np.stack([rounded, (steep[1:] + form_errors[1:]).sum(axis=0)]) * LOOSE + TINY
        return rows, low, errors

    def _next(self, node: Node, live: dict[int, _Known], steep: Bits) -> tuple[Floats, Floats | None, Floats, Floats]:
        """The same for a node that reads other nodes, and bounds on the length of the errors of steep rows."""
        unit, width = _unit(node.terms), len(node.biases)
        rows: Floats | None = None
        low: Floats | None = None
        rounded = np.zeros((2, width))
        by_unit, by_length, lengths = np.zeros_like(rounded), np.zeros_like(rounded), np.zeros(2)
        total: Pair | None = Pair(node.biases[np.newaxis], np.zeros((1, 1))) if self.doubled else None
        sizes = np.abs(node.biases)
        for read in node.reads:
            source, norms = live[read.node], self.norms[read.operator]
            carried = norms.magnitudes.apply(np.vstack([source.magnitudes, source.errors]))
            sizes = sizes + carried[0]
            if total is not None:
                assert source.low is not None
                product, error = self.sliced[read.operator].apply(Pair(source.values, source.low))
                total = plus(total, product)
                rounded[0] += error
            else:
                plain = read.operator.apply(source.values)
                rows = plain if rows is None else rows + plain
            by_unit += carried[1:] + source.open[:, np.newaxis] * norms.largest
            by_length += (source.lengths + source.open)[:, np.newaxis] * norms.rows
            lengths += self._spectral(read.operator, steep, source.steep) * source.lengths
            lengths += norms.spectral * source.open
        if total is not None:
            rows, low = total
            rounded[0] += 2 * (len(node.reads) + 2) * ROUNDING * sizes
        else:
            assert rows is not None
            rows += node.biases
            rounded[0] += unit * 2 * sizes
        errors = (np.minimum(by_unit, by_length) + rounded) * LOOSE + TINY
        lengths = (lengths + _lengths(rounded[:, steep])) * LOOSE
        return rows, low, errors, np.minimum(_lengths(errors[:, steep]), lengths)

    def _spectral(self, operator: Operator, rows: Bits, columns: Bits) -> float:
        """An upper bound on the largest singular value of a part of an operator, or of all of it."""
        whole = self.norms[operator].spectral
        part = self.doubled and isinstance(operator, Dense) and operator.inputs * operator.outputs <= LARGE
        return min(whole, _by_powers(operator.weights[np.ix_(rows, columns)])) if part else whole

    def _outputs(
        self,
        node: Node,
        high: Floats,
        low: Floats | None,
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
            low = None if low is None else units.followed(low, pieces)
            magnitudes = np.maximum(high.max(axis=0, initial=0.0), -high.min(axis=0, initial=0.0))
            changed = count * off.max(axis=1, initial=0.0) * LOOSE
            carried = np.maximum.reduceat(errors, units.starts[:-1], axis=1)
            return _Known(
                high, low, magnitudes * (1 + 2.0**-50), carried, lengths, changed, np.ones(units.count, dtype=bool)
            )
        # The errors of units on other pieces, across open kinks, are in `off`.
        slopes, intercepts, steepest = sloped
        if low is None:
            high = np.multiply(high, slopes, out=high)
        elif units.scaling:
            high, low = scaled(Pair(high, low), slopes)
        else:
            high, low = high * slopes, low * slopes
        if units.shifting:
            magnitudes = (np.abs(high) + np.abs(intercepts)).max(axis=0)
            if low is None:
                high += intercepts
            else:
                high, low = plus(Pair(high, low), Pair(intercepts, np.zeros(1)))
        else:
            magnitudes = np.maximum(high.max(axis=0, initial=0.0), -high.min(axis=0, initial=0.0))
        rounding = np.zeros((2, len(steepest)))
        if units.scaling or units.shifting:
            rounding[0] = 4 * (ROUNDING if self.doubled else self.unit) * magnitudes + TINY
        changes = np.abs(np.diff(units.tables().slopes)).ravel()
        changed = count * (changes * off).max(axis=1, initial=0.0) * LOOSE
        carried = (steepest * errors + rounding) * LOOSE
        longer = (steepest.max(initial=0.0) * lengths + _lengths(rounding)) * LOOSE
        return _Known(high, low, magnitudes * (1 + 2.0**-50), carried, longer, changed, np.asarray(carried.any(axis=0)))


def _unsure(
    units: Units | Maxima,
    found: Floats,
    bits: Bits,
    pieces: Indices,
    limit: Floats,
    allowed: Floats,
    growth: Floats,
    room: Floats,
    scratch: Floats,
) -> tuple[Indices, Indices, Floats]:
    """The open kinks of a node: vertices, kinks, and magnitudes of their values. Reduces the room in place: to the
    distance at which another kink may be zero, or to nothing if one has the wrong sign.
    """
    away = np.abs(found, out=scratch[: found.size].reshape(found.shape))
    unsure = away <= limit
    unsure |= (found > 0) != bits
    if isinstance(units, Maxima):  # only comparisons with the argmax say something
        binding = units.binding(pieces)
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


def _slopes(units: Units | Maxima, pieces: Indices, every: bool) -> tuple[Floats, Floats, Floats]:
    """Slopes and intercepts on pieces, and the largest magnitude of the slopes of each row there, or on every piece."""
    if isinstance(units, Maxima):
        return np.ones(0), np.zeros(0), np.ones(units.rows)
    slopes, intercepts = units.on_pieces(pieces)
    return slopes, intercepts, np.abs(units.tables().slopes.T if every else slopes).max(axis=0, initial=0.0)


def _nothing(values: Floats, bounds: Floats) -> Block:
    """A block that proves nothing, because bounds are beyond the largest double."""
    return Block(np.zeros_like(values), np.full_like(bounds, np.inf), np.full(len(values), -np.inf), *_NONE)


def _closed(units: Maxima, pieces: Indices, found: _OpenKinks) -> _OpenKinks:
    """Add the comparisons of branches that may both equal the argmax: each is zero if these are."""
    keys = found.vertices * units.count + units.kink_units[found.kinks]
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    sizes = np.diff(starts, append=len(keys))
    vertices, kinks = [found.vertices], [found.kinks]
    for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        group = order[start : start + size]
        vertex, unit = divmod(int(keys[group[0]]), units.count)
        argmax = units.starts[unit] + int(pieces[vertex, unit])
        # The branches that are compared with the argmax, as indices within their unit, and the first kink of the unit.
        pairs = units.kink_rows[found.kinks[group]]
        branches = np.sort(np.where(pairs[:, 0] == argmax, pairs[:, 1], pairs[:, 0]) - units.starts[unit]).tolist()
        first = int(np.searchsorted(units.kink_units, unit))
        added = [first + b * (b - 1) // 2 + a for b in branches for a in branches if a < b]
        vertices.append(np.full(len(added), vertex, dtype=np.int64))
        kinks.append(np.array(added, dtype=np.int64))
    every, numbers = np.concatenate(vertices), np.concatenate(kinks)
    zeros = np.zeros(len(every) - len(found.vertices))
    return _OpenKinks(every, numbers, np.concatenate([found.most, zeros]), np.concatenate([found.growth, zeros]))


def _restricted(operator: Operator, chart: Floats) -> tuple[Pair, Floats]:
    """Forms of the rows of an operator in the chart, [1 + d, rows], and bounds on their errors."""
    sliced = SlicedOperator(operator)
    forms, error = sliced.apply(Pair(chart, np.zeros_like(chart)))
    return forms, np.broadcast_to(error, forms.high.shape)


def _norms(operator: Operator, deep: bool) -> _Norms:
    magnitudes = operator.entrywise(np.abs)
    largest = np.array([np.abs(operator.row(i)).max(initial=0.0) for i in range(operator.outputs)])
    scale = max(float(largest.max(initial=0.0)), TINY)
    squares = operator.entrywise(lambda weights: np.square(weights / scale)).apply(np.ones((1, operator.inputs)))[0]
    # Squares below 2^-1022 may be lost.
    rows = scale * np.sqrt(squares + operator.most_terms * 2.0**-1000) * (1 + _unit(operator.most_terms)) * LOOSE + TINY
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
