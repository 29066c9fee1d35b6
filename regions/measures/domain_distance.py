# SPDX-License-Identifier: MIT
"""How far is a point of a line, plane or box from the boundary there?

The distance is computed from the facets of a partition, for either boundary: between activation regions, or only where
the gradient jumps. The nearest facet is looked up (`nearest_facets.py`), and the distance from it is measured
(`facet_distance.py`). In a box, `solid_distance.py` does both. The facets of the boundary are exact; distances are
rounded, with proven bounds.
It is the distance within the domain: boundary outside the domain, or off the plane, may be nearer.
Cost: the logarithm of the number of facets for each point, after sorting them once: about 10 microseconds. In a box,
some milliseconds for each point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions.domains import Domain
from regions.ground.arithmetic.arguments import SPACES, one_of
from regions.ground.arithmetic.arrays import points_float64, require_finite
from regions.ground.arithmetic.roundoff import UP, U
from regions.ground.arithmetic.types import Floats, Integers
from regions.measures.boundary import Boundary, boundary_facets
from regions.measures.facet_distance import StraightFacets
from regions.measures.nearest_facets import nearest_facets
from regions.measures.point_distances import PointDistances
from regions.measures.solid_distance import SolidFacets
from regions.results.cells.cell_errors import LEAST
from regions.results.partition import Partition


@dataclass(frozen=True, eq=False, repr=False)
class DomainDistances(PointDistances):
    """Distances of points of a domain from a boundary in it.

    Attributes
    ----------
    network : Network
    distances : float64 [..]
        In input space; infinite if there is no boundary in the domain. On the boundary it is 0, or in a box at most the
        error.
    kinks : int64 [..]
        The pattern bit that switches across the facet in ``facets``, as in ``partition.facet_kinks``: one of several if
        they coincide. -1 if there is no boundary.
    nearest : float64 [.., n_in] or [.., d]
        The nearest point of the boundary, in the space of the given points; NaN if there is no boundary.
    facets : int64 [..]
        The nearest facet; -1 if there is no boundary. If several facets are equally near, or their distances differ by
        less than the errors, it is one of them.
    errors : float64 [..]
        Proven bounds on the errors of the distances of chart points. Points of input space are first projected to chart
        points in floating point.
    """

    facets: Integers
    errors: Floats

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the table of `PointDistances` with the nearest facet, and bounds on the errors of the distances."""
        return {**super().to_columns(), "facet": self.facets.ravel().tolist(), "error": self.errors.ravel().tolist()}


def distance_in_domain(
    partition: Partition,
    points: ArrayLike,
    boundary: Boundary = "activation",
    *,
    space: str = "input",
) -> DomainDistances:
    """Return the distance from points to the boundary inside the domain of a partition, and where the boundary is.

    Parameters
    ----------
    partition : Partition
    points : array_like [.., n_in], or [.., d] with ``space="chart"``
        Points of input space are projected on the domain's line, plane or space, and the projection's distance is
        measured. It need not lie in the domain: then the result is its distance from the boundary inside the domain.
    boundary : "activation" or "gradient"
        As for `boundary_volume`.
    space : "input" or "chart"

    Returns
    -------
    DomainDistances

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one; an unknown boundary or space.
    ShapeMismatchError, NonFiniteError
        Points of another length; NaN, infinity; a distance or a nearest point beyond the largest double.
    DegenerateDomainError
        Points of input space, and directions of the chart that floating point cannot tell from parallel ones.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 0.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> distance_in_domain(part, [[0.5, 0.25]]).distances, distance_in_domain(part, [[0.5, 0.25]], "gradient").distances
    (array([0.25]), array([0.5]))

    On a whole plane, where facets are endless:

    >>> part = regions.enumerate(net, regions.Plane([0, 0], [1, 0], [0, 1]))
    >>> found = distance_in_domain(part, [[300.0, -2.0]])
    >>> found.distances, found.units, found.nearest
    (array([2.]), array([1]), array([[300.,   0.]]))
    """
    return distance_to_facets(partition, np.flatnonzero(boundary_facets(partition, boundary)), points, space)


def distance_to_facets(partition: Partition, chosen: Integers, points: ArrayLike, space: str) -> DomainDistances:
    """Return `distance_in_domain` from some facets."""
    domain = partition.domain
    given = chart_points(domain, points, space)
    in_chart = space == "chart"
    flat = given.reshape(-1, domain.dimension)
    facets, distances = np.full(len(flat), -1, dtype=np.int64), np.full((len(flat), 1), np.inf)
    errors = np.zeros(len(flat))
    nearest = np.full((len(flat), domain.dimension if in_chart else domain.n_in), np.nan)
    shape = given.shape[:-1]
    if chosen.size and len(flat):
        if partition.dimension > 2:
            best, distances[:, 0], found, errors = SolidFacets(partition, chosen).nearest(flat)
        else:
            straight = StraightFacets(partition, chosen)
            best = nearest_facets(straight, flat)
            distances[:, 0], found = straight.distances(best, flat)
            errors = errors_of_distances(partition, straight, flat, distances[:, 0])
        facets = chosen[best]
        require_finite(distances.reshape(*shape, 1), "the distance to the boundary")
        found = require_finite(found.reshape(given.shape), "the nearest point of the boundary")
        nearest = found if in_chart else domain.to_input(found)
    return DomainDistances(
        partition.network,
        distances.reshape(shape),
        np.append(partition.facet_kinks, -1)[facets].reshape(shape),
        nearest.reshape(*shape, nearest.shape[-1]),
        facets.reshape(shape),
        errors.reshape(shape),
    )


def chart_points(domain: Domain, points: ArrayLike, space: str) -> Floats:
    """Return points as chart points [.., d]; points of input space are projected, in floating point."""
    if one_of(space, SPACES, "space") == "chart":
        return points_float64(points, domain.dimension)
    return domain.to_chart(points)


def errors_of_distances(partition: Partition, facets: StraightFacets, points: Floats, distances: Floats) -> Floats:
    """Bound the errors of distances [n] of chart points [n, d] from the nearest of some facets.

    Every facet is off by at most the errors of its ends, so the least distance from the stored facets is within the
    largest such error of the least distance from the true ones. The rest is rounding, u = 2^-53 each time. Consider a
    vector from a point on a facet to the given point. Let M be at least the sum of |component| x direction length over
    the chart's directions. The vector is off by 4 u M, and a facet's direction, relatively, by 4 u C, with C the
    skewness of the chart. Then the distance from a line is off by 17 u C M, and the position of its foot by at most 25
    u C M. The search for the nearest facet, which compares distances that are rounded like these, is off by 40 u M.
    Together this is less than 128 u C M. On a line there are only differences.
    """
    lengths, finite = partition.domain.direction_lengths, np.isfinite(facets.places).all(axis=2)
    with np.errstate(all="ignore"):
        displaced = facets.errors.max(initial=0.0) * lengths.sum()
        if partition.dimension == 1:
            rounded = 32.0 * U * distances
        else:
            reach = np.abs(facets.places[finite]).max(axis=0, initial=0.0)
            rounded = 128.0 * U * partition.domain.skewness * ((np.abs(points) + reach) @ lengths)
        bounds = (displaced + rounded) * UP + LEAST
    return np.where(np.isnan(bounds), np.inf, bounds)
