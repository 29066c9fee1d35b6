# SPDX-License-Identifier: MIT
"""How do tests end a job that saves its results in a folder, and check that it resumes?

A program waits for a line after each piece that it saves, and the second half of a job in this process waits for the
report that ends it. They therefore end in the middle of their work on any machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import regions
from regions.counting import job as jobs
from regions.ground.threads.progress import Report

# The beginning of a program that will be killed.
PIECE_BY_PIECE = """
import sys
from regions.counting import job as jobs
from regions.counting.checkpoints import Folder
jobs.EVERY = 0.0  # seconds: each piece has its own file
keep = Folder.save
def keep_and_wait(folder, results):
    keep(folder, results)
    sys.stdout.write("kept\\n")  # at once, as other threads print, too
    sys.stdout.flush()
    sys.stdin.readline()
Folder.save = keep_and_wait
"""


def head_of(path: Path) -> dict[str, Any]:
    """Return the first line of a file."""
    head: dict[str, Any] = json.loads(path.read_bytes().partition(b"\n")[0])
    return head


def files_of(folder: Path) -> list[Path]:
    """Return the saved results of a job, in the order of its tasks."""
    return sorted(folder.iterdir(), key=lambda path: int(head_of(path)["results"][0][0]))


def with_digest(head: dict[str, Any], content: bytes) -> bytes:
    """Return a file of one result with any content; its checksum is right."""
    index = head["results"][0][0]
    digest = hashlib.sha256(f"{head['job']} {index}\n".encode() + content).hexdigest()
    entries = [[index, len(content), digest]]
    return json.dumps(head | {"results": entries}).encode() + b"\n" + content


def damaged(whole: bytes) -> Iterator[bytes]:
    """Yield the content of a file with flipped bits, cut off, and empty."""
    rng = random.Random(0)
    for _ in range(40):
        copy = bytearray(whole)
        copy[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        yield bytes(copy)
    yield from (whole[: rng.randrange(len(whole))] for _ in range(10))
    yield b""


def noted_attempts(monkeypatch: pytest.MonkeyPatch, tasks: int) -> list[int]:
    """Return a list that gets the index of each task that is run; each result has its own file."""
    monkeypatch.setattr(jobs, "EVERY", 0.0)
    monkeypatch.setattr(jobs, "TASKS", tasks)
    indices: list[int] = []
    attempt = jobs.attempt

    def noting(task: Any, *rest: Any) -> Any:
        indices.append(task.index)
        return attempt(task, *rest)

    monkeypatch.setattr(jobs, "attempt", noting)
    return indices


def require_done_again(folder: Path, path: Path, damaged: bytes, again: Callable[[], object]) -> None:
    """Check that results of a damaged file are computed again and written to a new file; restore the old file."""
    whole, before = path.read_bytes(), set(folder.iterdir())
    path.write_bytes(damaged)
    again()
    (new,) = set(folder.iterdir()) - before
    assert new.read_bytes() == whole
    new.unlink()
    path.write_bytes(whole)


def ended_half_way(monkeypatch: pytest.MonkeyPatch) -> Report:
    """Return a report that ends a job like Ctrl-C at progress 0.3; its second half is not begun before."""
    attempt, ended = jobs.attempt, threading.Event()

    def report(share: float, found: int) -> None:
        if share > 0.3:
            ended.set()
            raise KeyboardInterrupt

    def waiting(task: Any, *rest: Any, **options: Any) -> Any:
        if 2 * task.index >= task.total:
            assert ended.wait(300)  # in case no report comes
        return attempt(task, *rest, **options)

    monkeypatch.setattr(jobs, "attempt", waiting)
    return report


# The path where a program finds the tested package, and not another one in the current folder.
SITE = Path(regions.__file__).parent.parent


def ended_after(
    pieces: int, how: signal.Signals, waiting: bool, folder: Path, program: str, *words: str
) -> tuple[int, str]:
    """Return the exit code and standard error of a program that gets a signal after saving ``pieces`` pieces.

    It works in a folder. It gets the signal while it waits, or while it goes on. It gets none if it ends before.
    """
    with subprocess.Popen(
        [sys.executable, "-c", PIECE_BY_PIECE + program, *words],
        cwd=folder,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SITE)},
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        kept = (line for line in child.stdout if line.endswith("kept\n"))
        for piece in range(pieces):
            if not next(kept, None):
                break
            if not waiting or piece < pieces - 1:
                child.stdin.write("\n")
                child.stdin.flush()
        else:
            child.send_signal(how)
        _, err = child.communicate(timeout=300)  # in case it hangs
    return child.returncode, err


def require_to_go_on(program: str, folder: Path) -> None:
    """Kill a program several times, each time after some pieces; its last line equals the last line of a run without
    the folder.
    """
    words = [sys.executable, "-c", program]
    options: dict[str, Any] = {"cwd": SITE, "text": True, "stdout": subprocess.PIPE}
    whole = subprocess.run(words, check=True, **options).stdout.splitlines()[-1]
    rng, kept = random.Random(0), 0
    for waiting in (True, False, True, False):
        pieces = rng.randrange(1, 12)
        code, _ = ended_after(pieces, signal.SIGKILL, waiting, SITE, program, str(folder))
        now = len(list(folder.glob("*.results")))
        assert code == -signal.SIGKILL and now >= kept + pieces
        kept = now
    last = subprocess.run([*words, str(folder)], check=True, **options).stdout.splitlines()
    assert last[-1] == whole
    # The half-written file of a killed process is gone.
    assert {path.suffix for path in folder.iterdir()} == {".results"}
