# SPDX-License-Identifier: MIT
"""Price and Tanner 2020, Fig. 3: how does growth depend on the weights' standard deviation and on sparsity?

Left: alpha = 0.5, growth over the standard deviation of the weights' distribution (before division by sqrt(784)).
Right: standard deviation 2, growth over alpha. Weights are Gaussian, uniform and discrete. Means over layers and
networks are compared with each distribution's bound (Corollaries 1 to 3) and with sigma_w sqrt(alpha / 2), which is not
in the paper. The paper does not give the number of layers; growth is the same in each layer.
"""

from __future__ import annotations

import sys
from math import sqrt
from typing import Any

import numpy as np
from common import keep, new_figure, read_options, two_images

import regions
from regions import bounds
from regions.domains.curves import Curve
from regions.ensembles import Discrete, Gaussian, Uniform, price_tanner2020

SMALL = {"networks": 2, "side": 8, "depth": 3, "stds": (1.0, 8.0), "alphas": (0.3, 1.0)}


def law_of(kind: str, std: float) -> Any:
    """Return the distribution of a weight with this standard deviation; {-C..C} is scaled by less than 1.

    The variance of {-C, .., C} is C (C + 1) / 3.
    """
    if kind == "gaussian":
        return Gaussian(std)
    if kind == "uniform":
        return Uniform(std * sqrt(3.0))
    largest = max(int(np.ceil((sqrt(1.0 + 12.0 * std**2) - 1.0) / 2.0)), 1)
    return Discrete(np.arange(-largest, largest + 1) * (std / sqrt(largest * (largest + 1) / 3.0)))


def bound_of(law: Any, alpha: float) -> float:
    """Return Theorem 2's factor for one layer of weights divided by the root of the width."""
    kind = {Gaussian: "gaussian", Uniform: "uniform", Discrete: "discrete"}[type(law)]
    scale = {"gaussian": "std", "uniform": "bound", "discrete": "values"}[kind]
    return bounds.price_tanner(1, [1], kind, getattr(law, scale), alpha=alpha)


def growth_of(law: Any, alpha: float, curves: list[Curve | regions.Segment], options: Any) -> tuple[float, float]:
    """Return the mean growth over layers, networks and curves, and its standard error."""
    ensemble = price_tanner2020(curves[0].n_in, options.depth, law, alpha=alpha)
    found = regions.growth(ensemble, curves, networks=options.networks, rng=options.seed + 1)
    factors = found.lengths[..., 1:-1] / found.lengths[..., :-2]
    each = factors.reshape(len(found), -1).mean(axis=1)
    return float(each.mean()), float(each.std(ddof=1) / sqrt(len(each)))


def two_panels(options: Any, curves: list[Curve | regions.Segment], axes: list[Any], name: str = "") -> list[list[Any]]:
    """Draw both panels for one kind of curve, and return the rows of the table."""
    rows = []
    panels = [[(std, 0.5) for std in options.stds], [(2.0, alpha) for alpha in options.alphas]]
    for ax, cases, label in zip(axes, panels, ("standard deviation", "alpha"), strict=True):
        across = [case[ax is axes[1]] for case in cases]
        for kind, marker in zip(("gaussian", "uniform", "discrete"), "os^", strict=True):
            found = [growth_of(law_of(kind, std), alpha, curves, options) for std, alpha in cases]
            limits = [bound_of(law_of(kind, std), alpha) for std, alpha in cases]
            (drawn,) = ax.plot(across, [mean for mean, _ in found], marker, markersize=4, label=kind)
            ax.plot(across, limits, "--", color=drawn.get_color(), linewidth=1)
            for (std, alpha), (mean, error), limit in zip(cases, found, limits, strict=True):
                rows.append([kind, std, alpha, limit, mean, error, std * sqrt(alpha / 2)])
        ax.plot(across, [std * sqrt(alpha / 2) for std, alpha in cases], "k:", linewidth=1, label="sw sqrt(alpha/2)")
        ax.set(xlabel=label, ylabel="growth (dashed: bounds)", title=name or None)
        ax.legend(fontsize=7)
    return rows


HEAD = ["law", "std", "alpha", "bound", "growth", "+-", "sw sqrt(alpha/2)"]


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words,
        __doc__,
        SMALL,
        networks=100,
        side=28,
        depth=4,
        stds=(0.5, 1.0, 2.0, 4.0, 6.0, 10.0, 14.0, 20.0),
        alphas=(0.1, 0.2, 0.35, 0.5, 0.75, 1.0),
    )
    figure, axes = new_figure(2)
    rows = two_panels(options, [regions.Segment(*two_images(options, options.side))], axes)
    return keep(options, __file__, figure, HEAD, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
