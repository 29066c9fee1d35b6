# SPDX-License-Identifier: MIT
"""Is a level set in three dimensions what rational arithmetic finds?

The reference gives the regions of the network with units at the threshold, with exact vertices. A polygon of the
surface is then a set of common vertices, of two regions on different sides, that span a plane.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

import regions
from exact_polytopes import homogeneous, span
from regions import reference


def require_surface(found: Any, domain: Any) -> None:
    """Compare the polygons, their orientation and their edges with the regions of the reference."""
    net = found.partition.network
    kink = net.kinks - 1
    parts = reference.enumerate(net, domain)
    corners = [frozenset(part.vertices) for part in parts]
    expected = {}
    for one, other in combinations(range(len(parts)), 2):
        if parts[one].pattern[kink] == parts[other].pattern[kink]:
            continue
        common = corners[one] & corners[other]
        if len(common) >= 3 and span(list(map(homogeneous, common))) == 2:
            above = one if parts[one].pattern[kink] else other
            expected[common] = corners[above]
    exact = found.exact_vertices()
    assert len(set(exact)) == len(exact)
    for place, error, stored in zip(exact, found.vertex_errors.tolist(), found.vertices.tolist(), strict=True):
        assert all(abs(Fraction(x) - y) <= Fraction(error) for x, y in zip(stored, place, strict=True))
    polygons = polygons_of(found)
    assert {frozenset(exact[v] for v in polygon) for polygon in polygons} == set(expected)
    assert len(polygons) == len(expected)
    for polygon in polygons:
        around = [exact[v] for v in polygon]
        above = expected[frozenset(around)]
        # The outline is convex, and counter-clockwise for the region above.
        inside = [sum((p[k] for p in above), Fraction(0)) / len(above) for k in range(3)]
        for a, b, c in zip(around, around[1:] + around[:1], around[2:] + around[:2], strict=True):
            assert volume_of(a, b, c, inside) > 0
    require_edges(found, exact, domain)


def volume_of(a: Any, b: Any, c: Any, d: Any) -> Fraction:
    """Return the determinant of b - a, c - a, d - a: positive if a, b, c are counter-clockwise as seen from d."""
    (x, y, z), (u, v, w), (r, s, t) = ([q - p for p, q in zip(a, each, strict=True)] for each in (b, c, d))
    return x * (v * t - w * s) - y * (u * t - w * r) + z * (u * s - v * r)


def polygons_of(found: Any) -> list[list[int]]:
    """Return the vertices of each polygon."""
    ends = found.offsets.tolist()
    return [found.corners[start:end].tolist() for start, end in zip(ends, ends[1:], strict=False)]


def require_edges(found: Any, exact: Any, domain: Any) -> None:
    """Check that edges inside are used in both directions, and that others lie on the boundary of the domain."""
    directed = Counter(
        pair for polygon in polygons_of(found) for pair in zip(polygon, polygon[1:] + polygon[:1], strict=True)
    )
    open_ = {tuple(sorted(pair)) for pair in directed if directed[pair] != directed[pair[::-1]]}
    assert open_ == set(map(tuple, found.boundary_edges.tolist()))
    assert {tuple(sorted(pair)) for pair in directed} == set(map(tuple, found.edges.tolist()))
    forms = [list(map(Fraction, row)) for row in domain.forms.tolist()]
    for ends in open_:
        assert any(
            all(form[0] + sum(a * x for a, x in zip(form[1:], exact[v], strict=True)) == 0 for v in ends)
            for form in forms
        )
    assert found.closed == (not open_)
    assert found.euler_characteristic == len(found.vertices) - len(found.edges) + len(found.facets)


def require_volume(found: Any, domain: Any) -> None:
    """Compare the flux through surface and boundary with the volumes of all regions that are not above."""
    full = regions.enumerate(found.partition.network, domain)
    above = full.patterns[:, full.network.kinks - 1]
    below = float(full.volumes[~above].sum())
    if found.closed:
        volume, error = found.enclosed
        outside = np.isin(np.arange(len(full)), full.facet_regions[full.facet_regions[:, 1] < 0, 0])
        # The domain's boundary is on one side.
        sides = set(above[outside].tolist())
        expected = below if sides == {True} else -float(full.volumes[above].sum())
        assert len(sides) == 1 and abs(volume - expected) <= error + full.volume_errors.sum()
    total, off = proven_area(full, above)
    assert abs(found.area - total) <= found.error + off


def require_topology(found: Any, domain: Any) -> None:
    """Compare Euler characteristics: of both parts of the box, less the surface's where they meet, they add up to 1."""
    full = regions.enumerate(found.partition.network, domain)
    above = full.patterns[:, full.network.kinks - 1]
    sides = [solid_characteristic(full, np.flatnonzero(each)) for each in (~above, above)]
    assert sum(sides) - found.euler_characteristic == 1


def solid_characteristic(part: Any, chosen: Any) -> int:
    """Return V - E + F - R of some regions together with their boundaries."""
    vertices, edges, facets = set[int](), set[tuple[int, ...]](), set[int]()
    for region in chosen.tolist():
        vertices.update(part.cell_vertices[slice(*part.cell_offsets[region : region + 2])].tolist())
        facets.update(part.cell_facets[slice(*part.cell_facet_offsets[region : region + 2])].tolist())
    for facet in facets:
        around = part.facet_vertices[slice(*part.facet_offsets[facet : facet + 2])].tolist()
        edges.update(tuple(sorted(pair)) for pair in zip(around, around[1:] + around[:1], strict=True))
    return len(vertices) - len(edges) + len(facets) - len(chosen)


def proven_area(full: Any, above: Any) -> tuple[float, float]:
    """Return the area between the two kinds of regions of a complete partition, and a bound on its error."""
    sides = full.facet_regions
    chosen = (sides[:, 1] >= 0) & (above[sides[:, 0]] != above[sides[:, 1]])
    return float(full.facet_volumes[chosen].sum()), float(full.facet_volume_errors[chosen].sum()) + 1e-13
