# SPDX-License-Identifier: MIT
"""Does `certify` reject each of many results that are wrong by construction, and accept the right ones?

``python tests/fuzz_sure_damages.py --cases 5000 --seed 0`` damages results of all families, in one to five dimensions,
in the ways of `sure_damages.DAMAGES`, and prints each that is accepted, and each right result that is not.
Cost: 0.1 s a case.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import sure_damages  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    start, found, counts, seed = time.monotonic(), 0, Counter[str](), given.seed
    while sum(counts.values()) - counts[""] < given.cases:
        try:
            name, said = sure_damages.finding(seed)
        except Exception:
            name, said = "raised", traceback.format_exc()
        counts[name] += 1
        if said:
            print(f"seed {seed}, {name}: {said}", flush=True)
            found += 1
        seed += 1
        if seed % 500 == 0:
            print(f"seed {seed} in {time.monotonic() - start:.0f} s", flush=True)
    print(f"{dict(sorted(counts.items()))}, {found} findings, seeds {given.seed} to {seed - 1}")
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
