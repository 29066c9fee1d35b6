# SPDX-License-Identifier: MIT
"""Which sums, maxima, norms and orders along axes are computed for constants?

Source: the documentation of torch's and of ONNX's operators.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from regions.errors import NonFiniteError, UnsupportedLayerError
from regions.read.graphs.call import Call, DecidedByRounding, Operation, Unread
from regions.read.graphs.constants.numbers import (
    PRODUCTS_OF_FUNCTION,
    Array,
    as_floats,
    decided,
    given_axes,
    numbers,
    of_each,
    require_side,
    room,
    truths,
    whole,
)
from regions.read.graphs.moving import axis_of

__all__ = ["FUNCTIONS", "ROUNDED", "require_order"]

_BUFFER = "put the result into a buffer of the module before exporting it"
# Why positions are not read.
_UNORDERED = f"of equal constants, whose order torch does not define; {_BUFFER}"
ROUNDED = f"which depend on the rounding of constants; {_BUFFER}"


def _together(function: Callable[..., Any], *, keeps_type: bool = False) -> Operation:
    """Return the operator that applies a function ``(array, axis=, keepdims=)`` along the named axes."""

    def compute(call: Call) -> Array:
        x = numbers(call)
        axes, keep = given_axes(call, x.ndim), call.flag("keepdim")
        room(call, x.shape)
        if keeps_type:
            return whole(call, lambda array: function(array, axis=axes, keepdims=keep), [x])
        return np.asarray(function(as_floats(x), axis=axes, keepdims=keep))

    return compute


def _of_truths(function: Callable[..., Any]) -> Operation:
    """Return the operator that combines along the named axes which numbers are not 0."""
    combined = _together(function)
    return lambda call: combined(call.with_arguments(self=truths(call, numbers(call))))


def _ordered(call: Call) -> Array:
    """Return the numbers that a call puts in order; refuse NaN, for which runtimes disagree."""
    x = numbers(call)
    if x.dtype.kind == "f" and np.isnan(x).any():
        raise NonFiniteError(f"{call.at.label} compares constants of which one is not a number; all must be numbers")
    return x


def _extreme(function: Callable[..., Any]) -> Operation:
    def compute(call: Call) -> Array:
        x = _ordered(call)
        return np.asarray(function(x, axis=given_axes(call, x.ndim), keepdims=call.flag("keepdim")))

    return compute


def _place(function: Callable[..., Any]) -> Operation:
    """Return the operator that finds the position of the first extreme number; in flat order if no axis is named."""

    def compute(call: Call) -> Array:
        x, keep = _ordered(call), call.flag("keepdim")
        last = bool(call.given("select_last_index", 0))
        axis = None if call.given("dim", None) is None else axis_of(call.at, call.integer("dim"), x.ndim)
        length = x.size if axis is None else x.shape[axis]
        places = np.asarray(function(np.flip(x, axis) if last else x, axis=axis, keepdims=True))
        places = length - 1 - places if last else places
        flat = (x.reshape(-1), places.reshape(-1), 0) if axis is None else (x, places, axis)
        if not _extreme_is_decided(call, *flat):
            raise DecidedByRounding(f"{call.at.label} returns positions {ROUNDED}")
        return places if keep else np.asarray(places.squeeze(axis))

    return compute


def _extreme_is_decided(call: Call, x: Array, places: Array, axis: int) -> bool:
    """Return whether rounding does not decide which number along an axis is the extreme one."""
    if x.dtype.kind != "f":
        return True
    order = np.arange(x.shape[axis]).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    extreme = np.take_along_axis(x, places, axis)
    return decided(call, extreme, np.where(order == places, np.nan, x))


def _of_two_or_along(function: Callable[..., Any], place: Callable[..., Any]) -> Operation:
    """Return the operator for the extreme of two arrays, of all numbers, or along an axis with its positions."""

    def compute(call: Call) -> Any:
        if "other" in call.arguments:
            return of_each(function, "self", "other", keeps_type=True)(call)
        x = _ordered(call)
        if call.given("dim", None) is None:
            return np.asarray(function.reduce(x, axis=None))  # type: ignore[attr-defined]
        axis, keep = axis_of(call.at, call.integer("dim"), x.ndim), call.flag("keepdim")
        places = np.asarray(place(x, axis=axis, keepdims=True))
        is_decided = _extreme_is_decided(call, x, places, axis)
        found = [np.take_along_axis(x, places, axis), places]
        result, places = found if keep else [one.squeeze(axis) for one in found]
        return [result, places if is_decided else Unread(call.at.label, ROUNDED, DecidedByRounding)]

    return compute


def _mean(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    """Return a mean; numpy's own function warns if there are no numbers."""
    return np.asarray(np.sum(x, axis=axis, keepdims=keepdims) / np.float64(math.prod(x.shape[i] for i in axis)))


def _correction(call: Call) -> float:
    if "unbiased" in call.arguments:
        return float(call.flag("unbiased"))
    correction = call.given("correction", 1)
    return 1.0 if correction is None else call.with_arguments(correction=correction).number("correction")


def _spread(root: bool, with_mean: bool = False) -> Operation:
    def compute(call: Call) -> Any:
        x = as_floats(numbers(call))
        axes, keep, less = given_axes(call, x.ndim), call.flag("keepdim"), _correction(call)
        call.ignore("correction", "unbiased")
        room(call, x.shape, 3)
        count = math.prod(x.shape[axis] for axis in axes)
        squares = np.sum((x - _mean(x, axis=axes, keepdims=True)) ** 2, axis=axes, keepdims=keep)
        result = np.asarray(squares / np.float64(max(count - less, 0.0)))
        result = np.sqrt(result) if root else result
        return [result, np.asarray(_mean(x, axis=axes, keepdims=keep))] if with_mean else result

    return compute


def _norm_along(x: Array, order: float, axes: tuple[int, ...], keep: bool) -> Array:
    sizes = np.abs(as_floats(x))
    if math.isinf(order):
        return np.asarray((np.max if order > 0 else np.min)(sizes, axis=axes, keepdims=keep))
    if order == 0.0:
        return np.asarray(np.sum(sizes != 0, axis=axes, keepdims=keep, dtype=np.float64))
    if order == 2.0:
        return np.asarray(np.sqrt(np.sum(sizes**2, axis=axes, keepdims=keep)))
    return np.asarray(np.sum(sizes**order, axis=axes, keepdims=keep) ** (1.0 / order))


def _norm(*orders: str) -> Operation:
    """Return the norm of vectors; the order is the first of these arguments that is given, or else 2."""

    def compute(call: Call) -> Array:
        x = numbers(call)
        order = next((call.given(name) for name in orders if call.arguments.get(name) is not None), 2.0)
        call.ignore(*orders, "dtype")
        if type(order) not in (int, float) or math.isnan(order):
            raise call.at.refused(f"has a norm of order {order!r}, which is not a number")
        room(call, x.shape, 3)
        if order == 0:
            truths(call, x)
        return _norm_along(x, float(order), given_axes(call, x.ndim), call.flag("keepdim"))

    return compute


def _linear_norm(call: Call) -> Array:
    """Return torch.linalg.norm: of vectors along one axis, of all numbers, or of matrices."""
    order, x = call.given("ord", None), numbers(call)
    axes = given_axes(call, x.ndim)
    call.ignore("dtype")
    if order is None or len(axes) != 2:
        if len(axes) > 2 and order not in (None, 2):
            raise ValueError("a norm of more than two axes")
        return _norm("ord")(call)
    room(call, x.shape, 4)
    call.at.reading.charge_products(PRODUCTS_OF_FUNCTION * x.size * min(x.shape[axis] for axis in axes))
    return np.asarray(np.linalg.norm(as_floats(x), order, axis=(axes[0], axes[1]), keepdims=call.flag("keepdim")))


def _matrix_norm(call: Call) -> Array:
    axes, order = call.arguments.get("dim", [-2, -1]), call.given("ord", "fro")
    return _linear_norm(call.with_arguments(dim=axes, ord=order))


def _scaled_to_norm(call: Call) -> Array:
    """Divide by the norm along an axis, as ONNX's LpNormalization does."""
    x = as_floats(numbers(call))
    axis = axis_of(call.at, call.integer("dim", -1), x.ndim)
    room(call, x.shape, 3)
    sizes = _norm_along(x, float(call.integer("p", 2)), (axis,), True)
    require_side(call, sizes)
    return np.where(sizes == 0, 0.0, x / sizes)


def _running(function: Callable[..., Any]) -> Operation:
    def compute(call: Call) -> Array:
        x = numbers(call)
        axis = axis_of(call.at, call.integer("dim"), x.ndim)
        without, back = bool(call.given("exclusive", 0)), bool(call.given("reverse", 0))
        room(call, x.shape, 4)

        def along(array: Array) -> Array:
            array = np.flip(array, axis) if back else array
            if without:
                start = np.full_like(np.take(array, [0], axis), 0 if function is np.cumsum else 1)
                array = np.concatenate([start, np.delete(array, -1, axis)], axis)
            result = function(array, axis=axis)
            return np.asarray(np.flip(result, axis) if back else result)

        return whole(call, along, [x])

    return compute


def _logarithm_of_sum(call: Call) -> Array:
    x = as_floats(numbers(call))
    room(call, x.shape, 3)
    return np.asarray(special.logsumexp(x, axis=given_axes(call, x.ndim), keepdims=call.flag("keepdim")))


def _softmax(logarithm: bool) -> Operation:
    function = special.log_softmax if logarithm else special.softmax

    def compute(call: Call) -> Array:
        x = as_floats(numbers(call))
        call.ignore("half_to_float")
        axis = axis_of(call.at, call.integer("dim", -1), x.ndim)
        room(call, x.shape, 4)
        return np.asarray(function(x, axis=axis))

    return compute


def _sorted(only_places: bool = False) -> Operation:
    def compute(call: Call) -> Any:
        x = _ordered(call)
        axis = axis_of(call.at, call.integer("dim", -1), x.ndim)
        falling, stable = call.flag("descending"), call.given("stable", None)
        room(call, x.shape, 6)
        places = _order(x, axis, falling)
        values = np.take_along_axis(x, places, axis)
        further = _positions(call, values, places, axis, stable=bool(stable))
        if not only_places:
            return [values, further]
        if isinstance(further, Unread):
            raise further.error(f"{call.at.label} returns positions {further.why}")
        return further

    return compute


def _positions(call: Call, ranked: Array, places: Array, axis: int, *, stable: bool) -> Array | Unread:
    """Return the positions of numbers that are in order, unless something else than their values decides them."""
    earlier, later = _part(ranked, axis, 0, -1), _part(ranked, axis, 1, None)
    if not stable and (earlier == later).any():
        return Unread(call.at.label, _UNORDERED, DecidedByRounding)
    return places if decided(call, earlier, later) else Unread(call.at.label, ROUNDED, DecidedByRounding)


def _part(array: Array, axis: int, start: int, end: int | None) -> Array:
    return array[(slice(None),) * axis + (slice(start, end),)]


def _order(x: Array, axis: int, falling: bool) -> Array:
    """Return the stable order of numbers along an axis."""
    if not falling:
        return np.argsort(x, axis=axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return np.asarray(x.shape[axis] - 1 - np.flip(backwards, axis))


def _top(call: Call) -> list[Any]:
    x, count = _ordered(call), call.integers("k")
    axis = axis_of(call.at, call.integer("dim", -1), x.ndim)
    falling, stable = bool(call.given("largest", True)), bool(call.given("stable", True))
    if len(count) != 1 or not 0 <= count[0] <= x.shape[axis]:
        raise call.at.refused(f"takes the largest {count[:8]} of {x.shape[axis]} numbers")
    require_order(call, count[0])
    room(call, x.shape, 6)
    places = _part(_order(x, axis, falling), axis, 0, count[0] + 1)  # the next number may be equal to the last one
    ranked = np.take_along_axis(x, places, axis)
    values, places = (_part(array, axis, 0, count[0]) for array in (ranked, places))
    return [values, _positions(call, ranked, places, axis, stable=stable)]


def require_order(call: Call, count: int) -> None:
    """Refuse the ``count`` first numbers in an order that is not defined."""
    if count > 1 and not call.given("sorted", True):
        raise UnsupportedLayerError(
            f"{call.at.label} gives the {count} first numbers in an order that is not defined; export it with "
            "sorted=True"
        )


def _picked(call: Call) -> Array:
    x, places = numbers(call), numbers(call, "index")
    call.ignore("sparse_grad")
    axis = axis_of(call.at, call.integer("dim", 0), x.ndim)
    room(call, places.shape, 3)
    if places.ndim != x.ndim:
        raise ValueError
    window = tuple(slice(n) if i != axis else slice(None) for i, n in enumerate(places.shape))
    return np.take_along_axis(x[window], places, axis)


def with_scalars(operation: Operation) -> Operation:
    """Let an operator take a single number, which torch sees as one axis with one number."""

    def compute(call: Call) -> Any:
        given: dict[str, Any] = {name: call.arguments.get(name) for name in ("self", "index")}
        if "other" in call.arguments or not isinstance(given["self"], np.ndarray) or given["self"].ndim:
            return operation(call)
        rows = {name: array.reshape(1) for name, array in given.items() if isinstance(array, np.ndarray)}
        result = operation(call.with_arguments(**rows))
        results = result if isinstance(result, list) else [result]
        scalars = [one if isinstance(one, Unread) else one.reshape(()) for one in results]
        return scalars if isinstance(result, list) else scalars[0]

    return compute


_ALONG_AXES: dict[str, Operation] = {
    "sum": _together(np.sum, keeps_type=True),
    "prod": _together(np.prod, keeps_type=True),
    "mean": _together(_mean),
    **{"amax": _extreme(np.max), "amin": _extreme(np.min)},
    **{"any": _of_truths(np.any), "all": _of_truths(np.all), "count_nonzero": _of_truths(np.sum)},
    **{"argmax": _place(np.argmax), "argmin": _place(np.argmin)},
    "max": _of_two_or_along(np.maximum, np.argmax),
    "min": _of_two_or_along(np.minimum, np.argmin),
    **{"var": _spread(False), "std": _spread(True)},
    **{"var_mean": _spread(False, True), "std_mean": _spread(True, True)},
    **dict.fromkeys(("norm", "linalg_vector_norm", "frobenius_norm"), _norm("p", "ord")),
    **{"linalg_norm": _linear_norm, "linalg_matrix_norm": _matrix_norm},
    "lp_normalization": _scaled_to_norm,
    "sum_of_squares": _together(lambda x, **along: np.sum(x * x, **along), keeps_type=True),
    "sum_of_sizes": _together(lambda x, **along: np.sum(np.abs(x), **along), keeps_type=True),
    "logarithm_of_sum": _together(lambda x, **along: np.log(np.sum(x, **along))),
    "logsumexp": _logarithm_of_sum,
    **{"cumsum": _running(np.cumsum), "cumprod": _running(np.cumprod)},
    **dict.fromkeys(("softmax", "_softmax"), _softmax(False)),
    **dict.fromkeys(("log_softmax", "_log_softmax"), _softmax(True)),
    **{"sort": _sorted(), "argsort": _sorted(only_places=True), "topk": _top},
    "gather": _picked,
}

FUNCTIONS: dict[str, Operation] = {name: with_scalars(operation) for name, operation in _ALONG_AXES.items()}
