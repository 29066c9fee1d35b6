# SPDX-License-Identifier: MIT
"""Price and Tanner 2020, Fig. 1: what does a random ReLU network make of a circle?

The network has sigma_w = 2 and layers as wide as the input. The figure shows the circle, and the pre-activations of
layers 6 and 12, each in the two directions in which the image is widest. The table has the exact length of the
pre-activations' image, its growth per layer, and the exact law for the mean growth of random networks.
"""

from __future__ import annotations

import sys
from math import sqrt

import numpy as np
from common import draw_curves, keep, new_figure, read_options

import regions
from regions import bounds, ensembles

SMALL = {"depth": 4, "width": 20}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, depth=12, width=100, sigma=2.0)
    rng = np.random.default_rng(options.seed)
    law = ensembles.Gaussian(options.sigma)
    network = ensembles.price_tanner2020(options.width, options.depth, law).draw(rng)
    circle = regions.Circle(np.zeros(options.width), *rng.standard_normal((2, options.width)))
    path = regions.trajectory(network, circle)
    images = []
    for layer in network.layers[:-1]:
        before, _ = path.image(len(images), 9)
        images.append(before @ layer.weights.T + layer.biases)
    figure, axes = new_figure(3)
    middle = options.depth // 2
    titles = ["input", f"layer {middle}", f"layer {options.depth}"]
    draw_curves(axes, titles, [path.image(0, 9)[0], images[middle - 1], images[-1]])
    exact = options.sigma / sqrt(options.width) * bounds.relu_length_factor(options.width)
    rows = [
        [layer, path.lengths[layer], path.lengths[layer] / path.lengths[layer - 1], exact, int(path.pieces[layer - 1])]
        for layer in range(1, options.depth + 1)
    ]
    return keep(options, __file__, figure, ["layer", "length", "growth", "mean growth", "pieces"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
