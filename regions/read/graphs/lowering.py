# SPDX-License-Identifier: MIT
"""How do the operations of a graph become a network?

If every operation reads the one before it, and the linear ones are dense, `regions.read.chains.steps` makes a chain of
layers. If numbers are rearranged on the way, the columns of the next matrix are reordered. Every other network is a
graph.
"""

from __future__ import annotations

import numpy as np

from regions.files import limits
from regions.ground.arithmetic.types import Floats, Integers
from regions.networks.dense import Dense as Matrix
from regions.networks.named_activations import Activation
from regions.networks.network import Network
from regions.read.chains.between_layers import ActivationChoice, require_activation
from regions.read.chains.steps import Dense, Nonlinearity, Step, build_network
from regions.read.graphs.operations import Activated, Affine, Inputs, Largest, Operation, Tensor
from regions.read.graphs.site import Reading
from regions.read.scaling import Scaling

__all__ = ["network_of"]


def network_of(
    reading: Reading, result: Tensor, activation: ActivationChoice = None, fuse_max: bool = False
) -> Network:
    """Make the network whose outputs are the numbers of a tensor.

    Parameters
    ----------
    reading : Reading
    result : Tensor
    activation : str, Activation, sequence of these, or None
        May be left out; a named activation must be the file's own.
    fuse_max : bool
        Whether maxima absorb the ReLUs that only they read.

    Raises
    ------
    AmbiguousCheckpointError
        Another activation was named.
    NonFiniteError, ShapeMismatchError, EmptyLayerError, NetworkError
        Steps or nodes that do not fit together; the message names them.
    """
    steps = _chain(reading, result)
    if steps is not None:
        chain = build_network(steps, reading.notes)
        network = Network.from_graph(chain.graph, reading.input_shape, chain.notes, reading.input_names)
    else:
        graph, notes = reading.builder.finished(result, fuse_max=fuse_max, charge=reading.charge)
        network = Network.from_graph(graph, reading.input_shape, [*reading.notes, *notes], reading.input_names)
    require_activation(network, activation, "the file")
    return network


def _chain(reading: Reading, result: Tensor) -> list[Step] | None:
    """Return the steps of a chain; None for another graph, and for activations alone."""
    steps: list[Step] = []
    path: list[tuple[Operation, Tensor]] = []
    tensor = result
    while True:
        if tensor.where() is None:
            return None
        operation = tensor.operations[0]
        if isinstance(operation, Inputs):
            break
        if isinstance(operation, Largest) or (isinstance(operation, Affine) and len(operation.terms) > 1):
            return None
        tensor = operation.terms[0][1] if isinstance(operation, Affine) else operation.tensor
        path.append((operation, tensor))
    vector = np.arange(tensor.size)  # where each number of the last operation is in the output of the last step
    for operation, read in reversed(path):
        order = vector[read.place]
        vector = order
        if isinstance(operation, Activated):
            activation = operation.activation
            if activation.slopes.ndim == 2:
                slopes, intercepts = _by_unit(order, activation.slopes), _by_unit(order, activation.intercepts)
                activation = Activation(activation.name, activation.breakpoints, slopes, intercepts)
            steps.append(Nonlinearity(operation.name, activation))
        elif isinstance(operation, Affine) and operation.scaling is not None:
            given = operation.scaling
            scale, shift = _by_unit(order, given.scale), _by_unit(order, given.shift)
            steps.append(Scaling(given.kind, given.name, scale, shift, given.exact))
        elif isinstance(operation, Affine) and isinstance(operation.terms[0][0], Matrix):
            matrix = operation.terms[0][0].weights
            weights = np.empty_like(matrix, order="C")
            weights[:, order] = matrix
            steps.append(Dense(operation.name, weights, operation.biases))
            vector = np.arange(len(weights))
        else:
            return None
    if all(isinstance(step, Nonlinearity) for step in steps):
        return None
    _put_outputs_in_order(reading, steps, vector[result.place])
    return steps


def _by_unit(order: Integers, numbers: Floats) -> Floats:
    """Return one number for each position, in the order of the vector."""
    result = np.empty(numbers.shape)
    result[order] = numbers
    return result


def _put_outputs_in_order(reading: Reading, steps: list[Step], order: Integers) -> None:
    if (order == np.arange(len(order))).all():
        return
    last = steps[-1] if steps else None
    if isinstance(last, Dense):
        steps[-1] = Dense(last.name, last.weights[order], last.biases[order])
    elif isinstance(last, Scaling) and len(steps) > 1 and isinstance(steps[-2], Dense):
        before = steps[-2]
        steps[-2] = Dense(before.name, before.weights[order], before.biases[order])
        steps[-1] = Scaling(last.kind, last.name, last.scale[order], last.shift[order], last.exact)
    else:
        size = 8 * len(order) ** 2
        limits.require_expansion(reading.file, reading.size, size, "a layer that puts the outputs in order")
        steps.append(Dense("the order of the outputs", np.eye(len(order))[order], np.zeros(len(order))))
        reading.notes.append("a last layer puts the outputs in order")
