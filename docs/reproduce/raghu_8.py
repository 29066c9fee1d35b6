# SPDX-License-Identifier: MIT
"""Raghu et al. 2017, Figs. 8, 9 and 10: what does training do to curves in convolutional networks?

Convolutional ReLU networks with weights of variance 2 over the fan-in are trained (torch, Adam with rate 1e-3), without
and with batch norms. The paper uses CIFAR-10; here the images are patches of photographs (`common_convolutional.py`).
The paper finds that lengths of images of great circles grow in training (Fig. 8), that the scaled variance of the
weights grows in all layers (Fig. 9), and that batch norms keep lengths smaller (Fig. 10). Lengths are exact up to
rounding; a batch norm belongs to its convolution, with the statistics of training. The table has accuracies, the length
after the last layer over that of the circle, a mean over circles and runs, the part of it in the
convolutions (after c5 over after c1) and in the pools, and the smallest and largest scaled variance of a layer.
"""

from __future__ import annotations

import sys

import numpy as np
from common import keep, new_figure, read_options
from common_convolutional import LAYERS, Photographs, convolutional_network, grown_lengths, weighted
from common_torch import accuracy, adam, train_epoch

SMALL = {"networks": 1, "circles": 1, "channels": 4, "side": 8, "patches": 200, "epochs": (0, 1)}


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(
        words,
        __doc__,
        SMALL,
        channels=8,
        side=16,
        patches=2500,
        circles=5,
        networks=3,
        epochs=(0, 1, 3, 10, 30, 60),
    )
    images, rng = Photographs(options, options.side, options.patches), np.random.default_rng(options.seed)
    circles = images.circles(options.circles, rng)
    figure, axes = new_figure(3)
    rows: list[list[object]] = []
    for ax, batch_norm in ((axes[0], False), (axes[2], True)):
        lengths = np.zeros((options.networks, len(options.epochs), len(LAYERS)))
        right = np.zeros((options.networks, len(options.epochs), 2))
        scales = np.zeros((options.networks, len(options.epochs), 7))
        for run in range(options.networks):
            model = convolutional_network(images.side, images.classes, options.channels, 2.0, batch_norm=batch_norm)
            optimizer, done = adam(model.parameters()), 0
            for index, epoch in enumerate(options.epochs):
                for _ in range(epoch - done):
                    train_epoch(model, images, optimizer, rng)
                done = epoch
                right[run, index] = accuracy(model, *images.train), accuracy(model, *images.test)
                lengths[run, index] = grown_lengths(model, images.side, circles)
                weights = [module.weight.detach().numpy() for module in weighted(model)]
                scales[run, index] = [float(each.var()) * each[0].size for each in weights]
        name = "batch norms" if batch_norm else "none"
        for index, epoch in enumerate(options.epochs):
            grown, scale = lengths[:, index].mean(axis=0), scales[:, index].mean(axis=0)
            ax.plot(LAYERS, grown, marker=".", label=f"epoch {epoch}")
            pools = grown[2] / grown[1] * grown[6] / grown[5]
            convolutions = grown[5] / grown[0] / (grown[2] / grown[1])
            parts = grown[-1], convolutions, pools
            rows.append([name, epoch, *right[:, index].mean(axis=0), *parts, scale.min(), scale.max()])
        ax.set(yscale="log", xlabel="layer", ylabel="length over the circle's", title=f"norms: {name}")
        if not batch_norm:
            for layer, each in zip(
                (*(name for name in LAYERS if name[0] != "p"), "fc2"), scales.mean(axis=0).T, strict=True
            ):
                axes[1].plot(options.epochs, each, marker=".", label=layer)
            axes[1].set(xlabel="epoch", ylabel="scaled variance of weights", title="norms: none")
    for ax in axes:
        ax.legend(fontsize=6)
    head = ["norms", "epoch", "training", "test", "length", "convolutions", "pools", "least variance", "most"]
    return keep(options, __file__, figure, head, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
