# SPDX-License-Identifier: MIT
"""What is the sum of many doubles that are not negative, group by group, each rounded once?

Numbers are cut, from the highest bits of the largest one downwards, into slices of so few bits that sums of all slices
are integers below 2^53: doubles add them up exactly, in any order, and integers of any size put the slices together.
Cost: five sweeps for each slice. There are as many slices as it takes to go through all bits, from the highest of the
largest number to the lowest of all: for sizes in one picture two to four.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Floats, Integers

__all__ = ["rounded_sums"]


def rounded_sums(values: Floats, groups: Integers, count: int) -> Floats:
    """Sum the values [m] of each group, correctly rounded.

    Parameters
    ----------
    values : float64 [m]
        Not negative.
    groups : int64 [m]
        From 0 to ``count``, without it.
    count : int

    Returns
    -------
    float64 [count]
        Infinite where one of the values is, or no number, and beyond the largest double.

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
    """Take from each number how often it has two to the power of ``unit``, and add these up for each group."""
    whole = np.floor(np.ldexp(rest, -unit))
    rest -= np.ldexp(whole, unit)
    return [int(total) for total in np.bincount(groups, whole, count).tolist()]


def _rounded(total: int, unit: int) -> float:
    """The double next to a sum of that many units."""
    try:
        return total / (1 << -unit) if unit < 0 else float(total << unit)
    except OverflowError:
        return np.inf
