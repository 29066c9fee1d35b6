# SPDX-License-Identifier: MIT
"""How far is a point from a facet: a point of a line; a segment, a ray or a whole line of a plane?

If the point's projection on the facet's line is between the ends, it is the distance from the line, otherwise the
distance from an end. Everything is measured from the nearest of the known positions on the line, so that close to a
vertex no precision is lost, however long the facet.
The triangular factor of a domain's directions maps chart coordinates to coordinates with the lengths of input space.
Vectors have an exponent each and size about one, so that their squares neither overflow nor underflow, however small or
large the domain. Points are subtracted in the chart, before anything else is rounded.
The partition stores no direction for an endless facet. Its line is therefore computed from its exact form
(`regions/results/cells/exact_outline.py`), rounded once; likewise for a facet with an end beyond the largest double.
Cost: a few dozen floating-point operations for each pair of a point and a facet; for an endless facet, once,
the cost of one of its vertices in `regions/results/cells/exact_vertices.py`.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, ulp

import numpy as np

from regions.domains import Domain
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.roundoff import SMALLEST
from regions.ground.arithmetic.types import Floats, Integers
from regions.results.cells.exact_outline import ExactOutlines
from regions.results.partition import Partition

# The exponent of zero: so low that it is never the largest, and such that sums of a few do not overflow.
NO_EXPONENT = -(1 << 20)


class StraightFacets:
    """Some facets of a partition, as pieces of straight lines.

    Parameters
    ----------
    partition : Partition
    facets : int64 [m]

    Attributes
    ----------
    places : float64 [m, 3, d]
        In the chart: the two ends, infinite if the facet is endless; in that case, one more point of the line.
    shares : float64 [m, 3]
        Number of steps along its line to each position.
    steps : float64 [m, d]
    errors : float64 [m]
        Bounds, in each coordinate, on the errors of the positions of a facet.
    """

    def __init__(self, partition: Partition, facets: Integers) -> None:
        self.domain = partition.domain
        ends = partition.facet_vertices[facets]
        low, high = partition.vertices[ends[:, 0]], partition.vertices[ends[:, -1]]
        self.places: Floats = np.stack([low, high, np.full_like(low, inf)], axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            self.steps = high - low
            wide = np.isinf(self.steps[:, 0]) | np.isinf(self.steps[:, -1])
            self.steps[wide] = (high / 2 - low / 2)[wide]
        known = np.isfinite(partition.vertices[ends]).all(axis=2)
        self.errors: Floats = np.where(known, partition.vertex_errors[ends], 0.0).max(axis=1)
        self.shares: Floats = np.where(wide[:, np.newaxis], [0.0, 2.0, 0.0], [0.0, 1.0, 0.0])
        if partition.dimension == 2:
            outlines = ExactOutlines(partition)
            for index in np.flatnonzero(~np.isfinite(self.places[:, :2]).all(axis=(1, 2))).tolist():
                self._lay(index, int(facets[index]), partition, outlines)
        self.directions, self.exponents = length_vectors(self.domain, np.zeros_like(self.steps), self.steps)

    def distances(self, facets: Integers, points: Floats) -> tuple[Floats, Floats]:
        """Return distances float64 [..] of chart points [.., d] from a facet each, and nearest points [.., d].

        Nearest points are in the chart. Distances are infinite beyond the largest double, and 0 only for points on the
        stored facet.
        """
        shares, along, places = self.shares[facets], self.directions[facets], self.places[facets]
        vectors, exponents = length_vectors(self.domain, places, points[..., np.newaxis, :])
        sizes = _lengths(vectors)
        with np.errstate(all="ignore"):
            # Infinite positions are never the nearest; logarithms, because lengths can be beyond the largest double.
            base = np.where(np.isfinite(sizes), np.log2(sizes) + exponents, inf).argmin(axis=-1)[..., np.newaxis]
            vector, place = (
                np.take_along_axis(each, base[..., np.newaxis], axis=-2)[..., 0, :] for each in (vectors, places)
            )
            exponent: Integers = np.take_along_axis(exponents, base, axis=-1)[..., 0]
            start: Floats = np.take_along_axis(shares, base, axis=-1)[..., 0]
            length = _lengths(along)
            further = scaled((vector * along).sum(axis=-1) / length**2, exponent - self.exponents[facets])
            further = np.where(length > 0.0, further, 0.0)
            across = np.abs(vector[..., 0] * along[..., -1] - vector[..., -1] * along[..., 0]) / length
            distances, nearest = _doubles(across, exponent), place + further[..., np.newaxis] * self.steps[facets]
            low, high = shares[..., 0] - start, shares[..., 1] - start
            # An infinite number of steps is not beyond an endless end.
            for side, beyond in enumerate(((further <= low) & (low > -inf), (further >= high) & (high < inf))):
                distances = np.where(beyond, _doubles(sizes, exponents)[..., side], distances)
                nearest = np.where(beyond[..., np.newaxis], places[..., side, :], nearest)
        return distances, nearest

    def _lay(self, index: int, facet: int, partition: Partition, outlines: ExactOutlines) -> None:
        """Find the line of a facet with an end beyond the doubles."""
        region = int(partition.facet_regions[facet, 0])
        start, stop = partition.cell_offsets[region : region + 2].tolist()
        corner = partition.cell_facets[start:stop].tolist().index(facet)
        low, high = outlines.vertex(start + corner), outlines.vertex(start + (corner + 1) % (stop - start))
        kink = int(partition.facet_kinks[facet])
        constant, a, b = outlines.forms.kink(kink)
        # The region is on the left, counter-clockwise, and the form has the sign of its bit there.
        x, y = (b, -a) if outlines.forms.bits[kink] else (-b, a)
        largest, squared = max(abs(x), abs(y)), x * x + y * y
        # The point of the line that is nearest to 0 in the chart.
        foot = Fraction(-constant * a, squared), Fraction(-constant * b, squared)
        self.places[index, 2] = [nearest_float(coordinate) for coordinate in foot]
        self.errors[index] = max(self.errors[index], *map(ulp, self.places[index, 2].tolist()))
        self.steps[index] = x / largest, y / largest
        for side, (weight, *place) in enumerate((low, high)):
            share = (-inf, inf)[side]
            if weight:
                offsets = [Fraction(p, weight) - q for p, q in zip(place, foot, strict=True)]
                share = nearest_float((offsets[0] * x + offsets[1] * y) * largest / squared)
            self.shares[index, side] = share


def _lengths(vectors: Floats) -> Floats:
    return np.hypot(vectors[..., 0], vectors[..., 1:].sum(axis=-1))


def _doubles(sizes: Floats, exponents: Integers) -> Floats:
    """Return sizes times two to the exponents: infinite beyond the largest double, but 0 only for 0."""
    results = scaled(np.where(np.isnan(sizes), inf, sizes), exponents)
    return np.where(sizes > 0.0, np.maximum(results, SMALLEST), results)


def length_vectors(domain: Domain, start: Floats, end: Floats) -> tuple[Floats, Integers]:
    """Return the vectors from some chart points [.., d] to others: float64 [.., d], times two to the exponents [..].

    Not finite if one of the points is not.
    """
    factor, exponents_of_axes = domain.length_factor
    with np.errstate(all="ignore"):
        offsets = end - start
        wide = np.isinf(offsets)  # perhaps only an intermediate overflow
        offsets, parts = np.frexp(np.where(wide, end / 2 - start / 2, offsets))
        exponents = np.where(offsets == 0.0, NO_EXPONENT, parts + exponents_of_axes.astype(np.int64) + wide)
        largest = exponents.max(axis=-1)
        vectors = scaled(offsets, exponents - largest[..., np.newaxis]) @ factor.T
        # In a skew chart a vector can be much shorter than its coordinates are large.
        _, shift = np.frexp(np.abs(vectors).max(axis=-1))
        return scaled(vectors, -shift[..., np.newaxis]), largest + shift


def scaled(values: Floats, exponents: Integers) -> Floats:
    """Return values times two to the exponents: exact except for overflow and underflow."""
    with np.errstate(over="ignore"):
        return np.ldexp(values, exponents.astype(np.intc))
