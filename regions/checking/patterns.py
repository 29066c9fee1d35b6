# SPDX-License-Identifier: MIT
"""Do the patterns of a partition fit its facets and its corners, and how many prefixes do they have?

The kink that a facet names has to switch across it: bits are compared. At a corner of a region no kink can be on and
below its breakpoint, or off and above it. Values there are computed with proven error bounds
(`regions/results/definitions/vertex_signs.py`), once for each corner: values are continuous, so all regions around a
corner are compared with the values that one of them gives. Signs that these bounds do not decide are accepted: where
kinks meet, and in deep networks, whose bounds are wide. `regions.certify` decides exactly.
Prefixes: in lexicographic order, patterns with a common prefix are consecutive. The first kink in which each pattern
differs from the one before therefore tells the number of prefixes up to any layer.
Cost: a forward pass for each visited corner, half as many as there are regions, and a sort.
"""

from __future__ import annotations

import numpy as np

from regions.checking.items import Invariant
from regions.ground.arithmetic.pattern_index import ONES
from regions.ground.arithmetic.types import Integers
from regions.measures.boundary import switching_kinks
from regions.results.definitions.vertex_signs import VertexSigns
from regions.results.partition import Partition

__all__ = ["prefix_counts", "facet_item", "pattern_item"]

# Each byte with its bits reversed: the first kink of the eight is the highest bit.
REVERSED = np.packbits(np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little"), axis=1)


def prefix_counts(partition: Partition) -> list[int]:
    """Count the different prefixes of the patterns, up to each hidden layer."""
    network = partition.network
    if network.kinks == 0:
        return [1] * len(network.widths)
    rows = REVERSED[partition.packed_patterns, 0]
    ordered = np.sort(rows.view(f"V{rows.shape[1]}").ravel()).view(np.uint8).reshape(rows.shape)
    differences = ordered[1:] ^ ordered[:-1]
    byte = (differences != 0).argmax(axis=1)
    bits = np.unpackbits(differences[np.arange(len(byte)), byte][:, np.newaxis], axis=1)
    layers = network.kink_layers[8 * byte + bits.argmax(axis=1)][bits.any(axis=1)]
    new = np.bincount(layers, minlength=len(network.widths))
    return [1 + int(count) for count in np.cumsum(new)]


def facet_item(partition: Partition) -> Invariant:
    """Check that the kink that each facet names switches across it."""
    facets, kinks = switching_kinks(partition)
    inside = np.flatnonzero(partition.facet_kinks >= 0)
    right = facets[partition.facet_kinks[facets] == kinks]
    note = ""
    if len(right) < len(inside):
        facet = int(np.setdiff1d(inside, right)[0])
        note = f"kink {partition.facet_kinks[facet]} does not switch across facet {facet}, which names it"
    return Invariant(
        "facets",
        "the kink of each facet switches across it: number of such facets, of all",
        "violated" if note else "holds",
        f"{len(right):,}",
        f"{len(inside):,}",
        note,
    )


def pattern_item(partition: Partition) -> Invariant:
    """Check that patterns have the signs of the kinks at corners of the regions: at one corner of each, the most
    accurate.
    """
    count, kinks, on = len(partition), partition.network.kinks, partition.packed_patterns
    wrong, proven = np.zeros(count, dtype=bool), 0
    if kinks:
        corners, ranks = _best_corners(partition)
        # If several regions have the same best corner, one of them gives the values.
        _, first, place = np.unique(ranks, return_index=True, return_inverse=True)
        above, below = VertexSigns(partition).at(corners[first], first)
        known = above | below
        contrary = (on ^ above[place]) & known[place]
        wrong[contrary.any(axis=1)] = True
        proven = int(ONES[known].sum(axis=1, dtype=np.int64)[place].sum() - ONES[contrary[wrong]].sum(dtype=np.int64))
    note = f"{proven:,} of {count * kinks:,} signs are proven"
    if wrong.any():
        note = f"in region {wrong.argmax()}, for one; {note}"
    return Invariant(
        "patterns",
        "patterns agree with the signs of kinks at corners: number of regions where they do not",
        "violated" if wrong.any() else "holds",
        f"{wrong.sum():,}",
        "0",
        note,
    )


def _best_corners(partition: Partition) -> tuple[Integers, Integers]:
    """Return the best corner of each region, int64 [R], and the rank of its vertex. Vertices with few regions come
    first, because many kinks vanish where many regions meet; among vertices with at most as many regions as in generic
    networks, the most accurate one comes first.
    """
    met = np.bincount(partition.cell_vertices, minlength=len(partition.vertices))
    order = np.lexsort([met, partition.vertex_errors, np.maximum(met, 2 * partition.dimension)])
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    corners = len(partition.cell_vertices)
    best = np.minimum.reduceat(
        ranks[partition.cell_vertices] * corners + np.arange(corners), partition.cell_offsets[:-1]
    )
    return best % corners, best // corners
