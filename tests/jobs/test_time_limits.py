# SPDX-License-Identifier: MIT
"""Does every call that may take long stop at its timeout, and does the exception have what was found?"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from polytope_cases import he_normal
from regions import TimeoutReached
from regions.threads.deadline import check_time, time_limit
from regions.threads.progress import reporting

SQUARE = regions.Polygon([[-9, -9], [9, -9], [9, 9], [-9, 9]])
NET = he_normal([2, 300, 300, 300, 2])
SEGMENT = regions.Segment([-1, -1], [1, 1])
CALLS: dict[str, Callable[..., Any]] = {
    "count": lambda **how: regions.count(NET, SQUARE, **how),
    "certified_count": lambda **how: regions.certified_count(NET, [SQUARE, SQUARE], **how),
    "enumerate": lambda **how: regions.enumerate(NET, SQUARE, **how),
    "extremes": lambda **how: regions.extremes(NET, SQUARE, **how),
    "statistics": lambda **how: regions.statistics(NET, SQUARE, **how),
    "decisions": lambda **how: regions.decisions(NET, SQUARE, **how),
    "compare": lambda **how: regions.compare(NET, he_normal([2, 9, 2]), SQUARE, **how),
    "image": lambda **how: regions.image(NET, SQUARE, **how),
    "iterate": lambda **how: regions.iterate(NET, SQUARE, steps=2, **how),
    "level_set": lambda **how: regions.level_set(he_normal([2, 300, 300, 1]), SQUARE, **how),
    "verify": lambda **how: regions.verify(NET, SQUARE, [([[-1.0, 0.0]], [-1e9])], **how),
    "function": lambda **how: regions.function(he_normal([2, 9, 1]), SEGMENT, **how),
    "integrated_gradients": lambda **how: regions.integrated_gradients(he_normal([2, 9, 1]), [[1, 1]], [[0, 0]], **how),
    "trajectory": lambda **how: regions.trajectory(NET, SEGMENT, **how),
}


@pytest.mark.parametrize("call", CALLS)
def test_each_call_ends_at_its_timeout(call: str) -> None:
    with pytest.raises(TimeoutReached, match="after 0 seconds"):
        CALLS[call](timeout=0)


def test_the_regions_so_far_come_with_the_exception() -> None:
    start = time.monotonic()
    with pytest.raises(TimeoutReached) as stopped:
        regions.count(NET, SQUARE, timeout=0.1)
    assert stopped.value.partial == stopped.value.found.regions >= 0
    with pytest.raises(TimeoutReached) as stopped:
        regions.enumerate(NET, SQUARE, timeout=0.1)
    assert isinstance(stopped.value.partial, regions.Partition) and not stopped.value.partial.complete
    assert time.monotonic() - start < 60


def test_a_checkpoint_keeps_what_was_finished(tmp_path: Path) -> None:
    with pytest.raises(TimeoutReached) as stopped:
        regions.count(NET, SQUARE, timeout=0, checkpoint=tmp_path)
    assert stopped.value.partial == 0 or stopped.value.partial is None
    small = he_normal([2, 16, 16, 1])
    assert regions.count(small, SQUARE, timeout=1000, checkpoint=tmp_path) == regions.count(small, SQUARE)


def test_the_earlier_of_two_moments_counts() -> None:
    with time_limit(0), time_limit(1000):
        with pytest.raises(TimeoutReached, match="after 0 seconds"):
            check_time()
        check_time()  # what was found may be used
    with time_limit(1000), time_limit(None):
        check_time()
        with reporting(None) as report:
            assert report is not None
    check_time()
    with reporting(None) as report:
        assert report is None


def test_exact_work_in_python_checks_the_time() -> None:
    part = regions.enumerate(he_normal([2, 8, 1]), SQUARE)
    with time_limit(0), pytest.raises(TimeoutReached):
        part.exact_vertices()


@pytest.mark.parametrize(("timeout", "error"), [(-1, ValueError), (np.nan, ValueError), ("1", TypeError)])
def test_wrong_timeouts_are_refused(timeout: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="timeout"):
        regions.count(NET, SQUARE, timeout=timeout)
