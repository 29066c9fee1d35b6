# SPDX-License-Identifier: MIT
"""How many regions does a given arrangement of hyperplanes have, in any dimension and position?

The characteristic polynomial gives it exactly. Adding a hyperplane H to an arrangement A subtracts the polynomial of A
restricted to H,

    chi(A + H, t) = chi(A, t) - chi(A restricted to H, t),      chi(nothing, t) = t**d

and there are |chi(-1)| regions, of which |chi(1)| are bounded if some normals span the space (Zaslavsky 1975).
This shares nothing with the enumeration of regions, needs no domain, and works in any dimension. It therefore checks
the formulas for layers in general position and the arrangements of `regions.constructions`.
Cost: exponential in the dimension; some thousand restrictions for 25 hyperplanes in 5 dimensions. All numbers are
rational: all inputs are taken as exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd

from numpy.typing import ArrayLike

from regions.errors import ShapeMismatchError
from regions.ground.arithmetic.arrays import exact_float64

# (a_1, .., a_d, b) of the hyperplane a . x + b = 0: coprime integers, the first nonzero one positive.
_Hyperplane = tuple[int, ...]


def characteristic_polynomial(normals: ArrayLike, offsets: ArrayLike | None = None) -> tuple[int, ...]:
    """Return the characteristic polynomial of an arrangement: its coefficients from ``t**d`` down to the constant.

    Parameters
    ----------
    normals : array_like [n, d]
        Hyperplanes ``normals[i] . x + offsets[i] = 0``: the weights of a layer. A row of zeros cuts nothing, and equal
        hyperplanes count once.
    offsets : array_like [n], optional
        Zeros when left out.

    Returns
    -------
    tuple of int [d + 1]

    Raises
    ------
    ShapeMismatchError, NonFiniteError, NetworkError
        As for a layer of a `regions.Network`.

    References
    ----------
    Zaslavsky, Facing up to arrangements, 1975; Stanley, An introduction to hyperplane arrangements, 2007.

    Examples
    --------
    >>> characteristic_polynomial([[1, 0], [0, 1], [1, 1]])
    (1, -3, 2)
    """
    hyperplanes, dimension = _hyperplanes(normals, offsets)
    return _polynomial(hyperplanes, dimension)


def chambers(normals: ArrayLike, offsets: ArrayLike | None = None) -> int:
    """Return the exact number of regions of an arrangement in all of R^d, without enumerating them.

    Parameters
    ----------
    normals, offsets
        As for `characteristic_polynomial`.

    Returns
    -------
    int

    Examples
    --------
    >>> chambers([[1, 0], [0, 1], [1, 1]]), chambers([[1, 0], [0, 1], [1, 1]], [0, 0, 1])
    (6, 7)
    """
    return abs(_evaluate(characteristic_polynomial(normals, offsets), -1))


def bounded_chambers(normals: ArrayLike, offsets: ArrayLike | None = None) -> int:
    """Return the exact number of bounded regions of an arrangement.

    Parameters
    ----------
    normals, offsets
        As for `characteristic_polynomial`.

    Returns
    -------
    int
        0 if the normals do not span the space, because then no region is bounded.

    Examples
    --------
    >>> bounded_chambers([[1, 0], [0, 1], [1, 1]], [0, 0, 1]), bounded_chambers([[1, 0], [1, 0]], [0, 1])
    (1, 0)
    """
    hyperplanes, dimension = _hyperplanes(normals, offsets)
    # For the same hyperplanes moved to the origin, t divides the polynomial once for each dimension not spanned.
    central = _polynomial(_distinct((*row[:-1], 0) for row in hyperplanes), dimension)
    if central[-1] == 0 and dimension > 0:
        return 0
    return abs(_evaluate(_polynomial(hyperplanes, dimension), 1))


def _hyperplanes(normals: ArrayLike, offsets: ArrayLike | None) -> tuple[tuple[_Hyperplane, ...], int]:
    rows = exact_float64(normals, "normals")
    if rows.ndim != 2:
        raise ShapeMismatchError(f"normals must have shape [n, d], got {list(rows.shape)}")
    ends = exact_float64([0.0] * len(rows) if offsets is None else offsets, "offsets")
    if ends.shape != rows.shape[:1]:
        raise ShapeMismatchError(f"{len(rows)} normals need as many offsets, got shape {list(ends.shape)}")
    numbers = [[*map(Fraction, row), Fraction(end)] for row, end in zip(rows.tolist(), ends.tolist(), strict=True)]
    return _distinct(_to_integers(row) for row in numbers), rows.shape[1]


def _to_integers(row: list[Fraction]) -> _Hyperplane:
    common = max(number.denominator for number in row)  # powers of two: the largest is a multiple of all
    return tuple(int(number * common) for number in row)


def _distinct(rows: Iterable[_Hyperplane]) -> tuple[_Hyperplane, ...]:
    """Return the hyperplanes, each once and in a unique form, without rows whose normal is zero."""
    found: dict[_Hyperplane, None] = {}
    for row in rows:
        if any(row[:-1]):
            sign = 1 if next(filter(None, row)) > 0 else -1
            divisor = sign * gcd(*row)
            found[tuple(number // divisor for number in row)] = None
    return tuple(found)


def _polynomial(hyperplanes: tuple[_Hyperplane, ...], dimension: int) -> tuple[int, ...]:
    if dimension == 1:
        return (1, -len(hyperplanes))
    result = [1] + [0] * dimension
    for i, row in enumerate(hyperplanes):
        restricted = _polynomial(_distinct(_restrict(hyperplanes[:i], row)), dimension - 1)
        for j, coefficient in enumerate(restricted):
            result[j + 1] -= coefficient
    return tuple(result)


def _restrict(others: Iterable[_Hyperplane], row: _Hyperplane) -> Iterable[_Hyperplane]:
    """Yield the restrictions of the other hyperplanes to this one, with its first nonzero coordinate eliminated."""
    pivot = next(i for i, number in enumerate(row) if number)
    for other in others:
        factor = other[pivot]
        yield tuple(row[pivot] * a - factor * b for i, (a, b) in enumerate(zip(other, row, strict=True)) if i != pivot)


def _evaluate(polynomial: tuple[int, ...], t: int) -> int:
    value = 0
    for coefficient in polynomial:
        value = value * t + coefficient
    return value
