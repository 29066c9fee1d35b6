# SPDX-License-Identifier: MIT
"""How large are regions and facets in three to six dimensions, and what is a point inside?

The core computes volumes from the stored vertices, with bounds on their errors (`csrc/measure/volumes.hpp`). Here they
get the scale of the chart. The volume of a facet is the square root of a quadratic form in its minors, whose matrix is
the adjugate of the chart's Gram matrix, rounded once from its exact value.
Cost: microseconds for each region; more where a vertex is on many facets.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from regions import core
from regions.arithmetic.arrays import read_only
from regions.arithmetic.dyadic import nearest_float
from regions.arithmetic.types import Floats
from regions.cells.complex import PolytopeComplex, cached
from regions.domains.gram import determinant, gram_matrix

__all__ = ["facet_volume_errors", "facet_volumes", "interior_points", "volume_errors", "volumes"]

U = 2.0**-53


@cached
def volumes(cells: PolytopeComplex) -> Floats:
    """Return the volume of each region in input space, float64 [R]."""
    return _sizes(cells)[0]


@cached
def volume_errors(cells: PolytopeComplex) -> Floats:
    """Return a proven bound on the error of each of ``volumes``, float64 [R]."""
    return _sizes(cells)[1]


@cached
def facet_volumes(cells: PolytopeComplex) -> Floats:
    """Return the volume of each facet in input space, of one dimension less than a region, float64 [F]."""
    return _sizes(cells)[2]


@cached
def facet_volume_errors(cells: PolytopeComplex) -> Floats:
    """Return a proven bound on the error of each of ``facet_volumes``, float64 [F]."""
    return _sizes(cells)[3]


@cached
def interior_points(cells: PolytopeComplex) -> Floats:
    """Return one point inside each region, chart coordinates float64 [R, d]: the mean of its vertices, rounded."""
    if len(cells) == 0:
        return np.zeros((0, cells.dimension))
    sums = np.add.reduceat(cells.vertices[cells.cell_vertices], cells.cell_offsets[:-1], axis=0)
    result: Floats = sums / cells.corner_counts[:, np.newaxis]
    return result


@cached
def _sizes(cells: PolytopeComplex) -> tuple[Floats, Floats, Floats, Floats]:
    if len(cells) == 0:
        return (read_only(np.zeros(0)),) * 4
    arrays = {name: getattr(cells, name) for name in cells.stored}
    found, bounds, facets, facet_bounds = core.polytope_sizes(arrays, _adjugate(gram_matrix(cells.domain.directions)))
    with np.errstate(all="ignore"):
        sizes = found * cells.domain.scale  # the scale is rounded once
        errors = (bounds * cells.domain.scale + 4 * U * sizes) * (1 + 8 * U) + 2.0**-1070
    return sizes, _known(errors), facets, _known(facet_bounds)


def _adjugate(matrix: list[list[Fraction]]) -> Floats:
    """Return the cofactors of a symmetric matrix of fractions, each rounded once."""
    size = range(len(matrix))
    minors = [[[row[:k] + row[k + 1 :] for i, row in enumerate(matrix) if i != j] for k in size] for j in size]
    return np.array([[(-1) ** (j + k) * nearest_float(determinant(minors[j][k])) for k in size] for j in size])


def _known(errors: Floats) -> Floats:
    """Return the bounds; infinite where a number overflowed."""
    return np.where(np.isnan(errors), np.inf, errors)
