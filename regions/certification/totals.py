# SPDX-License-Identifier: MIT
"""Are the totals of a subdivision right: patterns, volume, border, Euler's relation?

The volume of a region is a sum over simplices: each face is divided into simplices that join its lowest vertex with the
simplices of its parts that do not contain this vertex. Positions and determinants are integers. Volumes of an unbounded
domain are those in the square, or interval, that replaces it.
The facets on the domain boundary cover it if each of their ridges belongs to exactly two of them, because they are
parts of facets of the domain, and the boundary of a polytope is a connected manifold. On a line there are two of them.
Euler's relation: the alternating sum of the numbers of faces of all dimensions is 1.
The proof needs only different patterns; the other checks would reveal a mistake in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import factorial, fsum, prod

import numpy as np

from regions.certification.certification_report import Findings
from regions.certification.closed_cells import Face, all_parts, faces_of, parts
from regions.certification.exact_regions import ExactRegions
from regions.certification.forms import Forms
from regions.certification.layout import Layout, first_equal
from regions.certification.reference.cutting import first_cell
from regions.certification.reference.integers import Point
from regions.domains.gram import determinant, gram_matrix
from regions.ground.arithmetic.dyadic import nearest_float, square_root
from regions.ground.arithmetic.roundoff import U

__all__ = ["ROUNDED", "check_border", "check_disjoint", "check_euler", "check_volume", "region_volume", "scale_of"]

# At most BORDER facets on the domain boundary, and FACES regions, are compared as sets of vertices in three dimensions,
# and a quarter of these numbers in each further dimension. Rounded volumes are added up for at most ROUNDED regions:
# for any number up to four dimensions, in five and six for as many as take some seconds.
BORDER, FACES = 200_000, 20_000
ROUNDED = {5: 100_000, 6: 10_000}


def check_disjoint(layout: Layout, findings: Findings) -> None:
    """Check that no two regions have the same pattern."""
    first = first_equal(layout.part.packed_patterns)
    for region in np.flatnonzero(first != np.arange(len(first))).tolist():
        findings.wrong("disjoint", f"regions {first[region]} and {region} have the same pattern")
    findings.checked("disjoint", len(first), len(first), "regions")


def check_euler(layout: Layout, findings: Findings) -> None:
    """Check Euler's relation. In a plane, edges are facets, and on a line, points are."""
    d, regions = layout.dimension, layout.regions
    counts = [len(layout.vertices), *[len(layout.facet_columns)] * (d > 1), regions]
    if d > 2:
        most = FACES >> 2 * (d - 3)
        if regions > most:
            findings.unchecked("euler", f"not needed; faces of at most {most:,} regions are counted")
            return
        counts[1:1] = _faces_between(layout)
    total = sum(-count if k % 2 else count for k, count in enumerate(counts))
    if total != 1:
        what = f"the alternating sum of {counts}, the faces of each dimension, is {total}, not 1"
        findings.wrong("euler", what)
    elif d == 1 and len(layout.facet_columns) != len(layout.vertices):
        findings.wrong("euler", f"there are {len(layout.vertices)} points, but {len(layout.facet_columns)} facets")
    findings.checked("euler", regions, regions, "regions")


def _faces_between(layout: Layout) -> list[int]:
    """Count the faces of 1 to d - 2 dimensions."""
    d = layout.dimension
    found: list[set[frozenset[int]]] = [set() for _ in range(d)]
    for region in range(layout.regions):
        vertices, facets = faces_of(layout, region)
        level = set(facets)
        for k in range(d - 1, -1, -1):
            found[k] |= {frozenset(v for i, v in enumerate(vertices) if face >> i & 1) for face in level}
            level = {each for face in level for each in parts(face, facets)}
    return [len(faces) for faces in found[1:-1]]


def check_border(layout: Layout, findings: Findings) -> None:
    """Check that each ridge of a facet on the domain boundary belongs to exactly two such facets."""
    (border,), most = np.nonzero(layout.facet_columns >= layout.kinks), BORDER >> 2 * max(0, layout.dimension - 3)
    if layout.dimension > 2 and len(border) > most:
        findings.unchecked("border", f"not needed; there are {len(border):,} facets, and at most {most:,} are compared")
        return
    seen = Counter(ridge for facet in border.tolist() for ridge in _ridges(layout, facet))
    for ridge, times in seen.items():
        if times != 2:
            findings.wrong("border", f"{times} facets of the border meet in the vertices {sorted(ridge)[:4]}, not 2")
    missing = set(range(layout.kinks, layout.every)) - set(layout.facet_columns[border].tolist())
    if layout.dimension < 3 and missing:
        findings.wrong("border", f"edge {min(missing) - layout.kinks} of the domain has no facets")
    findings.checked("border", len(border), len(border), "facets")


def _ridges(layout: Layout, facet: int) -> Iterator[frozenset[int]]:
    ends = layout.ends_of(facet)
    if layout.dimension < 3:
        yield from (frozenset(ends) - {vertex} for vertex in ends)
        return
    vertices, facets = faces_of(layout, int(layout.facet_regions[facet, 0]))
    face = sum(1 << index for index, vertex in enumerate(vertices) if vertex in set(ends))
    for ridge in parts(face, facets):
        yield frozenset(vertex for index, vertex in enumerate(vertices) if ridge >> index & 1)


def region_volume(exact: ExactRegions, region: int) -> Fraction | None:
    """Return the volume of a region in the chart; None if it is not closed."""
    vertices, facets = faces_of(exact.layout, region)
    found = all_parts(vertices, facets, exact.layout.dimension)
    return None if found is None else _volume([exact.positions[vertex] for vertex in vertices], found)


def check_volume(layout: Layout, forms: Forms | None, exact: Fraction | None, findings: Findings) -> None:
    """Check that the volumes of all regions add up to the volume of the domain: their ``exact`` sum, or the rounded
    ones up to their bounds.
    """
    count, most = layout.regions, ROUNDED.get(layout.dimension, 1 << 60)
    if exact is not None and forms is not None:
        expected = _domain_volume(forms)
        if exact != expected:
            much, excess = "much" if exact > expected else "little", abs(nearest_float(exact / expected - 1))
            findings.wrong("volume", f"the volumes add up to too {much}, by {excess:.3g} of the domain")
        findings.checked("volume", count, count, "regions")
        return
    if count > most:
        findings.unchecked("volume", f"not needed; the volumes of at most {most:,} regions are computed")
        return
    domain = layout.domain
    if domain.dimension > 2 and forms is None:
        return
    rounded = nearest_float(_domain_volume(forms)) * scale_of(layout) if forms is not None else domain.volume
    total, error = fsum(layout.part.volumes), fsum(layout.part.volume_errors)
    if not (total == rounded or abs(total - rounded) <= error + 16 * U * rounded):
        findings.wrong("volume", f"the volumes add up to {total!r}, not to {rounded!r} within {error:.3g}")
    findings.checked("volume", count, count, "regions", "as rounded, within their bounds")


def scale_of(layout: Layout) -> float:
    """Return the volume in input space of a unit of the chart, rounded once."""
    return square_root(determinant(gram_matrix(layout.domain.directions)))


def _domain_volume(forms: Forms) -> Fraction:
    """Return the volume of the domain in the chart."""
    d, edges = len(forms.edges[0]) - 1, forms.edges
    if d < 3:
        corners = [(point, [edges[k - 1], edges[k]] if d == 2 else [edges[k]]) for k, point in enumerate(forms.corners)]
    else:
        corners = first_cell(forms.corners, edges)
    sides = [sum(1 << index for index, (_, on) in enumerate(corners) if form in on) for form in set(edges)]
    facets = parts((1 << len(corners)) - 1, sides)
    found = all_parts(list(range(len(corners))), facets, d)
    assert found is not None
    return _volume([point for point, _ in corners], found)


def _volume(points: Sequence[Point], found: Mapping[Face, list[Face]]) -> Fraction:
    total = Fraction(0)
    for simplex in _simplices((1 << len(points)) - 1, found):
        corners = [points[index] for index in simplex]
        total += Fraction(abs(determinant(corners)), prod(point[0] for point in corners))
    return total / factorial(len(points[0]) - 1)


def _simplices(face: Face, found: Mapping[Face, list[Face]]) -> Iterator[list[int]]:
    """Yield simplices that make up a face, as indices of vertices."""
    apex = face & -face
    index = apex.bit_length() - 1
    if face == apex:
        yield [index]
        return
    for part in found[face]:
        if not part & apex:
            for rest in _simplices(part, found):
                yield [index, *rest]
