# SPDX-License-Identifier: MIT
"""What is a domain?

A chart ``x = origin + p @ directions`` from R^d into input space, d = 1 or 2, and a convex set of chart
points p, given by its generators: rows (w, p), where w = 1 is a corner and w = 0 a direction in which the
domain never ends.
Invariant: all three arrays are finite float64, read-only, and checked *exactly*: the directions are
independent; d = 1 has its left and its right end; d = 2 is a strictly convex polygon, counter-clockwise, or
the whole plane.
The domain *is* these doubles. Whatever made them (a difference of two points, an orthonormal basis) was
computed once in floating point; counts, patterns and adjacency are exact for the chart as stored.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.domains import exact
from regions.domains.points import many_points, one_point, same_length
from regions.errors import DegenerateDomainError, DomainError, NotConvexError, ShapeMismatchError

__all__ = ["WHOLE_PLANE", "Domain"]

Floats = NDArray[np.float64]
AnyDomain = TypeVar("AnyDomain", bound="Domain")

# The corners, in the limit of infinite M, of the square with corners (-M, -M), (M, -M), (M, M), (-M, M).
WHOLE_PLANE = np.array([[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]])
WHOLE_PLANE.setflags(write=False)


class Domain:
    """A convex part of a line or plane through input space, as chart and generators.

    Usually made by `Segment`, `Ray`, `Line`, `Polygon`, `Rectangle` or `circumsquare`; made directly, it is
    exactly the chart you hand over.

    Parameters
    ----------
    origin : array_like [n_in]
    directions : array_like [d, n_in]
        d = 1 or 2; linearly independent.
    generators : array_like [v, d + 1]
        Rows (w, p). d = 1: the left and the right end, each ``[1, p]`` or, unbounded, ``[0, -1]`` on the left
        and ``[0, 1]`` on the right. d = 2: ``[1, x, y]`` for each corner of a strictly convex polygon,
        counter-clockwise in the chart, or `WHOLE_PLANE`.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        Arrays that do not fit together; NaN or infinity.
    DegenerateDomainError, NotConvexError, DomainError
        Dependent directions, no length or area; corners out of order; other generators.

    Examples
    --------
    >>> domain = Domain([0.0, 0.0, 1.0], [[3.0, 4.0, 0.0]], [[1, -1], [1, 1]])
    >>> domain
    Domain(in R^3, length 10)
    >>> domain.to_input([0.5])
    array([1.5, 2. , 1. ])
    """

    origin: Floats
    directions: Floats
    generators: Floats

    def __init__(self, origin: ArrayLike, directions: ArrayLike, generators: ArrayLike) -> None:
        name = type(self).__name__
        arrays = {
            "origin": one_point(origin, f"{name}: origin"),
            "directions": many_points(directions, f"{name}: directions"),
            "generators": many_points(generators, f"{name}: generators"),
        }
        for array in arrays.values():
            array.setflags(write=False)
        self.__dict__.update(arrays)
        same_length(name, origin=self.origin, directions=self.directions)
        if self.dimension not in (1, 2):
            raise ShapeMismatchError(f"{name}: expected 1 or 2 directions, got {self.dimension}")
        if self.generators.shape[1] != self.dimension + 1:
            raise ShapeMismatchError(
                f"{name}: {self.dimension} directions need generators of shape [v, {self.dimension + 1}] "
                f"with rows (w, p), got {list(self.generators.shape)}"
            )
        if not exact.independent(self.directions):
            raise DegenerateDomainError(
                f"{name}: the direction is zero"
                if self.dimension == 1
                else f"{name}: the two directions are parallel, or one is zero, so they do not span a plane"
            )
        if self.dimension == 1:
            self._check_ends(name)
        else:
            self._check_corners(name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a domain is immutable; make a new one instead of setting {name!r}")

    def _check_ends(self, name: str) -> None:
        ends = self.generators.tolist()
        if len(ends) != 2:
            raise ShapeMismatchError(
                f"{name}: a domain in a line has 2 generators, its ends; got {len(ends)}"
            )
        for end, unbounded in zip(ends, ([0.0, -1.0], [0.0, 1.0]), strict=True):
            if end[0] != 1.0 and end != unbounded:
                raise DomainError(
                    f"{name}: generator {end} is neither an end [1, p] nor, at its place, {unbounded}"
                )
        if self.bounded and ends[0][1] >= ends[1][1]:
            raise DegenerateDomainError(
                f"{name}: the left end {ends[0][1]} must be below the right end {ends[1][1]}"
            )

    def _check_corners(self, name: str) -> None:
        if np.array_equal(self.generators, WHOLE_PLANE):
            return
        if (self.generators[:, 0] != 1.0).any():
            raise DomainError(
                f"{name}: a domain in a plane has corners [1, x, y] only, or is the whole plane"
            )
        if exact.convex_corners(self.generators[:, 1:]) != list(range(len(self.generators))):
            raise NotConvexError(
                f"{name}: the corners must be strictly convex and counter-clockwise in the chart"
            )

    @property
    def dimension(self) -> int:
        """1 in a line, 2 in a plane."""
        return len(self.directions)

    @property
    def n_in(self) -> int:
        """Dimension of the input space."""
        return len(self.origin)

    @property
    def bounded(self) -> bool:
        """Whether all generators are corners."""
        return bool((self.generators[:, 0] == 1.0).all())

    @cached_property
    def metric(self) -> Floats:
        """``directions @ directions.T``, float64 [d, d], each entry correctly rounded."""
        result = np.array(
            [[exact.nearest_float(x) for x in row] for row in exact.gram_matrix(self.directions)]
        )
        result.setflags(write=False)
        return result

    @cached_property
    def scale(self) -> float:
        """Length or area in input space of a unit of the chart, ``sqrt(det(metric))``."""
        return exact.square_root(exact.determinant(exact.gram_matrix(self.directions)))

    @cached_property
    def volume(self) -> float:
        """Length or area in input space; inf when unbounded (or beyond the largest double)."""
        if not self.bounded:
            return float("inf")
        squared_scale = exact.determinant(exact.gram_matrix(self.directions))
        return exact.square_root(squared_scale * exact.chart_volume(self.generators) ** 2)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of chart and generators, 64 hexadecimal digits; equal domains share it, however made."""
        digest = hashlib.sha256()
        for array in (self.origin, self.directions, self.generators):
            digest.update(repr(array.shape).encode())
            digest.update(array.astype("<f8").tobytes())
        return digest.hexdigest()

    def to_input(self, chart_points: ArrayLike) -> Floats:
        """Map chart points [.., d] to input points float64 [.., n_in], in floating point."""
        p = self._last_axis(chart_points, self.dimension, "chart points")
        result: Floats = self.origin + p @ self.directions
        return result

    def to_chart(self, input_points: ArrayLike) -> Floats:
        """Map input points [.., n_in] to the chart points float64 [.., d] of their orthogonal projections."""
        x = self._last_axis(input_points, self.n_in, "input points")
        projection, exponents = self._projection
        return np.ldexp((x - self.origin) @ projection, -exponents)

    @cached_property
    def _projection(self) -> tuple[Floats, NDArray[np.intc]]:
        """Pseudo-inverse [n_in, d] of the directions scaled to size one, and the scaling's exponents [d]."""
        _, exponents = np.frexp(np.abs(self.directions).max(axis=1))
        q, r = np.linalg.qr(np.ldexp(self.directions, -exponents[:, np.newaxis]).T)
        return np.linalg.solve(r, q.T).T, exponents

    def _last_axis(self, values: ArrayLike, length: int, name: str) -> Floats:
        result = np.asarray(values, dtype=np.float64)
        if result.ndim == 0 or result.shape[-1] != length:
            raise ShapeMismatchError(f"{name} must have shape [.., {length}], got {list(result.shape)}")
        return result

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, Domain) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        corners = f", {len(self.generators)} corners" if self.bounded and self.dimension == 2 else ""
        size = f"{('length', 'area')[self.dimension - 1]} {self.volume:.6g}" if self.bounded else "unbounded"
        return f"{type(self).__name__}(in R^{self.n_in}{corners}, {size})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor of the base, since unpickled arrays come back writeable.
        return from_chart, (type(self), self.origin, self.directions, self.generators)


def from_chart(kind: type[AnyDomain], origin: Floats, directions: Floats, generators: Floats) -> AnyDomain:
    """Make a domain of a class from its chart and generators, past the constructor of that class."""
    domain = object.__new__(kind)
    Domain.__init__(domain, origin, directions, generators)
    return domain
