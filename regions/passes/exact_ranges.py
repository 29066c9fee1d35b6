# SPDX-License-Identifier: MIT
"""Between which fractions are the outputs of a network on a box, if nothing is rounded?

The enclosures of `ranges.py` in fractions, without symbols: affine forms with remainders, and intervals. They show that
a bound is equal to a value that is reached, which rounded bounds cannot show.
Invariant: nothing is rounded.
Cost: some microseconds for each weight and free input: milliseconds for a small network. Fractions have about as many
times more digits in each layer as it has units. The work ends where there would be too many.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

from regions.ground.arithmetic.dyadic import dyadic
from regions.ground.arithmetic.types import Floats, Indices, Objects
from regions.ground.threads.deadline import check_time
from regions.networks.graph import Graph, Node
from regions.networks.maxima import Maxima
from regions.networks.walk import preactivations

__all__ = ["exact_ranges"]

# The most bits of all constants of a layer whose units have kinks; ten times as many take seconds in the next layer.
MOST_BITS = 1 << 16


class _Fractions(NamedTuple):
    """Forms [1 + d, units] and remainders [units], and the ends of intervals, [units] each."""

    forms: Objects
    remainders: Objects
    low: Objects
    high: Objects

    @property
    def ends(self) -> list[tuple[Fraction, Fraction]]:
        """The intersections of the ranges of the forms and the intervals."""
        reach = np.abs(self.forms[1:]).sum(axis=0) + self.remainders
        lower, upper = self.forms[0] - reach, self.forms[0] + reach
        pairs = zip(lower, self.low, upper, self.high, strict=True)
        return [(max(a, b), min(c, d)) for a, b, c, d in pairs]


class _TooLong(Exception):
    """Fractions have too many digits."""


def exact_ranges(graph: Graph, lower: Floats, upper: Floats) -> list[tuple[Fraction, Fraction]] | None:
    """Return two numbers between which each output is on a box with corners [n_in]; None if it would take too long."""
    low, high = (np.array([Fraction(x) for x in each.tolist()], dtype=object) for each in (lower, upper))
    free = np.flatnonzero(lower < upper)
    forms = np.full((1 + len(free), len(low)), Fraction(0), dtype=object)
    forms[0] = (low + high) / 2
    forms[1 + np.arange(len(free)), free] = ((high - low) / 2)[free]
    inputs = _Fractions(forms, forms[0] * 0, low, high)
    try:
        *_, found = preactivations(graph, _Enclosing(), inputs, lambda node, before: _asked_later(node))
    except _TooLong:
        return None
    return found.ends


def _asked_later(node: Node) -> Indices:
    return np.zeros(node.units.count, dtype=np.int64)


class _Enclosing:
    """Enclosures in fractions, for the walk through the network."""

    def __init__(self) -> None:
        self.weights = cache(lambda read: _weights(read.operator.weights))

    def preactivations(self, node: Node, sources: Sequence[_Fractions]) -> _Fractions:
        check_time()
        biases = np.array([Fraction(x) for x in node.biases.tolist()], dtype=object)
        forms, remainders = np.zeros((), dtype=object), np.zeros((), dtype=object)
        low = high = biases
        for read, source in zip(node.reads, sources, strict=True):
            weights, scale = self.weights(read)
            positive, negative = np.maximum(weights, 0), np.minimum(weights, 0)
            forms = forms + (source.forms @ weights) * scale
            remainders = remainders + (source.remainders @ np.abs(weights)) * scale
            low = low + (source.low @ positive + source.high @ negative) * scale
            high = high + (source.high @ positive + source.low @ negative) * scale
        forms[0] = forms[0] + biases
        return _Fractions(forms, remainders, low, high)

    def outputs(self, node: Node, before: _Fractions, pieces: Indices) -> _Fractions:
        if isinstance(node.units, Maxima):
            return self._largest(node.units, before)
        if node.units.kinks and sum(middle.denominator.bit_length() for middle in before.forms[0]) > MOST_BITS:
            raise _TooLong
        units, tables = [], node.units.tables()
        for unit, (low, high) in enumerate(before.ends):
            breakpoints = [Fraction(t) for t in tables.breakpoints[unit].tolist()]
            lines = [
                (Fraction(slope), Fraction(intercept))
                for slope, intercept in zip(tables.slopes[unit].tolist(), tables.intercepts[unit].tolist(), strict=True)
            ]
            units.append(_line(low, high, breakpoints, lines))
        slopes, middles, distances, least, most = (np.array(each, dtype=object) for each in zip(*units, strict=True))
        forms = before.forms * slopes
        forms[0] = forms[0] + middles
        return _Fractions(forms, np.abs(slopes) * before.remainders + distances, least, most)

    @staticmethod
    def _largest(units: Maxima, before: _Fractions) -> _Fractions:
        """Enclose the largest of rows by the row with the largest middle, plus how far other rows can be above it."""
        ends, row_units = before.ends, units.row_units.tolist()
        found = []
        for unit in range(units.count):
            rows = [row for row, owner in enumerate(row_units) if owner == unit]
            chosen = max(rows, key=lambda row: before.forms[0, row])
            above = Fraction(0)
            for row in rows:
                apart = before.forms[:, row] - before.forms[:, chosen]
                reach = np.abs(apart[1:]).sum() + before.remainders[row] + before.remainders[chosen]
                above = max(above, apart[0] + reach) if row != chosen else above
            form = before.forms[:, chosen].copy()
            form[0] = form[0] + above / 2
            low, high = (max(ends[row][side] for row in rows) for side in (0, 1))
            found.append((form, before.remainders[chosen] + above / 2, low, high))
        forms = np.array([form for form, *_ in found], dtype=object).T
        return _Fractions(forms, *(np.array([each[k] for each in found], dtype=object) for k in (1, 2, 3)))


def _line(
    low: Fraction, high: Fraction, breakpoints: list[Fraction], lines: list[tuple[Fraction, Fraction]]
) -> tuple[Fraction, Fraction, Fraction, Fraction, Fraction]:
    """Return a line near a unit between two rows: slope, intercept, and distance at most; and ends of its values."""

    def value(row: Fraction) -> Fraction:
        slope, intercept = lines[sum(row > t for t in breakpoints)]
        return slope * row + intercept

    places = [low, high, *(t for t in breakpoints if low < t < high)]
    values = [value(place) for place in places]
    if len(places) == 2:
        slope, intercept = lines[sum(low >= t for t in breakpoints)]
        return slope, intercept, Fraction(0), min(values), max(values)
    slope = (values[1] - values[0]) / (high - low)
    above = [v - slope * place for place, v in zip(places, values, strict=True)]
    middle = (min(above) + max(above)) / 2
    return slope, middle, (max(above) - min(above)) / 2, min(values), max(values)


def _weights(weights: Floats) -> tuple[Objects, Fraction]:
    """Return the weights [inputs, rows] in integers, and the power of two that they are times."""
    integers, exponent = dyadic(weights)
    return integers.T, Fraction(2) ** exponent
