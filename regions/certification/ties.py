# SPDX-License-Identifier: MIT
"""Which branches of maxima are equal at a vertex because all units that they read are zero there?

In max-pools of ReLU outputs, equal branches are most often both zero on whole regions. Bounds on their values do not
show this, but patterns do. A unit is *flat* at a vertex if it has slope and intercept 0 on its piece and none of its
kinks is open. It is *null* if it is flat, or has an open kink at which its output is 0: if all open kinks are zero at
the true position of the vertex, its output is zero there. A branch is flat, or null, if it reads only such units and
has the bias 0.

Two flat branches are equal around the vertex, in all regions there. If the later one is not the argmax, the comparison
has the right sign: it is *tied*, and not open. The comparison of two null branches is zero at the true position if all
open kinks of earlier nodes are. If a unit has an open comparison, all its tied comparisons count as open too.
Invariant: nothing is rounded; counts of inputs are small integers.
Cost: one application of the operators that maxima read by, and only if these read units.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Bits, Floats, Indices, Packed
from regions.certification.corners import Corners, bits_of
from regions.certification.open_kinks import OpenKinks, with_closed
from regions.networks.graph import Graph, Node, Operator, Units
from regions.networks.maxima import Maxima

__all__ = ["Found", "Ties", "ZeroUnits", "closed"]

# Which kinks are tied, and which compare two null branches, bool [m, kinks] each, of a node of maxima that reads units.
Found = tuple[Bits, Bits] | None
# Numbers in a block.
CHUNK = 1 << 20


class Ties:
    """The units that maxima of a network read.

    Attributes
    ----------
    sources : set of int
        The nodes whose units some maxima read.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sources: set[int] = set()
        self.reads: dict[int, list[tuple[int, Operator]]] = {}
        for number, node in enumerate(graph.hidden):
            if isinstance(node.units, Maxima) and self._reads_units(node):
                self.sources |= {read.node for read in node.reads}
                self.reads[number] = [(read.node, read.operator.entrywise(_is_not_zero)) for read in node.reads]
        # Whether the output is 0 at a kink, on both sides.
        self.zero_at: dict[int, Bits] = {}
        for source in self.sources:
            tables = graph.hidden[source].units.tables()
            level = tables.intercepts == 0.0
            self.zero_at[source] = ((tables.breakpoints == 0.0) & level[:, 1:] & level[:, :-1]).ravel()

    def _reads_units(self, node: Node) -> bool:
        return all(read.node >= 0 and isinstance(self.graph.hidden[read.node].units, Units) for read in node.reads)

    def named_apart(self, corners: Corners, among: Bits) -> Bits:
        """Return whether no facet of a region is named by a comparison of two branches that are flat in the region:
        bool [R], for some of all regions, ``among`` [R].
        """
        result, none = among.copy(), np.zeros(0, dtype=np.int64)
        for number, reads in self.reads.items():
            node = self.graph.hidden[number]
            here = among[corners.regions] & (node.kinks.start <= corners.kinks) & (corners.kinks < node.kinks.stop)
            regions = np.unique(corners.regions[here])
            step = max(1, CHUNK // node.units.rows)
            for start in range(0, len(regions), step):
                some = regions[start : start + step]
                zeros = ZeroUnits(self, corners.part.packed_patterns[some])
                for source, _ in reads:
                    zeros.add(source, none, none)
                flat, _ = zeros.of_branches(number)
                (mine,) = np.nonzero(here & np.isin(corners.regions, some))
                pairs = node.units.kink_rows[corners.kinks[mine] - node.kinks.start]
                rows = np.searchsorted(some, corners.regions[mine])[:, np.newaxis]
                result[corners.regions[mine[flat[rows, pairs].all(axis=1)]]] = False
        return result


class ZeroUnits:
    """The units that are flat and null at some vertices, each with one pattern, uint8 [m, bytes]."""

    def __init__(self, ties: Ties, packed: Packed) -> None:
        self.ties, self.packed, self.found = ties, packed, dict[int, tuple[Bits, Bits]]()

    def add(self, number: int, vertices: Indices, kinks: Indices) -> None:
        """Find the flat and null units of a node, given its open kinks, if maxima read the node."""
        if number not in self.ties.sources:
            return
        node = self.ties.graph.hidden[number]
        pieces = node.units.pieces_of(bits_of(self.packed, node.kinks))
        slopes, intercepts = node.units.on_pieces(pieces)
        flat = (slopes == 0.0) & (intercepts == 0.0)
        units = node.units.kink_units[kinks]
        flat[vertices, units] = False
        null, zero = flat.copy(), self.ties.zero_at[number][kinks]
        null[vertices[zero], units[zero]] = True
        self.found[number] = flat, null

    def of_branches(self, number: int) -> tuple[Bits, Bits]:
        """Return which branches of a node of maxima are flat, and which are null, bool [m, rows] each."""
        rows = self.ties.graph.hidden[number].biases != 0.0
        counts = np.zeros((2, len(self.packed), len(rows)))
        for source, operator in self.ties.reads[number]:
            counts += operator.apply((~np.stack(self.found[source])).astype(np.float64))
        flat, null = (counts == 0.0) & ~rows
        return flat, null

    def apply(self, number: int, bits: Bits, binding: Bits) -> Found:
        """Remove the tied kinks of a node of maxima from the binding ones, in place."""
        if number not in self.ties.reads:
            return None
        flat, null = self.of_branches(number)
        one, other = self.ties.graph.hidden[number].units.kink_rows.T
        tied = flat[:, one] & flat[:, other] & binding & ~bits
        binding &= ~tied
        return tied, null[:, one] & null[:, other]


def closed(units: Maxima, pieces: Indices, found: OpenKinks, ties: Found) -> OpenKinks:
    """Add the tied kinks of the same units, and comparisons of branches that may be equal, to the open kinks. The
    bounds of comparisons of null branches become 0, because these are zero.
    """
    if ties is None or not found.vertices.size:
        return with_closed(units, pieces, found)
    tied, null = ties
    zero = null[found.vertices, found.kinks]
    found = found._replace(most=np.where(zero, 0.0, found.most), growth=np.where(zero, 0.0, found.growth))
    some = np.zeros((len(tied), units.count), dtype=bool)
    some[found.vertices, units.kink_units[found.kinks]] = True
    vertices, kinks = np.nonzero(tied & some[:, units.kink_units])
    zeros = np.zeros(len(vertices))
    more = OpenKinks(
        np.concatenate([found.vertices, vertices]),
        np.concatenate([found.kinks, kinks]),
        np.concatenate([found.most, zeros]),
        np.concatenate([found.growth, zeros]),
    )
    return with_closed(units, pieces, more)


def _is_not_zero(weights: Floats) -> Floats:
    return (weights != 0.0).astype(np.float64)
