# SPDX-License-Identifier: MIT
"""Do the laws of regions, boundaries and distances in random networks have the values of the theorems?

Tests use worked values, and integrals and simulations if a formula has no second form.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import atan, comb, gamma, inf, isclose, pi, sqrt

import numpy as np
import pytest
from scipy.integrate import trapezoid

import regions
from regions import bounds
from regions.errors import BeyondDoublesError, BoundDoesNotApply
from regions.theory.bounds.chi import chi_means


class TestShallow:
    @pytest.mark.parametrize(
        ("units", "d", "radius", "expected"),
        [
            (10, 1, 1, 6),
            (10, 1, 10, 10.36549),
            (10, 2, 1, 21.251263),
            (10, 2, 3, 41.256584),
            (16, 2, 1, 47.460895),
            (8, 3, 1, 31.721125),
            (8, 3, 10, 85.636386),
        ],
    )
    def test_regions_in_a_ball(self, units: int, d: int, radius: float, expected: float) -> None:
        value = bounds.expected_regions_shallow_ball(d, units, radius)
        assert round(value, 6) == round(expected, 6) or round(value, 5) == expected
        assert value < bounds.zaslavsky(d, units)
        assert isclose(bounds.expected_regions_shallow_ball(d, units, 2 * radius, weight_std=1.5, bias_std=3.0), value)

    def test_closed_forms(self) -> None:
        for a in (0.01, 0.5, 1.0, 20.0):
            assert isclose(bounds.expected_regions_shallow_ball(1, 7, a), 1 + 7 * 2 / pi * atan(a))
            p1, p2 = a / sqrt(1 + a * a), 1 - 1 / sqrt(1 + a * a)
            assert isclose(bounds.expected_regions_shallow_ball(2, 7, a), 1 + 7 * p1 + 21 * p2)
        assert isclose(bounds.expected_regions_shallow_ball(3, 8, 1e8), bounds.zaslavsky(3, 8), rel_tol=1e-6)

    def test_binomials_beyond_the_doubles(self) -> None:
        assert 1.0 < bounds.expected_regions_shallow_ball(500, 1200, 1e-6) < 2.0
        with pytest.raises(OverflowError):
            bounds.expected_regions_shallow_ball(500, 1200, 1.0)

    def test_densities_at_zero(self) -> None:
        assert isclose(bounds.expected_strata_shallow(2, 10, weight_std=3.0, bias_std=0.5), 10 * 3.0 / (2 * 0.5))
        vertices = bounds.expected_strata_shallow(2, 10, 2, weight_std=3.0, bias_std=0.5)
        assert isclose(vertices, comb(10, 2) * 9.0 / (2 * pi * 0.25))
        for d in (1, 3, 7):
            mean = sqrt(2) * gamma((d + 1) / 2) / gamma(d / 2)
            assert isclose(bounds.expected_strata_shallow(d, 4), 4 * mean / sqrt(2 * pi))
        assert bounds.expected_strata_shallow(3, 2, 3) == 0.0  # two planes have no vertex
        assert isclose(bounds.expected_strata_shallow(2, 10, weight_std=5e-324, bias_std=5e-324), 5.0)
        with pytest.raises(OverflowError, match="the mean density is beyond the largest double"):
            bounds.expected_strata_shallow(2, 10, bias_std=5e-324)
        # Single factors leave the range of doubles; the values were computed with logarithms.
        for dimension, units, density in ((200, 200, 1.01367464377e-293), (300, 2000, 2.54328332297e-48)):
            found = bounds.expected_strata_shallow(dimension, units, dimension, weight_std=0.01)
            assert isclose(found, density, rel_tol=1e-9)
            with pytest.raises(OverflowError, match="the mean density is beyond the largest double"):
                bounds.expected_strata_shallow(dimension, units, dimension, weight_std=1e6)

    def test_the_density_matches_small_balls(self) -> None:
        # On a small interval around 0 there are 1 + density * length regions.
        eps = 1e-5
        density = (bounds.expected_regions_shallow_ball(1, 9, eps) - 1) / (2 * eps)
        assert isclose(density, bounds.expected_strata_shallow(1, 9), rel_tol=1e-4)

    @pytest.mark.parametrize(
        ("units", "d", "expected"),
        [
            (2, 1, 0.882542),
            (10, 1, 0.147826),
            (100, 1, 0.0155598),
            (10, 2, 0.0928022),
            (100, 2, 0.00990382),
            (64, 10, 0.00625410),
        ],
    )
    def test_distance(self, units: int, d: int, expected: float) -> None:
        value = bounds.expected_distance_shallow(d, units)
        assert float(f"{value:.6g}") == expected
        assert isclose(bounds.expected_distance_shallow(d, units, weight_std=0.5, bias_std=3.0), 6 * value)

    @pytest.mark.parametrize(
        ("units", "d"), [(10_000, 3072), (100_000, 784), (4096, 10_000), (1000, 150_528), (1_000_000, 1), (4096, 784)]
    )
    @pytest.mark.filterwarnings("error")
    def test_distance_to_many_planes(self, units: int, d: int) -> None:
        """The distance is nearly exponential; its rate is the boundary's density at 0, counted on both sides."""
        rate = 2 * bounds.expected_strata_shallow(d, units)
        mean = bounds.expected_distance_shallow(d, units)
        assert isclose(mean, 1 / rate, rel_tol=2 / units)

    def test_a_ball_that_holds_everything(self) -> None:
        assert bounds.expected_regions_shallow_ball(2, 10, 1e300) == 56.0
        assert bounds.expected_regions_shallow_ball(2, 10, 1e300, weight_std=1e300) == 56.0

    def test_distance_to_a_single_point(self) -> None:
        assert bounds.expected_distance_shallow(1, 1) == inf
        assert 0 < bounds.expected_distance_shallow(2, 1) < inf

    def test_a_count_of_regions(self) -> None:
        """Compare with exact counts of random layers on the interval from -2 to 2."""
        rng, counts = np.random.default_rng(8), []
        interval = regions.Segment([-2.0], [2.0])
        for _ in range(400):
            net = regions.Network([(rng.standard_normal((6, 1)), rng.standard_normal(6)), (np.ones((1, 6)), None)])
            counts.append(regions.count(net, interval))
        error = np.std(counts) / sqrt(400)
        assert abs(np.mean(counts) - bounds.expected_regions_shallow_ball(1, 6, 2.0)) < 4 * error


class TestOnLines:
    def test_the_whole_line_has_a_breakpoint_for_each_unit(self) -> None:
        for n_in, widths in ((1, [7]), (3, [4, 9]), (50, [3, 3, 3, 3])):
            assert isclose(bounds.expected_regions_wide_line(n_in, widths, sigma_w=0.7), 1 + sum(widths))
            offset = 5.0 if n_in > 1 else 0.0  # the only line in one dimension goes through 0
            assert isclose(bounds.expected_regions_wide_line(n_in, widths, offset=offset), 1 + sum(widths))
        assert bounds.kogan_expected_regions(1, [7, 9]) == 17.0
        with pytest.raises(BoundDoesNotApply, match="is about one input, here are 2"):
            bounds.kogan_expected_regions(2, [7])

    def test_one_layer_is_the_closed_form_for_balls(self) -> None:
        for radius in (0.1, 1.0, 30.0):
            ball = bounds.expected_regions_shallow_ball(1, 9, radius, weight_std=1.5, bias_std=0.25)
            line = bounds.expected_regions_wide_line(1, 9, -radius, radius, sigma_w=1.5, sigma_b=0.25)
            assert isclose(ball, line)

    def test_pieces_add_up(self) -> None:
        facts = {"offset": 0.5, "sigma_b": 0.3}
        cut = [-inf, -2.0, 0.25, 1.0, inf]
        parts = [bounds.expected_regions_wide_line(4, [8, 8], a, b, **facts) - 1 for a, b in pairwise(cut)]
        assert isclose(sum(parts), 16) and min(parts) > 0
        assert bounds.expected_regions_wide_line(4, [8, 8], 2.0, 2.0) == 1.0

    def test_biases_whose_squares_are_beyond_the_doubles(self) -> None:
        assert bounds.expected_regions_wide_line(2, [8, 8], sigma_b=1e308) == 17.0
        assert bounds.expected_regions_wide_line(2, [8], -1.0, 1.0, sigma_w=1e-300, sigma_b=1e300) == 1.0

    def test_two_wide_layers(self) -> None:
        """The second layer is a Gaussian process: Rice's formula counts its zeros by the covariance, in 20 digits."""
        steps = np.linspace(-1.0, 1.0, 200_001)
        variance = 2.0 / 2.0 * (2.0 * steps**2 + 0.25) + 0.25  # He, sigma_b = 1/2: sigma_w^2 / 2 = 1
        speed = np.full_like(steps, 2.0)
        rate = np.sqrt(speed * variance - (2.0 * steps) ** 2) / variance
        angle = float(trapezoid(rate, steps))
        found = bounds.expected_regions_wide_line(1, [10, 30], -1.0, 1.0, sigma_b=0.5)
        first = bounds.expected_regions_wide_line(1, [10], -1.0, 1.0, sigma_b=0.5)
        assert isclose(found - first, 30 * angle / pi, rel_tol=1e-8)

    def test_many_layers_neither_overflow_nor_vanish(self) -> None:
        for sigma_w in (1e-3, 1.0, 1e3):
            value = bounds.expected_regions_wide_line(3, [2] * 500, -1.0, 1.0, sigma_w=sigma_w)
            assert 1.0 <= value <= 1001.0

    def test_without_biases_off_the_origin(self) -> None:
        # Every unit is a random hyperplane through 0, which meets a line at a distance of 1 at a Cauchy position.
        assert isclose(bounds.expected_regions_wide_line(2, [6, 6], -1, 1, offset=1.0, sigma_b=0.0), 1 + 12 / 2)
        assert isclose(bounds.expected_regions_wide_line(2, [6] * 900, 0, offset=1.0, sigma_b=0.0, sigma_w=0.1), 2701)

    def test_maxout(self) -> None:
        assert bounds.expected_regions_maxout_line(5, 3, 2) == 4.0
        # The mean for four Gaussian points of the plane: 4 minus the probability that one lies in the triangle of the
        # others.
        inside = 6.0 / pi * np.arccos(1 / 3) - 2.0
        assert isclose(bounds.expected_regions_maxout_line(1, 1, 4), 1 + (4 - inside) / 2, rel_tol=1e-9)
        values = [bounds.expected_regions_maxout_line(1, 1, rank) for rank in (2, 3, 10, 100, 10_000)]
        assert values == sorted(values) and isclose(values[1], 2.5) and values[-1] < 10
        assert all(
            value <= bounds.maxout_montufar_ren_zhang(1, 1, rank)
            for value, rank in zip(values[:3], (2, 3, 10), strict=True)
        )


class TestVolumes:
    def test_lengths_and_areas(self) -> None:
        for widths in ([5], [3, 8], [40, 2, 7]):
            stds = [0.5 + i for i in range(len(widths))]
            length = bounds.expected_length_relu_exact(4, widths, stds)
            assert isclose(bounds.expected_volume_relu_exact(4, widths, stds, 1), length)
            area = [s * s * (k / 2 - 1 + 2.0**-k) for s, k in zip(stds, widths, strict=True)]
            assert isclose(bounds.expected_volume_relu_exact(4, widths, stds), np.prod(area))
        assert bounds.expected_volume_relu_exact(3, [2, 9], 1.0, 3) == 0.0
        with pytest.raises(ValueError, match="dimension 3 is above the 2 dimensions"):
            bounds.expected_volume_relu_exact(2, [4], 1.0, 3)

    def test_a_volume_in_four_dimensions(self) -> None:
        rng, values = np.random.default_rng(0), []
        for _ in range(4000):
            weights, point = rng.standard_normal((6, 5)), rng.standard_normal(5)
            active = weights[weights @ point + rng.standard_normal(6) > 0][:, :4]
            values.append(sqrt(max(np.linalg.det(active.T @ active), 0.0)))
        law = bounds.expected_volume_relu_exact(5, 6, 1.0, 4)
        assert abs(np.mean(values) - law) < 4 * np.std(values) / sqrt(4000)


class TestHaninRolnick:
    def test_regions(self) -> None:
        value = bounds.hanin_rolnick_expected(2, [16, 16], c_grad=Fraction(1, 3), c_bias=0.125, volume=4)
        assert value == 4 * Fraction(32 * 32, 24) ** 2 / 2
        assert bounds.hanin_rolnick_expected(5, [2, 2], c_grad=1, c_bias=1) == 2**4
        assert type(bounds.hanin_rolnick_expected(784, [1000] * 4, c_grad=0.3, c_bias=0.1)) is Fraction

    def test_boundary_and_distance(self) -> None:
        assert bounds.hanin_rolnick_volume(3, [4, 4], 2, c_grad=2, c_bias=0.25, breakpoints=3) == 28 * Fraction(9, 4)
        assert bounds.hanin_rolnick_distance(3, [4, 4], constant=3, c_grad=2, c_bias=0.25, breakpoints=3) == Fraction(
            1, 4
        )
        on_manifold = bounds.tiwari_konidaris_volume(2, [4, 4], 2, c_grad=2, c_bias=0.25, c_manifold=0.5)
        assert on_manifold == 28 * Fraction(1, 4)

    def test_shallow_networks_are_below(self) -> None:
        """With N(0, 1) biases c_bias = 1 / sqrt(2 pi), and the mean gradient of a unit of d inputs is c_d."""
        for d, units in ((1, 5), (2, 8), (3, 6)):
            density = bounds.expected_strata_shallow(d, units)
            bound = bounds.hanin_rolnick_volume(d, units, c_grad=chi_means(d)[d], c_bias=1 / sqrt(2 * pi))
            assert isclose(density, bound)

    def test_tubes(self) -> None:
        assert isclose(bounds.tube_volume([1, 0, 0, 0], 2.0), 4 / 3 * pi * 8)
        assert bounds.tube_volume([0, 0, 5.0], 2.0) == 5.0
        # A square's outline: the points within eps of it are bounded by four strips and four discs.
        assert isclose(bounds.tube_volume([4, 8.0, 0], 0.25), 4 * pi / 16 + 8 * 0.5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bounds.raghu_length_lower(2, [3, 4], 1.0), BoundDoesNotApply, "equal width"),
        (lambda: bounds.raghu_length_upper(2, [3, 4], 1.0), BoundDoesNotApply, "equal width"),
        (lambda: bounds.raghu_transitions_lower(2, [3, 4], 1.0), BoundDoesNotApply, "equal width"),
        (lambda: bounds.raghu_length_lower(2, [3], -1.0), ValueError, "sigma_w must be at least 0, got -1.0"),
        (lambda: bounds.raghu_length_lower(2, [3], inf), ValueError, "sigma_w must be a finite number"),
        (lambda: bounds.raghu_length_lower(2, [3], "1"), TypeError, "sigma_w must be a number"),
        (lambda: bounds.raghu_length_lower(2, [3], 1.0, activation="abs"), ValueError, "activation must be one of"),
        (lambda: bounds.raghu_transitions_lower(2, [3], 0.0), ValueError, "sigma_w must be above 0"),
        (lambda: bounds.expected_length_relu_exact(2, [3, 4], [1.0]), ValueError, "one entry for each of 2 hidden"),
        (lambda: bounds.relu_length_factor(0), ValueError, "width must be at least 1"),
        (lambda: bounds.price_tanner(2, [3], "cauchy", 1.0), ValueError, "distribution must be one of"),
        (lambda: bounds.price_tanner(2, [3], "discrete", [1.0, 2.0]), ValueError, "scale must be symmetric"),
        (lambda: bounds.price_tanner(2, [3], "discrete", ["a"]), TypeError, r"scale\[0\] must be a number, got 'a'"),
        (lambda: bounds.price_tanner(2, [3], "discrete", 1.0), TypeError, "scale must be a sequence"),
        (lambda: bounds.price_tanner(2, [3], "gaussian", 1.0, alpha=0.0), ValueError, "alpha must be above 0"),
        (lambda: bounds.price_tanner(2, [3], "gaussian", 1.0, alpha=1.5), ValueError, "at most 1"),
        (lambda: bounds.expected_regions_shallow_ball(2, [3, 3]), BoundDoesNotApply, "one hidden layer"),
        (lambda: bounds.expected_regions_shallow_ball(2, 3, 0.0), ValueError, "radius must be above 0"),
        (lambda: bounds.expected_strata_shallow(2, 3, 3), ValueError, "codimension 3 is above the 2 dimensions"),
        (lambda: bounds.expected_distance_shallow(2, 3, bias_std=0.0), ValueError, "bias_std must be above 0"),
        (lambda: bounds.hanin_rolnick_expected(2, [3], c_grad=0, c_bias=1), ValueError, "c_grad must be above 0"),
        (lambda: bounds.hanin_rolnick_volume(2, [3], 3, c_grad=1, c_bias=1), ValueError, "codimension 3"),
        (lambda: bounds.expected_length_relu_exact(2, [3] * 9, 1e100), OverflowError, "beyond the largest double"),
        (lambda: bounds.price_tanner(2, [3] * 9, "gaussian", 1e100), OverflowError, "beyond the largest double"),
        (lambda: bounds.raghu_length_lower(2, [3] * 9, 1e100), OverflowError, "beyond the largest double"),
        (lambda: bounds.raghu_length_upper(2, [3] * 9, 1e100), OverflowError, "beyond the largest double"),
        (lambda: bounds.raghu_transitions_lower(2, [10**4] * 999, 1e100), OverflowError, "beyond the largest double"),
        (lambda: bounds.hard_tanh_length_growth(1e200), OverflowError, "beyond the largest double"),
        (lambda: bounds.tube_volume([1.0] * 9, 1e100), OverflowError, "beyond the largest double"),
        (lambda: bounds.expected_regions_wide_line(1, [2], 1.0, -1.0), ValueError, "low must not be above high"),
        (lambda: bounds.expected_regions_wide_line(1, [2], np.nan), ValueError, "low must be"),
        (lambda: bounds.expected_regions_wide_line(1, [2], "-inf"), TypeError, "low must be"),
        (lambda: bounds.expected_regions_wide_line(1, [2], sigma_b=0.0), BoundDoesNotApply, "without biases"),
        (lambda: bounds.expected_regions_maxout_line(1, [2], 1), ValueError, "rank must be at least 2"),
        (lambda: bounds.expected_regions_maxout_line(1, [2, 2], 2), BoundDoesNotApply, "one hidden layer"),
        (lambda: bounds.raghu(2, {8, 16}), TypeError, "widths must be a sequence"),
        (lambda: bounds.tube_volume([], 1.0), ValueError, "volumes is empty"),
        (lambda: bounds.tube_volume([1.0, np.nan], 1.0), ValueError, r"volumes\[1\] must be a finite number"),
    ],
)
def test_bad_arguments(call: Callable[[], object], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_line_in_one_dimension_goes_through_0() -> None:
    with pytest.raises(BoundDoesNotApply, match="offset must be 0 for one input: .* got 0.5"):
        bounds.expected_regions_wide_line(1, [64], -1.0, 1.0, offset=0.5)
    assert bounds.expected_regions_wide_line(2, [64], -1.0, 1.0, offset=1.0, sigma_b=0.0) == 33.0


def test_means_beyond_the_doubles_are_refused() -> None:
    with pytest.raises(BeyondDoublesError, match="the mean number of regions is beyond the largest double"):
        bounds.expected_regions_shallow_ball(1000, [2000], 10.0)
    assert bounds.expected_regions_shallow_ball(1000, [1000], 10.0) > 1e300


def test_a_single_width_may_be_an_array() -> None:
    assert bounds.raghu(2, np.array(3)) == bounds.raghu(2, 3)  # type: ignore[arg-type]
