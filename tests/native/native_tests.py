# SPDX-License-Identifier: MIT
"""Do the parts of the core pass their own tests, without Python around them?

    python tests/native/native_tests.py [--sanitize]

Compiles the .cpp files here with the parts of the core outside the kernels, and runs them; with --sanitize, assertions
and the address and undefined-behaviour sanitizers are on. The framework is doctest, as the system has it (Debian,
Ubuntu: `apt-get install doctest-dev`). Exits with the exit code of the tests. Cost: half a minute of one core.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
CORE = HERE.parent.parent / "csrc"
COMPILER = shlex.split(os.environ.get("CXX", "c++"))
# As in setup.py; the templates go into a separate namespace, like those of a kernel.
FLAGS = ["-std=c++17", "-O1", "-g0", "-ffp-contract=off", "-fno-fast-math", "-Wall", "-Wextra", "-Wno-psabi"]
FLAGS += ["-DREGIONS_TARGET=native", f"-I{CORE}"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


def has_framework() -> bool:
    """Return whether there is a compiler that finds doctest."""
    try:
        done = subprocess.run(
            [*COMPILER, "-E", "-x", "c++", "-"], input=b"#include <doctest/doctest.h>", capture_output=True
        )
    except OSError:
        return False
    return done.returncode == 0


def compile_and_run(folder: Path, *, sanitize: bool = False) -> int:
    """Compile the tests in this folder, run them, and return the exit code."""
    flags = [*FLAGS, *(["-g1", *SANITIZERS] if sanitize else ["-DNDEBUG"])]
    sources = [*sorted(HERE.glob("*.cpp")), *sorted((CORE / "exact").glob("*.cpp"))]
    sources += [
        CORE / "collect" / "assemble.cpp",
        CORE / "api" / "norms.cpp",
        CORE / "api" / "same_lines.cpp",
        CORE / "memory" / "blocks.cpp",
        CORE / "task" / "crew.cpp",
    ]

    def compiled(source: Path) -> Path:
        target = folder / f"{source.stem}.o"
        subprocess.run([*COMPILER, *flags, "-c", source, "-o", target], check=True)
        return target

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        objects = list(threads.map(compiled, sources))
    program = folder / "native_tests"
    subprocess.run([*COMPILER, *(SANITIZERS if sanitize else []), *objects, "-o", program], check=True)
    return subprocess.run([program]).returncode


if __name__ == "__main__":
    if not has_framework():
        sys.exit(
            "no compiler that finds doctest/doctest.h: install doctest (Debian, Ubuntu: apt-get install doctest-dev)"
        )
    with tempfile.TemporaryDirectory() as workshop:
        sys.exit(compile_and_run(Path(workshop), sanitize="--sanitize" in sys.argv[1:]))
