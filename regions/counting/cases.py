# SPDX-License-Identifier: MIT
"""Which pairs of network and domain does a call count, and how is one of them counted?

There may be one or several networks and one or several domains. The items are all pairs, beginning with the pairs of
the first network. All items are checked before the first one is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from regions.core import Section
from regions.counting.found import COMPLETE, End, Found, exception_of
from regions.counting.legs_counted import pieces_counted
from regions.counting.options import Options
from regions.counting.run import Model, counted, enumerated, require_countable
from regions.domains import Domain
from regions.domains.curves import Curve
from regions.domains.lines import segments_of
from regions.errors import DomainError, ShapeMismatchError, TimeoutReached
from regions.ground.arithmetic.types import Floats
from regions.networks.network import Network, require_network
from regions.results.definitions import Definition, linear_regions
from regions.results.partition.certificate import Certificate

__all__ = ["Cases", "counted_one", "counted_section", "cases_of", "shaped", "without_fraction"]


@dataclass(frozen=True)
class Cases:
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

    def pair(self, index: int) -> tuple[Network, Domain | Curve]:
        network, domain = divmod(index, len(self.domains))
        return self.networks[network], self.domains[domain]


def shaped(numbers: list[int], certificates: list[Certificate], shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return numbers as an int or an array, and certificates in lists of that shape."""
    if not shape:
        return numbers[0], certificates[0]
    lists: list[Any] = certificates
    if len(shape) == 2:
        lists = [certificates[start * shape[1] : (start + 1) * shape[1]] for start in range(shape[0])]
    return np.array(numbers, dtype=np.int64).reshape(shape), lists


def cases_of(network: Network | Iterable[Network], domain: Domain | Curve | Iterable[Domain | Curve] | Floats) -> Cases:
    """Check networks and domains, and return the items. An array [n, 2, n_in] has the ends of n segments.

    Raises
    ------
    TypeError
        An argument is not a network, a domain or a list of these.
    ShapeMismatchError
        The domains have different dimensions.
    """
    one_network, one_domain = not _several(network), isinstance(domain, (Domain, Curve))
    networks: list[Any] = [require_network(network)] if one_network else _listed(network, "network", Network, NETWORKS)
    domains: list[Any]
    if isinstance(domain, np.ndarray) and domain.dtype != object:
        domains = [*segments_of(domain, "domain")]
    else:
        domains = [domain] if one_domain else _listed(domain, "domain", (Domain, Curve), DOMAINS)
    if len(domains) > 1 and len({each.dimension for each in domains}) > 1:
        raise ShapeMismatchError("domains of different dimensions: count lines, polygons and boxes in separate calls")
    shape = (() if one_network else (len(networks),)) + (() if one_domain else (len(domains),))
    return Cases(networks, domains, shape)


NETWORKS = "a regions.Network, as regions.load returns"
DOMAINS = "a domain such as regions.Segment or regions.Polygon"


def _several(network: Any) -> bool:
    """Return whether the argument is a list of networks. Other values are refused later, as a network."""
    if isinstance(network, (Network, str, bytes, Mapping)) or not isinstance(network, Iterable):
        return False
    return not hasattr(type(network), "named_parameters")  # a torch.nn.Sequential can be iterated


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
            numbers = kind is not Network and (isinstance(each, (list, tuple)) or hasattr(each, "__array__"))
            advice = f". Segments may be an array of their ends: np.asarray({name}) of shape [n, 2, n_in]" * numbers
            raise TypeError(f"{name}[{len(found)}]: expected {wanted}, got {type(each).__name__}{advice}")
        found.append(each)
    return found


def counted_one(model: Model, domain: Domain | Curve, definition: Definition, options: Options) -> Found[Any]:
    """Count the regions in a domain by a definition, or the pieces of a curve."""
    if isinstance(domain, Curve):
        if definition != "activation":
            raise DomainError(f"{definition!r} is a definition of regions in domains; on a curve, pieces are counted")
        found: Found[Any] = pieces_counted(model, domain, options)
    else:
        require_countable(domain, model.network)
        found = (counted if definition == "activation" else enumerated)(model, domain, options)
    if found.end is not COMPLETE:
        raise exception_of(found.end, found.regions, found)
    if found.partition is None:
        return found
    try:
        merged = linear_regions(found.partition, definition).count
    except (TimeoutReached, KeyboardInterrupt) as stopped:
        whole = replace(found, partition=None, end=End(error=stopped))
        raise exception_of(whole.end, whole.regions, whole) from None
    return replace(found, partition=None, merged=merged)


def counted_section(model: Model, domain: Domain | Curve, options: Options, section: Section) -> Found[Any]:
    """Count the activation regions in a section of the recursion."""
    assert not isinstance(domain, Curve)
    require_countable(domain, model.network)
    found = counted(model, domain, without_fraction(options), section)
    if found.end is not COMPLETE:
        raise exception_of(found.end, found.regions, found)
    return found


def without_fraction(options: Options) -> Options:
    """Report only the number of regions: the core's fraction refers to the whole domain, not to the section."""
    report = options.report
    return options if report is None else replace(options, report=lambda fraction, found: report(0.0, found))
