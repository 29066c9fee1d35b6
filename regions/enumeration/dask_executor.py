# SPDX-License-Identifier: MIT
"""How are tasks given to a client of Dask, so that each comes back, or is known to be lost?

Dask has an executor of its own (`Client.get_executor`). Where a worker dies that had finished a task, and the task is
done again and fails, for instance since the next worker dies too, the coroutine that was fetching the result ends with
the error, and the executor's future hears nothing of it: who waits for it waits for ever. So results are fetched here,
by the client's `gather`, and whatever that raises is what the future raises.
Invariant: each future ends once Dask has finished, failed, cancelled or forgotten its task.
Source: distributed/cfexecutor.py and `Client._gather` of distributed 2024.8 to 2026.8.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError
from contextlib import suppress
from typing import Any

__all__ = ["DaskExecutor", "is_dask_client"]


def is_dask_client(given: Any) -> bool:
    """Whether this is a client of Dask; who has one has imported its package."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(given, distributed.Client)


class DaskExecutor(Executor):
    """Submits to a client.

    Parameters
    ----------
    client : dask.distributed.Client
        Its event loop is not that of the calling thread, which is to wait.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def submit(self, work: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        if self.client.status == "closed":
            raise BrokenExecutor("the client is closed")
        there = self.client.submit(work, *args, **options, pure=False)  # two jobs of the same name are two jobs
        here: Future[Any] = Future()

        async def fetch() -> None:
            try:
                result = await self.client.gather(there, asynchronous=True)
            except BaseException as error:
                _end(here.set_exception, error)
            else:
                _end(here.set_result, result)

        def cancel(done: Future[Any]) -> None:
            if done.cancelled():
                there.cancel()

        here.add_done_callback(cancel)
        self.client.loop.add_callback(fetch)
        return here


def _end(tell: Callable[[Any], None], outcome: Any) -> None:
    """Tell the future, unless somebody has cancelled it."""
    with suppress(InvalidStateError):
        tell(outcome)
