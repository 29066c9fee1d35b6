# SPDX-License-Identifier: MIT
"""Which network is a chain of dense layers, scalings such as batch norms, and activations, in any order?

Readers reduce a model to a list of steps; here they become alternating layers. A scaling is folded into the dense layer
just before it, or else into the next one. If two steps need a layer between them, a layer with the identity matrix is
inserted, which changes no value. Matrices are never multiplied: that would round. Everything that changes a number or
adds a layer leaves a note; a fold without any rounding, such as a bias that is stored as an addition of its own, does
not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from regions.errors import EmptyLayerError, FileTooLargeError, ShapeMismatchError
from regions.files import limits
from regions.ground.arithmetic.types import Floats
from regions.networks.layer import require_shapes
from regions.networks.named_activations import Activation, identity
from regions.networks.network import Layer, Network
from regions.read.scaling import Scaling


@dataclass(frozen=True)
class Dense:
    """A dense layer: ``name``, weights [n_out, n_in], biases [n_out]."""

    name: str
    weights: Floats
    biases: Floats

    def __post_init__(self) -> None:
        # Checked before folding, which would broadcast arrays that do not fit.
        if self.weights.ndim != 2 or self.biases.shape != self.weights.shape[:1]:
            require_shapes(self.name, self.weights, self.biases)


@dataclass(frozen=True)
class Nonlinearity:
    """An activation, applied to every unit."""

    name: str
    activation: Activation


Step = Dense | Scaling | Nonlinearity


class _Builder:
    def __init__(self, width: int, notes: Iterable[str]) -> None:
        self.width = width  # of the values that the next step receives
        self.notes = list(notes)
        self.layers: list[Layer] = []
        self.open: Dense | None = None  # dense layer that still has no activation
        self.pending: Scaling | None = None  # scaling that waits for the next dense layer
        self.weights_put_in = 0

    def close(self, activation: Activation) -> None:
        if self.open is not None:
            name = f"layer {len(self.layers)} ({self.open.name})"
            self.layers.append(Layer(self.open.weights, self.open.biases, activation, name))
            self.open = None

    def dense(self, step: Dense) -> None:
        if self.open is not None:
            self.notes.append(f"nothing lies between {self.open.name} and {step.name}: a hidden layer without kinks")
            self.close(identity())
        if step.weights.shape[1] != self.width:
            raise ShapeMismatchError(
                f"{step.name} takes {step.weights.shape[1]} values (weights {list(step.weights.shape)} are "
                f"out x in) but what comes before it gives {self.width}"
            )
        weights, biases = step.weights, step.biases
        if self.pending is not None:
            weights, biases, exact = self.pending.before(weights, biases)
            self.note_fold(self.pending, exact, f"{step.name}, which follows it")
            self.pending = None
        self.open = Dense(step.name, weights, biases)
        self.width = len(biases)

    def scaling(self, step: Scaling) -> None:
        step.require_width(self.width, "values that reach it")
        if self.open is not None:
            weights, biases, exact = step.after(self.open.weights, self.open.biases)
            self.note_fold(step, exact, f"{self.open.name}, which precedes it")
            self.open = Dense(self.open.name, weights, biases)
        else:
            self.pending = step if self.pending is None else self.pending.then(step)

    def nonlinearity(self, step: Nonlinearity) -> None:
        if step.activation == identity():
            return
        if self.open is None:
            self.insert(f"before {step.name}")
        self.close(step.activation)

    def insert(self, where: str) -> None:
        """Insert a layer that the model does not have: a diagonal one if a scaling is pending, else the identity."""
        self.weights_put_in += self.width**2
        if self.weights_put_in > limits.MAX_WEIGHTS_PUT_IN:
            raise FileTooLargeError(
                f"a layer of {self.width} x {self.width} weights would have to be put in {where}; the limit for all "
                f"such layers is {limits.MAX_WEIGHTS_PUT_IN} weights"
            )
        weights, biases = np.eye(self.width), np.zeros(self.width)
        if self.pending is not None:
            weights, biases = np.diag(self.pending.scale), self.pending.shift
            self.note_fold(self.pending, self.pending.exact, f"a diagonal layer of its own {where}")
            self.pending = None
        else:
            self.notes.append(f"identity layer put in {where}")
        self.open = Dense(f"layer put in {where}", weights, biases)

    def note_fold(self, scaling: Scaling, exact: bool, into: str) -> None:
        if not exact:
            self.notes.append(
                f"{scaling.kind} {scaling.name} folded into {into}, in float64; results are for the rounded weights"
            )


def build_network(steps: Sequence[Step], notes: Iterable[str] = ()) -> Network:
    """Turn steps into a network.

    Parameters
    ----------
    steps : sequence of Dense, Scaling, Nonlinearity
        In the order of application; at least one is not a nonlinearity, so that widths are known.
    notes : iterable of str
        The reader's notes, which come first.

    Raises
    ------
    EmptyLayerError, ShapeMismatchError, NonFiniteError, NetworkError
        Steps that do not fit together; the message names them.
    """
    widths = [_input_width(step) for step in steps if not isinstance(step, Nonlinearity)]
    if not widths:
        raise EmptyLayerError(
            "the model has no dense layer, so it does not say how many inputs it takes; load the module with "
            "input_shape=(n,)"
        )
    builder = _Builder(widths[0], notes)
    for step in steps:
        if isinstance(step, Dense):
            builder.dense(step)
        elif isinstance(step, Scaling):
            builder.scaling(step)
        else:
            builder.nonlinearity(step)
    if builder.open is None:
        builder.insert("as output")
    builder.close(identity())
    return Network.from_layers(builder.layers, builder.notes)


def _input_width(step: Dense | Scaling) -> int:
    return step.weights.shape[1] if isinstance(step, Dense) else len(step.scale)
