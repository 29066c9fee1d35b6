# SPDX-License-Identifier: MIT
"""How many regions does a random network have in a polygon: is `bounds.expected_regions_wide_polygon` the limit?

Exact counts in squares, triangles and segments. Without biases the law is exact for wide and narrow layers, apart from
terms that are exponentially small in the width. With Gaussian biases it is a limit for wide layers, and too large for
narrow ones. The table has the law, the mean, the ratio, and half of its interval at 95 percent.
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
# Corners in the chart, the number of inputs, the distance of the chart from 0, widths, and the deviation of biases.
SQUARE = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
TRIANGLE = [[0.0, 0.0], [2.0, 0.5], [0.5, 3.0]]
FAR = [[9.0, 9.0], [11.0, 9.0], [11.0, 11.0], [9.0, 11.0]]
ENDS = [[-1.0], [2.0]]
ROWS = [
    ("square", SQUARE, 8, 2.0, (16, 16, 16), 0.0),
    ("square", SQUARE, 8, 2.0, (32, 32), 0.0),
    ("square", SQUARE, 3, 0.5, (24,) * 4, 0.0),
    ("triangle", TRIANGLE, 8, 1.0, (16, 16, 16), 0.0),
    ("triangle", TRIANGLE, 20, 3.0, (32, 16, 32), 0.0),
    ("segment", ENDS, 8, 1.0, (16, 16, 16), 0.0),
    ("segment", ENDS, 3, 0.5, (32, 32, 32, 32), 0.0),
    ("square", SQUARE, 2, 0.0, (48,), 1.0),
    ("triangle", TRIANGLE, 5, 1.0, (48,), 0.5),
    ("square", SQUARE, 2, 0.0, (8, 8, 8), 1.0),
    ("square", SQUARE, 2, 0.0, (16, 16, 16), 1.0),
    ("square", SQUARE, 2, 0.0, (32, 32, 32), 1.0),
    ("square", SQUARE, 2, 0.0, (64, 64, 64), 1.0),
    ("square", SQUARE, 2, 0.0, (128, 128), 1.0),
    ("square", SQUARE, 2, 0.0, (32,) * 6, 1.0),
    ("square", FAR, 2, 0.0, (32, 32, 32), 1.0),
    ("square", SQUARE, 8, 2.0, (32, 32, 32), 0.3),
    ("triangle", TRIANGLE, 2, 0.0, (64, 64), 0.1),
    ("segment", ENDS, 2, 0.5, (64, 64, 64), 1.0),
    ("segment", ENDS, 2, 0.0, (16, 16, 16), 1.0),
]


def placed(chart: list[list[float]], inputs: int, distance: float, rng: np.random.Generator) -> np.ndarray:
    """Return corners in input space, in a random line or plane at a distance from 0."""
    size = len(chart[0])
    frame = np.eye(inputs) if inputs == size else np.linalg.qr(rng.standard_normal((inputs, inputs)))[0]
    rest = distance * frame[size] if distance else np.zeros(inputs)
    return np.array(chart) @ frame[:size] + rest


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=1000)
    figure, (ax,) = new_figure(1)
    rows: list[list[object]] = []
    for number, (name, chart, inputs, distance, widths, std) in enumerate(ROWS):
        rng = np.random.default_rng([options.seed, number])
        corners = placed(chart, inputs, distance, rng)
        domain = regions.Segment(*corners) if len(chart) == 2 else regions.Polygon(corners)
        random = Ensemble([inputs, *widths, 1], biases=Gaussian(std) if std else None)
        counts = regions.count([random.draw(rng) for _ in range(options.networks)], domain)
        law = bounds.expected_regions_wide_polygon(corners, widths, sigma_b=std)
        found = Estimate(counts.astype(float))
        low, high = found.interval(0.95)
        shape = f"{name} at {distance:g} of {inputs}: {'-'.join(map(str, widths))}, biases {std:g}"
        if chart is FAR:
            shape = f"far {shape}"
        rows.append([shape, law, found.value, found.value / law, (high - low) / 2 / law])
    for biased, label in ((False, "no biases"), (True, "Gaussian biases")):
        chosen = [row for row, setting in zip(rows, ROWS, strict=True) if bool(setting[-1]) == biased]
        ax.plot([row[1] for row in chosen], [row[3] for row in chosen], "o", markersize=4, label=label)
    ax.axhline(1.0, color="k", linestyle="--", linewidth=1)
    ax.set(xscale="log", xlabel="law", ylabel="mean number of regions over law")
    ax.legend()
    head = ["domain and widths", "law", "regions", "ratio", "+- 95%"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
