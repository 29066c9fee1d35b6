# SPDX-License-Identifier: MIT
"""How many regions does a network have, by every definition, and when it is cut off after each hidden layer?

The outputs of a network that is cut off are the activations of its last remaining layer. It is counted by every
definition, and independently, for comparison with the prefixes of the patterns of the whole network.
A deep network can be cut off after each of many layers, and is counted each time. Therefore both counts have a budget
of multiplications: one forward pass for each region that is expected. Counts beyond the budget are left out. The
whole network is counted in any case. In three and more dimensions, patterns on faces have a budget too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from regions.checking.items import CountItem
from regions.counting.count_and_enumerate import count, enumerate
from regions.domains import Domain
from regions.errors import CountNotDecided, UnsupportedLayerError
from regions.networks.derived import cut_off
from regions.networks.network import Network
from regions.results.definitions import DEFINITIONS, Definition, linear_regions
from regions.results.partition import Partition

__all__ = [
    "FACES_TOO_MANY",
    "by_definition",
    "faces_affordable",
    "independent_counts",
    "layers_by_definition",
    "work_per_region",
]

# Some seconds each: the core makes one pass for each region, definitions make dozens.
COUNT_BUDGET = 2e10
DEFINITIONS_BUDGET = 1e8
# The multiplications in the time that the core spends on a region apart from the pass. From three dimensions on
# it lists all vertices of unbounded cells, which takes about six times as long in each further dimension.
PER_REGION = 3000
# Some twenty seconds: the most regions in three dimensions whose faces are listed. In each further dimension, a region
# takes about six times as long.
FACES_BUDGET = 150_000
FACES_TOO_MANY = "listing the faces of so many regions would take too long"


def by_definition(partition: Partition) -> tuple[CountItem, ...]:
    """Count the regions by each definition, from the finest to the coarsest."""
    return tuple(_count_item(partition, definition) for definition in DEFINITIONS)


def faces_affordable(partition: Partition) -> bool:
    """Return whether all faces of all regions are listed within the budget; on lines and in planes they are stored."""
    return partition.dimension < 3 or len(partition) * 6 ** (partition.dimension - 3) <= FACES_BUDGET


def work_per_region(domain: Domain) -> int:
    """Return the multiplications in the time that counting takes for a region, apart from the forward pass."""
    return PER_REGION * (1 if domain.bounded else 6 ** max(domain.dimension - 2, 0))


def independent_counts(network: Network, domain: Domain, expected: Sequence[int]) -> list[int | None]:
    """Count the activation regions after each layer; None if that would exceed the budget.

    Parameters
    ----------
    network, domain
    expected : sequence of int
        The expected counts after each layer, or upper bounds.
    """
    depths = range(1, len(network.widths) + 1)
    passes = _passes(network, domain.dimension)
    works = (regions * (work + work_per_region(domain)) for regions, work in zip(expected, passes, strict=True))
    return [
        count(cut_off(network, depth), domain) if spent <= COUNT_BUDGET or depth == len(depths) else None
        for depth, spent in zip(depths, accumulate(works), strict=True)
    ]


def layers_by_definition(partition: Partition, prefix_counts: Sequence[int]) -> list[tuple[CountItem, ...]]:
    """Count the regions after each layer by each definition; empty if that would exceed the budget."""
    network, domain = partition.network, partition.domain
    works = (
        regions * (work + units**2)
        for regions, work, units in zip(prefix_counts, _passes(network, domain.dimension), network.widths, strict=True)
    )
    return [
        by_definition(enumerate(cut_off(network, depth, readout=True), domain)) if spent <= DEFINITIONS_BUDGET else ()
        for depth, spent in zip(range(1, len(prefix_counts) + 1), accumulate(works), strict=True)
    ]


def _count_item(partition: Partition, definition: Definition) -> CountItem:
    if definition == "pattern" and not faces_affordable(partition):
        return CountItem(definition, None, FACES_TOO_MANY)
    try:
        return CountItem(definition, linear_regions(partition, definition).count)
    except CountNotDecided as reason:
        return CountItem(definition, None, f"not decided: between {reason.least:,} and {reason.most:,}")
    except UnsupportedLayerError:
        return CountItem(definition, None, "not handled for max units")


def _passes(network: Network, dimension: int) -> Iterator[int]:
    """Yield the multiplications of a forward pass from the chart through the layers up to each hidden one."""
    widths = network.widths
    return accumulate(a * b for a, b in zip((dimension + 1, *widths), widths, strict=False))
