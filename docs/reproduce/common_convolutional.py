# SPDX-License-Identifier: MIT
"""Which images and which convolutional network do the scripts about CIFAR-10 use, in place of the paper's?

Images are square patches of the two photographs that scikit-learn ships, with three colours. A class is a quarter of a
photograph, so there are eight. Training patches come from the left three quarters of a quarter, test patches from the
rest of it, so no pixel is in both. `--data FILE.npz` takes other images, such as CIFAR-10: ``images`` [n, side, side,
3], ``labels`` [n]. The network is the paper's in small: convolutions c1 and c2, a pool p1, convolutions c3, c4 and c5,
a pool p2, and two dense layers.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
import torch
from common import load_images
from common_torch import Images
from torch import nn

import regions
from regions.domains.curves import GreatCircle

LAYERS = ("c1", "c2", "p1", "c3", "c4", "c5", "p2", "fc1")


class Photographs(Images):
    """Patches of photographs as rows, the red pixels first, then green and blue ones; a fifth is held for testing."""

    def __init__(self, options: Any, side: int, patches: int) -> None:
        torch.manual_seed(options.seed)
        torch.set_num_threads(1)
        if options.data:
            pixels, labels = load_images(options, labelled=True)
            self.side = isqrt(pixels.shape[1] // 3)
            if pixels.shape[1] != 3 * self.side**2 or self.side % 4:
                raise SystemExit(f"--data {options.data}: images are [n, side, side, 3], side a multiple of 4")
            pixels = pixels.reshape(len(pixels), self.side, self.side, 3)
            held = len(pixels) // 5
        else:
            self.side, held = side, patches // 5
            pixels, labels = _patches(np.random.default_rng(options.seed), side, held, patches)
            options.images = "scikit-learn's photographs"
        rows = pixels.transpose(0, 3, 1, 2).reshape(len(pixels), -1)
        self.pixels, self.labels = rows, labels
        images, classes = torch.tensor(rows).float(), torch.tensor(labels.astype(np.int64))
        self.test, self.train = (images[:held], classes[:held]), (images[held:], classes[held:])

    @property
    def classes(self) -> int:
        return int(self.labels.max()) + 1

    def circles(self, number: int, rng: np.random.Generator) -> list[GreatCircle]:
        """Return great circles through pairs of images, scaled to norm 1."""
        pairs = [self.pixels[rng.choice(len(self.pixels), 2, replace=False)] for _ in range(number)]
        return [GreatCircle(*(pair / np.linalg.norm(pair, axis=1, keepdims=True))) for pair in pairs]


def _patches(rng: np.random.Generator, side: int, held: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Cut patches [count, side, side, 3] from 0 to 1, the ones for testing first, and their classes [count]."""
    from sklearn.datasets import load_sample_image

    photographs = [load_sample_image(name) / 255.0 for name in ("china.jpg", "flower.jpg")]
    height, width = (size // 2 for size in photographs[0].shape[:2])
    found, classes = [], rng.integers(8, size=count)
    for index, label in enumerate(classes):
        photograph, below, right = label // 4, label // 2 % 2, label % 2
        border = 3 * width // 4
        low, high = (border, width - side) if index < held else (0, border - side)
        top = below * height + rng.integers(height - side + 1)
        left = right * width + rng.integers(low, high + 1)
        found.append(photographs[photograph][top : top + side, left : left + side])
    return np.array(found), classes


def convolutional_network(
    side: int, classes: int, channels: int, variance: float, *, batch_norm: bool = False
) -> nn.Sequential:
    """Make the network with Gaussian weights of this variance over the fan-in, and without biases at the start."""
    modules: list[nn.Module] = [nn.Unflatten(1, (3, side, side))]

    def convolution(before: int, after: int) -> None:
        modules.append(nn.Conv2d(before, after, 3, padding=1))
        if batch_norm:
            modules.append(nn.BatchNorm2d(after))
        modules.append(nn.ReLU())

    convolution(3, channels)
    convolution(channels, channels)
    modules.append(nn.MaxPool2d(2))
    convolution(channels, 2 * channels)
    convolution(2 * channels, 2 * channels)
    convolution(2 * channels, 2 * channels)
    modules += [nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2 * channels * (side // 4) ** 2, 64), nn.ReLU()]
    modules.append(nn.Linear(64, classes))
    for module in weighted(modules):
        nn.init.normal_(module.weight, 0.0, (variance / module.weight[0].numel()) ** 0.5)
        nn.init.zeros_(module.bias)
    return nn.Sequential(*modules)


def weighted(modules: Any) -> list[Any]:
    """Return the convolutions and dense layers among modules."""
    return [module for module in modules if isinstance(module, (nn.Conv2d, nn.Linear))]


def grown_lengths(model: nn.Sequential, side: int, circles: list[GreatCircle]) -> np.ndarray:
    """Return the length after each layer of `LAYERS` over that of the circle, a mean over circles."""
    network = regions.load(model[1:].eval(), input_shape=(3, side, side))
    lengths = np.array([path.lengths[: len(LAYERS) + 1] for path in regions.trajectory(network, circles)])
    return np.asarray((lengths[:, 1:] / lengths[:, :1]).mean(axis=0))
