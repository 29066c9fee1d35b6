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
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.roundoff import SMALLEST, TINY, UP, U
from regions.ground.arithmetic.types import Integers
from regions.results.cells.cell_geometry import difference

__all__ = ["JoinedSimplices", "Simplices", "Weighted", "values_at_vertices"]


class Weighted:
    """Results that are computed from shares and values."""

    vertices: Integers
    shares: Any
    values: Any

    @cached_property
    def vertex_weights(self) -> Proven:
        """The weights of vertices, [V]; simplices divide their shares among their corners."""
        each = self.vertices.shape[1]
        parts, errors = self.shares / each
        return Proven(np.repeat(parts, each), np.repeat(errors, each)).totals(self.vertices.ravel(), len(self.values))


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
    def sides(self) -> Proven:
        """The vectors from the first corner of each simplex to the others, [S, d, d]; bounds are on the lengths of
        their errors. They have the lengths of input space, times two to minus the exponent.
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
        return Proven(vectors, bounds[..., np.newaxis])

    @cached_property
    def shares(self) -> Proven:
        """The size of each simplex as a share of the domain, [S]."""
        domain, sides = self.partition.domain, self.sides
        with np.errstate(all="ignore"):
            if domain.dimension == 1:
                sizes = abs(sides[:, 0, 0])
            else:
                doubled = sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0]
                sizes = Proven(np.maximum(doubled.value, 0.0), doubled.error) / 2
            scaled = determinant(gram_matrix(domain.directions)) * chart_volume(domain.generators) ** 2
            whole = square_root(scaled / Fraction(4) ** (self.exponent * domain.dimension))
            return sizes / Proven.rounded(whole)

    @cached_property
    def areas(self) -> Proven:
        """The length or area of each region, [R, 1]."""
        whole = self.partition.domain.volume
        with np.errstate(all="ignore"):
            return (self.shares.totals(self.regions, len(self.partition)) * Proven.rounded(whole, 4))[:, np.newaxis]

    @cached_property
    def values(self) -> Proven:
        """Outputs at the vertices, [V, m].

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
    weights : Proven [parts]
        The share of each part in the whole.
    """

    dimension = 1

    def __init__(self, each: Sequence[Simplices], weights: Proven) -> None:
        counts = [len(part.regions) for part in each]
        starts = np.cumsum([0, *counts]).tolist()
        self.parts = [(part, slice(*ends)) for part, ends in zip(each, pairwise(starts), strict=True)]
        before = np.cumsum([0, *(len(part.partition.vertices) for part in each[:-1])])
        self.vertices: Integers = np.concatenate(
            [part.vertices + start for part, start in zip(each, before.tolist(), strict=True)]
        )
        self._weights = weights[np.repeat(np.arange(len(each)), counts)]

    @cached_property
    def shares(self) -> Proven:
        """As for `Simplices`."""
        return Proven.joined([part.shares for part, _ in self.parts]) * self._weights

    @cached_property
    def values(self) -> Proven:
        """As for `Simplices`; vertices of later parts follow."""
        return Proven.joined([part.values for part, _ in self.parts])


def values_at_vertices(at: CornerValues) -> Proven:
    """Return outputs at the vertices, [V, m], all bounds finite."""
    values, errors = (each.copy() for each in at.rounded)
    for vertex in np.flatnonzero(~np.isfinite(errors).all(axis=1)).tolist():
        corner = int(at.corners[vertex])
        point, forms = at.exact.point(corner), at.exact.forms(int(at.regions[corner]))
        for output, form in enumerate(forms):
            value = nearest_float(value_at(form, point))
            if not np.isfinite(value):
                raise NonFiniteError(f"output {output} at vertex {vertex} is beyond the largest double")
            values[vertex, output], errors[vertex, output] = value, U * abs(value) + SMALLEST
    return Proven(values, errors)
