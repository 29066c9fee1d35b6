# SPDX-License-Identifier: MIT
"""Which linear operator is a convolution or a mean over windows?

A convolution is `Patches.convolution`; this file checks its shapes. Means are patches of one row. Windows that reach
over the border may count the outside or not, so there are several kinds of rows. A mean of n numbers has the weight
1 / n, rounded to a double if n is not a power of two, and a note says so.
Source: the documentation of torch's and of ONNX's operators, which agree on windows beyond the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.types import Floats, Integers
from regions.errors import UnsupportedLayerError
from regions.networks.dense import Dense
from regions.networks.patches import Patches, flat_places
from regions.read.graphs.operations import Tensor
from regions.read.graphs.site import Site, places

__all__ = [
    "Axis",
    "Windows",
    "adaptive_axes",
    "convolved",
    "convolved_back",
    "dense",
    "mean_over_axes",
    "mean_over_windows",
    "several",
    "sources_along_axes",
    "sources_in_windows",
    "windows_as_columns",
]

# What numpy and Patches can count with, and more than there is memory for.
MOST_POSITIONS = 2**31 - 1


def several(at: Site, x: Tensor) -> UnsupportedLayerError:
    """The error that says that a node works on a batch."""
    return UnsupportedLayerError(
        f"{at.label} gets numbers of shape {list(x.shape)} and treats them as several inputs; if the file "
        "is for batches of one size, export it for single inputs, or for batches of any size"
    )


def dense(at: Site, x: Tensor, weights: Floats, biases: Floats | None = None) -> Tensor:
    """A matrix [out, in] on the last axis."""
    if not x.shape or x.shape[-1] != weights.shape[1]:
        raise at.refused(f"has a matrix for {weights.shape[1]} numbers and gets {_shown(x)}")
    shape = (*x.shape[:-1], len(weights))
    if x.size == x.shape[-1]:
        return at.linear(x, Dense(weights), biases, shape)
    if x.shape[0] != 1:
        raise several(at, x)
    rows = x.size // x.shape[-1]
    at.charge(4 * (x.size + rows * len(weights)))
    operator = Patches(
        x.size,
        rows * len(weights),
        weights[np.newaxis],
        np.zeros(rows, dtype=np.int32),
        np.arange(x.size, dtype=np.int32).reshape(rows, -1),
        np.arange(rows * len(weights), dtype=np.int32).reshape(rows, -1),
    )
    return at.linear(x, operator, None if biases is None else np.tile(biases, rows), shape)


class Axis:
    """Windows along one axis.

    Attributes
    ----------
    places : int64 [windows, entries]
        Position of each entry, -1 beyond the border.
    divisors : int64 [windows]
        How many numbers the mean is of.
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
        """How many there are along each axis; refuses what is impossible."""
        if not len(lengths) == len(self.size) == len(self.stride) == len(self.padding) == len(self.dilation):
            raise at.refused(f"has not one stride, padding and dilation for each of {len(lengths)} axes")
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
            if up and (count - 1) * step >= length + before:  # a window may not begin beyond what is there
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
        """Their entries; ``up`` lets the last one reach beyond the padding, where nothing counts."""
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


def convolved(at: Site, x: Tensor, kernel: Floats, biases: Floats | None, windows: Windows, groups: int) -> Tensor:
    """A convolution of x [1, channels, *lengths], or without the 1, by a kernel [out, channels / groups, *size]."""
    axes = kernel.ndim - 2
    if axes < 1 or len(x.shape) not in (axes + 1, axes + 2):
        raise at.refused(f"is a convolution with a kernel {list(kernel.shape)} of numbers of shape {list(x.shape)}")
    batch, (channels, *lengths) = x.shape[: -axes - 1], x.shape[-axes - 1 :]
    if batch not in ((), (1,)):
        raise several(at, x)
    out, each = kernel.shape[:2]
    if groups < 1 or channels != each * groups or out % groups or not out:
        raise at.refused(f"has a kernel {list(kernel.shape)} in {groups} groups for {channels} channels")
    if biases is not None and biases.shape != (out,):
        raise at.refused(f"has biases {list(biases.shape)} for {out} channels")
    counts = windows.counts(at, lengths)
    positions = math.prod(counts)
    sources = positions * each * math.prod(windows.size) * groups
    # Both are numbered with 64 bits at first, and positions have a corner along each axis.
    at.charge(4 * (sources + positions * out), 24 * sources + 48 * positions * (axes + out))
    shape = (channels, *lengths)
    operator = Patches.convolution(kernel, shape, windows.stride, windows.padding, windows.dilation, groups)
    repeated = None if biases is None else np.repeat(biases, positions)
    return at.linear(x, operator, repeated, (*batch, out, *counts))


def convolved_back(
    at: Site, x: Tensor, kernel: Floats, biases: Floats | None, windows: Windows, groups: int, more: Sequence[int]
) -> Tensor:
    """A transposed convolution by a kernel [channels, out / groups, *size], with ``more`` numbers at each axis' end.

    A convolution with these windows takes the result back to the shape of x. The padding is cut off from the result. It
    is computed as a convolution of x, with zeros between its numbers, by the flipped kernel.
    """
    axes = kernel.ndim - 2
    lengths, size, stride, spread = x.shape[-axes:], windows.size, windows.stride, windows.dilation
    if not all(len(given) == axes for given in (lengths, stride, windows.padding, spread, more)):
        raise at.refused(f"has not one stride, padding and dilation for each of {axes} axes")
    least = min(*more, *(pad for pair in windows.padding for pad in pair))
    if groups < 1 or len(kernel) % groups or least < 0 or min(*stride, *spread) < 1:
        raise at.refused(f"has {groups} groups of {len(kernel)} channels, or an impossible stride, dilation or padding")
    reach = [step * (entries - 1) for entries, step in zip(size, spread, strict=True)]
    low = [before - pad for before, (pad, _) in zip(reach, windows.padding, strict=True)]
    high = [after - pad + extra for after, (_, pad), extra in zip(reach, windows.padding, more, strict=True)]
    wide = [(length - 1) * step + 1 for length, step in zip(lengths, stride, strict=True)]
    # A negative border cuts off. `convolved` refuses a rest that is smaller than the kernel.
    framed = [sum((max(before, 0), n, max(after, 0))) for before, n, after in zip(low, wide, high, strict=True)]
    shape = [*x.shape[:-axes], *framed]
    if math.prod(shape) > MOST_POSITIONS:
        raise at.refused(f"has {math.prod(shape)} positions")
    at.charge(0, 8 * math.prod(shape))
    sources = np.full(shape, -1)
    between = [slice(max(start, 0), max(start, 0) + n, step) for start, n, step in zip(low, wide, stride, strict=True)]
    inside: tuple[Any, ...] = (..., *between)
    sources[inside] = np.arange(x.size).reshape(x.shape)
    cut = [slice(max(-start, 0), n + min(end, 0)) for start, n, end in zip(low, framed, high, strict=True)]
    remaining: tuple[Any, ...] = (..., *cut)
    sources = sources[remaining]
    split = kernel.reshape(groups, -1, *kernel.shape[1:]).swapaxes(1, 2)
    turned = np.flip(split.reshape(-1, *split.shape[2:]), axis=tuple(range(2, kernel.ndim)))
    slid = Windows(size, [1] * axes, [(0, 0)] * axes, spread)
    return convolved(at, at.rearranged(x, sources), turned, biases, slid, groups)


def adaptive_axes(at: Site, lengths: Sequence[int], counts: Sequence[int]) -> list[Axis]:
    """As many windows as are asked for, of nearly equal size."""
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


def sources_in_windows(at: Site, x: Tensor, axes: Sequence[Axis]) -> tuple[Integers, list[int]]:
    """Return the positions that windows of x [1, channels, *lengths], or without the 1, read, and the result's shape.

    Flat positions [windows, entries], channel by channel, -1 beyond the border.
    """
    batch, (channels, *lengths) = x.shape[: -len(axes) - 1], x.shape[-len(axes) - 1 :]
    if batch not in ((), (1,)):
        raise several(at, x)
    counts = [len(axis.divisors) for axis in axes]
    entries = math.prod(axis.places.shape[1] for axis in axes)
    at.charge(0, 24 * channels * math.prod(counts) * (entries + 1))
    places = flat_places([axis.places for axis in axes], lengths)
    spread = math.prod(lengths)
    sources = np.where(places < 0, -1, places + np.arange(channels)[:, np.newaxis, np.newaxis] * spread)
    return sources.reshape(-1, entries), [*batch, channels, *counts]


def windows_as_columns(at: Site, x: Tensor, axes: Sequence[Axis]) -> Tensor:
    """Return windows of x [1, channels, *lengths], or without the 1, as columns [1, channels * entries, windows]."""
    sources, shape = sources_in_windows(at, x, axes)
    *batch, channels = shape[: -len(axes)]
    columns = sources.reshape(channels, -1, sources.shape[1]).swapaxes(1, 2)
    return at.rearranged(x, columns.reshape(*batch, -1, columns.shape[2]))


def mean_over_windows(at: Site, x: Tensor, axes: Sequence[Axis], divisor: int | None = None) -> Tensor:
    """Return the means over windows of x [1, channels, *lengths], or without the 1, or sums over ``divisor``."""
    sources, shape = sources_in_windows(at, x, axes)
    divisors = reduce(np.multiply.outer, [axis.divisors for axis in axes]).ravel()
    if divisor is not None:
        divisors = np.full_like(divisors, divisor)
    if not divisors.all():
        raise at.refused("has a window with nothing in it")
    return _means(at, x, sources, np.tile(divisors, len(sources) // len(divisors)), shape)


def sources_along_axes(at: Site, x: Tensor, axes: Sequence[int], keep: bool) -> tuple[Integers, list[int]]:
    """Flat positions [results, entries] of what is taken together along axes, which stay with length 1 or go; and the
    shape of the results."""
    gone = set(axes)
    count = math.prod(x.shape[axis] for axis in gone)
    if not x.size:
        raise at.refused("takes no numbers together")
    at.charge(0, 24 * x.size)
    kept = [axis for axis in range(len(x.shape)) if axis not in gone]
    sources = places(x).transpose(*kept, *sorted(gone)).reshape(-1, count)
    lengths = [1 if axis in gone else length for axis, length in enumerate(x.shape) if keep or axis not in gone]
    return sources, lengths


def mean_over_axes(at: Site, x: Tensor, axes: Sequence[int], keep: bool, *, total: bool) -> Tensor:
    """Means, or sums, along axes, which stay with length 1 or go."""
    sources, shape = sources_along_axes(at, x, axes, keep)
    return _means(at, x, sources, np.full(len(sources), 1 if total else sources.shape[1]), shape)


def _means(
    at: Site, x: Tensor, sources: NDArray[np.int64], divisors: NDArray[np.int64], shape: Sequence[int]
) -> Tensor:
    """Patches of one row: each output the sum of its sources over a divisor."""
    values, kinds = np.unique(divisors, return_inverse=True)
    at.charge(4 * sources.size + 8 * len(values) * sources.shape[1])
    rounded = [int(value) for value in values if value & (value - 1) or value < 0]
    if rounded:
        at.note(
            f"divides by {', '.join(map(str, rounded[:8]))}: its weights are the nearest doubles, and the network is "
            "what that yields"
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


def _shown(x: Tensor) -> str:
    return f"{x.shape[-1] if x.shape else 1}, of shape {list(x.shape)}"
