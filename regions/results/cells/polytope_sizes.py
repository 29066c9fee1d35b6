# SPDX-License-Identifier: MIT
"""How large are regions and facets in three to six dimensions, and what is a point inside?

The core computes volumes from the stored vertices, with bounds on their errors (`csrc/measure/volumes.hpp`). Here they
get the scale of the chart. A size beyond the largest double is infinite, with an infinite bound. The volume of a facet
is the square root of a quadratic form in its minors, whose matrix is the adjugate of the chart's Gram matrix, rounded
once from its exact value.
Cost: microseconds for each region; more where a vertex is on many facets.
"""

from __future__ import annotations

import numpy as np

from regions import core
from regions.domains.gram import adjugate, determinant, gram_matrix
from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.dyadic import nearest_float, square_root
from regions.ground.arithmetic.roundoff import U
from regions.ground.arithmetic.types import Floats
from regions.results.cells.cell_errors import LEAST
from regions.results.cells.complex import CellComplex, cached

__all__ = ["facet_volume_errors", "facet_volumes", "interior_points", "volume_errors", "volumes"]


@cached
def volumes(cells: CellComplex) -> Floats:
    """Return the volume of each region in input space, float64 [R]."""
    return _sizes(cells)[0]


@cached
def volume_errors(cells: CellComplex) -> Floats:
    """Return a proven bound on the error of each of ``volumes``, float64 [R]."""
    return _sizes(cells)[1]


@cached
def facet_volumes(cells: CellComplex) -> Floats:
    """Return the volume of each facet in input space, of one dimension less than a region, float64 [F]."""
    return _sizes(cells)[2]


@cached
def facet_volume_errors(cells: CellComplex) -> Floats:
    """Return a proven bound on the error of each of ``facet_volumes``, float64 [F]."""
    return _sizes(cells)[3]


@cached
def interior_points(cells: CellComplex) -> Floats:
    """Return one point inside each region, chart coordinates float64 [R, d]: the mean of its vertices, rounded."""
    if len(cells) == 0:
        return np.zeros((0, cells.dimension))
    shares = cells.vertices[cells.cell_vertices] / np.repeat(cells.corner_counts, cells.corner_counts)[:, np.newaxis]
    return np.add.reduceat(shares, cells.cell_offsets[:-1], axis=0)


@cached
def _sizes(cells: CellComplex) -> tuple[Floats, Floats, Floats, Floats]:
    if len(cells) == 0:
        return (read_only(np.zeros(0)),) * 4
    arrays = {name: getattr(cells, name) for name in cells.stored}
    d, (directions, exponents) = cells.dimension, cells.domain.split_directions
    # Directions and coordinates become at most about one in size, by powers of two, so that no product overflows.
    _, sizes = np.frexp(np.abs(cells.vertices).max(axis=0))
    shift = int((sizes + exponents).max())
    with np.errstate(all="ignore"):
        arrays["vertices"] = np.ldexp(cells.vertices, exponents - np.intc(shift))
        moved = np.ldexp(cells.vertex_errors, int(exponents.max()) - shift)
        arrays["vertex_errors"] = moved * (1 + 4 * U) + LEAST  # with the underflow of coordinates
        gram = gram_matrix(directions)
        found, bounds, facets, facet_bounds = core.polytope_sizes(
            arrays, np.array([[nearest_float(x) for x in row] for row in adjugate(gram)])
        )
        scale = square_root(determinant(gram))  # rounded once
        errors = (bounds * scale + 4 * U * found * scale) * (1 + 8 * U)
        found = found * scale
    return (*_enlarged(found, errors, d * shift), *_enlarged(facets, facet_bounds, (d - 1) * shift))


def _enlarged(values: Floats, errors: Floats, exponent: int) -> tuple[Floats, Floats]:
    """Return sizes and bounds times a power of two; a bound is infinite if nothing is known of the size."""
    with np.errstate(all="ignore"):
        sizes, bounds = np.ldexp(values, exponent), np.ldexp(errors, exponent) + LEAST
    return sizes, np.where(np.isfinite(sizes) & ~np.isnan(bounds), bounds, np.inf)
