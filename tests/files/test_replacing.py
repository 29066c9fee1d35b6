# SPDX-License-Identifier: MIT
"""What is left when saving is killed, and what is on the disk when it is done?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import regions
from regions.files import replacing as replacing_module
from regions.files.replacing import replacing

WRITER = """
import sys, time
from pathlib import Path
from regions.files.replacing import replacing

with replacing(Path(sys.argv[1])) as beside:
    beside.write_text("half of it")
    print("writing", flush=True)
    time.sleep(600)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_a_killed_writer_leaves_is_removed_by_the_next_one(tmp_path: Path) -> None:
    target = tmp_path / "out.npz"
    target.write_text("old")
    folder = Path(regions.__file__).parent.parent  # of the copy that is tested: `-c` imports from where it stands
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE, text=True, cwd=folder
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "writing\n"
    with replacing(tmp_path / "other") as beside:  # while the writer lives, its file is left alone
        beside.write_text("another")
    assert len(names(tmp_path)) == 3
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    assert len(names(tmp_path)) == 3 and target.read_text() == "old"
    with replacing(tmp_path / "other") as beside:
        beside.write_text("new")
    assert names(tmp_path) == ["other", "out.npz"] and target.read_text() == "old"


def test_only_files_of_our_own_are_removed(tmp_path: Path) -> None:
    others = [".relu-regions-notes", "x.relu-regions-a.partial", ".out.npz.partial"]
    for name in others:
        (tmp_path / name).write_text("mine")
    (tmp_path / "aim").write_text("mine")
    (tmp_path / ".relu-regions-link.partial").symlink_to(tmp_path / "aim")
    with replacing(tmp_path / "out") as beside:
        beside.write_text("new")
    assert names(tmp_path) == sorted([*others, "aim", "out", ".relu-regions-link.partial"])


def test_a_file_that_is_taken_away_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, taken = replacing_module.fcntl.flock, []

    def late(handle: int, operation: int) -> None:
        if not taken:
            taken.extend(tmp_path.glob(".relu-regions-*"))
            taken[0].unlink()
        lock(handle, operation)

    monkeypatch.setattr(replacing_module.fcntl, "flock", late)
    with replacing(tmp_path / "out") as beside:
        assert beside != taken[0]
        beside.write_text("new")
    assert names(tmp_path) == ["out"]


def test_the_file_is_synced_before_it_takes_its_place_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, int, bool]] = []
    fsync = os.fsync

    def recorded(handle: int) -> None:
        status = os.fstat(handle)
        kind = "folder" if status.st_ino == tmp_path.stat().st_ino else "file"
        synced.append((kind, status.st_size if kind == "file" else 0, (tmp_path / "out").exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", recorded)
    with replacing(tmp_path / "out") as beside:
        beside.write_text("all of it")
    assert synced == [("file", 9, False), ("folder", 0, True)]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("old")
    with pytest.raises(RuntimeError), replacing(tmp_path / "out") as beside:
        beside.write_text("half")
        raise RuntimeError
    assert names(tmp_path) == ["out"] and (tmp_path / "out").read_text() == "old"
