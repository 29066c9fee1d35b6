# SPDX-License-Identifier: MIT
"""How many regions does a network have, by every definition, and when it is cut off after each hidden layer?

The outputs of a network that is cut off are the activations of its last remaining layer. It is counted by every
definition, and independently, for comparison with the prefixes of the patterns of the whole network.
A deep network can be cut off after each of many layers, and is counted each time. Therefore both counts have a budget
of multiplications: one forward pass for each region that the prefixes announce. Counts beyond the budget are left out.
The whole network is counted in any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from regions.checking.items import CountItem
from regions.counting.count_and_enumerate import count, enumerate
from regions.definitions import DEFINITIONS, Definition, linear_regions
from regions.errors import CountNotDecided, UnsupportedLayerError
from regions.networks.derived import cut_off
from regions.partition import Partition

__all__ = ["by_definition", "independent_counts", "layers_by_definition"]

# Some seconds each: the core makes one pass for each region, definitions make dozens.
COUNT_BUDGET = 2e10
DEFINITIONS_BUDGET = 1e8
# The number of multiplications in the time that the core spends on a region apart from the pass.
PER_REGION = 3000


def by_definition(partition: Partition) -> tuple[CountItem, ...]:
    """Count the regions by each definition, from the finest to the coarsest."""
    return tuple(_count_item(partition, definition) for definition in DEFINITIONS)


def independent_counts(partition: Partition, prefix_counts: Sequence[int]) -> list[int | None]:
    """Count the activation regions after each layer; None if that would exceed the budget.

    Parameters
    ----------
    partition : Partition
    prefix_counts : sequence of int
        The expected counts.
    """
    network, domain = partition.network, partition.domain
    depths = range(1, len(network.widths) + 1)
    works = (regions * (work + PER_REGION) for regions, work in zip(prefix_counts, _passes(partition), strict=True))
    return [
        count(cut_off(network, depth), domain) if spent <= COUNT_BUDGET or depth == len(depths) else None
        for depth, spent in zip(depths, accumulate(works), strict=True)
    ]


def layers_by_definition(partition: Partition, prefix_counts: Sequence[int]) -> list[tuple[CountItem, ...]]:
    """Count the regions after each layer by each definition; empty if that would exceed the budget."""
    network, domain = partition.network, partition.domain
    works = (
        regions * (work + units**2)
        for regions, work, units in zip(prefix_counts, _passes(partition), network.widths, strict=True)
    )
    return [
        by_definition(enumerate(cut_off(network, depth, readout=True), domain)) if spent <= DEFINITIONS_BUDGET else ()
        for depth, spent in zip(range(1, len(prefix_counts) + 1), accumulate(works), strict=True)
    ]


def _count_item(partition: Partition, definition: Definition) -> CountItem:
    try:
        return CountItem(definition, linear_regions(partition, definition).count)
    except CountNotDecided as reason:
        return CountItem(definition, None, f"not decided: between {reason.least:,} and {reason.most:,}")
    except UnsupportedLayerError:
        return CountItem(definition, None, "not handled for max units")


def _passes(partition: Partition) -> Iterator[int]:
    """Yield the multiplications of a forward pass from the chart through the layers up to each hidden one."""
    widths = partition.network.widths
    return accumulate(a * b for a, b in zip((partition.dimension + 1, *widths), widths, strict=False))
