# SPDX-License-Identifier: MIT
"""How are seconds and bytes measured?

Times are processor times. On a shared machine these are less disturbed than wall times, and on a quiet machine they are
the same, because the measured code runs on one thread; only cases with several threads use wall time. Each is the best
of several samples, because disturbances only add time. The two sides of a ratio take turns, so that a slow minute of
the machine affects both. A sample repeats its action until it is long enough for the clock.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

SAMPLE_SECONDS = 0.01
BUDGET_SECONDS = 5.0
MAX_SAMPLES = 30


def best_times(*actions: Callable[[], object], clock: Callable[[], float] = time.process_time) -> list[float]:
    """Return seconds per run of each action; at least two samples each, then more until the budget is spent."""
    repeats = [max(1, round(SAMPLE_SECONDS / max(seconds_of(action, 1, clock), 1e-6))) for action in actions]
    best = [float("inf")] * len(actions)
    start = time.perf_counter()
    for sample in range(MAX_SAMPLES):
        for index, action in enumerate(actions):
            best[index] = min(best[index], seconds_of(action, repeats[index], clock) / repeats[index])
        if sample >= 1 and time.perf_counter() - start > BUDGET_SECONDS:
            break
    return best


def seconds_of(action: Callable[[], object], repeats: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(repeats):
        action()
    return clock() - start


def peak_memory() -> int:
    """Return the highest resident memory of this process so far, in bytes."""
    try:
        with open("/proc/self/status") as status:
            line = next(line for line in status if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    except FileNotFoundError:  # not Linux; getrusage on Linux would include the parent process
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
