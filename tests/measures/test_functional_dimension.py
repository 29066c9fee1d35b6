# SPDX-License-Identifier: MIT
"""Is `measures.functional_dimension` right, by hand, and by fractions?

In one weight or bias at a time a network with a fixed pattern is affine, so a difference of two outputs is the
derivative, exactly. The judge takes these at points of each region, and finds the rank in fractions.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from generator_parts import gaussian, small_integers, zeros
from generator_parts import network as network_of
from regions.domains import Box, Line, Plane, Rectangle, Segment
from regions.errors import UnsupportedLayerError
from regions.measures import functional_dimension
from regions.networks.network import Network

PLANE = Plane([0, 0], [1, 0], [0, 1])
SQUARE = Rectangle([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0])
ONE = ([[1.0]], [0.0])


def dimension(net: Network, domain: object = PLANE) -> tuple[int, int]:
    """Return the dimension and its upper bound."""
    found = functional_dimension(regions.enumerate(net, domain))  # type: ignore[call-overload]
    assert found.hidden_symmetries == found.upper - found.dimension and found.is_proven == (not found.hidden_symmetries)
    assert found.parameters == sum(layer.weights.size + layer.biases.size for layer in net.layers)
    assert str(found.dimension) in repr(found) and "without scalings" in found._repr_html_()
    return found.dimension, found.upper


def by_fractions(part: regions.Partition) -> int:
    layers = [(layer.weights.tolist(), layer.biases.tolist()) for layer in part.network.layers]
    flat = [Fraction(x) for weights, biases in layers for x in [*sum(weights, []), *biases]]
    rows = []
    for region, pattern in zip(part, part.patterns.tolist(), strict=True):
        corners = [region.interior_point + step for step in np.vstack([np.zeros(2), np.eye(2)])]
        for corner in corners:  # d + 1 points determine an affine form, inside the region or not
            point = [Fraction(x) for x in part.domain.to_input(corner).tolist()]
            start = evaluated(layers, flat, pattern, point)
            moved = (evaluated(layers, [*flat[:k], x + 1, *flat[k + 1 :]], pattern, point) for k, x in enumerate(flat))
            changes = [[b - a for a, b in zip(start, each, strict=True)] for each in moved]
            rows += [list(each) for each in zip(*changes, strict=True)]
    rank = 0
    for column in range(len(flat)):
        pivot = next((row for row in range(rank, len(rows)) if rows[row][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for row in range(rank + 1, len(rows)):
            if factor := rows[row][column] / rows[rank][column]:
                rows[row] = [x - factor * y for x, y in zip(rows[row], rows[rank], strict=True)]
        rank += 1
    return rank


def evaluated(layers: list, flat: list[Fraction], pattern: list[bool], values: list[Fraction]) -> list[Fraction]:
    """Return the outputs of a ReLU network with other parameters, under a pattern."""
    place, bits = 0, iter(pattern)
    for weights, biases in layers:
        inputs, units = len(values), len(biases)
        rows = [flat[place + unit * inputs : place + (unit + 1) * inputs] for unit in range(units)]
        place += inputs * units
        values = [
            sum((w * x for w, x in zip(row, values, strict=True)), bias)
            for row, bias in zip(rows, flat[place : place + units], strict=True)
        ]
        place += units
        if weights is not layers[-1][0]:
            values = [value if next(bits) else Fraction(0) for value in values]
    return values


def test_one_unit() -> None:
    net = Network([ONE, ONE])
    assert dimension(net, Line([0.0], [1.0])) == (3, 3)  # both slopes and the kink, less the scale: 1, h and h x
    assert dimension(net, Segment([1.0], [2.0])) == (2, 3)  # always on: an affine function
    assert dimension(net, Segment([-2.0], [-1.0])) == (1, 3)  # always off: a constant
    assert dimension(Network([ONE]), Segment([0.0], [1.0])) == (2, 2)


def test_twins_and_parallel_units() -> None:
    one = dimension(Network([([[1.0]], [0.25]), ONE]), Line([0.0], [1.0]))
    twins = dimension(Network([([[1.0]] * 2, [0.25] * 2), ([[1.0, 1.0]], [0.0])]), Line([0.0], [1.0]))
    assert one == (3, 3) and twins == (3, 5)
    # Two kinks apart: 1, and an affine function beyond each.
    assert dimension(Network([([[1.0]] * 2, [0.0, 1.0]), ([[1.0, 1.0]], [0.0])]), Line([0.0], [1.0])) == (5, 5)


def test_one_layer_in_the_plane() -> None:
    # In general position nothing but scalings is lost, with all regions of the plane.
    rng = np.random.default_rng(0)
    assert dimension(network_of(rng, [2, 4, 1])) == (17 - 4, 17 - 4)
    # Each of two outputs has weights and a bias of its own.
    assert dimension(network_of(rng, [2, 3, 2])) == (17 - 3, 17 - 3)


def test_a_dead_layer_and_units_without_weights() -> None:
    rng = np.random.default_rng(1)
    dead = Network(
        [(rng.standard_normal((3, 2)), rng.standard_normal(3)), (-np.ones((2, 3)), [-1, -1]), ([[1, 1]], [0])]
    )
    assert dimension(dead, SQUARE) == (1, 9 + 8 + 3 - 5)
    # A unit without any weight or bias has no scale to lose.
    empty = Network([([[1.0], [0.0]], [0.5, 0.0]), ([[1.0, 0.0]], [0.0])])
    assert dimension(empty, Line([0.0], [1.0]))[1] == 7 - 1
    # Two of them in a row, tied to each other only.
    alone = Network([([[1], [0]], [1, 0]), ([[1, 0], [0, 1]], [1, 0]), ([[1, 0]], [0])])
    assert dimension(alone, Line([0.0], [1.0]))[1] == 4 + 6 + 3 - 3


def test_hard_tanh_has_no_scale() -> None:
    net = Network([([[1.0]], [0.25]), ONE], "hard_tanh")
    assert dimension(net, Line([0.0], [1.0])) == (4, 4)  # 1, x between the kinks, 1 between them, and the clipped unit
    assert dimension(Network([([[1.0]], [0.25]), ONE], "leaky_relu(0.5)"), Line([0.0], [1.0])) == (3, 3)


@pytest.mark.parametrize("seed", range(8))
def test_fractions_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = [2, int(rng.integers(1, 4)), int(rng.integers(1, 3)), int(rng.integers(1, 3))]
    weights, biases = [(gaussian, gaussian), (small_integers, small_integers), (small_integers, zeros)][seed % 3]
    part = regions.enumerate(network_of(rng, sizes, weights, biases), SQUARE)
    found = functional_dimension(part)
    assert found.dimension == by_fractions(part) <= found.upper
    assert set(found.ranks) == {found.dimension}


def test_boxes() -> None:
    net = network_of(np.random.default_rng(2), [3, 3, 1], gaussian, zeros)
    assert dimension(net, Box([-1.0] * 3, [1.0] * 3)) == (16 - 3, 16 - 3)


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a regions.Partition"):
        functional_dimension(Network([ONE]))  # type: ignore[arg-type]
    from generators_maxima import network_of_maxima

    maxima = network_of_maxima(2, [(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), [2])])
    with pytest.raises(UnsupportedLayerError, match="chains of dense layers"):
        functional_dimension(regions.enumerate(maxima, SQUARE))
