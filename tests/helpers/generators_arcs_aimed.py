# SPDX-License-Identifier: MIT
"""Which networks come as close as possible to the limits of the proofs on arcs?

`tangent_arc_case`: layers with large biases whose units do not cross, and above them units that nearly touch zero at
one point of the arc, or cross next to each other there; long doubles locate the point. `pythagorean_arc_case`:
integers, and one point of the arc that is exact, where several units of a layer are zero or nearly so. Both reveal
missing bounds on the bend of a sinusoid, and a missing test of the order of crossings, in the core.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regions.domains.curves import QUARTERS, ArcLeg
from regions.networks.named_activations import leaky_relu
from regions.networks.network import Network

__all__ = ["pythagorean_arc_case", "tangent_arc_case"]

Numbers = np.ndarray[Any, Any]
LONG = np.longdouble
TRIPLES = ((3, 4, 5), (4, 3, 5), (5, 12, 13), (12, 5, 13), (7, 24, 25), (8, 15, 17), (20, 21, 29), (24, 7, 25))


def tangent_arc_case(seed: int) -> tuple[Network, ArcLeg]:
    """Return a network and an arc; around ``middle`` the layer before the last one is constant + gradient @ point."""
    rng = np.random.default_rng([81, seed])
    directions = rng.standard_normal((2, 2)) if rng.random() < 0.5 else np.eye(2)
    ends = _ends(rng)
    middle = _between(ends, rng.random())
    across = np.array([-middle[1], middle[0]])
    constant, gradient = np.zeros(2, LONG), directions.T.astype(LONG)
    layers, slopes = [], []
    loudness = 2.0 ** int(rng.choice([0, 0, 1, 3, 8, 20]))
    for _ in range(int(rng.integers(0, 4))):
        weights = rng.standard_normal((int(rng.choice([2, 2, 3, 5])), len(constant)))
        if len(weights) == 2 == len(constant) and rng.random() < 0.6:
            weights = np.linalg.qr(weights)[0] if rng.random() < 0.7 else np.eye(2)
        values, change = weights.astype(LONG) @ constant, weights.astype(LONG) @ gradient
        quiet = 1.5 * loudness * np.abs(change).sum(axis=1).astype(float)
        signs = rng.choice([1.0, -0.2], len(weights)) if rng.random() < 0.3 else 1.0
        biases = -values.astype(float) + quiet * signs
        if rng.random() < 0.4:
            crossing = int(rng.integers(len(weights)))
            biases[crossing] = -float(values[crossing] + change[crossing] @ _between(ends, rng.random()))
        slopes.append(float(rng.choice([0, 0.25, -1])))
        layers.append((weights, biases))
        on = np.where(values + biases + change @ middle > 0, 1, slopes[-1]).astype(LONG)
        constant, gradient = on * (values + biases), on[:, np.newaxis] * change
    size = float(np.abs(constant).sum() + np.abs(gradient).sum())
    last = [
        _touching(rng, constant, gradient, middle, across, size)
        if rng.random() < 0.5
        else _crossing_nearby(rng, constant, gradient, middle, across)
        for _ in range(int(rng.integers(1, 5)))
    ]
    layers.append((np.array([weights for weights, _ in last]), np.array([bias for _, bias in last])))
    slopes.append(0.0)
    if rng.random() < 0.3:
        layers.append((rng.standard_normal((2, len(last))), rng.standard_normal(2)))
        slopes.append(0.0)
    readout = (np.ones((1, len(layers[-1][1]))), np.zeros(1))
    network = Network([*layers, readout], activation=[leaky_relu(slope) for slope in slopes])
    return network, ArcLeg(np.zeros(2), directions, ends)


def pythagorean_arc_case(seed: int) -> tuple[Network, ArcLeg]:
    """Return a network whose units meet, or nearly, at a point of the arc with rational coordinates."""
    rng = np.random.default_rng([82, seed])
    a, b, radius = TRIPLES[int(rng.integers(len(TRIPLES)))]
    ends = QUARTERS[:2].copy()
    if rng.random() < 0.5:
        steps = 0.2 * 2.0 ** -int(rng.integers(0, 14)) * rng.integers(1, 4, (2, 1))
        around = np.array([[a, b], [a, b]]) + np.array([[b, -a], [-b, a]]) * steps
        if around[0] @ around[1] >= 0:
            ends = around
    layers, matrix, shift = [], np.eye(2), np.zeros(2)
    for depth in range(int(rng.integers(0, 3))):
        weights = rng.integers(-2, 3, (2, 2)).astype(float)
        if abs(np.linalg.det(weights)) < 0.5:
            weights = np.eye(2)
        biases = np.array([256.0, 512.0]) * float(rng.integers(1, 4)) * 8.0**depth  # so that no unit crosses
        layers.append((weights, biases))
        matrix, shift = weights @ matrix, weights @ shift + biases
    units = int(rng.integers(2, 5))
    weights = rng.integers(-9, 10, (units, 2)) * 2.0 ** rng.integers(-3, 3, (units, 1))
    biases = -weights @ (matrix @ [a, b] + shift)
    biases += (rng.random(units) < 0.2) * rng.choice([-1, 1], units) * 2.0 ** -rng.integers(5, 45, units)
    layers.append((weights, biases))
    if rng.random() < 0.3:
        layers.append((rng.integers(-2, 3, (2, units)).astype(float), rng.integers(-2, 3, 2).astype(float)))
    readout = (np.ones((1, len(layers[-1][1]))), np.zeros(1))
    network = Network([*layers, readout], activation=str(rng.choice(["relu", "abs"])))
    return network, ArcLeg(np.zeros(2), radius * np.eye(2), ends)


def _ends(rng: np.random.Generator) -> Numbers:
    first = int(rng.integers(4))
    if rng.random() < 0.5:
        return QUARTERS[first : first + 2].copy()
    start = rng.standard_normal(2)
    return np.array([start, start + np.array([-start[1], start[0]]) * 2.0 ** -int(rng.integers(0, 20))])


def _between(ends: Numbers, share: float) -> Numbers:
    """Return a point of the unit circle, in long doubles."""
    start, end = (_unit(LONG(1) * point) for point in ends)
    return _unit(start * (1 - share) + end * share)


def _unit(point: Numbers) -> Numbers:
    return np.asarray(point / np.sqrt((point * point).sum()))


def _touching(
    rng: np.random.Generator, constant: Numbers, gradient: Numbers, middle: Numbers, across: Numbers, size: float
) -> tuple[Numbers, float]:
    """Return a unit that hardly changes along the arc at ``middle``, and is nearly 0 there."""
    weights = rng.standard_normal(len(constant))
    along = (gradient @ across).astype(float)
    if rng.random() < 0.5 and (gradient @ middle).any():
        bulging = (gradient @ middle).astype(float)
        weights = bulging / np.abs(bulging).max()
    if along.any() and rng.random() < 0.8:
        weights = weights - (weights @ along) / (along @ along) * along
    off = size * 2.0 ** -float(rng.uniform(15, 60)) * rng.choice([-1, 1])
    return weights, -float(weights.astype(LONG) @ (constant + gradient @ middle)) + off


def _crossing_nearby(
    rng: np.random.Generator, constant: Numbers, gradient: Numbers, middle: Numbers, across: Numbers
) -> tuple[Numbers, float]:
    """Return a unit that is 0 at ``middle`` or next to it."""
    weights = rng.standard_normal(len(constant))
    turn = LONG(2.0 ** -float(rng.uniform(10, 56)) * rng.choice([-1, 0, 1]))
    return weights, -float(weights.astype(LONG) @ (constant + gradient @ _unit(middle + across * turn)))
