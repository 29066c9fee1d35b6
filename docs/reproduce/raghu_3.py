# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 3: what do the layers of a network make of a circle?

The network has layers of width 100, with hard tanh in place of the paper's tanh, weights of variance 4 / width, and no
biases. The figure shows the images of a circle after some layers, each in the two directions in which it is widest. The
table has the exact length of the images, the growth per layer, and the limit of growth in wide layers.
"""

from __future__ import annotations

import sys

import numpy as np
from common import draw_curves, keep, new_figure, read_options

import regions
from regions import bounds, ensembles

SMALL = {"depth": 3, "width": 20}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, depth=8, width=100, sigma=2.0)
    rng = np.random.default_rng(options.seed)
    ensemble = ensembles.raghu2017(options.width, options.width, options.depth, sigma_w=options.sigma)
    center, *axes_of_circle = np.zeros(options.width), *rng.standard_normal((2, options.width))
    path = regions.trajectory(ensemble.draw(rng), regions.Circle(center, *axes_of_circle))
    shown = sorted({round(layer) for layer in np.linspace(0, options.depth, 4)})
    figure, axes = new_figure(len(shown))
    titles = ["input" if layer == 0 else f"layer {layer}" for layer in shown]
    draw_curves(axes, titles, [path.image(layer, 9)[0] for layer in shown])
    wide = bounds.hard_tanh_length_growth(options.sigma)
    rows = [
        [layer, path.lengths[layer], path.lengths[layer] / path.lengths[layer - 1], wide, int(path.pieces[layer - 1])]
        for layer in range(1, options.depth + 1)
    ]
    return keep(options, __file__, figure, ["layer", "length", "growth", "wide limit", "pieces"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
