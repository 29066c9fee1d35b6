# SPDX-License-Identifier: MIT
"""Does the reference find the same patterns independently?

`regions.reference` subdivides a domain without using the partition. A small partition is compared with it as a whole.
In a large one, small boxes are placed around random vertices, and the patterns that the reference finds in a box must
be the patterns of the regions that overlap it. Two convex polygons overlap unless an edge of one of them has the other
on its outer side, which is decided exactly.
Cost: the reference on a few dozen regions, for each box.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from regions import reference
from regions.arithmetic.dyadic import dyadic
from regions.arithmetic.types import Floats
from regions.certification.certification_report import Findings
from regions.certification.forms import domain_edges, value
from regions.certification.region_inequalities import Cells
from regions.domains import Domain
from regions.partition import Partition
from regions.reference.integers import Point

__all__ = ["check_against_reference"]

# A box shrinks until at most FEW regions can meet it: fewer if the caller asks for fewer, or if the reference would
# need more than about PRODUCTS products of integers. With FEWEST regions there is only one box.
BOXES = 5
FEW, FEWEST = 64, 8
PRODUCTS = 2_000_000


class Extent(NamedTuple):
    """Lower and upper bounds on the coordinates in each region, errors included: float64 [R, d] each."""

    low: Floats
    high: Floats


def check_against_reference(cells: Cells, asked: int | None, rng: np.random.Generator, findings: Findings) -> None:
    """Check that the reference finds the same patterns, in all of the domain if it has few regions, else in random
    boxes.

    If a number of regions is ``asked``, at most that many can meet the boxes, but at least as many as one box needs.
    """
    partition = cells.partition
    if cells.forms.affordable(FEWEST) < FEWEST:
        findings.unchecked("reference", "the network is too large to find regions in integers a second time")
        return
    allowed = PRODUCTS // cells.forms.products_per_pattern
    few = min(FEW, max(FEWEST, allowed if asked is None else min(allowed, asked)))
    boxes = 1 if allowed < FEWEST else BOXES if asked is None else min(BOXES, max(1, asked // few))
    if len(partition) <= few:
        met = _compare(cells, partition.domain, cells.forms.corners, range(len(partition)), findings)
        findings.checked("reference", len(met), len(partition), "regions")
        return
    met, extent = set(), _extent(partition)
    for centre in _centres(partition, rng, boxes):
        box = _box(cells, extent, centre, few)
        if box is not None:
            met |= _compare(cells, *box, findings)
    findings.checked("reference", len(met), len(partition), "regions", proof=False)


def _compare(
    cells: Cells, domain: Domain, corners: list[Point], candidates: Iterable[int], findings: Findings
) -> set[int]:
    """Compare the regions that overlap a part of the domain with the reference; return these regions."""
    cells.see(candidates)
    met = {region for region in candidates if region in cells.cells and _overlap(cells.cells[region].corners, corners)}
    mine = {cells.pattern(region): region for region in met}
    theirs = {bytes(pattern) for pattern in reference.patterns(cells.network, domain)}
    where = f"between {[list(row[1:]) for row in domain.generators.tolist()]}"
    for pattern in mine.keys() - theirs:
        findings.wrong("reference", f"region {mine[pattern]} is not found {where}")
    if cells.partition.complete and theirs - mine.keys():
        findings.wrong("reference", f"{len(theirs - mine.keys())} regions are missing {where}")
    return met


def _overlap(one: list[Point], other: list[Point]) -> bool:
    """Return whether two convex polygons, or intervals, have common interior points."""
    return not any(
        all(value(edge, corner) <= 0 for corner in second)
        for first, second in ((one, other), (other, one))
        for edge in domain_edges(first)
    )


def _centres(partition: Partition, rng: np.random.Generator, count: int) -> list[Floats]:
    """Return some vertices inside the domain, chart coordinates [d], or else an interior point."""
    outer = partition.facet_vertices[partition.facet_kinks < 0]
    finite = np.flatnonzero(np.isfinite(partition.vertices).all(axis=1))
    vertices = np.setdiff1d(finite, outer)
    if not vertices.size:
        return [partition.domain.generators[:, 1:].mean(axis=0)]
    return list(partition.vertices[rng.choice(vertices, min(count, vertices.size), replace=False)])


def _extent(partition: Partition) -> Extent:
    corners = partition.vertices[partition.cell_vertices]
    errors = 2 * partition.vertex_errors[partition.cell_vertices, np.newaxis]
    starts = partition.cell_offsets[:-1]
    low = np.nextafter(np.minimum.reduceat(corners - errors, starts), -np.inf)
    high = np.nextafter(np.maximum.reduceat(corners + errors, starts), np.inf)
    # Corners without a bound may be anywhere. A corner at infinity along one axis is stored with a 0 for the other.
    low[np.isnan(low)], high[np.isnan(high)] = -np.inf, np.inf
    return Extent(low, high)


def _box(cells: Cells, extent: Extent, centre: Floats, few: int) -> tuple[Domain, list[Point], list[int]] | None:
    """Return a box around a point, inside the domain, that few regions can meet; also its exact corners, and these
    regions.

    None if the spacing of doubles does not allow one.
    """
    partition = cells.partition
    finite = partition.vertices[np.isfinite(partition.vertices).all(axis=1)]
    half = min(float(np.ptp(finite, axis=0).max()), np.finfo(np.float64).max) if len(finite) > 1 else 1.0
    while True:
        low, high = centre - half, centre + half
        half /= 2
        if not (low < high).all():
            return None
        if not (np.isfinite(low) & np.isfinite(high)).all():
            continue
        candidates = np.flatnonzero((extent.low < high).all(axis=1) & (extent.high > low).all(axis=1))
        if len(candidates) > few:
            continue
        corners = _corners(low, high)
        points = [tuple(dyadic(np.array(corner))[0].tolist()) for corner in corners]
        if all(value(edge, point) >= 0 for edge in cells.forms.edges for point in points):
            return Domain(partition.domain.origin, partition.domain.directions, corners), points, candidates.tolist()


def _corners(low: Floats, high: Floats) -> list[list[float]]:
    """Return the generators of a box, counter-clockwise."""
    if len(low) == 1:
        return [[1.0, low[0]], [1.0, high[0]]]
    (x, y), (z, w) = low.tolist(), high.tolist()
    return [[1.0, x, y], [1.0, z, y], [1.0, z, w], [1.0, x, w]]
