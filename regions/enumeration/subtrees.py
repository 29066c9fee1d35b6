# SPDX-License-Identifier: MIT
"""How is an enumeration done in parts that are put together again?

A part is what is below one node of the recursion (`run.py`): `found_below` goes to that node and gives the regions
there as plain arrays, with all that the cells above need to be joined. `grafted` runs the recursion above the nodes
once more, puts each part in its place, and so leaves the arrays that one run would have left, to the last bit.
Invariant: vertices have the order in which one run places them, and of several that are one point the same one stands
for all. Parts are those of one kernel: another one's rounding may lead to another recursion.
Cost: of a part, its way from the root, a few dozen cells; of the whole, all these cells again, and a copy of
everything.

The arrays of a part with V vertices, R regions, K corners and d dimensions, as csrc/collect/subtree.hpp has them:

    vertices         float64 [V, d]  those first that are placed on the way to the node
    vertex_errors    float64 [V]
    same             int64 [V]       the vertex that stands for this one, being the same point
    cell_offsets     int64 [R + 1]   where the regions' corners begin
    cell_vertices    int64 [K]
    cell_kinks       int64 [K]       kink, or edge of the domain, of the facet from a corner to the next one
    cell_twins       int64 [K]       the corner that has the same facet in another region, -1 if it is on the border
    border           int64 [..]      these, along the edges of the node's cell
    border_ends      int64 [..]      where each edge's end; none for the whole domain, or where the part is not complete
    packed_patterns  uint8 [R, bytes]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions import _core
from regions.cells.consistency import first_problem
from regions.domains import Domain
from regions.enumeration.run import Model, Path, Run, checked_limit, watched
from regions.networks.network import Network
from regions.partition import ARRAYS, Partition
from regions.reporting import Report

__all__ = ["Arrays", "Subtree", "found_below", "grafted", "problem_of", "shapes", "sizes_of"]

Arrays = Mapping[str, NDArray[Any]]

# What no counter of a run exceeds.
_MOST = 2**62

# Arrays of a part whose lengths say what shapes all others have.
_LENGTHS = {"vertices": "same", "corners": "cell_vertices", "border": "border", "edges": "border_ends"}


@dataclass(frozen=True, eq=False)
class Subtree:
    """What is below a node of the recursion.

    Attributes
    ----------
    node : tuple of int
        Its path.
    arrays : dict of str to array
        Empty where they are held by somebody else.
    stats : dict of str to int
        Counters of the core.
    kernel : str
        Of the core.
    complete : bool
        Whether these are all regions there.
    """

    node: Path
    arrays: Arrays
    stats: Mapping[str, int]
    kernel: str
    complete: bool = True

    def __len__(self) -> int:
        return len(self.arrays["cell_offsets"]) - 1


def found_below(
    network: Network,
    model: Model,
    domain: Domain,
    node: Path,
    limit: int | None,
    report: Report | None,
    threads: int,
) -> tuple[Run[Domain], Subtree]:
    """Find the regions below a node; more than one thread is used where that is the root."""
    shape = domain.origin, domain.directions, domain.generators
    report = watched(network, model, domain, report)
    status, arrays, stats = _core.subtree(model, *shape, checked_limit(limit), report, threads, node)
    part = Subtree(node, arrays, stats, _core.kernel(), status == "finished")
    return Run(network, domain, len(part), stats, status, section=node != ()), part


def grafted(
    network: Network,
    model: Model,
    domain: Domain,
    parts: Sequence[Subtree],
    arrays_at: Callable[[int], Arrays],
    complete: bool,
    trusted: bool = True,
) -> Partition:
    """Put parts together, which come in the order of their nodes.

    Parameters
    ----------
    network, model, domain, parts
    arrays_at : callable
        Returns the arrays of the part with an index; is asked for each once, in order.
    complete : bool
        Whether these are all.
    trusted : bool, optional
        Whether this process found all parts; otherwise the arrays are checked once they have been put together.

    Raises
    ------
    ValueError
        They do not fit together.
    """
    stats = Counter[str]()
    for part in parts:
        stats.update(part.stats)
        if part.kernel != _core.kernel():
            raise ValueError(
                f"parts that the kernel {part.kernel!r} found cannot be put together by {_core.kernel()!r}"
            )
    nodes = [part.node for part in parts]
    shape = domain.origin, domain.directions, domain.generators
    try:
        status, raw, above, closed = _core.graft(model, *shape, nodes, arrays_at, min(stats["cells"], _MOST))
    except RuntimeError as error:
        raise ValueError(f"parts of the recursion do not fit together: {error}") from error
    if isinstance(status, BaseException):
        raise status
    stats.update(above)
    problem = None if trusted else first_problem(network, domain, {name: raw[name] for name in ARRAYS}, complete)
    if problem is None and complete and not (closed and all(part.complete for part in parts)):
        problem = "some are missing"
    if problem is not None:
        raise ValueError(f"parts of the recursion do not fit together: {problem}")
    for array in raw.values():
        array.setflags(write=False)  # nobody else has it: the partition need not copy it
    return Partition(network, domain, raw | {"stats": dict(stats), "complete": complete, "kernel": _core.kernel()})


def shapes(network: Network, domain: Domain, sizes: Mapping[str, int]) -> dict[str, tuple[type, tuple[int, ...]]]:
    """Types and shapes of a part's arrays; of how many vertices, regions, corners, facets on the border, and edges."""
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
    """As `shapes` takes them."""
    return {"regions": len(arrays["packed_patterns"])} | {size: len(arrays[name]) for size, name in _LENGTHS.items()}


def problem_of(part: Subtree, network: Network, domain: Domain) -> str | None:
    """Say what is wrong with the arrays of a part, or None.

    What is not found here is looked for when parts have been put together.
    """
    arrays = part.arrays
    if not all(isinstance(array, np.ndarray) and array.ndim for array in arrays.values()):
        return "it holds what is no array"
    if not {"packed_patterns", *_LENGTHS.values()} <= arrays.keys():
        return "arrays are missing"
    expected = shapes(network, domain, sizes_of(arrays))
    if arrays.keys() != expected.keys():
        return "it does not have the arrays of a part"
    for name, (kind, shape) in expected.items():
        if arrays[name].dtype != kind or arrays[name].shape != shape or not arrays[name].flags.c_contiguous:
            return f"{name} is no {kind.__name__} array of shape {list(shape)}, in C order"
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
        return "vertices are nowhere"
    if (arrays["same"][arrays["same"]] != arrays["same"]).any():
        return "what stands for a vertex does not stand for itself"
    twins = arrays["cell_twins"]
    here = np.flatnonzero(twins >= 0)
    if (twins[twins[here]] != here).any() or (twins[here] == here).any():
        return "cell_twins are no pairs"
    if not part.complete and not arrays["border"].size and not arrays["border_ends"].size:
        return None
    if part.node != () and not np.array_equal(np.sort(arrays["border"]), np.flatnonzero(twins < 0)):
        return "border is not what has no twin"
    if (part.node == ()) != (arrays["border_ends"].size == 0) or (part.node == () and arrays["border"].size):
        return "it has no border, or one too many"
    return None
