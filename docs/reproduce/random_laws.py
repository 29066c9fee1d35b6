# SPDX-License-Identifier: MIT
"""Newer laws: how do random ReLU networks change areas, and how many regions have random maxout layers?

The mean area of the image of a triangle after the last hidden layer is compared with the exact law,
`bounds.expected_volume_relu_exact`, after Hanin, Jeong and Rolnick 2022. The mean number of regions of a Gaussian
maxout layer on a line, counted exactly, is compared with `bounds.expected_regions_maxout_line`, after Tseran and
Montufar 2021. The table has half of the interval at 95 percent, and the deviation in standard errors.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options

import regions
from regions import bounds
from regions.ensembles import Ensemble, Gaussian, MaxoutEnsemble
from regions.measures import Estimate

SMALL = {"networks": 40}
# Inputs and hidden layers, and the standard deviation of biases.
SHAPES = [
    *(([2, width], 1.0) for width in (3, 4, 8, 16, 32)),
    *(([2, width, width], 1.0) for width in (4, 8, 16, 32)),
    *(([5, width, width, width], 0.5) for width in (8, 16, 24)),
    *(([20, 12, 12], 0.1), ([20, 30, 10], 2.0), ([2, 10, 20, 10], 1.0)),
    *(([64, 16, 16], 0.01), ([3, 8, 8, 8, 8], 0.3), ([10, 6, 12, 6], 1.0)),
]
RANKS = (2, 3, 4, 5, 8, 12)
WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32)
UNITS = [(units, RANKS[number % 6]) for number, units in enumerate(WIDTHS)]


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=1000)
    figure, panels = new_figure(2)
    rows: list[list[object]] = []
    for number, (sizes, std) in enumerate(SHAPES):
        rng = np.random.default_rng([options.seed, number])
        triangle = regions.Polygon([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        corners = rng.standard_normal((3, sizes[0]))
        if sizes[0] > 2:
            spanned = regions.Rectangle(corners[0], corners[1] - corners[0], corners[2] - corners[0])
            triangle = regions.Domain(spanned.origin, spanned.directions, [[1, 0, 0], [1, 1, 0], [1, 0, 1]])
        random = Ensemble([*sizes, 1], biases=Gaussian(std))
        areas = [_area(random.draw(rng), triangle) for _ in range(options.networks)]
        stds = [law.std for law in random.weight_laws[:-1]]
        law = bounds.expected_volume_relu_exact(sizes[0], sizes[1:], stds)
        rows.append(["area", "-".join(map(str, sizes)), *_compared(law, np.array(areas) / triangle.volume)])
    for number, (units, rank) in enumerate(UNITS):
        rng = np.random.default_rng([options.seed, 100 + number])
        line = regions.Line([0.0], [1.0])
        random = MaxoutEnsemble([1, units, 1], rank, weights=Gaussian(1.0), biases=Gaussian(2.0))
        counts = [regions.count(random.draw(rng), line) for _ in range(options.networks)]
        law = bounds.expected_regions_maxout_line(1, units, rank)
        rows.append(["maxout", f"{units} of rank {rank}", *_compared(law, np.array(counts, dtype=float))])
    for ax, kind, what in zip(panels, ("area", "maxout"), ("area of the image", "regions of a layer"), strict=True):
        laws, means, errors = zip(*(row[2:5] for row in rows if row[0] == kind), strict=True)
        ax.errorbar(laws, means, errors, fmt="o", markersize=3)
        ax.plot([min(laws), max(laws)], [min(laws), max(laws)], "k--", linewidth=1)
        ax.set(xlabel="law", ylabel=f"mean {what}")
    return keep(options, __file__, figure, ["law of", "shape", "law", "found", "+- 95%", "errors off"], rows)


def _compared(law: float, samples: np.ndarray) -> list[float]:
    found = Estimate(samples)
    low, high = found.interval(0.95)
    return [law, found.value, (high - low) / 2, found.deviation(law) if found.standard_error else 0.0]


def _area(network: regions.Network, triangle: regions.Domain) -> float:
    """Return the area of the image of a triangle after the last hidden layer."""
    layers, width = network.layers, network.widths[-1]
    hidden = [(layer.weights, layer.biases) for layer in layers[:-1]]
    return regions.image(regions.Network([*hidden, (np.eye(width), None)]), triangle).volume


if __name__ == "__main__":
    main(sys.argv[1:])
