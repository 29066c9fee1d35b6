# SPDX-License-Identifier: MIT
"""Which small networks and arcs are hard for counting pieces?

Weights and ends have few digits, so that lines pass through ends of arcs, touch the circle, coincide, or meet on it.
Arcs are as short as 2^-44 of a turn. Some numbers are generic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regions import Network
from regions.domains.curves import QUARTERS, ArcLeg
from regions.domains.gram import independent

__all__ = ["arc_case", "arc_leg", "nearly_degenerate_arc_case"]

SMALL = (-2.0, -1.0, -1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 0.5, -0.5)


def arc_case(seed: int) -> tuple[Network, ArcLeg]:
    """Return a network and an arc in its input space."""
    rng = np.random.default_rng([11, seed])
    network = _network(rng)
    return network, arc_leg(rng, network.n_in)


def nearly_degenerate_arc_case(seed: int) -> tuple[Network, ArcLeg]:
    """Return such a case with a little noise in each weight and bias, and all inputs scaled by a power of two."""
    rng = np.random.default_rng([12, seed])
    network, leg = arc_case(seed)
    noise = 2.0 ** -int(rng.integers(8, 54))
    scale = 2.0 ** int(rng.choice([0, 0, 0, rng.integers(-400, 400)]))
    layers = [
        tuple(array * (1 + noise * rng.standard_normal(array.shape)) for array in (layer.weights, layer.biases))
        for layer in network.layers
    ]
    layers[0] = (layers[0][0] / scale, layers[0][1])
    activation = str(rng.choice(["relu", "abs", "leaky_relu(0.25)"]))
    return Network(layers, activation=activation), ArcLeg(leg.origin * scale, leg.directions * scale, leg.ends)


def _numbers(rng: np.random.Generator, shape: Any, kind: str) -> np.ndarray[Any, Any]:
    return rng.choice(SMALL, shape) if kind == "small" else rng.standard_normal(shape)


def _network(rng: np.random.Generator) -> Network:
    kind = rng.choice(["small", "generic", "both"])
    widths = rng.integers(1, rng.choice([4, 6, 10]), rng.integers(1, 4))
    sizes = [int(rng.integers(2, 5)), *map(int, widths), 1]
    layers = []
    for inputs, units in zip(sizes, sizes[1:], strict=False):
        here = kind if kind != "both" else rng.choice(["small", "generic"])
        weights, biases = _numbers(rng, (units, inputs), here), _numbers(rng, units, here) * (rng.random() < 0.7)
        if rng.random() < 0.5:  # parallel lines, or one line twice
            weights[-1] = weights[0]
            biases[-1] = biases[rng.choice([0, -1])]
        layers.append((weights, biases))
    return Network(layers, activation=str(rng.choice(["relu", "hardtanh", "abs"])))


def arc_leg(rng: np.random.Generator, n_in: int) -> ArcLeg:
    origin = _numbers(rng, n_in, rng.choice(["small", "generic"])) * (rng.random() < 0.5)
    directions = np.zeros((2, n_in))
    if rng.random() < 0.6:
        directions[[0, 1], rng.permutation(n_in)[:2]] = rng.choice([1.0, 1.0, 2.0, 0.5, 3.0])
    while not independent(directions):
        directions = _numbers(rng, (2, n_in), rng.choice(["small", "generic"]))
    return ArcLeg(origin, directions, _ends(rng))


def _ends(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    kind = rng.random()
    if kind < 0.4:
        first = int(rng.integers(4))
        return QUARTERS[first : first + 2]
    if kind < 0.6:
        angle, width = rng.uniform(0, 7), rng.uniform(0, np.pi / 2)
        return np.array([[np.cos(angle), np.sin(angle)], [np.cos(angle + width), np.sin(angle + width)]])
    start = np.zeros(2)
    while not start.any():
        start = rng.integers(-4, 5, 2).astype(np.float64)
    across = np.array([-start[1], start[0]])
    if kind < 0.9:
        return np.array([start, start * rng.integers(0, 3) + across * rng.integers(1, 3)])
    return np.array([start, start + across * 2.0 ** -int(rng.integers(10, 45))])
