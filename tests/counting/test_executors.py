# SPDX-License-Identifier: MIT
"""Do pools of processes, clusters and threads find what one thread finds, also when workers are killed?"""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from executor_judge import (
    LINES,
    NETWORKS,
    NUMBERS,
    SQUARE,
    require_killed_workers_to_change_nothing,
    require_right,
    within_minutes,
)
from fuzz_kills import kill_in_pools
from pools_that_fail import (
    Replacing,
    ctrl_c,
    kill_the_worker,
    kill_the_worker_as_it_answers,
)
from regions.counting import executors


@pytest.fixture(params=[each for each in multiprocessing.get_all_start_methods() if each != "forkserver"])
def processes(request: pytest.FixtureRequest) -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(request.param)) as pool:
        yield pool


@pytest.mark.parametrize(
    "answer", [lambda first, result: first, lambda first, result: "rubbish", lambda first, result: 7]
)
def test_an_executor_that_answers_with_something_else(answer: Callable[[Any, Any], Any], tmp_path: Path) -> None:
    """For instance, it always returns the first result. The task then counts as lost, and the caller runs it."""

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
    """The caller runs the rest; a pool that was shut down before the call is refused."""
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
    """It is refused only if it would wait for itself."""

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


class DyingAsItAnswers(ProcessPoolExecutor):
    """A pool in which one process dies while it sends its answer."""

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


class Refusing(Executor):
    """Accepts a number of tasks, and then fails; the accepted ones fail, or never end."""

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
            assert len(pool.given) == min(takes, 2 * NUMBERS.size)  # each task is tried twice

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
        """It does not wait even for tasks that never end."""
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
            """Runs a number of tasks, the last one first, and no others."""

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
    """This holds for results from a pool, a folder or the core."""
    with ThreadPoolExecutor(1) as pool:
        for _ in range(2):
            number = regions.count(NETWORKS[0], LINES[0], executor=pool, checkpoint=tmp_path)
            assert type(number) is int and number == NUMBERS[0, 0]
            assert regions.count(NETWORKS[0], LINES, executor=pool, checkpoint=tmp_path).dtype == np.int64
