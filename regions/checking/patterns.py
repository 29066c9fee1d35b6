# SPDX-License-Identifier: MIT
"""Do the patterns of a partition fit its facets and its corners, and in how many ways do they begin?

Across a facet the kink that it names has to switch: bits are compared. At a corner of a region no kink can be on and
below its breakpoint, or off and above it: values are computed with proven bounds on their errors
(`regions/definitions/bounded_values.py`), and what these do not prove wrong is let pass: where kinks meet, and in
deep networks, whose bounds are wide. `regions.certify` decides exactly.
Beginnings: in the order of their bits, patterns that begin alike follow each other; so the first kink in which each
differs from the one before says how many begin differently up to any layer.
Cost: two forward passes per region, and a sort.
"""

from __future__ import annotations

import numpy as np

from regions.checking.items import Invariant
from regions.definitions.bounded_values import BoundedValues
from regions.measures.boundary import switching_kinks
from regions.partition import Partition

__all__ = ["beginnings", "facet_item", "pattern_item"]

# Numbers per temporary array.
CHUNK = 1 << 21
# Each byte with its bits in reverse: the first kink of the eight is the highest.
REVERSED = np.packbits(np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little"), axis=1)


def beginnings(partition: Partition) -> list[int]:
    """In how many ways patterns begin, up to each hidden layer."""
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
    """Whether the kink that each facet names switches across it."""
    facets, kinks = switching_kinks(partition)
    inside = np.flatnonzero(partition.facet_kinks >= 0)
    right = facets[partition.facet_kinks[facets] == kinks]
    note = ""
    if len(right) < len(inside):
        facet = int(np.setdiff1d(inside, right)[0])
        note = f"kink {partition.facet_kinks[facet]} does not switch across facet {facet}, which names it"
    return Invariant(
        "facets",
        "the kink that a facet names switches across it: facets where it does, of all",
        "violated" if note else "holds",
        f"{len(right):,}",
        f"{len(inside):,}",
        note,
    )


def pattern_item(partition: Partition) -> Invariant:
    """Whether patterns have the signs that kinks have at corners of the regions: at one of each, the best known."""
    network, count = partition.network, len(partition)
    wrong, proven = np.zeros(count, dtype=bool), 0
    if network.kinks:
        owners = np.repeat(np.arange(count), partition.corner_counts)
        errors = partition.vertex_errors[partition.cell_vertices]
        corners = np.lexsort([errors, owners])[partition.cell_offsets[:-1]]
        vertices, values = partition.cell_vertices[corners], BoundedValues(partition)
        step = max(1, CHUNK // values.size)
        for start in range(0, count, step):
            part = slice(start, start + step)
            distances, bounds = values.at_kinks(vertices[part], partition.packed_patterns[part])
            above = np.where(network.graph.bits(partition.packed_patterns[part]), distances, -distances)
            proven += int((above > bounds).sum())
            wrong[part] = (-above > bounds).any(axis=1)
    note = f"{proven:,} of {count * network.kinks:,} signs are proven"
    if wrong.any():
        note = f"in region {wrong.argmax()}, for one; {note}"
    return Invariant(
        "patterns",
        "no kink is on below its breakpoint, or off above it: regions that have one at a corner",
        "violated" if wrong.any() else "holds",
        f"{wrong.sum():,}",
        "0",
        note,
    )
