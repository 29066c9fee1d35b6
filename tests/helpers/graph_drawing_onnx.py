# SPDX-License-Identifier: MIT
"""Which random ONNX files does the fuzzing of files generate?

They are graphs of a few nodes, most of them nearly right; `drawn` makes one. The types, names and numbers of inputs and
outputs are sometimes wrong, as are other parts of a `Drawing`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from graph_drawing import Drawing, windowed

Shape = tuple[int, ...]


class OnnxDrawing(Drawing):
    """A drawing whose nodes are ONNX's."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self.nodes: list[onnx.NodeProto] = []
        self.opset = self.whole(chance.choice((1, 6, 8, 9, 10, 11, 12, *[13, 17, 18, 21, 22] * 3)))

    def add(self, operator: str, inputs: list[str], left: Any, count: int = 1, /, **attributes: Any) -> None:
        """Add a node, and the values that it makes."""
        if self.wrong() and inputs:
            inputs[self.chance.randrange(len(inputs))] = self.chance.choice(["", *self.tensors, "x", "nothing"])
        if self.wrong():
            inputs = inputs[:-1] if self.chance.randrange(2) else [*inputs, self.value()[0]]
        if self.wrong() and attributes:
            attributes.pop(self.chance.choice(list(attributes)))
        outputs = [self.name() for _ in range(count + (self.wrong() and self.wrong()))]
        empty = [name for name, value in attributes.items() if value == []]
        plain = {name: value for name, value in attributes.items() if name not in empty}
        node = helper.make_node(operator, inputs, outputs, **plain)
        node.attribute.extend(helper.make_attribute(name, [], attr_type=onnx.AttributeProto.INTS) for name in empty)
        self.nodes.append(node)
        for name in outputs:
            self.keep(name, left)

    def listed(self, name: str, numbers: list[int], since: int) -> tuple[list[str], dict[str, Any]]:
        """Return lists that are attributes in old versions and inputs in newer ones."""
        if (self.opset < since) != self.wrong():
            return [], {name: [min(max(number, -(2**63)), 2**63 - 1) for number in numbers]}
        return [self.numbers(numbers)], {}


def _activation(d: OnnxDrawing, x: str, shape: Shape) -> None:
    operator = d.chance.choice(
        ["Relu"] * 6
        + ["Abs", "LeakyRelu", "Neg", "HardSigmoid", "Identity", "Dropout", "Sigmoid", "PRelu", "Clip", "Cast"]
    )
    if operator == "PRelu":
        d.add(operator, [x, d.constant(d.beside(shape))], shape)
    elif operator == "Clip" and d.opset >= 11:
        bounds = [d.constant(np.float32(d.real(bound))) for bound in (-1.0, 2.0)]
        d.add(operator, [x, *bounds], shape)
    elif operator == "Clip":
        d.add(operator, [x], shape, min=d.real(-1.0), max=d.real(2.0))
    elif operator == "LeakyRelu":
        d.add(operator, [x], shape, alpha=d.real(0.25))
    elif operator == "Cast":
        d.add(operator, [x], shape, to=d.whole(1) % 2**31)
    else:
        d.add(operator, [x], shape)


def _with_constant(d: OnnxDrawing, x: str, shape: Shape) -> None:
    inputs = [x, d.constant(d.beside(shape))]
    if d.chance.randrange(4) == 0:
        inputs.reverse()
    d.add(d.chance.choice(("Add", "Sub", "Mul", "Div", "Max", "Min", "Sum")), inputs, shape)


def _two(d: OnnxDrawing, x: str, shape: Shape) -> None:
    d.add(d.chance.choice(("Add", "Sub", "Max", "Min", "Sum", "Mul")), [x, d.alike(shape)], shape)


def _dense(d: OnnxDrawing, x: str, shape: Shape) -> None:
    out = d.chance.randint(1, 5)
    if len(shape) == 2 and d.chance.randrange(2):
        turned = d.chance.randrange(2)
        matrix = d.array((out, shape[-1]) if turned else (shape[-1], out))
        biases = [d.constant(d.array((out,)))] if d.chance.randrange(2) or d.opset < 11 else []
        d.add("Gemm", [x, d.constant(matrix), *biases], (1, out), transB=turned)
    elif shape:
        d.add("MatMul", [x, d.constant(d.array((shape[-1], out)))], (*shape[:-1], out))


def _windows(d: OnnxDrawing, shape: Shape) -> tuple[dict[str, Any], list[int], list[int]]:
    axes = len(shape) - 2
    size = [d.chance.randint(1, min(3, length)) for length in shape[2:]]
    step, pad = d.chance.randint(1, 2), d.chance.choice((0, 0, 1))
    pad = 0 if pad >= min(size, default=1) else pad
    attributes: dict[str, Any] = {"strides": d.wholes([step] * axes), "pads": d.wholes([pad] * 2 * axes)}
    if d.wrong():
        attributes["auto_pad"] = d.chance.choice(("SAME_UPPER", "SAME_LOWER", "VALID", "x"))
    return attributes, size, windowed(shape[2:], size, step, pad, 1)


def _image(d: OnnxDrawing, x: str, shape: Shape) -> None:
    if len(shape) < 3:
        return
    attributes, size, counts = _windows(d, shape)
    operator = d.chance.choice(("Conv", "Conv", "AveragePool", "MaxPool", "GlobalAveragePool", "GlobalMaxPool"))
    if operator == "Conv":
        out, groups = d.chance.randint(1, 3), d.whole(1)
        dilations = d.wholes([1] * len(size))
        kernel = d.constant(d.array((out, shape[1], *size)))
        d.add("Conv", [x, kernel], (1, out, *counts), group=groups, dilations=dilations, **attributes)
    elif operator.startswith("Global"):
        d.add(operator, [x], (*shape[:2], *[1] * len(size)))
    else:
        if d.opset >= 10 and d.chance.randrange(3) == 0:
            attributes["ceil_mode"] = 1
        d.add(operator, [x], (*shape[:2], *counts), kernel_shape=d.wholes(size), **attributes)


def _transposed_convolution(d: OnnxDrawing, x: str, shape: Shape) -> None:
    if len(shape) < 3:
        return
    axes, out, step = len(shape) - 2, d.chance.randint(1, 2), d.chance.randint(1, 2)
    counts = [(length - 1) * step + 2 for length in shape[2:]]
    kernel = d.constant(d.array((shape[1], out, *[2] * axes)))
    d.add("ConvTranspose", [x, kernel], (1, out, *counts), strides=d.wholes([step] * axes))


def _norm(d: OnnxDrawing, x: str, shape: Shape) -> None:
    if len(shape) < 2:
        return
    given = [d.array(shape[1:2]) for _ in range(3)] + [np.abs(d.array(shape[1:2]).astype(np.float32)) + 1]
    d.add("BatchNormalization", [x, *map(d.constant, given)], shape, epsilon=d.real(1e-5))


def _reduce(d: OnnxDrawing, x: str, shape: Shape) -> None:
    operator = d.chance.choice(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"))
    axes, keep = d.axes(len(shape)), d.chance.randrange(2)
    inputs, attributes = d.listed("axes", axes, 13 if operator == "ReduceSum" else 18)
    gone = {axis % max(len(shape), 1) for axis in axes}
    left = [1 if i in gone else length for i, length in enumerate(shape) if keep or i not in gone]
    d.add(operator, [x, *inputs], left, keepdims=keep, **attributes)


def _join(d: OnnxDrawing, x: str, shape: Shape) -> None:
    axis, parts = d.axis(len(shape)), [x, d.alike(shape), *[d.constant(d.array(shape))] * d.chance.randrange(2)]
    place = axis % max(len(shape), 1)
    d.add("Concat", parts, [n * len(parts) if i == place else n for i, n in enumerate(shape)], axis=axis)


def _split(d: OnnxDrawing, x: str, shape: Shape) -> None:
    if not shape or shape[-1] < 2:
        return
    first = d.between(1, shape[-1] - 1)
    inputs, attributes = d.listed("split", d.wholes([first, shape[-1] - first]), 13)
    d.add("Split", [x, *inputs], (*shape[:-1], first), 2, axis=d.whole(len(shape) - 1), **attributes)


def _pad(d: OnnxDrawing, x: str, shape: Shape) -> None:
    pads = d.wholes([d.chance.choice((0, 0, 1)) for _ in range(2 * len(shape))])
    inputs, attributes = d.listed("pads", pads, 11)
    mode = d.chance.choice(("constant", "constant", "edge", "reflect", *["x"] * d.wrong()))
    grown = [n + sum(pads[i :: len(shape)][:2]) for i, n in enumerate(shape)]
    d.add("Pad", [x, *inputs], grown, mode=mode, **attributes)


def _reshape(d: OnnxDrawing, x: str, shape: Shape) -> None:
    size = prod(shape)
    first = d.chance.choice([n for n in range(1, 7) if size % n == 0])
    wanted = d.chance.choice(([1, size], [1, first, -1], [1, first, 1, -1], [0, -1], [-1], [first, -1]))
    found = [
        shape[0] if n == 0 and shape else abs(size // prod(m or 1 for m in wanted)) if n == -1 else n for n in wanted
    ]
    inputs, attributes = d.listed("shape", d.wholes(wanted), 5)
    d.add("Reshape", [x, *inputs], found, **attributes)


def _axes(d: OnnxDrawing, x: str, shape: Shape) -> None:
    operator = d.chance.choice(("Flatten", "Squeeze", "Unsqueeze", "Transpose", "Shape"))
    if operator == "Flatten":
        d.add(operator, [x], (prod(shape[:1]), prod(shape[1:])), axis=d.whole(1))
    elif operator == "Transpose":
        order = d.chance.sample(range(len(shape)), len(shape))
        d.add(operator, [x], [shape[i] for i in order], perm=d.wholes(order))
    elif operator == "Shape":
        d.add("Shape", [x], (len(shape),))
        d.add("Reshape", [x, d.nodes[-1].output[0]], shape)
    else:
        ones = [i for i, n in enumerate(shape) if n == 1][1:]
        axes = d.wholes(ones if operator == "Squeeze" else [len(shape)])
        inputs, attributes = d.listed("axes", axes, 13)
        left = [n for i, n in enumerate(shape) if i not in ones] if operator == "Squeeze" else (*shape, 1)
        if axes:
            d.add(operator, [x, *inputs], left, **attributes)


def _pick(d: OnnxDrawing, x: str, shape: Shape) -> None:
    if not shape:
        return
    axis = d.chance.randrange(len(shape))
    length = shape[axis]
    if d.chance.randrange(2):
        places = d.wholes(
            [d.chance.randrange(-length, length) for _ in range(d.chance.randint(1, 4))] if length else [0]
        )
        if d.wrong():
            places *= d.chance.choice((50, 500, 5000))
        left = (*shape[:axis], len(places), *shape[axis + 1 :])
        d.add("Gather", [x, d.numbers(places)], left, axis=d.whole(axis))
        return
    start = d.chance.randrange(max(length, 1))
    given = {"starts": [start], "ends": [length], "axes": [axis]}
    left = (*shape[:axis], max(length - start, 0), *shape[axis + 1 :])
    pairs = [d.listed(name, d.wholes(numbers), 10) for name, numbers in given.items()]
    attributes = {name: value for _, one in pairs for name, value in one.items()}
    d.add("Slice", [x, *(name for names, _ in pairs for name in names)], left, **attributes)


def _enlarge(d: OnnxDrawing, x: str, shape: Shape) -> None:
    operator = d.chance.choice(("DepthToSpace", "SpaceToDepth", "Tile", "Expand", "Resize", "Upsample"))
    factors = [1] * min(len(shape), 2) + [2] * (len(shape) - 2)
    grown = [n * factor for n, factor in zip(shape, factors, strict=True)]
    if operator in ("DepthToSpace", "SpaceToDepth"):
        d.add(operator, [x], shape, blocksize=d.whole(d.chance.choice((1, 1, 2))))
    elif operator == "Tile":
        d.add(operator, [x, d.numbers(d.wholes(factors))], grown)
    elif operator == "Expand":
        wide = [2 if n == 1 and i else n for i, n in enumerate(shape)]
        d.add(operator, [x, d.numbers(d.wholes(wide))], wide)
    else:
        scales = d.constant(np.array([d.real(float(factor)) for factor in factors], dtype=np.float32))
        asymmetric = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        attributes = asymmetric if operator == "Resize" and d.opset >= 11 else {}
        inputs = [x, "", scales] if operator == "Resize" and d.opset >= 11 else [x, scales]
        d.add(operator, inputs, grown, **attributes)


def _filled(d: OnnxDrawing, x: str, shape: Shape) -> None:
    lengths = d.numbers(d.wholes([n for n in shape if n < 100][-2:]))
    d.add("ConstantOfShape", [lengths], (), value=numpy_helper.from_array(d.array((1,))))
    d.add(d.chance.choice(("Add", "Mul")), [x, d.nodes[-1].output[0]], shape)


def _computed(d: OnnxDrawing, x: str, shape: Shape) -> None:
    """Multiply by a constant that is computed from constants."""
    last = d.constant(d.beside(shape))
    for _ in range(d.chance.randint(1, 3)):
        operator = d.chance.choice(
            ["Exp", "Sqrt", "Softmax", "Erf", "Floor", "CumSum", "Tile", "Expand", "MatMul", "ConstantOfShape", "Range"]
            + ["ReduceL2", "Where", "TopK", "ArgMax", "Pow", "Trilu", "Concat", "Gather", "Cast", "EyeLike", "Einsum"]
        )
        beside = d.constant(d.beside(shape))
        given = {
            **{"CumSum": [last, d.constant(np.array(d.whole(0) % 2**62))], "Pow": [last, beside]},
            **{"Tile": [last, d.numbers(d.wholes([2]))], "Expand": [last, d.numbers(d.wholes([2, *shape[-1:]]))]},
            **{"MatMul": [last, beside], "Concat": [last, last], "Einsum": [last, beside]},
            **{"ConstantOfShape": [d.numbers(d.wholes([2, 3]))], "Gather": [last, d.numbers(d.wholes([0]))]},
            "Range": [d.constant(np.array(d.whole(n) % 2**62)) for n in (0, 3, 1)],
            "Where": [d.constant(d.array(shape[-1:], "bool")), last, beside],
            **{"TopK": [last, d.numbers([d.whole(1)])], "Trilu": [last, d.constant(np.array(d.whole(0) % 2**62))]},
        }.get(operator, [last])
        more: dict[str, Any] = {"Concat": {"axis": d.whole(0)}, "Cast": {"to": d.whole(7) % 2**31}}.get(operator, {})
        more = {"equation": d.chance.choice(("ij,kj->ik", "i,i->i", "i,j->ij"))} if operator == "Einsum" else more
        d.add(operator, given, (), 2 if operator == "TopK" else 1, **more)
        last = d.nodes[-1].output[0]
    d.add("Mul", [x, last], shape)


_STEPS: list[Callable[[OnnxDrawing, str, Shape], None]] = [
    *[_activation, _dense] * 4,
    *[_with_constant, _two, _image, _reshape, _axes, _pick, _join] * 2,
    *[_computed, _transposed_convolution, _norm, _reduce, _split, _pad, _enlarge, _filled],
]


def drawn(chance: random.Random) -> bytes:
    """Return a file."""
    d = OnnxDrawing(chance)
    shape = d.grow(_STEPS)
    last, left = d.values[-1]
    if d.ends_densely():
        d.add("MatMul", [last, d.constant(d.array((left[-1], 2)))], (*left[:-1], 2))
        d.add("Relu", [d.values[-1][0]], d.values[-1][1])
        d.add("MatMul", [d.values[-1][0], d.constant(d.array((2, 1)))], (*left[:-1], 1))
    if d.wrong():
        chance.shuffle(d.nodes)
    element = chance.choice((0, 1, 7, 10, 11, 16, 99)) if d.wrong() else 1
    lengths: list[Any] = ["batch", *shape[1:]] if shape and shape[0] == 1 and chance.randrange(3) == 0 else list(shape)
    graph = helper.make_graph(
        d.nodes,
        "graph",
        [helper.make_tensor_value_info("x", element, lengths)],
        [helper.make_tensor_value_info(d.values[-1][0], TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in d.tensors.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", d.opset)], ir_version=8)
    return bytes(model.SerializeToString())
