# SPDX-License-Identifier: MIT
"""Does a note say that nearly all kinks of the first layer meet in one point, and only then?"""

from __future__ import annotations

import time

import numpy as np
import pytest

from regions.read import load


def layers(
    n_in: int, units: int, center: list[float], dtype: type = np.float32, seed: int = 0
) -> dict[str, np.ndarray]:
    """Return weights of a layer W (x - c), stored as W and its rounded bias, and of an output."""
    weights = np.random.default_rng(seed).standard_normal((units, n_in)).astype(dtype)
    biases = (-(weights.astype(float) @ center)).astype(dtype)
    return {"0.weight": weights, "0.bias": biases, "2.weight": np.ones((1, units), dtype), "2.bias": np.zeros(1, dtype)}


def notes(state: dict[str, np.ndarray], activation: str = "relu") -> str:
    return " ".join(load(state, activation=activation).notes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bundles_are_noted(dtype: type) -> None:
    assert "16 of 16 kinks of the first layer meet in (0.3, -0.7) up to" in notes(layers(2, 16, [0.3, -0.7], dtype))
    assert "20 of 20 kinks of the first layer meet in (0.1, 0.2, 0.3, 0.4, ..)" in notes(
        layers(5, 20, [0.1, 0.2, 0.3, 0.4, 0.5], dtype), "abs"
    )
    some = layers(2, 30, [0.3, -0.7], dtype)
    some["0.bias"][[3, 17]] += 1  # two lines elsewhere
    some["0.weight"][5] = 0  # and a unit without a kink
    assert "27 of 29 kinks of the first layer meet" in notes(some)


def test_a_batch_norm_without_a_shift_is_such_a_bundle() -> None:
    """Its running mean is that of the layer's outputs, W m, for inputs of mean m."""
    state = layers(2, 12, [0.0, 0.0], seed=1)
    weights = state["0.weight"]
    output = state.pop("2.weight")
    state.pop("2.bias")
    state |= {"1.weight": np.ones(12), "1.bias": np.zeros(12), "1.running_var": np.full(12, 0.7)}
    state["1.running_mean"] = (weights.astype(float) @ [0.3, 0.7]).astype(np.float32).astype(float)
    state["3.weight"] = output
    assert "12 of 12 kinks of the first layer meet in (0.3, 0.7)" in notes(state)


@pytest.mark.parametrize("center", [0.1, 0.5, 3.0])
def test_batch_norms_whose_means_torch_computed(center: float) -> None:
    """Means of 256 outputs in float32 have larger errors than one rounding, most of all near the origin."""
    torch = pytest.importorskip("torch")
    for seed in range(5):
        torch.manual_seed(seed)
        norm = torch.nn.BatchNorm1d(16, momentum=1.0)
        module = torch.nn.Sequential(torch.nn.Linear(2, 16), norm, torch.nn.ReLU(), torch.nn.Linear(16, 1))
        module.train()(torch.randn(256, 2) + center)
        assert "kinks of the first layer meet in" in " ".join(load(module.eval()).notes)


def test_other_networks_are_not_noted() -> None:
    exact = layers(2, 16, [0.0, 0.0])  # all biases are 0
    quarter = layers(2, 16, [0.0, 0.0])
    quarter["0.weight"] = np.rint(quarter["0.weight"] * 8)
    quarter["0.bias"] = -quarter["0.weight"] @ [0.25, 0.5]  # all lines meet exactly
    third = {**quarter, "0.weight": quarter["0.weight"] * 3, "0.bias": -quarter["0.weight"] @ [1.0, 2.0]}  # in thirds
    generic = {**layers(2, 16, [0.0, 0.0]), "0.bias": np.random.default_rng(1).standard_normal(16)}
    near = layers(2, 16, [0.3, -0.7])
    near["0.bias"] += np.random.default_rng(1).standard_normal(16).astype(np.float32) * np.float32(1e-4)
    few = layers(2, 4, [0.3, -0.7])
    parallel = {**exact, "0.weight": np.ones((16, 2)), "0.bias": np.arange(16.0)}
    half = layers(2, 16, [0.3, -0.7])
    half["0.bias"][:4] += 1
    for state in (exact, quarter, third, generic, near, few, parallel, half):
        assert "kinks of the first layer" not in notes(state)
    assert "kinks" not in notes(layers(2, 16, [0.3, -0.7]), "hard_tanh")


def test_wide_layers_take_no_time() -> None:
    """A layer without biases is common; its kinks meet exactly."""
    start = time.process_time()
    assert "kinks of the first layer" not in notes(layers(64, 2000, [0.0] * 64))
    assert "2000 of 2000 kinks of the first layer meet" in notes(layers(64, 2000, [0.3] * 64))
    assert time.process_time() - start < 5
