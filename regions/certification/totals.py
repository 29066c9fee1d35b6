# SPDX-License-Identifier: MIT
"""Are the totals of a subdivision right: patterns, volume, Euler's relation?

The area of a polygon is half the sum of cross(a, b) over its edges from a to b. In the sum over all regions, the two
terms of an edge with a region on each side cancel, and only the edges on the domain boundary are added, exactly. The
sum uses the corners alone, not the facets.
Lengths on a line are computed likewise, with points for edges. In an unbounded plane or line, volumes are those in the
square, or interval, that replaces it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import fsum

import numpy as np

from regions.arithmetic.dyadic import nearest_float
from regions.cells.cell_geometry import next_corners
from regions.certification.certification_report import Findings
from regions.certification.region_inequalities import Cells
from regions.partition import Partition
from regions.partition.polytopes import PolytopePartition
from regions.reference.integers import Point

__all__ = ["check_disjoint", "check_euler", "check_rounded_volume", "check_volume", "volume"]

U = 2.0**-53
# Numerator and denominator, which is positive; not in lowest terms, because gcds of long numbers are expensive.
Ratio = tuple[int, int]


def check_disjoint(partition: Partition | PolytopePartition, findings: Findings) -> None:
    """Check that no two regions have the same pattern."""
    packed, first = np.ascontiguousarray(partition.packed_patterns), dict[bytes, int]()
    rows = packed.view(f"V{packed.shape[1]}").ravel().tolist() if packed.shape[1] else [b""] * len(packed)
    for region, pattern in enumerate(rows if len(set(rows)) < len(rows) else ()):
        other = first.setdefault(pattern, region)
        if other != region:
            findings.wrong("disjoint", f"regions {other} and {region} have the same pattern")
    findings.checked("disjoint", len(partition), len(partition), "regions")


def check_euler(partition: Partition, findings: Findings) -> None:
    """Check V - F + R = 1 in a plane, where the domain is a polygon; V - R = 1 on a line, where facets are points."""
    vertices, facets, regions = len(partition.vertices), len(partition.facet_kinks), len(partition)
    if partition.dimension == 2 and vertices - facets + regions != 1:
        findings.wrong("euler", f"{vertices} vertices - {facets} facets + {regions} regions is not 1")
    if partition.dimension == 1 and not vertices == facets == regions + 1:
        findings.wrong("euler", f"{vertices} points and {facets} facets do not make {regions} regions")
    findings.checked("euler", regions, regions, "regions")


def check_volume(cells: Cells, findings: Findings) -> None:
    """Check that the volumes of all regions add up to the volume of the domain, exactly; the positions of all vertices
    must be known.
    """
    partition, corners, at = cells.partition, cells.forms.corners, cells.positions
    vertices = partition.cell_vertices.tolist()
    if partition.dimension == 2:
        pairs = list(zip(vertices, partition.cell_vertices[next_corners(partition.cell_offsets)].tolist(), strict=True))
        edges = Counter(pairs)
        edges.subtract((b, a) for a, b in pairs)  # an edge counts minus one in the other direction
        found = [_times(_cross(at[a], at[b]), count) for (a, b), count in edges.items() if count > 0]
        domain = [_cross(a, b) for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)]
    else:
        ends = Counter(vertices[1::2])
        ends.subtract(vertices[::2])
        found = [_times(_coordinate(at[end]), count) for end, count in ends.items() if count]
        domain = [_times(_coordinate(corners[0]), -1), _coordinate(corners[1])]
    total, expected = _sum(found), _sum(domain)
    if total[0] * expected[1] != expected[0] * total[1]:
        excess = nearest_float(Fraction(total[0] * expected[1], expected[0] * total[1]) - 1)
        findings.wrong(
            "volume",
            f"the volumes add up to too {'much' if excess > 0 else 'little'}, by {abs(excess):.3g} of the domain",
        )
    findings.checked("volume", len(partition), len(partition), "regions")


def check_rounded_volume(partition: Partition, findings: Findings) -> None:
    """Check that the rounded volumes add up to the volume of the domain, up to their bounds."""
    total, error = fsum(partition.volumes), fsum(partition.volume_errors)
    expected = partition.domain.volume
    if abs(total - expected) > error + 16 * U * expected:
        findings.wrong("volume", f"the volumes add up to {total!r}, not to {expected!r} within {error:.3g}")
    findings.checked("volume", len(partition), len(partition), "regions", "as rounded, within their bounds")


def volume(corners: Sequence[Point]) -> Fraction:
    """Return the length or area, in the chart, of one region."""
    if len(corners[0]) == 2:
        left, right = corners
        return Fraction(*_coordinate(right)) - Fraction(*_coordinate(left))
    doubled = _sum([_cross(a, b) for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)])
    return Fraction(*doubled) / 2


def _cross(a: Point, b: Point) -> Ratio:
    return a[1] * b[2] - a[2] * b[1], a[0] * b[0]


def _coordinate(point: Point) -> Ratio:
    return point[1], point[0]


def _times(ratio: Ratio, factor: int) -> Ratio:
    return ratio[0] * factor, ratio[1]


def _sum(ratios: Sequence[Ratio]) -> Ratio:
    """Return the sum, computed as a tree: numbers grow with the sum, so most additions should be of short ones."""
    if not ratios:
        return 0, 1
    while len(ratios) > 1:
        pairs = zip(ratios[::2], [*ratios[1::2], (0, 1)], strict=False)
        ratios = [(a * d + c * b, b * d) for (a, b), (c, d) in pairs]
    return ratios[0]
