# SPDX-License-Identifier: MIT
"""Which integers and fractions are doubles, and which doubles are nearest to fractions?

Every double is an integer times a power of two, and Python has integers of any size. Signs of sums and products are
therefore decided without rounding. Each result is rounded once, when it is converted back.
Cost: a few microseconds per number; the enumeration itself uses none of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.types import Floats, Objects

__all__ = ["Dyadic", "common_integers", "dyadic", "nearest_float", "split_square_root", "square_root"]

# More than the exponent of any double.
NO_POWER = 1 << 12


class Dyadic(NamedTuple):
    """The numbers ``integers * 2**exponent``."""

    integers: Objects
    exponent: int

    def __add__(self, other: Dyadic) -> Dyadic:  # type: ignore[override]
        lowest = min(self.exponent, other.exponent)
        return Dyadic(self.over(lowest) + other.over(lowest), lowest)

    def times(self, other: Dyadic) -> Dyadic:
        return Dyadic(self.integers * other.integers, self.exponent + other.exponent)

    def matrix_times(self, other: Dyadic) -> Dyadic:
        return Dyadic(self.integers @ other.integers, self.exponent + other.exponent)

    def dot(self, other: Dyadic) -> Fraction:
        result: Fraction = int((self.integers * other.integers).sum()) * Fraction(2) ** (self.exponent + other.exponent)
        return result

    def over(self, exponent: int) -> Objects:
        """Return the integers for a given exponent, which must not be larger than the current one."""
        result: Objects = self.integers * (1 << (self.exponent - exponent))
        return result

    def at(self, index: Any) -> Dyadic:
        return Dyadic(self.integers[index], self.exponent)

    def signs(self) -> NDArray[np.int8]:
        return (self.integers > 0).astype(np.int8) - (self.integers < 0).astype(np.int8)


def dyadic(values: Floats) -> Dyadic:
    """Return these doubles exactly, as the smallest possible Python integers with one common exponent."""
    mantissas, exponents = np.frexp(values)  # |mantissa| < 1 with 53 bits, so times 2^53 it is an integer
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    # Slopes of 0 and 1, or integer weights, would make every product 53 bits longer. Therefore each number is reduced
    # to an odd integer times a power of two, and the least of these powers is factored out.
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    powers, given = exponents - 53 + zeros, whole != 0
    lowest = int(powers.min(where=given, initial=NO_POWER))
    highest = int(exponents.max(where=given, initial=-NO_POWER))
    odd, shifts = whole >> np.maximum(zeros, 0), np.where(given, powers - lowest, 0)
    if highest - lowest < 63:
        integers = (odd << shifts).astype(object)
    else:
        integers = odd.astype(object) << shifts.astype(object)
    return Dyadic(integers, lowest if given.any() else 0)


def common_integers(values: Sequence[float]) -> list[int]:
    """Return doubles times one power of two that makes all of them integers.

    For a few numbers this takes a tenth of the time of `dyadic`.

    Examples
    --------
    >>> common_integers([0.5, 3.0, -0.25])
    [2, 12, -1]
    """
    ratios = [value.as_integer_ratio() for value in values]
    scale = max(denominator for _, denominator in ratios)
    return [numerator * (scale // denominator) for numerator, denominator in ratios]


def nearest_float(value: Fraction) -> float:
    """Return the double nearest to a fraction; infinite beyond the largest double."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def square_root(value: Fraction) -> float:
    """Return the square root of a non-negative fraction, to within little more than half a unit in the last place."""
    # Shifted so that the integer root has at least 64 bits: its truncation is then 2^-11 units in the last
    # place.
    shift = max(0, 128 - value.numerator.bit_length() + value.denominator.bit_length())
    shift += shift % 2
    return nearest_float(Fraction(isqrt((value.numerator << shift) // value.denominator), 2 ** (shift // 2)))


def split_square_root(value: Fraction) -> tuple[float, int]:
    """Return m and e with ``m * 2**e`` the square root of a positive fraction, and m of about size one."""
    exponent = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    return square_root(value / Fraction(4) ** exponent), exponent
