# SPDX-License-Identifier: MIT
"""Which colour stands for an activation pattern?

A light one, picked by a hash of the pattern: the same pattern has the same colour in every picture and on
every machine, and different patterns next to each other almost always differ visibly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regions.pattern_index import hash_patterns

__all__ = ["pattern_colors"]


def pattern_colors(packed: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Red, green and blue from 0 to 1 for each packed pattern: float64 [m, 3]."""
    hashes = hash_patterns(packed)
    hue = (hashes >> np.uint64(44)).astype(np.float64) / 2.0**20
    depth = 0.15 + 0.35 * (hashes & np.uint64(0xFFFF)).astype(np.float64) / 2.0**16
    # The colour wheel: each primary is full over a third of it and falls off linearly.
    distance = np.abs((hue[:, np.newaxis] - np.array([0.0, 1.0, 2.0]) / 3 + 0.5) % 1 - 0.5)
    colors: NDArray[np.float64] = 1 - depth[:, np.newaxis] * np.clip(6 * distance - 1, 0, 1)
    return colors
