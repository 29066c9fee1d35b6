# SPDX-License-Identifier: MIT
"""Do nearly all kinks of the first layer meet in one point, up to rounding?

A layer W (x - c), or a batch norm without a shift whose running mean has been set, has all its kinks through one point
in real arithmetic. Stored biases are rounded, so the lines form many regions around it that are as thin as rounding
errors. Counts are exact for the stored lines, but they are not those of the layer that was meant, and rounded
programs disagree about them.

Only the note is a guess. It is made if one point satisfies nine tenths of the equations to the digits of float32, but
not all of them exactly. The point is a least-squares solution, from which the worst tenth of the rows is left out.
Cost: two least-squares solutions with as many unknowns as inputs, and for up to 64 inputs only.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.residues import primes_for, reduced, residues
from regions.ground.arithmetic.types import Floats
from regions.networks.network import Network

__all__ = ["note_on_concurrent_kinks"]

MOST_INPUTS = 64
# A share of the size of the terms. A running mean is a sum of float32 numbers of both signs, so its errors are larger
# than one rounding. Other layers do not come near: nine tenths of their kinks would have to.
TOLERANCE = 2.0**-16
SHARE = 0.9
# Kinks beyond the number of inputs that must meet in the point; n kinks meet in one anyway.
MORE = 3


def note_on_concurrent_kinks(network: Network) -> str | None:
    """Return a note on the point where nearly all kinks of the first layer nearly meet, or None."""
    if not network.is_chain or len(network.layers) < 2 or network.n_in > MOST_INPUTS or network.n_in < 2:
        return None
    layer = network.layers[0]
    if set(layer.activation.breakpoints.ravel().tolist()) != {0.0}:
        return None
    given = (layer.weights != 0).any(axis=1)
    weights, biases = layer.weights[given], layer.biases[given]
    needed = max(network.n_in + MORE, int(np.ceil(SHARE * len(weights))))
    if len(weights) < needed:
        return None
    with np.errstate(all="ignore"):
        sizes = np.abs(weights).max(axis=1)
        weights, biases = weights / sizes[:, np.newaxis], biases / sizes
        near = np.arange(len(weights))
        for _ in range(2):
            point = np.linalg.lstsq(weights[near], -biases[near], rcond=None)[0]
            errors = np.abs(weights @ point + biases) / (np.abs(weights) @ np.abs(point) + np.abs(biases))
            errors[(biases == 0) & (weights @ point == 0)] = 0
            near = np.sort(np.argsort(errors, kind="stable")[:needed])
        meeting = np.flatnonzero(errors <= TOLERANCE)
    if not np.isfinite(point).all() or len(meeting) < needed or np.linalg.matrix_rank(weights[near]) < network.n_in:
        return None
    if _meet_exactly(layer.weights[given][meeting], layer.biases[given][meeting]):
        return None
    where = ", ".join(f"{number:.6g}" for number in point[:4].tolist()) + (", .." if len(point) > 4 else "")
    return (
        f"{len(meeting)} of {len(weights)} kinks of the first layer meet in ({where}) up to the rounding of the stored "
        "numbers, as after a batch norm without a shift: around that point regions are as thin as rounding errors, and "
        "rounded programs disagree about them"
    )


def _meet_exactly(weights: Floats, biases: Floats) -> bool:
    """Return whether a point satisfies all equations modulo a prime.

    In real arithmetic the answer is the same, unless the prime divides a determinant of the equations.
    """
    prime = next(primes_for(1))
    rows = residues(np.column_stack([weights, biases]), prime)
    for column in range(weights.shape[1]):
        given = np.flatnonzero(rows[:, column])
        if not len(given):
            continue
        inverse = pow(int(rows[given[0], column]) % prime, -1, prime)
        pivot = reduced(rows[given[0]] * reduced(np.array([float(inverse)]), prime), prime)
        rows = np.delete(rows, given[0], axis=0)
        rows = reduced(rows - rows[:, column, np.newaxis] * pivot, prime)
    return not rows[:, -1].any()
