# SPDX-License-Identifier: MIT
"""Are the bent hyperplanes of a network in general position on a domain, exactly?

A bent hyperplane is where a pre-activation is at a breakpoint. In d dimensions they are transversal if each vertex lies
on at most d of them, each facet inside the domain on one, each face of dimension k in between on at most d - k, and
none contains a region: then every cell of dimension k lies on d - k of them. A pre-activation may touch a breakpoint
without a switch, so patterns do not decide this.
A pre-activation is affine on a closed region. It is therefore at its breakpoint on a face, or a region, iff it is there
at all corners. Floating point rules this out for nearly all kinks (`definitions/vertex_signs.py`), and exact arithmetic
decides the others. Where a corner is at infinity, forms are compared instead.
If the core has met no zero sign in a bounded domain, only the forms that define a corner vanish there.
Cost: none in that case; otherwise a forward pass per vertex, up to milliseconds for each sign that it leaves open, and
in three and more dimensions the faces (`cells/face_counts.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from regions.errors import UnsupportedLayerError
from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.types import Bits, Integers, Packed
from regions.ground.text.printable import printable
from regions.ground.text.tables import facts_table
from regions.ground.threads.deadline import check_time
from regions.measures.boundary import inner_degrees
from regions.networks.graph import Maxima
from regions.results.cells.exact_outline import ExactOutlines
from regions.results.cells.exact_polytopes import ExactPolytopes, exact_corners
from regions.results.cells.face_counts import inner_faces
from regions.results.definitions.incidence import Corners, at_infinity
from regions.results.definitions.vertex_signs import VertexSigns, facets_at
from regions.results.partition import Partition, require_complete

__all__ = ["Transversality", "transversality"]

# Signs per temporary array.
CHUNK = 1 << 21


@dataclass(frozen=True, eq=False, repr=False)
class Transversality:
    """Where the bent hyperplanes of a network are not in general position; returned by `transversality`.

    Attributes
    ----------
    partition : Partition
    vertices : int64 [m]
        Vertices inside the domain, on more bent hyperplanes than there are dimensions.
    facets : int64 [m]
        Facets inside the domain, on several bent hyperplanes.
    flat : int64 [m, 2]
        Pairs of a region and a kink whose pre-activation is at its breakpoint everywhere in the region.
    faces : int
        Number of faces inside the domain, between vertices and facets in dimension, on more bent hyperplanes
        than the dimensions they lack. 0 on lines and in planes, which have no such faces.
    """

    partition: Partition
    vertices: Integers
    facets: Integers
    flat: Integers
    faces: int = 0

    @property
    def holds(self) -> bool:
        """Whether all bent hyperplanes are in general position on the domain."""
        return not (len(self.vertices) or len(self.facets) or len(self.flat) or self.faces)

    def _facts(self) -> list[tuple[str, str]]:
        parts = [
            ("vertices", len(self.vertices)),
            *([("faces between", self.faces)] if self.partition.dimension > 2 else []),
            ("facets", len(self.facets)),
            ("flat regions", len(self.flat)),
        ]
        return [(f"{name} that are not general", f"{number:,}") for name, number in parts]

    def _repr_html_(self) -> str:
        return facts_table(repr(self), self._facts())

    def __repr__(self) -> str:
        if self.holds:
            return "Transversality(holds)"
        between = f"{self.faces} faces, " * (self.partition.dimension > 2)
        return (
            f"Transversality(fails at {len(self.vertices)} vertices, {between}{len(self.facets)} facets, "
            f"{len(self.flat)} flat)"
        )


def transversality(partition: Partition) -> Transversality:
    """Decide whether the bent hyperplanes of a network are in general position on a domain.

    Parameters
    ----------
    partition : Partition

    Returns
    -------
    Transversality
        About the interior of the domain: kinks that meet on the domain boundary do not matter.

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one.
    UnsupportedLayerError
        The network has maxima.

    References
    ----------
    Grigsby, Lindsey, On transversality of bent hyperplane arrangements and the topological expressiveness of ReLU
    neural networks, 2022; Masden, Algorithmic determination of the combinatorial structure of the linear regions of
    ReLU neural networks, 2022. For a network with more inputs this is about its restriction to the
    domain's line, plane or space.

    Examples
    --------
    >>> import regions
    >>> square = regions.Rectangle([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0])
    >>> lines = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> through_one_point = regions.Network([(lines, [0.0, 0.0, 0.0]), ([[1.0, 1.0, 1.0]], [0.0])])
    >>> transversality(regions.enumerate(through_one_point, square))
    Transversality(fails at 1 vertices, 0 facets, 0 flat)
    >>> moved = regions.Network([(lines, [0.0, 0.0, 0.5]), ([[1.0, 1.0, 1.0]], [0.0])])
    >>> transversality(regions.enumerate(moved, square)).holds
    True
    """
    require_complete(partition)
    for number, node in enumerate(partition.network.graph.hidden):
        if isinstance(node.units, Maxima):
            raise UnsupportedLayerError(
                f"node {number} ({printable(node.name)}) has max units, and transversality is defined for units with "
                "breakpoints"
            )
    none = np.zeros(0, dtype=np.int64)
    if partition.network.kinks == 0 or (partition.domain.bounded and partition.stats.get("zero") == 0):
        return Transversality(partition, read_only(none), read_only(none), read_only(none.reshape(0, 2)))
    vanishing = _Vanishing(partition)
    several = vanishing.counts > partition.dimension
    vertices = np.flatnonzero(several & vanishing.inside)
    facets, flat = vanishing.facets(), vanishing.whole_regions()
    return Transversality(partition, read_only(vertices), read_only(facets), read_only(flat), vanishing.faces())


class _Vanishing:
    """Which kinks vanish at vertices, on facets, and in regions?"""

    def __init__(self, partition: Partition) -> None:
        self.partition, self.infinite = partition, at_infinity(partition)
        self.corners = Corners.of(partition)
        kinks = partition.network.kinks
        # At infinity all bits are 1, so that they do not count in a conjunction.
        self.at_vertices = np.full((len(partition.vertices), (kinks + 7) // 8), 255, dtype=np.uint8)
        if kinks % 8:
            self.at_vertices[:, -1] = (1 << kinks % 8) - 1
        finite = np.flatnonzero(~self.infinite)
        step = max(1, CHUNK // kinks)
        for start in range(0, len(finite), step):
            part = finite[start : start + step]
            self.at_vertices[part] = self._at(part)

    @cached_property
    def outlines(self) -> ExactOutlines | ExactPolytopes:
        """Built on first use: it converts all weights to integers."""
        return exact_corners(self.partition)

    @cached_property
    def counts(self) -> Integers:
        """Number of kinks that vanish at each vertex, int64 [V]; 0 at infinity."""
        return np.where(self.infinite, 0, _number_of_bits(self.at_vertices))

    @property
    def inside(self) -> Bits:
        """Which vertices are inside the domain, bool [V]."""
        return inner_degrees(self.partition, self.partition.facet_kinks >= 0) > 0

    def facets(self) -> Integers:
        """Return the facets inside the domain on which several kinks vanish, int64 [m]."""
        partition = self.partition
        facets = np.flatnonzero(partition.facet_kinks >= 0)
        at_corners = self.at_vertices[partition.facet_vertices.ravel()]
        bits = np.bitwise_and.reduceat(at_corners, partition.facet_offsets[:-1], axis=0)[facets]
        endless = np.bitwise_or.reduceat(self.infinite[partition.facet_vertices.ravel()], partition.facet_offsets[:-1])
        several = _number_of_bits(bits) > 1
        for index in np.flatnonzero(several & endless[facets]).tolist():
            region = int(partition.facet_regions[facets[index]].max())
            line = self._form(region, int(partition.facet_kinks[facets[index]]))
            on_line = [_parallel(self._form(region, kink), line) for kink in self._kinks(bits[index])]
            several[index] = sum(on_line) > 1
        return facets[several]

    def faces(self) -> int:
        """Return the number of faces between vertices and facets on too many bent hyperplanes."""
        partition, number = self.partition, 0
        if partition.dimension > 2:
            for k in range(1, partition.dimension - 1):
                for face in inner_faces(partition, k):
                    check_time()
                    bits = np.bitwise_and.reduce(self.at_vertices[face], axis=0)
                    number += int(_number_of_bits(bits[np.newaxis])[0] > partition.dimension - k)
        return number

    def whole_regions(self) -> Integers:
        """Return the pairs of regions and kinks that vanish everywhere in them, int64 [m, 2]."""
        partition = self.partition
        at_corners = self.at_vertices[partition.cell_vertices]
        bits = np.bitwise_and.reduceat(at_corners, partition.cell_offsets[:-1], axis=0)
        endless = np.bitwise_or.reduceat(self.infinite[partition.cell_vertices], partition.cell_offsets[:-1])
        pairs = []
        for region in np.flatnonzero(bits.any(axis=1)).tolist():
            for kink in self._kinks(bits[region]):
                if not endless[region] or not any(self._form(region, kink)):
                    pairs.append((region, kink))
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def _at(self, vertices: Integers) -> Packed:
        """Return the kinks that vanish at vertices that are not at infinity, uint8 [m, bytes]."""
        found, counts = self.corners.at(vertices)
        corner = found[np.cumsum(counts) - counts]
        regions = self.corners.regions[corner]
        everything = np.broadcast_to(self._all_kinks, (len(vertices), len(self._all_kinks)))
        above, below = VertexSigns(self.partition).at(corner, regions, everything)
        open_ = everything & ~(above | below)
        meeting = self._meeting_at(corner, regions)
        for row in np.flatnonzero(open_.any(axis=1)).tolist():
            point = self.outlines.vertex(int(corner[row]))
            for kink in self._kinks(open_[row] & ~meeting[row]):
                form = self.outlines.forms.kink(kink)
                if sum(a * b for a, b in zip(form, point, strict=True)):
                    open_[row, kink >> 3] &= 255 ^ (1 << (kink & 7))
        return open_

    def _meeting_at(self, corners: Integers, regions: Integers) -> Packed:
        """Return the kinks that the facets of regions [m] at their corners [m] name, uint8 [m, bytes]."""
        places, counts = facets_at(self.partition, corners, regions)
        kinks, rows = (
            self.partition.facet_kinks[self.partition.cell_facets[places]],
            np.repeat(np.arange(len(corners)), counts),
        )
        named = np.zeros((len(corners), self.partition.network.kinks), dtype=bool)
        named[rows[kinks >= 0], kinks[kinks >= 0]] = True
        return np.packbits(named, axis=1, bitorder="little")

    @cached_property
    def _all_kinks(self) -> Packed:
        return np.packbits(np.ones(self.partition.network.kinks, dtype=bool), bitorder="little")

    def _form(self, region: int, kink: int) -> tuple[int, ...]:
        packed, forms = self.partition.packed_patterns[region], self.outlines.forms
        kinks = self.partition.network.kinks
        forms.enter(np.unpackbits(packed, count=kinks, bitorder="little").view(np.bool_))
        return forms.kink(kink)

    @staticmethod
    def _kinks(bits: Packed) -> list[int]:
        found: list[int] = np.flatnonzero(np.unpackbits(bits, bitorder="little")).tolist()
        return found


def _number_of_bits(packed: Packed) -> Integers:
    """Return the number of bits in each row, int64 [m]."""
    number: Integers = np.unpackbits(packed, axis=1).sum(axis=1, dtype=np.int64)
    return number


def _parallel(form: tuple[int, ...], line: tuple[int, ...]) -> bool:
    """Return whether a form is a multiple of another one, which is not zero."""
    a, b = form, line
    return all(a[i] * b[j] == a[j] * b[i] for i in range(len(a)) for j in range(i))
