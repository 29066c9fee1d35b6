# SPDX-License-Identifier: MIT
"""Does a network satisfy the bounds of `regions.bounds.BOUNDS`?

Upper bounds hold on every convex domain with the domain's own dimension in the place of ``n_in``, for the network and
for the network cut off after any layer; each is compared where it applies. Most are for chains of layers, because a
layer that reads the input, or another layer below, can have more dimensions than the layer before. The compared numbers
are exact: counts, degrees, the diameter. Ranks of weights are not used: they are not known without rounding, and
leaving them out is safe. Lower bounds of the literature are about the best network of a shape, and are given for
information. Bounds on means over random networks need constants of their distribution, and one network may be on either
side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from regions.checking.conditions import Case
from regions.checking.items import BoundItem, BoundStatus
from regions.errors import BoundDoesNotApply
from regions.measures.region_graph import degrees, diameter_bounds
from regions.results.partition import Partition
from regions.theory import bounds
from regions.theory.bounds.registry import Bound, Value

__all__ = ["bound_items", "no_bounds"]

# Most facets that searches for the diameter visit, in all: a few seconds.
SEARCH_BUDGET = 5e7
NEEDS_REGIONS = "is about the regions themselves, which are only counted here"
# Quantities measured for the whole network only.
_MEASURES: Mapping[str, Callable[[Partition], int | Fraction]] = {
    "bounded regions": lambda partition: int(np.isfinite(partition.volumes).sum()),
    "mean degree": lambda partition: Fraction(int(degrees(partition).sum()), len(partition)),
    "least degree": lambda partition: int(degrees(partition).min()),
}


def bound_items(
    case: Case, after_layers: Sequence[Mapping[str, int]], counts: Mapping[str, int]
) -> tuple[BoundItem, ...]:
    """Compare a network on a domain with every bound.

    Parameters
    ----------
    case : Case
    after_layers : sequence of mappings of str to int
        Regions of the network cut off after each hidden layer, by definition, as far as they are known. "activation" is
        always known after the last one.
    counts : mapping of str to int
        Regions of the whole network, by definition.

    Returns
    -------
    tuple of BoundItem
        In the order of the table.
    """
    return tuple(_item(bound, case, after_layers, counts) for bound in bounds.BOUNDS)


def no_bounds(reason: str) -> tuple[BoundItem, ...]:
    """Return all bounds without a comparison, for one reason."""
    return tuple(_no(bound, reason) for bound in bounds.BOUNDS)


def _item(bound: Bound, case: Case, after_layers: Sequence[Mapping[str, int]], counts: Mapping[str, int]) -> BoundItem:
    if bound.kind.startswith("expected"):
        return _no(bound, "is about the mean over random networks; a single one may be on either side")
    if not case.widths:
        return _no(bound, "is about hidden layers, and the network has none")
    depth, reason = case.covered_layers(bound)
    if depth == 0:
        return _no(bound, reason)
    is_measured = bound.quantity in _MEASURES or bound.quantity == "diameter"
    if is_measured and reason:
        return _no(bound, reason)
    if reason_here := case.why_not_here(bound):
        return _no(bound, reason_here)
    if is_measured:
        return _no(bound, NEEDS_REGIONS) if case.partition is None else _measured(bound, case, case.partition)
    values, reason_shape = _after_each_layer(bound, case, case.widths[:depth])
    # A coarser definition has no more regions, so the bound holds for these as well.
    found = [layer.get(bound.definition, layer.get("activation")) for layer in after_layers]
    found[-1] = counts.get(bound.definition, found[-1])
    known = [index for index, value in enumerate(values) if value is not None and found[index] is not None]
    if not known:
        return _no(bound, reason_shape or "is for fewer layers, after which regions were not counted")
    last = known[-1]
    note = "" if last + 1 == len(case.widths) else f"after layer {last + 1} only: {reason_shape or reason}"
    if bound.kind == "best":
        return _with(bound, "for information", found[last], values[last], values, note=note)
    for index in known:
        if found[index] > values[index]:  # type: ignore[operator]
            note = _joined(f"violated after layer {index + 1}", note)
            return _with(bound, "violated", found[index], values[index], values, note=note)
    return _with(bound, "holds", found[last], values[last], values, note=note)


def _after_each_layer(bound: Bound, case: Case, widths: tuple[int, ...]) -> tuple[tuple[Value | None, ...], str]:
    """Return the bound after each layer, None where it does not apply, and why it does not at the last one."""
    values: list[Value | None] = [None] * len(case.breakpoints)
    reason = ""
    asked = "breakpoints" in (*bound.needs, *bound.takes)
    for layers in range(1, len(widths) + 1):
        facts = {"breakpoints": case.breakpoints[:layers]} if asked else {}
        try:
            values[layers - 1] = bound.value(case.dimension, widths[:layers], **facts)
        except BoundDoesNotApply as error:
            reason = str(error)
    return tuple(values), reason


def _measured(bound: Bound, case: Case, partition: Partition) -> BoundItem:
    """Compare a quantity that is not counted layer by layer."""
    try:
        value = bound.value(case.dimension, case.widths)
    except BoundDoesNotApply as error:
        return _no(bound, str(error))
    if bound.quantity == "diameter":
        return _diameter(bound, partition, value)
    exactly = _MEASURES[bound.quantity](partition)
    kept = exactly >= value if bound.kind == "lower" else exactly <= value
    found = exactly if isinstance(exactly, int) else float(exactly)
    return _with(bound, "holds" if kept else "violated", found, value)


def _diameter(bound: Bound, partition: Partition, value: Value) -> BoundItem:
    """Compare the diameter with an upper bound; if the searches have to stop, bounds on the diameter."""
    least, most = diameter_bounds(partition, most_searches=1 + int(SEARCH_BUDGET // len(partition.cell_facets)))
    note = "" if least == most else f"not searched to the end: at least {least:,}, at most {most:,}"
    if least <= value < most:
        return _no(bound, note)
    return _with(bound, "holds", most, value, note=note) if most <= value else _with(bound, "violated", least, value)


def _no(bound: Bound, reason: str) -> BoundItem:
    return _with(bound, "does not apply", note=reason)


def _with(bound: Bound, status: BoundStatus, *compared: Any, note: str = "") -> BoundItem:
    """Return the item of a bound; ``compared`` is ``found``, ``value`` and ``after_each_layer``, if any."""
    item = BoundItem(bound.name, bound.kind, bound.quantity, bound.source, bound.status, status, *compared)
    return replace(item, note=note)


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
