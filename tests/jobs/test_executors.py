# SPDX-License-Identifier: MIT
"""Do pools of processes, clusters and threads find what one thread finds, also when workers are killed?"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import regions
from fuzz_kills import kill_in_pools
from pools_that_fail import (
    Replacing,
    ctrl_c,
    kill_all_but_the_first,
    kill_the_first,
    kill_the_worker,
    kill_the_worker_as_it_answers,
    wait_for_ever,
)
from random_networks import random_network
from regions.domains import Segment
from regions.jobs import dask_executor, executors
from regions.jobs.dask_executor import DaskExecutor

NETWORKS = [random_network([2, 8, 8, 1], seed, bias=0.1, he=True) for seed in range(3)]
LINES = [Segment([-1, k], [1, 0.3 * k]) for k in range(1, 8)]
SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
NUMBERS, CERTIFICATES = regions.certified_count(NETWORKS, LINES)


@pytest.fixture(params=[each for each in multiprocessing.get_all_start_methods() if each != "forkserver"])
def processes(request: pytest.FixtureRequest) -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(request.param)) as pool:
        yield pool


@pytest.fixture(params=[0, dask_executor.LARGE], ids=["networks apart", "networks within"])
def cluster(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(dask_executor, "LARGE", request.param)
    distributed, config = pytest.importorskip("distributed"), pytest.importorskip("dask.config")
    # A killed worker's task is given up at once, and so is all work once no worker is left: for ever waits nobody.
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


def require_right(executor: Any, **options: Any) -> None:
    numbers, certificates = regions.certified_count(NETWORKS, LINES, executor=executor, **options)
    assert numbers.tobytes() == NUMBERS.tobytes() and numbers.shape == NUMBERS.shape
    for row, expected in zip(certificates, CERTIFICATES, strict=True):
        assert [each.as_dict() for each in row] == [each.as_dict() for each in expected]


def require_killed_workers_to_change_nothing(pool: Executor, tmp_path: Path, more: dict[int, Any]) -> None:
    """One dies once; ``more`` says what is done instead of other tasks, for instance to die whenever that is tried."""
    once = partial(kill_the_first, tmp_path / "mark")
    replacing = Replacing(pool, {3: once} | more)
    require_right(replacing)
    assert len(replacing.submitted) > NUMBERS.size  # what was lost is submitted again


@pytest.mark.parametrize(
    "answer", [lambda first, result: first, lambda first, result: "rubbish", lambda first, result: 7]
)
def test_an_executor_that_answers_with_something_else(answer: Callable[[Any, Any], Any], tmp_path: Path) -> None:
    """For instance with the first result, whatever the task: it is lost, and the caller does it himself."""

    class Confused(ThreadPoolExecutor):
        first: Any = None

        def submit(self, work: Any, task: Any) -> Future[Any]:  # type: ignore[override]
            self.first = self.first or work(task)
            return super().submit(lambda: answer(self.first, work(task)))

    with Confused(1) as pool:
        for checkpoint in (None, tmp_path):
            require_right(pool, checkpoint=checkpoint)
        other = Confused(1)
        other.first = regions.jobs.run(regions.jobs.split(NETWORKS[0], SQUARE, 8)[1])
        for function in (regions.count, regions.enumerate):
            assert function(NETWORKS[0], SQUARE, executor=other) == function(NETWORKS[0], SQUARE)
    require_right(None, checkpoint=tmp_path)


def test_a_pool_that_is_shut_down_on_the_way() -> None:
    """The caller does the rest; what was shut down before is refused."""
    begun = threading.Event()

    class Slow(ThreadPoolExecutor):
        def submit(self, work: Any, task: Any) -> Future[Any]:  # type: ignore[override]
            return super().submit(lambda: (begun.wait(60), work(task))[1])

    pool = Slow(1)

    def shut_down(share: float, found: int) -> None:
        pool.shutdown(wait=False, cancel_futures=True)
        begun.set()

    require_right(pool, progress=shut_down)
    with pytest.raises(RuntimeError, match="after shutdown"):
        require_right(pool)


def test_a_pool_in_its_own_thread() -> None:
    """It is refused where it would wait for itself, and only there."""

    def ask(pool: Executor) -> Any:
        told: list[float] = []

        def tell(share: float, found: int) -> None:
            told.append(share)
            assert len(told) < 1000, "it waits for itself"

        return regions.count(NETWORKS, LINES, executor=pool, progress=tell).tolist()

    with ThreadPoolExecutor(1) as pool, ThreadPoolExecutor(1) as other, ThreadPoolExecutor(2) as larger:
        with pytest.raises(ValueError, match="it would deadlock"):
            pool.submit(ask, pool).result(120)
        assert pool.submit(ask, other).result(120) == larger.submit(ask, larger).result(120) == NUMBERS.tolist()
        assert ask(pool) == NUMBERS.tolist()


def test_threads() -> None:
    with ThreadPoolExecutor(3) as pool:
        require_right(pool)
        assert regions.count(NETWORKS[0], LINES[0], executor=pool) == NUMBERS[0, 0]
        assert regions.count([], LINES, executor=pool).shape == (0, 7)


@pytest.mark.slow
class TestProcesses:
    def test_the_same(self, processes: ProcessPoolExecutor, tmp_path: Path) -> None:
        require_right(processes, checkpoint=tmp_path)
        files = sorted(tmp_path.iterdir())
        require_right(None, checkpoint=tmp_path, workers=2)
        assert files and sorted(tmp_path.iterdir()) == files

    def test_killed_workers(self, processes: ProcessPoolExecutor, tmp_path: Path) -> None:
        require_killed_workers_to_change_nothing(processes, tmp_path, {8: kill_the_worker})
        with pytest.raises(BrokenProcessPool):
            processes.submit(int)
        require_right(processes)  # broken from the beginning

    def test_killed_at_random_moments(self) -> None:
        """`tests/fuzz_kills.py` does it more often, also with Dask."""
        within_minutes(lambda: kill_in_pools(4, 0) and None)

    def test_errors(self, processes: ProcessPoolExecutor) -> None:
        limit = int(NUMBERS.max()) - 1
        with pytest.raises(regions.LimitReached) as alone:
            regions.count(NETWORKS, LINES, limit=limit)
        with pytest.raises(regions.LimitReached) as stopped:
            regions.count(NETWORKS, LINES, limit=limit, executor=processes)
        assert stopped.value.partial.tolist() == alone.value.partial.tolist()


def within_minutes(work: Callable[[], None]) -> None:
    """Fail where it waits for ever."""
    failed: list[BaseException] = []

    def noted() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=noted, daemon=True)
    thread.start()
    thread.join(120)
    assert not thread.is_alive(), "it waits, and nothing comes any more"
    if failed:
        raise failed[0]


class DyingAsItAnswers(ProcessPoolExecutor):
    """One of its processes dies half way through its answer."""

    submitted = 0

    def submit(self, work: Any, task: Any) -> Future[Any]:  # type: ignore[override]
        self.submitted += 1
        return super().submit(partial(kill_the_worker_as_it_answers, work) if self.submitted == 3 else work, task)


def test_a_process_that_dies_as_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool never notices. Neither the call nor leaving the pool waits for it."""
    monkeypatch.setattr(executors, "LOOKS", 4)

    def count() -> None:
        with DyingAsItAnswers(2) as pool:
            require_right(pool)
        with pytest.raises(BrokenProcessPool):
            pool.submit(int, "1")

    within_minutes(count)


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

    def test_a_killed_worker(self, cluster: Any, tmp_path: Path) -> None:
        """The other one goes on."""
        within_minutes(lambda: require_killed_workers_to_change_nothing(DaskExecutor(cluster), tmp_path, {}))

    def test_killed_workers(self, cluster: Any, tmp_path: Path) -> None:
        """Whoever does some of the tasks dies."""
        more = {8: kill_the_worker, 9: kill_the_worker}
        within_minutes(lambda: require_killed_workers_to_change_nothing(DaskExecutor(cluster), tmp_path, more))

    @pytest.mark.parametrize("share", [0.0, 0.3])
    def test_all_workers_killed_at_once(self, cluster: Any, share: float) -> None:
        workers = list(cluster.run(os.getpid).values())

        def kill(done: float, found: int) -> None:
            while done >= share and workers:
                os.kill(workers.pop(), signal.SIGKILL)

        within_minutes(lambda: require_right(cluster, progress=kill))
        assert not workers

    def test_a_network_that_is_lost(self, cluster: Any) -> None:
        """Dask may tell nothing of the task any more, so that is not waited for."""
        if dask_executor.LARGE:
            return  # it is within the task
        pool, (task,) = DaskExecutor(cluster), regions.jobs.split(NETWORKS[0], LINES[0], 1)
        future = pool.submit(wait_for_ever, task)
        (network,) = pool.sent.values()
        cluster.gather(network)
        # As Dask would tell of it.
        cluster.loop.add_callback(network._state.set_error, RuntimeError("its worker died"), None)
        assert future.exception(100) is not None

    def test_a_result_that_is_lost_and_fails_the_second_time(self, cluster: Any, tmp_path: Path) -> None:
        """Its worker dies once it has the result and before anybody fetches it; and the next one while it works."""
        from distributed import SchedulerPlugin

        mark = tmp_path / "process"

        class KillWhoFinishes(SchedulerPlugin):  # type: ignore[misc]
            def transition(self, key: Any, start: str, finish: str, *args: Any, **facts: Any) -> None:
                if finish == "memory" and str(key).startswith("kill_all_but_the_first"):
                    os.kill(int(mark.read_text()), signal.SIGKILL)

        cluster.register_plugin(KillWhoFinishes())
        replacing = Replacing(DaskExecutor(cluster), {5: partial(kill_all_but_the_first, mark)})
        within_minutes(lambda: require_right(replacing))
        assert mark.exists() and len(replacing.submitted) > NUMBERS.size

    def test_a_network_is_sent_once(self, cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """To the cluster, and to each worker, where all tasks share it; if it is small, it goes with each task."""
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
        # That object is there as long as the executor, so no other one has its number.
        futures = [executor.submit(lambda task: (os.getpid(), id(task.items[0][0])), task) for task in tasks]
        found = {future.result(120) for future in futures}
        processes = {process for process, _ in found}  # type: ignore[misc]
        assert len(processes) <= 2 and (dask_executor.LARGE > 0 or len(found) == len(processes))

    def test_networks_are_released(self, cluster: Any) -> None:
        """But for those of the latest task; and one that is gone is sent once more."""
        executor = DaskExecutor(cluster)
        for task in [*regions.jobs.split(NETWORKS, LINES[0], 3), *regions.jobs.split(NETWORKS[:2], LINES[:1], 1)]:
            for _ in range(2):
                assert executor.submit(regions.jobs.run, task).result(120).error is None
                assert list(executor.sent) == [network for network, _ in task.items]
                if dask_executor.LARGE == 0:
                    executor.sent[task.items[0][0]].cancel()

    def test_a_client_inside_one_of_its_tasks(self, cluster: Any) -> None:
        """With the client that a worker has for that, which takes another thread meanwhile."""
        from distributed import worker_client

        def ask() -> Any:
            with worker_client() as client:
                return regions.count(NETWORKS, LINES, executor=client).tolist()

        futures = [cluster.submit(ask, pure=False) for _ in range(2)]  # of which there are two workers
        within_minutes(lambda: [future.result(100) for future in futures] and None)
        assert [future.result() for future in futures] == [NUMBERS.tolist()] * 2

    def test_a_cluster_that_ends(self) -> None:
        """What it has not done is done here."""
        distributed = pytest.importorskip("distributed")
        with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as ending:
            client = distributed.Client(ending)

            def end(done: float, found: int) -> None:
                client.close()

            within_minutes(lambda: require_right(client, progress=end))
            within_minutes(lambda: require_right(client))


class StalledCluster:
    """What the executor uses of a client of Dask; after a number of submissions it does what it is given."""

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
    """All tasks stay queued: nothing comes, and nothing fails."""

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


class Refusing(Executor):
    """Takes so many, and then is at its end; what it took comes to nothing, or never comes."""

    def __init__(self, takes: int, error: BaseException | None) -> None:
        self.takes, self.error, self.given = takes, error, list[Future[Any]]()

    def submit(self, work: Any, task: Any) -> Future[Any]:  # type: ignore[override]
        if len(self.given) == self.takes:
            raise BrokenProcessPool("gone")
        self.given.append(Future())
        if self.error is not None:
            self.given[-1].set_exception(self.error)
        return self.given[-1]


class TestWithoutProcesses:
    @pytest.mark.parametrize("takes", [0, 1, 10, 1000])
    @pytest.mark.parametrize("error", [BrokenProcessPool("gone"), OSError("no memory"), SystemExit()])
    def test_lost_tasks_are_run_by_the_caller(self, takes: int, error: BaseException) -> None:
        for workers in (1, 3):
            pool = Refusing(takes, error)
            require_right(pool, workers=workers)
            assert len(pool.given) == min(takes, 2 * NUMBERS.size)  # each is tried twice

    def test_errors_of_submitting_are_raised(self) -> None:
        pool = ThreadPoolExecutor(1)
        pool.shutdown()
        with pytest.raises(RuntimeError, match="after shutdown"):
            regions.count(NETWORKS, LINES, executor=pool)

    def test_ctrl_c_in_a_worker_ends_the_job(self) -> None:
        with ThreadPoolExecutor(1) as pool, pytest.raises(KeyboardInterrupt) as stopped:
            regions.count(NETWORKS, LINES, executor=Replacing(pool, {5: ctrl_c}))
        flat = NUMBERS.ravel().tolist()
        assert stopped.value.partial.tolist() == flat[: len(stopped.value.partial)]

    def test_ctrl_c_does_not_wait_for_running_tasks(self) -> None:
        """Not even for those that never end."""
        pool = Refusing(1000, None)

        def stop(share: float, found: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as stopped:
            regions.count(NETWORKS, LINES, executor=pool, progress=stop)
        assert stopped.value.partial.tolist() == []
        assert all(future.cancelled() for future in pool.given) and len(pool.given) == NUMBERS.size

    def test_an_error_does_not_wait_for_later_tasks(self) -> None:
        first = int(NUMBERS.argmax())

        class Ending(Executor):
            """Does what comes up to there, the last first, and nothing more."""

            given: list[Future[Any]] = []
            tasks: list[Any] = []

            def submit(self, work: Any, task: Any) -> Future[Any]:  # type: ignore[override]
                self.given.append(Future())
                self.tasks.append(partial(work, task))
                if len(self.given) == NUMBERS.size:
                    for place in range(first, -1, -1):
                        self.given[place].set_result(self.tasks[place]())
                return self.given[-1]

        pool = Ending()
        with pytest.raises(regions.LimitReached) as stopped:
            regions.count(NETWORKS, LINES, limit=int(NUMBERS.max()) - 1, executor=pool)
        assert stopped.value.partial.tolist() == NUMBERS.ravel()[:first].tolist()
        assert all(future.cancelled() for future in pool.given[first + 1 :])

    def test_progress_adds_up_over_all_tasks(self) -> None:
        reports: list[tuple[float, int]] = []
        with ThreadPoolExecutor(2) as pool:
            require_right(pool, progress=lambda share, found: reports.append((share, found)))
        assert reports == sorted(reports) and reports[-1] == (1.0, int(NUMBERS.sum()))

    @pytest.mark.parametrize("executor", [3, "processes", ProcessPoolExecutor, object()])
    def test_objects_that_are_not_executors(self, executor: object) -> None:
        with pytest.raises(TypeError, match="executor must be a concurrent.futures.Executor"):
            regions.count(NETWORKS, LINES, executor=executor)


def test_numbers_are_plain(tmp_path: Path) -> None:
    """Whether they come from a pool, a folder or the core."""
    with ThreadPoolExecutor(1) as pool:
        for _ in range(2):
            number = regions.count(NETWORKS[0], LINES[0], executor=pool, checkpoint=tmp_path)
            assert type(number) is int and number == NUMBERS[0, 0]
            assert regions.count(NETWORKS[0], LINES, executor=pool, checkpoint=tmp_path).dtype == np.int64
