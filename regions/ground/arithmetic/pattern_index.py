# SPDX-License-Identifier: MIT
"""Which region has a given activation pattern?

A pattern is hashed to 64 bits, the sorted hashes are searched, and every match is compared in full, so a
collision costs time but never gives a wrong answer. If some bits of the wanted pattern are free, each combination
is looked up while there are few; otherwise all patterns are compared under a mask.
Cost: building R log R; then about a microsecond per pattern looked up in bulk.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.types import Bits, Indices, Integers, Packed

__all__ = ["ONES", "PatternIndex", "hash_patterns"]

# Number of bits set in each byte.
ONES = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)

# Up to this many free bits, 2^bits look-ups are cheaper than comparing all patterns.
MOST_FREE_BITS = 8


class PatternIndex:
    """Look-up of regions by their packed patterns uint8 [R, bytes]."""

    def __init__(self, packed: Packed) -> None:
        self.packed = packed
        hashes = hash_patterns(packed)
        self.order = np.argsort(hashes, kind="stable")
        self.sorted_hashes = hashes[self.order]

    def find(self, wanted: Packed) -> Integers:
        """Return the region with each of the patterns uint8 [m, bytes]: int64 [m], -1 if no region has it."""
        result = np.full(len(wanted), -1, dtype=np.int64)
        hashes = hash_patterns(wanted)
        place = np.searchsorted(self.sorted_hashes, hashes)
        open_ = np.arange(len(wanted))
        while open_.size:  # one pass unless hashes collide; then the next pattern with the same hash is tried
            open_ = open_[place[open_] < len(self.order)]
            open_ = open_[self.sorted_hashes[place[open_]] == hashes[open_]]
            candidates = self.order[place[open_]]
            same = (self.packed[candidates] == wanted[open_]).all(axis=1)
            result[open_[same]] = candidates[same]
            open_ = open_[~same]
            place[open_] += 1
        return result

    def matching(self, wanted: Bits, free: Indices) -> Integers:
        """Return the regions whose pattern equals ``wanted`` bool [kinks] except at the bits ``free`` int [f],
        ascending.
        """
        if len(free) <= MOST_FREE_BITS:
            choices = np.arange(1 << len(free))[:, np.newaxis] >> np.arange(len(free)) & 1
            patterns = np.repeat(wanted[np.newaxis], len(choices), axis=0)
            patterns[:, free] = choices
            found = self.find(np.packbits(patterns, axis=1, bitorder="little"))
            return np.sort(found[found >= 0])
        mask = np.ones(len(wanted), dtype=bool)
        mask[free] = False
        packed_mask = np.packbits(mask, bitorder="little")
        packed_wanted = np.packbits(wanted & mask, bitorder="little")
        return np.flatnonzero(((self.packed & packed_mask) == packed_wanted).all(axis=1))


def hash_patterns(packed: Packed) -> NDArray[np.uint64]:
    """Mix each row of uint8 [m, bytes] into 64 bits; the same rows give the same numbers on every machine."""
    rows, width = packed.shape
    padded = np.zeros((rows, -(-width // 8) * 8), dtype=np.uint8)
    padded[:, :width] = packed
    result = np.zeros(rows, dtype=np.uint64)
    for word in padded.view("<u8").T:
        # The finaliser of splitmix64 (Steele, Lea and Flood 2014) after each word: chained, so that order
        # matters.
        result += word.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        result ^= result >> np.uint64(30)
        result *= np.uint64(0xBF58476D1CE4E5B9)
        result ^= result >> np.uint64(27)
        result *= np.uint64(0x94D049BB133111EB)
        result ^= result >> np.uint64(31)
    return result
