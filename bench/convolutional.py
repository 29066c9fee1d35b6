# SPDX-License-Identifier: MIT
"""Which convolutional networks are measured, where, and what does their evaluation cost?

Each network is defined once, as calls of an interpreter: `Graph` makes the network, and `Torch` evaluates it, in
float64 on one thread, as the yardstick. Weights are He-normal, biases N(0, 0.1^2), drawn in the order of the calls from
one seed, so both interpreters have the same numbers. Batch norms are missing, because they are folded in practice.
Domains lie between images of smooth noise: the first part of the segment between two images, or a square in the plane
of three, centred on their mean, whose side is a fraction of the distance of the first two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import regions
from regions.networks.dense import Dense
from regions.networks.named_activations import relu
from regions.networks.patches import Patches
from regions.read.graphs.builder import GraphBuilder
from workloads import Floats


class Graph:
    """Interprets the calls as nodes of a network."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.random, self.builder = np.random.default_rng(1), GraphBuilder()
        self.input = self.builder.input(shape)

    def network(self, outputs: Any) -> regions.Network:
        graph, notes = self.builder.finished(outputs)
        return regions.Network.from_graph(graph, notes=notes)

    def convolution(self, x: Any, out: int, size: int, stride: int, padding: int) -> Any:
        kernel, biases = draw(self.random, out, x.shape[0], size, size)
        operator = Patches.convolution(kernel, x.shape, [stride] * 2, [(padding, padding)] * 2, [1, 1])
        length = (x.shape[1] + 2 * padding - size) // stride + 1
        return self.builder.linear(x, operator, np.repeat(biases, length**2), (out, length, length), "convolution")

    def means(self, x: Any, size: int) -> Any:
        channels, length, _ = x.shape
        kernel = np.full((channels, 1, size, size), 1 / size**2)
        operator = Patches.convolution(kernel, x.shape, [size] * 2, [(0, 0)] * 2, [1, 1], channels)
        return self.builder.linear(x, operator, None, (channels, length // size, length // size), "means")

    def largest(self, x: Any, size: int) -> Any:
        channels, length, _ = x.shape
        windows = np.arange(x.size).reshape(channels, length // size, size, length // size, size).swapaxes(2, 3)
        shape = windows.shape[:3]
        arms = np.full(int(np.prod(shape)), size**2)
        return self.builder.largest(self.builder.rearranged(x, windows.ravel()), arms, shape, "largest")

    def dense(self, x: Any, out: int) -> Any:
        weights, biases = draw(self.random, out, x.size)
        return self.builder.linear(x, Dense(weights), biases, (out,), "dense")

    def relu(self, x: Any) -> Any:
        return self.builder.activated(x, relu(), "relu")

    def sum(self, x: Any, y: Any) -> Any:
        return self.builder.sum([(x, 1.0), (y, 1.0)], "sum")


class Torch:
    """Evaluates the calls on a batch of inputs; weights are drawn once."""

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        self.torch, self.random = torch, np.random.default_rng(1)
        self.weights: list[tuple[Any, Any]] = []
        self.next = 0

    def evaluate(self, forms: Callable[[Any, Any], Any], inputs: Floats) -> Floats:
        self.next = 0
        with self.torch.no_grad():
            return np.asarray(forms(self, self.torch.from_numpy(inputs)))

    def drawn(self, *shape: int) -> tuple[Any, Any]:
        self.next += 1
        if self.next > len(self.weights):
            weights, biases = draw(self.random, *shape)
            self.weights.append((self.torch.from_numpy(weights), self.torch.from_numpy(biases)))
        return self.weights[self.next - 1]

    def convolution(self, x: Any, out: int, size: int, stride: int, padding: int) -> Any:
        kernel, biases = self.drawn(out, x.shape[1], size, size)
        return self.torch.nn.functional.conv2d(x, kernel, biases, stride, padding)

    def means(self, x: Any, size: int) -> Any:
        return self.torch.nn.functional.avg_pool2d(x, size)

    def largest(self, x: Any, size: int) -> Any:
        return self.torch.nn.functional.max_pool2d(x, size)

    def dense(self, x: Any, out: int) -> Any:
        flat = x.flatten(1)
        weights, biases = self.drawn(out, flat.shape[1])
        return self.torch.nn.functional.linear(flat, weights, biases)

    def relu(self, x: Any) -> Any:
        return self.torch.relu(x)

    def sum(self, x: Any, y: Any) -> Any:
        return x + y


def draw(random: np.random.Generator, out: int, *each: int) -> tuple[Floats, Floats]:
    weights = random.standard_normal((out, *each)) * np.sqrt(2 / np.prod(each))
    return weights, random.standard_normal(out) * 0.1


def lenet(of: Any, x: Any) -> Any:
    return lenet_with(of.means, of, x)


def lenet_max(of: Any, x: Any) -> Any:
    return lenet_with(of.largest, of, x)


def lenet_with(pool: Any, of: Any, x: Any) -> Any:
    x = pool(of.relu(of.convolution(x, 8, 5, 1, 2)), 2)
    x = pool(of.relu(of.convolution(x, 16, 5, 1, 0)), 2)
    for width in (120, 84):
        x = of.relu(of.dense(x, width))
    return of.dense(x, 10)


def vgg(of: Any, x: Any) -> Any:
    for width in (64, 96, 128):
        x = of.relu(of.convolution(x, width, 3, 1, 1))
        x = of.means(of.relu(of.convolution(x, width, 3, 1, 1)), 2)
    return of.dense(of.relu(of.dense(x, 256)), 10)


def resnet20(of: Any, x: Any) -> Any:
    x = of.relu(of.convolution(x, 16, 3, 1, 1))
    for stage, width in enumerate((16, 32, 64)):
        for block in range(3):
            stride = 2 if stage > 0 and block == 0 else 1
            y = of.convolution(of.relu(of.convolution(x, width, 3, stride, 1)), width, 3, 1, 1)
            x = of.relu(of.sum(y, x if stride == 1 else of.convolution(x, width, 1, 2, 0)))
    return of.dense(of.means(x, 8), 10)


@dataclass(frozen=True)
class Convolutional:
    """A network, as calls, and a domain: the part of a segment, or the side of a square."""

    name: str
    forms: Callable[[Any, Any], Any]
    shape: tuple[int, int, int]
    segment: float = 0.0
    square: float = 0.0
    n_regions: int | None = None

    def network(self) -> regions.Network:
        graph = Graph(self.shape)
        return graph.network(self.forms(graph, graph.input))

    def domain(self) -> regions.Domain:
        first, second, third = smooth_noise(self.shape)
        if self.segment:
            return regions.Segment(first, first + self.segment * (second - first))
        length = float(np.linalg.norm(second - first))
        across = (second - first) / length
        along = (third - first) - across * (across @ (third - first))
        along /= np.linalg.norm(along)
        side, middle = self.square * length, (first + second + third) / 3
        return regions.Rectangle(middle - (across + along) * (side / 2), across * side, along * side)


def smooth_noise(shape: tuple[int, int, int]) -> Floats:
    """Return three images [3, C H W]: white noise, its frequency f divided by 1 + |f|^2, of variance 1."""
    random, frequency = np.random.default_rng(2), np.fft.fftfreq(shape[-1], 1 / shape[-1])
    damping = 1 + frequency[:, np.newaxis] ** 2 + frequency**2
    images = np.fft.ifft2(np.fft.fft2(random.standard_normal((3, *shape))) / damping).real.reshape(3, -1)
    result: Floats = images / images.std(axis=1, keepdims=True)
    return result


CONVOLUTIONAL = {
    each.name: each
    for each in (
        Convolutional("lenet_segment", lenet, (1, 28, 28), segment=1.0),
        Convolutional("lenet_square", lenet, (1, 28, 28), square=0.1),
        Convolutional("lenet_max_segment", lenet_max, (1, 28, 28), segment=1.0),
        Convolutional("lenet_max_square", lenet_max, (1, 28, 28), square=0.05),
        Convolutional("vgg_segment", vgg, (3, 32, 32), segment=0.1),
        Convolutional("vgg_square", vgg, (3, 32, 32), square=0.002),
        Convolutional("resnet20_segment", resnet20, (3, 32, 32), segment=0.02),
        Convolutional("resnet20_square", resnet20, (3, 32, 32), square=0.001),
    )
}
