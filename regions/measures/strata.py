# SPDX-License-Identifier: MIT
"""How large are the strata of a boundary in three and more dimensions?

The stratum B_{N,k} of Hanin and Rolnick is the part of the boundary around which the rest, without the strata before
it, is a plane of codimension k. It consists of faces of dimension d - k inside the domain. A face belongs to it iff the
normals of the boundary's facets around the face have rank k. To see this, let v be perpendicular to all these normals.
Across each facet the gradient of the network jumps along the normal, so the derivative along v is the same on both
sides, everywhere around the face: the network, and so its boundary, is straight along v. Conversely, if the boundary is
straight along v, then v is in all of its facets. Therefore the boundary is straight exactly along the vectors that are
perpendicular to the normals, and these are the directions in the face iff the rank is k.
A region around the face is convex, and the normals of all its facets there have rank k. If the boundary has all of
these facets, nothing is left to decide. Otherwise the rank is found from exact forms.
Volumes of faces are computed in floating point from the stored vertices; a face of more than one dimension is divided
into simplices.
Cost: the faces (`cells/face_counts.py`), and microseconds for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any

import numpy as np

from regions.domains.gram import gram_matrix, rank, triangular_factor
from regions.ground.arithmetic.sums import rounded_sums
from regions.ground.arithmetic.types import Bits, Floats
from regions.ground.threads.deadline import check_time
from regions.results.cells.exact_polytopes import ExactPolytopes
from regions.results.cells.face_counts import inner_faces
from regions.results.cells.pulling import pulled_face
from regions.results.partition import Partition

__all__ = ["strata_beyond_facets"]


def strata_beyond_facets(partition: Partition, chosen: Bits) -> list[float]:
    """Return the volumes of the strata of codimension 2 to d; the last one is a number of vertices.

    Parameters
    ----------
    partition : Partition
    chosen : bool [F]
        The facets of the boundary: all facets inside the domain, or those across which the gradient jumps.
    """
    faces, result = _Faces(partition, chosen), []
    for k in range(2, partition.dimension):
        found = [face for face in inner_faces(partition, partition.dimension - k) if faces.has_rank(face, k)]
        sizes = np.array([faces.size(face, partition.dimension - k) for face in found])
        result.append(float(rounded_sums(sizes, np.zeros(len(sizes), dtype=np.int64), 1)[0]))
    inside = ([vertex] for vertex in range(len(partition.vertices)) if faces.is_inside(vertex))
    result.append(float(sum(faces.has_rank(face, partition.dimension) for face in inside)))
    return result


class _Faces:
    """Faces as lists of vertices, and the facets around them."""

    def __init__(self, partition: Partition, chosen: Bits) -> None:
        self.partition, self.chosen = partition, chosen
        self.facets = [
            frozenset(each.tolist()) for each in np.split(partition.facet_vertices, partition.facet_offsets[1:-1])
        ]
        self.around: list[set[int]] = [set() for _ in range(len(partition.vertices))]
        for facet, vertices in enumerate(self.facets):
            for vertex in vertices:
                self.around[vertex].add(facet)
        factor = triangular_factor(gram_matrix(partition.domain.directions))
        self.factor = np.array(factor).T
        self.exact: ExactPolytopes | None = None

    def is_inside(self, vertex: int) -> bool:
        """Return whether a vertex is inside the domain."""
        return all(self.partition.facet_kinks[facet] >= 0 for facet in self.around[vertex])

    def has_rank(self, face: Sequence[int], k: int) -> bool:
        """Return whether the normals of the boundary's facets around a face inside the domain have rank k."""
        check_time()
        facets = set.intersection(*(self.around[vertex] for vertex in face))
        ours = [facet for facet in sorted(facets) if self.chosen[facet]]
        if len(ours) == len(facets):
            return True
        left_out = {region for facet in facets if not self.chosen[facet] for region in self._regions(facet)}
        if any(region not in left_out for facet in ours for region in self._regions(facet)):
            return True
        return len(ours) >= k and rank([self._normal(facet) for facet in ours]) == k

    def size(self, face: list[int], dimension: int) -> float:
        """Return the volume of a face of dimension 1 to d - 2."""
        if dimension == 1:
            simplices = [face]
        else:
            facet = min(set.intersection(*(self.around[vertex] for vertex in face)))
            region = self._regions(facet)[0]
            own = self.partition.cell_facets[slice(*self.partition.cell_facet_offsets[region : region + 2])]
            simplices = pulled_face(frozenset(face), dimension, [self.facets[each] for each in own.tolist()])
        corners = self.partition.vertices[np.array(simplices)]
        with np.errstate(all="ignore"):
            edges: Floats = (corners[:, 1:] - corners[:, :1]) @ self.factor
            # The triangular factor of the edges has their volume on its diagonal.
            triangles: Any = np.linalg.qr(np.swapaxes(edges, 1, 2), mode="r")
            diagonals = triangles.diagonal(axis1=1, axis2=2)
            return float(np.abs(diagonals.prod(axis=1)).sum() / factorial(dimension))

    def _regions(self, facet: int) -> list[int]:
        found: list[int] = self.partition.facet_regions[facet].tolist()
        return found

    def _normal(self, facet: int) -> tuple[int, ...]:
        if self.exact is None:
            self.exact = ExactPolytopes(self.partition)
        return self.exact.form(self._regions(facet)[0], int(self.partition.facet_kinks[facet]))[1:]
