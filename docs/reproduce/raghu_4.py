# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 4: do curves grow in convolutional networks too?

Great circles through two images are followed through convolutional ReLU networks without training, for several scales
of the weights. The paper uses CIFAR-10; here the images are patches of photographs (`common_convolutional.py`). The
paper finds exponential growth, at slightly larger scales than in dense networks, and shorter images after the pools,
layers 3 and 7. Lengths are exact up to rounding. The table has the length after each layer over that of the circle, a
mean over circles and networks, and the growth per convolution, from c1 to c2 and from c3 to c5.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options
from common_convolutional import LAYERS, Photographs, convolutional_network, grown_lengths

SMALL = {"networks": 1, "circles": 1, "channels": 4, "side": 8, "variances": (2.0, 8.0)}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words, __doc__, SMALL, variances=(1.0, 2.0, 4.0, 8.0, 16.0), channels=16, side=16, circles=5, networks=5
    )
    images, rng = Photographs(options, options.side, 200), np.random.default_rng(options.seed)
    circles = images.circles(options.circles, rng)
    figure, (ax,) = new_figure(1)
    rows: list[list[object]] = []
    for variance in options.variances:
        models = (convolutional_network(images.side, 8, options.channels, variance) for _ in range(options.networks))
        grown = np.mean([grown_lengths(model, images.side, circles) for model in models], axis=0)
        factor = (grown[1] / grown[0] * grown[5] / grown[3]) ** (1 / 3)
        rows.append([f"{variance:g}", *grown, factor])
        ax.plot(LAYERS, grown, marker=".", label=f"variance {variance:g}")
    ax.set(yscale="log", xlabel="layer", ylabel="length over the circle's")
    ax.legend(fontsize=7)
    return keep(options, __file__, figure, ["variance", *LAYERS, "per convolution"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
