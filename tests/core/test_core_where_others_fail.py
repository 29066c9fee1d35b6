# SPDX-License-Identifier: MIT
"""Are results right for networks on which floating-point tools fail?

Small networks that are degenerate in one way each, with counts that can be read off a sketch. The reference must agree,
the enumeration must have as many regions, and `certify` must find no fault.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import regions
from regions import Network, reference
from regions.domains import Domain

Rows = list[list[float]]


class Case(NamedTuple):
    layers: list[Rows]  # for each hidden layer: weights and, last, the bias of every unit
    expected: int
    domain: Domain


def square(x: float = 0.0, y: float = 0.0, half: float = 1.0) -> Domain:
    return regions.Polygon([[x - half, y - half], [x + half, y - half], [x + half, y + half], [x - half, y + half]])


def rescaled(rows: Rows, factor: float) -> Rows:
    return [[factor * entry for entry in row] for row in rows]


SQUARE = square()
CONCURRENT: Rows = [[2, 0, -1], [0, 5, -1], [2, 5, -2]]
FAR = 2.0**40
X_AND_Y: Rows = [[1, 0, 0], [0, 1, 0]]

CASES = {
    "duplicate neurons": Case([[[1, 0, 0], [1, 0, 0]]], 2, SQUARE),
    "opposite neurons": Case([[[1, 0, 0], [-1, 0, 0]]], 2, SQUARE),
    "one neuron a multiple of another": Case([[[1, 3, 0.5], [7, 21, 3.5], [-3, -9, -1.5]]], 2, SQUARE),
    "three lines through a point": Case([CONCURRENT], 6, SQUARE),
    "many lines through a point": Case([[[k, 13 - k, 0] for k in range(14)]], 28, SQUARE),
    "zero and constant rows": Case([[[0, 0, 0], [0, 0, 1], [0, 0, -1], [1, 0, 0]]], 2, SQUARE),
    "nothing but zero rows": Case([[[0, 0, 0], [0, 0, 0]], [[0, 0, 0]]], 1, SQUARE),
    "a strip 2^-45 wide": Case([[[1, 0, 0], [1, 0, -(2.0**-45)]]], 3, SQUARE),
    "a strip of the smallest double": Case([[[1, 0, 0], [1, 0, -5e-324]]], 3, SQUARE),
    "a triangle of area 2^-110": Case([[[1, 0, 0], [0, 1, 0], [1, 1, -(2.0**-54)]]], 7, SQUARE),
    "a line that touches a corner": Case([[[1, 1, -2]]], 1, SQUARE),
    "a line through two corners": Case([[[1, 1, 0]]], 2, SQUARE),
    "lines along all edges": Case([[[1, 0, -1], [1, 0, 1], [0, 1, -1], [0, 1, 1]]], 1, SQUARE),
    "a second layer that is zero on a cell": Case([[[1, 0, 0]], [[1, 0]]], 2, SQUARE),
    "a second layer on a first-layer line": Case([[[1, 0, 0], [-1, 0, 0]], [[1, -1, 0]]], 2, SQUARE),
    "a second layer that is zero everywhere": Case([[[1, 0, 0], [1, 0, 0]], [[1, -1, 0]]], 2, SQUARE),
    "a second layer through first-layer vertices": Case(
        [[*X_AND_Y, [-1, 0, 0], [0, -1, 0]], [[1, 1, -1, -1, 0]]], 6, SQUARE
    ),
    "far from the origin": Case([[[1, 0, -FAR], [0, 1, -FAR], [1, 1, -2 * FAR]]], 6, square(FAR, FAR)),
    "scaled by 2^80": Case([rescaled(CONCURRENT, 2.0**80)], 6, SQUARE),
    "scaled by 2^-80": Case([rescaled(CONCURRENT, 2.0**-80)], 6, SQUARE),
    "scaled by 2^80, then back": Case([rescaled(X_AND_Y, 2.0**80), [[2.0**-80, 2.0**-80, -1]]], 5, SQUARE),
    "a square 2^-80 wide": Case([[[1, 0, 0], [1, -1, 0], [1, 1, 0]]], 6, square(half=2.0**-80)),
    "a segment inside a line": Case([[[1, 0, 0], [0, 1, 0]]], 2, regions.Segment([0, -1], [0, 1])),
    "a segment that ends on a line": Case([[[1, 0, 0]]], 1, regions.Segment([0, 0], [1, 1])),
    "a segment through a vertex": Case([X_AND_Y], 2, regions.Segment([-1, -1], [1, 1])),
    "a segment through a vertex of three layers": Case(
        [X_AND_Y, [[1, -1, 0], [1, 1, 0]], [[1, 1, 0], [1, -1, 0]]], 2, regions.Segment([-1, -2], [1, 2])
    ),
}


def network(layers: list[Rows]) -> Network:
    arrays = [np.array(rows, dtype=float) for rows in layers]
    return Network([*((rows[:, :-1], rows[:, -1]) for rows in arrays), (np.ones((1, len(arrays[-1]))), [0.0])])


@pytest.mark.parametrize("name", CASES)
def test_where_others_fail(name: str) -> None:
    case = CASES[name]
    net = network(case.layers)
    count, certificate = regions.certified_count(net, case.domain)
    assert count == reference.count(net, case.domain) == case.expected
    assert certificate.complete
    partition = regions.enumerate(net, case.domain)
    assert len(partition) == case.expected
    assert regions.certify(partition, net).ok


@pytest.mark.parametrize("activation", ["relu", "leaky_relu(0.5)", "abs", "soft_shrink(0.5)"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_rows_that_are_zero_everywhere_need_no_long_integers(activation: str, dimension: int) -> None:
    """Rows of the second layer without biases read nothing, or only the first neuron, which is often off."""
    rng = np.random.default_rng(dimension)
    weights, biases = rng.standard_normal((9, 6)), rng.standard_normal(9)
    weights[:3], biases[:6] = 0, 0
    weights[3:6, 1:] = 0
    first = rng.standard_normal((6, dimension)), rng.standard_normal(6) / 4
    net = Network([first, (weights, biases), (rng.standard_normal((1, 9)), [0])], activation=activation)
    domain = square() if dimension == 2 else regions.Box([-1] * 3, [1] * 3)
    count, certificate = regions.certified_count(net, domain)
    expected = reference.enumerate(net, domain)
    part = regions.enumerate(net, domain)
    assert count == len(part) == len(expected) > 20
    assert sorted(map(tuple, part.patterns.tolist())) == sorted(region.pattern for region in expected)
    if activation == "soft_shrink(0.5)":
        assert certificate.exact == 0  # no kink is at 0
    rows = [0, 1, 2, 6, 7, 8]
    reads_nothing = Network([first, (weights[rows], biases[rows]), ([[1] * 6], [0])], activation=activation)
    certificate = regions.certified_count(reads_nothing, domain)[1]
    assert (certificate.exact, certificate.zero > 0) == (0, activation != "soft_shrink(0.5)")
