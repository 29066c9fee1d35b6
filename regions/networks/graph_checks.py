# SPDX-License-Identifier: MIT
"""Which graphs are refused?"""

from __future__ import annotations

from regions.arithmetic.arrays import require_finite
from regions.errors import NetworkError, ShapeMismatchError
from regions.networks.graph import Graph
from regions.networks.named_activations import identity
from regions.printable import printable

__all__ = ["require_sound"]


def require_sound(graph: Graph) -> None:
    """Refuse numbers that are not finite, and a last node that has an activation."""
    for number, node in enumerate(graph.nodes):
        label = f"node {number} ({printable(node.name)})"
        require_finite(node.biases, f"{label}: a bias")
        for read in node.reads:
            if not -1 <= read.node < number:
                raise NetworkError(f"{label} reads node {read.node}, which does not come before it")
            given = graph.n_in if read.node < 0 else graph.nodes[read.node].units.count
            if (read.operator.inputs, read.operator.outputs) != (given, node.units.count):
                raise ShapeMismatchError(
                    f"{label}: an operator takes {read.operator.inputs} values and gives {read.operator.outputs}; node "
                    f"{read.node} gives {given}, and there are {node.units.count} units"
                )
            for array in read.operator.stored_arrays().values():
                require_finite(array, f"{label}: a weight")
    if graph.nodes[-1].units.activation != identity():
        raise NetworkError("the last node must be linear: append one that gives what it gets")
