# SPDX-License-Identifier: MIT
"""How are the tasks of a job run, and which are finished already?

Results that a folder has are read. The other tasks are run by an executor or by threads of this process; threads also
run the tasks that the executor lost. New results are written to the folder together, about once a second and when the
work ends, so that short tasks do not make many files.
Invariant: the tasks depend on the job only, so a job can resume with other workers. Results and errors are the same as
if the items were counted one after the other. A folder that cannot be written to is refused before the first new task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from threading import Lock
from time import monotonic
from typing import Any

import numpy as np

from regions.counting.blocks import Arrays
from regions.counting.cases import Cases, cases_of, shaped
from regions.counting.checkpoints import Folder
from regions.counting.executors import done_elsewhere, require_executor
from regions.counting.found import End, Found
from regions.counting.joining import added, joined, partition_of, require_limit
from regions.counting.options import Options
from regions.counting.run import compiled, require_enumerable
from regions.counting.tasks import Function, Result, Task, attempt, split_cases
from regions.domains import Curve, Domain
from regions.errors import LimitReached, NotACheckpointError, RegionsError, WorkStopped
from regions.ground.text.printable import printable
from regions.ground.threads.progress import PATIENCE, Report
from regions.ground.threads.workers import across_and_per_item, each_by_workers
from regions.networks.network import Network, require_network
from regions.results.definitions import Definition
from regions.results.partition import Partition
from regions.results.partition.certificate import LONGER, STAGES

__all__ = ["count_in_tasks", "enumerate_in_tasks"]

# Enough to keep a hundred workers busy to the end; few enough that sending a task costs little compared with its work.
TASKS = 256
# At most this many seconds of finished work can be lost.
EVERY = 1.0


def count_in_tasks(items: Cases, definition: Definition, options: Options) -> tuple[Any, Any]:
    """Return numbers and certificates, in the shape of the items."""
    if not len(items):
        return shaped([], [], items.shape)
    job = _Job(items, definition, options)
    try:
        job.split()
        job.run()
        return joined(job.finished())
    except (WorkStopped, KeyboardInterrupt) as stopped:
        if not isinstance(stopped, LimitReached):
            partial = np.array(job.numbers(), dtype=np.int64) if items.shape else job.regions
            stopped.partial = partial  # type: ignore[union-attr]
        stopped.found = None if items.shape else job.found(stopped)  # type: ignore[union-attr]
        raise
    except ValueError as error:
        job.require_right_folder(error)
        raise


def enumerate_in_tasks(network: Network, domain: Domain, options: Options) -> Partition:
    """Return the regions of one network in one domain."""
    require_enumerable(domain, require_network(network))
    job = _Job(cases_of(network, domain), "activation", options, "enumerate")
    try:
        job.split()
        job.run()
        found: Partition = joined(job.finished(), job.arrays_of, job.trusted)
        return found
    except (WorkStopped, KeyboardInterrupt) as stopped:
        job.report = None
        # Ctrl-C and timeouts must end soon, and nothing is lost: the finished tasks are in the folder.
        in_folder = job.folder is not None and not isinstance(stopped, LimitReached)
        stopped.partial = None if in_folder else job.partition()  # type: ignore[union-attr]
        stopped.found = job.found(stopped)  # type: ignore[union-attr]
        raise
    except ValueError as error:
        job.require_right_folder(error)
        raise


class _Job:
    """The tasks of a job, and the results so far."""

    def __init__(self, items: Cases, definition: Definition, options: Options, function: Function = "count") -> None:
        self.pool = None if options.executor is None else require_executor(options.executor)
        self.folder = None if options.checkpoint is None else Folder(options.checkpoint)
        self.items, self.options, self.report = items, options, options.report
        self.definition, self.function = definition, function
        self.tasks: list[Task] = []
        self.results: dict[int, Result] = {}
        self.arrays: dict[int, Arrays] = {}  # by result; in an enumeration, until they are merged
        self.trusted = True  # whether this process found all results
        self.unwritten: list[Result] = []
        self.written = self.reported = monotonic()
        self.lock = Lock()

    def split(self) -> None:
        """Divide the items into tasks, which may take long, and look for their results in the folder."""
        self.tasks = split_cases(self.items, TASKS, self.definition, self.options, self.function, self.folder)
        if self.folder is not None and self.tasks:
            self.folder.look_for(self.tasks[0].job, self.tasks[0].total)

    @property
    def regions(self) -> int:
        """Number of regions found so far."""
        with self.lock:
            return sum(each.found for each in self.results.values())

    def found(self, stopped: WorkStopped | KeyboardInterrupt) -> Found[Any]:
        """Return the sum of all results, for one network and one domain."""
        end = End(limit=stopped.limit) if isinstance(stopped, LimitReached) else End(error=stopped)
        _, certificates = added(self.results.values())
        stats = {name: sum(getattr(each, name) for each in certificates) for name in (*STAGES, *LONGER)}
        # The folder is asked, because work may be stopped before all of its results are read.
        pieces = None if self.folder is None else (sum(map(self.folder.has, self.tasks)), len(self.tasks))
        return Found(*self.items.pair(0), self.regions, stats, end, pieces=pieces)

    def partition(self) -> Partition:
        """Merge the regions of the results so far, whose tasks need not be neighbours."""
        network, domain = self.items.pair(0)
        assert not isinstance(domain, Curve)
        in_order = [self.results[index] for index in sorted(self.results)]
        return partition_of(in_order, (network, domain), False, self.arrays_of, self.trusted)

    def arrays_of(self, result: Result) -> Arrays:
        """Return the arrays of a result. Arrays that the folder has as well are released, and read again if needed."""
        self.show_progress(at_intervals=True)
        in_folder = self.folder is not None and result.error is None
        found = self.arrays.pop(result.index, None) if in_folder else self.arrays[result.index]
        if found is None:
            assert self.folder is not None
            saved = self.folder.saved(self.tasks[result.index])
            if saved is None or saved.block is None:
                raise ValueError(f"result {result.index} was removed before the regions were merged")
            found = saved.block.arrays
        return found

    def numbers(self) -> list[int]:
        """Return the numbers of the finished items, up to the first unfinished one."""
        finished = self.finished()
        numbers, _ = added(finished)
        if len(finished) == len(self.tasks) or self.tasks[0].whole:
            return numbers
        return numbers[: self.tasks[len(finished)].first]

    def finished(self) -> list[Result]:
        """Return results in the order of the tasks, up to the first that is missing or failed."""
        found = []
        for task in self.tasks:
            if task.index not in self.results:
                break
            found.append(self.results[task.index])
            if found[-1].error is not None:
                break
        return found

    def is_of_an_item(self, error: Exception) -> bool:
        """Return whether an error is the result of a task."""
        return error in [each.error for each in self.finished()]

    def require_right_folder(self, error: ValueError) -> None:
        """Raise an error that names the folder, if its files can have caused this one.

        Only whole items have values that a caller got wrong. A section has such an error if a file says that it begins
        where it cannot begin.
        """
        if self.folder is None or isinstance(error, RegionsError):
            return
        if any(each.error is error and each.whole for each in self.finished()):
            return
        folder = printable(self.folder.path, 4096)
        raise NotACheckpointError(
            f"checkpoint: the results in {folder!r} cannot be joined: {error}. Choose another folder."
        ) from None

    def run(self) -> None:
        """Run the tasks that have no result yet. Errors of items are stored as results; other errors are raised."""
        try:
            self._run()
            self.show_progress()  # the last report, which may raise, after the last task
        except Exception as error:
            if not self.is_of_an_item(error):
                raise
        finally:
            with self.lock:
                self._write(after=0.0)

    def _run(self) -> None:
        if self.folder is not None:
            self._read(self.folder)
        missing = [task for task in self.tasks if task.index not in self.results]
        if self.folder is not None and missing:
            self.folder.require_writable()
        if self.pool is not None:
            missing = self._run_elsewhere(missing)
        self._run_here(missing)

    def _read(self, folder: Folder) -> None:
        """Read the results in the folder. The reported fraction stays 0, because reading says nothing about speed."""
        self.reported = monotonic()
        for task in self.tasks:
            self._take(folder.saved(task), new=False)
            self.show_progress(0.0, at_intervals=True)

    def _take(self, result: Result | None, new: bool = True, own: bool = False) -> None:
        """Add a result: a new one or one of the folder, found by this process (``own``) or by another one."""
        if result is None:
            return
        with self.lock:
            self.trusted = self.trusted and own
            if new and self.folder is not None and result.error is None:
                self.unwritten.append(result)
            if result.block is not None:
                self.arrays[result.index] = result.block.arrays
                result = replace(result, block=replace(result.block, arrays={}))
            self.results[result.index] = result
            self._write(after=EVERY)
            require_limit(self.results.values())

    def _write(self, after: float) -> None:
        """Write new results, if this many seconds have passed since the last time. The caller holds the lock."""
        if self.folder is None or not self.unwritten or monotonic() - self.written < after:
            return
        self.folder.save(self.unwritten)
        self.unwritten = []
        self.written = monotonic()

    def show_progress(self, fraction: float | None = None, at_intervals: bool = False) -> None:
        """Report the progress, by default the fraction of the tasks that have results."""
        if self.report is None or (at_intervals and monotonic() - self.reported < PATIENCE):
            return
        self.reported = monotonic()
        self.report(len(self.results) / len(self.tasks) if fraction is None else fraction, self.regions)

    def _run_elsewhere(self, tasks: Sequence[Task]) -> list[Task]:
        """Run tasks by the executor; return those that it lost."""
        assert self.pool is not None
        left = []
        work = partial(attempt, options=Options(threads=self.options.threads))
        for each in done_elsewhere(self.pool, work, tasks):
            if isinstance(each, Task):
                left.append(each)
            else:
                self._take(each)
            with self.lock:
                self._write(after=EVERY)  # the next result may come hours later
            self.show_progress()
        failed = [index for index, result in self.results.items() if result.error is not None]
        return [task for task in left if not failed or task.index < min(failed)]

    def _run_here(self, tasks: Sequence[Task]) -> None:
        """Run tasks on threads of this process."""
        done = len(self.results)
        # A section takes one thread.
        dimension = tasks[0].items[0][1].dimension if tasks and tasks[0].whole else 1
        across, per_item = across_and_per_item(len(tasks), self.options.threads, dimension)
        model_of = lru_cache(maxsize=across + 1)(compiled)  # tasks share networks, and there may be many networks

        def work(place: int, report: Report | None) -> None:
            result = attempt(tasks[place], Options(None, report, per_item), model_of)
            self._take(result, own=True)
            if result.error is not None:
                raise result.error
            if across == 1:  # with several threads, only the calling thread reports
                self.show_progress()

        def report_all(fraction: float, regions: int) -> None:
            assert self.report is not None
            self.report((done + fraction * len(tasks)) / len(self.tasks), self.regions + regions)

        each_by_workers(work, len(tasks), across, None if self.report is None else report_all, [])
