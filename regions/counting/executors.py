# SPDX-License-Identifier: MIT
"""How are tasks run in other processes or on a cluster?

An executor has the interface of `concurrent.futures.Executor`, or is a client of Dask (`dask_executor.py`).
All tasks are submitted at once, and results are taken in the order of arrival. A task's own errors are part of its
result. Therefore an error of a future is the executor's: a worker was killed, or a machine is gone. Such a task is
submitted once more. If that fails too, or if the executor takes no more tasks, the caller runs the task. A lost worker
therefore costs time only.
A `ProcessPoolExecutor` normally notices a killed process by itself. It does not if the process died while it sent a
result: the pool's own thread then waits for the rest of that result, for ever. Therefore the calling thread also looks
for dead processes while no result arrives, and ends such a pool.
A cluster of Dask may keep tasks queued for ever. If it stalls, its tasks count as lost.
The calling thread wakes up a few times a second, for Ctrl-C and for the progress. When it leaves, tasks that have not
begun are cancelled. Running tasks cannot be stopped, and the call does not wait for them.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from regions.counting.answers import Sealed, run_sealed, unsealed
from regions.counting.dask_executor import DaskExecutor, is_dask_client
from regions.counting.tasks import Result, Task
from regions.ground.arithmetic.arguments import shown
from regions.ground.threads.progress import PATIENCE

__all__ = ["TRIES", "Processes", "done_elsewhere", "require_executor", "require_others", "result_of_future"]

TRIES = 2
# If a pool has a dead process at this many looks in a row without a result, it has not noticed the death.
LOOKS = 40


def require_executor(given: Any) -> Executor:
    """Return the executor to which tasks are submitted."""
    if isinstance(given, Executor):
        return given
    if not is_dask_client(given):
        raise TypeError(
            f"executor must be a concurrent.futures.Executor or a dask.distributed.Client, got {shown(given)}"
        )
    if given.asynchronous:
        raise ValueError(
            "executor is a client that works in this thread's event loop, which the call would block. "
            "Use Client() without asynchronous=True, outside of coroutines."
        )
    return DaskExecutor(given)


def done_elsewhere(
    executor: Executor, work: Callable[[Task], Result], tasks: Sequence[Task]
) -> Iterator[Result | Task | None]:
    """Yield results as they arrive, tasks that the executor lost, and None a few times a second.

    After a result with an error, results of later tasks are not yielded.
    """
    futures: dict[int, Future[Sealed]] = {}
    tries = dict.fromkeys(range(len(tasks)), 0)
    ready: queue.SimpleQueue[tuple[int, Future[Sealed]]] = queue.SimpleQueue()
    processes = Processes(executor)

    def submit(place: int) -> bool:
        tries[place] += 1
        try:
            futures[place] = executor.submit(partial(run_sealed, work), tasks[place])
        except RuntimeError as error:
            if tries[place] == 1 and not isinstance(error, BrokenExecutor):
                raise
            return False  # the executor is broken, or was shut down meanwhile
        futures[place].add_done_callback(lambda future: ready.put((place, future)))
        return True

    def again(place: int) -> bool:
        return tries[place] < TRIES and submit(place)

    try:
        for place, task in enumerate(tasks):
            if not submit(place):
                yield task
        while futures:
            try:
                place, future = ready.get(timeout=PATIENCE)
            except queue.Empty:
                require_others(executor)
                if processes.ended():
                    left = [tasks[place] for place in futures]
                    futures.clear()  # the broken pool sets their errors, which fails for cancelled futures
                    yield from left
                    return
                if isinstance(executor, DaskExecutor) and executor.has_stalled():
                    for place in sorted(futures):
                        futures.pop(place).cancel()
                        if not again(place):
                            yield tasks[place]
                yield None
                continue
            processes.looks = 0
            if futures.get(place) is not future:  # was cancelled
                continue
            result = result_of_future(futures.pop(place), tasks[place])
            if result is not None:
                if result.error is not None:
                    for later in [each for each in futures if each > place]:
                        futures.pop(later).cancel()
                yield result
            elif not again(place):
                yield tasks[place]
    finally:
        for future in futures.values():
            future.cancel()


class Processes:
    """Watches the processes of a pool.

    Attributes
    ----------
    looks : int
        How often in a row a process was dead. Looks are counted instead of seconds, because a program that was
        suspended for a while must not give up its pool.
    """

    def __init__(self, executor: Executor) -> None:
        process = sys.modules.get("concurrent.futures.process")
        is_pool = process is not None and isinstance(executor, process.ProcessPoolExecutor)
        # `shutdown` removes this attribute of the pool, whose thread keeps using the processes.
        self.by_id: dict[int, Any] | None = getattr(executor, "_processes", None) if is_pool else None
        self.results: Any = getattr(executor, "_result_queue", None) if is_pool else None
        self.looks = 0

    def ended(self) -> bool:
        """Look once more. If a dead process has gone unnoticed for too long, end the pool and return True."""
        self.looks = self.looks + 1 if self._one_is_dead() else 0
        if self.looks < LOOKS:
            return False
        for process in self._processes():  # as the pool itself does when it notices
            process.kill()
        # The pool's thread waits for the rest of a result. It stops once no process has the pipe's end for writing.
        with suppress(AttributeError, OSError):
            self.results._writer.close()
        return True

    def _one_is_dead(self) -> bool:
        if not self.by_id:
            return False
        from multiprocessing.connection import wait

        return bool(wait([process.sentinel for process in self._processes()], timeout=0))

    def _processes(self) -> list[Any]:
        """Return the pool's processes; its thread removes those that ended normally."""
        return list((self.by_id or {}).values())


def require_others(executor: Executor) -> None:
    """Refuse a pool whose only thread is the calling one. A pool knows its thread a moment after that has begun."""
    if not isinstance(executor, ThreadPoolExecutor) or executor._max_workers > 1:
        return
    if threading.current_thread() in executor._threads:
        raise ValueError(
            "executor has one thread and this call runs in it, so it would deadlock. Leave out executor=, or pass "
            "another pool."
        )


def result_of_future(future: Future[Sealed], task: Task) -> Result | None:
    """Return the result of a future, or None if the executor lost, damaged or replaced it."""
    try:
        answer = future.result()
    except KeyboardInterrupt:  # in a terminal, Ctrl-C reaches all processes of the group, some of them before this one
        raise
    except BaseException:
        return None
    return unsealed(answer, task)
