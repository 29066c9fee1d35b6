# SPDX-License-Identifier: MIT
"""Which piecewise-linear functions have names?

This file has one function for each supported activation, and the parser for names: ``"relu"``, ``"leaky_relu(0.2)"``,
``"hard_tanh(-2, 2)"``. Their results are described in `regions.piecewise_linear`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from regions.arithmetic.arguments import MOST_ITEMS, integer, list_of, real, shown, word
from regions.arithmetic.arrays import exact_float64
from regions.errors import NetworkError, NonFiniteError, ShapeMismatchError, UnsupportedLayerError
from regions.networks.activation import Activation
from regions.printable import printable

__all__ = [
    "Activation",
    "absolute",
    "activation_per_layer",
    "hard_tanh",
    "identity",
    "leaky_relu",
    "parse_activation",
    "prelu",
    "relu",
    "relu6",
]


@cache
def relu() -> Activation:
    """``max(h, 0)``."""
    return Activation("relu", np.zeros(1), np.array([0.0, 1.0]), np.zeros(2))


def leaky_relu(negative_slope: float = 0.01) -> Activation:
    """Return ``h`` above zero, ``negative_slope * h`` below; the slope is used exactly as given."""
    slope = _number(negative_slope, "negative_slope", "leaky_relu")
    return Activation(f"leaky_relu({slope!r})", np.zeros(1), np.array([slope, 1.0]), np.zeros(2))


def prelu(slopes: ArrayLike) -> Activation:
    """Return the leaky ReLU with learnt slopes: one for all units (shape [1] or a number), or one each (shape [n]).

    Examples
    --------
    >>> prelu([0.5, -1.0])([-2.0, -2.0])
    array([-1.,  2.])
    """
    negative = np.atleast_1d(exact_float64(slopes, "prelu: slopes"))
    if negative.ndim != 1 or negative.size == 0:
        raise ShapeMismatchError(f"prelu: slopes must have shape [1] or [n], got {list(negative.shape)}")
    table = np.stack([negative, np.ones_like(negative)], axis=1)
    table = table[0] if negative.size == 1 else table
    return Activation("prelu", np.zeros(1), table, np.zeros_like(table))


def hard_tanh(minimum: float = -1.0, maximum: float = 1.0) -> Activation:
    """Return ``h`` clipped to the interval from ``minimum`` to ``maximum``."""
    low, high = _number(minimum, "minimum", "hard_tanh"), _number(maximum, "maximum", "hard_tanh")
    if low >= high:
        raise NetworkError(f"hard_tanh: minimum must be below maximum, got {low!r} and {high!r}")
    name = "hard_tanh" if (low, high) == (-1.0, 1.0) else f"hard_tanh({low!r}, {high!r})"
    return _clip(name, low, high)


def relu6() -> Activation:
    """Return ``h`` clipped to the interval from 0 to 6."""
    return _clip("relu6", 0.0, 6.0)


def absolute() -> Activation:
    """Return the absolute value ``|h|``."""
    return Activation("abs", np.zeros(1), np.array([-1.0, 1.0]), np.zeros(2))


@cache
def identity() -> Activation:
    """Return ``h`` itself: no breakpoint, so no kink and no pattern bit."""
    return Activation("identity", np.zeros(0), np.ones(1), np.zeros(1))


def _clip(name: str, low: float, high: float) -> Activation:
    return Activation(name, np.array([low, high]), np.array([0.0, 1.0, 0.0]), np.array([low, 0.0, high]))


def _number(value: float, what: str, name: str) -> float:
    try:
        return real(value, f"{name}: {what}")
    except TypeError:
        raise TypeError(f"{name}: {what} must be a number that a double can hold, got {shown(value)}") from None
    except ValueError as error:
        raise NonFiniteError(str(error)) from None


# Keys are compared without case and underscores, so that the names of torch's classes work too.
_BY_NAME: dict[str, tuple[Callable[..., Activation], tuple[int, ...]]] = {
    "relu": (relu, (0,)),
    "leakyrelu": (leaky_relu, (0, 1)),
    "hardtanh": (hard_tanh, (0, 2)),
    "relu6": (relu6, (0,)),
    "abs": (absolute, (0,)),
    "identity": (identity, (0,)),
}
_NAMES_TO_SHOW = "relu, leaky_relu, leaky_relu(0.2), hard_tanh, hard_tanh(-2, 2), relu6, abs, identity"
_SMOOTH = {
    "tanh",
    "sigmoid",
    "gelu",
    "silu",
    "swish",
    "elu",
    "selu",
    "celu",
    "mish",
    "softplus",
    "softmax",
    "softsign",
}


def parse_activation(activation: str | Activation, what: str = "activation") -> Activation:
    """Turn a name with optional numbers, or an `Activation`, into an `Activation`.

    Parameters
    ----------
    activation : str or Activation
        One of relu, leaky_relu, leaky_relu(0.2), hard_tanh, hard_tanh(-2, 2), relu6, abs, identity. Case and
        underscores do not matter.
    what : str
        Name of the argument in messages.

    Raises
    ------
    UnsupportedLayerError
        The name of a function that is not piecewise linear (tanh, gelu, ...).
    NetworkError
        An unknown name or a wrong number of arguments.
    TypeError
        Neither a string nor an `Activation`.

    Examples
    --------
    >>> parse_activation("hard_tanh(-2, 2)")
    Activation('hard_tanh(-2.0, 2.0)', 2 breakpoints)
    """
    what = printable(word(what, "what"))
    if isinstance(activation, Activation):
        return activation
    if not isinstance(activation, str):
        raise TypeError(f"{what} must be a name or an Activation, got {type(activation).__name__}")
    match = re.fullmatch(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*", activation)
    key = match.group(1).lower().replace("_", "") if match else ""
    if key in _SMOOTH:
        raise UnsupportedLayerError(
            f"{what} {shown(activation)} is not piecewise linear, so the network has no regions; use one of "
            f"{_NAMES_TO_SHOW}"
        )
    if key == "prelu":
        raise NetworkError(
            "the slopes of a PReLU are weights: pass regions.networks.named_activations.prelu(slopes), or load a state "
            "dict that holds them with activation='prelu'"
        )
    if match is None or key not in _BY_NAME:
        raise NetworkError(f"{what} {shown(activation)} is unknown; use one of {_NAMES_TO_SHOW}, or an Activation")
    make, allowed = _BY_NAME[key]
    words = [part.strip() for part in (match.group(2) or "").split(",") if part.strip()]
    if len(words) not in allowed:
        expected = " or ".join(str(count) for count in allowed)
        raise NetworkError(f"{what} {shown(activation)} takes {expected} numbers, got {len(words)}")
    try:
        return make(*[float(part) for part in words])
    except ValueError as error:
        if isinstance(error, (NetworkError, NonFiniteError)):
            raise
        raise NetworkError(f"{what} {shown(activation)}: the arguments must be numbers, got {shown(words)}") from None


def activation_per_layer(
    activation: str | Activation | Sequence[str | Activation], hidden_layers: int
) -> list[Activation]:
    """Turn one activation for all hidden layers, or a sequence with one for each, into a list with one for
    each.

    Raises
    ------
    NetworkError
        A sequence of another length; and as `parse_activation`.
    TypeError
        Neither a name, nor an Activation, nor a sequence of these.
    """
    hidden_layers = integer(hidden_layers, "hidden_layers", least=0, most=MOST_ITEMS)
    if isinstance(activation, (str, Activation)):
        return [parse_activation(activation)] * hidden_layers
    what = "a name such as 'relu', an Activation, or a list with one for each hidden layer"
    given = list_of(activation, "activation", what)
    if len(given) != hidden_layers:
        raise NetworkError(
            f"{len(given)} activations for {hidden_layers} hidden layers; the last layer is linear and takes none"
        )
    return [parse_activation(one, f"activation[{i}]") for i, one in enumerate(given)]
