# SPDX-License-Identifier: MIT
"""Are bounds valid at the limits of the doubles, and is overflow undecided?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from regions.networks.activation import Activation
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Read, Units
from regions.networks.named_activations import identity
from regions.networks.walk import preactivations, under
from regions.passes.bounded import Bounded, BoundedForms
from regions.passes.bounded_together import BoundedTogether


@pytest.mark.parametrize("arithmetic", [Bounded, BoundedForms, BoundedTogether])
def test_outputs_that_underflow_and_weights_that_bring_them_back(
    arithmetic: type[Bounded | BoundedForms | BoundedTogether],
) -> None:
    """A slope leaves few bits of a value, and the next weight scales them to an ordinary number."""
    rng, off = np.random.default_rng(0), 0
    for _ in range(200):
        slope, first = 10.0 ** -rng.uniform(25, 30), -(10.0 ** rng.uniform(-295, -285))
        second = 10.0 ** rng.uniform(300, 308)
        small = Activation("small", [0.0], [slope, 1.0], [0.0, 0.0])
        network = regions.Network([([[first]], [0.0]), ([[second]], [0.0])], activation=small)
        walker = arithmetic(network.graph, regions.Segment([0.0], [1.0]))
        with np.errstate(under="ignore"):
            start = walker.inputs(np.ones((1, 1)), np.zeros(1))  # type: ignore[arg-type]
            *_, last = preactivations(network.graph, walker, start, under(np.zeros((1, 1))))
        # The last entry of a form is its slope.
        value, error = last[0].flat[-1], (last.errors if arithmetic is BoundedTogether else last[1]).flat[-1]
        exact = Fraction(slope) * Fraction(first) * Fraction(second)
        assert abs(Fraction(value) - exact) <= Fraction(error)
        off += abs(Fraction(value) - exact) > Fraction(1e-12) * abs(exact)
    assert off > 20


@pytest.mark.parametrize("arithmetic", [Bounded, BoundedForms, BoundedTogether])
def test_subnormal_intercepts_and_weights_that_make_them_ordinary_numbers(
    arithmetic: type[Bounded | BoundedForms | BoundedTogether],
) -> None:
    """The charge for the second product is not a double before it is multiplied by the weight."""
    rng, off = np.random.default_rng(0), 0
    for _ in range(50):
        intercept, second = 3 * 2.0**-1074, 2.0 ** rng.uniform(900, 1000)
        level = Activation("level", [0.0], [0.0, 1.0], [intercept, intercept])
        network = regions.Network([([[1.0]], [0.0]), ([[second]], [0.0])], activation=level)
        walker = arithmetic(network.graph, regions.Segment([0.0], [1.0]))
        start = walker.inputs(np.ones((1, 1)), np.zeros(1))  # type: ignore[arg-type]
        with np.errstate(all="ignore"):
            *_, last = preactivations(network.graph, walker, start, under(np.zeros((1, 1))))
        # The first entry of a form is its constant.
        value, error = last[0].flat[0], (last.errors if arithmetic is BoundedTogether else last[1]).flat[0]
        exact = Fraction(intercept) * Fraction(second)
        assert abs(Fraction(value) - exact) <= Fraction(error)
        off += Fraction(value) != exact
    assert off > 20


def test_nothing_is_known_where_a_value_overflows() -> None:
    layers = ([[1e99], [1.0]], [0.0, 0.5]), ([[1e220, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], None)
    network = regions.Network(list(layers))
    together = BoundedTogether(network.graph, regions.Segment([0.0], [2.0]))
    start = together.inputs(np.array([[0.0], [1.0]]), np.zeros(2))
    with np.errstate(all="ignore"):
        first, second, last = preactivations(network.graph, together, start, under(np.ones((2, 4))))
    assert (first.errors < np.inf).all() and first.length < np.inf
    assert not (second.errors < np.inf).any() and not second.length < np.inf
    assert not (last.errors < np.inf).any() and not last.length < np.inf


@pytest.mark.parametrize("arithmetic", [Bounded, BoundedTogether])
@pytest.mark.parametrize("reads", [1, 2])
def test_a_long_sum_in_which_small_terms_are_lost(arithmetic: type[Bounded | BoundedTogether], reads: int) -> None:
    """Half a unit in the last place of 1 is rounded away, however often it is added. One term of a sum is the 1."""
    count, half = 1 << 17, 2.0**-53
    ones, small = np.ones((count, 1)), np.full((1, count), half)
    small[0, 0] = 1.0
    first = Node(np.zeros(count), (Read(Dense(ones), -1),), Units(count, identity()), slice(0, 0))
    both = tuple(Read(Dense(small), 0) for _ in range(reads))
    graph = Graph(1, [first, Node(np.zeros(1), both, Units(1, identity()), slice(0, 0))])
    walker = arithmetic(graph, regions.Segment([0.0], [1.0]))
    *_, last = preactivations(graph, walker, walker.inputs(np.ones((1, 1)), np.zeros(1)), under(np.zeros((1, 0))))
    value, error = last[0].item(), last.errors.item() if arithmetic is BoundedTogether else last[1].item()
    exact = reads * (1 + (count - 1) * Fraction(half))
    assert 200 * half < abs(Fraction(value) - exact) <= Fraction(error)


@pytest.mark.parametrize("arithmetic", [Bounded, BoundedTogether])
def test_a_bias_next_to_which_the_rest_is_rounded_away(arithmetic: type[Bounded | BoundedTogether]) -> None:
    network = regions.Network([([[1.0]], [0.0]), ([[1.0]], [1.0])], activation=identity())
    walker = arithmetic(network.graph, regions.Segment([0.0], [1.0]))
    *_, last = preactivations(
        network.graph, walker, walker.inputs(np.full((1, 1), 2.0**-60), np.zeros(1)), under(np.zeros((1, 0)))
    )
    error = last.errors.item() if arithmetic is BoundedTogether else last[1].item()
    assert last[0].item() == 1.0 and 2.0**-60 <= error < 1e-13
