# SPDX-License-Identifier: MIT
"""What is one layer of a network?

A layer is an affine map and the activation that follows it. Both are checked and copied once: float64, finite,
read-only, with shapes that fit together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regions.errors import EmptyLayerError, NetworkError, ShapeMismatchError
from regions.ground.arithmetic.arguments import list_of, shown, word
from regions.ground.arithmetic.arrays import as_numpy, exact_float64
from regions.ground.arithmetic.types import Floats
from regions.ground.text.printable import printable
from regions.networks.dense import Dense
from regions.networks.named_activations import Activation, identity

__all__ = ["Layer", "layer_of", "layer_of_operator", "pairs_of", "require_fitting", "require_shapes"]


@dataclass(frozen=True, eq=False)
class Layer:
    """One affine map and the activation that follows it.

    Parameters
    ----------
    weights : array_like [n_out, n_in]
        Stored as float64, C-contiguous, read-only.
    biases : array_like [n_out]
        Stored as float64, read-only.
    activation : Activation
        With slopes for all units, or for exactly ``n_out``.
    name : str
        Name of this layer in messages.

    Raises
    ------
    ShapeMismatchError, EmptyLayerError, NonFiniteError, NetworkError
        Arrays that are not numbers, or that do not fit together.
    """

    weights: Floats
    biases: Floats
    activation: Activation
    name: str = "layer"

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", word(self.name, "name"))
        label = printable(self.name)
        weights = exact_float64(self.weights, f"{label}: weights")
        biases = exact_float64(self.biases, f"{label}: biases")
        if weights.size == 0:
            raise EmptyLayerError(f"{label}: weights of shape {list(weights.shape)} have no units or no inputs")
        require_shapes(label, weights, biases)
        if not isinstance(self.activation, Activation):
            raise TypeError(
                f"{label}: activation must be an Activation, got {shown(self.activation)}; "
                "regions.networks.named_activations.parse_activation makes one from a name"
            )
        slopes = self.activation.slopes
        if slopes.ndim == 2 and len(slopes) != len(weights):
            raise ShapeMismatchError(
                f"{label}: activation {printable(self.activation.name)!r} has slopes for {len(slopes)} units, the "
                f"layer has {len(weights)}"
            )
        for field, values in (("weights", weights), ("biases", biases)):
            values.setflags(write=False)
            object.__setattr__(self, field, values)

    @cached_property
    def operator(self) -> Dense:
        """The weights as a linear operator."""
        return Dense(self.weights)

    def __reduce__(self) -> tuple[Any, ...]:
        return Layer, (self.weights, self.biases, self.activation, self.name)


def layer_of(weights: ArrayLike, biases: ArrayLike | None, activation: Activation, name: str) -> Layer:
    """Return a layer; `Layer` checks and copies once, because copying a large matrix takes longer than multiplying."""
    w = as_numpy(weights, f"{name}: weights")
    b = np.zeros(w.shape[:1]) if biases is None else biases
    return Layer(w, b, activation, name)  # type: ignore[arg-type]


def layer_of_operator(operator: Dense, biases: Floats, activation: Activation, name: str) -> Layer:
    """Return a layer that shares the operator, and what is known of it, if nobody can change its weights."""
    layer, weights = Layer(operator.weights, biases, activation, name), operator.weights
    if weights.dtype == np.float64 and weights.flags.owndata and not weights.flags.writeable:
        object.__setattr__(layer, "weights", weights)
        layer.__dict__["operator"] = operator
    return layer


def pairs_of(layers: Iterable[tuple[ArrayLike, ArrayLike | None]]) -> list[tuple[ArrayLike, ArrayLike | None]]:
    """Return layers as they are given: pairs of weights and biases."""
    pairs = []
    for i, layer in enumerate(list_of(layers, "layers", "a list of pairs (W, b)")):
        if not isinstance(layer, (tuple, list)) or len(layer) != 2:
            raise NetworkError(f"layer {i} must be a pair (W, b), got {type(layer).__name__}")
        pairs.append((layer[0], layer[1]))
    if not pairs:
        raise EmptyLayerError("a network needs at least one layer (W, b)")
    return pairs


def require_shapes(label: str, weights: Floats, biases: Floats) -> None:
    """Refuse weights and biases unless their shapes are [n_out, n_in] and [n_out]."""
    if weights.ndim != 2:
        raise ShapeMismatchError(f"{label}: weights must have two axes (out x in), got shape {list(weights.shape)}")
    if biases.shape != weights.shape[:1]:
        advice = "; these fit the transposed weights: pass W.T" if biases.shape == weights.shape[1:] else ""
        raise ShapeMismatchError(
            f"{label}: weights {list(weights.shape)} (out x in) need biases [{len(weights)}], got "
            f"{list(biases.shape)}{advice}"
        )


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
