# SPDX-License-Identifier: MIT
"""Does the reference find the same patterns independently?

A small partition is compared with `regions.reference` as a whole. In a large one, small boxes are placed around random
vertices. All patterns that the reference finds in a box must be listed, and it must find the regions of which a vertex
is inside the box.
Cost: the reference on a few dozen regions, for each box.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regions.certification import reference
from regions.certification.certification_report import Findings
from regions.certification.forms import Forms, value
from regions.certification.layout import Layout
from regions.domains import Domain, Polytope
from regions.ground.arithmetic.dyadic import dyadic
from regions.ground.arithmetic.types import Floats

__all__ = ["check_against_reference"]

# Number of boxes, and the most regions with a vertex in a box. If a box would take more than PRODUCTS products of
# integers, there is one box, with fewer regions.
BOXES, MET, PRODUCTS = 5, 64, 2_000_000


def check_against_reference(
    layout: Layout, forms: Forms, asked: int | None, rng: np.random.Generator, findings: Findings
) -> None:
    """Compare the patterns in all of the domain if it has few regions, else in random boxes. If a number of regions is
    ``asked``, at most that many have a vertex in the boxes, but at least as many as one box needs.
    """
    least, count = 2 << layout.dimension, layout.regions
    if forms.affordable(least) < least:
        findings.unchecked("reference", "the network is too large to find regions in integers a second time")
        return
    allowed = PRODUCTS // forms.products_per_pattern
    few = max(least, min(MET, allowed if asked is None else min(allowed, asked)))
    packed = [row.tobytes() for row in layout.part.packed_patterns]
    if count <= few:
        _compare(layout, layout.domain, packed, set(range(count)), findings)
        findings.checked("reference", count, count, "regions")
        return
    boxes = 1 if few < MET else BOXES if asked is None else max(1, min(BOXES, asked // few))
    met = set[int]()
    for centre in _centres(layout, rng)[:boxes]:
        found = _box(layout, forms, centre, few)
        if found is not None:
            _compare(layout, found[0], packed, found[1], findings)
            met |= found[1]
    findings.checked("reference", len(met), count, "regions", proof=False)


def _compare(layout: Layout, domain: Any, packed: list[bytes], met: set[int], findings: Findings) -> None:
    """Compare the patterns in a part of the domain, which some regions surely meet."""
    found = reference.patterns(layout.net, domain)
    theirs = {np.packbits(np.array(pattern, dtype=bool), bitorder="little").tobytes() for pattern in found}
    places = domain.generators[:, 1:]
    where = f"within {places.min(axis=0).tolist()} and {places.max(axis=0).tolist()}"
    for region in sorted(met):
        if packed[region] not in theirs:
            findings.wrong("reference", f"region {region} is not found {where}")
    missing = theirs.difference(packed)
    if layout.complete and missing:
        findings.wrong("reference", f"{len(missing)} regions are missing {where}")


def _centres(layout: Layout, rng: np.random.Generator) -> list[Floats]:
    """Return the vertices inside the domain in random order, or else all of them."""
    finite = np.asarray(np.isfinite(layout.vertices).all(axis=1))
    on_border = np.repeat(layout.facet_columns >= layout.kinks, np.diff(layout.facet_offsets))
    inside = finite.copy()
    inside[layout.facet_vertices[on_border]] = False
    return list(layout.vertices[rng.permutation(np.flatnonzero(inside if inside.any() else finite))])


def _box(layout: Layout, forms: Forms, centre: Floats, few: int) -> tuple[Any, set[int]] | None:
    """Return the part of the domain in a box around a vertex that has vertices of few regions inside, and these
    regions; None if the spacing of doubles does not allow a box.
    """
    distances = np.abs(layout.vertices - centre).max(axis=1)
    half = float(np.sort(distances)[min(max(2, few >> (layout.dimension + 1)), len(distances) - 1)])
    errors = 2 * layout.errors[:, np.newaxis]
    while True:
        half = min(half / 2, float(np.finfo(np.float64).max) / 4)
        low, high = centre - half, centre + half
        if not (low < high).all():
            return None
        inside = np.asarray(((layout.vertices - errors > low) & (layout.vertices + errors < high)).all(axis=1))
        met = set(layout.corner_regions[inside[layout.cell_vertices]].tolist())
        if len(met) > few or not (np.isfinite(low) & np.isfinite(high)).all():
            continue
        part = _part_of_domain(layout.domain, forms, low, high)
        if part is not None:
            return part, met


def _part_of_domain(domain: Domain, forms: Forms, low: Floats, high: Floats) -> Domain | None:
    """Return the part of the domain in a box; in a plane or on a line, None if the box is not inside the domain."""
    if domain.dimension > 2:
        axes = np.eye(domain.dimension)
        sides = np.vstack([domain.forms, np.column_stack([-low, axes]), np.column_stack([high, -axes])])
        return Polytope.in_chart(domain.origin, domain.directions, -sides[:, 1:], sides[:, 0])
    corners = [low, high] if len(low) == 1 else [low, (high[0], low[1]), high, (low[0], high[1])]
    generators = np.column_stack([np.ones(len(corners)), np.array(corners)])
    points = [tuple(dyadic(row)[0].tolist()) for row in generators]
    inside = all(value(edge, point) >= 0 for edge in forms.edges for point in points)
    return Domain(domain.origin, domain.directions, generators) if inside else None
