# SPDX-License-Identifier: MIT
"""Price and Tanner 2020, Fig. 6: how do lines between images grow in trained networks?

ReLU networks with layers of width 32 are trained (torch, Adam) from Gaussian weights with several sigma_w, on
scikit-learn's digits instead of MNIST. The figure shows growth per layer (geometric mean) of lines between images of
one class and of two classes, over sigma_w after training, and the exact law of random networks with that sigma_w. The
paper has 10 layers and 20 networks for each sigma_w, all above 95% test accuracy; the table has the accuracies here.
"""

from __future__ import annotations

import sys
from math import sqrt

import numpy as np
from common import keep, new_figure, read_options
from common_torch import Images, accuracy, adam, as_module, train_epoch
from torch import nn

import regions
from regions import bounds
from regions.ensembles import Ensemble, Gaussian

SMALL = {"networks": 1, "depth": 3, "epochs": 3, "sigmas": (1.4, 2.0), "lines": 4}


def main(words: list[str] | None = None) -> list[str]:
    sigmas = (1.0, 1.4, 2.0, 3.0, 4.0)
    options = read_options(words, __doc__, SMALL, networks=20, depth=10, epochs=40, lines=20, sigmas=sigmas)
    images, rng, width = Images(options), np.random.default_rng(options.seed), 32
    pixels, labels = images.pixels, images.labels
    pairs = rng.integers(len(images.test[0]), size=(400 * options.lines, 2))
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    apart = pairs[:, 0] != pairs[:, 1]
    lines = [
        [regions.Segment(*pixels[pair]) for pair in pairs[apart & kind][: options.lines]] for kind in (same, ~same)
    ]
    figure, (ax,) = new_figure(1)
    rows = []
    for sigma in options.sigmas:
        sizes = [pixels.shape[1], *[width] * options.depth, 10]
        ensemble = Ensemble(sizes, weights=Gaussian(sigma), biases=Gaussian(0.01))
        for _ in range(options.networks):
            model = as_module(ensemble.draw(rng), nn.ReLU)
            optimizer = adam(model.parameters())
            for _ in range(options.epochs):
                train_epoch(model, images, optimizer, rng)
            network = regions.load(model)
            after = sqrt(width) * float(np.mean([layer.weights.std() for layer in network.layers[1:-1]]))
            growth = []
            for kind in lines:
                lengths = np.array([path.lengths for path in regions.trajectory(network, kind)])
                growth.append(float(np.mean((lengths[:, -2] / lengths[:, 1]) ** (1 / (options.depth - 1)))))
            right = accuracy(model, *images.test)
            rows.append([sigma, right, after, *growth, after / sqrt(width) * bounds.relu_length_factor(width)])
    for column, label in ((3, "within a class"), (4, "between classes"), (5, "random networks")):
        ax.plot([row[2] for row in rows], [row[column] for row in rows], ".", label=label)
    ax.set(xlabel="sigma_w after training", ylabel="growth per layer")
    ax.legend(fontsize=7)
    head = ["sigma_w", "accuracy", "sigma_w after", "growth within", "between classes", "random"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
