# SPDX-License-Identifier: MIT
"""How are tasks done by somebody else: a pool of processes, a cluster?

By whatever has the interface of `concurrent.futures.Executor`, or a client of Dask (`dask_executor.py`).
Everything is submitted at once, and results are taken as they come. A task's own errors are part of its result, so what
a future raises is a matter of the executor: a worker was killed, a machine is gone. Such a task is submitted once more,
and if that fails as well, or the executor takes no more, it is left to the caller, who does it himself. So a lost
worker costs time only.
A `ProcessPoolExecutor` normally notices a killed process by itself. It does not if the process died while it sent a
result: the pool's own thread then waits for the rest of that result, for ever. So when nothing arrives, the calling
thread looks for dead processes too, and ends such a pool.
A cluster of Dask may keep tasks queued for ever. If it stalls, its tasks count as lost.
The calling thread looks about some times a second, for Ctrl-C and for the progress. When it leaves, what has not begun
is cancelled; what others are doing just then cannot be stopped, but nobody waits for it.
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

from regions.arithmetic.arguments import shown
from regions.enumeration.answers import Sealed, run_sealed, unsealed
from regions.enumeration.dask_executor import DaskExecutor, is_dask_client
from regions.enumeration.tasks import Result, Task
from regions.text.progress import PATIENCE

__all__ = ["done_elsewhere", "require_executor"]

TRIES = 2
# If a pool still keeps a dead process after so many looks in a row without a result, it has not noticed the death.
LOOKS = 40


def require_executor(given: Any) -> Executor:
    """What tasks are submitted to."""
    if isinstance(given, Executor):
        return given
    if not is_dask_client(given):
        raise TypeError(
            f"executor must be a concurrent.futures.Executor or a dask.distributed.Client, got {shown(given)}"
        )
    if given.asynchronous:
        raise ValueError(
            "executor is a client that works in this thread's event loop, which the call would keep waiting; "
            "use Client() without asynchronous=True, outside of coroutines"
        )
    return DaskExecutor(given)


def done_elsewhere(
    executor: Executor, work: Callable[[Task], Result], tasks: Sequence[Task]
) -> Iterator[Result | Task | None]:
    """Give results as they come; tasks that came to nothing, and are the caller's; now and then None.

    After a result with an error nothing is given any more that comes after it in the order of the tasks.
    """
    futures: dict[int, Future[Sealed]] = {}
    tries = dict.fromkeys(range(len(tasks)), 0)
    ready: queue.SimpleQueue[tuple[int, Future[Sealed]]] = queue.SimpleQueue()
    processes = _Processes(executor)

    def submit(place: int) -> bool:
        tries[place] += 1
        try:
            futures[place] = executor.submit(partial(run_sealed, work), tasks[place])
        except RuntimeError as error:
            if tries[place] == 1 and not isinstance(error, BrokenExecutor):
                raise
            return False  # it is at its end, or was shut down on the way
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
                _require_others(executor)
                if processes.at_their_end():
                    left = [tasks[place] for place in futures]
                    futures.clear()  # the pool tells them that it is broken, and cannot tell a cancelled one
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
            if futures.get(place) is not future:  # it was cancelled
                continue
            result = _result_of(futures.pop(place), tasks[place])
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


class _Processes:
    """Watches the processes of a pool.

    Attributes
    ----------
    looks : int
        How often in a row one of them was dead. Looks are counted instead of seconds, because a program that is
        suspended for a while must not find its pool dead when it goes on.
    """

    def __init__(self, executor: Executor) -> None:
        process = sys.modules.get("concurrent.futures.process")
        is_pool = process is not None and isinstance(executor, process.ProcessPoolExecutor)
        # `shutdown` takes them from the pool, whose thread goes on with them.
        self.by_id: dict[int, Any] | None = getattr(executor, "_processes", None) if is_pool else None
        self.results: Any = getattr(executor, "_result_queue", None) if is_pool else None
        self.looks = 0

    def at_their_end(self) -> bool:
        """Look once more; where a dead process has gone unnoticed for too long, end the pool and return True."""
        self.looks = self.looks + 1 if self._one_is_dead() else 0
        if self.looks < LOOKS:
            return False
        for process in self._there():  # as the pool itself does when it notices
            process.kill()
        # The pool's thread waits for the rest of a result. This is the last end that a rest could come from.
        with suppress(AttributeError, OSError):
            self.results._writer.close()
        return True

    def _one_is_dead(self) -> bool:
        if not self.by_id:
            return False
        from multiprocessing.connection import wait

        return bool(wait([process.sentinel for process in self._there()], timeout=0))

    def _there(self) -> list[Any]:
        """The pool's thread takes away those that end in good order."""
        return list((self.by_id or {}).values())


def _require_others(executor: Executor) -> None:
    """Refuse a pool that has no other thread than this one. A pool knows its thread a moment after that has begun."""
    if not isinstance(executor, ThreadPoolExecutor) or executor._max_workers > 1:
        return
    if threading.current_thread() in executor._threads:
        raise ValueError(
            "executor has one thread, and that is the one that asks: it would wait for itself for ever; leave executor "
            "out here, or take another one"
        )


def _result_of(future: Future[Sealed], task: Task) -> Result | None:
    """What came out, or nothing, where the executor lost or damaged it or gives something else."""
    try:
        answer = future.result()
    except KeyboardInterrupt:  # Ctrl-C reaches the processes of a terminal's group too, and some of them first
        raise
    except BaseException:
        return None
    return unsealed(answer, task)
