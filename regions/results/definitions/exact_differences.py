# SPDX-License-Identifier: MIT
"""Where does a network f equal an affine map g, exactly?

The maps of regions and their vertices have integer coordinates up to a common factor, so f - g at a vertex is an
integer for each output, up to a positive factor. At a vertex at infinity, which represents a direction, it is the slope
in that direction.
Cost: microseconds, once the two maps and the vertex are known; these take up to milliseconds each, and are cached.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.types import Bits, Integers, Objects
from regions.ground.threads.deadline import check_time_of_call, present_end
from regions.passes.exact import ExactForms
from regions.results.cells.exact_outline import ExactOutlines
from regions.results.definitions.shared_forms import SharedForms
from regions.results.partition import Partition

__all__ = ["ExactDifferences"]

# Number of differences that are computed at a time: for each, the maps take some kilobytes as Python integers.
CHUNK = 1 << 12


class ExactDifferences:
    """f - g at the corners of a partition, for maps g that the network f has on regions.

    Parameters
    ----------
    partition : Partition
        Of dimension 2.
    maps : int64 [R]
        Number of each region's map, equal numbers for equal maps.
    firsts : int64 [maps]
        One region with each map.
    """

    def __init__(self, partition: Partition, maps: Integers, firsts: Integers) -> None:
        self.partition, self.firsts = partition, firsts
        self.map_at = np.repeat(maps, partition.corner_counts)
        self.outlines = ExactOutlines(partition)
        self.outlines.forms = SharedForms(partition.network.graph, partition.domain)
        self.points = np.empty((len(partition.vertices), 3), dtype=np.object_)
        self.point_known = np.zeros(len(partition.vertices), dtype=bool)
        # Maps are ``forms * 2**exponents``.
        self.network_forms = ExactForms(partition.network.graph, partition.domain)
        self.network_forms.arithmetic = self.outlines.forms.arithmetic  # so that weights become integers once
        self.forms = np.empty((len(firsts), partition.network.n_out, 3), dtype=np.object_)
        self.exponents = np.zeros(len(firsts), dtype=np.int64)
        self.map_known = np.zeros(len(firsts), dtype=bool)

    def at(self, corners: Integers, levels: Integers) -> Objects:
        """Return f - g at corners [m], for the maps g with these numbers [m]: [m, outputs], each row up to a factor."""
        result = np.empty((len(corners), self.partition.network.n_out), dtype=np.object_)
        for start in range(0, len(corners), CHUNK):
            if present_end() is not None:
                check_time_of_call()
            part = slice(start, start + CHUNK)
            result[part] = self._evaluated(corners[part], levels[part])
        return result

    def _evaluated(self, corners: Integers, levels: Integers) -> Objects:
        (f, f_exponents), (g, g_exponents) = self._maps(self.map_at[corners]), self._maps(levels)
        points = self._points(corners)[:, np.newaxis]
        lowest = np.minimum(f_exponents, g_exponents)
        f_values, g_values = (f * points).sum(axis=2), (g * points).sum(axis=2)
        return _shifted(f_values, f_exponents - lowest) - _shifted(g_values, g_exponents - lowest)

    def zero_between(self, corners: Integers, following: Integers, levels: Integers) -> Bits:
        """Return whether f = g between the ends of facets [m] that have f != g at those ends which are points.

        On a facet f - g is affine: it is zero between the ends iff its values there are opposite vectors, multiples of
        each other by a negative number. (A facet between two ends at infinity is a whole line. No kink crosses it, so
        all are parallel to it, f is a function of one variable, and the slopes along the line are zero.)
        """
        a, b = self.at(corners, levels), self.at(following, levels)
        product = (a * b).sum(axis=1)
        # The case of equality in the Cauchy-Schwarz inequality.
        parallel = product * product == (a * a).sum(axis=1) * (b * b).sum(axis=1)
        return ((product < 0) & parallel).astype(np.bool_)

    def _maps(self, numbers: Integers) -> tuple[Objects, Integers]:
        """Return maps as forms [m, outputs, 3], times two to the power of exponents [m]."""
        graph = self.partition.network.graph
        for number in np.unique(numbers[~self.map_known[numbers]]).tolist():
            self.network_forms.enter(graph.bits(self.partition.packed_patterns[self.firsts[number]]).view(np.bool_))
            forms, self.exponents[number] = self.network_forms.preactivations(len(graph.hidden))
            self.forms[number] = forms.T
            self.map_known[number] = True
        return self.forms[numbers], self.exponents[numbers]

    def _points(self, corners: Integers) -> Objects:
        """Return the homogeneous coordinates of the vertices at corners: [m, 3]."""
        vertices = self.partition.cell_vertices[corners]
        missing = np.flatnonzero(~self.point_known[vertices])
        _, first = np.unique(vertices[missing], return_index=True)
        for row in missing[first].tolist():
            self.points[vertices[row]] = self.outlines.vertex(int(corners[row]))
            self.point_known[vertices[row]] = True
        return self.points[vertices]


def _shifted(integers: Objects, bits: Integers) -> Objects:
    """Multiply each row of integers [m, k] by a power of two."""
    return np.left_shift(integers, bits.astype(np.object_)[:, np.newaxis])
