# SPDX-License-Identifier: MIT
"""What is computed from numbers that are known up to bounds, and up to which bounds is the result known?

A `Proven` has values and, for each, a bound on the distance from the true number. Operations return values as numpy
computes them, and bounds that hold for every true number within the bounds of the operands. A bound counts the errors
of the operands, the rounding of the result, the rounding of the bound itself (`UP`), and underflow (`TINY`, where a
product or quotient can underflow). Sums and differences underflow exactly. Operands that are arrays or numbers count as
exact: doubles, floats of fewer bits, and integers up to 2^53. Where nothing is known, a bound is NaN, until `checked`
makes it infinite.
`docs/error-bounds.md` has the rules and their proofs. Overflow warns, unless callers set ``numpy.errstate``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from regions.ground.arithmetic.roundoff import SMALLEST, TINY, UP, U
from regions.ground.arithmetic.types import Bits, Exponents, Floats, Integers

__all__ = ["Proven"]

# Rows in a block of a matrix product. A sum has this many roundings in each block, and one for each block.
ROWS = 1024


class Proven:
    """Numbers that are known up to bounds.

    Parameters
    ----------
    value : float64 [..]
    error : float64 [..]
        Bounds on the distances from the true numbers, of a shape that broadcasts to the shape of the values.
    """

    __slots__ = ("error", "value")
    # numpy leaves operators with an array on the left to this class.
    __array_ufunc__ = None

    def __init__(self, value: Floats | float, error: Floats | float = 0.0) -> None:
        self.value: Floats = np.asarray(value, dtype=np.float64)
        self.error: Floats = np.asarray(error, dtype=np.float64)

    @classmethod
    def rounded(cls, value: Floats | float, units: int = 1) -> Proven:
        """Numbers that are off by at most so many unit roundoffs of their size, and that may have underflowed."""
        value = np.asarray(value, dtype=np.float64)
        return cls(value, units * U * np.abs(value) + SMALLEST)

    @classmethod
    def joined(cls, parts: Sequence[Proven]) -> Proven:
        """The numbers of all parts, one part after the other."""
        values, errors = zip(*parts, strict=True)
        return cls(np.concatenate(values), np.concatenate(errors))

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Floats]:
        """Values and bounds, of one shape."""
        yield self.value
        yield self.error if self.error.shape == self.value.shape else np.broadcast_to(self.error, self.value.shape)

    def __getitem__(self, key: Any) -> Proven:
        value, error = self
        return Proven(value[key], error[key])

    @property
    def checked(self) -> Proven:
        """The same, with an infinite bound where nothing is known: a value is not finite, or a bound is NaN."""
        return Proven(self.value, np.where(np.isfinite(self.value) & ~np.isnan(self.error), self.error, np.inf))

    @property
    def nonzero(self) -> Bits:
        """Which numbers are proven not to be 0."""
        return np.asarray(np.abs(self.value) > self.error)

    @property
    def positive(self) -> Bits:
        """Which numbers are proven to be above 0."""
        return np.asarray(self.value > self.error)

    @property
    def low(self) -> Floats:
        """Numbers below the true ones."""
        return np.asarray(np.nextafter(self.value - self.error, -np.inf))

    @property
    def high(self) -> Floats:
        """Numbers above the true ones."""
        return np.asarray(np.nextafter(self.value + self.error, np.inf))

    def __neg__(self) -> Proven:
        return Proven(-self.value, self.error)

    def __abs__(self) -> Proven:
        return Proven(np.abs(self.value), self.error)

    def __add__(self, other: Proven | Floats | float) -> Proven:
        other = _proven(other)
        value = self.value + other.value
        return Proven(value, (self.error + other.error + U * np.abs(value)) * UP)

    __radd__ = __add__

    def __sub__(self, other: Proven | Floats | float) -> Proven:
        return self + -_proven(other)

    def __rsub__(self, other: Proven | Floats | float) -> Proven:
        return -self + other

    def __mul__(self, other: Proven | Floats | float) -> Proven:
        other = _proven(other)
        value, size = self.value * other.value, np.abs(self.value)
        moved = (size + self.error) * other.error + self.error * np.abs(other.value)
        return Proven(value, (moved + U * np.abs(value)) * UP + TINY)

    __rmul__ = __mul__

    def __truediv__(self, other: Proven | Floats | float) -> Proven:
        """Divide; nothing is known where the divisor may be 0, or is infinite."""
        other = _proven(other)
        value, least = self.value / other.value, np.abs(other.value) - other.error
        least = np.where((least > 0.0) & (least < np.inf), least, np.nan)
        # Quotients by the divisor come first, because it would magnify the underflow of a product.
        moved = self.error / least + (np.abs(value) + TINY) * (other.error / least)
        return Proven(value, (moved + U * np.abs(value)) * UP + TINY)

    def __rtruediv__(self, other: Floats | float) -> Proven:
        return Proven(other) / self

    def sqrt(self) -> Proven:
        """The roots of numbers that are not negative. A root is off by at most the root of the error, and by at most
        the error divided by the root."""
        root = np.sqrt(np.maximum(self.value, 0.0))
        by_root = self.error / np.where(root > 0.0, root, np.nan)
        return Proven(root, (np.fmin(by_root, np.sqrt(self.error)) + U * root) * UP + TINY)

    def hypot(self, other: Proven | Floats | float) -> Proven:
        """The lengths of vectors with two coordinates: a length moves by at most the sum of the errors."""
        other = _proven(other)
        value: Floats = np.hypot(self.value, other.value)
        return Proven(value, (self.error + other.error + 4 * U * value) * UP + TINY)

    def lengths(self) -> Proven:
        """The lengths of vectors along the last axis: a length moves by at most the length of the errors."""
        value, error = (_lengths(each) for each in self)
        unit = 2 * (self.value.shape[-1] + 8) * U
        return Proven(value, (error + unit * value) * (1 + unit) + TINY)

    def scaled(self, exponents: Exponents | int) -> Proven:
        """The numbers times two to the power of these exponents."""
        return Proven(np.ldexp(self.value, exponents), np.ldexp(self.error, exponents) * UP + 2 * SMALLEST)

    def sum(self, axis: int) -> Proven:
        """The sums along an axis, in the order that numpy takes."""
        value, error = self
        count = value.shape[axis]
        sizes = np.abs(value).sum(axis=axis)
        bounds = error.sum(axis=axis) + 2 * count * U * sizes
        return Proven(value.sum(axis=axis), bounds * (1 + 2 * count * U) * UP)

    def largest(self, axis: int) -> Proven:
        """The largest numbers along an axis."""
        value = self.value.max(axis=axis)
        off = np.maximum(self.high.max(axis=axis) - value, value - self.low.max(axis=axis))
        return Proven(value, off * UP)

    def runs(self, firsts: Integers) -> Proven:
        """The sums of runs of rows, given the first row of each run."""
        value, error, size = (np.add.reduceat(each, firsts) for each in (*self, np.abs(self.value)))
        unit = 2 * len(self) * U
        return Proven(value, (error + unit * size) * (1 + unit) * UP)

    def totals(self, groups: Integers, count: int) -> Proven:
        """The sum of the numbers [m] of each group [m], added one by one: [count]."""
        value, error, size = (
            np.bincount(groups, each, count).astype(np.float64) for each in (*self, np.abs(self.value))
        )
        terms = 2 * U * np.bincount(groups, minlength=count)
        return Proven(value, (error + terms * size) * (1 + terms) * UP)

    def __matmul__(self, other: Proven | Floats) -> Proven:
        """Multiply matrices [.., n, k] and [k, m], in any order of the sums."""
        return self._product(_proven(other), self.value.shape[-1], lambda a, b: a @ b)

    def transposed_product(self, other: Proven | Floats) -> Proven:
        """Multiply the transposed matrix [k, n] with another one [k, m], in blocks of rows, as k is large."""
        count = len(self.value)
        return self._product(_proven(other), min(count, ROWS) + count // ROWS, _in_blocks)

    def _product(self, other: Proven, roundings: int, product: Callable[[Floats, Floats], Floats]) -> Proven:
        (value, error), (weights, off) = self, other
        sizes, charge = np.abs(value), 2 * (roundings + 4) * U
        # All errors of both matrices, and of the products, are multiplied by magnitudes: two products for all. The
        # charge is multiplied last, because weights would magnify its underflow.
        bounds = product(error / charge + sizes, np.abs(weights)) * charge
        if other.error.any():
            bounds = bounds + product(sizes + error, off)
        return Proven(product(value, weights), bounds * (1 + charge) * UP + TINY)


def _proven(number: Proven | Floats | float) -> Proven:
    return number if isinstance(number, Proven) else Proven(number)


def _lengths(vectors: Floats) -> Floats:
    """The lengths of vectors along the last axis, whose squares may underflow or overflow."""
    _, exponents = np.frexp(np.abs(vectors).max(axis=-1, initial=0.0))
    about_one = np.ldexp(vectors, -exponents[..., np.newaxis])
    lengths: Floats = np.ldexp(np.linalg.norm(about_one, axis=-1), exponents)
    return lengths


def _in_blocks(rows: Floats, others: Floats) -> Floats:
    total = np.zeros((rows.shape[1], others.shape[1]))
    for start in range(0, len(rows), ROWS):
        total += rows[start : start + ROWS].T @ others[start : start + ROWS]
    return total
