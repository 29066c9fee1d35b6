# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 1: how does a deep ReLU network cut a square?

Inputs are in [-1, 1]^2, and there are three hidden layers of four units. The figure shows the regions after one, two
and three layers. Their exact number is compared with Theorem 1's bound r(4, 2)^depth = 11^depth.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options

import regions
from regions import bounds
from regions.ensembles import Ensemble, Gaussian

SMALL: dict[str, int] = {}
SQUARE = regions.Rectangle([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0])


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, depth=3, width=4)
    figure, axes = new_figure(options.depth)
    sizes = [2, *[options.width] * options.depth, 1]
    # All four lines of this network's first layer meet the square, and the lines of later layers bend.
    layers = Ensemble(sizes, biases=Gaussian(0.5)).draw(np.random.default_rng(options.seed + 21)).layers
    rows, partitions = [], []
    for depth in range(1, options.depth + 1):
        kept = [(layer.weights, layer.biases) for layer in layers[:depth]]
        network = regions.Network([*kept, (np.ones((1, options.width)), None)])
        partition = regions.enumerate(network, SQUARE)
        partitions.append(partition)
        convex = all(polygon.convex_hull.area <= polygon.area * (1 + 1e-9) for polygon in partition.to_shapely())
        bound = bounds.raghu(2, [options.width] * depth)
        rows.append([depth, len(partition), bound, "yes" if convex else "no", float(np.sum(partition.volumes))])
    regions.plot(partitions, ax=axes, color_by="layer")
    return keep(options, __file__, figure, ["layers", "regions", "Theorem 1", "convex", "area"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
