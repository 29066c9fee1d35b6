# SPDX-License-Identifier: MIT
"""How long are the directions of a chart, and do they span a line or a plane, exactly?

Both follow from the Gram matrix, the products of the directions with each other, whose entries are fractions. Lengths
and areas are square roots of exact fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd
from operator import mul
from typing import TypeVar

import numpy as np

from regions.ground.arithmetic.dyadic import common_integers, dyadic, square_root
from regions.ground.arithmetic.types import Floats

# In more input dimensions than this, a few columns are tried first: directions that are independent in these columns
# are independent.
MANY = 16

Number = TypeVar("Number", int, Fraction)


def gram_matrix(directions: Floats) -> list[list[Fraction]]:
    """Return ``directions @ directions.T`` for directions [d, n_in] as d x d fractions, exactly."""
    integers, exponent = dyadic(directions)
    power = Fraction(2) ** (2 * exponent)
    return [[int(product) * power for product in row] for row in integers @ integers.T]


def determinant(matrix: Sequence[Sequence[Number]]) -> Number:
    """Return the determinant of a matrix of integers or of fractions, by Bareiss' elimination without remainders."""
    rows, sign, last = [list(row) for row in matrix], 1, None
    for k in range(len(rows) - 1):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return 0 * rows[k][k]
        if pivot != k:
            rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
        for i in range(k + 1, len(rows)):
            for j in range(k + 1, len(rows)):
                product = rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]
                rows[i][j] = product if last is None else _quotient(product, last)
        last = rows[k][k]
    return sign * rows[-1][-1]


def _quotient(left: Number, right: Number) -> Number:
    """Return a quotient that is an integer if both numbers are integers."""
    return left // right if isinstance(left, int) and isinstance(right, int) else left / right


def rank(rows: Sequence[Sequence[int]]) -> int:
    """Return the rank of a matrix of integers, by elimination without fractions.

    Examples
    --------
    >>> rank([[1, 2, 3], [2, 4, 6], [0, 0, 5]])
    2
    """
    reduced: list[tuple[int, Sequence[int]]] = []
    for row in rows:
        for pivot, other in reduced:
            if row[pivot]:
                a, b = row[pivot], other[pivot]
                row = [b * x - a * y for x, y in zip(row, other, strict=True)]
        divisor = gcd(*row)
        if divisor:
            row = [x // divisor for x in row]
            reduced.append((next(k for k, x in enumerate(row) if x), row))
            if len(reduced) == len(row):
                break
    return len(reduced)


def adjugate(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    """Return the cofactors of a symmetric matrix: its inverse times its determinant."""
    size = range(len(matrix))
    minors = [[[row[:k] + row[k + 1 :] for i, row in enumerate(matrix) if i != j] for k in size] for j in size]
    return [[(-1) ** (j + k) * determinant(minors[j][k]) for k in size] for j in size]


def triangular_factor(gram: list[list[Fraction]]) -> list[list[float]]:
    """Return the upper triangular factor r of a Gram matrix, ``r.T @ r``, every entry rounded once."""
    rest, factor = [list(row) for row in gram], []
    for k, top in enumerate(rest):
        squares = [b * b / top[k] for b in top]  # of the row's entries
        factor.append(
            [0.0] * k + [square_root(x) * (1 if b > 0 else -1) for b, x in zip(top[k:], squares[k:], strict=True)]
        )
        for row in rest[k + 1 :]:
            share = row[k] / top[k]
            row[:] = [a - share * b for a, b in zip(row, top, strict=True)]
    return factor


def independent(directions: Floats) -> bool:
    """Return whether a few directions [d, n_in] are linearly independent, exactly."""
    if not directions.any(axis=1).all():
        return False
    if directions.shape[1] > MANY and _gram_is_regular(directions[:, _pivots(directions)]):
        return True
    return _gram_is_regular(directions)


def _gram_is_regular(directions: Floats) -> bool:
    rows = [common_integers(row) for row in directions.tolist()]
    return determinant([[sum(map(mul, a, b)) for b in rows] for a in rows]) != 0


def _pivots(directions: Floats) -> list[int]:
    """Return d columns in which directions [d, n_in] are likely to be independent, by elimination in doubles."""
    rest, columns = directions.copy(), []
    with np.errstate(all="ignore"):
        for row in range(len(rest)):
            columns.append(int(np.abs(rest[row]).argmax()))
            rest[row + 1 :] -= np.outer(rest[row + 1 :, columns[-1]] / rest[row, columns[-1]], rest[row])
    return columns
