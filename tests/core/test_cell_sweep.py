# SPDX-License-Identifier: MIT
"""Do sweeps over small cells find the regions that the recursion finds?

A kink that no unit reaches keeps cells of enumerations from being swept, so the recursion finds the regions of such a
network. Units with several kinks or with branches are swept only if regions are counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import regions
from generators_maxima import network_of_maxima
from generators_nearly_degenerate import KINDS, nearly_degenerate
from regions import reference
from regions.networks.dense import Dense
from regions.networks.named_activations import relu
from regions.networks.patches import Patches
from regions.read.graphs.builder import GraphBuilder

ACTIVATIONS = {
    "relu": ([0.0], [0.0, 1.0], [0.0, 0.0]),
    "leaky_relu(0.125)": ([0.0], [0.125, 1.0], [0.0, 0.0]),
    "abs": ([0.0], [-1.0, 1.0], [0.0, 0.0]),
    "step": ([0.25], [-0.5, 1.5], [0.5, 0.0]),
}
SEVERAL = {
    "hard_tanh": ([-1.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]),
    "relu6": ([0.0, 6.0], [0.0, 1.0, 0.0], [0.0, 0.0, 6.0]),
    "staircase": ([-0.5, 0.25, 0.5], [-1.0, 0.0, 2.0, 0.5], [-0.5, 0.0, -0.5, 0.25]),
    "zigzag": ([0.0, 0.125, 0.25, 1.0], [1.0, -1.0, 1.0, -1.0, 1.0], [0.0, 0.0, -0.25, 0.25, -1.75]),
}
NEVER = 2.0**40  # no unit is as large
Layers = list[tuple[NDArray[np.float64], NDArray[np.float64]]]

SQUARE = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
SLIVER = regions.Polygon([[-1, -0.3], [1, 0.5], [1, 0.5 + 1e-7], [-1, -0.3 + 1e-7]])
DOMAINS = (regions.Polygon(SQUARE), regions.Polygon(0.05 * SQUARE + 0.3), regions.Polygon(30 * SQUARE), SLIVER)


def generic(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return rng.standard_normal(shape) * np.sqrt(2 / shape[1]), 0.1 * rng.standard_normal(shape[0])


def drawn(kind: str, seed: int) -> Layers:
    """Return a network of 2 to 6 hidden layers with up to 16 units each."""
    rng = np.random.default_rng([seed, *kind.encode()])
    sizes = [2, *rng.integers(2, 17, int(rng.integers(2, 7))).tolist(), 1]
    layers = []
    for n_in, n_out in zip(sizes, sizes[1:], strict=False):
        weights, biases = generic(rng, (n_out, n_in))
        tiny = 10.0 ** -rng.integers(8, 17)
        if kind == "lattice":
            weights, biases = rng.integers(-2, 3, (n_out, n_in)).astype(float), rng.integers(-2, 3, n_out).astype(float)
        elif kind == "no biases":
            biases = np.zeros(n_out)
        elif kind == "multiples":  # of the first half, positive and negative ones
            source, factor = rng.integers(0, (n_out + 1) // 2, n_out), rng.choice([1.0, 2.0, -1.0, -0.5], n_out)
            weights, biases = weights[source] * factor[:, None], biases[source] * factor
        elif kind == "nearly twins":
            weights[1::2] = weights[::2][: n_out // 2]
            biases[1::2] = biases[::2][: n_out // 2] + tiny * rng.standard_normal(n_out // 2)
        elif kind == "nearly concurrent":
            biases = -weights @ (0.3 * rng.standard_normal(n_in)) + tiny * rng.standard_normal(n_out)
        layers.append((weights, biases))
    return layers


def require_the_same(layers: Layers, activation: str, domain: regions.Polygon, named: bool) -> None:
    """Require the same regions from sweeps and from the recursion: patterns, corners, and facets. With ``named`` also
    the kinks of facets; these can differ if two units of a layer have one line."""
    breakpoints, slopes, intercepts = ACTIVATIONS[activation]
    cut = regions.Activation("cut", [*breakpoints, NEVER], [*slopes, slopes[-1]], [*intercepts, intercepts[-1]])
    swept = regions.enumerate(
        regions.Network(layers, regions.Activation("swept", breakpoints, slopes, intercepts)), domain
    )
    found = regions.enumerate(regions.Network(layers, cut), domain)
    assert regions.count(swept.network, domain) == len(swept) == len(found)
    ours, theirs = in_order(swept.patterns), in_order(found.patterns[:, ::2])
    assert np.array_equal(swept.patterns[ours], found.patterns[theirs, ::2])
    for one, other in zip(ours, theirs, strict=True):
        kinks, twins = facet_kinks(swept, one), facet_kinks(found, other)
        if named:
            assert sorted(max(2 * k, k) for k in kinks) == sorted(twins)
        assert len(kinks) == len(twins)
        require_close(swept, one, found, other)
    assert np.isclose(swept.volumes.sum(), found.volumes.sum(), rtol=1e-9)


def in_order(patterns: NDArray[np.bool_]) -> NDArray[np.intp]:
    return np.lexsort(patterns.T[::-1])


def facet_kinks(part: regions.Partition, region: int) -> list[int]:
    begin, end = part.cell_offsets[region : region + 2]
    return [int(kink) for kink in part.facet_kinks[part.cell_facets[begin:end]]]


def require_close(one: regions.Partition, region: int, other: regions.Partition, twin: int) -> None:
    """Require that each corner lies within the bounds of one of the other region's corners."""
    begin, end = one.cell_offsets[region : region + 2]
    mine = one.cell_vertices[begin:end]
    begin, end = other.cell_offsets[twin : twin + 2]
    theirs = other.cell_vertices[begin:end]
    apart = np.abs(one.vertices[mine][:, np.newaxis] - other.vertices[theirs]).max(axis=2)
    bounds = one.vertex_errors[mine][:, np.newaxis] + other.vertex_errors[theirs]
    near = apart <= 1.01 * bounds + 1e-300
    assert near.any(axis=0).all() and near.any(axis=1).all()


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("kind", ["generic", "lattice", "no biases", "multiples", "nearly twins", "nearly concurrent"])
def test_the_same_as_the_recursion(kind: str, activation: str) -> None:
    for seed in range(4):
        for domain in DOMAINS:
            require_the_same(drawn(kind, seed), activation, domain, named=kind not in ("lattice", "multiples"))


KINDS_OF_LAYERS = ["lattice", "no biases", "multiples", "nearly twins", "nearly concurrent", "generic"]


@pytest.mark.parametrize("activation", SEVERAL)
@pytest.mark.parametrize("kind", KINDS_OF_LAYERS)
def test_units_with_several_kinks(kind: str, activation: str) -> None:
    for seed in range(3):
        network = regions.Network(drawn(kind, seed), regions.Activation(activation, *SEVERAL[activation]))
        for domain in DOMAINS:
            assert regions.count(network, domain) == len(regions.enumerate(network, domain)), (seed, domain)


@pytest.mark.parametrize("branches", [2, 3])
@pytest.mark.parametrize("kind", KINDS_OF_LAYERS)
def test_units_with_branches(kind: str, branches: int) -> None:
    """Twins among the rows are branches that are equal, or nearly so."""
    for seed in range(3):
        layers, below = [], 2
        for weights, biases in drawn(kind, seed)[:4]:
            table = np.column_stack([biases, np.resize(weights.T, (below, len(biases))).T])
            below = -(-len(table) // branches)
            layers.append((table, [min(branches, len(table) - first * branches) for first in range(below)]))
        network = network_of_maxima(2, layers)
        for domain in DOMAINS:
            assert regions.count(network, domain) == len(regions.enumerate(network, domain)), (seed, domain)


class Builder(GraphBuilder):
    """Builds layers with random numbers, on two inputs."""

    def __init__(self, seed: int, numbers: str, bias: float = 1.0) -> None:
        super().__init__()
        self.rng, self.generic, self.bias = np.random.default_rng(seed), numbers == "generic", bias
        self.inputs = self.input((2,))

    def drawn(self, *shape: int) -> NDArray[np.float64]:
        numbers = (
            self.rng.standard_normal(shape) if self.generic else self.rng.integers(-2, 3, shape).astype(np.float64)
        )
        return np.asarray(numbers)

    def relus(self, x: Any, shape: tuple[int, ...]) -> Any:
        """Return a dense layer of ReLUs."""
        count = int(np.prod(shape))
        weights, biases = self.drawn(count, x.size), self.bias * self.drawn(count)
        return self.activated(self.linear(x, Dense(weights), biases, shape, "dense"), relu(), "relu")

    def windows(self, x: Any) -> Any:
        """Return the maxima of squares of four, as in max-pooling."""
        channels, length, _ = x.shape
        sources = np.arange(x.size).reshape(channels, length // 2, 2, length // 2, 2).swapaxes(2, 3)
        shape = channels, length // 2, length // 2
        return self.largest(self.rearranged(x, sources.ravel()), np.full(np.prod(shape), 4), shape, "windows")

    def require_the_same(self, x: Any) -> None:
        """Compare counts in all domains with enumerations, for the network with one more dense layer."""
        x = self.relus(x, (6,))
        last = self.linear(x, Dense(self.drawn(1, 6)), None, (1,), "last")
        network = regions.Network.from_graph(self.finished(last)[0])
        for domain in DOMAINS:
            assert regions.count(network, domain) == len(regions.enumerate(network, domain)), domain


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("numbers", ["lattice", "generic"])
@pytest.mark.parametrize("bias", [0.0, 0.1])
def test_max_pools_of_relus(numbers: str, bias: float, seed: int) -> None:
    """Branches are off together, and two of them may begin at one point, where their difference begins, too."""
    build = Builder(seed, numbers, bias)
    pooled = build.windows(build.relus(build.inputs, (1, 6, 6)))
    patches = Patches.convolution(build.drawn(6, 1, 2, 2), (1, 3, 3), [1, 1], [(0, 0), (0, 0)], [1, 1])
    biases = np.repeat(bias * build.drawn(6), 4)
    convolved = build.linear(pooled, patches, biases, (6, 2, 2), "convolution")
    build.require_the_same(build.windows(build.activated(convolved, relu(), "relu")))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("numbers", ["lattice", "generic"])
def test_a_branch_that_is_off_beside_one_with_both_signs(numbers: str, seed: int) -> None:
    """The unit has a line there only if the other branch can be negative."""
    build = Builder(seed, numbers)
    weights = np.zeros((16, 8))
    for row in range(16):  # one neuron for each first branch, two for each second
        weights[row, build.rng.choice(8, 1 + row % 2, replace=False)] = build.rng.choice([-1.0, 1.0], 1 + row % 2)
    branches = build.linear(build.relus(build.inputs, (8,)), Dense(weights), None, (16,), "branches")
    build.require_the_same(build.largest(branches, np.full(8, 2), (8,), "largest"))


@pytest.mark.parametrize("seed", range(5))
def test_zeros_by_name_are_counted(seed: int) -> None:
    """Lower-dimensional patterns are looked for only if some sign is zero."""
    rng = np.random.default_rng(seed)
    first = np.array([[1.0, 0.5], [-2.0, -1.0], [0.3, 1.0]]), np.array([0.125, -0.25, 0.1])
    layers = [first, generic(rng, (4, 3)), generic(rng, (1, 4))]
    swept = regions.Network(layers)
    cut = regions.Network(layers, regions.Activation("cut", [0.0, NEVER], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]))
    found = regions.enumerate(swept, DOMAINS[0])
    assert 0 < found.stats["zero"] <= found.stats["exact"]
    number = regions.count(swept, DOMAINS[0], "pattern")
    assert number == regions.count(cut, DOMAINS[0], "pattern") > len(found)


AROUND = (SQUARE, SQUARE + [0, 1], SQUARE + [1, 1], np.array([[-1.0, -1], [2, -0.5], [-0.25, 2]]))


@pytest.mark.parametrize("activation", ["relu", "leaky_relu(0.125)", "abs"])
@pytest.mark.parametrize("corners", AROUND, ids=["inside", "on an edge", "at a corner", "in a triangle"])
def test_around_the_origin(activation: str, corners: NDArray[np.float64]) -> None:
    """Without biases, the origin is left out of bounds and sweeps; a kink that is never reached prevents this."""
    domain = regions.Polygon(corners)
    for seed in range(12):
        layers = [
            (weights, np.zeros(len(weights))) for weights, _ in drawn("lattice" if seed % 3 == 0 else "generic", seed)
        ]
        require_the_same(layers, activation, domain, named=False)
        network = regions.Network(layers, activation)
        assert regions.certified_count(network, domain)[1].zero > 0 or regions.count(network, domain) < 3


def test_few_signs_around_the_origin() -> None:
    rng = np.random.default_rng(1)
    layers = [(generic(rng, shape)[0], None) for shape in ((64, 2), (64, 64), (64, 64), (1, 64))]
    count, certificate = regions.certified_count(regions.Network(layers), DOMAINS[0])
    assert certificate.filter < 100 * count


@pytest.mark.parametrize("kind", KINDS)
def test_barely_representable_regions(kind: str) -> None:
    for seed in range(60):
        network, domain = nearly_degenerate(kind, 2, seed)
        if not isinstance(domain, regions.Plane):
            assert regions.count(network, domain) == len(regions.enumerate(network, domain)), seed


def test_three_lines_through_one_point_up_to_a_rounding() -> None:
    """The last layer's lines meet in one point, or make a triangle as small as a rounding error."""
    rng = np.random.default_rng(3)
    meeting = rng.standard_normal(2)
    for shift in (0.0, 2.0**-52, -(2.0**-50), 1e-14, 1e-12):
        weights, _ = generic(rng, (3, 2))
        lower = (np.eye(2), 4 - meeting)  # positive, so that the second layer reads positions
        upper = (weights, -weights @ np.full(2, 4.0) + np.array([0, 0, shift]))
        extra = (np.array([[1.0, 0.5], [0.25, 1.0]]), np.array([-0.1, 0.2]))
        first = (np.vstack([lower[0], extra[0]]), np.concatenate([lower[1], extra[1]]))
        second = (np.hstack([upper[0], np.zeros((3, 2))]), upper[1])
        network = regions.Network([first, second, (np.ones((1, 3)), np.zeros(1))])
        domain = regions.Polygon(meeting + SQUARE)
        assert regions.count(network, domain) == reference.count(network, domain), shift
