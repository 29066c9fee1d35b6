# SPDX-License-Identifier: MIT
"""Are doubles written as integers times powers of two, and fractions and square roots as the nearest doubles?"""

from __future__ import annotations

from fractions import Fraction
from math import inf, sqrt

import numpy as np

from regions.ground.arithmetic.dyadic import common_integers, dyadic, nearest_float, split_square_root, square_root


def test_square_root_is_correctly_rounded() -> None:
    rng = np.random.default_rng(0)
    for value in [
        2.0,
        1e-320,
        1.7e308,
        *rng.standard_normal(200) ** 2 * 10.0 ** rng.integers(-300, 300, 200),
    ]:
        assert square_root(Fraction(float(value))) == sqrt(value)


def test_the_root_of_what_no_double_is_comes_in_two_parts() -> None:
    mantissa, exponent = split_square_root(Fraction(4) ** 5000 * 9)
    assert Fraction(mantissa) * Fraction(2) ** exponent == 3 * Fraction(2) ** 5000
    assert 0.5 <= mantissa <= 2.0


def test_doubles_are_integers_as_small_as_can_be_times_one_power_of_two() -> None:
    values = np.array([[0.75, -3.0], [5e-324, 1.7976931348623157e308]])
    for given in (values, values[:1], np.zeros(2), np.zeros((0, 2))):
        integers, exponent = dyadic(given)
        assert [Fraction(int(m)) * Fraction(2) ** exponent for m in integers.flat] == list(map(Fraction, given.flat))
    integers, exponent = dyadic(values[0])
    assert (integers.tolist(), exponent) == ([3, -12], -2)


def test_a_few_doubles_are_integers_times_one_power_of_two() -> None:
    for given in ([0.75, -3.0, 0.0], [5e-324, 1.7976931348623157e308, -0.0], [8.0, 24.0], [0.0]):
        integers = common_integers(given)
        (scale,) = {n / Fraction(x) for n, x in zip(integers, given, strict=True) if x} or {Fraction(1)}
        assert all(n == scale * Fraction(x) for n, x in zip(integers, given, strict=True))
        assert scale.denominator == 1
        assert scale.numerator & (scale.numerator - 1) == 0


def test_fractions_beyond_the_largest_double_are_infinite() -> None:
    assert nearest_float(Fraction(1, 3)) == 1 / 3
    assert (nearest_float(Fraction(10) ** 400), nearest_float(-(Fraction(10) ** 400))) == (inf, -inf)
