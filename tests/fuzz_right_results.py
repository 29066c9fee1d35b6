# SPDX-License-Identifier: MIT
"""Are right results of all families accepted, by `certify` and by the standalone checker?

``python tests/fuzz_right_results.py --cases 10000 --seed 0`` draws networks and domains of all families: generic,
degenerate and nearly degenerate ones, other activations, max units, convolutions and skips, on segments, polygons,
whole lines and planes, polylines and arcs. Results with even seeds are certified as any result of their size, most of
them in integers, and results with odd seeds by values at vertices. The checker is asked about bounded domains of
chains of dense layers. It prints each right result that is not accepted, with the arguments of `judged`. Families of
deep networks, whose integers are long, come with one seed in 20, on segments and polygons.
With ``--processes 16`` seeds are shared by so many processes, each with one thread. With ``--seconds 600`` no case
begins after this time. The last line has the numbers of all verdicts.
Cost: 60 ms a case.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import count, product
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import numpy as np  # noqa: E402

import regions  # noqa: E402
from certificates_judge import by_values  # noqa: E402
from fuzz_arcs import KINDS as ARCS  # noqa: E402
from fuzz_certificates import ALL, CASES, drawn  # noqa: E402
from generators_deep import DEEP_FAMILIES  # noqa: E402
from regions import check_certificate  # noqa: E402
from regions.domains import Domain, Line, Plane  # noqa: E402
from regions.domains.curves import Curve  # noqa: E402
from regions.networks.network import Network  # noqa: E402

SHAPES = {1: "line", 2: "polygon"}
SLOW, RARELY = {*DEEP_FAMILIES, "graph_deep", "clipped_deep"}, 20
# Pairs of a family and a shape.
KINDS = [
    *((family, SHAPES[dimension]) for family, dimension in CASES),
    *product(sorted({*ALL} - SLOW), ("whole line", "plane", "polyline")),
    *product(ARCS, ("arc",)),
]
# Verdicts of the two judges.
ACCEPTED, NOT_ASKED = "accepted", "not asked"


def judged(family: str, shape: str, seed: int, checker: ModuleType, folder: Path) -> tuple[str, str]:
    """Return what `certify` and the checker say about a right result: "accepted", "not asked", or another verdict."""
    if shape == "arc":
        net, leg = ARCS[family](seed)
        return _of_curve(net, Curve([leg], False)), NOT_ASKED
    net, domain = drawn(family, 2 if shape in ("polygon", "plane") else 1, seed)
    if shape == "polyline":
        rng = np.random.default_rng(seed)
        corners = rng.integers(-8, 9, (4, net.n_in)) / 4
        corners[:, 0] = np.arange(4) % 3 - rng.random()  # adjacent ones differ
        return _of_curve(net, regions.Polyline(corners)), NOT_ASKED
    if shape == "plane":
        domain = Plane(domain.origin, *domain.directions)
    elif shape == "whole line":
        domain = Line(domain.origin, domain.directions[0])
    part = regions.enumerate(net, domain)
    report = by_values(part, net) if seed % 2 else regions.certify(part, net)
    said = ACCEPTED if report.conclusion.startswith("proved") else report.conclusion
    return said, _of_checker(part, net, domain, checker, folder)


def _of_curve(net: Network, curve: regions.Curve) -> str:
    report = regions.certify(regions.trajectory(net, curve), net)
    return ACCEPTED if report.conclusion.startswith("proved") else report.conclusion


def _of_checker(part: regions.Partition, net: Network, domain: Domain, checker: ModuleType, folder: Path) -> str:
    if not domain.bounded or not net.is_chain:
        return NOT_ASKED
    part.save(folder / "result.npz")
    try:
        certificate, proven, exact = checker.check(folder / "result.npz")
    except checker.Rejected as error:
        return f"rejected: {error}"
    same = certificate.network == net.fingerprint and certificate.domain == domain.fingerprint
    return ACCEPTED if same and proven + exact == len(part) else "accepted as another result"


def of_seed(seed: int, until: float) -> tuple[Counter[str], list[str]]:
    """Judge all families with one seed, or those for which there is time: counts of verdicts, and results that are
    not accepted.
    """
    counts, said, checker = Counter[str](), list[str](), check_certificate
    with tempfile.TemporaryDirectory() as folder:
        for family, shape in KINDS:
            if family in SLOW and seed % RARELY:
                continue
            if time.time() > until:
                break
            try:
                verdicts = judged(family, shape, seed, checker, Path(folder))
            except Exception:
                verdicts = traceback.format_exc(), NOT_ASKED
            counts["cases"] += 1
            for judge, verdict in zip(("certify", "the checker"), verdicts, strict=True):
                counts[f"{judge}: {verdict if verdict in (ACCEPTED, NOT_ASKED) else 'not accepted'}"] += 1
                if verdict not in (ACCEPTED, NOT_ASKED):
                    said.append(f"{(family, shape, seed)}, {judge}: {verdict}")
    return counts, said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000, help="stop after so many, at the end of a seed")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # for the processes
    start, found, total, seeds = time.time(), 0, Counter[str](), count(given.seed)
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
        running = {}
        while True:
            while len(running) < 2 * given.processes and total["cases"] < given.cases and _left(start, given) > 0:
                seed = next(seeds)
                running[pool.submit(of_seed, seed, start + given.seconds)] = seed
            if not running:
                break
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                seed = running.pop(done)
                counts, said = done.result()
                total += counts
                found += len(said)
                print(
                    *said, f"seed {seed}: {total['cases']} cases in {time.time() - start:.0f} s", sep="\n", flush=True
                )
    print(f"{dict(total)}, {found} findings, seeds {given.seed} to {next(seeds) - 1}")
    return min(found, 1)


def _left(start: float, given: argparse.Namespace) -> float:
    return float(start + given.seconds - time.time())


if __name__ == "__main__":
    sys.exit(main())
