# SPDX-License-Identifier: MIT
"""How does a call want its work done?

The public functions that count and enumerate share these options. `asked` checks them once and shows the progress bar;
all functions below get one `Options`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from regions.arithmetic.arguments import integer
from regions.enumeration.workers import Workers, number_of_workers
from regions.text.progress import Progress, Report, reporting, share_of

__all__ = ["NO_OPTIONS", "Options", "asked", "checked_limit"]

_NO_LIMIT = 2**62


@dataclass(frozen=True)
class Options:
    """The options of a call.

    Attributes
    ----------
    limit : int or None
        The largest number of regions that may be found.
    report : callable or None
        Is called with the progress fraction and the number of regions found so far.
    threads : int
    executor : concurrent.futures.Executor, dask.distributed.Client or None
        Runs the work in tasks.
    checkpoint : path or None
        The folder where finished tasks are saved.
    """

    limit: int | None = None
    report: Report | None = None
    threads: int = 1
    executor: Any = None
    checkpoint: str | PathLike[str] | None = None

    @property
    def most(self) -> int:
        """The limit in the form that the core needs."""
        return _NO_LIMIT if self.limit is None else self.limit

    @property
    def in_tasks(self) -> bool:
        """Whether the work is divided into tasks."""
        return self.executor is not None or self.checkpoint is not None

    def part(self, index: int, total: int) -> Options:
        """Return the options of one of several parts of the work, whose progress is a fraction of the whole."""
        return self if self.report is None else replace(self, report=share_of(self.report, index, total))


NO_OPTIONS = Options()


@contextmanager
def asked(
    limit: int | None,
    progress: Progress,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Iterator[Options]:
    """Check the options of a public function, and yield them while its work is done."""
    limit, threads = checked_limit(limit), number_of_workers(workers)
    with reporting(progress) as report:
        yield Options(limit, report, threads, executor, checkpoint)


def checked_limit(limit: int | None) -> int | None:
    """Return a limit as an int that the core takes."""
    if limit is None:
        return None
    return min(integer(limit, "limit", least=0, most=2**1000), _NO_LIMIT)
