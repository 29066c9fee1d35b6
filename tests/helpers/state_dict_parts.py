# SPDX-License-Identifier: MIT
"""Which modules do the tests of state dicts combine, and what do these modules compute?

For comparison, `check` evaluates the modules one after the other, in the order of the test, without folding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.networks.named_activations import Activation
from regions.networks.network import Network
from regions.read import load

EPS = 1e-5


def dense(n_out: int, n_in: int, seed: int = 0) -> dict[str, Any]:
    generator = np.random.default_rng([n_out, n_in, seed])
    return {"weight": generator.standard_normal((n_out, n_in)), "bias": generator.standard_normal(n_out)}


def norm(n: int, seed: int = 0) -> dict[str, Any]:
    generator = np.random.default_rng([n, seed, 77])
    return {
        "weight": generator.standard_normal(n),
        "bias": generator.standard_normal(n),
        "running_mean": generator.standard_normal(n),
        "running_var": generator.uniform(0.1, 2.0, n),
        "num_batches_tracked": np.array(5),
    }


def slopes(n: int, seed: int = 0) -> dict[str, Any]:
    return {"weight": np.random.default_rng([n, seed, 78]).uniform(-0.5, 0.5, n)}


def state_dict(modules: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {f"{name}.{key}" if name else key: value for name, part in modules.items() for key, value in part.items()}


def evaluate(steps: list[Any], x: NDArray[np.float64], eps: float = EPS) -> NDArray[np.float64]:
    """Apply modules (dicts as above) and activations, in order."""
    for step in steps:
        if isinstance(step, Activation):
            x = step(x)
        elif "running_mean" in step:
            scaled = (x - step["running_mean"]) / np.sqrt(step["running_var"] + eps)
            x = scaled * step.get("weight", 1.0) + step.get("bias", 0.0)
        elif step["weight"].ndim == 1:
            x = np.where(x > 0, x, step["weight"] * x)
        else:
            x = x @ step["weight"].T + step.get("bias", 0.0)
    return x


def check(modules: dict[str, dict[str, Any]], order: list[Any], activation: Any = "relu", **options: Any) -> Network:
    """Load the modules, and compare with evaluating ``order``: names of modules, and activations."""
    net = load(state_dict(modules), activation, **options)
    steps = [modules[step] if isinstance(step, str) else step for step in order]
    x = np.random.default_rng(1).standard_normal((200, net.n_in)) * 2
    expected = evaluate(steps, x, options.get("batch_norm_eps", EPS))
    np.testing.assert_allclose(net(x), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    return net
