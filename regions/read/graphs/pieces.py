# SPDX-License-Identifier: MIT
"""What is a piecewise-linear function of one number that may jump, exactly?

Comparisons, signs, and selections by them jump, but many sums, products and selections of these are continuous again.
Whether one is continuous is decided in fractions.
Invariant: numbers are never rounded here, and neighbouring pieces differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from regions.networks.activation import MAX_PIECES

__all__ = ["COMPARISONS", "IDENTITY", "Jump", "NotLinearError", "Pieces"]

# More digits than any sum of a few products of doubles has.
MOST_BITS = 8192
# The signs of a difference, -1, 0 or 1, for which each comparison is true.
COMPARISONS = {"gt": (1,), "ge": (0, 1), "lt": (-1,), "le": (-1, 0), "eq": (0,), "ne": (-1, 1)}
Line = tuple[Fraction, Fraction]
ZERO = Fraction(0)


class NotLinearError(Exception):
    """A function is not piecewise linear, or its numbers are too long."""


class Jump(NamedTuple):
    """A number at which a function jumps, and two of its values there."""

    place: Fraction
    before: Fraction
    after: Fraction


@dataclass(frozen=True)
class Pieces:
    """A function that is linear between some numbers.

    Attributes
    ----------
    ends : tuple of Fraction
        Increasing.
    lines : tuple of (Fraction, Fraction)
        Slope and intercept of each open interval between the ends, one more than there are ends.
    values : tuple of Fraction
        The value at each end.
    """

    ends: tuple[Fraction, ...]
    lines: tuple[Line, ...]
    values: tuple[Fraction, ...]

    @classmethod
    def line(cls, slope: float | Fraction, intercept: float | Fraction) -> Pieces:
        """Return ``slope * h + intercept``."""
        return cls((), ((Fraction(slope), Fraction(intercept)),), ())

    @property
    def is_constant(self) -> bool:
        return not self.ends and not self.lines[0][0]

    @property
    def is_step(self) -> bool:
        """Whether it is constant between its ends."""
        return not any(slope for slope, _ in self.lines)

    def __call__(self, number: Fraction) -> Fraction:
        """Return the value at a number."""
        if number in self.ends:
            return self.values[self.ends.index(number)]
        slope, intercept = self.lines[sum(end < number for end in self.ends)]
        return slope * number + intercept

    def jump(self) -> Jump | None:
        """Return the first end at which the function is not continuous."""
        for end, value, (left, right) in zip(self.ends, self.values, pairwise(self.lines), strict=True):
            before, after = (slope * end + intercept for slope, intercept in (left, right))
            if before != after or value != before:
                return Jump(end, before, after if before != after else value)
        return None

    def plus(self, other: Pieces) -> Pieces:
        return self._with(other, _sum)

    def times(self, other: Pieces) -> Pieces:
        """Return the product; on each piece, one of both factors must be constant."""

        def product(a: Line, b: Line) -> Line:
            if a[0] and b[0]:
                raise NotLinearError("multiplies two values that depend on the input, which is not piecewise linear")
            return a[0] * b[1] + a[1] * b[0], a[1] * b[1]

        return self._with(other, product)

    def chosen(self, first: Pieces, second: Pieces) -> Pieces:
        """Return ``first`` where this function is not 0, and ``second`` elsewhere; this function is a step."""
        there = self._with(first, lambda a, b: b if a[1] else (ZERO, ZERO))
        return there._with(self._with(second, lambda a, b: (ZERO, ZERO) if a[1] else b), _sum)

    def signs(self, signs: tuple[int, ...]) -> Pieces:
        """Return 1 where the sign of this function is among ``signs``, and 0 elsewhere."""
        zeros = {-intercept / slope for slope, intercept in self.lines if slope}
        return self._at(zeros)._mapped(lambda value: Fraction(_sign(value) in signs))

    def sign(self) -> Pieces:
        """Return the sign of this function: -1, 0 or 1."""
        negative, positive = self.signs((-1,)), self.signs((1,))
        return positive.plus(negative.times(Pieces.line(0, -1)))

    def after(self, inner: Pieces) -> Pieces:
        """Return this function of the value of another one."""
        ends = {(end - intercept) / slope for slope, intercept in inner.lines if slope for end in self.ends}
        inner = inner._at(ends)
        lines = []
        for place, (slope, intercept) in zip(inner._middles(), inner.lines, strict=True):
            value = slope * place + intercept
            if slope:
                outer = self.lines[sum(end < value for end in self.ends)]
                lines.append((outer[0] * slope, outer[0] * intercept + outer[1]))
            else:
                lines.append((ZERO, self(value)))
        return Pieces(inner.ends, tuple(lines), tuple(map(self, inner.values)))._simplified()

    def _with(self, other: Pieces, combine: Callable[[Line, Line], Line]) -> Pieces:
        first, second = self._at(set(other.ends)), other._at(set(self.ends))
        lines = tuple(map(combine, first.lines, second.lines))
        values = tuple(combine((ZERO, a), (ZERO, b))[1] for a, b in zip(first.values, second.values, strict=True))
        return Pieces(first.ends, lines, values)._simplified()

    def _mapped(self, value_of: Callable[[Fraction], Fraction]) -> Pieces:
        """Return a step with the given function of a value within each piece, and of the value at each end."""
        middles = zip(self._middles(), self.lines, strict=True)
        lines = tuple((ZERO, value_of(slope * place + intercept)) for place, (slope, intercept) in middles)
        return Pieces(self.ends, lines, tuple(map(value_of, self.values)))._simplified()

    def _middles(self) -> list[Fraction]:
        """Return a number inside each piece."""
        if not self.ends:
            return [ZERO]
        inner = [(low + high) / 2 for low, high in pairwise(self.ends)]
        return [self.ends[0] - 1, *inner, self.ends[-1] + 1]

    def _at(self, numbers: set[Fraction]) -> Pieces:
        """Return the same function with more ends."""
        if numbers <= set(self.ends):
            return self
        ends = tuple(sorted({*self.ends, *numbers}))
        if len(ends) >= MAX_PIECES:
            raise NotLinearError(f"makes a function of more than {MAX_PIECES - 1} pieces; at most so many are read")
        lines, place = [], 0
        for end in (*ends, None):
            lines.append(self.lines[place])
            place += place < len(self.ends) and self.ends[place] == end
        return Pieces(ends, tuple(lines), tuple(map(self, ends)))

    def _simplified(self) -> Pieces:
        """Return the same function without ends at which nothing changes."""
        for number in (*self.ends, *self.values, *(each for line in self.lines for each in line)):
            if max(number.numerator.bit_length(), number.denominator.bit_length()) > MOST_BITS:
                raise NotLinearError(f"computes numbers of more than {MOST_BITS} bits, which are not read")
        kept = [
            i
            for i, (end, value) in enumerate(zip(self.ends, self.values, strict=True))
            if self.lines[i] != self.lines[i + 1] or self.lines[i][0] * end + self.lines[i][1] != value
        ]
        lines = (self.lines[0], *(self.lines[i + 1] for i in kept))
        return Pieces(tuple(self.ends[i] for i in kept), lines, tuple(self.values[i] for i in kept))


IDENTITY = Pieces.line(1, 0)


def _sum(a: Line, b: Line) -> Line:
    return a[0] + b[0], a[1] + b[1]


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)
