# SPDX-License-Identifier: MIT
"""What is the table of the regions: one row for each, with plain numbers and a pattern as text?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.pattern_index import ONES
from regions.ground.arithmetic.types import Bits, Integers, Packed
from regions.results.cells.complex import CellComplex
from regions.results.cells.sizes import interior_points, volumes

__all__ = ["active_bits", "count_per_region", "hexadecimal", "region_columns"]


def region_columns(cells: CellComplex) -> dict[str, NDArray[Any]]:
    """Return the columns that `regions.Partition.to_columns` describes."""
    columns: dict[str, NDArray[Any]] = {
        "index": np.arange(len(cells)),
        "volume": volumes(cells),
        "active": active_bits(cells.packed_patterns),
        "corners": cells.corner_counts,
        "neighbors": count_per_region(cells, cells.neighbors >= 0),
        "pattern": np.array(hexadecimal(cells.packed_patterns), dtype=object),
    }
    points = interior_points(cells)
    columns.update((f"p{axis}", points[:, axis]) for axis in range(cells.dimension))
    return columns


def count_per_region(cells: CellComplex, facets: Bits) -> Integers:
    """Return how many of the facets of each region, as in ``cell_facets``, are marked: int64 [R]."""
    before = np.concatenate([[0], np.add.accumulate(facets, dtype=np.int64)])
    return np.diff(before[cells.cell_facet_offsets])


def active_bits(packed: Packed) -> Integers:
    """Return the number of pattern bits of each region that are 1, int64 [R]."""
    return ONES[packed].sum(axis=1, dtype=np.int64)


def hexadecimal(packed: Packed) -> list[str]:
    """Return the packed pattern of each region in hexadecimal, first byte first."""
    text, width = packed.tobytes().hex(), 2 * packed.shape[1]
    return (
        [text[start : start + width] for start in range(0, width * len(packed), width)] if width else [""] * len(packed)
    )
