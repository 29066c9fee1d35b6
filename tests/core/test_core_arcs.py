# SPDX-License-Identifier: MIT
"""Does the core find the pieces of arcs: known ones, degenerate ones, and the same as the reference?"""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest

import regions
from fuzz_arcs import KINDS, finding
from generators_arcs import arc_case, nearly_degenerate_arc_case
from generators_maxima import network_of_maxima
from random_networks import random_network
from regions import Arc, Circle, Curve, GreatCircle, Network, Polyline, trajectory
from regions.domains.curves import ArcLeg
from regions.ground.arithmetic.quadratic import Root, compare

PLANE = [[1.0, 0.0], [0.0, 1.0]]
UNIT = Circle([0, 0], *PLANE)


def neuron(weights: list[float], bias: float, activation: str = "relu") -> Network:
    return Network([([weights], [bias]), ([[1.0]], [0.0])], activation=activation)


def leg(start: tuple[float, float], end: tuple[float, float]) -> ArcLeg:
    return ArcLeg(np.zeros(2), np.array(PLANE), np.array([start, end], dtype=float))


def pieces(network: Network, *legs: ArcLeg) -> int:
    for each in legs:
        assert finding(network, each) is None
    return regions.count(network, Curve(legs, False))


@pytest.mark.slow
def test_nearly_degenerate_arcs() -> None:
    for seed in range(3_000_000, 3_000_250):
        assert finding(*nearly_degenerate_arc_case(seed)) is None, seed


@pytest.mark.parametrize("kind", ["clipped", "doubled", "tangent", "pythagorean", "maxima", "meeting"])
def test_aimed_and_clipped(kind: str) -> None:
    for seed in range(4_000_000, 4_000_060):
        assert finding(*KINDS[kind](seed)) is None, seed


SQUARED = [[0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]  # the largest of |x| and |y|


@pytest.mark.parametrize(
    ("arms", "quarter", "whole"),
    [
        (SQUARED, 2, 4),
        ([[-0.75, 0, 0], *SQUARED], 2, 4),
        ([[0.75, 0, 0], *SQUARED], 3, 8),
        ([[-1, 1, 1], [0, 0, 0]], 1, 2),  # x + y = 1 meets the circle at the ends of the quarter
        ([[-5, 3, 4], [0, 0, 0]], 1, 1),  # these units touch zero, too
        ([[-5, 3, 4], [-5, 4, 3], [0, 0, 0]], 1, 1),
        ([[-10, 6, 8], [0, 0, 0], [-24, 15, 20]], 3, 2),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], 1, 1),  # the other units are 1 at the ends
        ([[0, 1, 0], [1, 0, 0], [-1, 2, 0]], 1, 1),  # all units are 1 at an end
        ([[0, 1, 0], [-1, 2, 1], [-1, 2, 2], [-1, 2, -1], [0.5, 0, 0.5]], None, None),
        ([[0, 7, 0], [0, 0, 7], [-24, 25, 25], [35 - 49, 12, 9], [0, 4, 3]], None, None),
    ],
)
def test_the_largest_of_several_rows(arms: list[list[float]], quarter: int | None, whole: int | None) -> None:
    net = network_of_maxima(2, [(arms, [len(arms)])])
    found = pieces(net, leg((1.0, 0.0), (0.0, 1.0)))
    assert quarter is None or found == quarter
    assert whole is None or regions.count(net, UNIT) == whole


def twinned(net: Network) -> Network:
    """Return the same function with all units of the first layer twice, so that breakpoints coincide, and the recursion
    runs.
    """
    first, second, *others = ((layer.weights, layer.biases) for layer in net.layers)
    doubled = np.repeat(first[0], 2, axis=0), np.repeat(first[1], 2)
    halves = np.repeat(second[0], 2, axis=1) * np.tile([1.0, 0.0], len(first[1]))
    return Network([doubled, (halves, second[1]), *others], activation="leaky_relu(0.25)")


@pytest.mark.parametrize("sizes", [[2, 90, 40, 1], [3, *[24] * 14, 1], [9, 17, 300, 5, 1], [4, 60, 1]])
def test_the_same_as_the_recursion_finds(sizes: list[int]) -> None:
    net = random_network(sizes, 4, "leaky_relu(0.25)", he=True)
    rng = np.random.default_rng(8)
    arc = Arc(*rng.standard_normal((2, sizes[0])))
    number, certificate = regions.certified_count(net, arc)
    swept, cut = regions.trajectory(net, arc).strands, regions.trajectory(twinned(net), arc).strands
    assert number == len(swept) == len(cut) > 6
    assert (certificate.exact, swept.stats["exact"], cut.stats["zero"] + cut.stats["exact"] > 0) == (0, 0, True)
    bits = cut.network.graph.bits(cut.packed_patterns)
    once = np.delete(bits, np.arange(1, 2 * sizes[1], 2), axis=1)
    assert (once == net.graph.bits(swept.packed_patterns)).all()
    apart = np.abs(swept.ends - cut.ends).max(axis=2)
    assert (apart <= swept.errors + cut.errors).all() and swept.errors.max() < 1e-9


def test_a_unit_that_nearly_touches_the_circle() -> None:
    for gap in (1e-3, 1e-9, 1e-13, 2.0**-52, 0.0, -(2.0**-52), -1e-13, -1e-9, -1e-3):
        touching = Network([([[0.6, 0.8], [1.0, 0.25]], [-1.0 - gap, -0.75]), ([[1.0, 1.0]], [0.0])])
        found = pieces(touching, leg((1.0, 0.0), (0.0, 1.0)))
        assert found == (4 if gap < 0 else 2) or abs(gap) < 1e-15  # 0.6 and 0.8 are not these numbers


@pytest.mark.slow
def test_pieces_match_the_reference() -> None:
    for seed in range(2_000_000, 2_000_600):
        assert finding(*arc_case(seed)) is None, seed


def test_pieces_match_the_reference_quickly() -> None:
    for seed in range(100):
        assert finding(*arc_case(seed)) is None, seed


@pytest.mark.parametrize(("radius", "count"), [(0.5, 1), (1.0, 1), (1.2, 8), (2**0.5, 8), (1.5, 8), (3.0, 8)])
def test_hard_tanh_on_a_circle(radius: float, count: int) -> None:
    clipped = Network([(PLANE, [0.0, 0.0]), (PLANE, [0.0, 0.0])], activation="hardtanh")
    assert regions.count(clipped, Circle([0, 0], [radius, 0], [0, radius])) == count


def test_a_line_that_touches_an_arc_does_not_cut_it() -> None:
    around = leg((1, -1), (1, 1))
    assert pieces(neuron([1, 0], -1), around) == 1
    assert pieces(neuron([-1, 0], 1), around) == 1
    assert pieces(neuron([1, 0], -1 - 2**-52), around) == 1
    assert pieces(neuron([1, 0], -1 + 2**-53), around) == 3
    # The direction has an irrational length: 2 sin(x + 45 degrees) is at most sqrt(2).
    assert pieces(neuron([1, 1], -(2**0.5)), leg((1, 0), (0, 1))) == 1  # the double is above the root
    assert pieces(neuron([1, 1], -np.nextafter(2**0.5, 0)), leg((1, 0), (0, 1))) == 3


def test_a_line_through_the_ends() -> None:
    quarter = leg((1, 0), (0, 1))
    assert pieces(neuron([1, 1], -1), quarter) == 1  # above zero between them
    assert pieces(neuron([-1, -1], 1), quarter) == 1
    assert pieces(neuron([0, 1], 0), quarter) == 1  # zero at the start alone
    assert pieces(neuron([1, 1], -1), leg((2, -1), (-1, 2)), leg((-1, 2), (-2, 1))) == 3
    # At a joint a neuron may switch, or not.
    assert regions.count(neuron([0, 1], 0), UNIT) == 2
    assert regions.count(neuron([1, 0], 0), UNIT) == 2
    assert regions.count(neuron([1, 0], -1), UNIT) == 1


def test_crossings_next_to_each_other() -> None:
    for exponent in (20, 45, 52):
        net = Network([([[0.0, 1.0], [0.0, 1.0]], [-0.5, -0.5 - 2.0**-exponent]), ([[1.0, 1.0]], [0.0])])
        assert pieces(net, leg((1, 0), (0, 1))) == 3
        # The point where the line leaves the disc: the chord is very short.
        assert pieces(neuron([1, 0], 2.0**-exponent - 1), leg((1, -1), (1, 1))) == 3


def test_the_second_layer_through_a_crossing_of_the_first() -> None:
    # The first unit crosses where y = 1/2, and there the second layer is zero as well.
    layers = [([[0.0, 1.0], [0.0, 1.0]], [-0.5, 1.0]), ([[1.0, 1.0]], [-1.5]), ([[1.0]], [0.0])]
    assert pieces(Network(layers), leg((1, 0), (0, 1))) == 2
    layers[1] = ([[-3.0, 1.0]], [-1.5])  # 0 at the crossing, below it on both sides
    assert pieces(Network(layers), leg((1, 0), (0, 1))) == 2
    layers[1] = ([[3.0, -1.0]], [1.5 - 2**-50])
    assert pieces(Network(layers), leg((1, 0), (0, 1))) == 4


@pytest.mark.parametrize("turn", [2.0**-20, 2.0**-40])
def test_arcs_of_a_tiny_part_of_a_turn(turn: float) -> None:
    angle = 2 * pi * turn
    short = leg((1.0, 0.0), (cos(angle), sin(angle)))
    assert pieces(neuron([0, 1], -angle / 3), short) == 2
    assert pieces(neuron([0, 1], -2 * angle), short) == 1
    assert pieces(neuron([-sin(angle / 2), cos(angle / 2)], 0), short) == 2


def test_parts_next_to_the_ends_of_an_arc() -> None:
    quarter = leg((1, 0), (0, 1))
    first, last = quarter.part_at(0), quarter.part_at(1)
    assert first.ends.tolist() == [[1, 0], [1 - 2.0**-20, 2.0**-20]] and last.ends[1].tolist() == [0, 1]
    assert 0 < first.angle < 1e-5 and 0 < last.angle < 1e-5
    for height, whole in ((5e-324, True), (2.0**-1050, False)):  # without and with doubles between the ends
        short = leg((1.0, 0.0), (1.0, height))
        assert [short.part_at(end) is short for end in (0, 1)] == [whole, whole]


def test_the_certificate_counts_signs() -> None:
    count, certificate = regions.certified_count(neuron([1, 0], -1), Arc([1, 0], [0, 1]))
    assert (count, certificate.regions, certificate.complete) == (1, 1, True)
    assert certificate.exact + certificate.filter > 0
    assert certificate.domain == "Arc(in R^2)"


def test_permuted_and_scaled_neurons_make_as_many_pieces() -> None:
    rng = np.random.default_rng(5)
    weights, biases = rng.standard_normal((12, 3)), rng.standard_normal(12) * 0.1
    following = rng.standard_normal((6, 12))
    last = (rng.standard_normal((1, 6)), np.zeros(1))
    curve = Circle(*rng.standard_normal((3, 3)))
    counts = set()
    for order, scale in ((np.arange(12), 1.0), (rng.permutation(12), 1.0), (np.arange(12), 4.0)):
        layers = [(weights[order] * scale, biases[order] * scale), (following[:, order] / scale, np.zeros(6)), last]
        counts.add(regions.count(Network(layers), curve))
    assert len(counts) == 1


def test_limits_and_several_curves() -> None:
    rng = np.random.default_rng(6)
    net = Network([(rng.standard_normal((40, 2)), rng.standard_normal(40) * 0.3), (np.ones((1, 40)), [0.0])])
    whole = regions.count(net, UNIT)
    assert whole > 20
    assert regions.count(net, UNIT, limit=whole) == whole
    for curve in (UNIT, Arc(*PLANE), Polyline([[-1, -1], [1, 1], [1, -1]])):
        with pytest.raises(regions.LimitReached):
            regions.count(net, curve, limit=regions.count(net, curve) - 1)
    assert regions.count(net, [UNIT, Arc(*PLANE)]).tolist() == [whole, regions.count(net, Arc(*PLANE))]
    with pytest.raises(regions.errors.DomainError, match="on a curve, pieces are counted"):
        regions.count(net, UNIT, "affine")
    with pytest.raises(regions.errors.ShapeMismatchError, match="the curve lies in a space of 3 dimensions"):
        regions.count(net, Arc([1, 0, 0], [0, 1, 0]))


@pytest.mark.parametrize("seed", range(25))
def test_counted_leg_by_leg_as_with_all_breakpoints(seed: int) -> None:
    """Rows through, beside and touching the joints of a circle, in two layers."""
    rng = np.random.default_rng(seed)
    sizes = [2, *rng.integers(1, 5, 2).tolist(), 1]
    layers = [(rng.integers(-1, 2, (m, n)), rng.integers(-1, 2, m)) for n, m in zip(sizes, sizes[1:], strict=False)]
    net = Network(layers, activation=["relu", "hardtanh"][seed % 2])
    for curve in (
        UNIT,
        Circle([1, 0], [1, 1], [-1, 1]),
        GreatCircle([1, 0], [-1, 1e-9]),
        GreatCircle([3, 4], [-4, -3]),
    ):
        found, certificate = regions.certified_count(net, curve)
        assert found == trajectory(net, curve).pieces[-1] and certificate.complete


def test_a_limit_leaves_no_more_pieces_than_there_are() -> None:
    """A piece may continue across a joint and where a circle closes, so the pieces found are only a lower bound."""
    net = Network([(PLANE, [0, 0]), ([[1, 1]], [0])])
    for curve in (Circle([0, 0], [1, 0.3], [-0.3, 1]), Polyline([[2, 1], [-1, 2], [-2, -1], [1, -2], [2, 1]])):
        assert regions.count(net, curve, limit=4) == 4
        for follow in (regions.count, trajectory):
            with pytest.raises(regions.LimitReached) as stopped:
                follow(net, curve, limit=3)  # type: ignore[operator]
            assert stopped.value.partial == 4


def test_roots_are_compared_exactly() -> None:
    root_two, fraction = Root(0, 1, 2, 1), Root(665857, 1, 0, 470832)  # a convergent, above it
    assert compare(root_two, fraction) == -1 and compare(fraction, root_two) == 1
    assert compare(root_two, Root(0, 1, 8, 2)) == 0
    assert compare(Root(1, 1, 2, 1), Root(0, 1, 3, 1)) == 1  # 1 + sqrt 2 and sqrt 3
    assert compare(Root(3, -1, 2, 1), Root(0, 1, 3, 1)) == -1
