# SPDX-License-Identifier: MIT
"""Which functions of single numbers are computed for constants?

Source: the documentation of torch's and of ONNX's operators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from regions.read.graphs.call import Call, Operation
from regions.read.graphs.constants.numbers import (
    Array,
    as_floats,
    jumping,
    numbers,
    of_each,
    remainder,
    require_broadcast,
    require_decided,
    require_side,
    undecided,
    whole,
)

__all__ = ["FUNCTIONS"]

Function = Callable[..., Any]


def _softplus(x: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    return np.where(x * beta > threshold, x, np.logaddexp(0.0, x * beta) / beta)


def _elu(x: Array, alpha: float, scale: float, inner: float) -> Array:
    return np.where(x > 0, scale * x, scale * alpha * np.expm1(np.minimum(x, 0.0) * inner))


def _gelu(x: Array) -> Array:
    return np.asarray(x * special.ndtr(x))


def _gelu_of_tanh(x: Array) -> Array:
    return np.asarray(0.5 * x * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3))))


def _not_by_zero(function: Function) -> Function:
    """Return a division that refuses to divide whole numbers by 0, for which numpy returns 0."""

    def divide(first: Array, second: Array) -> Array:
        if first.dtype.kind != "f" and second.dtype.kind != "f" and not second.all():
            raise ZeroDivisionError
        return np.asarray(function(first, second))

    return divide


# Selu's numbers, as torch and ONNX define them.
_SELU = 1.6732632423543772, 1.0507009873554805
_SMOOTH: dict[str, Function] = {
    **{name: getattr(np, name) for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt")},
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "sinc")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: getattr(special, name) for name in ("erf", "erfc", "erfinv", "digamma", "log_ndtr")},
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "reciprocal": lambda x: 1.0 / x,
    "sigmoid": special.expit,
    "log_sigmoid": lambda x: -np.logaddexp(0.0, -x),
    "lgamma": special.gammaln,
    "softsign": lambda x: x / (1.0 + np.abs(x)),
    "mish": lambda x: x * np.tanh(_softplus(x)),
    "silu": lambda x: x * special.expit(x),
    "hardswish": lambda x: x * np.clip(x + 3.0, 0.0, 6.0) / 6.0,
    "selu": lambda x: _elu(x, *_SELU, 1.0),
    "tanhshrink": lambda x: x - np.tanh(x),
    "deg2rad": np.deg2rad,
    "rad2deg": np.rad2deg,
}
# On which side of a pole is an operand of a function? Where a function merely has no value, the result is refused.
_SIDES: dict[str, Function] = {
    **dict.fromkeys(("log", "log2", "log10", "rsqrt", "reciprocal"), np.sign),
    "log1p": lambda x: np.sign(1.0 + x),
    **dict.fromkeys(("atanh", "erfinv"), lambda x: np.sign(1.0 - np.abs(x))),
    "tan": lambda x: np.sign(np.cos(x)),
    **dict.fromkeys(("digamma", "lgamma"), lambda x: np.where(x > 0, 1.0, np.floor(x) + np.ceil(x))),
}
_SMOOTH_OF_TWO: dict[str, Function] = {
    **{"hypot": np.hypot, "logaddexp": np.logaddexp, "logaddexp2": np.logaddexp2},
}
_KEEPING: dict[str, Function] = {
    **dict.fromkeys(("abs", "absolute"), np.abs),
    **dict.fromkeys(("neg", "negative"), np.negative),
    "square": np.square,
    "relu": lambda x: np.maximum(x, 0),
}
_JUMPING: dict[str, Function] = {
    **{"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "fix": np.trunc, "sign": np.sign, "sgn": np.sign},
    **{"isnan": np.isnan, "isfinite": np.isfinite, "isinf": np.isinf, "logical_not": np.logical_not},
    "bitwise_not": np.invert,
}
_COMPARED: dict[str, Function] = {
    **{"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater},
    **{"ge": np.greater_equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal},
    **{"greater": np.greater, "greater_equal": np.greater_equal},
}
_JUMPING_OF_TWO: dict[str, Function] = {
    **{f"logical_{word}": getattr(np, f"logical_{word}") for word in ("and", "or", "xor")},
    **{f"bitwise_{word}": getattr(np, f"bitwise_{word}") for word in ("and", "or", "xor")},
    **{f"__{word}__": getattr(np, f"bitwise_{word}") for word in ("and", "or", "xor")},
    "floor_divide": _not_by_zero(np.floor_divide),
}


def _comparison(function: Function) -> Operation:
    """Return a comparison; rounding may decide neither it nor which of both numbers is larger."""

    def compare(call: Call) -> Array:
        first, second = numbers(call), numbers(call, "other")
        require_broadcast(call, [first, second])
        require_decided(call, first, second)
        return np.asarray(function(first, second))

    return compare


def _added(sign: int, turned: bool = False) -> Operation:
    def add(call: Call) -> Array:
        first, second, alpha = numbers(call), numbers(call, "other"), numbers(call, "alpha", 1)
        first, second = (second, first) if turned else (first, second)
        require_broadcast(call, [first, second])
        return whole(call, lambda a, b, factor: a + sign * factor * b, [first, second, alpha])

    return add


def _quotient(first: Array, second: Array) -> Array:
    """Return the quotient of whole numbers, rounded towards zero."""
    return np.asarray(np.sign(first) * np.sign(second) * (np.abs(first) // np.abs(second)))


def _divided(call: Call) -> Array:
    first, second = numbers(call), numbers(call, "other")
    require_broadcast(call, [first, second])
    mode, of_integers = call.given("rounding_mode", None), first.dtype.kind != "f" and second.dtype.kind != "f"
    if not of_integers:
        require_side(call, second)
    if mode is None:
        return np.asarray(as_floats(first) / as_floats(second))
    if mode == "floor":
        return jumping(call, _not_by_zero(np.floor_divide), [first, second])
    if mode != "trunc":
        raise call.at.refused(f"rounds in a way that is not known, {mode!r}")
    truncated = _not_by_zero(_quotient) if of_integers else lambda a, b: np.trunc(a / b)
    return jumping(call, truncated, [first, second])


def _power(call: Call) -> Array:
    base, exponent = numbers(call), numbers(call, "exponent")
    require_broadcast(call, [base, exponent])
    if base.dtype.kind == "f" or exponent.dtype.kind == "f":
        require_side(call, base, exponent, side=_side_of_power)
    return whole(call, np.power, [base, exponent])


def _side_of_power(base: Array, exponent: Array) -> Array:
    """Return 0 where a power is continuous; otherwise what it depends on."""
    is_whole = exponent == np.floor(exponent)
    negative = np.where(is_whole, 3.0 + exponent, np.inf)
    side = np.where(base > 0, 0.0, np.where(base == 0, exponent <= 0, negative))
    return np.where(is_whole & (exponent > 0) & np.isfinite(base), 0.0, side)


def _angle(call: Call) -> Array:
    """Return the angle of points; it jumps only where x may be at most 0, and rounding decides the sign of y."""
    y, x = as_floats(numbers(call)), as_floats(numbers(call, "other"))
    require_broadcast(call, [y, x])
    on_the_right = ~undecided(call, lambda y, x: (x > 0) & (y == y), [y, x]) & (x > 0)
    jumping(call, lambda y, x: np.signbit(y) & (x == x), [y, x], unless=on_the_right)
    return np.asarray(np.arctan2(y, x))


def _with_sign(call: Call) -> Array:
    x, sign = as_floats(numbers(call)), as_floats(numbers(call, "other"))
    require_broadcast(call, [x, sign])
    jumping(call, np.signbit, [sign])
    return np.asarray(np.copysign(x, sign))


def _times_logarithm(call: Call) -> Array:
    x, y = as_floats(numbers(call)), as_floats(numbers(call, "other"))
    require_broadcast(call, [x, y])
    require_side(call, y)
    return np.asarray(special.xlogy(x, y))


def _chosen(call: Call) -> Array:
    condition, first, second = numbers(call, "condition"), numbers(call), numbers(call, "other")
    if condition.dtype.kind == "f":
        raise call.at.refused("chooses by numbers that are not truth values")
    require_broadcast(call, [condition, first, second])
    return np.where(condition.astype(bool), first, second)


def _filled_where(call: Call) -> Array:
    return _chosen(
        call.with_arguments(condition=call.given("mask"), self=call.given("value"), other=call.given("self"))
    )


def _clamped(call: Call) -> Array:
    result = numbers(call)
    for name, function in (("min", np.maximum), ("max", np.minimum)):
        if call.given(name, None) is not None:
            bound = numbers(call, name)
            require_broadcast(call, [result, bound])
            result = np.asarray(function(result, bound))
    return result


def _largest(function: Function) -> Operation:
    """Return the largest or smallest of operands, which are ``tensors``, or else ``self`` and ``other``."""

    def compare(call: Call) -> Array:
        names = ("self", "other")
        listed = call.given("tensors") if "tensors" in call.arguments else [call.given(name) for name in names]
        result, *others = (numbers(call.with_arguments(self=one)) for one in listed)
        for other in others:
            require_broadcast(call, [result, other])
            result = np.asarray(function(result, other))
        return result

    return compare


def _remainder(function: Function, rounds: Function) -> Operation:
    def compute(call: Call) -> Array:
        first, second = numbers(call), numbers(call, "other")
        require_broadcast(call, [first, second])
        return remainder(call, first, second, function, rounds)

    return compute


def _fraction(call: Call) -> Array:
    x = as_floats(numbers(call))
    return np.asarray(x - jumping(call, np.trunc, [x]))


def _rounded(call: Call) -> Array:
    decimals = call.integer("decimals", 0)
    if not decimals:
        return jumping(call, np.round, [numbers(call)])
    x, decimals = numbers(call), max(-300, min(decimals, 300))
    jumping(call, lambda x: np.round(x * 10.0**decimals if decimals > 0 else x / 10.0**-decimals), [x])
    return np.asarray(np.round(x, decimals))


def _with_numbers(function: Function, **given: float) -> Operation:
    """Return the operator for a function of doubles that also takes numbers with these names and defaults."""

    def compute(call: Call) -> Array:
        return np.asarray(function(as_floats(numbers(call)), *(call.number(*each) for each in given.items())))

    return compute


def _cut(kept: Function, **given: float) -> Operation:
    """Return the operator that keeps some numbers, and replaces the others by ``value``, 0 if left out."""

    def compute(call: Call) -> Array:
        x, (bound,) = as_floats(numbers(call)), [call.number(*each) for each in given.items()]
        return np.where(jumping(call, lambda x: kept(x, bound), [x]), x, call.number("value", 0.0))

    return compute


def _step(call: Call) -> Array:
    x, at_zero = numbers(call), numbers(call, "values")
    require_broadcast(call, [x, at_zero])
    sign = jumping(call, np.sign, [x])
    return np.where(sign == 0, at_zero, (sign > 0).astype(at_zero.dtype))


def _gelus(call: Call) -> Array:
    x = as_floats(numbers(call))
    return _gelu_of_tanh(x) if call.given("approximate", "none") == "tanh" else _gelu(x)


def _logit(call: Call) -> Array:
    x, eps = as_floats(numbers(call)), call.given("eps", None)
    if eps is None:
        require_side(call, x, side=lambda x: np.sign(x) + np.sign(1.0 - x))
    return np.asarray(special.logit(x if eps is None else np.clip(x, eps, 1.0 - eps)))


def _finite(call: Call) -> Array:
    x = numbers(call)
    jumping(call, lambda x: np.where(np.isfinite(x), 0.0, x), [as_floats(x)])
    given = {name: call.given(name, None) for name in ("nan", "posinf", "neginf")}
    return np.nan_to_num(
        x, nan=0.0 if given["nan"] is None else given["nan"], **{name: given[name] for name in ("posinf", "neginf")}
    )


FUNCTIONS: dict[str, Operation] = {
    **{name: of_each(function, side=_SIDES.get(name)) for name, function in _SMOOTH.items()},
    **{name: of_each(function, "self", "other") for name, function in _SMOOTH_OF_TWO.items()},
    **dict.fromkeys(("atan2", "arctan2"), _angle),
    **{"copysign": _with_sign, "xlogy": _times_logarithm},
    **{name: of_each(function, keeps_type=True) for name, function in _KEEPING.items()},
    **{name: of_each(function, jumps=True) for name, function in _JUMPING.items()},
    **{name: of_each(function, "self", "other", jumps=True) for name, function in _JUMPING_OF_TWO.items()},
    **{name: _comparison(function) for name, function in _COMPARED.items()},
    "add": _added(1),
    **dict.fromkeys(("sub", "subtract"), _added(-1)),
    "rsub": _added(-1, turned=True),
    **dict.fromkeys(("mul", "multiply"), of_each(np.multiply, "self", "other", keeps_type=True)),
    **dict.fromkeys(("div", "divide", "true_divide"), _divided),
    "pow": _power,
    **dict.fromkeys(("maximum", "fmax"), _largest(np.maximum)),
    **dict.fromkeys(("minimum", "fmin"), _largest(np.minimum)),
    **dict.fromkeys(("clamp", "clip", "clamp_min", "clamp_max"), _clamped),
    "where": _chosen,
    "masked_fill": _filled_where,
    "round": _rounded,
    "frac": _fraction,
    "remainder": _remainder(np.mod, np.floor),
    "fmod": _remainder(np.fmod, np.trunc),
    "nan_to_num": _finite,
    "softplus": _with_numbers(_softplus, beta=1.0, threshold=20.0),
    "elu": _with_numbers(_elu, alpha=1.0, scale=1.0, input_scale=1.0),
    "celu": _with_numbers(lambda x, alpha: _elu(x, alpha, 1.0, 1.0 / alpha if alpha else 1.0), alpha=1.0),
    "gelu": _gelus,
    "logit": _logit,
    "threshold": _cut(lambda x, least: x > least, threshold=0.0),
    "hardshrink": _cut(lambda x, least: np.abs(x) > least, lambd=0.5),
    "heaviside": _step,
}
