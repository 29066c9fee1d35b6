# SPDX-License-Identifier: MIT
"""Does a cluster of Dask find what one thread finds, also when workers are killed or stall?"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import regions
from executor_judge import (
    LINES,
    NETWORKS,
    NUMBERS,
    require_killed_workers_to_change_nothing,
    require_right,
    within_minutes,
)
from pools_that_fail import (
    Replacing,
    kill_all_but_the_first,
    kill_the_worker,
    wait_for_ever,
)
from regions.counting import dask_executor, executors
from regions.counting.dask_executor import DaskExecutor


@contextmanager
def two_workers() -> Iterator[Any]:
    distributed, config = pytest.importorskip("distributed"), pytest.importorskip("dask.config")
    # Dask gives up a killed worker's task at once, and all work once no worker is left, so nothing waits for ever.
    rules = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.scheduler.no-workers-timeout": "30s",
        "distributed.comm.timeouts.connect": "5s",
    }
    with (
        config.set(rules),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as found,
        distributed.Client(found) as client,
    ):
        yield client


@pytest.fixture(params=[0, dask_executor.LARGE], ids=["networks apart", "networks within"])
def large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_executor, "LARGE", request.param)


@pytest.fixture(scope="module")
def shared() -> Iterator[Any]:
    with two_workers() as client:
        yield client


@pytest.fixture
def cluster(large: None, shared: Any) -> Any:
    """A cluster for tests that leave it as it was."""
    return shared


@pytest.fixture
def own_cluster(large: None) -> Iterator[Any]:
    with two_workers() as client:
        yield client


@pytest.mark.slow
class TestDask:
    def test_the_same(self, cluster: Any, tmp_path: Path) -> None:
        require_right(cluster, checkpoint=tmp_path)
        require_right(None, checkpoint=tmp_path)
        require_right(cluster.get_executor())

        async def ask() -> None:
            async with type(cluster)(cluster.scheduler.address, asynchronous=True) as client:
                with pytest.raises(ValueError, match="event loop"):
                    regions.count(NETWORKS, LINES, executor=client)

        asyncio.run(ask())

    def test_a_killed_worker(self, own_cluster: Any, tmp_path: Path) -> None:
        """The other worker continues."""
        within_minutes(lambda: require_killed_workers_to_change_nothing(DaskExecutor(own_cluster), tmp_path, {}))

    def test_killed_workers(self, own_cluster: Any, tmp_path: Path) -> None:
        """Some tasks kill every worker that runs them."""
        more = {8: kill_the_worker, 9: kill_the_worker}
        within_minutes(lambda: require_killed_workers_to_change_nothing(DaskExecutor(own_cluster), tmp_path, more))

    @pytest.mark.parametrize("share", [0.0, 0.3])
    def test_all_workers_killed_at_once(self, own_cluster: Any, share: float) -> None:
        workers = list(own_cluster.run(os.getpid).values())

        def kill(done: float, found: int) -> None:
            while done >= share and workers:
                os.kill(workers.pop(), signal.SIGKILL)

        within_minutes(lambda: require_right(own_cluster, progress=kill))
        assert not workers

    def test_a_large_network_that_is_lost(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Dask may never report on the task, so the call must not wait for it."""
        monkeypatch.setattr(dask_executor, "LARGE", 0)
        with two_workers() as client:
            pool, (task,) = DaskExecutor(client), regions.jobs.split(NETWORKS[0], LINES[0], 1)
            future = pool.submit(wait_for_ever, task)
            (network,) = pool.sent.values()
            client.gather(network)
            # An error as Dask raises it.
            client.loop.add_callback(network._state.set_error, RuntimeError("its worker died"), None)
            assert future.exception(100) is not None

    def test_a_result_that_is_lost_and_fails_the_second_time(self, own_cluster: Any, tmp_path: Path) -> None:
        """The worker dies after computing the result, before it is fetched; the next worker dies during the work."""
        from distributed import SchedulerPlugin

        mark = tmp_path / "process"

        class KillWhoFinishes(SchedulerPlugin):  # type: ignore[misc]
            def transition(self, key: Any, start: str, finish: str, *args: Any, **facts: Any) -> None:
                if finish == "memory" and str(key).startswith("kill_all_but_the_first"):
                    os.kill(int(mark.read_text()), signal.SIGKILL)

        own_cluster.register_plugin(KillWhoFinishes())
        replacing = Replacing(DaskExecutor(own_cluster), {5: partial(kill_all_but_the_first, mark)})
        within_minutes(lambda: require_right(replacing))
        assert mark.exists() and len(replacing.submitted) > NUMBERS.size

    def test_a_network_is_sent_once(self, cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """A large network is sent to the cluster and to each worker once, and all tasks share it; a small one is sent
        with each task.
        """
        apart = dask_executor.LARGE == 0
        submitted: list[tuple[Any, ...]] = []
        submit = cluster.submit

        def noted(work: Any, *args: Any, **options: Any) -> Any:
            submitted.append(args)
            return submit(work, *args, **options)

        monkeypatch.setattr(cluster, "submit", noted)
        require_right(cluster)
        alone = [args for args in submitted if len(args) == 1]
        assert [args[0] for args in alone] == (NETWORKS if apart else [])
        networks = [each for args in submitted if len(args) > 1 for each in args[-2]]
        assert len(networks) == NUMBERS.size and all((each in NETWORKS) != apart for each in networks)

    def test_all_tasks_of_a_worker_share_a_network(self, cluster: Any) -> None:
        executor = DaskExecutor(cluster)
        tasks = regions.jobs.split(NETWORKS[0], LINES * 10, 70)
        # That object lives as long as the executor, so its id is unique.
        futures = [executor.submit(lambda task: (os.getpid(), id(task.items[0][0])), task) for task in tasks]
        found = {future.result(120) for future in futures}
        processes = {process for process, _ in found}  # type: ignore[misc]
        assert len(processes) <= 2 and (dask_executor.LARGE > 0 or len(found) == len(processes))

    def test_networks_are_released(self, cluster: Any) -> None:
        """All networks are released except those of the latest task; a released network is sent again."""
        executor = DaskExecutor(cluster)
        for task in [*regions.jobs.split(NETWORKS, LINES[0], 3), *regions.jobs.split(NETWORKS[:2], LINES[:1], 1)]:
            for _ in range(2):
                assert executor.submit(regions.jobs.run, task).result(120).error is None
                assert list(executor.sent) == [network for network, _ in task.items]
                if dask_executor.LARGE == 0:
                    executor.sent[task.items[0][0]].cancel()

    def test_a_client_inside_one_of_its_tasks(self, cluster: Any) -> None:
        """With `worker_client`, which lets another thread run tasks meanwhile."""
        from distributed import worker_client

        def ask() -> Any:
            with worker_client() as client:
                return regions.count(NETWORKS, LINES, executor=client).tolist()

        futures = [cluster.submit(ask, pure=False) for _ in range(2)]  # on two workers
        within_minutes(lambda: [future.result(100) for future in futures] and None)
        assert [future.result() for future in futures] == [NUMBERS.tolist()] * 2

    def test_a_cluster_that_ends(self) -> None:
        """The calling process runs the remaining tasks."""
        distributed = pytest.importorskip("distributed")
        with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as ending:
            client = distributed.Client(ending)

            def end(done: float, found: int) -> None:
                client.close()

            within_minutes(lambda: require_right(client, progress=end))
            within_minutes(lambda: require_right(client))


class StalledCluster:
    """The part of a Dask client that the executor uses; the first submissions are lost, later ones run at once."""

    status = "running"

    def __init__(self, lost: float, doing: dict[str, list[str]]) -> None:
        self.lost, self.doing, self.submitted, self.cancelled, self.asked = lost, doing, 0, 0, 0
        self.events = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.events.run_forever, daemon=True)
        self.thread.start()
        self.loop, self.scheduler = self, self

    def add_callback(self, work: Callable[[], Any]) -> None:
        self.events.call_soon_threadsafe(lambda: asyncio.ensure_future(work(), loop=self.events))

    def submit(self, do: Any, *args: Any, key: str) -> Any:
        self.submitted += 1
        done = None if self.submitted <= self.lost else do(*args)
        return SimpleNamespace(done=done, cancel=self.cancel)

    def cancel(self) -> None:
        self.cancelled += 1

    async def gather(self, future: Any, asynchronous: bool) -> Any:
        return future.done or await asyncio.Event().wait()

    async def processing(self, workers: None) -> dict[str, list[str]]:
        self.asked += 1
        return self.doing


class TestStalledDask:
    """All tasks stay queued: no result comes, and no error."""

    @pytest.fixture(autouse=True)
    def soon(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(dask_executor, "PATIENCE", 0.0)
        monkeypatch.setattr(dask_executor, "LOOKS", 3)
        monkeypatch.setattr(executors, "PATIENCE", 0.001)

    @pytest.mark.parametrize("lost", [5, NUMBERS.size, NUMBERS.size + 4, 10**9])
    def test_tasks_are_given_out_again_and_then_done_here(self, lost: int) -> None:
        client = StalledCluster(lost, {"a worker": [], "another one": []})
        within_minutes(lambda: require_right(DaskExecutor(client)))
        assert client.submitted == NUMBERS.size + min(lost, NUMBERS.size)
        assert client.cancelled == min(lost, 2 * NUMBERS.size)

    @pytest.mark.parametrize("doing", [{}, {"a worker": ["a task of somebody"], "another one": []}], ids=repr)
    def test_a_call_waits_for_a_cluster_that_starts_or_is_busy(self, doing: dict[str, list[str]]) -> None:
        client = StalledCluster(10**9, doing)

        def stop(share: float, found: int) -> None:
            if client.asked > 4 * dask_executor.LOOKS:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            regions.count(NETWORKS, LINES, executor=DaskExecutor(client), progress=stop)
        assert client.submitted == NUMBERS.size

    def test_a_cluster_whose_workers_are_gone(self) -> None:
        client = StalledCluster(10**9, {"a worker": ["a task"]})

        def lose(share: float, found: int) -> None:
            client.doing = {} if client.asked else client.doing

        within_minutes(lambda: require_right(DaskExecutor(client), progress=lose))
        assert client.submitted == 2 * NUMBERS.size
