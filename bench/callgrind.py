# SPDX-License-Identifier: MIT
"""How many instructions does the core take for a call?

Valgrind counts the instructions of one process, which do not depend on what else the machine does. It has no AVX-512,
so the AVX2 kernel is measured. If the core was compiled for AVX-512 alone, its import fails.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def instructions(program: str, *arguments: str, inside: Sequence[str]) -> tuple[int, str]:
    """Run a Python program in this folder; return its instructions inside these functions of the core, and its output.

    Parameters
    ----------
    program : str
        Its text.
    *arguments : str
    inside : sequence of str
        Patterns for names of functions, as callgrind's ``--toggle-collect`` takes them. None may call another one.
    """
    with tempfile.NamedTemporaryFile() as profile:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", *(f"--toggle-collect={pattern}" for pattern in inside)]
            + [f"--callgrind-out-file={profile.name}", sys.executable, "-c", program, *arguments],
            cwd=Path(__file__).resolve().parent,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
            text=True,
        )
        total = re.search(r"^(?:summary|totals): (\d+)", Path(profile.name).read_text(), re.MULTILINE)
    assert total is not None, "callgrind's output has changed"
    return int(total[1]), done.stdout
