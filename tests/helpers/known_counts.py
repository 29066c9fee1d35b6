# SPDX-License-Identifier: MIT
"""Which networks have a number of regions that is known from elsewhere?

The sources are textbooks on arrangements, and the definitions of other papers. The networks are small enough for the
rational reference; everything that counts regions is compared with them.
"""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from regions.constructions import arrangement
from regions.domains import Domain, Line, Plane, Polygon, Ray, Rectangle, Segment
from regions.networks.named_activations import hard_tanh
from regions.networks.network import Network

PLANE = Plane([0, 0], [1, 0], [0, 1])
SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
# Transversal to (1, 1, 1), along which arrangements of planes x_i = x_j never change.
ACROSS_THE_DIAGONAL = Plane([0, 0, 0], [1, -1, 0], [0, 1, -1])


def general_lines(count: int) -> Network:
    """Lines of which no two are parallel and no three meet."""
    rng = np.random.default_rng(count)
    return arrangement(rng.standard_normal((count, 2)), rng.standard_normal(count))


def grid(columns: int, rows: int) -> Network:
    normals = [[1.0, 0.0]] * columns + [[0.0, 1.0]] * rows
    return arrangement(normals, np.r_[np.arange(columns), -np.arange(rows)])


def lines_through_zero(count: int) -> Network:
    return arrangement([[np.cos(a), np.sin(a)] for a in np.arange(count)])


def graph(*edges: tuple[int, int]) -> Network:
    """Return the planes x_i = x_j of the edges (i, j) of a graph; regions are its acyclic orientations."""
    return arrangement([np.eye(3)[i] - np.eye(3)[j] for i, j in edges])


def parallel_pairs(units: int) -> Network:
    rng = np.random.default_rng(units)
    layers = [(rng.standard_normal((units, 2)), rng.standard_normal(units)), (np.ones((1, units)), None)]
    return Network(layers, hard_tanh(-1, 0.5))


_CENTRAL = {
    "boolean": (arrangement([[1, 0], [0, 1]]), 4),
    "resonance": (arrangement([[1, 0], [0, 1], [1, 1]]), 6),
    "type B": (arrangement([[1, 0], [0, 1], [1, 1], [1, -1]]), 8),
    "x_i + x_j with i = j": (arrangement([[2, 0], [1, 1], [0, 2]]), 6),
    "braid on 2 strings": (arrangement([[1, -1]]), 2),
    "x_1 + x_2 = 0": (arrangement([[1, 1]]), 2),
    "9 lines": (lines_through_zero(9), 18),
}
_POINTS = arrangement(np.ones((4, 1)), [-2, 0, 1, 1])

ARRANGEMENTS: dict[str, tuple[Network, Domain, int]] = {
    **{f"{n} lines in general position": (general_lines(n), PLANE, 1 + n + comb(n, 2)) for n in range(1, 9)},
    **{f"{name} in the plane": (network, PLANE, count) for name, (network, count) in _CENTRAL.items()},
    **{f"{name} in a square": (network, SQUARE, count) for name, (network, count) in _CENTRAL.items()},
    "a triangle": (graph((0, 1), (1, 2), (0, 2)), ACROSS_THE_DIAGONAL, 6),
    "a path": (graph((0, 1), (1, 2)), ACROSS_THE_DIAGONAL, 4),
    "an edge": (graph((0, 1)), ACROSS_THE_DIAGONAL, 2),
    "a grid": (grid(3, 2), PLANE, 12),
    **{f"{n} parallel pairs": (parallel_pairs(n), PLANE, count) for n, count in ((2, 9), (3, 19), (4, 33))},
    "points on a line": (_POINTS, Line([0], [1]), 4),
    "points on a ray": (_POINTS, Ray([0], [1]), 2),
    "points on the opposite ray": (_POINTS, Ray([0], [-1]), 2),
    "points on a ray over some": (_POINTS, Ray([1.5], [-3]), 3),
    "points on a segment": (_POINTS, Segment([-5], [0]), 2),
}
# Networks on which published definitions differ: ours counts full-dimensional patterns, and some patterns have the
# same affine map.
DEFINITIONS: dict[str, tuple[Network, int, int]] = {
    name: (Network(layers), count, maps)
    for name, layers, count, maps in (
        ("E1", [([[1, 0], [0, 1], [0, -1]], None), ([[1, -1, 1], [1, 0, 0]], None), ([[1, -1]], None)], 5, 3),
        ("E3", [([[1, 0], [2, 0]], None), ([[1, 1]], None)], 2, 2),
        ("E4", [([[1, 0], [1, 0]], None), ([[1, -1]], None)], 2, 1),
        ("E5", [([[1, 0], [-1, 0]], None), ([[1, -1]], None)], 2, 1),
        ("E6", [([[1, 0], [-1, 0]], None), ([[1, 1]], None)], 2, 2),
        ("E8", [([[1, 0], [1, 0], [1, 0]], [0, -1, -2]), ([[1, -2, 1]], None)], 4, 3),
    )
}

arrangements = pytest.mark.parametrize(("network", "domain", "expected"), ARRANGEMENTS.values(), ids=ARRANGEMENTS)
definitions = pytest.mark.parametrize(("network", "expected", "maps"), DEFINITIONS.values(), ids=DEFINITIONS)
around_zero = pytest.mark.parametrize(
    "domain",
    [PLANE, Rectangle([-4, -4], [8, 0], [0, 8]), Rectangle([-8, -8], [16, 0], [0, 16])],
    ids=["plane", "box", "larger box"],
)
