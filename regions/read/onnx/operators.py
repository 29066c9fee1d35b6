# SPDX-License-Identifier: MIT
"""Which operations is one operator of an ONNX graph?

One function for each operator: of the node and the values that reach it, it makes operations with
`GraphBuilder`, and returns what leaves it. Each holds for every version of its operator up to the newest
that was read about, which the table at the end names. The numbers of each operator's attributes are float32, and are
taken as that. A constant must be of the type of the numbers that it meets, as ONNX demands.
Source: the operators' own documentation in ONNX, each version of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from regions.arithmetic.arrays import exact_float64
from regions.arithmetic.types import Floats
from regions.errors import NonFiniteError, NotACheckpointError, UnsupportedLayerError
from regions.networks import named_activations as activations
from regions.networks.named_activations import ACTIVATIONS, OnnxActivation
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators import elementwise, maxima, windows
from regions.read.graphs.operators.shapes import moved
from regions.read.graphs.site import Site
from regions.read.onnx.graph import Node
from regions.read.onnx.tensors import Constant, element_name
from regions.read.onnx.values import Flow, Value
from regions.read.scaling import multiply

__all__ = ["OPERATORS", "numbers_beside", "only_flow"]

Operation = Callable[[Site, Node, list["Value | None"]], Any]


def numbers_beside(node: Node, value: Value | None, flow: Flow) -> Floats:
    """A constant that meets the flow, as doubles."""
    if not isinstance(value, Constant):
        raise UnsupportedLayerError(
            f"{node.label} takes several values that depend on the input where only one can be; export the part before "
            "it"
        )
    if value.element != flow.element:
        raise NotACheckpointError(
            f"{node.label} takes {value.name!r} of {element_name(value.element)} beside numbers of "
            f"{element_name(flow.element)}"
        )
    return exact_float64(value.array, f"{node.label}: {value.name}")


def only_flow(node: Node, values: Sequence[Value | None]) -> Flow:
    """The first operand, which must be what flows."""
    if not isinstance(values[0], Flow):
        raise UnsupportedLayerError(
            f"{node.label} has an operand that depends on the input where only a constant can be"
        )
    return values[0]


def _flow_and_constant(node: Node, values: list[Value | None]) -> tuple[Flow, Value | None, bool]:
    """The operand that flows, the other one, and whether the first is the one that flows."""
    first, second = values[:2]
    if isinstance(first, Flow):
        return first, second, True
    if isinstance(second, Flow):
        return second, first, False
    raise UnsupportedLayerError(f"{node.label} has an operand that depends on the input where only a constant can be")


def _number(node: Node, name: str, default: float) -> float:
    """A float32 attribute."""
    return float(np.float32(node.attributes.get(name, default)))


def _turned(at: Site, x: Tensor) -> Tensor:
    return moved(at, x, lambda array: array.swapaxes(-1, -2))


def _matmul(at: Site, node: Node, values: list[Value | None]) -> Flow:
    flow, other, first = _flow_and_constant(node, values)
    matrix = numbers_beside(node, other, flow)
    x = flow.tensor
    if not x.shape or not matrix.ndim:
        raise NotACheckpointError(f"{node.label} multiplies with a single number")
    if any(length != 1 for length in matrix.shape[:-2]):
        raise UnsupportedLayerError(f"{node.label} has several matrices, of shape {list(matrix.shape)}")
    wide = max(matrix.ndim - 2, len(x.shape) - 2, 0) + 2
    vector = len(x.shape) == 1
    if vector or len(x.shape) < wide:
        axes = (*x.shape, 1) if vector and not first else x.shape
        lengths = (1,) * (wide - len(axes)) + axes
        x = moved(at, x, lambda array: array.reshape(lengths))
    rows = matrix[np.newaxis] if matrix.ndim == 1 else matrix.reshape(matrix.shape[-2:])
    if matrix.ndim > 1 and first:
        rows = rows.T
    # From the left a matrix works on columns.
    result = windows.dense(at, x, rows) if first else _turned(at, windows.dense(at, _turned(at, x), rows))
    gone = ([-1 if first else -2] if matrix.ndim == 1 else []) + ([-2 if first else -1] if vector else [])
    if gone:
        result = moved(at, result, lambda array: array.squeeze(tuple(gone)))
    return Flow(result, flow.element)


def _gemm(at: Site, node: Node, values: list[Value | None]) -> Flow:
    flow, other, first = _flow_and_constant(node, values)
    matrix = numbers_beside(node, other, flow)
    x = flow.tensor
    transposed = [bool(node.attributes.get(name, 0)) for name in ("transA", "transB")]
    if matrix.ndim != 2 or len(x.shape) != 2:
        raise NotACheckpointError(f"{node.label} takes matrices, and gets shapes {[list(x.shape), list(matrix.shape)]}")
    if transposed[0 if first else 1]:
        x = _turned(at, x)
    if transposed[1 if first else 0]:
        matrix = matrix.T
    if x.shape[0 if first else 1] != 1:
        raise windows.several(at, x)
    rows = np.ascontiguousarray(matrix.T if first else matrix)
    shape = (1, len(rows)) if first else (len(rows), 1)
    alpha, beta = _number(node, "alpha", 1.0), _number(node, "beta", 1.0)
    biases, exact = np.zeros(len(rows)), True
    if len(values) > 2 and values[2] is not None:
        added = numbers_beside(node, values[2], flow)
        if node.version < 7 and not node.attributes.get("broadcast", 0) and added.shape != shape:
            raise NotACheckpointError(f"{node.label} adds shape {added.shape} to {shape} without broadcasting")
        biases, exact = multiply(elementwise.spread(at, added, shape).ravel(), np.full(1, beta))
    inside = exact and alpha == 1.0
    result = windows.dense(at, x if first else _turned(at, x), rows, biases if inside else None)
    if not inside:
        result = at.scaled(result, alpha, kind="alpha of") if alpha != 1.0 else result
        if len(values) > 2 and values[2] is not None:
            result = at.scaled(result, 1.0, biases.reshape(result.shape), exact=exact, kind="bias of")
    return Flow(result if first else _turned(at, result), flow.element)


def _operands(at: Site, node: Node, values: list[Value | None]) -> tuple[Any, Any, int]:
    """Two operands of an operator on each number, tensors or constants that may be repeated, and their type."""
    first, second = values[:2]
    flows = [value for value in (first, second) if isinstance(value, Flow)]
    if len(flows) == 2:
        assert isinstance(first, Flow) and isinstance(second, Flow)
        if first.element != second.element:
            raise NotACheckpointError(
                f"{node.label} takes numbers of {element_name(first.element)} beside {element_name(second.element)}"
            )
        if node.version < 7 and first.shape != second.shape:
            raise NotACheckpointError(f"{node.label} takes two shapes without broadcasting")
        return first.tensor, second.tensor, first.element
    flow, other, is_first = _flow_and_constant(node, values)
    constant = numbers_beside(node, other, flow)
    if node.version < 7:  # the second operand is repeated if that is asked for, along an axis that may be named
        if not node.attributes.get("broadcast", 0):
            if constant.shape != flow.shape:
                raise NotACheckpointError(f"{node.label} takes two shapes without broadcasting")
        elif "axis" in node.attributes:
            behind = len(flow.shape) - constant.ndim - node.attributes["axis"]
            if not is_first or behind < 0:
                raise UnsupportedLayerError(f"{node.label} repeats its operand along an axis that does not fit")
            constant = constant.reshape(constant.shape + (1,) * behind)
    return (flow.tensor, constant, flow.element) if is_first else (constant, flow.tensor, flow.element)


def _add(at: Site, node: Node, values: list[Value | None], factors: tuple[float, float] = (1.0, 1.0)) -> Flow:
    first, second, element = _operands(at, node, values)
    return Flow(elementwise.added(at, first, second, factors), element)


def _sum(at: Site, node: Node, values: list[Value | None]) -> Flow:
    result, *others = sorted(values, key=lambda value: not isinstance(value, Flow))
    for other in others:
        result = _add(at, node, [result, other])
    return only_flow(node, [result])


def _multiply(at: Site, node: Node, values: list[Value | None]) -> Flow:
    first, second, element = _operands(at, node, values)
    return Flow(elementwise.multiplied(at, first, second), element)


def _divide(at: Site, node: Node, values: list[Value | None]) -> Flow:
    first, second, element = _operands(at, node, values)
    return Flow(elementwise.divided(at, first, second), element)


def _negate(at: Site, node: Node, values: list[Value | None]) -> Flow:
    flow = only_flow(node, values)
    return replace(flow, tensor=at.scaled(flow.tensor, -1.0))


def _activates(row: OnnxActivation) -> Operation:
    """Return the operation of an operator that is an activation."""

    def activate(at: Site, node: Node, values: list[Value | None]) -> Flow:
        flow = only_flow(node, values)
        numbers = [_number(node, name, default) for name, default in row.attributes.items()]
        return replace(flow, tensor=elementwise.activated(at, flow.tensor, row.make, numbers))

    return activate


def _prelu(at: Site, node: Node, values: list[Value | None]) -> Flow:
    if not isinstance(values[0], Flow):
        raise UnsupportedLayerError(f"{node.label} has slopes that depend on the input")
    flow = values[0]
    slopes = numbers_beside(node, values[1], flow)
    if node.version < 7 and slopes.size > 1:  # one for each channel, which is the second axis
        if slopes.shape != flow.shape[1:2]:
            raise NotACheckpointError(f"{node.label} has slopes {slopes.shape} for numbers {flow.shape}")
        slopes = slopes.reshape(slopes.shape + (1,) * (len(flow.shape) - 2))
    return replace(flow, tensor=elementwise.prelu(at, flow.tensor, slopes.reshape(()) if slopes.size == 1 else slopes))


def _bounds(node: Node, value: Value | None, flow: Flow) -> Floats:
    """Return a constant that bounds the flow, as doubles; all of it may be infinite."""
    if isinstance(value, Constant) and value.array.size and not np.isfinite(value.array).any():
        numbers = value.array.astype(np.float64)
    else:
        numbers = numbers_beside(node, value, flow)
    if np.isnan(numbers).any():
        raise NonFiniteError(f"{node.label} has NaN as a bound, which says nothing; give a number, or none")
    if np.isinf(numbers).any() and not (numbers == numbers.flat[0]).all():
        raise UnsupportedLayerError(f"{node.label} has different infinite bounds for different units")
    return numbers


def _widest(flow: Flow) -> float:
    """Return the largest number of the flow's type, which bounds nothing."""
    return float(np.finfo(np.float64 if element_name(flow.element) == "float64" else np.float32).max)


def _clip(at: Site, node: Node, values: list[Value | None]) -> Flow:
    flow = only_flow(node, values)
    if node.version < 11:
        bounds = [node.attributes.get("min"), node.attributes.get("max")]
    else:
        given = [values[i] if len(values) > i else None for i in (1, 2)]
        if any(isinstance(value, Constant) and value.array.size != 1 for value in given):
            raise NotACheckpointError(f"{node.label} has several numbers as a bound")
        bounds = [None if value is None else float(_bounds(node, value, flow).flat[0]) for value in given]
    return replace(flow, tensor=elementwise.clipped(at, flow.tensor, *bounds, widest=_widest(flow)))


def _compared(at: Site, node: Node, values: list[Value | None], upper: bool) -> Flow:
    """Return the larger of values and constants, or the smaller: one constant for all elements, or one for each."""
    flows = [value for value in values if isinstance(value, Flow)]
    flow = flows[0]
    if any(other.element != flow.element or (node.version < 8 and other.shape != flow.shape) for other in flows):
        raise NotACheckpointError(f"{node.label} takes numbers of different types, or shapes without broadcasting")
    constants = [_bounds(node, value, flow) for value in values if isinstance(value, Constant)]
    if node.version < 8 and any(constant.shape != flow.shape for constant in constants):
        raise NotACheckpointError(f"{node.label} takes two shapes without broadcasting")
    tensors = [each.tensor for each in flows]
    result = maxima.compared(at, tensors, constants, smallest=upper, widest=_widest(flow))
    return Flow(result, flow.element)


def _hard_sigmoid(at: Site, node: Node, values: list[Value | None]) -> Flow:
    """``alpha * x + beta``, clipped to the interval from 0 to 1."""
    flow = only_flow(node, values)
    scaled = at.scaled(flow.tensor, _number(node, "alpha", 0.2), _number(node, "beta", 0.5))
    return replace(flow, tensor=at.activated(scaled, activations.hard_tanh(0.0, 1.0)))


def _batch_norm(at: Site, node: Node, values: list[Value | None]) -> Flow:
    if not isinstance(values[0], Flow):
        raise UnsupportedLayerError(f"{node.label} has parameters that depend on the input")
    flow = values[0]
    training = node.attributes.get("training_mode", 0) if node.version >= 7 else not node.attributes.get("is_test", 0)
    if training:
        raise UnsupportedLayerError(f"{node.label} is in training mode, so each output depends on the whole batch")
    if any(node.outputs[1:]):
        raise UnsupportedLayerError(f"{node.label} gives statistics, which only training needs")
    by_channel = node.version >= 9 or node.attributes.get("spatial", 1)
    wanted = flow.shape[1:2] if by_channel else flow.shape[1:]
    parameters = [numbers_beside(node, value, flow) for value in values[1:]]
    epsilon = _number(node, "epsilon", 1e-5)
    return replace(flow, tensor=elementwise.normalized(at, flow.tensor, parameters, wanted, epsilon))


def _standardise(at: Site, node: Node, values: list[Value | None]) -> Flow:
    """``(x - offset) * scale``, in float32 whatever came in."""
    flow = only_flow(node, values)
    x, size = flow.tensor, flow.tensor.size
    parts = {}
    for name, default in (("offset", 0.0), ("scale", 1.0)):
        numbers = exact_float64(node.attributes.get(name, [default]), f"{node.label}: {name}")
        if flow.shape != (1, size) or numbers.shape not in ((1,), (size,)):
            raise NotACheckpointError(f"{node.label} has {numbers.size} as {name} for shape {list(flow.shape)}")
        parts[name] = np.broadcast_to(numbers, (1, size))
    moved = at.scaled(x, 1.0, -parts["offset"], kind="offset of")
    return Flow(at.scaled(moved, parts["scale"], kind="scale of"), 1)


# Each with the newest version of the operator that was read about; a newer one may mean something else.
OPERATORS: dict[str, tuple[Operation, int]] = {
    "MatMul": (_matmul, 13),
    "Gemm": (_gemm, 13),
    "Add": (_add, 14),
    "Sub": (partial(_add, factors=(1.0, -1.0)), 14),
    "Sum": (_sum, 13),
    "Mul": (_multiply, 14),
    "Div": (_divide, 14),
    "Neg": (_negate, 13),
    **{row.onnx.name: (_activates(row.onnx), row.onnx.newest) for row in ACTIVATIONS if row.onnx},
    "PRelu": (_prelu, 16),
    "Clip": (_clip, 13),
    "Max": (partial(_compared, upper=False), 13),
    "Min": (partial(_compared, upper=True), 13),
    "HardSigmoid": (_hard_sigmoid, 22),
    "BatchNormalization": (_batch_norm, 15),
    "ai.onnx.ml.Scaler": (_standardise, 1),
}
