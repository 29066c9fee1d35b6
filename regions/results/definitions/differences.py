# SPDX-License-Identifier: MIT
"""What is f - g at vertices, if f is a network and g is its affine map on some region?

It is the map of a region around a vertex minus g, evaluated there: a vector with an entry for each output. Floating
point with error bounds proves most of these vectors nonzero (`bounded_maps.py`), and exact arithmetic decides the
others (`exact_differences.py`). Exact vectors are multiplied by a positive factor and rounded to 53 bits; only their
direction is used.
Cost: a few operations for each vertex and g, in addition to the maps; microseconds in exact arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regions.ground.arithmetic.roundoff import TINY, UP
from regions.ground.arithmetic.types import Bits, Floats, Integers, Objects
from regions.results.definitions.bounded_maps import BoundedMaps
from regions.results.definitions.exact_differences import ExactDifferences
from regions.results.definitions.incidence import Corners
from regions.results.partition import Partition

__all__ = ["Bounded", "Differences"]

# Numbers per temporary array.
CHUNK = 1 << 20
# Room for the rounding of a few operations, and for underflow in products, as in `passes/bounded.py`.
ROUNDING = 2.0**-50


class Bounded(NamedTuple):
    """Vectors [m, outputs] with an error bound for each entry; a NaN bound means that nothing is known."""

    values: Floats
    errors: Floats

    @property
    def nonzero(self) -> Bits:
        """Return which vectors are proven nonzero."""
        return np.asarray((np.abs(self.values) > self.errors).any(axis=1))

    def take(self, rows: Integers) -> Bounded:
        return Bounded(self.values[rows], self.errors[rows])

    def opposite(self, other: Bounded) -> Bits:
        """Return which vectors are proven to have the opposite direction; none if there are several outputs."""
        if self.values.shape[1] > 1:
            return np.zeros(len(self.values), dtype=bool)
        up, down = self.values > self.errors, self.values < -self.errors
        result: Bits = (up & (other.values < -other.errors)) | (down & (other.values > other.errors))
        return result[:, 0]

    def apart(self, other: Bounded) -> Bits:
        """Return which vectors are proven not to have the opposite direction."""
        (a, a_errors), (b, b_errors) = self, other
        same_sign = ((a > a_errors) & (b > b_errors)) | ((a < -a_errors) & (b < -b_errors))
        # If two vectors are parallel, the 2 x 2 determinants of their entries at consecutive outputs are zero.
        c, c_errors, d, d_errors = (np.roll(x, 1, axis=1) for x in (a, a_errors, b, b_errors))
        with np.errstate(all="ignore"):
            first, second = a * d, c * b
            errors = np.abs(a) * d_errors + np.abs(d) * a_errors + a_errors * d_errors
            errors += np.abs(c) * b_errors + np.abs(b) * c_errors + c_errors * b_errors
            errors += ROUNDING * (errors + np.abs(first) + np.abs(second)) + TINY
            proven = same_sign | (np.abs(first - second) > errors)
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

    def at(self, vertices: Integers, levels: Integers) -> Bounded:
        """Return f - g at vertices [m], which are finite points, for the maps g with these numbers [m].

        A vector is proven to be nonzero, or it is zero.
        """
        values, errors = np.empty((2, len(vertices), self.partition.network.n_out))
        step = max(1, CHUNK // (12 * self.partition.network.n_out))
        for start in range(0, len(vertices), step):
            part = slice(start, start + step)
            values[part], errors[part] = self._evaluated(vertices[part], levels[part])
        result = Bounded(values, errors)
        open_ = np.flatnonzero(~result.nonzero)
        values[open_], errors[open_] = _shortened(self.exact.at(self.corner_at[vertices[open_]], levels[open_]))
        return result

    def _evaluated(self, vertices: Integers, levels: Integers) -> tuple[Floats, Floats]:
        """Return f - g in floating point, with bounds on the errors."""
        f, f_errors = self.bounded.of(self.map_at[vertices])
        g, g_errors = self.bounded.of(levels)
        points, off = self.partition.vertices[vertices], self.partition.vertex_errors[vertices]
        # In homogeneous coordinates, [m, 1, 3].
        x = np.insert(points, 0, 1.0, axis=1)[:, np.newaxis]
        x_errors = np.insert(np.broadcast_to(off[:, np.newaxis], points.shape), 0, 0.0, axis=1)[:, np.newaxis]
        with np.errstate(all="ignore"):
            difference = f - g
            terms, bounds = difference * x, f_errors + g_errors
            bounds += ROUNDING * np.abs(difference) + TINY
            errors = bounds * (np.abs(x) + x_errors) + np.abs(difference) * x_errors + ROUNDING * np.abs(terms) + TINY
            return terms.sum(axis=2), UP * errors.sum(axis=2)


def _shortened(vectors: Objects) -> tuple[Floats, Floats]:
    """Round vectors [m, outputs] of integers to 53 bits, up to a positive factor, and bound the rounding errors."""
    bits = np.asarray(np.frompyfunc(int.bit_length, 1, 1)(vectors))
    shifts = np.maximum(bits.max(axis=1, keepdims=True) - 53, 0)
    return np.right_shift(vectors, shifts).astype(np.float64), np.broadcast_to(shifts > 0, vectors.shape)
