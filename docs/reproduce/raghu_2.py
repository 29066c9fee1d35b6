# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 2: how do transitions grow with depth and with width?

Hard tanh networks are counted exactly on a circle through two images: transitions of each layer, divided by its number
of neurons (the unit in which the paper's axes make sense). Left: over depth for several pairs of width and variance of
the weights. Right: over width at several depths. The growth per layer is compared with two rates. Theorem 4's explicit
rate, k (2 / pi) arctan(1 / sqrt(k)), about (2 / pi) sqrt(k), is for saturated units. The growth of lengths in wide
layers is what transitions follow at such variances (Fig. 5).
"""

from __future__ import annotations

import sys
from math import sqrt

import numpy as np
from common import keep, new_figure, read_options, transitions_by_layer, two_images

import regions
from regions import bounds
from regions.ensembles import raghu2017

SMALL = {"depth": 3, "networks": 2, "pairs": ("8:10", "16:8"), "widths": (4, 16)}


def per_neuron(width: int, variance: float, depth: int, networks: int, circle: regions.Circle, seed: int) -> np.ndarray:
    """Return the mean transitions of a neuron in each layer, float64 [depth]."""
    ensemble, rng = raghu2017(circle.n_in, width, depth, sigma_w=sqrt(variance)), np.random.default_rng(seed)
    counts = [transitions_by_layer(ensemble.draw(rng), circle) for _ in range(networks)]
    return np.mean(counts, axis=0) / width


def main(words: list[str] | None = None) -> list[str]:
    pairs = ("50:10", "100:8", "500:5", "700:5", "700:10", "1000:10", "1000:16")
    options = read_options(
        words, __doc__, SMALL, depth=14, networks=3, pairs=pairs, widths=(10, 30, 100, 300, 1000), variance=8.0
    )
    x, y = two_images(options)
    # Norm 8, like digits: with pixels of order 1 the first layer behaves like the later ones.
    circle = regions.Circle(np.zeros(len(x)), 8 * x, 8 * (y - (x @ y) * x) / sqrt(1 - (x @ y) ** 2))
    figure, (by_depth, by_width) = new_figure(2)
    rows = []
    for number, pair in enumerate(options.pairs):
        width, variance = int(pair.split(":")[0]), float(pair.split(":")[1])
        found = per_neuron(width, variance, options.depth, options.networks, circle, options.seed + number)
        by_depth.plot(range(1, len(found) + 1), found, label=f"w{width} scl{variance:g}")
        rate = bounds.raghu_transitions_lower(1, [width, width], sqrt(variance))
        growth = (found[-1] / found[0]) ** (1 / (len(found) - 1))
        wide = bounds.hard_tanh_length_growth(sqrt(variance))
        rows.append([width, variance, found[0], found[-1], growth, found[-1] / found[-2], wide, rate])
    shallow = sorted({2, max(2, options.depth // 2), options.depth})
    found = {
        width: per_neuron(width, options.variance, shallow[-1], options.networks, circle, 50)
        for width in options.widths
    }
    for layer in shallow:
        by_width.plot(options.widths, [found[width][layer - 1] for width in options.widths], label=f"layer {layer}")
    by_depth.set(yscale="log", xlabel="layer", ylabel="transitions per neuron")
    by_width.set(yscale="log", xlabel="width", ylabel=f"transitions per neuron, scl {options.variance:g}")
    for ax in (by_depth, by_width):
        ax.legend(fontsize=7)
    head = [
        "width",
        "scl",
        "first layer",
        "last layer",
        "growth per layer",
        "of the last",
        "lengths' limit",
        "Theorem 4",
    ]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
