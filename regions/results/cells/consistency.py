# SPDX-License-Identifier: MIT
"""Are the arrays of a partition consistent?

These are the properties that code relies on when it indexes one array with another: shapes, ranges, the order of
corners, and the agreement of cells and facets. They are checked in bulk, on every file that is loaded. Geometry is not
checked, except that no interval ends before it begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.domains import Domain
from regions.networks.graph import Maxima
from regions.networks.network import Network
from regions.results.cells.cell_geometry import next_corners

__all__ = ["first_problem"]

# Numbers per temporary array, when the patterns of maxima are checked.
CHUNK = 1 << 20

Arrays = Mapping[str, NDArray[Any]]


def first_problem(network: Network, domain: Domain, arrays: Arrays, complete: bool) -> str | None:
    """Describe the first inconsistency of the arrays of a partition, or None.

    Parameters
    ----------
    network : Network
    domain : Domain
    arrays : mapping of str to array
        Named as in `regions.results.cells.complex.ARRAYS`, or ``POLYTOPE_ARRAYS`` in a polytope; with the right dtypes.
    complete : bool
        Whether facets inside the domain must have two regions.
    """
    places = _corners if domain.dimension < 3 else _faces
    for check in (_shapes, _ranges, _coordinates, _facets, places, _patterns):
        # In this order: each check indexes only what the checks before it allow.
        for problem in check(network, domain, arrays, complete):
            return problem
    return None


def _shapes(network: Network, domain: Domain, arrays: Arrays, complete: bool) -> Iterator[str]:
    sizes = {
        "V": len(arrays["vertices"]) if arrays["vertices"].ndim else 0,
        "R": arrays["cell_offsets"].size - 1,
        "K": arrays["cell_vertices"].size,
        "F": arrays["facet_kinks"].size,
    }
    d = domain.dimension
    expected = {
        "vertices": (sizes["V"], d),
        "vertex_errors": (sizes["V"],),
        "cell_offsets": (sizes["R"] + 1,),
        "cell_vertices": (sizes["K"],),
        "cell_facets": (sizes["K"],),
        "facet_vertices": (sizes["F"], d),
        "facet_regions": (sizes["F"], 2),
        "facet_kinks": (sizes["F"],),
        "packed_patterns": (sizes["R"], -(-network.kinks // 8)),
    }
    if domain.dimension > 2:
        expected |= {
            "cell_facets": (arrays["cell_facets"].size,),
            "facet_vertices": (arrays["facet_vertices"].size,),
            "cell_facet_offsets": (sizes["R"] + 1,),
            "facet_offsets": (sizes["F"] + 1,),
        }
    if sizes["R"] < 0:
        yield "cell_offsets is empty; it has one entry more than there are regions"
    for name, shape in expected.items():
        if arrays[name].shape != shape:
            yield f"{name} has shape {list(arrays[name].shape)}, the other arrays ask for {list(shape)}"


def _ranges(network: Network, domain: Domain, arrays: Arrays, complete: bool) -> Iterator[str]:
    vertices, facets = len(arrays["vertices"]), len(arrays["facet_kinks"])
    offsets = arrays["cell_offsets"]
    regions, corners = len(offsets) - 1, len(arrays["cell_vertices"])
    if complete and regions == 0:
        yield "there are no regions"
    if offsets[0] != 0 or offsets[-1] != corners:
        yield f"cell_offsets must go from 0 to {corners}, the number of corners"
    if domain.dimension == 1 and (np.diff(offsets) != 2).any():
        yield "on a line, each region has exactly two corners"
    for region in _first((domain.dimension == 2) & (np.diff(offsets) < 3)):
        yield f"region {region} has fewer than three corners"
    if domain.dimension > 2:
        yield from _offsets(domain.dimension, arrays)
    ranges = {
        "cell_vertices": (0, vertices),
        "cell_facets": (0, facets),
        "facet_vertices": (0, vertices),
        "facet_regions": (-1, regions),
        "facet_kinks": (-domain.sides, network.kinks),
    }
    for name, (lowest, end) in ranges.items():
        wrong = (arrays[name] < lowest) | (arrays[name] >= end)
        if wrong.any():
            index = np.argwhere(wrong)[0].tolist()
            yield f"{name}{index} is {arrays[name][tuple(index)]}, outside of {lowest} to {end - 1}"


def _offsets(dimension: int, arrays: Arrays) -> Iterator[str]:
    """Check the offsets of a partition in a polytope: each region and each facet has enough corners to have a size."""
    for name, of, least in (
        ("cell_offsets", "cell_vertices", dimension + 1),
        ("cell_facet_offsets", "cell_facets", dimension + 1),
        ("facet_offsets", "facet_vertices", dimension),
    ):
        offsets, size = arrays[name], len(arrays[of])
        if offsets[0] != 0 or offsets[-1] != size:
            yield f"{name} must go from 0 to {size}, the size of {of}"
        for place in _first(np.diff(offsets) < least):
            yield f"{name} has fewer than {least} entries of {of} at {place}"


def _coordinates(network: Network, domain: Domain, arrays: Arrays, complete: bool) -> Iterator[str]:
    vertices, errors = arrays["vertices"], arrays["vertex_errors"]
    for vertex in _first(np.isnan(vertices).any(axis=1)):
        yield f"vertex {vertex} is not a number"
    infinite = np.isinf(vertices).any(axis=1)
    for vertex in _first(infinite & domain.bounded):
        yield f"vertex {vertex} is infinite, but the domain is bounded"
    for vertex in _first(~(errors >= 0) | (np.isinf(errors) & ~infinite)):
        yield f"the error of vertex {vertex} is {errors[vertex]}, not a bound"
    if domain.dimension == 1:
        left, right = vertices[arrays["cell_vertices"], 0].reshape(-1, 2).T
        for region in _first(left > right):
            yield f"region {region} ends before it begins"


def _facets(network: Network, domain: Domain, arrays: Arrays, complete: bool) -> Iterator[str]:
    regions, kinks = arrays["facet_regions"], arrays["facet_kinks"]
    if (regions[:, 0] < 0).any() or (regions[:, 0] == regions[:, 1]).any():
        yield "each facet needs a first region, and a second one that differs or is -1"
    outside = regions[:, 1] < 0
    for facet in _first(~outside & (kinks < 0)):
        yield f"facet {facet} on the domain boundary has two regions"
    for facet in _first(outside & (kinks >= 0) & complete):
        yield f"facet {facet} inside the domain has only one region"
    used = np.bincount(arrays["cell_facets"], minlength=len(kinks))
    for facet in _first(used != np.where(outside, 1, 2)):
        yield f"facet {facet} with regions {regions[facet].tolist()} is used by {used[facet]} corners"


def _corners(network: Network, domain: Domain, arrays: Arrays, complete: bool) -> Iterator[str]:
    offsets, vertices, facets = (arrays[name] for name in ("cell_offsets", "cell_vertices", "cell_facets"))
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    pairs = arrays["facet_regions"][facets]
    for corner in _first(~(pairs == owners[:, np.newaxis]).any(axis=1)):
        yield f"region {owners[corner]} uses facet {facets[corner]}, which belongs to {pairs[corner].tolist()}"
    ends = arrays["facet_vertices"][facets]
    if domain.dimension == 1:
        wrong = ends[:, 0] != vertices
        # The left one of a facet's two regions comes first.
        inner = pairs[:, 1] >= 0
        wrong |= inner & (pairs[np.arange(len(facets)), 1 - np.arange(len(facets)) % 2] != owners)
    else:
        mine = np.stack([vertices, vertices[next_corners(offsets)]], axis=1)
        first = pairs[:, :1] == owners[:, np.newaxis]
        wrong = (mine != np.where(first, ends, ends[:, ::-1])).any(axis=1)
    for corner in _first(wrong):
        yield f"region {owners[corner]} and its facet {facets[corner]} have different vertices"


def _faces(network: Network, domain: Domain, arrays: Arrays, complete: bool) -> Iterator[str]:
    """In a polytope: each region has its own facets, and all their vertices; nothing is listed twice."""
    count, sides = len(arrays["vertices"]), arrays["cell_facets"]
    regions, facets = (np.arange(len(arrays[name]) - 1) for name in ("cell_offsets", "facet_offsets"))
    owners = np.repeat(regions, np.diff(arrays["cell_facet_offsets"]))
    pairs = arrays["facet_regions"][sides]
    for side in _first(~(pairs == owners[:, np.newaxis]).any(axis=1)):
        yield f"region {owners[side]} uses facet {sides[side]}, which belongs to {pairs[side].tolist()}"
    corners = np.repeat(regions, np.diff(arrays["cell_offsets"])) * count + arrays["cell_vertices"]
    ends = np.repeat(facets, np.diff(arrays["facet_offsets"]))
    for name, keys in (("region", corners), ("facet", ends * count + arrays["facet_vertices"])):
        ordered = np.sort(keys)
        for place in _first(ordered[1:] == ordered[:-1]):
            yield f"{name} {ordered[place] // count} has vertex {ordered[place] % count} twice"
    known = np.append(np.sort(corners), -1)
    for side in (0, 1):
        beside = arrays["facet_regions"][ends, side]
        wanted = beside * count + arrays["facet_vertices"]
        inside = (known[np.searchsorted(known[:-1], wanted)] == wanted) | (beside < 0)
        for place in _first(~inside):
            yield f"region {beside[place]} and its facet {ends[place]} have different vertices"


def _patterns(network: Network, domain: Domain, arrays: Arrays, complete: bool) -> Iterator[str]:
    packed = arrays["packed_patterns"]
    unused = -network.kinks % 8
    if unused and (packed[:, -1] >> (8 - unused)).any():
        yield f"patterns have bits beyond the network's {network.kinks} kinks"
    # The kinks of one unit are consecutive, breakpoint ascending: a higher one cannot be on without the
    # lower one.
    same_unit = (np.diff(network.kink_units) == 0) & (np.diff(network.kink_values) > 0)
    same_unit &= np.diff(network.kink_layers) == 0
    for low in np.flatnonzero(same_unit).tolist():
        high = low + 1
        for region in _first(packed[:, high // 8] >> (high % 8) & ~(packed[:, low // 8] >> (low % 8)) & 1):
            yield f"region {region} has kink {high} on and kink {low} of the same unit off"

    for number, node in enumerate(network.graph.hidden):
        if isinstance(node.units, Maxima):
            step = max(1, CHUNK // node.units.rows)
            for start in range(0, len(packed), step):
                bits = network.graph.bits(packed[start : start + step])[:, node.kinks]
                wrong = node.units.bits_of(node.units.pieces_of(bits)) != bits
                for region in _first(wrong.any(axis=1)):
                    unit = node.units.kink_units[wrong[region].argmax()]
                    yield f"region {start + region} has bits of unit {unit} of node {number} that fit no argmax"


def _first(wrong: NDArray[Any] | np.bool_) -> list[int]:
    """Return the first position where something is wrong, if there is one."""
    return np.flatnonzero(wrong)[:1].tolist()
