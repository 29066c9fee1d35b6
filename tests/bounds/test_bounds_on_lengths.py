# SPDX-License-Identifier: MIT
"""Do the laws of lengths of curves in random networks have the values of the theorems?

Tests use worked values, and integrals and simulations if a formula has no second form.
"""

from __future__ import annotations

from itertools import pairwise, product
from math import atan, gamma, isclose, pi, sqrt

import numpy as np
import pytest

import regions
from regions import bounds
from regions.theory.bounds.chi import chi_means


def test_mean_lengths_of_gaussian_vectors() -> None:
    assert chi_means(0) == [0.0]
    for m in (1, 2, 3, 10, 101, 300):
        assert isclose(chi_means(m)[m], sqrt(2) * gamma((m + 1) / 2) / gamma(m / 2), rel_tol=1e-13)


class TestLengthOfReluNetworks:
    @pytest.mark.parametrize(
        ("width", "factor"),
        [
            (1, 0.3989422804),
            (2, 0.7122708147),
            (3, 0.9686706520),
            (4, 1.1859044225),
            (8, 1.8381021495),
            (10, 2.0921484217),
            (16, 2.7158907497),
            (32, 3.9211615696),
            (64, 5.6013613519),
            (100, 7.0267459201),
            (256, 11.2860560576),
            (784, 19.7832004479),
        ],
    )
    def test_factors(self, width: int, factor: float) -> None:
        assert round(bounds.relu_length_factor(width), 10) == factor
        assert bounds.expected_length_relu_exact(3, width, 2.0) == 2.0 * bounds.relu_length_factor(width)

    def test_the_middle_of_a_wide_layer_is_all_that_counts(self) -> None:
        k = 20_000
        assert isclose(bounds.relu_length_factor(k), sqrt(k / 2) * (1 - 5 / (8 * k)), rel_tol=1e-8)

    def test_networks(self) -> None:
        lengths = [bounds.expected_length_relu_exact(10, [10] * d, sqrt(0.2)) for d in (1, 2, 3, 4)]
        assert [round(length, 4) for length in lengths] == [0.9356, 0.8754, 0.8191, 0.7664]
        by_layer = bounds.expected_length_relu_exact(5, [2, 3], [0.5, 2.0])
        assert isclose(by_layer, 0.5 * 0.7122708147 * 2.0 * 0.9686706520, rel_tol=1e-9)
        assert bounds.expected_length_relu_exact(5, [2, 3], [0.5, 0.0]) == 0.0

    def test_a_simulation(self) -> None:
        rng = np.random.default_rng(4)
        x, dx = np.array([1.0, 0.3]), np.array([0.2, -1.0])
        stretched = []
        for _ in range(4000):
            weights, biases = rng.standard_normal((3, 2)), rng.standard_normal(3)
            stretched.append(np.linalg.norm((weights @ dx)[weights @ x + biases > 0]) / np.linalg.norm(dx))
        assert abs(np.mean(stretched) - bounds.relu_length_factor(3)) < 4 * np.std(stretched) / sqrt(4000)


class TestRaghu:
    @pytest.mark.parametrize(
        ("width", "factor"), [(2, 0.1119), (4, 0.2537), (8, 0.3278), (16, 0.3430), (100, 0.3518), (1000, 0.3534)]
    )
    def test_relu(self, width: int, factor: float) -> None:
        assert round(bounds.raghu_length_lower(width, [width], 1.0), 4) == factor
        deep = bounds.raghu_length_lower(width, [width] * 3, 2.0, 5.0)  # for ReLU biases have no effect
        assert isclose(deep, (2 * bounds.raghu_length_lower(width, [width], 1.0)) ** 3)

    def test_one_unit_gives_nothing(self) -> None:
        assert bounds.raghu_length_lower(1, [1, 1], 3.0) == 0.0

    @pytest.mark.parametrize("width", [2, 5, 30, 200])
    @pytest.mark.parametrize("sigma_w", [0.5, 1.0, 3.0])
    def test_the_exact_law_lies_between(self, width: int, sigma_w: float) -> None:
        exact = bounds.expected_length_relu_exact(width, [width] * 2, sigma_w / sqrt(width))
        assert bounds.raghu_length_lower(width, [width] * 2, sigma_w) <= exact
        assert exact <= bounds.raghu_length_upper(width, [width] * 2, sigma_w) <= sigma_w**2

    @pytest.mark.parametrize("width", [4, 16, 256])
    @pytest.mark.parametrize("sigma_w", [0.0, 1.0, 4.0, 50.0])
    def test_hard_tanh(self, width: int, sigma_w: float) -> None:
        lower = bounds.raghu_length_lower(width, [width], sigma_w, activation="hard_tanh")
        assert 0.0 <= lower <= bounds.raghu_length_upper(width, [width], sigma_w)
        biased = bounds.raghu_length_lower(width, [width], sigma_w, 2.0, activation="hard_tanh")
        assert biased < lower or lower == 0.0  # more saturation

    def test_hard_tanh_grows_as_the_theorem_says(self) -> None:
        """The order is sqrt(sigma_w) sqrt(k / (sigma_w + k)) up to a constant, once k is well above sigma_w."""
        ratios = [
            bounds.raghu_length_lower(10**6, [10**6], sigma, activation="hard_tanh") / sqrt(sigma)
            for sigma in (10.0, 40.0, 160.0)
        ]
        assert max(ratios) / min(ratios) < 1.05

    def test_transitions(self) -> None:
        factors = [(1, 0.5), (4, 1.1807), (16, 2.4953), (64, 5.0667), (100, 6.3451), (256, 10.1727)]
        for width, factor in factors:
            assert round(bounds.raghu_transitions_lower(width, [width] * 2, 1.0), 4) == factor
            assert bounds.raghu_transitions_lower(width, [width], 1.0) == 1.0
        with_bias = bounds.raghu_transitions_lower(4, [4] * 3, 2.0, 4.0)
        assert isclose(with_bias, (4 * (1 - 2 / pi * atan(sqrt(20)))) ** 2)

    @pytest.mark.parametrize(
        ("variance", "growth"),
        [(1.5, 1.0898), (2, 1.1579), (4, 1.3452), (8, 1.5719), (16, 1.8453), (64, 2.5683), (256, 3.6026)],
    )
    def test_wide_hard_tanh(self, variance: float, growth: float) -> None:
        assert round(bounds.hard_tanh_length_growth(sqrt(variance)), 4) == growth
        assert bounds.hard_tanh_length_growth(sqrt(variance), 0.5) < growth

    def test_wide_hard_tanh_without_growth(self) -> None:
        assert bounds.hard_tanh_length_growth(1.0) == 1.0
        assert bounds.hard_tanh_length_growth(0.25) == 0.25
        assert bounds.hard_tanh_length_growth(0.0, 1.0) == 0.0


class TestPriceTanner:
    def test_bases(self) -> None:
        """Factors per layer with weights divided by the root of the width, as in the paper's experiments."""
        k, alpha = 784, 0.3
        gaussian = bounds.price_tanner(k, [k], "gaussian", 2.0 / sqrt(k), alpha=alpha)
        uniform = bounds.price_tanner(k, [k], "uniform", 3.0 / sqrt(k), alpha=alpha)
        discrete = bounds.price_tanner(k, [k], "discrete", [w / sqrt(k) for w in range(-2, 3)], alpha=alpha)
        assert round(gaussian / (2.0 * alpha), 5) == 0.39894
        assert round(uniform / (3.0 * alpha), 5) == 0.17678
        assert round(uniform / (3.0 / sqrt(3.0) * alpha), 5) == 0.30619
        assert isclose(discrete, alpha * 2 * 3 / 5 / (2 * sqrt(2)))

    def test_layers_multiply(self) -> None:
        product = bounds.price_tanner(5, [4], "gaussian", 1.0, alpha=0.5) * bounds.price_tanner(5, [9], "gaussian", 1.0)
        assert isclose(bounds.price_tanner(5, [4, 9], "gaussian", 1.0, alpha=[0.5, 1.0]), product)

    def test_below_the_exact_law(self) -> None:
        for width in (1, 2, 10, 300):
            assert bounds.price_tanner(7, [width], "gaussian", 1.5) <= bounds.expected_length_relu_exact(7, width, 1.5)

    def test_sparse_networks_without_biases(self) -> None:
        """At a point of an axis the mean speed is below the bound, but every curve that leaves there is above it.

        Over all weights of -1, 0 and 1, with their probabilities; the length of a ray's image is its speed.
        """
        assert round(bounds.price_tanner(2, [2], "gaussian", 1.0, alpha=0.1), 4) == 0.0564
        bound = bounds.price_tanner(2, [2], "discrete", [-1, 1], alpha=0.1)
        at_the_point, on_curves = 0.0, {1.0: 0.0, 1e-12: 0.0}
        for entries in product([-1.0, 0.0, 1.0], repeat=4):
            weights = np.reshape(entries, (2, 2))
            probability = np.prod(np.where(weights == 0.0, 0.9, 0.05))
            at_the_point += probability * np.hypot(*np.where(weights[:, 0] > 0.0, weights[:, 1], 0.0))
            network = regions.Network([(weights, None), (np.eye(2), None)])
            for length in on_curves:
                path = regions.trajectory(network, regions.Segment([1.0, 0.0], [1.0, length]))
                on_curves[length] += probability * path.growth[0]
        assert at_the_point < 0.011 < 0.049 < bound < 0.051 < 0.09 < min(on_curves.values())


def test_weights_too_small_to_saturate() -> None:
    assert bounds.hard_tanh_length_growth(1e-200, 1e-200) == 1e-200
    assert bounds.hard_tanh_length_growth(0.5, 1e-16) == 0.5


def test_the_lengths_of_he_initialised_networks_shrink_slowly() -> None:
    lengths = [bounds.expected_length_relu_exact(64, [64] * d, sqrt(2 / 64)) for d in (1, 5, 20)]
    assert all(a > b for a, b in pairwise(lengths))
    assert isclose(lengths[2], (1 - 5 / (8 * 64)) ** 20, rel_tol=0.01)
