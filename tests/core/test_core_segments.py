# SPDX-License-Identifier: MIT
"""Are the regions on a segment right if they are computed layer by layer from the values at breakpoints?

This is done in `csrc/kernel/sweep.hpp`; if two breakpoints coincide, and in unbounded domains, the recursion finds the
regions.
"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from fuzz import Case, drawn
from generators_deep import DEEP_FAMILIES, cancelling, he_normal, orthogonal
from regions import reference
from regions.core import kernel

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
        found, certificate = regions.certified_count(net, SEGMENT)
        assert (found, certificate.exact) == (len(regions.enumerate(net, SEGMENT)), 0)


def twinned(net: regions.Network, unit: int) -> regions.Network:
    """Return the same function, with one unit of the first layer twice."""
    first, second, *others = ((layer.weights, layer.biases) for layer in net.layers)
    weights, biases = np.append(first[0], first[0][[unit]], axis=0), np.append(first[1], first[1][unit])
    unread = np.append(second[0], np.zeros((len(second[0]), 1)), axis=1)
    return regions.Network([(weights, biases), (unread, second[1]), *others], activation="leaky_relu(0.3)")


@pytest.mark.parametrize("sizes", [[2, 300, 60, 1], [2, *[40] * 12, 1], [2, 17, 129, 3, 1], [5, 9, 2, 1]])
def test_the_same_as_the_recursion_finds(sizes: list[int]) -> None:
    """Two units that are zero at one point cannot be ordered by rounded numbers, so the recursion runs."""
    net = network(np.random.default_rng(7), sizes, activation="leaky_relu(0.3)")
    segment = regions.Segment(SEGMENT.to_input([0.0]).repeat(3)[: sizes[0]], [0.5, -0.75, 1.0, 0.25, 2.0][: sizes[0]])
    swept = regions.enumerate(net, segment)
    kink = int(swept.facet_kinks[(0 <= swept.facet_kinks) & (swept.facet_kinks < sizes[1])][0])
    twin = regions.enumerate(twinned(net, kink), segment)
    assert (swept.stats["exact"], twin.stats["exact"] > 0) == (0, True)
    for name in ("cell_offsets", "cell_vertices", "cell_facets", "facet_vertices", "facet_regions"):
        np.testing.assert_array_equal(getattr(swept, name), getattr(twin, name))
    assert (twin.facet_kinks - (twin.facet_kinks > sizes[1]) == swept.facet_kinks).all()
    assert (np.delete(twin.patterns, sizes[1], axis=1) == swept.patterns).all()
    apart = np.abs(twin.vertices - swept.vertices)[:, 0]
    assert (apart <= twin.vertex_errors + swept.vertex_errors).all() and swept.vertex_errors.max() < 1e-7
    assert (np.diff(swept.vertices[swept.cell_vertices].reshape(-1, 2)) >= 0).all()


@pytest.mark.parametrize("sizes", [[2, 6, 6, 6, 1], [3, 40, 5, 1]])
@pytest.mark.parametrize("activation", ["relu", "abs"])
def test_positions_and_bounds_are_true(sizes: list[int], activation: str) -> None:
    net = network(np.random.default_rng(3), sizes, activation=activation)
    for width in (1.0, 2.0**-1000, 2.0**1020):
        direction = np.ones(sizes[0]) / width
        part = regions.enumerate(net, regions.Domain(np.full(sizes[0], -0.3), [direction], [[1, -width], [1, width]]))
        # Without fused multiply-add, numbers above 2^996 cannot be split (rows/doubled.hpp): the recursion runs.
        assert len(part) > 3 and (part.stats["exact"] == 0 or (kernel() == "baseline" and width > 1.0))
        assert regions.certify(part, net).conclusion == f"proved: there are exactly {len(part)} regions"


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


@pytest.mark.parametrize(("width", "depth", "pieces"), [(16, 40, 305), (32, 60, 1450), (24, 90, 814)])
def test_three_and_four_limbs_in_the_lowest_layers(width: int, depth: int, pieces: int) -> None:
    """If the recursion runs, far fewer signs are counted."""
    net = network(np.random.default_rng(0), [2, *[width] * depth, 1])
    found, certificate = regions.certified_count(net, SEGMENT)
    assert (found, certificate.exact) == (pieces, 0)
    assert certificate.filter > 10 * pieces * width
    assert (certificate.tripled > 0, certificate.quadrupled > 0) == (depth > 40, depth > 60)


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


@pytest.mark.slow
def test_limits_stop_in_the_middle() -> None:
    net = network(np.random.default_rng(0), [2, 300, 300, 1])
    number = regions.count(net, SEGMENT)
    assert regions.count(net, SEGMENT, limit=number) == number
    with pytest.raises(regions.LimitReached):
        regions.count(net, SEGMENT, limit=number - 1)
    with pytest.raises(regions.LimitReached) as reached:
        regions.enumerate(net, SEGMENT, limit=100)
    part = reached.value.partial
    assert len(part) == 101 and regions.certify(part, net).ok


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
