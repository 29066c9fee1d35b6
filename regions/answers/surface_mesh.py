# SPDX-License-Identifier: MIT
"""Which surface do facets between two kinds of regions make, in three dimensions?

Each facet is a polygon, oriented by the gradient of a function that grows across it.
Invariant: each edge inside the domain has as many polygons in one direction as in the other.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.types import Integers
from regions.results.cells.complex import CellComplex
from regions.results.cells.exact_polytopes import ExactPolytopes
from regions.results.cells.mesh import Mesh, is_turned_away, ranges, turned_towards
from regions.results.cells.output_maps import OutputMaps

__all__ = ["oriented_mesh"]


def oriented_mesh(
    cells: CellComplex, facets: Integers, regions: Integers, kink: int, maps: OutputMaps
) -> tuple[Integers, Mesh]:
    """Return the vertices of facets [m], int64 [V], and the facets as polygons of these vertices.

    Parameters
    ----------
    cells : CellComplex
        In three dimensions.
    facets, regions : int64 [m]
        Facets, and one of the two regions at each.
    kink : int
        A kink whose pre-activation is the first output in ``maps``. It is at its breakpoint on the facets and above it
        inside the regions. Polygons are counter-clockwise as seen from there.
    maps : OutputMaps
    """
    sizes = np.diff(cells.facet_offsets)[facets]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    used, corners = np.unique(cells.facet_vertices[ranges(cells.facet_offsets[facets], sizes)], return_inverse=True)
    mesh = Mesh(len(used), offsets, corners.ravel().astype(np.int64))
    exact = ExactPolytopes(cells)

    def is_away(polygon: int) -> bool:
        region, three = int(regions[polygon]), used[mesh.corners[offsets[polygon] : offsets[polygon] + 3]].tolist()
        points = [exact.point(region, vertex) for vertex in three]
        return is_turned_away(points, exact.forms.kink(kink)[1:])

    points = Proven(cells.vertices[used], cells.vertex_errors[used, np.newaxis])
    return used, turned_towards(mesh, points, Proven(*maps)[regions, 0, 1:], regions, is_away)
