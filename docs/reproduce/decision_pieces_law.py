# SPDX-License-Identifier: MIT
"""Of how many pieces is the decision boundary of a random network, on average: is `expected_decision_pieces` exact?

A network with its output as one more hidden unit, whose kink is the decision boundary, is counted in the whole space,
and once more without it. The difference is the number of pieces. The table has r(N, d - 1), the law, the mean, half of
its interval at 95 percent, and the standard errors between them.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options
from common_random import SLOPES, SPACES, drawn, word

import regions
from regions import bounds
from regions.measures import Estimate

SMALL = {"networks": 60}
ROWS = [
    (1, (1,), "he", "relu"),
    (1, (8, 8, 8), "he", "relu"),
    (1, (4,) * 12, "he", "relu"),
    (1, (1, 64, 1), "torch", "relu"),
    (1, (64, 64), "cauchy", "relu"),
    (1, (4, 4), "torch", "abs"),
    (2, (4,), "he", "relu"),
    (2, (4, 4), "he", "relu"),
    (2, (4, 4), "small biases", "relu"),
    (2, (4, 4), "gain 8", "relu"),
    (2, (8, 8), "torch", "relu"),
    (2, (8, 8), "positive", "relu"),
    (2, (4,) * 6, "he", "relu"),
    (2, (16, 16, 16), "he", "relu"),
    (2, (8, 1, 8), "he", "relu"),
    (2, (4, 4, 4), "he", "leaky_relu(0.01)"),
    (2, (4, 4, 5), "torch", "abs"),
    (3, (5, 5), "he", "relu"),
    (3, (6, 6), "torch", "relu"),
    (3, (4, 4, 4), "cauchy", "relu"),
    (4, (5, 4), "he", "relu"),
]


def without_last_unit(network: regions.Network, activation: str) -> regions.Network:
    """Return the network without its last hidden layer, with a constant output."""
    kept = [(layer.weights, layer.biases) for layer in network.layers[:-2]]
    return regions.Network([*kept, (np.zeros((1, len(kept[-1][1]))), None)], activation)


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=1000)
    figure, (ax,) = new_figure(1)
    rows: list[list[object]] = []
    for number, (n_in, widths, law, activation) in enumerate(ROWS):
        rng = np.random.default_rng([options.seed, number])
        deeper = [drawn(rng, n_in, (*widths, 1), law, activation) for _ in range(options.networks)]
        cut = [without_last_unit(network, activation) for network in deeper]
        pieces = regions.count(deeper, SPACES[n_in]) - regions.count(cut, SPACES[n_in])
        found = Estimate(pieces.astype(float))
        low, high = found.interval(0.95)
        exact = float(bounds.expected_decision_pieces(n_in, widths, slope=SLOPES[activation]))
        shallow = bounds.zaslavsky(n_in - 1, sum(widths)) if n_in > 1 else 1
        shape = f"{n_in}: {word(widths)} {law} {activation}"
        rows.append([shape, shallow, exact, found.value, (high - low) / 2, found.deviation(exact)])
    ax.plot([row[2] for row in rows], [row[3] for row in rows], "o", markersize=4)
    ax.plot([0.3, 400], [0.3, 400], "k--", linewidth=1)
    ax.set(xscale="log", yscale="log", xlabel="exact law", ylabel="mean number of pieces of the decision boundary")
    head = ["inputs: widths", "r(N, d - 1)", "law", "pieces", "+- 95%", "errors off"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
