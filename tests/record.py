# SPDX-License-Identifier: MIT
"""Has any number of 300 enumerations changed?

``python tests/record.py`` compares counts, arrays, streams, files and pages with those in `data/record.json`, and names
what differs. A change that must not change results, such as a move of code, leaves all of them equal. After a change
that does, ``--write`` records anew; say in the commit which numbers changed, and why.

The cases are drawn from the families of the generators, in one to six dimensions, bounded or not. The record keeps the
first digits of hashes (SHA-256). Those of files and pages also depend on the version of numpy, and places on arcs on
its arctangent, which differs between processors; `project/test_record.py` compares the rest. The baseline kernel has no
fused multiply-add: arrays have other last bits there in nine cases, and the test only compares counts. Where a
network or domain is drawn in another way, nothing is compared.
Cost: 15 s.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import regions  # noqa: E402
from generators import FAMILIES, draw  # noqa: E402
from generators_arcs import arc_case  # noqa: E402
from generators_clipped import CLIPPED_FAMILIES  # noqa: E402
from generators_deep import DEEP_FAMILIES  # noqa: E402
from generators_graphs import GRAPH_FAMILIES  # noqa: E402
from generators_maxima import MAX_FAMILIES  # noqa: E402
from polytope_cases import OF_THEIR_OWN  # noqa: E402
from regions.domains import Curve  # noqa: E402
from regions.errors import NonFiniteError  # noqa: E402

__all__ = ["FILE", "cases", "different", "measured", "recorded"]

FILE = ROOT / "tests" / "data" / "record.json"
EVERY = [*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES, *CLIPPED_FAMILIES, *DEEP_FAMILIES]
OF_ANY_DIMENSION = [family for family in EVERY if family not in OF_THEIR_OWN and family not in DEEP_FAMILIES]
ARCS = 12
# Enumerations of more regions take too long; only their counts are recorded.
LARGEST = 300
# Counts above this number are not recorded.
MOST = 3000
# The arrays that the core makes.
ARRAYS = """vertices vertex_errors cell_offsets cell_vertices cell_facets facet_vertices facet_regions facet_kinks
packed_patterns facet_offsets cell_facet_offsets""".split()
OF_PLANES = -2  # without the last two, which say nothing new there
OF_CURVES = ("pieces", "transitions", "kink_transitions")
BLOCK = 10


class Case(NamedTuple):
    """A family, a dimension and a seed."""

    family: str
    dimension: int
    seed: int

    def __str__(self) -> str:
        return f"{self.family} {self.dimension} {self.seed}"


def cases() -> Iterator[Case]:
    """All cases, fewer in more dimensions."""
    for dimension, seeds in {1: 1, 2: 2}.items():
        yield from (Case(family, dimension, seed) for family in EVERY for seed in range(seeds))
    for dimension, step in {3: 1, 4: 1, 5: 2, 6: 3}.items():
        yield from (Case(family, dimension, 0) for family in OF_ANY_DIMENSION[::step])
    yield from (Case("arc", 1, seed) for seed in range(ARCS))


def measured(case: Case) -> dict[str, Any]:
    """Return what is recorded of a case: a number, or the first digits of a hash, by name."""
    network, domain = _drawn(case)
    found: dict[str, Any] = {"drawn": _hash([network.fingerprint.encode(), domain.fingerprint.encode()])}
    try:
        found["count"] = regions.count(network, domain, limit=MOST)
    except regions.LimitReached:
        return found
    if isinstance(domain, Curve):
        pieces = regions.trajectory(network, domain)
        found["places"] = _hash([pieces.breakpoints.tobytes()])
        found["arrays"] = _hash([getattr(pieces, name).tobytes() for name in OF_CURVES])
        return found
    if found["count"] > LARGEST or not (domain.dimension < 3 or domain.bounded):
        return found
    result = regions.enumerate(network, domain)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "record.npz")
        if domain.dimension < 4:
            found["page"] = _page(result, path.with_suffix(".html"))
        object.__setattr__(result, "kernel", "any")  # the file has its name, and nothing else that depends on it
        result.save(path)
        found["file"] = _hash([path.read_bytes()])
        with np.load(path, allow_pickle=False) as arrays:
            found["arrays"] = _hash([arrays[name].tobytes() for name in ARRAYS])
    blocks = regions.stream(network, domain, regions_per_block=BLOCK)
    found["stream"] = _hash([part for block in blocks for part in _bytes_of(block)])
    return found


def _drawn(case: Case) -> tuple[Any, Any]:
    if case.family != "arc":
        return draw(*case)
    network, leg = arc_case(case.seed)
    return network, Curve([leg], closed=False)


def _page(result: Any, path: Path) -> str:
    """Return the hash of a page, or the error if values of the network are not finite."""
    try:
        result.to_html(path)
    except NonFiniteError as error:
        return str(error)
    return _hash([path.read_bytes()])


def _bytes_of(block: Any) -> list[bytes]:
    names = ARRAYS[: None if block.dimension > 2 else OF_PLANES]
    return [np.ascontiguousarray(getattr(block, name)).tobytes() for name in names]


def _hash(parts: list[bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little") + part)
    return whole.hexdigest()[:12]


def recorded() -> dict[str, dict[str, Any]]:
    """Return what the file has of each case."""
    content: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
    return content


def different(now: dict[str, Any], before: dict[str, Any]) -> list[str]:
    """Return the names of the parts that differ."""
    return [name for name in now | before if now.get(name) != before.get(name)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="record anew")
    write = parser.parse_args().write
    found = {str(case): measured(case) for case in cases()}
    if write:
        lines = (f"{json.dumps(name)}: {json.dumps(parts)}" for name, parts in found.items())
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return 0
    before, wrong, otherwise = recorded(), 0, 0
    for name, parts in found.items():
        if name in before and parts["drawn"] != before[name]["drawn"]:
            otherwise += 1
        elif unequal := different(parts, before.get(name, {})):
            wrong += 1
            print(f"{name}: {', '.join(unequal)}")
    print(f"{len(found)} cases, {otherwise} drawn in another way, {wrong} with other results")
    return 1 if wrong or found.keys() != before.keys() else 0


if __name__ == "__main__":
    sys.exit(main())
