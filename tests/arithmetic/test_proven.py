# SPDX-License-Identifier: MIT
"""Do the bounds of proven numbers hold for every true number, at every scale?

Each operation is compared with fractions: the true operands are at the ends of their bounds, and at random places
between.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isfinite

import numpy as np
import pytest

from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.types import Floats

SCALES = [(-1074, -1060), (-1030, -1000), (-545, -530), (-60, 0), (-3, 3), (480, 512), (1000, 1023), (-1074, 1023)]


def numbers(rng: np.random.Generator, count: int, low: int, high: int) -> Floats:
    """Random doubles of these exponents, a tenth of them 0."""
    sizes = np.ldexp(1 + rng.random(count), rng.integers(low, high, count))
    return np.where(rng.random(count) < 0.1, 0.0, rng.choice([-1.0, 1.0], count) * sizes)


def known(rng: np.random.Generator, count: int, low: int, high: int) -> tuple[Proven, list[Fraction]]:
    """Random proven numbers, and true numbers within their bounds."""
    values = numbers(rng, count, low, high)
    errors = np.abs(values) * np.ldexp(rng.random(count), rng.integers(-60, 2, count))
    errors = np.where(rng.random(count) < 0.2, 0.0, errors)
    errors = np.where(rng.random(count) < 0.1, np.abs(numbers(rng, count, low, high)), errors)
    shares = rng.choice([-1, 1, 0, Fraction(1, 3)], count)
    true = [Fraction(v) + Fraction(e) * s for v, e, s in zip(values.tolist(), errors.tolist(), shares, strict=True)]
    return Proven(values, errors), true


def require_within(found: Proven, true: list[Fraction | None], least: float = 0.5) -> None:
    """Require that values are off by at most their bounds, and that most bounds are finite."""
    checked = found.checked
    known_at_all = 0
    for value, error, number in zip(*(each.tolist() for each in checked), true, strict=True):
        if isfinite(error):
            assert number is not None
            assert abs(Fraction(value) - number) <= Fraction(error)
            known_at_all += 1
    assert known_at_all >= least * len(true)


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_operations_on_two_numbers(scale: tuple[int, int], seed: int) -> None:
    rng = np.random.default_rng([seed, *np.array(scale) + 2000])
    (a, true_a), (b, true_b) = known(rng, 400, *scale), known(rng, 400, *scale)
    pairs = list(zip(true_a, true_b, strict=True))
    with np.errstate(all="ignore"):
        require_within(a + b, [x + y for x, y in pairs])
        require_within(a - b, [x - y for x, y in pairs])
        require_within(a * b, [x * y for x, y in pairs], 0.5 if scale[0] < 0 or scale[1] < 600 else 0.0)
        require_within(a / b, [x / y if y else None for x, y in pairs], 0.2)
        exact = b.value
        require_within(exact * a, [Fraction(y) * x for x, y in zip(true_a, exact.tolist(), strict=True)], 0.0)
        require_within(exact - a, [Fraction(y) - x for x, y in zip(true_a, exact.tolist(), strict=True)])
        require_within(1.0 / a, [1 / x if x else None for x in true_a], 0.2 if scale[0] > -1000 else 0.0)


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_operations_on_one_number(scale: tuple[int, int], seed: int) -> None:
    rng = np.random.default_rng([seed, *np.array(scale) + 2000])
    a, true = known(rng, 400, *scale)
    with np.errstate(all="ignore"):
        require_within(abs(a), [abs(x) for x in true], 0.9)
        require_within(-a, [-x for x in true], 0.9)
        require_within(a.scaled(-7), [x / 128 for x in true], 0.9)
        require_within(a[5:9], true[5:9], 0.9)
        for value, error, number in zip(*(each.tolist() for each in abs(a).sqrt().checked), true, strict=True):
            low, high = Fraction(value) - Fraction(error), Fraction(value) + Fraction(error)
            assert max(low, Fraction(0)) ** 2 <= abs(number) <= high**2
        assert all(x > 0 for x, yes in zip(true, a.positive, strict=True) if yes)
        assert all(x != 0 for x, yes in zip(true, a.nonzero, strict=True) if yes)
        ends = zip(a.low.tolist(), true, a.high.tolist(), strict=True)
        assert all(not isfinite(y - x) or Fraction(x) <= number <= Fraction(y) for x, number, y in ends)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_lengths(scale: tuple[int, int]) -> None:
    rng = np.random.default_rng(np.array(scale) + 2000)
    (a, true_a), (b, true_b) = known(rng, 400, *scale), known(rng, 400, *scale)
    columns = Proven(*(np.column_stack(each) for each in zip(a, b, strict=True)))
    with np.errstate(all="ignore"):
        found = Proven.joined([a.hypot(b).checked, columns.lengths().checked])
    squares = [x * x + y * y for x, y in zip(true_a, true_b, strict=True)] * 2
    for value, error, square in zip(*(each.tolist() for each in found), squares, strict=True):
        if isfinite(error):
            low, high = Fraction(value) - Fraction(error), Fraction(value) + Fraction(error)
            assert max(low, Fraction(0)) ** 2 <= square <= high**2


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_sums_and_products_of_matrices(scale: tuple[int, int]) -> None:
    rng = np.random.default_rng(np.array(scale) + 2000)
    (a, true_a), (b, true_b) = known(rng, 60, *scale), known(rng, 60, *scale)
    rows, columns = Proven(*(each.reshape(6, 10) for each in a)), Proven(*(each.reshape(10, 6) for each in b))
    first, second = np.array(true_a, dtype=object).reshape(6, 10), np.array(true_b, dtype=object).reshape(10, 6)
    groups = rng.integers(0, 7, 60)
    with np.errstate(all="ignore"):
        require_within(rows.sum(axis=1), first.sum(axis=1).tolist(), 0.0)
        totals = [sum((x for x, g in zip(true_a, groups, strict=True) if g == k), Fraction(0)) for k in range(8)]
        require_within(a.totals(groups, 8), totals, 0.0)
        runs = [sum(true_a[:7], Fraction(0)), sum(true_a[7:8], Fraction(0)), sum(true_a[8:], Fraction(0))]
        require_within(a.runs(np.array([0, 7, 8])), runs, 0.0)
        require_within(rows.largest(axis=1), [max(row) for row in first.tolist()], 0.0)
        product = (first @ second).ravel().tolist()
        require_within(_flat(rows @ columns), product, 0.0)
        require_within(_flat(Proven(rows.value.T, rows.error.T).transposed_product(columns)), product, 0.0)
        exact = np.array([Fraction(x) for x in columns.value.ravel().tolist()], dtype=object).reshape(10, 6)
        require_within(_flat(rows @ columns.value), (first @ exact).ravel().tolist(), 0.0)


def _flat(found: Proven) -> Proven:
    return Proven(*(each.ravel() for each in found))


def test_long_products_and_sums() -> None:
    rng = np.random.default_rng(5)
    a, true_a = known(rng, 3000, -3, 3)
    b, _ = known(rng, 3000, -3, 3)
    column, other = Proven(a.value[:, np.newaxis], a.error[:, np.newaxis]), Proven(b.value[:, np.newaxis], 0.0)
    inner = sum((x * Fraction(y) for x, y in zip(true_a, b.value.tolist(), strict=True)), Fraction(0))
    require_within(_flat(column.transposed_product(other)), [inner], 1.0)
    require_within(Proven(*(each[np.newaxis] for each in a.sum(axis=0))), [sum(true_a, Fraction(0))], 1.0)


Bound = Callable[[Proven, Proven], Proven]


@pytest.mark.parametrize(
    "operation", [Proven.__add__, Proven.__sub__, Proven.__mul__, Proven.__truediv__, Proven.hypot]
)
def test_bounds_are_at_most_a_few_units_wide(operation: Bound) -> None:
    rng = np.random.default_rng(7)
    a, b = numbers(rng, 300, -3, 3), numbers(rng, 300, -3, 3)
    with np.errstate(all="ignore"):
        found = operation(Proven(a), Proven(b))
    close = found.error <= 5 * 2.0**-53 * np.abs(found.value) + 1e-299
    assert close[b != 0.0].all()


@pytest.mark.parametrize("scale", [(-1074, -1060), (-1030, -1000), (-545, -530)], ids=str)
def test_underflow_in_products_with_large_numbers(scale: tuple[int, int]) -> None:
    # The rounding of the product is a double, and the charge for it, before it is multiplied, is not.
    rng = np.random.default_rng(np.array(scale) + 2000)
    (a, true_a), (b, true_b) = known(rng, 60, *scale), known(rng, 60, 480, 1023)
    column, row = Proven(*(each[:, np.newaxis] for each in a)), Proven(*(each[np.newaxis] for each in b))
    true: list[Fraction | None] = [x * y for x in true_a for y in true_b]
    with np.errstate(all="ignore"):
        require_within(_flat(column @ row), true, 0.5)
        require_within(_flat(Proven(column.value.T, column.error.T).transposed_product(row)), true, 0.5)


def test_rounded_numbers_may_have_underflowed() -> None:
    size = Fraction(3, 2**1075)  # between two neighbouring doubles
    require_within(Proven.rounded(np.array([float(size)])), [size])


def test_nothing_is_known_of_quotients_by_numbers_that_overflow() -> None:
    with np.errstate(all="ignore"):
        found = (1e308 / Proven(np.array([1e308])).scaled(10)).checked
    assert np.isinf(found.error).all()


def test_nothing_is_known_of_quotients_by_numbers_that_may_be_zero() -> None:
    with np.errstate(all="ignore"):
        found = (Proven(np.ones(3)) / Proven(np.array([2.0, 1.0, 1e-3]), np.ones(3))).checked
    assert np.isfinite(found.error).tolist() == [True, False, False]
