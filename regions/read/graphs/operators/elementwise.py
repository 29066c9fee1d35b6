# SPDX-License-Identifier: MIT
"""Which operators are sums, products and functions of single numbers?

Operands are tensors, which depend on the input, or constants. Both are broadcast as in numpy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import NetworkError, NonFiniteError, RegionsError, UnsupportedLayerError
from regions.ground.arithmetic.types import Floats
from regions.networks import named_activations as activations
from regions.networks.named_activations import Activation
from regions.read.graphs.call import Call, Operand, Operation
from regions.read.graphs.moving import repeated, spread
from regions.read.graphs.nodes import unsupported
from regions.read.graphs.operations import Tensor
from regions.read.graphs.site import Site
from regions.read.scaling import invert
from regions.read.scaling import multiply as product

__all__ = [
    "activates",
    "add",
    "added",
    "clipped",
    "compared_with",
    "divide",
    "elu",
    "hard_shrink",
    "in_evaluation",
    "mean",
    "multiply",
    "negate",
    "never",
    "power",
    "prelu",
    "scaled_and_clipped",
    "total",
    "widened",
]


def add(call: Call, sign: float = 1.0, turned: bool = False) -> Tensor:
    """Return ``first + sign * second``, or ``sign * first + second`` if ``turned``."""
    first, second = call.operands()
    factor = sign * call.number("alpha", 1.0)
    return added(call.at, first, second, (factor, 1.0) if turned else (1.0, factor))


def total(call: Call) -> Operand:
    """Return the sum of any number of operands."""
    tensors_first = sorted(call.operands(), key=lambda value: not isinstance(value, Tensor))
    return reduce(lambda first, second: added(call.at, first, second), tensors_first)


def mean(call: Call) -> Operand:
    """Return the mean of any number of operands."""
    count, result = len(call.operands()), total(call)
    if not isinstance(result, Tensor):
        return result / count
    if count & (count - 1):
        call.at.note(f"divides by {count}: its weights are the nearest doubles, and results are for these")
    return call.at.scaled(result, 1.0 / count, 0.0)


def elu(call: Call) -> Tensor:
    """Return ELU of a tensor if alpha is 0, because it is a ReLU then."""
    x, alpha, scale = call.tensor(), call.number("alpha", 1.0), call.number("scale", 1.0)
    call.ignore("input_scale")
    if alpha != 0.0:
        raise unsupported(call.at.node, "", [call.at.node.operator])
    result = call.at.activated(x, activations.relu())
    return result if scale == 1.0 else call.at.scaled(result, scale, 0.0)


def hard_shrink(call: Call) -> Any:
    """Return hard shrink of a tensor if nothing is cut, so that it is the identity."""
    if call.number("lambd", 0.5) > 0.0:
        raise unsupported(call.at.node, "")
    return call.tensor()


def added(at: Site, first: Operand, second: Operand, factors: tuple[float, float] = (1.0, 1.0)) -> Tensor:
    """Return ``factors[0] * first + factors[1] * second``; at least one operand is a tensor."""
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        try:
            shape = np.broadcast_shapes(first.shape, second.shape)
        except ValueError:
            raise at.refused(f"adds shapes {list(first.shape)} and {list(second.shape)}") from None
        return at.summed([(repeated(at, x, shape), factor) for x, factor in zip((first, second), factors, strict=True)])
    if not isinstance(first, Tensor):
        first, second, factors = second, first, factors[::-1]
    assert isinstance(first, Tensor) and not isinstance(second, Tensor)
    x, constant = widened(at, first, second)
    shift, exact = product(constant, np.asarray(factors[1]))
    return at.scaled(x, factors[0], shift, exact=exact)


def widened(at: Site, x: Tensor, constant: Floats) -> tuple[Tensor, Floats]:
    """Return a tensor and a constant, broadcast to one shape."""
    try:
        shape = np.broadcast_shapes(x.shape, constant.shape)
    except ValueError:
        raise at.refused(f"has a constant of shape {list(constant.shape)} for {list(x.shape)}") from None
    return repeated(at, x, shape), np.broadcast_to(constant, shape)


def multiply(call: Call) -> Tensor:
    """Return the product of a tensor and a constant."""
    first, second = call.operands()
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        raise call.two_factors()
    x, constant = (first, second) if isinstance(first, Tensor) else (second, first)
    assert isinstance(x, Tensor) and not isinstance(constant, Tensor)
    return call.at.scaled(*widened(call.at, x, constant))


def divide(call: Call) -> Tensor:
    """Return the quotient of a tensor by a constant."""
    if call.given("rounding_mode", None) is not None:
        raise UnsupportedLayerError(f"{call.at.label} rounds its results, which jumps")
    first, second = call.operands()
    if isinstance(second, Tensor):
        raise UnsupportedLayerError(
            f"{call.at.label} divides by what depends on the input, which is not piecewise linear"
        )
    assert isinstance(first, Tensor)
    if not second.all():
        raise NetworkError(f"{call.at.label} divides by 0")
    x, constant = widened(call.at, first, second)
    scale, exact = invert(constant)
    return call.at.scaled(x, scale, exact=exact, divisors=constant.ravel())


def negate(call: Call) -> Tensor:
    """Return minus a tensor."""
    return call.at.scaled(call.tensor(), -1.0)


def never(call: Call) -> NDArray[np.bool_]:
    """Return false for each number, such as whether it is infinite; the numbers of a network are finite."""
    call.ignore("detect_negative", "detect_positive")
    return np.zeros(call.movable().shape, dtype=bool)


def power(call: Call) -> Tensor:
    """Return a tensor to the power of constants that are 0 or 1; no other power is piecewise linear."""
    x, exponents = call.operands("self", "exponent", infinite=True)
    if not isinstance(x, Tensor) or isinstance(exponents, Tensor) or not np.isin(exponents, (0.0, 1.0)).all():
        raise unsupported(call.at.node, "")
    x, exponents = widened(call.at, x, exponents)
    return x if exponents.all() else call.at.scaled(x, exponents, 1.0 - exponents)


def activates(make: Callable[..., Activation], numbers: Mapping[str, float | None]) -> Operation:
    """Return the operator that applies an activation.

    Parameters
    ----------
    make : callable
        Takes the numbers, in their order, and returns the Activation.
    numbers : dict of str to (float or None)
        Their names and defaults; None if the number must be given.
    """

    def activate(call: Call) -> Tensor:
        x = call.tensor()
        given = [
            call.number(name) if default is None else call.number(name, default) for name, default in numbers.items()
        ]
        try:
            activation = make(*given)
        except RegionsError as error:
            raise type(error)(f"{call.at.label}: {error}") from None
        return call.at.activated(x, activation)

    return activate


def in_evaluation(operation: Operation, flag: str) -> Operation:
    """Return an operator that is random in training, where ``flag`` is true, and fixed otherwise."""

    def apply(call: Call) -> Any:
        call.ignore("p")
        if call.flag(flag):
            raise UnsupportedLayerError(
                f"{call.at.label} is in training mode, so its values are random; call model.eval() before exporting, "
                "and pass training=self.training where the model calls the function itself"
            )
        return operation(call)

    return apply


def prelu(call: Call, by_channel: bool = True) -> Tensor:
    """Return the leaky ReLU with learnt slopes; a list has one slope for each channel, and the channels are the second
    axis.
    """
    x, slopes = call.tensor(), call.constant("weight")
    if slopes.size == 1:
        slopes = slopes.reshape(())
    elif slopes.ndim == 1 and by_channel:
        slopes = slopes.reshape(-1, *(1,) * (len(x.shape) - 2))
    by_unit = spread(call.at, slopes, x.shape).ravel()
    return call.at.activated(x, activations.prelu(by_unit[:1] if (by_unit == by_unit[0]).all() else by_unit))


def clipped(call: Call, x: Tensor, low: float | None, high: float | None) -> Tensor:
    """Clip x between two bounds, either of which may be None."""
    at = call.at
    low = None if low is None or low <= -call.widest else low
    high = None if high is None or high >= call.widest else high
    if not all(bound is None or math.isfinite(bound) for bound in (low, high)):
        raise NonFiniteError(f"{at.label} has bounds {low} and {high}, which must be finite numbers")
    if low is None and high is None:
        return x
    if high is None:
        assert low is not None
        activation = activations.relu() if low == 0.0 else activations.clamp_min(low)
    elif low is None:
        activation = activations.clamp_max(high)
    elif low >= high:
        raise NetworkError(f"{at.label} clips between {low!r} and {high!r}, which leaves a constant")
    else:
        activation = activations.relu6() if (low, high) == (0.0, 6.0) else activations.hard_tanh(low, high)
    return at.activated(x, activation)


def compared_with(at: Site, x: Tensor, constant: Floats, *, smallest: bool = False) -> Tensor:
    """Return the larger of each number and its constant, ``c + relu(x - c)``; or the smaller, ``c - relu(c - x)``."""
    sign = -1.0 if smallest else 1.0
    x, constant = widened(at, x, constant)
    above = at.activated(at.scaled(x, sign, -sign * constant), activations.relu())
    return at.scaled(above, sign, constant)


def scaled_and_clipped(call: Call) -> Tensor:
    """Return ``alpha * x + beta``, clipped to the interval from 0 to 1."""
    scaled = call.at.scaled(call.tensor(), call.number("alpha"), call.number("beta"))
    return call.at.activated(scaled, activations.hard_tanh(0.0, 1.0))
