# SPDX-License-Identifier: MIT
"""What are the rows of a node in twice the precision, at the speed of matrix products?

Values are unevaluated sums of two doubles. Both the values and the weights are cut into slices of few bits, each a
multiple of a power of two that all numbers of the slice share. Products of slices are then exact in matrix products of
doubles: slices are at most 2^(b-1) + 1 of their units, so with n terms all partial sums are multiples of one power of
two, and at most 2^(2 b - 1) n <= 2^53 times this power, whatever the order of the additions (Ozaki, Ogita, Oishi and
Rump, Error-free transformations of matrix multiplication by using fast routines of matrix multiplication and its
applications, 2012). The products are added up in pairs of doubles. The bound includes the errors of these additions,
the rest of the values after the slices, the rest of the weights, and products of slices that are left out.
Invariant: no operation relies on a type other than float64.
Cost: about seven matrix products for weights of float32, and three dozen operations for each value.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from regions.ground.arithmetic.types import Floats
from regions.networks.graph import Operator

__all__ = ["ROUNDING", "Pair", "SlicedOperator", "plus", "scaled"]

# Slices of values and of weights, and the products of slices that are computed: i + j < 4.
SLICES = 4
# More than the relative error of a sum of two pairs, and of a product of a pair and a double. In `plus`, with S = |a| +
# |b| and u = 2^-53: the low parts are at most 4 u S in all, and the error of their sum is at most 4 u^2 S. The error of
# the high parts' sum is at most u S, and adding it has an error of at most 5 u^2 S. The last step is exact, or its low
# part, from numbers below 5 u S, has two errors of at most 5 u^2 S. That is 19 u^2 S. `scaled` has fewer roundings.
ROUNDING = 32 * 2.0**-106
TINY = 1e-290


class Pair(NamedTuple):
    """Numbers as sums of two doubles, high + low, with |low| at most 2^-51 of |high|, or both tiny."""

    high: Floats
    low: Floats


def plus(a: Pair, b: Pair) -> Pair:
    """Return a + b, within `ROUNDING` of |a| + |b|."""
    high, error = _two_sum(a.high, b.high)
    error += a.low + b.low
    return Pair(*_fast_two_sum(high, error))


def scaled(a: Pair, factors: Floats) -> Pair:
    """Return a times doubles, within `ROUNDING` of the magnitude, plus underflow."""
    high = a.high * factors
    (p, q), (r, s) = _split(a.high), _split(factors)
    error = ((p * r - high) + p * s + q * r) + q * s
    error += a.low * factors
    return Pair(*_fast_two_sum(high, error))


class SlicedOperator:
    """An operator whose weights are cut into slices.

    Attributes
    ----------
    rest : Operator or None
        Magnitudes of the rest of the weights after the slices; None if nothing is left.
    """

    def __init__(self, operator: Operator) -> None:
        self.bits = (54 - int(np.ceil(np.log2(max(operator.most_terms, 2))))) // 2
        self.slices: list[Operator] = []
        self.units: list[float] = []
        largest = _largest(operator)
        rest = operator
        for index in range(SLICES):
            unit = _unit(largest, self.bits, index)
            self.units.append(unit)
            self.slices.append(rest.entrywise(partial(_multiples, unit=unit)))
            rest = rest.entrywise(partial(_after, unit=unit))
            if not _largest(rest) > 0.0:
                break
        self.rest = rest.entrywise(np.abs) if _largest(rest) > 0.0 else None
        self.magnitudes = operator.entrywise(np.abs)

    def apply(self, values: Pair) -> tuple[Pair, Floats]:
        """Return the operator applied to values [m, inputs], and a bound [outputs] on the error in all rows."""
        parts, rest = _value_slices(values, self.bits)
        result: Pair | None = None
        charged = self.magnitudes.apply(np.full((1, self.magnitudes.inputs), rest))[0]
        for index in range(len(parts) - 1, -1, -1):
            for other in range(len(self.slices) - 1, -1, -1):
                if index + other >= SLICES:
                    sizes = np.abs(parts[index]).max(axis=0, initial=0.0)
                    charged = charged + self.slices[other].entrywise(np.abs).apply(sizes[np.newaxis])[0]
                    continue
                product = self.slices[other].apply(parts[index])
                zero = np.zeros(1)
                result = Pair(product, np.zeros_like(product)) if result is None else plus(result, Pair(product, zero))
        assert result is not None
        sizes = np.abs(values.high).max(axis=0, initial=0.0) * (1 + 2.0**-50)
        if self.rest is not None:
            charged = charged + self.rest.apply(sizes[np.newaxis])[0]
        # The slices of a number, each rounded to the nearest, are in all at most three times as large as the number.
        # Each of at most ten additions therefore has terms below nine times these magnitudes, and an error of 19 u^2
        # times the terms.
        rounding = 64 * ROUNDING * self.magnitudes.apply(sizes[np.newaxis])[0]
        return result, charged * (1 + 2.0**-30) + rounding + TINY


def _value_slices(values: Pair, bits: int) -> tuple[list[Floats], float]:
    """Slices of the values, and a bound on what is left of each."""
    high, low = values
    largest = float(np.abs(high).max(initial=0.0))
    parts = []
    for index in range(SLICES):
        unit = _unit(largest, bits, index)
        part = _multiples(high, unit)
        parts.append(part)
        # The difference is exact: both are multiples of the last place of `high`, and it is small.
        high, low = _two_sum(high - part, low)
    return parts, unit


def _unit(largest: float, bits: int, index: int) -> float:
    """The power of two whose multiples are the numbers of slice ``index``."""
    if not 0.0 < largest < 1e300:
        return 1e-290 if largest < 1e300 else float("inf")
    exponent = int(np.frexp(largest)[1]) - bits * (index + 1) + 1
    return float(np.ldexp(1.0, max(exponent, -960)))


def _multiples(numbers: Floats, unit: float) -> Floats:
    """Round to multiples of a power of two; numbers are below 2^50 of these units."""
    large = 1.5 * 2.0**52 * unit
    rounded: Floats = (numbers + large) - large
    return rounded


def _after(numbers: Floats, unit: float) -> Floats:
    """Numbers minus their multiples of a power of two, exactly."""
    return numbers - _multiples(numbers, unit)


def _largest(operator: Operator) -> float:
    """The largest magnitude of a weight."""
    seen = [0.0]

    def look(weights: Floats) -> Floats:
        seen.append(float(np.abs(weights).max(initial=0.0)))
        return weights

    operator.entrywise(look)
    return max(seen)


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded sum, and its error, exactly (Knuth)."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def _fast_two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The same where |a| >= |b|, or a = 0 (Dekker)."""
    total = a + b
    return total, b - (total - a)


def _split(numbers: Floats) -> tuple[Floats, Floats]:
    """Two numbers of 26 bits each (Veltkamp)."""
    large = numbers * 134217729.0
    high = large - (large - numbers)
    return high, numbers - high
