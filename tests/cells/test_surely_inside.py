# SPDX-License-Identifier: MIT
"""Is a point reported inside a region only if it is inside for all possible true corners, and are most points found?"""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import regions
from partition_cases import CASES
from random_networks import random_network
from raw_from_reference import partition_from_reference
from regions import _core
from regions.domains import Line, Plane
from regions.ground.arithmetic.dyadic import dyadic
from regions.results.cells import surely_inside
from regions.results.partition import Partition, raw_arrays

RING = np.arange(3)


def triangle(corners: np.ndarray, errors: np.ndarray) -> _core.CompiledCells:
    """Return one cell in a domain without boundary facets."""
    sides = np.array([[0, -1]] * 3)
    return _core.CompiledCells(corners, errors, np.array([0, 3]), RING, RING, sides, np.zeros(3, dtype=np.int64))


def least_area(a: list[int], b: list[int], p: list[int], a_error: int, b_error: int) -> int:
    """Return twice the smallest area of a, b and p when a and b move by their errors: it is bilinear in the moves."""
    ax, ay, bx, by = a[0] - p[0], a[1] - p[1], b[0] - p[0], b[1] - p[1]
    return min(
        (ax + i * a_error) * (by + j * b_error) - (ay + k * a_error) * (bx + m * b_error)
        for i, j, k, m in itertools.product((-1, 1), repeat=4)
    )


@pytest.mark.parametrize("exponent", [0, 300, -300, -520, -540, 1000])
def test_wherever_the_true_corners_are(exponent: int) -> None:
    """Points along the edges of long triangles, at all distances from them, near and far beyond the bound."""
    rng = np.random.default_rng(exponent + 2000)
    wrong = found = close = 0
    for case in range(60):
        corners = rng.standard_normal((3, 2)) * 10.0 ** rng.uniform(-6, 0, (1, 2)) + rng.standard_normal(2)
        errors = np.ptp(corners, axis=0).min() * 10.0 ** rng.uniform(-12, -0.5, 3) * (rng.random(3) < 0.7)
        if case % 2:  # an edge through the origin, up to rounding: doubles are closest together there
            corners[1] = -corners[0] * rng.random()
            errors *= 0
        x, y = corners[1:] - corners[0]
        corners = corners[:: 1 if x[0] * y[1] > x[1] * y[0] else -1]
        weights = rng.random((40, 1))
        edges = rng.integers(0, 3, 40)
        on = corners[edges] * weights + corners[(edges + 1) % 3] * (1 - weights)
        points = on + (corners.mean(axis=0) - on) * 10.0 ** rng.uniform(-17, 0, (40, 1))
        if case % 2:
            points[:30] = rng.standard_normal((30, 2)) * 10.0 ** rng.uniform(-18, -15, (30, 1))
        corners, errors, points = (np.ldexp(each, exponent) for each in (corners, errors, points))
        answers = triangle(corners, errors).find(0, 100, points)
        integers, _ = dyadic(np.concatenate([corners.ravel(), errors, points.ravel()]))
        ring, moves, places = integers[:6].reshape(3, 2).tolist(), integers[6:9].tolist(), integers[9:].reshape(-1, 2)
        for point, answer in zip(places.tolist(), answers.tolist(), strict=True):
            inside = all(least_area(ring[i - 1], ring[i], point, moves[i - 1], moves[i]) > 0 for i in range(3))
            wrong += answer == 0 and not inside
            found += answer == 0
            close += answer != 0 and inside
    assert wrong == 0
    # The bound exceeds the necessary one by a few roundings. Near the limits of the doubles, products are 0 or
    # infinite.
    assert abs(exponent) > 300 or (found > 600 and close < 0.7 * found)


def test_generic_points_need_no_patterns() -> None:
    rng = np.random.default_rng(0)
    for partition in (
        regions.enumerate(*CASES["square"]),
        regions.enumerate(*CASES["segment"]),
        regions.enumerate(random_network([3, 8, 8, 1], 1), Plane([0, 1, 0], [1, 0, 2], [0, 0.5, -1])),
        regions.enumerate(random_network([3, 8, 8, 1], 1), Line([0, 1, 0], [1, 0, 2])),
    ):
        points = rng.uniform(0, 1, (1000, partition.dimension))
        if not partition.domain.bounded:
            points *= 10.0 ** rng.uniform(-3, 9, (1000, 1))
        partition.locate(points, space="chart")
        assert vars(partition._locator.patterns).keys() <= {"network", "domain", "packed", "complete", "exact"}


def test_lines_without_an_end() -> None:
    """A cross whose lines reach the boundary of the plane, a line without a vertex, and a strip."""
    identity = np.eye(2)
    for weights, biases in ((identity, [0.0, 0.0]), ([[1.0, 2.0]], [3.0]), ([[3.0, 1.0], [3.0, 1.0]], [-1.0, 5.0])):
        network = regions.Network([(weights, biases), ([[1.0] * len(biases)], [0.0])])
        partition = regions.enumerate(network, Plane([0, 0], *identity))
        points = np.random.default_rng(1).standard_normal((200, 2)) * 10
        found = partition._locator.finder.find(points)
        assert (partition.patterns[found] == network.pattern(points)).all()


def test_between_corners_that_are_not_known_well() -> None:
    network, domain = CASES["segment"]
    raw = dict(raw_arrays(partition_from_reference(network, domain)))
    order = np.argsort(raw["vertices"][:, 0])
    gap = np.diff(raw["vertices"][order, 0]).min()
    raw["vertex_errors"] = np.full(len(order), gap / 5)
    partition = Partition(network, domain, raw)
    middles = partition.interior_points
    assert (partition._locator.finder.find(middles) == np.arange(len(partition))).sum() >= len(partition) - 1
    ends = partition.vertices + gap / 6 * np.array([[-1], [1]])[:, :, np.newaxis]
    assert (partition._locator.finder.find(ends.reshape(-1, 1)) == -1).all()
    assert partition.locate(ends.reshape(-1, 1)[:1], space="chart").shape == (1,)


def test_walks_end_whatever_the_arrays_say() -> None:
    """Two triangles with damaged arrays: a point outside of both is sent from each to the other."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0], [8.0, 9.0]])
    facets = np.array([0, 1, 2, 0, 1, 2])
    sides = np.array([[0, 1]] * 3)
    arrays = (corners, np.zeros(6), np.array([0, 3, 6]), np.arange(6), facets, sides, np.zeros(3, dtype=np.int64))
    cells = _core.CompiledCells(*arrays)
    assert cells.find(0, 1000, np.array([[-5.0, -5.0], [0.25, 0.25]])).tolist() == [-1, -1]
    assert cells.find(0, 1000, np.array([[0.25, 0.25], [-5.0, -5.0]])).tolist() == [0, -1]
    for place, wrong in (
        (2, [0, 3, 7]),
        (3, np.arange(6) + 1),
        (4, facets + 1),
        (5, sides + 1),
        (1, [0]),
    ):
        broken = [*arrays[:place], np.asarray(wrong, dtype=arrays[place].dtype), *arrays[place + 1 :]]
        with pytest.raises(ValueError, match="arrays of cells"):
            _core.CompiledCells(*broken)
    with pytest.raises(ValueError, match="do not fit"):
        cells.find(2, 1, corners)
    with pytest.raises(ValueError, match="do not fit"):
        cells.find(0, 1, corners[:, :1])


def test_partitions_that_have_looked_up_points_can_be_pickled() -> None:
    partition = regions.enumerate(*CASES["square"])
    points = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    found = partition.locate(points)
    again = pickle.loads(pickle.dumps(partition))
    assert (again.locate(points) == found).all()


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_sorting_loses_no_point(count: int) -> None:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((count, 2)) * 10.0 ** rng.uniform(-300, 307, (count, 1))
    assert (np.sort(surely_inside._along_curve(points)) == np.arange(count)).all()
    squares = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    steps = np.abs(np.diff(squares[surely_inside._along_curve(squares)], axis=0)).sum(axis=1)
    assert steps.mean() < 2
