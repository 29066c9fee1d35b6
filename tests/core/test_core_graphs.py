# SPDX-License-Identifier: MIT
"""Does the core find the regions of networks that are not chains of dense layers?

The judge is rational arithmetic. Small graphs of integers are full of ties; convolutions with generic weights, or with
identical channels, have enough columns for sparse rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import regions
from graphs import random_graph
from regions import reference
from regions.counting.run import Model, compiled, counted
from regions.networks.dense import Dense
from regions.networks.lowering import lowered
from regions.networks.named_activations import hard_tanh, leaky_relu, relu, relu6
from regions.networks.network import Network
from regions.networks.patches import Patches
from regions.read.graphs.builder import GraphBuilder
from regions.read.graphs.operations import Tensor


def require_the_same(net: Network, domain: regions.Domain, about: object) -> None:
    wanted = sorted(reference.patterns(net, domain))
    assert regions.count(net, domain) == len(wanted), about
    found = regions.enumerate(net, domain).patterns
    assert sorted(map(tuple, found.tolist())) == wanted, about


def domain_for(rng: np.random.Generator, n_in: int, kind: int) -> regions.Domain:
    whole = kind % 2 == 0
    origin, one, other = rng.integers(-4, 5, (3, n_in)) / 2 if whole else rng.normal(size=(3, n_in))
    if np.linalg.matrix_rank([one, other]) < 2:
        one, other = np.eye(2, n_in)
    if kind % 3 == 0:
        return regions.Segment(origin - 2 * one, origin + 2 * one)
    if kind % 3 == 1:
        return regions.Rectangle(origin - one - other, 2 * one, 2 * other)
    return regions.Plane(origin, one, other) if kind % 4 < 2 else regions.Line(origin, one)


@pytest.mark.parametrize("seeds", [range(start, start + 30) for start in range(0, 180, 30)], ids=str)
def test_small_graphs_full_of_ties(seeds: range) -> None:
    for seed in seeds:
        net, _, _ = random_graph(seed, operations=8 + seed % 4)
        require_the_same(net, domain_for(np.random.default_rng(seed), net.n_in, seed), seed)


class Convolutional:
    """A residual network on images of 6 x 6, with all kinds of sparse rows."""

    def __init__(self, seed: int) -> None:
        self.rng, self.kind = np.random.default_rng(seed), ["generic", "ternary", "doubled"][seed % 3]
        self.units = [relu(), leaky_relu(0.25), hard_tanh()][seed % 5 % 3]
        builder = self.builder = GraphBuilder()
        x = builder.input((2, 6, 6))
        h = self.active(self.convolution(x, 5, 1))
        branch = self.convolution(self.active(self.convolution(h, 5, 1)), 5, 1)
        sum_ = self.active(builder.sum([(branch, 1.0), (h, -1.0), (h, 0.5)], "sum"))
        mean = np.full((5, 1, 2, 2), 0.25)
        pooled = builder.linear(sum_, self.over(mean, sum_, 2, groups=5), None, (5, 3, 3), "mean")
        joined = builder.joined([replace(pooled, shape=(45,)), replace(x, shape=(72,))], 0)
        weights = self.numbers(6, 117)
        top = self.active(builder.linear(joined, Dense(weights), self.numbers(6), (6,), "dense"))
        last = self.active(
            builder.linear(builder.joined([top, joined], 0), Dense(self.numbers(3, 123)), None, (3,), "last")
        )
        self.network = Network.from_graph(builder.finished(last)[0])

    def numbers(self, *shape: int) -> np.ndarray:
        numbers = self.rng.normal(size=shape)
        if self.kind == "ternary":
            return np.round(numbers)
        if self.kind == "doubled":  # equal channels
            numbers[1:3] = numbers[0]
        return numbers

    def active(self, x: Tensor) -> Tensor:
        return self.builder.activated(x, self.units, "units")

    def over(self, kernel: np.ndarray, x: Tensor, stride: int, padding: int = 0, groups: int = 1) -> Patches:
        return Patches.convolution(kernel, x.shape, [stride] * 2, [(padding, padding)] * 2, [1, 1], groups)

    def convolution(self, x: Tensor, channels: int, stride: int) -> Tensor:
        kernel = self.numbers(channels, x.shape[0], 3, 3)
        biases = np.repeat(self.numbers(channels), 36)
        return self.builder.linear(x, self.over(kernel, x, stride, 1), biases, (channels, 6, 6), "convolution")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_convolutions_sums_means_and_joints(seed: int) -> None:
    net, rng = Convolutional(seed).network, np.random.default_rng(seed)
    center, one, other = rng.integers(-8, 9, (3, 72)) / 8 if seed % 2 else rng.normal(size=(3, 72))
    domain: regions.Domain = regions.Segment(center, center + 0.6 * one)
    require_the_same(net, domain if seed < 3 else regions.Rectangle(center, 0.015 * one, 0.015 * other), seed)


def test_passed_outputs_make_no_bits_and_no_signs() -> None:
    net = Convolutional(0).network
    layers = lowered(net.graph)
    # The first convolution and the joins at the top read the inputs; the end of the branch reads its beginning.
    assert [len(layer.passed) for layer in layers] == [72, 72, 252, 72, 72, 117, 0]
    assert sum(len(layer.biases) * layer.tables.breakpoints.shape[-1] for layer in layers) == net.graph.kinks


@pytest.mark.parametrize("dimension", [1, 2])
def test_the_same_network_in_matrices_has_the_same_regions(dimension: int) -> None:
    net = Convolutional(0).network
    dense: list[tuple] = []
    for layer in lowered(net.graph):
        below = len(dense[-1][1]) + len(dense[-1][4]) if dense else net.n_in
        weights = np.zeros((len(layer.biases), below))
        reads = net.graph.hidden[len(dense)].reads
        for (first, _), read in zip(layer.parts, reads, strict=True):
            weights[:, first : first + read.operator.inputs] += read.operator.weights
        dense.append(([(0, weights)], layer.biases, layer.tables, layer.arms, layer.passed, np.inf))
    rng = np.random.default_rng(5)
    center, one, other = rng.normal(size=(3, 72))
    domain: regions.Domain = regions.Segment(center - one, center + one)
    if dimension == 2:
        domain = regions.Rectangle(center, 0.1 * one, 0.1 * other)
    matrices = Model(net, regions._core.CompiledNetwork(net.n_in, dense))
    assert counted(matrices, domain).regions == counted(compiled(net), domain).regions


def test_threads_restrict_rows_with_all_columns() -> None:
    """Some rows have coefficients for units of their own layer, which are not columns once nothing reads the layer."""
    layers = [  # of one-dimensional convolutions: kernels, stride, biases, activation
        ([[0.3, 0.3, 0.0], [0.3, 0.3, 0.0]], 1, [0.1, 0.1], relu()),
        ([[0.0, 0.0, 0.1, -0.1], [0.0, 0.0, 0.1, -0.1], [0.1, -0.3, -0.1, -0.3]], 2, [0.3, 0.0, -0.1], relu()),
        ([[0.1, -0.3], [-0.3, -0.1]], 2, [0.1, 0.1], relu6()),
        ([[-0.1, -0.1], [-0.3, 0.0], [0.0, -0.3]], 1, [0.3, 0.3, 0.1], hard_tanh()),
    ]
    builder = GraphBuilder()
    x: Tensor = builder.input((3,))
    for rows, stride, biases, activation in layers:
        kernel = np.array(rows)[:, np.newaxis]
        operator = Patches.convolution(kernel, (1, x.size), [stride], [(1, 1)], [1])
        constants = np.repeat(biases, operator.outputs // len(rows))
        x = builder.linear(x, operator, constants, (operator.outputs,), "convolution")
        x = builder.activated(x, activation, "units")
    last = builder.linear(x, Dense(np.ones((1, x.size))), None, (1,), "last")
    net, box = Network.from_graph(builder.finished(last)[0]), regions.Box([-2] * 3, [2] * 3)
    assert regions.count(net, box) == reference.count(net, box) == 22
    assert {regions.count(net, box, workers=2) for _ in range(300)} == {22}
