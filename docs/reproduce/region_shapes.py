# SPDX-License-Identifier: MIT
"""Are the regions of random networks in a plane like the cells of Poisson lines?

Exact partitions of the whole plane. Bounded regions of all networks together are compared with the cells of Poisson
lines (Miles 1964, Tanner 1983): 4 sides on average, a variance of pi^2 / 2 - 4 = 0.935, a share of 2 - pi^2 / 6 =
0.355 triangles. The region of a given input, here (0.5, 0.5), is compared with the cell of a given point, which is
larger: it has pi^2 / 2 = 4.935 sides on average. The table has the means, and half of their intervals at 95 percent,
which are over networks. Weights are He's, biases are N(0, 1).
"""

from __future__ import annotations

import sys
from math import pi

import numpy as np
from common import half_interval, keep, new_figure, read_options

import regions
from regions import measures
from regions.ensembles import Ensemble, Gaussian

SMALL = {"networks": 8}
SHAPES = [(64,), (128,), (32, 32), (64, 64), (16,) * 4, (32,) * 4, (16,) * 8, (4,) * 4]
POINT = [[0.5, 0.5]]


def pooled(inside: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Return the mean over all regions of networks with these numbers of regions and means, and half its interval."""
    weights = inside / inside.mean()
    mean = float((weights * values).mean())
    return mean, half_interval(weights * (values - mean))


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=1000)
    plane = regions.Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])
    figure, axes = new_figure(2)
    rows: list[list[object]] = []
    for number, widths in enumerate(SHAPES):
        rng = np.random.default_rng([options.seed, number])
        random = Ensemble([2, *widths, 1], biases=Gaussian(1.0))
        found, given = [], []
        for _ in range(options.networks):
            part = regions.enumerate(random.draw(rng), plane)
            sides = measures.side_counts(part)
            given.append(measures.degrees(part)[part.locate(POINT)[0]])
            if sides.inside:
                found.append((sides.inside, sides.mean, sides.variance, sides.simplices))
        inside, *shapes = np.array(found, dtype=float).T
        cells = [*(value for shape in shapes for value in pooled(inside, shape)), np.mean(given), half_interval(given)]
        rows.append(["-".join(map(str, widths)), *cells])
    names = ["-".join(map(str, widths)) for widths in SHAPES]
    for ax, column, law, title in (
        (axes[0], 5, 2 - pi**2 / 6, "share of triangles"),
        (axes[1], 7, pi**2 / 2, "sides of the region of an input"),
    ):
        values, errors = ([float(str(row[index])) for row in rows] for index in (column, column + 1))
        ax.errorbar(range(len(rows)), values, errors, fmt="o", markersize=4, capsize=2)
        ax.axhline(law, color="k", linestyle="--", linewidth=1, label=f"Poisson lines: {law:.4g}")
        ax.legend(fontsize=7)
        ax.set_xticks(range(len(rows)), names, rotation=60, fontsize=7)
        ax.set_title(title)
    head = ["widths", "sides", "+- 95%", "variance", "+- 95%", "triangles", "+- 95%", "sides at an input", "+- 95%"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
