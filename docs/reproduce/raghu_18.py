# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 18: does training make the images of curves longer?

ReLU networks with weights of variance 2 / width are trained (torch, Adam with rate 1e-3) on scikit-learn's digits in
place of MNIST, and great circles through two images of norm 1 are followed through them. Lengths are exact up to
rounding. The table has the length after the last hidden layer over the length of the circle, a geometric mean over
circles and runs; the same over its value at epoch 0; and its growth per layer.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options
from common_torch import Images, accuracy, through_training

import regions
from regions import ensembles

SMALL = {"networks": 1, "depth": 3, "width": 16, "circles": 3, "epochs": (0, 2)}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words, __doc__, SMALL, networks=5, depth=6, width=64, circles=20, epochs=(0, 1, 2, 5, 10, 20, 50, 100)
    )
    images, rng = Images(options), np.random.default_rng(options.seed)
    ensemble = ensembles.raghu2017(
        images.inputs, options.width, options.depth, sigma_w=2**0.5, activation="relu", n_out=10
    )
    pairs = [images.pixels[rng.choice(len(images.pixels), 2, replace=False)] for _ in range(options.circles)]
    circles = [regions.GreatCircle(*(pair / np.linalg.norm(pair, axis=1, keepdims=True))) for pair in pairs]
    right = np.zeros((options.networks, len(options.epochs)))
    grown = np.zeros((options.networks, len(options.epochs), options.depth))
    for run in range(options.networks):
        for index, model in enumerate(through_training(ensemble.draw(rng), images, options.epochs, rng)):
            right[run, index] = accuracy(model, *images.test)
            lengths = np.array([path.lengths[:-1] for path in regions.trajectory(regions.load(model), circles)])
            grown[run, index] = np.log(lengths[:, 1:] / lengths[:, :1]).mean(axis=0)
    figure, (ax,) = new_figure(1)
    for index, epoch in enumerate(options.epochs):
        ax.plot(range(1, options.depth + 1), np.exp(grown[:, index].mean(axis=0)), marker=".", label=f"epoch {epoch}")
    ax.set(yscale="log", xlabel="layer", ylabel="length over the circle's")
    ax.legend(fontsize=7)
    rows = []
    for index, epoch in enumerate(options.epochs):
        last = grown[:, index, -1].mean()
        per_layer = np.exp((last - grown[:, index, 0].mean()) / max(options.depth - 1, 1))
        rows.append([epoch, right[:, index].mean(), np.exp(last), np.exp(last - grown[:, 0, -1].mean()), per_layer])
    head = ["epoch", "test accuracy", "length, last layer", "over epoch 0", "factor per layer"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
