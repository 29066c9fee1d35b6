# SPDX-License-Identifier: MIT
"""What does the core read of a network?

A chain of layers, in which each reads only the one before it. A layer has the units of one node, and after them
*passed* ones: outputs of lower layers that a node further up still reads. So skips, branches and concatenations are
nothing new for the core. Arrays of weights are those of the graph, not copies.
Invariant: outputs of one node stay together and in order on their way up, so a read is an operator and the number of
the first output that it reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.types import Floats
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Maxima, Node
from regions.networks.patches import Patches
from regions.networks.units import UnitTables

__all__ = ["DEEP", "CoreLayer", "lowered"]

# From so many hidden nodes on, good bounds on the spectral norms are worth their time; until then crude ones do.
DEEP = 5

NO_ARMS = np.zeros(0, dtype=np.int32)


class PatchArrays(NamedTuple):
    """Patches, as in `regions.networks.patches`."""

    kernels: Floats
    kinds: NDArray[np.int32]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]


class CoreLayer(NamedTuple):
    """One layer of the chain.

    Parameters
    ----------
    parts : list of (int, array or PatchArrays)
        What is added up for each row: matrices [rows, inputs] or patches, on the outputs of the layer before from the
        given one on. Each unit has one row, or its arms.
    biases : float64 [rows]
    tables : UnitTables
        Of the units.
    arms : int32 [units + 1]
        The first row of each unit, and their end, where units give the largest of several rows; else empty.
    passed : int32 [passed]
        Which outputs of the layer before follow as units that give what they get.
    norm : float
        An upper bound on the spectral norm of all that; infinite if none is known.
    """

    parts: Sequence[tuple[int, Floats | PatchArrays]]
    biases: Floats
    tables: UnitTables
    arms: NDArray[np.int32]
    passed: NDArray[np.int32]
    norm: float


def lowered(graph: Graph) -> list[CoreLayer]:
    """The hidden nodes of a graph as a chain of layers."""
    last_reader = {read.node: number for number, node in enumerate(graph.hidden) for read in node.reads}
    layers = []
    # Where the outputs of each node that is still to be read are, among those of the last layer; -1 for the inputs.
    first, counts = {-1: 0}, {-1: graph.n_in} | {number: node.units.count for number, node in enumerate(graph.hidden)}
    for number, node in enumerate(graph.hidden):
        kept = [earlier for earlier in first if last_reader.get(earlier, -1) > number]
        passed = [np.arange(first[earlier], first[earlier] + counts[earlier], dtype=np.int32) for earlier in kept]
        together = np.concatenate([np.zeros(0, dtype=np.int32), *passed])
        norm = _norm(node, len(together) > 0) if len(graph.hidden) >= DEEP else float("inf")
        parts = [(first[read.node], _arrays(read.operator)) for read in node.reads]
        arms = node.units.starts if isinstance(node.units, Maxima) else NO_ARMS
        layers.append(CoreLayer(parts, node.biases, node.units.tables(), arms, together, norm))
        ends = np.cumsum([node.units.count, *(counts[earlier] for earlier in kept)]).tolist()
        first = {number: 0} | dict(zip(kept, ends, strict=False))
    return layers


def _arrays(operator: Dense | Patches) -> Floats | PatchArrays:
    if isinstance(operator, Patches):
        return PatchArrays(operator.kernels, operator.kinds, operator.sources, operator.targets)
    return operator.weights


def _norm(node: Node, passes: bool) -> float:
    """Of the matrix [[A_1 .. A_n], [I, 0]], I passing some of what the A's read, or anything else.

    |sum of A_i x_i| <= sum of |A_i| |x_i|, for the nodes i that are read. That is at most (|A_1|, .., |A_n|) times
    (|x_1|, .., |x_n|), and the latter has the length of x if the nodes are different; reads of one node are added
    up first. With what is passed, at most x itself, squares add up. `hypot` is off by a few roundings.
    """
    norms: dict[int, float] = {}
    for read in node.reads:
        norms[read.node] = norms.get(read.node, 0.0) + read.operator.norm_bound
    if len(norms) == 1 and not passes:
        (norm,) = norms.values()
        return norm if len(node.reads) == 1 else norm * (1 + 2.0**-40)
    return hypot(*norms.values(), 1.0 if passes else 0.0) * (1 + 2.0**-40)
