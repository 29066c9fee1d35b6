# SPDX-License-Identifier: MIT
"""Where does a network f equal an affine map g, at corners of regions and on their facets?

On a closed region f is affine, and so f - g is, a vector with an entry for each output. It is zero somewhere between
the ends of a facet iff its values there are opposite vectors, multiples of each other by a negative number.
First in floating point, with bounds that prove most answers (`certified_values.py`); then exactly: the maps of regions
and the vertices have integer coordinates, up to a common factor.
At a vertex at infinity, which stands for a direction, the value is the slope in that direction.
Cost: four forward passes per corner; milliseconds for each answer that needs exact arithmetic.
"""

from __future__ import annotations

from operator import mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.definitions.certified_values import CertifiedValues, with_outputs_as_layer
from regions.exact_forms import ExactForms, Form
from regions.exact_outline import ExactOutlines, Point
from regions.exact_pattern import Dyadic
from regions.partition import Partition

__all__ = ["Bounded", "Differences"]

Bits = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Numbers per temporary array.
CHUNK = 1 << 20
# Room for the rounding of a few operations, and for underflow in products, as in `certified_pattern.py`.
ROUNDING = 2.0**-50
TINY = 1e-300


class Bounded(NamedTuple):
    """Vectors [m, outputs] that are known up to a bound for each entry; where that is no number, nothing is known."""

    values: Floats
    errors: Floats

    @property
    def nonzero(self) -> Bits:
        """Which vectors are proven not to be zero."""
        return np.asarray((np.abs(self.values) > self.errors).any(axis=1))

    def take(self, rows: Integers) -> Bounded:
        return Bounded(self.values[rows], self.errors[rows])

    def opposite(self, other: Bounded) -> Bits:
        """Which are proven to be opposite to the other's; never, if there are several outputs."""
        if self.values.shape[1] > 1:
            return np.zeros(len(self.values), dtype=bool)
        up, down = self.values > self.errors, self.values < -self.errors
        result: Bits = (up & (other.values < -other.errors)) | (down & (other.values > other.errors))
        return result[:, 0]

    def apart(self, other: Bounded) -> Bits:
        """Which are proven not to be opposite to the other's."""
        (a, a_errors), (b, b_errors) = self, other
        same_sign = ((a > a_errors) & (b > b_errors)) | ((a < -a_errors) & (b < -b_errors))
        # The determinants of multiples are zero; two outputs that are next to each other make one.
        c, c_errors, d, d_errors = (np.roll(x, 1, axis=1) for x in (a, a_errors, b, b_errors))
        with np.errstate(all="ignore"):
            first, second = a * d, c * b
            errors = np.abs(a) * d_errors + np.abs(d) * a_errors + a_errors * d_errors
            errors += np.abs(c) * b_errors + np.abs(b) * c_errors + c_errors * b_errors
            errors += ROUNDING * (errors + np.abs(first) + np.abs(second)) + TINY
            proven = same_sign | (np.abs(first - second) > errors)
        return np.asarray(proven.any(axis=1))


class Differences:
    """f - g at the corners of the regions of a partition, for one map g after the other.

    Parameters
    ----------
    partition : Partition
        Of dimension 2.
    regions : int64 [K]
        Region of each corner.
    """

    def __init__(self, partition: Partition, regions: Integers) -> None:
        self.partition, self.regions = partition, regions
        self.values, self.outlines = CertifiedValues(partition), ExactOutlines(partition)
        self.forms = ExactForms(with_outputs_as_layer(partition.network), partition.domain)
        self.points: dict[int, Point] = {}

    def subtract(self, region: int) -> None:
        """From now on g is the map of this region."""
        self.level_pattern, self.level = self.partition.packed_patterns[region], self._map(region)

    def at(self, corners: Integers, rows: Integers) -> Bounded:
        """f - g at ``corners[rows]``, in these rows of the result; nothing is known at the other corners."""
        values, errors = np.full((2, len(corners), self.partition.network.n_out), np.nan)
        vertices, packed = self.partition.cell_vertices[corners], self.partition.packed_patterns
        step = max(1, CHUNK // self.values.size)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            f, f_errors = self.values.at(vertices[part], packed[self.regions[corners[part]]])[-1]
            level = np.broadcast_to(self.level_pattern, (len(part), packed.shape[1]))
            g, g_errors = self.values.at(vertices[part], level)[-1]
            with np.errstate(all="ignore"):
                values[part] = f - g
                bounds = f_errors + g_errors
                errors[part] = bounds + ROUNDING * (bounds + np.abs(values[part])) + TINY
        return Bounded(values, errors)

    def zero_at(self, corner: int) -> bool:
        """Whether f = g at a corner, exactly."""
        return not any(_values(self._difference(corner), self._point(corner)))

    def zero_between(self, corner: int, following: int) -> bool:
        """Whether f = g on a facet between its ends, where (if they are points) that is not so, exactly."""
        start, end = self._point(corner), self._point(following)
        if not (start[0] or end[0]):
            # A whole line that no kink crosses: all kinks are parallel to it, and f is a function of one variable.
            return False
        difference = self._difference(corner)
        a, b = _values(difference, start), _values(difference, end)
        return sum(map(mul, a, b)) < 0 and _parallel(a, b)

    def _difference(self, corner: int) -> list[Form]:
        """f - g on the region of a corner: a form for each output, all times one positive number."""
        difference = self._map(int(self.regions[corner])) + Dyadic(-self.level.integers, self.level.exponent)
        return [tuple(form) for form in difference.integers.tolist()]

    def _map(self, region: int) -> Dyadic:
        network = self.partition.network
        bits = np.unpackbits(self.partition.packed_patterns[region], count=network.kinks, bitorder="little")
        self.forms.enter(bits.view(np.bool_))
        return self.forms.preactivations(len(network.widths), np.arange(network.n_out))

    def _point(self, corner: int) -> Point:
        vertex = int(self.partition.cell_vertices[corner])
        if vertex not in self.points:
            self.points[vertex] = self.outlines.vertex(corner)
        return self.points[vertex]


def _values(forms: list[Form], point: Point) -> list[int]:
    return [sum(map(mul, form, point)) for form in forms]


def _parallel(a: list[int], b: list[int]) -> bool:
    """Whether two vectors, the first of them not zero, are on one line through zero."""
    pivot = next(i for i, x in enumerate(a) if x)
    return all(a[pivot] * y == x * b[pivot] for x, y in zip(a, b, strict=True))
