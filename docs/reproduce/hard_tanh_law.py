# SPDX-License-Identifier: MIT
"""The wide limit for hard tanh: how near is the mean growth of arcs to `bounds.hard_tanh_length_growth`?

Eighteen shapes: six widths at three depths, with one of six laws of weights and biases each, so that each law has three
shapes of different widths. Growth is the length after the last layer over the length one layer before, exact up to
rounding, where the variance of units has nearly settled. The table has the ratio of mean and limit, and half of its
interval at 95 percent. The limit is about infinitely wide layers, so the ratio need not be 1 at a finite width; it
should approach 1 as the width grows.
"""

from __future__ import annotations

import sys
from math import sqrt

import numpy as np
from common import half_interval, keep, new_figure, read_options

import regions
from regions import bounds
from regions.ensembles import raghu2017

SMALL = {"networks": 4, "depths": (3,), "widths": (8, 16)}
# Variance of weights times the width, and variance of biases.
VARIANCES = [(1.5, 0.0), (2.0, 0.0), (4.0, 0.0), (8.0, 0.0), (4.0, 0.25), (8.0, 1.0)]


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=100, depths=(3, 4, 5), widths=(8, 16, 32, 64, 128, 256))
    figure, (ax,) = new_figure(1)
    rows = []
    for row, width in enumerate(options.widths):
        for column, depth in enumerate(options.depths):
            weights, biases = VARIANCES[(row + 2 * column) % len(VARIANCES)]
            rng = np.random.default_rng([options.seed, width, depth])
            sigma_w, sigma_b = sqrt(weights), sqrt(biases)
            ensemble = raghu2017(width, width, depth, sigma_w=sigma_w, sigma_b=sigma_b)
            x, y = rng.standard_normal((2, width))
            found = regions.growth(ensemble, regions.Arc(x, y), networks=options.networks, rng=rng)
            mean = found.estimates("growth")[depth - 1]
            assert mean is not None
            limit = bounds.hard_tanh_length_growth(sigma_w, sigma_b)
            half = half_interval(mean.samples) / limit
            rows.append([width, depth, weights, biases, limit, mean.value, mean.value / limit, half])
    for variances in VARIANCES:
        chosen = [row for row in rows if tuple(row[2:4]) == variances]
        x, ratios, halves = ([row[place] for row in chosen] for place in (0, 6, 7))
        ax.errorbar(x, ratios, halves, fmt="o", markersize=3, label="{:g}, {:g}".format(*variances))
    ax.axhline(1.0, color="k", linestyle="--", linewidth=1)
    ax.set(xscale="log", xlabel="width", ylabel="mean growth over the limit")
    ax.legend(fontsize=6, title="variance of weights times width, of biases", title_fontsize=6)
    head = ["width", "depth", "variance", "of biases", "limit", "mean growth", "ratio", "+- 95%"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
