# SPDX-License-Identifier: MIT
"""How many instructions does the core take for a region?

    python bench/instructions.py [WORKLOAD ...] [--json FILE]

Counts and enumerates each workload once under valgrind, on one thread. Takes minutes; needs valgrind, and on a machine
with AVX-512 a core that was compiled with REGIONS_KERNELS=avx2 or =all. The numbers of two runs differ by less than a
thousandth, so they show changes of one percent on any machine.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from callgrind import instructions
from run import describe_commit

WORKLOADS = [
    "p2_32x3",
    "p2_64x3",
    "p2_128x3",
    "p784_64x3",
    "p2_64x20",
    "zero_bias",
    "ternary",
    "pruned_256x4",
    "plane_128x3",
    "c3_64x2",
]
WORK = {
    "count": ["regions::count_regions(*"],
    "enumerate": [
        "regions::enumerate_regions(*",
        "regions::assemble(*",
        "regions::place_regions(*",
        "regions::enumerate_in_polytope(*",
        "regions::FaceComplex::write(*",
    ],
}

# Run under valgrind: WORKLOAD and what to do. Nothing is reported meanwhile, because reports depend on the clock.
PROGRAM = """
import sys
import measure, regions, workloads
from regions.counting import run
run._watched = lambda *_: None
workload = workloads.WORKLOADS[sys.argv[1]]
network = regions.Network(workloads.build_layers(workload))
domain = measure.build_domain(workload)
found = getattr(regions, sys.argv[2])(network, domain)
print(found if sys.argv[2] == "count" else len(found))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"these; else {', '.join(WORKLOADS)}")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the numbers to FILE")
    options = parser.parse_args()
    cases = []
    for workload in options.workloads or WORKLOADS:
        for work, inside in WORK.items():
            total, output = instructions(PROGRAM, workload, work, inside=inside)
            cases.append({"name": f"{work}/{workload}", "regions": int(output), "instructions": total})
            print(
                f"{work + '/' + workload:24} {int(output):9,} regions  {total / int(output):9,.0f} a region", flush=True
            )
    if options.json:
        options.json.write_text(
            json.dumps({"commit": describe_commit(), "date": time.strftime("%Y-%m-%d"), "cases": cases}, indent=1)
            + "\n"
        )


if __name__ == "__main__":
    main()
