# SPDX-License-Identifier: MIT
"""Do both ways to certify, values at vertices and integers, agree on many small results, right and damaged?

``python tests/fuzz_certificates.py --cases 10000 --seed 0`` draws networks of all families, generic, degenerate and
nearly degenerate, with max units, skips, and large and tiny numbers, and asks `certificates_judge.py`.
Cost: 50 ms a case, most of it in integers.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from itertools import count, product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import certificates_judge  # noqa: E402
from generators import FAMILIES, draw  # noqa: E402
from generators_clipped import CLIPPED_FAMILIES  # noqa: E402
from generators_coordinates import NEAR, draw_near  # noqa: E402
from generators_deep import DEEP_FAMILIES  # noqa: E402
from generators_graphs import GRAPH_FAMILIES  # noqa: E402
from generators_maxima import MAX_FAMILIES  # noqa: E402
from generators_nearly_degenerate import KINDS, nearly_degenerate  # noqa: E402
from regions.domains import Domain  # noqa: E402
from regions.networks.network import Network  # noqa: E402

ALL = sorted({*FAMILIES, *CLIPPED_FAMILIES, *DEEP_FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES})
# The family and the dimension of each case.
CASES = [*product(ALL, (1, 2)), *product(KINDS, (1, 2)), *product(NEAR, (2,))]


def drawn(family: str, dimension: int, seed: int) -> tuple[Network, Domain]:
    """Return the network and domain of a case."""
    if family in NEAR:
        return draw_near(family, seed)
    return (nearly_degenerate if family in KINDS else draw)(family, dimension, seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--damages", type=int, default=4)
    given = parser.parse_args()
    start, done, found, seeds = time.monotonic(), 0, 0, count(given.seed)
    while done < given.cases:
        seed = next(seeds)
        for family, dimension in CASES[: given.cases - done]:
            try:
                wrong = certificates_judge.finding(*drawn(family, dimension, seed), seed, given.damages)
            except Exception:
                wrong = traceback.format_exc()
            if wrong:
                print(f"{family} {dimension} {seed}: {wrong}", flush=True)
                found += 1
            done += 1
        print(f"{done} cases in {time.monotonic() - start:.0f} s, {found} findings", flush=True)
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
