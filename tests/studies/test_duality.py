# SPDX-License-Identifier: MIT
"""Is a sweep of the first layer's weights the dual of a sweep of the input (Raghu et al. 2017, B.3)?

Let x and y be orthogonal and of equal norms, and let R turn x into y. On the arc from x to y the first layer has the
values cos(phi) W x + sin(phi) W y. They are those of the fixed input x under the weights cos(phi) W + sin(phi) W R, for
every W. If W is Gaussian, W x and W y are independent and have one law, so W R may be replaced by independent weights.
"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from regions.ensembles import Ensemble, Gaussian
from regions.measures import Estimate

ONE, OTHER = [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]
ARC = regions.Arc(ONE, OTHER)


def flips_on_the_arc(network: regions.Network) -> int:
    """Return how often the sign of the output changes on the arc: as a hidden unit it adds as many pieces."""
    chain = [(layer.weights, layer.biases) for layer in network.layers]
    activation = [layer.activation for layer in network.layers[:-1]]
    longer = regions.Network([*chain, ([[1.0]], [0.0])], [*activation, "relu"])
    return int(regions.count(longer, ARC) - regions.count(network, ARC))


def flips_of_the_weights(network: regions.Network, weights: np.ndarray) -> int:
    return int(regions.dichotomies(network, [ONE], weights, quarters=1).transitions[0])


def drawn(activation: str, rng: np.random.Generator) -> regions.Network:
    return Ensemble([4, 12, 12, 1], activation, weights=Gaussian(2.0), biases=Gaussian(0.3)).draw(rng)


@pytest.mark.parametrize("activation", ["relu", "hardtanh"])
def test_for_every_network(activation: str) -> None:
    rng, total = np.random.default_rng(0), 0
    for _ in range(20):
        network = drawn(activation, rng)
        turned = network.layers[0].weights[:, [1, 0, 2, 3]]
        flips = flips_on_the_arc(network)
        assert flips_of_the_weights(network, turned) == flips
        total += flips
    assert total > 3


def test_in_law() -> None:
    rng = np.random.default_rng(1)
    inputs = [flips_on_the_arc(drawn("hardtanh", rng)) for _ in range(150)]
    weights = [
        flips_of_the_weights(drawn("hardtanh", rng), drawn("hardtanh", rng).layers[0].weights) for _ in range(150)
    ]
    for power in (1, 2):
        one, other = (Estimate(np.array(each, dtype=float) ** power) for each in (inputs, weights))
        assert abs(one.deviation(other)) < 4
    assert np.mean(inputs) > 0.5
