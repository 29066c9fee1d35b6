# SPDX-License-Identifier: MIT
"""Which straight parts does a domain have, on which the outputs are piecewise affine?

A domain is one part, and so is a box. A polyline has several, its legs. Outputs are affine on each region of each leg,
so that an answer about a polyline is put together from its legs. Each leg has a partition of its own: its first and
last regions may continue on the leg before or after it.
Along an arc outputs are not affine; such answers would not be exact, and arcs are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Protocol, TypeVar

import numpy as np

from regions.answers.corner_values import CornerValues
from regions.answers.shares import proven_sum
from regions.counting.count_and_enumerate import enumerate_with_maps
from regions.counting.found import End, exception_of
from regions.counting.options import checked_limit
from regions.domains import Curve, Domain
from regions.domains.abilities import ENUMERATIONS, EXTREMES, require
from regions.domains.corners import chart_volume
from regions.domains.curves import ArcLeg
from regions.domains.domain import require_domain_of, require_fitting
from regions.domains.gram import determinant, gram_matrix
from regions.errors import DomainError, LimitReached
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import Workers
from regions.ground.arithmetic.dyadic import square_root
from regions.ground.arithmetic.proven import Proven
from regions.ground.threads.progress import Progress, Report, reporting, share_of
from regions.networks.graph import Graph
from regions.networks.network import Network
from regions.results.partition import Partition

__all__ = [
    "OfLegs",
    "OnLegs",
    "Part",
    "each_part",
    "leg_shares",
    "mean_of_legs",
    "on_curve",
    "parts_of",
    "regions_in_words",
    "straight_parts",
    "values_on_legs",
]

Part = TypeVar("Part", bound=Domain)


class HasPartition(Protocol):
    """The result on a part."""

    @property
    def partition(self) -> Partition: ...


Found = TypeVar("Found", bound=HasPartition)


class OfLegs(JsonReport):
    """An answer with a partition of a domain, or of each leg of a polyline."""

    domain: Domain | Curve
    partitions: tuple[Partition, ...]

    @property
    def partition(self) -> Partition:
        if len(self.partitions) > 1:
            raise DomainError(f"{self.domain!r} has a partition for each leg: take partitions[i] instead of partition")
        return self.partitions[0]


@dataclass(frozen=True, eq=False, repr=False)
class OnLegs(OfLegs):
    """An answer from all regions on a domain, or on the legs of a polyline."""

    domain: Domain | Curve
    partitions: tuple[Partition, ...]

    @property
    def regions_met(self) -> int:
        return sum(map(len, self.partitions))

    @property
    def on_regions(self) -> str:
        return f"on {regions_in_words(self.regions_met, len(self.partitions))}"


def regions_in_words(count: int, legs: int) -> str:
    """Say how many regions there are; a region that continues across a joint of a polyline counts on both legs."""
    return f"{count} region{'s' * (count != 1)}" + f" of {legs} legs" * (legs > 1)


def straight_parts(domain: Domain | Curve, network: Network) -> tuple[Domain, ...]:
    """The legs of a polyline, or the domain itself; refuse arcs, and domains outside the network's input space."""
    if not isinstance(domain, Curve):
        return (require_domain_of(domain, network, EXTREMES),)
    require_fitting(domain, network.n_in, network.input_shape, "the curve")
    legs = tuple(leg for leg in domain.legs if not isinstance(leg, ArcLeg))
    if not legs:
        raise DomainError(
            f"{domain!r} is not straight, and along arcs outputs are not affine: take a polyline through points of it, "
            "such as regions.Polyline(curve.to_input(numpy.linspace(0, 1, 100)))"
        )
    return legs


def parts_of(domain: Domain | Curve, network: Network) -> tuple[Domain, ...]:
    """The legs of a polyline, or the domain itself, if its regions can be enumerated."""
    parts = straight_parts(domain, network)
    for part in parts:
        require(ENUMERATIONS, part)
    return parts


def values_on_legs(
    network: Network,
    graph: Graph,
    domain: Domain | Curve,
    *,
    limit: int | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> tuple[CornerValues, ...]:
    """Enumerate each straight part of a domain, with the outputs of a graph; the limit holds for all parts together."""

    def values(part: Domain, left: int | None, report: Report | None) -> CornerValues:
        partition, maps = enumerate_with_maps(network, graph, part, limit=left, progress=report, workers=workers)
        return CornerValues(partition, graph, maps)

    parts = parts_of(domain, network)
    return tuple(each_part(parts, values, limit, progress))


def each_part(
    parts: Sequence[Part],
    find: Callable[[Part, int | None, Report | None], Found],
    limit: int | None,
    progress: Progress,
) -> list[Found]:
    """Return what is found on each part. The limit of regions holds for all parts together.

    If it is reached, ``partial`` is a tuple of partitions: one for each part so far, if there are several parts.
    """
    limit = checked_limit(limit)
    found: list[Found] = []
    with reporting(progress) as report:
        for number, part in enumerate(parts):
            left = None if limit is None else limit - sum(len(each.partition) for each in found)
            try:
                found.append(find(part, left, share_of(report, number, len(parts))))
            except LimitReached as reached:
                if len(parts) == 1:
                    raise
                partial = (*(each.partition for each in found), reached.partial)
                raise exception_of(End(limit=limit), partial) from None
    return found


def leg_shares(parts: Sequence[Domain]) -> Proven:
    """The share of each part in the length of all parts, [legs]."""
    squares = [determinant(gram_matrix(part.directions)) * chart_volume(part.generators) ** 2 for part in parts]
    largest = max(squares)
    lengths = np.array([square_root(square / largest) for square in squares])
    shares = lengths / fsum(lengths)
    return Proven.rounded(shares, 8)


def mean_of_legs(parts: Sequence[Domain], each: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Combine the means over single parts to the mean over all parts, with a bound on the error.

    Each number comes with a bound on its error.
    """
    if len(parts) == 1:
        return each[0]
    return proven_sum(*(leg_shares(parts) * Proven(*np.array(each).T)))


def on_curve(domain: Domain | Curve, leg: int, place: Sequence[float]) -> list[float]:
    """The chart point of a domain at a chart point of one of its parts: on a polyline, the parameter from 0 to 1."""
    return [(leg + place[0]) / len(domain.legs)] if isinstance(domain, Curve) else list(place)
