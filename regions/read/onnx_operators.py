# SPDX-License-Identifier: MIT
"""Which steps of a chain is one operator of an ONNX graph?

One function for each operator: of the node and the values that reach it, it makes steps for `regions.read.chain` and
the flow that leaves it. Each holds for every version of its operator up to the newest that was read about, which the
table at the end names. The numbers of each operator's attributes are float32, and are taken as that.
A constant must be of the type of the numbers that it meets, as ONNX demands, and must not enlarge what flows: then
there would be several inputs instead of one.
Source: the operators' own documentation in ONNX, each version of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from regions.arithmetic.arrays import exact_float64
from regions.arithmetic.types import Floats
from regions.errors import NetworkError, NonFiniteError, NotACheckpointError, UnsupportedLayerError
from regions.networks import named_activations as activations
from regions.networks.named_activations import Activation
from regions.read.chain import Dense, Nonlinearity, Step
from regions.read.onnx_graph import Node
from regions.read.onnx_tensors import Constant, element_name
from regions.read.onnx_values import Flow, Value
from regions.read.scaling import Scaling, invert, multiply, scaling_of_batch_norm

__all__ = ["OPERATORS"]

Made = tuple[Sequence[Step], Flow]
Operation = Callable[[Node, list[Value | None]], Made]


def _numbers(node: Node, value: Value | None, flow: Flow) -> Floats:
    """A constant that meets the flow, as doubles."""
    if not isinstance(value, Constant):
        raise _two_flows(node)
    if value.element != flow.element:
        raise NotACheckpointError(
            f"{node.label} takes {value.name!r} of {element_name(value.element)} beside numbers of "
            f"{element_name(flow.element)}"
        )
    return exact_float64(value.array, f"{node.label}: {value.name}")


def _two_flows(node: Node) -> UnsupportedLayerError:
    return UnsupportedLayerError(
        f"{node.label} takes several values that depend on the input, as skip connections do; only chains are supported"
    )


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


def _dense(node: Node, flow: Flow, matrix: Floats, shape: tuple[int, ...]) -> tuple[list[Dense], Flow]:
    """A layer whose matrix [n_out, n] has its columns in the order of the flow's positions."""
    if matrix.shape[1] != flow.array.size:
        raise NotACheckpointError(
            f"{node.label} has a matrix for {matrix.shape[1]} numbers and gets {flow.array.size}, of shape "
            f"{list(flow.array.shape)}"
        )
    weights = np.empty_like(matrix, order="C")
    weights[:, flow.array.ravel()] = matrix
    return [Dense(node.name, weights, np.zeros(len(weights)))], Flow.in_order(shape, flow.element, node.label)


def _several(node: Node, flow: Flow) -> UnsupportedLayerError:
    return UnsupportedLayerError(
        f"{node.label} gets numbers of shape {list(flow.array.shape)} and treats them as several inputs; if the file "
        "is for batches of one size, export it for single inputs, or for batches of any size"
    )


def _matmul(node: Node, values: list[Value | None]) -> tuple[list[Dense], Flow]:
    flow, other, first = _flow_and_constant(node, values)
    matrix = _numbers(node, other, flow)
    shape = flow.array.shape
    if not shape or not matrix.ndim:
        raise NotACheckpointError(f"{node.label} multiplies with a single number")
    if any(length != 1 for length in matrix.shape[:-2]):
        raise UnsupportedLayerError(f"{node.label} has several matrices, of shape {list(matrix.shape)}")
    batch = (1,) * max(matrix.ndim - 2, len(shape) - 2, 0)
    inner = shape[-1] if first or len(shape) == 1 else shape[-2]
    if flow.array.size != inner:
        raise _several(node, flow)
    # The axes of a product are those of its factors but for the ones that are summed over.
    kept_of_flow = (1,) if len(shape) > 1 else ()
    kept_of_matrix = () if matrix.ndim == 1 else matrix.shape[-1:] if first else matrix.shape[-2:-1]
    result = batch + (kept_of_flow + kept_of_matrix if first else kept_of_matrix + kept_of_flow)
    if matrix.ndim == 1:
        return _dense(node, flow, matrix[np.newaxis], result)
    two_axes = matrix.reshape(matrix.shape[-2:])
    return _dense(node, flow, two_axes.T if first else two_axes, result)


def _gemm(node: Node, values: list[Value | None]) -> Made:
    flow, other, first = _flow_and_constant(node, values)
    matrix = _numbers(node, other, flow)
    transposed = [bool(node.attributes.get(name, 0)) for name in ("transA", "transB")]
    if matrix.ndim != 2 or flow.array.ndim != 2:
        raise NotACheckpointError(f"{node.label} takes matrices, and gets shapes {[flow.array.shape, matrix.shape]}")
    if transposed[0 if first else 1]:
        flow = Flow(flow.array.T, flow.element, flow.name)
    if transposed[1 if first else 0]:
        matrix = matrix.T
    if flow.array.shape[0 if first else 1] != 1:
        raise _several(node, flow)
    rows = matrix.T if first else matrix
    shape = (1, len(rows)) if first else (len(rows), 1)
    (layer,), result = _dense(node, flow, rows, shape)
    steps: list[Step] = [layer]
    alpha, beta = _number(node, "alpha", 1.0), _number(node, "beta", 1.0)
    if alpha != 1.0:
        steps.append(Scaling("alpha of", node.name, np.full(len(rows), alpha), np.zeros(len(rows)), exact=True))
    if len(values) > 2 and values[2] is not None:
        added = _numbers(node, values[2], flow)
        if node.version < 7 and not node.attributes.get("broadcast", 0) and added.shape != shape:
            raise NotACheckpointError(f"{node.label} adds shape {added.shape} to {shape} without broadcasting")
        biases, exact = multiply(_spread(node, added, shape).ravel(), np.full(1, beta))
        if exact and len(steps) == 1:
            steps = [Dense(node.name, layer.weights, biases)]
        else:
            steps.append(Scaling("bias of", node.name, np.ones(len(rows)), biases, exact))
    return steps, result


def _spread(node: Node, constant: Floats, shape: tuple[int, ...]) -> Floats:
    """A constant, repeated until it has the shape of what it meets."""
    try:
        if np.broadcast_shapes(constant.shape, shape) == shape:
            return np.broadcast_to(constant, shape)
    except ValueError:
        pass
    raise NotACheckpointError(f"{node.label} has a constant of shape {list(constant.shape)} for {list(shape)}")


def _operands(node: Node, values: list[Value | None]) -> tuple[Flow, Floats, bool]:
    """For an operator on each number: the flow, a constant for each number, and whether the flow is first."""
    flow, other, first = _flow_and_constant(node, values)
    constant = _numbers(node, other, flow)
    if node.version < 7:  # the second operand is repeated if that is asked for, along an axis that may be named
        if not node.attributes.get("broadcast", 0):
            if constant.shape != flow.array.shape:
                raise NotACheckpointError(f"{node.label} takes two shapes without broadcasting")
        elif "axis" in node.attributes:
            behind = flow.array.ndim - constant.ndim - node.attributes["axis"]
            if not first or behind < 0:
                raise UnsupportedLayerError(f"{node.label} repeats its operand along an axis that does not fit")
            constant = constant.reshape(constant.shape + (1,) * behind)
    if constant.ndim > flow.array.ndim:  # gives the flow more axes
        flow = Flow(flow.array.reshape((1,) * (constant.ndim - flow.array.ndim) + flow.array.shape), flow.element, "")
    return flow, _by_unit(flow, _spread(node, constant, flow.array.shape)), first


def _by_unit(flow: Flow, numbers: Floats) -> Floats:
    """Numbers for each position, in the order of the vector."""
    result = np.empty(flow.array.size)
    result[flow.array.ravel()] = numbers.ravel()
    return result


def _scaling(node: Node, scale: Floats | float, shift: Floats | float, size: int, exact: bool = True) -> Step:
    return Scaling(node.operator, node.name, np.full(size, scale), np.full(size, shift), exact).checked()


def _add(node: Node, values: list[Value | None]) -> Made:
    flow, constant, _ = _operands(node, values)
    return [_scaling(node, 1.0, constant, len(constant))], flow


def _subtract(node: Node, values: list[Value | None]) -> Made:
    flow, constant, first = _operands(node, values)
    return [_scaling(node, 1.0 if first else -1.0, -constant if first else constant, len(constant))], flow


def _multiply(node: Node, values: list[Value | None]) -> Made:
    flow, constant, _ = _operands(node, values)
    return [_scaling(node, constant, 0.0, len(constant))], flow


def _divide(node: Node, values: list[Value | None]) -> Made:
    flow, constant, first = _operands(node, values)
    if not first:
        raise UnsupportedLayerError(f"{node.label} divides by what depends on the input, which is not piecewise linear")
    if not constant.all():
        raise NetworkError(f"{node.label} divides by 0")
    scale, exact = invert(constant)
    return [_scaling(node, scale, 0.0, len(constant), exact)], flow


def _negate(node: Node, values: list[Value | None]) -> Made:
    flow = _only(values)
    return [_scaling(node, -1.0, 0.0, flow.array.size)], flow


def _only(values: list[Value | None]) -> Flow:
    assert isinstance(values[0], Flow)
    return values[0]


def _activated(node: Node, flow: Flow, activation: Activation) -> Made:
    return [Nonlinearity(node.name, activation)], flow


def _activates(activation_of: Callable[[Node], Activation]) -> Operation:
    """The operator that is an activation, which its attributes tell."""
    return lambda node, values: _activated(node, _only(values), activation_of(node))


def _prelu(node: Node, values: list[Value | None]) -> Made:
    if not isinstance(values[0], Flow):
        raise UnsupportedLayerError(f"{node.label} has slopes that depend on the input")
    flow = values[0]
    slopes = _numbers(node, values[1], flow)
    if node.version < 7 and slopes.size > 1:  # one for each channel, which is the second axis
        if slopes.shape != flow.array.shape[1:2]:
            raise NotACheckpointError(f"{node.label} has slopes {slopes.shape} for numbers {flow.array.shape}")
        slopes = slopes.reshape(slopes.shape + (1,) * (flow.array.ndim - 2))
    by_unit = _by_unit(flow, _spread(node, slopes.reshape(()) if slopes.size == 1 else slopes, flow.array.shape))
    return _activated(node, flow, activations.prelu(by_unit[:1] if (by_unit == by_unit[0]).all() else by_unit))


def _bound(node: Node, value: Value | None, flow: Flow) -> float | None:
    """One number that bounds all of the flow, possibly infinite; None if it is left out."""
    if value is None:
        return None
    if isinstance(value, Constant) and value.array.size and not np.isfinite(value.array).any():
        numbers = value.array.astype(np.float64)
    else:
        numbers = _numbers(node, value, flow)
    if numbers.size == 0 or not (numbers == numbers.flat[0]).all():
        raise UnsupportedLayerError(f"{node.label} has different bounds for different units, or none")
    return float(numbers.flat[0])


def _clipped(node: Node, flow: Flow, low: float | None, high: float | None) -> Made:
    """Between two bounds, either of which may be missing; the largest number of its type bounds nothing."""
    largest = float(np.finfo(np.float64 if element_name(flow.element) == "float64" else np.float32).max)
    if low is not None and low <= -largest:
        low = None
    if high is not None and high >= largest:
        high = None
    if not all(bound is None or np.isfinite(bound) for bound in (low, high)):
        raise NonFiniteError(f"{node.label} has bounds {low} and {high}, which must be finite numbers")
    if low is None and high is None:
        activation = activations.identity()
    elif high is None:
        activation = activations.relu()
        if low != 0.0:
            activation = Activation(f"max(h, {low!r})", np.array([low]), np.array([0.0, 1.0]), np.array([low, 0.0]))
    elif low is None:
        activation = Activation(f"min(h, {high!r})", np.array([high]), np.array([1.0, 0.0]), np.array([0.0, high]))
    elif low >= high:
        raise NetworkError(f"{node.label} clips between {low!r} and {high!r}, which leaves a constant")
    else:
        activation = activations.relu6() if (low, high) == (0.0, 6.0) else activations.hard_tanh(low, high)
    return _activated(node, flow, activation)


def _clip(node: Node, values: list[Value | None]) -> Made:
    flow = _only(values)
    if node.version < 11:
        return _clipped(node, flow, node.attributes.get("min"), node.attributes.get("max"))
    given = [values[i] if len(values) > i else None for i in (1, 2)]
    if any(isinstance(value, Constant) and value.array.size != 1 for value in given):
        raise NotACheckpointError(f"{node.label} has several numbers as a bound")
    return _clipped(node, flow, *[_bound(node, value, flow) for value in given])


def _compared(node: Node, values: list[Value | None], upper: bool) -> Made:
    """The larger or smaller of the flow and constants, each one number."""
    flows = [value for value in values if isinstance(value, Flow)]
    if len(flows) > 1:
        raise _two_flows(node)
    (flow,) = flows
    bounds = []
    for value in values:
        if isinstance(value, Constant):
            bounds.append(_bound(node, value, flow))
            _spread(node, np.zeros(value.array.shape), flow.array.shape)
            if node.version < 8 and value.array.shape != flow.array.shape:
                raise NotACheckpointError(f"{node.label} takes two shapes without broadcasting")
    numbers = [bound for bound in bounds if bound is not None]
    if not numbers:
        return _activated(node, flow, activations.identity())
    return _clipped(node, flow, None, min(numbers)) if upper else _clipped(node, flow, max(numbers), None)


def _hard_sigmoid(node: Node, values: list[Value | None]) -> Made:
    """``alpha * x + beta``, clipped to the interval from 0 to 1."""
    flow = _only(values)
    alpha, beta = _number(node, "alpha", 0.2), _number(node, "beta", 0.5)
    steps, result = _activated(node, flow, activations.hard_tanh(0.0, 1.0))
    return [_scaling(node, alpha, beta, flow.array.size), *steps], result


def _batch_norm(node: Node, values: list[Value | None]) -> Made:
    if not isinstance(values[0], Flow):
        raise UnsupportedLayerError(f"{node.label} has parameters that depend on the input")
    flow = values[0]
    training = node.attributes.get("training_mode", 0) if node.version >= 7 else not node.attributes.get("is_test", 0)
    if training:
        raise UnsupportedLayerError(f"{node.label} is in training mode, so each output depends on the whole batch")
    if any(node.outputs[1:]):
        raise UnsupportedLayerError(f"{node.label} gives statistics, which only training needs")
    shape = flow.array.shape
    if len(shape) < 2 or shape[0] != 1:
        raise _several(node, flow)
    by_channel = node.version >= 9 or node.attributes.get("spatial", 1)
    wanted = shape[1:2] if by_channel else shape[1:]
    parameters = []
    for value in values[1:]:
        numbers = _numbers(node, value, flow)
        if numbers.shape != wanted:
            raise NotACheckpointError(f"{node.label} has {list(numbers.shape)} parameters instead of {list(wanted)}")
        spread = numbers.reshape(wanted + (1,) * (len(shape) - 1 - len(wanted)))
        parameters.append(_by_unit(flow, _spread(node, spread, shape)))
    weight, bias, mean, variance = parameters
    epsilon = _number(node, "epsilon", 1e-5)
    scaling = scaling_of_batch_norm(node.name, mean, variance, weight, bias, epsilon)
    return [scaling], flow


def _standardise(node: Node, values: list[Value | None]) -> Made:
    """``(x - offset) * scale``, in float32 whatever came in."""
    flow = _only(values)
    size = flow.array.size
    parts = {}
    for name, default in (("offset", 0.0), ("scale", 1.0)):
        numbers = exact_float64(node.attributes.get(name, [default]), f"{node.label}: {name}")
        if flow.array.shape != (1, size) or numbers.shape not in ((1,), (size,)):
            raise NotACheckpointError(f"{node.label} has {numbers.size} as {name} for shape {list(flow.array.shape)}")
        parts[name] = _by_unit(flow, np.broadcast_to(numbers, size))
    steps = [
        Scaling("offset of", node.name, np.ones(size), -parts["offset"], exact=True),
        Scaling("scale of", node.name, parts["scale"], np.zeros(size), exact=True),
    ]
    return steps, Flow(flow.array, 1, node.label)


# Each with the newest version of the operator that was read about; a newer one may mean something else.
OPERATORS: dict[str, tuple[Operation, int]] = {
    "MatMul": (_matmul, 13),
    "Gemm": (_gemm, 13),
    "Add": (_add, 14),
    "Sub": (_subtract, 14),
    "Mul": (_multiply, 14),
    "Div": (_divide, 14),
    "Neg": (_negate, 13),
    "Relu": (_activates(lambda node: activations.relu()), 14),
    "Abs": (_activates(lambda node: activations.absolute()), 13),
    "LeakyRelu": (_activates(lambda node: activations.leaky_relu(_number(node, "alpha", 0.01))), 16),
    "PRelu": (_prelu, 16),
    "Clip": (_clip, 13),
    "Max": (partial(_compared, upper=False), 13),
    "Min": (partial(_compared, upper=True), 13),
    "HardSigmoid": (_hard_sigmoid, 22),
    "BatchNormalization": (_batch_norm, 15),
    "ai.onnx.ml.Scaler": (_standardise, 1),
}
