# SPDX-License-Identifier: MIT
"""Does an enumeration resume after any end, and does it ignore files of other jobs?"""

from __future__ import annotations

import json
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from killed_jobs import damaged, files_of, head_of, noted_attempts, require_done_again, require_to_go_on, with_digest
from random_networks import random_network
from regions.counting import checkpoints
from regions.counting import job as jobs
from regions.results.cells.consistency import first_problem
from regions.results.partition import raw_arrays

NETWORK = random_network([2, 32, 32, 1], 1, bias=0.1, he=True)
SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
WHOLE = regions.enumerate(NETWORK, SQUARE)


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the tasks that were run, and not read from a folder; each has its own file."""
    return noted_attempts(monkeypatch, 12)


def require_right(folder: Path, **options: Any) -> None:
    assert regions.enumerate(NETWORK, SQUARE, checkpoint=folder, **options) == WHOLE


@pytest.mark.parametrize("workers", [1, 3])
def test_finished_tasks_are_not_run_again(tmp_path: Path, done: list[int], workers: int) -> None:
    require_right(tmp_path, workers=workers)
    total = len(files_of(tmp_path))
    assert sorted(done) == list(range(total)) and total >= 12
    done.clear()
    require_right(tmp_path, workers=workers)
    assert done == []
    files_of(tmp_path)[4].unlink()
    require_right(tmp_path, workers=workers)
    assert done == [4]


def test_ctrl_c_saves_finished_tasks(tmp_path: Path, done: list[int]) -> None:
    def stop(share: float, found: int) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        regions.enumerate(NETWORK, SQUARE, checkpoint=tmp_path, progress=stop)
    kept = len(files_of(tmp_path))
    assert 0 < kept < 12 and stopped.value.partial is None
    found = stopped.value.found
    assert 0 < found.regions < len(WHOLE) and found.pieces[0] == kept and found.end.error is stopped.value
    before = len(done)
    require_right(tmp_path)
    assert len(done) - before == len(files_of(tmp_path)) - kept


def test_ctrl_c_while_regions_are_put_together(
    tmp_path: Path, done: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    arrays_of = jobs._Job.arrays_of

    def interrupted(job: Any, result: Any) -> Any:
        read.append(result.index)
        if len(read) == 3:
            raise KeyboardInterrupt
        return arrays_of(job, result)

    monkeypatch.setattr(jobs._Job, "arrays_of", interrupted)
    with pytest.raises(KeyboardInterrupt) as stopped:
        regions.enumerate(NETWORK, SQUARE, checkpoint=tmp_path)
    assert read == [0, 1, 2] and stopped.value.partial is None
    assert stopped.value.found.regions == len(WHOLE)


def test_each_part_is_released_before_the_next_is_read(
    tmp_path: Path, done: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    alive: list[Any] = []
    arrays_of = jobs._Job.arrays_of

    def watched(job: Any, result: Any) -> Any:
        assert not [array for array in alive if array() is not None]
        arrays = arrays_of(job, result)
        alive.extend(weakref.ref(array) for array in arrays.values())
        return arrays

    monkeypatch.setattr(jobs._Job, "arrays_of", watched)
    require_right(tmp_path)
    assert len(alive) > 100


def test_an_earlier_layout_is_refused(tmp_path: Path, done: list[int]) -> None:
    require_right(tmp_path)
    path = files_of(tmp_path)[2]
    path.write_bytes(path.read_bytes().replace(b"relu-regions results 3", b"relu-regions results 2", 1))
    with pytest.raises(regions.errors.NotACheckpointError, match="was written by an earlier version, in a layout"):
        regions.enumerate(NETWORK, SQUARE, checkpoint=tmp_path)


def test_counts_share_the_folder(tmp_path: Path) -> None:
    assert regions.count(NETWORK, SQUARE, checkpoint=tmp_path) == len(WHOLE)
    require_right(tmp_path)
    assert regions.count(NETWORK, SQUARE, checkpoint=tmp_path) == len(WHOLE)


@pytest.mark.parametrize("domain", [regions.Segment([-1, -1], [1, 0.5]), regions.Line([0, 0], [1, 2])])
def test_segments_are_one_piece(tmp_path: Path, done: list[int], domain: regions.Domain) -> None:
    for _ in range(2):
        assert regions.enumerate(NETWORK, domain, checkpoint=tmp_path) == regions.enumerate(NETWORK, domain)
    assert done == [0] and len(files_of(tmp_path)) == 1


def test_every_flipped_bit_and_every_half(tmp_path: Path, done: list[int]) -> None:
    require_right(tmp_path)
    path = files_of(tmp_path)[2]
    for content in damaged(path.read_bytes()):
        done.clear()
        require_done_again(tmp_path, path, content, lambda: require_right(tmp_path))
        assert done == [2]


@pytest.mark.slow
class TestTheRightChecksum:
    """Files of other tasks, and files with impossible results."""

    def test_forged_facts(self, tmp_path: Path, done: list[int]) -> None:
        require_right(tmp_path)
        path = files_of(tmp_path)[2]
        _, text, arrays = path.read_bytes().split(b"\n", 2)
        head, facts = head_of(path), json.loads(text)

        def changed(*place: Any) -> bytes:
            *keys, last, value = place
            copy = json.loads(text)
            holder = copy
            for key in keys:
                holder = holder[key]
            holder[last] = value
            return with_digest(head, json.dumps(copy).encode() + b"\n" + arrays)

        another = files_of(tmp_path)[3]
        wrong = [
            json.dumps(head | {"results": [[2, *head_of(another)["results"][0][1:]]]}).encode()
            + b"\n"
            + another.read_bytes().split(b"\n", 1)[1]
        ]
        wrong += [with_digest(head, content) for content in (text, text + b"\n", text + b"\n" + arrays + b"\0")]
        wrong += [changed(name, value) for name in facts for value in (None, 99, "x" * 300, [], {}, True)]
        for part in ("stats", "sizes"):
            wrong += [changed(part, name, value) for name in facts[part] for value in (None, -1, 1.5, 2**70, True, "3")]
        wrong += [changed("sizes", name, number + 1) for name, number in facts["sizes"].items()]
        wrong += [changed("sizes", name, 2**62) for name in facts["sizes"]]
        wrong += [changed("kernel", "a\nb"), changed("more", 1), changed("stats", "more", 1)]
        lines = (b"", b"[" * 100_000, b"{}", b"null", b"\xff")
        wrong += [with_digest(head, line + b"\n" + arrays) for line in lines]
        for content in wrong:
            done.clear()
            require_done_again(tmp_path, path, content, lambda: require_right(tmp_path))
            assert done == [2], content[:500]

    def test_forged_arrays(self, tmp_path: Path, done: list[int]) -> None:
        """One number of an array is replaced. A vertex may be moved, but all references must be valid."""
        require_right(tmp_path)
        path = files_of(tmp_path)[2]
        _, text, data = path.read_bytes().split(b"\n", 2)
        head, there = head_of(path), set(tmp_path.iterdir())
        start, rng, refused = 0, np.random.default_rng(0), 0
        for kind, shape in checkpoints.shapes(NETWORK, SQUARE, json.loads(text)["sizes"]).values():
            end = start + int(np.prod(shape)) * np.dtype(kind).itemsize
            array = np.frombuffer(data[start:end], kind)
            others = {np.float64: (np.nan, np.inf, -1.0), np.uint8: (0, 1, 255)}
            for value in others.get(kind, (-1, 0, 1, 5, len(array), 2**40, -(2**63), 2**63 - 1)):
                forged = array.copy()
                forged[rng.integers(len(array))] = value
                content = text + b"\n" + data[:start] + forged.tobytes() + data[end:]
                path.write_bytes(with_digest(head, content))
                for new in set(tmp_path.iterdir()) - there:
                    new.unlink()
                done.clear()
                try:
                    found = regions.enumerate(NETWORK, SQUARE, checkpoint=tmp_path)
                except ValueError as error:
                    assert "do not fit together" in str(error) and done == []
                else:
                    assert found == WHOLE or done == []
                    assert first_problem(NETWORK, SQUARE, raw_arrays(found), complete=True) is None
                refused += done == [2]
            start = end
        assert start == len(data) and refused > 30


SCRIPT = """
import sys
import numpy as np
import regions
rng = np.random.default_rng(0)
pairs = ((2, 64), (64, 64), (64, 1))
network = regions.Network([(rng.standard_normal((n, m)) / m, rng.standard_normal(n) / 3) for m, n in pairs])
square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
checkpoint = sys.argv[1] if len(sys.argv) > 1 else None
found = regions.enumerate(network, square, checkpoint=checkpoint, progress=lambda *at: print(at, flush=True), workers=2)
print("bytes", *[getattr(found, name).tobytes().hex() for name in regions.results.partition.ARRAYS], flush=True)
"""


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path) -> None:
    require_to_go_on(SCRIPT, tmp_path)
