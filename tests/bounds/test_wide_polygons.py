# SPDX-License-Identifier: MIT
"""Is the law for segments and polygons that of random planes through a point, and are other corners refused?"""

from __future__ import annotations

import warnings
from math import atan2, comb, isclose, pi

import numpy as np
import pytest

from regions.bounds import expected_regions_wide_line, expected_regions_wide_polygon, zaslavsky
from regions.errors import BoundDoesNotApply, ShapeMismatchError

SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
PENTAGON = np.array([[0.0, 0.0], [2.0, -0.5], [3.0, 1.0], [1.5, 2.0], [0.0, 1.0]])


@pytest.fixture(autouse=True)
def _no_warnings() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def lifted(corners: np.ndarray, height: float) -> np.ndarray:
    return np.column_stack([corners, np.full(len(corners), height)])


def seen(corners: np.ndarray) -> tuple[float, float]:
    """Return perimeter and area of a polygon in three dimensions, seen from 0 (Van Oosterom and Strackee 1983)."""
    units = corners / np.linalg.norm(corners, axis=1, keepdims=True)
    perimeter = sum(float(np.arccos(a @ b)) for a, b in zip(units, np.roll(units, -1, axis=0), strict=True))
    area = 0.0
    for b, c in zip(units[1:], units[2:], strict=False):
        a = units[0]
        area += 2 * atan2(abs(np.linalg.det([a, b, c])), 1 + a @ b + b @ c + c @ a)
    return perimeter, area


@pytest.mark.parametrize("corners", [SQUARE, PENTAGON, PENTAGON + 5.0, SQUARE[:3] - 0.3], ids=str)
@pytest.mark.parametrize("height", [0.01, 1.0, 7.0])
def test_without_biases_perimeter_and_area_are_seen_from_0(corners: np.ndarray, height: float) -> None:
    perimeter, area = seen(lifted(corners, height))
    expected = 1 + 20 * perimeter / (2 * pi) + comb(20, 2) * area / (2 * pi)
    for widths in (20, [5, 15], [8, 4, 8]):  # depth does not matter
        found = expected_regions_wide_polygon(lifted(corners, height), widths, sigma_w=0.3, sigma_b=0.0)
        assert isclose(found, expected, rel_tol=1e-8)


def test_one_layer_with_biases_is_a_layer_at_a_height() -> None:
    found = expected_regions_wide_polygon(PENTAGON, 20, sigma_w=1.5, sigma_b=0.7)
    height = 2**0.5 * 0.7 / 1.5
    assert isclose(found, expected_regions_wide_polygon(lifted(PENTAGON, height), 20, sigma_b=0.0), rel_tol=1e-8)


def test_parts_add_up() -> None:
    """The regions of two halves of a square are those of the square and of the segment between them."""
    square, *halves = (
        expected_regions_wide_polygon(corners, [6, 9, 5]) for corners in (SQUARE, SQUARE[:3], SQUARE[[0, 2, 3]])
    )
    assert isclose(sum(halves), square + expected_regions_wide_polygon(SQUARE[[0, 2]], [6, 9, 5]), rel_tol=1e-8)


def test_segments_are_pieces_of_lines() -> None:
    direction, point = np.array([0.6, 0.0, 0.8]), np.array([0.0, 2.0, 0.0])
    for low, high in ((-1.0, 1.0), (3.0, 4.0)):
        line = expected_regions_wide_line(3, [7, 8], low, high, offset=2.0, sigma_w=1.1, sigma_b=0.4)
        ends = [point + low * direction, point + high * direction]
        assert isclose(expected_regions_wide_polygon(ends, [7, 8], sigma_w=1.1, sigma_b=0.4), line, rel_tol=1e-12)


def test_position_and_order_of_corners() -> None:
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))[0]
    padded = np.pad(PENTAGON + 1.0, [(0, 0), (0, 4)])
    first = expected_regions_wide_polygon(padded, [5, 6])
    for corners in (padded @ turn, padded[::-1], np.roll(padded, 2, axis=0), padded @ turn.T):
        assert isclose(expected_regions_wide_polygon(corners, [5, 6]), first, rel_tol=1e-8)


@pytest.mark.parametrize("scale", [1e-100, 1e-9, 1e9, 1e100])
def test_small_and_large_squares(scale: float) -> None:
    limit = 1.0 if scale < 1 else zaslavsky(2, 30)
    assert isclose(expected_regions_wide_polygon(scale * SQUARE, [10, 10, 10]), limit, rel_tol=1e-6)


@pytest.mark.parametrize(
    ("corners", "message"),
    [
        (SQUARE[:1], r"corners must be an array \[k, n_in\]"),
        ([[0.0], [1.0], [2.0]], r"corners must be an array \[k, n_in\]"),
        ([0.0, 1.0], r"corners must be an array \[k, n_in\]"),
        (SQUARE[[0, 0]], "corners must be different"),
        ([[0, 0], [1, 1], [2, 2]], "must not lie on one line"),
        ([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1]], "corners must lie in one plane"),
        (SQUARE[[0, 2, 1, 3]], "corners must be those of a convex polygon, in order"),
        ([[0, 0], [2, 0], [0.5, 0.5], [0, 2]], "corners must be those of a convex polygon, in order"),
    ],
)
def test_corners_are_refused(corners: object, message: str) -> None:
    with pytest.raises((ShapeMismatchError, ValueError), match=message):
        expected_regions_wide_polygon(corners, [4])  # type: ignore[arg-type]


def test_domains_through_0_need_biases() -> None:
    with pytest.raises(BoundDoesNotApply, match="a plane through 0 needs a sigma_b above 0"):
        expected_regions_wide_polygon(SQUARE, [4], sigma_b=0.0)
    with pytest.raises(BoundDoesNotApply, match="a line through 0 needs a sigma_b above 0"):
        expected_regions_wide_polygon([[1.0, 1.0], [2.0, 2.0]], [4], sigma_b=0.0)
