# SPDX-License-Identifier: MIT
"""On how many hard arcs does the core agree with the reference?

``python tests/fuzz_arcs.py --cases 5000 --seed 0 --kind any`` compares the count, the enumerated pieces, their
patterns, in order, and the transitions of each kink with `regions.certification.reference.arcs`. The exit code is 1 if
any differ.
Cost: 10 ms a case, nearly all of it in the reference.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from math import comb
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import numpy as np  # noqa: E402

import regions  # noqa: E402
from generators_arcs import arc_case, nearly_degenerate_arc_case  # noqa: E402
from generators_arcs_aimed import pythagorean_arc_case, tangent_arc_case  # noqa: E402
from generators_arcs_maxima import maxima_arc_case, meeting_arms_case  # noqa: E402
from generators_clipped import clipped_arc_case, doubled_arc_case  # noqa: E402
from regions.certification.reference.arcs import arc_pieces  # noqa: E402
from regions.counting.legs_counted import strands_of  # noqa: E402
from regions.counting.options import NO_OPTIONS  # noqa: E402
from regions.counting.run import compiled  # noqa: E402
from regions.domains.curves import ArcLeg, Curve  # noqa: E402
from regions.ground.arithmetic.types import Integers  # noqa: E402
from regions.networks.maxima import Maxima  # noqa: E402

# "nearly" and "tangent" cases test the sweep in floating point.
KINDS = {
    "any": arc_case,
    "nearly": nearly_degenerate_arc_case,
    "clipped": clipped_arc_case,
    "doubled": doubled_arc_case,
    "tangent": tangent_arc_case,
    "pythagorean": pythagorean_arc_case,
    "maxima": maxima_arc_case,
    "meeting": meeting_arms_case,
}


def finding(network: regions.Network, leg: ArcLeg) -> str | None:
    """Return how the core differs from the reference, or None."""
    expected = [piece.pattern for piece in arc_pieces(network, leg)]
    curve = Curve([leg], False)
    count = regions.count(network, curve)
    if count != len(expected):
        return f"count {count}, reference {len(expected)}"
    strands = strands_of(compiled(network), curve, NO_OPTIONS)
    bits = network.graph.bits(strands.packed_patterns).astype(bool)
    if [tuple(row) for row in bits.tolist()] != expected:
        return "the patterns, or their order"
    if (regions.trajectory(network, curve).kink_transitions != _transitions(network, expected)).any():
        return "the transitions"
    angles, errors = leg.shares(strands.ends.reshape(-1, 2)) * leg.angle, strands.errors.reshape(-1)
    return "the order of the ends" if (np.diff(angles) < -3 * (errors[1:] + errors[:-1])).any() else None


def _transitions(network: regions.Network, patterns: list[tuple[bool, ...]]) -> Integers:
    """Return how often each kink is crossed: the kink between both argmaxes, if a maximum changes."""
    bits = np.array(patterns, dtype=np.int64)
    passed = np.abs(np.diff(bits, axis=0)).sum(axis=0)
    for node in network.graph.hidden:
        if not isinstance(node.units, Maxima):
            continue
        passed[node.kinks] = 0
        first = node.kinks.start
        for arms in node.units.sizes.tolist():
            against_first = [first + comb(arm, 2) for arm in range(1, arms)]
            winners = bits[:, against_first] @ np.arange(1, arms)
            for one, other in pairwise(winners.tolist()):
                if one != other:
                    passed[first + comb(max(one, other), 2) + min(one, other)] += 1
            first += comb(arms, 2)
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, default="any")
    given = parser.parse_args()
    draw = KINDS[given.kind]
    mismatches = 0
    for seed in range(given.seed, given.seed + given.cases):
        found = finding(*draw(seed))
        if found is not None:
            mismatches += 1
            print(f"{seed}: {found}", flush=True)
    print(f"{given.cases} arcs, seeds {given.seed} to {given.seed + given.cases - 1}: {mismatches} mismatches")
    return int(mismatches > 0)


if __name__ == "__main__":
    sys.exit(main())
