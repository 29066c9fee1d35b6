# SPDX-License-Identifier: MIT
"""How far can the distance of a point from the boundary in a domain be from the true one?

Every facet is off by no more than its ends are, so the least distance from the stored facets is within the largest such
error of the least distance from the true ones. The rest is rounding, u = 2^-53 each time. A vector from a place on a
facet to the point has the length M at most, its components along the chart's directions taken together. It is off by
4 u M, and a facet's direction, relatively, by 4 u C, with C the skewness of the chart. Then the distance from a line is
off by 17 u C M, the place of its foot by no more than 25 u C M, and the search for the nearest facet, which compares
distances that are rounded like these, by 40 u M: together less than 128 u C M. On a line there are only differences.
"""

from __future__ import annotations

import numpy as np

from regions.arithmetic.types import Floats
from regions.cells.cell_errors import TINY, UP, U
from regions.measures.facet_distance import StraightFacets
from regions.partition import Partition

__all__ = ["distance_errors"]


def distance_errors(partition: Partition, facets: StraightFacets, points: Floats, distances: Floats) -> Floats:
    """Bounds on the errors of distances [n] of chart points [n, d] from the nearest of some facets."""
    lengths, finite = partition.domain.direction_lengths, np.isfinite(facets.places).all(axis=2)
    with np.errstate(all="ignore"):
        displaced = facets.errors.max(initial=0.0) * lengths.sum()
        if partition.dimension == 1:
            rounded = 32.0 * U * distances
        else:
            reach = np.abs(facets.places[finite]).max(axis=0, initial=0.0)
            rounded = 128.0 * U * partition.domain.skewness * ((np.abs(points) + reach) @ lengths)
        bounds = (displaced + rounded) * UP + TINY
    return np.where(np.isnan(bounds), np.inf, bounds)
