# SPDX-License-Identifier: MIT
"""Hanin and Rolnick 2019, Fig. 2: how do the regions of a network with two inputs change from layer to layer?

The figure shows the regions of one network in a square after each hidden layer, with edges in the colour of the layer
that bends there. The table has the mean number of regions after each layer over many networks, half of its interval at
95 percent, and the number over N^2 / 2, with N the neurons up to that layer. Biases have standard deviation 0.5, so
that the first layer's lines meet the square.
"""

from __future__ import annotations

import sys

import numpy as np
from common import half_interval, keep, new_figure, read_options

import regions
from regions import bounds
from regions.ensembles import Ensemble, Gaussian

SMALL = {"networks": 5}
SQUARE = regions.Rectangle([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0])


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=200, depth=3, width=16)
    rng = np.random.default_rng(options.seed)
    ensemble = Ensemble([2, *[options.width] * options.depth, 1], biases=Gaussian(0.5))
    figure, axes = new_figure(options.depth)
    drawn = [regions.enumerate(each, SQUARE) for each in _after_each_layer(ensemble.draw(rng))]
    regions.plot(drawn, ax=axes, color_by="layer")
    counts = np.array(
        [
            [regions.count(each, SQUARE) for each in _after_each_layer(ensemble.draw(rng))]
            for _ in range(options.networks)
        ]
    )
    rows = []
    for index, column in enumerate(counts.T):
        widths = [options.width] * (index + 1)
        mean, squared = float(column.mean()), sum(widths) ** 2 / 2
        rows.append([index + 1, mean, half_interval(column), mean / squared, bounds.raghu(2, widths)])
    return keep(options, __file__, figure, ["layers", "mean regions", "+- 95%", "over N^2/2", "most"], rows)


def _after_each_layer(network: regions.Network) -> list[regions.Network]:
    pairs = [(layer.weights, layer.biases) for layer in network.layers[:-1]]
    return [
        regions.Network([*pairs[:depth], (np.ones((1, len(pairs[depth - 1][1]))), None)])
        for depth in range(1, len(pairs) + 1)
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
