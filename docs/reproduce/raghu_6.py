# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Fig. 6: which layer suffers most from noise on its weights?

Gaussian noise is added to the weights of one layer of a trained network. Its standard deviation is a multiple of the
standard deviation of the layer's weights before training. The paper uses a convolutional network with 7 layers on
CIFAR-10; here it is a dense ReLU network on scikit-learn's digits. Besides the accuracy, the table has the growth of
lines between images in the noisy network: the paper's explanation is that the layers above amplify the noise.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options
from common_torch import Images, accuracy, adam, as_module, train_epoch
from torch import nn

import regions
from regions import ensembles

SMALL = {"epochs": 3, "repeats": 2, "width": 16, "depth": 3, "magnitudes": (0.0, 1.0)}


def main(words: list[str] | None = None) -> list[str]:
    magnitudes = (0.0, 0.25, 0.5, 1.0, 2.0)
    options = read_options(words, __doc__, SMALL, depth=6, width=64, epochs=30, repeats=20, magnitudes=magnitudes)
    images, rng = Images(options), np.random.default_rng(options.seed)
    network = ensembles.he([images.inputs, *[options.width] * options.depth, 10]).draw(rng)
    stds = [layer.weights.std() for layer in network.layers]
    model = as_module(network, nn.ReLU)
    optimizer = adam(model.parameters())
    for _ in range(options.epochs):
        train_epoch(model, images, optimizer, rng)
    trained = regions.load(model)
    lines = [regions.Segment(*images.pixels[rng.choice(len(images.pixels), 2, replace=False)]) for _ in range(5)]
    before = np.array([path.lengths[-1] for path in regions.trajectory(trained, lines)])
    linear = [part for part in model if isinstance(part, nn.Linear)]
    figure, (ax,) = new_figure(1)
    rows = []
    for layer, (part, std) in enumerate(zip(linear, stds, strict=True), 1):
        kept = part.weight.data.clone()
        right = []
        for magnitude in options.magnitudes:
            found, longer = [], []
            for _ in range(options.repeats if magnitude else 1):
                noise = rng.standard_normal(kept.shape) * magnitude * std
                part.weight.data = kept + kept.new_tensor(noise)
                found.append(accuracy(model, *images.test))
                paths = regions.trajectory(regions.load(model), lines)
                longer.append(float(np.mean([path.lengths[-1] for path in paths] / before)))
            part.weight.data = kept
            right.append(float(np.mean(found)))
            rows.append([layer, magnitude, right[-1], float(np.mean(longer))])
        ax.plot(options.magnitudes, right, marker=".", label=f"layer {layer}")
    ax.set(xlabel="noise, over the first deviation of the weights", ylabel="test accuracy")
    ax.legend(fontsize=7)
    return keep(options, __file__, figure, ["layer", "noise", "accuracy", "lines longer by"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
