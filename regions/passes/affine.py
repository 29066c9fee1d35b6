# SPDX-License-Identifier: MIT
"""Which affine map is the network on each region?

Inside a region every unit keeps to one piece of its activation, so the network is a product of matrices, one
row of slopes apart from region to region. It is multiplied for many regions at a time, from whichever end is
narrower: from the outputs, ``G <- (G * slopes) @ W``, where only the last step knows the input; or, in chart
coordinates, from the d + 1 columns of the first layer restricted to the chart, ``V <- W @ (slopes * V)``.
Cost: for each region and each output (or column) one pass through the hidden weights, all of it matrix
products. Plain floating point: the maps carry the rounding errors of a forward pass and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from regions.arithmetic.arguments import SPACES, one_of
from regions.arithmetic.arrays import checked_indices
from regions.arithmetic.types import Floats, Indices, Packed
from regions.errors import NonFiniteError
from regions.networks.network import Layer, Network

if TYPE_CHECKING:
    from regions.partition import Partition

__all__ = ["affine_maps", "pieces_of", "slopes_and_intercepts"]

# Numbers per temporary array: 8 MB, enough for full-speed matrix products and small beside the result.
CHUNK = 1 << 20


def affine_maps(partition: Partition, indices: ArrayLike | None, space: str) -> tuple[Floats, Floats]:
    """Affine maps of the network on some regions; see `Partition.affine_maps`."""
    network, domain = partition.network, partition.domain
    chosen = checked_indices(indices, len(partition), "region")
    first = network.layers[0]
    if one_of(space, SPACES, "space") == "chart":
        with np.errstate(over="ignore", invalid="ignore"):
            matrix, constant = first.weights @ domain.directions.T, first.weights @ domain.origin + first.biases
    else:
        matrix, constant = first.weights, first.biases
    columns = matrix.shape[1] + 1
    multiply = _from_input if columns < network.n_out else _from_outputs
    linear = np.empty((len(chosen), network.n_out, matrix.shape[1]))
    constants = np.empty((len(chosen), network.n_out))
    widest = max(min(columns, network.n_out) * max(network.widths, default=1), network.kinks)
    step = max(1, CHUNK // max(widest, 1))
    for start in range(0, len(chosen), step):
        part = slice(start, start + step)
        packed = partition.packed_patterns[chosen[part]]
        with np.errstate(over="ignore", invalid="ignore"):
            linear[part], constants[part] = multiply(network, packed, matrix, constant)
    beyond = np.flatnonzero(~(np.isfinite(linear).all(axis=(1, 2)) & np.isfinite(constants).all(axis=1)))
    if beyond.size:
        raise NonFiniteError(
            f"the affine map of region {chosen[beyond[0]]} is beyond the largest double; leave it out of `indices`"
        )
    return linear, constants


def _from_outputs(network: Network, packed: Packed, matrix: Floats, constant: Floats) -> tuple[Floats, Floats]:
    """Multiply from the outputs; ``matrix`` and ``constant`` give the first layer's pre-activations."""
    gradients = np.broadcast_to(np.eye(network.n_out), (len(packed), network.n_out, network.n_out))
    offsets = np.zeros((len(packed), network.n_out))
    hidden = reversed(list(slopes_and_intercepts(network, packed)))
    for layer, (slopes, intercepts) in zip(network.layers[:0:-1], hidden, strict=True):
        offsets += gradients @ layer.biases
        gradients = _times(gradients, layer.weights)
        offsets += np.einsum("moi,mi->mo", gradients, intercepts)
        gradients *= slopes[:, np.newaxis, :]
    return _times(gradients, matrix), offsets + gradients @ constant


def _from_input(network: Network, packed: Packed, matrix: Floats, constant: Floats) -> tuple[Floats, Floats]:
    """Multiply from the first layer's pre-activations; the last column is the constant one."""
    # [m, columns, units], so that the units of all regions and columns meet the weights in one product.
    forms = np.broadcast_to(np.vstack([matrix.T, constant]), (len(packed), matrix.shape[1] + 1, len(matrix)))
    hidden = slopes_and_intercepts(network, packed)
    for layer, (slopes, intercepts) in zip(network.layers[1:], hidden, strict=True):
        forms = forms * slopes[:, np.newaxis, :]
        forms[:, -1] += intercepts
        forms = _times(forms, layer.weights.T)
        forms[:, -1] += layer.biases
    return forms[:, :-1].transpose(0, 2, 1), forms[:, -1]


def slopes_and_intercepts(network: Network, packed: Packed) -> Iterator[tuple[Floats, Floats]]:
    """Slopes and intercepts [m, units] of each hidden layer under patterns uint8 [m, bytes]."""
    bits = np.unpackbits(packed, axis=1, count=network.kinks, bitorder="little")
    start = 0
    for layer in network.layers[:-1]:
        stop = start + len(layer.biases) * layer.activation.breakpoints.size
        pieces = pieces_of(layer, bits[:, start:stop])
        yield layer.activation.slopes_of(pieces), layer.activation.intercepts_of(pieces)
        start = stop


def pieces_of(layer: Layer, bits: Packed) -> Indices:
    """Piece of each unit of a layer, by its bits [m, kinks of the layer]: how many of its breakpoints it is above."""
    units, count = len(layer.biases), layer.activation.breakpoints.size
    pieces: Indices = bits.reshape(len(bits), units, count).sum(axis=2, dtype=np.intp)
    return pieces


def _times(left: Floats, right: Floats) -> Floats:
    """left [m, a, n] times right [n, b], as one large product."""
    count, rows, inner = left.shape
    result: Floats = (left.reshape(count * rows, inner) @ right).reshape(count, rows, right.shape[1])
    return result
