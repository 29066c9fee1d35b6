# SPDX-License-Identifier: MIT
"""Which output does a network choose where, and how long is the boundary between decisions?

The class of a point is the largest output there, the first of several, as with `numpy.argmax`. For each pair of outputs
one more unit compares them: its pre-activation is their difference, and its kink lies where they tie. Each region of
the network with these units has one class, determined by bits alone, and decision boundaries are the facets between
regions of different classes. All this is exact, like every decision of the core; lengths are rounded, with proven
bounds.
Invariant: if outputs tie all over a region, the first of them is its class, on both sides of its boundary.
Cost: an enumeration with n (n - 1) / 2 more units for n outputs. Regions are also cut where two outputs tie that are
not the largest: if there are many outputs, select some with `Network.outputs`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from regions.arithmetic.types import Bits, Integers
from regions.cells.cell_errors import sum_error
from regions.domains import Domain
from regions.enumeration.count_and_enumerate import enumerate as enumerate_regions
from regions.errors import NetworkError
from regions.measures.boundary import correct_sum
from regions.measures.domain_distance import DomainDistances, distance_to_facets
from regions.networks.network import Network, require_network, with_graph
from regions.networks.parts import comparing
from regions.partition import Partition
from regions.reporting import Progress
from regions.tables import html_table

__all__ = ["Decisions", "decisions"]


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """The classes of the regions of a network, and the boundary between them.

    Attributes
    ----------
    partition : Partition
        Regions of the network with a unit for each pair of outputs; see `regions.decisions`.
    classes : int64 [R]
        Class of each region.
    facets : int64 [m]
        The facets between regions of different classes.
    pairs : int64 [m, 2]
        The two classes at each of these facets, the smaller one first.
    areas : int64 [R]
        Number, from 0, of the connected set of regions of one class that contains each region.
    volume, error : float
        Number of points (d = 1) or length in input space (d = 2) of the boundary, and a proven bound on its error.
    """

    partition: Partition = field(repr=False)
    classes: Integers
    facets: Integers
    pairs: Integers
    areas: Integers
    volume: float
    error: float

    @cached_property
    def between(self) -> dict[tuple[int, int], tuple[float, float]]:
        """Volume of the common boundary of each two classes that have one, and a bound on its error."""
        kinds, owners = np.unique(self.pairs, axis=0, return_inverse=True)
        members = [self.facets[owners.ravel() == number] for number in range(len(kinds))]
        return {
            (int(low), int(high)): _volume(self.partition, facets)
            for (low, high), facets in zip(kinds, members, strict=True)
        }

    def distance(self, points: ArrayLike, *, space: str = "input") -> DomainDistances:
        """Return the distance from points [.., n_in] to the decision boundary inside the domain.

        It is measured as by `regions.measures.distance_in_domain`; its ``kinks`` are kinks of ``partition``.
        """
        return distance_to_facets(self.partition, self.facets, points, space)

    def _repr_html_(self) -> str:
        rows = [
            (f"{low} and {high}", f"{volume:.6g}", f"{error:.2g}")
            for (low, high), (volume, error) in self.between.items()
        ]
        return html_table(repr(self), ("classes", "boundary", "error at most"), rows)

    def __repr__(self) -> str:
        areas = int(self.areas.max(initial=-1)) + 1
        return f"Decisions({len(np.unique(self.classes))} classes in {areas} areas, boundary {self.volume:.6g})"


def decisions(network: Network, domain: Domain, *, limit: int | None = None, progress: Progress = None) -> Decisions:
    """Find the largest output of a network all over a domain, and measure the boundary between decisions.

    Parameters
    ----------
    network : Network
        With at least two outputs. For one output and a threshold t, add a second output that is t.
    domain : Domain
    limit, progress
        As for `regions.enumerate`.

    Returns
    -------
    Decisions

    Raises
    ------
    NetworkError
        The network has a single output.
    LimitReached, ShapeMismatchError, DomainError
        As for `regions.enumerate`.

    Examples
    --------
    >>> from regions import Network, Polygon
    >>> net = Network([(np.eye(2), None), ([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [0.0, 0.0, 0.5])])
    >>> found = decisions(net, Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> found
    Decisions(3 classes in 3 areas, boundary 3.70711)
    >>> [(pair, round(length, 3)) for pair, (length, _) in found.between.items()]
    [((0, 1), 0.707), ((0, 2), 1.5), ((1, 2), 1.5)]
    >>> found.distance([[0.0, 0.0]]).distances
    array([0.5])
    """
    if require_network(network).n_out < 2:
        raise NetworkError(
            "decisions: the network has one output, and decisions compares several. To see its sign, draw it: "
            "regions.plot(partition, color_by='class')"
        )
    graph, pairs = comparing(network.graph)
    compared = with_graph(network, graph)
    partition = enumerate_regions(compared, domain, limit=limit, progress=progress)
    bits = partition.patterns[:, graph.hidden[-1].kinks]
    classes = _classes(bits, pairs, network.n_out)
    inside = np.flatnonzero(partition.facet_regions[:, 1] >= 0)
    sides = classes[partition.facet_regions[inside]]
    different = sides[:, 0] != sides[:, 1]
    facets = inside[different]
    volume, error = _volume(partition, facets)
    joined = partition.facet_regions[inside[~different]]
    areas = _components(len(partition), joined)
    return Decisions(partition, classes, facets, np.sort(sides[different], axis=1), areas, volume, error)


def _classes(bits: Bits, pairs: Integers, outputs: int) -> Integers:
    """Return the largest output of each region: above all before it, and not below any later one."""
    is_largest = np.ones((len(bits), outputs), dtype=np.bool_)
    for (later, earlier), above in zip(pairs, bits.T, strict=True):
        is_largest[:, later] &= above
        is_largest[:, earlier] &= ~above
    return is_largest.argmax(axis=1)


def _components(count: int, edges: Integers) -> Integers:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count))
    return connected_components(links, directed=False)[1].astype(np.int64)


def _volume(partition: Partition, facets: Integers) -> tuple[float, float]:
    volumes, errors = partition.facet_volumes[facets], partition.facet_volume_errors[facets]
    return correct_sum(volumes), sum_error(volumes, errors)
