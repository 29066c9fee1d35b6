# SPDX-License-Identifier: MIT
"""Are the verdicts on properties 1 to 4 of ACAS Xu the published ones, and how long do they take?

    python bench/acas_xu.py FOLDER RESULTS --properties 1,3,4

decides each property on all 45 networks, with a witness in fractions, and prints the processor time beside the verdict
and the time of another tool. FOLDER has ``ACASXU_run2a_1_1_batch_2000.onnx`` and so on, and
``prop_1.vnnlib`` and so on, as in stanleybak/nnenum, examples/acasxu/data. RESULTS is a ``results.csv`` of
ChristopherBrix/vnncomp2022_results, such as nnenum/results.csv: tables without header of benchmark, network, property,
seconds to prepare, verdict ("sat" is violated), and seconds. The exit code is 1 if a verdict differs.
Cost: seconds for each property. ``--share`` also measures the unsafe share of the box, which takes many minutes for
property 2, where large shares are unsafe.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import time
from pathlib import Path

import regions

NETWORKS = [f"{a}_{b}" for a in range(1, 6) for b in range(1, 10)]
INSTANCE = re.compile(r"ACASXU_run2a_(\d_\d)_batch_2000\.onnx.*prop_(\d+)\.vnnlib")
WORDS = {"sat": "violated", "unsat": "holds"}


def published(file: Path) -> dict[tuple[str, str], tuple[str, float]]:
    """Return the verdict and the seconds of each network and property."""
    found = {}
    with file.open(newline="") as stream:
        for row in csv.reader(stream):
            match = INSTANCE.search(" ".join(row[1:3]))
            if match:
                found[match[1], match[2]] = WORDS.get(row[4], row[4]), float(row[5])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--properties", default="1,2,3,4")
    parser.add_argument("--share", action="store_true")
    options = parser.parse_args()
    known, differing = published(options.results), 0
    for number in options.properties.split(","):
        wanted = regions.load_property(options.folder / f"prop_{number}.vnnlib")
        total, theirs, violated = 0.0, 0.0, 0
        for name in NETWORKS:
            network = regions.load(options.folder / f"ACASXU_run2a_{name}_batch_2000.onnx")
            start = time.process_time()
            found = regions.verify_property(network, wanted)
            share = f", share {found.violated_shares[0]:.6g}" if options.share else ""
            seconds = time.process_time() - start
            verdict, (other, other_seconds) = "holds" if found.holds else "violated", known[name, number]
            differing += verdict != other
            total, theirs, violated = total + seconds, theirs + other_seconds, violated + (not found.holds)
            ours, other_time = f"{verdict}, {seconds:.2f} s{share}", f"{other}, {other_seconds:.2f} s"
            print(f"property {number}, network {name}: {ours}; published: {other_time}", flush=True)
        print(f"property {number}: {violated} of 45 violated, {total:.1f} s; published: {theirs:.1f} s", flush=True)
    print("all verdicts are the published ones" if not differing else f"{differing} verdicts differ")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
