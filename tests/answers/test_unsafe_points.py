# SPDX-License-Identifier: MIT
"""Is each witness unsafe and in the domain, exactly, and are strict inequalities decided?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from polytope_cases import he_normal
from regions import Box, Network, Polygon, Segment
from regions.domains.membership import contains

SQUARE = Polygon([[0, 0], [1, 0], [1, 1], [0, 1]])
SUM = Network([([[1.0, 1.0]], [0.0]), ([[1.0]], [0.0])])  # max(x + y, 0)


def largest(net: Network, domain: Polygon | Box) -> float:
    """Return the largest output, rounded down."""
    exact = regions.extremes(net, domain).exact_maximum[0]
    top = float(exact)  # type: ignore[arg-type]
    return top if Fraction(top) <= exact else float(np.nextafter(top, -np.inf))  # type: ignore[operator]


@pytest.mark.parametrize("dimension", [2, 3, 4])
def test_a_witness_in_a_tiny_corner_is_in_the_domain(dimension: int) -> None:
    domain = SQUARE if dimension == 2 else Box([0] * dimension, [1] * dimension)
    for k in range(1, 60):
        net = Network([([[k / 100] * dimension], [0.4]), ([[-0.8]], [0.3])])
        witness = regions.verify(net, domain, [([[-1.0]], [-largest(net, domain)])]).witness
        assert witness is not None and contains(domain, witness.point)
        assert all(0 <= x <= 1 for x in witness.point)


def test_points_of_domains() -> None:
    third = Fraction(1, 3)
    assert contains(SQUARE, (third, Fraction(0))) and not contains(SQUARE, (third, Fraction(-1, 10**400)))
    assert contains(Segment([0.0], [1.0]), (Fraction(1),)) and not contains(Segment([0.0], [1.0]), (Fraction(4, 3),))
    assert contains(regions.Ray([0.0], [1.0]), (Fraction(10**400),)) and not contains(regions.Ray([0], [1]), (-third,))
    assert contains(regions.Plane([0, 0], [1, 0], [0, 1]), (-third, third))
    assert contains(Box([0] * 3, [1] * 3), (third, third, Fraction(1)))
    assert not contains(Box([0] * 3, [1] * 3), (third, third, 1 + third))


@pytest.mark.parametrize(
    ("rows", "bounds", "strict", "holds"),
    [
        ([[-1.0]], [-2.0], [False], False),  # y >= 2 only at the corner (1, 1)
        ([[-1.0]], [-2.0], [True], True),
        ([[-1.0]], [-1.5], [True], False),
        ([[-1.0], [1.0]], [-1.0, 1.0], [False, False], False),  # y = 1 on a line
        ([[-1.0], [1.0]], [-1.0, 1.0], [False, True], True),
        ([[-1.0], [1.0]], [-1.0, 1.5], [True, True], False),
    ],
)
def test_strict_inequalities(rows: list[list[float]], bounds: list[float], strict: list[bool], holds: bool) -> None:
    inputs = np.zeros((len(rows), 2))
    for workers in (1, 2):
        found = regions.verify(SUM, SQUARE, [(rows, bounds, inputs, strict)], workers=workers)
        assert found.holds == holds and (found.witness is None) == holds
        if holds:
            assert found.touching is not None and found.as_dict()["touching"]["outputs"] == [-bounds[0]]
        else:
            assert found.touching is None and found.witness is not None
            (y,) = found.witness.outputs
            slack = [Fraction(b) - Fraction(a) * y for (a,), b in zip(rows, bounds, strict=True)]
            assert all(s > 0 if own else s >= 0 for s, own in zip(slack, strict, strict=True))


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_violation_between_corners_that_are_not_violations(dimension: int) -> None:
    # y = 0 on the face x0 = 0, where each corner satisfies only some of the strict inequalities.
    domain = SQUARE if dimension == 2 else Box([0] * dimension, [1] * dimension)
    first = np.eye(1, dimension)
    net = Network([(first, [0.0]), ([[1.0]], [0.0])])
    inputs = np.zeros((3, dimension))
    inputs[1, 1], inputs[2, 1] = -1.0, 1.0  # 0 < x1 < 1
    unsafe = [([[1.0], [0.0], [0.0]], [0.0, 0.0, 1.0], inputs, [False, True, True])]
    found = regions.verify(net, domain, unsafe)
    assert found.witness is not None and found.witness.point[0] == 0 and 0 < found.witness.point[1] < 1
    assert found.violated_share == 0.0
    unsafe = [([[1.0], [0.0], [0.0]], [0.0, -1.0, 1.0], inputs, [False, True, True])]  # 1 < x1 < 1
    found = regions.verify(net, domain, unsafe)
    assert found.holds and found.touching is not None


def test_a_row_that_is_zero_all_over_a_region_is_not_strictly_satisfied() -> None:
    net = Network([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])])  # max(x, 0)
    square = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    unsafe = [([[1.0]], [0.0], np.zeros((1, 2)), [True])]  # y < 0
    found = regions.verify(net, square, unsafe)
    assert found.holds and found.touching is not None
    assert regions.verify(net, square, [([[1.0]], [0.0])]).violated_share == 0.5


def test_a_certificate_of_a_property_that_only_holds_strictly_is_refused(tmp_path: object) -> None:
    found = regions.verify(SUM, SQUARE, [([[-1.0]], [-2.0], [[0.0, 0.0]], [True])])
    with pytest.raises(ValueError, match="because inequalities are strict"):
        regions.write_certificate(found, f"{tmp_path}/no.regions-certificate")


@pytest.mark.parametrize("strict", [[True, False], [0], "x", [[True]]])
def test_the_fourth_item_has_a_bool_for_each_row(strict: object) -> None:
    with pytest.raises(ValueError, match="strict must have a bool for each row of A"):
        regions.verify(SUM, SQUARE, [([[-1.0]], [-2.0], [[0.0, 0.0]], strict)])  # type: ignore[list-item]


def test_a_limit_counts_cells_that_bounds_prove_safe() -> None:
    net, box = he_normal([5, 30, 30, 30, 1]), Box([-1] * 5, [1] * 5)
    high = 3 * float(np.abs(net(np.random.default_rng(0).uniform(-1, 1, (1000, 5)))).max())
    for workers in (1, 2):
        with pytest.raises(regions.LimitReached, match="10 regions and cells that bounds prove to be safe"):
            regions.verify(net, box, [([[-1.0]], [-high])], limit=10, workers=workers)
