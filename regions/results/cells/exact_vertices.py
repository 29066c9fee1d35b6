# SPDX-License-Identifier: MIT
"""Where exactly are the vertices of a partition?

They are corners of regions, which are known exactly (`exact_outline.py`). At each vertex, the corner whose facets
come from the earliest layers is taken, because its forms cost least.
Cost: 130 to 400 microseconds per vertex for networks of 96 to 384 hidden neurons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from operator import index
from typing import Any, NoReturn, overload

import numpy as np
from numpy.typing import ArrayLike

from regions.domains.shape import SHAPES
from regions.ground.arithmetic.arguments import shown
from regions.ground.arithmetic.arrays import indices_of
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.thread_settings import require_exact_arithmetic
from regions.ground.arithmetic.types import Floats, Integers
from regions.results.cells.complex import CellComplex
from regions.results.cells.exact_outline import ExactOutlines, Point

__all__ = ["ExactVertices", "exact_vertices"]


@dataclass(frozen=True, slots=True, repr=False)
class ExactVertices:
    """Vertices in exact chart coordinates: a sequence that does not mix with rounded numbers.

    It is not an array and does not convert to one; arithmetic and comparisons with arrays raise `TypeError`. Single
    coordinates are Python fractions. Two sequences are equal if all vertices are, exactly. Returned by
    `Partition.exact_vertices`.

    Attributes
    ----------
    points : tuple of tuple of int [d + 1]
        Homogeneous: ``(w, w x)`` or ``(w, w x, w y)`` with w > 0, or 0 at infinity, and no common divisor.
    dimension : int
        Dimension d of the chart.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[3.0, 0.0], [0.0, 1.0]], [-1.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Plane([0, 0], [1, 0], [0, 1]))
    >>> exact = part.exact_vertices()
    >>> exact
    ExactVertices(9 vertices, 2-D)
    >>> sorted(vertex for vertex in exact if len(vertex) == 2)
    [(Fraction(1, 3), Fraction(0, 1))]
    >>> sorted(vertex for vertex in exact if len(vertex) == 3)[:3]
    [(0, -1, -1), (0, -1, 0), (0, -1, 1)]
    """

    points: tuple[Point, ...]
    dimension: int

    def __len__(self) -> int:
        return len(self.points)

    @overload
    def __getitem__(self, key: int) -> tuple[Fraction, ...] | tuple[int, ...]: ...
    @overload
    def __getitem__(self, key: slice) -> ExactVertices: ...
    def __getitem__(self, key: int | slice) -> tuple[Fraction, ...] | tuple[int, ...] | ExactVertices:
        """Return the d coordinates of a vertex, as fractions; for a vertex at infinity, d + 1 integers ``(0,
        direction..)``.
        """
        if isinstance(key, slice):
            return ExactVertices(self.points[key], self.dimension)
        try:
            point = self.points[index(key)]
        except IndexError:
            raise IndexError(f"vertex {shown(key)} does not exist: there are {len(self)}, numbered from 0") from None
        except Exception:
            raise TypeError(f"a key is the number of a vertex, or a slice of numbers, got {shown(key)}") from None
        return tuple(Fraction(x, point[0]) for x in point[1:]) if point[0] else point

    def __iter__(self) -> Iterator[tuple[Fraction, ...] | tuple[int, ...]]:
        return (self[i] for i in range(len(self)))

    def to_float(self) -> Floats:
        """Return every coordinate correctly rounded, float64 [vertices, d]; at infinity, 0 or infinite.

        Coordinates beyond the largest double are infinite as well.
        """
        rounded = [[_to_float(x, point[0]) for x in point[1:]] for point in self.points]
        return np.array(rounded, dtype=np.float64).reshape(len(self), self.dimension)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse: numpy would otherwise convert, and round, the vertices implicitly."""
        raise TypeError("exact vertices do not mix with rounded numbers: use to_float(), which rounds them")

    __array_ufunc__ = __array__

    def __repr__(self) -> str:
        return f"ExactVertices({len(self)} {'vertex' if len(self) == 1 else 'vertices'}, {self.dimension}-D)"


def exact_vertices(cells: CellComplex, indices: ArrayLike | None) -> ExactVertices:
    """Return the exact positions of some vertices; see `Partition.exact_vertices`."""
    require_exact_arithmetic()
    chosen = indices_of(indices, len(cells.vertices), "vertex")
    outlines = ExactOutlines(cells)
    corners = _cheapest_corners(cells, outlines.previous)[chosen]
    if (corners < 0).any():
        raise ValueError(f"vertex {chosen[np.argmin(corners)]} is not a corner of any region, so it lies on no facets")
    # In the order of the regions, because consecutive regions share most of their forms.
    points = {corner: outlines.vertex(corner) for corner in np.unique(corners).tolist()}
    return ExactVertices(tuple(points[corner] for corner in corners.tolist()), cells.dimension)


def _cheapest_corners(cells: CellComplex, previous: Integers) -> Integers:
    """Return for each vertex the corner whose facets come from the earliest layers, int64 [V], or
    -1.
    """
    layers = cells.facet_layers[cells.cell_facets]
    if SHAPES[cells.dimension].closed:  # a corner is where its facet and the one before meet
        layers = np.maximum(layers, layers[previous])
    result = np.full(len(cells.vertices), -1, dtype=np.int64)
    order = np.lexsort((layers, cells.cell_vertices))[::-1]  # the earliest layers of each vertex come last
    result[cells.cell_vertices[order]] = order
    return result


def _to_float(numerator: int, weight: int) -> float:
    if weight == 0:
        return inf if numerator > 0 else -inf if numerator else 0.0
    return nearest_float(Fraction(numerator, weight))
