# SPDX-License-Identifier: MIT
"""Which class does a network give where, and how long is the boundary between classes?

Units that compare outputs cut the domain where two outputs tie, so that each region has one class
(`answers/classes.py`), and decision boundaries are the facets between regions of different classes. All this is
exact, like every decision of the core; lengths, areas and volumes are rounded, with proven bounds.
Invariant: if several outputs are the largest on a whole region, its class is the first of them.
A network with one output has two classes: 1 where the output is above a threshold, 0 elsewhere.
Cost: an enumeration with n (n - 1) / 2 more units for n outputs. Regions are also cut where two outputs are equal but
not the largest. If there are many outputs, select some with `Network.outputs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions.answers.boundary_curves import boundary_curves
from regions.answers.classes import classes_of, crossing, scored, threshold_of
from regions.answers.decision_surface import decision_surface
from regions.answers.level_surface import LevelSurface
from regions.answers.shares import proven_sum
from regions.counting.count_and_enumerate import enumerate as enumerate_regions
from regions.counting.options import takes_timeout
from regions.domains import Domain
from regions.domains.abilities import CURVES, SURFACES, require
from regions.domains.domain import require_domain_of
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import Workers, flag, integer
from regions.ground.arithmetic.types import Floats, Integers
from regions.ground.text.tables import html_table
from regions.ground.threads.deadline import check_time
from regions.ground.threads.progress import Progress
from regions.measures.domain_distance import DomainDistances, distance_to_facets
from regions.networks.network import Network, require_network, with_graph
from regions.networks.parts import comparing, pairs_of
from regions.results.definitions.classed_regions import ClassedRegions
from regions.results.partition import Partition

__all__ = ["Decisions", "decisions"]


@dataclass(frozen=True, eq=False, repr=False)
class Decisions(ClassedRegions, JsonReport):
    """The classes of the regions of a network, and the boundary between them.

    Attributes
    ----------
    partition : Partition
        Regions of the network with a unit for each pair of outputs; see `regions.decisions`.
    classes : int64 [R]
        Class of each region.
    facets : int64 [m]
        The facets between regions of different classes.
    names : dict of int to str
        Name of each class in pictures.
    scores : Network
        The network whose largest output gives the class: its outputs, with the opposite sign if the class is the
        smallest, or 0 and the amount by which a single output is above the threshold.
    pairs : int64 [m, 2]
        The two classes at each of these facets, the smaller one first.
    areas : int64 [R]
        Number, from 0, of the connected set of regions of one class that contains each region.
    volume, error : float
        Number of points (d = 1), length (d = 2), area (d = 3) or volume in input space of the boundary, and a proven
        bound on its error.
    """

    ROWS = ("between",)

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

    @cached_property
    def class_volumes(self) -> dict[int, tuple[float, float]]:
        """For each class its length (d = 1), area (d = 2) or volume in input space, and a bound on the error."""
        return {
            int(each): proven_sum(
                *(sizes[self.classes == each] for sizes in (self.partition.volumes, self.partition.volume_errors))
            )
            for each in np.unique(self.classes)
        }

    @cached_property
    def witnesses(self) -> dict[int, Floats]:
        """For each class a point of the input space, float64 [n_in], in the interior of its largest region, rounded."""
        sizes = self.partition.volumes
        found = {}
        for each in np.unique(self.classes).tolist():
            members = np.flatnonzero(self.classes == each)
            place = self.partition.interior_points[members[sizes[members].argmax()]]
            found[each] = self.partition.domain.to_input(place)
        return found

    def surface(self, first: int, second: int) -> LevelSurface:
        """Return the boundary between two classes in three dimensions, as polygons with shared vertices.

        Polygons are counter-clockwise as seen from the later class. The surface ends where a third class begins, or at
        the boundary of the domain. Its ``threshold`` is 0.

        Raises
        ------
        DomainError
            The domain has another number of dimensions.
        TypeError, ValueError
            Not the numbers of two classes.

        Examples
        --------
        >>> from regions import Box, Network
        >>> net = Network([(np.eye(3), None), (np.eye(3), None)])
        >>> decisions(net, Box([0] * 3, [1] * 3)).surface(0, 2)
        LevelSurface(1 polygon, area 0.707107, with boundary, Euler characteristic 1)
        """
        require(SURFACES, self.partition.domain)
        most = len(self.names) - 1
        named = {"first": first, "second": second}
        low, high = sorted(integer(each, name, least=0, most=most) for name, each in named.items())
        if low == high:
            raise ValueError(f"first and second must be different classes, both are {low}")
        facets = self.facets[(self.pairs == [low, high]).all(axis=1)]
        (unit,) = np.flatnonzero((pairs_of(most + 1) == [high, low]).all(axis=1))
        return decision_surface(self.partition, self.classes, facets, int(unit))

    @cached_property
    def curves(self) -> list[Integers]:
        """The boundary in a plane, as runs of vertices of ``partition``, int64 [k] each.

        The larger class is on the left. A closed run ends with the vertex that it begins with. Runs end where more than
        two classes meet, where a boundary crosses itself, and at the end of the domain. On a line each run is a vertex.

        Raises
        ------
        DomainError
            Three dimensions or more: `surface` has the boundary of three.
        """
        require(CURVES, self.partition.domain)
        return boundary_curves(self.partition, self.facets, self.classes)

    def as_dict(self) -> dict[str, Any]:
        """Sizes of classes and of the boundary, with bounds on their errors."""
        bounded = self.partition.domain.bounded
        volumes = {str(each): {"size": size, "error": off} for each, (size, off) in self.class_volumes.items()}
        between = [{"classes": list(pair), "size": size, "error": off} for pair, (size, off) in self.between.items()]
        return {
            "regions": len(self.partition),
            "areas": int(self.areas.max(initial=-1)) + 1,
            "boundary": self.volume,
            "error": self.error,
            "classes": volumes if bounded else sorted(map(int, volumes)),
            "between": between,
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
        classes, areas = len(np.unique(self.classes)), int(self.areas.max(initial=-1)) + 1
        found = f"{classes} class{'es' * (classes != 1)} in {areas} area{'s' * (areas != 1)}"
        return f"Decisions({found}, boundary {self.volume:.6g})"


@takes_timeout
def decisions(
    network: Network,
    domain: Domain,
    *,
    threshold: float | None = None,
    largest: bool = True,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Decisions:
    """Find the class that a network gives all over a domain, and measure the boundary between classes.

    The class is the number of the largest output. A network with one output, such as a logit, has two classes: 1 where
    the output is above a threshold, and 0 elsewhere.

    Parameters
    ----------
    network : Network
    domain : Domain
        A polytope, such as a `Box`, is bounded.
    threshold : float, optional
        The value between the two classes of a network with one output; 0 by default.
    largest : bool, optional
        If False, the class is the number of the smallest output, as for ACAS Xu, or 1 where the one output is below the
        threshold.
    limit, timeout, progress, workers
        As for `regions.enumerate`.

    Returns
    -------
    Decisions

    Raises
    ------
    NetworkError
        A threshold is given, and the network has several outputs.
    ValueError
        The threshold is not a finite number.
    LimitReached, TimeoutReached, ShapeMismatchError, DomainError
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
    >>> logit = Network([([[1.0, 0.0], [-1.0, 0.0]], None), ([[1.0, 1.0]], [-0.5])])
    >>> decisions(logit, Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    Decisions(2 classes in 3 areas, boundary 4)
    """
    given = threshold_of(require_network(network), threshold)
    graph = scored(network.graph, given, flag(largest, "largest"))
    pairs = pairs_of(graph.n_out)
    compared = comparing(graph, pairs) if given is None else crossing(network.graph, given, largest)
    cut = with_graph(network, compared)
    require_domain_of(domain, cut)
    partition = enumerate_regions(cut, domain, limit=limit, progress=progress, workers=workers)
    check_time()
    last = compared.hidden[-1].kinks
    packed = partition.packed_patterns[:, last.start // 8 :]
    bits = np.unpackbits(packed, axis=1, bitorder="little").view(np.bool_)
    bits = bits[:, last.start % 8 :][:, : last.stop - last.start]
    classes = classes_of(bits, pairs, graph.n_out)
    inside = np.flatnonzero(partition.facet_regions[:, 1] >= 0)
    sides = classes[partition.facet_regions[inside]]
    different = sides[:, 0] != sides[:, 1]
    facets = inside[different]
    check_time()
    volume, error = _volume(partition, facets)
    joined = partition.facet_regions[inside[~different]]
    areas = _components(len(partition), joined)
    named = _names(graph.n_out, given, largest), with_graph(network, graph)
    return Decisions(partition, classes, facets, *named, np.sort(sides[different], axis=1), areas, volume, error)


def _names(classes: int, threshold: float | None, largest: bool) -> dict[int, str]:
    """The name of each class in pictures."""
    if threshold is None:
        return {number: f"class {number}" for number in range(classes)}
    signs = ("≤", ">") if largest else ("≥", "<")
    return {number: f"output {sign} {threshold:g}" for number, sign in enumerate(signs)}


def _components(count: int, edges: Integers) -> Integers:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count))
    return connected_components(links, directed=False)[1].astype(np.int64)


def _volume(partition: Partition, facets: Integers) -> tuple[float, float]:
    return proven_sum(partition.facet_volumes[facets], partition.facet_volume_errors[facets])
