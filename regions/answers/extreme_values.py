# SPDX-License-Identifier: MIT
"""What is known of an extreme value, and which extreme values are asked for?

A question is a list of targets. A value is known exactly, or at a corner whose exact value is computed on first use, or
in a box with many inputs perhaps only between two numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from regions.answers.corner_values import ExactCorners, value_at
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.roundoff import SMALLEST, U
from regions.results.cells.exact_outline import Point

__all__ = ["BoundedExtreme", "CornerExtreme", "Extreme", "KnownExtreme", "Target", "both_ends"]


class Target(NamedTuple):
    """The greatest value of a sign times any of some outputs: 1 for a maximum, -1 for a minimum."""

    sign: int
    outputs: tuple[int, ...]


def both_ends(outputs: int) -> tuple[Target, ...]:
    """Return targets for the minimum of each output, and then for the maximum of each."""
    return tuple(Target(sign, (output,)) for sign in (-1, 1) for output in range(outputs))


@dataclass(frozen=True, eq=False)
class KnownExtreme:
    """An extreme value of one output, exactly; the value is None if it is unbounded."""

    value: Fraction | None
    output: int
    point: Point
    region: int
    leg: int

    @property
    def unbounded(self) -> bool:
        return self.value is None

    @property
    def reached(self) -> Fraction | None:
        return self.value

    def interval(self, sign: int) -> tuple[float, float]:
        """Return two doubles between which the value is; ``sign`` is the sign of its target."""
        return _outwards(self.value, self.value) if self.value is not None else (sign * np.inf, sign * np.inf)

    @property
    def rounded(self) -> tuple[float, float]:
        """The value, and a bound on its error; the value is rounded once."""
        assert self.value is not None
        return _rounded(self.value)


@dataclass(frozen=True, eq=False)
class CornerExtreme:
    """An extreme value of one output that is at this corner; its exact value is computed on first use."""

    exact: ExactCorners
    output: int
    corner: int
    region: int
    leg: int
    rounded: tuple[float, float]
    unbounded = False

    @cached_property
    def value(self) -> Fraction:
        return value_at(self.exact.form(self.region, self.output), self.point)

    @property
    def reached(self) -> Fraction:
        return self.value

    def interval(self, sign: int) -> tuple[float, float]:
        value, error = self.rounded
        return float(np.nextafter(value - error, -np.inf)), float(np.nextafter(value + error, np.inf))

    @cached_property
    def point(self) -> Point:
        return self.exact.point(self.corner)


@dataclass(frozen=True, eq=False)
class BoundedExtreme:
    """An extreme value of outputs on a box, known exactly or between two numbers.

    Attributes
    ----------
    value : Fraction or None
        The extreme value; None if it is not decided.
    reached : Fraction
        The value of the output at the point.
    beyond : float
        If it is not decided, no value of the outputs is beyond this number: above it for a maximum, below it for a
        minimum. It may be infinite.
    output : int
    point : Point
    """

    value: Fraction | None
    reached: Fraction
    beyond: float
    output: int
    point: Point
    region, leg, unbounded = 0, 0, False

    @property
    def rounded(self) -> tuple[float, float]:
        """The value that is reached, and a bound on its distance from the extreme value."""
        if self.value is not None:
            return _rounded(self.value)
        value = nearest_float(self.reached)
        if not np.isfinite(value) or not np.isfinite(self.beyond):
            return value, np.inf
        farthest = max(abs(Fraction(value) - end) for end in (self.reached, Fraction(self.beyond)))
        error = nearest_float(farthest)
        return value, error if error >= farthest else float(np.nextafter(error, np.inf))

    def interval(self, sign: int) -> tuple[float, float]:
        if self.value is not None:
            return _outwards(self.value, self.value)
        low, high = _outwards(self.reached, self.reached)
        return (self.beyond, high) if sign < 0 else (low, self.beyond)


def _outwards(low: Fraction, high: Fraction) -> tuple[float, float]:
    """Return the largest double that is at most one number, and the smallest that is at least another one."""
    below, above = nearest_float(low), nearest_float(high)
    if below > low:
        below = float(np.nextafter(below, -np.inf))
    if above < high:
        above = float(np.nextafter(above, np.inf))
    return below, above


Extreme = KnownExtreme | CornerExtreme | BoundedExtreme


def _rounded(value: Fraction) -> tuple[float, float]:
    """Return a value, rounded once, and a bound on the error; infinite beyond the largest double."""
    nearest = nearest_float(value)
    return nearest, U * abs(nearest) + SMALLEST
