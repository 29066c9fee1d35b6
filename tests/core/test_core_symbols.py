# SPDX-License-Identifier: MIT
"""Does every processor only get instructions that it supports?

The core holds its recursion once for each generation of processors that it was compiled for (three with
REGIONS_KERNELS=all), and the best one is chosen when it runs. All other code is compiled for any processor. But the
linker keeps one copy of each inline function, from any file that has it: if that copy had wide vectors, other machines
would crash. The compiled core is therefore disassembled. A function outside the namespaces of the kernels, or in that
of the baseline, must have no instruction of AVX, and one of the AVX2 kernel none of AVX-512.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections import defaultdict

import pytest

from regions import _core

# Mnemonics of AVX begin with a v, and those without it do not, except for four that no compiler uses.
AVX = re.compile(r"\tv[a-z0-9]+ ")
AVX512 = re.compile(r"%zmm|%[xyz]mm(1[6-9]|2\d|3[01])|%k[0-7]|\{1to")


def instructions() -> dict[str, list[str]]:
    """Return for each function its demangled name and its lines."""
    command = ["objdump", "--disassemble", "--no-show-raw-insn", "--demangle", "--section=.text", _core.__file__]
    functions: dict[str, list[str]] = defaultdict(list)
    name = ""
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        if line.endswith(">:"):
            name = line.split(" <", 1)[1][:-2]
        else:
            functions[name].append(line + " ")
    return functions


if sys.platform == "linux" and platform.machine() == "x86_64" and shutil.which("objdump"):

    @pytest.mark.slow
    def test_no_function_for_all_processors_holds_instructions_of_some() -> None:
        misplaced = []
        seen: dict[str, int] = defaultdict(int)
        for name, lines in instructions().items():
            kernel = next((kernel for kernel in ("avx512", "avx2") if f"regions::{kernel}::" in name), "baseline")
            forbidden = {"avx512": None, "avx2": AVX512, "baseline": AVX}[kernel]
            seen[kernel] += sum(map(bool, map((AVX512 if kernel == "avx512" else AVX).search, lines)))
            misplaced += [f"{name}: {line.strip()}" for line in lines if forbidden and forbidden.search(line)][:1]
        assert misplaced == []
        # A core without symbols would show nothing.
        every = os.environ.get("REGIONS_KERNELS") == "all"
        for kernel in ("avx512", "avx2") if every else {_core.kernel()} - {"baseline"}:
            assert seen[kernel] > 100
