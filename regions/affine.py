# SPDX-License-Identifier: MIT
"""Which affine map is the network on each region?

Inside a region every unit keeps to one piece of its activation, so the network is a product of matrices. The
product is taken backwards from the output, for many regions at a time: ``G <- (G * slopes) @ W``. Only the
last step knows the input: it multiplies by the first layer's weights, or by the first layer restricted to the
chart, which has d columns instead of n_in. Cost: per region and output one pass through the hidden weights,
all of it matrix products. Plain floating point: the maps carry rounding errors of a forward pass and decide
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.errors import InternalError
from regions.network import Layer

if TYPE_CHECKING:
    from regions.partition import Partition

__all__ = ["affine_maps"]

Floats = NDArray[np.float64]

# Numbers per temporary array: 8 MB, enough for full-speed matrix products and small beside the result.
CHUNK = 1 << 20


def affine_maps(partition: Partition, indices: ArrayLike | None, space: str) -> tuple[Floats, Floats]:
    """Affine maps of the network on some regions; see `Partition.affine_maps`."""
    network, domain = partition.network, partition.domain
    chosen = _checked_indices(indices, len(partition))
    first = network.layers[0]
    if space == "chart":
        matrix, constant = first.weights @ domain.directions.T, first.weights @ domain.origin + first.biases
    elif space == "input":
        matrix, constant = first.weights, first.biases
    else:
        raise ValueError(f"space must be 'chart' or 'input', got {space!r}")
    linear = np.empty((len(chosen), network.n_out, matrix.shape[1]))
    constants = np.empty((len(chosen), network.n_out))
    widest = max(network.n_out * max(*network.widths, 1, 1), network.kinks, 1)
    step = max(1, CHUNK // widest)
    for start in range(0, len(chosen), step):
        part = slice(start, start + step)
        bits = np.unpackbits(
            partition.packed_patterns[chosen[part]], axis=1, count=network.kinks, bitorder="little"
        )
        gradients, offsets = _from_first_preactivation(network.layers, bits)
        np.matmul(gradients, matrix, out=linear[part])
        constants[part] = offsets + gradients @ constant
    return linear, constants


def _from_first_preactivation(layers: tuple[Layer, ...], bits: NDArray[np.uint8]) -> tuple[Floats, Floats]:
    """The network as an affine map of the first layer's pre-activation, one per row of bits [m, kinks].

    Returns matrices [m, n_out, n_1] and constants [m, n_out].
    """
    outputs = len(layers[-1].biases)
    gradients = np.broadcast_to(np.eye(outputs), (len(bits), outputs, outputs))
    offsets = np.zeros((len(bits), outputs))
    stop = bits.shape[1]
    for above, layer in zip(layers[::-1], layers[-2::-1], strict=False):
        offsets += gradients @ above.biases
        gradients = _times(gradients, above.weights)
        units, count = len(layer.biases), layer.activation.breakpoints.size
        start = stop - units * count
        pieces = bits[:, start:stop].reshape(len(bits), units, count).sum(axis=2, dtype=np.intp)
        stop = start
        intercepts = layer.activation.intercepts_of(pieces)
        if intercepts.any():
            offsets += np.einsum("moi,mi->mo", gradients, intercepts)
        gradients *= layer.activation.slopes_of(pieces)[:, np.newaxis, :]
    if stop != 0:
        raise InternalError(f"{stop} pattern bits belong to no layer")
    return gradients, offsets


def _times(gradients: Floats, weights: Floats) -> Floats:
    """gradients [m, o, n] times weights [n, k], as one large product."""
    count, outputs, inner = gradients.shape
    result: Floats = (gradients.reshape(count * outputs, inner) @ weights).reshape(count, outputs, -1)
    return result


def _checked_indices(indices: ArrayLike | None, count: int) -> NDArray[np.intp]:
    if indices is None:
        return np.arange(count)
    chosen = np.asarray(indices)
    if chosen.size == 0:
        chosen = chosen.astype(np.intp)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise TypeError(
            f"indices must be a list of region numbers, got {chosen.dtype} of shape {list(chosen.shape)}"
        )
    wrong = np.flatnonzero((chosen < 0) | (chosen >= count))
    if wrong.size:
        raise IndexError(f"indices[{wrong[0]}] is {chosen[wrong[0]]}; there are {count} regions")
    return chosen.astype(np.intp)
