# SPDX-License-Identifier: MIT
"""Which two integers does the theorem on signs compare, for a network of any kind? See ``docs/depth.md``.

The left side counts the networks with all signs. The right side counts the cells of arrangements of hyperplanes, one
for each choice of a piece for each unit: as a network of one layer, or in whole spaces by characteristic polynomials.
Weights are small integers over 16, so that the coefficients of hyperplanes have at most 53 bits and are exact. Most of
the laws are degenerate on purpose: the theorem needs no general position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np

import regions
from regions import bounds
from regions.domains import Box, Domain, Line, Plane, Polygon, Polytope, Segment, Space
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Maxima, Node, Read, Units
from regions.networks.named_activations import identity, parse_activation
from regions.networks.patches import Patches
from regions.networks.sign_flips import free_signs

Draw = Callable[..., np.ndarray]
WHOLE: dict[int, Domain | Polytope] = {
    1: Line([0.0], [1.0]),
    2: Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0]),
    **{n_in: Space([0.0] * n_in, np.eye(n_in)) for n_in in (3, 4, 5)},
}
PARTS: dict[int, Domain | Polytope] = {
    1: Segment([-1.0], [2.0]),
    2: Polygon([[-1.0, -0.5], [2.0, -1.0], [0.5, 1.5]]),
    3: Box([-1.0, -0.5, 0.0], [1.0, 1.0, 2.0]),
    4: Box([-1.0] * 4, [1.0, 2.0, 1.0, 0.5]),
    5: Box([-1.0] * 5, [1.0, 2.0, 1.0, 0.5, 1.0]),
}
SLOPES = {"relu": 0.0, "leaky_relu(0.25)": 0.25, "abs": -1.0}
# Whole spaces and parts, and how often a case has them: counts in whole spaces of many dimensions take long.
DOMAINS = {
    **{("part", n_in): often for n_in, often in zip(range(1, 6), (25, 30, 15, 4, 2), strict=True)},
    **{("whole", n_in): often for n_in, often in zip(range(1, 6), (25, 30, 4, 1, 0.3), strict=True)},
}
MOST_SIGNS = 7
KINDS = ("chain", "residual", "dense", "maxout")


def generic(rng: np.random.Generator, *size: int) -> np.ndarray:
    return (2 * rng.integers(-8, 8, size) + 1) / 16


def ternary(rng: np.random.Generator, *size: int) -> np.ndarray:
    return rng.integers(-1, 2, size).astype(float)


def positive(rng: np.random.Generator, *size: int) -> np.ndarray:
    return abs(generic(rng, *size))


def sparse(rng: np.random.Generator, *size: int) -> np.ndarray:
    return generic(rng, *size) * rng.integers(0, 2, size)


def equal_rows(rng: np.random.Generator, *size: int) -> np.ndarray:
    return np.broadcast_to(ternary(rng, *size)[:1], size) * 1.0


def zeros(rng: np.random.Generator, *size: int) -> np.ndarray:
    return np.zeros(size)


# Weights, and biases.
LAWS: dict[str, tuple[Draw, Draw]] = {
    "generic": (generic, generic),
    "positive": (positive, positive),
    "no biases": (generic, zeros),
    "sparse": (sparse, sparse),
    "ternary": (ternary, ternary),
    "ternary, no biases": (ternary, zeros),
    "equal rows": (equal_rows, generic),
    "zeros": (zeros, zeros),
}


class Case(NamedTuple):
    """A network, and where its regions are counted."""

    kind: str
    where: str
    n_in: int
    widths: tuple[int, ...]
    law: str
    activation: str
    seed: int

    def network(self) -> regions.Network:
        rng = np.random.default_rng([self.seed, 1])
        weights, biases = LAWS[self.law]
        return drawn(
            self.kind, self.n_in, self.widths, self.activation, lambda *s: weights(rng, *s), lambda *s: biases(rng, *s)
        )


def case_of(seed: int) -> Case:
    """Draw a case."""
    rng = np.random.default_rng([seed, 0])
    chances = np.array(list(DOMAINS.values())) / sum(DOMAINS.values())
    where, n_in = list(DOMAINS)[rng.choice(len(DOMAINS), p=chances)]
    while True:
        widths = tuple(int(width) for width in rng.integers(1, 5, rng.integers(2, 5)))
        if 2 <= sum(widths[:-1]) <= MOST_SIGNS:
            break
    # Most bits have the forms of the last of four residual branches: products of 8 matrices, of 4 bits each, slopes of
    # two bits, and sums of at most 4 terms.
    kind = KINDS[rng.integers(len(KINDS))]
    law, activation = str(rng.choice(list(LAWS))), str(rng.choice(list(SLOPES)))
    return Case(kind, where, n_in, widths, law, activation, seed)


def difference(case: Case) -> tuple[int, str]:
    """Return the number of networks with all signs, and what differs; empty if nothing does."""
    network = case.network()
    networks, every = over_signs(network), list(arrangements(network))
    domain = (WHOLE if case.where == "whole" else PARTS)[case.n_in]
    left, right = sum(map(int, regions.count(networks, domain))), cells_in(domain, every)
    if left != right:
        return len(networks), f"{left} regions, {right} cells"
    if case.where == "whole" and case.kind == "chain":
        if left != (cells := chambers(every)):
            return len(networks), f"{left} regions, {cells} chambers"
        most = bounds.expected_regions(case.n_in, case.widths, slope=SLOPES[case.activation])
        if Fraction(left, len(networks)) > most:
            return len(networks), f"the mean of {left} regions is above {most}"
    return len(networks), ""


class Building:
    """A graph that grows by nodes with drawn weights and biases."""

    def __init__(self, n_in: int, weights: Draw, biases: Draw) -> None:
        self.n_in, self.weights, self.biases = n_in, weights, biases
        self.nodes: list[Node] = []
        self.kinks = 0

    def add(self, units: Units | Maxima, reads: list[Read], biased: bool = True) -> int:
        """Add a node, and return its number."""
        kinks = slice(self.kinks, self.kinks + units.kinks)
        self.kinks = kinks.stop
        biases = self.biases(units.rows) if biased else np.zeros(units.rows)
        self.nodes.append(Node(biases, tuple(reads), units, kinks, f"node {len(self.nodes)}"))
        return len(self.nodes) - 1

    def matrix(self, rows: int, source: int) -> Read:
        return Read(Dense(self.weights(rows, self.width(source))), source)

    def copy(self, source: int) -> Read:
        """Read each unit of a node with weight 1."""
        width = self.width(source)
        return Read(Patches.selection(width, np.arange(width)), source)

    def width(self, source: int) -> int:
        return self.nodes[source].units.count if source >= 0 else self.n_in

    def network(self) -> regions.Network:
        """Return the network, with a constant output."""
        read = Read(Dense(np.zeros((1, self.width(len(self.nodes) - 1)))), len(self.nodes) - 1)
        self.add(Units(1, identity()), [read], biased=False)
        return regions.Network.from_graph(Graph(self.n_in, self.nodes))


def drawn(
    kind: str, n_in: int, widths: tuple[int, ...], activation: str, weights: Draw, biases: Draw
) -> regions.Network:
    """Draw a network of one of the `KINDS`."""
    graph = Building(n_in, weights, biases)
    bends = parse_activation(activation)
    if kind == "residual":  # x + V phi(W x + b) + c, after a first linear layer
        stream = graph.add(Units(2, identity()), [graph.matrix(2, -1)])
        for width in widths:
            branch = graph.add(Units(width, bends), [graph.matrix(width, stream)])
            stream = graph.add(Units(2, identity()), [graph.copy(stream), graph.matrix(2, branch)])
        return graph.network()
    below = [-1]
    if kind == "dense":  # each layer reads the inputs and all layers before it
        below = [graph.add(Units(n_in, identity()), [graph.copy(-1)], biased=False)]
    for width in widths:
        units = Maxima.of_sizes([2] * width) if kind == "maxout" else Units(width, bends)
        number = graph.add(units, [graph.matrix(units.rows, source) for source in below])
        below = [*below, number] if kind == "dense" else [number]
    return graph.network()


def over_signs(network: regions.Network) -> list[regions.Network]:
    """Return the networks with all signs of the units."""
    signs = free_signs(network.graph)
    every = product((1.0, -1.0), repeat=signs.count)
    return [regions.Network.from_graph(signs.flipped(np.array(chosen))) for chosen in every]


def arrangements(network: regions.Network) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the hyperplanes for each choice of a piece for each unit with a sign: normals and offsets.

    Forms that are constant are left out.
    """
    graph, signs = network.graph, free_signs(network.graph)
    choices = [
        signs.numbers[start : start + node.units.count]
        for start, node in zip(np.cumsum([graph.n_in, *graph.widths]), graph.hidden, strict=False)
    ]
    for every in product((0, 1), repeat=signs.count):
        pieces = np.array([*every, 0])
        values = {-1: np.eye(graph.n_in + 1)[:, 1:]}  # [1 + n_in, units]: constants, then coefficients
        forms = []
        for number, (node, numbers) in enumerate(zip(graph.hidden, choices, strict=True)):
            rows = np.zeros((graph.n_in + 1, node.units.rows))
            rows[0] = node.biases
            for read in node.reads:
                rows += values[read.node] @ np.asarray(read.operator.weights).T
            forms.append(node.units.compared(rows))
            here = pieces[numbers] * (node.units.kinks > 0)
            values[number] = node.units.followed(rows, np.broadcast_to(here, (len(rows), len(here))))
            values[number] = values[number] * node.units.on_pieces(here)[0]
        every_form = np.concatenate(forms, axis=1).T
        every_form = every_form[every_form[:, 1:].any(axis=1)]
        yield every_form[:, 1:], every_form[:, 0]


def cells_in(domain: Domain | Polytope, every: Sequence[tuple[np.ndarray, np.ndarray]]) -> int:
    """Return the sum of the cells of arrangements in a domain, from counts of networks of one layer."""
    different = {
        (normals.tobytes(), offsets.tobytes()): (normals, offsets) for normals, offsets in every if len(normals)
    }
    networks = [regions.Network([each, (np.zeros((1, len(each[0]))), None)]) for each in different.values()]
    counted = map(int, regions.count(networks, domain)) if networks else ()
    cells = dict(zip(different, counted, strict=True))
    return sum(cells.get((normals.tobytes(), offsets.tobytes()), 1) for normals, offsets in every)


def chambers(every: Sequence[tuple[np.ndarray, np.ndarray]]) -> int:
    """Return the sum of the cells in the whole space, from characteristic polynomials."""
    return sum(bounds.chambers(normals, offsets) if len(normals) else 1 for normals, offsets in every)
