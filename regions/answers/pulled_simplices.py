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

from functools import cached_property
from itertools import combinations
from math import factorial

import numpy as np

from regions.answers.corner_values import CornerValues
from regions.answers.shares import proven_sum
from regions.answers.simplices import JoinedSimplices, Simplices, Weighted, values_at_vertices
from regions.ground.arithmetic.roundoff import TINY, UP, U
from regions.ground.arithmetic.types import Floats, Integers
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
    def shares(self) -> tuple[Floats, Floats]:
        """As for `Simplices`."""
        sizes, errors = self._sizes
        whole, error = proven_sum(sizes, errors)
        with np.errstate(all="ignore"):
            found = sizes / whole
            bounds = (errors + found * error) / (whole - error) * UP + 4 * U * found + TINY
            return found, np.where(bounds >= 0.0, bounds, np.inf)

    @cached_property
    def _sizes(self) -> tuple[Floats, Floats]:
        """The size of each simplex in a chart whose axes are scaled by powers of two, [S], and bounds on the errors."""
        part, d = self.partition, self.dimension
        _, exponents = np.frexp(np.ptp(part.vertices / 2, axis=0))
        with np.errstate(all="ignore"):
            corners = np.ldexp(part.vertices / 2, -exponents)[self.vertices]
            moved = np.ldexp(part.vertex_errors[:, np.newaxis] / 2, -exponents).sum(axis=1) + TINY
            sides = corners[:, 1:] - corners[:, :1]
            lengths = np.abs(sides).sum(axis=2)
            off = moved[self.vertices[:, 1:]] + moved[self.vertices[:, :1]] + 2 * U * lengths
            product = lengths.prod(axis=1)
            bounds = (lengths + off).prod(axis=1) - product + (d * d + 3 * d + 8) * U * (lengths + off).prod(axis=1)
            return np.abs(_determinants(sides)) / factorial(d), bounds / factorial(d) * UP + TINY

    @cached_property
    def areas(self) -> tuple[Floats, Floats]:
        """As for `Simplices`."""
        return self.partition.volumes[:, np.newaxis], self.partition.volume_errors[:, np.newaxis]

    @cached_property
    def values(self) -> tuple[Floats, Floats]:
        """As for `Simplices`."""
        return values_at_vertices(self.at)


AnySimplices = Simplices | JoinedSimplices | PulledSimplices


def _determinants(rows: Floats) -> Floats:
    """The determinants of matrices [S, d, d], by minors of the first rows in all sets of columns."""
    d = rows.shape[1]
    minors: dict[tuple[int, ...], Floats] = {(): np.ones(len(rows))}
    for row in range(d):
        minors = {
            columns: sum(
                (-1) ** (row + place) * rows[:, row, column] * minors[columns[:place] + columns[place + 1 :]]
                for place, column in enumerate(columns)
            )
            for columns in combinations(range(d), row + 1)
        }
    return minors[tuple(range(d))]
