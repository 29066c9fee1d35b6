# SPDX-License-Identifier: MIT
"""Who does the tasks of a job, and which are done already?

What a folder keeps is not done again. The rest is done by an executor, or by threads of this process; so is what the
executor lost. Each result is kept in the folder as soon as it is there, whatever happens to the others.
Invariant: the tasks depend on the job alone, not on who does them, so that a job may go on with other workers; and what
comes out is what counting the items one after the other gives, errors included.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from os import PathLike
from threading import Lock
from typing import Any

import numpy as np

from regions.definitions import Definition
from regions.enumeration.checkpoints import Folder
from regions.enumeration.executors import done_elsewhere, require_executor
from regions.enumeration.items import Items, shaped
from regions.enumeration.tasks import Result, Task, attempt, joined, split_items
from regions.enumeration.workers import beside_and_within, each_by_workers
from regions.reporting import Report

__all__ = ["count_by_tasks"]

# Enough to keep a hundred workers busy to the end, and so few that each takes long against what it costs to send it.
TASKS = 256


def count_by_tasks(
    items: Items,
    definition: Definition,
    limit: int | None,
    report: Report | None,
    threads: int,
    executor: Any,
    checkpoint: str | PathLike[str] | None,
) -> tuple[Any, Any]:
    """Numbers and certificates, in the shape of the items."""
    pool = None if executor is None else require_executor(executor)
    tasks = split_items(items, TASKS, definition, limit)
    if not tasks:
        return shaped([], [], items.shape)
    job = _Job(tasks, report, threads, None if checkpoint is None else Folder(checkpoint))
    try:
        job.do(pool)
    except KeyboardInterrupt as stopped:
        if items.shape:
            numbers = [number for each in job.finished() for number in each.numbers]
            stopped.partial = np.array(numbers, dtype=np.int64)  # type: ignore[attr-defined]
        raise
    except Exception as error:
        if error not in [each.error for each in job.finished()]:  # what the report raised
            raise
    return joined(job.finished())


class _Job:
    """Tasks, and the results that are there."""

    def __init__(self, tasks: Sequence[Task], report: Report | None, threads: int, folder: Folder | None) -> None:
        self.tasks, self.report, self.threads, self.folder = tasks, report, threads, folder
        self.results: dict[int, Result] = {}
        self.regions = 0
        self.lock = Lock()

    def do(self, pool: Executor | None) -> None:
        if self.folder is not None:
            for task in self.tasks:
                self._take(self.folder.kept(task), new=False)
        missing = [task for task in self.tasks if task.index not in self.results]
        if pool is not None:
            missing = self._do_elsewhere(pool, missing)
        self._do_here(missing)

    def finished(self) -> list[Result]:
        """Results in the order of the tasks, up to the first that is missing or failed."""
        found = []
        for task in self.tasks:
            if task.index not in self.results:
                break
            found.append(self.results[task.index])
            if found[-1].error is not None:
                break
        return found

    def _take(self, result: Result | None, new: bool = True) -> None:
        if result is None:
            return
        with self.lock:
            self.results[result.index] = result
            self.regions += sum(result.numbers)
            if new and self.folder is not None and result.error is None:
                self.folder.keep(result)

    def _tell(self) -> None:
        if self.report is not None:
            self.report(len(self.results) / len(self.tasks), self.regions)

    def _do_elsewhere(self, pool: Executor, tasks: Sequence[Task]) -> list[Task]:
        """Have others do it; gives what is left."""
        left = []
        for each in done_elsewhere(pool, partial(attempt, threads=self.threads), tasks):
            if isinstance(each, Task):
                left.append(each)
            else:
                self._take(each)
            self._tell()
        failed = [index for index, result in self.results.items() if result.error is not None]
        return [task for task in left if not failed or task.index < min(failed)]

    def _do_here(self, tasks: Sequence[Task]) -> None:
        done = len(self.results)
        beside, within = beside_and_within(len(tasks), self.threads, tasks[0].items[0][1].dimension if tasks else 1)

        def work(place: int, report: Report | None) -> None:
            result = attempt(tasks[place], within, report)
            self._take(result)
            if result.error is not None:
                raise result.error
            if beside == 1:  # of several threads the calling one tells
                self._tell()

        def told(share: float, regions: int) -> None:
            assert self.report is not None
            self.report((done + share * len(tasks)) / len(self.tasks), self.regions + regions)

        each_by_workers(work, len(tasks), beside, None if self.report is None else told, [])
