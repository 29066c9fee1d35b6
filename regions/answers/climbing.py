# SPDX-License-Identifier: MIT
"""Which points near given ones have larger values?

From each point the search goes towards the point of the domain at which the affine map here is largest, by the share of
the way whose value is largest, as long as values grow. All numbers are rounded. Callers use the points as candidates:
nothing that they prove depends on how good these are.
Cost: one gradient and twelve values for each point and step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from regions.ground.arithmetic.types import Floats
from regions.ground.threads.deadline import check_time

__all__ = ["box_corners", "climbed"]

# Steps, and shares of the way that are tried.
STEPS, SHARES = 20, 2.0 ** -np.arange(12)[:, np.newaxis]


def climbed(
    points: Floats,
    values: Callable[[Floats], Floats],
    slopes: Callable[[Floats], Floats],
    farthest: Callable[[Floats, Floats], Floats],
) -> Floats:
    """Return points [m, n] at which values are at least those at ``points`` [m, n].

    Parameters
    ----------
    points : float64 [m, n]
    values : callable
        Returns the values [k] at points [k, n]; -inf where they are unknown.
    slopes : callable
        Returns the gradients [m, n] of the values at points [m, n].
    farthest : callable
        Returns points [m, n] of the domain where linear forms with given slopes [m, n] are largest. Its other argument
        has the points, for coordinates on which a form does not depend.
    """
    best, rows = values(points), np.arange(len(points))
    for _ in range(STEPS):
        check_time()
        ends = farthest(slopes(points), points)
        here, there = points[:, np.newaxis], ends[:, np.newaxis]
        tried = np.clip(here * (1 - SHARES) + there * SHARES, np.minimum(here, there), np.maximum(here, there))
        found = values(tried.reshape(-1, points.shape[1])).reshape(len(points), -1)
        places = found.argmax(axis=1)
        better = found[rows, places] > best
        if not better.any():
            break
        points = np.where(better[:, np.newaxis], tried[rows, places], points)
        best = np.where(better, found[rows, places], best)
    return points


def box_corners(lower: Floats, upper: Floats) -> Callable[[Floats, Floats], Floats]:
    """Return the last argument of `climbed` for a box with corners [n]."""
    return lambda slopes, points: np.where(slopes > 0, upper, np.where(slopes < 0, lower, points))
