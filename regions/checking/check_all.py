# SPDX-License-Identifier: MIT
"""In which order is a network checked against the theory?

Regions are enumerated, and counted independently for the network cut off after each layer. If the regions themselves
violate an invariant, the report ends there. Otherwise they are counted by the other definitions, and compared with
bounds and orders, which build on all these numbers.
Cost: an enumeration, a count, and counts by the other definitions; other work that can be out of proportion has budgets
(`layers.py`, `orders.py`, `against_bounds.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from regions.arithmetic.arguments import flag
from regions.checking.against_bounds import bound_items, no_bounds
from regions.checking.check_report import CheckReport
from regions.checking.invariants import definitions_item, invariant_items
from regions.checking.items import CountItem, Invariant, LayerItem
from regions.checking.layers import by_definition, independent_counts, layers_by_definition
from regions.checking.orders import no_orders, order_items
from regions.checking.patterns import prefix_counts
from regions.checking.random_signs import twins_item
from regions.counting.count_and_enumerate import enumerate
from regions.counting.options import takes_timeout
from regions.domains import Domain
from regions.domains.domain import require_domain_of
from regions.errors import InternalError, TimeoutReached
from regions.measures.boundary import boundary_volume
from regions.networks.network import Network, require_network
from regions.partition import Partition, require_complete
from regions.threads.deadline import check_time

__all__ = ["check"]

NOT_SOUND = "the regions themselves violate an invariant"


@takes_timeout
def check(
    network: Network, domain: Domain | Partition, *, distances: bool = True, timeout: float | None = None
) -> CheckReport:
    """Compare the regions of a network with the theory: every bound, every identity, and the expected orders.

    Parameters
    ----------
    network : Network
    domain : Domain or Partition
        The domain; or the regions, if they have been enumerated already.
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
        ``partial`` is the `Partition` found so far.

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
    partition = _partition(network, domain)
    try:
        return _report(network, partition, with_distances)
    except (TimeoutReached, KeyboardInterrupt) as stopped:
        stopped.partial = partition  # type: ignore[union-attr]
        raise


def _report(network: Network, partition: Partition, distances: bool) -> CheckReport:
    boundary = boundary_volume(partition)
    check_time()
    begin = prefix_counts(partition)
    check_time()
    counted = independent_counts(partition, begin)
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
    after_layers = [_numbers(item.counts) | {"activation": item.regions} for item in layers]
    return CheckReport(
        partition,
        counts,
        layers,
        bound_items(partition, after_layers, _numbers(counts)) if sound else no_bounds(NOT_SOUND),
        (*invariants, definitions),
        (twins_item(partition), *order_items(boundary, distances)) if sound else no_orders(NOT_SOUND),
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
