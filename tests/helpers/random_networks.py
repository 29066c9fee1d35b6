# SPDX-License-Identifier: MIT
"""Which random network do tests use if only its shape matters?

Gaussian weights and biases, layer after layer from one generator: generic with probability one, and the same network
for the same seed. Degenerate ones are in `generators.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regions.networks.network import Network


def random_network(
    sizes: list[int],
    seed: int | np.random.Generator = 0,
    activation: Any = "relu",
    *,
    bias: float = 0.25,
    he: bool = False,
) -> Network:
    """Return a network with these sizes, inputs first; weights of variance 1, or 2 / inputs, and biases of size
    ``bias``.
    """
    rng = np.random.default_rng(seed)
    layers = []
    for inputs, units in zip(sizes, sizes[1:], strict=False):
        weights = rng.standard_normal((units, inputs))
        layers.append((weights * np.sqrt(2 / inputs) if he else weights, bias * rng.standard_normal(units)))
    return Network(layers, activation)
