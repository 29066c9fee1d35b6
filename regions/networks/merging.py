# SPDX-License-Identifier: MIT
"""Which neurons of a network can be merged before its regions are found?

Neurons of one layer with equal rows have the same boundary and the same values, and so has a neuron whose row is a
power of two times another one, apart from that factor. The row of another neuron may be the negative: then
``relu(-h) = relu(h) - h``. In both cases the second neuron adds no boundary, and layers above can read the first one
instead. Their rows may then be equal too, layer after layer. Minima and maxima written with ReLUs are the main case:
``(a + b) / 2 - |a - b| / 2`` becomes ``a - relu(a - b)``.
Invariant: every sum and product is exact, or nothing is merged; and the boundaries of all neurons remain, so that the
regions are the same. Only their patterns are shorter; `Merged` says how to complete them.
Cost: a few sorts of all weights. The core says beforehand how many neurons repeat a boundary of their layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Operator, Read, Units
from regions.networks.named_activations import identity, relu
from regions.networks.parts import with_inputs_apart
from regions.networks.patches import FEW_TERMS, Patches

__all__ = ["Merged", "merged"]

# Weights that are not 0, less than half a second for all.
MOST_TERMS = 1 << 20


class _Inexact(Exception):
    """A sum or product is not a double."""


@dataclass(frozen=True)
class _Forms:
    """Sparse affine forms of merged units: terms [form], their units and coefficients. Unit 0 is the constant 1."""

    count: int
    of: Integers
    units: Integers
    values: Floats

    def summed(self) -> _Forms:
        """Return the forms with one term for each unit, in order, and none with coefficient 0."""
        order = np.lexsort((self.units, self.of))
        of, units, values = self.of[order], self.units[order], self.values[order]
        first = np.append(True, (of[1:] != of[:-1]) | (units[1:] != units[:-1]))[: len(of)]
        place = np.cumsum(first) - 1
        rank = np.arange(len(of)) - np.flatnonzero(first)[place]
        sums = values[first]
        for number in range(1, int(rank.max(initial=0)) + 1):
            at = place[rank == number]
            sums[at] = _exact_sums(sums[at], values[rank == number])
        kept = sums != 0
        return _Forms(self.count, of[first][kept], units[first][kept], sums[kept])

    def of_these(self, numbers: Integers) -> _Forms:
        """Return some of the forms, whose terms are in order."""
        counts = np.bincount(self.of, minlength=self.count)[numbers]
        begin = np.searchsorted(self.of, numbers)
        of = np.repeat(np.arange(len(numbers)), counts)
        terms = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(begin, counts)
        return _Forms(len(numbers), of, self.units[terms], self.values[terms])

    def times(self, factors: Floats) -> _Forms:
        return _Forms(self.count, self.of, self.units, _exact_products(self.values, factors[self.of]))

    def after(self, inputs: _Forms) -> _Forms:
        """Return these forms of forms ``inputs``, as forms of what those read."""
        read = inputs.of_these(self.units)
        values = _exact_products(read.values, self.values[read.of])
        return _Forms(self.count, self.of[read.of], read.units, values).summed()

    def plus(self, other: _Forms) -> _Forms:
        joined = (np.concatenate(pair) for pair in zip(self._terms(), other._terms(), strict=True))
        return _Forms(self.count, *joined).summed()

    def _terms(self) -> tuple[Integers, Integers, Floats]:
        return self.of, self.units, self.values


@dataclass(frozen=True, eq=False)
class Merged:
    """A graph with merged neurons, and where the kinks of the whole network are.

    Attributes
    ----------
    graph : Graph
        It has the same regions in every domain, fewer neurons, and a constant output.
    kinks : int64 [K]
        For each of K kinks of the whole network the kink of this graph that it was merged into, -1 if its row is
        constant, -2 if it is zero.
    opposite : bool [K]
        Whether its row is a negative multiple of the row of that kink, or a positive constant.
    """

    graph: Graph
    kinks: Integers
    opposite: Bits


def merged(graph: Graph) -> Merged | None:
    """Return a graph with the same regions in every domain, but fewer neurons.

    Returns None if a hidden node has other units than ReLUs and sums, if a number would be rounded, and for some large
    networks.
    """
    hidden = graph.hidden
    kinds = [node.units.activation if isinstance(node.units, Units) else None for node in hidden]
    if any(kind not in (identity(), relu()) for kind in kinds):
        return None
    if sum(_terms_of(node) for node in hidden) > MOST_TERMS:
        return None
    # In a network with few weights, more is worth merging: it reads neurons of any layer below anyway.
    sparse = all(_terms_of(node) <= FEW_TERMS * node.units.rows for node in hidden[1:])
    if not sparse and any(isinstance(read.operator, Patches) for node in hidden for read in node.reads):
        return None
    try:
        with np.errstate(all="ignore"):
            return _Merging(graph.n_in, sparse).run(hidden)
    except _Inexact:
        return None


class _Merging:
    """A pass through the nodes, lowest first. Units are numbered from 1, the inputs first."""

    def __init__(self, n_in: int, sparse: bool) -> None:
        self.n_in, self.sparse, self.units = n_in, sparse, 1 + n_in
        self.outputs = {-1: _Forms(n_in, np.arange(n_in), np.arange(1, 1 + n_in), np.ones(n_in))}
        self.rows: list[tuple[_Forms, bool]] = []  # of each node, and whether its units are ReLUs
        self.kinks, self.opposite = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=bool)]  # of each node with ReLUs

    def run(self, hidden: tuple[Node, ...]) -> Merged:
        for number, node in enumerate(hidden):
            rows = _Forms(node.units.rows, *_constants(node.biases))
            for read in node.reads:
                terms = _Forms(node.units.rows, *_terms(read.operator))
                rows = rows.plus(terms.after(self.outputs[read.node]))
            is_relu = node.units.kinks > 0
            self.outputs[number] = self._relus(rows) if is_relu else self._sums(rows)
        return Merged(self._graph(), np.concatenate(self.kinks), np.concatenate(self.opposite))

    def _relus(self, rows: _Forms) -> _Forms:
        """Add neurons for the different rows; return the outputs of all."""
        first, factors, numbers = _multiples(rows, self.sparse)
        before = sum(forms.count for forms, is_relu in self.rows if is_relu)
        units = self._add(rows.of_these(first), True)
        varies = numbers >= 0
        constants = _constant_of(rows)
        self.kinks.append(np.where(varies, before + numbers, np.where(constants == 0, -2, -1)))
        self.opposite.append(np.where(varies, factors < 0, constants > 0))
        places = np.flatnonzero(varies)
        outputs = _Forms(rows.count, places, units[numbers[places]], np.abs(factors[places]))
        (opposite,) = np.nonzero(varies & (factors < 0))
        constant = _Forms(rows.count, *_constants(np.where(varies, 0.0, np.maximum(_constant_of(rows), 0.0))))
        below = rows.of_these(opposite)
        return outputs.plus(_Forms(rows.count, opposite[below.of], below.units, below.values)).plus(constant)

    def _sums(self, rows: _Forms) -> _Forms:
        """Add identity units for the different rows, apart from those that are multiples of a unit."""
        terms = np.bincount(rows.of, minlength=rows.count)
        alone = np.zeros(rows.count, dtype=bool)
        if self.sparse:
            alone[rows.of] = (terms[rows.of] == 1) & ((rows.units == 0) | _are_powers(rows.values))
        first, factors, numbers = _multiples(rows, True)
        new = np.flatnonzero(~alone[first])
        units = np.zeros(len(first), dtype=np.int64)
        units[new] = self._add(rows.of_these(first[new]), False)
        (others,) = np.nonzero(~alone & (numbers >= 0))
        (same,) = np.nonzero(alone | (numbers < 0))
        below = rows.of_these(same)
        merged = _Forms(rows.count, others, units[numbers[others]], factors[others])
        return merged.plus(_Forms(rows.count, same[below.of], below.units, below.values))

    def _add(self, rows: _Forms, is_relu: bool) -> Integers:
        self.rows.append((rows, is_relu))
        self.units += rows.count
        return np.arange(self.units - rows.count, self.units)

    def _graph(self) -> Graph:
        """Return the graph of all units that are neurons, or that neurons read."""
        ends = list(accumulate((rows.count for rows, _ in self.rows), initial=1 + self.n_in))
        is_read = np.zeros(self.units, dtype=bool)
        kept = []
        for (rows, is_relu), start in zip(reversed(self.rows), reversed(ends[:-1]), strict=True):
            numbers = np.arange(rows.count) if is_relu else np.flatnonzero(is_read[start : start + rows.count])
            kept.append(rows.of_these(numbers))
            is_read[kept[-1].units] = True
            is_read[start : start + rows.count][numbers] = True
        # The node of each unit, and its place there.
        node_of, place_of = np.full(self.units, -1), np.arange(self.units) - 1
        nodes: list[Node] = []
        first_kink = 0
        for (rows, is_relu), start, forms in zip(self.rows, ends, reversed(kept), strict=False):
            if forms.count == 0:
                continue
            (units,) = np.nonzero(is_read[start : start + rows.count])
            of_node = Units(forms.count, relu() if is_relu else identity())
            reads = []
            for source in np.unique(node_of[forms.units[forms.units > 0]]).tolist():
                here = (node_of[forms.units] == source) & (forms.units > 0)
                width = nodes[source].units.count if source >= 0 else self.n_in
                weights = np.zeros((forms.count, width))
                weights[forms.of[here], place_of[forms.units[here]]] = forms.values[here]
                reads.append(Read(self._operator(weights), source))
            if not reads:
                reads.append(Read(Dense(np.zeros((forms.count, self.n_in))), -1))
            kinks = slice(first_kink, first_kink + of_node.kinks)
            first_kink = kinks.stop
            nodes.append(Node(_constant_of(forms), tuple(reads), of_node, kinks))
            node_of[start + units], place_of[start + units] = len(nodes) - 1, np.arange(forms.count)
        width = nodes[-1].units.count if nodes else self.n_in
        read, end = Read(Dense(np.zeros((1, width))), len(nodes) - 1), slice(first_kink, first_kink)
        nodes.append(Node(np.zeros(1), (read,), Units(1, identity()), end))
        return with_inputs_apart(Graph(self.n_in, nodes))

    def _operator(self, weights: Floats) -> Operator:
        patches = Patches.of_short_rows(weights) if self.sparse else None
        return Dense(weights) if patches is None else patches


def _multiples(rows: _Forms, negative: bool) -> tuple[Integers, Floats, Integers]:
    """Return the first row of each set of rows that are multiples of each other by a power of two, or also, if
    ``negative``, by the negative of one; for each row the factor of its set's first; and the number of its set, or -1
    for a constant row.
    """
    counts = np.bincount(rows.of, minlength=rows.count)
    last = np.cumsum(counts) - 1
    varies = (counts > 0) & (rows.units[last] > 0) if len(rows.units) else np.zeros(rows.count, dtype=bool)
    scales = np.ones(rows.count)
    leading = rows.values[last[varies]]
    scales[varies] = np.ldexp(1.0, np.frexp(leading)[1]) * (np.sign(leading) if negative else 1.0)
    bits = _exact_products(rows.values, 1 / scales[rows.of]).view(np.uint64)
    hashes = np.zeros(rows.count, dtype=np.uint64)
    mixed = (bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + rows.units.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
    np.add.at(hashes, rows.of, mixed ^ (mixed >> np.uint64(29)))
    (places,) = np.nonzero(varies)
    _, first, inverse = np.unique(hashes[places], return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(first), dtype=np.int64)
    number[order] = np.arange(len(first))
    firsts = places[first[order]]
    numbers = np.full(rows.count, -1)
    numbers[places] = number[inverse.ravel()]
    factors = np.ones(rows.count)
    factors[places] = scales[places] / scales[firsts[numbers[places]]]
    # Equal hashes only propose that rows are multiples.
    one, other = rows.of_these(firsts[numbers[places]]).times(factors[places]), rows.of_these(places)
    if any(not np.array_equal(left, right) for left, right in zip(one._terms(), other._terms(), strict=True)):
        raise _Inexact
    return firsts, factors, numbers


def _terms(operator: Operator) -> tuple[Integers, Integers, Floats]:
    """Return the rows, inputs and weights of an operator, apart from zeros."""
    if isinstance(operator, Dense):
        rows, inputs = np.nonzero(operator.weights)
        return rows, inputs, operator.weights[rows, inputs]
    weights = operator.kernels[operator.kinds]  # [patches, rows, terms]
    sources = np.broadcast_to(operator.sources[:, np.newaxis, :], weights.shape)
    targets = np.broadcast_to(operator.targets[:, :, np.newaxis], weights.shape)
    kept = (weights != 0) & (sources >= 0)
    return targets[kept].astype(np.int64), sources[kept].astype(np.int64), weights[kept]


def _terms_of(node: Node) -> int:
    """Return the number of weights that are not 0, or a bound on it."""
    operators = [read.operator for read in node.reads]
    return sum(
        int(np.count_nonzero(each.weights)) if isinstance(each, Dense) else each.multiply_adds for each in operators
    )


def _constants(values: Floats) -> tuple[Integers, Integers, Floats]:
    (rows,) = np.nonzero(values)
    return rows, np.zeros(len(rows), dtype=np.int64), values[rows]


def _constant_of(rows: _Forms) -> Floats:
    constants = np.zeros(rows.count)
    constants[rows.of[rows.units == 0]] = rows.values[rows.units == 0]
    return constants


def _exact_products(left: Floats, right: Floats) -> Floats:
    """Multiply numbers that are not 0. The error is computed as by Dekker (1971), which is exact in this range."""
    product = left * right
    (high, low), (other_high, other_low) = _halves(left), _halves(right)
    error = ((high * other_high - product) + high * other_low + low * other_high) + low * other_low
    if not ((error == 0) & (np.abs(product) > 2.0**-900) & (np.abs(product) < 2.0**900)).all():
        raise _Inexact
    return product


def _halves(values: Floats) -> tuple[Floats, Floats]:
    """Split doubles into two of at most 26 bits."""
    scaled = values * (2.0**27 + 1)
    high = scaled - (scaled - values)
    return high, values - high


def _are_powers(values: Floats) -> NDArray[np.bool_]:
    return np.abs(np.frexp(values)[0]) == 0.5


def _exact_sums(left: Floats, right: Floats) -> Floats:
    total = left + right
    part = total - left
    if not ((left - (total - part)) + (right - part) == 0).all():
        raise _Inexact
    return total
