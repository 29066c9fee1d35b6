# SPDX-License-Identifier: MIT
"""Into which simplices are regions of three and more dimensions divided?

By pulling (Stanley 1980): the simplices of a face join its vertex with the smallest index to the simplices of each of
its facets that does not contain this vertex. A facet is divided once, for both of its regions. The facets of a face are
the largest of its intersections with facets of the region.
Invariant: two simplices meet in a common face, within a region and across its facets.
Cost: set operations for each face of each region: from 0.1 milliseconds for a region in three dimensions, to some tens
in six.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.types import Integers
from regions.ground.threads.deadline import check_time
from regions.results.cells.complex import CellComplex
from regions.results.cells.face_counts import Face, largest_parts

__all__ = ["pulled", "pulled_face"]


def pulled(part: CellComplex) -> list[Integers]:
    """Return the simplices of each region as their vertices: int64 [S, d + 1] each."""
    outlines = [each.tolist() for each in np.split(part.facet_vertices, part.facet_offsets[1:-1])]
    facets = [frozenset(each) for each in outlines]
    of_facets: dict[int, list[list[int]]] = {}
    found = []
    for region in range(len(part)):
        check_time()
        own = part.cell_facets[slice(*part.cell_facet_offsets[region : region + 2])].tolist()
        around, known = [facets[facet] for facet in own], dict[Face, list[list[int]]]()
        apex = int(part.cell_vertices[slice(*part.cell_offsets[region : region + 2])].min())
        simplices = []
        for facet in own:
            if apex in facets[facet]:
                continue
            if facet not in of_facets and part.dimension == 3:  # its vertices are in the order of its outline
                place = outlines[facet].index(min(outlines[facet]))  # where both regions begin to divide it
                first, *others = outlines[facet][place:] + outlines[facet][:place]
                of_facets[facet] = [[first, *ends] for ends in zip(others[:-1], others[1:], strict=True)]
            elif facet not in of_facets:
                of_facets[facet] = _pulled(facets[facet], part.dimension - 1, around, known)
            simplices += [[apex, *simplex] for simplex in of_facets[facet]]
        found.append(np.array(simplices, dtype=np.int64))
    return found


def pulled_face(face: Face, dimension: int, facets: list[Face]) -> list[list[int]]:
    """Return the simplices of a face of a region with these facets, as lists of vertices."""
    return _pulled(face, dimension, facets, {})


def _pulled(face: Face, dimension: int, facets: list[Face], known: dict[Face, list[list[int]]]) -> list[list[int]]:
    """The simplices of a face; ``known`` has those of faces that were divided before."""
    if len(face) == dimension + 1:
        return [sorted(face)]
    if face not in known:
        apex = min(face)
        known[face] = [
            [apex, *simplex]
            for below in largest_parts(face, facets)
            if apex not in below
            for simplex in _pulled(below, dimension - 1, facets, known)
        ]
    return known[face]
