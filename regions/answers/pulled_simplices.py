# SPDX-License-Identifier: MIT
"""Into which simplices are regions of three and more dimensions divided, and which share of the domain is each?

The simplices are those of `cells/pulling.py`.
The size of a simplex is a determinant of its sides over d!. Sizes are relative to their sum, so neither the chart nor
the scale of its axes matters. A determinant is linear in each side, and at most the product of their lengths
(Hadamard). If the computed side i is r_i, off by at most d_i, the determinant is off by at most prod (|r_i| + |d_i|) -
prod |r_i|. Expanding it by minors rounds each product at most d^2 + d times, and the products' sizes add up to at most
prod |r_i|_1.
Invariant: all errors are bounded.
Cost: d 2^d products for each simplex.
"""

from __future__ import annotations

from functools import cached_property, reduce
from itertools import combinations
from math import factorial
from operator import add

import numpy as np

from regions.answers.corner_values import CornerValues
from regions.answers.shares import proven_sum
from regions.answers.simplices import JoinedSimplices, Simplices, Weighted, values_at_vertices
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.roundoff import TINY
from regions.ground.arithmetic.types import Integers
from regions.results.cells.pulling import pulled

__all__ = ["AnySimplices", "PulledSimplices"]


class PulledSimplices(Weighted):
    """The simplices of a partition of a box or polytope, with the attributes of `Simplices`.

    Parameters
    ----------
    at : CornerValues
    """

    def __init__(self, at: CornerValues) -> None:
        self.at, self.partition, self.dimension = at, at.partition, at.partition.dimension
        found = pulled(self.partition)
        self.regions = np.repeat(np.arange(len(found)), [len(each) for each in found])
        self.vertices: Integers = np.concatenate(found)

    @property
    def parts(self) -> list[tuple[PulledSimplices, slice]]:
        """As for `Simplices`."""
        return [(self, slice(0, len(self.regions)))]

    @cached_property
    def shares(self) -> Proven:
        """As for `Simplices`."""
        with np.errstate(all="ignore"):
            return (self._sizes / Proven(*proven_sum(*self._sizes))).checked

    @cached_property
    def _sizes(self) -> Proven:
        """The size of each simplex in a chart whose axes are scaled by powers of two, [S]."""
        part, d = self.partition, self.dimension
        _, exponents = np.frexp(np.ptp(part.vertices / 2, axis=0))
        with np.errstate(all="ignore"):
            corners = np.ldexp(part.vertices / 2, -exponents)[self.vertices]
            moved = np.ldexp(part.vertex_errors[:, np.newaxis] / 2, -exponents) + TINY
            known = Proven(corners, moved[self.vertices])
            return abs(_determinants(known[:, 1:] - known[:, :1])) / factorial(d)

    @cached_property
    def areas(self) -> Proven:
        """As for `Simplices`."""
        return Proven(self.partition.volumes, self.partition.volume_errors)[:, np.newaxis]

    @cached_property
    def values(self) -> Proven:
        """As for `Simplices`."""
        return values_at_vertices(self.at)


AnySimplices = Simplices | JoinedSimplices | PulledSimplices


def _determinants(rows: Proven) -> Proven:
    """The determinants of matrices [S, d, d], by minors of the first rows in all sets of columns."""
    d = rows.value.shape[1]
    minors: dict[tuple[int, ...], Proven] = {(): Proven(np.ones(len(rows)))}
    for row in range(d):
        minors = {
            columns: reduce(
                add,
                (
                    (-rows if row + place & 1 else rows)[:, row, column]
                    * minors[columns[:place] + columns[place + 1 :]]
                    for place, column in enumerate(columns)
                ),
            )
            for columns in combinations(range(d), row + 1)
        }
    return minors[tuple(range(d))]
