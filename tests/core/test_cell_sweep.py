# SPDX-License-Identifier: MIT
"""Do sweeps over small cells, which only counts use, find as many regions as the recursion, which enumerations use?"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import regions
from generators_nearly_degenerate import KINDS, nearly_degenerate
from regions import reference

Layers = list[tuple[NDArray[np.float64], NDArray[np.float64]]]

SQUARE = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
SLIVER = regions.Polygon([[-1, -0.3], [1, 0.5], [1, 0.5 + 1e-7], [-1, -0.3 + 1e-7]])
DOMAINS = (regions.Polygon(SQUARE), regions.Polygon(0.05 * SQUARE + 0.3), regions.Polygon(30 * SQUARE), SLIVER)
STEP = regions.Activation("step", [0.25], [-0.5, 1.5], [0.5, 0.0])


def generic(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return rng.standard_normal(shape) * np.sqrt(2 / shape[1]), 0.1 * rng.standard_normal(shape[0])


def drawn(kind: str, seed: int) -> Layers:
    """Return a network of 2 to 6 hidden layers with up to 16 units each."""
    rng = np.random.default_rng([seed, *kind.encode()])
    sizes = [2, *rng.integers(2, 17, int(rng.integers(2, 7))).tolist(), 1]
    layers = []
    for n_in, n_out in zip(sizes, sizes[1:], strict=False):
        weights, biases = generic(rng, (n_out, n_in))
        tiny = 10.0 ** -rng.integers(8, 17)
        if kind == "lattice":
            weights, biases = rng.integers(-2, 3, (n_out, n_in)).astype(float), rng.integers(-2, 3, n_out).astype(float)
        elif kind == "no biases":
            biases = np.zeros(n_out)
        elif kind == "multiples":  # of the first half, positive and negative ones
            source, factor = rng.integers(0, (n_out + 1) // 2, n_out), rng.choice([1.0, 2.0, -1.0, -0.5], n_out)
            weights, biases = weights[source] * factor[:, None], biases[source] * factor
        elif kind == "nearly twins":
            weights[1::2] = weights[::2][: n_out // 2]
            biases[1::2] = biases[::2][: n_out // 2] + tiny * rng.standard_normal(n_out // 2)
        elif kind == "nearly concurrent":
            biases = -weights @ (0.3 * rng.standard_normal(n_in)) + tiny * rng.standard_normal(n_out)
        layers.append((weights, biases))
    return layers


@pytest.mark.parametrize("activation", ["relu", "leaky_relu(0.125)", "abs", STEP], ids=str)
@pytest.mark.parametrize("kind", ["generic", "lattice", "no biases", "multiples", "nearly twins", "nearly concurrent"])
def test_as_many_as_the_recursion(kind: str, activation: str | regions.Activation) -> None:
    for seed in range(6):
        network = regions.Network(drawn(kind, seed), activation)
        for number, domain in enumerate(DOMAINS):
            assert regions.count(network, domain) == len(regions.enumerate(network, domain)), (seed, number)


@pytest.mark.parametrize("kind", KINDS)
def test_barely_representable_regions(kind: str) -> None:
    for seed in range(60):
        network, domain = nearly_degenerate(kind, 2, seed)
        if not isinstance(domain, regions.Plane):
            assert regions.count(network, domain) == len(regions.enumerate(network, domain)), seed


def test_three_lines_through_one_point_up_to_a_rounding() -> None:
    """The last layer's lines meet in one point, or make a triangle as small as a rounding error."""
    rng = np.random.default_rng(3)
    meeting = rng.standard_normal(2)
    for shift in (0.0, 2.0**-52, -(2.0**-50), 1e-14, 1e-12):
        weights, _ = generic(rng, (3, 2))
        lower = (np.eye(2), 4 - meeting)  # positive, so that the second layer reads positions
        upper = (weights, -weights @ np.full(2, 4.0) + np.array([0, 0, shift]))
        extra = (np.array([[1.0, 0.5], [0.25, 1.0]]), np.array([-0.1, 0.2]))
        first = (np.vstack([lower[0], extra[0]]), np.concatenate([lower[1], extra[1]]))
        second = (np.hstack([upper[0], np.zeros((3, 2))]), upper[1])
        network = regions.Network([first, second, (np.ones((1, 3)), np.zeros(1))])
        domain = regions.Polygon(meeting + SQUARE)
        assert regions.count(network, domain) == reference.count(network, domain), shift
