# SPDX-License-Identifier: MIT
"""How do several workers find the blocks of a stream, or their summaries, in order?

This thread finds the first block of the domain. The share of the domain that it covers says into how many sections the
recursion is divided (`division.py`), so that most sections have one or two blocks. The next block of each of the first
few sections is a task: a thread or an executor finds it. Blocks are taken in order. If a section goes on after a block,
its next block becomes a task only when that block is taken. A worker that is ahead of the caller therefore waits after
one block.
Invariant: the blocks depend on the network, the domain, their size and the start, not on the workers. No more than
`width` blocks wait or are computed. With a folder, each block is saved before it is yielded. A job that wants only
summaries of blocks has the same blocks.
Cost: as for one thread, plus the way from the root to each section; after a start, also the first block.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from math import ceil
from threading import Event
from typing import Any

from regions import core
from regions.core import WHOLE, Path, Section
from regions.counting.answers import run_sealed
from regions.counting.blocks import block_of
from regions.counting.checkpoints import Folder
from regions.counting.dask_executor import DaskExecutor
from regions.counting.division import divided
from regions.counting.executors import TRIES, Processes, require_executor, require_others, result_of_future
from regions.counting.found import COMPLETE, exception_of
from regions.counting.options import Options
from regions.counting.run import compiled, frontier
from regions.counting.tasks import Function, Result, Task, attempt, result_of_block
from regions.domains import Domain
from regions.errors import NotACheckpointError, RegionsError
from regions.ground.text.printable import printable
from regions.ground.threads.progress import PATIENCE, of_division
from regions.networks.network import Network
from regions.results.cells.sections import first_node_of
from regions.version import __version__

__all__ = ["BlocksInOrder"]

# The most sections that a stream asks for, the room for the numbers of the blocks of each, and for those of all.
SECTIONS, BLOCKS, ALL_BLOCKS = 4096, 1 << 32, 1 << 62
# The blocks under way at an executor whose size is unknown.
UNKNOWN = 16


class _Stopped(Exception):
    """This block is no longer needed."""


class BlocksInOrder:
    """The blocks of a stream, or their summaries, found by several workers.

    Parameters
    ----------
    network, domain
    most : int
        Regions per block.
    start : tuple of int
    options : Options
        Threads, executor and checkpoint are used.
    function : "enumerate" or "summarize"
        Whether results have blocks or summaries.
    """

    def __init__(
        self,
        network: Network,
        domain: Domain,
        most: int,
        start: Path,
        options: Options,
        function: Function = "enumerate",
    ) -> None:
        self.options, self.stop = options, Event()
        self.elsewhere = None if options.executor is None else require_executor(options.executor)
        self.processes = None if self.elsewhere is None else Processes(self.elsewhere)
        self.threads = ThreadPoolExecutor(options.threads) if self.elsewhere is None else None
        workers = options.threads if self.elsewhere is None else getattr(self.elsewhere, "_max_workers", UNKNOWN // 2)
        self.width = 2 * workers
        self.folder = None if options.checkpoint is None else Folder(options.checkpoint)
        self.model = compiled(network)
        what = "stream", function, __version__, core.kernel(), network.fingerprint, domain.fingerprint, most, start
        first = Task(
            job=hashlib.sha256(json.dumps(what).encode()).hexdigest(),
            total=ALL_BLOCKS,
            shape=(),
            function=function,
            definition="activation",
            limit=None,
            index=0,
            first=0,
            items=((network, domain),),
            kernel=core.kernel(),
            begin=(),
            end=None,
            most=most,
        )
        if self.folder is not None:
            self.folder.look_for(first.job, first.total)
        self.submitted = False
        self.first = self._saved(first) if start == () else None
        facts = "stream", network.fingerprint, domain.fingerprint, most
        (paths,) = divided(facts, 1, self.folder, lambda: [self._nodes(first, domain, most, start)])
        if start == () and self.first is None:
            self.first = self._found(first, None, lambda: None)
        rest = start if self.first is None else self.first.section.end
        sections = [] if rest is None else _after(paths, rest)
        self.tasks = [
            replace(first, index=BLOCKS * index, begin=begin, end=end) for index, (begin, end) in enumerate(sections, 1)
        ]

    def _nodes(self, first: Task, domain: Domain, most: int, start: Path) -> list[Path]:
        """Return the nodes that divide the domain into sections of about one block.

        This also finds the first block, because its share of the recursion is needed. The core reports this share when
        the block is full. It is the largest one: earlier reports are smaller, and later ones, which come on slow
        machines while vertices are placed, begin again at 0.
        """
        wanted = start == () and self.first is None
        if wanted and self.folder is not None:
            self.folder.require_writable()
        share = 0.0

        def note(fraction: float, found: int) -> None:
            nonlocal share
            share = max(share, fraction)
            if self.options.report is not None:
                self.options.report(fraction, found)

        found, block = block_of(self.model, domain, WHOLE, Options(report=note), most)
        if found.end is not COMPLETE:
            raise exception_of(found.end, None, found)
        share = 1.0 if block.section.end is None else max(share, 1 / SECTIONS)
        if wanted:
            self.first = result_of_block(first, block, found.certificate)
            self._save(self.first)
        report = of_division(self.options.report)
        return frontier(self.model, domain, min(ceil(1 / share), SECTIONS), report, for_joining=True)

    def results(self, show: Callable[[float], object]) -> Generator[Result, None, None]:
        """Yield blocks or summaries in order; call ``show`` a few times a second, with the share of sections done."""
        waiting, following = deque[tuple[Task, Future[Any] | None]](), iter(self.tasks)
        done = 0
        try:
            if self.first is not None:
                yield self.first
            while True:
                show(done / max(len(self.tasks), 1))
                while len(waiting) < self.width and (task := next(following, None)) is not None:
                    waiting.append((task, self._begun(task)))
                if not waiting:
                    return
                task, future = waiting.popleft()
                result = self._found(task, future, partial(show, done / len(self.tasks)))
                end = result.section.end
                if end == task.end:
                    done += 1
                else:
                    assert end is not None
                    task = replace(task, index=task.index + 1, begin=end)
                    waiting.appendleft((task, self._begun(task)))
                yield result
        finally:
            self.stop.set()
            for _, future in waiting:
                if future is not None:
                    future.cancel()
            if self.threads is not None:
                self.threads.shutdown()

    def _begun(self, task: Task) -> Future[Any] | None:
        """Submit a task, unless the folder has its result or the executor is broken; then return None."""
        if self.folder is not None:
            if self.folder.has(task):
                return None
            if not self.submitted:
                self.folder.require_writable()
        first, self.submitted = not self.submitted, True
        try:
            if self.threads is not None:
                return self.threads.submit(attempt, task, Options(report=self._require_going_on), lambda _: self.model)
            if self.elsewhere is not None:
                return self.elsewhere.submit(partial(run_sealed, partial(attempt, options=Options())), task)
        except RuntimeError as error:  # no thread can be started, or the executor is broken or was shut down meanwhile
            if first and self.threads is None and not isinstance(error, BrokenExecutor):
                raise
            self.elsewhere = None
        return None

    def _require_going_on(self, fraction: float, found: int) -> None:
        if self.stop.is_set():
            raise _Stopped

    def _found(self, task: Task, future: Future[Any] | None, show: Callable[[], object]) -> Result:
        """Return the result of a task, from the folder, from a worker, or else found by this thread."""
        result = saved = self._saved(task)
        for again in range(TRIES):
            if result is None:
                result = self._answered(task, self._begun(task) if again else future, show)
        if result is None:
            result = attempt(task, Options(report=lambda *_: show()), lambda _: self.model)
        if result.error is not None:
            if (
                self.folder is None
                or not isinstance(result.error, ValueError)
                or isinstance(result.error, RegionsError)
            ):
                raise result.error
            folder = printable(self.folder.path, 4096)
            raise NotACheckpointError(
                f"checkpoint: the results in {folder!r} contradict each other: {result.error}. Choose another folder."
            )
        if saved is None:
            self._save(result)
        return result

    def _saved(self, task: Task) -> Result | None:
        return None if self.folder is None else self.folder.saved(task)

    def _save(self, result: Result) -> None:
        if self.folder is not None:
            self.folder.save([result])

    def _answered(self, task: Task, future: Future[Any] | None, show: Callable[[], object]) -> Result | None:
        """Wait for a result; None if there is none, because the worker or the executor was lost."""
        if future is None:
            return None
        done = Event()
        future.add_done_callback(lambda _: done.set())
        while not done.wait(PATIENCE):
            show()
            if self.processes is not None and self._is_lost():
                future.cancel()
                return None
        if self.threads is not None:
            result: Result = future.result()
            return result
        assert self.processes is not None
        self.processes.looks = 0
        return result_of_future(future, task)

    def _is_lost(self) -> bool:
        """Whether the executor will return no result."""
        if self.elsewhere is None or self.processes is None:
            return True
        require_others(self.elsewhere)
        if self.processes.ended():
            self.elsewhere = None
            return True
        return isinstance(self.elsewhere, DaskExecutor) and self.elsewhere.has_stalled()


def _after(paths: list[Path], start: Path) -> list[Section]:
    """Return the sections between nodes, from a place on."""
    later = [path for path in paths if first_node_of(path) > first_node_of(start)]
    return [Section(*each) for each in zip([start, *later], [*later, None], strict=True)]
