# SPDX-License-Identifier: MIT
"""Random networks that are not chains: convolutions, skips, joints, scalings, with their values at a point.

Weights and inputs are small integers, so numpy's values are exact, and ties are frequent.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from generator_parts import Draw, ternary
from regions.networks.dense import Dense
from regions.networks.named_activations import hard_tanh, leaky_relu, relu
from regions.networks.network import Network
from regions.networks.patches import Patches
from regions.read.graphs.builder import GraphBuilder
from regions.read.graphs.operations import Tensor
from regions.read.scaling import Scaling

__all__ = ["random_graph"]


class _Both:
    """Operations on tensors, and on their values at some points."""

    def __init__(self, rng: np.random.Generator, shape: tuple[int, ...], points: int, numbers: Draw) -> None:
        self.rng, self.builder, self.draw = rng, GraphBuilder(), numbers
        values = rng.integers(-2, 3, (points, *shape)).astype(float)
        self.inputs = values.reshape(points, -1)
        self.found: list[tuple[Tensor, np.ndarray]] = [(self.builder.input(shape), values)]

    def pick(self) -> tuple[Tensor, np.ndarray]:
        return self.found[int(self.rng.integers(max(0, len(self.found) - 3), len(self.found)))]

    def add(self, tensor: Tensor, values: np.ndarray) -> None:
        assert tensor.shape == values.shape[1:]
        self.found.append((tensor, values))

    def numbers(self, *shape: int) -> np.ndarray:
        return self.draw(self.rng, shape)

    def dense(self) -> None:
        x, values = self.pick()
        out = int(self.rng.integers(3, 8))
        weights, biases = self.numbers(out, x.size), self.numbers(out)
        result = self.builder.linear(x, Dense(weights), biases, (out,), "dense")
        self.add(result, values.reshape(len(values), -1) @ weights.T + biases)

    def convolution(self) -> None:
        x, values = self.pick()
        x = replace(x, shape=(1, x.size))
        kernel, biases = self.numbers(2, 1, 2), self.numbers(2)
        operator = Patches.convolution(kernel, x.shape, [1], [(1, 0)], [1])
        constants = np.repeat(biases, x.size)
        padded = np.pad(values.reshape(len(values), -1), [(0, 0), (1, 0)])
        sums = [padded[:, :-1] * row[0, 0] + padded[:, 1:] * row[0, 1] for row in kernel]
        result = self.builder.linear(x, operator, constants, (2, x.size), "convolution")
        self.add(result, np.stack(sums, axis=1) + biases[:, np.newaxis])

    def activated(self) -> None:
        x, values = self.pick()
        activation = [relu(), relu(), leaky_relu(0.5), hard_tanh()][int(self.rng.integers(4))]
        self.add(self.builder.activated(x, activation, "units"), activation(values))

    def scaled(self) -> None:
        x, values = self.pick()
        factors, shifts = self.numbers(x.size), self.numbers(x.size)
        scaling = Scaling("scaling", "by integers", factors, shifts, True)
        moved = values.reshape(len(values), -1) * factors + shifts
        self.add(self.builder.scaled(x, scaling), moved.reshape(values.shape))

    def summed(self) -> None:
        x, values = self.pick()
        same = [each for each in self.found if each[0].shape == x.shape]
        y, others = same[int(self.rng.integers(len(same)))]
        sign = float(self.rng.choice([1.0, 1.0, -1.0]))
        self.add(self.builder.sum([(x, 1.0), (y, sign)], "sum"), values + sign * others)

    def joined(self) -> None:
        (x, values), (y, others) = self.pick(), self.pick()
        flat = [replace(each, shape=(each.size,)) for each in (x, y)]
        joint = np.concatenate([each.reshape(len(each), -1) for each in (values, others)], axis=1)
        self.add(self.builder.joined(flat, 0), joint)

    def rearranged(self) -> None:
        x, values = self.pick()
        sources = self.rng.permutation(x.size)[: int(self.rng.integers(1, x.size + 1))]
        if self.rng.random() < 0.5:
            sources = self.rng.permutation(x.size)
        padded = self.builder.padded(self.builder.rearranged(x, sources), [1], [0])
        self.add(padded, np.pad(values.reshape(len(values), -1)[:, sources], [(0, 0), (1, 0)]))


def random_graph(
    seed: int | np.random.Generator, operations: int = 8, points: int = 20, numbers: Draw = ternary, least: int = 1
) -> tuple[Network, np.ndarray, np.ndarray]:
    """Return a network of at least so many inputs, inputs [points, n_in], and the outputs there."""
    rng = np.random.default_rng(seed)
    shapes = [shape for shape in ((3,), (2, 2), (4,)) if prod(shape) >= least] or [(least,)]
    both = _Both(rng, shapes[int(rng.integers(len(shapes)))], points, numbers)
    kinds = [both.dense, both.convolution, both.activated, both.activated, both.scaled, both.summed, both.joined]
    kinds += [both.rearranged]
    while len(both.found) < operations:
        kind = kinds[int(rng.integers(len(kinds)))]
        if max(tensor.size for tensor, _ in both.found) > 24 and kind in (both.convolution, both.joined):
            continue
        kind()
    tensor, values = both.found[-1]
    graph, _ = both.builder.finished(tensor)
    return Network.from_graph(graph), both.inputs, values.reshape(points, -1)
