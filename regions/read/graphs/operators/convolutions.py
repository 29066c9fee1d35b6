# SPDX-License-Identifier: MIT
"""Which linear operators are convolutions?

A convolution is `Patches.convolution`; this file checks its shapes.
Source: the documentation of torch's and of ONNX's operators.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from regions.ground.arithmetic.types import Floats
from regions.networks.patches import Patches
from regions.read.graphs.call import Call
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators.windows import MOST_POSITIONS, Windows, windows_of
from regions.read.graphs.site import Site

__all__ = ["convolution"]


def convolution(call: Call, axes: int | None = None, back: bool | None = None) -> Tensor:
    """Return a convolution, or a transposed one, by a kernel.

    Parameters
    ----------
    call : Call
    axes : int, optional
        Number of axes of the windows; the kernel decides if left out.
    back : bool, optional
        Whether it is transposed; an argument of the call decides if left out.
    """
    x, kernel, biases = call.tensor(), call.constant("weight"), call.array("bias")
    if kernel.ndim < 3 or (axes is not None and kernel.ndim != axes + 2):
        raise call.at.refused("has no kernel for its number of axes")
    count = kernel.ndim - 2
    windows, groups = windows_of(call, kernel.shape[2:], x.shape[-count:]), call.integer("groups", 1)
    more = [0] * count if back is False else call.integers("output_padding", [0], count)
    if call.flag("transposed") if back is None else back:
        return _convolved_back(call.at, x, kernel, biases, windows, groups, more)
    return _convolved(call.at, x, kernel, biases, windows, groups)


def _convolved(at: Site, x: Tensor, kernel: Floats, biases: Floats | None, windows: Windows, groups: int) -> Tensor:
    """Return a convolution of x [1, channels, *lengths] or [channels, *lengths] by a kernel [out, channels / groups,
    *size].
    """
    axes = kernel.ndim - 2
    if axes < 1 or len(x.shape) not in (axes + 1, axes + 2):
        raise at.refused(f"is a convolution with a kernel {list(kernel.shape)} of numbers of shape {list(x.shape)}")
    batch, (channels, *lengths) = x.shape[: -axes - 1], x.shape[-axes - 1 :]
    if batch not in ((), (1,)):
        raise at.several(x)
    out, each = kernel.shape[:2]
    if groups < 1 or channels != each * groups or out % groups or not out:
        raise at.refused(f"has a kernel {list(kernel.shape)} in {groups} groups for {channels} channels")
    if biases is not None and biases.shape != (out,):
        raise at.refused(f"has biases {list(biases.shape)} for {out} channels")
    counts = windows.counts(at, lengths)
    positions = math.prod(counts)
    sources = positions * each * math.prod(windows.size) * groups
    # At first, channels and positions are numbered with 64 bits, and each position has a corner with one number per
    # axis.
    at.charge(4 * (sources + positions * out), 24 * sources + 48 * positions * (axes + out))
    shape = (channels, *lengths)
    operator = Patches.convolution(kernel, shape, windows.stride, windows.padding, windows.dilation, groups)
    repeated = None if biases is None else np.repeat(biases, positions)
    return at.linear(x, operator, repeated, (*batch, out, *counts))


def _convolved_back(
    at: Site, x: Tensor, kernel: Floats, biases: Floats | None, windows: Windows, groups: int, more: Sequence[int]
) -> Tensor:
    """Return a transposed convolution by a kernel [channels, out / groups, *size], with ``more`` numbers at the end of
    each axis.

    A convolution with these windows maps the shape of the result to the shape of x. The padding is removed from the
    result. The operator is computed as a convolution of x, with zeros inserted between its numbers, by the flipped
    kernel.
    """
    axes = kernel.ndim - 2
    lengths, size, stride, spread = x.shape[-axes:], windows.size, windows.stride, windows.dilation
    if not all(len(given) == axes for given in (lengths, stride, windows.padding, spread, more)):
        raise at.refused(f"does not have one stride, padding and dilation for each of {axes} axes")
    least = min(*more, *(pad for pair in windows.padding for pad in pair))
    if groups < 1 or len(kernel) % groups or least < 0 or min(*stride, *spread) < 1:
        raise at.refused(f"has {groups} groups of {len(kernel)} channels, or an impossible stride, dilation or padding")
    reach = [step * (entries - 1) for entries, step in zip(size, spread, strict=True)]
    low = [before - pad for before, (pad, _) in zip(reach, windows.padding, strict=True)]
    high = [after - pad + extra for after, (_, pad), extra in zip(reach, windows.padding, more, strict=True)]
    wide = [(length - 1) * step + 1 for length, step in zip(lengths, stride, strict=True)]
    # A negative border removes numbers. `_convolved` refuses a remainder that is smaller than the kernel.
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
    return _convolved(at, at.rearranged(x, sources), turned, biases, slid, groups)
