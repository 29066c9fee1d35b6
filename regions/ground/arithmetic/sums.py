# SPDX-License-Identifier: MIT
"""How are non-negative doubles summed, group by group, with one rounding for each sum?

The bits of the numbers are cut, from the highest bit of the largest number downwards, into slices so narrow that sums
of slices are integers below 2^53. Doubles add these up exactly, in any order, and Python integers combine the slices.
Cost: five sweeps per slice, with as many slices as it takes to cover all bits, from the highest bit of the largest
number to the lowest bit of all. That is two to four slices for the sizes in one picture.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.types import Floats, Integers

__all__ = ["correct_sum", "rounded_sums"]


def correct_sum(values: Floats) -> float:
    """Return the correctly rounded sum of values that are not negative; infinite as in `rounded_sums`."""
    return float(rounded_sums(values, np.zeros(len(values), dtype=np.int64), 1)[0])


def rounded_sums(values: Floats, groups: Integers, count: int) -> Floats:
    """Sum the values [m] of each group, correctly rounded.

    Parameters
    ----------
    values : float64 [m]
        Not negative.
    groups : int64 [m]
        From 0 to ``count`` - 1.
    count : int

    Returns
    -------
    float64 [count]
        Infinite if one of the values is infinite or NaN, or if the sum is beyond the largest double.

    Examples
    --------
    >>> rounded_sums(np.array([1.0, 2.0**-53, 2.0**-53, 5.0]), np.array([0, 0, 0, 2]), 3).tolist()
    [1.0000000000000002, 0.0, 5.0]
    """
    finite = np.isfinite(values)
    rest = np.where(finite, values, 0.0)
    width = 53 - len(values).bit_length()
    unit = int(np.frexp(rest.max(initial=0.0))[1]) - width
    sums = _slice(rest, groups, count, unit)
    while rest.any():
        unit -= width
        sums = [(total << width) + more for total, more in zip(sums, _slice(rest, groups, count, unit), strict=True)]
    result = np.array([_rounded(total, unit) for total in sums], dtype=np.float64)
    result[groups[~finite]] = np.inf
    return result


def _slice(rest: Floats, groups: Integers, count: int, unit: int) -> list[int]:
    """Subtract from each number its multiple of two to the power of ``unit``, and add up the factors per group."""
    whole = np.floor(np.ldexp(rest, -unit))
    rest -= np.ldexp(whole, unit)
    return [int(total) for total in np.bincount(groups, whole, count).tolist()]


def _rounded(total: int, unit: int) -> float:
    """Return the double nearest to a sum of that many units."""
    try:
        return total / (1 << -unit) if unit < 0 else float(total << unit)
    except OverflowError:
        return np.inf
