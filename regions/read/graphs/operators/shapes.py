# SPDX-License-Identifier: MIT
"""Which operators only move numbers?

Reshaping, transposing, slicing, flipping and repeating do to the arrays that say where the numbers are what they would
do to the tensor: `moved` applies one function of numpy to both. Constants are moved as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.arrays import exact_float64
from regions.errors import InternalError, RegionsError
from regions.files.limits import MAX_AXES
from regions.read.graphs.operations import Tensor
from regions.read.graphs.site import BYTES_OF_ELEMENT, Site

__all__ = ["axes_of", "axis_of", "blocks_apart", "blocks_together", "bordered", "joined", "moved", "sections", "taken"]

# A number that is repeated has an owner and a place, copies of both, and a place in lists on the way.
MOVED_BYTES = 48
Value = TypeVar("Value", Tensor, NDArray[Any])
MODES = {"reflect": "reflect", "replicate": "edge", "edge": "edge", "circular": "wrap", "wrap": "wrap"}


def moved(at: Site, x: Value, move: Callable[[NDArray[Any]], NDArray[Any] | None], most: int | None = None) -> Value:
    """Apply a function of numpy that only moves numbers to a tensor or a constant.

    Parameters
    ----------
    at : Site
    x : Tensor or array
    move : callable
        Returns None, or raises what numpy raises, if it does not fit.
    most : int, optional
        How many numbers the result may have; as many as x has if left out. They are charged before anything is built.
    """
    most = x.size if most is None else most
    at.charge(0, MOVED_BYTES * most if most > x.size else BYTES_OF_ELEMENT * most)

    def apply(array: NDArray[Any]) -> NDArray[Any]:
        result = move(array)
        if result is None:
            raise ValueError
        if result.size > most:
            raise InternalError(f"{at.label} makes {result.size} numbers, and only {most} were charged")
        at.require_axes(result.shape)
        return result

    try:
        return at.moved(x, apply) if isinstance(x, Tensor) else apply(x)  # type: ignore[return-value]
    except RegionsError:
        raise
    except (ValueError, IndexError, OverflowError, TypeError):
        raise at.refused(f"does not fit what reaches it, of shape {list(x.shape)}") from None


def taken(at: Site, x: Value, indices: NDArray[np.integer[Any]], axis: int) -> Value:
    """The numbers at some places along an axis, in the shape of the indices; negative ones count from the end."""
    axis = axis_of(at, axis, len(x.shape))
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    return moved(at, x, lambda array: np.take(array, indices, axis=axis), math.prod(shape))


def axis_of(at: Site, axis: int, count: int) -> int:
    """The number of an axis, from 0, of one that may be counted from the end."""
    if not -count <= axis < count:
        raise at.refused(f"has an axis {axis}, and gets numbers with {count} axes")
    return axis % count


def axes_of(at: Site, axes: Sequence[int], count: int) -> list[int]:
    """The numbers of different axes."""
    if len(axes) > MAX_AXES:
        raise at.refused(f"names {len(axes)} axes; at most {MAX_AXES} are read")
    found = [axis_of(at, axis, count) for axis in axes]
    if len(set(found)) != len(found):
        raise at.refused(f"names an axis twice: {list(axes)[:20]}")
    return found


def joined(at: Site, values: Sequence[Tensor | NDArray[Any]], axis: int) -> Tensor:
    """Tensors, and constants beside them, one after the other along an axis."""
    shapes = [list(value.shape) for value in values]
    if not shapes or len({len(shape) for shape in shapes}) != 1 or not shapes[0]:
        raise at.refused(f"joins shapes {shapes[:8]}")
    axis = axis_of(at, axis, len(shapes[0]))
    if len({(*shape[:axis], *shape[axis + 1 :]) for shape in map(tuple, shapes)}) != 1:
        raise at.refused(f"joins shapes {shapes[:8]} along axis {axis}")
    given = next(value for value in values if isinstance(value, Tensor))
    # Constants are zeros at first.
    tensors = [
        value if isinstance(value, Tensor) else at.rearranged(given, np.full(value.shape, -1)) for value in values
    ]
    constants = [np.zeros(value.shape) if isinstance(value, Tensor) else value for value in values]
    result = tensors[0] if len(tensors) == 1 else at.joined(tensors, axis)
    if any(constant.any() for constant in constants):
        result = at.scaled(result, 1.0, exact_float64(np.concatenate(constants, axis), f"{at.label}: its constants"))
    return result


def sections(at: Site, x: Tensor, axis: int, lengths: Sequence[int]) -> list[Tensor]:
    """A tensor cut along an axis into parts of given lengths."""
    axis = axis_of(at, axis, len(x.shape))
    if any(length < 0 for length in lengths) or sum(lengths) != x.shape[axis]:
        raise at.refused(f"cuts an axis of length {x.shape[axis]} into {list(lengths)[:20]}")
    parts = []
    for length, end in zip(lengths, accumulate(lengths), strict=True):
        window = (slice(None),) * axis + (slice(end - length, end),)
        size = x.size // max(x.shape[axis], 1) * length
        parts.append(moved(at, x, lambda array, window=window: array[window], size))  # type: ignore[misc]
    return parts


def bordered(at: Site, x: Tensor, pads: Sequence[tuple[int, int]], mode: str, value: float) -> Tensor:
    """A border around a tensor, for each axis: numbers of its own, or a constant; negative ones cut off.

    A tensor that wraps around is cut first, so that what is cut off does not come in again at the other end.
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
    """Without what negative borders cut off."""
    window = tuple(slice(max(-low, 0), n + min(high, 0)) for (low, high), n in zip(pads, x.shape, strict=True))
    return moved(at, x, lambda array: array[window])


def _framed(at: Site, x: Tensor, pads: Sequence[tuple[int, int]], mode: str, value: float) -> Tensor:
    """With the positive borders."""
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


def blocks_apart(array: NDArray[Any], size: int, *, channels_first: bool) -> NDArray[Any] | None:
    """Channels become blocks of pixels: [.., C s s, H, W] to [.., C, H s, W s].

    Which numbers of the channels' axis make one block says ``channels_first``: those that follow each other, or else
    those that are C apart.
    """
    if array.ndim < 3 or not 0 < size <= array.shape[-3]:
        return None
    *batch, channels, height, width = array.shape
    parts = (channels // size**2, size, size) if channels_first else (size, size, channels // size**2)
    at, order = len(batch), [0, 3, 1, 4, 2] if channels_first else [2, 3, 0, 4, 1]
    split = array.reshape(*batch, *parts, height, width).transpose([*range(at), *(at + axis for axis in order)])
    return split.reshape(*batch, channels // size**2, height * size, width * size)


def blocks_together(array: NDArray[Any], size: int, *, channels_first: bool) -> NDArray[Any] | None:
    """Blocks of pixels become channels: [.., C, H s, W s] to [.., C s s, H, W], the way back from `blocks_apart`."""
    if array.ndim < 3 or not 0 < size <= min(array.shape[-2:]):
        return None
    *batch, channels, height, width = array.shape
    at, order = len(batch), [0, 2, 4, 1, 3] if channels_first else [2, 4, 0, 1, 3]
    split = array.reshape(*batch, channels, height // size, size, width // size, size)
    split = split.transpose([*range(at), *(at + axis for axis in order)])
    return split.reshape(*batch, channels * size**2, height // size, width // size)
