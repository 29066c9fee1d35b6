# SPDX-License-Identifier: MIT
"""Which networks are derived from other networks?

Networks side by side or one after the other, truncated networks, and networks with one layer changed: everything that
takes apart the layers of a network and puts them together again. Unchanged parts are not copied.
Invariant: `product`, `compose` and `cut_off` are exact, or raise an error.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from regions.errors import NetworkError, ShapeMismatchError
from regions.ground.arithmetic.dyadic import Dyadic, dyadic
from regions.ground.arithmetic.types import Floats
from regions.networks.graph import Graph
from regions.networks.layer import Layer
from regions.networks.named_activations import relu
from regions.networks.network import Network, require_network, with_graph
from regions.networks.parts import ending, with_affine_inputs
from regions.networks.patches import Patches

__all__ = [
    "chain_of_both",
    "compose",
    "cut_off",
    "product",
    "with_constant_unit",
    "with_first_layer",
    "with_notes",
    "with_scaled_inputs",
    "with_swept_layer",
]


def product(*networks: Network) -> Network:
    """Return the networks side by side: their inputs are concatenated, and so are their outputs.

    On a product of domains, the number of regions is the product of their numbers of regions.

    Parameters
    ----------
    *networks : Network
        At least one; of equal depth, with equal activations.

    Raises
    ------
    NetworkError
        Different depths, or layers with different activations.

    Examples
    --------
    >>> from regions.theory.constructions import sawtooth, serra_fold
    >>> product(serra_fold([3, 4]), sawtooth(2))
    Network(2-5-6-2, relu, 11 hidden neurons)
    """
    if len({len(require_network(network).layers) for network in networks}) != 1:
        raise NetworkError("product: give at least one network, and all of the same depth")
    layers = []
    for i, side_by_side in enumerate(zip(*(network.layers for network in networks), strict=True)):
        activation = side_by_side[0].activation
        if any(layer.activation != activation for layer in side_by_side) or activation.slopes.ndim > 1:
            raise NetworkError(f"product: layer {i} must have one activation, with slopes for all units alike")
        ends = np.cumsum([(0, 0), *(layer.weights.shape for layer in side_by_side)], axis=0)
        weights = np.zeros(ends[-1])
        for (row, column), layer in zip(ends, side_by_side, strict=False):
            weights[row : row + layer.weights.shape[0], column : column + layer.weights.shape[1]] = layer.weights
        layers.append(
            Layer(weights, np.concatenate([layer.biases for layer in side_by_side]), activation, f"layer {i}")
        )
    return Network.from_layers(layers)


def chain_of_both(first: Network, second: Network) -> tuple[Network, list[int]]:
    """Return the network of the outputs of both, for the same inputs, and the number of units of the first in each
    layer; refuses like `product`.
    """
    depths = [len(network.layers) for network in (first, second)]
    if depths[0] != depths[1]:
        raise NetworkError(
            f"a certificate of a comparison is of networks with equally many layers, and these have {depths[0]} and "
            f"{depths[1]}; write a certificate of all regions of each"
        )
    both = product(first, second)
    # In each row, the weights for one of the two copies of the inputs are 0, so that these sums are exact.
    weights = both.layers[0].weights
    shared = replace(both.layers[0], weights=weights[:, : first.n_in] + weights[:, first.n_in :])
    return Network.from_layers([shared, *both.layers[1:]]), [len(layer.biases) for layer in first.layers]


def compose(first: Network, second: Network) -> Network:
    """Return the network ``second(first(x))``, exactly.

    The linear output of the first network is merged into the layer that reads it. If the first network maps each of its
    regions onto the same set, the second network divides each of these regions into as many regions as it has in that
    set.

    Raises
    ------
    ShapeMismatchError
        The number of inputs of the second differs from the number of outputs of the first.
    NetworkError
        A merged weight is not a double: integers have room for 53 bits.

    Examples
    --------
    >>> from regions.theory.constructions import serra_fold
    >>> compose(serra_fold([3]), serra_fold([4])) == serra_fold([3, 4])
    True
    """
    if require_network(second).n_in != require_network(first).n_out:
        raise ShapeMismatchError(f"compose: {first!r} gives {first.n_out} values, {second!r} takes {second.n_in}")
    output, reads = first.layers[-1], second.layers[0]
    weights = dyadic(reads.weights)
    merged = Layer(
        _doubles(weights.matrix_times(dyadic(output.weights))),
        _doubles(weights.matrix_times(dyadic(output.biases)) + dyadic(reads.biases)),
        reads.activation,
        "merged layer",
    )
    return Network.from_layers([*first.layers[:-1], merged, *second.layers[1:]])


def _doubles(numbers: Dyadic) -> Floats:
    with contextlib.suppress(OverflowError), np.errstate(over="ignore"):
        result: Floats = np.ldexp(numbers.integers.astype(np.float64), numbers.exponent)
        if np.isfinite(result).all():
            rounded = dyadic(result) + Dyadic(-numbers.integers, numbers.exponent)
            if not rounded.signs().any():
                return result
    raise NetworkError("compose: a merged weight or bias is not a double; use weights with fewer digits, or integers")


def cut_off(network: Network, depth: int, *, readout: bool = False) -> Network:
    """Return the network that ends after its first ``depth`` hidden layers.

    With ``readout``, the outputs are the activations of the last of these layers. Otherwise the only output is 0:
    counting does not look at outputs, and the outputs of a wide layer need large weights.
    """
    sources = range(network.widths[depth - 1]) if readout else [-1]
    return Network.from_graph(ending(network.graph, depth, sources), network.input_shape)


def with_swept_layer(network: Network, layer: int, other: Floats, output: int) -> Network:
    """Return a network of (c, s) that computes a layer, from 0, and all after it, with the weights c W + s W'.

    Its inputs are (c z, s z), and ``other`` is W'. The chosen output becomes a ReLU unit, the last one, so that its
    sign is part of the pattern.

    Raises
    ------
    ShapeMismatchError
        W' and W have different shapes.
    """
    *hidden, last = network.layers[layer:]
    own = network.layers[layer].weights
    if other.shape != own.shape:
        raise ShapeMismatchError(
            f"the layer's weights have shape {list(own.shape)}, the other ones {list(other.shape)}"
        )
    label = Layer(last.weights[output : output + 1], last.biases[output : output + 1], relu(), "label")
    readout = Layer(np.ones((1, 1)), np.zeros(1), last.activation, "readout")
    chain = [*hidden, label]
    rows = other[output : output + 1] if not hidden else other
    swept = replace(chain[0], weights=np.hstack([chain[0].weights, rows]))
    return Network.from_layers([swept, *chain[1:], readout])


def with_constant_unit(network: Network, index: int, unit: int, value: float) -> Network:
    """Return the network in which the pre-activation of one unit of a layer is a constant."""
    layers = list(network.layers)
    weights, biases = layers[index].weights.copy(), layers[index].biases.copy()
    weights[unit], biases[unit] = 0.0, value
    layers[index] = replace(layers[index], weights=weights, biases=biases)
    return Network.from_layers(layers)


def with_first_layer(network: Network, change: Callable[[Floats, Floats], tuple[Floats, Floats]]) -> Network:
    """Return the network with weights and biases of the first layer replaced by ``change(weights, biases)``."""
    first, *others = network.layers
    weights, biases = change(first.weights, first.biases)
    graph = Graph.chain([replace(first, weights=weights, biases=biases), *others])
    return with_graph(network, graph)


def with_scaled_inputs(network: Network, factors: Floats, constants: Floats) -> Network:
    """Return the network of ``factors * x + constants``; the scaling is a node of its own, without kinks."""
    graph = with_affine_inputs(network.graph, Patches.scale(factors), constants, lambda node: True)
    return with_graph(network, graph)


def with_notes(network: Network, *notes: str) -> Network:
    """Return the same network with additional notes."""
    return with_graph(network, network.graph, notes)
