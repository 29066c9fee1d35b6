# SPDX-License-Identifier: MIT
"""How do the scripts train networks? With torch and Adam, from a network of an ensemble, on one core."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from common import keep, load_images, new_figure
from torch import nn

import regions
from regions import Network, ensembles

# Training enlarges differences in rounding. torch, MKL and oneDNN read these when they first compute, and then take
# instructions that all x86-64 processors have, so that a table does not depend on the processor.
os.environ |= {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41"}


class Images:
    """Images and labels: a quarter is held back for testing."""

    def __init__(self, options: Any) -> None:
        torch.manual_seed(options.seed)
        torch.set_num_threads(1)
        self.pixels, self.labels = load_images(options, labelled=True)
        images, labels = torch.tensor(self.pixels).float(), torch.tensor(self.labels.astype(np.int64))
        held = len(images) // 4
        self.test, self.train = (images[:held], labels[:held]), (images[held:], labels[held:])

    @property
    def inputs(self) -> int:
        return self.pixels.shape[1]


def as_module(
    network: Network, activation: Callable[[], nn.Module], norm: Callable[[int], nn.Module] = lambda _: nn.Identity()
) -> nn.Sequential:
    """Make a module from a network, with an optional module between each hidden layer and its activation."""
    modules: list[nn.Module] = []
    for layer in network.layers:
        linear = nn.Linear(*reversed(layer.weights.shape))
        linear.weight.data, linear.bias.data = (
            torch.tensor(np.array(each)).float() for each in (layer.weights, layer.biases)
        )
        modules += [linear, norm(len(layer.biases)), activation()]
    return nn.Sequential(*modules[:-2])


def train_epoch(
    model: nn.Module,
    images: Images,
    optimizer: torch.optim.Optimizer,
    rng: np.random.Generator,
    besides: Callable[[nn.Module], Any] = lambda _: 0.0,
) -> None:
    """Train once on all images, with cross-entropy and the added loss."""
    inputs, labels = images.train
    model.train()
    for rows in np.array_split(rng.permutation(len(inputs)), max(len(inputs) // 64, 1)):
        optimizer.zero_grad()
        (nn.functional.cross_entropy(model(inputs[rows]), labels[rows]) + besides(model)).backward()
        optimizer.step()


def through_training(
    network: Network, images: Images, epochs: Iterable[int], rng: np.random.Generator
) -> Iterator[nn.Module]:
    """Train a ReLU network with Adam, and yield the module after each of these numbers of epochs, ascending."""
    model, done = as_module(network, nn.ReLU), 0
    optimizer = adam(model.parameters())
    for epoch in epochs:
        for _ in range(epoch - done):
            train_epoch(model, images, optimizer, rng)
        done = epoch
        yield model


def adam(parameters: Iterable[nn.Parameter], rate: float = 1e-3) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=rate)


def accuracy(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    """Return the fraction of images that are classified correctly."""
    model.eval()
    with torch.no_grad():
        return float((model(images).argmax(1) == labels).float().mean())


def train_single_layers(options: Any, images: Images, classes: int, script: str) -> list[str]:
    """Train each layer alone, from the second on, in copies of the same hard tanh networks with sigma_w = 1.

    The table has accuracies and the transitions of hidden neurons on lines between images, means over networks.
    """
    rng = np.random.default_rng(options.seed)
    ensemble = ensembles.raghu2017(images.inputs, options.width, options.depth, sigma_w=1.0, n_out=classes)
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
    return keep(options, script, figure, ["layer", "training accuracy", "test accuracy", "transitions"], rows)
