# SPDX-License-Identifier: MIT
"""Which operations are sums, products and functions of single numbers?

Operands are tensors, which depend on the input, or constants. Both are repeated where shapes ask for it, as numpy does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from regions.arithmetic.types import Floats
from regions.errors import NetworkError, NonFiniteError, RegionsError, UnsupportedLayerError
from regions.networks import named_activations as activations
from regions.networks.named_activations import Activation
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators.shapes import moved
from regions.read.graphs.operators.windows import several
from regions.read.graphs.site import Site
from regions.read.scaling import invert, scaling_of_batch_norm

__all__ = [
    "activated",
    "added",
    "clipped",
    "compared_with",
    "divided",
    "hard_sigmoid",
    "multiplied",
    "normalized",
    "prelu",
    "repeated",
    "repeats",
    "spread",
]

Operand = Tensor | Floats


def spread(at: Site, constant: Floats, shape: tuple[int, ...]) -> Floats:
    """A constant, repeated until it has the shape of what it meets."""
    try:
        if np.broadcast_shapes(constant.shape, shape) == shape:
            return np.broadcast_to(constant, shape)
    except ValueError:
        pass
    raise at.refused(f"has a constant of shape {list(constant.shape)} for {list(shape)}")


def repeats(lengths: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether an array of some lengths is repeated until it has a shape, and not the other way round."""
    pairs = zip(reversed(lengths), reversed(shape), strict=False)
    return len(lengths) <= len(shape) and all(length in (1, wanted) for length, wanted in pairs)


def repeated(at: Site, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A tensor, repeated until it has a shape."""
    if x.shape == shape:
        return x
    return moved(at, x, lambda array: np.broadcast_to(array, shape), math.prod(shape))


def _widened(at: Site, x: Tensor, constant: Floats) -> tuple[Tensor, Floats]:
    """A tensor and a constant, repeated until they have one shape."""
    try:
        shape = np.broadcast_shapes(x.shape, constant.shape)
    except ValueError:
        raise at.refused(f"has a constant of shape {list(constant.shape)} for {list(x.shape)}") from None
    x = repeated(at, x, shape)
    return x, np.broadcast_to(constant, shape)


def added(at: Site, first: Operand, second: Operand, factors: tuple[float, float] = (1.0, 1.0)) -> Tensor:
    """``factors[0] * first + factors[1] * second``; at least one operand is a tensor."""
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        try:
            shape = np.broadcast_shapes(first.shape, second.shape)
        except ValueError:
            raise at.refused(f"adds shapes {list(first.shape)} and {list(second.shape)}") from None
        return at.summed([(repeated(at, x, shape), factor) for x, factor in zip((first, second), factors, strict=True)])
    if isinstance(first, Tensor):
        assert not isinstance(second, Tensor)
        x, constant = _widened(at, first, second)
        return at.scaled(x, factors[0], factors[1] * constant)
    assert isinstance(second, Tensor)
    x, constant = _widened(at, second, first)
    return at.scaled(x, factors[1], factors[0] * constant)


def multiplied(at: Site, first: Operand, second: Operand) -> Tensor:
    """The product with a constant."""
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        raise UnsupportedLayerError(
            f"{at.label} multiplies two values that depend on the input, which is not piecewise linear; export the "
            "part before it, or name what goes into it with outputs="
        )
    x, constant = (first, second) if isinstance(first, Tensor) else (second, first)
    assert isinstance(x, Tensor) and not isinstance(constant, Tensor)
    x, constant = _widened(at, x, constant)
    return at.scaled(x, constant)


def divided(at: Site, first: Operand, second: Operand) -> Tensor:
    """The quotient by a constant."""
    if isinstance(second, Tensor):
        raise UnsupportedLayerError(f"{at.label} divides by what depends on the input, which is not piecewise linear")
    assert isinstance(first, Tensor)
    if not second.all():
        raise NetworkError(f"{at.label} divides by 0")
    x, constant = _widened(at, first, second)
    scale, exact = invert(constant)
    return at.scaled(x, scale, exact=exact)


def activated(at: Site, x: Tensor, make: Callable[..., Activation], numbers: Sequence[float]) -> Tensor:
    """Apply the activation that ``make`` returns for these numbers to every element; errors name the node."""
    try:
        activation = make(*numbers)
    except RegionsError as error:
        raise type(error)(f"{at.label}: {error}") from None
    return at.activated(x, activation)


def prelu(at: Site, x: Tensor, slopes: Floats) -> Tensor:
    """Leaky ReLU with slopes of x's shape, or that are repeated to it."""
    by_unit = spread(at, slopes, x.shape).ravel()
    return at.activated(x, activations.prelu(by_unit[:1] if (by_unit == by_unit[0]).all() else by_unit))


def compared_with(at: Site, x: Tensor, constant: Floats, *, smallest: bool = False) -> Tensor:
    """The larger of each number and a constant of its own, ``c + relu(x - c)``; or the smaller, ``c - relu(c - x)``."""
    sign = -1.0 if smallest else 1.0
    x, constant = _widened(at, x, constant)
    above = at.activated(at.scaled(x, sign, -sign * constant), activations.relu())
    return at.scaled(above, sign, constant)


def clipped(at: Site, x: Tensor, low: float | None, high: float | None, *, widest: float = math.inf) -> Tensor:
    """Clip x between two bounds, either of which may be None; bounds from ``widest`` on bound nothing."""
    low = None if low is None or low <= -widest else low
    high = None if high is None or high >= widest else high
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


def hard_sigmoid(at: Site, x: Tensor) -> Tensor:
    """Return ``x / 6 + 1/2`` clipped to the interval from 0 to 1: clip x at -3 and 3, then scale it, with a note."""
    return at.scaled(at.activated(x, activations.hard_tanh(-3.0, 3.0)), 1.0 / 6.0, 0.5, exact=False)


def normalized(at: Site, x: Tensor, parameters: Sequence[Floats], wanted: tuple[int, ...], eps: float) -> Tensor:
    """A batch norm of x [1, ..] by weight, bias, mean and variance of shape ``wanted``: x's first axes after the 1."""
    if len(x.shape) < 2 or x.shape[0] != 1:
        raise several(at, x)
    columns = []
    for numbers in parameters:
        if numbers.shape != wanted:
            raise at.refused(f"has {list(numbers.shape)} parameters instead of {list(wanted)}")
        columns.append(spread(at, numbers.reshape(wanted + (1,) * (len(x.shape) - 1 - len(wanted))), x.shape).ravel())
    weight, bias, mean, variance = columns
    scaling = scaling_of_batch_norm(at.node.name, mean, variance, weight, bias, eps)
    return at.by(x, scaling)
