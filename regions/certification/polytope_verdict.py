# SPDX-License-Identifier: MIT
"""In which order is a result in a box certified?

In three and more dimensions the argument needs only the signs of all kinks at all vertices (`vertex_signs.py`), and
combinatorics (`polytope_regions.py`, `closed_cells.py`). Small results are decided in integers. In larger ones values
decide most vertices (`signs_by_values.py`), and the others, and all vertices of a few regions, are decided in integers.
The proof that this is enough is in docs/why-certify-proves.md.
Cost: a forward pass for each vertex, sorting for each corner, and integers for what is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import Literal

import numpy as np

from regions.arithmetic.dyadic import nearest_float
from regions.arithmetic.types import Bits, Indices, Integers
from regions.certification.cddlib import ask_cddlib
from regions.certification.certification_report import CLAIMS, LOOKED_AT, Findings
from regions.certification.facets import named_flip
from regions.certification.forms import Forms, small_enough
from regions.certification.polytope_reference import check_against_reference
from regions.certification.polytope_regions import check_regions
from regions.certification.polytope_totals import check_border, check_faces, check_total_volume, check_volumes
from regions.certification.rounding import check_affine_maps, loosest_bound
from regions.certification.signs_by_values import decide_by_values
from regions.certification.signs_in_integers import decide_in_integers
from regions.certification.totals import check_disjoint
from regions.certification.vertex_signs import VertexSigns
from regions.networks.network import Network
from regions.partition.polytopes import PolytopePartition
from regions.reference.integers import Point
from regions.threads.progress import Report, share_of

__all__ = ["CLAIMS_IN_BOXES", "check_names_in_boxes", "judge_polytopes"]

CLAIMS_IN_BOXES = {
    **CLAIMS,
    "vertices": "each is the one point where its facets meet, and no two coincide",
    "cells": "the boundary of each region is closed by its facets",
    "border": "its facets cover the boundary of the domain, once",
    "euler": "the numbers of faces of all dimensions obey Euler's relation",
}
# Number of products of integers that take a fraction of a second.
SOON = 2_000_000
# If values decide the regions, AGAIN of them are also checked in integers. Affine maps are checked, and cddlib is
# asked, for at most FEW regions. Forward passes check points inside at most INSIDE regions, and exact volumes at most
# SIMPLICES simplices. cddlib gets matrices of at most ROWS rows in all.
AGAIN, FEW, INSIDE, SIMPLICES, ROWS = 4, 20, 1_000, 200_000, 200


@dataclass
class _Seen:
    """What second opinions ask for: the forms, and the patterns and exact corners of regions."""

    partition: PolytopePartition
    forms: Forms
    positions: dict[int, Point]

    def pattern(self, region: int) -> bytes:
        """Return the pattern of a region, a byte for each kink."""
        return self.partition.network.graph.bits(self.partition.packed_patterns[region]).tobytes()

    def corners(self, region: int) -> list[Point]:
        """Return the corners of a region."""
        here = slice(self.partition.cell_offsets[region], self.partition.cell_offsets[region + 1])
        return [self.positions[vertex] for vertex in self.partition.cell_vertices[here].tolist()]


def judge_polytopes(
    part: PolytopePartition,
    net: Network,
    wanted: int | Literal["all"] | None,
    report: Report | None,
    threads: int,
    findings: Findings,
) -> None:
    """Perform all checks that index arrays; ``wanted`` as for `certify`."""
    check_disjoint(part, findings)
    findings.inequalities = net.kinks + len(part.domain.forms)
    integers = small_enough(net, findings)
    if not integers and wanted is not None:
        return
    rng = np.random.default_rng(int(net.fingerprint[:16], 16))
    forms = Forms(net, part.domain) if integers else None
    some = rng.permutation(len(part))[:wanted] if isinstance(wanted, int) and wanted < len(part) else None
    signs = VertexSigns(part, net, some)
    for vertex in np.flatnonzero(signs.owners < 0).tolist() if some is None else ():
        findings.wrong("vertices", f"vertex {vertex} belongs to no region")
    by_values = forms is None or (wanted is None and len(part.vertices) * forms.products_per_pattern > SOON)
    if by_values:
        decide_by_values(signs, share_of(report, 0, 2), threads)
        report = share_of(report, 1, 2)
    positions: dict[int, Point] = {}
    # Vertices whose signs values do not decide, or whose distances exceed the stated bounds.
    sought, decided = np.flatnonzero(~(signs.near <= part.vertex_errors) & (signs.owners >= 0)), signs.known.copy()
    again = np.zeros(0, dtype=np.int64)
    if forms is not None:
        if by_values:
            seen = np.logical_and.reduceat(signs.known[part.cell_vertices], part.cell_offsets[:-1])
            again = rng.permutation(np.flatnonzero(seen))[: forms.affordable(AGAIN)]
        sought = np.union1d(sought, _vertices_of(part, again))
        before = signs.above[sought].copy(), signs.zero[sought].copy()
        positions = decide_in_integers(signs, sought, forms, findings, report)
        differ = ((before[0] != signs.above[sought]) | (before[1] != signs.zero[sought])).any(axis=1)
        for vertex in sought[differ & decided[sought]].tolist():
            findings.wrong("vertices", f"values and integers disagree about vertex {vertex}: please report this")
    _judge(signs, forms, positions, some, by_values, rng, findings)


def _judge(
    signs: VertexSigns,
    forms: Forms | None,
    positions: dict[int, Point],
    some: Indices | None,
    by_values: bool,
    rng: np.random.Generator,
    findings: Findings,
) -> None:
    """Judge all claims, from the signs and positions of the vertices."""
    part = signs.part
    seen = check_regions(signs, findings)
    placed = np.zeros(len(part.vertices), dtype=bool)
    placed[list(positions)] = True
    exact = np.flatnonzero(seen & np.logical_and.reduceat(placed[part.cell_vertices], part.cell_offsets[:-1]))
    sound = not findings.any_wrong(*LOOKED_AT)
    remark = f"{len(positions):,} of {len(part.vertices):,} vertices in integers" if by_values else ""
    if forms is None and not seen.all():
        remark = "the others need exact arithmetic, for which the network is too large"
    if forms is not None and sound:
        few = rng.permutation(exact)[:FEW].tolist()
        checked = _Seen(part, forms, positions)
        most = max(1, ROWS // findings.inequalities)
        remark = "; ".join(filter(None, [remark, ask_cddlib(checked, few[:most], findings)]))
        for region in exact[:INSIDE].tolist():
            if forms.pattern_at(tuple(map(sum, zip(*checked.corners(region), strict=True)))) != checked.pattern(region):
                findings.wrong("patterns", f"inside region {region}, the network has another pattern")
        check_affine_maps(checked, few, findings)
    for name in LOOKED_AT:
        findings.checked(name, int(seen.sum()), len(part), "regions", remark if name == "inequalities" else "")
    check_names_in_boxes(signs, seen, findings)
    _check_coordinates(signs, positions, findings)
    if forms is not None and sound:
        simplices = factorial(part.dimension) << part.dimension
        chosen = exact[: max(1, SIMPLICES // simplices)].tolist()
        total = check_volumes(part, chosen, positions, findings)
        if not findings.any_wrong("coordinates"):
            check_against_reference(part, signs.network, forms, rng, findings)
    if not part.complete:
        for name in ("border", "volume", "euler"):
            findings.unchecked(name, "not claimed of a partial result")
        return
    check_faces(part, findings)
    if sound and seen.all() and forms is not None:
        check_border(part, findings)
        check_total_volume(part, forms, total if len(chosen) == len(part) else None, findings)
    elif sound and some is not None:
        for name in ("border", "volume"):
            findings.unchecked(name, "only where all regions were looked at")


def check_names_in_boxes(signs: VertexSigns, seen: Bits, findings: Findings) -> None:
    """Check that the kink that a facet names flips across it; other kinks that flip are known to be zero there."""
    part = signs.part
    inner = np.flatnonzero(part.facet_regions[:, 1] >= 0)
    known = inner[seen[part.facet_regions[inner]].all(axis=1)]
    for facet in known[~named_flip(part, signs.network, known)].tolist():
        here, there = part.facet_regions[facet].tolist()
        fault = f"kink {part.facet_kinks[facet]}, which it names, does not flip"
        findings.wrong("neighbours", f"across facet {facet} of regions {here} and {there}, {fault}")
    findings.checked("neighbours", len(known), len(inner), "facets")


def _check_coordinates(signs: VertexSigns, positions: dict[int, Point], findings: Findings) -> None:
    """Check that stored coordinates are within their bounds of the true ones, and that bounds are not too large."""
    part = signs.part
    stored, bounds = part.vertices.tolist(), part.vertex_errors.tolist()
    loosest = loosest_bound(part)
    for vertex, (weight, *place) in positions.items():
        bound = Fraction(bounds[vertex])
        exact = [Fraction(x, weight) for x in place]
        if not all(abs(Fraction(s) - x) <= bound for s, x in zip(stored[vertex], exact, strict=True)):
            fault = f"not within {bounds[vertex]} of {[nearest_float(x) for x in exact]}"
            findings.wrong("coordinates", f"vertex {vertex} is stored as {stored[vertex]}, {fault}")
    if loosest is not None:
        for vertex in np.flatnonzero(part.vertex_errors > nearest_float(loosest)).tolist():
            fault = f"with a bound of {bounds[vertex]}, which says nothing in a domain of this size"
            findings.wrong("coordinates", f"vertex {vertex} is stored as {stored[vertex]}, {fault}")
    checked = signs.near <= part.vertex_errors
    checked[list(positions)] = True
    findings.checked("coordinates", int(checked.sum()), len(stored), "vertices")


def _vertices_of(part: PolytopePartition, regions: Indices) -> Integers:
    """The vertices of some regions, ascending."""
    chosen = np.zeros(len(part), dtype=bool)
    chosen[regions] = True
    return np.unique(part.cell_vertices[np.repeat(chosen, np.diff(part.cell_offsets))])
