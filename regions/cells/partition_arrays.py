# SPDX-License-Identifier: MIT
"""Which arrays make a partition, and when are two of them the same?

The nine arrays of `ARRAYS`, under these names in files and in what the core returns; `Partition` calls the patterns
``packed_patterns``. They are taken in once, locked, and shared with nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.arguments import integer, shown
from regions.arithmetic.arrays import own_array

if TYPE_CHECKING:
    from regions.partition import Partition

__all__ = ["ARRAYS", "own_arrays", "raw_arrays", "same_arrays"]

# The arrays that make a partition, in the order in which they are documented, with their types.
ARRAYS: Mapping[str, type] = {
    "vertices": np.float64,
    "vertex_errors": np.float64,
    "cell_offsets": np.int64,
    "cell_vertices": np.int64,
    "cell_facets": np.int64,
    "facet_vertices": np.int64,
    "facet_regions": np.int64,
    "facet_kinks": np.int64,
    "patterns": np.uint8,
}


def own_arrays(raw: Any) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
    """Take in the arrays of a mapping, as attributes of a partition, and its counters.

    Raises
    ------
    TypeError, ValueError
        No mapping, an array that is missing or of another type, counters that are no numbers.
    """
    if not isinstance(raw, Mapping):
        raise TypeError(f"raw must be a mapping of the arrays of a partition, got {shown(raw)}")
    missing = [name for name in (*ARRAYS, "stats") if name not in raw]
    if missing:
        raise ValueError(f"raw has no {missing[0]!r}")
    stats = raw["stats"]
    if not isinstance(stats, Mapping):
        raise TypeError(f"raw['stats'] must be a mapping of counters, got {shown(stats)}")
    arrays = {_attribute(name): own_array(raw[name], dtype, f"raw[{name!r}]") for name, dtype in ARRAYS.items()}
    counters = {str(name): integer(value, "raw['stats']", least=0, most=1 << 64) for name, value in stats.items()}
    return arrays, counters


def raw_arrays(partition: Partition) -> dict[str, Any]:
    """The mapping that makes this partition again: its arrays under the names of `ARRAYS`, ``stats``, ``complete``,
    ``version`` and ``kernel``."""
    arrays = {name: getattr(partition, _attribute(name)) for name in ARRAYS}
    others = {name: getattr(partition, name) for name in ("complete", "version", "kernel")}
    return {**arrays, "stats": partition.stats, **others}


def same_arrays(one: Partition, other: Partition) -> bool:
    """Whether all arrays of two partitions are equal, in the same order."""
    return all(np.array_equal(getattr(one, _attribute(name)), getattr(other, _attribute(name))) for name in ARRAYS)


def _attribute(name: str) -> str:
    return "packed_patterns" if name == "patterns" else name
