# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 5: are transitions linear in length?

Hard tanh networks have several widths and variances of the weights, and an arc joins two images. The figure shows the
exact length of the image after each layer, and the transitions of the next layer. A unit cuts a curve of length l about
l / sqrt(k) times, up to a factor that depends on the variance. The table has the slope of log transitions over log
length, which should be 1, and the transitions per length and sqrt(k) in the second and in the last layer.
"""

from __future__ import annotations

import sys
from itertools import cycle
from math import sqrt

import numpy as np
from common import keep, new_figure, read_options, two_images
from matplotlib import colormaps

import regions
from regions.ensembles import raghu2017

SMALL = {"depth": 4, "networks": 2, "widths": (8, 32), "variances": (2.0, 8.0)}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words, __doc__, SMALL, depth=8, networks=5, widths=(16, 64, 256), variances=(2.0, 4.0, 8.0, 16.0)
    )
    x, y = two_images(options)
    figure, (ax,) = new_figure(1)
    rows = []
    colors = colormaps["viridis"](np.linspace(0.0, 0.9, len(options.variances)))
    for width, marker in zip(options.widths, cycle("o^sDv"), strict=False):
        for variance, color in zip(options.variances, colors, strict=True):
            ensemble = raghu2017(len(x), width, options.depth, sigma_w=sqrt(variance))
            found = regions.growth(ensemble, regions.Arc(8 * x, 8 * y), networks=options.networks, rng=options.seed + 1)
            lengths = found.lengths[:, 0, 1:-2].mean(axis=0)
            transitions = found.transitions[:, 0, 1:].mean(axis=0)
            style = {"marker": marker, "color": color, "markersize": 3, "linewidth": 1}
            ax.plot(lengths, transitions, label=f"k {width}, {variance:g}", **style)
            there = transitions > 0
            slope = np.polyfit(np.log(lengths[there]), np.log(transitions[there]), 1)[0]
            per_length = transitions / lengths / sqrt(width)
            rows.append([width, variance, lengths[-1], transitions[-1], slope, per_length[0], per_length[-1]])
    ax.set(xscale="log", yscale="log", xlabel="length of the image", ylabel="transitions of the next layer")
    ax.legend(fontsize=5, ncols=2)
    head = ["width", "variance", "length", "transitions", "slope", "per length, second", "last"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
