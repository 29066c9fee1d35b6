# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 13: how does the length of an arc grow in random hard tanh networks?

Arcs join random vectors, and lengths are exact. Left: length over depth at width 32 for several variances sigma_w^2 of
the weights. Second: the same at variance 4 for several widths. Then growth per layer over width and over variance. It
is compared with Theorem 3's lower bound (dashed, with the constant 1/2 of its proof), with the appendix's upper bound
(sigma_w times a factor near 1), and with the limit of growth in wide layers.
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

SMALL = {"networks": 3, "depth": 3, "widths": (1, 8), "variances": (0.5, 4.0), "shallow": 2}
WIDTH, VARIANCE = 32, 4.0


def grown(width: int, variance: float, depth: int, options: Any) -> regions.Growth:
    """Follow an arc between two random points of variance 1 through networks as wide as the input."""
    rng = np.random.default_rng([options.seed, width, int(100 * variance)])
    x, y = rng.standard_normal((2, width + 1))  # at least a plane
    ensemble = raghu2017(width + 1, width, depth, sigma_w=sqrt(variance))
    return regions.growth(ensemble, regions.Arc(x, y), networks=options.networks, rng=rng)


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words,
        __doc__,
        SMALL,
        networks=20,
        depth=12,
        widths=(1, 4, 16, 64, 256),
        variances=(0.5, 1.0, 4.0, 16.0, 64.0),
        shallow=3,
    )
    figure, axes = new_figure(4)
    for variance in options.variances:
        lengths = grown(WIDTH, variance, options.depth, options).lengths[:, 0, 1:-1].mean(axis=0)
        axes[0].plot(range(1, len(lengths) + 1), lengths, label=f"{variance:g}")
    for width in options.widths:
        lengths = grown(width, VARIANCE, options.depth, options).lengths[:, 0, 1:-1].mean(axis=0)
        axes[1].plot(range(1, len(lengths) + 1), lengths, label=f"k = {width}")
    for ax, title in zip(axes, (f"variances, k = {WIDTH}", f"widths, variance {VARIANCE:g}"), strict=False):
        ax.set(yscale="log", xlabel="layer", ylabel="length", title=title)
        ax.legend(fontsize=7)
    rows = []
    for width in options.widths:
        for variance in options.variances:
            found = grown(width, variance, options.shallow, options).estimates("growth")[options.shallow - 1]
            scale = sqrt(variance)
            lower = bounds.raghu_length_lower(width, [width], scale, activation="hard_tanh")
            upper = bounds.raghu_length_upper(width, [width], scale)
            wide = bounds.hard_tanh_length_growth(scale)
            rows.append([width, variance, lower, found.value, found.standard_error, wide, upper] if found else [])
    rows = [row for row in rows if row]
    for variance in options.variances[-3:]:
        chosen = [row for row in rows if row[1] == variance]
        _curve(axes[2], [row[0] for row in chosen], chosen, f"variance {variance:g}")
    for width in options.widths[-3:]:
        chosen = [row for row in rows if row[0] == width]
        _curve(axes[3], [row[1] for row in chosen], chosen, f"k = {width}")
    axes[2].set(xlabel="width", ylabel="growth (dashed: bounds)", xscale="log")
    axes[3].set(xlabel="variance", ylabel="growth (dashed: bounds)", xscale="log")
    head = ["width", "variance", "lower bound", f"growth in layer {options.shallow}", "+-", "wide limit", "upper bound"]
    return keep(options, __file__, figure, head, rows)


def _curve(ax: Any, across: list[float], rows: list[list[float]], label: str) -> None:
    (drawn,) = ax.plot(across, [row[3] for row in rows], marker="o", markersize=3, label=label)
    for column in (2, 6):
        ax.plot(across, [row[column] for row in rows], "--", color=drawn.get_color(), linewidth=1)
    ax.legend(fontsize=7)


if __name__ == "__main__":
    main(sys.argv[1:])
