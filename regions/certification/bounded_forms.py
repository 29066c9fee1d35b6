# SPDX-License-Identifier: MIT
"""What are the forms of all kinks under many patterns, and how far can the computed forms be from the true ones?

Under a pattern each row of a node is affine in the chart point: a *form*, with 1 + d coefficients. `walk` computes
forms node by node, in any arithmetic. Patterns with the same bits so far are one *class*, and share their forms.
`Bounded` uses floating point, with one or two doubles for each coefficient. Coordinates are relative to the middle of a
block of points, and X bounds their magnitudes. The *size* of a form is the sum of the magnitudes of its coefficients
times (1, X, ..). Each form has a bound e on the size of its error. It bounds the error at all points of the block, and
e / X bounds the sum of the errors of the slopes. docs/error-bounds.md ("Forms under patterns") proves all constants.
Invariant: a bound of 0 says that the form is exact and constant. NaN and infinity in a bound say that nothing is known.
Cost: one matrix product of d + 2 rows for each class and node; about seven products for two doubles.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from regions.certification.doubled_rows import ROUNDING, Pair, SlicedOperator, plus, scaled
from regions.domains import Domain
from regions.ground.arithmetic.types import Floats, Indices, Packed
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Operator

__all__ = ["LOOSE", "Bounded", "U", "at_points", "walk"]

# Half the distance of 1 to the next double; a factor for the rounding of bounds; the least magnitude of a weight in
# bounds; what is added to the bound of a unit against underflow, times the sum of (1, X, ..). Bounds above HUGE, and
# those of rows with more than MOST_TERMS terms, become infinite, so that no overflow goes unnoticed.
U, LOOSE, LEAST, LIFT, HUGE, MOST_TERMS = 2.0**-53, 1 + 2.0**-30, 2.0**-300, 2.0**-600, 2.0**800, 1 << 20
# More than the relative errors of a few additions of pairs.
PAIRED = 64 * ROUNDING

# What an arithmetic knows about the rows, or outputs, of a node: arrays that begin with an axis of classes.
Rows = tuple[Floats, ...]


def walk(
    graph: Graph, arithmetic: Any, packed: Packed, last: int | None = None
) -> Iterator[tuple[Node, Rows, Indices]]:
    """Yield for each hidden node, up to ``last``: the node, the rows of its classes, and the class of each pattern.

    ``packed`` are patterns uint8 [m, bytes] in lexicographic order of their bits.
    """
    count = len(packed)
    bits = np.unpackbits(packed, axis=1, count=graph.kinks, bitorder="little").view(bool)
    apart = bits[1:] != bits[:-1]
    until = np.where(apart.any(axis=1), apart.argmax(axis=1), graph.kinks) if apart.size else np.zeros(0, np.intp)
    leaders, index = np.zeros(1, np.intp), np.zeros(count, np.intp)
    live: dict[int, Rows] = {}
    for number, node in enumerate(graph.hidden):
        rows = arithmetic.rows(node, [live.get(read.node, ()) for read in node.reads], len(leaders))
        yield node, rows, index
        if number == last:
            return
        for old in graph.last_reads[number]:
            live.pop(old, None)
        new = np.flatnonzero(np.append(True, until < node.kinks.stop))
        if len(new) > len(leaders):
            parents = np.searchsorted(leaders, new, side="right") - 1
            rows = tuple(part[parents] for part in rows)
            live = {key: tuple(part[parents] for part in value) for key, value in live.items()}
            leaders, index = new, np.searchsorted(new, np.arange(count), side="right") - 1
        live[number] = arithmetic.outputs(node, rows, node.units.pieces_of(bits[leaders, node.kinks]))


class Bounded:
    """Forms in floating point. Rows are (forms [c, 1 + d, rows], bounds [c, rows]), or with the second doubles between.

    Parameters
    ----------
    graph : Graph
    domain : Domain
    double : bool
        Whether coefficients consist of two doubles.
    """

    def __init__(self, graph: Graph, domain: Domain, double: bool) -> None:
        self.double = double
        self.first: dict[Node, tuple[Pair, Floats]] = {}
        self.operators: dict[Operator, tuple[Any, Operator]] = {}
        chart = np.vstack([domain.origin, domain.directions])
        for node in graph.nodes:
            for read in node.reads:
                operator = read.operator
                if read.node < 0:
                    pair, errors = SlicedOperator(operator).apply(Pair(chart, np.zeros_like(chart)))
                    self.first[node] = _shifted(pair, node.biases), errors + 8 * ROUNDING * np.abs(node.biases)
                elif operator not in self.operators:
                    parts = SlicedOperator(operator) if double else _parts(operator)
                    self.operators[operator] = parts, operator.entrywise(_at_least)

    def near(self, points: Floats) -> tuple[Bounded, Floats]:
        """Return the arithmetic for a block of points [m, d], and the points relative to its origin."""
        block = copy.copy(self)
        low, high = points.min(axis=0), points.max(axis=0)
        block.centre = np.zeros_like(low) if self.double else low + (high - low) / 2
        moved = points - block.centre
        block.least = max(float(np.abs(moved).max()) * LOOSE, 1e-30)
        block.reach = np.append(1.0, np.full(points.shape[1], block.least))
        block.lift = float(LIFT * block.reach.sum())
        return block, moved

    # The middle of a block, X, (1, X, ..), and what is added against underflow.
    centre: Floats
    least: float
    reach: Floats
    lift: float

    def size(self, forms: Floats) -> Floats:
        """Return the sizes [c, n] of forms [c, 1 + d, n]."""
        magnitudes = np.abs(forms)
        slopes = magnitudes[:, 1]
        for axis in range(2, forms.shape[1]):
            slopes += magnitudes[:, axis]
        slopes *= self.least
        slopes += magnitudes[:, 0]
        return slopes

    def rows(self, node: Node, sources: Sequence[Rows], count: int) -> Rows:
        """Return the rows of a node, from the outputs of the nodes that it reads."""
        if node in self.first:
            return tuple(np.broadcast_to(part, (count, *part.shape[1:])) for part in self._first(node))
        found, sizes, sliced = list[Pair](), np.abs(node.biases), np.zeros(1)
        carried: Floats = np.zeros((1, 1))
        share: Any = 4 * U
        # Every part of every read is added to the row, and then the bias.
        added = 0 if self.double else sum(len(self.operators[read.operator][0]) for read in node.reads)
        for read, (*forms, errors) in zip(node.reads, sources, strict=True):
            parts, larger = self.operators[read.operator]
            size = self.size(forms[0])
            live = errors + size != 0
            shape, flat = forms[0].shape, [each.reshape(-1, each.shape[2]) for each in forms]
            if self.double:
                pair, lost = parts.apply(Pair(*flat))
                found.append(Pair(*(each.reshape(*shape[:2], -1) for each in pair)))
                sizes, sliced = sizes + self.size(found[-1].high), sliced + lost * self.reach.sum()
            else:
                # Products with 0 are exact, so only the others count as terms.
                counts = [np.count_nonzero(live[:, here], axis=1) for here, _ in parts]
                terms = np.max(counts, axis=0) + read.operator.read_again
                terms = np.minimum(terms, parts[0][1].most_terms)
                share = (terms[:, np.newaxis] + (added + 7)) * U
                for here, part in parts:
                    product = part.apply(np.ascontiguousarray(forms[0][..., here]).reshape(-1, part.inputs))
                    found.append(Pair(product.reshape(*shape[:2], -1), np.zeros(1)))
            asked = errors + (size * (0.0 if self.double else share) + self.lift)
            carried = carried + larger.apply(np.where(live, asked, 0.0))
        if self.double:
            total = found[0]
            for other in found[1:]:
                total = plus(total, other)
            forms = list(_shifted(total, node.biases))
            carried = np.where(carried != 0, carried + sliced + (len(found) + 4) * ROUNDING * sizes, 0.0)
        else:
            forms = [found[0].high]
            for other in found[1:]:
                forms[0] += other.high
            forms[0][:, 0] += node.biases
            carried = np.where(carried != 0, carried + share * np.abs(node.biases), 0.0)
        limit = HUGE if node.terms <= MOST_TERMS else 0.0
        return *forms, np.where((carried < limit) | (carried == 0), carried * LOOSE, np.inf)

    def _first(self, node: Node) -> Rows:
        """Return the rows of a node that reads the inputs, for one class: its forms with the origin in the middle."""
        (high, low), errors = self.first[node]
        constant = Pair(high[0], low[0])
        for axis, place in enumerate(self.centre.tolist(), 1):
            constant = plus(constant, scaled(Pair(high[axis], low[axis]), np.full(len(errors), place)))
        high, low = (
            np.concatenate([one[np.newaxis], other[1:]]) for one, other in zip(constant, (high, low), strict=True)
        )
        size = self.reach + np.abs(np.append(0.0, self.centre))
        errors = errors * size.sum() + PAIRED * (np.abs(high).T @ size)
        if not self.double:
            errors = errors + np.abs(low).T @ self.reach
        errors = np.where(errors < HUGE, errors * LOOSE, np.inf)
        return tuple(part[np.newaxis] for part in ((high, low, errors) if self.double else (high, errors)))

    def outputs(self, node: Node, rows: Rows, pieces: Indices) -> Rows:
        """Return the outputs of a node on pieces [c, units]."""
        units = node.units
        slopes, intercepts = units.on_pieces(pieces)
        *forms, errors = rows
        forms = [
            units.followed(each, np.broadcast_to(pieces[:, np.newaxis], (*each.shape[:2], pieces.shape[1])))
            for each in forms
        ]
        errors = units.followed(errors, pieces)
        if not units.scaling and not units.shifting:
            return *(each * slopes[:, np.newaxis] for each in forms), errors * np.abs(slopes)
        live = ((self.size(forms[0]) + errors != 0) & (slopes != 0)) | (intercepts != 0)
        if self.double:
            pair = scaled(Pair(*forms), np.broadcast_to(slopes[:, np.newaxis], forms[0].shape))
            forms = list(_shifted(pair, intercepts))
        else:
            forms = [forms[0] * slopes[:, np.newaxis]]
            forms[0][:, 0] += intercepts
        size = self.size(forms[0]) + np.abs(intercepts)
        errors = errors * np.abs(slopes) + (PAIRED if self.double else 4 * U) * size + self.lift
        return *forms, np.where(live, errors, 0.0) * LOOSE

    def kinks(self, node: Node, rows: Rows) -> tuple[list[Floats], Floats, Floats]:
        """Return forms of kinks [c, 1 + d, kinks] in parts; bounds on the errors of their values at points of the
        block, and bounds on the sums of the magnitudes of their true slopes, [c, kinks] each.
        """
        *forms, errors = rows
        units, values = node.units, node.units.kink_values
        if self.double:
            later, earlier = units.kink_rows.T
            pair = Pair(*(each[..., later] for each in forms))
            if (earlier >= 0).all():
                forms = list(plus(pair, Pair(*(-each[..., earlier] for each in forms))))
            else:
                forms = list(_shifted(pair, -values))
            loss = PAIRED * (units.either(self.size(rows[0])) + np.abs(values))
        else:
            found = units.compared(forms[0])
            found = found + 0.0 if found is forms[0] else found
            found[:, 0] -= values
            forms = [found]
            loss = (4 * len(self.reach) + 8) * U * (self.size(found) + np.abs(values))
        errors = units.either(errors)
        slopes = np.abs(forms[0][:, 1:]).sum(axis=1) * LOOSE + errors / self.least
        return forms, np.where(errors != 0, (errors + loss) * LOOSE, 0.0), slopes * LOOSE


def at_points(
    forms: Sequence[Floats], points: Floats, index: Indices | slice = slice(None)
) -> tuple[Floats, Floats | float]:
    """Return the values [m, n] of the forms with this index, of forms [c, 1 + d, n], at points [m, d]; and what is left
    out of sums of pairs.
    """
    if len(forms) == 1:
        (one,) = forms
        total = one[index, 1] * points[:, :1]
        for axis in range(1, points.shape[1]):
            part = one[index, axis + 1]
            total += np.multiply(part, points[:, axis : axis + 1], out=part if isinstance(index, np.ndarray) else None)
        total += one[index, 0]
        return total, 0.0
    forms = [each[index] for each in forms]
    shape = np.broadcast_shapes(forms[0][:, 0].shape, points[:, :1].shape)
    pair = Pair(*(np.broadcast_to(each[:, 0], shape) for each in forms))
    for axis in range(points.shape[1]):
        slopes = Pair(*(np.broadcast_to(each[:, axis + 1], shape) for each in forms))
        pair = plus(pair, scaled(slopes, np.broadcast_to(points[:, axis : axis + 1], shape)))
    return pair.high, 2.0**-50 * np.abs(pair.high)


def _shifted(pair: Pair, constants: Floats) -> Pair:
    """Add constants to the first coefficient of forms [.., 1 + d, n]."""
    shift = np.zeros(np.broadcast_shapes(pair.high.shape, (1, *constants.shape[-1:])))
    shift[..., 0, :] = constants
    return plus(pair, Pair(shift, np.zeros_like(shift)))


def _at_least(weights: Floats) -> Floats:
    """Magnitudes of weights, with LEAST in place of smaller ones but 0, so that products with bounds are normal."""
    return np.where(weights != 0, np.maximum(np.abs(weights), LEAST), 0.0)


def _parts(operator: Operator) -> list[tuple[slice, Operator]]:
    """Cut a dense operator into parts with few terms each. A sum of their sums has a smaller bound on its rounding."""
    if not isinstance(operator, Dense) or operator.inputs < 32:
        return [(slice(None), operator)]
    step = max(16, operator.inputs // 2)
    parts = [slice(start, start + step) for start in range(0, operator.inputs, step)]
    return [(here, Dense(np.ascontiguousarray(operator.weights[:, here]))) for here in parts]
