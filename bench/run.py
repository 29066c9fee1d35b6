# SPDX-License-Identifier: MIT
"""How fast is the package, how much memory does it take, and how far is that from the goals?

    python bench/run.py [PREFIX ...] [--rounds N] [--json FILE]

Each case prints one line, which README.md explains. Goals are ratios of two times measured in the same run on one
thread, if possible, because these hold on any machine. The exit code is 1 if a goal is missed, a count is wrong, or a
case fails. measure.py measures a case.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from convolutional import CONVOLUTIONAL
from workloads import WORKLOADS

FOLDER = Path(__file__).resolve().parent
BAR_DECIBELS = 12
# Linear algebra libraries read these when they are loaded, so they are set for the processes that measure.
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM")}


@dataclass(frozen=True)
class Case:
    """`name` is KIND/WORKLOAD, or KIND/SENSE/WORKLOAD; `goal` bounds the value that measure.py computes, in `unit`."""

    name: str
    goal: float | None = None

    @property
    def unit(self) -> str:
        return UNITS[self.name.partition("/")[0]]


UNITS = {
    "count": "x forward pass",
    "enumerate": "x count",
    "checkpoint": "x without a folder",
    "check": "x enumerate",
    "extremes": "x count",
    "all_extremes": "x one output",
    "wide": "x forward pass, a part",
    "certify": "x enumerate",
    "statistics": "x enumerate",
    "level_set": "x enumerate",
    "compare": "x count",
    "verify": "x count",
    "linear_regions": "x enumerate",
    "locate": "x enumerate",
    "plot": "x enumerate",
    "degenerate": "x generic",
    "depth": "x six layers, a layer",
    "width": "x p2_64x3, a region",
    "boxes": "x p2_64x3, a region",
    "orthogonal": "s for 300 regions",
    "small": "us",
    "evaluate": "x forward pass",
    "lines": "x layered breakpoints",
    "arcs": "x segments, a piece",
    "trajectory": "x sampled curve",
    "convolutional": "x torch's forward pass",
    "workers": "x one thread",
    "memory": "MB",
    "import": "s",
}

CASES = [
    Case("count/p2_16x2"),
    Case("count/p2_32x3"),
    Case("count/p2_64x3"),
    Case("count/p2_128x3", goal=0.15),
    Case("count/p2_256x4", goal=0.06),
    Case("count/p784_64x3"),
    Case("count/p784_256x3", goal=0.024),
    Case("count/digits"),
    Case("enumerate/p2_16x2"),
    Case("enumerate/p2_32x3", goal=2),
    Case("enumerate/p2_64x3", goal=2),
    Case("enumerate/p2_128x3", goal=2),
    Case("enumerate/p2_256x4", goal=2),
    Case("enumerate/p784_64x3", goal=2),
    Case("enumerate/p784_256x3", goal=2),
    Case("enumerate/digits", goal=2),
    Case("enumerate/p2_256x1", goal=4),
    Case("enumerate/twins", goal=2),
    Case("enumerate/lattice_16", goal=2.5),
    Case("enumerate/lattice_32", goal=2.5),
    Case("enumerate/c3_64x2", goal=4),
    Case("enumerate/c5_16x2", goal=9),
    Case("checkpoint/count/p2_256x4", goal=2),
    Case("checkpoint/enumerate/p2_256x4", goal=2),
    Case("check/p2_128x3", goal=8),
    Case("extremes/p2_64x3", goal=2),
    Case("extremes/p2_256x4", goal=2),
    Case("extremes/p784_256x3", goal=2),
    Case("extremes/c4_32x2", goal=1),
    Case("extremes/c5_16x2", goal=1),
    Case("extremes/c6_12x2", goal=1),
    Case("wide/extremes/p784_64x3"),
    Case("wide/margin/p784_64x3"),
    Case("all_extremes/p784_64x3", goal=4),
    Case("all_extremes/p784_256x3", goal=4),
    Case("statistics/p2_256x4", goal=3),
    Case("level_set/p2_256x4", goal=3),
    Case("level_set/p2_64x3", goal=5),
    Case("level_set/p784_64x3", goal=5),
    Case("certify/p2_64x3", goal=15),
    Case("certify/p2_128x3", goal=15),
    Case("certify/p784_256x3", goal=15),
    Case("compare/p2_128x3", goal=8),
    Case("compare/p784_64x3", goal=8),
    Case("compare/c4_16x2", goal=1),
    Case("verify/p2_256x4", goal=1),
    Case("verify/p784_256x3", goal=1),
    Case("locate/p2_256x4", goal=3),
    Case("plot/p2_128x3", goal=5),
    Case("linear_regions/pattern/twin_128x3", goal=4),
    Case("linear_regions/pattern/zero_bias", goal=4),
    Case("linear_regions/pattern/ternary", goal=4),
    Case("linear_regions/pattern/ternary_zero_bias", goal=4),
    Case("linear_regions/pattern/sparse", goal=4),
    Case("linear_regions/convex/p2_128x3", goal=4),
    Case("linear_regions/open/p2_128x3", goal=4),
    Case("linear_regions/open/ternary", goal=4),
    Case("linear_regions/open/digits", goal=4),
    Case("linear_regions/closed/p2_128x3", goal=4),
    Case("linear_regions/closed/ternary", goal=4),
    Case("linear_regions/closed/sparse", goal=4),
    Case("linear_regions/affine/p2_128x3", goal=4),
    Case("linear_regions/affine/p2_256x4", goal=4),
    Case("linear_regions/affine/zero_bias", goal=4),
    Case("degenerate/zero_bias", goal=3),
    Case("degenerate/ternary", goal=20),
    Case("degenerate/ternary_zero_bias", goal=20),
    Case("degenerate/sparse", goal=20),
    Case("degenerate/twins", goal=2),
    Case("degenerate/int3", goal=4),
    Case("depth/p2_32x20", goal=4),
    Case("depth/p2_32x40", goal=4),
    Case("depth/p2_64x20", goal=4),
    Case("depth/p2_64x25", goal=4),
    Case("depth/p2_64x40", goal=4),
    Case("depth/p2_32x60", goal=6),
    Case("depth/p2_64x60", goal=6),
    Case("width/p2_1024x3", goal=2.6),
    Case("width/p2_2048x3", goal=3.4),
    Case("width/plane_128x3", goal=1.5),
    Case("width/pruned_256x4", goal=4),
    Case("width/lattice_16", goal=150),
    Case("width/lattice_32", goal=350),
    Case("boxes/c3_64x2", goal=2),
    Case("boxes/c4_32x2", goal=2),
    Case("boxes/c5_16x2", goal=4),
    Case("orthogonal/orthogonal_3x200", goal=1),
    Case("small/network/p2_8x2", goal=20),
    Case("small/polygon/p2_4x1", goal=10),
    Case("small/count/p2_4x1", goal=10),
    Case("small/first/p2_8x2", goal=30),
    Case("small/enumerate/p2_4x1", goal=40),
    Case("small/networks/p2_4x1", goal=10),
    Case("small/segments/p2_4x1", goal=10),
    Case("evaluate/p2_64x3", goal=1.5),
    Case("evaluate/p2_256x4", goal=1.5),
    Case("evaluate/p784_64x3", goal=1.5),
    Case("lines/l2_64x3", goal=1),
    Case("lines/l2_64x8", goal=1),
    Case("lines/l2_64x10", goal=1),
    Case("lines/l2_64x20", goal=1.5),
    Case("lines/l2_128x40", goal=1.5),
    Case("lines/l2_128x60", goal=4),
    Case("lines/l2_256x3", goal=1),
    Case("lines/l2_256x10", goal=1),
    Case("lines/l2_1024x3", goal=1),
    Case("lines/l784_256x4", goal=1),
    Case("lines/l784_1024x4", goal=1),
    Case("lines/l784_512x18", goal=1.5),
    Case("lines/l784_784x20", goal=1.5),
    Case("arcs/l2_64x3", goal=1.5),
    Case("arcs/l2_64x8", goal=1.5),
    Case("arcs/l784_256x4", goal=1.5),
    Case("trajectory/l784_784x10", goal=1),
    Case("convolutional/lenet_segment", goal=0.25),
    Case("convolutional/lenet_square", goal=0.02),
    Case("convolutional/lenet_max_segment", goal=0.25),
    Case("convolutional/lenet_max_square", goal=0.02),
    Case("convolutional/vgg_segment", goal=0.15),
    Case("convolutional/vgg_square", goal=0.006),
    Case("convolutional/resnet20_segment", goal=0.8),
    Case("convolutional/resnet20_square", goal=0.015),
    Case("workers/count/p2_256x4", goal=0.54),
    Case("workers/enumerate/p2_256x4", goal=0.54),
    Case("workers/lines/l784_256x4", goal=0.54),
    Case("memory/p2_256x4", goal=300),
    Case("import", goal=0.5),
]


def measure(case: Case, rounds: int = 1) -> dict[str, Any]:
    """Return the median of several measurements of a case, with all values; {"error": ...} if one fails."""
    found = [measure_once(case) for _ in range(rounds)]
    failed = next((each for each in found if "error" in each), None)
    found.sort(key=lambda each: each.get("value", 0.0))
    return failed or found[rounds // 2] | {"values": [each["value"] for each in found]}


def measure_once(case: Case) -> dict[str, Any]:
    """Return a measurement of one case, made in a fresh process; {"error": ...} if that fails."""
    run = subprocess.run(
        [sys.executable, str(FOLDER / "measure.py"), case.name],
        env={**os.environ, **ONE_THREAD},
        capture_output=True,
        text=True,
    )
    if run.returncode:
        lines = run.stderr.strip().splitlines() or [f"exit code {run.returncode}"]
        return {"error": lines[-1]}
    return dict(json.loads(run.stdout))


def find_fault(case: Case, measured: dict[str, Any], expected_regions: int | None) -> str | None:
    if "error" in measured:
        return str(measured["error"])
    if expected_regions is not None and measured["regions"] not in (None, expected_regions):
        return f"{measured['regions']:,} regions, but there are {expected_regions:,}"
    if case.goal is not None and measured["value"] > case.goal:
        return "goal missed"
    return None


def draw_bar(value: float, goal: float) -> str:
    """[      <<<|         ] -3.1 dB"""
    decibels = 10 * math.log10(max(value, 1e-12) / goal)
    length = min(round(abs(decibels)), BAR_DECIBELS)
    better = ("<" * length if decibels < 0 else "").rjust(BAR_DECIBELS)
    worse = (">" * length if decibels > 0 else "").ljust(BAR_DECIBELS)
    return f"[{better}|{worse}] {decibels:+.1f} dB"


def describe(case: Case, measured: dict[str, Any]) -> str:
    """Return the line of a case, without its verdict."""
    if "error" in measured:
        return case.name
    columns = [f"{case.name:40}"]
    count, seconds, memory = measured["regions"], measured["seconds"], measured["memory"]
    columns.append(f"{count:>9,} regions" if count is not None else " " * 17)
    columns.append(f"{seconds * 1e3:>9.1f} ms")
    columns.append(f"{count / seconds / 1e6:>7.3f} M/s" if count is not None else " " * 11)
    columns.append(f"{memory / 1e6:>6.0f} MB" if memory is not None else " " * 9)
    value = f"{measured['value']:.3g} {case.unit}"
    if case.goal is not None:
        value = f"{value:27} goal {case.goal:<4g} {draw_bar(measured['value'], case.goal)}"
    columns.append(value)
    return "  ".join(columns)


def describe_machine() -> dict[str, str]:
    """Return the facts that the numbers depend on besides the code."""
    processor = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        processor = next((line.split(": ")[1] for line in lines if line.startswith("model name")), processor)
    python = f"Python {platform.python_version()}, numpy {np.__version__}"
    blas = [f"{pool['internal_api']} {pool['version']} {pool.get('architecture', '')}" for pool in threadpool_info()]
    return {
        "processor": f"{processor}, {os.cpu_count()} cores",
        "system": platform.platform(),
        "python": python,
        "blas": ", ".join(blas),
        "commit": describe_commit(),
        "date": time.strftime("%Y-%m-%d"),
        "load": f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "",
    }


def describe_commit() -> str:
    """Return the commit of this tree, with a + if files differ from it; empty outside a repository."""
    asked = ["git", "describe", "--always", "--abbrev=8", "--exclude=*", "--dirty=+"]
    done = subprocess.run(asked, cwd=FOLDER, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def select(prefixes: list[str]) -> Iterator[Case]:
    for case in CASES:
        if not prefixes or any(case.name.startswith(prefix) for prefix in prefixes):
            yield case


def main() -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("prefixes", nargs="*", metavar="PREFIX", help="only cases whose name starts like this")
    parser.add_argument(
        "--rounds", type=int, default=1, metavar="N", help="measure each case N times; the median counts"
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the measurements to FILE")
    arguments = parser.parse_args()
    cases = list(select(arguments.prefixes))
    if not cases:
        parser.error("no case starts like that; the cases are: " + ", ".join(case.name for case in CASES))

    machine = describe_machine()
    print(", ".join(filter(None, machine.values())))
    records, faults = [], 0
    for case in cases:
        measured = measure(case, arguments.rounds)
        workload = (WORKLOADS | CONVOLUTIONAL).get(case.name.rpartition("/")[2])
        fault = find_fault(case, measured, workload.n_regions if workload else None)
        faults += fault is not None
        print(describe(case, measured) + (f"  <-- {fault}" if fault else ""), flush=True)
        records.append({"name": case.name, "goal": case.goal, "unit": case.unit, **measured, "fault": fault})
    print(f"{len(cases)} cases, {faults} at fault")
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine, "cases": records}, indent=1) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
