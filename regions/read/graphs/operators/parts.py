# SPDX-License-Identifier: MIT
"""Which operators join, split or pad tensors?

Source: the documentation of torch's and of ONNX's operators.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from regions.ground.arithmetic.arrays import exact_float64
from regions.read.graphs.call import Call
from regions.read.graphs.moving import axis_of, moved
from regions.read.graphs.operations import Tensor
from regions.read.graphs.site import Site

__all__ = ["bordered", "chunks", "join", "split", "split_nearly_evenly", "unbind"]

MODES = {"reflect": "reflect", "replicate": "edge", "edge": "edge", "circular": "wrap", "wrap": "wrap"}


def join(call: Call, *, axis: int = 0, new_axis: bool = False) -> Any:
    """Return tensors and constants, joined along an axis, which may be new. Constants without numbers are left out."""
    values = call.given("tensors")
    if not isinstance(values, list) or not all(isinstance(value, (Tensor, np.ndarray)) for value in values):
        raise call.at.refused("joins something that is not a tensor")
    axis = call.integer("dim", axis)
    if new_axis:
        values = [moved(call.at, value, lambda array: np.expand_dims(array, axis)) for value in values]
    return _joined(call.at, values, axis)


def _joined(at: Site, values: Sequence[Any], axis: int) -> Any:
    shapes = [list(value.shape) for value in values]
    if not shapes or len({len(shape) for shape in shapes}) != 1 or not shapes[0]:
        raise at.refused(f"joins shapes {shapes[:8]}")
    axis = axis_of(at, axis, len(shapes[0]))
    if len({(*shape[:axis], *shape[axis + 1 :]) for shape in map(tuple, shapes)}) != 1:
        raise at.refused(f"joins shapes {shapes[:8]} along axis {axis}")
    given = next((value for value in values if isinstance(value, Tensor)), None)
    if given is None:
        at.charge(0, 8 * sum(value.size for value in values))
        return np.concatenate(values, axis)
    values = [value for value in values if value.size]
    # Constants are zeros at first.
    tensors = [
        value if isinstance(value, Tensor) else at.rearranged(given, np.full(value.shape, -1)) for value in values
    ]
    constants = [np.zeros(value.shape) if isinstance(value, Tensor) else value for value in values]
    result = tensors[0] if len(tensors) == 1 else at.joined(tensors, axis)
    if any(constant.any() for constant in constants):
        result = at.scaled(result, 1.0, exact_float64(np.concatenate(constants, axis), f"{at.label}: its constants"))
    return result


def split(call: Call) -> list[Any]:
    """Return parts along an axis: with the listed lengths, or all with one length, and a shorter last one."""
    x, place = _to_cut(call)
    sizes = call.integers("split_size")
    if isinstance(call.given("split_size"), int):
        return _cut_evenly(call, x, place, sizes[0])
    return _sections(call.at, x, place, sizes)


def chunks(call: Call) -> list[Any]:
    """Return parts along an axis, at most ``chunks``: all with one length, and a shorter last one."""
    (x, place), count = _to_cut(call), call.integer("chunks")
    if count < 1:
        raise call.at.refused(f"makes {count} parts")
    return _cut_evenly(call, x, place, -(-x.shape[place] // count))


def split_nearly_evenly(call: Call) -> list[Any]:
    """Return ``sections`` parts along an axis, whose lengths differ by at most 1, or the parts between ``indices``."""
    x, place = _to_cut(call)
    length = x.shape[place]
    if "indices" in call.arguments:
        places = call.integers("indices")
        ends = [*(max(0, min(length, one + length if one < 0 else one)) for one in places), length]
        if sorted(ends) != ends:
            raise call.at.refused(f"cuts an axis at places {places[:20]}, which do not increase")
        return _sections(call.at, x, place, np.diff(ends, prepend=0).tolist())
    count = call.integer("sections")
    if not 0 < count <= length:
        raise call.at.refused(f"makes {count} parts of length {length}")
    return _sections(call.at, x, place, [(length + count - 1 - part) // count for part in range(count)])


def unbind(call: Call) -> list[Any]:
    """Return the parts of length 1 along an axis, with this axis removed."""
    x, place = _to_cut(call)
    parts = _sections(call.at, x, place, [1] * x.shape[place])
    shape = x.shape[:place] + x.shape[place + 1 :]
    return [moved(call.at, part, lambda array: array.reshape(shape)) for part in parts]


def _to_cut(call: Call) -> tuple[Any, int]:
    x = call.movable()
    return x, axis_of(call.at, call.integer("dim", 0), len(x.shape))


def _cut_evenly(call: Call, x: Any, axis: int, size: int) -> list[Any]:
    if size < 1:
        raise call.at.refused(f"makes parts of length {size}")
    whole = min(size, length := x.shape[axis])
    return _sections(call.at, x, axis, [min(whole, length - start) for start in range(0, length, whole)])


def _sections(at: Site, x: Any, axis: int, lengths: Sequence[int]) -> list[Any]:
    """Return the parts of a tensor along an axis, of given lengths."""
    if any(length < 0 for length in lengths) or sum(lengths) != x.shape[axis]:
        raise at.refused(f"cuts an axis of length {x.shape[axis]} into {list(lengths)[:20]}")
    parts = []
    for length, end in zip(lengths, accumulate(lengths), strict=True):
        window = (slice(None),) * axis + (slice(end - length, end),)
        size = x.size // max(x.shape[axis], 1) * length
        parts.append(moved(at, x, lambda array, window=window: array[window], size))  # type: ignore[misc]
    return parts


def bordered(at: Site, x: Tensor, pads: Sequence[tuple[int, int]], mode: str, value: float) -> Tensor:
    """Return a tensor with a border along each axis: its own numbers, or a constant. A negative border removes numbers.

    With a circular border, numbers are removed first, so that they do not appear at the other end.
    """
    if len(pads) != len(x.shape):
        raise at.refused(f"has borders {[list(pair) for pair in pads]} for shape {list(x.shape)}")
    if mode not in ("constant", *MODES):
        raise at.refused(f"pads in a way that is not known, {mode!r}")
    if MODES.get(mode) == "wrap":
        x = _cut(at, x, pads)
        return _framed(at, x, pads, mode, value)
    return _cut(at, _framed(at, x, pads, mode, value), pads)


def _cut(at: Site, x: Tensor, pads: Sequence[tuple[int, int]]) -> Tensor:
    """Return a tensor without the numbers that negative borders remove."""
    window = tuple(slice(max(-low, 0), n + min(high, 0)) for (low, high), n in zip(pads, x.shape, strict=True))
    return moved(at, x, lambda array: array[window])


def _framed(at: Site, x: Tensor, pads: Sequence[tuple[int, int]], mode: str, value: float) -> Tensor:
    """Return a tensor with its positive borders."""
    pads = [(max(low, 0), max(high, 0)) for low, high in pads]
    if not any(map(any, pads)):
        return x
    size = math.prod(length + low + high for length, (low, high) in zip(x.shape, pads, strict=True))
    if mode != "constant":
        return moved(at, x, lambda array: np.pad(array, pads, mode=MODES[mode]), size)  # type: ignore[call-overload]
    at.charge(0, 8 * size)
    zeros = at.padded(x, *zip(*pads, strict=True))
    if value == 0.0:
        return zeros
    return at.scaled(zeros, 1.0, np.pad(np.zeros(x.shape), pads, constant_values=value))
