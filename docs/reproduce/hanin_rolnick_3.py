# SPDX-License-Identifier: MIT
"""Hanin and Rolnick 2019, Fig. 3: how many pieces of a sawtooth survive noise on its weights and biases?

Telgarsky's sawtooth has two units in each layer and 2^depth pieces on [0, 1]. Gaussian noise is added to all weights
and biases, and the pieces on [0, 1] are counted exactly. The figure shows one function with and without noise, and the
mean number of pieces over the depth. The table has the mean, half of its interval at 95 percent, and its growth per
layer from the row before.
"""

from __future__ import annotations

import sys

import numpy as np
from common import half_interval, keep, new_figure, read_options

import regions
from regions.constructions import sawtooth

SMALL = {"networks": 20, "depths": (2, 4), "noises": (0.0, 0.1)}
UNIT = regions.Segment([0.0], [1.0])
DRAWN = 5


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words, __doc__, SMALL, networks=1000, depths=(2, 4, 6, 8, 10, 12), noises=(0.0, 0.001, 0.01, 0.1)
    )
    figure, (graph, growing) = new_figure(2)
    at = np.linspace(0.0, 1.0, 2001)[:, np.newaxis]
    for noise in (0.0, options.noises[-1]):
        drawn = noisy(sawtooth(DRAWN), noise, np.random.default_rng(options.seed))
        graph.plot(at, drawn(at), linewidth=1, label=f"noise {noise:g}: {regions.count(drawn, UNIT)} pieces")
    graph.set(xlabel="x", title=f"depth {DRAWN}")
    graph.legend(fontsize=7)
    rows: list[list[float]] = []
    for noise in options.noises:
        means: list[float] = []
        for depth in options.depths:
            rng, network = np.random.default_rng([options.seed, depth]), sawtooth(depth)
            repeats = options.networks if noise else 1
            counts = np.array([regions.count(noisy(network, noise, rng), UNIT) for _ in range(repeats)])
            means.append(float(counts.mean()))
            since = depth - options.depths[len(means) - 2] if len(means) > 1 else 0
            growth = (means[-1] / means[-2]) ** (1 / since) if since else means[-1] ** (1 / depth)
            rows.append([noise, depth, 2**depth, means[-1], half_interval(counts), growth])
        growing.plot(options.depths, means, marker=".", label=f"noise {noise:g}")
    growing.set(yscale="log", xlabel="depth", ylabel="mean number of pieces")
    growing.legend(fontsize=7)
    head = ["noise", "depth", "2^depth", "mean pieces", "+- 95%", "growth per layer"]
    return keep(options, __file__, figure, head, rows)


def noisy(network: regions.Network, noise: float, rng: np.random.Generator) -> regions.Network:
    """Return the network with Gaussian noise of this standard deviation on its weights and biases."""
    if not noise:
        return network
    return regions.Network(
        [
            (
                layer.weights + noise * rng.standard_normal(layer.weights.shape),
                layer.biases + noise * rng.standard_normal(layer.biases.shape),
            )
            for layer in network.layers
        ]
    )


if __name__ == "__main__":
    main(sys.argv[1:])
