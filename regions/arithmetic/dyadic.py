# SPDX-License-Identifier: MIT
"""Which integers and fractions are doubles, and which doubles are next to fractions?

Every double is an integer times a power of two, and Python has integers in any size: signs of sums and products are
decided in them without rounding. On the way back each result is rounded once.
Cost: a few microseconds per number; nothing here is on the path of the enumeration.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np

from regions.arithmetic.types import Floats, Objects

__all__ = ["dyadic", "nearest_float", "split_square_root", "square_root"]


def dyadic(values: Floats) -> tuple[Objects, int]:
    """Return Python integers m, as small as can be, and one exponent e with ``values == m * 2**e``, exactly."""
    mantissas, exponents = np.frexp(values)  # |mantissa| < 1 with 53 bits, so times 2^53 it is an integer
    integers = np.ldexp(mantissas, 53).astype(np.int64).astype(object)
    lowest = int(exponents.min(initial=0))  # there may be no values at all
    integers = integers * 2 ** (exponents - lowest).astype(object)
    # Slopes of 0 and 1, or weights that are integers, would make every product 53 bits longer.
    together = int(np.bitwise_or.reduce(integers, axis=None))
    spare = max(0, (together & -together).bit_length() - 1)
    return integers >> spare, lowest - 53 + spare


def nearest_float(value: Fraction) -> float:
    """Return the double nearest to a fraction; infinite beyond the largest double."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def square_root(value: Fraction) -> float:
    """Return the square root of a non-negative fraction, within a hair of half a unit in the last place."""
    # Shifted so that the integer root has at least 64 bits: its truncation is then 2^-11 units in the last
    # place.
    shift = max(0, 128 - value.numerator.bit_length() + value.denominator.bit_length())
    shift += shift % 2
    return nearest_float(Fraction(isqrt((value.numerator << shift) // value.denominator), 2 ** (shift // 2)))


def split_square_root(value: Fraction) -> tuple[float, int]:
    """Return m and e with ``m * 2**e`` the square root of a positive fraction, and m of about size one."""
    exponent = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    return square_root(value / Fraction(4) ** exponent), exponent
