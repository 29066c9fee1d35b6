# SPDX-License-Identifier: MIT
"""How large do outputs of a graph get on a domain, and where?

A question is a list of targets (`extreme_values.py`). A bounded plane or box is searched by branch and bound
(`extreme_regions.py`), a box of more than six dimensions by bounds on its parts (`wide_boxes.py`). On lines, polylines
and unbounded domains all regions are enumerated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from regions.answers.corner_values import CornerValues
from regions.answers.extreme_regions import opened_regions
from regions.answers.extreme_values import Extreme, Target
from regions.answers.greatest_corner import first_of, greatest_at
from regions.answers.legs import parts_of, regions_in_words, straight_parts, values_on_legs
from regions.answers.wide_boxes import bounded_extremes
from regions.counting.options import Options
from regions.domains import Box, Curve, Domain
from regions.domains.abilities import MOST_ENUMERATED
from regions.ground.text.proven_digits import outwards
from regions.networks.graph import Graph
from regions.networks.network import Network
from regions.results.partition import Partition

__all__ = ["Enumeration", "Reached", "reached_in", "reached_on", "words_of"]


@dataclass(frozen=True, eq=False)
class Reached:
    """The values that answer targets on a domain.

    Attributes
    ----------
    values : tuple of Extreme
    parts : tuple of Domain
        The legs of a polyline; a single entry for other domains.
    regions_met : int
        The number of regions in which bounds did not prove that no target is reached, or of all regions. On
        a polyline, a region that continues across a joint counts on both legs.
    bounded_parts : int or None
        The number of parts on which bounds were computed, in a box with more than six dimensions.
    regions : tuple of Partition, or Enumeration
        All regions, or the way to find them. The numbers of regions in ``values`` are numbers in these partitions.
    """

    values: tuple[Extreme, ...]
    parts: tuple[Domain, ...]
    regions_met: int
    regions: tuple[Partition, ...] | Enumeration
    bounded_parts: int | None = None

    @property
    def decided(self) -> bool:
        """Whether all values are known exactly, or unbounded."""
        return all(each.value is not None or each.unbounded for each in self.values)

    @property
    def on_regions(self) -> str:
        """On how many regions the values were computed, as words that end a sentence."""
        if self.bounded_parts is not None:
            parts = f"bounds on {self.bounded_parts} part{'s' * (self.bounded_parts != 1)}"
            return f", decided by {parts}" if self.decided else f", not decided by {parts}"
        found = regions_in_words(self.regions_met, len(self.parts))
        return f", bounds left {found}" if isinstance(self.regions, Enumeration) else f" on {found}"


@dataclass(frozen=True, eq=False)
class Enumeration:
    """How all regions of a domain are found, if bounds left some of them out."""

    network: Network
    graph: Graph
    targets: tuple[Target, ...]
    options: Options

    def on(self, domain: Domain | Curve) -> Reached:
        limit, threads = self.options.limit, self.options.threads
        return reached_in(values_on_legs(self.network, self.graph, domain, limit=limit, workers=threads), self.targets)


def reached_on(
    network: Network, graph: Graph, domain: Domain | Curve, targets: Sequence[Target], options: Options
) -> Reached:
    """Find the values that answer targets about the outputs of a graph on a domain.

    The graph has the network's kinks and no others. Each of its outputs is in a target.
    """
    (part, *others) = straight_parts(domain, network)
    later = Enumeration(network, graph, tuple(targets), replace(options, report=None))
    if isinstance(part, Box) and part.dimension > MOST_ENUMERATED:
        found, bounded = bounded_extremes(graph, part, targets, options)
        return Reached(tuple(found), (part,), 0, later, bounded)
    parts = parts_of(domain, network)
    if others:
        limit, report, threads = options.limit, options.report, options.threads
        legs = values_on_legs(network, graph, domain, limit=limit, progress=report, workers=threads)
        return reached_in(legs, targets)
    opened = opened_regions(network, graph, part, targets, options)
    if opened.complete:
        return reached_in([opened.at], targets)
    return Reached(tuple(greatest_at(opened.at, targets, 0)), parts, len(opened.at.partition), later)


def reached_in(legs: Sequence[CornerValues], targets: Sequence[Target]) -> Reached:
    """Find the values that answer targets at the corners of the regions of the parts of a domain."""
    of_legs = [greatest_at(at, targets, leg) for leg, at in enumerate(legs)]
    values = tuple(first_of(each, target.sign) for *each, target in zip(*of_legs, targets, strict=True))
    partitions = tuple(at.partition for at in legs)
    parts = tuple(partition.domain for partition in partitions)
    return Reached(values, parts, sum(map(len, partitions)), partitions)


def words_of(found: Extreme, value: float, sign: int) -> str:
    """Return a value in words, with six digits: an interval, rounded outwards, if it is not decided."""
    if found.value is not None or found.unbounded:
        return f"{value:.6g}"
    return " to ".join(outwards(*found.interval(sign)))
