# SPDX-License-Identifier: MIT
"""How is an enumeration of a box done in parts that are joined again?

A part is a section of the recursion (`run.py`), with the arrays of a `PolytopePartition`. A facet between two parts is
*open* in both: each part knows only the region on its own side. It is identified by its sign vector: which kinks are
positive, negative or zero on it (`face_records.hpp`).
- If two regions differ in one kink, and both have an open facet on it, these are the same facet: both are the points
  where this kink is zero and all others have the signs of the pattern, or are zero, because pre-activations are
  continuous.
- Open facets whose regions differ in several kinks are the same if all of these are zero on one of them. That is
  decided in integers, for facets at the same place up to rounding.
- For a max unit whose argmax differs, only the kink that compares the two argmaxes counts.
The vertices of such a facet are the same points in both parts, so they are matched by coordinates and error bounds, and
exactly where the bounds do not decide. The regions around a vertex are connected through facets at the vertex, so all
copies of a vertex are found. The one with the smallest bound represents them, as in the core.
Invariant: the arrays are the arrays of one run, bit for bit: regions in the order of the parts, vertices and facets by
first use.
Cost: numpy passes over all arrays; a fraction of a millisecond for each facet with several kinks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.types import Bits, Integers, Packed
from regions.cells.complex import POLYTOPE_ARRAYS
from regions.cells.exact_polytopes import ExactPolytopes
from regions.domains import Polytope
from regions.networks.maxima import Maxima
from regions.networks.network import Network
from regions.partition.polytopes import PolytopePartition
from regions.passes.exact import ExactForms, Form

__all__ = ["BOX_LENGTHS", "box_shapes", "joined_arrays"]

Arrays = Mapping[str, NDArray[Any]]

# Arrays that refer to vertices, facets or regions of a part, and offsets into other arrays.
REFERS = {"cell_vertices": "vertices", "facet_vertices": "vertices", "cell_facets": "facets"}
OFFSETS = {"cell_offsets": "cell_vertices", "cell_facet_offsets": "cell_facets", "facet_offsets": "facet_vertices"}
# The arrays whose lengths determine the shapes of all arrays of a part.
BOX_LENGTHS = {
    "vertices": "vertex_errors",
    "corners": "cell_vertices",
    "sides": "cell_facets",
    "facets": "facet_kinks",
    "ends": "facet_vertices",
}
# Numbers per temporary array: few enough to stay in the processor's cache.
CHUNK = 1 << 20


def box_shapes(network: Network, dimension: int, sizes: Mapping[str, int]) -> dict[str, tuple[type, tuple[int, ...]]]:
    """Return types and shapes of a part's arrays, given its numbers of vertices, regions, corners and so on."""
    rows: dict[str, tuple[int, ...]] = {
        "vertices": (sizes["vertices"], dimension),
        "vertex_errors": (sizes["vertices"],),
        "cell_offsets": (sizes["regions"] + 1,),
        "cell_vertices": (sizes["corners"],),
        "cell_facets": (sizes["sides"],),
        "facet_vertices": (sizes["ends"],),
        "facet_regions": (sizes["facets"], 2),
        "facet_kinks": (sizes["facets"],),
        "packed_patterns": (sizes["regions"], (network.kinks + 7) // 8),
        "cell_facet_offsets": (sizes["regions"] + 1,),
        "facet_offsets": (sizes["facets"] + 1,),
    }
    return {name: (kind, rows[name]) for name, kind in POLYTOPE_ARRAYS.items()}


def joined_arrays(network: Network, domain: Polytope, parts: Sequence[Arrays]) -> dict[str, NDArray[Any]]:
    """Join parts, which come in the order of their sections.

    Raises
    ------
    ValueError
        The parts contradict each other.
    """
    nothing = box_shapes(network, domain.dimension, dict.fromkeys(("regions", *BOX_LENGTHS), 0))
    empty: dict[str, NDArray[Any]] = {name: np.zeros(shape, dtype=kind) for name, (kind, shape) in nothing.items()}
    whole = _side_by_side([empty, *parts])
    if not len(whole["vertices"]):
        return whole
    pairs = _pairs(network, domain, whole)
    return _united(whole, pairs, _same_vertices(network, domain, whole, pairs))


def _side_by_side(parts: Sequence[Arrays]) -> dict[str, NDArray[Any]]:
    """The arrays of all parts, in which nothing is joined yet."""
    before = {"vertices": 0, "facets": 0, "regions": 0, **dict.fromkeys(OFFSETS, 0)}
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in POLYTOPE_ARRAYS}
    for number, part in enumerate(parts):
        for name in POLYTOPE_ARRAYS:
            array = part[name]
            if name in REFERS:
                array = array + before[REFERS[name]]
            elif name in OFFSETS:
                array = array[number > 0 :] + before[name]
            elif name == "facet_regions":
                array = np.where(array < 0, -1, array + before["regions"])
            columns[name].append(array)
        before["vertices"] += len(part["vertices"])
        before["facets"] += len(part["facet_kinks"])
        before["regions"] += len(part["packed_patterns"])
        for name, of in OFFSETS.items():
            before[name] += len(part[of])
    return {name: np.concatenate(arrays) for name, arrays in columns.items()}


def _pairs(network: Network, domain: Polytope, whole: Arrays) -> Integers:
    """The pairs of open facets that are the same, int64 [pairs, 2], the first one first."""
    owners, kinks = whole["facet_regions"][:, 0], whole["facet_kinks"]
    open_ = np.flatnonzero((whole["facet_regions"][:, 1] < 0) & (kinks >= 0))
    if not open_.size:
        return np.zeros((0, 2), dtype=np.int64)
    # Both sides of a facet between regions that differ in one kink have this row: the pattern without it, and the kink.
    rows = whole["packed_patterns"][owners[open_]]
    byte, bit = kinks[open_] // 8, (1 << kinks[open_] % 8).astype(np.uint8)
    on = rows[np.arange(len(open_)), byte] & bit != 0
    rows[np.arange(len(open_)), byte] &= ~bit
    _clear_maxima(network, kinks[open_], rows)
    rows = np.ascontiguousarray(np.hstack([rows, kinks[open_, np.newaxis].view(np.uint8).reshape(len(open_), 8)]))
    _, which, counts = np.unique(rows.view(f"V{rows.shape[1]}").ravel(), return_inverse=True, return_counts=True)
    if counts.max() > 2:
        raise ValueError("a facet has three sides")
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(counts)[counts == 2] - 1
    first, second = order[ends - 1], order[ends]
    if (on[first] == on[second]).any():
        raise ValueError("two regions have the same pattern")
    pairs = np.stack([open_[first], open_[second]], axis=1)
    left = np.setdiff1d(open_, pairs)
    return np.vstack([pairs, _pairs_of_several(network, domain, whole, left)])


def _clear_maxima(network: Network, kinks: Integers, rows: Packed) -> None:
    """Clear the bits of the units whose branches the kinks [m] compare, in patterns [m, bytes]."""
    for node in network.graph.hidden:
        units = node.units
        if not isinstance(units, Maxima):
            continue
        inside = np.flatnonzero((node.kinks.start <= kinks) & (kinks < node.kinks.stop))
        of_kinks = units.kink_units[kinks[inside] - node.kinks.start]
        for unit in np.unique(of_kinks).tolist():
            bits = np.zeros(network.kinks, dtype=bool)
            bits[node.kinks] = units.kink_units == unit
            rows[inside[of_kinks == unit]] &= ~np.packbits(bits, bitorder="little")


def _changed(network: Network, one: Bits, other: Bits) -> list[int]:
    """The kinks in which two patterns differ; for a maximum, the one that compares both argmaxes."""
    changed = one != other
    for node in network.graph.hidden:
        units = node.units
        if isinstance(units, Maxima):
            here, there = (units.pieces_of(bits[node.kinks]) for bits in (one, other))
            changed[node.kinks] = units.binding(here) & units.binding(there) & units.at_kinks(here != there)
    return list(np.flatnonzero(changed).tolist())


def _pairs_of_several(network: Network, domain: Polytope, whole: Arrays, left: Integers) -> Integers:
    """The pairs of open facets that are the same, among facets whose regions differ in several kinks."""
    graph, found = network.graph, list[tuple[int, int]]()
    owners, kinks = whole["facet_regions"][left, 0], whole["facet_kinks"][left].tolist()
    forms, entered, taken = ExactForms(graph, domain), -1, np.zeros(len(left), dtype=bool)
    for facet, others in _at_the_same_place(whole, left):
        bits = graph.bits(whole["packed_patterns"][owners[[facet, *others]]]).view(np.bool_)
        for other, pattern in zip(others, bits[1:], strict=True):
            differing = _changed(network, bits[0], pattern)
            if taken[facet] or taken[other] or not {kinks[facet], kinks[other]} <= set(differing):
                continue
            if entered != owners[facet]:
                entered = owners[facet]
                forms.enter(bits[0])
            if all(_parallel(forms.kink(kink), forms.kink(kinks[facet])) for kink in differing):
                taken[[facet, other]] = True
                found.append((int(left[facet]), int(left[other])))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _at_the_same_place(whole: Arrays, facets: Integers) -> Iterator[tuple[int, list[int]]]:
    """The later facets whose centre can be the same, for each facet."""
    from scipy.spatial import cKDTree

    if not facets.size:
        return
    at, starts = _vertices_of(whole, facets)
    sizes = np.diff(np.append(starts, len(at)))
    places, errors = whole["vertices"][at], whole["vertex_errors"][at]
    centres = np.add.reduceat(places / np.repeat(sizes, sizes)[:, np.newaxis], starts, axis=0)
    # The mean of m numbers is off by less than m 2^-52 times the largest one.
    rounded = sizes * 2.0**-52 * np.maximum.reduceat(np.abs(places).max(axis=1), starts)
    near = np.maximum.reduceat(errors, starts) + rounded
    tree = cKDTree(centres)
    for facet, radius in enumerate((near + near.max()).tolist()):
        others = np.array([each for each in tree.query_ball_point(centres[facet], radius, p=np.inf) if each > facet])
        if others.size:
            apart = np.abs(centres[others] - centres[facet]).max(axis=1)
            yield facet, sorted(others[apart <= near[others] + near[facet]].tolist())


def _vertices_of(whole: Arrays, facets: Integers) -> tuple[Integers, Integers]:
    """The vertices of some facets, one facet after the other, and where each one begins."""
    starts, sizes = whole["facet_offsets"][facets], np.diff(whole["facet_offsets"])[facets]
    begins = np.cumsum(sizes) - sizes
    places = np.arange(sizes.sum()) + np.repeat(starts - begins, sizes)
    return whole["facet_vertices"][places], begins


def _parallel(one: Form, other: Form) -> bool:
    """Whether one form is zero wherever another one is; False if the other one is zero everywhere."""
    pivot = next((k for k, number in enumerate(other) if number), None)
    return pivot is not None and all(a * other[pivot] == b * one[pivot] for a, b in zip(one, other, strict=True))


def _same_vertices(network: Network, domain: Polytope, whole: Arrays, pairs: Integers) -> Integers:
    """The pairs of vertices that are the same point, on both sides of the paired facets: int64 [m, 2]."""
    sizes = np.diff(whole["facet_offsets"])
    if (sizes[pairs[:, 0]] != sizes[pairs[:, 1]]).any():
        raise ValueError("the two sides of a facet have different vertices")
    found, open_ = [np.zeros((0, 2), dtype=np.int64)], []
    for size in np.unique(sizes[pairs[:, 0]]).tolist():
        chosen = pairs[sizes[pairs[:, 0]] == size]
        step = max(1, CHUNK // (size * size * domain.dimension))
        for start in range(0, len(chosen), step):
            some = chosen[start : start + step]
            one, other = (_vertices_of(whole, some[:, side])[0].reshape(-1, size) for side in (0, 1))
            meet = _can_meet(whole, one, other)
            clear = (meet.sum(axis=1) == 1).all(axis=1) & (meet.sum(axis=2) == 1).all(axis=1)
            matching = np.take_along_axis(other[clear], meet[clear].argmax(axis=2), axis=1)
            found.append(np.stack([one[clear].ravel(), matching.ravel()], axis=1))
            open_.append(some[~clear])
    return np.vstack([*found, _matched_exactly(network, domain, whole, np.vstack([pairs[:0], *open_]))])


def _can_meet(whole: Arrays, one: Integers, other: Integers) -> NDArray[np.bool_]:
    """Whether two vertices of two sides of a facet can be the same, within their bounds: bool [n, m, m]."""
    places, errors = whole["vertices"], whole["vertex_errors"]
    apart = np.abs(places[one][:, :, np.newaxis] - places[other][:, np.newaxis]).max(axis=3)
    both = errors[one][:, :, np.newaxis] + errors[other][:, np.newaxis]
    result: NDArray[np.bool_] = apart <= both * (1 + 2.0**-50) + 2.0**-1074
    return result


def _matched_exactly(network: Network, domain: Polytope, whole: Arrays, pairs: Integers) -> Integers:
    """The same pairs, for facets whose vertices lie closer together than their bounds."""
    found = []
    if pairs.size:
        raw = {**whole, "stats": {}, "complete": False}
        exact = ExactPolytopes(PolytopePartition(network, domain, raw))
        for pair in pairs.tolist():
            sides = []
            for facet in pair:
                region = int(whole["facet_regions"][facet, 0])
                at = whole["facet_vertices"][slice(*whole["facet_offsets"][facet : facet + 2])].tolist()
                sides.append({exact.in_region(region, vertex): vertex for vertex in at})
            if sides[0].keys() != sides[1].keys():
                raise ValueError("the two sides of a facet have different vertices")
            found += [(vertex, sides[1][point]) for point, vertex in sides[0].items()]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _united(whole: Arrays, pairs: Integers, same: Integers) -> dict[str, NDArray[Any]]:
    """All arrays, with one number for the two sides of a facet, and for all copies of a vertex."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(whole["vertices"])
    edges = coo_array((np.ones(len(same), dtype=bool), (same[:, 0], same[:, 1])), shape=(count, count))
    _, groups = connected_components(edges, directed=False)
    # In each group the vertex with the smallest bound, and of several the first one by coordinates, as in the core.
    order = np.lexsort((*whole["vertices"].T[::-1], whole["vertex_errors"], groups))
    best = order[np.unique(groups[order], return_index=True)[1]]
    numbers, first = _by_first_use(groups[whole["cell_vertices"]], len(best))
    chosen = best[groups[whole["cell_vertices"][first]]]

    kept = np.ones(len(whole["facet_kinks"]), dtype=bool)
    kept[pairs[:, 1]] = False
    facet_numbers = np.cumsum(kept) - 1
    facet_numbers[pairs[:, 1]] = facet_numbers[pairs[:, 0]]
    facet_regions = whole["facet_regions"].copy()
    facet_regions[pairs[:, 0], 1] = facet_regions[pairs[:, 1], 0]
    sizes = np.diff(whole["facet_offsets"])
    return {
        **whole,
        "vertices": whole["vertices"][chosen],
        "vertex_errors": whole["vertex_errors"][chosen],
        "cell_vertices": numbers[groups[whole["cell_vertices"]]],
        "cell_facets": facet_numbers[whole["cell_facets"]],
        "facet_offsets": np.append(0, np.cumsum(sizes[kept])),
        "facet_vertices": numbers[groups[whole["facet_vertices"][np.repeat(kept, sizes)]]],
        "facet_regions": facet_regions[kept],
        "facet_kinks": whole["facet_kinks"][kept],
    }


def _by_first_use(used: Integers, count: int) -> tuple[Integers, Integers]:
    """New numbers for the vertices or facets that are used, in the order of first use, and the position of each first
    use.
    """
    things, first = np.unique(used, return_index=True)
    order = np.argsort(first)
    numbers = np.full(count, -1)
    numbers[things[order]] = np.arange(len(things))
    return numbers, first[order]
