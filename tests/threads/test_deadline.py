# SPDX-License-Identifier: MIT
"""Does a timeout stop a call, and does its exception say what was found?"""

from __future__ import annotations

import time

import numpy as np
import pytest

import regions
from polytope_cases import he_normal
from regions import Box, TimeoutReached
from regions.arithmetic.arguments import seconds
from regions.threads.deadline import NO_DEADLINE, Deadline


def test_without_a_timeout_there_is_no_deadline() -> None:
    def report(share: float, found: int) -> None: ...

    assert NO_DEADLINE.until(report) is report and NO_DEADLINE.until(None) is None
    NO_DEADLINE.check()


def test_a_deadline_lets_reports_through_until_it_passes() -> None:
    seen: list[tuple[float, int]] = []
    report = Deadline(1000.0).until(lambda *given: seen.append(given))
    assert report is not None
    report(0.5, 3)
    assert seen == [(0.5, 3)]
    passed = Deadline(0.0)
    late = passed.until(report)
    assert late is not None
    with pytest.raises(TimeoutReached, match="after 0 seconds") as stopped:
        late(0.6, 4)
    assert stopped.value.timeout == 0 and len(seen) == 1
    with pytest.raises(TimeoutReached):
        passed.check()


@pytest.mark.parametrize("timeout", [-1, np.nan, np.inf])
def test_a_timeout_is_a_finite_number(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout must be"):
        seconds(timeout, "timeout")
    with pytest.raises(TypeError, match="timeout must be a number"):
        seconds("1", "timeout")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_timeout_stops_the_core(workers: int) -> None:
    net = he_normal([4, 40, 40, 40, 1])
    box = Box([-1] * 4, [1] * 4)
    start = time.monotonic()
    with pytest.raises(TimeoutReached, match=r"after 0\.3 seconds; raise timeout="):
        regions.verify(net, box, [([[0.0]], [-1.0]), ([[1.0], [-1.0]], [0.0, -1e-9])], timeout=0.3, workers=workers)
    assert time.monotonic() - start < 60
