# SPDX-License-Identifier: MIT
"""Where exactly are the vertices of regions in three and more dimensions?

The facets of a region through one of its vertices lie on kinks, or where an inequality of the domain is an equality.
These are affine forms with integer coefficients (`passes/exact.py`). The vertex is the only point where all of them are
zero, so any d independent forms of them determine it: their null vector is (w, w x).
Invariant: nothing is rounded.
Cost: an elimination of d rows for each vertex, in addition to the forms.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd

import numpy as np
from numpy.typing import ArrayLike

from regions.errors import CheckpointError
from regions.ground.arithmetic.arrays import indices_of
from regions.ground.arithmetic.dyadic import dyadic
from regions.ground.arithmetic.types import Integers
from regions.passes.exact import ExactForms, Form
from regions.results.cells.complex import CellComplex
from regions.results.cells.exact_outline import ExactOutlines, Point
from regions.results.cells.exact_vertices import ExactVertices, exact_vertices
from regions.results.cells.output_maps import first_corners

__all__ = ["ExactPolytopes", "exact_corners", "exact_vertices_of"]


class ExactPolytopes:
    """The vertices of regions, exactly; fastest when regions are visited in order.

    Parameters
    ----------
    cells : CellComplex
        In a bounded domain.
    """

    def __init__(self, cells: CellComplex) -> None:
        self.cells = cells
        self.forms = ExactForms(cells.network.graph, cells.domain)
        self.inequalities: list[Form] = [tuple(dyadic(row)[0].tolist()) for row in cells.domain.forms]
        self.entered, self.facets = -1, list[tuple[int, frozenset[int]]]()

    def vertex(self, corner: int) -> Point:
        """Return the vertex at a corner: (w, w x) with w > 0 and no common divisor."""
        region = int(np.searchsorted(self.cells.cell_offsets, corner, side="right")) - 1
        return self.in_region(region, int(self.cells.cell_vertices[corner]))

    def in_region(self, region: int, vertex: int) -> Point:
        """Return a vertex of a region."""
        self._enter(region)
        rows = (self._form(kink) for kink, around in self.facets if vertex in around)
        return _common_zero(rows, self.cells.dimension)

    def point(self, region: int, vertex: int) -> tuple[Fraction, ...]:
        """Return the coordinates of a vertex of a region."""
        weight, *rest = self.in_region(region, vertex)
        return tuple(Fraction(x, weight) for x in rest)

    def form(self, region: int, kink: int) -> Form:
        """Return the form of a region that is zero on a kink, or on an inequality of the domain if it is negative."""
        self._enter(region)
        return self._form(kink)

    def _enter(self, region: int) -> None:
        if region == self.entered:
            return
        cells, self.entered = self.cells, region
        self.forms.enter(cells.network.graph.bits(cells.packed_patterns[region]).view(np.bool_))
        chosen: Integers = cells.cell_facets[slice(*cells.cell_facet_offsets[region : region + 2])]
        kinks, starts, ends = (
            each.tolist()
            for each in (cells.facet_kinks[chosen], cells.facet_offsets[chosen], cells.facet_offsets[chosen + 1])
        )
        self.facets = [
            (kink, frozenset(cells.facet_vertices[start:end].tolist()))
            for kink, start, end in zip(kinks, starts, ends, strict=True)
        ]

    def _form(self, kink: int) -> Form:
        return self.forms.kink(kink) if kink >= 0 else self.inequalities[-1 - kink]


def exact_corners(cells: CellComplex) -> ExactOutlines | ExactPolytopes:
    """Return the exact corners of regions of any dimension: ``vertex(corner)``, and the forms of its region."""
    return ExactPolytopes(cells) if cells.dimension > 2 else ExactOutlines(cells)


def exact_vertices_of(cells: CellComplex, indices: ArrayLike | None) -> ExactVertices:
    """Return the exact positions of some vertices; see `Partition.exact_vertices`."""
    if cells.dimension < 3:
        return exact_vertices(cells, indices)
    chosen = indices_of(indices, len(cells.vertices), "vertex")
    regions, exact = first_corners(cells)[1], ExactPolytopes(cells)
    different = np.unique(chosen)
    order = different[np.argsort(regions[different], kind="stable")].tolist()  # one region after the other
    points = {vertex: exact.in_region(int(regions[vertex]), vertex) for vertex in order}
    return ExactVertices(tuple(points[vertex] for vertex in chosen.tolist()), cells.dimension)


def _common_zero(rows: Iterable[Form], dimension: int) -> Point:
    """Return the point where forms are zero, d of which are independent, by fraction-free elimination."""
    reduced: list[tuple[int, list[int]]] = []  # rows in which the columns of all other pivots are zero
    for form in rows:
        row = list(form)
        for pivot, other in reduced:
            if row[pivot]:
                row = _without(row, other, pivot)
        chosen = next((k for k in range(1, dimension + 1) if row[k]), 0)
        if not chosen:
            continue
        reduced = [(pivot, _without(other, row, chosen) if other[chosen] else other) for pivot, other in reduced]
        reduced.append((chosen, row))
        if len(reduced) == dimension:
            weight = 1
            for pivot, other in reduced:
                weight = weight * abs(other[pivot]) // gcd(weight, other[pivot])
            point = [weight] + [0] * dimension
            for pivot, other in reduced:
                point[pivot] = -other[0] * (weight // other[pivot])
            divisor = gcd(*point)
            return tuple(x // divisor for x in point)
    raise CheckpointError(
        "the facets at a vertex do not meet in one point: this is not a result of enumerate, but a partition from a "
        "modified file; if enumerate did return it, please report it"
    )


def _without(row: list[int], other: list[int], column: int) -> list[int]:
    """Return a multiple of a row plus a multiple of another one, in which a column is zero, without common divisor."""
    a, b = row[column], other[column]
    result = [b * x - a * y for x, y in zip(row, other, strict=True)]
    divisor = gcd(*result) or 1
    return [x // divisor for x in result]
