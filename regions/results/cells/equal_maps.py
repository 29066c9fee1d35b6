# SPDX-License-Identifier: MIT
"""Which regions have the same affine map, exactly?

Regions are sorted into classes by residues of their maps (`passes/modular.py`). First one number of each map is used,
which puts nearly all regions with different maps into different classes. Then classes with several regions are refined
by whole maps, modulo one prime after the other, until only equal maps share a class.
The maps are functions of the chart point, with all outputs of the network: along a plane through a
larger input space two different functions of the input can be the same.
Nothing is rounded, and no tolerance is used.
Cost: at most one forward pass over as many points as there are regions. Regions that share their map take d + 1 passes
for each prime: about 3 primes for each layer of ordinary double weights, 1 to 3 in all for small integers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from regions.errors import InternalError
from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.types import Integers, Packed
from regions.networks.graph import Graph
from regions.passes.modular import ResidueMaps, difference_bits, primes
from regions.passes.open_paths import leading_to_outputs
from regions.results.cells.complex import CellComplex

__all__ = ["equal_maps", "numbered"]

Value = TypeVar("Value", np.uint8, np.int64)

# Numbers per temporary array: 8 MB.
CHUNK = 1 << 20


def equal_maps(cells: CellComplex) -> Integers:
    """Number the affine maps that the network has on the regions of a complex, exactly.

    Maps are compared as maps of the network on the domain: along a plane, maps of the chart point.

    Parameters
    ----------
    cells : CellComplex

    Returns
    -------
    int64 [R]
        Number of the map of each region, from 0 in the order of occurrence; equal for equal maps. Read-only.

    Examples
    --------
    >>> import regions
    >>> hat = regions.Network([([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])])
    >>> equal_maps(regions.enumerate(hat, regions.Segment([-1.0], [3.0])))
    array([0, 1, 2, 0])
    """
    if len(cells) < 2:
        return read_only(np.zeros(len(cells), dtype=np.int64))
    graph, packed = cells.network.graph, cells.packed_patterns
    quick = ResidueMaps(graph, cells.domain, next(primes(graph)))
    quick.shortened(np.random.default_rng(0))  # random numbers affect only the amount of work that is left
    classes = numbered(_in_steps(quick.values, packed, quick.size))
    shared = _shared(classes)
    if shared.size:
        reduced = _in_steps(partial(_reaching, graph), packed[shared], 2 * graph.kinks + max(graph.widths))
        alike = numbered(reduced)
        _, first = np.unique(alike, return_index=True)
        classes[shared] = _refined(cells, shared[first], classes)[alike] + len(classes)
    return read_only(numbered(classes))


def numbered(keys: NDArray[np.integer]) -> Integers:
    """Number keys [m] or rows of keys [m, k] from 0 in the order of occurrence; equal keys get equal numbers."""
    rows = np.ascontiguousarray(keys).reshape(len(keys), -1)
    whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))[:, 0] if rows.shape[1] > 1 else rows[:, 0]
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    ranks = np.empty(len(first), dtype=np.int64)
    ranks[np.argsort(first)] = np.arange(len(first))
    return ranks[inverse]


def _refined(cells: CellComplex, regions: Integers, classes: Integers) -> Integers:
    """Split the classes of some regions until only regions with equal maps share one: int64 [m]."""
    graph, domain, packed = cells.network.graph, cells.domain, cells.packed_patterns
    result = classes[regions]
    missing = 1 << difference_bits(graph, domain)
    for prime in primes(graph):
        shared = _shared(result)
        if shared.size == 0 or missing <= 1:
            return result
        maps = ResidueMaps(graph, domain, prime)
        values = _in_steps(maps.values, packed[regions[shared]], maps.size)
        result[shared] = numbered(np.column_stack([result[shared], values])) + (result.max() + 1)
        result = numbered(result)
        missing = -(-missing // prime)
    raise InternalError(f"no primes are left to tell affine maps of {cells.network!r} apart: please report this")


def _shared(classes: Integers) -> Integers:
    """Return the indices of the regions that share their class with other regions."""
    return np.flatnonzero(np.bincount(classes)[classes] > 1)


def _reaching(graph: Graph, packed: Packed) -> Packed:
    """Set to 0 the bits of units without an open path to an output: the map does not depend on them."""
    return packed & np.packbits(leading_to_outputs(graph, packed), axis=1, bitorder="little")


def _in_steps(function: Callable[[Packed], NDArray[Value]], packed: Packed, size: int) -> NDArray[Value]:
    """Apply a function to patterns uint8 [m, bytes], some at a time, because it needs memory for ``size`` numbers for
    each.
    """
    step = max(1, CHUNK // size)
    return np.concatenate([function(packed[start : start + step]) for start in range(0, len(packed), step)])
