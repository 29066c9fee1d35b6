# SPDX-License-Identifier: MIT
"""What does it cost to prove every sign?

    python bench/certified_cost.py

Compiles the core twice, as it is and with the exact stage unreachable (the compiler then removes its code), and counts
the instructions for counting the regions of the generic workloads with each. Instructions are used instead of seconds
because they do not depend on other processes. Prints, for each workload, both numbers, their ratio (goal: at most 1.3)
and the fraction of signs that needed the exact stage; exits with 1 if a goal is missed. Needs a C++ compiler and
valgrind.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from callgrind import ROOT, instructions

GOAL = 1.3
COUNTING = ["regions::count_regions(*"]
WORKLOADS = ["p2_32x3", "p784_64x3"]

# Run under valgrind, from this folder: WORKLOAD, and the path of the compiled core.
COUNT = """
import importlib.util, json, sys
specification = importlib.util.spec_from_file_location("regions._core", sys.argv[2])
core = importlib.util.module_from_spec(specification)
specification.loader.exec_module(core)
sys.modules["regions._core"] = core
import regions, workloads
workload = workloads.WORKLOADS[sys.argv[1]]
network, domain = regions.Network(workloads.build_layers(workload)), workloads.build_polygon(workload)
n_regions, certificate = regions.certified_count(network, domain)
print(json.dumps([n_regions, certificate.filter, certificate.exact]))
"""


def compile_core(folder: Path, flags: str) -> Path:
    """Return the extension of this tree, built with additional flags, in a separate folder."""
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", folder / "lib", "--build-temp", folder / "temp"],
        cwd=ROOT,
        env={**os.environ, "CFLAGS": flags, "CXXFLAGS": flags, "REGIONS_KERNELS": "avx2"},  # one or the other
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return next((folder / "lib").rglob("_core*"))


def main() -> int:
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        certified = compile_core(Path(folder) / "certified", "")
        trusting = compile_core(Path(folder) / "trusting", "-DREGIONS_EXACT_UNREACHABLE")
        for workload in WORKLOADS:
            (with_proof, counted), (without, same) = (
                instructions(COUNT, workload, str(core), inside=COUNTING) for core in (certified, trusting)
            )
            if counted != same:
                raise SystemExit(f"{workload}: the two builds disagree, {counted} and {same}")
            n_regions, by_filter, exact = json.loads(counted)
            ratio = with_proof / without
            missed = missed or ratio > GOAL
            print(
                f"{workload:12} {n_regions:9,} regions  {with_proof:14,} instructions  {without:14,} without the exact "
                f"stage  ratio {ratio:.4f}  signs decided exactly: {exact / (by_filter + exact):.2%}",
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
