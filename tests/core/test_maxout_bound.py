# SPDX-License-Identifier: MIT
"""Does one maxout layer reach its published bound, in the plane and on a line?

Unit u is the largest of i d_u(x) - i (i - 1) / 2 for i from 0 to k - 1, which has k - 1 parallel breaks; if all
directions differ, all breaks cross. Bound: Montufar, Ren, Zhang 2022.
"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from regions import bounds, reference
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Maxima, Node, Read, Units
from regions.networks.named_activations import identity
from regions.networks.network import Network


def best_layer(n_in: int, units: int, rank: int) -> Network:
    along = np.array([[1.0, float(u * u + u)][:n_in] for u in range(units)])
    shifts = np.array([u**3 / 7.0 for u in range(units)])
    steps = np.arange(float(rank))
    rows = (steps[:, np.newaxis] * along[:, np.newaxis]).reshape(-1, n_in)
    biases = (steps * shifts[:, np.newaxis] - steps * (steps - 1) / 2).ravel()
    maxima = Maxima.of_sizes([rank] * units)
    layer = Node(biases, (Read(Dense(rows), -1),), maxima, slice(0, maxima.kinks))
    read = Read(Dense(np.ones((1, units))), 0)
    last = Node(np.zeros(1), (read,), Units(1, identity()), slice(maxima.kinks, maxima.kinks))
    return Network.from_graph(Graph(n_in, [layer, last]))


@pytest.mark.parametrize(("units", "rank"), [(1, 4), (1, 5), (2, 4), (3, 3), (4, 3), (2, 5), (5, 2)])
def test_it_is_reached(units: int, rank: int) -> None:
    for domain in (regions.Line([0.0], [1.0]), regions.Plane([0, 0], [1, 0], [0, 1])):
        network = best_layer(domain.n_in, units, rank)
        bound = bounds.maxout_montufar_ren_zhang(domain.n_in, [units], rank)
        assert regions.count(network, domain) == reference.count(network, domain) == bound
    pairs = units * (units - 1) // 2
    assert bound == 1 + units * (rank - 1) + pairs * (rank - 1) ** 2  # of the plane, which was last
