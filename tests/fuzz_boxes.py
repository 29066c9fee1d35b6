# SPDX-License-Identifier: MIT
"""On how many random hard inputs does the core agree with the reference in three to five dimensions?

``python tests/fuzz_boxes.py --seconds 3600 --seed 0`` draws networks and domains of all families of `generators.py` in
three and four dimensions, and with every fourth seed in five. It compares with `regions.reference`: numbers of regions,
also in whole spaces; patterns; and of small cases vertices, facets, neighbours and volumes (`exact_polytopes.py`). With
seeds divisible by four, the regions of tasks must be the same when they are joined.
Each shard takes every n-th seed: ``--seed 3 --shards 16`` is the fourth of sixteen. ``--most 8`` leaves out all
networks with more regions. The core runs in a child process, so that a crash is a finding. The last line is a tally,
which adds up over shards.
Cost: with at most eight regions some ten milliseconds a case that is compared, most of it in the reference.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if __name__ in ("__main__", "__mp_main__"):
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import regions  # noqa: E402
from exact_polytopes import require_exact  # noqa: E402
from generators import FAMILIES, draw  # noqa: E402
from generators_clipped import CLIPPED_FAMILIES  # noqa: E402
from generators_graphs import GRAPH_FAMILIES  # noqa: E402
from generators_maxima import MAX_FAMILIES  # noqa: E402
from polytope_cases import OF_THEIR_OWN  # noqa: E402
from regions import reference  # noqa: E402
from regions.errors import DegenerateDomainError, PrecisionWarning  # noqa: E402

EVERY = FAMILIES | CLIPPED_FAMILIES | GRAPH_FAMILIES | MAX_FAMILIES
DRAWN = [family for family in EVERY if family not in OF_THEIR_OWN]
# For each dimension, how many regions are counted at most, and compared in full; larger cases are too slow.
COUNTED, COMPARED = {3: 200, 4: 120, 5: 60}, {3: 40, 4: 16, 5: 5}
# How many seeds a child process tries; it takes as long as forty cases to start.
IN_CHILD = 10
# With every n-th seed, the regions are also found by tasks.
IN_TASKS = 4
# Time limit of one case in seconds. The slowest takes some seconds, a hundred times that under sanitizers.
PATIENCE = 600.0


class Case(NamedTuple):
    """One case, by the family, dimension and seed that draw it."""

    family: str
    dimension: int
    seed: int


def cases(first: int, step: int) -> Iterator[Case]:
    """All families in turn, with seeds ``first``, ``first + step``, and so on; with every fourth in five dimensions."""
    return (
        Case(family, dimension, seed)
        for number, seed in enumerate(itertools.count(first, step))
        for family in DRAWN
        for dimension in ((3, 4) if number % 4 else (3, 4, 5))
    )


def finding(case: Case, most: int = 200) -> tuple[str, str]:
    """Return what was compared, "count", "enumeration", "in full" or "nothing", and the first difference, or "".

    Cases with more than ``most`` regions are too large.
    """
    done = "nothing"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", PrecisionWarning)  # some families are slow on purpose
            try:
                network, domain = draw(*case)
            except DegenerateDomainError:  # inequalities without a solution
                return done, ""
            try:
                count = regions.count(network, domain, limit=min(most, COUNTED[case.dimension]))
            except regions.LimitReached:
                return done, ""
            done, expected = "count", reference.enumerate(network, domain)
            if count != len(expected):
                return done, f"count {count}, reference {len(expected)}"
            if not domain.bounded:
                return done, ""
            done, part = "enumeration", regions.enumerate(network, domain)
            if sorted(map(tuple, part.patterns.tolist())) != sorted(region.pattern for region in expected):
                return done, f"patterns of {len(part)} regions differ from those of {len(expected)}"
            if case.seed % IN_TASKS == 0:
                pieces = regions.jobs.split(network, domain, 5, function="enumerate")
                if regions.jobs.join(map(regions.jobs.run, pieces)) != part:
                    return done, "the regions of tasks, joined, are others"
            if count <= COMPARED[case.dimension]:
                done = "in full"
                require_exact(part, expected)
    except Exception as error:
        return done, f"raised {type(error).__name__}: {error}"
    return done, ""


def _try_in_child(sender: Connection, todo: list[Case], most: int) -> None:
    for case in todo:
        sender.send(finding(case, most))


def findings(every: Iterator[Case], most: int, end: float, tally: Counter[str]) -> Iterator[tuple[Case, str]]:
    """Try cases in child processes until the clock shows ``end``; count what was compared, and yield differences."""
    spawn = multiprocessing.get_context("spawn")
    while time.monotonic() < end:
        todo = list(itertools.islice(every, IN_CHILD * 3 * len(DRAWN)))
        receiver, sender = spawn.Pipe(duplex=False)
        child = spawn.Process(target=_try_in_child, args=(sender, todo, most))
        child.start()
        sender.close()
        for case in todo:
            if time.monotonic() >= end:
                break
            try:
                ended = receiver.poll(PATIENCE)
                done, what = receiver.recv() if ended else ("nothing", "does not end")
            except EOFError:
                child.join()
                done, what = "nothing", f"the process died with exit code {child.exitcode}"
            tally[done] += 1
            if what:
                yield case, what
            if done == "nothing" and what:
                break  # cases after it in this round are left out
        child.kill()
        child.join()


def main() -> int:
    """Run and report; 1 if there was a finding."""
    parser = argparse.ArgumentParser(description="compare the core with the reference in three to five dimensions")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--shards", type=int, default=1, help="the step from one seed to the next")
    parser.add_argument("--most", type=int, default=200, help="regions of a case; with 8, cases are small and many")
    arguments = parser.parse_args()
    start, tally, found = time.monotonic(), Counter[str](), 0
    every, end = cases(arguments.seed, arguments.shards), start + arguments.seconds
    for case, what in findings(every, arguments.most, end, tally):
        found += 1
        print(f"{case}: {what}", flush=True)
    seconds = time.monotonic() - start
    print(
        f"seed {arguments.seed} of {arguments.shards} shards: {tally.total()} cases, of which {tally['nothing']} were "
        f"too large, {tally['count']} counted, {tally['enumeration']} enumerated, {tally['in full']} compared in full: "
        f"{found} mismatches, {seconds:.0f} s"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
