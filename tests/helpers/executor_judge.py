# SPDX-License-Identifier: MIT
"""Does an executor find what one thread finds, and does the call end?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import regions
from pools_that_fail import Replacing, kill_the_first
from random_networks import random_network
from regions.domains import Segment

NETWORKS = [random_network([2, 8, 8, 1], seed, bias=0.1, he=True) for seed in range(3)]
LINES = [Segment([-1, k], [1, 0.3 * k]) for k in range(1, 8)]
SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
NUMBERS, CERTIFICATES = regions.certified_count(NETWORKS, LINES)


def require_right(executor: Any, **options: Any) -> None:
    numbers, certificates = regions.certified_count(NETWORKS, LINES, executor=executor, **options)
    assert numbers.tobytes() == NUMBERS.tobytes() and numbers.shape == NUMBERS.shape
    for row, expected in zip(certificates, CERTIFICATES, strict=True):
        assert [each.as_dict() for each in row] == [each.as_dict() for each in expected]


def require_killed_workers_to_change_nothing(pool: Executor, tmp_path: Path, more: dict[int, Any]) -> None:
    """Check that killed workers change nothing.

    The worker of task 3 dies once. ``more`` replaces other tasks, for instance by one whose worker always dies.
    """
    once = partial(kill_the_first, tmp_path / "mark")
    replacing = Replacing(pool, {3: once} | more)
    require_right(replacing)
    assert len(replacing.submitted) > NUMBERS.size  # lost tasks are submitted again


def within_minutes(work: Callable[[], None]) -> None:
    """Fail if the work does not end within two minutes."""
    failed: list[BaseException] = []

    def noted() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=noted, daemon=True)
    thread.start()
    thread.join(120)
    assert not thread.is_alive(), "the call hangs"
    if failed:
        raise failed[0]
