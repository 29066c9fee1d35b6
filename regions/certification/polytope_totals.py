# SPDX-License-Identifier: MIT
"""Are the totals of a subdivision of a box right: volume, border, Euler's relation?

The volume of a region is a sum over simplices: each face is divided into simplices that join its lowest vertex with the
simplices of its parts that do not contain this vertex. Positions and determinants are integers.
The facets on the domain boundary cover it if each of their ridges belongs to exactly two of them, because they are
parts of facets of the domain, and the boundary of a polytope is a connected manifold.
Euler's relation: the alternating sum of the numbers of faces of all dimensions is 1.
The proof needs none of this; these checks would reveal a mistake in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import factorial, fsum, prod

import numpy as np

from regions.arithmetic.dyadic import nearest_float, square_root
from regions.certification.certification_report import Findings
from regions.certification.closed_cells import Face, all_parts, faces_of, parts
from regions.certification.forms import Forms
from regions.domains.gram import determinant, gram_matrix
from regions.partition.polytopes import PolytopePartition
from regions.reference.cutting import first_cell
from regions.reference.integers import Point

__all__ = ["check_border", "check_faces", "check_total_volume", "check_volumes", "domain_volume", "region_volume"]

U = 2.0**-53
# At most BORDER facets on the domain boundary, and FACES regions, are compared as sets of vertices in three dimensions,
# and a quarter of these numbers in each further dimension. Rounded volumes are added up for at most ROUNDED regions, by
# dimension: in three and four for any number in practice, in five and six for as many as take some seconds.
BORDER, FACES = 200_000, 20_000
ROUNDED = {3: 1 << 40, 4: 1 << 40, 5: 100_000, 6: 10_000}


def region_volume(part: PolytopePartition, region: int, positions: Mapping[int, Point]) -> Fraction | None:
    """Return the volume of a region in the chart; None if it is not closed."""
    vertices, facets = faces_of(part, region)
    found = all_parts(vertices, facets, part.dimension)
    return None if found is None else _volume([positions[vertex] for vertex in vertices], found)


def domain_volume(forms: Forms) -> Fraction:
    """Return the volume of the domain in the chart."""
    corners = first_cell(forms.corners, forms.edges)
    sides = [sum(1 << index for index, (_, on) in enumerate(corners) if form in on) for form in set(forms.edges)]
    facets = parts((1 << len(corners)) - 1, sides)
    found = all_parts(list(range(len(corners))), facets, len(forms.edges[0]) - 1)
    assert found is not None
    return _volume([point for point, _ in corners], found)


def check_volumes(
    part: PolytopePartition, regions: Sequence[int], positions: Mapping[int, Point], findings: Findings
) -> Fraction:
    """Check that rounded volumes of some regions are within their bounds of the exact ones; return the exact sum."""
    total = Fraction(0)
    if len(part) > ROUNDED[part.dimension]:
        return total
    scale, volumes, errors = Fraction(_scale(part)), part.volumes.tolist(), part.volume_errors.tolist()
    for region in regions:
        exact = region_volume(part, region, positions)
        if exact is None:
            continue
        total += exact
        rounded = nearest_float(exact * scale)
        if not _is_near(volumes[region], rounded, errors[region] + 8 * U * rounded):
            findings.wrong("volumes", f"the volume of region {region} is {volumes[region]}, not {rounded!r}")
    findings.checked("volumes", len(regions), len(part), "regions")
    return total


def check_total_volume(part: PolytopePartition, forms: Forms, exact: Fraction | None, findings: Findings) -> None:
    """Check that the volumes of all regions add up to the volume of the domain: their ``exact`` sum, or the rounded
    ones up to their bounds.
    """
    expected = domain_volume(forms)
    if exact is not None:
        if exact != expected:
            excess = nearest_float(exact / expected - 1)
            findings.wrong(
                "volume",
                f"the volumes add up to too {'much' if excess > 0 else 'little'}, by {abs(excess):.3g} of the domain",
            )
        findings.checked("volume", len(part), len(part), "regions")
        return
    if len(part) > ROUNDED[part.dimension]:
        most = ROUNDED[part.dimension]
        findings.unchecked("volume", f"not needed; the volumes of at most {most:,} regions are computed")
        return
    total, error, rounded = fsum(part.volumes), fsum(part.volume_errors), nearest_float(expected) * _scale(part)
    if not _is_near(total, rounded, error + 16 * U * rounded):
        findings.wrong("volume", f"the volumes add up to {total!r}, not to {rounded!r} within {error:.3g}")
    findings.checked("volume", len(part), len(part), "regions", "as rounded, within their bounds")


def _is_near(found: float, exact: float, bound: float) -> bool:
    """Return whether a number is within a bound of another one; both may be infinite, beyond the largest double."""
    return found == exact or abs(found - exact) <= bound


def check_border(part: PolytopePartition, findings: Findings) -> None:
    """Check that each ridge of a facet on the domain boundary belongs to exactly two such facets."""
    border = np.flatnonzero(part.facet_kinks < 0)
    most = BORDER >> 2 * (part.dimension - 3)
    if len(border) > most:
        findings.unchecked("border", f"not needed; there are {len(border):,} facets, and at most {most:,} are compared")
        return
    seen = Counter(ridge for facet in border.tolist() for ridge in _ridges(part, facet))
    for ridge, times in seen.items():
        if times != 2:
            findings.wrong("border", f"{times} facets of the border meet in the vertices {sorted(ridge)[:4]}, not 2")
    findings.checked("border", len(border), len(border), "facets")


def _ridges(part: PolytopePartition, facet: int) -> Iterator[frozenset[int]]:
    region = int(part.facet_regions[facet, 0])
    vertices, facets = faces_of(part, region)
    ends = set(part.facet_vertices[part.facet_offsets[facet] : part.facet_offsets[facet + 1]].tolist())
    face = sum(1 << index for index, vertex in enumerate(vertices) if vertex in ends)
    for ridge in parts(face, facets):
        yield frozenset(vertex for index, vertex in enumerate(vertices) if ridge >> index & 1)


def check_faces(part: PolytopePartition, findings: Findings) -> None:
    """Check Euler's relation."""
    d = part.dimension
    most = FACES >> 2 * (d - 3)
    if len(part) > most:
        findings.unchecked("euler", f"not needed; faces of at most {most:,} regions are counted")
        return
    found: list[set[frozenset[int]]] = [set() for _ in range(d)]
    for region in range(len(part)):
        vertices, facets = faces_of(part, region)
        level = set(facets)
        for k in range(d - 1, -1, -1):
            found[k] |= {frozenset(v for i, v in enumerate(vertices) if face >> i & 1) for face in level}
            level = {each for face in level for each in parts(face, facets)}
    counts = [len(part.vertices), *(len(faces) for faces in found[1:-1]), len(part.facet_kinks), len(part)]
    total = sum(-count if k % 2 else count for k, count in enumerate(counts))
    if total != 1:
        findings.wrong("euler", f"the alternating sum of {counts}, the faces of each dimension, is {total}, not 1")
    findings.checked("euler", len(part), len(part), "regions")


def _scale(part: PolytopePartition) -> float:
    """The volume in input space of a unit of the chart, rounded once."""
    return square_root(determinant(gram_matrix(part.domain.directions)))


def _volume(points: Sequence[Point], found: Mapping[Face, list[Face]]) -> Fraction:
    whole = (1 << len(points)) - 1
    total = Fraction(0)
    for simplex in _simplices(whole, found):
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
