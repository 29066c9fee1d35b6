# SPDX-License-Identifier: MIT
"""What do the damages of `damages.py` have in common?

Each is registered by `fails`. A `Case` is a network, a domain and the arrays of their partition, free to be changed.
Functions that add, drop, join or split regions work on a list of cells, from which all arrays are rebuilt, so that they
fit together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import regions
from regions.domains import Domain
from regions.networks.network import Network
from regions.results.partition import ARRAYS, Partition, raw_arrays

Raw = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A network, a domain and the arrays of their partition, which may be changed."""

    network: Network
    domain: Domain
    raw: Raw

    def partition(self) -> Partition:
        return Partition(self.network, self.domain, self.raw)

    def put(self, name: str, index: Any, value: Any) -> Case:
        """Change some numbers of an array."""
        self.raw[name][index] = value
        return self


@dataclass(frozen=True)
class Cell:
    """One region of a plane: the vertex at each corner, and the kink of the edge that begins there."""

    vertices: list[int]
    kinks: list[int]
    pattern: np.ndarray  # packed


Result = tuple[Partition, Network]
Damage = Callable[[Case], Result | Case]

Table = dict[str, tuple[Damage, tuple[str, ...]]]
IN_PLANE: Table = {}
ON_LINE: Table = {}


def fails(*items: str, table: Table = IN_PLANE) -> Callable[[Damage], Damage]:
    """Register a damage, with the items that must notice it."""

    def register(function: Damage) -> Damage:
        table[function.__name__] = function, items
        return function

    return register


def undamaged(network: Network, domain: Domain) -> Case:
    raw = raw_arrays(regions.enumerate(network, domain))
    return Case(network, domain, {**raw, **{name: np.array(raw[name]) for name in ARRAYS}})


def damaged(damage: Damage, case: Case) -> Result:
    """Return the damaged case: a partition, and the network to certify it for."""
    result = damage(case)
    return (result.partition(), case.network) if isinstance(result, Case) else result


def cells_of(case: Case) -> list[Cell]:
    raw, offsets = case.raw, case.raw["cell_offsets"]
    spans = [slice(start, stop) for start, stop in zip(offsets, offsets[1:], strict=False)]
    kinks = raw["facet_kinks"][raw["cell_facets"]]
    return [
        Cell(raw["cell_vertices"][span].tolist(), kinks[span].tolist(), pattern)
        for span, pattern in zip(spans, raw["packed_patterns"], strict=True)
    ]


def assembled(case: Case, cells: list[Cell]) -> Case:
    """Arrays that fit together, from cells: an edge that no other cell has in the other direction gets -1."""
    facets: dict[tuple[int, int], int] = {}
    cell_facets, facet_vertices, facet_regions, facet_kinks = [], [], [], []
    for region, cell in enumerate(cells):
        for a, b, kink in zip(cell.vertices, cell.vertices[1:] + cell.vertices[:1], cell.kinks, strict=True):
            if (b, a) in facets:
                facet = facets.pop((b, a))
                facet_regions[facet][1] = region
            else:
                facet = facets[a, b] = len(facet_kinks)
                facet_vertices.append([a, b])
                facet_regions.append([region, -1])
                facet_kinks.append(kink)
            cell_facets.append(facet)
    used = np.unique([vertex for cell in cells for vertex in cell.vertices])
    number = np.full(used.max() + 1, -1)
    number[used] = np.arange(len(used))
    raw = {
        **case.raw,
        "vertices": case.raw["vertices"][used],
        "vertex_errors": case.raw["vertex_errors"][used],
        "cell_offsets": np.cumsum([0, *(len(cell.vertices) for cell in cells)]),
        "cell_vertices": number[[vertex for cell in cells for vertex in cell.vertices]],
        "cell_facets": np.array(cell_facets),
        "facet_vertices": number[np.array(facet_vertices)],
        "facet_regions": np.array(facet_regions),
        "facet_kinks": np.array(facet_kinks),
        "packed_patterns": np.array([cell.pattern for cell in cells]),
    }
    return replace(case, raw=raw)


def along(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for a partition of a line, from left to right: vertices [R + 1], the kinks of their facets, and patterns
    [R].
    """
    raw = case.raw
    corners = np.append(raw["cell_vertices"][::2], raw["cell_vertices"][-1])
    facets = np.append(raw["cell_facets"][::2], raw["cell_facets"][-1])
    return corners, raw["facet_kinks"][facets], raw["packed_patterns"]


def assembled_along(case: Case, vertices: np.ndarray, kinks: np.ndarray, patterns: np.ndarray) -> Case:
    """Arrays that fit together, from what `along` returns; all other vertices are dropped."""
    count = len(patterns)
    corners = np.stack([np.arange(count), np.arange(1, count + 1)], axis=1)
    raw = {
        **case.raw,
        "vertices": case.raw["vertices"][vertices],
        "vertex_errors": case.raw["vertex_errors"][vertices],
        "cell_offsets": np.arange(0, 2 * count + 1, 2),
        "cell_vertices": corners.ravel(),
        "cell_facets": corners.ravel(),
        "facet_vertices": np.arange(count + 1)[:, np.newaxis],
        "facet_regions": np.array([[0, -1], *([r, r + 1] for r in range(count - 1)), [count - 1, -1]]),
        "facet_kinks": kinks,
        "packed_patterns": patterns,
    }
    return replace(case, raw=raw)


def flipped(pattern: np.ndarray, *kinks: int) -> np.ndarray:
    """Return a packed pattern with some bits changed."""
    result = pattern.copy()
    for kink in kinks:
        result[kink // 8] ^= 1 << kink % 8
    return result


def inner_facet(case: Case) -> int:
    return int(np.flatnonzero(case.raw["facet_regions"][:, 1] >= 0)[0])


def border_facet(case: Case) -> int:
    return int(np.flatnonzero(case.raw["facet_kinks"] < 0)[0])


def inner_vertex(case: Case) -> int:
    """Return a vertex inside the domain: one that is not exact in double precision."""
    border = case.raw["facet_vertices"][case.raw["facet_kinks"] < 0]
    return int(np.setdiff1d(np.arange(len(case.raw["vertices"])), border)[0])


def region_inside(cells: list[Cell]) -> int:
    return next(region for region, cell in enumerate(cells) if min(cell.kinks) >= 0)


def changed(network: Network, layer: int, change: Callable[[np.ndarray, np.ndarray], None]) -> Network:
    """Return a network with other weights in one layer."""
    layers = [(each.weights.copy(), each.biases.copy()) for each in network.layers]
    change(*layers[layer])
    return Network([(w, b) for w, b in layers], [each.activation for each in network.layers[:-1]])
