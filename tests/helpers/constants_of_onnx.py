# SPDX-License-Identifier: MIT
"""Which functions of constants are drawn, for ONNX files?

A file multiplies a ReLU of its input with a constant, which it computes from stored tensors by a few nodes. Most files
hold doubles, so that onnxruntime, which is the judge, rounds as little as the reader.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

__all__ = ["MOST_NUMBERS", "drawn"]

MOST_NUMBERS = 60
Chance = random.Random

UNARY = """Exp Log Sqrt Reciprocal Sigmoid Tanh Softplus Softsign Elu Selu Celu Abs Neg Floor Ceil Round Sign Sin Cos
Tan Atan Sinh Cosh Erf Relu LeakyRelu HardSigmoid HardSwish Mish Identity""".split()
BINARY = "Add Sub Mul Div Pow Max Min Mod".split()
REDUCED = [f"Reduce{word}" for word in "Sum Mean Max Min Prod L1 L2 SumSquare LogSumExp".split()]


class Drawing:
    """A graph of constants that grows; each value has a name, and its numbers as far as numpy knows its shape."""

    def __init__(self, chance: Chance, kind: Any) -> None:
        self.chance, self.kind = chance, kind
        self.nodes: list[Any] = []
        self.stored: dict[str, NDArray[Any]] = {}
        self.values: list[str] = []
        for _ in range(chance.randint(1, 3)):
            self.values.append(self.store(self._numbers()))

    def _numbers(self) -> NDArray[Any]:
        shape = [self.chance.choice((1, 2, 3, 4)) for _ in range(self.chance.choice((1, 1, 2, 2, 2, 3)))]
        draw = np.random.default_rng(self.chance.randrange(2**32))
        return np.asarray(draw.integers(-16, 17, shape) / 8, dtype=self.kind)

    def store(self, array: Any) -> str:
        name = f"c{len(self.stored)}"
        self.stored[name] = np.asarray(array)
        return name

    def add(self, operator: str, given: list[str], count: int = 1, **attributes: Any) -> str:
        names = [f"v{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(operator, given, names, **attributes))
        return names[0]

    def value(self) -> str:
        return self.values[max(0, len(self.values) - 1 - int(self.chance.expovariate(0.7)))]

    def whole(self, *numbers: int) -> str:
        return self.store(np.array(numbers, dtype=np.int64))


def _step(d: Drawing) -> str:
    x, y, chance = d.value(), d.value(), d.chance
    element = 11 if d.kind is np.float64 else 1
    way = chance.randrange(12)
    if way < 3:
        return d.add(chance.choice(UNARY), [x])
    if way < 5:
        operator = chance.choice(BINARY)
        return d.add(operator, [x, y], **({"fmod": 1} if operator == "Mod" else {}))
    if way == 5:
        axes, keep = d.whole(chance.choice((0, -1))), chance.randrange(2)
        return d.add(chance.choice(REDUCED), [x, axes], keepdims=keep)
    if way == 6:
        compared = d.add(chance.choice(("Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual")), [x, y])
        if chance.randrange(2):
            compared = d.add("Not", [compared])
        return d.add("Where", [compared, x, y]) if chance.randrange(2) else d.add("Cast", [compared], to=element)
    if way == 7:
        axis = chance.choice((0, -1))
        operator = chance.choice(
            ("Softmax", "LogSoftmax", "CumSum", "TopK", "ArgMax", "LpNormalization", "LayerNormalization")
        )
        if operator == "LayerNormalization":
            return d.add(operator, [x, x, *[x] * chance.randrange(2)], axis=0, epsilon=0.25)
        if operator == "CumSum":
            flags = {"exclusive": chance.randrange(2), "reverse": chance.randrange(2)}
            return d.add(operator, [x, d.store(np.array(axis, dtype=np.int64))], **flags)
        if operator == "TopK":
            return d.add(operator, [x, d.whole(1)], 2, axis=axis, largest=chance.randrange(2))
        if operator == "ArgMax":
            last = chance.randrange(2)
            return d.add("Cast", [d.add(operator, [x], axis=axis, select_last_index=last)], to=element)
        return d.add(operator, [x], axis=axis)
    if way == 8:
        operator = chance.choice(("MatMul", "Trilu", "Gemm", "Einsum"))
        if operator == "Trilu":
            return d.add(operator, [x, d.store(np.array(chance.randint(-1, 1)))], upper=chance.randrange(2))
        if operator == "Gemm":
            return d.add(operator, [x, y], transA=chance.randrange(2), transB=1, alpha=0.5)
        if operator == "Einsum":
            return d.add(operator, [x, y], equation=chance.choice(("ij,kj->ik", "ij,jk->i", "i,i->")))
        return d.add(operator, [x, y])
    if way == 9:
        first = d.add("Gather", [d.add("Shape", [x]), d.store(np.array(chance.choice((0, -1))))])
        again = d.add(chance.choice(("Add", "Mul", "Sub", "Div")), [first, d.store(np.array(chance.choice((1, 2))))])
        end = d.add("Unsqueeze", [again, d.whole(0)])
        if chance.randrange(2):
            return d.add("Cast", [d.add("Range", [d.store(np.array(0)), again, d.store(np.array(1))])], to=element)
        return d.add("Slice", [x, d.whole(0), end, d.whole(chance.choice((0, -1)))])
    if way == 10:
        made, axis = (
            chance.choice(("Concat", "Split", "Transpose", "Unsqueeze", "Tile", "Expand")),
            chance.choice((0, -1)),
        )
        if made == "Concat":
            return d.add(made, [x, y], axis=axis)
        if made == "Split":
            return d.add(made, [x], 2, axis=axis)
        if made == "Unsqueeze":
            return d.add(made, [x, d.whole(axis)])
        if made == "Expand":
            return d.add(made, [x, d.add("Shape", [y])])
        return d.add(made, [x]) if made == "Transpose" else d.add(made, [x, d.whole(1, 2)])
    bounds = sorted(chance.randint(-16, 16) / 8 for _ in range(2))
    return d.add("Clip", [x, *(d.store(np.array(bound, dtype=d.kind)) for bound in bounds)])


def drawn(chance: Chance) -> tuple[str, bytes, tuple[int, ...]]:
    """Return the name of a case, the file, and the shape of its input; the judge may reject the file."""
    kind = np.float64 if chance.randrange(4) else np.float32
    d = Drawing(chance, kind)
    for _ in range(chance.randint(1, 5 if kind is np.float64 else 2)):
        d.values.append(_step(d))
    element = 11 if kind is np.float64 else 1
    flat = d.add("Reshape", [d.values[-1], d.whole(1, -1)])
    nodes = [*d.nodes, helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Mul", ["r", flat], ["y"])]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", element, [1, 1])],
        [helper.make_tensor_value_info("y", element, None)],
        [numpy_helper.from_array(array, name) for name, array in d.stored.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    shown = [f"{node.op_type}{[d.stored[name].shape for name in node.input if name in d.stored]}" for node in d.nodes]
    return f"{np.dtype(kind).name}: {', '.join(shown)}", model.SerializeToString(), (1, 1)


assert onnx.defs.onnx_opset_version() >= 18
