# SPDX-License-Identifier: MIT
"""Are directions found independent exactly where they are, also in many dimensions?"""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from regions.domains.gram import determinant, gram_matrix, independent


def directions_of(rng: np.random.Generator, d: int, n: int, kind: str) -> np.ndarray:
    """Return directions [d, n], the last of which is, or nearly is, a combination of the others."""
    rows = rng.standard_normal((d, n)) * 2.0 ** rng.integers(-30, 30, (d, 1))
    if kind == "generic":
        return rows
    small = rng.integers(-4, 5, (d, n)).astype(float)
    small[-1] = rng.integers(-2, 3, d - 1) @ small[:-1]
    if kind == "one entry":
        at = int(rng.integers(n))
        small[-1, at] = np.nextafter(small[-1, at], np.inf)
    if kind == "extreme":
        small *= 2.0 ** rng.choice([-1060.0, 0.0, 1010.0], (d, 1))
    return small


@pytest.mark.parametrize("kind", ["generic", "dependent", "one entry", "extreme"])
@pytest.mark.parametrize("n", [3, 17, 200])
def test_independent_is_what_the_gram_matrix_says(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    seen = set()
    for _ in range(40):
        directions = directions_of(rng, int(rng.integers(2, min(n, 6) + 1)), n, kind)
        expected = determinant(gram_matrix(directions)) != 0
        assert independent(directions) == expected
        seen.add(expected)
    assert (True in seen) == (kind in ("generic", "one entry"))


def test_determinants() -> None:
    assert determinant([[3]]) == 3
    assert determinant([[1, 2], [3, 4]]) == -2
    assert determinant([[Fraction(1, 2), Fraction(0)], [Fraction(5), Fraction(4)]]) == 2
    assert determinant([[2, 0, 1], [1, 3, 2], [0, 1, 1]]) == 3
    assert determinant([[0, 2, 1], [3, 0, 2], [1, 1, 0]]) == 7
    assert determinant([[0, 0, 5], [0, 2, 1], [3, 0, 2]]) == -30
    assert determinant([[1, 2, 3], [2, 4, 6], [0, 1, 1]]) == determinant([[0, 1], [0, 2]]) == 0
    hilbert = [[Fraction(1, 1 + i + j) for j in range(4)] for i in range(4)]
    assert determinant(hilbert) == Fraction(1, 6_048_000)
    # Ten dimensions: a cofactor expansion would take seconds.
    assert determinant([[int(i <= j) * (i + 1) for j in range(10)] for i in range(10)]) == factorial(10)
