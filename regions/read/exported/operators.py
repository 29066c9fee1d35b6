# SPDX-License-Identifier: MIT
"""Which operations is one operator of torch?

One function for each operator: of a call it makes operations with `GraphBuilder`, and returns the value or the values
that the operator gives. Operators that only move numbers are in `shapes.py` and `moves.py`.
Source: ``aten/src/ATen/native/native_functions.yaml`` of torch 2.13 and the operators' documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from regions.arithmetic.types import Floats
from regions.errors import UnsupportedLayerError
from regions.networks import named_activations as activations
from regions.networks.named_activations import ACTIVATIONS, NamedActivation
from regions.read.exported.call import Call, Operation
from regions.read.exported.constants import CONSTANT_OPERATORS
from regions.read.exported.graph import FLOATS, Word
from regions.read.exported.maxima import MAX_OPERATORS, adaptive_windows, axes_taken_together, pool_windows
from regions.read.exported.moves import MOVING_OPERATORS
from regions.read.exported.shapes import SHAPE_OPERATORS
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators import elementwise, shapes, windows
from regions.read.scaling import without_statistics

__all__ = ["OPERATORS"]


def _linear(call: Call) -> Tensor:
    weights = call.array("weight")
    if weights is None or weights.ndim != 2:
        raise call.at.refused("has no matrix as its weight")
    return windows.dense(call.at, call.tensor("input"), weights, _bias(call, call.array("bias"), len(weights)))


def _bias(call: Call, biases: Floats | None, count: int) -> Floats | None:
    if biases is None:
        return None
    try:
        return np.ascontiguousarray(np.broadcast_to(biases, (1, count)).ravel())
    except ValueError:
        raise call.at.refused(f"has biases {list(biases.shape)} for {count} numbers") from None


def _addmm(call: Call) -> Tensor:
    if call.number("beta", 1) != 1.0 or call.number("alpha", 1) != 1.0:
        raise UnsupportedLayerError(f"{call.at.label} has factors beta or alpha, which are not handled")
    weights = _matrix(call, "mat2")
    return windows.dense(call.at, call.tensor("mat1"), weights, _bias(call, call.array("self"), len(weights)))


def _matmul(call: Call) -> Tensor:
    return windows.dense(call.at, call.tensor(), _matrix(call, call.first_of("other", "mat2", "vec")))


def _matrix(call: Call, name: str) -> Floats:
    """The second factor of a product, transposed: [out, in]."""
    matrix = call.array(name)
    if matrix is None or matrix.ndim != 2:
        raise UnsupportedLayerError(f"{call.at.label} multiplies with something that is not a constant matrix")
    return np.ascontiguousarray(matrix.T)


def _convolution(axes: int | None, back: bool = False) -> Operation:
    def convolve(call: Call) -> Tensor:
        kernel = call.array("weight")
        if kernel is None or kernel.ndim < 3 or (axes is not None and kernel.ndim != axes + 2):
            raise call.at.refused("has no kernel for its number of axes")
        count = kernel.ndim - 2
        x, biases = call.tensor("input"), call.array("bias")
        stride, dilation = (call.integers(name, [1], count) for name in ("stride", "dilation"))
        given = call.given("padding", [0])
        if isinstance(given, str):
            padding = _named_padding(call, given, kernel.shape[2:], dilation)
        else:
            padding = [(pad, pad) for pad in call.integers("padding", [0], count)]
        groups = call.integer("groups", 1)
        slid = windows.Windows(kernel.shape[2:], stride, padding, dilation)
        more = call.integers("output_padding", [0], count) if back or axes is None else []
        if back or (axes is None and call.flag("transposed")):
            return windows.convolved_back(call.at, x, kernel, biases, slid, groups, more)
        return windows.convolved(call.at, x, kernel, biases, slid, groups)

    return convolve


def _named_padding(call: Call, word: str, window: Sequence[int], dilation: Sequence[int]) -> list[tuple[int, int]]:
    if word == "valid":
        return [(0, 0)] * len(window)
    if word != "same":
        raise call.at.refused(f"pads in a way that is not known, {word!r}")
    totals = [spread * (size - 1) for size, spread in zip(window, dilation, strict=False)]
    return [(total // 2, total - total // 2) for total in totals]


def _batch_norm(call: Call) -> Any:
    x = call.tensor("input")
    mean, variance = call.array("running_mean"), call.array("running_var")
    if mean is None or variance is None:
        raise without_statistics(call.at.label)
    if call.node.operator not in ("_native_batch_norm_legit_no_training",) and call.flag("training"):
        raise UnsupportedLayerError(
            f"{call.at.label} is in training mode, so each output depends on the whole batch; call model.eval() before "
            "exporting"
        )
    weight, bias = call.array("weight"), call.array("bias")
    call.ignore("momentum", "cudnn_enabled")
    parameters = (np.ones_like(mean) if weight is None else weight, np.zeros_like(mean) if bias is None else bias)
    result = elementwise.normalized(call.at, x, (*parameters, mean, variance), x.shape[1:2], call.number("eps"))
    # The statistics of the batch are not used in evaluation mode.
    return [result, *(np.zeros(0) for _ in call.node.outputs[1:])] if call.node.several else result


def _activates(row: NamedActivation) -> Operation:
    numbers = list(zip(row.parameters, row.defaults, strict=True))

    def activate(call: Call) -> Tensor:
        x = call.tensor()
        given = [call.number(name) if default is None else call.number(name, default) for name, default in numbers]
        return elementwise.activated(call.at, x, row.make, given)

    return activate


def _prelu(call: Call) -> Tensor:
    x, slopes = call.tensor(), call.array("weight")
    if slopes is None:
        raise call.at.refused("has no slopes")
    if slopes.size == 1:
        return elementwise.prelu(call.at, x, slopes.reshape(()))
    if slopes.ndim == 1:  # one for each channel, which is the second axis
        slopes = slopes.reshape(-1, *(1,) * (len(x.shape) - 2))
    return elementwise.prelu(call.at, x, slopes)


def _clamp(low: str | None, high: str | None, widest: float | None = None) -> Operation:
    def clamp(call: Call) -> Tensor:
        bounds = [
            None if name is None else call.bound(name, widest and sign * widest)
            for name, sign in ((low, -1), (high, 1))
        ]
        return elementwise.clipped(call.at, call.tensor(), *bounds)

    return clamp


def _rrelu(call: Call) -> Tensor:
    call.ignore("generator")
    if call.flag("training"):
        raise UnsupportedLayerError(
            f"{call.at.label} is in training mode, so its slopes are random; call model.eval() before exporting, "
            "and pass training=self.training where the model calls the function itself"
        )
    numbers = [call.number("lower", 1 / 8), call.number("upper", 1 / 3)]
    return elementwise.activated(call.at, call.tensor(), activations.rrelu, numbers)


def _sum(sign: float, turned: bool = False) -> Operation:
    def add(call: Call) -> Tensor:
        factor = sign * call.number("alpha", 1)
        return elementwise.added(call.at, *call.operands(), (factor, 1.0) if turned else (1.0, factor))

    return add


def _product(call: Call) -> Tensor:
    return elementwise.multiplied(call.at, *call.operands())


def _quotient(call: Call) -> Tensor:
    if call.given("rounding_mode", None) is not None:
        raise UnsupportedLayerError(f"{call.at.label} rounds its results, which jumps")
    return elementwise.divided(call.at, *call.operands())


def _average(axes: int) -> Operation:
    def average(call: Call) -> Tensor:
        x, outside = call.tensor(), call.flag("count_include_pad", True)
        divisor = None if call.given("divisor_override", None) is None else call.integer("divisor_override")
        found = pool_windows(call, x, axes, [1] * axes, outside_counts=outside)
        return windows.mean_over_windows(call.at, x, found, divisor)

    return average


def _adaptive(axes: int) -> Operation:
    return lambda call: windows.mean_over_windows(call.at, call.tensor(), adaptive_windows(call, axes))


def _mean(total: bool) -> Operation:
    def mean(call: Call) -> Tensor:
        x = call.tensor()
        _require_floats(call, "dtype")
        gone = axes_taken_together(call, x)
        return windows.mean_over_axes(call.at, x, gone, call.flag("keepdim"), total=total)

    return mean


def _same(call: Call) -> Any:
    _require_floats(call, "dtype")
    call.ignore("other", "memory_format", "layout", "device", "pin_memory", "non_blocking", "copy", "requires_grad")
    return call.moved(lambda array: array)


def _require_floats(call: Call, name: str) -> None:
    kind = call.given(name, None)
    if kind is not None and not (isinstance(kind, Word) and type(kind.number) is int and kind.number in FLOATS):
        raise UnsupportedLayerError(f"{call.at.label} turns numbers into another kind, which jumps")


def _dropout(call: Call) -> Any:
    call.ignore("p")
    if call.flag("train"):
        raise UnsupportedLayerError(
            f"{call.at.label} is in training mode, so its values are random; call model.eval() before exporting, "
            "and pass training=self.training where the model calls the function itself"
        )
    return call.moved(lambda array: array, "input")


def _size(call: Call) -> int:
    value, axis = call.given("self"), call.integer("dim")
    shape = getattr(value, "shape", ())
    return int(shape[shapes.axis_of(call.at, axis, len(shape))])


def _whole(operation: Callable[[int, int], int]) -> Operation:
    """Arithmetic of lengths."""

    def compute(call: Call) -> int:
        first, second = (call.integer(name) for name in list(call.node.arguments)[:2])
        try:
            result = operation(first, second)
        except (ZeroDivisionError, OverflowError, MemoryError):
            result = 2**63
        if abs(result) >= 2**63:
            raise call.at.refused("makes no length")
        return result

    return compute


OPERATORS: dict[str, Operation] = {
    "linear": _linear,
    "addmm": _addmm,
    **dict.fromkeys(("matmul", "mm", "mv"), _matmul),
    **{f"conv{axes}d": _convolution(axes) for axes in (1, 2, 3)},
    **{f"conv_transpose{axes}d": _convolution(axes, back=True) for axes in (1, 2, 3)},
    "convolution": _convolution(None),
    **dict.fromkeys(("batch_norm", "native_batch_norm", "_native_batch_norm_legit_no_training"), _batch_norm),
    **{operator: _activates(row) for row in ACTIVATIONS for operator in row.aten},
    # These have more arguments than the activations of their names: infinite bounds, and a flag for training.
    "hardtanh": _clamp("min_val", "max_val", 1.0),
    "rrelu": _rrelu,
    "hardsigmoid": lambda call: elementwise.hard_sigmoid(call.at, call.tensor()),
    **dict.fromkeys(("prelu", "_prelu_kernel"), _prelu),
    "clamp": _clamp("min", "max"),
    "clip": _clamp("min", "max"),
    "clamp_min": _clamp("min", None),
    "clamp_max": _clamp(None, "max"),
    **dict.fromkeys(("neg", "negative"), lambda call: call.at.scaled(call.tensor(), -1.0)),
    "add": _sum(1.0),
    **dict.fromkeys(("sub", "subtract"), _sum(-1.0)),
    "rsub": _sum(-1.0, turned=True),
    **dict.fromkeys(("mul", "multiply"), _product),
    **dict.fromkeys(("div", "divide", "true_divide"), _quotient),
    **{f"avg_pool{axes}d": _average(axes) for axes in (1, 2, 3)},
    **{f"{mark}adaptive_avg_pool{axes}d": _adaptive(axes) for axes in (1, 2, 3) for mark in ("", "_")},
    "mean": _mean(total=False),
    "sum": _mean(total=True),
    **dict.fromkeys(("clone", "contiguous", "to", "_to_copy", "type_as", "detach", "alias", "positive"), _same),
    **dict.fromkeys(("lift_fresh_copy", "lift_fresh", "float", "double"), _same),
    **dict.fromkeys(("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"), _dropout),
    **CONSTANT_OPERATORS,
    **MOVING_OPERATORS,
    **SHAPE_OPERATORS,
    **MAX_OPERATORS,
    "sym_size": _size,
    "_operator.mul": _whole(lambda first, second: first * second),
    "_operator.add": _whole(lambda first, second: first + second),
    "_operator.sub": _whole(lambda first, second: first - second),
    "_operator.floordiv": _whole(lambda first, second: first // second),
}
