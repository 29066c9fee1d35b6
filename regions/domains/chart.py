# SPDX-License-Identifier: MIT
"""Which flat part of input space does a domain lie in?

A chart is the map ``x = origin + p @ directions`` from R^d into input space. Both arrays are float64, checked, and
read-only; the directions are independent, exactly.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from regions.domains.gram import determinant, gram_matrix, triangular_factor
from regions.domains.points import many_points, one_point, same_length, shape_of_points
from regions.errors import DegenerateDomainError
from regions.ground.arithmetic.arrays import points_float64, read_only, require_finite
from regions.ground.arithmetic.dyadic import nearest_float, split_square_root, square_root
from regions.ground.arithmetic.types import Exponents, Floats

__all__ = ["Chart"]


class Chart:
    """The chart of a domain; `regions.domains.domain` and `regions.domains.polytopes` say what a domain adds to it."""

    origin: Floats
    directions: Floats
    # Dimension of the input space, and of the chart: 1 on a line, 2 in a plane, 3 to 1024 in a box.
    n_in: int
    dimension: int
    input_shape: tuple[int, ...]

    def __init__(self, name: str, origin: ArrayLike, directions: ArrayLike) -> None:
        arrays = one_point(origin, f"{name}: origin"), many_points(directions, f"{name}: directions")
        shape = shape_of_points(name, origin=origin, directions=directions)
        same_length(name, origin=arrays[0], directions=arrays[1])
        self._store_chart(*arrays, shape)

    def _store_chart(self, origin: Floats, directions: Floats, input_shape: tuple[int, ...]) -> None:
        self.__dict__.update(origin=read_only(origin), directions=read_only(directions), input_shape=input_shape)
        self.__dict__.update(n_in=len(origin), dimension=len(directions))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a domain is immutable; make a new one instead of setting {name!r}")

    def to_input(self, chart_points: ArrayLike) -> Floats:
        """Map chart points [.., d] to input points float64 [.., n_in], in floating point.

        Raises
        ------
        TypeError, ShapeMismatchError, NonFiniteError
            Not real numbers, another shape; NaN, infinity, or a result beyond the largest double.
        """
        p = points_float64(chart_points, self.dimension, "chart points")
        with np.errstate(over="ignore", invalid="ignore"):
            return require_finite(self.origin + p @ self.directions, "the input point")

    def to_chart(self, input_points: ArrayLike) -> Floats:
        """Map input points [.., n_in] to the chart points float64 [.., d] of their orthogonal projections.

        Raises
        ------
        TypeError, ShapeMismatchError, NonFiniteError
            As `to_input`.
        DegenerateDomainError
            The directions are so nearly dependent that floating point cannot project on them.
        """
        return require_finite(self.project(input_points), "the chart point")

    def project(self, input_points: ArrayLike) -> Floats:
        """Return the same as `to_chart`, but infinity or NaN, not an error, for results beyond the largest double."""
        x = points_float64(input_points, self.n_in, "input points", self.input_shape)
        _, exponents = self.split_directions
        with np.errstate(over="ignore", invalid="ignore"):
            result = np.ldexp((x - self.origin) @ self._projection, -exponents)
            beyond = ~np.isfinite(result).all(axis=-1)
            if beyond.any():
                # Perhaps only an intermediate result overflowed. Scaling at once would lose small coordinates.
                offsets = np.ldexp(x[beyond], -64) - np.ldexp(self.origin, -64)
                result[beyond] = np.ldexp(offsets @ self._projection, 64 - exponents)
        return result

    @cached_property
    def split_directions(self) -> tuple[Floats, Exponents]:
        """Directions scaled by powers of two to size one, float64 [d, n_in], and the exponents of these powers, intc
        [d].
        """
        _, exponents = np.frexp(np.abs(self.directions).max(axis=1))
        return read_only(np.ldexp(self.directions, -exponents[:, np.newaxis])), read_only(exponents)

    @cached_property
    def length_factor(self) -> tuple[Floats, Exponents]:
        """The map from chart vectors to vectors of the same length as in input space: float64 [d, d], exponents [d].

        Multiply coordinates by two to the exponents, then by the upper triangular factor. Each entry of the factor is
        rounded once, so that charts with nearly parallel directions lose no digits here.
        """
        _, exponents = self.split_directions
        powers = [Fraction(2) ** int(exponent) for exponent in exponents]
        gram = gram_matrix(self.directions)
        gram = [[x / (a * b) for x, b in zip(row, powers, strict=True)] for row, a in zip(gram, powers, strict=True)]
        return read_only(np.array(triangular_factor(gram))), exponents

    @cached_property
    def direction_lengths(self) -> Floats:
        """Lengths of the directions in input space, float64 [d], never rounded down."""
        squares = gram_matrix(self.directions)
        return read_only(np.nextafter([square_root(squares[axis][axis]) for axis in range(self.dimension)], np.inf))

    @cached_property
    def metric(self) -> Floats:
        """``directions @ directions.T``, float64 [d, d], each entry correctly rounded."""
        return read_only(np.array([[nearest_float(x) for x in row] for row in gram_matrix(self.directions)]))

    @cached_property
    def scale(self) -> float:
        """Length, area or volume in input space of a unit of the chart, ``sqrt(det(metric))``."""
        return square_root(self._squared_scale)

    @cached_property
    def split_scale(self) -> tuple[float, int]:
        """Mantissa m and exponent e of the scale, ``m * 2**e``, even if that is beyond the doubles."""
        return split_square_root(self._squared_scale)

    @cached_property
    def _squared_scale(self) -> Fraction:
        return determinant(gram_matrix(self.directions))

    @cached_property
    def _projection(self) -> Floats:
        """Pseudo-inverse [n_in, d] of the scaled directions."""
        q, r = np.linalg.qr(self.split_directions[0].T)
        try:
            return np.linalg.solve(r, q.T).T
        except np.linalg.LinAlgError:
            raise DegenerateDomainError(
                "the directions are so nearly dependent that floating point cannot tell: points cannot be mapped to "
                "this chart, only from it; give chart points instead"
            ) from None
