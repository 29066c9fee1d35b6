# SPDX-License-Identifier: MIT
"""Price and Tanner 2020, Fig. 4: how does sparsity shorten a vector?

The figure shows E|u_J| over alpha, where each entry of the unit vector u is kept with probability alpha. Left: random u
in several dimensions, with the upper bound sqrt(alpha). Right: u = e_1, which reaches the lower bound alpha. In
between, k equal entries have E sqrt(Bin(k, alpha) / k), which the table uses as prediction for random u.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options
from scipy.stats import binom

SMALL = {"samples": 200}


def main(words: list[str] | None = None) -> list[str]:
    alphas = tuple(round(0.1 * i, 1) for i in range(1, 10))
    options = read_options(words, __doc__, SMALL, samples=10_000, dimensions=(2, 8, 32, 128, 784), alphas=alphas)
    rng = np.random.default_rng(options.seed)
    figure, (spread, single) = new_figure(2)
    rows = []
    for k in options.dimensions:
        u = rng.standard_normal(k)
        u /= np.linalg.norm(u)
        means = []
        for alpha in options.alphas:
            kept = rng.random((options.samples, k)) < alpha
            sizes = np.sqrt(kept @ u**2)
            means.append(sizes.mean())
            equal = binom.expect(lambda m, k=k: np.sqrt(m / k), (k, alpha))
            rows.append([k, alpha, alpha, means[-1], sizes.std() / np.sqrt(len(sizes)), equal, np.sqrt(alpha)])
        spread.plot(options.alphas, means, marker="o", markersize=3, label=f"k = {k}")
    first = [(rng.random(options.samples) < alpha).mean() for alpha in options.alphas]
    single.plot(options.alphas, first, marker="o", markersize=3, label="u = e_1")
    for ax in (spread, single):
        ax.plot(options.alphas, np.sqrt(options.alphas), "k--", linewidth=1, label="sqrt(alpha)")
        ax.plot(options.alphas, options.alphas, "k:", linewidth=1, label="alpha")
        ax.set(xlabel="alpha", ylabel="E|u_J|")
        ax.legend(fontsize=7)
    return keep(options, __file__, figure, ["k", "alpha", "bound", "found", "+-", "equal entries", "sqrt(alpha)"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
