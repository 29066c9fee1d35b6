# SPDX-License-Identifier: MIT
"""How is an enumeration done in blocks that are joined again?

A block has the regions of a section of the recursion (`run.py`) in the arrays of a partition. Facets along the cuts to
other sections are open: they have a kink, and one region. `block_of` finds a block, and `partition_of_blocks` joins all
blocks of an enumeration (`joined_blocks.py`).
Invariant: the arrays of the joined partition are the arrays of one run, bit for bit. All blocks come from one kernel,
because another kernel's rounding may lead to another recursion. Blocks of segments and planes come without the exact
positions of some vertices. These are computed after the join, because their choice depends on the whole enumeration.
Cost: for a block, the way from the root, a few dozen cells; for the partition, a few passes over all arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from regions import core
from regions.core import WHOLE, Section
from regions.counting.found import COMPLETE, Found
from regions.counting.joined_blocks import Arrays, join_facets, open_facets, side_by_side
from regions.counting.options import Options
from regions.counting.run import Model, enumerated_in
from regions.domains import Domain
from regions.errors import CheckpointError
from regions.ground.threads.deadline import check_time
from regions.networks.network import Network
from regions.results.cells.complex import arrays_in
from regions.results.cells.consistency import first_problem
from regions.results.partition import Partition
from regions.results.partition.polytopes import PARTITIONS

__all__ = [
    "Arrays",
    "Block",
    "block_of",
    "partition_of",
    "partition_of_blocks",
    "problem_of",
    "shapes",
    "sizes_named",
    "sizes_of",
]

# An upper bound on each counter of a run.
_MOST = 2**62
# The arrays whose lengths determine the shapes of all arrays of a block.
_LENGTHS = {"vertices": "vertex_errors", "corners": "cell_vertices", "facets": "facet_kinks"}
_POLYTOPE_LENGTHS = {**_LENGTHS, "sides": "cell_facets", "ends": "facet_vertices"}


@dataclass(frozen=True, eq=False)
class Block:
    """The regions of a section of the recursion.

    Attributes
    ----------
    section : Section
    arrays : dict of str to array
        Those of a partition. Empty if they are stored elsewhere.
    stats : dict of str to int
        Counters of the core.
    kernel : str
        The core's kernel.
    complete : bool
        Whether no region of the section is missing.
    """

    section: Section
    arrays: Arrays
    stats: Mapping[str, int]
    kernel: str
    complete: bool = True

    def __len__(self) -> int:
        return len(self.arrays["cell_offsets"]) - 1


def block_of(
    model: Model, domain: Domain, section: Section, options: Options, most: int | None = None
) -> tuple[Found[Any], Block]:
    """Find the regions of a section, or its first block of a stream, which has ``most`` regions or a few more.

    Only the whole recursion uses more than one thread.
    """
    how, raw, stats = enumerated_in(model, domain, options, section, most, for_joining=most is None)
    if how.place is not None:
        section, how = Section(section.begin, how.place), COMPLETE
    arrays = {name: raw[name] for name in _kinds(domain)}  # files have the arrays in this order
    block = Block(section, arrays, stats, core.kernel(), how is COMPLETE)
    return Found(model.network, domain, len(block), stats, how, section=section != WHOLE), block


def partition_of(network: Network, domain: Domain, block: Block) -> Partition:
    """Return the partition of one block of a stream."""
    return _partition(
        network, domain, block.arrays, block.stats, block.complete and block.section == WHOLE, block.section
    )


def _partition(
    network: Network,
    domain: Domain,
    arrays: Arrays,
    stats: Mapping[str, int],
    complete: bool,
    section: Section | None,
) -> Partition:
    for array in arrays.values():
        array.setflags(write=False)  # read-only arrays need no copy in the partition
    facts = {"stats": dict(stats), "complete": complete, "section": section, "kernel": core.kernel()}
    return PARTITIONS[domain.dimension](network, domain, {**arrays, **facts})


def partition_of_blocks(
    model: Model,
    domain: Domain,
    blocks: Sequence[Block],
    arrays_at: Callable[[int], Arrays],
    complete: bool,
    trusted: bool = True,
) -> Partition:
    """Join blocks, which come in the order of their sections.

    Parameters
    ----------
    model, domain, blocks
    arrays_at : callable
        Returns the arrays of the block with an index; is called once for each block, in order.
    complete : bool
        Whether no block is missing.
    trusted : bool, optional
        Whether this process found all blocks; otherwise the joined arrays are checked.

    Raises
    ------
    ValueError
        The blocks contradict each other.
    """
    stats = Counter[str]()
    for block in blocks:
        stats.update(block.stats)
        if block.kernel != core.kernel():
            raise ValueError(f"blocks that the kernel {block.kernel!r} found cannot be joined by {core.kernel()!r}")
    arrays = side_by_side(chain([_empty(model, domain)], map(arrays_at, range(len(blocks)))))
    try:
        join_facets(model.network, domain, arrays, complete)
    except (ValueError, CheckpointError) as error:
        raise ValueError(f"blocks do not fit together: {error}") from error
    problem = None if trusted else first_problem(model.network, domain, arrays, complete)
    if problem is None and complete:
        whole = blocks and all(block.complete for block in blocks) and not open_facets(arrays).size
        problem = None if whole else "some are missing"
    if problem is not None:
        raise ValueError(f"blocks do not fit together: {problem}")
    if domain.dimension < 3:
        cells = min(stats["cells"], _MOST)
        status = core.place(model.compiled, domain.compiled, arrays, cells, lambda *_: check_time())
        if isinstance(status, BaseException):
            raise status
    return _partition(model.network, domain, arrays, stats, complete, WHOLE if complete else None)


def _kinds(domain: Domain) -> Mapping[str, type]:
    """Return the names of a block's arrays, with their types."""
    return arrays_in(domain)


def _empty(model: Model, domain: Domain) -> Arrays:
    """Return the arrays of a block without a region."""
    shaped = shapes(model.network, domain, dict.fromkeys(sizes_named(domain), 0))
    return {name: np.zeros(shape, dtype=kind) for name, (kind, shape) in shaped.items()}


def sizes_named(domain: Domain) -> set[str]:
    """Return the names of the sizes that `shapes` needs."""
    return {"regions", *(_POLYTOPE_LENGTHS if domain.dimension > 2 else _LENGTHS)}


def shapes(network: Network, domain: Domain, sizes: Mapping[str, int]) -> dict[str, tuple[type, tuple[int, ...]]]:
    """Return types and shapes of a block's arrays, given its numbers of vertices, regions, corners and so on."""
    regions, corners, facets = sizes["regions"], sizes["corners"], sizes["facets"]
    rows: dict[str, tuple[int, ...]] = {
        "vertices": (sizes["vertices"], domain.dimension),
        "vertex_errors": (sizes["vertices"],),
        "cell_offsets": (regions + 1,),
        "cell_vertices": (corners,),
        "cell_facets": (sizes.get("sides", corners),),
        "facet_vertices": (sizes["ends"],) if "ends" in sizes else (facets, domain.dimension),
        "facet_regions": (facets, 2),
        "facet_kinks": (facets,),
        "packed_patterns": (regions, (network.kinks + 7) // 8),
        "cell_facet_offsets": (regions + 1,),
        "facet_offsets": (facets + 1,),
    }
    return {name: (kind, rows[name]) for name, kind in _kinds(domain).items()}


def sizes_of(arrays: Arrays) -> dict[str, int]:
    """Return the sizes that `shapes` needs."""
    lengths = _POLYTOPE_LENGTHS if "facet_offsets" in arrays else _LENGTHS
    return {"regions": len(arrays["packed_patterns"])} | {size: len(arrays[name]) for size, name in lengths.items()}


def problem_of(block: Block, network: Network, domain: Domain) -> str | None:
    """Return a problem with the arrays of a block, or None.

    Other problems are found in the joined arrays.
    """
    arrays, names = block.arrays, _kinds(domain).keys()
    if not all(isinstance(array, np.ndarray) and array.ndim for array in arrays.values()):
        return "it holds values that are not arrays"
    if not names <= arrays.keys():
        return "arrays are missing"
    if arrays.keys() != names:
        return "it does not have the arrays of a block"
    for name, (kind, shape) in shapes(network, domain, sizes_of(arrays)).items():
        if arrays[name].dtype != kind or arrays[name].shape != shape or not arrays[name].flags.c_contiguous:
            return f"{name} is not a {kind.__name__} array of shape {list(shape)} in C order"
    problem = first_problem(network, domain, arrays, complete=False)
    if problem is not None:
        return problem
    for uses, things, name in (
        ("cell_vertices", "vertex_errors", "vertices"),
        ("cell_facets", "facet_kinks", "facets"),
    ):
        latest = np.maximum.accumulate(np.concatenate([[-1], arrays[uses]]))
        if (np.diff(latest) > 1).any() or latest[-1] != len(arrays[things]) - 1:
            return f"{name} are not in the order of their first use"
    return None
