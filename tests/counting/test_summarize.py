# SPDX-License-Identifier: MIT
"""Are the statistics of a stream the same for any workers, and after any number of kills?"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import regions
from killed_jobs import files_of, head_of, with_digest
from random_networks import random_network
from regions import Box
from regions.counting import blocks_in_order
from regions.domains import Plane, Polygon, Segment
from regions.measures import StreamSummary, summarize

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
NETWORK = random_network([2, 16, 16, 1], 1, bias=0.1, he=True)
DOMAINS = [SQUARE, Plane([0, 0], [1, 0], [0, 1]), Segment([-1, -1], [1, 0.5])]


def added(network: regions.Network, domain: Any, most: int) -> dict[str, Any]:
    summary = StreamSummary(network, domain)
    for block in regions.stream(network, domain, regions_per_block=most, workers=2):
        summary.add(block)
    return summary.as_dict()


@pytest.mark.parametrize("domain", DOMAINS)
def test_workers_executors_and_folders(domain: regions.Domain, tmp_path: Path) -> None:
    expected = added(NETWORK, domain, 20)
    assert expected["regions"] == regions.count(NETWORK, domain)
    for workers in (1, 2, 3):
        assert summarize(NETWORK, domain, regions_per_block=20, workers=workers).as_dict() == expected
    with ThreadPoolExecutor(2) as pool:
        for folder in (None, tmp_path, tmp_path):
            found = summarize(NETWORK, domain, regions_per_block=20, executor=pool, checkpoint=folder)
            assert found.as_dict() == expected
    assert summarize(NETWORK, domain, regions_per_block=20, checkpoint=tmp_path).as_dict() == expected


def test_boxes_and_single_blocks() -> None:
    network, cube = random_network([3, 7, 5, 1], 1), Box([-1] * 3, [1] * 3)
    assert summarize(network, cube, regions_per_block=40, workers=2).as_dict() == added(network, cube, 40)
    whole = StreamSummary(NETWORK, SQUARE)
    whole.add(regions.enumerate(NETWORK, SQUARE))
    assert summarize(NETWORK, SQUARE).as_dict() == whole.as_dict()


@pytest.mark.slow
def test_processes() -> None:
    with ProcessPoolExecutor(2) as pool:
        found = summarize(NETWORK, SQUARE, regions_per_block=20, executor=pool)
    assert found.as_dict() == added(NETWORK, SQUARE, 20)


JOB = """
import os, sys, regions
from random_networks import random_network
network = random_network([2, 16, 16, 1], 1, bias=0.1, he=True)
square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
new = 0
def stop(fraction, found):
    if len(os.listdir(sys.argv[1])) >= int(sys.argv[2]):
        os.kill(os.getpid(), 9)
print(regions.measures.summarize(
    network, square, regions_per_block=20, workers=2, checkpoint=sys.argv[1], progress=stop
).to_json())
"""


@pytest.mark.slow
def test_killed_five_times(tmp_path: Path) -> None:
    expected, folder = added(NETWORK, SQUARE, 20), tmp_path / "kept"
    helpers = Path(__file__).parent.parent / "helpers"
    for kill_at in (2, 4, 6, 8, 10, 10**6):
        command = [sys.executable, "-c", JOB, str(folder), str(kill_at)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=helpers)
        assert done.returncode == (0 if kill_at == 10**6 else -9), done.stderr
    assert json.loads(done.stdout) == expected
    assert sum(path.stat().st_size for path in folder.iterdir()) < 4096 * len(list(folder.iterdir()))


class TestStopping:
    def test_limits(self) -> None:
        total = regions.count(NETWORK, SQUARE)
        assert summarize(NETWORK, SQUARE, regions_per_block=20, limit=total).regions == total
        with pytest.raises(regions.LimitReached, match="more than 100 regions") as stopped:
            summarize(NETWORK, SQUARE, regions_per_block=20, limit=100)
        assert 100 < stopped.value.partial.regions < total

    def test_a_timeout(self) -> None:
        with pytest.raises(regions.TimeoutReached) as stopped:
            summarize(random_network([2, 256, 256, 256, 1], 1, he=True), SQUARE, timeout=0.01)
        assert isinstance(stopped.value.partial, StreamSummary)

    def test_ctrl_c(self, tmp_path: Path) -> None:
        def stop(fraction: float, found: int) -> None:
            if found > 60:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as stopped:
            summarize(NETWORK, SQUARE, regions_per_block=20, workers=2, checkpoint=tmp_path, progress=stop)
        assert stopped.value.partial.regions > 60  # type: ignore[attr-defined]
        found = summarize(NETWORK, SQUARE, regions_per_block=20, checkpoint=tmp_path)
        assert found.as_dict() == added(NETWORK, SQUARE, 20)


class TestFolders:
    def test_finished_blocks_are_not_found_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        expected = summarize(NETWORK, SQUARE, regions_per_block=20, checkpoint=tmp_path).as_dict()
        found: list[Any] = []
        attempt = blocks_in_order.attempt
        monkeypatch.setattr(blocks_in_order, "attempt", lambda *task: [found.append(task), attempt(*task)][1])
        again = summarize(NETWORK, SQUARE, regions_per_block=20, checkpoint=tmp_path)
        assert again.as_dict() == expected and not found

    def test_damaged_and_forged_summaries_are_found_again(self, tmp_path: Path) -> None:
        expected = summarize(NETWORK, SQUARE, regions_per_block=20, checkpoint=tmp_path).as_dict()
        path = files_of(tmp_path)[1]
        numbers, _, summary = path.read_bytes().partition(b"\n")[2].partition(b"\n")
        state = json.loads(summary)
        for change in ({"regions": state["regions"] + 1}, {"section": [[7], None]}, {"size": -1.0}, {"network": "x"}):
            path.write_bytes(with_digest(head_of(path), numbers + b"\n" + json.dumps(state | change).encode() + b"\n"))
            found = summarize(NETWORK, SQUARE, regions_per_block=20, checkpoint=tmp_path)
            assert found.as_dict() == expected
        for rubbish in (b"", b"[]", b"{", b"null", numbers):
            path.write_bytes(with_digest(head_of(path), numbers + b"\n" + rubbish))
            found = summarize(NETWORK, SQUARE, regions_per_block=20, checkpoint=tmp_path)
            assert found.as_dict() == expected


def test_merging() -> None:
    blocks = list(regions.stream(NETWORK, SQUARE, regions_per_block=50))
    parts = []
    for block in blocks:
        parts.append(StreamSummary(NETWORK, SQUARE))
        parts[-1].add(block)
    whole, expected = StreamSummary(NETWORK, SQUARE), StreamSummary(NETWORK, SQUARE)
    for part, block in zip(parts, blocks, strict=True):
        whole.merge(StreamSummary(NETWORK, SQUARE))  # changes nothing
        whole.merge(part)
        expected.add(block)
        assert whole.as_dict() == expected.as_dict()
        with pytest.raises(ValueError, match="added before|nothing follows"):
            whole.merge(parts[0])
    with pytest.raises(ValueError, match="another network or domain"):
        whole.merge(StreamSummary(NETWORK, DOMAINS[2]))
    with pytest.raises(TypeError, match="must be a StreamSummary"):
        whole.merge(blocks[0])  # type: ignore[arg-type]
