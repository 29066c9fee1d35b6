# SPDX-License-Identifier: MIT
"""On which deep networks is the core tested?

`DEEP_FAMILIES`, like `FAMILIES` in `generators.py`, but 8 to 60 layers deep and 2 to 24 units wide: rounding errors of
the lowest layers grow through many layers, so these layers have twice the working precision. The reference takes
milliseconds, in the largest networks a tenth of a second, on one region. Domains are therefore shrunk, around the same
point, until there are few regions: no network has to be left out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import regions
from generator_parts import Draw, Family, Floats, Rng, gaussian, network, ternary, zeros
from regions.domains import Domain, Polygon, Segment
from regions.networks.named_activations import Activation
from regions.networks.network import Network

__all__ = ["DEEP_FAMILIES"]

DEEP_FAMILIES: dict[str, Family] = {}


def deep_family(draw_network: Callable[[Rng], Network]) -> Callable[[Rng], Network]:
    """Register a family under its own name, with domains that have few regions."""

    def family(rng: Rng, dimension: int) -> tuple[Network, Domain]:
        network = draw_network(rng)
        return network, domain_of_few_regions(rng, network, dimension)

    DEEP_FAMILIES[draw_network.__name__] = family
    return draw_network


def he_normal(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return gaussian(rng, shape) * np.sqrt(2 / shape[1])


def orthogonal(rng: Rng, shape: tuple[int, ...]) -> Floats:
    """Rows or columns are perpendicular, of length sqrt(2): the initialisation of Saxe et al. 2014."""
    basis, _ = np.linalg.qr(gaussian(rng, (max(shape), max(shape))))
    return np.asarray(np.sqrt(2) * basis[: shape[0], : shape[1]])


def small(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return 0.1 * gaussian(rng, shape)


def halves(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return rng.integers(-1, 2, shape) / 2


def twins(rng: Rng, shape: tuple[int, ...]) -> Floats:
    """Return rows (or biases) in pairs that agree except for 20 bits."""
    drawn = gaussian(rng, shape)
    pairs = shape[0] // 2
    drawn[1 : 2 * pairs : 2] = drawn[0 : 2 * pairs : 2] + 2.0**-20 * drawn[1 : 2 * pairs : 2]
    return drawn


def cancelling(rng: Rng, shape: tuple[int, ...]) -> Floats:
    """Twins: the next layer reads 2**20 times the difference of their outputs, so 20 bits are lost in each layer."""
    weights = twins(rng, shape) / np.sqrt(shape[1])
    pairs = shape[1] // 2
    if shape[1] > 2:
        weights[:, 0 : 2 * pairs : 2] *= 2.0**20
        weights[:, 1 : 2 * pairs : 2] = -weights[:, 0 : 2 * pairs : 2]
    return weights


def deep_network(rng: Rng, weights: Draw, biases: Draw, activation: str | Activation = "relu") -> Network:
    """Return a deep network, mostly of up to 240 units; one in 64 has any width up to 24."""
    depth = int(rng.integers(8, 61))
    widest = 24 if rng.random() < 1 / 64 else max(3, min(24, 240 // depth))
    width = int(rng.integers(2, widest + 1))
    return network(rng, [2, *[width] * depth, 1], weights, biases, activation)


def domain_of_few_regions(rng: Rng, network: Network, dimension: int) -> Domain:
    """Shrink a domain around a point of the plane. The core decides when to stop; its answer affects only the size."""
    most = int(2 ** rng.uniform(2, 5))
    center = rng.standard_normal(2) / 2
    direction = rng.standard_normal(2)
    size = 10.0 ** -rng.uniform(-1, 2)
    while True:
        if dimension == 1:
            domain: Domain = Segment(center, center + size * direction)
        else:
            domain = Polygon(center + size * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
        try:
            regions.count(network, domain, limit=most)
        except regions.LimitReached:
            size /= 4
        else:
            return domain


@deep_family
def deep_generic(rng: Rng) -> Network:
    return deep_network(rng, he_normal, small)


@deep_family
def deep_orthogonal(rng: Rng) -> Network:
    return deep_network(rng, orthogonal, small)


@deep_family
def deep_zero_bias(rng: Rng) -> Network:
    return deep_network(rng, [he_normal, orthogonal][rng.integers(2)], zeros)


@deep_family
def deep_ternary(rng: Rng) -> Network:
    return deep_network(rng, ternary, halves)


@deep_family
def deep_cancelling(rng: Rng) -> Network:
    return deep_network(rng, cancelling, twins)


@deep_family
def deep_other_activations(rng: Rng) -> Network:
    activation = ["leaky_relu(0.1)", "hard_tanh", "abs", "relu6"][rng.integers(4)]
    return deep_network(rng, he_normal, small, activation)
