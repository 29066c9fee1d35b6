# SPDX-License-Identifier: MIT
"""Which numbers do real numbers of 16 bits and fewer stand for, and which of them is nearest to a double?

A number has a sign, an exponent and digits, as in IEEE 754. The formats of 8 and 4 bits differ in what the largest
exponent means: infinity and no number in e5m2, and more numbers in all others. All numbers of a format with at most 8
bits are in a table, computed from its widths.
Source: Micikevicius et al. (2022), "FP8 Formats for Deep Learning", and the documentation of ONNX on float8.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.types import Floats

__all__ = ["NARROW", "NarrowFloat", "all_numbers", "nearest_of", "numbers_of"]


class NarrowFloat(NamedTuple):
    """A format of real numbers.

    Attributes
    ----------
    bits, exponent : int
        Bits of a number, and of its exponent.
    bias : int
        Is subtracted from the exponent.
    largest : float
        The largest finite number.
    infinite : bool
        Whether it has infinities; otherwise larger numbers round to no number.
    one_zero : bool
        Whether the bits of minus zero are no number, and the only ones.
    """

    bits: int
    exponent: int
    bias: int
    largest: float
    infinite: bool = False
    one_zero: bool = False

    @property
    def digits(self) -> int:
        """Bits after the leading one."""
        return self.bits - 1 - self.exponent


NARROW = {
    "float16": NarrowFloat(16, 5, 15, 65504.0, infinite=True),
    "bfloat16": NarrowFloat(16, 8, 127, (2 - 2.0**-7) * 2.0**127, infinite=True),
    "float8e4m3fn": NarrowFloat(8, 4, 7, 448.0),
    "float8e4m3fnuz": NarrowFloat(8, 4, 8, 240.0, one_zero=True),
    "float8e5m2": NarrowFloat(8, 5, 15, 57344.0, infinite=True),
    "float8e5m2fnuz": NarrowFloat(8, 5, 16, 57344.0, one_zero=True),
    "float4e2m1": NarrowFloat(4, 2, 1, 6.0),
}


def numbers_of(bits: NDArray[Any], name: str) -> NDArray[np.float32]:
    """Return the numbers of native bit patterns of a format that numpy does not have; float32 holds all of them."""
    if name == "bfloat16":  # the upper halves of float32 numbers
        return np.asarray(np.left_shift(bits, 16, dtype=np.uint32)).view(np.float32)
    return _table(name)[bits]


def all_numbers(name: str) -> Floats:
    """Return all finite numbers of a format, ascending, 0 once."""
    bits = np.arange(2 ** NARROW[name].bits, dtype=np.uint16)
    numbers = bits.view(np.float16) if name == "float16" else numbers_of(bits, name)
    return np.unique(numbers[np.isfinite(numbers)].astype(np.float64)) + 0.0


def nearest_of(values: Any, name: str) -> Floats:
    """Return the numbers of a format nearest to doubles; of two, the one whose last bit is 0.

    Parameters
    ----------
    values : array_like
        Doubles.
    name : str
        A key of `NARROW`.

    Returns
    -------
    float64 [..]
        Beyond the largest number: infinity, no number in formats of 8 bits without infinities, and the largest number
        in formats of 4 bits.

    Examples
    --------
    >>> nearest_of([1.0625, 1.1, 464.0, 465.0], "float8e4m3fn").tolist()
    [1.0, 1.125, 448.0, nan]
    """
    given, kind = np.asarray(values, dtype=np.float64), NARROW[name]
    with np.errstate(invalid="ignore", over="ignore"):
        # The last bit of a number with exponent e is worth 2^(e - digits). Subnormal numbers have the least exponent.
        exponents = np.frexp(given)[1] - 1
        last = np.maximum(exponents, 1 - kind.bias) - kind.digits
        result = np.ldexp(np.rint(np.ldexp(given, -last)), last)
        beyond = np.copysign(np.inf if kind.infinite else kind.largest if kind.bits < 8 else np.nan, given)
    return np.where(np.isnan(given) | (np.abs(result) <= kind.largest), result, beyond)


@cache
def _table(name: str) -> NDArray[np.float32]:
    kind = NARROW[name]
    bits = np.arange(2**kind.bits)
    digits = bits & (2**kind.digits - 1)
    exponents = (bits >> kind.digits) & (2**kind.exponent - 1)
    normal = exponents > 0
    sizes = np.ldexp(digits + normal * 2.0**kind.digits, np.maximum(exponents, 1) - kind.bias - kind.digits)
    table = np.where(bits >> (kind.bits - 1), -sizes, sizes)
    if kind.one_zero:
        table[2 ** (kind.bits - 1)] = np.nan
    else:
        beyond = np.where((digits == 0) & kind.infinite, np.copysign(np.inf, table), np.nan)
        table = np.where(np.abs(table) > kind.largest, beyond, table)
    result = table.astype(np.float32)
    result.setflags(write=False)
    return result
