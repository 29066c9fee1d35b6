# SPDX-License-Identifier: MIT
"""Kogan, Jananthan and Kepner 2025: does a wide random network have as many regions on a line as units?

Exact counts of He-initialised networks of one input, with biases N(0, 1), on the whole line and on the segment from -1
to 1. They are compared with the limits for wide layers, `bounds.kogan_expected_regions` and
`bounds.expected_regions_wide_line`. The table has the ratio of mean and limit, and half of its interval at 95 percent.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options

import regions
from regions import bounds
from regions.ensembles import Ensemble, Gaussian
from regions.measures import Estimate

SMALL = {"networks": 20}
WIDTHS = [
    *([width] * depth for depth in (1, 2, 3, 5) for width in (16, 64, 128)),
    *([256], [256, 256], [32, 128], [128, 32], [64, 16, 64], [16, 32, 64]),
]
SEGMENT = (-1.0, 1.0)


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=400)
    figure, (ax,) = new_figure(1)
    rows = []
    domains = [regions.Line([0.0], [1.0]), regions.Segment([SEGMENT[0]], [SEGMENT[1]])]
    for number, widths in enumerate(WIDTHS):
        rng = np.random.default_rng([options.seed, number])
        random = Ensemble([1, *widths, 1], biases=Gaussian(1.0))
        networks = [random.draw(rng) for _ in range(options.networks)]
        limits = bounds.kogan_expected_regions(1, widths), bounds.expected_regions_wide_line(1, widths, *SEGMENT)
        row: list[object] = ["-".join(map(str, widths))]
        for domain, limit in zip(domains, limits, strict=True):
            found = Estimate(np.array([regions.count(network, domain) for network in networks], dtype=float))
            low, high = found.interval(0.95)
            row += [limit, found.value, found.value / limit, (high - low) / 2 / limit]
        rows.append(row)
    for column, label in ((1, "whole line"), (5, "from -1 to 1")):
        limits, means = ([row[place] for row in rows] for place in (column, column + 1))
        ax.plot(limits, means, "o", markersize=4, label=label)
    ax.plot([10, 700], [10, 700], "k--", linewidth=1)
    ax.set(xscale="log", yscale="log", xlabel="limit for wide layers", ylabel="mean number of regions")
    ax.legend()
    head = ["widths", "1 + sum", "regions", "ratio", "+- 95%", "on segment", "regions there", "its ratio", "its +- 95%"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
