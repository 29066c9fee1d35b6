# SPDX-License-Identifier: MIT
"""What does the compiled core provide?

No other file imports the extension module `regions._core`, which `_core.pyx` defines. `_core.pyi` has the types.
"""

from regions._core import (
    CompiledCells,
    CompiledNetwork,
    corners,
    count,
    enumerate,
    enumerate_in_polytope,
    frontier,
    graft,
    is_private,
    kernel,
    limbs,
    polytope_sizes,
    subtree,
)

__all__ = [
    "CompiledCells",
    "CompiledNetwork",
    "corners",
    "count",
    "enumerate",
    "enumerate_in_polytope",
    "frontier",
    "graft",
    "is_private",
    "kernel",
    "limbs",
    "polytope_sizes",
    "subtree",
]
