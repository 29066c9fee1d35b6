# SPDX-License-Identifier: MIT
"""Into which simplices are regions of three and more dimensions divided, and which share of the domain is each?

By pulling (Stanley 1980): the simplices of a face join its first vertex to the simplices of each of its facets that
does not contain this vertex. A facet is divided once, for both of its regions. The facets of a face are the largest of
its intersections with facets of the region.
The size of a simplex is a determinant of its sides over d!. Sizes are relative to their sum, so neither the chart nor
the scale of its axes matters. A determinant is linear in each side, and at most the product of their lengths
(Hadamard). If the computed side i is r_i, off by at most d_i, the determinant is off by at most prod (|r_i| + |d_i|) -
prod |r_i|. Expanding it by minors rounds each product at most d^2 + d times, and the products' sizes add up to at most
prod |r_i|_1.
Invariant: all errors are bounded.
Cost: set operations for each face of each region: from 0.1 milliseconds for a region in three dimensions, to some tens
in six; d 2^d products for each simplex.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from math import factorial

import numpy as np

from regions.answers.corner_values import CornerValues
from regions.answers.shares import proven_sum
from regions.answers.simplices import TINY, UP, JoinedSimplices, Simplices, U, Weighted, values_at_vertices
from regions.arithmetic.types import Floats, Integers
from regions.cells.face_counts import Face, largest_parts
from regions.partition.polytopes import PolytopePartition

__all__ = ["AnySimplices", "PulledSimplices"]


class PulledSimplices(Weighted):
    """The simplices of a partition of a box or polytope, with the attributes of `Simplices`.

    Parameters
    ----------
    at : CornerValues
    """

    def __init__(self, at: CornerValues) -> None:
        assert isinstance(at.partition, PolytopePartition)
        self.at, self.partition, self.dimension = at, at.partition, at.partition.dimension
        found = _divided(self.partition)
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


def _divided(part: PolytopePartition) -> list[Integers]:
    """The simplices of each region, int64 [S, d + 1] each."""
    outlines = [each.tolist() for each in np.split(part.facet_vertices, part.facet_offsets[1:-1])]
    facets = [frozenset(each) for each in outlines]
    of_facets: dict[int, list[list[int]]] = {}
    found = []
    for region in range(len(part)):
        own = part.cell_facets[slice(*part.cell_facet_offsets[region : region + 2])].tolist()
        around, known = [facets[facet] for facet in own], dict[Face, list[list[int]]]()
        apex = int(part.cell_vertices[slice(*part.cell_offsets[region : region + 2])].min())
        simplices = []
        for facet in own:
            if apex in facets[facet]:
                continue
            if facet not in of_facets and part.dimension == 3:  # its vertices are in the order of its outline
                first, *others = outlines[facet]
                of_facets[facet] = [[first, *ends] for ends in zip(others[:-1], others[1:], strict=True)]
            elif facet not in of_facets:
                of_facets[facet] = _pulled(facets[facet], part.dimension - 1, around, known)
            simplices += [[apex, *simplex] for simplex in of_facets[facet]]
        found.append(np.array(simplices, dtype=np.int64))
    return found


def _pulled(face: Face, dimension: int, facets: list[Face], known: dict[Face, list[list[int]]]) -> list[list[int]]:
    """The simplices of a face; ``known`` has those of faces that were divided before."""
    if len(face) == dimension + 1:
        return [sorted(face)]
    if face not in known:
        apex = min(face)
        known[face] = [
            [apex, *simplex]
            for below in largest_parts(face, facets)
            if apex not in below
            for simplex in _pulled(below, dimension - 1, facets, known)
        ]
    return known[face]


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
