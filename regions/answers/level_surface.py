# SPDX-License-Identifier: MIT
"""Where does an output cross a threshold in three dimensions, as a surface with exact topology?

An added unit, the output minus the threshold, has its kink there. Cells on which bounds prove that the output is not
the threshold are left out (csrc/README.md), so only cells near the surface are cut. The surface consists
of the facets between regions where the output is above the threshold and other regions: convex polygons, whose shared
vertices and edges the core knows from sign vectors. All this is exact; coordinates and areas are rounded, with proven
bounds.
Invariant: if the output equals the threshold on a whole region, that region is not above it. Regions at the surface,
and at its vertices, are never left out.
Cost: less than an enumeration with one unit more, as the surface meets few of the cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import fsum
from os import PathLike
from typing import Any

import numpy as np

from regions.answers.shares import proven_sum
from regions.answers.surface_mesh import oriented_mesh
from regions.counting.count_and_enumerate import enumerate_with_maps
from regions.domains import Domain
from regions.errors import DomainError
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import Workers, flag
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.roundoff import U
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.ground.text.tables import facts_table
from regions.ground.threads.progress import Progress
from regions.networks.network import Network, with_graph
from regions.networks.parts import signing
from regions.results.cells.exact_polytopes import ExactPolytopes
from regions.results.cells.mesh import Mesh, area_vectors
from regions.results.export.meshes import as_placed, write_mesh
from regions.results.partition import Partition

__all__ = ["LevelSurface", "level_surface"]


@dataclass(frozen=True, eq=False, repr=False)
class LevelSurface(JsonReport):
    """The surface on which an output crosses a threshold in a box, as polygons with shared vertices.

    V vertices, E edges, F polygons, C components. Returned by `regions.level_set` in three dimensions.

    Attributes
    ----------
    partition : Partition
        Regions of the network with units at the threshold: those near the surface. It is not complete.
    threshold : float
    facets : int64 [F]
        Polygon f is the facet ``facets[f]`` of the partition.
    regions : int64 [F, 2]
        The region on each side: first the one where the output is above the threshold.
    vertices, vertex_errors : float64 [V, 3], [V]
        Chart coordinates, and proven bounds on their errors, as in a partition.
    points : float64 [V, n_in]
        The vertices as points of input space, rounded.
    offsets : int64 [F + 1]
        Polygon f has the vertices ``corners[offsets[f]:offsets[f + 1]]``.
    corners : int64 [..]
        Counter-clockwise, as seen from where the output is above the threshold. Polygons are convex and flat.
    triangles : int64 [T, 3]
        The vertices of the polygons, cut into triangles with the same orientation.
    edges : int64 [E, 2]
        The two vertices of each edge.
    boundary_edges : int64 [m, 2]
        The edges at which the surface ends. They lie on the boundary of the domain, or at a third class for
        `Decisions.surface`. All other edges have as many polygons in one direction as in the other.
    area, error : float
        Area in input space, and a proven bound on the error.
    euler_characteristic : int
        V - E + F.
    components : int64 [F]
        The number, from 0, of the connected component of each polygon. Components that touch in a vertex are one.
    euler_characteristics, genera : int64 [C]
        V - E + F of each component, and its genus: -1 if the component has a boundary, or touches itself.
    closed : bool
        Whether the surface has no boundary.
    manifold : bool
        Whether it is a surface at all points. Otherwise it touches itself: an edge has four polygons or more, or a
        vertex has two fans of polygons.

    Examples
    --------
    >>> import numpy as np, regions
    >>> net = regions.Network([(np.vstack([np.eye(3), -np.eye(3)]), None), (np.ones((1, 6)), None)])  # |x| + |y| + |z|
    >>> found = regions.level_set(net, regions.Box([-2] * 3, [2] * 3), 1.0)
    >>> found
    LevelSurface(8 polygons, area 6.9282, closed, Euler characteristic 2)
    >>> found.genera, round(found.enclosed[0], 12)
    (array([0]), 1.333333333333)
    """

    partition: Partition
    threshold: float
    facets: Integers
    regions: Integers
    vertices: Floats
    vertex_errors: Floats
    _numbers: Integers
    _mesh: Mesh

    @property
    def offsets(self) -> Integers:
        return self._mesh.offsets

    @property
    def corners(self) -> Integers:
        return self._mesh.corners

    @property
    def triangles(self) -> Integers:
        return self._mesh.triangles

    @property
    def edges(self) -> Integers:
        return self._mesh.edges

    @property
    def boundary_edges(self) -> Integers:
        return self._mesh.edges[self._mesh.is_boundary]

    @cached_property
    def points(self) -> Floats:
        return self.partition.domain.to_input(self.vertices).reshape(len(self.vertices), self.partition.domain.n_in)

    @property
    def area(self) -> float:
        return self._area[0]

    @property
    def error(self) -> float:
        return self._area[1]

    @cached_property
    def _area(self) -> tuple[float, float]:
        part = self.partition
        return proven_sum(part.facet_volumes[self.facets], part.facet_volume_errors[self.facets])

    @property
    def euler_characteristic(self) -> int:
        return int(self._mesh.euler_characteristics.sum())

    @property
    def components(self) -> Integers:
        return self._mesh.component_of[self.corners[self.offsets[:-1]]]

    @property
    def euler_characteristics(self) -> Integers:
        return self._mesh.euler_characteristics

    @property
    def genera(self) -> Integers:
        return self._mesh.genera

    @property
    def closed(self) -> bool:
        return not self._mesh.is_boundary.any()

    @property
    def manifold(self) -> bool:
        return bool(self._mesh.is_manifold.all())

    @cached_property
    def enclosed(self) -> tuple[float, float]:
        """The volume in input space that a closed surface encloses, and a proven bound on its error.

        Parts where the output is not above the threshold count as positive, and parts where it is above as negative: a
        shell in which a distance is at most the threshold has its own volume, without its cavity.

        Raises
        ------
        DomainError
            The surface ends at the boundary of the domain, so it encloses nothing.
        """
        if not self.closed:
            raise DomainError(
                f"the surface ends, at {len(self.boundary_edges)} edges, and encloses no volume; "
                "take a larger box, or regions.enumerate and the volumes of regions"
            )
        firsts = self.corners[self.offsets[:-1]]
        # Coordinates become at most about one in size, by a power of two, so that no product overflows.
        exponent = int(np.frexp(np.abs(self.vertices).max(initial=0.0))[1])
        factor, more = self.partition.domain.split_scale
        with np.errstate(all="ignore"):
            points = Proven(self.vertices, self.vertex_errors[:, np.newaxis]).scaled(-exponent)
            # A volume is a third of the sum of a point of each polygon times its area vector, from any origin.
            parts = (points[firsts] - points.value[:1].sum(axis=0)) * area_vectors(self._mesh, points)
            volume, error = (fsum(each.ravel().tolist()) for each in parts)
            scaled = Proven(volume, error + 2 * U * abs(volume)) / 6 * Proven.rounded(factor, 4)
            found = scaled.scaled(3 * exponent + more).checked
        return float(found.value), float(found.error)

    def exact_vertices(self) -> list[tuple[Fraction, ...]]:
        """Return the vertices in chart coordinates as fractions."""
        exact = ExactPolytopes(self.partition)
        owner = np.empty(len(self.vertices), dtype=np.int64)
        owner[self.corners] = self.regions[self._mesh.owners, 0]
        found = {v: exact.point(int(owner[v]), int(self._numbers[v])) for v in np.argsort(owner).tolist()}
        return [found[v] for v in range(len(owner))]

    def export(self, path: str | PathLike[str], *, triangles: bool = True) -> None:
        """Write the surface to a file, in the format given by the suffix of its name.

        Vertices are points of input space if that has three dimensions, and chart coordinates otherwise. Faces are
        counter-clockwise, as seen from where the output is above the threshold, also if the chart mirrors the input
        space.

        Parameters
        ----------
        path : str or path
            ``.ply`` (binary) or ``.obj`` (text).
        triangles : bool
            Whether to write `triangles`, which trimesh, Open3D, PyVista and meshio read alike, or the polygons. trimesh
            refuses a ``.ply`` of polygons of several sizes, and Open3D leaves out the polygons of an ``.obj``.

        Raises
        ------
        ValueError
            An unknown suffix.
        """
        places, mirrored = as_placed(self.partition.domain, self.vertices)
        if flag(triangles, "triangles"):
            offsets, corners = 3 * np.arange(len(self.triangles) + 1), self.triangles.ravel()
        else:
            offsets, corners = self.offsets, self.corners
        if mirrored:  # all corners in reverse order, and so the polygons
            offsets, corners = len(corners) - offsets[::-1], corners[::-1]
        write_mesh(path, places, offsets, corners)

    def as_dict(self) -> dict[str, Any]:
        """Area, topology and sizes; `export` writes the polygons."""
        volume = dict(zip(("enclosed", "enclosed_error"), self.enclosed, strict=True)) if self.closed else {}
        return {
            "regions": len(self.partition),
            "threshold": self.threshold,
            "polygons": len(self.facets),
            "vertices": len(self.vertices),
            "edges": len(self.edges),
            "boundary_edges": len(self.boundary_edges),
            "area": self.area,
            "error": self.error,
            **volume,
            "manifold": self.manifold,
            "euler_characteristics": self.euler_characteristics.tolist(),
            "genera": self.genera.tolist(),
        }

    def _repr_html_(self) -> str:
        facts = [
            ("threshold", f"{self.threshold:.6g}"),
            ("area", f"{self.area:.6g}, to within {self.error:.2g}"),
            ("components", f"{len(self.euler_characteristics):,}"),
            ("boundary edges", f"{len(self.boundary_edges):,}"),
            ("Euler characteristic", f"{self.euler_characteristic:,}"),
        ]
        return facts_table(repr(self), facts)

    def __repr__(self) -> str:
        polygons = f"{len(self.facets):,} polygon{'s' * (len(self.facets) != 1)}"
        state = "closed" if self.closed else "with boundary"
        return (
            f"LevelSurface({polygons}, area {self.area:.6g}, {state}, Euler characteristic {self.euler_characteristic})"
        )


def level_surface(
    network: Network, domain: Domain, threshold: float, limit: int | None, progress: Progress, workers: Workers
) -> LevelSurface:
    """Find the surface on which the only output of a network crosses a threshold, as `regions.level_set` does."""
    cut = with_graph(network, signing(network.graph, threshold))
    # The only group is excluded where the unit is below or above its kink, so where the output is not the threshold.
    part, maps = enumerate_with_maps(cut, cut.graph, domain, [~0], limit=limit, progress=progress, workers=workers)
    kink = cut.graph.hidden[-1].kinks.start
    above: Bits = (part.packed_patterns[:, kink // 8] >> (kink % 8) & 1).astype(bool)
    sides = part.facet_regions
    inner = np.flatnonzero(sides[:, 1] >= 0)
    facets = inner[above[sides[inner, 0]] != above[sides[inner, 1]]]
    pairs = sides[facets]
    pairs = np.where(above[pairs[:, :1]], pairs, pairs[:, ::-1])
    used, mesh = oriented_mesh(part, facets, pairs[:, 0], kink, maps)
    return LevelSurface(part, threshold, facets, pairs, part.vertices[used], part.vertex_errors[used], used, mesh)
