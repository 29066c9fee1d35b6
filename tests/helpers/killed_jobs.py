# SPDX-License-Identifier: MIT
"""Does a program that keeps its results in a folder go on where it was killed?"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import regions


def files_of(folder: Path) -> list[Path]:
    """What a job keeps, in the order of its tasks."""
    return sorted(folder.iterdir(), key=lambda path: int(path.stem.partition("-")[2]))


def require_to_go_on(script: str, folder: Path, suffix: str) -> None:
    """Kill it some times, after some report of the work; its last line is that of a run without the folder."""
    program = [sys.executable, "-c", script]
    options: dict[str, Any] = {"cwd": Path(regions.__file__).parent.parent, "text": True, "stdout": subprocess.PIPE}
    whole = subprocess.run(program, check=True, **options).stdout.splitlines()[-1]
    rng, kept = random.Random(0), 0
    for _ in range(4):
        with subprocess.Popen([*program, str(folder)], **options) as child:
            assert child.stdout is not None
            for _ in range(rng.randrange(1, 4)):
                child.stdout.readline()
            child.send_signal(signal.SIGKILL)
        now = len(list(folder.glob(f"*{suffix}")))
        assert now >= kept
        kept = now
    assert 0 < kept
    last = subprocess.run([*program, str(folder)], check=True, **options).stdout.splitlines()
    assert last[-1] == whole
    # What a killed process left half written is gone.
    assert {path.suffix for path in folder.iterdir()} == {suffix}
