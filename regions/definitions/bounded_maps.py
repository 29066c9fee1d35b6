# SPDX-License-Identifier: MIT
"""Which affine map is the network on a region, as far as floating point can prove?

The constant term of the map is the forward pass at the chart's origin, under the region's pattern; each slope is the
forward pass of a direction, through the network without its constants. Both with the bounds of `passes/bounded.py`.
What overflows has a bound that is no number, so that it is never below anything.
Cost: two forward passes per region and coefficient, once.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Floats, Integers
from regions.networks.walk import preactivations, under
from regions.partition import Partition
from regions.passes.bounded import Bounded, BoundedSlopes

__all__ = ["BoundedMaps"]

# Numbers per temporary array.
CHUNK = 1 << 20


class BoundedMaps:
    """Affine maps of a network, those of some regions; each is computed when it is first asked for.

    Parameters
    ----------
    partition : Partition
    regions : int64 [m]
    """

    def __init__(self, partition: Partition, regions: Integers) -> None:
        self.partition, self.regions = partition, regions
        self.graph = graph = partition.network.graph
        self.constants, self.slopes = Bounded(graph, partition.domain), BoundedSlopes(graph, partition.domain)
        self.known = np.zeros(len(regions), dtype=bool)
        self.values, self.errors = np.empty((2, len(regions), graph.n_out, 1 + partition.dimension))

    def of(self, indices: Integers) -> tuple[Floats, Floats]:
        """Maps of ``regions[indices]``: coefficients of 1, x (and y), and bounds on their errors.

        Returns
        -------
        float64 [k, outputs, 1 + d], float64 [k, outputs, 1 + d]
        """
        missing = np.unique(indices[~self.known[indices]])
        if missing.size:
            # In large steps they cost less: with those that are missing as many others as there will be known ones.
            others = np.flatnonzero(~self.known)[: missing.size + np.count_nonzero(self.known)]
            missing = np.union1d(missing, others)
        step = max(1, CHUNK // (4 * (sum(self.graph.widths) + self.graph.n_out + self.graph.kinks)))
        for start in range(0, len(missing), step):
            self._compute(missing[start : start + step])
        return self.values[indices], self.errors[indices]

    def _compute(self, indices: Integers) -> None:
        pieces = under(self.graph.bits(self.partition.packed_patterns[self.regions[indices]]))
        origin = self.constants.inputs(np.zeros((len(indices), self.partition.dimension)))
        with np.errstate(all="ignore"):
            *_, constants = preactivations(self.graph, self.constants, origin, pieces)
            *_, slopes = preactivations(self.graph, self.slopes, origin, pieces)
        for result, constant, others in zip((self.values, self.errors), constants, slopes, strict=True):
            result[indices, :, 0] = constant
            result[indices, :, 1:] = others.transpose(0, 2, 1)
        self.known[indices] = True
