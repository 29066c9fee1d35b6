# SPDX-License-Identifier: MIT
"""How much boundary is there, and how near is it, compared with what theory expects of random networks?

According to Hanin and Rolnick, with N hidden neurons of T breakpoints the boundary per volume of the domain is of order
T N, and the distance from a point to the boundary is of order 1 / (T N). This holds at random initialisation and, as
they observe, after training. The constants of these orders depend on the law of the weights, so nothing can be
violated. The stratum of codimension k of the gradient's boundary, B_{N,k}, is of order C(T N, k) per volume. The
boundary is measured in the domain, from the facets and other faces. Distances are distances in the whole input space,
from uniform random points of the domain, with fixed seed: their mean is an estimate, given with its standard error.
Cost: for each distance, a product of the weights with as many vectors as there are inputs, or units in the first layer.
There are fewer points, or none, if these would take more multiplications than the budget has.
"""

from __future__ import annotations

from itertools import pairwise
from math import comb, inf, isfinite

import numpy as np

from regions.checking.items import OrderItem
from regions.checking.layers import FACES_TOO_MANY, faces_affordable
from regions.checking.whole_domain import domain_volume, one_region, uniform_points
from regions.domains import Box, Domain
from regions.domains.abilities import MOST_ENUMERATED
from regions.domains.shape import SHAPES
from regions.errors import NonFiniteError
from regions.ground.arithmetic.sums import correct_sum
from regions.ground.arithmetic.types import Bits, Floats
from regions.measures.boundary import BoundaryVolume, boundary_facets, lower_strata
from regions.measures.distance import distance_to_boundary
from regions.measures.estimate import Estimate
from regions.networks.graph import Maxima
from regions.networks.network import Network
from regions.results.partition import Partition

__all__ = ["DISTANCE_SAMPLES", "mean_distance", "no_orders", "order_items", "orders_of_counts"]

NAMES = ("boundary per volume", "gradient boundary per volume", "mean distance to the boundary")
STRATUM = "gradient boundary of codimension {}"
# The mean distance is estimated from at most DISTANCE_SAMPLES points, or left out if the budget allows fewer than
# FEWEST_SAMPLES.
DISTANCE_SAMPLES, FEWEST_SAMPLES = 500, 20
# Budget of multiplications, which take some seconds.
DISTANCE_BUDGET = 2e10
BEYOND = "beyond the largest double"


def order_items(boundary: BoundaryVolume, distances: bool = True) -> tuple[OrderItem, ...]:
    """Return the boundary per volume, and the mean distance to it.

    Parameters
    ----------
    boundary : BoundaryVolume
        Boundary of the activation regions of the partition.
    distances : bool
        Whether to estimate distances.
    """
    partition = boundary.partition
    network, domain = partition.network, partition.domain
    if network.kinks == 0 or not domain.bounded:
        return no_orders("the network has no kink" if network.kinks == 0 else "the domain is unbounded")
    jumps = boundary_facets(partition, "gradient")
    totals = (boundary.total, correct_sum(partition.facet_volumes[jumps]))
    size, _ = domain_volume(domain, one_region(domain))
    densities = [_density(name, total, size, domain, network.kinks) for name, total in zip(NAMES, totals, strict=False)]
    return (*densities, *_strata(partition, jumps, size), _mean_distance(network, domain, distances))


def _strata(partition: Partition, jumps: Bits, size: float) -> list[OrderItem]:
    """Return the strata of codimension 2 and more of the gradient's boundary, per volume."""
    codimensions, kinks = range(2, partition.dimension + 1), partition.network.kinks
    if not faces_affordable(partition):
        return [OrderItem(STRATUM.format(k), None, None, "", FACES_TOO_MANY) for k in codimensions]
    if not 0.0 < size < inf:
        reason = "the size of the domain is not a double above 0"
        return [OrderItem(STRATUM.format(k), None, None, "", reason) for k in codimensions]
    strata, found = lower_strata(partition, jumps), []
    for k, volume in zip(codimensions, strata, strict=True):
        sets, density = comb(kinks, k), volume / size
        in_units = density / sets if sets else None
        found.append(OrderItem(STRATUM.format(k), density, in_units, f"sets of {k} kinks, {sets:,}"))
    return found


def orders_of_counts(network: Network, domain: Domain, distances: bool, reason: str) -> tuple[OrderItem, ...]:
    """Return the items if the regions are only counted, for a reason: distances need no regions."""
    boundaries = no_orders(reason)[:-1]
    if not domain.bounded:
        return (*boundaries, OrderItem(NAMES[-1], None, None, "", "the domain is unbounded"))
    return (*boundaries, _mean_distance(network, domain, distances))


def no_orders(reason: str) -> tuple[OrderItem, ...]:
    """Return all items without a value, for one reason."""
    return tuple(OrderItem(name, None, None, "", reason) for name in NAMES)


def _density(name: str, total: float, size: float, domain: Domain, kinks: int) -> OrderItem:
    if size == 0.0:
        return OrderItem(
            name, None, None, "", f"the {SHAPES[domain.dimension].size} of the domain is below the least double"
        )
    if not isfinite(size):
        return OrderItem(name, None, None, "", f"the {SHAPES[domain.dimension].size} of the domain is {BEYOND}")
    density = float(total) / size
    if not isfinite(density):
        return OrderItem(name, None, None, "", BEYOND)
    return OrderItem(name, density, density / kinks, f"kinks, {kinks:,}")


def _mean_distance(network: Network, domain: Domain, asked: bool) -> OrderItem:
    if not asked:
        return OrderItem(NAMES[-1], None, None, "", "left out, as asked")
    if network.kinks == 0:
        return OrderItem(NAMES[-1], None, None, "", "the network has no kink")
    if domain.dimension > MOST_ENUMERATED and not isinstance(domain, Box):
        return OrderItem(
            NAMES[-1],
            None,
            None,
            "",
            f"points are drawn in polytopes of at most {MOST_ENUMERATED} dimensions, and in boxes",
        )
    if any(isinstance(node.units, Maxima) for node in network.graph.hidden):
        return OrderItem(NAMES[-1], None, None, "", "not handled for max units")
    name = NAMES[-1]
    count = _affordable_samples(network)
    if count < FEWEST_SAMPLES:
        reason = f"{FEWEST_SAMPLES} points would take more than {DISTANCE_BUDGET:.0e} multiplications"
        return OrderItem(name, None, None, "", reason)
    try:
        found = mean_distance(network, uniform_points(domain, count, np.random.default_rng(0)))
    except NonFiniteError:  # an input on the way to a point is beyond the largest double
        return OrderItem(name, None, None, "", BEYOND)
    if found is None:
        return OrderItem(name, None, None, "", "no point has a boundary")
    kinks = network.kinks
    value, error = found.value, found.standard_error
    if not isfinite(value * kinks):
        return OrderItem(name, None, None, "", BEYOND)
    note = f"+- {error * kinks:.2g}, estimated from {len(found.samples)} points"
    if count < DISTANCE_SAMPLES:
        note += f", as many as {DISTANCE_BUDGET:.0e} multiplications are enough for"
    return OrderItem(name, value, value * kinks, f"1 / kinks, 1 / {kinks:,}", note)


def _affordable_samples(network: Network) -> int:
    """Return the number of points that the budget allows, up to all of them."""
    widths = network.widths
    coordinates = min(network.n_in, widths[0])
    once = network.n_in * widths[0] ** 2 if widths[0] < network.n_in else 0  # for orthogonal coordinates
    each = coordinates * (network.n_in + sum(a * b for a, b in pairwise(widths)))
    return min(DISTANCE_SAMPLES, max(0, int((DISTANCE_BUDGET - once) // each)))


def mean_distance(network: Network, points: Floats) -> Estimate | None:
    """Return the mean distance of points [m, n_in] to the activation boundary, in the whole input space, or None.

    Points without a boundary, which are infinitely far from it, are left out.
    """
    distances = distance_to_boundary(network, points).distances
    finite = distances[np.isfinite(distances)]
    return Estimate(finite) if len(finite) > 1 else None
