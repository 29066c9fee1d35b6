# SPDX-License-Identifier: MIT
"""Are the blocks of a stream the same for any workers, and are they the regions of one run, in order?"""

from __future__ import annotations

import json
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from killed_jobs import files_of, head_of, with_digest
from polytope_cases import he_normal
from pools_that_fail import Replacing, kill_the_worker
from random_networks import random_network
from regions import Box, Network
from regions.counting import blocks_in_order
from regions.domains import Line, Plane, Polygon, Segment
from regions.measures import StreamSummary

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
PLANE = Plane([0, 0], [1, 0], [0, 1])
NETWORK = random_network([2, 16, 16, 1], 1, bias=0.1, he=True)
CUBE = Box([-1] * 3, [1] * 3)


def blocks_of(network: Network, domain: Any, most: int = 20, **options: Any) -> list[Any]:
    return list(regions.stream(network, domain, regions_per_block=most, **options))


def contents(blocks: list[Any]) -> list[Any]:
    return [
        (block.section, block.complete, block.stats, {name: getattr(block, name).tobytes() for name in block.stored})
        for block in blocks
    ]


def require_all(blocks: list[Any], network: Network, domain: Any) -> None:
    """Check that blocks follow each other, and have the regions of one run in its order."""
    whole = regions.enumerate(network, domain)
    assert blocks[0].section[0] == () and blocks[-1].section[1] is None
    assert all(one.section[1] == other.section[0] for one, other in zip(blocks, blocks[1:], strict=False))
    assert np.array_equal(np.concatenate([block.packed_patterns for block in blocks]), whole.packed_patterns)
    assert all(block.complete == (len(blocks) == 1) for block in blocks)


@pytest.mark.parametrize("family", [*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES])
@pytest.mark.parametrize("dimension", [1, 2])
def test_every_family(family: str, dimension: int) -> None:
    network, domain = draw(family, dimension, 0)
    for most in (1, 5):
        require_all(blocks_of(network, domain, most, workers=2), network, domain)


@pytest.mark.parametrize("domain", [SQUARE, PLANE, Segment([-1, -1], [1, 0.5]), Line([0, 0], [1, 2])])
def test_workers_executors_and_folders(domain: regions.Domain, tmp_path: Path) -> None:
    blocks = blocks_of(NETWORK, domain, workers=2)
    require_all(blocks, NETWORK, domain)
    expected = contents(blocks)
    assert contents(blocks_of(NETWORK, domain, workers=3)) == expected
    with ThreadPoolExecutor(2) as pool:
        assert contents(blocks_of(NETWORK, domain, executor=pool)) == expected
        assert contents(blocks_of(NETWORK, domain, executor=pool, checkpoint=tmp_path)) == expected
    assert contents(blocks_of(NETWORK, domain, checkpoint=tmp_path)) == expected
    summary = StreamSummary(NETWORK, domain)
    for block in blocks:
        summary.add(block)
    assert summary.regions == regions.count(NETWORK, domain)


def test_boxes(tmp_path: Path) -> None:
    network = he_normal([3, 8, 8, 1])
    expected = contents(blocks_of(network, CUBE, workers=2))
    require_all(blocks_of(network, CUBE, workers=2), network, CUBE)
    for _ in range(2):
        assert contents(blocks_of(network, CUBE, checkpoint=tmp_path)) == expected


def test_a_domain_without_a_kink() -> None:
    network = Network([([[1.0, 0.0]], [9.0]), ([[1.0]], [0.0])])
    (block,) = blocks_of(network, SQUARE, 1, workers=2)
    assert block.complete and block == regions.enumerate(network, SQUARE)


def test_late_and_early_reports_do_not_change_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """On slow machines the core also reports before the block is full, and while vertices are placed."""
    block_of, frontier = blocks_in_order.block_of, blocks_in_order.frontier
    asked: list[int] = []

    def reporting(model: Any, domain: Any, section: Any, options: Any, most: int | None) -> Any:
        options.report(1e-6, 1)
        found = block_of(model, domain, section, options, most)
        options.report(0.0, 0)
        return found

    def dividing(model: Any, domain: Any, least: int, *rest: Any, **options: Any) -> Any:
        asked.append(least)
        return frontier(model, domain, least, *rest, **options)

    monkeypatch.setattr(blocks_in_order, "frontier", dividing)
    blocks_of(NETWORK, SQUARE, workers=2)
    monkeypatch.setattr(blocks_in_order, "block_of", reporting)
    blocks_of(NETWORK, SQUARE, workers=2)
    assert len(asked) == 2 and asked[0] == asked[1] < blocks_in_order.SECTIONS


def test_every_place_is_a_start() -> None:
    expected = contents(blocks_of(NETWORK, SQUARE, workers=2))
    for first in range(0, len(expected), 7):
        assert contents(blocks_of(NETWORK, SQUARE, workers=2, start=expected[first][0][0])) == expected[first:]
    # Also places of a stream of one thread, which may lie above the nodes that divide the domain.
    whole = regions.enumerate(NETWORK, SQUARE).packed_patterns
    for block in blocks_of(NETWORK, SQUARE, 7)[::5]:
        later = blocks_of(NETWORK, SQUARE, workers=2, start=block.section[0])
        patterns = np.concatenate([each.packed_patterns for each in later])
        assert np.array_equal(patterns, whole[len(whole) - len(patterns) :])
        assert np.array_equal(patterns[: len(block)], block.packed_patterns)


def test_one_thread_has_the_blocks_of_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REGIONS_WORKERS", raising=False)
    assert contents(blocks_of(NETWORK, SQUARE)) == contents(blocks_of(NETWORK, SQUARE, workers=1))
    assert len(blocks_of(NETWORK, SQUARE)) < len(blocks_of(NETWORK, SQUARE, workers=2))


@pytest.mark.slow
def test_killed_workers(tmp_path: Path) -> None:
    expected = contents(blocks_of(NETWORK, SQUARE, workers=2))
    with ProcessPoolExecutor(2) as pool:
        assert contents(blocks_of(NETWORK, SQUARE, executor=pool)) == expected
        found = blocks_of(NETWORK, SQUARE, executor=Replacing(pool, {3: kill_the_worker}), checkpoint=tmp_path)
        assert contents(found) == expected


class Damaging(ThreadPoolExecutor):
    """Loses every third task, and returns rubbish for another third."""

    submitted = 0

    def submit(self, work: Any, task: Any) -> Future[Any]:  # type: ignore[override]
        self.submitted += 1
        if self.submitted % 3 == 0:
            return super().submit(int, "lost")
        return super().submit(work if self.submitted % 3 == 1 else str, task)


def test_lost_and_damaged_answers() -> None:
    with Damaging(2) as pool:
        assert contents(blocks_of(NETWORK, SQUARE, executor=pool)) == contents(blocks_of(NETWORK, SQUARE, workers=2))


def test_an_executor_that_was_shut_down() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(RuntimeError):
        blocks_of(NETWORK, SQUARE, executor=pool)


class Noting(Executor):
    """Runs each task at once, and notes how many blocks are ahead of the caller."""

    def __init__(self) -> None:
        self.done = 0

    def submit(self, work: Any, task: Any) -> Future[Any]:  # type: ignore[override]
        future: Future[Any] = Future()
        future.set_result(work(task))
        self.done += 1
        return future


def test_workers_wait_for_the_caller() -> None:
    pool, taken = Noting(), 0
    for _ in regions.stream(NETWORK, SQUARE, regions_per_block=5, executor=pool):
        taken += 1
        assert pool.done <= taken + blocks_in_order.UNKNOWN
    assert pool.done == taken - 1  # the caller finds the first block


class TestStopping:
    def test_limits(self) -> None:
        total = regions.count(NETWORK, SQUARE)
        assert sum(map(len, blocks_of(NETWORK, SQUARE, workers=2, limit=total))) == total
        for limit in (0, 30, total - 1):
            stream = regions.stream(NETWORK, SQUARE, regions_per_block=20, workers=2, limit=limit)
            with pytest.raises(regions.LimitReached, match=f"more than {limit} regions") as stopped:
                list(stream)
            assert stream.found <= limit < stream.found + len(stopped.value.partial)

    def test_a_timeout(self) -> None:
        with pytest.raises(regions.TimeoutReached):
            blocks_of(random_network([2, 256, 256, 256, 1], 1, he=True), SQUARE, 10**6, workers=2, timeout=0.01)

    def test_ctrl_c(self, tmp_path: Path) -> None:
        def stop(fraction: float, found: int) -> None:
            if found > 30:
                raise KeyboardInterrupt

        stream = regions.stream(NETWORK, SQUARE, regions_per_block=20, checkpoint=tmp_path, workers=2, progress=stop)
        try:
            for _ in stream:
                pass
        except KeyboardInterrupt:
            assert 0 < stream.found < regions.count(NETWORK, SQUARE)
        expected = contents(blocks_of(NETWORK, SQUARE, workers=2))
        assert contents(blocks_of(NETWORK, SQUARE, checkpoint=tmp_path)) == expected

    def test_a_stream_that_is_left_ends_its_threads(self) -> None:
        before = threading.active_count()
        stream = regions.stream(NETWORK, SQUARE, regions_per_block=20, workers=3)
        next(stream)
        stream.close()
        assert threading.active_count() == before and stream.place is not None


class TestFolders:
    def test_finished_blocks_are_not_found_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        expected = contents(blocks_of(NETWORK, SQUARE, checkpoint=tmp_path))
        files = sorted(tmp_path.iterdir())
        assert len(files) == len(expected)
        found: list[Any] = []
        attempt = blocks_in_order.attempt
        monkeypatch.setattr(blocks_in_order, "attempt", lambda *task: [found.append(task), attempt(*task)][1])
        assert contents(blocks_of(NETWORK, SQUARE, checkpoint=tmp_path)) == expected and not found
        files[2].unlink()
        files[3].write_bytes(files[3].read_bytes()[:-1])
        assert contents(blocks_of(NETWORK, SQUARE, checkpoint=tmp_path)) == expected and len(found) == 2

    def test_a_forged_place(self, tmp_path: Path) -> None:
        blocks_of(NETWORK, SQUARE, checkpoint=tmp_path)
        path = files_of(tmp_path)[1]
        content = path.read_bytes().partition(b"\n")[2]
        facts, _, arrays = content.partition(b"\n")
        for end in ([2, 9], [0, 0], None, "x"):
            forged = json.dumps(json.loads(facts) | {"section": [json.loads(facts)["section"][0], end]}).encode()
            path.write_bytes(with_digest(head_of(path), forged.ljust(len(facts)) + b"\n" + arrays))
            try:
                found = blocks_of(NETWORK, SQUARE, checkpoint=tmp_path)
            except regions.errors.NotACheckpointError as error:
                assert "contradict each other" in str(error)
            else:
                assert contents(found) == contents(blocks_of(NETWORK, SQUARE, workers=2))

    def test_other_sizes_and_starts_are_other_jobs(self, tmp_path: Path) -> None:
        blocks = blocks_of(NETWORK, SQUARE, checkpoint=tmp_path)
        files = len(list(tmp_path.iterdir()))
        for options in ({"most": 30}, {"start": blocks[3].section[0]}):
            more = blocks_of(NETWORK, SQUARE, checkpoint=tmp_path, **options)
            assert len(list(tmp_path.iterdir())) == files + len(more)
            files = len(list(tmp_path.iterdir()))
