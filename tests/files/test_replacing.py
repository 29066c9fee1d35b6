# SPDX-License-Identifier: MIT
"""What is left when saving is killed, and what is on the disk when it is done?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
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


def test_files_of_a_killed_writer_are_removed_by_the_next_one(tmp_path: Path) -> None:
    target = tmp_path / "out.npz"
    target.write_text("old")
    folder = Path(regions.__file__).parent.parent  # for the tested copy: `-c` imports from the current folder
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


class TestASharedFolder:
    """Other users can neither stop a writer nor lead it elsewhere."""

    def test_a_pipe_among_temporary_files(self, tmp_path: Path) -> None:
        pipe = tmp_path / ".relu-regions-x.partial"
        os.mkfifo(pipe)  # opening it would wait for its other end
        with replacing(tmp_path / "out") as beside:
            beside.write_text("new")
        assert names(tmp_path) == [pipe.name, "out"]

    def test_temporary_files_of_another_user(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The other user's file stays, with its permissions, and its permissions are not copied."""
        left, target, another = tmp_path / ".relu-regions-x.partial", tmp_path / "out", os.geteuid() + 1
        for path in (left, target):
            path.write_text("another's")
            path.chmod(0o666)
        monkeypatch.setattr(os, "geteuid", lambda: another)
        with replacing(target) as beside:
            beside.write_text("new")
        assert names(tmp_path) == [left.name, "out"] and target.stat().st_mode & 0o022 == 0

    @pytest.mark.parametrize("aim", ["precious", "nothing", "out"])
    def test_links_are_replaced(self, tmp_path: Path, aim: str) -> None:
        precious, target = tmp_path / "precious", tmp_path / "out"
        precious.write_text("precious")
        target.symlink_to(aim)
        with replacing(target) as beside:
            beside.write_text("new")
        assert target.read_text() == "new" and not target.is_symlink()
        assert names(tmp_path) == ["out", "precious"] and precious.read_text() == "precious"

    @pytest.mark.parametrize("linked", [False, True])
    def test_a_pipe_of_another_user(self, tmp_path: Path, linked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        another = os.geteuid() + 1
        os.mkfifo(tmp_path / "pipe")
        target = tmp_path / "out" if linked else tmp_path / "pipe"
        if linked:
            target.symlink_to("pipe")
        reader = threading.Thread(target=lambda: read.append(target.read_bytes()))
        read: list[bytes] = []
        reader.start()
        with replacing(target) as aside:
            aside.write_bytes(b"content")
        reader.join()
        assert read == [b"content"] and names(tmp_path) == sorted({"pipe", target.name})
        monkeypatch.setattr(replacing_module, "ROOT", -1)
        monkeypatch.setattr(os, "geteuid", lambda: another)
        with pytest.raises(PermissionError, match="another user put a pipe"), replacing(target):
            pass

    def test_a_device_may_refuse_the_content(self) -> None:
        with pytest.raises(OSError, match="No space left") as error, replacing(Path("/dev/full")) as aside:
            aside.write_bytes(b"content")
        assert error.value.filename == "/dev/full"

    def test_names_cannot_be_guessed_and_the_file_is_new(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Even a user who guesses the name does not lead the writer elsewhere."""
        with replacing(tmp_path / "one") as one, replacing(tmp_path / "two") as two:
            assert one != two and all(len(path.name) >= 32 for path in (one, two))
            one.touch()
            two.touch()
        monkeypatch.setattr(replacing_module.secrets, "token_hex", lambda size: "guessed")
        (tmp_path / ".relu-regions-guessed.partial").symlink_to(tmp_path / "precious")
        with pytest.raises(FileExistsError), replacing(tmp_path / "out"):
            pass
        assert not (tmp_path / "precious").exists()


@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o000, 0o666)])
def test_permissions_are_those_of_a_new_file(
    tmp_path: Path, mask: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The umask is not touched meanwhile: other threads make files too."""
    before = os.umask(mask)
    try:
        monkeypatch.setattr(os, "umask", None)
        with replacing(tmp_path / "out") as beside:
            beside.write_text("new")
        monkeypatch.undo()
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == expected


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444])
def test_permissions_of_a_file_that_is_replaced_stay(tmp_path: Path, mode: int) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    target.chmod(mode)
    with replacing(target) as beside:
        assert beside.stat().st_mode & 0o777 & ~(mode | 0o600) == 0  # more users must never be able to read it
        beside.write_text("new")
    assert target.read_text() == "new" and target.stat().st_mode & 0o777 == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_two_users_in_one_folder(tmp_path: Path) -> None:
    """As in /tmp: all users may make files there, and remove only their own."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    for parent in (tmp_path, *tmp_path.parents):  # with pytest-xdist there is one more of pytest's
        if "pytest-" in str(parent):
            parent.chmod(0o755)
    target, precious, mine = folder / "out", folder / "precious", folder / ".relu-regions-mine.partial"
    precious.write_text("precious")
    mine.write_text("mine")

    def other_user(*lines: str) -> int:
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                exec("\n".join(lines), globals() | {"target": target, "folder": folder, "precious": precious})
                os._exit(0)
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
                os._exit(1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    hostile = ["os.mkfifo(folder / '.relu-regions-x.partial')", "target.symlink_to(precious)"]
    hostile += ["(folder / '.relu-regions-y.partial').symlink_to(precious)"]
    assert other_user(*hostile) == 0
    write = ["with replacing(folder / 'theirs') as beside:", "    beside.write_text('theirs')"]
    assert other_user(*write) == 0
    assert mine.exists() and (folder / "theirs").read_text() == "theirs"
    with replacing(target) as beside:
        beside.write_text("new")
    assert target.read_text() == "new" and not target.is_symlink() and precious.read_text() == "precious"
    assert not mine.exists()  # it has no writer, and its owner saves a file
