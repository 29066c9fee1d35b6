# SPDX-License-Identifier: MIT
"""Which pairs of network and domain does a call count, and how is one of them counted?

There may be one or several networks and one or several domains. The items are all pairs, beginning with the pairs of
the first network. All items are checked before the first one is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from regions.certificate import Certificate
from regions.definitions import Definition, definition_of, linear_regions
from regions.domains import Domain
from regions.domains.curves import Curve
from regions.enumeration.curves import pieces_counted
from regions.enumeration.run import Model, Path, Run, counted, enumerated
from regions.errors import DomainError, ShapeMismatchError
from regions.networks.network import Network, require_network
from regions.text.progress import Report

__all__ = ["Items", "count_item", "count_section", "items_of", "shaped", "without_share"]


@dataclass(frozen=True)
class Items:
    """The pairs of network and domain to count.

    Attributes
    ----------
    networks, domains
    shape : tuple of int
        The shape of the numbers: (), [networks], [domains] or [networks, domains]. A single network or domain has no
        axis.
    """

    networks: list[Network]
    domains: list[Domain | Curve]
    shape: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.networks) * len(self.domains)

    def places(self, index: int) -> tuple[int, int]:
        """Return the indices of an item's network and domain."""
        return divmod(index, len(self.domains))

    def pair(self, index: int) -> tuple[Network, Domain | Curve]:
        network, domain = self.places(index)
        return self.networks[network], self.domains[domain]


def shaped(numbers: list[int], certificates: list[Certificate], shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return numbers as an int or an array, and certificates in lists of that shape."""
    if not shape:
        return numbers[0], certificates[0]
    lists: list[Any] = certificates
    if len(shape) == 2:
        lists = [certificates[start * shape[1] : (start + 1) * shape[1]] for start in range(shape[0])]
    return np.array(numbers, dtype=np.int64).reshape(shape), lists


def items_of(network: Network | Iterable[Network], domain: Domain | Curve | Iterable[Domain | Curve]) -> Items:
    """Check networks and domains, and return the items.

    Raises
    ------
    TypeError
        An argument is not a network, a domain or a list of these.
    ShapeMismatchError
        The domains have different dimensions.
    """
    one_network, one_domain = not _several(network), isinstance(domain, (Domain, Curve))
    networks: list[Any] = [require_network(network)] if one_network else _listed(network, "network", Network, NETWORKS)
    domains: list[Any] = [domain] if one_domain else _listed(domain, "domain", (Domain, Curve), DOMAINS)
    if len({each.dimension for each in domains}) > 1:
        raise ShapeMismatchError("domains of different dimensions: count lines and polygons in separate calls")
    shape = (() if one_network else (len(networks),)) + (() if one_domain else (len(domains),))
    return Items(networks, domains, shape)


NETWORKS = "a regions.Network, as regions.load returns"
DOMAINS = "a domain such as regions.Segment or regions.Polygon"


def _several(network: Any) -> bool:
    """Return whether the argument is a list of networks. Other values are refused later, as a network."""
    return isinstance(network, Iterable) and not isinstance(network, (Network, str, bytes, Mapping))


def _listed(given: Any, name: str, kind: Any, wanted: str) -> list[Any]:
    """Return the elements of an iterable, each checked at once, so that an endless iterable can be refused."""
    found: list[Any] = []
    try:
        iterator = None if isinstance(given, (str, bytes, Mapping)) else iter(given)
    except Exception:
        iterator = None
    if iterator is None:
        raise TypeError(f"expected {wanted}, or a list of them, got {type(given).__name__}")
    for each in iterator:
        if not isinstance(each, kind):
            raise TypeError(f"{name}[{len(found)}]: expected {wanted}, got {type(each).__name__}")
        found.append(each)
    return found


def count_item(
    network: Network,
    model: Model,
    domain: Domain | Curve,
    definition: Definition,
    limit: int | None,
    report: Report | None,
    threads: int,
) -> tuple[int, Run[Any]]:
    """Return the number of regions in a domain, and the run without its partition."""
    name = definition_of(definition)
    if isinstance(domain, Curve):
        if name != "activation":
            raise DomainError(f"{name!r} is a definition of regions in domains; on a curve, pieces are counted")
        pieces = pieces_counted(network, model, domain, limit, report, threads)
        pieces.require_complete(limit, pieces.regions)
        return pieces.regions, pieces
    run = (counted if name == "activation" else enumerated)(network, model, domain, limit, report, threads)
    run.require_complete(limit, run.regions)
    if run.partition is None:
        return run.regions, run
    return linear_regions(run.partition, name).count, replace(run, partition=None)


def count_section(
    network: Network,
    model: Model,
    domain: Domain | Curve,
    limit: int | None,
    report: Report | None,
    begin: Path,
    end: Path | None,
) -> tuple[int, Run[Any]]:
    """Return the number of activation regions in a section of the recursion, and the run.

    The progress fraction of a section is not reported.
    """
    assert isinstance(domain, Domain)
    told = None if report is None else partial(without_share, report)
    run = counted(network, model, domain, limit, told, begin=begin, end=end)
    run.require_complete(limit, run.regions)
    return run.regions, run


def without_share(report: Report, share: float, found: int) -> None:
    """Report the number of regions only: the core's fraction refers to the whole domain, not to the section."""
    report(0.0, found)
