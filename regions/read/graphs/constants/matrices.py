# SPDX-License-Identifier: MIT
"""Which products of matrices, and which parts and functions of a matrix, are computed for constants?

Products are counted before they are computed. Whole numbers are multiplied as doubles, which is exact up to 2^53.
Source: the documentation of torch's and of ONNX's operators.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from regions.read.graphs.call import Call, Operation
from regions.read.graphs.constants.numbers import (
    PRODUCTS_OF_FUNCTION,
    Array,
    as_floats,
    numbers,
    require_broadcast,
    require_side,
    require_stable_sign,
    room,
    sign_of_determinant,
)
from regions.read.graphs.moving import axis_of

__all__ = ["FUNCTIONS"]

# Doubles hold all whole numbers up to this one.
_EXACT = 2.0**53


def _product(call: Call, first: Array, second: Array) -> Array:
    """Return a product of matrices, or of stacks of matrices, as numpy's matmul defines it."""
    if not first.ndim or not second.ndim:
        raise ValueError
    lengths = np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    rows = first.shape[-2] if first.ndim > 1 else 1
    columns = second.shape[-1] if second.ndim > 1 else 1
    shape = (*lengths, rows, columns)
    room(call, shape, 3)
    call.at.reading.charge_products(math.prod(shape) * first.shape[-1])
    result = np.asarray(np.matmul(as_floats(first), as_floats(second)))
    if first.dtype.kind == "f" or second.dtype.kind == "f":
        return result
    sizes = np.matmul(np.abs(as_floats(first)), np.abs(as_floats(second)))
    if sizes.size and not float(sizes.max()) < _EXACT:
        raise call.at.refused("multiplies whole numbers that are too large")
    return result.astype(np.int64)


def _of_two(first: str, second: str, axes: Sequence[tuple[int, int]] | None = None) -> Operation:
    def multiply(call: Call) -> Array:
        one, two = numbers(call, first), numbers(call, second)
        if axes is not None and (one.ndim, two.ndim) not in axes:
            raise ValueError
        return _product(call, one, two)

    return multiply


def _inner(call: Call) -> Array:
    """Return the sums of products over the last axes of two tensors."""
    one, two = numbers(call), numbers(call, "other")
    if not one.ndim or not two.ndim or one.shape[-1] != two.shape[-1]:
        raise ValueError
    rows, columns = (x.reshape(math.prod(x.shape[:-1]), x.shape[-1]) for x in (one, two))
    return _product(call, rows, columns.T).reshape(one.shape[:-1] + two.shape[:-1])


def _linear(call: Call) -> Array:
    x, weight, bias = numbers(call), numbers(call, "weight"), call.given("bias", None)
    result = _product(call, x, weight.T)
    if bias is None:
        return result
    shift = numbers(call, "bias")
    require_broadcast(call, [result, shift])
    return np.asarray(result + shift)


def _sum_and_product(first: str, second: str, over_stack: bool = False) -> Operation:
    """Return ``beta * self + alpha * first @ second``; ONNX's Gemm has flags for transposed matrices."""

    def compute(call: Call) -> Array:
        one, two = numbers(call, first), numbers(call, second)
        one = one.T if call.flag("transposed1") else one
        two = two.T if call.flag("transposed2") else two
        alpha, beta = numbers(call, "alpha", 1), numbers(call, "beta", 1)
        result = _product(call, one, two)
        result = alpha * (result.sum(axis=0) if over_stack else result)
        if call.given("self", None) is None:
            return np.asarray(result)
        added = numbers(call)
        require_broadcast(call, [result, added])
        return np.asarray(result + beta * added)

    return compute


def _einsum(call: Call) -> Array:
    equation, given = call.given("equation"), call.given("tensors")
    call.ignore("path")
    if not isinstance(equation, str) or not isinstance(given, list) or not 0 < len(given) <= 8:
        raise ValueError
    operands = [as_floats(numbers(call.with_arguments(self=one))) for one in given]
    words = equation.replace(" ", "")
    terms = words.split("->")[0].split(",")
    lengths: dict[str, int] = {}
    if "." in words or len(terms) != len(operands):
        raise ValueError
    for term, operand in zip(terms, operands, strict=True):
        if len(term) != operand.ndim:
            raise ValueError
        lengths.update(zip(term, operand.shape, strict=True))
    named = words.split("->")[1] if "->" in words else [letter for letter in lengths if words.count(letter) == 1]
    room(call, [lengths[letter] for letter in named], 3)
    call.at.reading.charge_products(PRODUCTS_OF_FUNCTION * len(operands) * math.prod(lengths.values()))
    return np.asarray(np.einsum(words, *operands))


def _outer(call: Call) -> Array:
    first, second = numbers(call), numbers(call, "other")
    if first.ndim != 1 or second.ndim != 1:
        raise ValueError
    return _product(call, first[:, np.newaxis], second[np.newaxis])


def _triangle(function: Callable[..., Array]) -> Operation:
    def cut(call: Call) -> Array:
        x, given = numbers(call), call.integers(call.first_of("diagonal", "k"), 0)
        if x.ndim < 2 or len(given) != 1:
            raise ValueError
        room(call, x.shape, 3)
        return np.asarray(function(x, given[0]))

    return cut


def _trilu(call: Call) -> Array:
    return _triangle(np.triu if call.given("upper", 1) else np.tril)(call)


def _diagonal(call: Call) -> Array:
    """Return the diagonal of a matrix, or the matrix with a diagonal."""
    x, offset = numbers(call), call.integer("diagonal", 0)
    side = x.size + abs(offset)
    room(call, (side, side) if x.ndim == 1 else x.shape)
    return np.diag(x, offset)


def _with_diagonals(call: Call) -> Array:
    x, offset = numbers(call), call.integer("offset", 0)
    count, side = x.ndim + 1, (x.shape[-1] if x.ndim else 1) + abs(offset)
    places = [axis_of(call.at, call.integer(name, default), count) for name, default in (("dim1", -2), ("dim2", -1))]
    room(call, (*x.shape[:-1], side, side))
    result = np.zeros((*x.shape[:-1], side, side), x.dtype)
    rows = np.arange(x.shape[-1]) + max(-offset, 0)
    result[..., rows, rows + offset] = x
    return np.moveaxis(result, (-2, -1), places)


def _of_square(function: Callable[..., Any], *, inverts: bool = False) -> Operation:
    """Return a function of square matrices [.., n, n]; ``inverts``: it has a pole at those without inverse."""

    def compute(call: Call) -> Array:
        x = as_floats(numbers(call, call.first_of("self", "A")))
        call.ignore("check_errors", "upper")
        if x.ndim < 2 or x.shape[-1] != x.shape[-2] or not np.isfinite(x).all() or call.arguments.get("upper"):
            raise ValueError
        room(call, x.shape, 12)
        call.at.reading.charge_products(PRODUCTS_OF_FUNCTION * x.size * x.shape[-1])
        if inverts:
            require_stable_sign(call, sign_of_determinant, x)
        return np.asarray(function(x))

    return compute


def _solution(call: Call) -> Array:
    """Return the solution of ``A @ x = B``, or of ``x @ A = B`` if not ``left``."""
    a, b, left = as_floats(numbers(call, "A")), as_floats(numbers(call, "B")), call.flag("left", True)
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != a.shape[-2] or not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError  # also one vector, because numpy's versions differ about it
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    side = a.shape[-1]
    shape = (*stack, side, side + max(b.shape[-2:]))
    room(call, shape, 4)
    call.at.reading.charge_products(PRODUCTS_OF_FUNCTION * math.prod(shape) * side)
    require_stable_sign(call, sign_of_determinant, a)
    if left:
        return np.asarray(np.linalg.solve(a, b))
    return np.swapaxes(np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)


def _of_reflections(call: Call) -> Array:
    """Return the first columns of a product of Householder reflections."""
    v, factors = as_floats(numbers(call)), as_floats(numbers(call, "tau"))
    if v.ndim < 2 or v.shape[-1] > v.shape[-2] or factors.shape[-1] > v.shape[-1] or v.shape[:-2] != factors.shape[:-1]:
        raise ValueError
    room(call, v.shape, 6)
    call.at.reading.charge_products(PRODUCTS_OF_FUNCTION * v.size * v.shape[-1])
    rows, columns = v.shape[-2:]
    result = np.broadcast_to(np.eye(rows, columns), v.shape).copy()
    for i in reversed(range(factors.shape[-1])):
        reflector = v[..., :, i : i + 1].copy()
        reflector[..., :i, :], reflector[..., i, :] = 0.0, 1.0
        result -= factors[..., i, np.newaxis, np.newaxis] * reflector * (reflector * result).sum(axis=-2, keepdims=True)
    return result


def _exponential(x: Array) -> Array:
    from scipy import linalg

    return np.asarray(linalg.expm(x))


def _weight_norm(several: bool) -> Operation:
    """Return ``g * v / |v|``, with the norm over all axes but one; ``several`` says whether norms are a result."""

    def compute(call: Call) -> Any:
        v, g, axis = as_floats(numbers(call, "v")), as_floats(numbers(call, "g")), call.integer("dim", 0)
        kept = axis_of(call.at, axis, v.ndim) if axis != -1 or several else None
        others = tuple(i for i in range(v.ndim) if i != kept)
        room(call, v.shape, 4)
        norms = np.sqrt(np.sum(v * v, axis=others, keepdims=True))
        require_side(call, norms)
        require_broadcast(call, [v, g])
        result = np.asarray(v * (g / norms))
        return [result, norms] if several else result

    return compute


def _layer_norm(call: Call) -> Array:
    x, eps = as_floats(numbers(call)), call.number("eps", 1e-5)
    call.ignore("cudnn_enable")
    count = len(call.integers("normalized_shape"))
    return _standardised(call, x, tuple(range(x.ndim - count, x.ndim)), eps)


def _batch_norm(call: Call) -> Array:
    """Return a batch norm of constants, by stored statistics or, as timm standardises weights, by their own."""
    x, eps = as_floats(numbers(call)), call.number("eps", 1e-5)
    shape, own = (-1, *(1,) * (x.ndim - 2)), call.flag("training") or call.given("running_mean", None) is None
    if own:
        call.ignore("running_mean", "running_var")
        return _standardised(call, x, (0, *range(2, x.ndim)), eps, shape)
    room(call, x.shape, 5)
    mean, variance = (numbers(call, name).reshape(shape) for name in ("running_mean", "running_var"))
    return _scaled(call, (x - mean) / np.sqrt(variance + eps), shape)


def _group_norm(call: Call) -> Array:
    """Return a norm over groups of channels; an instance norm, without stored statistics, has a group for each."""
    x, eps = as_floats(numbers(call)), call.number("eps", 1e-5)
    call.ignore("cudnn_enabled", "momentum", "use_input_stats")
    if x.ndim < 2 or not all(call.given(name, None) is None for name in ("running_mean", "running_var")):
        raise ValueError
    groups, channels = call.integer("num_groups", x.shape[1]), (-1, *(1,) * (x.ndim - 2))
    if groups < 1 or x.shape[1] % groups:
        raise ValueError
    apart = x.reshape(x.shape[0], groups, -1)
    plain = call.with_arguments(weight=None, bias=None)
    return _scaled(call, _standardised(plain, apart, (2,), eps).reshape(x.shape), channels)


def _rms_norm(call: Call) -> Array:
    x = as_floats(numbers(call))
    given, least = call.given("eps", None), np.finfo(np.dtype(call.stored) if call.stored else float).eps
    axes = tuple(range(x.ndim - len(call.integers("normalized_shape")), x.ndim))
    room(call, x.shape, 4)
    size = np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + (least if given is None else call.number("eps")))
    return _scaled(call, x / size, None)


def _standardised(
    call: Call, x: Array, axes: tuple[int, ...], eps: float, shape: tuple[int, ...] | None = None
) -> Array:
    """Subtract the mean along axes, divide by the standard deviation, and scale."""
    room(call, x.shape, 5)
    deviation = x - x.mean(axis=axes, keepdims=True)
    return _scaled(call, deviation / np.sqrt(np.mean(deviation**2, axis=axes, keepdims=True) + eps), shape)


def _scaled(call: Call, x: Array, shape: tuple[int, ...] | None) -> Array:
    """Multiply with ``weight`` and add ``bias``, where they are given, in another shape."""
    for name, function in (("weight", np.multiply), ("bias", np.add)):
        if call.given(name, None) is not None:
            given = numbers(call, name)
            x = function(x, given if shape is None else given.reshape(shape))
    return np.asarray(x)


FUNCTIONS: dict[str, Operation] = {
    **dict.fromkeys(("matmul", "__matmul__"), _of_two("self", "other")),
    "mm": _of_two("self", "other", [(2, 2)]),
    "bmm": _of_two("self", "other", [(3, 3)]),
    "mv": _of_two("self", "other", [(2, 1)]),
    "dot": _of_two("self", "other", [(1, 1)]),
    "vdot": _of_two("self", "other", [(1, 1)]),
    "inner": _inner,
    **dict.fromkeys(("outer", "ger"), _outer),
    "linear": _linear,
    "addmm": _sum_and_product("mat1", "other"),
    "addmv": _sum_and_product("mat", "other"),
    "baddbmm": _sum_and_product("batch1", "batch2"),
    "addbmm": _sum_and_product("batch1", "batch2", over_stack=True),
    "einsum": _einsum,
    **{"tril": _triangle(np.tril), "triu": _triangle(np.triu), "trilu": _trilu},
    "diag": _diagonal,
    "diag_embed": _with_diagonals,
    "trace": lambda call: np.asarray(np.trace(numbers(call))),
    **dict.fromkeys(("inverse", "linalg_inv"), _of_square(np.linalg.inv, inverts=True)),
    "linalg_det": _of_square(np.linalg.det),
    **dict.fromkeys(("cholesky", "linalg_cholesky"), _of_square(np.linalg.cholesky)),
    **dict.fromkeys(("matrix_exp", "linalg_matrix_exp"), _of_square(_exponential)),
    "linalg_solve": _solution,
    "linalg_householder_product": _of_reflections,
    "_weight_norm": _weight_norm(several=False),
    "_weight_norm_interface": _weight_norm(several=True),
    "layer_norm": _layer_norm,
    "batch_norm": _batch_norm,
    **dict.fromkeys(("group_norm", "instance_norm"), _group_norm),
    "rms_norm": _rms_norm,
}
