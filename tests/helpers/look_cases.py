# SPDX-License-Identifier: MIT
"""With which partitions are pages tested?"""

from __future__ import annotations

from typing import Any

import numpy as np

import regions
from generators import draw
from generators_maxima import network_of_maxima
from random_networks import random_network
from regions.results.partition import Partition

__all__ = ["CASES", "SQUARE", "partition_of"]

SQUARE = regions.Polygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def _ternary_network() -> regions.Network:
    """Many lines in one point and many equal neurons: further bits change across a facet."""
    rng = np.random.default_rng(3)
    layers = [(rng.integers(-1, 2, (n, m)), rng.integers(-1, 2, n)) for n, m in ((8, 2), (6, 8), (3, 6))]
    return regions.Network(layers)


def _maxouts() -> list[tuple[Any, list[int]]]:
    """Two layers of maxouts, of three and of two branches."""
    rng = np.random.default_rng(2)
    return [(rng.standard_normal((12, 3)), [3] * 4), (rng.standard_normal((6, 5)), [2] * 3)]


def _partial(network: regions.Network) -> Partition:
    try:
        return regions.enumerate(network, SQUARE, limit=40)
    except regions.LimitReached as reached:
        partial: Partition = reached.partial
        return partial


def _block() -> Partition:
    """A block of a stream, with holes where other blocks are."""
    blocks = list(regions.stream(random_network([2, 14, 14, 1], 2), SQUARE, regions_per_block=30))
    return blocks[len(blocks) // 2]


CASES = {
    "generic": lambda: regions.enumerate(random_network([2, 24, 24, 4], 1), SQUARE),
    "one output": lambda: regions.enumerate(random_network([2, 12, 12, 1], 4), SQUARE),
    "ternary": lambda: regions.enumerate(_ternary_network(), SQUARE),
    "ternary on a plane": lambda: regions.enumerate(_ternary_network(), regions.Plane([0, 0], [1, 0], [0, 1])),
    "part of ternary": lambda: _partial(_ternary_network()),
    "strip": lambda: regions.enumerate(
        random_network([2, 24, 24, 4], 1), regions.Rectangle([-1.0, 0.1], [2.0, 0.0], [0.0, 1e-9])
    ),
    "tiny": lambda: _around_a_vertex(1e-9),
    "rounded to a dent": lambda: regions.enumerate(*draw("far_away", 2, 11)),  # a region that is not convex any more
    "maxima": lambda: regions.enumerate(network_of_maxima(2, _maxouts()), SQUARE),
    "hard tanh": lambda: regions.enumerate(random_network([2, 10, 8, 2], 7, "hard_tanh"), SQUARE),
    "oblique": lambda: regions.enumerate(random_network([5, 12, 12, 3], 8), regions.Rectangle(
        np.full(5, 0.1), np.array([2.0, 0, 1, 0, 0]), np.array([1.0, 1, 0, 0, 3])
    )),
    "plane": lambda: regions.enumerate(random_network([2, 10, 10, 2], 9), regions.Plane([0, 0], [1, 0], [0, 1])),
    "partial": lambda: _partial(random_network([2, 16, 16, 3], 5)),
    "block": _block,
    "deep": lambda: regions.enumerate(random_network([2, *[5] * 40, 1], 10, "leaky_relu(0.5)", he=True), SQUARE),
    "many outputs": lambda: regions.enumerate(random_network([2, 10, 30], 11), SQUARE),
    "affine": lambda: regions.enumerate(random_network([2, 3], 12), SQUARE),
    "segment": lambda: regions.enumerate(random_network([3, 14, 14, 3], 13), regions.Segment([-2, 1, 0], [3, 0, 1])),
    "ray": lambda: regions.enumerate(random_network([1, 14, 14, 1], 14), regions.Ray([-1], [-2])),
    "line": lambda: regions.enumerate(random_network([2, 14, 14, 2], 15), regions.Line([0, 1], [1, 2])),
}  # fmt: skip


def _around_a_vertex(side: float) -> Partition:
    """Where four regions of a generic network meet."""
    network = random_network([2, 24, 24, 4], 1)
    part = regions.enumerate(network, SQUARE)
    inner = np.abs(part.vertices).max(axis=1) < 0.5
    corner = part.vertices[np.flatnonzero(inner)[0]] - side / 2
    return regions.enumerate(network, regions.Rectangle(corner, [side, 0], [0, side]))


def partition_of(case: str) -> Partition:
    """Return one of the partitions."""
    return CASES[case]()
