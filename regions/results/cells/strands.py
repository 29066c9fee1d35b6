# SPDX-License-Identifier: MIT
"""Along which pieces does a curve run through a network?

A strand is the part of a curve between two consecutive points at which a unit moves to another piece of its activation
or two legs join. A piece of the curve is a longest part with one activation pattern. Strands with one pattern on both
sides of a joint are one piece, and on a closed curve the last and the first may be.
Invariant: strands are in the order of the curve; inside a leg, two neighbours have different patterns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from regions.domains.curves import Curve
from regions.ground.arithmetic.types import Bits, Floats, Integers, Packed
from regions.networks.graph import switched_kinks
from regions.networks.network import Network

__all__ = ["FoundAlongCurve", "Strands"]


@dataclass(frozen=True, eq=False)
class Strands:
    """The strands of a curve, m of them.

    Attributes
    ----------
    network, curve
    legs : int64 [m]
        The leg that each strand is a part of.
    ends : float64 [m, 2, d]
        Chart points of the leg: d is 1 on segments, 2 on arcs.
    errors : float64 [m, 2]
        Bound on the error of each end, in any coordinate.
    packed_patterns : uint8 [m, bytes]
    stats : mapping of str to int
        Counters of the core, summed over the legs.
    """

    network: Network
    curve: Curve
    legs: Integers
    ends: Floats
    errors: Floats
    packed_patterns: Packed
    stats: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.legs)

    @property
    def depth(self) -> int:
        """Number of hidden layers."""
        return len(self.network.graph.hidden)

    @cached_property
    def switches(self) -> tuple[Integers, Integers]:
        """Kinks that switch, and the strand before which each switches: strands, ascending, and kinks, int64 [changes].

        The last strand of a closed curve comes before its first; the first strand of an open curve has no switches.
        """
        before = np.roll(self.packed_patterns, 1, axis=0)
        if not self.curve.closed:
            before[0] = self.packed_patterns[0]
        changed = self.packed_patterns ^ before
        strands, places = np.nonzero(changed)
        bits = np.unpackbits(changed[strands, places][:, np.newaxis], axis=1, bitorder="little")
        which, offsets = np.nonzero(bits)
        found = strands[which].astype(np.int64), (8 * places[which] + offsets).astype(np.int64)
        return switched_kinks(self.network.graph, *found)

    @cached_property
    def depths(self) -> Integers:
        """The lowest hidden layer, from 0, that changes before each strand, int64 [m]; their number if none changes."""
        strands, bits = self.switches
        depths = np.full(len(self), self.depth, dtype=np.int64)
        np.minimum.at(depths, strands, self.network.kink_layers[bits])
        return depths

    def starts(self, layer: int) -> Bits:
        """Return which strands begin a piece of the layers up to a given one, counted from 0: bool [m]."""
        starts = self.depths <= layer
        if not self.curve.closed:
            starts[0] = True
        return starts

    def pieces(self, layer: int) -> int:
        """Return the number of pieces of the layers up to a given one, counted from 0."""
        return max(1, int(self.starts(layer).sum()))

    @cached_property
    def count(self) -> int:
        """Number of pieces."""
        # Inside a leg neighbours differ, so only joints are compared. The last strand comes before the first.
        joints = np.flatnonzero(self.legs != np.roll(self.legs, 1))
        joints = joints[joints > 0] if not self.curve.closed else joints
        same = (self.packed_patterns[joints] == self.packed_patterns[joints - 1]).all(axis=1)
        return max(1, len(self) - int(same.sum()))


class FoundAlongCurve:
    """Results along a curve that can be checked independently: strands, and numbers derived from them.

    Attributes
    ----------
    network, curve
    strands : Strands
    transitions, pieces : int64 [hidden layers]
    kink_transitions : int64 [kinks]
    n_patterns : int
    """

    network: Network
    curve: Curve
    strands: Strands
    transitions: Integers
    kink_transitions: Integers
    pieces: Integers
    n_patterns: int
