# SPDX-License-Identifier: MIT
"""How are arrays packed into a page?

Each array is a section: its bytes, sorted by significance (all first bytes, then all second bytes, ..), are compressed
by zlib, and all sections together are base64. Neighbouring numbers share their high bytes, so sorted bytes take about
a third less. Indices that occur nearly in order of first use are stored as differences to the next new index: the core
numbers vertices and facets that way, so that most differences are 0. The page's header has the index of the sections.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.types import Integers

__all__ = ["Sections", "narrowest"]

# Little-endian types of the page's arrays.
KINDS = {"u1": "<u1", "i2": "<i2", "i4": "<i4", "f4": "<f4", "f8": "<f8"}
# Levels of zlib above 1 take several times as long and save a twentieth of the size.
LEVEL = 1


class Sections:
    """Packed arrays and their index.

    Attributes
    ----------
    index : dict
        For each name: ``at`` and ``bytes`` (place among all bytes), ``kind``, ``count``, and ``new`` (whether indices
        are stored as differences to the next new one).
    """

    def __init__(self) -> None:
        self.index: dict[str, dict[str, Any]] = {}
        self._packed: list[bytes] = []
        self._size = 0

    def add(self, name: str, array: NDArray[Any], kind: str, *, new: bool = False) -> None:
        """Pack an array, in row-major order; ``new`` is for indices from 0."""
        flat = np.ascontiguousarray(_behind_the_next_new(array) if new else array, dtype=KINDS[kind]).reshape(-1)
        planes = flat.view(np.uint8).reshape(len(flat), flat.itemsize).T
        packed = zlib.compress(np.ascontiguousarray(planes).tobytes(), LEVEL)
        self.index[name] = {"at": self._size, "bytes": len(packed), "kind": kind, "count": len(flat), "new": new}
        self._packed.append(packed)
        self._size += len(packed)

    def text(self) -> str:
        """Return all sections as base64."""
        return b64encode(b"".join(self._packed)).decode()


def narrowest(array: Integers) -> str:
    """Return the kind of the narrowest integers that hold an array: i2 or i4."""
    return "i2" if np.abs(array).max(initial=0) < 1 << 15 else "i4"


def _behind_the_next_new(indices: Integers) -> Integers:
    """Return how far each index is behind the lowest index that is higher than all before it: 0 for a new one."""
    flat = indices.reshape(-1)
    highest = np.maximum.accumulate(flat)
    return np.concatenate([[-1], highest[:-1]])[: len(flat)] + 1 - flat
