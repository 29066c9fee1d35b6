# SPDX-License-Identifier: MIT
"""On how many random hard inputs are answers about networks right, and within their bounds?

``python tests/fuzz_answers.py attributions --cases 5000 --seed 0`` asks about the networks and domains of all families
of `generators.py`, in one and two dimensions in turn, and compares with rational arithmetic (`answers_judge.py`,
`values_judge.py`). An exception or a warning is a finding as well. Each finding becomes a test in tests/answers/.
Cost: some 10 ms a case, nearly all of it in fractions.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import answers_judge  # noqa: E402
import values_judge  # noqa: E402
from generators import FAMILIES, draw  # noqa: E402
from generators_clipped import CLIPPED_FAMILIES  # noqa: E402
from generators_deep import DEEP_FAMILIES  # noqa: E402
from generators_graphs import GRAPH_FAMILIES  # noqa: E402
from generators_maxima import MAX_FAMILIES  # noqa: E402
from regions.errors import PrecisionWarning  # noqa: E402

JUDGES = answers_judge.JUDGES | values_judge.JUDGES
ALL_FAMILIES = [*FAMILIES, *CLIPPED_FAMILIES, *DEEP_FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES]


class Case(NamedTuple):
    """One case, by the family, dimension and seed that draw it."""

    family: str
    dimension: int
    seed: int


def cases(first: int) -> Iterator[Case]:
    """All families and dimensions in turn, with seeds from ``first`` on."""
    return (
        Case(family, dimension, seed)
        for seed in itertools.count(first)
        for family in ALL_FAMILIES
        for dimension in (1, 2)
    )


def finding(answer: str, case: Case) -> str | None:
    """Return the first error, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", PrecisionWarning)  # some families are slow on purpose
            return next(JUDGES[answer](*draw(*case)), None)
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"


def main() -> int:
    """Run and report; 1 if there was a finding."""
    parser = argparse.ArgumentParser(description="hold answers about networks against rational arithmetic")
    parser.add_argument("answer", choices=JUDGES)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    arguments = parser.parse_args()
    start, found = time.perf_counter(), 0
    for case in itertools.islice(cases(arguments.seed), arguments.cases):
        what = finding(arguments.answer, case)
        if what is not None:
            found += 1
            print(f"{case}: {what}", flush=True)
    seconds = time.perf_counter() - start
    print(f"{arguments.answer}: {arguments.cases} cases from seed {arguments.seed}: {found} findings, {seconds:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
