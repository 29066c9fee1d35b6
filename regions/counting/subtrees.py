# SPDX-License-Identifier: MIT
"""How is an enumeration done in parts that are merged again?

A part is the subtree below one node of the recursion (`run.py`). `found_below` goes to that node and returns its
regions as plain arrays, with the data that merging needs. `grafted` repeats the recursion above the nodes and inserts
each part. The arrays are then the arrays of one run, bit for bit.
Invariant: vertices are in the order of one run. As in one run, one vertex represents all vertices at a point. All parts
come from one kernel, because another kernel's rounding may lead to another recursion.
Cost: for a part, the way from the root, a few dozen cells; for the whole, these cells again, and a copy of all arrays.
In a box a part has the arrays of a `PolytopePartition`, and `box_parts.py` joins them.

Otherwise the arrays of a part with V vertices, R regions, K corners and d dimensions are those of
csrc/collect/subtree.hpp:

    vertices         float64 [V, d]  beginning with those that are placed on the way to the node
    vertex_errors    float64 [V]
    same             int64 [V]       the vertex that represents this one, at the same point
    cell_offsets     int64 [R + 1]   where the regions' corners begin
    cell_vertices    int64 [K]
    cell_kinks       int64 [K]       kink, or edge of the domain, of the facet from a corner to the next one
    cell_twins       int64 [K]       the corner with the same facet in another region; -1 on the boundary of the part
    border           int64 [..]      the corners with -1, along the edges of the node's cell
    border_ends      int64 [..]      where each edge's corners end; empty for the whole domain or an incomplete part
    packed_patterns  uint8 [R, bytes]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions import core
from regions.cells.complex import POLYTOPE_ARRAYS
from regions.cells.consistency import first_problem
from regions.core import WHOLE, Path, Section
from regions.counting.box_parts import BOX_LENGTHS, box_shapes, joined_arrays
from regions.counting.found import COMPLETE, Found
from regions.counting.options import Options
from regions.counting.run import Model, end_of, enumerated_in, limits_of
from regions.domains import Domain, Polytope
from regions.errors import CheckpointError
from regions.networks.network import Network
from regions.partition import ARRAYS, Partition
from regions.partition.polytopes import PolytopePartition

__all__ = ["Arrays", "Subtree", "found_below", "grafted", "problem_of", "shapes", "sizes_named", "sizes_of"]

Arrays = Mapping[str, NDArray[Any]]

# An upper bound on each counter of a run.
_MOST = 2**62

# The arrays whose lengths determine the shapes of all arrays of a part in a plane.
_LENGTHS = {"vertices": "same", "corners": "cell_vertices", "border": "border", "edges": "border_ends"}


@dataclass(frozen=True, eq=False)
class Subtree:
    """The regions below a node of the recursion.

    Attributes
    ----------
    node : tuple of int
        Its path.
    arrays : dict of str to array
        Empty if they are stored elsewhere.
    stats : dict of str to int
        Counters of the core.
    kernel : str
        The core's kernel.
    complete : bool
        Whether no region below the node is missing.
    """

    node: Path
    arrays: Arrays
    stats: Mapping[str, int]
    kernel: str
    complete: bool = True

    def __len__(self) -> int:
        return len(self.arrays["cell_offsets"]) - 1


def found_below(
    model: Model, domain: Domain | Polytope, section: Section, options: Options
) -> tuple[Found[Any], Subtree]:
    """Find the regions of a section, which are those below its first node. Only the root uses more than one thread."""
    node = section.begin
    if isinstance(domain, Polytope):
        how, raw, stats = enumerated_in(model, domain, options, section)
        in_order = {name: raw[name] for name in POLYTOPE_ARRAYS}  # files have the arrays in this order
        part = Subtree(node, in_order, stats, core.kernel(), how is COMPLETE)
        return Found(model.network, domain, len(part), stats, how, section=section != WHOLE), part
    status, arrays, stats = core.subtree(model.compiled, domain.compiled, limits_of(model, domain, options), node)
    part = Subtree(node, arrays, stats, core.kernel(), status == "finished")
    return Found(model.network, domain, len(part), stats, end_of(status, options), section=node != ()), part


def grafted(
    model: Model,
    domain: Domain | Polytope,
    parts: Sequence[Subtree],
    arrays_at: Callable[[int], Arrays],
    complete: bool,
    trusted: bool = True,
) -> Partition | PolytopePartition:
    """Merge parts, which come in the order of their nodes.

    Parameters
    ----------
    model, domain, parts
    arrays_at : callable
        Returns the arrays of the part with an index; is called once for each part, in order.
    complete : bool
        Whether no part is missing.
    trusted : bool, optional
        Whether this process found all parts; otherwise the merged arrays are checked.

    Raises
    ------
    ValueError
        The parts contradict each other.
    """
    stats = Counter[str]()
    for part in parts:
        stats.update(part.stats)
        if part.kernel != core.kernel():
            raise ValueError(f"parts that the kernel {part.kernel!r} found cannot be put together by {core.kernel()!r}")
    if isinstance(domain, Polytope):
        return _joined_in_box(model.network, domain, [arrays_at(index) for index in range(len(parts))], stats, complete)
    nodes = [part.node for part in parts]
    cells = min(stats["cells"], _MOST)
    try:
        status, raw, above, closed = core.graft(model.compiled, domain.compiled, nodes, arrays_at, cells)
    except RuntimeError as error:
        raise ValueError(f"parts of the recursion do not fit together: {error}") from error
    if isinstance(status, BaseException):
        raise status
    stats.update(above)
    problem = None if trusted else first_problem(model.network, domain, {name: raw[name] for name in ARRAYS}, complete)
    if problem is None and complete and not (closed and all(part.complete for part in parts)):
        problem = "some are missing"
    if problem is not None:
        raise ValueError(f"parts of the recursion do not fit together: {problem}")
    for array in raw.values():
        array.setflags(write=False)  # read-only arrays need no copy in the partition
    return Partition(model.network, domain, raw | {"stats": dict(stats), "complete": complete, "kernel": core.kernel()})


def _joined_in_box(
    network: Network, domain: Polytope, parts: list[Arrays], stats: Counter[str], complete: bool
) -> PolytopePartition:
    """Merge the parts of a box. The arrays are always checked: a part that is missing leaves facets with one region."""
    try:
        arrays = joined_arrays(network, domain, parts)
    except CheckpointError as error:
        raise ValueError(f"parts of the recursion do not fit together: {error}") from error
    problem = first_problem(network, domain, arrays, complete)
    if problem is not None:
        raise ValueError(f"parts of the recursion do not fit together: {problem}")
    facts = {"stats": dict(stats), "complete": complete, "kernel": core.kernel()}
    return PolytopePartition(network, domain, {**arrays, **facts})


def sizes_named(domain: Domain | Polytope) -> set[str]:
    """Return the names of the sizes that `shapes` needs."""
    return {"regions", *(BOX_LENGTHS if isinstance(domain, Polytope) else _LENGTHS)}


def shapes(
    network: Network, domain: Domain | Polytope, sizes: Mapping[str, int]
) -> dict[str, tuple[type, tuple[int, ...]]]:
    """Return types and shapes of a part's arrays, given its numbers of vertices, regions, corners and so on."""
    if isinstance(domain, Polytope):
        return box_shapes(network, domain.dimension, sizes)
    vertices, regions, corners = sizes["vertices"], sizes["regions"], sizes["corners"]
    return {
        "vertices": (np.float64, (vertices, domain.dimension)),
        "vertex_errors": (np.float64, (vertices,)),
        "same": (np.int64, (vertices,)),
        "cell_offsets": (np.int64, (regions + 1,)),
        "cell_vertices": (np.int64, (corners,)),
        "cell_kinks": (np.int64, (corners,)),
        "cell_twins": (np.int64, (corners,)),
        "border": (np.int64, (sizes["border"],)),
        "border_ends": (np.int64, (sizes["edges"],)),
        "packed_patterns": (np.uint8, (regions, (network.kinks + 7) // 8)),
    }


def sizes_of(arrays: Arrays) -> dict[str, int]:
    """Return the sizes that `shapes` needs."""
    lengths = BOX_LENGTHS if "facet_offsets" in arrays else _LENGTHS
    return {"regions": len(arrays["packed_patterns"])} | {size: len(arrays[name]) for size, name in lengths.items()}


def problem_of(part: Subtree, network: Network, domain: Domain | Polytope) -> str | None:
    """Return a problem with the arrays of a part, or None.

    Other problems are found in the merged arrays.
    """
    arrays = part.arrays
    if not all(isinstance(array, np.ndarray) and array.ndim for array in arrays.values()):
        return "it holds values that are not arrays"
    names = shapes(network, domain, dict.fromkeys(sizes_named(domain), 0)).keys()
    if not names <= arrays.keys():
        return "arrays are missing"
    if arrays.keys() != names:
        return "it does not have the arrays of a part"
    expected = shapes(network, domain, sizes_of(arrays))
    for name, (kind, shape) in expected.items():
        if arrays[name].dtype != kind or arrays[name].shape != shape or not arrays[name].flags.c_contiguous:
            return f"{name} is not a {kind.__name__} array of shape {list(shape)} in C order"
    if isinstance(domain, Polytope):
        return first_problem(network, domain, arrays, complete=False)
    vertices, corners = len(arrays["vertex_errors"]), len(arrays["cell_vertices"])
    ranges = {
        "same": (0, vertices),
        "cell_vertices": (0, vertices),
        "cell_kinks": (-len(domain.generators), network.kinks),
        "cell_twins": (-1, corners),
        "border": (0, corners),
        "cell_offsets": (0, corners + 1),
        "border_ends": (0, arrays["border"].size + 1),
    }
    for name, (least, end) in ranges.items():
        values = arrays[name]
        if values.size and (values.min() < least or values.max() >= end):
            return f"{name} is out of range"
    for name, end in (("cell_offsets", corners), ("border_ends", arrays["border"].size)):
        steps = np.diff(arrays[name], prepend=-1 if name == "cell_offsets" else 0)
        if arrays[name].size and ((steps < 1).any() or arrays[name][-1] != end):
            return f"{name} does not increase to its end"
    if arrays["cell_offsets"][0] != 0:
        return "cell_offsets does not begin with 0"
    if np.isnan(arrays["vertices"]).any() or not (arrays["vertex_errors"] >= 0).all():
        return "a vertex is NaN, or its error is negative or NaN"
    if (arrays["same"][arrays["same"]] != arrays["same"]).any():
        return "same refers to a vertex that does not represent itself"
    twins = arrays["cell_twins"]
    here = np.flatnonzero(twins >= 0)
    if (twins[twins[here]] != here).any() or (twins[here] == here).any():
        return "cell_twins does not consist of pairs"
    if not part.complete and not arrays["border"].size and not arrays["border_ends"].size:
        return None
    if part.node != () and not np.array_equal(np.sort(arrays["border"]), np.flatnonzero(twins < 0)):
        return "border does not list the corners without a twin"
    if (part.node == ()) != (arrays["border_ends"].size == 0) or (part.node == () and arrays["border"].size):
        return "border or border_ends is missing, or present for the whole domain"
    return None
