# SPDX-License-Identifier: MIT
"""Which regions are no longer polygons once their corners are rounded?

A true region is convex and runs counter-clockwise. With rounded corners it is *folded* if two of them coincide, if its
edges cross or touch outside common corners, if it runs clockwise, or if one of its edges on the domain boundary runs
backwards. If no region is folded, the rounded polygons fit together like the true ones: neighbours share edges, none is
turned over, and they surround each interior point of the domain once. Unions of regions are then valid as well.
All of this is decided exactly. Most regions are still convex, which floating point with an error bound can prove;
the others are checked in integers, because every coordinate is an integer times a power of two.
Cost: some 20 passes over the corners; for a doubtful region some ten microseconds, and more for many corners.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from regions.domains.abilities import SHAPELY_GEOMETRIES, require
from regions.ground.arithmetic.dyadic import dyadic
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.types import Bits, Exponents, Integers
from regions.results.cells.cell_geometry import next_corners
from regions.results.cells.complex import CellComplex

__all__ = ["folded_cells", "unit_exponents"]

Pair = tuple[int, int]


def folded_cells(cells: CellComplex) -> Integers:
    """Return the regions that are not polygons as stored, ascending; see `Partition.folded_cells`."""
    if cells.dimension == 1 or len(cells) == 0:
        return np.zeros(0, dtype=np.int64)
    require(SHAPELY_GEOMETRIES, cells.domain)
    doubtful = np.flatnonzero(~_surely_convex(cells) | ~_surely_forwards(cells))
    if doubtful.size == 0:
        return doubtful
    integers, _ = dyadic(cells.vertices)
    points = [(x, y) for x, y in integers.tolist()]
    corners, _ = dyadic(cells.domain.generators[:, 1:])
    ways = np.roll(corners, -1, axis=0) - corners
    folded = []
    for region in doubtful.tolist():
        own = slice(*cells.cell_offsets[region : region + 2].tolist())
        ring = [points[vertex] for vertex in cells.cell_vertices[own].tolist()]
        kinks = cells.facet_kinks[cells.cell_facets[own]].tolist()
        if not _simple(ring) or any(
            kink < 0 and _dot(_minus(b, a), tuple(ways[-1 - kink])) <= 0
            for kink, a, b in zip(kinks, ring, ring[1:] + ring[:1], strict=True)
        ):
            folded.append(region)
    return np.array(folded, dtype=np.int64)


def unit_exponents(cells: CellComplex) -> Exponents:
    """Return exponents e, intc [2], such that the vertices divided by 2^e are at most 1 on each axis.

    Without this scaling, products of coordinates overflow or underflow, in shapely as well.
    """
    return np.frexp(np.abs(cells.vertices).max(axis=0))[1]


def _surely_convex(cells: CellComplex) -> Bits:
    """Return which regions turn left at every corner, and once around: bool [R]."""
    starts, following = cells.cell_offsets[:-1], next_corners(cells.cell_offsets)
    corners = np.ldexp(cells.vertices, -unit_exponents(cells))[cells.cell_vertices]
    edges = corners[following].T - Proven(corners.T)
    left = (edges[0] * edges[1][following] - edges[1] * edges[0][following]).positive
    x, y = edges.value
    # All turns are below half a circle, so each round passes from the lower to the upper half once.
    lower = (y < 0.0) | ((y == 0.0) & (x < 0.0))
    around = np.add.reduceat(lower & ~lower[following], starts, dtype=np.int64)
    return np.logical_and.reduceat(left, starts) & (around == 1)


def _surely_forwards(cells: CellComplex) -> Bits:
    """Return which regions have edges on the domain boundary that all run in its direction: bool [R]."""
    domain, scale = cells.domain.generators[:, 1:], -unit_exponents(cells)
    ways = (np.roll(domain, -1, axis=0) / 2 - Proven(domain / 2)).scaled(scale)
    outer = np.flatnonzero(cells.facet_kinks < 0)
    start, end = (Proven(np.ldexp(cells.vertices[vertices], scale)) for vertices in cells.facet_vertices[outer].T)
    forwards = ((end - start) * ways[-1 - cells.facet_kinks[outer]]).sum(axis=1).positive
    result = np.ones(len(cells), dtype=bool)
    result[cells.facet_regions[outer[~forwards], 0]] = False
    return result


def _simple(ring: list[Pair]) -> bool:
    """Return whether a closed path with these corners meets itself nowhere, and runs counter-clockwise."""
    if len(set(ring)) < len(ring):
        return False
    if sum(_cross(a, b) for a, b in zip(ring, ring[1:] + ring[:1], strict=True)) <= 0:
        return False
    edges = list(zip(ring, ring[1:] + ring[:1], strict=True))
    if any(_back(edge, after) for edge, after in zip(edges, edges[1:] + edges[:1], strict=True)):
        return False
    apart = (pair for pair in combinations(range(len(edges)), 2) if 1 < pair[1] - pair[0] < len(edges) - 1)
    return not any(_meet(*edges[i], *edges[j]) for i, j in apart)


def _back(edge: tuple[Pair, Pair], after: tuple[Pair, Pair]) -> bool:
    """Return whether the next edge runs back along the edge before it."""
    one, other = _minus(edge[1], edge[0]), _minus(after[1], after[0])
    return _cross(one, other) == 0 and _dot(one, other) < 0


def _meet(a: Pair, b: Pair, c: Pair, d: Pair) -> bool:
    """Return whether the segments from a to b and from c to d have a point in common."""
    abc, abd, cda, cdb = _side(a, b, c), _side(a, b, d), _side(c, d, a), _side(c, d, b)
    if abc * abd < 0 and cda * cdb < 0:
        return True
    touching = ((abc, a, b, c), (abd, a, b, d), (cda, c, d, a), (cdb, c, d, b))
    return any(side == 0 and _dot(_minus(p, q), _minus(p, r)) <= 0 for side, q, r, p in touching)


def _side(a: Pair, b: Pair, c: Pair) -> int:
    """Return 1 if c is to the left of the path from a to b, -1 if to the right, 0 on its line."""
    area = _cross(_minus(b, a), _minus(c, a))
    return (area > 0) - (area < 0)


def _minus(a: Pair, b: Pair) -> Pair:
    return a[0] - b[0], a[1] - b[1]


def _cross(a: Pair, b: Pair) -> int:
    return a[0] * b[1] - a[1] * b[0]


def _dot(a: Pair, b: Pair) -> int:
    return a[0] * b[0] + a[1] * b[1]
