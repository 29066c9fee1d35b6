# SPDX-License-Identifier: MIT
"""Into which simplices are regions of lines and planes divided, how large are they, and what are the outputs there?

A region of a segment is a simplex; a polygon is cut into triangles from its first corner. On each of them the outputs
are affine, so that all integrals follow from the values at the corners. Sizes are shares of the domain: the sides of a
simplex are mapped to coordinates in which distances are those of the input space, and scaled so that the domain has
about size one. The simplices of the legs of a polyline are joined: each leg's shares are multiplied by its share of the
polyline.
Invariant: all errors are bounded, also where differences or products underflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from regions.answers.corner_values import CornerValues, value_at
from regions.domains.corners import chart_volume
from regions.domains.gram import determinant, gram_matrix
from regions.errors import NonFiniteError
from regions.ground.arithmetic.dyadic import nearest_float, square_root
from regions.ground.arithmetic.roundoff import SMALLEST, TINY, UP, U
from regions.ground.arithmetic.types import Floats, Integers
from regions.results.cells.cell_geometry import difference

__all__ = ["JoinedSimplices", "Simplices", "Weighted", "values_at_vertices"]


class Weighted:
    """Results that are computed from shares and values."""

    vertices: Integers
    shares: Any
    values: Any

    @cached_property
    def vertex_weights(self) -> tuple[Floats, Floats]:
        """The weights of vertices, float64 [V], and bounds on the errors; simplices divide their shares among their
        corners.
        """
        shares, errors = self.shares
        corners, count = self.vertices, len(self.values[0])
        each = corners.shape[1]
        parts = (np.repeat(part / each, each) for part in (shares, errors))
        weights, bounds = (np.bincount(corners.ravel(), part, count).astype(np.float64) for part in parts)
        terms = np.bincount(corners.ravel(), minlength=count)
        return weights, (bounds + (terms + 2) * U * weights) * (1 + (terms + 4) * U) + TINY


class Simplices(Weighted):
    """The simplices of a partition of a bounded domain.

    Parameters
    ----------
    at : CornerValues

    Attributes
    ----------
    partition : Partition
    dimension : int
    vertices : int64 [S, d + 1]
        The corners of each simplex.
    regions : int64 [S]
        The region of each simplex.
    exponent : int
        Sides are multiplied by 2 ** -exponent.
    """

    def __init__(self, at: CornerValues) -> None:
        self.at = at
        self.partition = partition = at.partition
        self.dimension = partition.dimension
        starts, counts = partition.cell_offsets[:-1], partition.corner_counts
        each = counts - partition.dimension
        self.regions = np.repeat(np.arange(len(partition)), each)
        second = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each - starts, each) + 1
        corners = [np.repeat(starts, each), second, second + 1][-3 if partition.dimension == 2 else 0 :]
        self.vertices: Integers = partition.cell_vertices[np.stack(corners[: partition.dimension + 1], axis=1)]
        domain = partition.domain
        ends = domain.generators[:, 1:]
        _, extents = np.frexp(np.ptp(ends / 2, axis=0))
        _, lengths = np.frexp(domain.direction_lengths)
        self.exponent = int((extents + lengths).max()) + 1

    @property
    def parts(self) -> list[tuple[Simplices, slice]]:
        """The simplices of one partition, and their indices among all simplices."""
        return [(self, slice(0, len(self.regions)))]

    @cached_property
    def sides(self) -> tuple[Floats, Floats]:
        """The vectors from the first corner of each simplex to the others, float64 [S, d, d], and bounds on the lengths
        of their errors, [S, d]. They have the lengths of input space, times two to minus the exponent.
        """
        part, domain = self.partition, self.partition.domain
        corners = part.vertices[self.vertices]
        errors = part.vertex_errors[self.vertices]
        factor, exponents = domain.length_factor
        with np.errstate(all="ignore"):
            offsets, shift = difference(corners[:, 1:], corners[:, :1])
            offsets = np.ldexp(offsets, exponents + shift - self.exponent)
            vectors = offsets @ factor.T
            moved = errors[:, 1:] + errors[:, :1]
            lengths = np.linalg.norm(domain.split_directions[0], axis=1) * UP
            moved = sum(
                np.ldexp(moved * length, e - self.exponent) for length, e in zip(lengths, exponents, strict=True)
            )
            bounds = (moved + 16 * U * (np.abs(offsets) @ lengths)) * UP + TINY
        return vectors, bounds

    @cached_property
    def shares(self) -> tuple[Floats, Floats]:
        """The size of each simplex as a share of the domain, float64 [S], and bounds on the errors."""
        vectors, moved = self.sides
        domain = self.partition.domain
        with np.errstate(all="ignore"):
            if domain.dimension == 1:
                sizes, errors = np.abs(vectors[:, 0, 0]), moved[:, 0]
            else:
                (a, b), (far_a, far_b) = vectors.transpose(1, 0, 2), moved.T
                lengths = np.hypot(*a.T), np.hypot(*b.T)
                sizes = np.maximum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], 0.0) / 2
                rounded = 8 * U * lengths[0] * lengths[1]
                errors = (far_a * lengths[1] + far_b * lengths[0] + far_a * far_b + rounded) / 2 * UP + TINY
            scaled = determinant(gram_matrix(domain.directions)) * chart_volume(domain.generators) ** 2
            whole = square_root(scaled / Fraction(4) ** (self.exponent * domain.dimension))
            return sizes / whole, errors / whole * UP + 4 * U * sizes / whole + TINY

    @cached_property
    def areas(self) -> tuple[Floats, Floats]:
        """The length or area of each region, float64 [R, 1], and bounds on the errors."""
        shares, errors = (np.bincount(self.regions, each)[:, np.newaxis] for each in self.shares)
        terms, whole = np.bincount(self.regions)[:, np.newaxis] + 8, self.partition.domain.volume
        return np.asarray(shares * whole, dtype=np.float64), (errors + terms * U * shares) * whole * (
            1 + terms * U
        ) * UP

    @cached_property
    def values(self) -> tuple[Floats, Floats]:
        """Outputs at the vertices, float64 [V, m], and bounds on their errors.

        Raises
        ------
        NonFiniteError
            A value beyond the largest double.
        """
        return values_at_vertices(self.at)


class JoinedSimplices(Weighted):
    """The simplices of several segments, with the same attributes.

    Parameters
    ----------
    each : sequence of Simplices
    weights : float64 [parts]
        The share of each part in the whole, with relative errors of at most 2^-50.
    """

    dimension = 1

    def __init__(self, each: Sequence[Simplices], weights: Floats) -> None:
        counts = [len(part.regions) for part in each]
        starts = np.cumsum([0, *counts]).tolist()
        self.parts = [(part, slice(*ends)) for part, ends in zip(each, pairwise(starts), strict=True)]
        before = np.cumsum([0, *(len(part.partition.vertices) for part in each[:-1])])
        self.vertices: Integers = np.concatenate(
            [part.vertices + start for part, start in zip(each, before.tolist(), strict=True)]
        )
        self._weights = np.repeat(weights, counts)

    @cached_property
    def shares(self) -> tuple[Floats, Floats]:
        """As for `Simplices`."""
        shares, errors = (np.concatenate(each) for each in zip(*(part.shares for part, _ in self.parts), strict=True))
        found = shares * self._weights
        return found, (errors * self._weights + 16 * U * found) * UP + TINY

    @cached_property
    def values(self) -> tuple[Floats, Floats]:
        """As for `Simplices`; vertices of later parts follow."""
        values, errors = zip(*(part.values for part, _ in self.parts), strict=True)
        return np.concatenate(values), np.concatenate(errors)


def values_at_vertices(at: CornerValues) -> tuple[Floats, Floats]:
    """Return outputs at the vertices, float64 [V, m], and bounds on their errors, all of them finite."""
    values, errors = (each.copy() for each in at.rounded)
    for vertex in np.flatnonzero(~np.isfinite(errors).all(axis=1)).tolist():
        corner = int(at.corners[vertex])
        point, forms = at.exact.point(corner), at.exact.forms(int(at.regions[corner]))
        for output, form in enumerate(forms):
            value = nearest_float(value_at(form, point))
            if not np.isfinite(value):
                raise NonFiniteError(f"output {output} at vertex {vertex} is beyond the largest double")
            values[vertex, output], errors[vertex, output] = value, U * abs(value) + SMALLEST
    return values, errors
