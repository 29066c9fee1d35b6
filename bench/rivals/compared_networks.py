# SPDX-License-Identifier: MIT
"""On which networks are tools compared?

All have float32 weights, so that every tool gets the same numbers, and two inputs, except for the networks in boxes and
in spaces. A family has a network for each seed. Generic networks are like trained ones; in degenerate networks lines
meet in points or coincide, as in quantised and pruned networks, and in networks that compute a minimum or a maximum.
Invariant: the same family and seed give the same network.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["BOXES", "DEGENERATE", "GENERIC", "SPACES", "Layers"]

Floats = NDArray[np.float32]
Layers = list[tuple[Floats, Floats]]


def he(*widths: int) -> Callable[[int], Layers]:
    """Random networks with these widths: weights of variance 2 / fan-in, and small biases."""

    def draw(seed: int) -> Layers:
        rng = np.random.default_rng(seed)
        return [
            (
                rng.normal(0.0, np.sqrt(2 / inputs), (units, inputs)).astype(np.float32),
                rng.normal(0.0, 0.1, units).astype(np.float32),
            )
            for inputs, units in zip(widths, widths[1:], strict=False)
        ]

    return draw


def without_biases(seed: int) -> Layers:
    """All lines of the first layer meet in the origin."""
    return [(weights, np.zeros_like(biases)) for weights, biases in he(2, 12, 12, 1)(seed)]


def ternary(seed: int) -> Layers:
    """Weights and biases are -1, 0 or 1, as in networks that are quantised to two bits."""
    rng = np.random.default_rng(seed)
    widths = (2, 8, 8, 1)
    return [
        (rng.integers(-1, 2, (units, inputs)).astype(np.float32), rng.integers(-1, 2, units).astype(np.float32))
        for inputs, units in zip(widths, widths[1:], strict=False)
    ]


def twins(seed: int) -> Layers:
    """Every neuron occurs twice."""
    (first, biases), (second, second_biases), (last, last_biases) = he(2, 8, 8, 1)(seed)
    half = np.float32(0.5)
    return [
        (np.repeat(first, 2, axis=0), np.repeat(biases, 2)),
        (half * np.repeat(np.repeat(second, 2, axis=1), 2, axis=0), np.repeat(second_biases, 2)),
        (half * np.repeat(last, 2, axis=1), last_biases),
    ]


def minimum(seed: int) -> Layers:
    """The minimum of four maxima of two affine functions each, written with ReLUs: max(a, b) = a + relu(b - a)."""
    rng = np.random.default_rng(seed)
    forms = rng.integers(-8, 9, (8, 3)).astype(np.float32) / 8
    first, second = forms[::2], forms[1::2]
    # relu(b - a), relu(a) and relu(-a) of each pair.
    rows = np.concatenate([second - first, first, -first])
    maxima = np.hstack([np.eye(4), np.eye(4), -np.eye(4)])
    layers = [(rows[:, :2], rows[:, 2])]
    while len(maxima) > 1:
        # min(a, b) = a - relu(a - b); a = relu(a) - relu(-a).
        left, right = maxima[::2], maxima[1::2]
        rows = np.concatenate([left - right, left, -left])
        layers.append((rows, np.zeros(len(rows))))
        half = len(left)
        maxima = np.hstack([-np.eye(half), np.eye(half), -np.eye(half)])
    layers.append((maxima, np.zeros(1)))
    return [(weights.astype(np.float32), biases.astype(np.float32)) for weights, biases in layers]


GENERIC: dict[str, Callable[[int], Layers]] = {
    "random, 16 + 16 neurons": he(2, 16, 16, 1),
    "random, 3 layers of 64": he(2, 64, 64, 64, 1),
    "random, 3 layers of 128": he(2, 128, 128, 128, 1),
}
DEGENERATE: dict[str, Callable[[int], Layers]] = {
    "without biases, 12 + 12": without_biases,
    "ternary weights, 8 + 8": ternary,
    "every neuron twice, 16 + 16": twins,
    "minimum of maxima, with ReLUs": minimum,
}
BOXES: dict[str, Callable[[int], Layers]] = {
    "3 inputs, 16 + 16": he(3, 16, 16, 1),
    "3 inputs, 32 + 32": he(3, 32, 32, 1),
    "4 inputs, 16 + 16": he(4, 16, 16, 1),
    "5 inputs, 12 + 12": he(5, 12, 12, 1),
}
SPACES: dict[str, Callable[[int], Layers]] = {
    "3 inputs, 6 + 6": he(3, 6, 6, 1),
    "4 inputs, 5 + 5": he(4, 5, 5, 1),
    "5 inputs, 4 + 4": he(5, 4, 4, 1),
}
