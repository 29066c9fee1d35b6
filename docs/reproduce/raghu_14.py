# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 14: how many dichotomies does sweeping the first layer's weights give?

Hard tanh networks have sigma_w^2 = 8 and no biases. The 15 random inputs have coordinates of variance 1, and the first
layer's weights move on a great circle from W to W'. Labels are the signs of the output. The labellings and their
changes are exact. The left panel shows them over the number of layers above the swept layer, including the output (17
are the paper's 18 layers), the right panel over the width. The table also has the growth of transitions from the depth
before, and the growth of lengths in wide layers to the power of the depth difference. Pieces grow as lengths do, and
each takes time in proportion to the width. A case with more than `--most` billions of pieces times width is left out.
"""

from __future__ import annotations

import sys
from math import sqrt
from typing import Any

import numpy as np
from common import keep, new_figure, read_options

import regions
from regions import bounds
from regions.ensembles import raghu2017

SMALL = {"widths": (2, 8), "depths": (1, 2, 3), "points": 5}


def swept(width: int, above: int, options: Any, layer: int = 1) -> regions.Dichotomies | None:
    """Sweep one random network with this number of layers above the swept one; None if it is left out."""
    if billions(width, above, options) > options.most:
        return None
    rng = np.random.default_rng([options.seed, width, above, layer])
    ensemble = raghu2017(width, width, layer + above - 1, sigma_w=sqrt(options.variance))
    network, points = ensemble.draw(rng), rng.standard_normal((options.points, width))
    weights = ensemble.weight_laws[0].draw((width, width), rng)
    return regions.dichotomies(network, points, weights, layer=layer, quarters=options.quarters)


def billions(width: int, above: int, options: Any) -> float:
    """Estimate pieces times width, in billions: two kinks per unit, and pieces that grow as lengths do."""
    growth = bounds.hard_tanh_length_growth(sqrt(options.variance))
    return options.points * options.quarters * width**2 * sum(growth**layer for layer in range(above)) / 1e9


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words,
        __doc__,
        SMALL,
        widths=(2, 8, 32, 128, 512),
        depths=(1, 3, 5, 7, 9, 11, 13, 15, 17),
        points=15,
        quarters=1,
        variance=8.0,
        most=1e9,
    )
    figure, (by_depth, by_width) = new_figure(2)
    found, rows = {}, []
    growth = bounds.hard_tanh_length_growth(sqrt(options.variance))
    for width in options.widths:
        before: tuple[int, int] | None = None
        for depth in options.depths:
            each = swept(width, depth, options)
            if each is None:
                continue
            found[width, depth], flips = each.count, int(each.transitions.sum())
            grown = [flips / before[1], growth ** (depth - before[0])] if before and before[1] else ["-", "-"]
            rows.append([width, depth, each.count, flips, *grown])
            before = depth, flips
    for width in options.widths:
        depths = [depth for depth in options.depths if (width, depth) in found]
        by_depth.plot(depths, [found[width, depth] for depth in depths], marker="o", markersize=3, label=f"k = {width}")
    for depth in options.depths:
        widths = [width for width in options.widths if (width, depth) in found]
        by_width.plot(
            widths, [found[width, depth] for width in widths], marker="o", markersize=3, label=f"dr = {depth}"
        )
    by_depth.set(yscale="log", xlabel="layers above the one that is swept", ylabel="dichotomies")
    by_width.set(yscale="log", xscale="log", xlabel="width", ylabel="dichotomies")
    for ax in (by_depth, by_width):
        ax.legend(fontsize=6)
    head = ["width", "layers above", "dichotomies", "transitions", "times before", "wide limit"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
