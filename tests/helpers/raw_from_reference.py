# SPDX-License-Identifier: MIT
"""Which arrays must the core return? The arrays of a partition, made from the reference's exact regions.

Vertices are matched as fractions, so rounding decides nothing; this is slow. Tests of everything after the core build
their partitions with it, and tests of the core compare with it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from regions import reference
from regions.domains import Domain
from regions.ground.arithmetic.dyadic import nearest_float
from regions.networks.network import Network
from regions.results.partition import Partition

Vertex = tuple[Any, ...]


def partition_from_reference(network: Network, domain: Domain) -> Partition:
    return Partition(network, domain, raw_from_reference(network, domain))


def folded_partition(network: Network, domain: Domain) -> Partition:
    """Return a partition with one corner of the smallest region pushed across the opposite side."""
    raw = raw_from_reference(network, domain)
    smallest = int(np.argmin(Partition(network, domain, raw).volumes))
    corners = raw["cell_vertices"][slice(*raw["cell_offsets"][smallest : smallest + 2])]
    before = raw["vertices"][corners[0]].copy()
    raw["vertices"][corners[0]] = 2 * raw["vertices"][corners[1:]].mean(axis=0) - before
    raw["vertex_errors"][corners[0]] = np.abs(raw["vertices"][corners[0]] - before).max() + 2.0**-50
    return Partition(network, domain, raw)


@cache
def sorted_regions(network: Network, domain: Domain) -> tuple[reference.ReferenceRegion, ...]:
    """Return the exact regions: along a line from left to right, in a plane by pattern. The same order as in the
    arrays."""
    found = reference.enumerate(network, domain)
    if domain.dimension == 1:
        return tuple(sorted(found, key=lambda region: _finite(region, 0)))
    return tuple(sorted(found, key=lambda region: region.pattern))


def raw_from_reference(network: Network, domain: Domain) -> dict[str, Any]:
    """Return the arrays that `_core.enumerate` would return, with regions sorted along a line, or by pattern in a
    plane."""
    found = sorted_regions(network, domain)
    cells = [[_finite(region, corner) for corner in range(len(region.vertices))] for region in found]
    patterns = np.array([region.pattern for region in found], dtype=bool).reshape(len(found), network.kinks)
    vertices: dict[Vertex, int] = {}
    cell_vertices = [vertices.setdefault(vertex, len(vertices)) for cell in cells for vertex in cell]
    offsets = np.cumsum([0, *map(len, cells)])
    facets = _facets_1d if domain.dimension == 1 else _facets_2d
    cell_facets, facet_vertices, facet_regions, facet_kinks = facets(
        list(vertices), cell_vertices, offsets.tolist(), patterns, domain
    )
    rounded = [[nearest_float(x) for x in vertex] for vertex in vertices]
    return {
        "vertices": np.array(rounded),
        "vertex_errors": np.array([_error(v, r) for v, r in zip(vertices, rounded, strict=True)]),
        "cell_offsets": offsets,
        "cell_vertices": np.array(cell_vertices),
        "cell_facets": np.array(cell_facets),
        "facet_vertices": np.array(facet_vertices),
        "facet_regions": np.array(facet_regions),
        "facet_kinks": np.array(facet_kinks),
        "packed_patterns": np.packbits(patterns, axis=1, bitorder="little"),
        "stats": {"exact_signs": 0},
    }


def without_last_region(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the result of an enumeration that stopped before its last region."""
    last = len(raw["packed_patterns"]) - 1
    kept = int(raw["cell_offsets"][-2])
    regions = np.where(raw["facet_regions"] == last, -1, raw["facet_regions"])
    swap = regions[:, 0] < 0
    regions[swap] = regions[swap][:, ::-1]
    vertices = np.where(swap[:, np.newaxis], raw["facet_vertices"][:, ::-1], raw["facet_vertices"])
    alive = regions[:, 0] >= 0
    number = np.cumsum(alive) - 1
    return {
        **raw,
        "cell_offsets": raw["cell_offsets"][:-1],
        "cell_vertices": raw["cell_vertices"][:kept],
        "cell_facets": number[raw["cell_facets"][:kept]],
        "facet_vertices": vertices[alive],
        "facet_regions": regions[alive],
        "facet_kinks": raw["facet_kinks"][alive],
        "packed_patterns": raw["packed_patterns"][:-1],
        "complete": False,
    }


def _finite(region: reference.ReferenceRegion, corner: int) -> Vertex:
    """Return a corner, with an infinite end of a line as a float: fractions compare with it."""
    vertex = region.vertices[corner]
    return ((float("-inf"), float("inf"))[corner],) if vertex is None else vertex


def _error(vertex: Vertex, rounded: list[float]) -> float:
    if not np.isfinite(rounded).all():
        return 0.0 if isinstance(vertex[0], float) else np.inf
    largest = max(abs(Fraction(x) - Fraction(y)) for x, y in zip(vertex, rounded, strict=True))
    return float(np.nextafter(float(largest), 1)) if largest else 0.0


def _changed(patterns: np.ndarray, a: int, b: int) -> int:
    return int(np.flatnonzero(patterns[a] != patterns[b])[0])


def _facets_1d(vertices, cell_vertices, offsets, patterns, domain):  # type: ignore[no-untyped-def]
    regions = len(offsets) - 1
    cell_facets = [facet for r in range(regions) for facet in (r, r + 1)]
    facet_vertices = [[cell_vertices[0]], *([cell_vertices[2 * r + 1]] for r in range(regions))]
    facet_regions = [[0, -1], *([r, r + 1] for r in range(regions - 1)), [regions - 1, -1]]
    facet_kinks = [-1, *(_changed(patterns, r, r + 1) for r in range(regions - 1)), -2]
    for r in range(regions - 1):
        assert cell_vertices[2 * r + 1] == cell_vertices[2 * r + 2], "regions along a line must meet"
    return cell_facets, facet_vertices, facet_regions, facet_kinks


def _facets_2d(vertices, cell_vertices, offsets, patterns, domain):  # type: ignore[no-untyped-def]
    facets: dict[tuple[int, int], int] = {}
    cell_facets, facet_vertices, facet_regions = [], [], []
    for r, (start, stop) in enumerate(zip(offsets, offsets[1:], strict=False)):
        ring = cell_vertices[start:stop]
        for a, b in zip(ring, ring[1:] + ring[:1], strict=True):
            if (b, a) in facets:  # the neighbour went along this edge the other way
                facet_regions[facets[b, a]][1] = r
                cell_facets.append(facets[b, a])
            else:
                cell_facets.append(facets.setdefault((a, b), len(facets)))
                facet_vertices.append([a, b])
                facet_regions.append([r, -1])
    kinks = [
        _changed(patterns, r, s) if s >= 0 else -1 - _domain_edge(domain, vertices[a], vertices[b])
        for (a, b), (r, s) in zip(facet_vertices, facet_regions, strict=True)
    ]
    return cell_facets, facet_vertices, facet_regions, kinks


def _domain_edge(domain: Domain, a: Vertex, b: Vertex) -> int:
    corners = [[Fraction(x) for x in row[1:]] for row in domain.generators.tolist()]
    for edge, (p, q) in enumerate(zip(corners, corners[1:] + corners[:1], strict=True)):
        if all((q[0] - p[0]) * (v[1] - p[1]) == (q[1] - p[1]) * (v[0] - p[0]) for v in (a, b)):
            return edge
    raise AssertionError(f"the edge from {a} to {b} has one region but is not on the domain boundary")
