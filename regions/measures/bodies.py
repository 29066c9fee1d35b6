# SPDX-License-Identifier: MIT
"""In which part of a high-dimensional input space is the boundary sampled?

In a ball or a box: bodies from which points can be drawn uniformly, and straight lines with the invariant measure. To
draw a line, draw a direction u uniformly from the sphere, and then a point uniformly from the body's shadow along u.
The shadow of a ball is a ball. The shadow of a box is tiled, along almost every direction, by the shadows of the faces
turned towards it. The shadow of a face is an affine image of the face, so a face is drawn by the area of its shadow,
and then a uniform point of it. The lines have weights, shadow over volume: for a piece of surface S in the body the
mean over all lines of weight times crossings is mean(|u_1|) |S| / volume (Cauchy and Crofton; Santalo, Integral
geometry, 1976, chapter 14). Chords are rounded; counts on a line are exact for the line as stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ulp
from typing import Any, NamedTuple

import numpy as np

from regions.domains import Box
from regions.domains.domain import keep_shape, require_fitting
from regions.domains.points import one_point, same_length
from regions.errors import DegenerateDomainError, ShapeMismatchError
from regions.ground.arithmetic.arguments import MOST_SAMPLES, generator, integer, positive, shown
from regions.ground.arithmetic.keywords import helped
from regions.ground.arithmetic.types import Floats
from regions.theory.bounds.chi import chi_means

# Largest distance between doubles, relative to the size of a body: rounding is then far below the sampling error.
RESOLUTION = 2.0**-20


class Chords(NamedTuple):
    """Ends of random lines in a body, float64 [m, n_in] each, and their weights, float64 [m]."""

    starts: Floats
    ends: Floats
    weights: Floats


@dataclass(frozen=True, eq=False)
class Ball:
    """All points within a radius of a centre.

    Parameters
    ----------
    center : array_like [n_in] or [C, H, W]
    radius : float

    Raises
    ------
    DegenerateDomainError
        A ball so small, for its distance from 0, that it contains almost no doubles.

    Examples
    --------
    >>> Ball([0.0, 0.0, 0.0], 2.0).n_in
    3
    """

    center: Floats
    radius: float
    input_shape: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        center = one_point(self.center, "Ball: center")
        keep_shape(self, center=self.center)
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "radius", positive(self.radius, "Ball: radius"))
        _require_resolved("Ball", self.center, self.radius)

    @property
    def n_in(self) -> int:
        """Dimension of the input space."""
        return len(self.center)

    @helped("Pass rng=, a seed such as 0: every draw can be repeated.")
    def points(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw uniform random points, float64 [count, n_in]."""
        count, rng = integer(count, "count", least=0, most=MOST_SAMPLES), generator(rng)
        radii = self.radius * rng.random(count) ** (1.0 / self.n_in)
        return self.center + _directions(count, self.n_in, rng) * radii[:, np.newaxis]

    @helped("Pass rng=, a seed such as 0: every draw can be repeated.")
    def chords(self, count: int, rng: np.random.Generator) -> Chords:
        """Draw random lines through the ball, as chords."""
        count, rng = integer(count, "count", least=0, most=MOST_SAMPLES), generator(rng)
        n = self.n_in
        along, across = _directions(count, n, rng), _directions(count, n, rng)
        # A uniform direction across the line, and a distance from the centre that is uniform in the shadow.
        across -= (across * along).sum(axis=1, keepdims=True) * along
        share = rng.random(count) ** (1.0 / (n - 1)) if n > 1 else np.zeros(count)
        # One dimension has no direction across, and 0 stays 0.
        lengths = np.maximum(np.linalg.norm(across, axis=1), 1e-300)
        across = self.radius * (across * (share / lengths)[:, np.newaxis])
        half = self.radius * np.sqrt(1.0 - share**2)[:, np.newaxis] * along
        # Shadow over volume is omega_{n-1} / (omega_n radius), and that is mean(|u_1|) n / (2 radius).
        weights = np.full(count, mean_cosine(n) * n / (2.0 * self.radius))
        return Chords(self.center + across - half, self.center + across + half, weights)


@dataclass(frozen=True, eq=False)
class Hyperrectangle:
    """All points between two corners, coordinate by coordinate, in any dimension.

    A `regions.Box` in which no input is fixed can take its place.

    Parameters
    ----------
    lower, upper : array_like [n_in] or [C, H, W]

    Raises
    ------
    DegenerateDomainError
        A lower bound that is not below its upper bound, or so close that there are almost no doubles between.

    Examples
    --------
    >>> Hyperrectangle([0.0, 0.0], [1.0, 2.0]).sides
    array([1., 2.])
    """

    lower: Floats
    upper: Floats
    input_shape: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        corners = {name: one_point(getattr(self, name), f"Hyperrectangle: {name}") for name in ("lower", "upper")}
        same_length("Hyperrectangle", **corners)
        wrong = np.flatnonzero(~(corners["lower"] < corners["upper"]))
        if wrong.size:
            low, high = (corners[name][wrong[0]] for name in ("lower", "upper"))
            raise DegenerateDomainError(
                f"Hyperrectangle: lower[{wrong[0]}] is {low}, and must be below upper[{wrong[0]}], {high}"
            )
        keep_shape(self, lower=self.lower, upper=self.upper)
        for name, corner in corners.items():
            object.__setattr__(self, name, corner)
        with np.errstate(over="ignore"):
            shortest = float(self.sides.min())
        for corner in corners.values():
            _require_resolved("Hyperrectangle", corner, shortest)

    @property
    def n_in(self) -> int:
        """Dimension of the input space."""
        return len(self.lower)

    @property
    def sides(self) -> Floats:
        """Lengths of the edges, float64 [n_in]."""
        return self.upper - self.lower

    @helped("Pass rng=, a seed such as 0: every draw can be repeated.")
    def points(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw uniform random points, float64 [count, n_in]."""
        count, rng = integer(count, "count", least=0, most=MOST_SAMPLES), generator(rng)
        return self.lower + rng.random((count, self.n_in)) * self.sides

    @helped("Pass rng=, a seed such as 0: every draw can be repeated.")
    def chords(self, count: int, rng: np.random.Generator) -> Chords:
        """Draw random lines through the box, as chords."""
        count, rng = integer(count, "count", least=0, most=MOST_SAMPLES), generator(rng)
        along = _directions(count, self.n_in, rng)
        shares = np.abs(along) / self.sides  # shadow of a face over the volume of the box
        weights = shares.sum(axis=1)
        ends = np.cumsum(shares, axis=1)
        faces = (ends < rng.random(count)[:, np.newaxis] * ends[:, -1:]).sum(axis=1)
        starts = self.points(count, rng)
        rows = np.arange(count)
        starts[rows, faces] = np.where(along[rows, faces] > 0.0, self.lower[faces], self.upper[faces])
        with np.errstate(all="ignore"):
            steps = (np.where(along > 0.0, self.upper, self.lower) - starts) / along
        lengths = np.where(along == 0.0, np.inf, steps).min(axis=1)
        return Chords(starts, starts + lengths[:, np.newaxis] * along, weights)


Body = Ball | Hyperrectangle


def in_space(given: Any, n_in: int, input_shape: tuple[int, ...] = ()) -> Body:
    """Return a body in a network's input space: a ball or hyperrectangle, or a `regions.Box`, which becomes one."""
    body = hyperrectangle_of(given) if isinstance(given, Box) else given
    if not isinstance(body, (Ball, Hyperrectangle)):
        raise TypeError(f"expected a regions.measures.Ball or Hyperrectangle, or a regions.Box, got {shown(given)}")
    require_fitting(body, n_in, input_shape, "the body")
    return body


def hyperrectangle_of(box: Box) -> Hyperrectangle:
    """Return the body of a box.

    Raises
    ------
    ShapeMismatchError
        Some inputs are fixed, or the box is not along the inputs.
    """
    if box.input_axes is None or box.dimension < box.n_in:
        raise ShapeMismatchError(
            f"{box!r} is not a body of the whole input space: inputs are fixed, or its sides are not along inputs. "
            "Take a Box in which low < high for every input."
        )
    body = Hyperrectangle(*box.ends)
    object.__setattr__(body, "input_shape", box.input_shape)
    return body


def _require_resolved(name: str, place: Floats, size: float) -> None:
    """Refuse bodies that contain too few doubles for random points and lines."""
    spacing = ulp(float(np.abs(place).max()))
    if not (np.isfinite(size) and spacing <= size * RESOLUTION):
        raise DegenerateDomainError(
            f"{name}: a size of {size} is too small or too large there: doubles are {spacing} apart; move it to 0, "
            "together with the network's biases, or scale both"
        )


def mean_cosine(n: int) -> float:
    """Return the mean of ``|u_1|`` for a uniform direction u in n dimensions: 1, 2/pi, 1/2, ..

    Examples
    --------
    >>> [round(mean_cosine(n), 6) for n in (1, 2, 3)]
    [1.0, 0.63662, 0.5]
    """
    means = chi_means(n)  # a Gaussian vector is its length times an independent uniform direction
    return means[1] / means[n]


def _directions(count: int, n: int, rng: np.random.Generator) -> Floats:
    """Draw uniform random unit vectors, float64 [count, n]."""
    vectors = rng.standard_normal((count, n))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
