# SPDX-License-Identifier: MIT
"""Is the sum of counts over all signs of the neurons the sum of cells over all gates, in many small networks?

``python tests/fuzz_sign_identities.py --networks 1000000 --seed 0`` draws chains, residual and dense networks and
maxout networks, in one to five dimensions, from degenerate and generic laws (`sign_identity.py`), and prints each case
in which the two integers differ. At the end it prints how many networks of each kind were counted, and where.
Cost: 2 ms a network.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import sign_identity  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    start, found, seed = time.process_time(), 0, given.seed
    kinds, domains, laws = Counter[str](), Counter[str](), Counter[str]()
    while kinds.total() < given.networks:
        case = sign_identity.case_of(seed)
        networks, said = sign_identity.difference(case)
        kinds[case.kind] += networks
        domains[f"{case.where} {case.n_in}"] += networks
        laws[case.law] += networks
        if said:
            print(f"{case}: {said}", flush=True)
            found += 1
        seed += 1
        if seed % 1000 == 0:
            print(f"seed {seed}, {kinds.total():,} networks in {time.process_time() - start:.0f} s", flush=True)
    for counts in (kinds, domains, laws):
        print(", ".join(f"{name}: {number:,}" for name, number in sorted(counts.items())))
    print(f"{seed - given.seed:,} identities, {kinds.total():,} networks, {found} differences")
    print(f"seeds {given.seed} to {seed - 1}")
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
