# SPDX-License-Identifier: MIT
"""Hanin and Rolnick 2019, Figs. 1 and 8: how many regions are in the plane through three images, during training?

The network has three hidden layers of 64 units. It is drawn from the paper's ensemble and trained (torch, Adam with
rate 1e-3) on scikit-learn's digits. Regions are counted in squares around the circumcentre of images of a 0, a 1 and
a 2. The figure shows one square through training; its first panel is also Fig. 1, a slice of an untrained network. The
table has the accuracy, the mean number of regions (over squares and runs), half of its 95% confidence interval, and
this mean divided by N^2 / 2.
"""

from __future__ import annotations

import sys

import numpy as np
from common import half_interval, keep, new_figure, read_options
from common_torch import Images, accuracy, through_training

import regions
from regions import ensembles

SMALL = {"networks": 1, "squares": 2, "width": 12, "epochs": (0, 2)}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words, __doc__, SMALL, networks=3, squares=10, depth=3, width=64, epochs=(0, 1, 2, 5, 10, 20, 50, 100, 200)
    )
    images, rng = Images(options), np.random.default_rng(options.seed)
    ensemble = ensembles.hanin_rolnick2019([images.inputs, *[options.width] * options.depth, 10])
    corners = [
        [images.pixels[rng.choice(np.flatnonzero(images.labels == each))] for each in (0, 1, 2)]
        for _ in range(options.squares)
    ]
    squares = [regions.circumsquare(*three) for three in corners]
    right = np.zeros((options.networks, len(options.epochs)))
    counts = np.zeros((options.networks, len(options.epochs), options.squares))
    drawn = []
    for run in range(options.networks):
        for index, model in enumerate(through_training(ensemble.draw(rng), images, options.epochs, rng)):
            right[run, index] = accuracy(model, *images.test)
            network = regions.load(model)
            counts[run, index] = [regions.count(network, square) for square in squares]
            if run == 0 and index in (0, len(options.epochs) // 2, len(options.epochs) - 1):
                drawn.append((options.epochs[index], regions.enumerate(network, squares[0])))
    figure, axes = new_figure(len(drawn), height=1.9)
    for (epoch, partition), ax in zip(drawn, axes, strict=True):
        regions.plot(partition, ax=ax, color_by="pattern")
        ax.set_title(f"epoch {epoch}: {len(partition):,}")
    squared = (options.width * options.depth) ** 2 / 2
    rows = []
    for index, epoch in enumerate(options.epochs):
        mean = float(counts[:, index].mean())
        off = half_interval(counts[:, index].ravel())
        rows.append([epoch, right[:, index].mean(), mean, off, mean / squared])
    return keep(options, __file__, figure, ["epoch", "test accuracy", "mean regions", "+- 95%", "over N^2/2"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
