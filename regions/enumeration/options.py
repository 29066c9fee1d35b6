# SPDX-License-Identifier: MIT
"""How does a call want its work done?

The public functions that count and enumerate share these options. `asked` checks them once, and all functions below get
one `Options`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal

from regions.arithmetic.arguments import integer
from regions.text.progress import Report, share_of

__all__ = ["NO_LIMIT", "NO_OPTIONS", "Options", "Workers", "asked", "checked_limit", "number_of_workers"]

Workers = int | Literal["all"] | None

NO_LIMIT = 2**62
MOST_WORKERS = 1024


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
) -> Options:
    """Check the options of a public function."""
    return Options(checked_limit(limit), report, number_of_workers(workers), executor, checkpoint)


def checked_limit(limit: int | None) -> int | None:
    """Return a limit as an int that the core takes."""
    if limit is None:
        return None
    return min(integer(limit, "limit", least=0, most=2**1000), NO_LIMIT)


def number_of_workers(workers: Workers | str) -> int:
    """Return the number of threads; None stands for the environment's ``REGIONS_WORKERS``, or 1."""
    if isinstance(workers, str) and workers == "all":
        return _cores()
    if workers is not None:
        return integer(workers, 'workers, if not "all",', most=MOST_WORKERS)
    word = os.environ.get("REGIONS_WORKERS")
    if not word:
        return 1
    if word == "all":
        return _cores()
    if not word.isascii() or not word.isdigit():
        raise ValueError(f'REGIONS_WORKERS must be a number of threads or "all", got {word!r}')
    if len(word := word.lstrip("0") or "0") > 9:
        raise ValueError(f"REGIONS_WORKERS must be at most {MOST_WORKERS:,}, got a number of {len(word)} digits")
    return integer(int(word), "REGIONS_WORKERS", most=MOST_WORKERS)


def _cores() -> int:
    """Return the number of processors that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_WORKERS)
