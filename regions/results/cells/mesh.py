# SPDX-License-Identifier: MIT
"""How do polygons in three dimensions fit together, and which side of each is which?

Facets are polygons whose vertices the core shares, so two polygons meet in the same vertices and edges, and no
coordinate is compared. A polygon is oriented by a direction that is known to point away from one of its sides: its area
vector has a positive product with the direction. If error bounds do not decide the sign, it is computed in fractions.
Invariant: no orientation depends on rounding.
Cost: microseconds for each polygon.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.roundoff import SMALLEST, U
from regions.ground.arithmetic.types import Bits, Integers
from regions.results.cells.complex import CellComplex
from regions.results.cells.exact_polytopes import ExactPolytopes

__all__ = ["Mesh", "area_vectors", "facets_seen_from_outside", "is_turned_away", "ranges", "turned_towards"]


def ranges(starts: Integers, counts: Integers) -> Integers:
    """Return ``starts[0], starts[0] + 1, ..`` (``counts[0]`` of them), then ``starts[1], ..``, and so on."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(counts.sum())


@dataclass(frozen=True, eq=False)
class Mesh:
    """Polygons with shared vertices, with their edges, components and orientation.

    Attributes
    ----------
    count : int
        Number V of vertices.
    offsets : int64 [F + 1]
        Polygon f has the corners ``offsets[f]:offsets[f + 1]``.
    corners : int64 [K]
        The vertex at each corner, counter-clockwise.
    """

    count: int
    offsets: Integers
    corners: Integers

    @cached_property
    def after(self) -> Integers:
        """The next corner around the polygon, for each corner."""
        result = np.arange(1, len(self.corners) + 1)
        result[self.offsets[1:] - 1] = self.offsets[:-1]
        return result

    @property
    def following(self) -> Integers:
        """The vertex at the next corner, for each corner."""
        return self.corners[self.after]

    @cached_property
    def owners(self) -> Integers:
        """The polygon of each corner."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def _edges(self) -> tuple[Integers, Integers]:
        """All edges, [E, 2] with the lower vertex first, and the edge from each corner to the next."""
        low, high = np.minimum(self.corners, self.following), np.maximum(self.corners, self.following)
        keys, which = np.unique(low * max(self.count, 1) + high, return_inverse=True)
        return np.column_stack(np.divmod(keys, max(self.count, 1))), which.ravel()

    @property
    def edges(self) -> Integers:
        return self._edges[0]

    @cached_property
    def is_boundary(self) -> Bits:
        """Which edges have more polygons in one direction than in the other: bool [E]."""
        edges, which = self._edges
        direction = np.where(self.corners < self.following, 1.0, -1.0)
        return np.bincount(which, direction, minlength=len(edges)) != 0.0

    @cached_property
    def component_of(self) -> Integers:
        """The number of the connected component of each vertex, int64 [V]."""
        return _components(self.count, self.corners, self.following)

    @cached_property
    def euler_characteristics(self) -> Integers:
        """V - E + F of each component."""
        vertices = self.component_of
        members = vertices, vertices[self.edges[:, 0]], vertices[self.corners[self.offsets[:-1]]]
        size = int(vertices.max(initial=-1)) + 1
        of_vertices, of_edges, of_polygons = (np.bincount(each, minlength=size) for each in members)
        return of_vertices - of_edges + of_polygons

    @cached_property
    def is_manifold(self) -> Bits:
        """For each component whether it is a surface at all its points: no edge has more than two polygons, and the
        polygons at a vertex are connected by its edges.
        """
        edges, which = self._edges
        result = np.ones(len(self.euler_characteristics), dtype=bool)
        result[self.component_of[edges[np.bincount(which, minlength=len(edges)) > 2, 0]]] = False
        # Two corners at a vertex are connected if their polygons share an edge that ends there.
        count = len(self.corners)
        before = np.empty(count, dtype=np.int64)
        before[self.after] = np.arange(count)
        ends = np.concatenate([which, which[before]]) * max(self.count, 1) + np.tile(self.corners, 2)
        order, of = np.argsort(ends, kind="stable"), np.tile(np.arange(count), 2)
        same = np.flatnonzero(np.diff(ends[order]) == 0)
        fans = _components(count, of[order[same]], of[order[same + 1]])
        fan_vertices = self.corners[np.unique(fans, return_index=True)[1]]
        result[self.component_of[np.flatnonzero(np.bincount(fan_vertices, minlength=self.count) > 1)]] = False
        return result

    @property
    def genera(self) -> Integers:
        """The genus of each component that is closed and a manifold, and -1 for others."""
        closed = self.is_manifold.copy()
        closed[self.component_of[self.edges[self.is_boundary, 0]]] = False
        return np.where(closed, 1 - self.euler_characteristics // 2, -1)

    @property
    def triangles(self) -> Integers:
        """The polygons as triangles that share their first corner, int64 [T, 3]."""
        sizes = np.diff(self.offsets) - 2
        second = ranges(self.offsets[:-1] + 1, sizes)
        first = np.repeat(self.offsets[:-1], sizes)
        return self.corners[np.column_stack([first, second, second + 1])]


def turned_towards(
    mesh: Mesh,
    points: Proven,
    directions: Proven,
    regions: Integers,
    is_away: Callable[[int], bool],
) -> Mesh:
    """Return the polygons with their corners counter-clockwise as seen from the ends of their directions.

    Parameters
    ----------
    mesh : Mesh
    points : Proven [V, 3]
        The vertices.
    directions : Proven [F, 3]
    regions : int64 [F]
        A region of each polygon. Undecided polygons are visited in the order of their regions.
    is_away : function of a polygon
        Return, exactly, whether a polygon's area vector has a negative product with its direction.
    """
    with np.errstate(all="ignore"):
        along = (directions * area_vectors(mesh, points)).sum(axis=1)
    backwards, undecided = along.value < 0.0, np.flatnonzero(~along.nonzero)
    for polygon in undecided[np.argsort(regions[undecided], kind="stable")].tolist():
        backwards[polygon] = is_away(polygon)
    # A polygon that is turned around keeps its first corner.
    places, sizes = np.arange(len(mesh.corners)) - mesh.offsets[mesh.owners], np.diff(mesh.offsets)
    turned = np.where(backwards[mesh.owners], -places % sizes[mesh.owners], places)
    return Mesh(mesh.count, mesh.offsets, mesh.corners[mesh.offsets[mesh.owners] + turned])


def facets_seen_from_outside(cells: CellComplex) -> Mesh:
    """Return all facets, with corners counter-clockwise as seen from outside the first of their regions.

    Parameters
    ----------
    cells : CellComplex
        In three dimensions.
    """
    mesh = Mesh(len(cells.vertices), cells.facet_offsets, cells.facet_vertices)
    first, counts = cells.facet_regions[:, 0], cells.corner_counts
    starts = cells.cell_offsets[:-1]
    around = cells.vertices[cells.cell_vertices]
    sizes = np.maximum.reduceat(np.abs(around), starts)
    moved = np.maximum.reduceat(cells.vertex_errors[cells.cell_vertices], starts)
    corners = cells.facet_vertices[cells.facet_offsets[:-1]]
    with np.errstate(all="ignore"):
        # The mean of a region's vertices lies inside it. Each term is divided first, so that no sum overflows.
        middles = np.add.reduceat(around / np.repeat(counts, counts)[:, np.newaxis], starts)
        off = moved[:, np.newaxis] + (counts[:, np.newaxis] + 2) * (U * sizes + SMALLEST)
        points = Proven(cells.vertices, cells.vertex_errors[:, np.newaxis])
        directions = points[corners] - Proven(middles, off)[first]
    exact = ExactPolytopes(cells)

    def is_away(facet: int) -> bool:
        region, around_facet = int(first[facet]), cells.facet_vertices[slice(*cells.facet_offsets[facet : facet + 2])]
        of_region = cells.cell_vertices[slice(*cells.cell_offsets[region : region + 2])]
        inner = int(np.setdiff1d(of_region, around_facet)[0])
        points = [exact.point(region, vertex) for vertex in (*around_facet[:3].tolist(), inner)]
        return is_turned_away(points[:3], [x - y for x, y in zip(points[0], points[3], strict=True)])

    return turned_towards(mesh, points, directions, first, is_away)


def is_turned_away(three: Sequence[Sequence[Fraction]], direction: Sequence[Fraction | int]) -> bool:
    """Return whether the area vector of three points has a negative product with a direction, exactly."""
    first, *others = three
    a, b = ([x - y for x, y in zip(point, first, strict=True)] for point in others)
    area = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return sum((x * y for x, y in zip(area, direction, strict=True)), Fraction(0)) < 0


def area_vectors(mesh: Mesh, points: Proven) -> Proven:
    """Return twice the area vector of each polygon, [F, 3], given the points [V, 3]."""
    a, b, c = mesh.triangles.T
    polygons, count = np.repeat(np.arange(len(mesh.offsets) - 1), np.diff(mesh.offsets) - 2), len(mesh.offsets) - 1
    with np.errstate(all="ignore"):
        one, two = points[b] - points[a], points[c] - points[a]
        products = [one[:, i] * two[:, j] - one[:, j] * two[:, i] for i, j in ((1, 2), (2, 0), (0, 1))]
        columns = [each.totals(polygons, count) for each in products]
    return Proven(np.column_stack([each.value for each in columns]), np.column_stack([each.error for each in columns]))


def _components(count: int, first: Integers, second: Integers) -> Integers:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if count == 0:
        return np.zeros(0, dtype=np.int64)
    links = coo_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(count, count))
    return connected_components(links, directed=False)[1].astype(np.int64)
