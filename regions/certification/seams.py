# SPDX-License-Identifier: MIT
"""Does each facet between two blocks of regions have a region on either side?

If two proven regions differ only in kink k, and each has a facet that k names, then the two facets are the same
segment: the patterns alone show it, without coordinates. The same holds if the regions differ in several kinks that are
zero along the facet. docs/why-certify-proves.md ("Why are blocks enough?") has the proof. Facets along which several
kinks are zero are rare in most networks. These kinks are computed in integers from the pattern and k alone, and only
for facets that have waited for long.
Memory: the facets whose other side has not come yet. Cost: a look-up for each side of a facet between blocks.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from regions.arithmetic.types import Packed
from regions.certification.forms import Forms, line_through
from regions.domains import Domain
from regions.networks.network import Network
from regions.partition import Partition
from regions.reference.integers import Form

__all__ = ["Seams"]

# If at least this many facets wait, the kinks that are zero along them are computed.
PATIENT = 200_000


class Seams:
    """The sides of facets between blocks that wait for the other side.

    Attributes
    ----------
    matched : int
        Facets whose two sides have come.
    """

    def __init__(self, network: Network, domain: Domain) -> None:
        self.network, self.domain, self.matched = network, domain, 0
        # A kink, and a pattern with this kink cleared: which side has come, and whether no other kink is zero along it.
        self._waiting: dict[tuple[int, bytes], tuple[bool, bool]] = {}
        # Several kinks, and a pattern with these cleared: the pattern that came.
        self._coincident: dict[tuple[tuple[int, ...], bytes], bytes] = {}
        self._patience = PATIENT

    @property
    def waiting(self) -> int:
        """Number of facets with a region on one side only."""
        return len(self._waiting) + len(self._coincident)

    def add(self, block: Partition) -> str | None:
        """Match the open facets of a block; return what is wrong, if a region comes twice."""
        problem = None
        for key, side in _open_sides(block):
            problem = self._meet(key, (side, False)) or problem
        if len(self._waiting) > self._patience:
            problem = self.settle() or problem
            self._patience = max(PATIENT, 2 * len(self._waiting))
        return problem

    def merge(self, other: Seams) -> str | None:
        """Match the facets that wait in both."""
        problem = None
        self.matched += other.matched
        for key, found in other._waiting.items():
            problem = self._meet(key, found) or problem
        for several, pattern in other._coincident.items():
            problem = self._meet_coincident(several, pattern) or problem
        return problem

    def settle(self) -> str | None:
        """Match the facets along which several kinks are zero; return what is wrong, as `add` does."""
        left = [(key, side) for key, (side, alone) in self._waiting.items() if not alone]
        if not left:
            return None
        forms, problem = Forms(self.network, self.domain), None
        patterns = [_pattern(key, side, self.network.kinks) for key, side in left]
        for index, kinks in forms.walk([pattern.tobytes() for pattern in patterns]):
            (kink, cleared), side = left[index]
            zero = [other for other, form in enumerate(kinks) if _same_line(form, kinks[kink])]
            if len(zero) == 1:
                self._waiting[kink, cleared] = (side, True)
                continue
            del self._waiting[kink, cleared]
            pattern = patterns[index].tobytes()
            patterns[index][zero] = 0
            problem = self._meet_coincident((tuple(zero), patterns[index].tobytes()), pattern) or problem
        return problem

    def _meet(self, key: tuple[int, bytes], found: tuple[bool, bool]) -> str | None:
        other = self._waiting.pop(key, None)
        if other is None or other[0] == found[0]:
            self._waiting[key] = found
            return None if other is None else f"a region at a facet of kink {key[0]} comes twice"
        self.matched += 1
        return None

    def _meet_coincident(self, key: tuple[tuple[int, ...], bytes], pattern: bytes) -> str | None:
        other = self._coincident.pop(key, None)
        if other is None or other == pattern:
            self._coincident[key] = pattern
            return None if other is None else f"a region at a facet of kinks {list(key[0])} comes twice"
        self.matched += 1
        return None


def _open_sides(block: Partition) -> Iterator[tuple[tuple[int, bytes], bool]]:
    """The facets inside the domain with a region on one side only: the key of each, and the side."""
    facets = np.flatnonzero((block.facet_kinks >= 0) & (block.facet_regions[:, 1] < 0))
    kinks, rows = block.facet_kinks[facets], block.packed_patterns[block.facet_regions[facets, 0]]
    places, bits = (np.arange(len(facets)), kinks >> 3), np.uint8(1) << (kinks & 7).astype(np.uint8)
    sides = (rows[places] & bits) > 0
    rows[places] &= ~bits
    for kink, row, side in zip(kinks.tolist(), rows, sides.tolist(), strict=True):
        yield (kink, row.tobytes()), side


def _pattern(key: tuple[int, bytes], side: bool, kinks: int) -> Packed:
    """The pattern of the region that waits, unpacked."""
    kink, cleared = key
    pattern = np.unpackbits(np.frombuffer(cleared, dtype=np.uint8), count=kinks, bitorder="little")
    pattern[kink] = side
    return pattern


def _same_line(form: Form, other: Form) -> bool:
    """Whether a form is zero wherever another one is, which is not constant."""
    if len(form) == 2:
        return form[0] * other[1] == form[1] * other[0]
    return not any(line_through(form, other))
