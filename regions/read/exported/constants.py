# SPDX-License-Identifier: MIT
"""Which operators of torch make constants, or compute lengths?

Filled tensors, ranges of whole numbers, and arithmetic of lengths. A tensor has the type that torch recorded for it,
and its numbers are rounded to that type, as in torch.
Source: the operators' documentation in torch 2.13.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import UnsupportedLayerError
from regions.files.pt2_archive import TYPES
from regions.read.exported.graph import ExportedNode
from regions.read.graphs.call import Call, Operation
from regions.read.graphs.moving import axis_of

__all__ = ["CONSTANT_OPERATORS"]

BFLOAT16 = "bfloat16"
# Bytes of one number in double precision.
BYTES = 8


def _filled(number: float | None) -> Operation:
    """Return the operation that fills an array of the call's size, or of its first argument's size, with a number.

    If ``number`` is None, the number is an argument of the call.
    """

    def fill(call: Call) -> NDArray[Any]:
        call.ignore("self")  # `new_ones` and the like take only its type
        like = call.at.node.operator.endswith("_like")
        shape = list(getattr(call.given("self"), "shape", ())) if like else call.integers("size", [])
        if min(shape, default=1) < 0:
            raise call.at.refused(f"makes a tensor of shape {shape}")
        call.at.require_axes(shape)
        call.at.charge(BYTES * prod(shape))
        value = call.number("fill_value") if number is None else number
        return _of_its_type(call, np.full(shape, value))

    return fill


def _range(call: Call) -> NDArray[Any]:
    start, end, step = call.number("start", 0), call.number("end"), call.number("step", 1)
    if not all(each.is_integer() and abs(each) < 2**24 for each in (start, end, step)) or not step:
        raise UnsupportedLayerError(
            f"{call.at.label} makes a range of fractions, which is not handled; put it into a buffer of the module "
            "before exporting it"
        )
    numbers = range(int(start), int(end), int(step))
    call.at.charge(BYTES * len(numbers))
    return _of_its_type(call, np.array(numbers, dtype=np.float64))


def _of_its_type(call: Call, array: NDArray[np.float64]) -> NDArray[Any]:
    """Return the constant of a call, in the type that torch recorded."""
    call.ignore("dtype")
    node = call.at.node
    kind = node.types[0] if isinstance(node, ExportedNode) and node.types else None
    if kind not in TYPES:
        raise call.at.refused("makes numbers of no known type")
    name = TYPES[kind].name
    with np.errstate(over="ignore", invalid="ignore"):
        result = array.astype(np.float32 if name == BFLOAT16 else np.dtype(name))
    if (name == BFLOAT16 or result.dtype.kind != "f") and not (_leading(result) == array).all():
        raise UnsupportedLayerError(
            f"{call.at.label} rounds what it fills in to {name}; put the constant into a buffer of the module before "
            "exporting it"
        )
    return result


def _leading(array: NDArray[Any]) -> NDArray[Any]:
    """Cut float32 to the digits of bfloat16; leave other types as they are."""
    return (array.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32) if array.dtype == np.float32 else array


def _size(call: Call) -> int:
    value, axis = call.given("self"), call.integer("dim")
    shape = getattr(value, "shape", ())
    return int(shape[axis_of(call.at, axis, len(shape))])


def _whole(operation: Callable[[int, int], int]) -> Operation:
    """Return an operation on lengths."""

    def compute(call: Call) -> int:
        first, second = (call.integer(name) for name in list(call.arguments)[:2])
        try:
            result = operation(first, second)
        except (ZeroDivisionError, OverflowError, MemoryError):
            result = 2**63
        if abs(result) >= 2**63:
            raise call.at.refused("makes no length")
        return result

    return compute


CONSTANT_OPERATORS: dict[str, Operation] = {
    **{f"{new}ones{like}": _filled(1.0) for new, like in (("", ""), ("new_", ""), ("", "_like"))},
    **{f"{new}zeros{like}": _filled(0.0) for new, like in (("", ""), ("new_", ""), ("", "_like"))},
    **{f"{new}full{like}": _filled(None) for new, like in (("", ""), ("new_", ""), ("", "_like"))},
    "scalar_tensor": _filled(None),
    "arange": _range,
    "sym_size": _size,
    "_operator.mul": _whole(lambda first, second: first * second),
    "_operator.add": _whole(lambda first, second: first + second),
    "_operator.sub": _whole(lambda first, second: first - second),
    "_operator.floordiv": _whole(lambda first, second: first // second),
}
