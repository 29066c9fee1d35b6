# SPDX-License-Identifier: MIT
"""Which networks have regions that are barely representable in doubles?

`nearly_degenerate` draws small networks with lines that are nearly parallel or nearly meet in a point, strips down to
2^-50 wide, differences of nearly equal units times up to 1e12, and domains far from the origin or in skew charts. They
are not among the families of `generators.py`, which are for counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regions.domains import Domain, Plane, Polygon, Rectangle, Segment
from regions.networks.network import Network

__all__ = ["KINDS", "nearly_degenerate"]

Floats = NDArray[np.float64]
Rows = tuple[Floats, Floats]

KINDS = ("parallel", "concurrent", "strips", "differences")


def nearly_degenerate(kind: str, dimension: int, seed: int) -> tuple[Network, Domain]:
    """Return a network and a domain in a line or plane; the same for the same arguments."""
    rng = np.random.default_rng([seed, dimension, *kind.encode()])
    centre = _centre(rng)
    first = _first_layer(kind, rng, centre)
    layers = [first]
    if kind == "differences":
        layers.append(_differences(rng, first))
    elif rng.random() < 0.5:
        width = int(rng.integers(1, 4))
        layers.append((_few_bits(rng, (width, len(first[1]))), _few_bits(rng, (width,)) + _offset(rng)))
    network = Network([*layers, (np.ones((1, len(layers[-1][1]))), np.zeros(1))])
    return network, _domain(rng, dimension, centre)


def _first_layer(kind: str, rng: np.random.Generator, centre: Floats) -> Rows:
    width = int(rng.integers(2, 6))
    weights = _few_bits(rng, (width, 2))
    if kind == "parallel":
        weights = weights[:1] + rng.choice([2.0**-52, 2.0**-48, 2.0**-30, 1e-9], (width, 1)) * weights
        biases = -weights @ centre + rng.choice([0.0, 2.0**-50, 0.1, 1e-9], width) * rng.standard_normal(width)
    elif kind == "concurrent":
        biases = -weights @ (centre + rng.integers(-3, 4, 2) / 10.0)
    else:
        weights[1::2] = weights[: width - 1 : 2]  # in pairs
        biases = -weights @ centre + np.array([_offset(rng) for _ in range(width)])
    return weights, biases


def _differences(rng: np.random.Generator, first: Rows) -> Rows:
    """Return ``factor * (a - a')`` for each unit and the next one; the units of a pair hardly differ."""
    width, factor = len(first[1]), float(rng.choice([1e6, 1e9, 1e12]))
    second = np.zeros((width, width))
    for unit in range(width):
        second[unit, unit], second[unit, (unit + 1) % width] = factor, -factor
    return second, 0.1 * rng.standard_normal(width)


def _few_bits(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return nonzero numbers: small integers, decimals or Gaussians."""
    draws = (rng.integers(1, 4, shape) * rng.choice([-1, 1], shape), rng.integers(1, 10, shape) / 10.0)
    kind = int(rng.integers(3))
    return np.asarray(draws[kind] if kind < 2 else rng.standard_normal(shape), dtype=np.float64)


def _offset(rng: np.random.Generator) -> float:
    """Return how far a line is moved, often by a tiny amount."""
    return float(rng.choice([0.0, 2.0**-53, 2.0**-50, -(2.0**-50), 2.0**-40, 1e-9, 0.25, -0.3]))


def _centre(rng: np.random.Generator) -> Floats:
    return np.asarray(rng.choice([0.0, 0.0, 0.7, -3.0, 1e3, 1e6]) * np.ones(2))


def _domain(rng: np.random.Generator, dimension: int, centre: Floats) -> Domain:
    half = float(rng.choice([1.0, 2.0, 0.01]))
    if dimension == 1:
        return Segment(centre - half * np.array([1.0, 0.3]), centre + half * np.array([0.9, 0.7]))
    shape = int(rng.integers(4))
    if shape == 0:
        return Plane(centre, [1.0, 0.5], [0.5, 1.0])
    if shape == 1:
        skew = float(rng.choice([1.0, 1e-3, 1e-6]))
        return Rectangle(centre, [half, half], [half, half * (1.0 + skew)])
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    return Polygon(centre + half * (corners if shape == 2 else corners @ np.array([[0.8, 0.6], [-0.6, 0.8]])))
