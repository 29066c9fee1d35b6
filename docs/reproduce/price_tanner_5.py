# SPDX-License-Identifier: MIT
"""Price and Tanner 2020, Fig. 5: does the kind of curve matter for its growth?

As Fig. 3, but between random points of R^500 of norm 1: a straight line (left) and a curve (right). The paper's curve
is the line "modified to be a semi-circular arc in 100 randomly chosen hyperplanes", without a formula. Here half a sine
wave in each of 100 random directions is added to the line, and the curve is a polyline through points of it.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options
from price_tanner_3 import HEAD, two_panels

import regions

SMALL = {"networks": 2, "inputs": 24, "depth": 3, "planes": 5, "corners": 9, "stds": (1.0, 8.0), "alphas": (0.3, 1.0)}


def bent(x: np.ndarray, y: np.ndarray, planes: int, corners: int, rng: np.random.Generator) -> regions.Polyline:
    """Return points on the line from x to y with half a sine wave added in each of some random directions."""
    t = np.linspace(0.0, 1.0, corners)[:, np.newaxis]
    directions = rng.standard_normal((planes, len(x)))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    height = np.sin(np.pi * t) * np.linalg.norm(y - x) / 2 / np.sqrt(planes)
    return regions.Polyline(x + t * (y - x) + height * directions.sum(axis=0))


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words,
        __doc__,
        SMALL,
        networks=100,
        inputs=500,
        depth=4,
        planes=100,
        corners=33,
        stds=(0.5, 1.0, 2.0, 4.0, 6.0, 10.0, 14.0, 20.0),
        alphas=(0.1, 0.2, 0.35, 0.5, 0.75, 1.0),
    )
    rng = np.random.default_rng(options.seed)
    x, y = rng.standard_normal((2, options.inputs))
    x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
    figure, axes = new_figure(4)
    curves = {"line": regions.Segment(x, y), "bent": bent(x, y, options.planes, options.corners, rng)}
    rows = []
    for (name, curve), two in zip(curves.items(), (axes[:2], axes[2:]), strict=True):
        rows += [[name, *row] for row in two_panels(options, [curve], two, name)]
    return keep(options, __file__, figure, ["curve", *HEAD], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
