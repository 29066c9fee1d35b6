# SPDX-License-Identifier: MIT
"""What are the values of units at the vertices of regions, as far as floating point can prove?

A unit's pre-activation is an affine form on a region, and by continuity also on its corners. So the form of a region
is evaluated at its corners under its pattern, and no sign has to be known. This evaluation is the forward pass of
`passes/bounded.py`, with its bounds, at a point that is known up to the error of the stored, rounded vertex.
After overflow, or for a vertex stored as infinite, a bound is NaN, so that it is never below any number.
Cost: two forward passes per point.
"""

from __future__ import annotations

from itertools import islice

import numpy as np

from regions.ground.arithmetic.types import Bits, Floats, Integers, Packed
from regions.networks.walk import preactivations, under
from regions.passes.bounded import Bounded
from regions.results.cells.complex import CellComplex

__all__ = ["BoundedValues"]


class BoundedValues:
    """Units of a network at the vertices of a partition.

    Parameters
    ----------
    partition : Partition
    """

    def __init__(self, partition: CellComplex) -> None:
        self.graph = partition.network.graph
        self.arithmetic = Bounded(self.graph, partition.domain)
        self.vertices, self.vertex_errors = partition.vertices, partition.vertex_errors

    @property
    def size(self) -> int:
        """Number of array entries that one vertex needs, at most."""
        return 4 * (sum(self.graph.widths) + self.graph.kinks)

    def at(self, vertices: Integers, packed: Packed) -> list[tuple[Floats, Floats]]:
        """Evaluate the forms of patterns uint8 [m, bytes] at vertices int64 [m].

        Returns
        -------
        list of (float64 [m, units], float64 [m, units])
            Pre-activations of each hidden node, with bounds on their errors.
        """
        with np.errstate(all="ignore"):
            inputs = self.arithmetic.inputs(self.vertices[vertices], self.vertex_errors[vertices])
            found = preactivations(self.graph, self.arithmetic, inputs, under(self.graph.bits(packed)))
            return list(islice(found, len(self.graph.hidden)))

    def settled(self, vertices: Integers, packed: Packed) -> Bits:
        """Return which bits are proven to be 1 at the vertices, and which 0: bool [2, m, kinks]."""
        signs = np.empty((2, len(vertices), self.graph.kinks), dtype=bool)
        for node, (values, bounds) in zip(self.graph.hidden, self.at(vertices, packed), strict=True):
            # The subtraction is correctly rounded: its sign is right, and the bound also covers its error.
            # The difference of infinite branches is NaN, which is above no bound: no sign is proven.
            with np.errstate(all="ignore"):
                distances, errors = node.units.compared(values) - node.units.kink_values, node.units.either(bounds)
            signs[:, :, node.kinks] = node.units.settled(distances > errors, -distances > errors)
        return signs
