# SPDX-License-Identifier: MIT
"""Are sums of doubles of all sizes rounded once, in each group?"""

from __future__ import annotations

from math import fsum, inf

import numpy as np
import pytest

from regions.ground.arithmetic.sums import rounded_sums


def expected(values: list[float]) -> float:
    try:
        return fsum(values)
    except OverflowError:
        return inf


@pytest.mark.parametrize("low, high", [(-3, 3), (-80, 0), (-1074, 1024), (-1080, -1000), (1000, 1024)])
def test_sums_match_fsum(low: int, high: int) -> None:
    rng = np.random.default_rng(0)
    for count in (0, 1, 2, 3, 10, 100, 1000):
        values = np.minimum(np.ldexp(rng.random(count), rng.integers(low, high, count)), np.finfo(np.float64).max)
        groups = rng.integers(0, 3, count)
        found = rounded_sums(values, groups, 4).tolist()
        assert found == [expected(values[groups == group].tolist()) for group in range(4)]


def test_what_is_not_finite_is_infinite_and_only_in_its_group() -> None:
    values = np.array([1.0, np.inf, np.nan, 0.1, 0.2])
    assert rounded_sums(values, np.array([0, 1, 2, 3, 3]), 4).tolist() == [1.0, inf, inf, 0.1 + 0.2]
