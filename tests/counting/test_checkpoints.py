# SPDX-License-Identifier: MIT
"""Does a job resume after any end, and does it ignore files of other jobs?"""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from killed_jobs import (
    damaged,
    ended_half_way,
    files_of,
    head_of,
    noted_attempts,
    require_done_again,
    require_to_go_on,
    with_digest,
)
from random_networks import random_network
from regions.counting import job as jobs
from regions.domains import Segment

NETWORK = random_network([2, 8, 8, 1], 1, bias=0.1, he=True)
LINES = [Segment([-1, k], [1, 0.3 * k]) for k in range(1, 8)]
NUMBERS, CERTIFICATES = regions.certified_count(NETWORK, LINES)


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the tasks that were run, and not read from a folder; each has its own file."""
    return noted_attempts(monkeypatch, 40)


def require_right(folder: Path, **options: Any) -> None:
    numbers, certificates = regions.certified_count(NETWORK, LINES, checkpoint=folder, **options)
    assert numbers.tobytes() == NUMBERS.tobytes()
    assert [each.as_dict() for each in certificates] == [each.as_dict() for each in CERTIFICATES]


@pytest.mark.parametrize("workers", [1, 3])
def test_finished_tasks_are_not_run_again(tmp_path: Path, done: list[int], workers: int) -> None:
    folder = tmp_path / "new"
    require_right(folder, workers=workers)
    assert sorted(done) == list(range(7)) and len(files_of(folder)) == 7
    done.clear()
    require_right(folder, workers=workers)
    assert done == []
    files_of(folder)[4].unlink()
    require_right(folder, workers=workers)
    assert done == [4]


def test_tasks_finished_before_an_error_are_saved(tmp_path: Path, done: list[int]) -> None:
    limit = int(NUMBERS.max()) - 1
    for _ in range(2):
        with pytest.raises(regions.LimitReached) as stopped:
            regions.count(NETWORK, LINES, limit=limit, checkpoint=tmp_path)
        assert stopped.value.partial.tolist() == NUMBERS[: NUMBERS.argmax()].tolist()
    # The task that fails is tried again the second time; the tasks before it are read from the folder.
    assert done == [*range(int(NUMBERS.argmax()) + 1), int(NUMBERS.argmax())]
    done.clear()
    require_right(tmp_path)
    assert len(done) == 7  # without the limit it is another job


def test_ctrl_c_saves_finished_tasks(tmp_path: Path, done: list[int]) -> None:
    def stop(share: float, found: int) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        regions.count([NETWORK] * 40, LINES, checkpoint=tmp_path, progress=stop)
    before = len(done)
    kept = len(files_of(tmp_path))
    assert 0 < kept <= before < jobs.TASKS
    assert stopped.value.partial.tolist() == np.tile(NUMBERS, 40)[: len(stopped.value.partial)].tolist()
    done.clear()
    assert regions.count([NETWORK] * 40, LINES, checkpoint=tmp_path).tolist() == [NUMBERS.tolist()] * 40
    assert len(done) == jobs.TASKS - kept


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_progress_starts_at_the_saved_fraction(
    tmp_path: Path, patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "PATIENCE", patience)
    require_right(tmp_path)
    for path in files_of(tmp_path)[4:]:
        path.unlink()
    shares: list[float] = []
    regions.count(NETWORK, LINES, checkpoint=tmp_path, progress=lambda share, found: shares.append(share))
    # No progress is reported while files are read, so reading does not affect the estimated time left.
    reading = 0 if patience else 7
    assert shares[:reading] == [0] * reading and all(4 / 7 <= share <= 1 for share in shares[reading:])
    assert shares == sorted(shares)


def test_jobs_share_a_folder(tmp_path: Path, done: list[int]) -> None:
    require_right(tmp_path)
    other = random_network([2, 8, 8, 1], 2, bias=0.1, he=True)
    assert regions.count(other, LINES, checkpoint=tmp_path).tolist() == regions.count(other, LINES).tolist()
    assert regions.count(NETWORK, LINES[::-1], checkpoint=tmp_path).tolist() == NUMBERS[::-1].tolist()
    assert len(done) == 21
    require_right(tmp_path)
    assert len(done) == 21


def test_every_flipped_bit_and_every_half(tmp_path: Path, done: list[int]) -> None:
    require_right(tmp_path)
    path = files_of(tmp_path)[2]
    for text in damaged(path.read_bytes()):
        done.clear()
        require_done_again(tmp_path, path, text, lambda: require_right(tmp_path))
        assert done == [2]


def test_results_with_the_right_checksum_are_checked_too(tmp_path: Path, done: list[int]) -> None:
    """Files of other tasks, and files with impossible results."""
    require_right(tmp_path)
    path = files_of(tmp_path)[2]
    whole = path.read_bytes()
    head, (_, content) = head_of(path), whole.split(b"\n", 1)
    facts = json.loads(content)

    def changed(place: list[Any], value: Any) -> bytes:
        copy = json.loads(json.dumps(facts))
        holder = copy
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = value
        return with_digest(head, json.dumps(copy).encode() + b"\n")

    item = [0]
    wrong = [with_digest(head, files_of(tmp_path)[3].read_bytes().split(b"\n", 1)[1])]
    heads = [{**head, name: value} for name in head for value in (None, 99, "x", [], {})]
    entry = head["results"][0]
    for place, value in ((0, -1), (0, 99), (0, True), (0, 2.0), (1, -1), (1, 2**70), (1, 2**33), (2, "0" * 64), (2, 3)):
        heads.append({**head, "results": [[*entry[:place], value, *entry[place + 1 :]]]})
    heads += [{**head, "results": entries} for entries in ([entry[:2]], entry, [None], "x", {"0": entry})]
    wrong += [json.dumps(each).encode() + b"\n" + content for each in [*heads, {**head, "more": 1}]]
    wrong += [text + b"\n" + content for text in (b"", b"[" * 100_000, b"null", b"\xff", b"NaN")]
    wrong += [changed([*item, 0], value) for value in (-1, 2**70, 1.5, "3", True, None)]
    wrong += [changed([*item, 1, name], value) for name in facts[0][1] for value in (None, [], -1, 1.5)]
    wrong += [changed([*item, 1, "complete"], value) for value in (False, 1)]
    wrong += [changed([*item, 0], 10**6), changed([*item, 1, "regions"], 10**9), changed([*item, 1, "version"], "9.9")]
    wrong += [changed([*item, 1, name], "0" * 64) for name in ("network", "domain_fingerprint")]
    wrong += [changed([*item, 1, "kernel"], word) for word in ("x" * 300, "a\nb", "\x1b[31m")]
    wrong += [changed([*item, 1, "more"], 1), changed(item, [1]), changed(item, None)]
    parts = (
        b"",
        b"[" * 100_000,
        b"{}",
        b"null",
        b"\xff",
        b"NaN",
        content[:-1],
        content + b" ",
        b" " * 20_000 + content,
    )
    wrong += [with_digest(head, text) for text in parts]
    for text in wrong:
        done.clear()
        require_done_again(tmp_path, path, text, lambda: require_right(tmp_path))
        assert done == [2], text[:500]


def test_numbers_beyond_the_limit_are_refused(tmp_path: Path, done: list[int]) -> None:
    options: dict[str, Any] = {"limit": int(NUMBERS.max()), "checkpoint": tmp_path}
    assert regions.count(NETWORK, LINES, **options).tolist() == NUMBERS.tolist()
    path = files_of(tmp_path)[2]
    head, text, there = head_of(path), path.read_bytes().partition(b"\n")[2], set(tmp_path.iterdir())
    for number in (0, int(NUMBERS.max()) + 1):
        facts = json.loads(text)
        facts[0][0] = facts[0][1]["regions"] = number
        path.write_bytes(with_digest(head, json.dumps(facts).encode() + b"\n"))
        for new in set(tmp_path.iterdir()) - there:
            new.unlink()
        done.clear()
        assert regions.count(NETWORK, LINES, **options).tolist() == NUMBERS.tolist()
        assert done == [2]


@pytest.mark.parametrize("kind", ["link", "link to nothing", "link to itself", "pipe", "folder"])
def test_other_files_in_the_folder_are_ignored(tmp_path: Path, done: list[int], kind: str) -> None:
    """Such a file is skipped: neither opened, nor followed, nor written to."""
    require_right(tmp_path / "folder")
    path, other = files_of(tmp_path / "folder")[2], tmp_path / "precious"
    path.unlink()
    if kind == "link":
        other.write_text("precious")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(path if kind == "link to itself" else other)
    done.clear()
    require_right(tmp_path / "folder")
    assert done == [2] and other.exists() == (kind == "link")
    assert not other.exists() or other.read_text() == "precious"


def test_links_to_results_are_not_followed(tmp_path: Path, done: list[int]) -> None:
    require_right(tmp_path / "folder")
    path = files_of(tmp_path / "folder")[2]
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    done.clear()
    require_right(tmp_path / "folder")
    assert done == [2]


def test_a_file_of_holes(tmp_path: Path, done: list[int]) -> None:
    """The file takes no room on the disk, and would take gigabytes of memory."""
    require_right(tmp_path)
    path = files_of(tmp_path)[2]
    head = head_of(path)
    head["results"][0][1] = 1 << 32
    with path.open("wb") as file:
        file.write(json.dumps(head).encode() + b"\n")
        file.truncate(1 << 33)
    if path.stat().st_blocks * 512 > 1 << 20:
        pytest.fail("this file system has no holes: say so here")
    done.clear()
    tracemalloc.start()
    require_right(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert done == [2] and peak < 1 << 24


def test_an_earlier_layout_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_right(tmp_path)
    (path,), another = tmp_path.iterdir(), os.geteuid() + 1
    for name in ("-3.json", "-3.regions"):
        old = tmp_path / (path.name.partition("-")[0] + name)
        old.touch()
        with pytest.raises(regions.errors.NotACheckpointError, match="was written by an earlier version, in a layout"):
            regions.count(NETWORK, LINES, checkpoint=tmp_path)
        with monkeypatch.context() as patch:  # files of other users are skipped
            patch.setattr(os, "geteuid", lambda: another)
            require_right(tmp_path)
        old.unlink()


def test_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job of less than a second writes one file; a longer job writes finished results from time to time."""
    monkeypatch.setattr(jobs, "EVERY", 1e9)
    require_right(tmp_path)
    (path,) = tmp_path.iterdir()
    assert [index for index, *_ in head_of(path)["results"]] == list(range(7))
    moments = iter(range(100))
    monkeypatch.setattr(jobs, "EVERY", 2.5)
    monkeypatch.setattr(jobs, "monotonic", lambda: next(moments))
    regions.count(NETWORK, LINES, limit=10**6, checkpoint=tmp_path)
    path.unlink()
    assert 1 < len(files_of(tmp_path)) < 7


def test_the_folder_is_listed_once(tmp_path: Path, done: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is listed once more to clean up, because it may have many other files."""
    listed: list[object] = []
    scandir = os.scandir

    def counted(path: Any) -> Any:
        listed.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counted)
    monkeypatch.setattr(os, "listdir", None)
    require_right(tmp_path)
    assert len(done) == 7 and len(listed) == 2


def test_paths_that_are_not_folders(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError, match="cannot be a folder, because a file has its name"):
        regions.count(NETWORK, LINES, checkpoint=tmp_path / "file")
    with pytest.raises(FileNotFoundError, match="does not exist; make it first"):
        regions.count(NETWORK, LINES, checkpoint=tmp_path / "no" / "such")


SCRIPT = """
import sys
import numpy as np
import regions
rng = np.random.default_rng(0)
def network():
    pairs = ((2, 32), (32, 32), (32, 1))
    return regions.Network([(rng.standard_normal((n, m)) / 6, rng.standard_normal(n)) for m, n in pairs])
networks = [network() for _ in range(300)]
square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
reports = 0
def report(share, found):
    print(share, flush=True)
checkpoint = sys.argv[1] if len(sys.argv) > 1 else None
numbers = regions.count(networks, square, checkpoint=checkpoint, progress=report, workers=2)
print("numbers", numbers.tobytes().hex(), flush=True)
"""


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path) -> None:
    require_to_go_on(SCRIPT, tmp_path)


class TestOnePlane:
    """One plane is divided, and its sections are saved."""

    network = random_network([2, 24, 24, 1], 1, bias=0.1, he=True)
    square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])

    @pytest.mark.parametrize("workers", [1, 3])
    def test_a_stopped_job_resumes(
        self, tmp_path: Path, done: list[int], workers: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        number = regions.count(self.network, self.square)
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt) as stopped:
            report = ended_half_way(patch)
            regions.count(self.network, self.square, checkpoint=tmp_path, progress=report, workers=workers)
        kept = len(files_of(tmp_path))
        assert 0 < kept and 0 < stopped.value.partial < number
        done.clear()
        for _ in range(2):
            found, certificate = regions.certified_count(
                self.network, self.square, checkpoint=tmp_path, workers=workers
            )
            assert (found, certificate.regions, certificate.complete) == (number, number, True)
            assert len(done) == len(files_of(tmp_path)) - kept >= jobs.TASKS - kept

    @pytest.mark.slow
    def test_limits(self, tmp_path: Path) -> None:
        number = regions.count(self.network, self.square)
        for workers in (1, 3):
            for limit in (0, number // 2, number - 1):
                with pytest.raises(regions.LimitReached) as stopped:
                    regions.count(self.network, self.square, limit=limit, checkpoint=tmp_path, workers=workers)
                assert limit < stopped.value.partial <= number
            assert regions.count(self.network, self.square, limit=number, checkpoint=tmp_path) == number

    def test_a_forged_complete_flag_is_refused(self, tmp_path: Path, done: list[int]) -> None:
        number = regions.count(self.network, self.square, checkpoint=tmp_path)
        first = files_of(tmp_path)[0]
        whole = first.read_bytes()
        facts = json.loads(whole.partition(b"\n")[2])
        facts[0][1]["complete"] = True
        forged = with_digest(head_of(first), json.dumps(facts).encode() + b"\n")
        done.clear()

        def again() -> None:
            assert regions.count(self.network, self.square, checkpoint=tmp_path) == number

        require_done_again(tmp_path, first, forged, again)
        assert done == [0]
