# SPDX-License-Identifier: MIT
"""Which operations are ONNX's operators on images: windows, borders, joining, cutting?

As `operators.py`, for convolutions, means, padding, and what makes one value of several or several of one.
Source: the operators' own documentation in ONNX, each version of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from regions.errors import NotACheckpointError, UnsupportedLayerError
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators import maxima, shapes, windows
from regions.read.graphs.site import Site
from regions.read.onnx.graph import Node
from regions.read.onnx.operators import Operation, numbers_beside, only_flow
from regions.read.onnx.values import Flow, Value, integers

__all__ = ["IMAGE_OPERATORS"]


def _windows(at: Site, node: Node, lengths: Sequence[int], window: Sequence[int]) -> windows.Windows:
    """The windows of a node, of a size, over some lengths."""
    axes = len(window)
    stride = list(node.attributes.get("strides", [1] * axes))
    dilation = list(node.attributes.get("dilations", [1] * axes))
    pads = list(node.attributes.get("pads", [0] * 2 * axes))
    automatic = node.attributes.get("auto_pad", "NOTSET")
    if not len(lengths) == len(stride) == len(dilation) == axes or len(pads) != 2 * axes or min(stride, default=0) < 1:
        raise at.refused(f"has not one stride, dilation and pair of pads for each of {len(lengths)} axes")
    if automatic == "NOTSET":
        return windows.Windows(window, stride, list(zip(pads[:axes], pads[axes:], strict=True)), dilation)
    if automatic == "VALID":
        return windows.Windows(window, stride, [(0, 0)] * axes, dilation)
    if automatic not in ("SAME_UPPER", "SAME_LOWER"):
        raise at.refused(f"has an auto_pad that is not known, {automatic!r}")
    padding = []
    for length, size, step, spread in zip(lengths, window, stride, dilation, strict=True):
        total = (-(-length // step) - 1) * step + (size - 1) * spread + 1 - length
        if total < -1:  # one number too many at the end is skipped in any case
            raise UnsupportedLayerError(
                f"{at.label} has windows {list(window)} that skip the last of {list(lengths)} numbers, so auto_pad "
                f"{automatic!r} would pad by {total}, which is not defined; export it with pads instead"
            )
        smaller = max(total, 0) // 2
        larger = max(total, 0) - smaller
        padding.append((smaller, larger) if automatic == "SAME_UPPER" else (larger, smaller))
    return windows.Windows(window, stride, padding, dilation)


def _convolve(at: Site, node: Node, values: list[Value | None]) -> Flow:
    flow = only_flow(node, values)
    kernel = numbers_beside(node, values[1], flow)
    biases = numbers_beside(node, values[2], flow) if len(values) > 2 and values[2] is not None else None
    window = kernel.shape[2:]
    if not window or list(node.attributes.get("kernel_shape", window)) != list(window):
        raise at.refused(f"is a convolution with a kernel of shape {list(kernel.shape)}, which its attributes deny")
    if len(flow.shape) != kernel.ndim:
        raise at.refused(f"is a convolution with a kernel {list(kernel.shape)} of numbers of shape {list(flow.shape)}")
    groups = int(node.attributes.get("group", 1))
    if node.operator == "ConvTranspose":
        more = list(node.attributes.get("output_padding", [0] * len(window)))
        slid = _windows_back(at, node, flow.shape[2:], window, more)
        return replace(flow, tensor=windows.convolved_back(at, flow.tensor, kernel, biases, slid, groups, more))
    slid = _windows(at, node, flow.shape[2:], window)
    return replace(flow, tensor=windows.convolved(at, flow.tensor, kernel, biases, slid, groups))


def _windows_back(
    at: Site, node: Node, lengths: Sequence[int], window: Sequence[int], more: Sequence[int]
) -> windows.Windows:
    """The windows of a transposed convolution, whose padding may follow from the shape of its output."""
    automatic = node.attributes.get("auto_pad", "NOTSET")
    wanted = node.attributes.get("output_shape")
    if wanted is None and not automatic.startswith("SAME"):
        return _windows(at, node, lengths, window)
    axes = len(window)
    stride = list(node.attributes.get("strides", [1] * axes))
    dilation = list(node.attributes.get("dilations", [1] * axes))
    if not len(lengths) == len(stride) == len(dilation) == len(more) == axes:
        raise at.refused(f"has not one stride, dilation and output padding for each of {len(lengths)} axes")
    given = [n * step for n, step in zip(lengths, stride, strict=True)] if wanted is None else list(wanted)[-axes:]
    padding = []
    for length, size, step, spread, extra, result in zip(lengths, window, stride, dilation, more, given, strict=True):
        total = (length - 1) * step + extra + (size - 1) * spread + 1 - result
        if total < 0:
            raise UnsupportedLayerError(
                f"{at.label} makes {given} numbers, more than its windows reach; export it with output_padding instead"
            )
        smaller, larger = total // 2, total - total // 2
        padding.append((smaller, larger) if automatic == "SAME_UPPER" else (larger, smaller))
    return windows.Windows(window, stride, padding, dilation)


def _average(at: Site, node: Node, values: list[Value | None]) -> Flow:
    flow = only_flow(node, values)
    return replace(flow, tensor=windows.mean_over_windows(at, flow.tensor, _axes(at, node, flow)))


def _over_images(at: Site, node: Node, values: list[Value | None], over_axes: Callable[..., Tensor]) -> Flow:
    flow = only_flow(node, values)
    if len(flow.shape) < 3:
        raise at.refused(f"takes images, and gets shape {list(flow.shape)}")
    return replace(flow, tensor=over_axes(at, flow.tensor, list(range(2, len(flow.shape))), True))


def _axes(at: Site, node: Node, flow: Flow) -> list[windows.Axis]:
    """The windows of a node that pools."""
    lengths = flow.shape[2:]
    same = node.attributes.get("auto_pad", "NOTSET").startswith("SAME")
    if same and any(spread != 1 for spread in node.attributes.get("dilations", [])):
        raise UnsupportedLayerError(
            f"{at.label} has dilations and automatic pads, which runtimes do not read alike; export it with pads "
            "instead"
        )
    slid = _windows(at, node, lengths, list(node.attributes["kernel_shape"]))
    up = bool(node.attributes.get("ceil_mode", 0))
    outside = bool(node.attributes.get("count_include_pad", 0))
    return slid.axes(at, lengths, up=up, outside_counts=outside)


def _largest(at: Site, node: Node, values: list[Value | None]) -> Flow:
    flow = only_flow(node, values)
    return replace(flow, tensor=maxima.largest_in_windows(at, flow.tensor, _axes(at, node, flow)))


def _reduce(at: Site, node: Node, values: list[Value | None], over_axes: Callable[..., Tensor]) -> Flow:
    flow = only_flow(node, values)
    axes = integers(node, "axes", values, 1)
    if not axes and node.attributes.get("noop_with_empty_axes", 0):
        return flow
    gone = shapes.axes_of(at, axes or range(len(flow.shape)), len(flow.shape))
    keep = bool(node.attributes.get("keepdims", 1))
    return replace(flow, tensor=over_axes(at, flow.tensor, gone, keep))


def _join(at: Site, node: Node, values: list[Value | None]) -> Flow:
    flow = next(value for value in values if isinstance(value, Flow))
    parts: list[Any] = []
    for value in values:
        if isinstance(value, Flow) and value.element != flow.element:
            raise NotACheckpointError(f"{node.label} joins numbers of different types")
        parts.append(value.tensor if isinstance(value, Flow) else numbers_beside(node, value, flow))
    return replace(flow, tensor=shapes.joined(at, parts, int(node.attributes.get("axis", 1))))


def _split(at: Site, node: Node, values: list[Value | None]) -> list[Flow]:
    flow = only_flow(node, values)
    axis = shapes.axis_of(at, int(node.attributes.get("axis", 0)), len(flow.shape))
    length, count = flow.shape[axis], len(node.outputs)
    lengths = integers(node, "split", values, 1)
    if not lengths:
        if node.attributes.get("num_outputs", count) != count or (node.version < 18 and length % count):
            raise at.refused(f"cuts an axis of length {length} into {count} parts")
        size = -(-length // count)
        lengths = [min(size, length - size * i) for i in range(count)]
    if len(lengths) != count:
        raise at.refused(f"cuts into {len(lengths)} parts, and has {count} outputs")
    return [replace(flow, tensor=part) for part in shapes.sections(at, flow.tensor, axis, lengths)]


def _pad(at: Site, node: Node, values: list[Value | None]) -> Flow:
    flow = only_flow(node, values)
    pads = integers(node, "paddings" if node.version < 2 else "pads", values, 1)
    count = len(flow.shape)
    axes = integers(node, "axes", values, 3)
    along = shapes.axes_of(at, range(count) if axes is None else axes, count)
    if pads is None or len(pads) != 2 * len(along):
        raise at.refused(f"has {len(pads or [])} borders for {len(along)} axes")
    value = float(node.attributes.get("value", 0.0))
    given = values[2] if len(values) > 2 else None
    if given is not None:
        numbers = numbers_beside(node, given, flow)
        if numbers.size != 1:
            raise at.refused("has several numbers for its border")
        value = float(numbers.ravel()[0])
    if not np.isfinite(value):
        raise UnsupportedLayerError(f"{node.label} pads with {value}, which is not a finite number")
    borders = [(0, 0)] * count
    for i, axis in enumerate(along):
        borders[axis] = pads[i], pads[i + len(along)]
    mode = node.attributes.get("mode", "constant")
    return replace(flow, tensor=shapes.bordered(at, flow.tensor, borders, mode, value))


_MEAN = partial(windows.mean_over_axes, total=False)
_LARGEST = maxima.largest_along_axes
# Each with the newest version of the operator that was read about; a newer one may mean something else.
IMAGE_OPERATORS: dict[str, tuple[Operation, int]] = {
    "Conv": (_convolve, 22),
    "ConvTranspose": (_convolve, 22),
    "AveragePool": (_average, 22),
    "MaxPool": (_largest, 22),
    "GlobalAveragePool": (partial(_over_images, over_axes=_MEAN), 22),
    "GlobalMaxPool": (partial(_over_images, over_axes=_LARGEST), 22),
    "ReduceMean": (partial(_reduce, over_axes=_MEAN), 18),
    "ReduceSum": (partial(_reduce, over_axes=partial(windows.mean_over_axes, total=True)), 13),
    "ReduceMax": (partial(_reduce, over_axes=_LARGEST), 20),
    "ReduceMin": (partial(_reduce, over_axes=partial(maxima.largest_along_axes, smallest=True)), 20),
    "Concat": (_join, 13),
    "Split": (_split, 18),
    "Pad": (_pad, 25),
}
