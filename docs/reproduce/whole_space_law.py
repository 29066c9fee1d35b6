# SPDX-License-Identifier: MIT
"""How many regions does a random network have in the whole space, on average: is `bounds.expected_regions` exact?

Exact counts in whole spaces of one to three dimensions, for narrow, wide, deep and bottleneck shapes and several laws
of weights and biases, with ReLU, leaky ReLU and abs. The table has the law, the mean, and half of its interval at 95
percent; and r(N, d), the number of one layer with as many units.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from common import keep, new_figure, read_options

import regions
from regions import bounds
from regions.domains import Domain, Line, Plane, Polytope, Space
from regions.measures import Estimate

SMALL = {"networks": 20}
Draw = Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray]]
LAWS: dict[str, Draw] = {
    "he": lambda rng, a, b: (rng.normal(0, (2 / a) ** 0.5, (b, a)), rng.normal(0, 1, b)),
    "small biases": lambda rng, a, b: (rng.normal(0, (2 / a) ** 0.5, (b, a)), rng.normal(0, 1e-3, b)),
    "gain 8": lambda rng, a, b: (rng.normal(0, (8 / a) ** 0.5, (b, a)), rng.normal(0, 1, b)),
    "torch": lambda rng, a, b: (rng.uniform(-(a**-0.5), a**-0.5, (b, a)), rng.uniform(-(a**-0.5), a**-0.5, b)),
    "cauchy": lambda rng, a, b: (rng.standard_cauchy((b, a)), rng.standard_cauchy(b)),
}
ROWS = [
    *((1, (8,) * 4, law, "relu") for law in LAWS),
    (1, (4,) * 12, "he", "relu"),
    (1, (64, 64, 64), "he", "relu"),
    *((2, (4, 4), law, "relu") for law in LAWS),
    (2, (8, 1, 8), "he", "relu"),
    (2, (2, 16, 16), "torch", "relu"),
    (2, (4,) * 8, "he", "relu"),
    (2, (4,) * 4, "he", "leaky_relu(0.01)"),
    (2, (4,) * 4, "he", "abs"),
    (2, (16, 16, 16), "torch", "relu"),
    (3, (5, 5), "he", "relu"),
    (3, (3, 4, 5), "torch", "relu"),
]
SLOPES = {"relu": 0.0, "leaky_relu(0.01)": 0.01, "abs": -1.0}
SPACES: dict[int, Domain | Polytope] = {
    1: Line([0.0], [1.0]),
    2: Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0]),
    3: Space([0.0] * 3, np.eye(3)),
}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=1000)
    figure, (ax,) = new_figure(1)
    rows: list[list[object]] = []
    for number, (n_in, widths, law, activation) in enumerate(ROWS):
        rng = np.random.default_rng([options.seed, number])
        sizes = list(zip((n_in, *widths), (*widths, 1), strict=True))
        networks = [
            regions.Network([LAWS[law](rng, a, b) for a, b in sizes], activation) for _ in range(options.networks)
        ]
        counts = regions.count(networks, SPACES[n_in])
        found = Estimate(np.array([int(count) for count in counts], dtype=float))
        low, high = found.interval(0.95)
        exact = float(bounds.expected_regions(n_in, widths, slope=SLOPES[activation]))
        shape = f"{n_in}: {'-'.join(map(str, widths))} {law} {activation}"
        rows.append([shape, bounds.zaslavsky(n_in, sum(widths)), exact, found.value, (high - low) / 2])
    ax.plot([row[2] for row in rows], [row[3] for row in rows], "o", markersize=4)
    ax.plot([10, 2000], [10, 2000], "k--", linewidth=1)
    ax.set(xscale="log", yscale="log", xlabel="exact law", ylabel="mean number of regions")
    return keep(options, __file__, figure, ["inputs: widths", "r(N, d)", "law", "regions", "+- 95%"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
