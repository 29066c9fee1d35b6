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
from regions.ground.threads import deadline
from regions.ground.threads.deadline import call_with_time_limit, check_time, check_time_of_call, time_limit
from regions.ground.threads.progress import reporting
from regions.ground.threads.workers import each_by_workers

SQUARE = regions.Polygon([[-9, -9], [9, -9], [9, 9], [-9, 9]])
NET = he_normal([2, 300, 300, 300, 2])
SMALL = he_normal([2, 8, 8, 1])
SMALL_PART = regions.enumerate(SMALL, SQUARE)
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
    "check": lambda **how: regions.check(NET, SQUARE, **how),
    "linear_regions": lambda **how: regions.linear_regions(regions.enumerate(SMALL, SQUARE), "closed", **how),
    "stream": lambda **how: list(regions.stream(NET, SQUARE, **how)),
    "certify": lambda **how: regions.certify(SMALL_PART, SMALL, **how),
}


@pytest.mark.parametrize("call", CALLS)
def test_each_call_ends_at_its_timeout(call: str) -> None:
    with pytest.raises(TimeoutReached, match="after 0 seconds"):
        CALLS[call](timeout=0)


def test_threads_see_the_limit_of_the_call() -> None:
    with call_with_time_limit(0.0), pytest.raises(TimeoutReached):
        each_by_workers(lambda index, report: check_time_of_call(), 8, 2, None, [])


def test_no_further_fact_is_computed_after_the_time() -> None:
    part = regions.enumerate(SMALL, SQUARE)
    assert part.volumes.sum() > 0
    with call_with_time_limit(0.0):
        assert part.volumes.sum() > 0
        with pytest.raises(TimeoutReached):
            part.adjacency  # noqa: B018
    assert part.adjacency.nnz > 0


def test_the_regions_so_far_come_with_the_exception() -> None:
    start = time.monotonic()
    with pytest.raises(TimeoutReached) as stopped:
        regions.count(NET, SQUARE, timeout=0.01)
    assert stopped.value.partial == stopped.value.found.regions >= 0
    with pytest.raises(TimeoutReached) as stopped:
        regions.enumerate(NET, SQUARE, timeout=0.01)
    assert isinstance(stopped.value.partial, regions.Partition) and not stopped.value.partial.complete
    assert time.monotonic() - start < 60


def over_after(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the time be over at this check of it."""
    left = iter(range(calls))

    def clock() -> float:
        return 0.0 if next(left, None) is not None else 1e9

    monkeypatch.setattr(deadline, "monotonic", clock)


class TestAfterTheRegionsAreFound:
    def seen(self, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> list[TimeoutReached]:
        """Return the exceptions of a call whose time is over at later and later checks, until it ends."""
        found: list[TimeoutReached] = []
        for calls in [*range(1, 40), *(2**power for power in range(6, 20))]:
            with monkeypatch.context() as patch:
                over_after(calls, patch)
                try:
                    call(timeout=1.0)
                except TimeoutReached as stopped:
                    found.append(stopped)
                else:
                    return found
        raise AssertionError("the call never ends")

    @pytest.mark.parametrize("definition", ["open", "closed", "affine", "convex"])
    def test_counts_by_other_definitions(self, definition: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        found = self.seen(lambda **how: regions.count(SMALL, SQUARE, definition, **how), monkeypatch)
        whole = [one for one in found if one.found is not None and one.partial == len(SMALL_PART)]
        assert len(whole) > 1
        assert not any(one.found.certificate.complete for one in whole)

    @pytest.mark.parametrize("answer", [regions.decisions, regions.check])
    def test_answers(self, answer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
        found = self.seen(lambda **how: answer(SMALL, SQUARE, **how), monkeypatch)
        assert sum(isinstance(one.partial, regions.Partition) and len(one.partial) > 5 for one in found) > 1

    def test_results_are_used_after_the_time(self) -> None:
        with time_limit(0.2):
            part = regions.enumerate(SMALL, SQUARE)
            time.sleep(0.25)
            assert len(part.affine_maps()[0]) == len(part)  # a command draws what was found

    def test_a_block_comes_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        blocks = regions.stream(SMALL, SQUARE, regions_per_block=3, timeout=1000)
        first = next(blocks)
        over_after(0, monkeypatch)
        with pytest.raises(TimeoutReached) as stopped:
            next(blocks)
        assert stopped.value.partial is None and blocks.found == len(first)
        monkeypatch.undo()
        rest = sum(len(block) for block in regions.stream(SMALL, SQUARE, start=blocks.place))
        assert len(first) + rest == len(SMALL_PART)

    def test_a_certification(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found = self.seen(lambda **how: regions.certify(SMALL_PART, SMALL, regions="all", **how), monkeypatch)
        assert found and not any(one.partial.all_proved or one.partial.failed for one in found)


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
