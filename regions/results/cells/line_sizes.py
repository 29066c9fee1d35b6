# SPDX-License-Identifier: MIT
"""How large are the regions of a line, and what is a point inside?

`plane_sizes.py` has the same functions, and `sizes.py` chooses between the two files.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from regions.ground.arithmetic.types import Bits, Exponents, Floats
from regions.results.cells.cell_errors import way_errors
from regions.results.cells.cell_geometry import difference
from regions.results.cells.complex import CellComplex

__all__ = ["exact_size", "facet_errors", "facet_sizes", "interior_points", "size_errors", "split_sizes"]


def split_sizes(cells: CellComplex) -> tuple[Floats, Exponents]:
    """Return the lengths of the regions in the chart, as mantissas and exponents: float64 [R], int32 [R]."""
    left, right = _ends(cells)
    lengths, shift = difference(right, left)
    sizes, exponents = np.frexp(lengths)
    return sizes, exponents + shift


def size_errors(cells: CellComplex) -> Floats:
    """Return bounds on the errors of the computed lengths, float64 [R]; NaN if unknown."""
    return way_errors(cells, cells.cell_vertices.reshape(-1, 2))


def exact_size(points: list[list[Fraction]]) -> Fraction:
    """Return the length of a region in the chart, from its exact ends."""
    return points[1][0] - points[0][0]


def facet_sizes(cells: CellComplex) -> Floats:
    """Return 1 for each facet, which is a point, and 0 for an end at infinity: float64 [F]."""
    finite: Bits = np.isfinite(cells.vertices[cells.facet_vertices[:, 0], 0])
    # A kink is a point, even if it is beyond the doubles.
    return (finite | (cells.facet_kinks >= 0)).astype(np.float64)


def facet_errors(cells: CellComplex, sizes: Floats) -> Floats:
    """Return bounds on the errors of the sizes of facets, float64 [F]: points are counted, without error."""
    return np.zeros(len(sizes))


def interior_points(cells: CellComplex) -> Floats:
    """Return the middle of each region, or a point next to its finite end, in the chart: float64 [R, 1]."""
    left, right = _ends(cells)
    # A step of 1 from a finite end, or more if doubles are too sparse there; 0 on a line without kinks.
    whole = (left == -np.inf) & (right == np.inf)
    largest = np.finfo(np.float64).max
    with np.errstate(over="ignore", invalid="ignore"):
        inner_left = np.where(left == -np.inf, right - np.maximum(1.0, np.abs(right)), left)
        inner_right = np.where(right == np.inf, left + np.maximum(1.0, np.abs(left)), right)
    low, high = np.clip(inner_left, -largest, largest), np.clip(inner_right, -largest, largest)
    return np.where(whole, 0.0, low / 2 + high / 2)[:, np.newaxis]


def _ends(cells: CellComplex) -> tuple[Floats, Floats]:
    left, right = cells.vertices[cells.cell_vertices, 0].reshape(-1, 2).T
    return left, right
