# SPDX-License-Identifier: MIT
"""Which neurons change at a facet besides its own?

A page stores the pattern of one region, and derives those of its neighbours from the kink of each facet. Where several
neurons bend at one edge, or a maximum changes its argmax, further bits change, and they are stored.
Cost: one comparison of patterns for each facet.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.types import Integers, Packed
from regions.networks.graph import Graph, switched_kinks

__all__ = ["further_bits", "further_kinks"]

# Facets whose patterns are compared at a time.
STEP = 1 << 16


def further_bits(patterns: Packed, facet_regions: Integers, facet_kinks: Integers) -> tuple[Integers, Integers]:
    """Return the bits that change across a facet besides its kink: facets [m], ascending, and bits [m].

    ``patterns`` are packed, uint8 [R, bytes]; ``facet_regions`` [F, 2] has -1 at the domain boundary.
    """
    inside = np.flatnonzero(facet_regions[:, 1] >= 0)
    found_places, found_bits = [inside[:0]], [inside[:0]]
    for start in range(0, len(inside), STEP):
        facets = inside[start : start + STEP]
        first, second = facet_regions[facets].T
        change = patterns[first] ^ patterns[second]
        kinks = facet_kinks[facets]
        change[np.arange(len(facets)), kinks >> 3] ^= np.left_shift(1, kinks & 7).astype(np.uint8)
        several = np.flatnonzero(change.any(axis=1))
        rows, columns = np.nonzero(np.unpackbits(change[several], axis=1, bitorder="little"))
        found_places.append(facets[several[rows]])
        found_bits.append(columns)
    return np.concatenate(found_places), np.concatenate(found_bits)


def further_kinks(graph: Graph, facet_kinks: Integers, places: Integers, bits: Integers) -> tuple[Integers, Integers]:
    """Return the further kinks of facets, given their further bits, with one kink for each maximum that switches."""
    facets = np.unique(places)
    own = facet_kinks[facets]
    places, bits = np.concatenate([places, facets]), np.concatenate([bits, own])
    order = np.lexsort((bits, places))
    places, kinks = switched_kinks(graph, places[order], bits[order])
    others = kinks != facet_kinks[places]
    return places[others], kinks[others]
