# SPDX-License-Identifier: MIT
"""Do `certify` and the standalone checker reject each damaged result, unless it is right all the same?

`finding` damages the result of a generic network, and asks both. Whether the damaged result is right is decided without
them: its regions are compared with those of an undamaged one, pattern by pattern and corner by corner, and its vertices
with exact vertices. The names of facets are unique only in generic networks.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import numpy as np

import regions
from certificates_judge import DAMAGES
from damage_parts import Case, Result, damaged, undamaged
from damages import IN_PLANE, ON_LINE
from damages_of_blocks import BLOCK_DAMAGES
from random_networks import random_network
from regions.domains import Domain
from regions.networks.network import Network
from regions.results.partition import ARRAYS, Partition, raw_arrays

__all__ = ["KINDS", "finding", "is_right"]

Damage = Callable[[Case, np.random.Generator], Case | Result]


def _fixed(damage: Callable[[Case], Case | Result]) -> Damage:
    return lambda case, rng: damage(case)


# Kinds of damage, and the dimensions of the domains that they are for. Derived arrays are not in files.
KINDS: dict[str, tuple[Damage, tuple[int, ...]]] = {
    **{name: (_fixed(damage), (2,)) for name, (damage, _) in IN_PLANE.items() if name != "volume_misreported"},
    **{f"line_{name}": (_fixed(damage), (1,)) for name, (damage, _) in ON_LINE.items()},
    **{f"random_{name}": (damage, (1, 2)) for name, damage in DAMAGES.items()},
    **{name: (damage, (1, 2)) for name, damage in BLOCK_DAMAGES.items()},
}
# Sizes of networks in a plane and on a line: small ones, and ones with a thousand regions or ten layers, whose regions
# are proved by values at vertices. Few of the latter are drawn, because their exact vertices take seconds.
SIZES = {False: ([[2, 5, 4, 3]], [[2, 8, 8, 1]]), True: ([[2, 24, 24, 1], [2, *[10] * 10, 1]], [[2, 300, 300, 1]])}
LARGE = 3
SQUARE, SEGMENT = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]), regions.Segment([-2, 1], [3, 0])


def finding(name: str, seed: int, checker: ModuleType, folder: Path, large: bool = False) -> tuple[str, str]:
    """Return what became of a damage: "skipped", "right" or "wrong", and what is to be said about the two verdicts.

    ``large`` damages results of larger networks.
    """
    damage, dimensions = KINDS[name]
    rng = np.random.default_rng([seed, *name.encode()])
    dimension = int(rng.choice(dimensions))
    sizes, which = SIZES[large][2 - dimension], int(rng.integers(LARGE if large else 1 << 30))
    net = random_network(sizes[which % len(sizes)], which)
    domain = SQUARE if dimension == 2 else SEGMENT
    whole = regions.enumerate(net, domain)
    try:
        wrong, claimed = damaged(lambda case: damage(case, rng), undamaged(net, domain))
    except (StopIteration, IndexError, ValueError, AssertionError, TypeError, KeyError, regions.RegionsError):
        return "skipped", ""
    right = is_right(wrong, claimed)
    write(wrong, whole, folder / "result.npz")
    try:
        certificate, _, _ = checker.check(folder / "result.npz")
        accepted = certificate.network == claimed.fingerprint
    except Exception as error:
        accepted = False
        if not isinstance(error, (checker.Rejected, ValueError)):
            return "wrong", f"the checker raises {error!r}"
    report = regions.certify(wrong, claimed)
    said = [f"certify says {report.conclusion}"] * (report.ok != right) + ["the checker differs"] * (accepted != right)
    return "right" if right else "wrong", "; ".join(said)


def write(part: Partition, like: Partition, path: Path) -> None:
    """Write a file with the arrays of a partition as they are, and offsets and fingerprints that fit."""
    like.save(path)
    with np.load(path) as file:
        header, arrays = json.loads(bytes(file["header"])), {}
    raw, size = raw_arrays(part), len(part.domain.directions)
    for name in ARRAYS:
        arrays[name] = raw[name].reshape(-1) if name == "facet_vertices" else raw[name]
    arrays["cell_facet_offsets"] = arrays["cell_offsets"]
    arrays["facet_offsets"] = size * np.arange(raw["facet_kinks"].size + 1)
    for number, layer in enumerate(part.network.layers):
        kind = layer.activation
        for key in ("weights", "biases"):
            arrays[f"layer_{number}_{key}"] = getattr(layer, key)
        for key in ("breakpoints", "slopes", "intercepts"):
            arrays[f"layer_{number}_{key}"] = np.asarray(getattr(kind, key), dtype=np.float64)
    for key in ("origin", "directions", "generators"):
        arrays[f"domain_{key}"] = getattr(part.domain, key)
    header["network"]["fingerprint"], header["domain"]["fingerprint"] = (
        part.network.fingerprint,
        part.domain.fingerprint,
    )
    header["complete"] = part.complete
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


def is_right(part: Partition, claimed: Network) -> bool:
    """Return whether a result of a generic network has all regions, with the right facets and vertices."""
    if part.network != claimed or part.domain.n_in != claimed.n_in:
        return False
    (truth, exact), raw = _truth(part.network, part.domain), raw_arrays(part)
    try:
        places = _places(raw, part.domain)
        known = _places(raw_arrays(truth), part.domain)
    except (IndexError, ValueError, TypeError):  # shapes or indices are wrong
        return False
    if places is None or known is None or places.keys() != known.keys():
        return False
    # Corners of a region are known by the names of the facets before and after.
    pairs = {
        (vertex, known[key][corner])
        for key, corners in places.items()
        for corner, vertex in corners.items()
        if corner in known[key]
    }
    if any(places[key].keys() != known[key].keys() for key in known):
        return False
    if not len(pairs) == len(raw["vertices"]) == len(truth.vertices) == len({one for one, _ in pairs}):
        return False
    widest = np.ptp(part.domain.generators, axis=0).max()
    return all(
        0 <= raw["vertex_errors"][vertex] <= widest / 32
        and all(
            abs(Fraction(a) - b) <= Fraction(raw["vertex_errors"][vertex])
            for a, b in zip(raw["vertices"][vertex].tolist(), exact[other], strict=True)
        )
        for vertex, other in pairs
    )


@lru_cache(maxsize=16)
def _truth(network: Network, domain: Domain) -> tuple[Partition, list[tuple[Fraction, ...]]]:
    """Return the right result, and its exact vertices."""
    truth = regions.enumerate(network, domain)
    return truth, truth.exact_vertices()


def _places(raw: dict, domain: Domain) -> dict | None:
    """Map each region, as patterns of it and its neighbours, to its corners: names of the facets there, and the vertex.

    None if arrays do not fit together.
    """
    line, result, used = domain.dimension == 1, {}, np.zeros(2 * len(raw["facet_kinks"]), dtype=int)
    patterns = [row.tobytes() for row in raw["packed_patterns"]]
    offsets, sides = raw["cell_offsets"].tolist(), raw["facet_regions"].tolist()
    if offsets[0] != 0 or offsets[-1] != len(raw["cell_vertices"]) or len(set(patterns)) != len(patterns):
        return None
    if min(map(np.min, (raw["cell_vertices"], raw["cell_facets"], raw["facet_vertices"]))) < 0:
        return None
    if not np.isfinite(raw["vertices"]).all() or not np.isfinite(raw["vertex_errors"]).all():
        return None
    for region, (start, stop) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
        vertices, facets = raw["cell_vertices"][start:stop].tolist(), raw["cell_facets"][start:stop].tolist()
        names = raw["facet_kinks"][facets].tolist()
        across, corners = {}, {}
        for at, (vertex, facet) in enumerate(zip(vertices, facets, strict=True)):
            ends = [vertex] if line else [vertex, vertices[(at + 1) % len(vertices)]]
            side = sides[facet].index(region) if region in sides[facet] else 2
            if side == 2 or raw["facet_vertices"][facet].ravel().tolist() != (
                ends if side == 0 or line else ends[::-1]
            ):
                return None
            if line and names[at] >= 0 and side == at:  # the region on the left comes first
                return None
            other = sides[facet][1 - side]
            if other < -1 or (other < 0) != (names[at] < 0):
                return None
            used[2 * facet + side] += 1
            across[names[at]] = patterns[other] if other >= 0 else b""
            corners[(at, names[at]) if line else (names[at - 1], names[at])] = vertex
        if len(across) != len(names):
            return None
        result[patterns[region], tuple(sorted(across.items()))] = corners
    filled = np.array(sides).ravel() >= 0
    return result if (used == filled).all() else None
