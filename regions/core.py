# SPDX-License-Identifier: MIT
"""What does the compiled core provide, and how is it asked?

No other file imports the extension module `regions._core`, which `_core.pyx` defines. `_core.pyi` has the types.

The core's recursion is the same each time for a network and a domain, so each of its nodes has a path: the numbers of
the children on the way to it. A section is a part of the recursion between two nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from regions._core import (
    CompiledCells,
    CompiledDomain,
    CompiledNetwork,
    corners,
    count,
    enumerate,
    frontier,
    is_private,
    kernel,
    limbs,
    place,
    polytope_sizes,
)

__all__ = [
    "NO_LIMIT",
    "WHOLE",
    "CompiledCells",
    "CompiledDomain",
    "CompiledNetwork",
    "Limits",
    "Path",
    "Section",
    "corners",
    "count",
    "enumerate",
    "frontier",
    "is_private",
    "kernel",
    "limbs",
    "place",
    "polytope_sizes",
]

if not kernel():
    raise ImportError(
        "the core was compiled for another processor, and this one lacks some of its instructions. Install it "
        "again on this machine, from its source: pip install --force-reinstall --no-deps --no-cache-dir SOURCE. If "
        "several machines share the installation, put REGIONS_KERNELS=all in front: it compiles for all processors."
    )

# Identifies a node of the recursion; () is the whole domain.
Path = tuple[int, ...]

NO_LIMIT = 2**62


class Limits(NamedTuple):
    """How much the core finds at most, and how.

    Attributes
    ----------
    regions : int
        The work stops once more regions than this are found.
    block : int or None
        If there are more regions than this, the work stops after these and the few that are found together with the
        last one. Only for enumerations.
    threads : int
    report : callable or None
        Is called while the core works, with the progress fraction and the number of regions so far. Its exceptions end
        the work.
    """

    regions: int = NO_LIMIT
    block: int | None = None
    threads: int = 1
    report: Callable[[float, int], object] | None = None


class Section(NamedTuple):
    """All regions at or after the node ``begin`` and before the node ``end``."""

    begin: Path = ()
    end: Path | None = None


# All regions of a domain.
WHOLE = Section()
