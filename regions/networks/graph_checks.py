# SPDX-License-Identifier: MIT
"""Which graphs and chains of layers are refused?"""

from __future__ import annotations

from collections.abc import Sequence

from regions.arithmetic.arrays import require_finite
from regions.errors import EmptyLayerError, NetworkError, ShapeMismatchError
from regions.networks.graph import Graph, Units
from regions.networks.layer import Layer
from regions.networks.named_activations import identity
from regions.text.printable import printable

__all__ = ["require_fitting", "require_sound"]


def require_sound(graph: Graph) -> None:
    """Refuse numbers that are not finite, nodes that do not fit together, and a last node with an activation."""
    for number, node in enumerate(graph.nodes):
        label = f"node {number} ({printable(node.name)})"
        require_finite(node.biases, f"{label}: a bias")
        for read in node.reads:
            if not -1 <= read.node < number:
                raise NetworkError(f"{label} reads node {read.node}, which does not come before it")
            given = graph.n_in if read.node < 0 else graph.nodes[read.node].units.count
            if (read.operator.inputs, read.operator.outputs) != (given, node.units.rows):
                raise ShapeMismatchError(
                    f"{label}: an operator takes {read.operator.inputs} values and gives {read.operator.outputs}; node "
                    f"{read.node} gives {given}, and there are {node.units.rows} rows"
                )
            for array in read.operator.stored_arrays().values():
                if array.dtype.kind not in "iu":
                    require_finite(array, f"{label}: a weight")
        if node.biases.shape != (node.units.rows,):
            raise ShapeMismatchError(
                f"{label}: there are {node.units.rows} rows, and biases of shape {list(node.biases.shape)}"
            )
    last = graph.nodes[-1].units
    if not isinstance(last, Units) or last.activation != identity():
        raise NetworkError("the last node must be linear: append one with the identity as its activation")


def require_fitting(layers: Sequence[Layer]) -> None:
    """Refuse objects that are not layers, layers that do not fit together, and a last layer with an activation."""
    if not layers:
        raise EmptyLayerError("a network needs at least one layer (W, b)")
    for i, layer in enumerate(layers):
        if not isinstance(layer, Layer):
            raise TypeError(f"layer {i} must be a Layer, got {type(layer).__name__}")
    for i in range(len(layers) - 1):
        given, wanted = layers[i].weights.shape, layers[i + 1].weights.shape
        if given[0] != wanted[1]:
            raise ShapeMismatchError(
                f"layer {i} gives {given[0]} values but layer {i + 1} takes {wanted[1]}: weights are out "
                f"x in, here {list(given)} then {list(wanted)}"
            )
    if layers[-1].activation != identity():
        raise NetworkError(
            f"the last layer must be linear, it has activation {printable(layers[-1].activation.name)!r}: append a "
            "layer with identity weights and no activation"
        )
