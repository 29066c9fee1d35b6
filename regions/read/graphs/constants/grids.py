# SPDX-License-Identifier: MIT
"""Which grids, tables and places are made of constants?

Source: the operators' documentation in torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from regions.read.graphs.call import Call, DecidedByRounding, Operation, Unread
from regions.read.graphs.constants.along_axes import ROUNDED
from regions.read.graphs.constants.numbers import Array, decided, jumping, numbers, room, whole
from regions.read.graphs.moving import axis_of

__all__ = ["FUNCTIONS"]

_MOST_OPERANDS = 64


def _arrays(call: Call) -> list[Array]:
    """Return the listed arrays in one type of numbers."""
    given = call.given("tensors")
    if not isinstance(given, list) or not 0 < len(given) <= _MOST_OPERANDS:
        raise ValueError
    arrays = [numbers(call.with_arguments(self=one)) for one in given]
    kind = np.result_type(*arrays)
    return [array.astype(kind) for array in arrays]


def _grid(call: Call) -> list[Array]:
    """Return the coordinates of a grid, one array for each list of coordinates."""
    lists = [np.atleast_1d(one) for one in _arrays(call)]
    indexing = call.given("indexing", "ij")
    if indexing not in ("ij", "xy") or any(one.ndim > 1 for one in lists):
        raise ValueError
    room(call, [len(one) for one in lists], 2 * len(lists))
    return [np.asarray(one) for one in np.meshgrid(*lists, indexing=indexing)]


def _all_combinations(call: Call) -> Array:
    """Return every choice of one number from each list, as rows; of a single list, the list itself."""
    lists = _arrays(call)
    if any(one.ndim != 1 for one in lists):
        raise ValueError
    if len(lists) == 1:
        return lists[0]
    room(call, [*(len(one) for one in lists), len(lists)], 3)
    return np.stack([one.ravel() for one in np.meshgrid(*lists, indexing="ij")], axis=-1)


def _blocks_on_diagonal(call: Call) -> Array:
    blocks = [np.atleast_2d(one) for one in _arrays(call)]
    if any(one.ndim > 2 for one in blocks):
        raise ValueError
    shape = [sum(one.shape[axis] for one in blocks) for axis in (0, 1)]
    room(call, shape)
    result, row, column = np.zeros(shape, blocks[0].dtype), 0, 0
    for one in blocks:
        result[row : row + one.shape[0], column : column + one.shape[1]] = one
        row, column = row + one.shape[0], column + one.shape[1]
    return result


def _powers(call: Call) -> Array:
    """Return the powers of each number, as rows: rising for torch.linalg.vander, falling for torch.vander."""
    x = numbers(call, call.first_of("x", "self"))
    count = x.shape[-1] if call.given("N", None) is None else call.integer("N")
    rising = call.at.node.operator == "linalg_vander" or call.flag("increasing")
    if count < 0:
        raise ValueError
    room(call, (*x.shape, count), 3)
    exponents = np.arange(count) if rising else np.arange(count)[::-1]
    return whole(call, lambda array: array[..., np.newaxis] ** exponents, [x])


def _triangle(function: Callable[..., Any]) -> Operation:
    """Return the operator that lists the places of a triangle of a matrix, [2, places]."""

    def compute(call: Call) -> Array:
        rows, columns, offset = call.integer("row"), call.integer("col"), call.integer("offset", 0)
        call.ignore("dtype")
        if min(rows, columns) < 0:
            raise ValueError
        room(call, (rows, columns), 4)
        return np.stack(function(rows, offset, columns)).astype(np.int64)

    return compute


def _kronecker(call: Call) -> Array:
    first, second = numbers(call), numbers(call, "other")
    count = max(first.ndim, second.ndim)
    wide = [one.reshape((1,) * (count - one.ndim) + one.shape) for one in (first, second)]
    room(call, [a * b for a, b in zip(*(one.shape for one in wide), strict=True)], 4)
    return whole(call, np.kron, [first, second])


def _places_in_order(values: str, boundaries: str) -> Operation:
    """Return the operator that counts the boundaries below each value."""

    def compute(call: Call) -> Array:
        found, sorted_numbers = numbers(call, values), numbers(call, boundaries)
        call.ignore("out_int32")
        right = call.flag("right") or call.given("side", None) == "right"
        if sorted_numbers.ndim != 1 or call.given("sorter", None) is not None or np.isnan(sorted_numbers).any():
            raise ValueError
        room(call, found.shape, 4)
        side: Any = "right" if right else "left"
        return jumping(call, lambda b, v: np.searchsorted(b, v, side), [sorted_numbers, found])

    return compute


def _running_extreme(function: Any) -> Operation:
    """Return the largest numbers up to each one, and the last place of each of them."""

    def compute(call: Call) -> list[Any]:
        x = numbers(call)
        axis = axis_of(call.at, call.integer("dim"), max(x.ndim, 1))
        if not x.ndim:
            return [x, np.zeros((), dtype=np.int64)]
        room(call, x.shape, 6)
        if x.dtype.kind == "f" and np.isnan(x).any():
            raise ValueError
        values = function.accumulate(x, axis=axis)
        order = np.arange(x.shape[axis]).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        places = np.maximum.accumulate(np.where(x == values, order, 0), axis=axis)
        earlier, later = np.moveaxis(values, axis, 0)[:-1], np.moveaxis(x, axis, 0)[1:]
        return [values, places if decided(call, earlier, later) else Unread(call.at.label, ROUNDED, DecidedByRounding)]

    return compute


def _bilinear(call: Call) -> Array:
    """Return ``first @ weight[i] @ second`` for each i, plus a bias."""
    first, second, weight = (numbers(call, name) for name in ("input1", "input2", "weight"))
    if weight.ndim != 3 or first.shape[:-1] != second.shape[:-1]:
        raise ValueError
    room(call, (*first.shape[:-1], len(weight)), 3)
    room(call, (math.prod(first.shape[:-1]), len(weight), weight.shape[2]), 2)
    call.at.reading.charge_products(2 * math.prod(first.shape[:-1]) * weight.size)
    result = np.einsum("...k,...ik->...i", second, np.einsum("...j,ijk->...ik", first, weight))
    return np.asarray(result if call.given("bias", None) is None else result + numbers(call, "bias"))


FUNCTIONS: dict[str, Operation] = {
    "meshgrid": _grid,
    "cartesian_prod": _all_combinations,
    "block_diag": _blocks_on_diagonal,
    **dict.fromkeys(("vander", "linalg_vander"), _powers),
    "tril_indices": _triangle(np.tril_indices),
    "triu_indices": _triangle(np.triu_indices),
    "kron": _kronecker,
    "bucketize": _places_in_order("self", "boundaries"),
    "searchsorted": _places_in_order("self", "sorted_sequence"),
    "cummax": _running_extreme(np.maximum),
    "cummin": _running_extreme(np.minimum),
    "bilinear": _bilinear,
}
