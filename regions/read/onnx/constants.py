# SPDX-License-Identifier: MIT
"""Which constants does an ONNX graph compute from others?

`regions.read.graphs.constants` has the functions of numpy, by their names in torch; a row of the table here has the
function of an ONNX operator, as a row of `operators.py`. Real numbers are computed as doubles, and whole numbers, such
as shapes, exactly. Operators that are in no table here are read as where they depend on an input.
Source: the documentation of each version of the operators in ONNX.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import NotACheckpointError, UnsupportedLayerError
from regions.ground.text.printable import printable
from regions.read.graphs.call import Call, Operation, Unread
from regions.read.graphs.constants.evaluation import FUNCTIONS, POINTWISE, computed, not_computed
from regions.read.graphs.constants.numbers import as_floats, converted, jumping, numbers, of_whole_type, steps_to
from regions.read.graphs.moving import axis_of
from regions.read.graphs.site import Site
from regions.read.onnx.calls import Row, call_of, operands_of
from regions.read.onnx.graph import Node
from regions.read.onnx.operators import OPERATORS
from regions.read.onnx.quantized import dequantized, quantised
from regions.read.onnx.tensors import FLOATS, Constant, element_name, read_tensor
from regions.read.onnx.values import Value

__all__ = ["ELEMENTWISE", "constants_of", "newest_version"]

UINT8, INT64, BOOL = 2, 7, 9


def constants_of(at: Site, node: Node, values: list[Value | None]) -> Sequence[Value | Unread]:
    """Return the results of a node that reads only constants.

    Raises
    ------
    UnsupportedLayerError
        The operator is not handled for constants.
    NotACheckpointError
        It does not fit the constants.
    NonFiniteError, FileTooLargeError
        Numbers are not finite where they must be; the budget of the file is not enough.
    """
    if node.operator == "Constant":
        return [_stored(node)]
    given = [value for value in values if isinstance(value, Constant)]
    row = _ROWS.get(node.operator) or OPERATORS.get(node.operator)
    if row is None:
        raise not_computed(node.label)
    function = row.operation if node.operator in _ROWS else None
    if function is None and node.operator in _SAME_AS_IN_TORCH:
        function = FUNCTIONS[_SAME_AS_IN_TORCH[node.operator]]
    typed = [value for value in operands_of(row, values) if isinstance(value, Constant)] or given
    first = next((value for value in typed if value.element in FLOATS), typed[0] if typed else None)
    call = call_of(at, node, row, values, INT64 if first is None else first.element)
    if node.operator == "QuantizeLinear":
        call = call.with_arguments(element=given[2].element if len(given) > 2 else UINT8)
    results = computed(call, function, row.operation)
    return [one if isinstance(one, Unread) else _of_element(call, one, given, first) for one in results]


def newest_version(operator: str) -> int | None:
    """Return the newest known version of an operator that makes constants; None for an unknown operator."""
    row = _ROWS.get(operator) or OPERATORS.get(operator)
    return 25 if operator == "Constant" else None if row is None else row.newest


def _of_element(call: Call, result: Any, given: list[Constant], first: Constant | None) -> Constant:
    """Return a result with its element type, which follows from its numbers and those of the operands."""
    array, name = np.asarray(result), call.at.node.name
    target = call.at.node.attributes.get("to") if call.at.node.operator == "Cast" else None  # type: ignore[attr-defined]
    target = call.arguments["element"] if call.at.node.operator == "QuantizeLinear" else target
    if target is not None:
        return Constant(array, int(target), name)
    if array.dtype.kind == "b":
        return Constant(array, BOOL, name)
    if array.dtype.kind == "f":
        return Constant(array, 1 if first is None or first.element not in FLOATS else first.element, name)
    whole = next((value for value in given if value.array.dtype.kind == "i"), None)
    element = INT64 if whole is None or call.at.node.operator in _GIVES_POSITIONS else whole.element
    return Constant(of_whole_type(call, array, element_name(element)), element, name)


def _stored(node: Node) -> Constant:
    if len(node.attributes) != 1:
        raise NotACheckpointError(f"{node.label} has {len(node.attributes)} values instead of one")
    ((kind, value),) = node.attributes.items()
    if kind == "value":
        return read_tensor(value, f"the value of {node.label}")
    if kind in ("value_float", "value_floats"):
        return Constant(np.array(value, dtype=np.float32), 1, node.name)
    if kind in ("value_int", "value_ints"):
        return Constant(np.array(value, dtype=np.int64), INT64, node.name)
    raise UnsupportedLayerError(f"{node.label} holds {kind.removeprefix('value_')}, which are not numbers")


def _filled(call: Call) -> NDArray[Any]:
    if call.movable("size").dtype.kind != "i":  # type: ignore[union-attr]
        raise call.at.refused("takes a shape, and gets numbers that are not whole")
    shape, given = call.integers("size"), call.given("value", None)
    filling = Constant(np.zeros(1, dtype=np.float32), 1, "") if given is None else read_tensor(given, call.at.label)
    if min(shape, default=0) < 0 or filling.array.size != 1:
        raise call.at.refused(f"makes a constant of shape {printable(shape)}")
    call.at.require_axes(shape)
    call.at.charge(8 * math.prod(shape))
    return np.full(shape, filling.array.item(), filling.array.dtype)


def _range(call: Call) -> NDArray[Any]:
    start, end, step = (numbers(call, name) for name in ("start", "end", "step"))
    if not start.size == end.size == step.size == 1 or not step.all():
        raise ValueError
    count = steps_to(call, start, end, step)
    call.at.charge(0, 24 * count)
    return np.asarray(start.item() + step.item() * np.arange(count))


def _identity(call: Call) -> NDArray[Any]:
    shape = call.movable().shape
    if call.given("dtype", 1) != 1:
        raise not_computed(call.at.label)
    rows, columns = shape
    call.at.charge(0, 16 * rows * columns)
    return np.eye(rows, columns, call.integer("k", 0))


def _cast(call: Call) -> NDArray[Any]:
    call.ignore("saturate")
    name = element_name(call.integer("to"))
    if name not in ("float32", "int32", "int64", "bool", "float16", "float64", "bfloat16"):
        raise not_computed(call.at.label, f"as numbers of {name}")
    return numbers(call) if call.stored == name else converted(call, numbers(call), name)


def _divided(call: Call) -> NDArray[Any]:
    whole = all(numbers(call, name).dtype.kind == "i" for name in ("self", "other"))
    return np.asarray(FUNCTIONS["div"](call.with_arguments(rounding_mode="trunc") if whole else call))


def _remainder(call: Call) -> NDArray[Any]:
    return np.asarray(FUNCTIONS["fmod" if call.given("fmod", 0) else "remainder"](call))


def _infinite(call: Call) -> NDArray[Any]:
    """Return which numbers are infinite, of the signs that are asked for."""
    wanted = [sign * math.inf for sign, name in ((1, "positive"), (-1, "negative")) if call.given(f"detect_{name}", 1)]
    return jumping(call, lambda x: np.isin(x, wanted), [numbers(call)])


def _reduced(function: Operation) -> Operation:
    """Return an operator along axes that may leave the numbers as they are if it names no axes."""

    def reduce(call: Call) -> Any:
        if call.given("noop_with_empty_axes", 0) and not call.integers("dim", []):
            return call.movable()
        return function(call)

    return reduce


def _softmax(function: Operation) -> Operation:
    """Return a softmax; before version 13 it works on a matrix, which is made of the axes before and from ``axis``."""

    def apply(call: Call) -> NDArray[Any]:
        assert isinstance(call.at.node, Node)
        if call.at.node.version >= 13:
            return np.asarray(function(call))
        x, axis = as_floats(numbers(call)), call.integer("dim", 1)
        axis += x.ndim if axis < 0 else 0
        matrix = x.reshape(math.prod(x.shape[:axis]), -1)
        return np.asarray(function(call.with_arguments(self=matrix, dim=1))).reshape(x.shape)

    return apply


def _sum_of_all(call: Call) -> NDArray[Any]:
    total: Any = 0
    for one in call.given("tensors"):
        total = FUNCTIONS["add"](call.with_arguments(self=total, other=one))
    return np.asarray(total)


def _mean_of_all(call: Call) -> NDArray[Any]:
    return _sum_of_all(call) / len(call.given("tensors"))


def _running(call: Call) -> NDArray[Any]:
    (axis,) = call.integers("dim")
    return np.asarray(FUNCTIONS["cumsum"](call.with_arguments(dim=axis)))


def _selu(call: Call) -> NDArray[Any]:
    alpha, scale = call.number("alpha", float(np.float32(1.67326319217682))), call.number("gamma", 1.05070102214813)
    return np.asarray(FUNCTIONS["elu"](call.with_arguments(alpha=alpha, scale=scale)))


def _layer_norm(call: Call) -> NDArray[Any]:
    call.ignore("stash_type")
    x = numbers(call)
    axis = axis_of(call.at, call.integer("dim", -1), x.ndim)
    return np.asarray(FUNCTIONS["layer_norm"](call.with_arguments(normalized_shape=list(x.shape[axis:]))))


def _row(name: str, newest: int, inputs: str = "self", **defaults: Any) -> Row:
    return Row(FUNCTIONS[name], newest, inputs, defaults)


# Operators of `OPERATORS` that have a function for constants.
_SAME_AS_IN_TORCH = {
    **{"MatMul": "matmul", "Gemm": "addmm", "Add": "add", "Sub": "sub", "Mul": "mul", "Neg": "neg", "Abs": "abs"},
    **{"Relu": "relu", "Clip": "clamp", "Max": "maximum", "Min": "minimum"},
    **{"ReduceMean": "mean", "ReduceSum": "sum", "ReduceMax": "amax", "ReduceMin": "amin"},
}
_GIVES_POSITIONS = {"ArgMax", "ArgMin", "TopK", "Shape", "Size"}
_KEPT: dict[str, Any] = {"keepdim": True}
_ALONG = "self dim"
_REDUCED: dict[str, tuple[str, int]] = {
    **{"ReduceL1": ("sum_of_sizes", 18), "ReduceL2": ("linalg_vector_norm", 18), "ReduceProd": ("prod", 18)},
    **{"ReduceSumSquare": ("sum_of_squares", 18), "ReduceLogSumExp": ("logsumexp", 18)},
    **{"ReduceLogSum": ("logarithm_of_sum", 18), "ReduceMean": ("mean", 18), "ReduceSum": ("sum", 13)},
    **{"ReduceMax": ("amax", 20), "ReduceMin": ("amin", 20)},
}
_ROWS: dict[str, Row] = {
    **{
        operator: _row(operator.lower(), newest)
        for operator, newest in (
            *(("Exp", 13), ("Log", 13), ("Sqrt", 13), ("Reciprocal", 13), ("Sigmoid", 13), ("Tanh", 13), ("Erf", 13)),
            *(("Sin", 22), ("Cos", 22), ("Tan", 22), ("Asin", 22), ("Acos", 22), ("Atan", 22), ("Sinh", 22)),
            *(("Cosh", 22), ("Asinh", 22), ("Acosh", 22), ("Atanh", 22), ("Floor", 13), ("Ceil", 13), ("Round", 22)),
            *(("Sign", 13), ("IsNaN", 20), ("Softsign", 22), ("Mish", 22), ("HardSwish", 22), ("Softplus", 22)),
        )
    },
    **{
        operator: _row(name, newest, "self other")
        for operator, name, newest in (
            *(("Equal", "eq", 19), ("Greater", "gt", 13), ("GreaterOrEqual", "ge", 16), ("Less", "lt", 13)),
            *(("LessOrEqual", "le", 16), ("And", "logical_and", 7), ("Or", "logical_or", 7)),
            *(("Xor", "logical_xor", 7),),
        )
    },
    **{
        operator: Row(_reduced(FUNCTIONS[name]), newest, _ALONG, _KEPT) for operator, (name, newest) in _REDUCED.items()
    },
    "Not": _row("logical_not", 1),
    "IsInf": Row(_infinite, 20),
    "Div": Row(_divided, 14, "self other"),
    "Mod": Row(_remainder, 13, "self other"),
    "Pow": _row("pow", 15, "self exponent"),
    "Where": _row("where", 16, "condition self other"),
    "Elu": _row("elu", 22),
    "Selu": Row(_selu, 22),
    "Celu": _row("celu", 12),
    "Gelu": _row("gelu", 20),
    "Sum": Row(_sum_of_all, 13, "tensors"),
    "Mean": Row(_mean_of_all, 13, "tensors"),
    "Einsum": _row("einsum", 12, "tensors"),
    "Softmax": Row(_softmax(FUNCTIONS["softmax"]), 13),
    "LogSoftmax": Row(_softmax(FUNCTIONS["log_softmax"]), 13),
    "ArgMax": _row("argmax", 13, dim=0, keepdim=True),
    "ArgMin": _row("argmin", 13, dim=0, keepdim=True),
    "TopK": _row("topk", 24, "self k"),
    "CumSum": Row(_running, 14, _ALONG),
    "Trilu": _row("trilu", 14, "self k"),
    "LpNormalization": _row("lp_normalization", 22),
    "InstanceNormalization": _row("instance_norm", 22, "self weight bias"),
    "LayerNormalization": Row(_layer_norm, 17, "self weight bias"),
    "GatherElements": _row("gather", 13, "self index"),
    "Det": _row("linalg_det", 22),
    "EyeLike": Row(_identity, 22),
    "Range": Row(_range, 27, "start end step"),
    "ConstantOfShape": Row(_filled, 25, "size"),
    "Cast": Row(_cast, 28),
    "DequantizeLinear": Row(dequantized, 25, "quantized scale zero_point"),
    "QuantizeLinear": Row(quantised, 25, "self scale zero_point"),
}
# The shape of the result is the common shape of the operands.
ELEMENTWISE = {
    *(operator for operator, row in _ROWS.items() if row.operation in {FUNCTIONS[name] for name in POINTWISE}),
    *("Add", "Sub", "Mul", "Div", "Mod", "Pow", "Where", "Sum", "Max", "Min", "Neg", "Abs", "Relu", "Clip", "Selu"),
    *("Cast", "Mean", "IsInf", "LeakyRelu", "HardSigmoid", "ThresholdedRelu", "Shrink", "PRelu"),
}
