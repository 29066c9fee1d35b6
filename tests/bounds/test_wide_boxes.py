# SPDX-License-Identifier: MIT
"""Is the mean number of regions in a box of three dimensions that of the conic formula and of exact counts?"""

from __future__ import annotations

import warnings
from math import comb, isclose

import numpy as np
import pytest

import regions
from regions.bounds import expected_regions_wide_box, expected_regions_wide_polygon, zaslavsky
from regions.ensembles import Ensemble, Gaussian
from regions.errors import BoundDoesNotApply, ShapeMismatchError
from regions.measures import Estimate

LOW, HIGH = [-1.0, -0.5, 0.2], [1.0, 0.5, 0.9]


@pytest.fixture(autouse=True)
def _no_warnings() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_a_facet_of_a_cube_in_four_dimensions() -> None:
    """By symmetry three units meet it with probability 1/4. Its 12 edges are seen at an angle of 60 degrees, and have
    external angles of 60 degrees.
    """
    one = 2 * (12 / 6 / 6 + 1 / 8)
    square = [[-1, -1, 1, 1], [1, -1, 1, 1], [1, 1, 1, 1], [-1, 1, 1, 1]]
    two = 6 * (expected_regions_wide_polygon(square, [2], sigma_b=0) - 1 - 2 * 4 / 6) / 2
    expected = 1 + 16 * one + comb(16, 2) * two + comb(16, 3) / 4
    for widths in ([16], [8, 8], [3, 9, 4]):  # depth does not matter
        found = expected_regions_wide_box([-1, -1, -1, 1], [1, 1, 1, 1], widths, sigma_w=0.7, sigma_b=0.0)
        assert isclose(found, expected, rel_tol=1e-8)


def test_seen_from_outside_a_box_is_its_outline() -> None:
    """Without biases, regions of a box in its own space are those of its projection to a sphere."""
    low, high = np.array([1.0, -1.0, -1.0]), np.array([2.0, 1.0, 1.0])
    face = [[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]]
    found = expected_regions_wide_box(low, high, [7, 6], sigma_b=0.0)
    assert isclose(found, expected_regions_wide_polygon(face, [7, 6], sigma_b=0.0), rel_tol=1e-8)


@pytest.mark.parametrize("widths", [[6], [4, 5]])
def test_parts_add_up(widths: list[int]) -> None:
    """The regions of two halves of a box are those of the box and of the rectangle between them."""
    middle = 0.3
    halves = [
        expected_regions_wide_box(LOW, [middle, *HIGH[1:]], widths),
        expected_regions_wide_box([middle, *LOW[1:]], HIGH, widths),
    ]
    ends = [(LOW[1], LOW[2]), (HIGH[1], LOW[2]), (HIGH[1], HIGH[2]), (LOW[1], HIGH[2])]
    between = expected_regions_wide_polygon([[middle, *each] for each in ends], widths)
    assert isclose(sum(halves), expected_regions_wide_box(LOW, HIGH, widths) + between, rel_tol=1e-8)


def test_position_and_order_of_coordinates() -> None:
    first = expected_regions_wide_box([*LOW, 0.3, 0.4], [*HIGH, 0.3, 0.4], [4, 5])
    low, high = np.array([*LOW, 0.3, 0.4])[[4, 2, 3, 0, 1]], np.array([*HIGH, 0.3, 0.4])[[4, 2, 3, 0, 1]]
    assert isclose(expected_regions_wide_box(low, high, [4, 5]), first, rel_tol=1e-9)
    assert isclose(expected_regions_wide_box(-high, -low, [4, 5]), first, rel_tol=1e-9)
    turned = expected_regions_wide_box([*LOW, 0.5, 0.0], [*HIGH, 0.5, 0.0], [4, 5])
    assert isclose(turned, first, rel_tol=1e-9)


@pytest.mark.parametrize("scale", [1e-100, 1e-9, 1e9, 1e100])
def test_small_and_large_boxes(scale: float) -> None:
    limit = 1.0 if scale < 1 else zaslavsky(3, 12)
    found = expected_regions_wide_box(np.full(3, -scale), np.full(3, scale), [6, 6])
    assert isclose(found, limit, rel_tol=1e-6)


@pytest.mark.parametrize(
    ("low", "high", "widths", "std"),
    [
        (LOW, HIGH, (12,), 0.5),
        (LOW, HIGH, (128,), 0.0),
        ([*LOW, 1.0], [*HIGH, 1.0], (10, 10), 0.0),
        ([1.0, 1.0, 1.0], [2.0, 3.0, 2.0], (16, 16), 0.0),
    ],
)
@pytest.mark.slow
def test_exact_counts(low: list[float], high: list[float], widths: tuple[int, ...], std: float) -> None:
    rng, box = np.random.default_rng(0), regions.Box(low, high)
    random = Ensemble([len(low), *widths, 1], biases=Gaussian(std) if std else None)
    counts = [regions.count(random.draw(rng), box) for _ in range(200)]
    law = expected_regions_wide_box(low, high, widths, sigma_b=std)
    assert abs(Estimate(np.array(counts, dtype=float)).deviation(law)) < 4


@pytest.mark.parametrize(
    ("low", "high", "error", "message"),
    [
        ([0, 0, 0], [1, 1], ShapeMismatchError, r"got shapes \[3\] and \[2\]"),
        ([[0, 0, 0]], [[1, 1, 1]], ShapeMismatchError, r"arrays \[n_in\]"),
        ([0, 0, 0], [1, 1, 0], ShapeMismatchError, "2 coordinates have low < high.*expected_regions_wide_polygon"),
        ([0] * 4, [1] * 4, ShapeMismatchError, "4 coordinates have low < high.*ensembles.frozen"),
        ([0, 2, 0], [1, 1, 1], ValueError, r"low\[1\] = 2 is above high\[1\] = 1"),
    ],
)
def test_bounds_are_refused(low: object, high: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        expected_regions_wide_box(low, high, [4])  # type: ignore[arg-type]


@pytest.mark.parametrize("low", [-1.0, 0.0])
def test_boxes_with_0_need_biases(low: float) -> None:
    with pytest.raises(BoundDoesNotApply, match="a box that contains 0 needs a sigma_b above 0"):
        expected_regions_wide_box([low] * 3, [1.0] * 3, [4], sigma_b=0.0)


def test_variances_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="leave the range of a double"):
        expected_regions_wide_box(LOW, HIGH, [4] * 4, sigma_w=1e-200)
