# SPDX-License-Identifier: MIT
"""Hanin and Rolnick 2019, Fig. 4: what does a random function of one variable look like?

Networks have one input and one output, He's weights and biases N(0, 1e-6). The figure shows the function of one network
near 0, with a dot at each breakpoint, and the mean number of pieces on the whole line over the number of neurons. The
table has that mean, half of its interval at 95 percent, and the number of pieces for each neuron.
"""

from __future__ import annotations

import sys

import numpy as np
from common import half_interval, keep, new_figure, read_options

import regions
from regions import ensembles

SMALL = {"networks": 10}
SHAPES = [(16,), (64,), (16, 16), (32, 32), (16, 16, 16), (32, 32, 32), (64, 64, 64), (32,) * 5]
LINE = regions.Line([0.0], [1.0])
NEAR = (-0.004, 0.004)


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=400)
    figure, (graph, counted) = new_figure(2)
    drawn = ensembles.hanin_rolnick2019([1, 32, 32, 32, 1]).draw(np.random.default_rng(options.seed))
    at = regions.trajectory(drawn, regions.Segment([NEAR[0]], [NEAR[1]])).breakpoints
    knots = np.array([NEAR[0], *(NEAR[0] + at * (NEAR[1] - NEAR[0])), NEAR[1]])[:, np.newaxis]
    graph.plot(knots, drawn(knots), linewidth=1, marker=".", markersize=3)
    graph.set(xlabel="x", ylabel="network", title="1-32-32-32-1")
    rows = []
    for number, widths in enumerate(SHAPES):
        rng = np.random.default_rng([options.seed, number])
        ensemble = ensembles.hanin_rolnick2019([1, *widths, 1])
        counts = np.array([regions.count(ensemble.draw(rng), LINE) for _ in range(options.networks)])
        mean, neurons = float(counts.mean()), sum(widths)
        rows.append(["-".join(map(str, widths)), neurons, mean, half_interval(counts), mean / neurons])
    counted.errorbar(
        [row[1] for row in rows], [row[2] for row in rows], [row[3] for row in rows], fmt="o", markersize=3
    )
    counted.plot([0, 200], [0, 200], "k--", linewidth=1)
    counted.set(xlabel="neurons", ylabel="mean pieces on the line")
    head = ["widths", "neurons", "mean pieces", "+- 95%", "pieces per neuron"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
