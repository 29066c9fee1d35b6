# SPDX-License-Identifier: MIT
"""Which operators of torch pick numbers, repeat them, or put them in another order?

As `shapes.py`, for those that take lists of places, and for images that are enlarged by repeating pixels.
New pixel i repeats old pixel floor(i / factor). Two of torch's CPU kernels ignore the factor on an axis whose length
stays or doubles: they take i and i // 2. torch divides in single precision; where that gives another pixel than real
numbers do, the node is refused.
Source: the operators' documentation in torch 2.13, and ``UpSample.h`` and ``cpu/UpSampleKernel.cpp`` in
``aten/src/ATen/native``.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import UnsupportedLayerError
from regions.read.exported.call import Call, Operation
from regions.read.exported.maxima import require_axes
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators import shapes, windows

__all__ = ["MOVING_OPERATORS"]

# Of one number that is moved, while it is moved.
BYTES = 8
# Up to this sum of the output's lengths torch enlarges images with its kernel for channels that are innermost in
# memory, whatever the layout. Larger ones must have that layout, and this many channels.
SMALL_IMAGE = 128
CHANNELS_OF_KERNEL = 4


def _index(call: Call) -> Any:
    """``x[:, [2, 0, 1]]``: the rules of numpy, which torch has as well."""
    given, x = call.given("indices"), call.movable()
    lists = given if isinstance(given, list) else [given]
    if not all(one is None or (isinstance(one, np.ndarray) and one.dtype.kind in "iub") for one in lists):
        raise UnsupportedLayerError(f"{call.at.label} picks by something that is not a constant list of integers")
    window = tuple(slice(None) if one is None else one for one in lists)
    return call.moved(lambda array: array[window], most=_most_picked(call, x.shape, lists))


def _most_picked(call: Call, shape: tuple[int, ...], lists: list[NDArray[Any] | None]) -> int:
    """How many numbers lists pick from a shape: these are repeated to one shape, and axes without a list stay."""
    axis, kept = 0, 1
    for one in lists:
        if one is None:
            kept *= prod(shape[axis : axis + 1])
        axis += one.ndim if one is not None and one.dtype.kind == "b" else 1
    picked = [(int(np.count_nonzero(one)),) if one.dtype.kind == "b" else one.shape for one in lists if one is not None]
    try:
        return kept * prod(shape[axis:]) * prod(np.broadcast_shapes(*picked))
    except ValueError:
        raise call.at.refused(f"picks by lists of shapes {[list(one) for one in picked[:8]]}") from None


def _repeat(call: Call) -> Any:
    times = call.integers(call.first_of("repeats", "dims"))
    x = call.movable()
    if min(times, default=1) < 1 or (call.node.operator == "repeat" and len(times) < len(x.shape)):
        raise call.at.refused(f"repeats {times[:20]} times")
    return call.moved(lambda array: np.tile(array, times), most=x.size * prod(times))


def _repeat_each(call: Call) -> Any:
    call.ignore("output_size")
    times = call.integer("repeats")
    axis = None if call.given("dim", None) is None else call.integer("dim")
    if times < 1:
        raise call.at.refused(f"repeats {times} times")
    return call.moved(lambda array: np.repeat(array, times, axis), most=call.movable().size * times)


def _roll(call: Call) -> Any:
    shifts, axes = call.integers("shifts"), call.integers("dims", [])
    if axes and len(axes) != len(shifts):
        raise call.at.refused(f"has {len(shifts)} shifts for {len(axes)} axes")
    return call.moved(lambda array: np.roll(array, shifts if axes else shifts[0], axes or None))


def _narrow(call: Call) -> Any:
    axis, start, length = call.integer("dim"), call.integer("start"), call.integer("length")

    def cut(array: NDArray[Any]) -> NDArray[Any] | None:
        place = shapes.axis_of(call.at, axis, array.ndim)
        first = start % array.shape[place] if start < 0 else start
        if not 0 <= length <= array.shape[place] - first:
            return None
        return array[(slice(None),) * place + (slice(first, first + length),)]

    return call.moved(cut)


def _slide(call: Call) -> Any:
    """Windows along one axis; their entries become the last axis."""
    axis, size, step = call.integer("dimension"), call.integer("size"), call.integer("step")

    def slide(array: NDArray[Any]) -> NDArray[Any] | None:
        place = shapes.axis_of(call.at, axis, array.ndim)
        if not 0 < size <= array.shape[place] or step < 1:
            return None
        view = np.lib.stride_tricks.sliding_window_view(array, size, place)
        return view[(slice(None),) * place + (slice(None, None, step),)]

    return call.moved(slide, most=call.movable().size * max(size, 1))


def _columns(call: Call) -> Tensor:
    """``F.unfold``: the windows of an image, as columns."""
    x = call.tensor()
    size, stride, dilation, padding = (
        call.integers(name, count=2) for name in ("kernel_size", "stride", "dilation", "padding")
    )
    require_axes(call, x, 2)
    slid = windows.Windows(size, stride, [(pad, pad) for pad in padding], dilation)
    return windows.windows_as_columns(call.at, x, slid.axes(call.at, x.shape[-2:], up=False, outside_counts=False))


def _turn(call: Call) -> Any:
    return call.moved(partial(np.rot90, k=call.integer("k", 1), axes=tuple(call.integers("dims", [0, 1]))))


def _move_axes(call: Call) -> Any:
    move = partial(np.moveaxis, source=call.integers("source"), destination=call.integers("destination"))
    return call.moved(move)


def _swap_axes(call: Call) -> Any:
    first, second = call.first_of("axis0", "dim0"), call.first_of("axis1", "dim1")
    return call.moved(partial(np.swapaxes, axis1=call.integer(first), axis2=call.integer(second)))


def _channel_shuffle(call: Call) -> Any:
    groups = call.integer("groups")
    return call.moved(
        lambda array: array.reshape(len(array), groups, -1, *array.shape[2:]).swapaxes(1, 2).reshape(array.shape)
    )


def _enlarge(axes: int, middle: bool) -> Operation:
    """Each new pixel is the old one at its place; ``middle``: at the place of its middle."""

    def enlarge(call: Call) -> Tensor:
        x = call.tensor(call.first_of("input", "self"))
        if len(x.shape) != axes + 2:
            raise call.at.refused(f"takes a batch, channels and {axes} axes, and gets shape {list(x.shape)}")
        scales = _scales(call, axes)
        wanted = call.given("output_size", None)
        counts = [int(n * scale) for n, scale in zip(x.shape[2:], scales, strict=True) if scale is not None]
        if wanted is not None:
            counts = call.integers("output_size")
        if len(counts) != axes or min(counts) < 1:
            raise call.at.refused(f"makes {counts} of {list(x.shape[2:])}")
        call.at.charge(0, BYTES * prod(x.shape[:2]) * prod(counts))
        if not middle and _ignores_whole_factors(call, axes, x.shape[1], counts):
            each = zip(scales, counts, x.shape[2:], strict=True)
            scales = [None if count in (length, 2 * length) else scale for scale, count, length in each]
        places = [_nearest(call, *each, middle) for each in zip(x.shape[2:], counts, scales, strict=True)]
        picked: Any = (slice(None), slice(None), *np.ix_(*places))
        return shapes.moved(call.at, x, lambda array: array[picked], prod(x.shape[:2]) * prod(counts))

    return enlarge


def _ignores_whole_factors(call: Call, axes: int, channels: int, counts: list[int]) -> bool:
    """Whether torch's kernel goes by lengths, not by the factor, where these stay or double."""
    innermost = axes > 1 and channels >= CHANNELS_OF_KERNEL and call.node.channels_last
    return innermost or (axes == 2 and sum(counts) <= SMALL_IMAGE)


def _scales(call: Call, axes: int) -> list[float | None]:
    """By how much axes become longer, where the call says so; by what lengths say where it does not."""
    names = [f"scales_{letter}" for letter in "dhw"][3 - axes :] if axes > 1 else ["scales"]
    if "scale_factors" in call.node.arguments or not any(name in call.node.arguments for name in names):
        given = call.given("scale_factors", None)
        factors = [None] * axes if given is None else given
    else:
        factors = [call.given(name, None) for name in names]
    if not isinstance(factors, list) or len(factors) != axes:
        raise call.at.refused(f"has not one factor for each of {axes} axes")
    if not all(one is None or (type(one) in (int, float) and 0 < one < 2**31) for one in factors):
        raise call.at.refused("enlarges by something that is not a number above 0")
    return [None if one is None else float(one) for one in factors]


def _nearest(call: Call, length: int, count: int, scale: float | None, middle: bool) -> NDArray[np.int64]:
    """The place of each of so many pixels along an axis, as torch finds it and as real numbers say."""
    call.at.charge(0, 64 * count)
    step = np.float32(length) / np.float32(count) if scale is None else np.float32(1.0 / scale)
    pixels = np.arange(count)
    found = np.floor((pixels.astype(np.float32) + np.float32(0.5 if middle else 0.0)) * step)
    exact = Fraction(length, count) if scale is None else 1 / Fraction(scale)
    half = Fraction(1, 2) if middle else 0
    true = np.array([int((pixel + half) * exact) for pixel in range(count)])
    if not (np.minimum(found, length - 1) == np.minimum(true, length - 1)).all():
        raise UnsupportedLayerError(
            f"{call.at.label}: which pixel is the nearest is decided by rounding; enlarge to an output size that is a "
            "multiple of the size before"
        )
    return np.minimum(true, length - 1)


MOVING_OPERATORS: dict[str, Operation] = {
    "index": _index,
    **dict.fromkeys(("repeat", "tile"), _repeat),
    "repeat_interleave": _repeat_each,
    "roll": _roll,
    "narrow": _narrow,
    **dict.fromkeys(("movedim", "moveaxis"), _move_axes),
    **dict.fromkeys(("transpose", "swapaxes", "swapdims"), _swap_axes),
    "mT": lambda call: call.moved(lambda array: array.swapaxes(-1, -2)),
    "channel_shuffle": _channel_shuffle,
    "rot90": _turn,
    "unfold": _slide,
    "im2col": _columns,
    **{f"upsample_nearest{axes}d": _enlarge(axes, middle=False) for axes in (1, 2, 3)},
    **{f"_upsample_nearest_exact{axes}d": _enlarge(axes, middle=True) for axes in (1, 2, 3)},
}
