# SPDX-License-Identifier: MIT
"""Is the count on a segment right, where it comes layer by layer from the values at breakpoints?

That is `csrc/kernel/sweep.hpp`; enumerating takes the recursion's way, and so do unbounded domains.
"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from fuzz import Case, drawn
from generators_deep import DEEP_FAMILIES, cancelling, he_normal, orthogonal
from regions import reference

SEGMENT = regions.Segment([-1.0, 0.25], [1.0, -0.5])


def network(rng: np.random.Generator, sizes: list[int], draw: object = he_normal, activation: str = "relu"):
    layers = [
        (draw(rng, (n_out, n_in)), 0.1 * rng.standard_normal(n_out))
        for n_in, n_out in zip(sizes[:-1], sizes[1:], strict=True)
    ]
    return regions.Network(layers, activation=activation)


@pytest.mark.parametrize("sizes", [[2, 300, 300, 1], [2, *[40] * 12, 1], [2, *[13] * 30, 1], [2, 7, 129, 3, 1]])
def test_as_many_as_are_enumerated(sizes: list[int]) -> None:
    for seed in range(3):
        net = network(np.random.default_rng(seed), sizes)
        found, certificate = regions.count(net, SEGMENT, certificate=True)
        assert (found, certificate.exact) == (len(regions.enumerate(net, SEGMENT)), 0)


@pytest.mark.parametrize("activation", ["relu", "leaky_relu(0.3)", "abs", "hard_tanh"])
@pytest.mark.parametrize("draw", [he_normal, orthogonal, cancelling])
def test_as_many_as_the_reference_finds(activation: str, draw: object) -> None:
    for seed in range(4):
        net = network(np.random.default_rng(seed), [2, *[5] * 9, 1], draw, activation)
        assert regions.count(net, SEGMENT) == reference.count(net, SEGMENT)


@pytest.mark.parametrize("family", DEEP_FAMILIES)
def test_deep_networks(family: str) -> None:
    for seed in range(300, 306):
        net, segment = drawn(Case(family, "line", seed))
        assert regions.count(net, segment) == reference.count(net, segment), seed


@pytest.mark.parametrize("gap", [0.0, 2.0**-53, -(2.0**-53), 2.0**-52, 1e-9])
def test_breakpoints_that_meet_or_nearly(gap: float) -> None:
    # x = 1/3 and x = 1/3 + gap, and in the layer above a unit that is 0 at the first of them.
    third = 1 / 3
    net = regions.Network(
        [
            ([[1.0, 0.0], [3.0, 0.0], [-1.0, 0.0]], [-third, -3.0 * (third + gap), 0.75]),
            ([[1.0, -0.25, 1.0], [0.5, 0.125, 1.0]], [third - 0.75, 0.0]),
            ([[1.0, 1.0]], [0.0]),
        ]
    )
    segment = regions.Segment([0.0, 0.0], [1.0, 0.0])
    assert regions.count(net, segment) == reference.count(net, segment)


def test_limits_stop_in_the_middle() -> None:
    net = network(np.random.default_rng(0), [2, 300, 300, 1])
    number = regions.count(net, SEGMENT)
    assert regions.count(net, SEGMENT, limit=number) == number
    with pytest.raises(regions.LimitReached):
        regions.count(net, SEGMENT, limit=number - 1)


@pytest.mark.parametrize(
    ("width", "direction", "weight"), [(2.0**1023, 2.0**-1063, 2.0**-90), (2.0**-1073, 2.0**1023, 1.0)]
)
def test_charts_at_the_ends_of_the_range(width: float, direction: float, weight: float) -> None:
    # A unit that is 0 at 7/4, computed with noise, and one above that is 0 there as well.
    first, second = float.fromhex("0x1.a30febcfd9c28p+0"), float.fromhex("0x1.4510bdf882d9dp+0")
    start, small = width * direction, weight * 2.0**-40
    noisy = [8 * small, -14 * small, second * weight, -first * weight]
    layers = [([noisy, [weight, 0, 0, 0]], [0, 0]), ([[0, 1.0]], [-1.75 * start * weight]), ([[1.0]], [0])]
    net = regions.Network(layers)
    domain = regions.Domain([start, start, first * start, second * start], [[direction, 0, 0, 0]], [[1, 0], [1, width]])
    assert regions.count(net, domain) == regions.reference.count(net, domain) == 2
