# SPDX-License-Identifier: MIT
"""Are frozen networks the arrangements of the theorem on signs, and do they give the laws that it says?"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from regions import Network
from regions.ensembles import Ensemble, Gaussian, frozen
from regions.errors import NetworkError
from regions.measures import Estimate, distance_to_boundary
from sign_identity import KINDS, arrangements, drawn, generic


@pytest.mark.parametrize("activation", ["relu", "leaky_relu(0.25)"])
@pytest.mark.parametrize("kind", KINDS)
def test_all_arrangements_are_drawn(kind: str, activation: str) -> None:
    rng = np.random.default_rng(0)
    network = drawn(kind, 2, (2, 2, 3), activation, lambda *s: generic(rng, *s), lambda *s: generic(rng, *s))
    expected = {(normals.tobytes(), offsets.tobytes()) for normals, offsets in arrangements(network)}
    found = set()
    for _ in range(150):
        straight = frozen(network, rng)
        assert straight.kinks == network.kinks
        (normals, offsets), *others = arrangements(straight)
        assert all((normals == each[0]).all() and (offsets == each[1]).all() for each in others)  # the gates are fixed
        found.add((normals.tobytes(), offsets.tobytes()))
    assert found == expected


@pytest.mark.parametrize(
    ("domain", "bias"),
    [
        (regions.Polygon([[-1, -1], [2, -1], [0, 2]]), 1.0),
        (
            regions.Plane([0, 0], [1, 0], [0, 1]),
            1.0,
        ),  # rounded, parallel lines would meet far away
        (regions.Plane([0, 0], [1, 0], [0, 1]), None),  # rounded, equal lines would be several
    ],
)
def test_mean_counts_in_narrow_layers(domain: regions.Domain, bias: float | None) -> None:
    biases = None if bias is None else Gaussian(bias)
    random, rng = Ensemble([2, 4, 4, 4, 1], biases=biases), np.random.default_rng(1)
    networks = [random.draw(rng) for _ in range(1500)]
    straight = Estimate(regions.count([frozen(network, rng) for network in networks[750:]], domain).astype(float))
    assert abs(straight.deviation(Estimate(regions.count(networks[:750], domain).astype(float)))) < 4


def test_the_law_of_distances() -> None:
    """The distance of an input to the boundary, over networks: the largest difference of the distribution functions."""
    random, rng = Ensemble([5, 6, 6, 6, 1], biases=Gaussian(0.5)), np.random.default_rng(2)
    point, size = rng.standard_normal((1, 5)), 400

    def distances(straight: bool) -> np.ndarray:
        drawn_now = [random.draw(rng) for _ in range(size)]
        given = [frozen(network, rng) if straight else network for network in drawn_now]
        return np.sort([distance_to_boundary(network, point).distances[0] for network in given])

    one, other = distances(True), distances(False)
    every = np.concatenate([one, other])
    gap = np.abs(np.searchsorted(one, every, "right") - np.searchsorted(other, every, "right")).max() / size
    assert gap < 1.95 * (2 / size) ** 0.5  # one in a thousand, by Kolmogorov and Smirnov


def test_a_network_without_kinks() -> None:
    network = Network([([[1.0, 2.0]], [3.0])])
    assert regions.count(frozen(network, 0), regions.Plane([0, 0], [1, 0], [0, 1])) == 1


def test_refusals() -> None:
    with pytest.raises(NetworkError, match="node 0"):
        frozen(Network([([[1.0]], [0.0])] * 2, "hard_tanh"), 0)
