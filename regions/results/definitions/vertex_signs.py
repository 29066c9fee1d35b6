# SPDX-License-Identifier: MIT
"""Which kinks are proven to be above, and which below their breakpoints, at corners of regions?

For a maximum: which bits are proven to be 1, because one branch is above all others, and which 0, because a branch is
below another.

The forms of a region are evaluated at its corner under its pattern, as in `bounded_values.py`. Many corners at a time
share their bounds (`passes/bounded_together.py`); they are sorted by their own errors, so that corners with similar
errors share them. Undecided signs are evaluated again, each corner with its own bounds. Kinks that switch across the
facets at the corner are left out: they vanish there, and no bound proves a sign.
Cost: a forward pass per corner, and two more for corners with other undecided signs; generic networks have none.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.types import Integers, Packed
from regions.ground.threads.deadline import check_time_of_call, present_end
from regions.networks.walk import preactivations, under
from regions.passes.bounded_together import BoundedTogether
from regions.results.cells.complex import CellComplex, cached
from regions.results.cells.mesh import ranges
from regions.results.definitions.bounded_values import BoundedValues

__all__ = ["VertexSigns", "facets_at"]

# Numbers per temporary array: few enough to stay in the processor's cache.
CHUNK = 1 << 17


class VertexSigns:
    """Signs of the kinks of a network at the corners of a partition.

    Parameters
    ----------
    partition : Partition
    """

    def __init__(self, partition: CellComplex) -> None:
        self.partition, self.graph = partition, partition.network.graph
        self.together, self.alone = BoundedTogether(self.graph, partition.domain), BoundedValues(partition)

    def at(self, corners: Integers, regions: Integers, asked: Packed | None = None) -> tuple[Packed, Packed]:
        """Return which kinks are proven to be above, and below, their breakpoints at corners [m] of regions [m].

        Parameters
        ----------
        corners, regions : int64 [m]
        asked : uint8 [m, bytes] or None
            Kinks to evaluate again if undecided; None for all that do not switch there.

        Returns
        -------
        uint8 [m, bytes], uint8 [m, bytes]
        """
        partition = self.partition
        packed, vertices = partition.packed_patterns[regions], partition.cell_vertices[corners]
        signs = np.empty((2, *packed.shape), dtype=np.uint8)
        order = np.argsort(partition.vertex_errors[vertices], kind="stable")
        step = max(1, CHUNK // max(self.graph.widths))
        for start in range(0, len(order), step):
            if present_end() is not None:
                check_time_of_call()
            part = order[start : start + step]
            signs[:, part] = self._together(vertices[part], packed[part])
        open_ = ~(signs[0] | signs[1]) & (~self._switching(corners, regions) if asked is None else asked)
        if self.graph.kinks % 8:
            open_[:, -1] &= (1 << self.graph.kinks % 8) - 1
        again = np.flatnonzero(open_.any(axis=1))
        step = max(1, CHUNK // self.alone.size)
        for start in range(0, len(again), step):
            if present_end() is not None:
                check_time_of_call()
            part = again[start : start + step]
            found = self.alone.settled(vertices[part], packed[part])
            signs[:, part] |= np.packbits(found, axis=2, bitorder="little")
        return signs[0], signs[1]

    def _together(self, vertices: Integers, packed: Packed) -> Packed:
        """Return the proven signs at vertices of forms of patterns, with bounds for all of them together: uint8 [2, m,
        bytes].
        """
        partition, graph = self.partition, self.graph
        signs = np.empty((2, len(vertices), graph.kinks), dtype=bool)
        with np.errstate(all="ignore"):
            points = self.together.inputs(partition.vertices[vertices], partition.vertex_errors[vertices])
            found = preactivations(graph, self.together, points, under(graph.bits(packed)))
            for node, before in zip(graph.hidden, found, strict=False):
                distances, errors = node.units.compared(before.values), node.units.either(before.errors)
                if node.units.kink_values.any():
                    distances = distances - node.units.kink_values
                signs[:, :, node.kinks] = node.units.settled(distances > errors, distances < -errors)
        return np.packbits(signs, axis=2, bitorder="little")

    def _switching(self, corners: Integers, regions: Integers) -> Packed:
        """Return the kinks that switch across the facets at corners of regions, uint8 [m, bytes]."""
        partition, packed = self.partition, self.partition.packed_patterns
        facets, counts = facets_at(partition, corners, regions)
        neighbors, owners = partition.neighbors[facets], np.repeat(regions, counts)
        changed = packed[owners] ^ packed[np.where(neighbors < 0, owners, neighbors)]
        result: Packed = np.bitwise_or.reduceat(changed, np.cumsum(counts) - counts, axis=0)
        return result


def facets_at(cells: CellComplex, corners: Integers, regions: Integers) -> tuple[Integers, Integers]:
    """Return the places in ``cell_facets`` of the facets of regions [m] at their corners [m], one corner after the
    other, and how many each has: int64 [k], [m].
    """
    if cells.dimension == 1:
        return corners, np.ones_like(corners)
    if cells.dimension == 2:  # a facet ends where the next one begins
        first, end = cells.cell_offsets[regions], cells.cell_offsets[regions + 1]
        before = np.where(corners > first, corners, end) - 1
        return np.stack([corners, before], axis=1).ravel(), np.full(len(corners), 2)
    keys, places = _facets_of_corners(cells)
    wanted = regions * len(cells.vertices) + cells.cell_vertices[corners]
    starts = np.searchsorted(keys, wanted)
    counts = np.searchsorted(keys, wanted, side="right") - starts
    return places[ranges(starts, counts)], counts


@cached
def _facets_of_corners(cells: CellComplex) -> tuple[Integers, Integers]:
    """Return the numbers ``region * vertices + vertex`` of the corners of all facets of all regions, ascending, and the
    place of each facet in ``cell_facets``: int64 [k] each.
    """
    sizes = np.diff(cells.facet_offsets)[cells.cell_facets]
    vertices = cells.facet_vertices.ravel()[ranges(cells.facet_offsets[cells.cell_facets], sizes)]
    places = np.repeat(np.arange(len(cells.cell_facets)), sizes)
    regions = np.repeat(np.arange(len(cells)), np.diff(cells.cell_facet_offsets))
    keys = regions[places] * len(cells.vertices) + vertices
    order = np.argsort(keys, kind="stable")
    return keys[order], places[order]
