# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 12: how does an arc between two images grow in random ReLU networks?

Lengths after each layer are exact, for the figure's pairs of width and variance. ("scl" is a variance: as a standard
deviation, 10 would give 1e12 after 14 layers, and the figure ends at 1e6.) The growth per layer is compared with the
exact law, which is `bounds.relu_length_factor` of the width times sigma_w / sqrt(width), about sigma_w / sqrt(2), and
with Theorem 3's bound with the constant 1/2.
"""

from __future__ import annotations

import sys
from math import sqrt

import numpy as np
from common import keep, new_figure, read_options, two_images

import regions
from regions import bounds
from regions.ensembles import raghu2017

SMALL = {"depth": 3, "networks": 20, "pairs": ("8:3", "32:10")}


def main(words: list[str] | None = None) -> list[str]:
    pairs = ("50:3", "1000:3", "50:5", "500:5", "100:8", "700:8", "300:10", "700:10")
    options = read_options(words, __doc__, SMALL, depth=14, networks=5, pairs=pairs)
    x, y = two_images(options)
    figure, (ax,) = new_figure(1)
    rows = []
    for number, pair in enumerate(options.pairs):
        width, variance = int(pair.split(":")[0]), float(pair.split(":")[1])
        ensemble = raghu2017(len(x), width, options.depth, sigma_w=sqrt(variance), activation="relu")
        rng = np.random.default_rng([options.seed, number])
        found = regions.growth(ensemble, regions.Arc(x, y), networks=options.networks, rng=rng)
        lengths = found.lengths[:, 0, :-1].mean(axis=0)
        ax.plot(lengths, label=f"w{width} scl{variance:g}")
        exact = sqrt(variance / width) * bounds.relu_length_factor(width)
        lower = bounds.raghu_length_lower(len(x), [width], sqrt(variance))
        worst = np.abs(found.deviations(found.laws[0])).max()
        growth = found.lengths[:, 0, 1:-1] / found.lengths[:, 0, :-2]
        rows.append([width, variance, lower, growth.mean(), exact, sqrt(variance / 2), worst, lengths[-1]])
    ax.set(yscale="log", xlabel="layer", ylabel="mean length")
    ax.legend(fontsize=6)
    head = ["width", "scl", "Theorem 3", "growth", "exact law", "sw / sqrt 2", "most errors off", "last length"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
