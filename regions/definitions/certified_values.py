# SPDX-License-Identifier: MIT
"""What are the values of units at the vertices of regions, as far as floating point can prove?

A unit's pre-activation is an affine form on a region, and by continuity also on its corners. So the form of a region
is evaluated at its corners under its pattern: no sign has to be known. It is the forward pass of
`certified_pattern.py`, with its bounds; the vertex, which is stored rounded, adds what it is off times the slopes of
the first layer.
What overflows, or is stored as infinite, has a bound that is no number, so that it is never below anything.
Cost: two forward passes per point.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Floats, Integers, Packed
from regions.partition import Partition
from regions.passes.affine import slopes_and_intercepts
from regions.passes.certified_pattern import CertifiedNetwork

__all__ = ["CertifiedValues"]

# More than what rounding can take away from a bound that is made of a few sums and products.
ROOM = 1 + 2.0**-40


class CertifiedValues(CertifiedNetwork):
    """Units of a network, which has hidden layers, at the vertices of a partition.

    Parameters
    ----------
    partition : Partition
    """

    def __init__(self, partition: Partition) -> None:
        unknown = np.zeros(partition.network.kinks, dtype=bool)
        super().__init__(partition.network, partition.domain, unknown, unknown)
        self.network = partition.network
        self.vertices, self.vertex_errors = partition.vertices, partition.vertex_errors

    @property
    def size(self) -> int:
        """Numbers that one vertex needs, at most."""
        return 4 * (sum(self.network.widths) + self.network.kinks)

    def at(self, vertices: Integers, packed: Packed) -> list[tuple[Floats, Floats]]:
        """Evaluate the forms of patterns uint8 [m, bytes] at vertices int64 [m].

        Returns
        -------
        list of (float64 [m, units], float64 [m, units])
            Pre-activations of each hidden layer, with bounds on their errors.
        """
        with np.errstate(all="ignore"):
            h, errors = self.first_preactivations(self.vertices[vertices])
            slopes_of_chart = (np.abs(self.rows[:, 1:]) + self.row_errors[:, 1:]).sum(axis=1)
            moved = self.vertex_errors[vertices][:, np.newaxis] * slopes_of_chart
            result = [(h, (errors + moved) * ROOM)]
            pieces = slopes_and_intercepts(self.network, packed)
            for index, (slopes, intercepts) in zip(range(len(self.layers) - 1), pieces, strict=False):
                result.append(self.next_preactivations(index, *result[-1], slopes, intercepts))
        return result
