# SPDX-License-Identifier: MIT
"""Which activation patterns are attained on edges, vertices and other faces of regions only?

Inside a face every pre-activation is above, at or below its breakpoint throughout, because otherwise the face would
be cut. By continuity its sign there, and at a vertex, is the sign in the regions around, or zero. So a kink's bit is 1
at a vertex iff it is 1 in all regions around and the kink does not vanish there; and inside a face iff it is 1 at one
of its vertices. A kink that is on in all regions around vanishes only by coincidence (units that read |x| do it at 0).
Floating point rules this out for nearly all kinks (`vertex_signs.py`), and exact arithmetic decides the others. An
endless edge has no pattern at infinity: there the kink's form is compared with the line of the edge, exactly.
The points with one pattern form a convex set, the solution of affine inequalities. If it has an interior, it is a
region around each of its points. So a pattern on a face is new iff none of the regions around has it, or none at all.
A bounded domain has no new pattern if the core has met no zero sign. To see this, take any point and follow it through
the core's cuts, to the side where the kink is on iff it is on at the point. A kink that was proven to be on in a whole
cell is positive at all corners of the cell, so it is on at the point. A kink that was proven to be off is 0 or below
there. The pattern of the point is therefore the pattern of the region where the cuts end.
Cost: none in that case; otherwise two forward passes per vertex, and microseconds to milliseconds for each sign that
they leave undecided. In three and more dimensions also the faces (`cells/face_counts.py`).
"""

from __future__ import annotations

from functools import cached_property
from operator import mul

import numpy as np

from regions.errors import InternalError, UnsupportedLayerError
from regions.ground.arithmetic.types import Bits, Integers, Packed
from regions.ground.text.printable import printable
from regions.ground.threads.deadline import check_time, check_time_of_call, present_end
from regions.networks.graph import Maxima
from regions.networks.network import Network
from regions.results.cells.exact_outline import ExactOutlines
from regions.results.cells.exact_polytopes import ExactPolytopes, exact_corners
from regions.results.cells.face_counts import lower_faces
from regions.results.definitions.incidence import Corners, at_infinity
from regions.results.definitions.vertex_signs import VertexSigns
from regions.results.partition import Partition

__all__ = ["lower_patterns"]

# Numbers per temporary array.
CHUNK = 1 << 21


def lower_patterns(partition: Partition) -> Packed:
    """Return the patterns that the network has in the domain or on its boundary, but on no full-dimensional set.

    Parameters
    ----------
    partition : Partition

    Returns
    -------
    uint8 [m, bytes]
        Packed, without repetition.

    Raises
    ------
    UnsupportedLayerError
        The network has maxima.

    Examples
    --------
    >>> import regions
    >>> absolute = regions.Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> lower_patterns(regions.enumerate(absolute, regions.Segment([-1.0], [1.0])))
    array([[0]], dtype=uint8)
    """
    _require_breakpoints(partition.network)
    packed = partition.packed_patterns
    if partition.network.kinks == 0 or (partition.domain.bounded and partition.stats.get("zero") == 0):
        return packed[:0]
    corners, infinite = Corners.of(partition), at_infinity(partition)
    at_vertices = _at_vertices(partition, corners, np.flatnonzero(~infinite))
    if partition.dimension > 2:
        return _other_rows(_on_all_faces(partition, at_vertices), packed)
    by_vertex = partition.cell_vertices
    known = np.zeros(len(at_vertices), dtype=bool)
    known[by_vertex[_same(packed, corners.regions, at_vertices, by_vertex)]] = True
    found = [at_vertices[~(known | infinite)]]
    if partition.dimension == 2:
        found.append(_on_edges(partition, at_vertices, infinite))
    return np.unique(np.concatenate(found), axis=0)


def _require_breakpoints(network: Network) -> None:
    """Refuse maxima: on an edge a branch may be the argmax that is not the argmax in any region around."""
    for number, node in enumerate(network.graph.hidden):
        if isinstance(node.units, Maxima):
            raise UnsupportedLayerError(
                f"node {number} ({printable(node.name)}) has max units, for which the definition 'pattern' is not "
                "supported: on an edge or in a point, where several branches are equal, the argmax may be one that "
                "is not the argmax elsewhere; use 'activation', whose regions are the patterns that have an interior"
            )


def _on_all_faces(partition: Partition, at_vertices: Packed) -> Packed:
    """Return the patterns on all faces of regions, of each lower dimension."""
    starts = partition.facet_offsets[:-1]
    found = [at_vertices, np.bitwise_or.reduceat(at_vertices[partition.facet_vertices], starts, axis=0)]
    for faces in lower_faces(partition):
        for face in faces:
            check_time()
            found.append(np.bitwise_or.reduce(at_vertices[list(face)], axis=0)[np.newaxis])
    return np.concatenate(found)


def _other_rows(rows: Packed, known: Packed) -> Packed:
    """Return the distinct rows that are not among known ones."""
    among = set(map(bytes, known))
    new = sorted({row for row in map(bytes, rows) if row not in among})
    return np.frombuffer(b"".join(new), dtype=np.uint8).reshape(-1, known.shape[1])


def _at_vertices(partition: Partition, corners: Corners, vertices: Integers) -> Packed:
    """Return the patterns at some vertices, uint8 [V, bytes]; 0 at the others."""
    kinks, packed = partition.network.kinks, partition.packed_patterns
    result = np.zeros((len(partition.vertices), packed.shape[1]), dtype=np.uint8)
    signs, exact = VertexSigns(partition), _ExactZeros(partition)
    step = max(1, CHUNK // kinks)
    for start in range(0, len(vertices), step):
        if present_end() is not None:
            check_time_of_call()
        part = vertices[start : start + step]
        found, counts = corners.at(part)
        firsts = np.cumsum(counts) - counts
        on_around = np.bitwise_and.reduceat(packed[corners.regions[found]], firsts, axis=0)
        corner = found[firsts]
        above, _ = signs.at(corner, corners.regions[corner], on_around)
        open_ = on_around & ~above
        rows = np.flatnonzero(open_.any(axis=1))
        for index, kink in np.argwhere(np.unpackbits(open_[rows], axis=1, bitorder="little")).tolist():
            on_around[rows[index], kink >> 3] ^= exact.vanishes_at(int(corner[rows[index]]), kink) << (kink & 7)
        result[part] = on_around
    return result


def _on_edges(partition: Partition, at_vertices: Packed, infinite: Bits) -> Packed:
    """Return the patterns inside edges that differ from the patterns of the regions on both sides."""
    packed = partition.packed_patterns
    ends, sides = partition.facet_vertices, partition.facet_regions
    # The edges of a whole plane have both ends at infinity, and no points; so does a line through the plane.
    edges = np.flatnonzero((partition.facet_kinks >= 0) | partition.domain.bounded)
    patterns = at_vertices[ends[edges, 0]] | at_vertices[ends[edges, 1]]
    endless = np.flatnonzero(infinite[ends[edges]].any(axis=1))
    exact = _ExactZeros(partition)
    for index in endless.tolist():
        if present_end() is not None:
            check_time_of_call()
        patterns[index] |= exact.on_edge(int(edges[index]), patterns[index])
    rows = np.arange(len(edges))
    known = np.zeros(len(edges), dtype=bool)
    for side in sides[edges].T:
        inner = rows[side >= 0]
        known[inner[_same(packed, side[inner], patterns, inner)]] = True
    new: Packed = patterns[~known]
    return new


class _ExactZeros:
    """Exact decisions whether kinks vanish that are on in a region."""

    def __init__(self, partition: Partition) -> None:
        self.partition, self.corner = partition, -1

    @cached_property
    def outlines(self) -> ExactOutlines | ExactPolytopes:
        """Built on first use: it converts all weights to integers."""
        return exact_corners(self.partition)

    def vanishes_at(self, corner: int, kink: int) -> bool:
        """Return whether the form of a kink that is on in the region of a corner is zero there."""
        if corner != self.corner:
            if present_end() is not None:
                check_time_of_call()
            self.corner, self.point = corner, self.outlines.vertex(corner)
        value: int = sum(map(mul, self.outlines.forms.kink(kink), self.point))
        if value < 0:
            raise InternalError(
                f"kink {kink} is on in a region and negative at its corner {corner}: please report this"
            )
        return value == 0

    def on_edge(self, edge: int, known: Packed) -> Packed:
        """Return which other kinks are on inside an edge, uint8 [bytes], given some that are known to be on."""
        packed = self.partition.packed_patterns
        first, second = self.partition.facet_regions[edge].tolist()
        forms = self.outlines.forms
        bits = np.unpackbits(packed[first], count=self.partition.network.kinks, bitorder="little").view(np.bool_)
        forms.enter(bits)
        line = forms.kink(int(self.partition.facet_kinks[edge]))
        on = np.unpackbits(packed[first] & packed[second] & ~known, bitorder="little")
        for kink in np.flatnonzero(on).tolist():
            a, b = forms.kink(kink), line
            on[kink] = (a[0] * b[1], a[1] * b[2], a[2] * b[0]) != (a[1] * b[0], a[2] * b[1], a[0] * b[2])
        result: Packed = np.packbits(on, bitorder="little")
        return result


def _same(left: Packed, rows: Integers, right: Packed, others: Integers) -> Integers:
    """Return the indices i for which ``left[rows[i]]`` equals ``right[others[i]]``."""
    found = [np.zeros(0, dtype=np.int64)]
    step = max(1, CHUNK // left.shape[1])
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        found.append(start + np.flatnonzero((left[rows[part]] == right[others[part]]).all(axis=1)))
    return np.concatenate(found)
