# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 11: can trajectory regularisation replace batch norm?

The same ReLU network starts from weights of a variance at which trajectories grow. It is trained with batch norm, with
trajectory regularisation (`regions.torch`) in its place, and with neither. The paper uses a convolutional network on
CIFAR-10, and finds the first two comparable and better than neither. Here it is a dense network on scikit-learn's
digits. Besides the accuracy, the table has the growth of lines between images up to the last hidden layer.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options
from common_torch import Images, accuracy, adam, as_module, train_epoch
from torch import nn

import regions
from regions.ensembles import Ensemble, Gaussian
from regions.torch import TrajectoryRegularization, trajectory_loss

SMALL = {"epochs": 2, "networks": 1, "width": 16, "depth": 2}
NORMS = {
    "neither": (lambda _: nn.Identity(), lambda _: 0.0),
    "batch norm": (nn.BatchNorm1d, lambda _: 0.0),
    "trajectory regularisation": (TrajectoryRegularization, trajectory_loss),
}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, depth=6, width=64, epochs=40, networks=5, sigma=2.0)
    images, rng = Images(options), np.random.default_rng(options.seed)
    sizes = [images.inputs, *[options.width] * options.depth, 10]
    ensemble = Ensemble(sizes, weights=Gaussian(options.sigma))
    lines = [regions.Segment(*images.pixels[rng.choice(len(images.pixels), 2, replace=False)]) for _ in range(5)]
    right = {name: np.zeros((options.networks, options.epochs)) for name in NORMS}
    longer = {name: np.zeros(options.networks) for name in NORMS}
    for number in range(options.networks):
        network = ensemble.draw(rng)
        for name, (norm, besides) in NORMS.items():
            model = as_module(network, nn.ReLU, norm)
            optimizer = adam(model.parameters())
            for epoch in range(options.epochs):
                train_epoch(model, images, optimizer, rng, besides)
                right[name][number, epoch] = accuracy(model, *images.test)
            paths = regions.trajectory(regions.load(model), lines)
            longer[name][number] = np.mean([path.lengths[-2] / path.lengths[0] for path in paths])
    figure, (ax,) = new_figure(1)
    for name, each in right.items():
        ax.plot(range(1, options.epochs + 1), each.mean(axis=0), label=name)
    ax.set(xlabel="epoch", ylabel="test accuracy")
    ax.legend(fontsize=7)
    rows = []
    for name, each in right.items():
        last = each[:, -1]
        rows.append([name, last.mean(), last.std(), each[:, each.shape[1] // 10].mean(), longer[name].mean()])
    head = ["instead of a norm", "accuracy", "spread", "after a tenth", "lines longer by"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
