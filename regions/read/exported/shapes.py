# SPDX-License-Identifier: MIT
"""Which operators of torch only move numbers, and where to?

Each is a function of a call. `regions.read.graphs.operators.shapes` says what they do to tensors and to constants.
Source: the operators' documentation in torch 2.13.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import UnsupportedLayerError
from regions.read.exported.call import Call, Operation
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators import elementwise, shapes

__all__ = ["SHAPE_OPERATORS"]


def _reshape(call: Call) -> Any:
    call.ignore("implicit")
    if "dtype" in call.node.arguments:
        raise UnsupportedLayerError(f"{call.at.label} reads numbers as another type, which is not piecewise linear")
    shape = call.integers(call.first_of("size", "shape"))
    return call.moved(lambda array: array.reshape(shape) if min(shape, default=0) >= -1 else None)


def _flatten(call: Call) -> Any:
    start, end = call.integer("start_dim", 0), call.integer("end_dim", -1)

    def flatten(array: NDArray[Any]) -> NDArray[Any]:
        if not array.ndim:
            return array.reshape(1)
        first, last = (shapes.axis_of(call.at, axis, array.ndim) for axis in (start, end))
        return array.reshape(*array.shape[:first], -1, *array.shape[last + 1 :])

    return call.moved(flatten)


def _unflatten(call: Call) -> Any:
    axis, sizes = call.integer("dim"), call.integers("sizes")

    def unflatten(array: NDArray[Any]) -> NDArray[Any]:
        place = shapes.axis_of(call.at, axis, array.ndim)
        return array.reshape(*array.shape[:place], *sizes, *array.shape[place + 1 :])

    return call.moved(unflatten)


def _slice(call: Call) -> Any:
    axis, step = call.integer("dim", 0), call.integer("step", 1)
    start, end = (None if call.given(name, None) is None else call.integer(name) for name in ("start", "end"))
    if step < 1:
        raise call.at.refused(f"has step {step}")

    def cut(array: NDArray[Any]) -> NDArray[Any]:
        place = shapes.axis_of(call.at, axis, array.ndim)
        return array[(slice(None),) * place + (slice(start, end, step),)]

    return call.moved(cut)


def _select(call: Call) -> Any:
    axis, index = call.integer("dim"), call.integer("index")
    return call.moved(lambda array: np.take(array, index, axis=axis))


def _index_select(call: Call) -> Any:
    axis, indices = call.integer("dim"), call.given("index")
    if not isinstance(indices, np.ndarray) or indices.dtype.kind not in "iu" or indices.ndim != 1:
        raise UnsupportedLayerError(f"{call.at.label} picks by something that is not a constant list")
    return shapes.taken(call.at, call.movable(), indices, axis)  # type: ignore[type-var]


def _chunk(call: Call) -> list[Tensor]:
    x, chunks, axis = call.tensor(), call.integer("chunks"), call.integer("dim", 0)
    length = x.shape[shapes.axis_of(call.at, axis, len(x.shape))]
    if chunks < 1:
        raise call.at.refused(f"makes {chunks} parts")
    return _cut_evenly(call, x, -(-length // chunks), axis)


def _split(call: Call) -> list[Tensor]:
    x, axis = call.tensor(), call.integer("dim", 0)
    sizes = call.integers(call.first_of("split_size", "split_sizes"))
    if isinstance(call.given(call.first_of("split_size", "split_sizes")), list):
        return shapes.sections(call.at, x, axis, sizes)
    return _cut_evenly(call, x, sizes[0], axis)


def _cut_evenly(call: Call, x: Tensor, size: int, axis: int) -> list[Tensor]:
    length = x.shape[shapes.axis_of(call.at, axis, len(x.shape))]
    if size < 1:
        raise call.at.refused(f"makes parts of length {size}")
    whole = min(size, length)
    return shapes.sections(call.at, x, axis, [min(whole, length - start) for start in range(0, length, whole)])


def _split_nearly_evenly(call: Call) -> list[Tensor]:
    x, axis, count = call.tensor(), call.integer("dim", 0), call.integer("sections")
    length = x.shape[shapes.axis_of(call.at, axis, len(x.shape))]
    if not 0 < count <= length:
        raise call.at.refused(f"makes {count} parts of length {length}")
    return shapes.sections(call.at, x, axis, [(length + count - 1 - part) // count for part in range(count)])


def _diagonal(call: Call) -> Any:
    axes = {"axis1": call.integer("dim1", 0), "axis2": call.integer("dim2", 1)}
    return call.moved(partial(np.diagonal, offset=call.integer("offset", 0), **axes))


def _unbind(call: Call) -> list[Tensor]:
    x, axis = call.tensor(), call.integer("dim", 0)
    place = shapes.axis_of(call.at, axis, len(x.shape))
    parts = shapes.sections(call.at, x, axis, [1] * x.shape[place])
    shape = x.shape[:place] + x.shape[place + 1 :]
    return [shapes.moved(call.at, part, lambda array: array.reshape(shape)) for part in parts]


def _cat(call: Call) -> Tensor:
    values = call.given("tensors")
    if not isinstance(values, list) or not all(isinstance(value, (Tensor, np.ndarray)) for value in values):
        raise call.at.refused("joins something that is not a tensor")
    if not any(isinstance(value, Tensor) for value in values):
        raise call.constants_alone()
    axis = call.integer("dim", 1 if call.node.operator == "hstack" else 0)
    if call.node.operator == "stack":
        values = [shapes.moved(call.at, value, lambda array: np.expand_dims(array, axis)) for value in values]
    return shapes.joined(call.at, values, axis)


def _expand(call: Call) -> Any:
    call.ignore("implicit")
    x, sizes = call.tensor(), call.integers("size")
    lengths = (1,) * (len(sizes) - len(x.shape)) + x.shape
    if len(lengths) != len(sizes) or min(sizes, default=1) < -1:
        raise call.at.refused(f"expands shape {list(x.shape)} to {sizes}")
    return elementwise.repeated(
        call.at, x, tuple(length if size == -1 else size for size, length in zip(sizes, lengths, strict=True))
    )


def _squeeze(call: Call) -> Any:
    if "dim" not in call.node.arguments:
        return call.moved(lambda array: array.squeeze())
    axes = call.integers("dim")

    def squeeze(array: NDArray[Any]) -> NDArray[Any]:
        gone = {shapes.axis_of(call.at, axis, array.ndim) for axis in axes}
        return array.reshape([length for axis, length in enumerate(array.shape) if axis not in gone or length != 1])

    return call.moved(squeeze)


def _pad(call: Call) -> Tensor:
    x, pads = call.tensor(), call.integers(call.first_of("pad", "padding"))
    fixed = {"constant_pad_nd": "constant", "pad": None}.get(
        call.node.operator,
        call.node.operator.partition("_pad")[0].replace("reflection", "reflect").replace("replication", "replicate"),
    )
    mode = call.given("mode", "constant") if fixed is None else fixed
    value = call.given("value", None)
    pairs = list(zip(pads[::2], pads[1::2], strict=False))[::-1]
    if len(pads) % 2 or len(pairs) > len(x.shape):
        raise call.at.refused(f"has {len(pads)} borders for {len(x.shape)} axes")
    borders = [(0, 0)] * (len(x.shape) - len(pairs)) + pairs
    left = [length + min(low, 0) + min(high, 0) for length, (low, high) in zip(x.shape, borders, strict=True)]
    if mode == "circular" and any(max(pair) > length for pair, length in zip(borders, left, strict=True)):
        raise call.at.refused(f"wraps around by {pads}, more than is left of shape {list(x.shape)}")
    return shapes.bordered(call.at, x, borders, str(mode), 0.0 if value is None else call.number("value"))


def _shuffle(name: str, move: Callable[..., NDArray[Any] | None]) -> Operation:
    """Between channels and blocks of pixels, whose size the call has under a name."""
    return lambda call: call.moved(partial(move, size=call.integer(name), channels_first=True))


SHAPE_OPERATORS: dict[str, Operation] = {
    **dict.fromkeys(("view", "reshape", "_unsafe_view"), _reshape),
    "flatten": _flatten,
    "unflatten": _unflatten,
    "permute": lambda call: call.moved(partial(np.transpose, axes=call.integers("dims"))),
    **dict.fromkeys(("t", "numpy_T"), lambda call: call.moved(np.transpose)),
    "flip": lambda call: call.moved(partial(np.flip, axis=tuple(call.integers("dims")))),
    "slice": _slice,
    "select": _select,
    "index_select": _index_select,
    "chunk": _chunk,
    **dict.fromkeys(("split", "split_with_sizes"), _split),
    "tensor_split": _split_nearly_evenly,
    "diagonal": _diagonal,
    "unbind": _unbind,
    **dict.fromkeys(("cat", "concat", "concatenate", "stack", "hstack"), _cat),
    "expand": _expand,
    "unsqueeze": lambda call: call.moved(partial(np.expand_dims, axis=call.integer("dim"))),
    "squeeze": _squeeze,
    **dict.fromkeys(("pad", "constant_pad_nd"), _pad),
    **{f"{kind}_pad{axes}d": _pad for kind in ("reflection", "replication") for axes in (1, 2, 3)},
    "pixel_shuffle": _shuffle("upscale_factor", shapes.blocks_apart),
    "pixel_unshuffle": _shuffle("downscale_factor", shapes.blocks_together),
}
