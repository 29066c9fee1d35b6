# SPDX-License-Identifier: MIT
"""How are tasks done by somebody else: a pool of processes, a cluster?

By whatever has the interface of `concurrent.futures.Executor`, or a client of Dask (`dask_executor.py`).
Everything is submitted at once, and results are taken as they come. A task's own errors are part of its result, so what
a future raises is a matter of the executor: a worker was killed, a machine is gone. Such a task is submitted once more,
and if that fails as well, or the executor takes no more, it is left to the caller, who does it himself. So a lost
worker costs time only.
The calling thread looks about some times a second, for Ctrl-C and for the progress. When it leaves, what has not begun
is cancelled; what others are doing just then cannot be stopped, but nobody waits for it.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from typing import Any

from regions.arithmetic.arguments import shown
from regions.enumeration.dask_executor import DaskExecutor, is_dask_client
from regions.enumeration.tasks import Result, Task
from regions.reporting import PATIENCE

__all__ = ["done_elsewhere", "require_executor"]

TRIES = 2


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
    futures: dict[int, Future[Result]] = {}
    tries = dict.fromkeys(range(len(tasks)), 0)
    ready: queue.SimpleQueue[int] = queue.SimpleQueue()

    def submit(place: int) -> bool:
        tries[place] += 1
        try:
            futures[place] = executor.submit(work, tasks[place])
        except RuntimeError as error:
            if tries[place] == 1 and not isinstance(error, BrokenExecutor):
                raise
            return False  # it is at its end, or was shut down on the way
        futures[place].add_done_callback(lambda _: ready.put(place))
        return True

    try:
        for place, task in enumerate(tasks):
            if not submit(place):
                yield task
        while futures:
            try:
                place = ready.get(timeout=PATIENCE)
            except queue.Empty:
                _require_others(executor)
                yield None
                continue
            if place not in futures:
                continue
            result = _result_of(futures.pop(place), tasks[place])
            if result is not None:
                if result.error is not None:
                    for later in [each for each in futures if each > place]:
                        futures.pop(later).cancel()
                yield result
            elif tries[place] == TRIES or not submit(place):
                yield tasks[place]
    finally:
        for future in futures.values():
            future.cancel()


def _require_others(executor: Executor) -> None:
    """Refuse a pool that has no other thread than this one. A pool knows its thread a moment after that has begun."""
    if not isinstance(executor, ThreadPoolExecutor) or executor._max_workers > 1:
        return
    if threading.current_thread() in executor._threads:
        raise ValueError(
            "executor has one thread, and that is the one that asks: it would wait for itself for ever; leave executor "
            "out here, or take another one"
        )


def _result_of(future: Future[Result], task: Task) -> Result | None:
    """What came out, or nothing, where the executor lost it or gives something else."""
    try:
        result = future.result()
    except KeyboardInterrupt:  # Ctrl-C reaches the processes of a terminal's group too, and some of them first
        raise
    except BaseException:
        return None
    is_of_task = isinstance(result, Result) and (result.job, result.index) == (task.job, task.index)
    return result if is_of_task else None
