# SPDX-License-Identifier: MIT
"""Piwek, Klukowski and Hu 2023: do robust classifiers have fewer pieces of decision boundary?

ReLU networks learn two moons in the plane (torch, Adam): as usual, with Gaussian noise on the inputs, and on inputs
that are moved against the network (adversarial training). Pieces are counted exactly in a square: all affine pieces,
and the pieces of the boundary between the classes. The authors report that training with noise or attacks reduces the
boundary pieces, and that their number is largely independent of the number of all pieces. Robustness here is the exact
distance of test points to the decision boundary. The last row has the correlation of both numbers over plain runs.
"""

from __future__ import annotations

import sys
from math import sqrt

import numpy as np
import torch
from common import half_interval, keep, new_figure, read_options
from common_torch import accuracy, adam, as_module
from sklearn.datasets import make_moons
from torch import nn

import regions
from regions.ensembles import torch_default

SMALL = {"networks": 2, "width": 8, "steps": 20}
SQUARE = regions.Rectangle([-2.0, -2.0], [5.0, 0.0], [0.0, 4.5])
KINDS = ("plain", "noise", "adversarial")


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=10, width=32, steps=1000, size=0.2)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    (inputs, labels), test = _moons(400, options.seed), _moons(200, options.seed + 1)
    found = np.zeros((3, options.networks, 5))
    for number, kind in enumerate(KINDS):
        for run in range(options.networks):
            rng = np.random.default_rng([options.seed, run])  # the same first weights for each kind
            model = as_module(torch_default([2, options.width, options.width, 2]).draw(rng), nn.ReLU)
            optimizer = adam(model.parameters(), 5e-3)
            for _ in range(options.steps):
                given = inputs
                if kind == "noise":
                    given = inputs + options.size * torch.tensor(rng.standard_normal(inputs.shape)).float()
                elif kind == "adversarial":
                    given = _against(model, inputs, labels, options.size)
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(given), labels).backward()
                optimizer.step()
            network = regions.load(model)
            decided = regions.decisions(network, SQUARE)
            near = decided.distance(test[0].double().numpy()).distances
            norm = sqrt(sum(float((layer.weights**2).sum()) for layer in network.layers))
            pieces = regions.count(network, SQUARE)
            found[number, run] = accuracy(model, *test), float(near.mean()), pieces, len(decided.facets), norm
    figure, (ax,) = new_figure(1)
    rows: list[list[object]] = []
    for number, kind in enumerate(KINDS):
        ax.plot(found[number, :, 2], found[number, :, 3], "o", markersize=4, label=kind)
        means = found[number].mean(axis=0).tolist()
        halves = [half_interval(found[number, :, column]) for column in (1, 2, 3)]
        rows.append([kind, means[0], means[1], halves[0], means[2], halves[1], means[3], halves[2], means[4]])
    ax.set(xlabel="all pieces", ylabel="pieces of the decision boundary")
    ax.legend(fontsize=7)
    varied = np.ptp(found[0], axis=0)[2:4].all()
    together = float(np.corrcoef(found[0, :, 2], found[0, :, 3])[0, 1]) if varied else "-"
    rows.append(["correlation", "-", "-", "-", "-", "-", together, "-", "-"])
    head = ["training", "accuracy", "distance", "+- 95%", "pieces", "its +- 95%"]
    return keep(options, __file__, figure, [*head, "boundary pieces", "their +- 95%", "norm of weights"], rows)


def _moons(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    points, labels = make_moons(count, noise=0.15, random_state=seed)
    return torch.tensor(points).float(), torch.tensor(labels.astype(np.int64))


def _against(model: nn.Module, inputs: torch.Tensor, labels: torch.Tensor, size: float) -> torch.Tensor:
    """Return inputs that are moved up the loss in five steps, by at most ``size`` in each coordinate."""
    moved = inputs.clone()
    for _ in range(5):
        moved.requires_grad_(True)
        (slope,) = torch.autograd.grad(nn.functional.cross_entropy(model(moved), labels), moved)
        moved = (moved.detach() + size / 2.5 * slope.sign()).clamp(inputs - size, inputs + size)
    return moved.detach()


if __name__ == "__main__":
    main(sys.argv[1:])
