# SPDX-License-Identifier: MIT
"""Humayun, Balestriero and Baraniuk 2024: does local complexity fall late in training, in exact counts?

ReLU networks are trained (torch, AdamW with rate 1e-3, batches of 200) on few of scikit-learn's digits, in place of
1,000 images of MNIST, for very many steps. `measures.local_complexity` decides exactly which neurons cut a small
cross-polytope around training images, test images and random points. The authors report that the number falls, rises
while the training set is interpolated, and falls again late in training. The table has means over runs, with half of
the interval at 95 percent over runs and points around training images, and the accuracy under projected gradient
attacks (10 steps, at most 0.1 in each pixel).
"""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from common import half_interval, keep, new_figure, read_options
from common_torch import Images, accuracy, as_module
from torch import nn

import regions
from regions import ensembles
from regions.measures import local_complexity

SMALL = {"networks": 1, "points": 4, "width": 8, "steps": (0, 20), "decays": (0.0,)}
RADIUS, DIRECTIONS = 0.2, 8
PLACES = ("training", "test", "random")


def main(words: list[str] | None = None) -> list[str]:
    steps = (0, 10, 30, 100, 300, 1000, 3000, 10000, 30000)
    options = read_options(
        words, __doc__, SMALL, networks=3, depth=4, width=64, samples=200, points=60, steps=steps, decays=(0.0, 0.01)
    )
    images = Images(options)
    images.train = tuple(each[: options.samples] for each in images.train)  # type: ignore[assignment]
    figure, panels = new_figure(len(options.decays))
    rows = []
    for number, (decay, ax) in enumerate(zip(options.decays, panels, strict=True)):
        counts = np.zeros((options.networks, len(options.steps), 3, options.points))
        right = np.zeros((options.networks, len(options.steps), 3))
        for run in range(options.networks):
            rng = np.random.default_rng([options.seed, number, run])
            ensemble = ensembles.torch_default([images.inputs, *[options.width] * options.depth, 10])
            model = as_module(ensemble.draw(rng), nn.ReLU)
            directions = np.linalg.qr(rng.standard_normal((images.inputs, DIRECTIONS)))[0].T
            places = [each[0][: options.points].double().numpy() for each in (images.train, images.test)]
            places.append(rng.random((options.points, images.inputs)))
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=decay)
            for index, (before, after) in enumerate(pairwise((0, *options.steps))):
                _train(model, images, optimizer, after - before, rng)
                network = regions.load(model)
                for place, points in enumerate(places):
                    counts[run, index, place] = local_complexity(network, points, RADIUS, directions=directions).counts
                attacked = _attacked(model, *images.test)
                right[run, index] = [
                    accuracy(model, *each) for each in (images.train, images.test, (attacked, images.test[1]))
                ]
        means = counts.mean(axis=(0, 3))
        for place, name in enumerate(PLACES):
            ax.plot(options.steps, means[:, place], marker=".", label=name)
        ax.set(xscale="symlog", xlabel="step", ylabel="neurons that cut the polytope", title=f"weight decay {decay:g}")
        ax.set_xlim(left=0.0)
        ax.legend(fontsize=7)
        for index, step in enumerate(options.steps):
            off = half_interval(counts[:, index, 0].ravel())
            rows.append([decay, step, *means[index, :1], off, *means[index, 1:], *right[:, index].mean(axis=0)])
    head = ["decay", "step", "around training", "+- 95%", "test", "random"]
    return keep(options, __file__, figure, [*head, "training accuracy", "test accuracy", "under attack"], rows)


def _train(model: nn.Module, images: Images, optimizer: Any, steps: int, rng: np.random.Generator) -> None:
    inputs, labels = images.train
    model.train()
    for _ in range(steps):
        rows = rng.choice(len(inputs), min(200, len(inputs)), replace=False)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs[rows]), labels[rows]).backward()
        optimizer.step()


def _attacked(model: nn.Module, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return images that are moved up the loss, by at most 0.1 in each pixel."""
    moved = inputs.clone()
    for _ in range(10):
        moved.requires_grad_(True)
        (slope,) = torch.autograd.grad(nn.functional.cross_entropy(model(moved), labels), moved)
        moved = (moved.detach() + 0.025 * slope.sign()).clamp(inputs - 0.1, inputs + 0.1)
    return moved.detach()


if __name__ == "__main__":
    main(sys.argv[1:])
