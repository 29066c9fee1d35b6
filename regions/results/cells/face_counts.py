# SPDX-License-Identifier: MIT
"""Which faces of each dimension do regions in three and more dimensions have, together?

A face is known by its vertices, which all regions around it share. The facets of a region are stored. The faces of one
dimension less inside a face are its largest intersections with other facets of the region.
Invariant: the regions of a convex domain make a complex of which the alternating sum of the numbers is 1 (Euler's
relation: the domain is contractible).
Cost: set operations for each face of each region: from 0.1 milliseconds for a region in three dimensions.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.types import Integers
from regions.ground.threads.deadline import check_time
from regions.results.cells.complex import CellComplex, cached

__all__ = ["Face", "face_counts", "inner_faces", "largest_parts", "lower_faces"]

Face = frozenset[int]


def face_counts(cells: CellComplex) -> Integers:
    """The number of faces of each dimension from 0, the vertices, to d, the regions: int64 [d + 1].

    A face that several regions share counts once. In a complete partition the alternating sum is 1.
    """
    between = [len(each) for each in lower_faces(cells)[1:]]
    return read_only(np.array([len(cells.vertices), *between, len(cells.facet_kinks), len(cells)], dtype=np.int64))


@cached
def lower_faces(cells: CellComplex) -> list[set[Face]]:
    """Return the faces of each dimension from 1 to d - 2, as sets of vertices; entry 0, for vertices, is empty."""
    dimension = cells.dimension
    facets = [frozenset(part.tolist()) for part in np.split(cells.facet_vertices, cells.facet_offsets[1:-1])]
    found: list[set[Face]] = [set() for _ in range(dimension - 1)]
    for start, end in zip(cells.cell_facet_offsets.tolist(), cells.cell_facet_offsets[1:].tolist(), strict=False):
        check_time()
        around = [facets[facet] for facet in cells.cell_facets[start:end].tolist()]
        faces = set(around)
        for k in range(dimension - 2, 0, -1):
            faces = {face for each in faces for face in largest_parts(each, around)}
            found[k] |= faces
    return found


def inner_faces(cells: CellComplex, k: int) -> list[list[int]]:
    """Return the vertices of each face of dimension k, from 1 to d - 2, that is not on the domain boundary."""
    outer: list[set[int]] = [set() for _ in range(len(cells.vertices))]  # the inequalities that are equalities there
    for facet in np.flatnonzero(cells.facet_kinks < 0).tolist():
        for vertex in cells.facet_vertices[slice(*cells.facet_offsets[facet : facet + 2])].tolist():
            outer[vertex].add(int(cells.facet_kinks[facet]))
    faces = (sorted(face) for face in lower_faces(cells)[k])
    return sorted(face for face in faces if not set.intersection(*(outer[vertex] for vertex in face)))


def largest_parts(face: Face, facets: list[Face]) -> list[Face]:
    """Return the largest of the intersections of a face with facets that do not contain it."""
    parts = {common for facet in facets if len(common := face & facet) < len(face)}
    return [part for part in parts if not any(part < other for other in parts)]
