# SPDX-License-Identifier: MIT
"""Hanin and Rolnick 2019, Fig. 6: how does the distance to the boundary change in training?

Networks of several shapes are trained (torch, Adam with rate 1e-3) from the paper's ensemble on scikit-learn's digits.
The distance to the nearest boundary is measured exactly at the paper's points: normal, with the mean and variance of
each pixel of the training images. Panels: (a) the mean distance over the epochs, between 0.4 / N and 1.5 / N; (b) times
the number N of neurons; (c) the same over the test accuracy. The table has half of the interval at 95 percent over the
points of all runs.
"""

from __future__ import annotations

import sys

import numpy as np
from common import half_interval, keep, new_figure, read_options
from common_torch import Images, accuracy, through_training

import regions
from regions import ensembles
from regions.measures import distance_to_boundary

SMALL = {"networks": 1, "points": 20, "epochs": (0, 2)}
SHAPES = [(64, 32), (32, 32, 32), (32, 32, 32, 32), (16, 16, 16, 16)]


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words, __doc__, SMALL, networks=5, points=400, epochs=(0, 1, 2, 3, 5, 8, 12, 20, 35, 60, 100, 200)
    )
    images = Images(options)
    pixels = images.pixels[len(images.test[0]) :]
    figure, panels = new_figure(3)
    rows: list[list[object]] = []
    for number, widths in enumerate(SHAPES):
        rng, neurons = np.random.default_rng([options.seed, number]), sum(widths)
        ensemble = ensembles.hanin_rolnick2019([images.inputs, *widths, 10])
        right = np.zeros((options.networks, len(options.epochs)))
        distances = np.zeros((options.networks, len(options.epochs), options.points))
        for run in range(options.networks):
            network = ensemble.draw(rng)
            points = rng.normal(pixels.mean(axis=0), pixels.std(axis=0), (options.points, images.inputs))
            for index, model in enumerate(through_training(network, images, options.epochs, rng)):
                right[run, index] = accuracy(model, *images.test)
                distances[run, index] = distance_to_boundary(regions.load(model), points).distances
        means, name = distances.mean(axis=(0, 2)), "-".join(map(str, widths))
        panels[0].plot(options.epochs, means, marker=".", label=name)
        panels[1].plot(options.epochs, neurons * means, marker=".", label=name)
        panels[2].plot(right.mean(axis=0), neurons * means, marker=".", label=name)
        for index, epoch in enumerate(options.epochs):
            off = neurons * half_interval(distances[:, index].ravel())
            rows.append([name, epoch, right[:, index].mean(), means[index], neurons * means[index], off])
    for constant in (0.4, 1.5):
        for neurons in sorted({sum(widths) for widths in SHAPES}):
            panels[0].axhline(constant / neurons, color="grey", linewidth=0.5, linestyle="--")
    for ax, label in zip(panels, ("mean distance", "times N", "times N"), strict=True):
        ax.set(xlabel="test accuracy" if ax is panels[2] else "epoch", ylabel=label)
        ax.set_ylim(bottom=0.0)
    for ax in panels[:2]:
        ax.set_xscale("symlog")
        ax.set_xlim(left=0.0)
    panels[1].legend(fontsize=7)
    head = ["widths", "epoch", "test accuracy", "distance", "times N", "+- 95%"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
