# SPDX-License-Identifier: MIT
"""What breaks the law that depth adds no regions on average, and by how much?

Exact counts in the whole plane, of ReLU networks of two inputs whose signs are symmetric, or not: constant biases,
weights with a positive mean, skip connections without a second matrix, and batch norms with the statistics of 256
normal points. The table has r(N, 2), the number of regions of one layer with as many units; the mean; the ratio with
half of its interval at 95 percent; and the relative standard deviation, which no theorem gives.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from common import keep, new_figure, read_options

import regions
from regions import bounds
from regions.domains import Plane
from regions.measures import Estimate
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Read, Units
from regions.networks.named_activations import identity, relu
from regions.networks.patches import Patches

SMALL = {"networks": 10}
CHUNK = 50
WIDTH, POINTS = 16, 256
PLANE = Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])
Draw = Callable[[np.random.Generator], regions.Network]


def he(rng: np.random.Generator, below: int, width: int) -> np.ndarray:
    return rng.normal(0, (2 / below) ** 0.5, (width, below))


def chain(depth: int, width: int = WIDTH, bias: float | None = None, mean: float = 0.0) -> Draw:
    """Draw chains: with a constant bias, or N(0, 1); weights have this mean, in standard deviations."""

    def draw(rng: np.random.Generator) -> regions.Network:
        layers = []
        for below in (2, *[width] * (depth - 1)):
            biases = rng.normal(0, 1, width) if bias is None else np.full(width, bias)
            layers.append((he(rng, below, width) + mean * (2 / below) ** 0.5, biases))
        return regions.Network([*layers, (np.zeros((1, width)), None)])

    return draw


def normed(depth: int) -> Draw:
    """Draw chains with a batch norm before each ReLU: mean 0 and variance 1 over normal points."""

    def draw(rng: np.random.Generator) -> regions.Network:
        points, layers = rng.standard_normal((POINTS, 2)), []
        for _ in range(depth):
            weights = he(rng, points.shape[1], WIDTH)
            rows = points @ weights.T
            mean, std = rows.mean(axis=0), rows.std(axis=0) + 1e-9
            layers.append((weights / std[:, np.newaxis], -mean / std))
            points = np.maximum((rows - mean) / std, 0.0)
        return regions.Network([*layers, (np.zeros((1, WIDTH)), None)])

    return draw


def blocks(depth: int, *, second: bool, bends: bool) -> Draw:
    """Draw blocks x + relu(W x + b), or with ``second`` x + V relu(W x + b), after a linear layer; and with ``bends``
    each sum, and the first layer, ends with another ReLU.
    """

    def draw(rng: np.random.Generator) -> regions.Network:
        nodes: list[Node] = []

        def add(reads: list[Read], activation: str) -> int:
            units = Units(WIDTH, relu() if activation == "relu" else identity())
            start = nodes[-1].kinks.stop if nodes else 0
            kinks = slice(start, start + units.kinks)
            nodes.append(Node(rng.normal(0, 1, WIDTH), tuple(reads), units, kinks, activation))
            return len(nodes) - 1

        end = "relu" if bends else "sum"
        stream = add([Read(Dense(he(rng, 2, WIDTH)), -1)], end)
        copy = Patches.selection(WIDTH, np.arange(WIDTH))
        for _ in range(depth):
            branch = add([Read(Dense(he(rng, WIDTH, WIDTH)), stream)], "relu")
            read = Read(Dense(he(rng, WIDTH, WIDTH)) if second else copy, branch)
            stream = add([Read(copy, stream), read], end)
        read, stop = Read(Dense(np.zeros((1, WIDTH))), stream), nodes[-1].kinks.stop
        output = Node(np.zeros(1), (read,), Units(1, identity()), slice(stop, stop), "output")
        return regions.Network.from_graph(Graph(2, [*nodes, output]))

    return draw


ROWS: list[tuple[str, Draw]] = [
    ("signs symmetric: 2 layers of 16", chain(2)),
    ("signs symmetric: 2 layers of 64", chain(2, 64)),
    ("signs symmetric: 4 layers of 16", chain(4)),
    ("signs symmetric: 8 layers of 16", chain(8)),
    ("signs symmetric: 4 blocks x + V relu(W x + b)", blocks(4, second=True, bends=False)),
    ("biases 0.5: 3 layers of 16", chain(3, bias=0.5)),
    ("biases -0.5: 3 layers of 16", chain(3, bias=-0.5)),
    ("weights of mean 0.5 deviations: 3 layers of 16", chain(3, mean=0.5)),
    ("4 blocks x + relu(W x + b)", blocks(4, second=False, bends=False)),
    ("2 blocks relu(x + V relu(W x + b))", blocks(2, second=True, bends=True)),
    ("4 blocks relu(x + V relu(W x + b))", blocks(4, second=True, bends=True)),
    *((f"batch norm: {depth} layer{'s' * (depth > 1)} of 16", normed(depth)) for depth in range(1, 7)),
]


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=1000)
    figure, (ax,) = new_figure(1)
    rows: list[list[object]] = []
    for number, (name, draw) in enumerate(ROWS):
        rng = np.random.default_rng([options.seed, number])
        counts: list[int] = []
        while len(counts) < options.networks:
            networks = [draw(rng) for _ in range(min(CHUNK, options.networks - len(counts)))]
            counts += regions.count(networks, PLANE).tolist()
        shallow, found = bounds.zaslavsky(2, networks[0].kinks), Estimate(np.array(counts, dtype=float))
        low, high = found.interval(0.95)
        spread = float(np.std(counts, ddof=1)) / found.value
        rows.append([name, shallow, found.value, found.value / shallow, (high - low) / 2 / shallow, spread])
    chosen = rows[-6:]
    ax.errorbar(range(1, 7), [row[3] for row in chosen], [row[4] for row in chosen], fmt="o-", label="batch norm")
    plain = {1: 1.0, **{depth: row[3] for depth, row in zip((2, 4, 8), (rows[0], *rows[2:4]), strict=True)}}
    ax.plot(list(plain), list(plain.values()), "o-", label="symmetric signs")
    ax.axhline(1.0, color="k", linestyle="--", linewidth=1)
    ax.set(xlabel="layers of 16 units", ylabel="mean regions over r(N, 2)")
    ax.legend()
    return keep(options, __file__, figure, ["setting", "r(N, 2)", "regions", "ratio", "+- 95%", "spread"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
