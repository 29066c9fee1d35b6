# SPDX-License-Identifier: MIT
"""On how many near-degenerate networks are the numbers computed from coordinates right?

``python tests/fuzz_coordinates.py --cases 100000 --seed 0`` enumerates networks of `generators_coordinates.py`, in turn
with `generators_nearly_degenerate.py` and `generators.py`, and compares everything derived from vertices with
exact corners: radii and centres of discs, merged areas, the coverage (`shapes_judge.py`), and volumes, lengths,
perimeters, boundaries and distances (`coordinates_judge.py`). An exception of an enumeration, measure or conversion is
a finding as well, and so is a warning. Each one is kept in tests/hard/.
Cost: 50 ms a case, most of it in fractions; over an hour for 100,000, on one core.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, count, cycle, islice
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import coordinates_judge  # noqa: E402
import regions  # noqa: E402
import shapes_judge  # noqa: E402
from generators import FAMILIES, draw  # noqa: E402
from generators_coordinates import NEAR, draw_near  # noqa: E402
from generators_nearly_degenerate import KINDS, nearly_degenerate  # noqa: E402
from hard_cases import FOLDER, write  # noqa: E402
from regions.domains import Domain  # noqa: E402
from regions.networks.network import Network  # noqa: E402

# Larger partitions would take seconds in fractions.
MOST_REGIONS = 60
# Families for both dimensions, by name and dimension.
BOTH = [f"{family} {dimension}" for dimension in (2, 1) for family in (*KINDS, *FAMILIES)]


class Case(NamedTuple):
    """One case, by its seed and its family, of `NEAR` or `BOTH`."""

    family: str
    seed: int


def cases(number: int, first: int) -> list[Case]:
    """Return cases with seeds from ``first`` on: all families of `NEAR`, then two others, and so on."""
    return list(islice(_cases(first), number))


def _cases(first: int) -> Iterator[Case]:
    kinds, others, rounds = cycle(BOTH[: len(KINDS)]), cycle(BOTH), count(first)
    while True:
        seed = next(rounds)
        for family in NEAR:
            yield Case(family, seed)
        yield Case(next(kinds), seed)
        yield Case(next(others), seed)


def drawn(case: Case) -> tuple[Network, Domain]:
    """Return the network and domain of a case."""
    if case.family in NEAR:
        return draw_near(case.family, case.seed)
    family, dimension = case.family.split()
    return (nearly_degenerate if family in KINDS else draw)(family, int(dimension), case.seed)


def finding(case: Case) -> str | None:
    """Return the first error, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            partition = regions.enumerate(*drawn(case))
            if len(partition) > MOST_REGIONS:
                return None
            shapes = shapes_judge.findings(partition) if partition.domain.bounded else ()
            return next(chain(shapes, coordinates_judge.findings(partition, points=1)), None)
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"


def main() -> int:
    """Run, report, and store the findings; return 1 if there are any."""
    parser = argparse.ArgumentParser(description="hold shapes against exact corners on near-degenerate networks")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    todo, start, found = cases(arguments.cases, arguments.seed), time.perf_counter(), 0
    # If a process dies, this raises BrokenProcessPool: the last printed line says how many cases passed.
    with ProcessPoolExecutor(arguments.processes, multiprocessing.get_context("spawn")) as pool:
        for done, (case, what) in enumerate(zip(todo, pool.map(finding, todo, chunksize=20), strict=True), 1):
            if what is not None:
                found += 1
                path = FOLDER / f"{case.family.replace(' ', '_')}_coordinates_{case.seed}.json"
                write(path, f"{case.family}, seed {case.seed}: {what}", *drawn(case))
                print(f"{case.family} {case.seed}: {what}\n    kept in {path}", flush=True)
            if done % 1000 == 0:
                print(f"{done} of {len(todo)} cases tried, {found} findings", file=sys.stderr, flush=True)
    print(
        f"{len(todo)} cases, seeds {todo[0].seed} to {todo[-1].seed}: {found} findings, "
        f"{time.perf_counter() - start:.0f} s"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
