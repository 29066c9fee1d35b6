# SPDX-License-Identifier: MIT
"""Is the boundary of a region in a box closed, so that its listed facets and vertices are all it has?

Each facet of the region is listed with its vertices: exactly those where its form is zero. The *parts* of a face are
its largest intersections with facets that do not contain it. A vertex is a closed face of dimension 0. A face is closed
of dimension k if all its parts are closed of dimension k - 1, and each part of a part belongs to exactly two parts; for
k = 1, if it has two vertices. docs/why-certify-proves.md ("Three dimensions and more") proves that a region is right
if it is closed of the dimension of the domain.
A region is also closed if each vertex is on exactly d facets, no two vertices are on the same d facets, and any d - 1
of the facets of a vertex have exactly one other vertex in common: the face on j of the facets of a vertex has dimension
d - j. This is true of most regions.
Cost: sorting d numbers for each corner; set operations for each face of other regions.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from regions.certification.layout import Layout
from regions.ground.arithmetic.types import Bits, Integers

__all__ = ["Face", "all_parts", "closed_regions", "faces_of", "parts"]

# A set of vertices, as bits.
Face = int
# Number of corners of regions that are compared at a time, and of bits for the index of a facet within its region.
CHUNK, BITS = 1 << 20, 7


def closed_regions(part: Layout) -> Bits:
    """Return whether the boundary of each region is closed, bool [R].

    ``part`` is a partition of which each region has exactly its facets and their vertices
    (`regions/results/cells/consistency.py`).
    """
    result = np.zeros(len(part), dtype=bool)
    sizes = np.diff(part.facet_offsets)
    owners = np.repeat(np.arange(len(part)), np.diff(part.cell_facet_offsets))
    ends = np.concatenate([[0], np.cumsum(np.bincount(owners, sizes[part.cell_facets], len(part)))]).astype(np.int64)
    start = 0
    while start < len(part):
        stop = max(start + 1, int(np.searchsorted(ends, ends[start] + CHUNK, side="right")) - 1)
        result[start:stop] = _simple(part, start, stop)
        start = stop
    for region in np.flatnonzero(~result).tolist():
        vertices, facets = faces_of(part, region)
        result[region] = all_parts(vertices, facets, part.dimension) is not None
    return result


def _simple(part: Layout, start: int, stop: int) -> Bits:
    """Return which of some regions are closed because each of their vertices is on d facets."""
    d, count = part.dimension, stop - start
    sides = slice(part.cell_facet_offsets[start], part.cell_facet_offsets[stop])
    facets = part.cell_facets[sides]
    counts = np.diff(part.cell_facet_offsets[start : stop + 1])
    owners = np.repeat(np.arange(count), counts)
    numbers = np.arange(len(facets)) - np.repeat(part.cell_facet_offsets[start:stop] - sides.start, counts)
    sizes = np.diff(part.facet_offsets)[facets]
    shift = np.repeat(part.facet_offsets[facets] - np.cumsum(sizes) + sizes, sizes)
    vertices = part.facet_vertices[np.arange(len(shift)) + shift]
    owners, numbers = np.repeat(owners, sizes), np.repeat(numbers, sizes)
    corners = owners * len(part.vertices) + vertices  # a number for each region and vertex
    order = np.argsort(corners, kind="stable")
    corners, first, on = np.unique(corners[order], return_index=True, return_counts=True)
    simple = (counts < 1 << BITS) & (
        np.bincount(owners[order][first], minlength=count) == np.diff(part.cell_offsets[start : stop + 1])
    )
    simple[np.unique(owners[order][first][on != d])] = False
    chosen = first[simple[owners[order][first]]]
    if not chosen.size:
        return simple
    at = numbers[order][chosen[:, np.newaxis] + np.arange(d)]  # ascending, because the order is stable
    regions = owners[order][chosen]
    whole = _keys(regions, at)
    edges = np.concatenate([_keys(regions, np.delete(at, axis, axis=1)) for axis in range(d)])
    for found, times in ((whole, 1), (edges, 2)):
        each, of = np.unique(found, return_counts=True)
        width = d if times == 1 else d - 1
        simple[each[of != times] >> (BITS * width)] = False
    return simple


def _keys(regions: Integers, numbers: Integers) -> Integers:
    """Return an integer for each pair of a region and a set of its facets, different for different pairs."""
    result = regions.copy()
    for axis in range(numbers.shape[1]):
        result = (result << BITS) | numbers[:, axis]
    return result


def faces_of(layout: Layout, region: int) -> tuple[list[int], list[Face]]:
    """Return the vertices of a region, and the faces that its facets are: bit i is for vertex i in this list."""
    vertices = layout.corners_of(region)
    bit = {vertex: 1 << index for index, vertex in enumerate(vertices)}
    return vertices, [sum(bit[vertex] for vertex in layout.ends_of(facet)) for facet in layout.facets_of(region)]


def parts(face: Face, facets: list[Face]) -> list[Face]:
    """Return the parts of a face: its largest intersections with facets that do not contain it."""
    common = {face & facet for facet in facets} - {face, 0}
    return [each for each in common if not any(each & other == each and each != other for other in common)]


def all_parts(vertices: list[int], facets: list[Face], dimension: int) -> dict[Face, list[Face]] | None:
    """Return the parts of each face of a region, by face.

    None unless the region is closed, ``facets`` are the parts of the region itself, and each vertex is a face.
    """
    whole = (1 << len(vertices)) - 1
    found: dict[Face, list[Face]] = {}
    level = {whole}
    for k in range(dimension, 0, -1):
        for face in level:
            found[face] = parts(face, facets)
        below = {each for face in level for each in found[face]}
        if k == dimension and (len(below) != len(facets) or below != set(facets)):
            return None
        if k == 1 and any(face.bit_count() != 2 for face in level):
            return None
        level = below
    if any(face.bit_count() != 1 for face in level) or len(level) != len(vertices):
        return None
    for own in found.values():
        ridges = Counter(each for one in own if one in found for each in found[one])
        if not own or any(times != 2 for times in ridges.values()):
            return None
    return found
