# SPDX-License-Identifier: MIT
"""How are tasks given to a client of Dask, so that each comes back, or is known to be lost?

Dask has an executor of its own (`Client.get_executor`). Where a worker dies that had finished a task, and the task is
done again and fails, for instance since the next worker dies too, the coroutine that was fetching the result ends with
the error, and the executor's future hears nothing of it: who waits for it waits for ever. So results are fetched here,
by the client's `gather`, and whatever that raises is what the future raises.
A second case: where workers die that had finished a task and what it needs, and what it needs fails when it is done
again, the task stays released for ever, and nobody is told. So what a task needs is asked as well how it is.
A large network does not travel with each task. It is what a task of its own gives, which the others need: so it goes to
the cluster once, from there to each worker once, where all tasks share it, and the cluster makes it anew if it is lost
with a worker. (What is scattered is lost for good.) Tasks come in the order of their networks, so that only those of
the latest task are held for those to come; the cluster lets go of any other one once the tasks are done that need it.
A third case: all workers may be lost for good, and then all tasks stay queued for ever. A `LocalCluster` drops a worker
that is absent 15 seconds after one was lost, although it may be starting. Therefore the scheduler is asked what its
workers do, while no result comes.
Invariant: each future ends once Dask has finished, failed, cancelled or forgotten its task, or a network of it.
Source: distributed/cfexecutor.py and `Client._gather` of distributed 2024.8 to 2026.8.
Measured: 268 tasks about a network of 10 MB send 32 MB in 6 s to two workers of one machine; 5.4 GB in 25 to 40 s, with
4.5 GB of memory in the scheduler, with the network in each of them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import uuid4

from regions.domains import Domain
from regions.domains.curves import Curve
from regions.enumeration.tasks import Result, Task
from regions.networks.network import Network, stored_arrays

__all__ = ["DaskExecutor", "is_dask_client"]

# Bytes. A task more costs the cluster some milliseconds, and so do some 100 kB with a task.
LARGE = 100_000
PATIENCE = 0.5  # seconds between two looks at what a task needs, or at what workers do
# If so many looks in a row find all workers idle, and no result came meanwhile, no result will come. Looks are counted
# instead of seconds, because a suspended program or a slow scheduler is not a stalled cluster.
LOOKS = 60


def is_dask_client(given: Any) -> bool:
    """Whether this is a client of Dask; who has one has imported its package."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(given, distributed.Client)


class DaskExecutor(Executor):
    """Submits tasks to a client.

    Parameters
    ----------
    client : dask.distributed.Client
        Its event loop is not that of the calling thread, which is to wait.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.sent: dict[Network, Any] = {}
        self.looks = 0  # in a row that found no worker with something to do
        self._looking = False
        self._had_workers = False
        self._begin_to_look()

    def submit(self, work: Callable[[Task], Result], task: Task, /) -> Future[Result]:  # type: ignore[override]
        if self.client.status == "closed":
            raise BrokenExecutor("the client is closed")
        self.sent = {network: self._sent(network) for network in dict.fromkeys(network for network, _ in task.items)}
        networks, domains = [self.sent[network] for network, _ in task.items], [domain for _, domain in task.items]
        # Two jobs of the same name are two jobs.
        key = f"{getattr(work, 'func', work).__name__}-{uuid4()}"
        there = self.client.submit(_do, work, replace(task, items=()), networks, domains, key=key)
        here: Future[Result] = Future()

        async def fetch() -> None:
            try:
                result = await self._gathered(there, networks)
            except BaseException as error:
                _end(here.set_exception, error)
            else:
                self.looks = 0
                _end(here.set_result, result)

        def cancel(done: Future[Any]) -> None:
            if done.cancelled():
                there.cancel()

        here.add_done_callback(cancel)
        self.client.loop.add_callback(fetch)
        return here

    def has_stalled(self) -> bool:
        """Look at what the workers do; return True, and begin anew, if they were idle for too long.

        Does not wait: the answer to this look counts the next time. A worker that runs tasks of another client is not
        idle, because tasks of this client may wait for them. A cluster that has had no workers yet is still starting.
        """
        self._begin_to_look()
        if self.looks < LOOKS:
            return False
        self.looks = 0
        return True

    def _begin_to_look(self) -> None:
        if not self._looking and self.client.status == "running":
            self._looking = True
            self.client.loop.add_callback(self._look)

    async def _look(self) -> None:
        try:
            done: dict[str, Sequence[str]] = await self.client.scheduler.processing(workers=None)
            self._had_workers = self._had_workers or bool(done)
            self.looks = self.looks + 1 if self._had_workers and not any(done.values()) else 0
            await asyncio.sleep(PATIENCE)
        except Exception:  # without a scheduler the futures end by themselves
            self.looks = 0
        finally:
            self._looking = False

    async def _gathered(self, there: Any, networks: Sequence[Any]) -> Result:
        """The result; where a network that it needs is lost, the task is cancelled, and that is the error."""
        gathering = asyncio.ensure_future(self.client.gather(there, asynchronous=True))
        while not (await asyncio.wait([gathering], timeout=PATIENCE))[0]:
            if any(map(_has_failed, networks)):
                await self.client.cancel([there], asynchronous=True)
        result: Result = await gathering
        return result

    def _sent(self, network: Network) -> Any:
        """What goes with a task: a large network's future, a new one if that failed, and a small network itself."""
        if sum(array.nbytes for array in stored_arrays(network).values()) < LARGE:
            return network
        sent = self.sent.get(network)
        if sent is None or _has_failed(sent):
            sent = self.client.submit(_itself, network, key=f"network-{uuid4()}")
        return sent


def _has_failed(sent: Any) -> bool:
    """Whether a network that travels by itself never arrives."""
    return not isinstance(sent, Network) and sent.status in ("error", "cancelled")


def _itself(network: Network) -> Network:
    """What a worker does to have it."""
    return network


def _do(
    work: Callable[[Task], Result], task: Task, networks: Sequence[Network], domains: Sequence[Domain | Curve]
) -> Result:
    """What a worker does, once it has all that the task needs."""
    return work(replace(task, items=tuple(zip(networks, domains, strict=True))))


def _end(tell: Callable[[Any], None], outcome: Any) -> None:
    """Tell the future, unless somebody has cancelled it."""
    with suppress(InvalidStateError):
        tell(outcome)
