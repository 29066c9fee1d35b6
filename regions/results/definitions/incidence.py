# SPDX-License-Identifier: MIT
"""Which corners meet at a vertex, and which vertices are at infinity?

Both are derived from the arrays of a partition, in bulk. Infinity follows from the domain and the facets, not from
stored coordinates, which are infinite too if a vertex lies beyond the largest double.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.ground.arithmetic.types import Bits, Integers
from regions.results.cells.complex import CellComplex
from regions.results.cells.mesh import ranges

__all__ = ["Corners", "at_infinity"]


class Corners(NamedTuple):
    """The corners of a partition, by vertex.

    Attributes
    ----------
    regions : int64 [K]
        Region of each corner.
    by_vertex : int64 [K]
        The corners, sorted by vertex.
    offsets : int64 [V + 1]
        Vertex v has the corners ``by_vertex[offsets[v]:offsets[v + 1]]``.
    """

    regions: Integers
    by_vertex: Integers
    offsets: Integers

    @classmethod
    def of(cls, partition: CellComplex) -> Corners:
        """Sort the corners of a partition."""
        counts = np.bincount(partition.cell_vertices, minlength=len(partition.vertices))
        return cls(
            np.repeat(np.arange(len(partition)), partition.corner_counts),
            np.argsort(partition.cell_vertices, kind="stable"),
            np.concatenate([[0], np.cumsum(counts)]),
        )

    def at(self, vertices: Integers) -> tuple[Integers, Integers]:
        """Return the corners at vertices [m], one vertex after the other, and how many each has: int64 [k], [m]."""
        starts = self.offsets[vertices]
        counts = self.offsets[vertices + 1] - starts
        return self.by_vertex[ranges(starts, counts)], counts


def at_infinity(partition: CellComplex) -> Bits:
    """Return which vertices are ends of the domain at infinity, not points: bool [V]."""
    result = np.zeros(len(partition.vertices), dtype=bool)
    if not partition.domain.bounded:
        edges = -1 - partition.facet_kinks
        outer = np.flatnonzero(edges >= 0)
        if partition.dimension == 1:
            outer = outer[partition.domain.generators[edges[outer], 0] == 0.0]
        result[partition.facet_vertices[outer]] = True
    return result
