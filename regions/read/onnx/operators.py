# SPDX-License-Identifier: MIT
"""Which function reads each operator of ONNX, and what is special about ONNX's arguments and versions?

The functions are in `regions.read.graphs.operators`, and take torch's arguments. Older versions of an operator, and
arguments that differ from torch's, are translated here, except those of windows.
Source: the documentation of each version of the operators in ONNX.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from regions.errors import NotACheckpointError, UnsupportedLayerError
from regions.ground.text.printable import printable
from regions.networks.named_activations import ACTIVATIONS, is_smooth
from regions.read.graphs.call import Call, Operation
from regions.read.graphs.moving import axes_of, axis_of
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators import (
    elementwise,
    jumping,
    linear,
    maxima,
    norms,
    orders,
    parts,
    picks,
    products,
    shapes,
    windows,
)
from regions.read.onnx import windows as padded_windows
from regions.read.onnx.calls import Row, version_of
from regions.read.onnx.recurrent import recurrent
from regions.read.onnx.resize import resize

__all__ = ["OPERATORS"]


def _broadcasting(operation: Operation) -> Operation:
    """Return an operator whose older versions broadcast only the second operand, along an axis, if asked to."""

    def apply(call: Call) -> Any:
        if version_of(call) >= (8 if "tensors" in call.arguments else 7):
            return operation(call)
        operands = call.operands(infinite=True)
        if len({operand.shape for operand in operands}) > 1 and not call.flag("broadcast"):
            raise NotACheckpointError(f"{call.at.label} takes two shapes without broadcasting")
        if call.flag("broadcast") and "dim" in call.arguments:
            first, second = operands
            behind = len(first.shape) - len(second.shape) - call.integer("dim")
            if not isinstance(first, Tensor) or isinstance(second, Tensor) or behind < 0:
                raise UnsupportedLayerError(f"{call.at.label} repeats its operand along an axis that does not fit")
            call = call.with_arguments(other=second.reshape(second.shape + (1,) * behind))
        return operation(call)

    return apply


def _gemm(call: Call) -> Tensor:
    result, added = linear.sum_and_product(call), call.given("self", None)
    if version_of(call) < 7 and added is not None and not call.flag("broadcast") and added.shape != result.shape:
        raise call.at.refused(f"adds shape {added.shape} to {result.shape} without broadcasting")
    return result


def _batch_norm(call: Call) -> Tensor:
    version = version_of(call)
    training = call.given("training_mode", 0) if version >= 7 else not call.given("is_test", 0)
    if any(call.at.node.outputs[1:]):
        raise UnsupportedLayerError(f"{call.at.label} gives statistics, which only training needs")
    spatial = version >= 9 or call.flag("spatial", True)
    return linear.batch_norm(call.with_arguments(training=bool(training), spatial=spatial))


def _prelu(call: Call) -> Tensor:
    return elementwise.prelu(call, by_channel=version_of(call) < 7)


def _power(call: Call) -> Any:
    if version_of(call) < 7 and call.constant("exponent").size != 1:
        raise UnsupportedLayerError(f"{call.at.label} has several exponents, in an old form; export with opset 7")
    return elementwise.power(call)


def _dropout(call: Call) -> Any:
    training = not call.given("is_test", 0) if version_of(call) < 7 else call.given("train", None)
    if isinstance(training, np.ndarray):
        training = training.any()
    return _IN_EVALUATION(call.with_arguments(train=training is not None and bool(training)))


_IN_EVALUATION = elementwise.in_evaluation(shapes.same, "train")


def _scaler(call: Call) -> Tensor:
    columns = {name: np.array(call.given(name, [default])) for name, default in (("offset", 0.0), ("scale", 1.0))}
    return linear.scale_columns(call.with_arguments(**columns))


def _reduces(operation: Operation) -> Operation:
    def reduce(call: Call) -> Tensor:
        if call.given("noop_with_empty_axes", 0) and not call.integers("dim", []):
            return call.tensor()
        return operation(call)

    return reduce


def _split(call: Call) -> list[Any]:
    x, count = call.movable(), len(call.at.node.outputs)
    length = x.shape[axis_of(call.at, call.integer("dim", 0), len(x.shape))]
    if call.given("split_size", None) is not None and call.integers("split_size"):
        made = parts.split(call)
    elif call.given("num_outputs", count) != count or (version_of(call) < 18 and length % count):
        raise call.at.refused(f"cuts an axis of length {length} into {count} parts")
    else:
        made = parts.chunks(call.with_arguments(chunks=count))
    if len(made) != count:
        raise call.at.refused(f"cuts into {len(made)} parts, and has {count} outputs")
    return made


def _pad(call: Call) -> Tensor:
    x, pads = call.tensor(), call.integers("pads")
    count = len(x.shape)
    along = axes_of(call.at, call.integers("dim", list(range(count))), count)
    if len(pads) != 2 * len(along):
        raise call.at.refused(f"has {len(pads)} borders for {len(along)} axes")
    value = call.bound("value", 0.0)
    if value is None or not np.isfinite(value):
        raise UnsupportedLayerError(f"{call.at.label} pads with {value}, which is not a finite number")
    borders = [(0, 0)] * count
    for i, axis in enumerate(along):
        borders[axis] = pads[i], pads[i + len(along)]
    return parts.bordered(call.at, x, borders, call.given("mode", "constant"), value)


def _reshape(call: Call) -> Any:
    """Reshape; a length of 0 is copied from the input, unless ``allowzero`` is set."""
    shape, before = call.integers("size"), call.movable().shape
    if not call.given("allowzero", 0):
        if 0 in shape[len(before) :]:
            raise call.at.refused(f"does not fit what reaches it, of shape {list(before)}")
        shape = [before[i] if length == 0 else length for i, length in enumerate(shape)]
    return shapes.reshape(call.with_arguments(size=shape))


def _transpose(call: Call) -> Any:
    return shapes.permute(call) if "dims" in call.arguments else shapes.reverse_axes(call)


def _tile(call: Call) -> Any:
    times, shape = call.integers("repeats"), call.movable().shape
    if version_of(call) < 6 or len(times) != len(shape):
        raise call.at.refused(f"repeats {times[:20]} times along the axes of shape {list(shape)}")
    return shapes.tile(call)


def _blocks(apart: bool) -> Operation:
    """Return the operator between channels and blocks of pixels, for images [batch, C, H, W]."""
    shuffle = shapes.shuffle_pixels(apart, "blocksize")

    def move(call: Call) -> Any:
        mode, shape = call.given("mode", "DCR"), call.movable().shape
        if mode not in ("DCR", "CRD") or len(shape) != 4:
            raise call.at.refused(f"does not fit what reaches it, of shape {list(shape)}")
        return shuffle(call.with_arguments(channels_first=mode == "CRD"))

    return move


# The numbers of activations that onnxruntime fuses.
_FUSED_NUMBERS = {"": 0, "Relu": 0, "LeakyRelu": 1, "HardSigmoid": 2, "Clip": 2}


def _fused(operation: Operation) -> Operation:
    """Return an operator of onnxruntime that is followed by an activation, which an attribute names."""

    def apply(call: Call) -> Tensor:
        x, word = operation(call), call.given("activation", "")
        given = call.given("activation_params", None)
        if given is None:
            given = [
                call.given(f"activation_{name}") for name in ("alpha", "beta") if f"activation_{name}" in call.arguments
            ]
        if word not in _FUSED_NUMBERS:
            why = "is not piecewise linear" if is_smooth(word) else "is not handled"
            raise UnsupportedLayerError(f"{call.at.label}: its activation {printable(word)!r} {why}")
        if len(given) != _FUSED_NUMBERS[word]:
            raise call.at.refused(f"has {len(given)} numbers for its activation {word!r}")
        if not word:
            return x
        names = ("min", "max") if word == "Clip" else ("alpha", "beta")
        made: Tensor = OPERATORS[word].operation(
            replace(call, arguments={"self": x, **dict(zip(names, given, strict=False))})
        )
        return made

    return apply


def _fused_convolution(call: Call) -> Tensor:
    added = call.given("added", None)
    x = padded_windows.convolution(call)
    return x if added is None else elementwise.added(call.at, x, added)


def _top(call: Call) -> Tensor:
    counts = call.integers("k")
    if len(counts) != 1:
        raise call.at.refused(f"takes {counts[:8]} numbers")
    flags = {name: bool(call.given(name, 1)) for name in ("largest", "sorted")}
    return orders.first_in_order(call.with_arguments(k=counts[0], dim=call.integer("dim", -1), **flags))


def _prefix_sums(call: Call) -> Tensor:
    axes = call.integers("dim")
    if len(axes) != 1:
        raise call.at.refused(f"adds along axes {axes[:8]}")
    flags = {name: bool(call.given(name, 0)) for name in ("exclusive", "reverse")}
    return products.prefix_sums(call.with_arguments(dim=axes[0], **flags))


def _triangle(call: Call) -> Any:
    diagonal = call.integers("k", [0])
    if len(diagonal) != 1:
        raise call.at.refused(f"has diagonals {diagonal[:8]}")
    return picks.triangle(call.with_arguments(k=diagonal[0]), lower=not call.given("upper", 1))


def _rounded(numbers: Mapping[str, float]) -> dict[str, float | None]:
    """Return defaults of attributes, which are float32."""
    return {name: float(np.float32(number)) for name, number in numbers.items()}


_ACTIVATION = {"activation": str, **dict.fromkeys(("activation_alpha", "activation_beta", "activation_gamma"), float)}
_LISTS = dict.fromkeys(("kernel_shape", "strides", "pads", "dilations"), list)
_moving: Callable[..., Row] = partial(Row, moves=True)
_truth: Callable[..., Row] = partial(Row, truths=True)
_KEPT = {"keepdim": True}
_TOTAL = partial(windows.means_along_axes, total=True)
_SMALLEST = partial(windows.largest_along_axes, smallest=True)
OPERATORS: dict[str, Row] = {
    "MatMul": Row(linear.matmul, 13, "self other"),
    "Gemm": Row(_gemm, 13, "mat1 other self", {"self": None}),
    "Add": Row(_broadcasting(jumping.add), 14, "self other"),
    "Sub": Row(_broadcasting(partial(jumping.add, sign=-1.0)), 14, "self other"),
    "Sum": Row(_broadcasting(elementwise.total), 13, "tensors"),
    "Mean": Row(_broadcasting(elementwise.mean), 13, "tensors"),
    "Elu": Row(elementwise.elu, 22, "self", _rounded({"alpha": 1.0})),
    "Mul": Row(_broadcasting(jumping.multiply), 14, "self other"),
    "Div": Row(_broadcasting(jumping.divide), 14, "self other"),
    "Pow": Row(_power, 15, "self exponent"),
    "IsNaN": _truth(elementwise.never, 20),
    "IsInf": _truth(elementwise.never, 20),
    "Neg": Row(jumping.negate, 13),
    "Greater": _truth(partial(jumping.compare, word="gt"), 13, "self other"),
    "GreaterOrEqual": _truth(partial(jumping.compare, word="ge"), 16, "self other"),
    "Less": _truth(partial(jumping.compare, word="lt"), 13, "self other"),
    "LessOrEqual": _truth(partial(jumping.compare, word="le"), 16, "self other"),
    "Equal": _truth(partial(jumping.compare, word="eq"), 19, "self other"),
    "And": _truth(partial(jumping.both, word="and"), 7, "self other"),
    "Or": _truth(partial(jumping.both, word="or"), 7, "self other"),
    "Xor": _truth(partial(jumping.both, word="xor"), 7, "self other"),
    "Not": _truth(jumping.invert, 1),
    "Sign": Row(jumping.sign, 13),
    "Where": Row(jumping.choose, 16, "condition self other"),
    **{
        row.onnx.name: Row(elementwise.activates(row.onnx.make, _rounded(row.onnx.attributes)), row.onnx.newest)
        for row in ACTIVATIONS
        if row.onnx
    },
    "PRelu": Row(_prelu, 16, "self weight"),
    "Clip": Row(maxima.clamp, 13, "self min max"),
    "Max": Row(_broadcasting(maxima.compare), 13, "tensors"),
    "Min": Row(_broadcasting(partial(maxima.compare, smallest=True)), 13, "tensors"),
    "HardSigmoid": Row(elementwise.scaled_and_clipped, 22, "self", _rounded({"alpha": 0.2, "beta": 0.5})),
    "BatchNormalization": Row(_batch_norm, 15, "self weight bias running_mean running_var", _rounded({"eps": 1e-5})),
    "ai.onnx.ml.Scaler": Row(_scaler, 1),
    "Conv": Row(padded_windows.convolution, 22, "self weight bias"),
    "ConvTranspose": Row(padded_windows.convolution_back, 22, "self weight bias"),
    "AveragePool": Row(padded_windows.pools(windows.average), 22, "self", {"count_include_pad": False}),
    "RNN": Row(recurrent, 22, "self w r b lengths hx"),
    "MaxPool": Row(padded_windows.pools(windows.largest_in_windows), 22),
    "GlobalAveragePool": Row(padded_windows.over_images(windows.means_along_axes), 22),
    "GlobalMaxPool": Row(padded_windows.over_images(windows.largest_along_axes), 22),
    "ReduceMean": Row(_reduces(windows.means_along_axes), 18, "self dim", _KEPT),
    "ReduceSum": Row(_reduces(_TOTAL), 13, "self dim", _KEPT),
    "ReduceMax": Row(_reduces(windows.largest_along_axes), 20, "self dim", _KEPT),
    "ReduceMin": Row(_reduces(_SMALLEST), 20, "self dim", _KEPT),
    "ReduceL1": Row(_reduces(partial(norms.norm, order=1.0)), 18, "self dim", _KEPT),
    "ReduceL2": Row(_reduces(partial(norms.norm, order=2.0)), 18, "self dim", _KEPT),
    "ScatterND": Row(picks.replace_blocks, 18, "self index updates"),
    "ScatterElements": Row(picks.replace_along, 18, "self index updates", {"dim": 0}),
    "TopK": Row(_top, 24, "self k"),
    "Einsum": Row(products.einsum, 12, "tensors"),
    "CumSum": Row(_prefix_sums, 14, "self dim"),
    "Trilu": _moving(_triangle, 14, "self k"),
    "GatherElements": _moving(picks.pick_along, 13, "self index", {"dim": 0}),
    "GatherND": _moving(picks.pick_blocks, 13, "self index"),
    "com.microsoft.FusedGemm": Row(
        _fused(linear.sum_and_product),
        1,
        "mat1 other self",
        {"self": None},
        attributes={"alpha": float, "beta": float, "transA": int, "transB": int, **_ACTIVATION},
    ),
    "com.microsoft.FusedConv": Row(
        _fused(_fused_convolution),
        1,
        "self weight bias added",
        attributes={"auto_pad": str, "group": int, **_LISTS, **_ACTIVATION, "activation_params": list},
    ),
    "Concat": Row(parts.join, 13, "tensors", {"dim": 1}),
    "Split": Row(_split, 18, "self split_size"),
    "Pad": Row(_pad, 25, "self pads value dim"),
    "Identity": _moving(shapes.same, 25),
    "Cast": _moving(shapes.same, 28),
    "Dropout": _moving(_dropout, 22, "self ratio train"),
    "Reshape": _moving(_reshape, 25, "self size"),
    "Flatten": _moving(shapes.flatten_to_matrix, 25),
    "Squeeze": _moving(partial(shapes.squeeze, strict=True), 25, "self dim"),
    "Unsqueeze": _moving(shapes.unsqueeze, 25, "self dim"),
    "Transpose": _moving(_transpose, 25),
    "Slice": _moving(shapes.slices, 13, "self start end dim step"),
    "Gather": _moving(shapes.take, 13, "self index"),
    "DepthToSpace": _moving(_blocks(apart=True), 28),
    "SpaceToDepth": _moving(_blocks(apart=False), 28),
    "Expand": _moving(partial(shapes.expand, keep=1), 13, "self size"),
    "Resize": _moving(resize, 19, "self roi scales sizes"),
    "Tile": _moving(_tile, 13, "self repeats"),
    "Upsample": _moving(resize, 10, "self scales"),
}
