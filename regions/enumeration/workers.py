# SPDX-License-Identifier: MIT
"""How many threads does a call use, and how do they share a list of things to be counted?

Each thread takes the next item that nobody has. The core releases Python's lock, so they run side by side. What comes
out is what one thread would leave: results in order; of several items that fail, the first one's error, after all
before it are finished. The calling thread waits, handles Ctrl-C, and alone tells the progress. No
thread outlives a call. Where the system refuses threads, there are fewer, or the calling thread does it all.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from typing import Generic, Literal, TypeVar

from regions.arithmetic.arguments import integer
from regions.reporting import PATIENCE, Report, share_of

__all__ = ["Workers", "beside_and_within", "each_by_workers", "number_of_workers"]

Workers = int | Literal["all"] | None
Result = TypeVar("Result")

_MOST = 1024
# From so many domains in planes for each thread on, they are counted side by side.
_MANY_PLANES = 8


def number_of_workers(workers: Workers | str) -> int:
    """Threads to use; None is what the environment's ``REGIONS_WORKERS`` says, or 1."""
    if isinstance(workers, str) and workers == "all":
        return _cores()
    if workers is not None:
        return integer(workers, 'workers, if not "all",', most=_MOST)
    word = os.environ.get("REGIONS_WORKERS") or "1"
    if word == "all":
        return _cores()
    if not word.isascii() or not word.isdigit():
        raise ValueError(f'REGIONS_WORKERS must be a number of threads or "all", got {word!r}')
    if len(word := word.lstrip("0") or "0") > 9:
        raise ValueError(f"REGIONS_WORKERS must be at most {_MOST:,}, got a number of {len(word)} digits")
    return integer(int(word), "REGIONS_WORKERS", most=_MOST)


def _cores() -> int:
    """Processors that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MOST)


def beside_and_within(total: int, threads: int, dimension: int) -> tuple[int, int]:
    """How many of so many things are counted side by side, and with how many threads each.

    Of a plane parts are given away; a few of them, one after the other, keep all threads busy to the end.
    """
    few = total < (2 if dimension == 1 else _MANY_PLANES * threads)
    return (1, threads) if few else (threads, 1)


def each_by_workers(
    work: Callable[[int, Report | None], Result], total: int, workers: int, report: Report | None, found: list[Result]
) -> None:
    """Append ``work(index, report)`` to ``found`` for each index below ``total``; after an error, of all before it."""
    if min(workers, total) <= 1 or not _side_by_side(work, total, workers, report, found):
        for index in range(total):
            found.append(work(index, share_of(report, index, total)))


def _side_by_side(
    work: Callable[[int, Report | None], Result], total: int, workers: int, report: Report | None, found: list[Result]
) -> bool:
    """The same by threads, as many as can be had; false where that is none, and nothing has been done."""
    team = _Team(work, total)
    threads = [threading.Thread(target=team.work_on, daemon=True) for _ in range(min(workers, total))]
    try:
        for thread in threads:
            try:
                thread.start()
            except RuntimeError:  # the system has no more of them: those that there are will do, as in the core
                break
        if threads[0].ident is None:
            return False
        while not team.finished.wait(PATIENCE):
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


class _Stopped(Exception):
    """Nobody waits for this item any more."""


class _Team(Generic[Result]):
    """What the threads share; `last` is the end of the items that are still wanted."""

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
                result = self.work(index, partial(self._tell, index))
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

    def _tell(self, index: int, share: float, regions: int) -> None:
        if index >= self.last:
            raise _Stopped
        self.at_work[index] = share, regions

    def progress(self) -> tuple[float, int]:
        """The share that is done, and the regions so far of what is at work."""
        with self.lock:
            shares, regions = [share for share, _ in self.at_work.values()], [n for _, n in self.at_work.values()]
            return (self.taken - len(shares) + sum(shares)) / self.total, sum(regions)

    def results_in_order(self) -> list[Result]:
        """Of all items before the first that is not finished."""
        end = next((index for index in range(self.total) if index not in self.results), self.total)
        return [self.results[index] for index in range(end)]
