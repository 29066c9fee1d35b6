# SPDX-License-Identifier: MIT
"""Which deep networks should the core be tried on?

`DEEP_FAMILIES`, like `FAMILIES` in `generators.py`, but 8 to 60 layers deep and 2 to 24 units wide: what is rounded at
the bottom has a long way to the top, so error bounds grow, and their lowest layers are kept to twice the working
precision. Domains are small, so that there are few regions, for the reference takes 10 to 300 milliseconds on one.
"""

from __future__ import annotations

import numpy as np

from generator_parts import Draw, Family, Floats, Rng, gaussian, network, ternary, zeros
from regions.domains import Domain, Polygon, Segment
from regions.networks.named_activations import Activation
from regions.networks.network import Network

__all__ = ["DEEP_FAMILIES"]

DEEP_FAMILIES: dict[str, Family] = {}


def deep_family(function: Family) -> Family:
    """Register a family under its own name."""
    DEEP_FAMILIES[function.__name__] = function
    return function


def he_normal(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return gaussian(rng, shape) * np.sqrt(2 / shape[1])


def orthogonal(rng: Rng, shape: tuple[int, ...]) -> Floats:
    """Rows or columns are perpendicular, of length sqrt(2): what Saxe et al. 2014 start training from."""
    basis, _ = np.linalg.qr(gaussian(rng, (max(shape), max(shape))))
    return np.asarray(np.sqrt(2) * basis[: shape[0], : shape[1]])


def small(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return 0.1 * gaussian(rng, shape)


def halves(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return rng.integers(-1, 2, shape) / 2


def cancelling(rng: Rng, shape: tuple[int, ...]) -> Floats:
    """Large weights that nearly cancel: every second column is that before, with the other sign, but for last bits."""
    weights = he_normal(rng, shape)
    pairs = shape[1] // 2
    weights[:, 1 : 2 * pairs : 2] -= 1e6 * weights[:, 0 : 2 * pairs : 2]
    weights[:, 0 : 2 * pairs : 2] *= 1e6
    return weights


def deep_network(
    rng: Rng, weights: Draw, biases: Draw, activation: str | Activation = "relu", widest: int = 24
) -> Network:
    depth = int(rng.integers(8, 61))
    width = int(rng.integers(2, max(3, min(widest, 480 // depth // 2)) + 1))
    return network(rng, [2, *[width] * depth, 1], weights, biases, activation)


def small_domain(rng: Rng, dimension: int) -> Domain:
    """About a point of the plane; smaller in two dimensions, where there would be many regions."""
    center = rng.standard_normal(2) / 2
    if dimension == 1:
        return Segment(center, center + rng.standard_normal(2) * 10.0 ** -rng.uniform(0, 3))
    half = 10.0 ** -rng.uniform(1, 4)
    return Polygon(center + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]))


@deep_family
def deep_generic(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    return deep_network(rng, he_normal, small), small_domain(rng, dimension)


@deep_family
def deep_orthogonal(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    return deep_network(rng, orthogonal, small), small_domain(rng, dimension)


@deep_family
def deep_zero_bias(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    return deep_network(rng, [he_normal, orthogonal][rng.integers(2)], zeros), small_domain(rng, dimension)


@deep_family
def deep_ternary(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    return deep_network(rng, ternary, halves, widest=6), small_domain(rng, dimension)


@deep_family
def deep_cancelling(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    return deep_network(rng, cancelling, gaussian, widest=6), small_domain(rng, dimension)


@deep_family
def deep_other_activations(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    activation = ["leaky_relu(0.1)", "hard_tanh", "abs", "relu6"][rng.integers(4)]
    return deep_network(rng, he_normal, small, activation, widest=6), small_domain(rng, dimension)
