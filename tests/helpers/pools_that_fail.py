# SPDX-License-Identifier: MIT
"""Which executors lose their tasks?

Functions that are sent to other processes must be in a file that these can import.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path
from typing import Any


def kill_the_worker(work: Callable[[Any], Any], task: Any) -> Any:
    """Kill this process, as a machine without memory does."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_the_first(mark: Path, work: Callable[[Any], Any], task: Any) -> Any:
    """Kill the first process that calls this; the others work."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return work(task)
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def kill_all_but_the_first(mark: Path, work: Callable[[Any], Any], task: Any) -> Any:
    """Run the task in the first process, and record which one it is; later processes are killed."""
    if mark.exists():
        kill_the_worker(work, task)
    mark.write_text(str(os.getpid()))
    return work(task)


def kill_the_worker_as_it_answers(work: Callable[[Any], Any], task: Any) -> Any:
    """Kill the worker while it sends its result: the length has been sent, the result has not, and no other worker can
    send one.
    """
    frame: Any = sys._getframe()
    while "result_queue" not in frame.f_locals:  # of a process of a ProcessPoolExecutor
        frame = frame.f_back
    results = frame.f_locals["result_queue"]
    results._wlock.acquire()
    os.write(results._writer.fileno(), struct.pack("!i", 1000))
    os.kill(os.getpid(), signal.SIGKILL)


def ctrl_c(work: Callable[[Any], Any], task: Any) -> Any:
    raise KeyboardInterrupt


def wait_for_ever(task: Any) -> None:
    """Wait longer than any test."""
    time.sleep(600)


class Replacing(Executor):
    """An executor that passes tasks on to another executor, and replaces some of them.

    Parameters
    ----------
    pool : Executor
    instead : dict of int to callable
        Called at the n-th submission instead, with the function and the task.
    """

    def __init__(self, pool: Any, instead: dict[int, Callable[..., Any]]) -> None:
        self.pool, self.instead, self.submitted = pool, instead, list[Any]()

    def submit(self, work: Any, task: Any) -> Future[Any]:  # type: ignore[override]
        self.submitted.append(task)
        other = self.instead.get(len(self.submitted) - 1)
        return self.pool.submit(work if other is None else partial(other, work), task)
