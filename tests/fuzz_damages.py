# SPDX-License-Identifier: MIT
"""Do `certify` and the standalone checker reject each of many damaged results?

``python tests/fuzz_damages.py --cases 2000 --seed 0`` damages results of small generic networks in all ways of
`damage_judge.KINDS`, one after the other, and prints each verdict that an exact comparison contradicts.
With ``--large`` the results have about a thousand regions, or ten layers, so that `certify` needs values at vertices.
With ``--boxes`` results in boxes of three and four dimensions are damaged, and only `certify` is asked.
Cost: 0.2 s a case, and some seconds for large ones.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import damage_judge  # noqa: E402
import damages_in_boxes  # noqa: E402
from regions import check_certificate  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--large", action="store_true", help="results with a thousand regions, or of ten layers")
    parser.add_argument("--boxes", action="store_true", help="results in boxes")
    given = parser.parse_args()
    start, found, counts = time.monotonic(), 0, Counter[str]()
    checker, kinds = check_certificate, sorted(damages_in_boxes.DAMAGES if given.boxes else damage_judge.KINDS)
    with tempfile.TemporaryDirectory() as folder:
        number = -1
        while counts["wrong"] + counts["right"] < given.cases:
            number += 1
            name, seed = kinds[number % len(kinds)], given.seed + number // len(kinds)
            if given.boxes:
                verdict, said = damages_in_boxes.finding(name, seed)
            else:
                verdict, said = damage_judge.finding(name, seed, checker, Path(folder), given.large)
            counts[verdict] += 1
            if said:
                print(f"{name} {seed}, {verdict}: {said}", flush=True)
                found += 1
            if number % 100 == 0:
                print(f"{number} drawn in {time.monotonic() - start:.0f} s: {dict(counts)}", flush=True)
    print(f"{len(kinds)} kinds, {dict(counts)}, {found} findings")
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
