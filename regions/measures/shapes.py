# SPDX-License-Identifier: MIT
"""How large a disc fits into each region?

The largest radius is a linear program in three unknowns. For a convex polygon it can be solved by shrinking: all edges
move inwards at one speed, until the shortest-lived one has no length left. That one is dropped; the rest goes on as if
it had never been there, since the disc that is sought does not touch it (or touches others as well). When three edges
are left, the disc is the one that touches them.
An edge i between h and j dies when the disc that touches all three has grown to radius r_i: with unit normals n and
offsets c, n . x + r = c three times. Three different unit vectors are never on one line, so there is one solution.
Invariant: corners are taken relative to each region's first one, so thin regions far from the origin lose nothing; and
in units of the region's own size, a power of two, so that nothing over- or underflows on the way.
Cost: all regions with k corners at once, k - 3 times the solution of k systems of three equations. Rounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.errors import DegenerateDomainError, NonFiniteError
from regions.measures.arguments import bounded, complete
from regions.measures.lengths import length_factor, length_vectors, scaled

if TYPE_CHECKING:
    from regions.partition import Partition

__all__ = ["InscribedDiscs", "inscribed_discs"]

Floats = NDArray[np.float64]


class InscribedDiscs(NamedTuple):
    """The largest disc in each region: radii in input space, float64 [R], and centres in the chart, float64 [R, d]."""

    radii: Floats
    centers: Floats


def inscribed_discs(partition: Partition) -> InscribedDiscs:
    """Largest disc in each region of a partition (on a line, half of the interval): its Chebyshev radius and centre.

    Parameters
    ----------
    partition : Partition
        Of a bounded domain.

    Returns
    -------
    InscribedDiscs
        Rounded. Where several discs are largest, as in a rectangle, one of them.

    Raises
    ------
    TypeError, ValueError
        No partition, or a partial one.
    DomainError
        The domain is unbounded.
    NonFiniteError
        A radius beyond the largest double.
    DegenerateDomainError
        Directions of the chart that floating point can not tell from parallel ones.

    References
    ----------
    Zhang, Wu, Empirical studies on the properties of linear regions in deep neural networks, 2020.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-1, -1], [3, -1], [3, 1], [-1, 1]]))
    >>> sorted(inscribed_discs(part).radii.tolist())
    [0.5, 1.0]
    """
    complete(partition)
    bounded(partition.domain, "an inscribed disc")
    domain, counts, starts = partition.domain, partition.corner_counts, partition.cell_offsets[:-1]
    corners = partition.vertices[partition.cell_vertices]
    first = corners[starts]
    lengths, exponents = length_vectors(domain, np.repeat(first, counts, axis=0), corners)
    if partition.dimension == 1:
        radii, centers = scaled(np.abs(lengths[1::2, 0]), exponents[1::2] - 1), corners[0::2] / 2 + corners[1::2] / 2
        return InscribedDiscs(_finite(radii), centers)
    units = np.maximum.reduceat(exponents, starts)
    lengths = scaled(lengths, (exponents - np.repeat(units, counts))[:, np.newaxis])
    factor, exponents_of_axes = length_factor(domain)
    turn = float(np.prod(np.sign(np.diag(factor))))
    if turn == 0.0:
        raise DegenerateDomainError(
            "the two directions are so nearly parallel that floating point can not tell them apart: no disc in their "
            "plane can be computed; take perpendicular ones"
        )
    radii, centers = np.zeros(len(partition)), np.zeros((len(partition), 2))
    for count in np.unique(counts).tolist():
        regions = np.flatnonzero(counts == count)
        rows = starts[regions][:, np.newaxis] + np.arange(count)
        centers[regions], radii[regions] = _largest_discs(lengths[rows], turn)
    steps = np.asarray(np.linalg.solve(factor, centers.T).T, dtype=np.float64)
    steps = scaled(steps, units[:, np.newaxis] - exponents_of_axes)
    return InscribedDiscs(_finite(scaled(radii, units)), first + steps)


def _finite(radii: Floats) -> Floats:
    beyond = np.flatnonzero(~np.isfinite(radii))
    if beyond.size:
        raise NonFiniteError(f"the radius of the largest disc in region {beyond[0]} is beyond the largest double")
    return radii


def _largest_discs(corners: Floats, turn: float) -> tuple[Floats, Floats]:
    """Centres [m, 2] and radii [m] for convex polygons [m, k, 2], counter-clockwise, or clockwise if turn is -1."""
    edges = np.roll(corners, -1, axis=1) - corners
    with np.errstate(all="ignore"):
        sizes = np.hypot(edges[..., 0], edges[..., 1])
        normals = np.stack([edges[..., 1], -edges[..., 0]], axis=2) * turn / sizes[..., np.newaxis]
        offsets = (normals * corners).sum(axis=2)
        while True:
            count = offsets.shape[1]
            centers, radii = _touching(normals, offsets)
            # Rounding can leave an edge without length or direction: it is as short-lived as can be.
            radii = np.where(radii >= 0.0, radii, 0.0)
            if count == 3:
                return np.where(np.isfinite(centers[:, 0]), centers[:, 0], corners[:, 0]), radii[:, 0]
            stay = np.arange(count) != radii.argmin(axis=1)[:, np.newaxis]
            normals = normals[stay].reshape(-1, count - 1, 2)
            offsets = offsets[stay].reshape(-1, count - 1)


def _touching(normals: Floats, offsets: Floats) -> tuple[Floats, Floats]:
    """Centres [m, k, 2] and radii [m, k] of the discs that touch each edge and the ones before and after it."""
    before, after = (np.roll(normals, shift, axis=1) - normals for shift in (1, -1))
    c_before, c_after = (np.roll(offsets, shift, axis=1) - offsets for shift in (1, -1))
    determinants = before[..., 0] * after[..., 1] - before[..., 1] * after[..., 0]
    x = (c_before * after[..., 1] - before[..., 1] * c_after) / determinants
    y = (before[..., 0] * c_after - c_before * after[..., 0]) / determinants
    centers = np.stack([x, y], axis=2)
    return centers, offsets - (normals * centers).sum(axis=2)
