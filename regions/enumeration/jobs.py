# SPDX-License-Identifier: MIT
"""Who does the tasks of a job, and which are done already?

What a folder keeps is not done again. The rest is done by an executor, or by threads of this process; so is what the
executor lost. Each result is kept in the folder within a second or so, whatever happens to the others.
Invariant: the tasks depend on the job alone, not on who does them, so that a job may go on with other workers; and what
comes out is what counting the items one after the other gives, errors included. A folder that cannot be written to is
refused before the first task that is not in it. Results are written together, about once a second and when the work
ends, so that short tasks do not make many files.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import lru_cache, partial
from os import PathLike
from threading import Lock
from time import monotonic
from typing import Any

import numpy as np

from regions.certificate import LONGER, STAGES, Certificate
from regions.definitions import Definition
from regions.domains import Domain
from regions.domains.curves import Curve
from regions.domains.domain import require_domain_of
from regions.enumeration.checkpoints import Folder
from regions.enumeration.executors import done_elsewhere, require_executor
from regions.enumeration.items import Items, items_of, shaped
from regions.enumeration.joining import added, joined, partition_of, require_limit
from regions.enumeration.run import Run, compiled
from regions.enumeration.subtrees import Arrays
from regions.enumeration.tasks import Function, Result, Task, attempt, split_items
from regions.enumeration.workers import beside_and_within, each_by_workers
from regions.errors import LimitReached, NotACheckpointError, RegionsError
from regions.networks.network import Network, require_network
from regions.partition import Partition
from regions.text.printable import printable
from regions.text.progress import PATIENCE, Report

__all__ = ["KeptEnumeration", "Pieces", "count_by_tasks", "enumerate_by_tasks", "run_by_tasks"]

# Enough to keep a hundred workers busy to the end, and so few that each takes long against what it costs to send it.
TASKS = 256
# Seconds of finished work that may be lost.
EVERY = 1.0

# How many tasks are done, and how many there are.
Pieces = tuple[int, int]


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
    if not len(items):
        return shaped([], [], items.shape)
    job = _Job(items, definition, limit, report, threads, checkpoint)
    try:
        job.do(None if executor is None else require_executor(executor))
    except KeyboardInterrupt as stopped:
        numbers = job.numbers()
        partial = np.array(numbers, dtype=np.int64) if items.shape else job.regions
        stopped.partial = partial  # type: ignore[attr-defined]
        raise
    return joined(job.finished())


def enumerate_by_tasks(
    network: Network,
    domain: Domain,
    limit: int | None,
    report: Report | None,
    threads: int,
    executor: Any,
    checkpoint: str | PathLike[str] | None,
) -> Partition:
    """The regions of one network in one domain."""
    require_domain_of(domain, require_network(network))
    pool = None if executor is None else require_executor(executor)
    job = _Job(items_of(network, domain), "activation", limit, report, threads, checkpoint, "enumerate")
    try:
        job.do(pool)
        found: Partition = joined(job.finished(), job.arrays_of, job.trusted)
        return found
    except (LimitReached, KeyboardInterrupt) as stopped:
        stopped.partial = job.partition(complete=False)  # type: ignore[union-attr]
        raise


def run_by_tasks(
    network: Network,
    domain: Domain | Curve,
    definition: Definition,
    limit: int | None,
    report: Report | None,
    threads: int,
    checkpoint: str | PathLike[str],
) -> tuple[int, Run[Any], Pieces]:
    """One number, and the run that it comes from; where that was stopped, what any of the tasks found by then."""
    job = _Job(items_of(network, domain), definition, limit, report, threads, checkpoint)
    status: Any = "finished"
    number: Any = None
    try:
        job.do(None)
        number, _ = joined(job.finished())
    except LimitReached:
        status = "limit_exceeded"
    except KeyboardInterrupt as stopped:
        status = stopped
    certificates, stats = job.proven()
    activation = sum(each.regions for each in certificates) if status == "finished" else job.regions
    return (activation if number is None else number), Run(network, domain, activation, stats, status), job.pieces


class KeptEnumeration:
    """The enumeration of one network in one domain, whose tasks a folder keeps.

    When it is made the tasks are done, unless a limit or Ctrl-C stops that. Putting together what they found is apart:
    it takes a while, and nothing is lost if Ctrl-C ends it.

    Attributes
    ----------
    pieces : (int, int)
        How many tasks are in the folder, and how many there are.
    """

    def __init__(
        self,
        network: Network,
        domain: Domain,
        limit: int | None,
        report: Report | None,
        threads: int,
        checkpoint: str | PathLike[str],
    ) -> None:
        self._item = network, require_domain_of(domain, require_network(network))
        self._checkpoint = checkpoint
        self._job = _Job(items_of(*self._item), "activation", limit, report, threads, checkpoint, "enumerate")
        self._status: Any = "finished"
        try:
            self._job.do(None)
            self._job.tell()  # the last moment for a Ctrl-C that came while a result was written
        except LimitReached:
            self._status = "limit_exceeded"
        except KeyboardInterrupt as stopped:
            self._status = stopped
        self.pieces = self._job.pieces

    def run(self) -> Run[Domain]:
        """What was found, with the regions; raises the KeyboardInterrupt that ended it."""
        if isinstance(self._status, KeyboardInterrupt):
            raise self._status
        job, status = self._job, self._status
        try:
            if status == "limit_exceeded":
                partition = job.partition(complete=False)
            else:
                partition = joined(job.finished(), job.arrays_of, job.trusted)
        except LimitReached as stopped:  # of one task alone
            status, partition = "limit_exceeded", stopped.partial
        except ValueError as error:
            if isinstance(error, RegionsError) or error in [each.error for each in job.finished()]:
                raise
            folder = printable(self._checkpoint, 4096)
            raise NotACheckpointError(f"checkpoint: of what {folder!r} keeps, {error}; choose another folder") from None
        return Run(*self._item, len(partition), partition.stats, status, partition)

    def stopped(self, by: KeyboardInterrupt) -> Run[Domain]:
        """How much was found; the regions are in the folder."""
        return Run(*self._item, self._job.regions, self._job.proven()[1], by)


class _Job:
    """Tasks, and the results that are there.

    Attributes
    ----------
    regions : int
        How many are found so far.
    """

    def __init__(
        self,
        items: Items,
        definition: Definition,
        limit: int | None,
        report: Report | None,
        threads: int,
        checkpoint: str | PathLike[str] | None,
        function: Function = "count",
    ) -> None:
        self.folder = None if checkpoint is None else Folder(checkpoint)
        self.item = items.pair(0) if function == "enumerate" else None
        self.tasks = split_items(items, TASKS, definition, limit, report, function)
        self.report, self.threads = report, threads
        self.results: dict[int, Result] = {}
        self.arrays: dict[int, Arrays] = {}  # of the results of an enumeration, until they are put together
        self.trusted = True  # whether this process found all results
        self.unwritten: list[Result] = []
        self.written = monotonic()  # when that was last done
        self.lock = Lock()
        if self.folder is not None and self.tasks:
            self.folder.look_for(self.tasks[0])

    @property
    def regions(self) -> int:
        with self.lock:
            return sum(each.found for each in self.results.values())

    @property
    def pieces(self) -> Pieces:
        """The folder is asked: work may be stopped before all that it keeps is read."""
        assert self.folder is not None
        return sum(map(self.folder.has, self.tasks)), len(self.tasks)

    def partition(self, complete: bool) -> Partition:
        """Put the regions of all results together, whose tasks need not be neighbours."""
        in_order = [self.results[index] for index in sorted(self.results)]
        assert self.item is not None
        network, domain = self.item
        assert isinstance(domain, Domain)
        return partition_of(in_order, (network, domain), complete, self.arrays_of, self.trusted)

    def arrays_of(self, result: Result) -> Arrays:
        """Return the arrays of a result. Arrays that the folder has as well are released, and read again if need be."""
        in_folder = self.folder is not None and result.error is None
        found = self.arrays.pop(result.index, None) if in_folder else self.arrays[result.index]
        if found is None:
            assert self.folder is not None
            kept = self.folder.kept(self.tasks[result.index])
            if kept is None or kept.subtree is None:
                raise ValueError(f"result {result.index} was removed before the regions were put together")
            found = kept.subtree.arrays
        return found

    def proven(self) -> tuple[list[Certificate], dict[str, int]]:
        """About each item, and the counters of all of them."""
        _, certificates = added(self.results.values())
        return certificates, {name: sum(getattr(each, name) for each in certificates) for name in (*STAGES, *LONGER)}

    def numbers(self) -> list[int]:
        """Of the items that are finished, up to the first that is not."""
        finished = self.finished()
        numbers, _ = added(finished)
        if len(finished) == len(self.tasks) or self.tasks[0].whole:
            return numbers
        return numbers[: self.tasks[len(finished)].first]

    def do(self, pool: Executor | None) -> None:
        """Do what is not done; what is raised but does not come from an item is raised here."""
        try:
            self._do(pool)
        except Exception as error:
            if error not in [each.error for each in self.finished()]:
                raise
        finally:
            with self.lock:
                self._write(after=0.0)

    def _do(self, pool: Executor | None) -> None:
        if self.folder is not None:
            self._read(self.folder)
        missing = [task for task in self.tasks if task.index not in self.results]
        if self.folder is not None and missing:
            self.folder.require_writable()
        if pool is not None:
            missing = self._do_elsewhere(pool, missing)
        self._do_here(missing)

    def _read(self, folder: Folder) -> None:
        """Take what the folder keeps; no share is told of, so that the time left is not that of reading."""
        told = monotonic()
        for task in self.tasks:
            self._take(folder.kept(task), new=False)
            if self.report is not None and monotonic() - told >= PATIENCE:
                told = monotonic()
                self.report(0.0, self.regions)

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

    def _take(self, result: Result | None, new: bool = True, own: bool = False) -> None:
        """Add a result: a new one or one of the folder's, found by this process (``own``) or by another one."""
        if result is None:
            return
        with self.lock:
            self.trusted = self.trusted and own
            if new and self.folder is not None and result.error is None:
                self.unwritten.append(result)
            if result.subtree is not None:
                self.arrays[result.index] = result.subtree.arrays
                result = replace(result, subtree=replace(result.subtree, arrays={}))
            self.results[result.index] = result
            self._write(after=EVERY)
            require_limit(self.results.values())

    def _write(self, after: float) -> None:
        """Write what is finished, if so many seconds are over since the last time. The caller holds the lock."""
        if self.folder is None or not self.unwritten or monotonic() - self.written < after:
            return
        self.folder.keep(self.unwritten)
        self.unwritten = []
        self.written = monotonic()

    def tell(self) -> None:
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
            with self.lock:
                self._write(after=EVERY)  # the next result may be hours away
            self.tell()
        failed = [index for index, result in self.results.items() if result.error is not None]
        return [task for task in left if not failed or task.index < min(failed)]

    def _do_here(self, tasks: Sequence[Task]) -> None:
        done = len(self.results)
        # Sections take one thread each.
        dimension = tasks[0].items[0][1].dimension if tasks and tasks[0].whole else 1
        beside, within = beside_and_within(len(tasks), self.threads, dimension)
        model_of = lru_cache(maxsize=beside + 1)(compiled)  # tasks share their networks, and there may be many of these

        def work(place: int, report: Report | None) -> None:
            result = attempt(tasks[place], within, report, model_of)
            self._take(result, own=True)
            if result.error is not None:
                raise result.error
            if beside == 1:  # of several threads the calling one tells
                self.tell()

        def told(share: float, regions: int) -> None:
            assert self.report is not None
            self.report((done + share * len(tasks)) / len(self.tasks), self.regions + regions)

        each_by_workers(work, len(tasks), beside, None if self.report is None else told, [])
