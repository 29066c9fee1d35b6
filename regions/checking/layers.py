# SPDX-License-Identifier: MIT
"""How many regions has a network, by every definition, and when it is cut off after each of its hidden layers?

Cut off, its outputs are the activations of the last layer that is left. It is counted on its own, to be compared with
how the patterns of the whole network begin, and by every definition.
A deep network can be cut off many times, and has regions each time. So there is a budget for either, in
multiplications: as many as a forward pass takes, for each region that the patterns' beginnings announce. What exceeds
it is left out. The whole network is counted in any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from regions.checking.items import CountItem
from regions.definitions import DEFINITIONS, Definition, linear_regions
from regions.enumeration.count_and_enumerate import count, enumerate
from regions.errors import CountNotDecided, UnsupportedLayerError
from regions.networks.derived import cut_off
from regions.partition import Partition

__all__ = ["by_definition", "independent_counts", "layers_by_definition"]

# Some seconds each: the core makes one pass for a region, definitions make dozens.
COUNT_BUDGET = 2e10
DEFINITIONS_BUDGET = 1e8
# What the core could multiply in the time that a region takes it beside its pass.
PER_REGION = 3000


def by_definition(partition: Partition) -> tuple[CountItem, ...]:
    """How many regions there are by each definition, from the finest to the coarsest."""
    return tuple(_count_item(partition, definition) for definition in DEFINITIONS)


def independent_counts(partition: Partition, beginnings: Sequence[int]) -> list[int | None]:
    """Count the activation regions after each layer; None where that would exceed the budget.

    Parameters
    ----------
    partition : Partition
    beginnings : sequence of int
        How many there should be.
    """
    network, domain = partition.network, partition.domain
    depths = range(1, len(network.widths) + 1)
    works = (regions * (work + PER_REGION) for regions, work in zip(beginnings, _passes(partition), strict=True))
    return [
        count(cut_off(network, depth), domain) if spent <= COUNT_BUDGET or depth == len(depths) else None
        for depth, spent in zip(depths, accumulate(works), strict=True)
    ]


def layers_by_definition(partition: Partition, beginnings: Sequence[int]) -> list[tuple[CountItem, ...]]:
    """Count the regions after each layer by each definition; none where that would exceed the budget."""
    network, domain = partition.network, partition.domain
    works = (
        regions * (work + units**2)
        for regions, work, units in zip(beginnings, _passes(partition), network.widths, strict=True)
    )
    return [
        by_definition(enumerate(cut_off(network, depth, readout=True), domain)) if spent <= DEFINITIONS_BUDGET else ()
        for depth, spent in zip(range(1, len(beginnings) + 1), accumulate(works), strict=True)
    ]


def _count_item(partition: Partition, definition: Definition) -> CountItem:
    try:
        return CountItem(definition, linear_regions(partition, definition).count)
    except CountNotDecided as reason:
        return CountItem(definition, None, f"not decided: between {reason.least:,} and {reason.most:,}")
    except UnsupportedLayerError:
        return CountItem(definition, None, "not handled for max units")


def _passes(partition: Partition) -> Iterator[int]:
    """Multiplications of a forward pass from the chart through the layers up to each hidden one."""
    widths = partition.network.widths
    return accumulate(a * b for a, b in zip((partition.dimension + 1, *widths), widths, strict=False))
