# SPDX-License-Identifier: MIT
"""Which flat part of input space does a domain lie in?

A chart is the map ``x = origin + p @ directions`` from R^d into input space. Both arrays are float64, checked, and
read-only; the directions are independent, exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from regions.arithmetic.arrays import points_float64, read_only, require_finite
from regions.arithmetic.types import Floats
from regions.domains.points import many_points, one_point, same_length, shape_of_points

__all__ = ["Chart"]


class Chart:
    """The chart of a domain; `regions.domains.domain` and `regions.domains.polytopes` say what a domain adds to it."""

    origin: Floats
    directions: Floats
    # Dimension of the input space, and number of coordinates of the chart: 1 on a line, 2 in a plane, 3 to 6 in a box.
    n_in: int
    dimension: int
    input_shape: tuple[int, ...]

    def __init__(self, name: str, origin: ArrayLike, directions: ArrayLike) -> None:
        arrays = {
            "origin": one_point(origin, f"{name}: origin"),
            "directions": many_points(directions, f"{name}: directions"),
        }
        self.__dict__.update((key, read_only(array)) for key, array in arrays.items())
        self.__dict__["input_shape"] = shape_of_points(name, origin=origin, directions=directions)
        same_length(name, origin=self.origin, directions=self.directions)
        self.__dict__.update(n_in=len(self.origin), dimension=len(self.directions))

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
