# SPDX-License-Identifier: MIT
"""Which operators compute means and maxima of windows, or along axes?

A mean is an operator of patches with one row. A window across the border may count the padding or not, so there are
several kinds of rows. A mean of n numbers has the weight 1 / n, rounded to a double if n is not a power of two, and a
note says so. The largest number is a unit of `maxima.py`; a window across the border has fewer branches.
Source: the documentation of torch's and of ONNX's operators, which agree on windows beyond the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from regions.errors import UnsupportedLayerError
from regions.ground.arithmetic.types import Integers
from regions.networks.patches import Patches, flat_places
from regions.read.graphs.call import Call
from regions.read.graphs.moving import axes_of
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators.maxima import largest
from regions.read.graphs.site import Site, places

__all__ = [
    "MOST_POSITIONS",
    "Windows",
    "adaptive_average",
    "adaptive_largest",
    "average",
    "columns",
    "largest_along_axes",
    "largest_in_windows",
    "means_along_axes",
    "windows_of",
]

# The largest number of entries. numpy and `Patches` can index them, and memory would not hold more.
MOST_POSITIONS = 2**31 - 1


class Axis:
    """Windows along one axis.

    Attributes
    ----------
    places : int64 [windows, entries]
        Position of each entry, -1 beyond the border.
    divisors : int64 [windows]
        The number by which the sum of each window is divided.
    """

    def __init__(self, places: Integers, divisors: Integers) -> None:
        self.places, self.divisors = places, divisors


@dataclass(frozen=True)
class Windows:
    """Windows of one size that slide.

    Attributes
    ----------
    size, stride, dilation : sequence of int
        For each axis.
    padding : sequence of (int, int)
        Before and after, for each axis.
    """

    size: Sequence[int]
    stride: Sequence[int]
    padding: Sequence[tuple[int, int]]
    dilation: Sequence[int]

    def counts(self, at: Site, lengths: Sequence[int], up: bool = False) -> list[int]:
        """The number of windows along each axis; impossible windows are refused."""
        if not len(lengths) == len(self.size) == len(self.stride) == len(self.padding) == len(self.dilation):
            raise at.refused(f"does not have one stride, padding and dilation for each of {len(lengths)} axes")
        numbers = [*self.size, *self.stride, *self.dilation]
        pads = [pad for pair in self.padding for pad in pair]
        if min(numbers) < 1 or min(pads) < 0 or max(*numbers, *pads, *lengths) > MOST_POSITIONS:
            raise at.refused(
                f"has an impossible window {list(self.size)}, stride {list(self.stride)}, padding "
                f"{[list(pair) for pair in self.padding]} or dilation {list(self.dilation)}"
            )
        result = []
        each = zip(lengths, self.size, self.stride, self.padding, self.dilation, strict=True)
        for length, size, step, (before, after), spread in each:
            room = length + before + after - spread * (size - 1) - 1
            count = (-(-room // step) if up else room // step) + 1
            if up and (count - 1) * step >= length + before:  # a window may not begin beyond the end
                count -= 1
            if count < 1:
                raise at.refused(
                    f"has windows {list(self.size)} that are larger than what they move over, {list(lengths)}"
                )
            result.append(count)
        if math.prod(result) > MOST_POSITIONS:
            raise at.refused(f"has {math.prod(result)} positions")
        return result

    def axes(self, at: Site, lengths: Sequence[int], *, up: bool, outside_counts: bool) -> list[Axis]:
        """Return the entries of the windows. If ``up``, the last window may reach beyond the padding, and entries there
        are ignored.
        """
        counts = self.counts(at, lengths, up)
        at.charge(0, 24 * sum(count * size for count, size in zip(counts, self.size, strict=True)))
        axes = []
        for i, (length, count) in enumerate(zip(lengths, counts, strict=True)):
            before, after = self.padding[i]
            entries = self.dilation[i] * np.arange(self.size[i])
            places = np.arange(count)[:, np.newaxis] * self.stride[i] - before + entries
            inside = (places >= 0) & (places < length)
            counted = places < length + after if outside_counts else inside
            axes.append(Axis(np.where(inside, places, -1), counted.sum(axis=1)))
        return axes


def windows_of(call: Call, size: Sequence[int], lengths: Sequence[int]) -> Windows:
    """Return the windows of a call, of a size, along axes of some lengths.

    The padding is one number for each axis, a pair of them, or a word. ``valid`` means none. ``same``, ``same_upper``
    and ``same_lower`` mean as much as lets a window begin at every ``stride`` numbers of the axis; if the padding is
    odd, ``same_lower`` has the larger half in front, and the others behind.
    """
    axes = len(size)
    stride, dilation = (call.integers(name, [1], axes) for name in ("stride", "dilation"))
    padding = call.given("padding", [0])
    if isinstance(padding, str):
        return Windows(size, stride, _named_padding(call, padding, size, lengths, stride, dilation), dilation)
    if isinstance(padding, list) and padding and isinstance(padding[0], tuple):
        return Windows(size, stride, padding, dilation)
    return Windows(size, stride, [(pad, pad) for pad in call.integers("padding", [0], axes)], dilation)


def _named_padding(
    call: Call, word: str, size: Sequence[int], lengths: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> list[tuple[int, int]]:
    if word.lower() == "valid":
        return [(0, 0)] * len(size)
    if word.lower() not in ("same", "same_upper", "same_lower"):
        raise call.at.refused(f"pads in a way that is not known, {word!r}")
    if not len(lengths) == len(stride) == len(dilation) == len(size) or min(stride) < 1:
        raise call.at.refused(f"does not have one stride, padding and dilation for each of {len(lengths)} axes")
    result = []
    for length, entries, step, spread in zip(lengths, size, stride, dilation, strict=True):
        padding = (-(-length // step) - 1) * step + (entries - 1) * spread + 1 - length
        if padding < -1:  # an extra number at the end is always skipped
            raise UnsupportedLayerError(
                f"{call.at.label} has windows {list(size)} that skip the last of {list(lengths)} numbers, so the "
                f"padding {word!r} would be {padding}, which is not defined; export it with numbers as padding"
            )
        smaller, larger = max(padding, 0) // 2, -(-max(padding, 0) // 2)
        result.append((larger, smaller) if word.lower() == "same_lower" else (smaller, larger))
    return result


def _pooled(call: Call, axes: int | None, *, outside_counts: bool) -> tuple[Tensor, list[Axis]]:
    """Return the tensor that a call pools, and its windows."""
    x = call.tensor()
    size = call.integers("kernel_size", count=axes)
    lengths = _lengths(call, x, len(size) if axes is None else axes)
    stride = call.given("stride", None)
    if stride is None or (isinstance(stride, (list, tuple)) and not stride):
        call = call.with_arguments(stride=size)
    up = call.flag("ceil_mode")
    windows = windows_of(call, size, lengths)
    return x, windows.axes(call.at, lengths, up=up, outside_counts=outside_counts)


def _lengths(call: Call, x: Tensor, axes: int) -> tuple[int, ...]:
    """Return the lengths of the last axes of x, which follow an axis of channels and maybe one of the batch."""
    if len(x.shape) not in (axes + 1, axes + 2):
        raise call.at.refused(f"takes channels and {axes} axes, and gets shape {list(x.shape)}")
    return x.shape[-axes:]


def average(call: Call, axes: int | None = None) -> Tensor:
    """Return the means over windows, or sums over a divisor that the call names."""
    x, windows = _pooled(call, axes, outside_counts=call.flag("count_include_pad", True))
    divisor = None if call.given("divisor_override", None) is None else call.integer("divisor_override")
    return _mean_over_windows(call.at, x, windows, divisor)


def largest_in_windows(call: Call, axes: int | None = None) -> Tensor:
    """Return the largest number in each window."""
    x, windows = _pooled(call, axes, outside_counts=False)
    return largest(call.at, x, *_sources_in_windows(call.at, x, windows))


def adaptive_average(call: Call, axes: int) -> Tensor:
    """Return the means over as many windows as the call asks for."""
    return _mean_over_windows(call.at, call.tensor(), _adaptive_windows(call, axes))


def adaptive_largest(call: Call, axes: int) -> Tensor:
    """Return the largest number in each of as many windows as the call asks for."""
    x, windows = call.tensor(), _adaptive_windows(call, axes)
    return largest(call.at, x, *_sources_in_windows(call.at, x, windows))


def _adaptive_windows(call: Call, axes: int) -> list[Axis]:
    lengths = _lengths(call, call.tensor(), axes)
    given = call.given("output_size")
    counts = given if isinstance(given, list) else [given] * axes
    wanted = [length if one is None else one for one, length in zip(counts, lengths, strict=False)]
    if not all(type(one) is int for one in wanted):
        raise call.at.refused("has an argument 'output_size' that is not a list of whole numbers")
    return _adaptive_axes(call.at, lengths, wanted)


def _adaptive_axes(at: Site, lengths: Sequence[int], counts: Sequence[int]) -> list[Axis]:
    """Return the requested number of windows, of nearly equal size."""
    if len(counts) != len(lengths) or min(counts) < 1 or max(counts) > MOST_POSITIONS:
        raise at.refused(f"makes {list(counts)} numbers out of {list(lengths)}")
    axes = []
    for length, count in zip(lengths, counts, strict=True):
        at.charge(0, 32 * (length + 2 * count))
        first = np.arange(count) * length // count
        sizes = -(-(np.arange(count) + 1) * length // count) - first
        entries = np.arange(sizes.max(initial=0))
        axes.append(Axis(np.where(entries < sizes[:, np.newaxis], first[:, np.newaxis] + entries, -1), sizes))
    return axes


def _sources_in_windows(at: Site, x: Tensor, axes: Sequence[Axis]) -> tuple[Integers, list[int]]:
    """Return the positions that windows of x [1, channels, *lengths], or without the 1, read, and the result's shape.

    Flat positions [windows, entries], channel by channel, -1 beyond the border.
    """
    batch, (channels, *lengths) = x.shape[: -len(axes) - 1], x.shape[-len(axes) - 1 :]
    if batch not in ((), (1,)):
        raise at.several(x)
    counts = [len(axis.divisors) for axis in axes]
    entries = math.prod(axis.places.shape[1] for axis in axes)
    at.charge(0, 24 * channels * math.prod(counts) * (entries + 1))
    places = flat_places([axis.places for axis in axes], lengths)
    spread = math.prod(lengths)
    sources = np.where(places < 0, -1, places + np.arange(channels)[:, np.newaxis, np.newaxis] * spread)
    return sources.reshape(-1, entries), [*batch, channels, *counts]


def columns(call: Call) -> Tensor:
    """Return windows of x [1, channels, *lengths], or without the 1, as columns [1, channels * entries, windows]."""
    at, x, size = call.at, call.tensor(), call.integers("kernel_size", count=2)
    lengths = _lengths(call, x, 2)
    windows = windows_of(call, size, lengths).axes(at, lengths, up=False, outside_counts=False)
    sources, shape = _sources_in_windows(at, x, windows)
    *batch, channels = shape[:-2]
    moved = sources.reshape(channels, -1, sources.shape[1]).swapaxes(1, 2)
    return at.rearranged(x, moved.reshape(*batch, -1, moved.shape[2]))


def _mean_over_windows(at: Site, x: Tensor, windows: Sequence[Axis], divisor: int | None = None) -> Tensor:
    sources, shape = _sources_in_windows(at, x, windows)
    divisors = reduce(np.multiply.outer, [axis.divisors for axis in windows]).ravel()
    if divisor is not None:
        divisors = np.full_like(divisors, divisor)
    if not divisors.all():
        raise at.refused("has a window with nothing in it")
    return _means(at, x, sources, np.tile(divisors, len(sources) // len(divisors)), shape)


def means_along_axes(call: Call, *, total: bool = False) -> Tensor:
    """Return the means, or sums, along axes."""
    x, sources, shape = _along_axes(call)
    return _means(call.at, x, sources, np.full(len(sources), 1 if total else sources.shape[1]), shape)


def largest_along_axes(call: Call, *, smallest: bool = False) -> Tensor:
    """Return the largest numbers along axes, or the smallest."""
    x, sources, shape = _along_axes(call)
    return largest(call.at, x, sources, shape, smallest=smallest)


def _along_axes(call: Call) -> tuple[Tensor, Integers, list[int]]:
    """Return a tensor, the flat positions [results, entries] of the entries of each result, and the shape of the
    results.

    The axes of the call (all axes if it names none) are removed, or kept with length 1.
    """
    at, x, keep = call.at, call.tensor(), call.flag("keepdim")
    named = [] if call.given("dim", None) is None else call.integers("dim")
    gone = axes_of(at, named or range(len(x.shape)), len(x.shape))
    count = math.prod(x.shape[axis] for axis in gone)
    if not x.size:
        raise at.refused("takes no numbers together")
    at.charge(0, 24 * x.size)
    kept = [axis for axis in range(len(x.shape)) if axis not in gone]
    sources = places(x).transpose(*kept, *sorted(gone)).reshape(-1, count)
    return x, sources, [1 if axis in gone else n for axis, n in enumerate(x.shape) if keep or axis not in gone]


def _means(at: Site, x: Tensor, sources: Integers, divisors: Integers, shape: Sequence[int]) -> Tensor:
    """Return patches of one row: each output is the sum of its sources divided by a number."""
    values, kinds = np.unique(divisors, return_inverse=True)
    at.charge(4 * sources.size + 8 * len(values) * sources.shape[1])
    rounded = [int(value) for value in values if value & (value - 1) or value < 0]
    if rounded:
        at.note(
            f"divides by {', '.join(map(str, rounded[:8]))}: its weights are the nearest doubles, and results are for "
            "these"
        )
    operator = Patches(
        x.size,
        len(sources),
        np.repeat(1.0 / values, sources.shape[1]).reshape(len(values), 1, -1),
        kinds.ravel().astype(np.int32),
        sources.astype(np.int32),
        np.arange(len(sources), dtype=np.int32)[:, np.newaxis],
    )
    return at.linear(x, operator, None, shape)
