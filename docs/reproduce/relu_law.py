# SPDX-License-Identifier: MIT
"""The exact ReLU law: is mean growth std * mu_k, in networks of eighteen shapes?

Raghu et al. 2017, Theorem 3, and Price and Tanner 2020 bound it from below. Each layer's mean over networks is compared
with the law, in standard errors. For each shape the table shows the layer with the largest deviation, and half of the
mean's interval at 95 percent.
"""

from __future__ import annotations

import sys
from math import nan

import numpy as np
from common import half_interval, keep, new_figure, read_options

import regions
from regions.ensembles import Discrete, Ensemble, Gaussian, Uniform

SMALL = {"networks": 40}
SHAPES = [
    ([2, 1, 1], None),
    ([2, 2, 1], Gaussian(1.0)),
    ([3, 2, 2, 2], None),
    ([2, 4, 4, 4, 1], Uniform(0.1)),
    ([3, 8, 1], Gaussian(3.0)),
    ([2, 8, 8, 2], Discrete([-1.0, 1.0])),
    ([5, 3, 7, 2], Gaussian(0.5)),
    ([10, 10, 10, 10, 10, 1], Gaussian(0.01)),
    ([2, 16, 2, 16, 1], None),
    ([4, 32, 5], Uniform(2.0)),
    ([64, 100, 100, 100, 10], Gaussian(0.01)),
    ([2, 5, 5, 5, 5, 5, 5, 1], Gaussian(0.3)),
    ([2, 3, 3, 1], Gaussian(0.1)),
    ([6, 12, 24, 1], None),
    ([20, 6, 6, 6, 3], Uniform(0.5)),
    ([3, 64, 2], Gaussian(1.0)),
    ([8, 1, 8, 1], Gaussian(2.0)),
    ([16, 24, 12, 6, 3, 1], Discrete([-0.5, 0.5])),
]


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=1000)
    figure, (ax,) = new_figure(1)
    rows = []
    for number, (sizes, biases) in enumerate(SHAPES):
        rng = np.random.default_rng([options.seed, number])
        x, y = rng.standard_normal((2, sizes[0]))
        curves = [regions.Segment(x, y), regions.Arc(x, y)]
        found = regions.growth(Ensemble(sizes, biases=biases), curves, networks=options.networks, rng=rng)
        exact = next(law for law in found.laws if law.kind == "equal")
        means = [mean.value if mean else nan for mean in found.estimates("growth")]
        errors = [mean.standard_error if mean else nan for mean in found.estimates("growth")]
        halves = [half_interval(mean.samples) if mean else nan for mean in found.estimates("growth")]
        name = "-".join(map(str, sizes))
        ax.errorbar(exact.values, means, errors, fmt="o", markersize=3, label=name)
        off = found.deviations(exact)
        worst = int(np.abs(off).argmax())
        word = "none" if biases is None else f"{type(biases).__name__} {biases.std:g}"
        rows.append([name, word, worst + 1, exact.values[worst], means[worst], halves[worst], off[worst]])
    ax.axline((0, 0), slope=1, color="k", linestyle="--", linewidth=1, label="mean = law")
    ax.set(xlabel="law", ylabel="mean growth of a layer")
    ax.legend(fontsize=5, ncols=2)
    head = ["network", "biases", "worst layer", "law", "growth", "+- 95%", "errors off"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
