# SPDX-License-Identifier: MIT
"""Which operations are torch's operators that take the largest or the smallest of several numbers?

As `operators.py`; with them stands what they share with means: windows, and axes that are taken together.
Where an operator gives positions as well, something stands for these that nothing can compute with.
Source: ``aten/src/ATen/native/native_functions.yaml`` of torch 2.13 and the operators' documentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from regions.read.exported.call import Call, Operation
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators import maxima, shapes, windows

__all__ = ["MAX_OPERATORS", "adaptive_windows", "axes_taken_together", "pool_windows", "require_axes"]


def require_axes(call: Call, x: Tensor, axes: int) -> None:
    """Windows along so many axes need these and channels."""
    if len(x.shape) not in (axes + 1, axes + 2):
        raise call.at.refused(f"takes channels and {axes} axes, and gets shape {list(x.shape)}")


def pool_windows(
    call: Call, x: Tensor, axes: int, dilation: Sequence[int], *, outside_counts: bool
) -> list[windows.Axis]:
    """Return the windows of a pool along the last axes of x."""
    window = call.integers("kernel_size", count=axes)
    stride = call.integers("stride", [], axes) or window
    padding = [(pad, pad) for pad in call.integers("padding", [0], axes)]
    up = call.flag("ceil_mode")
    require_axes(call, x, axes)
    slid = windows.Windows(window, stride, padding, dilation)
    return slid.axes(call.at, x.shape[-axes:], up=up, outside_counts=outside_counts)


def adaptive_windows(call: Call, axes: int) -> list[windows.Axis]:
    """Windows of which there are as many as the call says."""
    x = call.tensor()
    require_axes(call, x, axes)
    lengths = x.shape[-axes:]
    given = call.given("output_size")
    wanted = [
        length if one is None else one
        for one, length in zip(given if isinstance(given, list) else [given] * axes, lengths, strict=False)
    ]
    if not all(type(one) is int for one in wanted):
        raise call.at.refused("has an argument 'output_size' that is not a list of whole numbers")
    return windows.adaptive_axes(call.at, lengths, wanted)


def axes_taken_together(call: Call, x: Tensor) -> list[int]:
    """The axes that a call names, all of them if none."""
    given = call.given("dim", None)
    every = given is None or (isinstance(given, list) and not given)
    axes = range(len(x.shape)) if every else call.integers("dim")
    return shapes.axes_of(call.at, axes, len(x.shape))


def _with_positions(call: Call, values: Tensor) -> Any:
    return [values, np.zeros(0)] if len(call.node.outputs) == 2 else values


def _pool(axes: int) -> Operation:
    def pool(call: Call) -> Any:
        x, dilation = call.tensor(), call.integers("dilation", [1], axes)
        found = pool_windows(call, x, axes, dilation, outside_counts=False)
        return _with_positions(call, maxima.largest_in_windows(call.at, x, found))

    return pool


def _adaptive(axes: int) -> Operation:
    def adapt(call: Call) -> Any:
        found = maxima.largest_in_windows(call.at, call.tensor(), adaptive_windows(call, axes))
        return _with_positions(call, found)

    return adapt


def _of_two(smallest: bool) -> Operation:
    def compare(call: Call) -> Tensor:
        given = call.operands()
        tensors = [each for each in given if isinstance(each, Tensor)]
        constants = [each for each in given if not isinstance(each, Tensor)]
        return maxima.compared(call.at, tensors, constants, smallest=smallest)

    return compare


def _along(smallest: bool, several: bool = False) -> Operation:
    """Along axes; or, of the operators that have both forms, of two tensors."""

    def reduce(call: Call) -> Any:
        if several and "other" in call.node.arguments:
            return _of_two(smallest)(call)
        x = call.tensor()
        axes, keep = axes_taken_together(call, x), call.flag("keepdim")
        return _with_positions(call, maxima.largest_along_axes(call.at, x, axes, keep, smallest=smallest))

    return reduce


MAX_OPERATORS: dict[str, Operation] = {
    **{f"max_pool{axes}d": _pool(axes) for axes in (1, 2, 3)},
    **{f"max_pool{axes}d_with_indices": _pool(axes) for axes in (1, 2, 3)},
    **{f"adaptive_max_pool{axes}d": _adaptive(axes) for axes in (1, 2, 3)},
    "maximum": _of_two(smallest=False),
    "minimum": _of_two(smallest=True),
    "amax": _along(smallest=False),
    "amin": _along(smallest=True),
    "max": _along(smallest=False, several=True),
    "min": _along(smallest=True, several=True),
}
