# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Figs. 7 and 17: what can be learnt by training only one layer?

Exactly one layer of a hard tanh network of width 100 with sigma_w = 1 is trained, on scikit-learn's digits in place of
MNIST. The paper finds that accuracy is lower for higher layers, because the layers above make a layer expressive. The
table also has the transitions of the trained network's hidden neurons on lines between images.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options
from common_torch import Images, accuracy, adam, as_module, train_epoch
from torch import nn

import regions
from regions import ensembles

SMALL = {"epochs": 3, "networks": 1, "width": 16, "depth": 3}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, depth=9, width=100, epochs=100, networks=3)
    images, rng = Images(options), np.random.default_rng(options.seed)
    ensemble = ensembles.raghu2017(images.inputs, options.width, options.depth, sigma_w=1.0, n_out=10)
    lines = [regions.Segment(*images.pixels[rng.choice(len(images.pixels), 2, replace=False)]) for _ in range(5)]
    layers = range(2, options.depth + 1)
    found = np.zeros((len(layers), options.networks, 3))
    for number in range(options.networks):
        network = ensemble.draw(rng)
        for index, layer in enumerate(layers):
            model = as_module(network, nn.Hardtanh)
            part = [part for part in model if isinstance(part, nn.Linear)][layer - 1]
            optimizer = adam(part.parameters())
            for _ in range(options.epochs):
                train_epoch(model, images, optimizer, rng)
            paths = regions.trajectory(regions.load(model), lines)
            switched = float(np.mean([path.transitions.sum() for path in paths]))
            found[index, number] = accuracy(model, *images.train), accuracy(model, *images.test), switched
    figure, (ax,) = new_figure(1)
    for column, label in ((0, "training"), (1, "test")):
        ax.plot(layers, found[:, :, column].mean(axis=1), marker=".", label=label)
    ax.set(xlabel="the layer that is trained", ylabel="accuracy")
    ax.legend(fontsize=7)
    rows = [[layer, *each] for layer, each in zip(layers, found.mean(axis=1), strict=True)]
    return keep(options, __file__, figure, ["layer", "training accuracy", "test accuracy", "transitions"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
