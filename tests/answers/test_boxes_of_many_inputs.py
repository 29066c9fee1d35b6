# SPDX-License-Identifier: MIT
"""Are extremes in boxes of more than six dimensions in the intervals that are proved, and exact where they are decided?

Exact extremes of sums of small networks come from `wide_judge.py`; ``tests/fuzz_extremes.py`` has many more of them.
Those of other networks come from linear programs, one for each pattern.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import regions
from polytope_cases import he_normal
from regions import Box, Network
from regions.answers import wide_boxes
from wide_judge import fault_of, sum_of_networks

# |x_1| + .. + |x_20|
TENT = Network([(np.vstack([np.eye(20), -np.eye(20)]), None), (np.ones((1, 40)), None)])
CUBE = Box([-1] * 20, [1] * 20)


@pytest.mark.parametrize("inputs", [[1] * 7, [2] * 4, [3, 4], [1, 2, 3, 2], [1] * 20], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_sums_of_networks(inputs: list[int], seed: int) -> None:
    net, ends, exact = sum_of_networks(inputs, seed)
    found = regions.extremes(net, Box(*ends), limit=60)
    assert fault_of(net, found, exact) == ""
    assert found.bounded_parts <= 60 and found.regions_met == 0


@pytest.mark.parametrize("seed", range(6))
def test_linear_programs_for_all_patterns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, units = int(rng.integers(7, 11)), 5
    hidden = (rng.normal(size=(units, d)), rng.normal(size=units))
    last = (rng.normal(size=(1, units)), rng.normal(size=1))
    if seed % 2:
        hidden = (np.round(hidden[0]), np.zeros(units))
    values = {
        sign: max(_program(hidden, last, sign, pattern) for pattern in itertools.product([0, 1], repeat=units))
        for sign in (-1, 1)
    }
    found = regions.extremes(Network([hidden, last]), Box([-1] * d, [1] * d), limit=600)
    (least,), (greatest,) = found.minimum_intervals.tolist(), found.maximum_intervals.tolist()
    assert least[0] - 1e-8 <= -values[-1] <= least[1] + 1e-8
    assert greatest[0] - 1e-8 <= values[1] <= greatest[1] + 1e-8


def _program(hidden: Any, last: Any, sign: int, pattern: tuple[int, ...]) -> float:
    """The greatest value of sign times the output where units are on or off."""
    (weights, biases), on = hidden, np.array(pattern)
    form, sides = sign * (last[0][0] * on) @ weights, np.where(on, -1.0, 1.0)
    solved = linprog(-form, sides[:, np.newaxis] * weights, -sides * biases, bounds=[(-1, 1)] * weights.shape[1])
    constant = sign * float((last[0][0] * on) @ biases + last[1][0])
    return -solved.fun + constant if solved.status == 0 else -np.inf


def test_bounds_without_rounding_decide_values_at_kinks() -> None:
    found = regions.extremes(TENT, CUBE)
    assert found.exact_minimum == (0,) and found.exact_maximum == (20,)
    assert repr(found) == "Extremes([0, 20], decided by bounds on 2 parts)"
    assert found.argmin.tolist() == [[0.0] * 20]
    facts = found.as_dict()
    assert facts["decided"] and facts["parts"] == 2 and facts["maximum_intervals"] == [[20.0, 20.0]]


def test_an_affine_network_and_constants_are_decided() -> None:
    rows = np.arange(14.0).reshape(2, 7) / 8
    found = regions.extremes(Network([(rows, [0.25, 0.0])]), Box([-1] * 7, [2] * 7))
    assert found.decided and found.exact_maximum == tuple(
        2 * sum(row) + b for row, b in zip(rows, (0.25, 0), strict=True)
    )
    zero = Network([(np.zeros((3, 7)), np.zeros(3)), (np.ones((1, 3)), [0.5])])
    found = regions.extremes(zero, Box([0] * 7, np.nextafter(0, 1) * np.ones(7)))
    assert found.exact_minimum == found.exact_maximum == (0.5,)


def test_directions_that_are_not_inputs() -> None:
    rng = np.random.default_rng(0)
    directions = rng.integers(-2, 3, (7, 9)).astype(float)
    box = Box.around(np.ones(9), 0.25, directions)
    net = Network([(rng.normal(size=(4, 9)), rng.normal(size=4)), (rng.normal(size=(2, 4)), None)])
    corners = box.origin + np.array(list(itertools.product([-0.25, 0.25], repeat=7))) @ directions
    found, values = regions.extremes(net, box, limit=200), net(corners)
    assert (found.maximum_intervals[:, 1] >= values.max(axis=0) - 1e-12).all()
    assert (found.minimum_intervals[:, 0] <= values.min(axis=0) + 1e-12).all()
    assert np.allclose(net(found.argmax)[[0, 1], [0, 1]], found.maximum, atol=1e-12)


def test_the_timeout_leaves_intervals() -> None:
    net = he_normal([12, 64, 64, 64, 2])
    box = Box([-1] * 12, [1] * 12)
    start = time.monotonic()
    found = regions.extremes(net, box, timeout=0.05)
    assert not found.decided and time.monotonic() - start < 60
    assert np.isfinite(found.maximum_intervals).all() and (found.maximum <= found.maximum_intervals[:, 1]).all()
    assert found.exact_maximum == (None, None) and "not decided" in repr(found) and " to " in found._repr_html_()
    points = np.random.default_rng(1).uniform(-1, 1, (1000, 12))
    assert (net(points) <= found.maximum_intervals[:, 1]).all()
    more = regions.extremes(net, box, limit=300)
    assert (more.maximum_errors <= found.maximum_errors).all() and more.bounded_parts >= found.bounded_parts


def test_stopped_work_loses_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that were being bounded when the time was over still count."""
    net, box = he_normal([8, 8, 1]), Box([-1] * 8, [1] * 8)
    whole = regions.extremes(net, box, limit=100)
    calls = itertools.count()
    real = wide_boxes._Search.ranges

    def ranges(self: Any, *args: Any) -> Any:
        if next(calls) == 5:
            raise regions.TimeoutReached("", timeout=1.0)
        return real(self, *args)

    monkeypatch.setattr(wide_boxes._Search, "ranges", ranges)
    found = regions.extremes(net, box, limit=100)
    assert not found.decided and found.bounded_parts < whole.bounded_parts
    assert (found.maximum_intervals[:, 1] >= whole.maximum_intervals[:, 0]).all()
    assert np.isfinite(found.maximum_intervals).all()


def test_numbers_that_overflow_leave_infinite_intervals() -> None:
    huge = Network([(np.full((2, 7), 1e300), None), ([[1e300, -1e300]], None)])
    found = regions.extremes(huge, Box([-1] * 7, [1] * 7), limit=10)
    assert found.minimum_intervals[0, 0] <= 0 <= found.maximum_intervals[0, 1]
    assert found.minimum_errors[0] >= 0 and found.maximum_errors[0] >= 0


def test_no_regions_are_enumerated() -> None:
    found = regions.extremes(TENT, CUBE)
    with pytest.raises(regions.errors.DomainError, match="exist in 1 to 6 dimensions; this domain has 20"):
        _ = found.partition


def test_differences_of_networks() -> None:
    twice = Network([(layer.weights * (1 + number), None) for number, layer in enumerate(TENT.layers)])
    found = regions.compare(TENT, twice, CUBE, limit=4)
    assert found.equal is False and found.max_difference.tolist() == [20.0] and "regions" not in found.as_dict()
    same = Network([(np.eye(8)[:2], [0.0, 1.0])])
    assert regions.compare(same, same, Box([0] * 8, [1] * 8)).equal is True
    net = he_normal([8, 8, 1])
    found = regions.compare(net, net, Box([-1] * 8, [1] * 8), limit=20)
    assert found.equal is None and found.errors[0] > 0 and "no difference found, at most" in repr(found)
    assert "not decided" in found._repr_html_()


def test_constants_that_are_zero() -> None:
    """Bounds are above 0 by what underflow can change, and bounds without rounding are 0."""
    net, box = Network([(np.zeros((3, 8)), None), (np.zeros((2, 3)), None)]), Box([-1] * 8, [1] * 8)
    assert regions.extremes(net, box).exact_maximum == (0, 0)
    assert regions.margin(net, box).holds and regions.compare(net, net, box).equal


@pytest.mark.parametrize("timeout", [0.0, 0.001])
def test_the_class_of_the_middle_is_found_in_any_time(timeout: float) -> None:
    net, box = regions.ensembles.he([8, 8, 2]).draw(np.random.default_rng(0)), Box([-1] * 8, [1] * 8)
    found = regions.margin(net, box, timeout=timeout)
    assert not found.decided and found.label == int(net(np.zeros(8)).argmax())


@pytest.mark.filterwarnings("error")
def test_a_box_as_wide_as_the_doubles() -> None:
    eye = np.eye(8)
    net = Network([(np.vstack([eye, -eye]), None), (np.ones((1, 16)), None)])
    found = regions.extremes(net, Box([-1e308] * 8, [1e308] * 8), limit=20)
    assert found.minimum_intervals[0, 0] <= 0 and found.maximum_intervals[0].tolist()[1] == np.inf
