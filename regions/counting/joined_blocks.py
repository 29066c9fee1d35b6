# SPDX-License-Identifier: MIT
"""How do the blocks of an enumeration become the arrays of one run?

A block has the regions of a section of the recursion (`blocks.py`). A facet along a cut to another section is *open*:
each side knows only its own region. Regions of one block can also have an open facet between them, if the cut extends
into other sections. Open facets are paired by the patterns of their regions:
- If two regions differ in one kink, and both have an open facet on it, these are the same facet: both are the points
  where this kink is zero and all others have the signs of the pattern, or are zero, because pre-activations are
  continuous.
- Open facets whose regions differ in several kinks are compared with those at the same place up to rounding. Places
  at infinity are not compared. If no block is missing and only one is there, it is the other side. Otherwise two are
  the same if all differing kinks are zero on one of them, which is decided in integers.
- For a max unit whose argmax differs, only the kink that compares the two argmaxes counts.
The vertices of such a facet are the same points on both sides. On segments and in planes they are matched by order:
each side lists them counter-clockwise around its own region. In more dimensions they are matched by coordinates and
error bounds, and exactly where the bounds do not decide. The regions around a vertex are connected through facets at
the vertex, so all copies of a vertex are found. The one with the smallest bound represents them, as in the core.
Invariant: the arrays are the arrays of one run, bit for bit: regions in the order of the blocks, vertices and facets by
first use. Each block has this order, too.
Cost: numpy passes over all arrays; a fraction of a millisecond for each facet that is decided in integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.domains import Domain
from regions.ground.arithmetic.roundoff import SMALLEST, UP, U
from regions.ground.arithmetic.types import Bits, Integers, Packed
from regions.ground.threads.deadline import check_time
from regions.networks.maxima import Maxima
from regions.networks.network import Network
from regions.passes.exact import ExactForms, Form
from regions.results.cells.complex import CellComplex
from regions.results.cells.exact_polytopes import ExactPolytopes

__all__ = ["Arrays", "join_facets", "open_facets", "side_by_side"]

Arrays = Mapping[str, NDArray[Any]]

# Arrays that refer to vertices, facets or regions of a block, and offsets into other arrays.
REFERS = {"cell_vertices": "vertices", "facet_vertices": "vertices", "cell_facets": "facets"}
OFFSETS = {"cell_offsets": "cell_vertices", "cell_facet_offsets": "cell_facets", "facet_offsets": "facet_vertices"}
# Numbers per temporary array: few enough to stay in the processor's cache.
CHUNK = 1 << 20
# Facets whose neighbourhoods are searched together; some may contain all facets.
FEW = 1 << 10


def open_facets(arrays: Arrays) -> Integers:
    """Return the facets inside the domain that have one region."""
    return np.flatnonzero((arrays["facet_regions"][:, 1] < 0) & (arrays["facet_kinks"] >= 0))


def side_by_side(blocks: Iterable[Arrays]) -> dict[str, NDArray[Any]]:
    """Return the arrays of one or more blocks, in the order of their sections, in which nothing is joined yet.

    Each block is released before the next is requested.
    """
    columns: dict[str, NDArray[Any]] = {}
    used: Counter[str] = Counter()
    before = Counter[str]()  # the numbers of vertices, facets and regions of earlier blocks
    for block in blocks:
        for name, array in block.items():
            if name in OFFSETS and used[name]:
                array = array[1:]
            added = _added(columns, name, used[name], array)
            used[name] += len(array)
            if name in REFERS:
                added += before[REFERS[name]]
            elif name in OFFSETS:
                added += before[name]
            elif name == "facet_regions":
                added[added >= 0] += before["regions"]
        for name, of in (("vertices", "vertex_errors"), ("facets", "facet_kinks"), ("regions", "packed_patterns")):
            before[name] += len(block[of])
        for name in OFFSETS.keys() & block.keys():
            before[name] += len(block[OFFSETS[name]])
        del block, array
    for name, column in columns.items():
        column.resize((used[name], *column.shape[1:]), refcheck=False)
    return columns


def _added(columns: dict[str, NDArray[Any]], name: str, used: int, array: NDArray[Any]) -> NDArray[Any]:
    """Append an array to a column of which some rows are used, and return the new part."""
    column = columns.setdefault(name, np.empty((0, *array.shape[1:]), dtype=array.dtype))
    end = used + len(array)
    if end > len(column):
        column.resize((max(end, len(column) * 5 // 4), *column.shape[1:]), refcheck=False)
    column[used:end] = array
    return column[used:end]


def join_facets(network: Network, domain: Domain, arrays: dict[str, NDArray[Any]], complete: bool) -> None:
    """Join the two sides of open facets in arrays that lie `side_by_side`, and the copies of their vertices.

    ``complete`` says whether no block is missing.

    Raises
    ------
    ValueError
        The blocks contradict each other.
    """
    facets = open_facets(arrays)
    if facets.size:
        pairs = _pairs(network, domain, arrays, facets, complete)
        pairs.sort(axis=1)
        if domain.dimension > 2:
            _unite_vertices(arrays, _vertices_by_place(network, domain, arrays, pairs), by_coordinates=True)
        else:
            _unite_vertices(arrays, _vertices_by_order(arrays, pairs), by_coordinates=False)
        _unite_facets(arrays, pairs)


def _pairs(network: Network, domain: Domain, arrays: Arrays, facets: Integers, complete: bool) -> Integers:
    """The pairs of open facets that are the same, int64 [pairs, 2]."""
    owners, kinks = arrays["facet_regions"][facets, 0], arrays["facet_kinks"][facets]
    # Both sides of a facet between regions that differ in one kink have this row: the pattern without it, and the kink.
    rows = arrays["packed_patterns"][owners]
    byte, bit = kinks // 8, (1 << kinks % 8).astype(np.uint8)
    on = rows[np.arange(len(facets)), byte] & bit != 0
    rows[np.arange(len(facets)), byte] &= ~bit
    _clear_maxima(network, kinks, rows)
    rows = np.ascontiguousarray(np.hstack([rows, kinks[:, np.newaxis].view(np.uint8).reshape(len(facets), 8)]))
    _, which, counts = np.unique(rows.view(f"V{rows.shape[1]}").ravel(), return_inverse=True, return_counts=True)
    if counts.max() > 2:
        raise ValueError("a facet has three sides")
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(counts)[counts == 2] - 1
    first, second = order[ends - 1], order[ends]
    if (on[first] == on[second]).any():
        raise ValueError("two regions have the same pattern")
    pairs = np.stack([facets[first], facets[second]], axis=1)
    left = np.setdiff1d(facets, pairs)
    return np.vstack([pairs, _pairs_of_several(network, domain, arrays, left, complete)])


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


def _pairs_of_several(network: Network, domain: Domain, arrays: Arrays, left: Integers, complete: bool) -> Integers:
    """The pairs of open facets that are the same, among facets whose regions differ in several kinks."""
    near = _at_the_same_place(arrays, left)
    once: NDArray[np.bool_] = np.bincount(near.ravel(), minlength=len(left)) == 1
    # If no block is missing, the only facet at the same place is the other side.
    sure = once[near].all(axis=1) & complete
    graph, found = network.graph, [near[sure]]
    owners, kinks = arrays["facet_regions"][left, 0], arrays["facet_kinks"][left].tolist()
    forms, entered, taken = ExactForms(graph, domain), -1, np.zeros(len(left), dtype=bool)
    for facet, other in near[~sure].tolist():
        if taken[facet] or taken[other]:
            continue
        check_time()
        one, another = graph.bits(arrays["packed_patterns"][owners[[facet, other]]]).view(np.bool_)
        differing = _changed(network, one, another)
        if not {kinks[facet], kinks[other]} <= set(differing):
            continue
        if entered != owners[facet]:
            entered = owners[facet]
            forms.enter(one)
        if all(_parallel(forms.kink(kink), forms.kink(kinks[facet])) for kink in differing):
            taken[[facet, other]] = True
            found.append(np.array([[facet, other]]))
    return left[np.vstack(found)]


def _at_the_same_place(arrays: Arrays, facets: Integers) -> Integers:
    """The pairs of facets, by index, whose centres can be the same; infinite vertices do not count.

    int64 [pairs, 2], sorted.
    """
    from scipy.spatial import cKDTree

    found = [np.zeros((0, 2), dtype=np.int64)]
    if not facets.size:
        return found[0]
    at, starts = _vertices_of(arrays, facets)
    places, errors = arrays["vertices"][at], arrays["vertex_errors"][at]
    finite = np.logical_and.reduce(np.isfinite(places), axis=1)
    places, errors = np.where(finite[:, np.newaxis], places, 0.0), np.where(finite, errors, 0.0)
    counts = np.add.reduceat(finite.astype(np.int64), starts)
    sizes = np.maximum(counts, 1)
    parts = places / np.repeat(sizes, np.diff(np.append(starts, len(at))))[:, np.newaxis]
    centres = np.add.reduceat(parts, starts, axis=0)
    # The mean of m numbers is off by less than m 2^-52 times the largest one, and m 2^-1074.
    largest = np.maximum.reduceat(np.abs(places).max(axis=1), starts)
    near = np.maximum.reduceat(errors, starts) + sizes * (2 * U * largest + SMALLEST)
    for count in np.unique(counts).tolist():
        some = np.flatnonzero(counts == count)
        tree = cKDTree(centres[some])
        for start in range(0, len(some), FEW):
            check_time()
            few = some[start : start + FEW]
            # Each pair is found by the facet with the larger bound.
            within = tree.query_ball_point(centres[few], 2 * near[few], p=np.inf)
            one = np.repeat(few, list(map(len, within)))
            other = some[np.concatenate(within).astype(np.int64)]
            apart = np.abs(centres[one] - centres[other]).max(axis=1)
            chosen = (near[one] > near[other]) | ((near[one] == near[other]) & (one < other))
            chosen &= apart <= near[one] + near[other]
            found.append(np.sort(np.stack([one[chosen], other[chosen]], axis=1), axis=1))
    pairs = np.vstack(found)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _vertices_of(arrays: Arrays, facets: Integers) -> tuple[Integers, Integers]:
    """The vertices of some facets, one facet after the other, and where each one begins."""
    if "facet_offsets" not in arrays:
        vertices = arrays["facet_vertices"][facets]
        return vertices.ravel(), np.arange(len(facets)) * vertices.shape[1]
    starts, sizes = arrays["facet_offsets"][facets], np.diff(arrays["facet_offsets"])[facets]
    begins = np.cumsum(sizes) - sizes
    places = np.arange(sizes.sum()) + np.repeat(starts - begins, sizes)
    return arrays["facet_vertices"][places], begins


def _parallel(one: Form, other: Form) -> bool:
    """Whether one form is zero wherever another one is; False if the other one is zero everywhere."""
    pivot = next((k for k, number in enumerate(other) if number), None)
    return pivot is not None and all(a * other[pivot] == b * one[pivot] for a, b in zip(one, other, strict=True))


def _vertices_by_order(arrays: Arrays, pairs: Integers) -> Integers:
    """The pairs of vertices that are the same point, on both sides of the paired facets: int64 [m, 2]."""
    one, other = (arrays["facet_vertices"][pairs[:, side]] for side in (0, 1))
    same = np.stack([one.ravel(), other[:, ::-1].ravel()], axis=1)
    finite = same[np.isfinite(arrays["vertices"][same]).all(axis=(1, 2))]
    if not _can_meet(arrays, *finite.T).all():
        raise ValueError("the two sides of a facet lie at different places")
    return same


def _vertices_by_place(network: Network, domain: Domain, whole: Arrays, pairs: Integers) -> Integers:
    """The same pairs, where facets have no order."""
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
            meet = _can_meet(whole, one[:, :, np.newaxis], other[:, np.newaxis])
            clear = (meet.sum(axis=1) == 1).all(axis=1) & (meet.sum(axis=2) == 1).all(axis=1)
            matching = np.take_along_axis(other[clear], meet[clear].argmax(axis=2), axis=1)
            found.append(np.stack([one[clear].ravel(), matching.ravel()], axis=1))
            open_.append(some[~clear])
    return np.vstack([*found, _matched_exactly(network, domain, whole, np.vstack([pairs[:0], *open_]))])


def _can_meet(arrays: Arrays, one: Integers, other: Integers) -> NDArray[np.bool_]:
    """Whether two vertices, of index arrays that broadcast, can be the same within their bounds."""
    places, errors = arrays["vertices"], arrays["vertex_errors"]
    apart = np.abs(places[one] - places[other]).max(axis=-1)
    result: NDArray[np.bool_] = apart <= (errors[one] + errors[other]) * UP + SMALLEST
    return result


def _matched_exactly(network: Network, domain: Domain, whole: Arrays, pairs: Integers) -> Integers:
    """The same pairs, for facets whose vertices lie closer together than their bounds."""
    found = []
    if pairs.size:
        raw = {**whole, "stats": {}, "complete": False}
        exact = ExactPolytopes(CellComplex(network, domain, raw))
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


def _unite_vertices(arrays: dict[str, NDArray[Any]], same: Integers, by_coordinates: bool) -> None:
    """Give all copies of a vertex the first one's place in the order, and the position with the smallest bound.

    If several copies have the smallest bound, it is the first one or, in boxes, the first one by coordinates, as in the
    core.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    copies, edges = np.unique(same, return_inverse=True)
    edges, count = edges.reshape(-1, 2), len(copies)
    graph = coo_array((np.ones(len(edges), dtype=bool), (edges[:, 0], edges[:, 1])), shape=(count, count))
    _, groups = connected_components(graph, directed=False)
    _, firsts, groups = np.unique(groups, return_index=True, return_inverse=True)
    order = np.lexsort(
        (*(arrays["vertices"][copies].T[::-1] if by_coordinates else ()), arrays["vertex_errors"][copies], groups)
    )
    best = copies[order[np.searchsorted(groups[order], np.arange(len(firsts)))]]
    kept = np.ones(len(arrays["vertices"]), dtype=bool)
    kept[copies] = False
    kept[copies[firsts]] = True
    numbers = np.cumsum(kept) - 1
    numbers[copies] = numbers[copies[firsts]][groups]
    for name in ("vertices", "vertex_errors"):
        chosen = arrays[name][best]
        arrays[name] = arrays[name][kept]
        arrays[name][numbers[copies[firsts]]] = chosen
    for name in ("cell_vertices", "facet_vertices"):
        arrays[name] = numbers[arrays[name]]


def _unite_facets(arrays: dict[str, NDArray[Any]], pairs: Integers) -> None:
    """Keep the first side of each pair of facets, with the regions of both."""
    first, second = pairs.T
    kept = np.ones(len(arrays["facet_kinks"]), dtype=bool)
    kept[second] = False
    numbers = np.cumsum(kept) - 1
    numbers[second] = numbers[first]
    arrays["cell_facets"] = numbers[arrays["cell_facets"]]
    arrays["facet_regions"][first, 1] = arrays["facet_regions"][second, 0]
    vertices_kept = kept
    if "facet_offsets" in arrays:
        sizes = np.diff(arrays["facet_offsets"])
        vertices_kept = np.repeat(kept, sizes)
        arrays["facet_offsets"] = np.append(0, np.cumsum(sizes[kept]))
    arrays["facet_vertices"] = arrays["facet_vertices"][vertices_kept]
    for name in ("facet_regions", "facet_kinks"):
        arrays[name] = arrays[name][kept]
