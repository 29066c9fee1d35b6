# SPDX-License-Identifier: MIT
"""How does a call want its work done?

The public functions that count and enumerate share these options. `asked` checks them once, and all functions below get
one `Options`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from regions.arithmetic.arguments import Workers, integer, number_of_workers, seconds
from regions.text.progress import Report, share_of
from regions.threads.deadline import NO_DEADLINE, Deadline

__all__ = ["NO_LIMIT", "NO_OPTIONS", "Options", "asked", "checked_limit"]

NO_LIMIT = 2**62


@dataclass(frozen=True)
class Options:
    """The options of a call.

    Attributes
    ----------
    limit : int or None
        The largest number of regions that may be found.
    report : callable or None
        Is called with the progress fraction and the number of regions found so far. With a timeout, it raises
        `TimeoutReached` after the deadline.
    threads : int
    executor : concurrent.futures.Executor, dask.distributed.Client or None
        Runs the work in tasks.
    checkpoint : path or None
        The folder where finished tasks are saved.
    deadline : Deadline
        When the call must end; for loops that do not report.
    """

    limit: int | None = None
    report: Report | None = None
    threads: int = 1
    executor: Any = None
    checkpoint: str | PathLike[str] | None = None
    deadline: Deadline = NO_DEADLINE

    def part(self, index: int, total: int) -> Options:
        """Return the options of one of several parts of the work, whose progress is a fraction of the whole."""
        return self if self.report is None else replace(self, report=share_of(self.report, index, total))


NO_OPTIONS = Options()


def asked(
    limit: int | None,
    report: Report | None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    timeout: float | None = None,
) -> Options:
    """Check the options of a public function. A timeout begins here."""
    most, threads, deadline = checked_limit(limit), number_of_workers(workers), Deadline(seconds(timeout, "timeout"))
    return Options(most, deadline.until(report), threads, executor, checkpoint, deadline)


def checked_limit(limit: int | None) -> int | None:
    """Return a limit as an int that the core takes."""
    if limit is None:
        return None
    return min(integer(limit, "limit", least=0, most=2**1000), NO_LIMIT)
