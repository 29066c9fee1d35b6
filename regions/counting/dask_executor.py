# SPDX-License-Identifier: MIT
"""How are tasks sent to a client of Dask, so that each returns a result or is known to be lost?

Dask's own executor (`Client.get_executor`) can wait for ever. If a worker dies after it has finished a task, and the
task fails when it is run again, the coroutine that fetches the result ends with the error, and the future does not get
the error. Therefore results are fetched here, by the client's `gather`, and the future raises the error of `gather`.
There are two more ways to wait for ever. If workers die that had finished a task and its network, and the network fails
when it is sent again, the task stays in Dask's state "released". Therefore the state of the network is checked too. If
all workers are lost for good, all tasks stay queued. A `LocalCluster` gives up a replacement that is absent 15 seconds
after a worker was lost, although the replacement may be starting. Therefore, while no result comes, the scheduler is
asked what its workers do. A large network is not sent with each task. It is the result of a task of its own, on which
the other tasks depend. It is sent to the cluster once and to each worker once, where all tasks share it, and the
cluster makes it again if it is lost with a worker. (Scattered data would be lost for good.) Tasks come in the order of
their networks. Therefore only the networks of the latest task are held here; the cluster releases other networks once
their tasks have finished.
Invariant: each future ends once Dask has finished, failed, cancelled or forgotten its task, or a network of the task.
Source: distributed/cfexecutor.py and `Client._gather` of distributed 2024.8 to 2026.8.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import uuid4

from regions.counting.tasks import Result, Task
from regions.domains import Domain
from regions.domains.curves import Curve
from regions.networks.network import Network, stored_arrays

__all__ = ["DaskExecutor", "is_dask_client"]

# In bytes. One more task costs the cluster some milliseconds; so does a task with 100 kB.
LARGE = 100_000
PATIENCE = 0.5  # seconds between two checks of a task's networks, or of the workers
# If all workers are idle at this many looks in a row, and no result came meanwhile, no result will come. Looks are
# counted instead of seconds, because a suspended program or a slow scheduler is not a stalled cluster.
LOOKS = 60


def is_dask_client(given: Any) -> bool:
    """Whether this is a client of Dask, found out without importing Dask."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(given, distributed.Client)


class DaskExecutor(Executor):
    """Submits tasks to a client.

    Parameters
    ----------
    client : dask.distributed.Client
        Its event loop must not run in the calling thread, because that thread waits.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.sent: dict[Network, Any] = {}
        self.looks = 0  # number of looks in a row at which all workers were idle
        self._looking = False
        self._had_workers = False
        self._begin_to_look()

    def submit(self, work: Callable[[Task], Result], task: Task, /) -> Future[Result]:  # type: ignore[override]
        if self.client.status == "closed":
            raise BrokenExecutor("the client is closed")
        self.sent = {network: self._sent(network) for network in dict.fromkeys(network for network, _ in task.items)}
        networks, domains = [self.sent[network] for network, _ in task.items], [domain for _, domain in task.items]
        # A random key, because Dask takes tasks with the same key for one task.
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
        """Ask what the workers do. If they were idle for too long, return True and begin again.

        This does not wait: the answer counts at the next look. A worker that runs tasks of another client is not idle,
        because tasks of this client may wait for them. A cluster that has had no workers yet is still starting.
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
        # Imported here, because it takes a tenth of the import time of all of `regions`; Dask has loaded it already.
        import asyncio

        try:
            done: dict[str, Sequence[str]] = await self.client.scheduler.processing(workers=None)
            self._had_workers = self._had_workers or bool(done)
            self.looks = self.looks + 1 if self._had_workers and not any(done.values()) else 0
            await asyncio.sleep(PATIENCE)
        except Exception:  # if the scheduler is gone, the futures end by themselves
            self.looks = 0
        finally:
            self._looking = False

    async def _gathered(self, there: Any, networks: Sequence[Any]) -> Result:
        """Return the result. If a network of the task is lost, cancel the task, which raises an error."""
        import asyncio

        gathering = asyncio.ensure_future(self.client.gather(there, asynchronous=True))
        while not (await asyncio.wait([gathering], timeout=PATIENCE))[0]:
            if any(map(_has_failed, networks)):
                await self.client.cancel([there], asynchronous=True)
        result: Result = await gathering
        return result

    def _sent(self, network: Network) -> Any:
        """Return what is sent with a task: a small network itself, or the future of a large one."""
        if sum(array.nbytes for array in stored_arrays(network).values()) < LARGE:
            return network
        sent = self.sent.get(network)
        if sent is None or _has_failed(sent):
            sent = self.client.submit(_itself, network, key=f"network-{uuid4()}")
        return sent


def _has_failed(sent: Any) -> bool:
    """Whether a network that is sent by itself will never arrive."""
    return not isinstance(sent, Network) and sent.status in ("error", "cancelled")


def _itself(network: Network) -> Network:
    """Return the network; a worker runs this to get it."""
    return network


def _do(
    work: Callable[[Task], Result],
    task: Task,
    networks: Sequence[Network],
    domains: Sequence[Domain | Curve],
) -> Result:
    """Run a task in a worker, with its networks and domains."""
    return work(replace(task, items=tuple(zip(networks, domains, strict=True))))


def _end(tell: Callable[[Any], None], outcome: Any) -> None:
    """Set the result or the error of a future, unless it was cancelled."""
    with suppress(InvalidStateError):
        tell(outcome)
