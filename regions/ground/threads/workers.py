# SPDX-License-Identifier: MIT
"""How do threads share the items of a call?

Each thread takes the next free item. The core releases Python's lock, so threads run in parallel. The outcome is the
same as with one thread: results in order, or the error of the first item that failed, after all items before it have
finished. The calling thread waits, handles Ctrl-C, and is the only one to report progress. No thread outlives a call.
If the system refuses threads, there are fewer, or the calling thread does all the work. Items that take less than a
tenth of a millisecond spend their time under Python's lock, for which threads only wait, so one thread does these.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Generic, TypeVar

from regions.ground.threads.deadline import with_limit_of_caller
from regions.ground.threads.progress import PATIENCE, Report, share_of

__all__ = ["across_and_per_item", "each_by_workers"]

Result = TypeVar("Result")

# With at least this many plane domains per thread, each thread counts whole domains.
_MANY_PLANES = 8

# One thread begins. After SOON seconds the others follow, unless items take less than SHORT seconds each.
SOON, SHORT = 2e-3, 1e-4


def across_and_per_item(total: int, threads: int, dimension: int) -> tuple[int, int]:
    """Return how many of ``total`` items are counted in parallel, and with how many threads each.

    Threads can share one plane, so a few planes, one after the other, keep all threads busy to the end.
    """
    few = total < (2 if dimension == 1 else _MANY_PLANES * threads)
    return (1, threads) if few else (threads, 1)


def each_by_workers(
    work: Callable[[int, Report | None], Result], total: int, workers: int, report: Report | None, found: list[Result]
) -> None:
    """Append ``work(index, report)`` to ``found`` for each index below ``total``, or up to the first error."""
    if min(workers, total) <= 1 or not _side_by_side(work, total, workers, report, found):
        for index in range(total):
            found.append(work(index, share_of(report, index, total)))


def _side_by_side(
    work: Callable[[int, Report | None], Result], total: int, workers: int, report: Report | None, found: list[Result]
) -> bool:
    """Do the same on threads. Return False, with nothing done, if no thread could be started."""
    team = _Team(work, total)
    work_on = with_limit_of_caller(team.work_on)
    threads = [threading.Thread(target=work_on, daemon=True) for _ in range(min(workers, total))]
    others, pause, begin = threads[1:], SOON, perf_counter()
    try:
        if not _started(threads[:1]):
            return False
        while not team.finished.wait(pause):
            if others and perf_counter() - begin >= SHORT * team.taken:
                _started(others)
                others = []
            pause = PATIENCE
            if report is not None:
                report(*team.progress())
    except BaseException:
        team.last = 0
        raise
    finally:
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        found += team.results_in_order()
    if team.error is not None:
        raise team.error
    return True


def _started(threads: list[threading.Thread]) -> bool:
    """Start threads. Return False if the system refuses one; then the work goes on with fewer, as in the core."""
    for thread in threads:
        try:
            thread.start()
        except RuntimeError:
            return False
    return True


class _Stopped(Exception):
    """This item is no longer needed."""


class _Team(Generic[Result]):
    """The state that the threads share; `last` is the end of the items that are still needed."""

    def __init__(self, work: Callable[[int, Report | None], Result], total: int) -> None:
        self.work, self.total, self.last = work, total, total
        self.lock = threading.Lock()
        self.taken = 0
        self.at_work: dict[int, tuple[float, int]] = {}
        self.results: dict[int, Result] = {}
        self.error: BaseException | None = None
        self.finished = threading.Event()

    def work_on(self) -> None:
        while (index := self._next()) is not None:
            try:
                result = self.work(index, partial(self._report, index))
            except BaseException as error:
                with self.lock:
                    if index < self.last:
                        self.last, self.error = index, error
            else:
                self.results[index] = result
            with self.lock:
                del self.at_work[index]

    def _next(self) -> int | None:
        with self.lock:
            if self.taken < self.last:
                index, self.taken = self.taken, self.taken + 1
                self.at_work[index] = 0.0, 0
                return index
            if not self.at_work:
                self.finished.set()
            return None

    def _report(self, index: int, fraction: float, regions: int) -> None:
        if index >= self.last:
            raise _Stopped
        self.at_work[index] = fraction, regions

    def progress(self) -> tuple[float, int]:
        """Return the fraction that is done, and the regions found so far in the current items."""
        with self.lock:
            at_work = list(self.at_work.values())
            fractions, regions = sum(fraction for fraction, _ in at_work), sum(number for _, number in at_work)
            return (self.taken - len(at_work) + fractions) / self.total, regions

    def results_in_order(self) -> list[Result]:
        """Return the results of all items before the first unfinished one."""
        end = next((index for index in range(self.total) if index not in self.results), self.total)
        return [self.results[index] for index in range(end)]
