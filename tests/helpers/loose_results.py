# SPDX-License-Identifier: MIT
"""How do tests change the arrays of a result?

They take it apart to lists (`Loose`), change these, and put it together again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

import regions
from regions.results.cells.complex import raw_arrays

__all__ = ["Loose", "apart", "together"]

Result = regions.Partition


@dataclass
class Loose:
    """A result in lists.

    ``cells`` are [pattern, vertices, facets], ``facets`` are [kink, regions, vertices], and ``places`` and ``errors``
    are those of vertices.
    """

    cells: list[list[Any]]
    facets: list[list[Any]]
    places: list[list[float]]
    errors: list[float]


def apart(part: Result) -> Loose:
    """Take a result apart."""

    def pieces(of: np.ndarray, offsets: np.ndarray) -> list[list[int]]:
        return [each.tolist() for each in np.split(of, offsets[1:-1])]

    patterns = [row.copy() for row in part.packed_patterns]
    vertices, sides = (
        pieces(part.cell_vertices, part.cell_offsets),
        pieces(part.cell_facets, part.cell_facet_offsets),
    )
    cells = [list(each) for each in zip(patterns, vertices, sides, strict=True)]
    ends = pieces(part.facet_vertices.reshape(-1), part.facet_offsets)
    facets = [list(e) for e in zip(part.facet_kinks.tolist(), part.facet_regions.tolist(), ends, strict=True)]
    return Loose(cells, facets, part.vertices.tolist(), part.vertex_errors.tolist())


def together(loose: Loose, like: Result, **others: Any) -> Any:
    """Put a result together, with some other attributes than one that is like it: ``complete``, or the ``domain``."""

    def flat(rows: Iterable[list[int]]) -> tuple[np.ndarray, np.ndarray]:
        rows = list(rows)
        return (
            np.array([x for row in rows for x in row], dtype=np.int64),
            np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        )

    raw = dict(raw_arrays(like))
    raw["cell_vertices"], raw["cell_offsets"] = flat(cell[1] for cell in loose.cells)
    raw["cell_facets"], raw["cell_facet_offsets"] = flat(cell[2] for cell in loose.cells)
    raw["facet_vertices"], raw["facet_offsets"] = flat(facet[2] for facet in loose.facets)
    raw["facet_kinks"] = np.array([facet[0] for facet in loose.facets], dtype=np.int64)
    raw["facet_regions"] = np.array([facet[1] for facet in loose.facets], dtype=np.int64).reshape(-1, 2)
    raw["packed_patterns"] = np.array([cell[0] for cell in loose.cells], dtype=np.uint8)
    raw["vertices"], raw["vertex_errors"] = np.array(loose.places), np.array(loose.errors)
    domain = others.pop("domain", like.domain)
    raw |= others
    if like.dimension > 2:
        return regions.PolytopePartition(like.network, domain, raw)
    del raw["cell_facet_offsets"], raw["facet_offsets"]
    raw["facet_vertices"] = raw["facet_vertices"].reshape(-1, like.dimension)
    return regions.Partition(like.network, domain, raw)
