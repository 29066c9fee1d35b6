# SPDX-License-Identifier: MIT
"""What does the core read of a network?

A chain of layers, in which each layer reads only the layer before it. A layer has the units of one node, followed by
*pass-through* units: outputs of lower layers that a later node still reads. Skips, branches and concatenations
therefore need no special case in the core. Arrays of weights are shared with the graph, not copied.
Invariant: the outputs of one node stay together and in order on their way up, so a read is an operator and the index of
its first input.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import hypot
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.roundoff import UP
from regions.ground.arithmetic.types import Floats
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Maxima, Node
from regions.networks.layer import Layer
from regions.networks.named_activations import Activation, identity
from regions.networks.patches import Patches
from regions.networks.units import UnitTables

__all__ = ["DEEP", "CoreLayer", "lowered", "lowered_chain"]

# From this number of hidden nodes on, good bounds on the spectral norms are worth their time. Networks with fewer nodes
# have crude ones.
DEEP = 5

# Matrices with few weights in each row are passed as patches from this size on.
LARGE = 1 << 14

NO_ROWS = np.zeros(0, dtype=np.int32)


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
        The summands of each row: matrices [rows, inputs] or patches, applied to the outputs of the layer before,
        starting at the given index. Each unit has one row, or its branches.
    biases : float64 [rows]
    tables : UnitTables
        The tables of the units. A table [k] or [k + 1], without an axis for units, is the same for all.
    arms : int32 [units + 1]
        The first row of each unit, and the end of the last, if units are maxima of several rows; else empty.
    passed : int32 [passed]
        Indices of the outputs of the layer before that follow as pass-through units.
    norm : float
        An upper bound on the spectral norm of all of this; infinite if unknown.
    """

    parts: Sequence[tuple[int, Floats | PatchArrays]]
    biases: Floats
    tables: UnitTables
    arms: NDArray[np.int32]
    passed: NDArray[np.int32]
    norm: float


def lowered(graph: Graph, output_nodes: int = 0) -> list[CoreLayer]:
    """Return the hidden nodes of a graph as a chain of layers.

    Parameters
    ----------
    graph : Graph
    output_nodes : int
        If it is above 0, a layer for the last node is added, and this many of the last nodes only compute the outputs
        of a network: other layers are then the same as without these nodes, apart from pass-through units that these
        nodes need.
    """
    nodes = graph.nodes if output_nodes else graph.hidden
    deep = len(nodes) - output_nodes >= DEEP
    last_reader = {read.node: number for number, node in enumerate(nodes) for read in node.reads}
    layers = []
    # Positions of the outputs of each node that is still read later, among the outputs of the last layer; -1: the
    # inputs.
    first, counts = {-1: 0}, {-1: graph.n_in} | {number: node.units.count for number, node in enumerate(nodes)}
    for number, node in enumerate(nodes):
        kept = [earlier for earlier in first if last_reader.get(earlier, -1) > number]
        passed = [np.arange(first[earlier], first[earlier] + counts[earlier], dtype=np.int32) for earlier in kept]
        together = np.concatenate(passed) if passed else NO_ROWS
        norm = _norm(node, len(together) > 0) if deep else float("inf")
        parts = [(first[read.node], _arrays(read.operator)) for read in node.reads]
        units = node.units
        arms, of = (units.starts, identity()) if isinstance(units, Maxima) else (NO_ROWS, units.activation)
        layers.append(CoreLayer(parts, node.biases, _tables(of), arms, together, norm))
        ends = accumulate((node.units.count, *(counts[earlier] for earlier in kept)))
        first = {number: 0} | dict(zip(kept, ends, strict=False))
    return layers


def lowered_chain(hidden: Sequence[Layer]) -> list[CoreLayer]:
    """Return the layers of a chain as `lowered` returns its graph, which takes longer to make than a small count."""
    deep = len(hidden) >= DEEP
    return [
        CoreLayer(
            [(0, _matrix(layer.weights))],
            layer.biases,
            _tables(layer.activation),
            NO_ROWS,
            NO_ROWS,
            layer.operator.norm_bound if deep else float("inf"),
        )
        for layer in hidden
    ]


def _tables(activation: Activation) -> UnitTables:
    return UnitTables(activation.breakpoints, activation.slopes, activation.intercepts)


def _arrays(operator: Dense | Patches) -> Floats | PatchArrays:
    return _matrix(operator.weights) if isinstance(operator, Dense) else _patch_arrays(operator)


def _matrix(weights: Floats) -> Floats | PatchArrays:
    patches = Patches.of_short_rows(weights) if weights.size >= LARGE else None
    return weights if patches is None else _patch_arrays(patches)


def _patch_arrays(patches: Patches) -> PatchArrays:
    return PatchArrays(patches.kernels, patches.kinds, patches.sources, patches.targets)


def _norm(node: Node, passes: bool) -> float:
    """Bound the norm of the matrix [[A_1 .. A_n], [I, 0]], where I passes some inputs of the A's, or other inputs.

    |sum of A_i x_i| <= sum of |A_i| |x_i|, for the nodes i that are read. That is at most (|A_1|, .., |A_n|) times
    (|x_1|, .., |x_n|), and (|x_1|, .., |x_n|) has the length of x if the nodes are different; reads of one node are
    added first. Pass-through units add at most |x|^2 to the square. `hypot` is off by a few roundings.
    """
    norms: dict[int, float] = {}
    for read in node.reads:
        norms[read.node] = norms.get(read.node, 0.0) + read.operator.norm_bound
    if len(norms) == 1 and not passes:
        (norm,) = norms.values()
        return norm if len(node.reads) == 1 else norm * UP
    return hypot(*norms.values(), 1.0 if passes else 0.0) * UP
