# SPDX-License-Identifier: MIT
"""Price and Tanner 2020, Fig. 2: how long is a line between two images in each layer of sparse ReLU networks?

Weights are Gaussian with standard deviation sigma_w / sqrt(784), sigma_w = 6, kept with probability alpha; biases are
N(0, 0.01^2). The growth of each layer is compared with the paper's bound, alpha sigma_w / sqrt(2 pi), and with
sigma_w sqrt(alpha / 2), the expected value for a curve whose direction is spread over many inputs.
The paper uses 100 networks and 10,000 points on each line. Here each network is exact, and takes a quarter of a minute.
"""

from __future__ import annotations

import sys
from math import pi, sqrt

from common import keep, new_figure, read_options, two_images

import regions
from regions.ensembles import Gaussian, price_tanner2020

SMALL = {"networks": 3, "side": 8, "depth": 4, "alphas": (0.3, 0.9)}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words, __doc__, SMALL, networks=100, side=28, depth=20, sigma=6.0, alphas=(0.1, 0.3, 0.5, 0.7, 0.9)
    )
    line, width = regions.Segment(*two_images(options, options.side)), options.side**2
    figure, (ax,) = new_figure(1)
    rows = []
    for number, alpha in enumerate(options.alphas):
        ensemble = price_tanner2020(width, options.depth, Gaussian(options.sigma), alpha=alpha)
        found = regions.growth(ensemble, line, networks=options.networks, rng=options.seed + number)
        lengths = found.lengths[:, 0, :-1].mean(axis=0)
        bound, typical = alpha * options.sigma / sqrt(2 * pi), options.sigma * sqrt(alpha / 2)
        (drawn,) = ax.plot(lengths, marker="o", markersize=3, label=f"alpha = {alpha:g}")
        ax.plot([lengths[0] * bound**layer for layer in range(len(lengths))], "--", color=drawn.get_color())
        growth = (lengths[-1] / lengths[0]) ** (1 / options.depth)
        factors = [mean.value for mean in found.estimates("growth")[:-1] if mean]
        rows.append([alpha, bound, min(factors), growth, max(factors), typical, lengths[-1]])
    ax.set(yscale="log", xlabel="layer", ylabel="mean length (dashed: bound)")
    ax.legend(fontsize=7)
    head = ["alpha", "bound", "least growth", "mean growth", "most growth", "sw sqrt(alpha/2)", "last length"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
