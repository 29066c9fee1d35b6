# SPDX-License-Identifier: MIT
"""How many regions does a random network have in the whole space, on average: is `bounds.expected_regions` exact?

Exact counts in whole spaces of one to five dimensions, in 40 settings: 1 to 512 units wide, up to 20 layers, with
bottlenecks of one unit, six laws of weights and biases, with ReLU, leaky ReLU and abs. The table has r(N, d), the
number of one layer with as many units; the law, the mean, half of its interval at 95 percent, and the standard errors
between them.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options
from common_random import LAWS, SLOPES, SPACES, drawn, word

import regions
from regions import bounds
from regions.measures import Estimate

SMALL = {"networks": 20}
CHUNK = 50
ROWS = [
    *((1, (3,) * 5 if law == "positive" else (8,) * 4, law, "relu") for law in LAWS),
    (1, (4,) * 12, "he", "relu"),
    (1, (1, 1, 1, 1, 1), "he", "relu"),
    (1, (1, 64, 1, 64), "torch", "relu"),
    (1, (16,) * 20, "torch", "relu"),
    (1, (64, 64, 64), "he", "relu"),
    (1, (512, 512), "he", "relu"),
    (1, (512,) * 3, "positive", "relu"),
    *((2, (4, 4), law, "relu") for law in LAWS),
    (2, (8, 1, 8), "he", "relu"),
    (2, (2, 16, 16), "torch", "relu"),
    (2, (16, 16, 2), "gain 8", "relu"),
    (2, (4,) * 8, "he", "relu"),
    (2, (4,) * 20, "he", "relu"),
    (2, (4,) * 8, "positive", "relu"),
    (2, (4,) * 4, "he", "leaky_relu(0.01)"),
    (2, (2, 1, 3, 2), "he", "leaky_relu(0.01)"),
    (2, (4,) * 4, "he", "abs"),
    (2, (16, 16, 16), "torch", "relu"),
    (2, (128, 128), "he", "relu"),
    (3, (5, 5), "he", "relu"),
    (3, (3, 4, 5), "torch", "relu"),
    (3, (4,) * 6, "he", "relu"),
    (3, (6, 6), "positive", "relu"),
    (3, (4, 4), "cauchy", "abs"),
    (4, (5, 5), "he", "relu"),
    (4, (4, 4, 4), "torch", "relu"),
    (4, (4, 4), "positive", "relu"),
    (5, (6, 6), "torch", "relu"),
    (5, (5, 5), "cauchy", "relu"),
]


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=2500)
    figure, (ax,) = new_figure(1)
    rows: list[list[object]] = []
    for number, (n_in, widths, law, activation) in enumerate(ROWS):
        rng = np.random.default_rng([options.seed, number])
        counts: list[int] = []
        while len(counts) < options.networks:
            size = min(CHUNK, options.networks - len(counts))
            networks = [drawn(rng, n_in, widths, law, activation) for _ in range(size)]
            counts += [int(count) for count in regions.count(networks, SPACES[n_in])]
        found = Estimate(np.array(counts, dtype=float))
        low, high = found.interval(0.95)
        exact = float(bounds.expected_regions(n_in, widths, slope=SLOPES[activation]))
        shape = f"{n_in}: {word(widths)} {law} {activation}"
        shallow = bounds.zaslavsky(n_in, sum(widths))
        rows.append([shape, shallow, exact, found.value, (high - low) / 2, found.deviation(exact)])
    ax.plot([row[2] for row in rows], [row[5] for row in rows], "o", markersize=4)
    for off in (-3, 0, 3):
        ax.axhline(off, color="k", linestyle="--", linewidth=1)
    ax.set(xscale="log", xlabel="exact law", ylabel="standard errors between law and mean")
    return keep(
        options, __file__, figure, ["inputs: widths", "r(N, d)", "law", "regions", "+- 95%", "errors off"], rows
    )


if __name__ == "__main__":
    main(sys.argv[1:])
