# SPDX-License-Identifier: MIT
"""How much boundary is there, and how near is it, beside what theory expects of random networks?

Hanin and Rolnick: with N hidden neurons of T breakpoints the boundary has of the order of T N per volume of the domain,
and a point is of the order of 1 / (T N) away from it, at random initialisation and, they observe, after training.
Orders have constants that depend on the law of the weights: nothing can be violated.
The boundary is measured in the domain, from the facets. Distances are those in the whole input space, from uniform
random points of the domain, with fixed seed: the mean is an estimate, given with its standard error.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regions.checking.items import OrderItem
from regions.domains import Domain
from regions.measures.boundary import BoundaryVolume, boundary_volume
from regions.measures.distance import distance_to_boundary
from regions.measures.estimate import Estimate
from regions.network import Network

__all__ = ["DISTANCE_SAMPLES", "mean_distance", "order_items", "uniform_points"]

Floats = NDArray[np.float64]

DISTANCE_SAMPLES = 500


def order_items(boundary: BoundaryVolume) -> tuple[OrderItem, ...]:
    """The boundary per volume, and the mean distance to it.

    Parameters
    ----------
    boundary : BoundaryVolume
        That of the activation regions of the partition in question.
    """
    partition = boundary.partition
    network, domain = partition.network, partition.domain
    kinks = network.kinks
    names = ("boundary per volume", "of it, where the gradient jumps", "mean distance to the boundary")
    if kinks == 0 or not domain.bounded or not np.isfinite(domain.volume):
        why = "the network has no kink" if kinks == 0 else "the domain is unbounded"
        return tuple(OrderItem(name, None, None, "", why) for name in names)
    gradient = boundary_volume(partition, "gradient")
    densities = [float(each.total / domain.volume) for each in (boundary, gradient)]
    per_volume = [
        OrderItem(name, density, density / kinks, f"kinks, {kinks:,}")
        for name, density in zip(names, densities, strict=False)
    ]
    distance = mean_distance(network, uniform_points(domain, DISTANCE_SAMPLES, np.random.default_rng(0)))
    if distance is None:
        return (*per_volume, OrderItem(names[2], None, None, "", "no point has a boundary"))
    note = f"+- {distance.standard_error * kinks:.2g}, estimated from {len(distance.samples)} points"
    return (*per_volume, OrderItem(names[2], distance.value, distance.value * kinks, f"1 / kinks, 1 / {kinks:,}", note))


def mean_distance(network: Network, points: Floats) -> Estimate | None:
    """Mean distance of points [m, n_in] to the activation boundary, in the whole input space; None if all are without.

    Points without a boundary, which are infinitely far from it, are left out.
    """
    distances = distance_to_boundary(network, points).distances
    finite = distances[np.isfinite(distances)]
    return Estimate(finite) if len(finite) > 1 else None


def uniform_points(domain: Domain, count: int, rng: np.random.Generator) -> Floats:
    """Independent uniform points of a bounded domain, in input space: float64 [count, n_in]."""
    corners = domain.generators[:, 1:]
    if domain.dimension == 1:
        low, high = corners
        return domain.to_input(low + rng.random((count, 1)) * (high - low))
    # A fan of triangles around the first corner; each is drawn by its area.
    first, second, third = corners[:1], corners[1:-1], corners[2:]
    (a, b), (c, d) = (second - first).T, (third - first).T
    areas = a * d - b * c
    triangles = rng.choice(len(areas), size=count, p=areas / areas.sum())
    root, share = np.sqrt(rng.random((count, 1))), rng.random((count, 1))
    inside = (1 - root) * first + root * ((1 - share) * second[triangles] + share * third[triangles])
    return domain.to_input(inside)
