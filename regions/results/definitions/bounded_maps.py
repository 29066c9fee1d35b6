# SPDX-License-Identifier: MIT
"""What is the affine map of a network on a region, as far as floating point can prove?

The map is computed layer by layer as an affine form with the bounds of `passes/bounded.py`. Consecutive regions share
the computation up to the layer where their patterns differ.
After overflow a bound is NaN, so that it is never below any number.
Cost: at most two forward passes per region and coefficient, once.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.types import Floats, Integers
from regions.networks.graph import Graph
from regions.networks.walk import under_patterns
from regions.passes.bounded import BoundedForms
from regions.results.cells.complex import CellComplex

__all__ = ["BoundedMaps"]

# Numbers per temporary array: few enough to stay in the processor's cache.
CHUNK = 1 << 18


class BoundedMaps:
    """Affine maps of a network on some regions; each is computed on first use.

    Parameters
    ----------
    partition : CellComplex
    regions : int64 [m]
    graph : Graph, optional
        With the kinks of the partition's network, and other outputs.
    """

    def __init__(self, partition: CellComplex, regions: Integers, graph: Graph | None = None) -> None:
        self.partition, self.regions = partition, regions
        self.graph = graph = graph or partition.network.graph
        self.arithmetic = BoundedForms(graph, partition.domain)
        self.origin = self.arithmetic.inputs(np.zeros((1, partition.dimension)), np.zeros(1))
        self.known = np.zeros(len(regions), dtype=bool)
        self.values, self.errors = np.empty((2, len(regions), graph.n_out, 1 + partition.dimension))

    def of(self, indices: Integers) -> tuple[Floats, Floats]:
        """Return the maps of ``regions[indices]``: coefficients of 1, x (and y), and bounds on their errors.

        Returns
        -------
        float64 [k, outputs, 1 + d], float64 [k, outputs, 1 + d]
        """
        missing = np.unique(indices[~self.known[indices]])
        if missing.size:
            # Maps cost less in large steps, so as many others are computed together with the missing ones.
            others = np.flatnonzero(~self.known)[: missing.size + np.count_nonzero(self.known)]
            missing = np.union1d(missing, others)
        step = max(1, CHUNK // (4 * (sum(self.graph.widths) + self.graph.n_out + self.graph.kinks)))
        for start in range(0, len(missing), step):
            self._compute(missing[start : start + step])
        return self.values[indices], self.errors[indices]

    def _compute(self, indices: Integers) -> None:
        with np.errstate(all="ignore"):
            packed = self.partition.packed_patterns[self.regions[indices]]
            found, rows = under_patterns(self.graph, self.arithmetic, self.origin, packed)
        self.values[indices], self.errors[indices] = (each.transpose(0, 2, 1)[rows] for each in found)
        self.known[indices] = True
