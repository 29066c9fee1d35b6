# SPDX-License-Identifier: MIT
"""Which networks are tried in three and more dimensions, besides the families of the generators?"""

from __future__ import annotations

from itertools import combinations

import numpy as np

import regions
from regions.ground.arithmetic.types import Floats

# These choose their own domains or numbers of inputs, some of which are fewer than the dimensions.
OF_THEIR_OWN = """data_on_boundaries alike_on_the_chart cancelling_outputs foldings clipped_generic clipped_lattice
clipped_aimed clipped_deep clipped_doubled clipped_refined""".split()


def network_of(normals: Floats, offsets: Floats) -> regions.Network:
    """Return one layer with these hyperplanes."""
    return regions.Network([(normals, offsets), (np.ones((1, len(normals))), [0.0])])


def braid(n: int) -> Floats:
    """Return x_i = x_j for n coordinates, of which the last is 0."""
    rows = [np.eye(n)[i] - np.eye(n)[j] for i, j in combinations(range(n), 2)]
    return np.array(rows)[:, :-1]


def signed(n: int, single: bool) -> Floats:
    """Return x_i = x_j and x_i = -x_j, and with ``single`` also x_i = 0: the types D_n and B_n."""
    rows = [np.eye(n)[i] + sign * np.eye(n)[j] for i, j in combinations(range(n), 2) for sign in (-1, 1)]
    return np.array([*rows, *np.eye(n)] if single else rows)


def he_normal(sizes: list[int], seed: int = 3) -> regions.Network:
    rng = np.random.default_rng(seed)
    layers = []
    for n_in, n_out in zip(sizes, sizes[1:], strict=False):
        weights = (rng.standard_normal((n_out, n_in)) * np.sqrt(2 / n_in)).astype(np.float32)
        layers.append((weights.astype(float), (rng.standard_normal(n_out) * 0.1).astype(np.float32).astype(float)))
    return regions.Network(layers)
