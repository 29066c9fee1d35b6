# SPDX-License-Identifier: MIT
"""How far is a point of a line or plane from the boundary there?

From the facets of a partition, and so from either boundary: that of activation regions, or only where the gradient
jumps. Facets are taken to coordinates in which lengths are those of input space; in a plane a search tree finds the
nearest segment, on a line a sorted list the nearest point. Which facets make up the boundary is exact, distances are
rounded.
It is the distance within the domain: boundary beyond its border, or off the plane, may be nearer.
Cost: the logarithm of the number of facets for each point, after sorting them once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.arrays import points_float64
from regions.errors import NonFiniteError
from regions.measures.arguments import Boundary
from regions.measures.boundary import boundary_facets

if TYPE_CHECKING:
    from regions.domains import Domain
    from regions.partition import Partition

__all__ = ["DomainDistances", "distance_in_domain", "length_coordinates"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class DomainDistances:
    """How far points of a domain are from a boundary in it.

    Attributes
    ----------
    distances : float64 [..]
        In input space; infinite where there is no boundary in the domain.
    facets : int64 [..]
        The nearest facet, or one of the nearest; -1 where there is no boundary.
    nearest : float64 [.., d]
        The nearest point of the boundary, in the chart; nan where there is none.
    """

    distances: Floats
    facets: Integers
    nearest: Floats

    def __repr__(self) -> str:
        return f"DomainDistances({self.distances.size} points)"


def distance_in_domain(
    partition: Partition, points: ArrayLike, boundary: Boundary = "activation", *, space: str = "input"
) -> DomainDistances:
    """Distance from points to the boundary inside the domain of a partition, and where it is.

    Parameters
    ----------
    partition : Partition
    points : array_like [.., n_in], or [.., d] with ``space="chart"``
        Points of input space are projected on the domain's line or plane; the distance is that of the projection.
    boundary : "activation" or "gradient"
        As for `boundary_volume`.
    space : "input" or "chart"

    Returns
    -------
    DomainDistances

    Raises
    ------
    TypeError, ValueError
        No partition, or a partial one; another boundary or space.
    ShapeMismatchError, NonFiniteError
        Points of another length; NaN, infinity; lengths beyond the largest double.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 0.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> distance_in_domain(part, [[0.5, 0.25]]).distances, distance_in_domain(part, [[0.5, 0.25]], "gradient").distances
    (array([0.25]), array([0.5]))
    """
    chosen = np.flatnonzero(boundary_facets(partition, boundary))
    domain = partition.domain
    if space not in ("chart", "input"):
        raise ValueError(f"space must be 'chart' or 'input', got {space!r}")
    given = domain.to_chart(points) if space == "input" else points_float64(points, domain.dimension)
    flat = given.reshape(-1, domain.dimension)
    facets, nearest = np.full(len(flat), -1, dtype=np.int64), np.full(flat.shape, np.nan)
    distances = np.full(len(flat), np.inf)
    if chosen.size and len(flat):
        here = length_coordinates(domain, flat)
        ends = length_coordinates(domain, partition.vertices[partition.facet_vertices[chosen]])
        best = _nearest_points(ends[:, 0, 0], here[:, 0]) if domain.dimension == 1 else _nearest_segments(ends, here)
        facets = chosen[best]
        share = _shares(ends[best], here)
        start, end = (partition.vertices[partition.facet_vertices[facets, side]] for side in (0, -1))
        nearest = start + share * (end - start)
        where = ends[best, 0] + share * (ends[best, -1] - ends[best, 0])
        distances = np.linalg.norm(here - where, axis=1)
    shape = given.shape[:-1]
    return DomainDistances(distances.reshape(shape), facets.reshape(shape), nearest.reshape(given.shape))


def length_coordinates(domain: Domain, points: Floats) -> Floats:
    """Chart points [.., d] in coordinates in which lengths are those of input space, float64 [.., d].

    Raises
    ------
    NonFiniteError
        Coordinates beyond the largest double, or points at infinity.
    """
    _, factor = np.linalg.qr(domain.directions.T)
    with np.errstate(over="ignore", invalid="ignore"):
        result: Floats = points @ factor.T
    if not np.isfinite(result).all():
        raise NonFiniteError("lengths in this domain are beyond the largest double; take a bounded or smaller one")
    return result


def _nearest_points(positions: Floats, points: Floats) -> Integers:
    """The nearest of some positions on a line, for each point."""
    order = np.argsort(positions)
    right = np.searchsorted(positions[order], points).clip(1, max(len(order) - 1, 1))
    pair = order[np.stack([right - 1, np.minimum(right, len(order) - 1)])]
    closer = np.abs(positions[pair] - points).argmin(axis=0)
    result: Integers = pair[closer, np.arange(len(points))]
    return result


def _nearest_segments(ends: Floats, points: Floats) -> Integers:
    """The nearest of some segments [m, 2, 2] in the plane, for each point."""
    import shapely

    tree = shapely.STRtree(shapely.linestrings(ends))
    result: Integers = tree.nearest(shapely.points(points))
    return result


def _shares(ends: Floats, points: Floats) -> Floats:
    """How far along its facet, from 0 to 1, the point nearest to each point lies: float64 [m, 1]."""
    along = ends[:, -1] - ends[:, 0]
    squared = (along**2).sum(axis=1)
    dots = ((points - ends[:, 0]) * along).sum(axis=1)
    result: Floats = np.where(squared > 0.0, dots / np.where(squared > 0.0, squared, 1.0), 0.0).clip(0.0, 1.0)
    return result[:, np.newaxis]
