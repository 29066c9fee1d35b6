# SPDX-License-Identifier: MIT
"""How many sides do regions have, compared with the cells of random lines?

Regions that do not touch the domain boundary are whole, so their facets are counted: the sides of a polygon in a plane.
The facets are exact. The reference are the cells of a Poisson line process, random lines without a preferred place or
direction: a cell has 4 sides on average, with variance pi^2 / 2 - 4, and a share of 2 - pi^2 / 6 are triangles. In d
dimensions cells of Poisson hyperplanes have 2 d facets on average. The regions of a wide network at random
initialisation are like these cells as far as means over regions go; regions of trained networks need not be.
Cost: linear in the number of facets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan, pi

import numpy as np

from regions.files.tabular import Tabular
from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.types import Integers
from regions.ground.text.tables import facts_table
from regions.results.partition import Partition, require_complete

__all__ = ["SideCounts", "side_counts"]


@dataclass(frozen=True, eq=False, repr=False)
class SideCounts(Tabular):
    """The numbers of sides of regions inside the domain; returned by `side_counts`.

    Attributes
    ----------
    partition : Partition
    counts : int64 [most + 1]
        Entry s is the number of regions inside with s sides, or facets. Empty if no region is inside.
    """

    partition: Partition = field(repr=False)
    counts: Integers

    @property
    def inside(self) -> int:
        """Number of regions that do not touch the domain boundary."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """Mean number of sides of the regions inside; NaN if there are none."""
        return float(self.counts @ np.arange(len(self.counts))) / self.inside if self.inside else nan

    @property
    def variance(self) -> float:
        """Variance of the number of sides among the regions inside; NaN if there are none."""
        sides = np.arange(len(self.counts))
        return float(self.counts @ (sides - self.mean) ** 2) / self.inside if self.inside else nan

    @property
    def simplices(self) -> float:
        """Share of triangles, or in d dimensions of simplices, among the regions inside; NaN if there are none."""
        fewest = self.partition.dimension + 1
        if not self.inside:
            return nan
        return int(self.counts[fewest]) / self.inside if fewest < len(self.counts) else 0.0

    @property
    def poisson_mean(self) -> float:
        """Mean number of facets of a cell of Poisson hyperplanes: 2 d."""
        return 2.0 * self.partition.dimension

    @property
    def poisson_variance(self) -> float:
        """Variance for Poisson hyperplanes: 0 on a line, ``pi^2 / 2 - 4`` in a plane; NaN in more dimensions."""
        return {1: 0.0, 2: pi**2 / 2 - 4}.get(self.partition.dimension, nan)

    @property
    def poisson_simplices(self) -> float:
        """Share of simplices for Poisson hyperplanes: 1 on a line, ``2 - pi^2 / 6`` in a plane; NaN in more
        dimensions.
        """
        return {1: 1.0, 2: 2 - pi**2 / 6}.get(self.partition.dimension, nan)

    def to_columns(self) -> dict[str, list[int]]:
        """Return a row for each number of sides, with the number of regions inside."""
        fewest = min(self.partition.dimension + 1, len(self.counts))
        return {"sides": list(range(fewest, len(self.counts))), "regions": self.counts[fewest:].tolist()}

    def _repr_html_(self) -> str:
        facts = [
            ("mean", f"{self.mean:.6g}, Poisson {self.poisson_mean:.6g}"),
            ("variance", f"{self.variance:.6g}, Poisson {self.poisson_variance:.6g}"),
            ("share of simplices", f"{self.simplices:.6g}, Poisson {self.poisson_simplices:.6g}"),
        ]
        return facts_table(repr(self), facts)

    def __repr__(self) -> str:
        return f"SideCounts({self.inside} regions inside, mean {self.mean:.6g})"


def side_counts(partition: Partition) -> SideCounts:
    """Count the sides of the regions that do not touch the domain boundary.

    Parameters
    ----------
    partition : Partition
        In a whole plane, the bounded regions are those inside.

    Returns
    -------
    SideCounts
        With the numbers that cells of Poisson lines have.

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one.

    References
    ----------
    Miles, Random polygons determined by random lines in a plane, 1964; Schneider, Weil, Stochastic and integral
    geometry, 2008, section 10.3.

    Examples
    --------
    Three lines make a triangle:

    >>> import regions
    >>> lines = regions.Network([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    >>> found = side_counts(regions.enumerate(lines, regions.Plane([0, 0], [1, 0], [0, 1])))
    >>> found, found.counts
    (SideCounts(1 regions inside, mean 3), array([0, 0, 0, 1]))
    >>> round(found.poisson_simplices, 4)
    0.3551
    """
    require_complete(partition)
    starts = partition.cell_facet_offsets[:-1]
    on_boundary = partition.neighbors < 0
    inside = ~np.logical_or.reduceat(on_boundary, starts)
    sides = np.diff(partition.cell_facet_offsets)[inside]
    return SideCounts(partition, read_only(np.bincount(sides) if sides.size else np.zeros(0, dtype=np.int64)))
