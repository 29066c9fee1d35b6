# SPDX-License-Identifier: MIT
"""What is f - g at vertices, if f is a network and g is its affine map on some region?

It is the map of a region around a vertex minus g, evaluated there: a vector with an entry for each output. Floating
point with error bounds proves most of these vectors nonzero (`bounded_maps.py`), and exact arithmetic decides the
others (`exact_differences.py`). Exact vectors are multiplied by a positive factor and rounded to 53 bits; only their
direction is used.
Cost: a few operations for each vertex and g, in addition to the maps; microseconds in exact arithmetic.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.types import Bits, Floats, Integers, Objects
from regions.results.definitions.bounded_maps import BoundedMaps
from regions.results.definitions.exact_differences import ExactDifferences
from regions.results.definitions.incidence import Corners
from regions.results.partition import Partition

__all__ = ["Differences", "apart", "opposite"]

# Numbers per temporary array.
CHUNK = 1 << 20


def opposite(one: Proven, other: Proven) -> Bits:
    """Return which vectors [m, outputs] are proven to have opposite directions; none if there are several outputs."""
    if one.value.shape[1] > 1:
        return np.zeros(len(one), dtype=bool)
    return ((one.positive & (-other).positive) | ((-one).positive & other.positive))[:, 0]


def apart(one: Proven, other: Proven) -> Bits:
    """Return which vectors [m, outputs] are proven not to have opposite directions."""
    same_sign = (one.positive & other.positive) | ((-one).positive & (-other).positive)
    # If two vectors are parallel, the 2 x 2 determinants of their entries at consecutive outputs are zero.
    next_one, next_other = (Proven(*(np.roll(each, 1, axis=1) for each in vectors)) for vectors in (one, other))
    with np.errstate(all="ignore"):
        proven = same_sign | (one * next_other - next_one * other).nonzero
    return np.asarray(proven.any(axis=1))


class Differences:
    """f - g at the vertices of a partition, for maps g that the network f has on regions.

    Parameters
    ----------
    partition : Partition
        Of dimension 2.
    maps : int64 [R]
        Number of each region's map, from 0 in the order of occurrence.
    corners : Corners
        The corners of the partition.
    """

    def __init__(self, partition: Partition, maps: Integers, corners: Corners) -> None:
        self.partition, self.maps = partition, maps
        _, firsts = np.unique(maps, return_index=True)
        self.bounded = BoundedMaps(partition, firsts)
        self.exact = ExactDifferences(partition, maps, firsts)
        self.corner_at = corners.by_vertex[corners.offsets[:-1]]
        self.map_at = maps[corners.regions[self.corner_at]]

    def at(self, vertices: Integers, levels: Integers) -> Proven:
        """Return f - g at vertices [m], which are finite points, for the maps g with these numbers [m].

        An entry of a vector [m, outputs] is proven to be nonzero, or all are zero.
        """
        values, errors = np.empty((2, len(vertices), self.partition.network.n_out))
        step = max(1, CHUNK // (12 * self.partition.network.n_out))
        for start in range(0, len(vertices), step):
            part = slice(start, start + step)
            values[part], errors[part] = self._evaluated(vertices[part], levels[part])
        result = Proven(values, errors)
        open_ = np.flatnonzero(~result.nonzero.any(axis=1))
        values[open_], errors[open_] = _shortened(self.exact.at(self.corner_at[vertices[open_]], levels[open_]))
        return result

    def _evaluated(self, vertices: Integers, levels: Integers) -> Proven:
        """Return f - g in floating point."""
        f, g = (Proven(*self.bounded.of(maps)) for maps in (self.map_at[vertices], levels))
        points, off = self.partition.vertices[vertices], self.partition.vertex_errors[vertices]
        # In homogeneous coordinates, [m, 1, 3].
        x = np.insert(points, 0, 1.0, axis=1)[:, np.newaxis]
        x_errors = np.insert(np.broadcast_to(off[:, np.newaxis], points.shape), 0, 0.0, axis=1)[:, np.newaxis]
        with np.errstate(all="ignore"):
            return ((f - g) * Proven(x, x_errors)).sum(axis=2)


def _shortened(vectors: Objects) -> tuple[Floats, Floats]:
    """Round vectors [m, outputs] of integers to 53 bits, up to a positive factor, and bound the rounding errors."""
    bits = np.asarray(np.frompyfunc(int.bit_length, 1, 1)(vectors))
    shifts = np.maximum(bits.max(axis=1, keepdims=True) - 53, 0)
    return np.right_shift(vectors, shifts).astype(np.float64), np.broadcast_to(shifts > 0, vectors.shape)
