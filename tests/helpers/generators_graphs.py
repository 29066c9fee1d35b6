# SPDX-License-Identifier: MIT
"""On which networks that are not chains is the core tested?

`GRAPH_FAMILIES`, like `FAMILIES` in `generators.py`: convolutions, skip connections, concatenations, slices, scalings
and units of several kinds, combined at random, with about 5 to 60 units.
"""

from __future__ import annotations

import numpy as np

from generator_parts import Family, Rng, any_domain, gaussian, lattice_domain, small_integers
from graphs import random_graph
from regions.domains import Domain
from regions.networks.network import Network

__all__ = ["GRAPH_FAMILIES"]

GRAPH_FAMILIES: dict[str, Family] = {}


def graph_family(function: Family) -> Family:
    GRAPH_FAMILIES[function.__name__] = function
    return function


@graph_family
def graph_ternary(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Weights of -1, 0 and 1: units that are equal, constant, or zero on a whole region."""
    net, _, _ = random_graph(rng, int(rng.integers(5, 12)), least=dimension)
    return net, lattice_domain(rng, dimension, net.n_in)


@graph_family
def graph_integers(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    net, _, _ = random_graph(rng, int(rng.integers(5, 10)), numbers=small_integers, least=dimension)
    return net, any_domain(rng, dimension, net.n_in)


@graph_family
def graph_generic(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    net, _, _ = random_graph(rng, int(rng.integers(5, 12)), numbers=gaussian, least=dimension)
    return net, any_domain(rng, dimension, net.n_in)


@graph_family
def graph_deep(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Many operations on few values, each reading one of the last three."""
    net, _, _ = random_graph(rng, int(rng.integers(20, 40)), numbers=_halves, least=dimension)
    return net, lattice_domain(rng, dimension, net.n_in)


def _halves(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    return rng.integers(-2, 3, shape) / 2
