# SPDX-License-Identifier: MIT
"""Does the search for extremes find what an enumeration of all regions finds, on many random hard networks?

``python tests/fuzz_extremes.py --cases 10000`` draws networks and domains of all families of `generators.py`, in two to
four dimensions, and wider networks in boxes of three to six; ``--seed 1`` draws others. Each is searched in blocks of
a few regions, so that small networks need several passes, and compared with an enumeration: values and places in
fractions, and regions. Every fourth case has two threads. Boxes of 7 to 20 dimensions have sums of small networks,
whose extremes are known: the intervals contain them, and are equal to them where they are decided. The last line is a
tally.
Cost: some tens of milliseconds a case, most of it for values in fractions.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import regions  # noqa: E402
from extremes_judge import difference_of, some_forms, with_small_blocks  # noqa: E402
from generators import FAMILIES, draw  # noqa: E402
from generators_clipped import CLIPPED_FAMILIES  # noqa: E402
from generators_graphs import GRAPH_FAMILIES  # noqa: E402
from generators_maxima import MAX_FAMILIES  # noqa: E402
from polytope_cases import OF_THEIR_OWN, he_normal  # noqa: E402
from regions.errors import DegenerateDomainError  # noqa: E402
from wide_judge import fault_of, sum_of_networks  # noqa: E402

EVERY = FAMILIES | CLIPPED_FAMILIES | GRAPH_FAMILIES | MAX_FAMILIES
# Larger cases are left out: values in fractions take a millisecond for each region that rounding leaves open.
MOST = 400
# Numbers of inputs of the networks in a sum, and the number of parts that are bounded.
SUMS, PARTS = ([1] * 7, [1] * 20, [2] * 4, [3, 4], [1, 2, 3, 2], [5, 2]), 200


def cases(seed: int) -> Iterator[tuple[str, int, int]]:
    """Families in turn, with dimensions and seeds."""
    for number in itertools.count(seed << 20):
        for family in EVERY:
            for dimension in (2,) if family in OF_THEIR_OWN else (2, 3, 4):
                yield family, dimension, number
        for dimension in (3, 4, 5, 6):
            yield "in_boxes", dimension, number
        for wide in range(len(SUMS)):
            yield "wide", wide, number


def in_boxes(dimension: int, seed: int) -> tuple[regions.Network, regions.Box]:
    """A generic network in a small box, with integer weights for half of the seeds."""
    net, rng = he_normal([dimension, 8, 6, 2], seed), np.random.default_rng([seed, dimension])
    if seed % 2:
        net = regions.Network([(np.round(2 * layer.weights), np.round(2 * layer.biases)) for layer in net.layers])
    middle = rng.integers(-1, 2, dimension) / 2
    return net, regions.Box(middle - 0.5, middle + 0.5)


def run(most: int, seed: int) -> int:
    """Compare so many cases, print differences, and return their number."""
    tally: Counter[str] = Counter()
    for family, dimension, number in cases(seed):
        if tally["compared"] == most:
            break
        if family == "wide":
            net, ends, exact = sum_of_networks(SUMS[dimension], number)
            found = regions.extremes(net, regions.Box(*ends), limit=PARTS)
            difference = fault_of(net, found, exact)
            tally["wide, decided" if found.decided else "wide, intervals"] += 1
            tally["compared"] += 1
            if difference:
                tally["different"] += 1
                print(f"{family} {dimension} {number}: {difference}", flush=True)
            continue
        try:
            net, domain = in_boxes(dimension, number) if family == "in_boxes" else draw(family, dimension, number)
        except DegenerateDomainError:
            tally["left out"] += 1
            continue
        if dimension > 2 and not domain.bounded or regions.count(net, domain) > MOST:
            tally["left out"] += 1
            continue
        rng = np.random.default_rng([number, dimension])
        with warnings.catch_warnings(), with_small_blocks(blocks=((2, 8), (4,), ())[number % 3]):
            warnings.simplefilter("ignore")
            difference, found = difference_of(net, domain, some_forms(net, rng), 1 + (number % 4 == 3))
        tally["compared"] += 1
        tally["searched" if "left" in found.on_regions else "enumerated"] += 1
        if difference:
            tally["different"] += 1
            print(f"{family} {dimension} {number}: {difference}", flush=True)
    print(dict(tally))
    return tally["different"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    sys.exit(1 if run(given.cases, given.seed) else 0)
