# SPDX-License-Identifier: MIT
"""Which arguments does a bound accept?

They are shapes of networks, and values for each layer. All bounds share these checks, which extend the checks of single
numbers in `regions/ground/arithmetic/arguments.py`. A shape that a theorem does not cover is not an invalid argument:
it raises `BoundDoesNotApply`, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isfinite
from typing import Any

from regions.errors import BeyondDoublesError, BoundDoesNotApply
from regions.ground.arithmetic.arguments import integer, integers, is_sequence, number, positive, shown, tuple_of

Widths = int | Iterable[int]


def shape(n_in: Any, widths: Any) -> tuple[int, tuple[int, ...]]:
    """Return the input dimension and the widths of the hidden layers, at least one.

    Examples
    --------
    >>> shape(2, [4, 4]), shape(2, 4)
    ((2, (4, 4)), (2, (4,)))
    """
    dimension = integer(n_in, "n_in")
    return dimension, integers(widths, "widths") if is_sequence(widths) else (integer(widths, "widths"),)


def one_width(widths: Sequence[int], what: str) -> int:
    """Return the width of the only hidden layer; ``what`` is the theorem's name in the refusal."""
    if len(widths) != 1:
        raise BoundDoesNotApply(f"{what} is about one hidden layer, there are {len(widths)} in widths")
    return widths[0]


def equal_width(widths: Sequence[int], what: str) -> int:
    """Return the width that all hidden layers have."""
    if len(set(widths)) != 1:
        raise BoundDoesNotApply(f"{what} is about hidden layers of equal width, here widths are {shown(list(widths))}")
    return widths[0]


def per_layer(
    value: Any, widths: Sequence[int], name: str, *, least: int = 1, noun: str = "hidden layers"
) -> tuple[int, ...]:
    """Return one integer for each layer (or whatever ``noun`` says); a single number applies to all.

    Examples
    --------
    >>> per_layer(2, [5, 6, 7], "breakpoints"), per_layer([1, 2], [5, 6], "breakpoints")
    ((2, 2, 2), (1, 2))
    """
    if not is_sequence(value):
        return (integer(value, name, least=least),) * len(widths)
    return integers(one_each(value, len(widths), name, noun), name, least=least)


def one_each(value: Any, count: int, name: str, noun: str = "hidden layers") -> tuple[Any, ...]:
    """Return the items of a sequence with ``count`` items."""
    items = tuple_of(value, name)
    if len(items) != count:
        raise ValueError(f"{name} must have one entry for each of {count} {noun}, got {len(items)}")
    return items


def numbers_per_layer(value: Any, widths: Sequence[int], name: str) -> tuple[float, ...]:
    """Return one number of at least 0 for each layer; a single number applies to all."""
    if not is_sequence(value):
        return (number(value, name),) * len(widths)
    return tuple(number(item, f"{name}[{i}]") for i, item in enumerate(one_each(value, len(widths), name)))


def rational(value: Any, name: str) -> Fraction:
    """Return a number above 0 exactly, as a fraction."""
    rounded = positive(value, name)
    return Fraction(value) if isinstance(value, (int, Fraction)) else Fraction(rounded)


def in_range(value: float, what: str) -> float:
    """Refuse a result beyond the largest double."""
    if not isfinite(value):
        raise BeyondDoublesError(f"{what} is beyond the largest double")
    return value


def codimension_of(value: Any, n_in: int) -> int:
    """Return the codimension of a stratum, from 1 to the dimension of the input."""
    codimension = integer(value, "codimension")
    if codimension > n_in:
        raise ValueError(f"codimension {codimension} is above the {n_in} dimensions of the input")
    return codimension
