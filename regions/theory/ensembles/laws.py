# SPDX-License-Identifier: MIT
"""What is the law of a single number of a random network?

It is Gaussian, uniform on an interval around 0, or uniform on finitely many numbers. All are symmetric, as theorems on
random networks require. The first two have a density.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, pi, prod, sqrt

import numpy as np

from regions.errors import ShapeMismatchError
from regions.ground.arithmetic.arguments import MOST_SAMPLES, generator, integers, positive, real, tuple_of
from regions.ground.arithmetic.arrays import real_numbers
from regions.ground.arithmetic.keywords import helped
from regions.ground.arithmetic.types import Floats

# The squares of numbers in these units, and their inverses, are doubles.
SMALLEST = 1e-150


@dataclass(frozen=True)
class Gaussian:
    """The normal law of mean 0.

    Parameters
    ----------
    std : float
        Standard deviation, between 1e-150 and 1e150.

    Examples
    --------
    >>> Gaussian(0.5).density([0.0, 0.5]).round(6)
    array([0.797885, 0.483941])
    """

    std: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "std", size_of_law(self.std, "std"))

    def scaled(self, factor: float) -> Gaussian:
        """Return the law of ``factor`` times the number."""
        return Gaussian(size_of_law(self.std * positive(factor, "factor"), "std times factor"))

    @helped("Pass rng=, a seed such as 0: every draw can be repeated.")
    def draw(self, shape: Sequence[int], rng: int | np.random.Generator) -> Floats:
        """Draw independent numbers, float64 of this shape."""
        return generator(rng).standard_normal(_shape(shape)) * self.std

    def density(self, values: Floats) -> Floats:
        """Return the density at numbers float64 [..], which may be infinite."""
        scaled = _in_units_of(self.std, values)
        return np.asarray(np.exp(-(scaled**2) / 2.0) / sqrt(2.0 * pi) / self.std)

    def probability(self, low: Floats, high: Floats) -> Floats:
        """Return the probability to be between two numbers, float64 [..], which may be infinite.

        Raises
        ------
        TypeError, ValueError
            Not real numbers; two shapes; a lower number above its upper one.
        """
        from scipy.special import ndtr

        low, high, start, end = _ends(self.std, low, high)
        # For numbers that are close together, the difference of distribution functions loses all digits.
        with np.errstate(invalid="ignore"):  # infinite ones are not close together
            close = end - start < 1e-3
        near = np.where(close, low, 0.0), np.where(close, high, 0.0)
        narrow = (near[1] - near[0]) * self.density(near[0] / 2.0 + near[1] / 2.0)
        return np.asarray(np.where(close, narrow, ndtr(end) - ndtr(start)))


@dataclass(frozen=True)
class Uniform:
    """The uniform law on an interval around 0.

    Parameters
    ----------
    bound : float
        The interval is [-bound, bound]; between 1e-150 and 1e150.

    Examples
    --------
    >>> round(Uniform(3.0).std, 6), Uniform(2.0).probability([-0.5], [9.0])
    (1.732051, array([0.625]))
    """

    bound: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", size_of_law(self.bound, "bound"))

    @property
    def std(self) -> float:
        """Standard deviation."""
        return self.bound / sqrt(3.0)

    def scaled(self, factor: float) -> Uniform:
        """Return the law of ``factor`` times the number."""
        return Uniform(size_of_law(self.bound * positive(factor, "factor"), "bound times factor"))

    @helped("Pass rng=, a seed such as 0: every draw can be repeated.")
    def draw(self, shape: Sequence[int], rng: int | np.random.Generator) -> Floats:
        """Draw independent numbers, float64 of this shape."""
        return generator(rng).uniform(-1.0, 1.0, _shape(shape)) * self.bound

    def density(self, values: Floats) -> Floats:
        """Return the density at numbers float64 [..], which may be infinite."""
        return np.asarray((np.abs(_in_units_of(self.bound, values)) <= 1.0) / (2.0 * self.bound))

    def probability(self, low: Floats, high: Floats) -> Floats:
        """Return the probability to be between two numbers, as for `Gaussian`."""
        _, _, start, end = _ends(self.bound, low, high)
        return np.asarray((np.clip(end, -1.0, 1.0) - np.clip(start, -1.0, 1.0)) / 2.0)


@dataclass(frozen=True)
class Discrete:
    """The uniform law on some numbers.

    Parameters
    ----------
    values : sequence of float
        Each w with its -w, between 1e-150 and 1e150 in size, or 0; not all of them 0. ``range(-C, C + 1)`` is
        the law of Price and Tanner.

    Examples
    --------
    >>> Discrete(range(-2, 3)).std == 2.0**0.5
    True
    """

    values: Sequence[float]

    def __post_init__(self) -> None:
        values = tuple(sorted(real(value, f"values[{i}]") for i, value in enumerate(tuple_of(self.values, "values"))))
        if values != tuple(sorted(-value for value in values)):
            raise ValueError(f"values must be symmetric, with -w for every w, got {list(values)}")
        if not any(values):
            raise ValueError("values are all 0")
        for value in values:
            if value > 0.0:
                size_of_law(value, "each of values")
        object.__setattr__(self, "values", values)

    @property
    def std(self) -> float:
        """Standard deviation."""
        largest = self.values[-1]
        return largest * sqrt(fsum((value / largest) ** 2 for value in self.values) / len(self.values))

    def scaled(self, factor: float) -> Discrete:
        """Return the law of ``factor`` times the number."""
        by = positive(factor, "factor")
        above = [size_of_law(value * by, "values times factor") for value in self.values if value > 0.0]
        return Discrete([*above, *(-value for value in above), *(value for value in self.values if value == 0.0)])

    @helped("Pass rng=, a seed such as 0: every draw can be repeated.")
    def draw(self, shape: Sequence[int], rng: int | np.random.Generator) -> Floats:
        """Draw independent numbers, float64 of this shape."""
        return np.asarray(self.values)[generator(rng).integers(len(self.values), size=_shape(shape))]


Continuous = Gaussian | Uniform
Law = Gaussian | Uniform | Discrete


def size_of_law(value: float, name: str) -> float:
    """Return a positive number whose square and inverse are far from the limits of the doubles."""
    result = positive(value, name)
    if not SMALLEST <= result <= 1.0 / SMALLEST:
        raise ValueError(f"{name} must be between {SMALLEST} and {1 / SMALLEST}, got {result}")
    return result


def _shape(given: Sequence[int]) -> tuple[int, ...]:
    shape = integers(given, "shape")
    if prod(shape) > MOST_SAMPLES:
        raise ValueError(f"shape asks for more than {MOST_SAMPLES:,} numbers")
    return shape


def _in_units_of(unit: float, values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.clip(real_numbers(values, "values", infinite=True) / unit, -1e100, 1e100)


def _ends(unit: float, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return both ends of intervals, unscaled and in units of a law's size."""
    low, high = real_numbers(low, "low", infinite=True), real_numbers(high, "high", infinite=True)
    if low.shape != high.shape:
        raise ShapeMismatchError(f"low and high need one shape, got {list(low.shape)} and {list(high.shape)}")
    if (low > high).any():
        raise ValueError("low must not be above high")
    with np.errstate(over="ignore"):  # all of the law is on one side of such a number
        return low, high, low / unit, high / unit
