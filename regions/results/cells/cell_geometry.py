# SPDX-License-Identifier: MIT
"""Which corner follows each corner of a region, and how is a difference of coordinates computed without overflow?"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.types import Floats, Integers

__all__ = ["LEAST_EXPONENT", "difference", "next_corners"]

# The least exponent e for which 2**e and 2**-e are both normal doubles.
LEAST_EXPONENT = -1022


def next_corners(offsets: Integers) -> Integers:
    """Return the corner that follows each corner around its region, for regions with corners ``offsets[r]:offsets[r
    + 1]``."""
    following = np.arange(1, offsets[-1] + 1)
    following[offsets[1:] - 1] = offsets[:-1]
    return following


def difference(a: Floats, b: Floats) -> tuple[Floats, np.intc]:
    """Return ``(a - b) / 2**s`` and s: 1 if any difference is beyond the largest double, else 0."""
    with np.errstate(all="ignore"):
        difference = a - b
        infinite = np.isinf(difference)
        if infinite.any() and (infinite & np.isfinite(a) & np.isfinite(b)).any():
            return a / 2 - b / 2, np.intc(1)
    return difference, np.intc(0)
