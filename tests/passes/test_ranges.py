# SPDX-License-Identifier: MIT
"""Do enclosures contain the exact outputs, and are they narrow if that is possible?"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from generators_deep import DEEP_FAMILIES
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from regions import Domain, Network
from regions.answers.unsafe_points import outputs_at
from regions.networks.activation import Activation
from regions.passes import ranges
from regions.passes.exact_ranges import exact_ranges
from regions.passes.ranges import output_ranges

ALL = sorted({*FAMILIES, *CLIPPED_FAMILIES, *DEEP_FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES})
CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def exact(network: Network, centre: np.ndarray, sides: np.ndarray, point: np.ndarray) -> list[Fraction]:
    """Return outputs at the centre plus multiples of the sides, for one or two sides."""
    ends = [[1.0, -1.0], [1.0, 1.0]] if len(sides) == 1 else np.hstack([np.ones((4, 1)), CORNERS])
    return outputs_at(network.graph, Domain(centre, sides, ends), point)


@pytest.mark.parametrize("symbols", [ranges.SYMBOLS, 2])
@pytest.mark.parametrize("family", ALL)
def test_exact_outputs_are_in_their_ranges(family: str, symbols: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "SYMBOLS", symbols)
    rng = np.random.default_rng([1, *family.encode()])
    for seed in range(3):
        network, _ = draw(family, int(rng.integers(1, 3)), seed)
        d = min(2, network.n_in)
        centres = rng.standard_normal((4, network.n_in)) * 10.0 ** rng.uniform(-3, 3)
        centres[2:] = np.round(centres[2:])
        sides = np.zeros((4, d, network.n_in))
        sides[:, range(d), range(d)] = 10.0 ** rng.uniform(-12, 2, (4, d))
        lower, upper = output_ranges(network.graph, centres, sides)
        points = np.vstack([CORNERS, rng.uniform(-1, 1, (2, 2))])[:, :d]
        for box, low, high in zip(range(4), lower, upper, strict=True):
            for point in points:
                values = exact(network, centres[box], sides[box], point)
                inside = [a <= value <= b for a, value, b in zip(low, values, high, strict=True)]
                assert all(inside), (family, seed, box)


@pytest.mark.parametrize("family", ALL)
def test_ranges_without_rounding_are_near(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "SYMBOLS", 0)
    rng = np.random.default_rng([2, *family.encode()])
    network, _ = draw(family, 2, int(rng.integers(3)))
    lower = np.round(rng.standard_normal(network.n_in), 2)
    upper = lower + 2.0 ** rng.integers(-8, 2, network.n_in)
    centre, sides = lower / 2 + upper / 2, np.diag(upper - lower) / 2
    low, high = output_ranges(network.graph, centre[np.newaxis], sides[np.newaxis])
    found = exact_ranges(network.graph, lower, upper)
    for a, (least, most), b in zip(low[0].tolist(), found or (), high[0].tolist(), strict=found is not None):
        assert a == -np.inf or Fraction(a) <= least + Fraction(1e-9) * abs(least)
        assert b == np.inf or most - Fraction(1e-9) * abs(most) <= Fraction(b)


def test_fractions_of_deep_networks_are_given_up_soon() -> None:
    rng = np.random.default_rng(0)
    sizes = [8, *[16] * 6, 1]
    network = Network([(rng.standard_normal((k, n)), rng.standard_normal(k)) for n, k in pairwise(sizes)])
    assert exact_ranges(network.graph, -np.ones(8), np.ones(8)) is None


def test_where_a_unit_stays_on_its_piece_only_rounding_is_added() -> None:
    network = Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])  # |x|
    lower, upper = output_ranges(network.graph, np.array([[2.0], [-2.0]]), np.full((2, 1, 1), 0.5))
    assert np.allclose(lower, 1.5, rtol=1e-12) and np.allclose(upper, 2.5, rtol=1e-12)
    assert (lower <= 1.5).all() and (upper >= 2.5).all()


def test_across_a_kink_a_range_is_that_of_the_line_between_the_ends_and_of_the_interval() -> None:
    network = Network([([[1.0], [1.0]], [0.0, 0.0]), ([[1.0, 0.0], [1.0, -1.0]], [0.0, 0.0])])
    lower, upper = output_ranges(network.graph, np.zeros((1, 1)), np.ones((1, 1, 1)))
    # relu(x) is in [0, 1], and within x / 2 + [0, 1 / 2] on [-1, 1]; of the difference of two copies, the forms cancel.
    assert -1e-12 < lower[0, 0] <= 0 and 1 <= upper[0, 0] < 1 + 1e-12
    assert -0.5 - 1e-12 < lower[0, 1] <= -0.5 and 0.5 <= upper[0, 1] < 0.5 + 1e-12


def test_what_a_kink_adds_cancels_in_later_layers() -> None:
    twice = [[1.0], [1.0]]
    network = Network([([[1.0]], [0.0]), (twice, [0.0, 0.0]), ([[1.0, -1.0]], [0.0])], activation=["relu", "identity"])
    lower, upper = output_ranges(network.graph, np.zeros((1, 1)), np.ones((1, 1, 1)))
    assert -1e-12 < lower[0, 0] <= 0 <= upper[0, 0] < 1e-12


def test_sides_along_which_kinks_make_ranges_wide() -> None:
    """Only the first input meets a kink, and only the second one changes the output much."""
    network = Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 5.0]), ([[1.0, 3.0]], [0.0])])
    _, _, kinks, changes, loose = ranges.ranges_and_kinks(network.graph, np.zeros((1, 2)), np.eye(2)[np.newaxis])
    assert kinks.tolist() == [1]
    assert changes[0, :, 0] == pytest.approx([0.5, 3.0]) and loose[0, :, 0] == pytest.approx([0.125, 0.0])


def test_rounding_of_pieces_with_large_intercepts_is_counted() -> None:
    # 1.1 x - 1.1e8, rounded, is off by 1e-8 at x = 1e8.
    steep = Activation("steep", [2.0**27], [0.0, 1.1], [0.0, -1.1 * 2.0**27])
    network = Network([([[1.0]], [0.0]), ([[1.0]], [0.0])], activation=steep)
    for off in (1e-7, 3e-7, 1e-6):
        centres, sides = np.full((1, 1), 2.0**27 + off), np.full((1, 1, 1), 2.0**-20)
        _, upper = output_ranges(network.graph, centres, sides)
        assert Fraction(1.1) * (Fraction(centres[0, 0]) + Fraction(2) ** -20 - 2**27) <= Fraction(float(upper[0, 0]))


def test_ranges_of_units_with_several_kinks_include_each_kink() -> None:
    zigzag = Activation("zigzag", [-1.0, 0.0, 1.0], [0.0, 1.0, -1.0, 0.0], [0.0, 1.0, 1.0, 0.0])
    network = Network([([[1.0]], [0.0]), ([[1.0]], [0.0])], activation=zigzag)
    lower, upper = output_ranges(network.graph, np.zeros((1, 1)), np.full((1, 1, 1), 3.0))
    assert -1e-12 < lower[0, 0] <= 0 and 1 <= upper[0, 0] < 1 + 1e-12


def test_rounding_of_products_of_subnormal_inputs_with_large_weights_is_counted() -> None:
    """The charge for a product is not a double before it is multiplied by the weight; the terms cancel."""
    rng, x = np.random.default_rng(3), 3 * 2.0**-1074
    for one, other in 2.0**900 * (1 + rng.random((50, 2)) * 2.0**-40):
        lower, upper = output_ranges(Network([([[one, -other]], [0.0])]).graph, np.full((1, 2), x), np.zeros((1, 1, 2)))
        true = Fraction(x) * (Fraction(one) - Fraction(other))
        assert Fraction(lower[0, 0]) <= true <= Fraction(upper[0, 0])


def test_overflow_is_unknown() -> None:
    network = Network([([[1e200]], [0.0]), ([[1e200]], [0.0])])
    lower, upper = output_ranges(network.graph, np.full((1, 1), 1e10), np.ones((1, 1, 1)))
    assert (lower, upper) == (-np.inf, np.inf)
