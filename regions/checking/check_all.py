# SPDX-License-Identifier: MIT
"""In which order is a network checked against the theory?

Regions are enumerated, and counted independently for the network cut off after each layer. If the regions themselves
violate an invariant, the report ends there. Otherwise they are counted by the other definitions, and compared with
bounds and orders, which build on all these numbers. Where regions cannot be enumerated, the counts are compared.
Cost: an enumeration, a count, and counts by the other definitions; other work that can be out of proportion has budgets
(`layers.py`, `orders.py`, `against_bounds.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from regions.checking.against_bounds import bound_items, no_bounds
from regions.checking.check_report import CheckReport
from regions.checking.conditions import Case
from regions.checking.invariants import definitions_item, invariant_items, invariants_of_counts
from regions.checking.items import CountItem, Invariant, LayerItem
from regions.checking.layers import by_definition, independent_counts, layers_by_definition
from regions.checking.orders import no_orders, order_items, orders_of_counts
from regions.checking.patterns import prefix_counts
from regions.checking.random_signs import twins_item
from regions.counting.count_and_enumerate import count, enumerate
from regions.counting.options import takes_timeout
from regions.counting.run import why_not_enumerable
from regions.domains import Domain
from regions.domains.domain import require_domain_of
from regions.errors import InternalError, TimeoutReached
from regions.ground.arithmetic.arguments import flag
from regions.ground.threads.deadline import check_time
from regions.measures.boundary import boundary_volume
from regions.networks.network import Network, require_network
from regions.results.partition import Partition, require_complete

__all__ = ["check", "check_count"]

NOT_SOUND = "the regions themselves violate an invariant"


@takes_timeout
def check(
    network: Network,
    domain: Domain | Partition,
    *,
    distances: bool = True,
    timeout: float | None = None,
) -> CheckReport:
    """Compare the regions of a network with the theory: every bound, every identity, and the expected orders.

    Parameters
    ----------
    network : Network
    domain : Domain or Partition
        The domain; or the regions, if they have been enumerated already. In an unbounded polytope, such as a `Space`,
        and in more than six dimensions, regions are counted after each layer and not enumerated.
    distances : bool
        Whether to estimate the mean distance to the boundary too, which in large networks takes longer than everything
        else.
    timeout : float, optional
        Stop with `TimeoutReached` after this many seconds.

    Returns
    -------
    CheckReport
        ``violations`` is empty unless this package has a bug, a claim is false, or the given regions have been
        altered.

    Raises
    ------
    TypeError
        Not a network; neither domain nor partition; ``distances`` that are neither True nor False.
    ValueError
        A partial partition, or one of another network.
    ShapeMismatchError
        The domain does not lie in the network's input space.
    TimeoutReached, KeyboardInterrupt
        ``partial`` is the partition found so far, or the number of regions where they are only counted.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> report = regions.check(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> [(item.name, item.found, item.value) for item in report.bounds if item.name == "zaslavsky"]
    [('zaslavsky', 4, 4)]
    >>> [layer.regions for layer in report.layers], report.ok
    ([4], True)
    """
    require_network(network)
    with_distances = flag(distances, "distances")
    if isinstance(domain, Domain):
        require_domain_of(domain, network)
        if why_not_enumerable(domain):
            regions = count(network, domain)
            with _with_partial(regions):
                return check_count(network, domain, regions, with_distances)
    partition = _partition(network, domain)
    with _with_partial(partition):
        return _report(network, partition, with_distances)


@contextmanager
def _with_partial(partial: Partition | int) -> Iterator[None]:
    """Give what was found to the exception of work that is stopped later."""
    try:
        yield
    except (TimeoutReached, KeyboardInterrupt) as stopped:
        stopped.partial = partial  # type: ignore[union-attr]
        raise


def check_count(network: Network, domain: Domain, regions: int, distances: bool = True) -> CheckReport:
    """Compare the number of regions with the theory, in a domain in which regions are counted and not enumerated.

    Parameters
    ----------
    network : Network
    domain : Domain
    regions : int
        The number of activation regions.
    distances : bool
        As for `check`.
    """
    reason = f"not enumerated, because {why_not_enumerable(domain)}"
    # Another layer never makes fewer regions, so the last number bounds the others.
    counted = independent_counts(network, domain, [regions] * len(network.widths))
    layers = tuple(
        LayerItem(index + 1, network.widths[index], network.activations[index].name, counted[index], None)
        for index in range(len(counted))
    )
    counts = (CountItem("activation", regions),)
    after_layers = [{} if number is None else {"activation": number} for number in counted]
    return CheckReport(
        network,
        domain,
        None,
        counts,
        layers,
        bound_items(Case(network, domain, None), after_layers, _numbers(counts)),
        invariants_of_counts(counted, reason),
        (twins_item(network, domain, regions), *orders_of_counts(network, domain, distances, reason)),
    )


def _report(network: Network, partition: Partition, distances: bool) -> CheckReport:
    boundary = boundary_volume(partition)
    check_time()
    begin = prefix_counts(partition)
    check_time()
    counted = independent_counts(network, partition.domain, begin)
    invariants = invariant_items(partition, boundary, begin, counted)
    counts, definitions = _definitions(partition, [item.name for item in invariants if item.status == "violated"])
    sound = len(counts) > 1
    by_layer = layers_by_definition(partition, begin) if sound else [()] * len(begin)
    layers = tuple(
        LayerItem(
            index + 1,
            network.widths[index],
            network.activations[index].name,
            counted[index] or begin[index],
            float(boundary.layers[index]),
            by_layer[index],
        )
        for index in range(len(begin))
    )
    after_layers = [
        _numbers(item.counts) | {"activation": number or expected}
        for item, number, expected in zip(layers, counted, begin, strict=True)
    ]
    case = Case(network, partition.domain, partition)
    return CheckReport(
        network,
        partition.domain,
        partition,
        counts,
        layers,
        bound_items(case, after_layers, _numbers(counts)) if sound else no_bounds(NOT_SOUND),
        (*invariants, definitions),
        (twins_item(network, partition.domain, len(partition)), *order_items(boundary, distances))
        if sound
        else no_orders(NOT_SOUND),
    )


def _partition(network: Network, domain: Domain | Partition) -> Partition:
    if not isinstance(domain, Partition):
        return enumerate(network, require_domain_of(domain, network))
    require_complete(domain)
    if domain.network != network:
        raise ValueError(
            f"this partition is of another network, {domain.network!r}, with other weights than {network!r}"
        )
    return domain


def _definitions(partition: Partition, violated: Sequence[str]) -> tuple[tuple[CountItem, ...], Invariant]:
    """Count regions by each definition and check their order, unless the partition is wrong."""
    given = (CountItem("activation", len(partition)),)
    if violated:
        return given, definitions_item({}, f"{NOT_SOUND}: {', '.join(violated)}")
    try:
        counts = by_definition(partition)
    except InternalError as error:
        return given, replace(definitions_item({}, str(error)), status="violated")
    return counts, definitions_item(_numbers(counts))


def _numbers(items: Sequence[CountItem]) -> dict[str, int]:
    """Return the numbers that are known."""
    return {item.definition: item.regions for item in items if item.regions is not None}
