# SPDX-License-Identifier: MIT
"""Which random networks do the scripts about whole spaces draw?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import regions
from regions.domains import Domain, Line, Plane, Polytope, Space

Draw = Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray]]
LAWS: dict[str, Draw] = {
    "he": lambda rng, a, b: (rng.normal(0, (2 / a) ** 0.5, (b, a)), rng.normal(0, 1, b)),
    "small biases": lambda rng, a, b: (rng.normal(0, (2 / a) ** 0.5, (b, a)), rng.normal(0, 1e-3, b)),
    "gain 8": lambda rng, a, b: (rng.normal(0, (8 / a) ** 0.5, (b, a)), rng.normal(0, 1, b)),
    "torch": lambda rng, a, b: (rng.uniform(-(a**-0.5), a**-0.5, (b, a)), rng.uniform(-(a**-0.5), a**-0.5, b)),
    "cauchy": lambda rng, a, b: (rng.standard_cauchy((b, a)), rng.standard_cauchy(b)),
    # All weights and biases are positive, and then each unit gets a random sign.
    "positive": lambda rng, a, b: (rng.uniform(0, 2 / a, (b, a)), rng.uniform(0, 1, b)),
}
SLOPES = {"relu": 0.0, "leaky_relu(0.01)": 0.01, "abs": -1.0}
SPACES: dict[int, Domain | Polytope] = {
    1: Line([0.0], [1.0]),
    2: Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0]),
    **{n_in: Space([0.0] * n_in, np.eye(n_in)) for n_in in (3, 4, 5)},
}


def drawn(rng: np.random.Generator, n_in: int, widths: tuple[int, ...], law: str, activation: str) -> regions.Network:
    """Draw a network with a constant output; the law "positive" gives each unit a random sign afterwards."""
    layers, before = [], np.ones(n_in)
    for below, width in zip((n_in, *widths), widths, strict=False):
        weights, biases = LAWS[law](rng, below, width)
        signs = rng.choice([-1.0, 1.0], width) if law == "positive" else np.ones(width)
        layers.append((signs[:, np.newaxis] * weights * before, signs * biases))
        before = signs
    return regions.Network([*layers, (np.zeros((1, widths[-1])), None)], activation)


def word(widths: tuple[int, ...]) -> str:
    """Return the widths of layers as text, such as 8-1-8, and 4 x 8 for four equal ones."""
    equal = len(widths) > 3 and len(set(widths)) == 1
    return f"{len(widths)} x {widths[0]}" if equal else "-".join(map(str, widths))
