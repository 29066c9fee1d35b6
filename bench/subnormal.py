# SPDX-License-Identifier: MIT
"""Does the core multiply subnormal numbers, which some processors do a hundred times slower than others?

    python bench/subnormal.py [WORKLOAD ...] [--time]

Prints how many products and quotients each call computes in the core that have a subnormal operand or result, for a
region. A processor with fast subnormal numbers counts the same. With --time it prints instead how much faster the
calls become if the processor takes subnormal numbers for zero. The exit code is 1 if a count is above 0.5, or a ratio
above 1.1. Needs gcc, Linux and x86-64.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
WORKLOADS = ["p2_32x3", "p2_64x3", "p784_64x3", "p2_64x20", "ternary", "int3", "c3_64x2"]
MOST_OPERATIONS, MOST_TIME = 0.5, 1.1

# Run with the library preloaded: WORKLOAD, and the path of the library if operations are counted.
PROGRAM = """
import ctypes, sys, time
import measure, regions, workloads
workload = workloads.WORKLOADS[sys.argv[1]]
network = regions.Network(workloads.build_layers(workload))
domain = measure.build_domain(workload)
part = regions.enumerate(network, domain)
layers = workloads.build_layers(workload)
rounded = regions.Network([(w.astype("f2"), b.astype("f2")) for w, b in layers])
first = regions.Network([*layers[:-1], (layers[-1][0][:1], layers[-1][1][:1])])
calls = {
    "count": lambda: regions.count(network, domain),
    "enumerate": lambda: regions.enumerate(network, domain),
}
if part.dimension == 2:
    calls |= {
        "extremes": lambda: regions.extremes(network, domain),
        "statistics": lambda: regions.statistics(network, domain),
        "level_set": lambda: regions.level_set(first, domain),
        "compare": lambda: regions.compare(network, rounded, domain),
        "certify": lambda: regions.certify(part, network),
    }
library = ctypes.CDLL(sys.argv[2]) if len(sys.argv) > 2 else None
for name, call in calls.items():
    if library:
        before = library.subnormal_operations()
        call()
        print(name, (library.subnormal_operations() - before) / len(part))
    else:
        times = []
        for _ in range(5):
            start = time.process_time()
            call()
            times.append(time.process_time() - start)
        print(name, min(times))
"""


def measured(workload: str, library: Path, mode: str | None) -> dict[str, float]:
    """Return seconds or operations for each call; ``mode`` is None for the processor as it is, "count" or "flush"."""
    given = {} if mode is None else {"LD_PRELOAD": str(library), "REGIONS_SUBNORMAL": mode}
    environment = {**os.environ, "PYTHONPATH": str(FOLDER.parent), "OPENBLAS_NUM_THREADS": "1", **given}
    words = [workload, str(library)] if mode == "count" else [workload]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], cwd=FOLDER, env=environment, check=True, capture_output=True, text=True
    )
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def compiled(folder: Path) -> Path:
    """Compile subnormal.c, and return the library."""
    library = folder / "subnormal.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", FOLDER / "subnormal.c", "-o", library], check=True)
    return library


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"these; else {', '.join(WORKLOADS)}")
    parser.add_argument("--time", action="store_true", help="how much faster it is if subnormal numbers are zero")
    options = parser.parse_args()
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(Path(folder))
        for workload in options.workloads or WORKLOADS:
            if options.time:
                plain, flushed = measured(workload, library, None), measured(workload, library, "flush")
                values = {name: seconds / flushed[name] for name, seconds in plain.items()}
            else:
                values = measured(workload, library, "count")
            worst = max(worst, *values.values())
            print(f"{workload:12}", "  ".join(f"{name} {value:.2f}" for name, value in values.items()), flush=True)
    sys.exit(worst > (MOST_TIME if options.time else MOST_OPERATIONS))


if __name__ == "__main__":
    main()
