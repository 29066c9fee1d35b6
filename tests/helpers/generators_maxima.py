# SPDX-License-Identifier: MIT
"""On which networks with max units is the core tested?

`MAX_FAMILIES`, like `FAMILIES` in `generators.py`: a few nodes of maxouts, windows as in max-pooling, ReLUs and steps,
which may also read lower nodes. Some branches are constants and copies of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from generator_parts import Draw, Family, Rng, any_domain, gaussian, lattice_domain, small_integers, ternary
from random_networks import random_network
from regions.domains import Domain
from regions.ground.arithmetic.types import Floats
from regions.networks.activation import Activation
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Maxima, Node, Read, Units
from regions.networks.named_activations import hard_tanh, identity, leaky_relu, relu
from regions.networks.network import Network
from regions.networks.patches import Patches

__all__ = ["MAX_FAMILIES", "network_of_maxima", "pooled"]

MAX_FAMILIES: dict[str, Family] = {}


def max_family(function: Family) -> Family:
    MAX_FAMILIES[function.__name__] = function
    return function


class _Nodes:
    """The nodes made so far, and their numbers of outputs; the inputs are node -1."""

    def __init__(self, rng: Rng, n_in: int, numbers: Draw) -> None:
        self.rng, self.n_in, self.numbers = rng, n_in, numbers
        self.nodes: list[Node] = []
        self.kinks = 0

    def width(self, node: int) -> int:
        return self.n_in if node < 0 else self.nodes[node].units.count

    def add(self, biases: Floats, reads: list[Read], units: Units | Maxima) -> None:
        end = self.kinks + units.kinks
        self.nodes.append(Node(biases, tuple(reads), units, slice(self.kinks, end)))
        self.kinks = end

    def below(self) -> list[int]:
        """Return the last node, and sometimes a lower one; if the last one is the inputs, only that."""
        last = len(self.nodes) - 1
        others = [last] if last < 1 or self.rng.random() < 0.6 else [last, int(self.rng.integers(0, last))]
        return others

    def dense(self, rows: int) -> tuple[Floats, list[Read]]:
        reads = [Read(Dense(self.numbers(self.rng, (rows, self.width(node)))), node) for node in self.below()]
        return self.numbers(self.rng, (rows,)), reads

    def activated(self, activation: Activation) -> None:
        count = int(self.rng.integers(1, 5))
        self.add(*self.dense(count), Units(count, activation))

    def maxout(self) -> None:
        units = Maxima.of_sizes(self.rng.integers(1, 6, int(self.rng.integers(1, 4))))
        biases, reads = self.dense(units.rows)
        if self.rng.random() < 0.4:  # equal or constant branches
            for one, other in self.rng.integers(0, units.rows, (2, 2)):
                biases[one] = biases[other]
                factor = float(self.rng.integers(2))
                for read in reads:
                    assert isinstance(read.operator, Dense)
                    read.operator.weights[one] = factor * read.operator.weights[other]
        self.add(biases, reads, units)

    def pooled(self) -> None:
        """Add maxima over windows of the outputs below, which may overlap; sometimes 0 is a branch of each."""
        (last, *_) = self.below()
        width = self.width(last)
        size = int(self.rng.integers(1, min(width, 4) + 1))
        starts = range(0, width - size + 1, int(self.rng.integers(1, 3)))
        first = [-1] if self.rng.random() < 0.3 else []
        windows = [first + [start + int(i) for i in self.rng.permutation(size)] for start in starts]
        sources = np.concatenate([np.array(window) for window in windows])
        units = Maxima.of_sizes([len(window) for window in windows])
        self.add(np.zeros(units.rows), [Read(Patches.selection(width, sources), last)], units)

    def max_pool(self, size: int) -> None:
        """Add maxima over windows of the outputs below, which do not overlap."""
        last = len(self.nodes) - 1
        width = self.width(last)
        units = Maxima.of_sizes([size] * (width // size))
        self.add(np.zeros(units.rows), [Read(Patches.selection(width, np.arange(units.rows)), last)], units)

    def finished(self) -> Network:
        last = len(self.nodes) - 1
        output = Read(Patches.selection(self.width(last), np.zeros(1, dtype=np.int64)), last)
        self.add(np.zeros(1), [output], Units(1, identity()))
        return Network.from_graph(Graph(self.n_in, self.nodes))


def network_of_maxima(n_in: int, layers: Sequence[tuple[Any, Sequence[int]]]) -> Network:
    """Return a chain of layers of maxouts: for each a table of rows, biases first, and how many of them each unit
    has.
    """
    nodes: list[Node] = []
    kinks = 0
    for table, sizes in layers:
        rows = np.array(table, dtype=float)
        units = Maxima.of_sizes(sizes)
        read = Read(Dense(rows[:, 1:].copy()), len(nodes) - 1)
        nodes.append(Node(rows[:, 0].copy(), (read,), units, slice(kinks, kinks + units.kinks)))
        kinks += units.kinks
    output = Read(Dense(np.ones((1, len(layers[-1][1])))), len(nodes) - 1)
    nodes.append(Node(np.zeros(1), (output,), Units(1, identity()), slice(kinks, kinks)))
    return Network.from_graph(Graph(n_in, nodes))


def _network(rng: Rng, dimension: int, numbers: Draw) -> Network:
    nodes = _Nodes(rng, int(rng.integers(dimension, max(5, dimension + 1))), numbers)
    for _ in range(int(rng.integers(0, 3))):
        kind = int(rng.integers(5))
        if kind < 2:
            nodes.activated([relu(), leaky_relu(0.25), hard_tanh()][int(rng.integers(3))])
        elif kind < 4:
            nodes.maxout()
        else:
            nodes.pooled()
    if rng.random() < 0.6:
        nodes.maxout()
    else:
        nodes.pooled()
    if rng.random() < 0.3:
        nodes.activated(relu())
    return nodes.finished()


@max_family
def max_ternary(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Weights of -1, 0 and 1: branches that are equal everywhere, on lines or in points, or constant."""
    net = _network(rng, dimension, ternary)
    return net, lattice_domain(rng, dimension, net.n_in)


@max_family
def max_integers(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    net = _network(rng, dimension, small_integers)
    return net, any_domain(rng, dimension, net.n_in)


@max_family
def max_generic(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    net = _network(rng, dimension, gaussian)
    return net, any_domain(rng, dimension, net.n_in)


@max_family
def max_pools(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Return max-pools of ReLUs, as in convolutional networks: many branches are zero together."""
    numbers = [gaussian, small_integers, ternary][int(rng.integers(3))]
    nodes = _Nodes(rng, dimension, numbers)
    for _ in range(int(rng.integers(1, 3))):
        size = int(rng.integers(2, 4))
        count = size * int(rng.integers(1, 4))
        below = len(nodes.nodes) - 1
        weights = numbers(rng, (count, nodes.width(below)))
        nodes.add(numbers(rng, (count,)), [Read(Dense(weights), below)], Units(count, relu()))
        nodes.max_pool(size)
    net = nodes.finished()
    return net, any_domain(rng, dimension, net.n_in)


@max_family
def max_meeting(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """Branches that meet in one point, at a corner or along an edge, that touch a paraboloid, or differ by one bit."""
    layers: list[tuple[Any, list[int]]] = []
    width = max(2, dimension)
    for _ in range(int(rng.integers(1, 4))):
        sizes = [int(size) for size in rng.choice([1, 2, 3, 4, 5, 9], int(rng.integers(1, 4)))]
        layers.append((np.concatenate([_meeting_arms(rng, arms, width) for arms in sizes]), sizes))
        width = len(sizes)
    net = network_of_maxima(max(2, dimension), layers)
    return net, any_domain(rng, dimension, net.n_in)


@max_family
def max_extreme(rng: Rng, dimension: int) -> tuple[Network, Domain]:
    """As `max_meeting`, but with rows, units or single weights near the largest double, or the smallest."""
    layers: list[tuple[Any, list[int]]] = []
    width = max(2, dimension)
    for depth in range(int(rng.integers(1, 3))):
        sizes = [int(size) for size in rng.choice([1, 2, 3, 4, 5], int(rng.integers(1, 4)))]
        table = np.concatenate([_meeting_arms(rng, arms, width) for arms in sizes])
        table /= max(1.0, float(np.abs(table).max()))
        high = 1023 if depth == 0 else 900
        scale = int(rng.choice([high, -1074, -1040, high, 500, -500]))
        of_units = np.repeat(rng.choice([0, scale], len(sizes)), sizes)[:, np.newaxis]
        of_numbers = rng.choice([0, 0, scale], table.shape)
        layers.append((np.ldexp(table, [np.full_like(of_units, scale), of_units, of_numbers][rng.integers(3)]), sizes))
        width = len(sizes)
    net = network_of_maxima(max(2, dimension), layers)
    return net, any_domain(rng, dimension, net.n_in)


def _meeting_arms(rng: Rng, arms: int, width: int) -> Floats:
    """Return the branches of one unit as rows, biases first."""
    kind = int(rng.integers(6))
    slopes = rng.integers(-3, 4, (arms, width)).astype(float)
    if kind == 0:
        rows = np.column_stack([rng.integers(-1, 2, arms), slopes]).astype(float)
    elif kind == 1:  # tangent planes at lattice points
        rows = np.column_stack([-(slopes * slopes).sum(axis=1) / rng.integers(1, 3), slopes])
    elif kind == 2:  # one bit apart
        few = rng.standard_normal((max(1, arms // 3), width + 1))
        rows = few[rng.integers(0, len(few), arms)]
        towards = rng.choice([-np.inf, np.inf], rows.shape)
        rows = np.where(rng.random(rows.shape) < 0.3, np.nextafter(rows, towards), rows)
    elif kind == 3:  # through a corner of the lattice, except for some
        rows = np.column_stack([-(slopes * rng.choice([-1.0, 1.0], width)).sum(axis=1), slopes])
        rows[:, 0] -= rng.integers(0, 2, arms) * rng.integers(0, 2)
    elif kind == 4:  # through an edge of the lattice
        rows = np.column_stack([-slopes[:, 0], slopes[:, 0], np.zeros((arms, width - 1))])
        rows[:, -1] += rng.integers(-1, 2, arms) * rng.integers(0, 2)
    else:
        rows = rng.standard_normal((arms, width + 1))
    if rng.random() < 0.3:
        rows[rng.integers(arms)] = rows[rng.integers(arms)]
    if rng.random() < 0.2:
        rows[rng.integers(arms), 1:] = 0
    return rows


def pooled(widths: list[int], seed: int) -> Network:
    """Return generic ReLUs, each two of them in a max-pool, after each layer."""
    nodes: list[Node] = []
    kinks = 0
    dense = random_network([2, *widths, 1], seed).graph.nodes
    last = 0
    for node in dense[:-1]:
        inputs = 2 if not nodes else nodes[-1].units.count
        weights = node.reads[0].operator.weights[:, :inputs]
        read = Read(type(node.reads[0].operator)(weights), len(nodes) - 1)
        nodes.append(
            Node(node.biases, (read,), Units(len(node.biases), relu()), slice(kinks, kinks + len(node.biases)))
        )
        kinks += len(node.biases)
        units = Maxima.of_sizes([2] * (len(node.biases) // 2))
        selection = Patches.selection(len(node.biases), np.arange(units.rows))
        nodes.append(
            Node(np.zeros(units.rows), (Read(selection, len(nodes) - 1),), units, slice(kinks, kinks + units.kinks))
        )
        kinks += units.kinks
        last = units.count
    ones = type(dense[-1].reads[0].operator)(np.ones((1, last)))
    nodes.append(Node(np.zeros(1), (Read(ones, len(nodes) - 1),), Units(1, identity()), slice(kinks, kinks)))
    return Network.from_graph(Graph(2, nodes))
