# SPDX-License-Identifier: MIT
"""Which piecewise-linear functions have names?

This file has one function for each supported activation, the table `ACTIVATIONS` of their names, and the parser for
names: ``"relu"``, ``"leaky_relu(0.2)"``, ``"hard_tanh(-2, 2)"``. All readers of models use the table, so that a new
activation is a function and a row here.
Invariant: the name of an activation that is made here can be parsed, and gives the same function. The exceptions are
PReLUs with more slopes than are printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from inspect import Parameter, signature

import numpy as np
from numpy.typing import ArrayLike

from regions.errors import NetworkError, NonFiniteError, ShapeMismatchError, UnsupportedLayerError
from regions.ground.arithmetic.arguments import MOST_ITEMS, integer, list_of, real, shown, word
from regions.ground.arithmetic.arrays import exact_float64
from regions.ground.text.printable import printable
from regions.networks.activation import Activation

__all__ = [
    "Activation",
    "absolute",
    "activation_per_layer",
    "clamp_max",
    "clamp_min",
    "hard_sigmoid",
    "hard_tanh",
    "identity",
    "leaky_relu",
    "parse_activation",
    "prelu",
    "relu",
    "relu6",
    "rrelu",
    "soft_shrink",
    "threshold",
]


# The name of a PReLU has its slopes if there are at most this many.
MOST_SLOPES_TO_SHOW = 8


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

    Its name has the slopes if there are at most 8 of them: ``prelu(0.5, -1.0)``.

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
    shown_slopes = f"({', '.join(map(repr, negative.tolist()))})" if negative.size <= MOST_SLOPES_TO_SHOW else ""
    return Activation(f"prelu{shown_slopes}", np.zeros(1), table, np.zeros_like(table))


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


def clamp_min(minimum: float) -> Activation:
    """Return the larger of ``h`` and ``minimum``."""
    low = _number(minimum, "minimum", "clamp_min")
    return Activation(f"clamp_min({low!r})", np.array([low]), np.array([0.0, 1.0]), np.array([low, 0.0]))


def clamp_max(maximum: float) -> Activation:
    """Return the smaller of ``h`` and ``maximum``."""
    high = _number(maximum, "maximum", "clamp_max")
    return Activation(f"clamp_max({high!r})", np.array([high]), np.array([1.0, 0.0]), np.array([0.0, high]))


def threshold(limit: float, value: float) -> Activation:
    """Return ``h`` above ``limit``, and ``value`` below, which must be equal to ``limit``; else the function jumps."""
    low, below = _number(limit, "limit", "threshold"), _number(value, "value", "threshold")
    if low != below:
        raise UnsupportedLayerError(
            f"threshold: limit and value must be equal, because the function jumps from {below} to {low} otherwise"
        )
    return relu() if low == 0.0 else clamp_min(low)


def rrelu(lower: float = 1 / 8, upper: float = 1 / 3) -> Activation:
    """Return the leaky ReLU whose slope is the mean of two bounds: a randomised ReLU in evaluation mode."""
    return leaky_relu((_number(lower, "lower", "rrelu") + _number(upper, "upper", "rrelu")) / 2)


def soft_shrink(width: float = 0.5) -> Activation:
    """Return ``h - width`` above ``width``, ``h + width`` below ``-width``, and 0 between; the identity for width 0."""
    width = _number(width, "width", "soft_shrink")
    if width < 0:
        raise NetworkError(f"soft_shrink: width must be at least 0, got {width!r}")
    if width == 0:
        return identity()
    ends, outside = np.array([-width, width]), np.array([width, 0.0, -width])
    return Activation(f"soft_shrink({width!r})", ends, np.array([1.0, 0.0, 1.0]), outside)


@cache
def hard_sigmoid() -> Activation:
    """Return ``h / 6 + 1 / 2`` clipped at ``h = -3`` and ``h = 3``.

    The slope is 1/6 rounded to a multiple of ``2**-53``, because then the pieces meet exactly. The values at both ends
    are ``2**-53`` and ``1 - 2**-53``.
    """
    slope = round(2**53 / 6) / 2**53
    ends = np.array([-3.0, 3.0])
    return Activation("hard_sigmoid", ends, np.array([0.0, slope, 0.0]), 0.5 + slope * np.array([-3.0, 0.0, 3.0]))


def _clip(name: str, low: float, high: float) -> Activation:
    return Activation(name, np.array([low, high]), np.array([0.0, 1.0, 0.0]), np.array([low, 0.0, high]))


def _number(value: float, what: str, name: str) -> float:
    try:
        return real(value, f"{name}: {what}")
    except TypeError:
        raise TypeError(f"{name}: {what} must be a number that a double can hold, got {shown(value)}") from None
    except ValueError as error:
        raise NonFiniteError(str(error)) from None


@dataclass(frozen=True)
class OnnxActivation:
    """An operator of ONNX that is an activation.

    Attributes
    ----------
    name : str
    newest : int
        The newest version of the operator whose documentation was read.
    make : callable
        Takes the attributes, in this order, and returns the Activation.
    attributes : dict of str to float
        The defaults of the attributes.
    """

    name: str
    newest: int
    make: Callable[..., Activation]
    attributes: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class NamedActivation:
    """An activation, and its names in other programs.

    Attributes
    ----------
    name : str
        For users. Case and underscores do not matter.
    make : callable
        Takes numbers and returns the Activation.
    module : str or None
        The class of ``torch.nn``.
    aten : tuple of str
        The operators of torch in exported programs.
    parameters : tuple of str
        What torch calls the numbers that ``make`` takes, in the same order; modules and operators agree.
    onnx : OnnxActivation or None
    """

    name: str
    make: Callable[..., Activation]
    module: str | None = None
    aten: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    onnx: OnnxActivation | None = None

    @property
    def defaults(self) -> list[float | None]:
        """Return the default of each number; None if the number must be given."""
        given = [parameter.default for parameter in signature(self.make).parameters.values()]
        return [None if default is Parameter.empty else default for default in given]

    def made(self, numbers: Sequence[float], what: str) -> Activation:
        """Return the activation for numbers that a user gave; all of them may have defaults."""
        defaults = self.defaults
        allowed = [len(defaults)] if None in defaults else sorted({0, len(defaults)})
        if len(numbers) not in allowed:
            expected = " or ".join(str(count) for count in allowed)
            raise NetworkError(f"{what} takes {expected} numbers, got {len(numbers)}")
        return self.make(*numbers)

    @property
    def usage(self) -> str:
        """Return the name with what its numbers mean: ``hard_tanh(minimum, maximum)``."""
        numbers = ", ".join(signature(self.make).parameters)
        return f"{self.name}({numbers})" if numbers else self.name


def _onnx_shrink(lambd: float, bias: float) -> Activation:
    """Return ``Shrink`` of ONNX, which is continuous if both numbers are equal."""
    if lambd != bias:
        raise UnsupportedLayerError(f"Shrink by {bias} beyond {lambd} jumps, so it is not continuous")
    return soft_shrink(lambd)


def _onnx_threshold(alpha: float) -> Activation:
    """Return ``ThresholdedRelu`` of ONNX, which is continuous if alpha is 0."""
    return threshold(alpha, 0.0)


# A module `Identity` and an operator `Identity` add no activation, so these names are not in the table.
ACTIVATIONS = (
    NamedActivation("relu", relu, "ReLU", ("relu",), onnx=OnnxActivation("Relu", 14, relu)),
    NamedActivation(
        "leaky_relu",
        leaky_relu,
        "LeakyReLU",
        ("leaky_relu",),
        ("negative_slope",),
        OnnxActivation("LeakyRelu", 16, leaky_relu, {"alpha": 0.01}),
    ),
    NamedActivation("hard_tanh", hard_tanh, "Hardtanh", ("hardtanh",), ("min_val", "max_val")),
    NamedActivation("relu6", relu6, "ReLU6", ("relu6",)),
    NamedActivation("abs", absolute, None, ("abs", "absolute"), onnx=OnnxActivation("Abs", 13, absolute)),
    NamedActivation("identity", identity),
    NamedActivation("hard_sigmoid", hard_sigmoid, "Hardsigmoid", ("hardsigmoid",)),
    NamedActivation(
        "soft_shrink",
        soft_shrink,
        "Softshrink",
        ("softshrink",),
        ("lambd",),
        OnnxActivation("Shrink", 9, _onnx_shrink, {"lambd": 0.5, "bias": 0.0}),
    ),
    NamedActivation(
        "threshold",
        threshold,
        "Threshold",
        ("threshold",),
        ("threshold", "value"),
        OnnxActivation("ThresholdedRelu", 22, _onnx_threshold, {"alpha": 1.0}),
    ),
    NamedActivation("rrelu", rrelu, "RReLU", ("rrelu",), ("lower", "upper")),
    NamedActivation("clamp_min", clamp_min, None, ("clamp_min",), ("min",)),
    NamedActivation("clamp_max", clamp_max, None, ("clamp_max",), ("max",)),
)
NAMES_TO_SHOW = ", ".join([*(row.usage for row in ACTIVATIONS), "prelu(slope, ...)"])


def _key(name: str) -> str:
    """Return a name without case and underscores, so that names of classes and operators of other programs fit, too."""
    return name.lower().replace("_", "")


_BY_KEY = {_key(row.name): row for row in ACTIVATIONS}
_SMOOTH = {
    *("tanh", "sigmoid", "logsigmoid", "softmax", "logsoftmax", "softmin", "gelu", "silu", "swish", "hardswish"),
    *("elu", "selu", "celu", "mish", "softplus", "softsign", "tanhshrink", "softmax2d", "glu"),
}
_DISCONTINUOUS = {"hardshrink", "heaviside", "sign"}


def is_smooth(name: str) -> bool:
    """Return whether a name, of any program, is an activation that is not piecewise linear."""
    return _key(name) in _SMOOTH


def is_discontinuous(name: str) -> bool:
    """Return whether a name, of any program, is an activation that is piecewise linear but jumps."""
    return _key(name) in _DISCONTINUOUS


def parse_activation(activation: str | Activation, what: str = "activation") -> Activation:
    """Turn a name with optional numbers, or an `Activation`, into an `Activation`.

    Parameters
    ----------
    activation : str or Activation
        A name in `ACTIVATIONS`, with numbers if the function takes any: relu, leaky_relu, leaky_relu(0.2),
        hard_tanh(-2, 2), soft_shrink(0.3). Case and underscores do not matter.
    what : str
        Name of the argument in messages.

    Raises
    ------
    UnsupportedLayerError
        The name of a function that is not piecewise linear (tanh, gelu, ...) or not continuous (hard_shrink, ...).
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
    return _parsed(str(activation), what)


@lru_cache(maxsize=64)
def _parsed(activation: str, what: str) -> Activation:
    match = re.fullmatch(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*", activation)
    key = _key(match.group(1)) if match else ""
    if is_smooth(key):
        raise UnsupportedLayerError(
            f"{what} {shown(activation)} is not piecewise linear, so the network has no regions; use one of "
            f"{NAMES_TO_SHOW}"
        )
    if is_discontinuous(key):
        raise UnsupportedLayerError(f"{what} {shown(activation)} jumps; use one of {NAMES_TO_SHOW}")
    words = [part.strip() for part in ((match and match.group(2)) or "").split(",") if part.strip()]
    if key == "prelu" and not words:
        raise NetworkError(
            "the slopes of a PReLU are weights: name them as in prelu(0.25), pass "
            "regions.networks.named_activations.prelu(slopes), or load a state dict that holds them with "
            "activation='prelu'"
        )
    if key != "prelu" and key not in _BY_KEY:
        raise NetworkError(f"{what} {shown(activation)} is unknown; use one of {NAMES_TO_SHOW}, or an Activation")
    try:
        numbers = [float(part) for part in words]
        return prelu(numbers) if key == "prelu" else _BY_KEY[key].made(numbers, f"{what} {shown(activation)}")
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
