# SPDX-License-Identifier: MIT
"""What is a domain?

A chart ``x = origin + p @ directions`` from R^d into input space, d = 1 to 10, and a convex set of chart points p.
Boxes along the inputs can have more dimensions; they have no generators then.
One array *defines* the set. On a line and in a plane it is ``generators``, rows (w, p), where w = 1 is a corner and
w = 0 a direction in which the domain is endless. From three dimensions on it is ``forms`` (`polytopes.py`), because the
coordinates of a corner are in general not doubles; ``generators`` are rounded there.
Invariant: all arrays are finite float64, read-only, and checked *exactly*: the directions are
independent; d = 1 has its left and its right end; d = 2 is a strictly convex polygon, counter-clockwise, or
the whole plane; from d = 3 on the set has an interior.
The domain *is* these doubles. They may have been computed once in floating point (a difference of two points, an
orthonormal basis); counts, patterns and adjacency are exact for the chart as stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from regions import core
from regions.domains.abilities import COUNTS, Ability, require
from regions.domains.chart import Chart
from regions.domains.corners import chart_volume, convex_corners
from regions.domains.gram import gram_matrix, independent
from regions.domains.points import many_points, shape_of_points
from regions.domains.shape import SHAPES
from regions.errors import DegenerateDomainError, DomainError, NotConvexError, ShapeMismatchError
from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.dyadic import square_root
from regions.ground.arithmetic.types import Floats
from regions.ground.text.printable import listed
from regions.ground.text.tables import facts_table

AnyDomain = TypeVar("AnyDomain", bound="Domain")

# The corners (-M, -M), (M, -M), (M, M), (-M, M) of a square, in the limit of infinite M.
WHOLE_PLANE = read_only(np.array([[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]]))


class Inputs(Protocol):
    """An object with an input space and a shape of its points."""

    @property
    def n_in(self) -> int: ...
    @property
    def input_shape(self) -> tuple[int, ...]: ...


class Domain(Chart):
    """A convex part of input space, or of a line, plane or flat through it.

    This is the class of all domains. Usually they are made by `Segment`, `Ray`, `Line`, `Plane`, `Polygon`,
    `Rectangle` or `circumsquare`, and from three dimensions on by `Box`, `Polytope` or `Space`. Made directly, a part
    of a line or plane is exactly the given chart.

    Parameters
    ----------
    origin : array_like [n_in] or [C, H, W]
    directions : array_like [d, n_in] or [d, C, H, W]
        d = 1 or 2; linearly independent.
    generators : array_like [v, d + 1]
        Rows (w, p). d = 1: the left and the right end, each ``[1, p]`` or, unbounded, ``[0, -1]`` on the left
        and ``[0, 1]`` on the right. d = 2: ``[1, x, y]`` for each corner of a strictly convex polygon,
        counter-clockwise in the chart, or the four directions of a `Plane`.

    Attributes
    ----------
    origin, directions, generators : float64
        As given, images flattened; read-only. From three dimensions on, generators are the corners, rounded.
    forms : float64 [f, d + 1]
        Only from three dimensions on, where they define the set: see `Polytope`.
    input_shape : tuple of int
        Shape of the points that it was made from: ``(C, H, W)`` for images, else ``(n_in,)``. Functions that take
        points accept this shape too. Returned points are always flat, [.., n_in]; a network takes both, and
        ``reshape(-1, *input_shape)`` makes images. It is not part of the domain's identity: neither compared nor saved
        to files.
    points : float64 [k, n_in]
        The data points that a `Segment` or `circumsquare` was made from, which `regions.plot` marks; empty for other
        domains. They are not part of the domain's identity: neither compared nor saved to files.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        Arrays that do not fit together; NaN or infinity.
    DegenerateDomainError, NotConvexError, DomainError
        Dependent directions, no length or area; corners out of order; generators of another form.

    Examples
    --------
    >>> domain = Domain([0.0, 0.0, 1.0], [[3.0, 4.0, 0.0]], [[1, -1], [1, 1]])
    >>> domain
    Domain(in R^3, length 10)
    >>> domain.to_input([0.5])
    array([1.5, 2. , 1. ])
    """

    generators: Floats
    forms: Floats
    points: Floats

    def __init__(self, origin: ArrayLike, directions: ArrayLike, generators: ArrayLike) -> None:
        name = type(self).__name__
        self._define(name, origin, directions, many_points(generators, f"{name}: generators"))

    def _define(self, name: str, origin: ArrayLike, directions: ArrayLike, defining: Floats) -> None:
        """Check and store the chart and the defining array."""
        Chart.__init__(self, name, origin, directions)
        self._store_generators(defining)
        if self.dimension not in (1, 2):
            advice = "; from 3 on, take a Box, Polytope or Space" * (self.dimension > 2)
            raise ShapeMismatchError(f"{name}: expected 1 or 2 directions, got {self.dimension}{advice}")
        if self.generators.shape[1] != self.dimension + 1:
            raise ShapeMismatchError(
                f"{name}: {self.dimension} directions need generators of shape [v, {self.dimension + 1}] "
                f"with rows (w, p), got {list(self.generators.shape)}"
            )
        if not independent(self.directions):
            raise DegenerateDomainError(
                f"{name}: the direction is zero"
                if self.dimension == 1
                else f"{name}: the two directions are parallel, or one is zero, so they do not span a plane"
            )
        if self.dimension == 1:
            self._require_ends(name)
        else:
            self._require_corners(name)

    def _store_generators(self, generators: Floats) -> None:
        self.__dict__["generators"] = read_only(generators)
        self.__dict__["points"] = np.zeros((0, self.n_in))

    def _require_ends(self, name: str) -> None:
        ends = self.generators.tolist()
        if len(ends) != 2:
            raise ShapeMismatchError(f"{name}: a domain in a line has 2 generators, its ends; got {len(ends)}")
        for end, unbounded in zip(ends, ([0.0, -1.0], [0.0, 1.0]), strict=True):
            if end[0] != 1.0 and end != unbounded:
                raise DomainError(f"{name}: generator {end} is neither an end [1, p] nor, at its place, {unbounded}")
        if self.bounded and ends[0][1] >= ends[1][1]:
            raise DegenerateDomainError(f"{name}: the left end {ends[0][1]} must be below the right end {ends[1][1]}")

    def _require_corners(self, name: str) -> None:
        if np.array_equal(self.generators, WHOLE_PLANE):
            return
        if (self.generators[:, 0] != 1.0).any():
            raise DomainError(f"{name}: a domain in a plane has corners [1, x, y] only, or is the whole plane")
        if convex_corners(self.generators[:, 1:]) != list(range(len(self.generators))):
            raise NotConvexError(f"{name}: the corners must be strictly convex and counter-clockwise in the chart")

    @property
    def defining(self) -> Floats:
        """The array that defines the set in the chart: ``generators``, or from three dimensions on ``forms``."""
        return self.generators if self.dimension < 3 else self.forms

    @property
    def sides(self) -> int:
        """Number of inequalities. Facets on the boundary of the domain name one: ``-1 - side``."""
        return len(self.defining)

    @cached_property
    def inequalities(self) -> list[tuple[Fraction, ...]]:
        """The set as exact rows (c, a), one for each side: p is inside where ``c + a . p >= 0`` for all of them.

        A side at infinity has a row that is positive everywhere.
        """
        rows = [tuple(map(Fraction, row)) for row in self.defining.tolist()]
        if self.dimension == 1:
            (v, a), (w, b) = rows
            return [(-a, v), (b, -w)]
        if self.dimension == 2:
            return [
                (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
                for a, b in zip(rows, [*rows[1:], rows[0]], strict=True)
            ]
        return rows

    @cached_property
    def bounded(self) -> bool:
        """Whether all generators are corners."""
        return bool((self.generators[:, 0] == 1.0).all())

    @cached_property
    def volume(self) -> float:
        """Length or area in input space; inf when unbounded (or beyond the largest double)."""
        if not self.bounded:
            return float("inf")
        return square_root(self._squared_scale * chart_volume(self.generators) ** 2)

    @cached_property
    def compiled(self) -> core.CompiledDomain:
        """The form that the core needs."""
        forms = None if self.dimension < 3 else self.forms
        return core.CompiledDomain(self.origin, self.directions, self.generators, forms)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of chart and defining array, 64 hexadecimal digits; the same for equal domains, however made."""
        return digest_of((self.origin, self.directions, self.defining))

    @cached_property
    def skewness(self) -> float:
        """Upper bound on the sum of the lengths of a vector's components along the directions, relative to its own
        length.

        Never rounded down. 1 on a line.
        """
        if self.dimension == 1:
            return 1.0
        gram = gram_matrix(self.directions)
        # With s the sine of the angle between the directions, the bound is 2 / s.
        return float(np.nextafter(2.0 * square_root(gram[0][0] * gram[1][1] / self._squared_scale), np.inf))

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, Domain) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def _repr_html_(self) -> str:
        shape, corners = SHAPES[self.dimension], self.generators[self.generators[:, 0] == 1.0, 1:]
        images = f", as images {list(self.input_shape)}" * (len(self.input_shape) > 1)
        facts = [("lies in", f"R^{self.n_in}{images}")]
        if not self.bounded:
            facts.append((shape.size, "unbounded"))
        elif hasattr(self, "volume"):
            facts.append((shape.size, f"{self.volume:.6g}"))
        for index, point in enumerate(self.to_input(corners[:8]).tolist()):
            facts.append((f"{shape.corner} {index}", listed(point, "{:.6g}".format)))
        return facts_table(repr(self), facts)

    def __repr__(self) -> str:
        shape, facts = SHAPES[self.dimension], [f"in R^{self.n_in}"]
        if not self.bounded:
            facts.append("unbounded")
        if self.bounded and self.dimension > 1:
            facts.append(f"{len(self.generators)} corners")
        if self.bounded and self.dimension < 3:
            facts.append(f"{shape.size} {self.volume:.6g}")
        return f"{type(self).__name__}({', '.join(facts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Not by copying arrays, because unpickled arrays are writeable.
        arrays = self.origin, self.directions, self.defining, self.points
        return from_chart, (type(self), *arrays, self.input_shape)


def digest_of(arrays: Iterable[Floats], start: bytes = b"") -> str:
    """Return the SHA-256 of arrays, in order, with their shapes."""
    digest = hashlib.sha256(start)
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(array.astype("<f8").tobytes())
    return digest.hexdigest()


def from_chart(
    kind: type[AnyDomain],
    origin: Floats,
    directions: Floats,
    defining: Floats,
    points: Floats | None = None,
    input_shape: tuple[int, ...] | None = None,
) -> AnyDomain:
    """Make a domain of a class from its chart and defining array, without the constructor of that class."""
    domain = object.__new__(kind)
    domain._define(kind.__name__, origin, directions, defining)
    domain.__dict__["input_shape"] = input_shape or domain.input_shape
    if points is not None:
        keep_points(domain, points)
    return domain


def keep_shape(target: Any, **given: ArrayLike) -> None:
    """Store the shape of the points that a new domain or curve was made from."""
    target.__dict__["input_shape"] = shape_of_points(type(target).__name__, **given)


def keep_points(domain: Domain, points: ArrayLike) -> None:
    """Store the data points [k, n_in] that a new domain was made from."""
    kept = many_points(points, "points") if np.size(points) else np.zeros((0, domain.n_in))
    domain.__dict__["points"] = read_only(kept)


def require_domain(given: Any) -> Domain:
    """Refuse anything but a domain; return it."""
    if not isinstance(given, Domain):
        advice = "; take its legs one by one, if they are straight" if hasattr(type(given), "legs") else ""
        raise TypeError(
            f"expected a domain such as regions.Segment or regions.Polygon, got {type(given).__name__}{advice}"
        )
    return given


def require_domain_of(given: Any, network: Inputs, able: Ability = COUNTS) -> Domain:
    """Refuse anything but a domain in the input space of a network, in which something exists; return it."""
    domain = require_domain(given)
    require_fitting(domain, network.n_in, network.input_shape, "the domain")
    require(able, domain)
    return domain


def require_fitting(given: Inputs, n_in: int, input_shape: tuple[int, ...], what: str) -> None:
    """Refuse a domain in a space of another dimension, or one made from images of another shape."""
    if given.n_in != n_in:
        raise ShapeMismatchError(f"{what} lies in a space of {given.n_in} dimensions, the network takes {n_in} inputs")
    if min(len(given.input_shape), len(input_shape)) > 1 and given.input_shape != input_shape:
        raise ShapeMismatchError(
            f"{what} is made of images {list(given.input_shape)}, the network takes {list(input_shape)}: put their "
            "axes in this order"
        )
