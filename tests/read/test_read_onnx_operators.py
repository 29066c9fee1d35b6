# SPDX-License-Identifier: MIT
"""Is each operator of ONNX read as the right function?

Networks are compared with onnx's own evaluator, in each version with another meaning.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnx_moves import MOVES
from onnx_parts import NEWEST, agrees, file, model, node, normal
from onnx_windows import WINDOWS, Case
from regions.read import load

C3 = normal(3)
CASES: dict[str, Case] = (
    WINDOWS
    | MOVES
    | {
        "Gemm": (
            [node("Gemm", ["x", "w", "b"], "y", alpha=0.7, beta=-0.3, transB=1)],
            {"w": normal(4, 3), "b": normal(4)},
            ["batch", 3],
            (7, 9, 11, 13, NEWEST),
        ),
        "Gemm of two parts": (
            [
                node("MatMul", ["x", "v"], "h"),
                node("Relu", ["h"], "r"),
                node("Gemm", ["x", "w", "r"], "y", alpha=0.7, beta=-0.3),
            ],
            {"w": normal(3, 4), "v": normal(3, 4)},
            [1, 3],
            (9, 13),
        ),
        "ScatterND that adds twice at one place": (
            [node("Relu", ["x"], "r"), node("ScatterND", ["b", "i", "r"], "y", reduction="add")],
            {"b": normal(2), "i": np.array([[1], [0], [1]])},
            [3],
            (16, 18),
        ),
        "Gemm, old": (
            [node("Gemm", ["x", "w", "b"], "y", alpha=0.5, broadcast=1)],
            {"w": normal(3, 4), "b": normal(4)},
            [1, 3],
            (6,),
        ),
        "Gemm without bias": ([node("Gemm", ["x", "w"], "y")], {"w": normal(3, 4)}, ["batch", 3], (11, 13)),
        "Gemm, transposed input": (
            [node("Gemm", ["x", "w", "b"], "y", transA=1)],
            {"w": normal(3, 4), "b": normal(1, 4)},
            [3, 1],
            (9, 13),
        ),
        "Gemm from the left": (
            [node("Gemm", ["w", "x", "b"], "y", transA=1)],
            {"w": normal(3, 4), "b": normal(4, 1)},
            [3, 1],
            (13,),
        ),
        "Gemm from the left, both transposed": (
            [node("Gemm", ["w", "x", "b"], "y", transA=1, transB=1)],
            {"w": normal(3, 4), "b": normal(1)},
            [1, 3],
            (13,),
        ),
        "MatMul of a vector": ([node("MatMul", ["x", "w"], "y")], {"w": normal(3, 4)}, [3], (9, 13)),
        "MatMul from the left": ([node("MatMul", ["w", "x"], "y")], {"w": normal(4, 3)}, [3], (13,)),
        "MatMul of a column": ([node("MatMul", ["w", "x"], "y")], {"w": normal(4, 3)}, [3, 1], (13,)),
        "MatMul with a vector": ([node("MatMul", ["x", "w"], "y")], {"w": normal(3)}, [1, 3], (13,)),
        "MatMul with axes of one": ([node("MatMul", ["x", "w"], "y")], {"w": normal(1, 1, 3, 2)}, [1, 3], (13,)),
        "MatMul of many axes": ([node("MatMul", ["x", "w"], "y")], {"w": normal(3, 2)}, [1, 1, 1, 3], (13,)),
        "Add, both orders": (
            [node("MatMul", ["x", "w"], "a"), node("Add", ["b", "a"], "c"), node("Add", ["c", "d"], "y")],
            {"w": normal(3, 4), "b": normal(1, 4), "d": normal(1)},
            [1, 3],
            (7, 14),
        ),
        "Add that gives axes": (
            [node("Add", ["x", "b"], "a"), node("MatMul", ["a", "w"], "y")],
            {"w": normal(3, 4), "b": normal(1, 1, 3)},
            [1, 3],
            (13,),
        ),
        "Add, old": (
            [node("MatMul", ["x", "w"], "a"), node("Add", ["a", "b"], "y", broadcast=1, axis=1)],
            {"w": normal(3, 4), "b": normal(4)},
            [1, 3],
            (6,),
        ),
        "Sub and Div first": (
            [node("Sub", ["x", "m"], "a"), node("Div", ["a", "s"], "b"), node("MatMul", ["b", "w"], "y")],
            {"w": normal(3, 4), "m": C3, "s": C3},
            ["batch", 3],
            (7, 14),
        ),
        "Sub from a constant": (
            [node("MatMul", ["x", "w"], "a"), node("Sub", ["c", "a"], "y")],
            {"w": normal(3, 4), "c": normal(4)},
            [1, 3],
            (14,),
        ),
        "Mul and Neg between activations": (
            [node("Relu", ["x"], "a"), node("Mul", ["s", "a"], "b"), node("Neg", ["b"], "c"), node("Abs", ["c"], "y")],
            {"s": normal(1)},
            [1, 3],
            (13,),
        ),
        "ReduceMax": ([node("ReduceMax", ["x"], "y", axes=[1, -1], keepdims=0)], {}, [1, 2, 3, 2], (11, 13)),
        "ReduceMin": (
            [node("ReduceMin", ["x", "a"], "y")],
            {"a": np.array([2], dtype=np.int64)},
            [1, 2, 3],
            (18, 20),
        ),
        "ReduceMax of all": ([node("ReduceMax", ["x"], "y")], {}, [1, 2, 3], (13, 20)),
        "Max of several": (
            [
                *(node("Neg", ["x"], "a"), node("Relu", ["a"], "c"), node("Min", ["x", "k", "a", "c"], "d")),
                node("Max", ["d", "a", "k"], "y"),
            ],
            {"k": np.float32([0.25])},
            [1, 3],
            (8, 13),
        ),
        "DepthToSpace": ([node("DepthToSpace", ["x"], "y", blocksize=2)], {}, [1, 12, 2, 3], (1, 11, 13, NEWEST)),
        "DepthToSpace, mode DCR": (
            [node("DepthToSpace", ["x"], "y", blocksize=3, mode="DCR")],
            {},
            ["batch", 18, 2, 3],
            (11, 13),
        ),
        "DepthToSpace, mode CRD": (
            [node("DepthToSpace", ["x"], "y", blocksize=2, mode="CRD")],
            {},
            [1, 12, 2, 3],
            (11, 13, NEWEST),
        ),
        "SpaceToDepth": (
            [node("Relu", ["x"], "a"), node("SpaceToDepth", ["a"], "y", blocksize=2)],
            {},
            [1, 3, 4, 6],
            (1, 13, NEWEST),
        ),
        "LeakyRelu": ([node("LeakyRelu", ["x"], "y", alpha=0.3)], {}, [1, 3], (6, 16)),
        "LeakyRelu as it comes": ([node("LeakyRelu", ["x"], "y")], {}, [1, 3], (6, 16)),
        "Shrink": ([node("Shrink", ["x"], "y", lambd=0.3, bias=0.3)], {}, [1, 3], (9, NEWEST)),
        "ThresholdedRelu": ([node("ThresholdedRelu", ["x"], "y", alpha=0.0)], {}, [1, 3], (10, 22)),
        "PRelu": ([node("PRelu", ["x", "s"], "y")], {"s": normal(3)}, [1, 3], (7, 9, 16)),
        "PRelu for channels": ([node("PRelu", ["x", "s"], "y")], {"s": normal(3, 1, 1)}, [1, 3, 2, 2], (9, 16)),
        "PRelu, one slope": ([node("PRelu", ["x", "s"], "y")], {"s": normal(1)}, [1, 3], (9,)),
        "Clip, old": ([node("Clip", ["x"], "y", min=-0.5, max=0.75)], {}, [1, 3], (6,)),
        "Clip, old, one side": ([node("Clip", ["x"], "y", min=-0.5)], {}, [1, 3], (6,)),
        "Clip": (
            [node("Clip", ["x", "l", "u"], "y")],
            {"l": np.float32(-0.5), "u": np.float32(0.75)},
            [1, 3],
            (11, 12, 13),
        ),
        "Clip above": ([node("Clip", ["x", "", "u"], "y")], {"u": np.float32(0.75)}, [1, 3], (11, 13)),
        "Clip below": ([node("Clip", ["x", "l"], "y")], {"l": np.float32(0.75)}, [1, 3], (11, 13)),
        "Clip, infinite": (
            [node("Clip", ["x", "l", "u"], "y")],
            {"l": np.float32(-np.inf), "u": np.float32(0.75)},
            [1, 3],
            (13,),
        ),
        "Clip of nothing": ([node("Clip", ["x"], "y")], {}, [1, 3], (13,)),
        "Max and Min": (
            [node("Max", ["x", "l"], "a"), node("Min", ["u", "a"], "y")],
            {"l": np.float32(-0.5), "u": np.array([0.75], dtype=np.float32)},
            [1, 3],
            (8, 12, 13),
        ),
        "HardSigmoid": ([node("HardSigmoid", ["x"], "y", alpha=0.3, beta=0.4)], {}, [1, 3], (6, 22)),
        "HardSigmoid as it comes": ([node("HardSigmoid", ["x"], "y")], {}, [1, 3], (6, 22)),
        "Identity and Dropout": (
            [node("Identity", ["x"], "a"), node("Dropout", ["a"], "b"), node("Relu", ["b"], "y")],
            {},
            [1, 3],
            (10, 13, NEWEST),
        ),
        "Dropout, off": (
            [node("Dropout", ["x", "p", "t"], "a"), node("Relu", ["a"], "y")],
            {"p": np.float32(0.5), "t": np.array(False)},
            [1, 3],
            (12, 13),
        ),
        "BatchNormalization": (
            [node("MatMul", ["x", "w"], "a"), node("BatchNormalization", ["a", "s", "b", "m", "v"], "y", epsilon=0.01)],
            {"w": normal(3, 4), "s": normal(4), "b": normal(4), "m": normal(4), "v": np.abs(normal(4)) + 1},
            ["batch", 3],
            (14, 15),
        ),
        "BatchNormalization of channels": (
            [
                node("BatchNormalization", ["x", "s", "b", "m", "v"], "a"),
                node("Flatten", ["a"], "f"),
                node("MatMul", ["f", "w"], "y"),
            ],
            {"w": normal(12, 4), "s": normal(3), "b": normal(3), "m": normal(3), "v": np.abs(normal(3)) + 1},
            [1, 3, 2, 2],
            (15,),
        ),
        "BatchNormalization, old": (
            [node("BatchNormalization", ["x", "s", "b", "m", "v"], "y", is_test=1)],
            {"s": normal(3), "b": normal(3), "m": normal(3), "v": np.abs(normal(3)) + 1},
            [1, 3],
            (6,),
        ),
        "Cast": (
            [node("Cast", ["x"], "a", to=TensorProto.DOUBLE), node("MatMul", ["a", "w"], "y")],
            {"w": normal(3, 4, dtype=np.float64)},
            [1, 3],
            (9, 13, 19),
        ),
        "shape computed from the input": (
            [
                node("Shape", ["x"], "shape"),
                helper.make_node("Constant", [], ["zero"], value=numpy_helper.from_array(np.array(0))),
                node("Gather", ["shape", "zero"], "first"),
                node("Unsqueeze", ["first", "axis"], "one"),
                node("Concat", ["one", "rest"], "s", axis=0),
                node("Reshape", ["x", "s"], "a"),
                node("MatMul", ["a", "w"], "y"),
            ],
            {"w": normal(6, 4), "axis": np.array([0]), "rest": np.array([-1])},
            ["batch", 3, 2],
            (13, 15),
        ),
        "matrix transposed in the graph": (
            [node("Transpose", ["w"], "t"), node("Identity", ["t"], "u"), node("MatMul", ["x", "u"], "y")],
            {"w": normal(4, 3)},
            [1, 3],
            (13,),
        ),
        "Add and Sub of branches": (
            [
                node("MatMul", ["x", "w"], "a"),
                node("Relu", ["a"], "b"),
                node("Add", ["a", "b"], "c"),
                node("Sub", ["c", "x"], "d"),
                node("Sum", ["d", "b", "k", "x"], "y"),
            ],
            {"w": normal(3, 3), "k": normal(3)},
            ["batch", 3],
            (8, 13),
        ),
        "means": (
            [
                node("GlobalAveragePool", ["x"], "g"),
                node("Sub", ["x", "g"], "a"),
                node("ReduceMean", ["a"], "b", axes=[1], keepdims=0),
                node("ReduceMean", ["b"], "y", axes=[-1]),
            ],
            {},
            ["batch", 3, 2, 4],
            (11, 13),
        ),
        "means and sums, newer": (
            [node("ReduceMean", ["x", "one"], "a"), node("ReduceSum", ["a", "last"], "y", keepdims=0)],
            {"one": np.array([1]), "last": np.array([-1])},
            ["batch", 3, 2, 4],
            (18,),
        ),
        "MatMul at places": ([node("MatMul", ["x", "w"], "y")], {"w": normal(3, 2)}, ["batch", 4, 3], (13,)),
        "MatMul at places, from the left": (
            [node("MatMul", ["w", "x"], "y")],
            {"w": normal(2, 4)},
            ["batch", 4, 3],
            (13,),
        ),
        "constants as nodes": (
            [
                helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(normal(3, 4))),
                helper.make_node("Constant", [], ["u"], value_float=0.5),
                helper.make_node("Constant", [], ["b"], value_floats=[1.0, 2.0, 3.0, 4.0]),
                node("MatMul", ["x", "w"], "a"),
                node("Add", ["a", "b"], "c"),
                node("Clip", ["c", "", "u"], "y"),
            ],
            {},
            [1, 3],
            (12, 13),
        ),
    }
)
RUNS = [
    (name, opset)
    for name, (_, _, _, opsets) in CASES.items()
    for opset in opsets
    if opset <= onnx.defs.onnx_opset_version()
]


@pytest.mark.parametrize(("name", "opset"), RUNS)
def test_operators(name: str, opset: int) -> None:
    nodes, tensors, shape, _ = CASES[name]
    output = "y"
    if not any(one.op_type in ("MatMul", "Gemm", "Mul", "BatchNormalization", "Conv") for one in nodes):
        # A layer, or a scaling, so that the width is known.
        old = {"broadcast": 1} if opset < 7 else {}
        nodes, tensors, output = [*nodes, node("Mul", ["y", "two"], "z", **old)], tensors | {"two": np.float32(2)}, "z"
    given = model(nodes, tensors, shape=shape, opset=opset, outputs=[output])
    agrees(given, load(file(given)))


@pytest.mark.parametrize("name", ["BatchNormalization", "BatchNormalization of channels"])
def test_batch_norms_with_one_output_are_those_of_inference(name: str) -> None:
    """Before version 14 onnx's evaluator uses training mode, unlike the documentation."""
    nodes, tensors, shape, _ = CASES[name]
    newest, *older = (load(file(model(nodes, tensors, shape=shape, opset=opset))) for opset in (15, 7, 9))
    assert older == [newest, newest]


def test_a_valid_convolution_has_no_border() -> None:
    """onnx 1.16 evaluates it with one."""
    nodes, tensors, shape, _ = CASES["Conv, same"]
    valid = [*nodes[:2], node("Conv", ["b", "k"], "y", auto_pad="VALID", kernel_shape=[4])]
    assert load(file(model(valid, tensors, shape=shape))) == load(file(model(nodes, tensors, shape=shape)))


def test_reshapes_before_version_5() -> None:
    """onnx does not evaluate them."""
    nodes, tensors, shape, _ = CASES["Reshape"]
    old = [node("Reshape", ["x"], "a", shape=[0, -1]), *nodes[1:]]
    assert load(file(model(old, tensors, shape=shape, opset=1))) == load(file(model(nodes, tensors, shape=shape)))
