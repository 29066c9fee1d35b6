# SPDX-License-Identifier: MIT
"""Which networks with units that give the largest of several rows should the core be tried on?

`MAX_FAMILIES`, like `FAMILIES` in `generators.py`: a few nodes of maxouts, of windows over the outputs below, as
max-pool has them, of relus and steps, which also read nodes further down; among the arms are constants and copies of
each other.
"""

from __future__ import annotations

import numpy as np

from generator_parts import Draw, Family, Rng, any_domain, gaussian, lattice_domain, small_integers, ternary
from regions.arithmetic.types import Floats
from regions.domains import Domain
from regions.networks.activation import Activation
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Maxima, Node, Read, Units
from regions.networks.named_activations import hard_tanh, identity, leaky_relu, relu
from regions.networks.network import Network
from regions.networks.patches import Patches

__all__ = ["MAX_FAMILIES"]

MAX_FAMILIES: dict[str, Family] = {}


def max_family(function: Family) -> Family:
    MAX_FAMILIES[function.__name__] = function
    return function


class _Nodes:
    """The nodes made so far, and how many outputs each has; the inputs count as node -1."""

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
        """The last node, and sometimes one further down; where it is the inputs, nothing else."""
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
        if self.rng.random() < 0.4:  # arms that are the same, or constant
            for one, other in self.rng.integers(0, units.rows, (2, 2)):
                biases[one] = biases[other]
                factor = float(self.rng.integers(2))
                for read in reads:
                    assert isinstance(read.operator, Dense)
                    read.operator.weights[one] = factor * read.operator.weights[other]
        self.add(biases, reads, units)

    def pooled(self) -> None:
        """Windows over the outputs below, which may overlap; 0 as a first arm of all, sometimes."""
        (last, *_) = self.below()
        width = self.width(last)
        size = int(self.rng.integers(1, min(width, 4) + 1))
        starts = range(0, width - size + 1, int(self.rng.integers(1, 3)))
        first = [-1] if self.rng.random() < 0.3 else []
        windows = [first + [start + int(i) for i in self.rng.permutation(size)] for start in starts]
        sources = np.concatenate([np.array(window) for window in windows])
        units = Maxima.of_sizes([len(window) for window in windows])
        self.add(np.zeros(units.rows), [Read(Patches.selection(width, sources), last)], units)

    def finished(self) -> Network:
        last = len(self.nodes) - 1
        output = Read(Patches.selection(self.width(last), np.zeros(1, dtype=np.int64)), last)
        self.add(np.zeros(1), [output], Units(1, identity()))
        return Network.from_graph(Graph(self.n_in, self.nodes))


def _network(rng: Rng, dimension: int, numbers: Draw) -> Network:
    nodes = _Nodes(rng, int(rng.integers(dimension, 5)), numbers)
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
    """Weights of -1, 0 and 1: arms that are alike, constant, or the same along lines and in points."""
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
