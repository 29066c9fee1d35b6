# SPDX-License-Identifier: MIT
"""On how many random hard inputs does the core agree with the reference?

``python tests/fuzz.py --cases 5000 --seed 0`` compares the count, the number of enumerated regions and their patterns
with `regions.reference`, over all families of `generators.py`: on lines, on polygons, and on the whole planes of these
polygons. The core runs in a child process, so that a crash is a finding and does not end the program. Failures are made
as small as possible and stored in tests/hard/, where `test_hard.py` replays them from then on.
Cost: 5 ms a case, nearly all of it in the reference.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import regions  # noqa: E402
from fuzz_shrink import shrink  # noqa: E402
from generators import FAMILIES, draw  # noqa: E402
from generators_clipped import CLIPPED_FAMILIES  # noqa: E402
from generators_deep import DEEP_FAMILIES  # noqa: E402
from generators_graphs import GRAPH_FAMILIES  # noqa: E402
from generators_maxima import MAX_FAMILIES  # noqa: E402
from hard_cases import FOLDER, write  # noqa: E402
from regions import reference  # noqa: E402
from regions.domains import Domain, Plane  # noqa: E402
from regions.networks.network import Network  # noqa: E402

SHAPES = ("line", "polygon", "plane")
# Time limit of one case. The slowest takes a second, a hundred times that under sanitizers.
PATIENCE = 300.0


class Case(NamedTuple):
    """One case, by the family, shape and seed that draw it."""

    family: str
    shape: str
    seed: int


class Finding(NamedTuple):
    """An error: in one word, and in full."""

    kind: str
    message: str


def cases(count: int, seed: int, families: list[str], shapes: Sequence[str] = SHAPES) -> list[Case]:
    """Return the first ``count`` cases, families and shapes in turn, with seeds from ``seed`` on."""
    every = (Case(family, shape, s) for s in itertools.count(seed) for family in families for shape in shapes)
    return list(itertools.islice(every, count))


def drawn(case: Case) -> tuple[Network, Domain]:
    """Return the network and domain of a case."""
    network, domain = draw(case.family, 1 if case.shape == "line" else 2, case.seed)
    if case.shape == "plane":
        domain = Plane(domain.origin, *domain.directions)
    return network, domain


def finding(network: Network, domain: Domain) -> Finding | None:
    """Return how the core differs from the reference, or None."""
    expected = set(reference.patterns(network, domain))
    try:
        count = regions.count(network, domain)
        if count != len(expected):
            return Finding("count", f"count {count}, reference {len(expected)}")
        partition = regions.enumerate(network, domain)
        if len(partition) != len(expected):
            return Finding("number", f"{len(partition)} regions enumerated, reference {len(expected)}")
        patterns = {tuple(row) for row in partition.patterns.tolist()}
        if patterns != expected:
            return Finding("patterns", f"the patterns differ in {len(patterns ^ expected)} regions")
    except Exception as error:
        return Finding(type(error).__name__, f"raised {type(error).__name__}: {error}")
    return None


def findings(todo: list[Case], processes: int) -> list[tuple[Case, Finding]]:
    """Try all cases in this number of child processes."""
    with ThreadPoolExecutor(processes) as threads:
        lanes = threads.map(_findings_of_lane, [todo[lane::processes] for lane in range(processes)])
        return [found for lane in lanes for found in lane]


def _findings_of_lane(todo: list[Case]) -> list[tuple[Case, Finding]]:
    """Try cases in a child, and in another one from the next case on if it dies."""
    spawn = multiprocessing.get_context("spawn")
    found = []
    done = 0
    while done < len(todo):
        receiver, sender = spawn.Pipe(duplex=False)
        child = spawn.Process(target=_try_in_child, args=(sender, todo[done:]))
        child.start()
        sender.close()
        for case in todo[done:]:
            try:
                result = receiver.recv() if receiver.poll(PATIENCE) else Finding("hang", "does not end")
            except EOFError:
                child.join()
                result = Finding("crash", f"the process died with exit code {child.exitcode}")
            done += 1
            if done % 5000 == 0:
                print(f"{done} of {len(todo)} cases tried, {len(found)} mismatches", file=sys.stderr, flush=True)
            if result is not None:
                found.append((case, result))
                print(f"{case.family} {case.shape} {case.seed}: {result.message}", file=sys.stderr, flush=True)
                if result.kind in ("hang", "crash"):
                    break
        child.kill()
        child.join()
    return found


def _try_in_child(sender: Connection, todo: list[Case]) -> None:
    for case in todo:
        sender.send(finding(*drawn(case)))


def _keep(case: Case, found: Finding) -> Path:
    """Make the case small and write it to tests/hard/."""

    def still_fails(network: Network, domain: Domain) -> bool:
        again = _finding_in_child(network, domain) if found.kind == "crash" else finding(network, domain)
        return again is not None and again.kind == found.kind

    network, domain = drawn(case)
    if found.kind != "hang" and still_fails(network, domain):
        network, domain = shrink(network, domain, still_fails)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{case.family}_{case.shape}_{case.seed}.json"
    write(path, f"{case.family}, {case.shape}, seed {case.seed}: {found.message}", network, domain)
    return path


def _finding_in_child(network: Network, domain: Domain) -> Finding | None:
    # Forked, since thousands of these are needed and a spawned one takes half a second to start.
    fork = multiprocessing.get_context("fork")
    child = fork.Process(target=finding, args=(network, domain))
    child.start()
    child.join()
    return Finding("crash", "") if child.exitcode else None


def main() -> int:
    """Run, report, and store the findings; return 1 if there are any."""
    parser = argparse.ArgumentParser(description="compare the core with the reference on random inputs")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--families", default=",".join(FAMILIES), help="names, separated by commas; deep_.., ..")
    parser.add_argument("--shapes", default=",".join(SHAPES), help="whole planes of deep networks take too long")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    families = arguments.families.split(",")
    known = FAMILIES | DEEP_FAMILIES | GRAPH_FAMILIES | MAX_FAMILIES | CLIPPED_FAMILIES
    unknown = sorted(set(families) - set(known))
    if unknown:
        parser.error(f"no family {', '.join(unknown)}; there are {', '.join(known)}")
    shapes = arguments.shapes.split(",")
    if set(shapes) - set(SHAPES):
        parser.error(f"shapes are {', '.join(SHAPES)}, got {arguments.shapes}")
    todo = cases(arguments.cases, arguments.seed, families, shapes)
    start = time.perf_counter()
    found = findings(todo, arguments.processes)
    seconds = time.perf_counter() - start
    tried = ", ".join(f"{n} {shape}s" for shape, n in Counter(case.shape for case in todo).items())
    seeds = f"{todo[0].seed} to {todo[-1].seed}" if todo else "none"
    print(
        f"{len(todo)} cases ({tried}), {len({case.family for case in todo})} families, seeds {seeds}: "
        f"{len(found)} mismatches, {seconds:.0f} s"
    )
    print("families: " + ", ".join(families))
    for case, what in found:
        print(f"{case.family} {case.shape} {case.seed}: {what.message}", flush=True)
        if not case.family.startswith("graph_"):  # those are found again by their seed
            print(f"    kept in {_keep(case, what)}", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
