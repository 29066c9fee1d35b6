# SPDX-License-Identifier: MIT
"""Which operators change the shape or order of a tensor's numbers, select some of them, or repeat them?

All of them can be applied to constants, too.
Source: the documentation of torch's and of ONNX's operators.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import UnsupportedLayerError
from regions.read.graphs.call import Call, Operation
from regions.read.graphs.moving import axes_of, axis_of, repeated

__all__ = [
    "diagonal",
    "expand",
    "flatten",
    "flatten_to_matrix",
    "flip",
    "index",
    "move_axes",
    "narrow",
    "permute",
    "repeat_each",
    "reshape",
    "reverse_axes",
    "roll",
    "same",
    "select",
    "shuffle_channels",
    "shuffle_pixels",
    "slices",
    "slide",
    "squeeze",
    "swap_axes",
    "swap_last_axes",
    "take",
    "tile",
    "turn",
    "unflatten",
    "unsqueeze",
]

Array = NDArray[Any]


def same(call: Call) -> Any:
    """Return the numbers as they are."""
    return call.moved(lambda array: array)


def reshape(call: Call) -> Any:
    """Return the numbers in another shape; one length may be -1."""
    shape = call.integers("size")
    return call.moved(lambda array: array.reshape(shape) if min(shape, default=0) >= -1 else None)


def flatten(call: Call) -> Any:
    """Make one axis of several."""
    start, end = call.integer("start_dim", 0), call.integer("end_dim", -1)

    def flat(array: Array) -> Array:
        if not array.ndim:
            return array.reshape(1)
        first, last = (axis_of(call.at, axis, array.ndim) for axis in (start, end))
        return array.reshape(*array.shape[:first], -1, *array.shape[last + 1 :])

    return call.moved(flat)


def unflatten(call: Call) -> Any:
    """Make several axes of one."""
    sizes, count = call.integers("sizes"), len(call.movable().shape)
    place = axis_of(call.at, call.integer("dim"), count)
    return call.moved(lambda array: array.reshape(*array.shape[:place], *sizes, *array.shape[place + 1 :]))


def flatten_to_matrix(call: Call) -> Any:
    """Make one axis of the axes before ``dim``, and one of the others."""
    shape = call.movable().shape
    dim = call.integer("dim", 1)
    first = dim if dim == len(shape) else axis_of(call.at, dim, len(shape))
    lengths = math.prod(shape[:first]), math.prod(shape[first:])
    return call.moved(lambda array: array.reshape(lengths))


def squeeze(call: Call, *, strict: bool = False) -> Any:
    """Remove axes of length 1: all, or the named ones. If ``strict``, a named axis of another length is an error."""
    shape = call.movable().shape
    if call.given("dim", None) is None:
        return call.moved(lambda array: array.squeeze())
    axes = axes_of(call.at, call.integers("dim"), len(shape))
    gone = tuple(axis for axis in axes if strict or shape[axis] == 1)
    return call.moved(lambda array: array.squeeze(gone))


def unsqueeze(call: Call) -> Any:
    """Insert axes of length 1."""
    axes = call.integers("dim")
    new = tuple(axes_of(call.at, axes, len(call.movable().shape) + len(axes)))
    return call.moved(lambda array: np.expand_dims(array, new))


def permute(call: Call) -> Any:
    """Put the axes into another order."""
    axes = call.integers("dims")
    return call.moved(lambda array: array.transpose(axes))


def reverse_axes(call: Call) -> Any:
    """Put the axes into the reverse order."""
    return call.moved(np.transpose)


def move_axes(call: Call) -> Any:
    """Move axes to other places."""
    source, destination = call.integers("source"), call.integers("destination")
    return call.moved(lambda array: np.moveaxis(array, source, destination))


def swap_axes(call: Call) -> Any:
    """Exchange two axes."""
    first, second = call.integer("dim0"), call.integer("dim1")
    return call.moved(lambda array: array.swapaxes(first, second))


def swap_last_axes(call: Call) -> Any:
    """Exchange the last two axes."""
    return call.moved(lambda array: array.swapaxes(-1, -2))


def turn(call: Call) -> Any:
    """Rotate by right angles in the plane of two axes."""
    return call.moved(partial(np.rot90, k=call.integer("k", 1), axes=tuple(call.integers("dims", [0, 1]))))


def flip(call: Call) -> Any:
    """Reverse the order along axes."""
    return call.moved(partial(np.flip, axis=tuple(call.integers("dims"))))


def roll(call: Call) -> Any:
    """Shift numbers along axes, or in flat order without axes; numbers beyond the end come back at the start."""
    shifts, axes = call.integers("shifts"), call.integers("dims", [])
    if axes and len(axes) != len(shifts):
        raise call.at.refused(f"has {len(shifts)} shifts for {len(axes)} axes")
    return call.moved(lambda array: np.roll(array, shifts if axes else shifts[0], axes or None))


def diagonal(call: Call) -> Any:
    """Return a diagonal of the plane of two axes, as the last axis."""
    axes = {"axis1": call.integer("dim1", 0), "axis2": call.integer("dim2", 1)}
    return call.moved(partial(np.diagonal, offset=call.integer("offset", 0), **axes))


def slices(call: Call) -> Any:
    """Return every step-th number from ``start`` to ``end`` along axes; backwards for negative steps."""
    starts, ends = ([None] if call.given(name, None) is None else call.integers(name) for name in ("start", "end"))
    shape = call.movable().shape
    given = call.given("dim", None)
    along = axes_of(call.at, range(len(starts)) if given is None else call.integers("dim"), len(shape))
    steps = call.integers("step", [1] * len(starts))
    if not len(starts) == len(ends) == len(along) == len(steps):
        raise call.at.refused(f"has {len(starts)} starts, {len(ends)} ends, {len(along)} axes and {len(steps)} steps")
    window = [slice(None)] * len(shape)
    for start, end, axis, step in zip(starts, ends, along, steps, strict=True):
        if step < 0 and start is not None and start < -shape[axis] < 0:
            start = -shape[axis]  # a backward slice that would begin before the first number begins at it
        window[axis] = slice(start, end, step)
    return call.moved(lambda array: array[tuple(window)])


def narrow(call: Call) -> Any:
    """Return ``length`` numbers along an axis, from ``start`` on."""
    start, length, shape = call.integer("start"), call.integer("length"), call.movable().shape
    place = axis_of(call.at, call.integer("dim"), len(shape))
    first = start % shape[place] if start < 0 < shape[place] else start
    fits = 0 <= first and 0 <= length <= shape[place] - first
    window = (slice(None),) * place + (slice(first, first + length),)
    return call.moved(lambda array: array[window] if fits else None)


def select(call: Call) -> Any:
    """Return the numbers at one place along an axis."""
    axis, index = call.integer("dim"), call.integer("index")
    return call.moved(lambda array: np.take(array, index, axis=axis))


def take(call: Call) -> Any:
    """Return the numbers at some places along an axis, in the shape of the indices."""
    indices, x = call.given("index"), call.movable()
    if not isinstance(indices, np.ndarray) or indices.dtype.kind not in "iu":
        raise UnsupportedLayerError(f"{call.at.label} picks by something that is not a constant list of integers")
    axis = axis_of(call.at, call.integer("dim", 0), len(x.shape))
    most = math.prod((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))
    return call.moved(lambda array: np.take(array, indices, axis=axis), most)


def index(call: Call) -> Any:
    """Return ``x[:, [2, 0, 1]]``, by the rules of numpy."""
    given, x = call.given("indices"), call.movable()
    lists = given if isinstance(given, list) else [given]
    if not all(one is None or (isinstance(one, np.ndarray) and one.dtype.kind in "iub") for one in lists):
        raise UnsupportedLayerError(f"{call.at.label} picks by something that is not a constant list of integers")
    window = tuple(slice(None) if one is None else one for one in lists)
    return call.moved(lambda array: array[window], _most_picked(call, x.shape, lists))


def _most_picked(call: Call, shape: tuple[int, ...], lists: list[Array | None]) -> int:
    """Return how many numbers lists of indices select. The lists are repeated to one shape, and axes without a list are
    kept.
    """
    axis, kept = 0, 1
    for one in lists:
        if one is None:
            kept *= math.prod(shape[axis : axis + 1])
        axis += one.ndim if one is not None and one.dtype.kind == "b" else 1
    picked = [(int(np.count_nonzero(one)),) if one.dtype.kind == "b" else one.shape for one in lists if one is not None]
    try:
        return kept * math.prod(shape[axis:]) * math.prod(np.broadcast_shapes(*picked))
    except ValueError:
        raise call.at.refused(f"picks by lists of shapes {[list(one) for one in picked[:8]]}") from None


def slide(call: Call) -> Any:
    """Return windows along one axis; their entries become the last axis."""
    size, step, x = call.integer("size"), call.integer("step"), call.movable()
    place = axis_of(call.at, call.integer("dimension"), len(x.shape))
    every = (slice(None),) * place + (slice(None, None, step),)

    def windows(array: Array) -> Array | None:
        if not 0 < size <= array.shape[place] or step < 1:
            return None
        return np.lib.stride_tricks.sliding_window_view(array, size, place)[every]

    return call.moved(windows, x.size * max(size, 1))


def expand(call: Call, *, keep: int = -1) -> Any:
    """Repeat axes of length 1 to the requested lengths; the length ``keep`` stands for the length of x."""
    x, sizes = call.movable(), call.integers("size")
    call.at.require_axes(sizes)
    lengths = (1,) * (len(sizes) - len(x.shape)) + x.shape
    wanted = [1] * (len(lengths) - len(sizes)) + sizes
    shape = tuple(length if size == keep else size for size, length in zip(wanted, lengths, strict=True))
    fits = all(length in (1, size) and size >= 0 for length, size in zip(lengths, shape, strict=True))
    if not fits or (len(x.shape) > len(sizes) and keep != 1):
        raise call.at.refused(f"expands shape {list(x.shape)} to {sizes}")
    if isinstance(x, np.ndarray):
        return call.moved(lambda array: np.broadcast_to(array, shape), math.prod(shape))
    return repeated(call.at, x, shape)  # type: ignore[type-var]


def tile(call: Call, *, all_axes: bool = True) -> Any:
    """Repeat x along its axes. If ``all_axes``, there is a number for each axis; otherwise, for the last ones."""
    times, x = call.integers(call.first_of("repeats", "dims")), call.movable()
    if min(times, default=1) < 1 or (all_axes and len(times) < len(x.shape)):
        raise call.at.refused(f"repeats {times[:20]} times")
    return call.moved(lambda array: np.tile(array, times), x.size * math.prod(times))


def repeat_each(call: Call) -> Any:
    """Repeat each number, along an axis or in flat order."""
    call.ignore("output_size")
    times, x = call.integer("repeats"), call.movable()
    axis = None if call.given("dim", None) is None else call.integer("dim")
    if times < 1:
        raise call.at.refused(f"repeats {times} times")
    return call.moved(lambda array: np.repeat(array, times, axis), x.size * times)


def shuffle_channels(call: Call) -> Any:
    """Divide the channels into groups, and take one channel of each group in turn."""
    groups = call.integer("groups")
    return call.moved(
        lambda array: array.reshape(len(array), groups, -1, *array.shape[2:]).swapaxes(1, 2).reshape(array.shape)
    )


def shuffle_pixels(apart: bool, name: str) -> Operation:
    """Return the operator that turns channels into blocks of pixels, or the inverse; ``name`` is the argument for the
    size of a block.
    """
    move: Callable[..., Array | None] = _blocks_apart if apart else _blocks_together

    def shuffle(call: Call) -> Any:
        channels_first = call.flag("channels_first", True)
        return call.moved(partial(move, size=call.integer(name), channels_first=channels_first))

    return shuffle


def _blocks_apart(array: NDArray[Any], size: int, *, channels_first: bool) -> NDArray[Any] | None:
    """Channels become blocks of pixels: [.., C s s, H, W] to [.., C, H s, W s].

    If ``channels_first``, consecutive channels make one block; otherwise, channels that are C apart.
    """
    if array.ndim < 3 or not 0 < size <= array.shape[-3]:
        return None
    *batch, channels, height, width = array.shape
    parts = (channels // size**2, size, size) if channels_first else (size, size, channels // size**2)
    at, order = len(batch), [0, 3, 1, 4, 2] if channels_first else [2, 3, 0, 4, 1]
    split = array.reshape(*batch, *parts, height, width).transpose([*range(at), *(at + axis for axis in order)])
    return split.reshape(*batch, channels // size**2, height * size, width * size)


def _blocks_together(array: NDArray[Any], size: int, *, channels_first: bool) -> NDArray[Any] | None:
    """Blocks of pixels become channels: [.., C, H s, W s] to [.., C s s, H, W], the inverse of `_blocks_apart`."""
    if array.ndim < 3 or not 0 < size <= min(array.shape[-2:]):
        return None
    *batch, channels, height, width = array.shape
    at, order = len(batch), [0, 2, 4, 1, 3] if channels_first else [2, 4, 0, 1, 3]
    split = array.reshape(*batch, channels, height // size, size, width // size, size)
    split = split.transpose([*range(at), *(at + axis for axis in order)])
    return split.reshape(*batch, channels * size**2, height // size, width // size)
