# SPDX-License-Identifier: MIT
"""Which paddings do ONNX's convolutions and pools have?

ONNX lists the pads before all axes and then those behind, or names a rule. Both become torch's arguments, which the
functions of `regions.read.graphs.operators` take.
Source: the documentation of each version of the operators in ONNX.
"""

from __future__ import annotations

from collections.abc import Sequence

from regions.errors import UnsupportedLayerError
from regions.read.graphs.call import Call, Operation
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators import convolutions

__all__ = ["convolution", "convolution_back", "over_images", "pools"]


def _padded(call: Call, size: Sequence[int]) -> Call:
    """Return a call with the padding of its windows in torch's form."""
    axes = len(size)
    lists = [call.given(name, [0] * axes) for name in ("stride", "dilation", "output_padding")]
    pads = call.integers("pads", [0] * 2 * axes)
    if len(call.tensor().shape) != axes + 2 or len(pads) != 2 * axes or any(len(each) != axes for each in lists):
        raise call.at.refused(
            f"does not have one stride, dilation and pair of pads for each of {len(call.tensor().shape) - 2} axes"
        )
    word = call.given("auto_pad", "NOTSET")
    pairs = list(zip(pads[:axes], pads[axes:], strict=True))
    return call.with_arguments(padding=pairs if word == "NOTSET" else word)


def convolution(call: Call) -> Tensor:
    return convolutions.convolution(_padded(call, _size_of_kernel(call)), back=False)


def _size_of_kernel(call: Call) -> tuple[int, ...]:
    kernel = call.constant("weight")
    size = kernel.shape[2:]
    if not size or call.integers("kernel_size", list(size)) != list(size):
        raise call.at.refused(
            f"is a convolution with a kernel of shape {list(kernel.shape)}, which its attributes deny"
        )
    if len(call.tensor().shape) != kernel.ndim:
        raise call.at.refused(
            f"is a convolution with a kernel {list(kernel.shape)} of numbers of shape {list(call.tensor().shape)}"
        )
    return size


def convolution_back(call: Call) -> Tensor:
    """Return a transposed convolution; its padding may follow from the shape of its output."""
    size = _size_of_kernel(call)
    call, lengths, axes = _padded(call, size), call.tensor().shape[2:], len(size)
    wanted = call.given("output_shape", None)
    automatic = call.given("auto_pad", "NOTSET")
    if wanted is not None or automatic.startswith("SAME"):
        stride, dilation = (call.integers(name, [1], axes) for name in ("stride", "dilation"))
        more = call.integers("output_padding", [0], axes)
        given = [n * step for n, step in zip(lengths, stride, strict=True)] if wanted is None else list(wanted)[-axes:]
        padding = []
        for length, n, step, spread, extra, result in zip(lengths, size, stride, dilation, more, given, strict=True):
            total = (length - 1) * step + extra + (n - 1) * spread + 1 - result
            if total < 0:
                raise UnsupportedLayerError(
                    f"{call.at.label} makes {given} numbers, more than its windows reach; export it with "
                    "output_padding instead"
                )
            smaller, larger = total // 2, total - total // 2
            padding.append((smaller, larger) if automatic == "SAME_UPPER" else (larger, smaller))
        call = call.with_arguments(padding=padding)
    return convolutions.convolution(call, back=True)


def pools(operation: Operation) -> Operation:
    def pool(call: Call) -> Tensor:
        size = call.integers("kernel_size")
        same = call.given("auto_pad", "NOTSET").startswith("SAME")
        if same and any(spread != 1 for spread in call.given("dilation", [])):
            raise UnsupportedLayerError(
                f"{call.at.label} has dilations and automatic pads, which runtimes do not read alike; export it with "
                "pads instead"
            )
        return operation(_padded(call, size).with_arguments(stride=call.given("stride", [1] * len(size))))

    return pool


def over_images(operation: Operation) -> Operation:
    def apply(call: Call) -> Tensor:
        axes = len(call.tensor().shape)
        if axes < 3:
            raise call.at.refused(f"takes images, and gets shape {list(call.tensor().shape)}")
        return operation(call.with_arguments(dim=list(range(2, axes)), keepdim=True))

    return apply
