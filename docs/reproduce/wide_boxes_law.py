# SPDX-License-Identifier: MIT
"""How many regions have random networks in a box: how far is `bounds.expected_regions_wide_box` from exact counts?

Boxes with three free coordinates in the input space, without biases, where the law is exact up to terms that are
exponentially small in the width, and with Gaussian biases, where it is a limit for wide layers. Weights are He's. For
deep networks with biases, the table also has means over networks of frozen gates (`ensembles.frozen`), which are
unbiased at every width. Its columns are the law, the mean number of regions, their ratio with half of its interval at
95 percent, and the mean over frozen networks over the law with half of its interval.
"""

from __future__ import annotations

import sys

import numpy as np
from common import half_interval, keep, new_figure, read_options

import regions
from regions import bounds
from regions.ensembles import Ensemble, Gaussian, frozen

SMALL = {"networks": 4}
# Bounds of the box, widths, and the standard deviation of the biases.
CUBE, FLAT, FAR = ([-1.0] * 3, [1.0] * 3), ([-1.0, -0.5, 0.0], [1.0, 0.5, 0.3]), ([2.0, 2.0, 2.0], [3.0, 4.0, 5.0])
ROWS = [
    ("cube at 1 of 4", (CUBE[0] + [1.0], CUBE[1] + [1.0]), (16, 16), 0.0),
    ("cube at 1 of 4", (CUBE[0] + [1.0], CUBE[1] + [1.0]), (24, 24, 24), 0.0),
    ("cube at 3 of 8", (CUBE[0] + [3.0] + [0.0] * 4, CUBE[1] + [3.0] + [0.0] * 4), (32, 32), 0.0),
    ("flat box at 0.5 of 5", (FLAT[0] + [0.3, 0.4], FLAT[1] + [0.3, 0.4]), (20, 20, 20), 0.0),
    ("box beside 0 of 3", FAR, (24, 24), 0.0),
    ("box beside 0 of 3", FAR, (16, 32, 16), 0.0),
    ("cube at 0 of 3", CUBE, (24,), 1.0),
    ("flat box at 0 of 3", FLAT, (32,), 0.3),
    ("cube at 0 of 3", CUBE, (8, 8), 1.0),
    ("cube at 0 of 3", CUBE, (16, 16), 1.0),
    ("cube at 0 of 3", CUBE, (32, 32), 1.0),
    ("cube at 0 of 3", CUBE, (48, 48), 1.0),
    ("cube at 0 of 3", CUBE, (8, 8, 8), 1.0),
    ("cube at 0 of 3", CUBE, (16, 16, 16), 1.0),
    ("cube at 0 of 3", CUBE, (24, 24, 24), 1.0),
    ("cube at 0 of 3", CUBE, (12,) * 5, 1.0),
    ("flat box at 0 of 3", FLAT, (24, 24), 1.0),
    ("cube at 2 of 6", (CUBE[0] + [2.0, 0, 0], CUBE[1] + [2.0, 0, 0]), (16, 16, 16), 0.5),
    ("box beside 0 of 3", FAR, (16, 16, 16), 1.0),
]


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=400)
    figure, (ax,) = new_figure(1)
    rows: list[list[object]] = []
    for number, (name, (low, high), widths, std) in enumerate(ROWS):
        rng, box = np.random.default_rng([options.seed, number]), regions.Box(low, high)
        random = Ensemble([len(low), *widths, 1], biases=Gaussian(std) if std else None)
        networks = [random.draw(rng) for _ in range(options.networks)]
        law = bounds.expected_regions_wide_box(low, high, widths, sigma_b=std)
        counts = np.array([regions.count(network, box) for network in networks]) / law
        shape = f"{name}: {'-'.join(map(str, widths))}, biases {std:g}"
        row = [shape, law, counts.mean() * law, counts.mean(), half_interval(counts), "-", "-"]
        if std and len(widths) > 1:
            straight = np.array([regions.count(frozen(network, rng), box) for network in networks]) / law
            row[-2:] = straight.mean(), half_interval(straight)
        rows.append(row)
    for biased, label in ((False, "no biases"), (True, "Gaussian biases")):
        chosen = [row for row, setting in zip(rows, ROWS, strict=True) if bool(setting[-1]) == biased]
        ax.plot([row[1] for row in chosen], [row[3] for row in chosen], "o", markersize=4, label=label)
    ax.axhline(1.0, color="k", linestyle="--", linewidth=1)
    ax.set(xscale="log", xlabel="law", ylabel="mean number of regions over law")
    ax.legend()
    head = ["box and widths", "law", "regions", "ratio", "+- 95%", "frozen gates", "+- 95%"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
