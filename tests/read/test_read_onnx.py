# SPDX-License-Identifier: MIT
"""Are ONNX files read as the functions that they are?

`files/` has files that real exporters wrote, with what the models gave where they came from; see its README. Each
operator is held against the evaluator of onnx itself, in each of its versions that means something else.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import regions
from onnx_parts import agrees, file, mlp, model, node, normal
from regions.errors import AmbiguousCheckpointError
from regions.networks.named_activations import relu
from regions.read import load, read_tensors

FILES = Path(__file__).parent.parent / "data"
EXPECTED = json.loads((FILES / "expected.json").read_text())
NEWEST = min(onnx.defs.onnx_opset_version(), 25)


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.endswith(".onnx")])
def test_files_of_the_exporters(name: str) -> None:
    net = load(FILES / name)
    outputs = np.array(EXPECTED[name]["outputs"])
    np.testing.assert_allclose(net(EXPECTED[name]["points"]), outputs, rtol=0, atol=1e-6 * np.abs(outputs).max())


def test_weights_are_those_stored() -> None:
    given = mlp()
    net = load(file(given))
    assert repr(net) == "Network(2-3-1, relu, 3 hidden neurons)"
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in given.graph.initializer}
    assert (net.layers[0].weights == stored["w0"]).all()
    assert (net.layers[0].biases == stored["b0"]).all()
    assert (net.layers[1].weights == stored["w1"].T).all()
    assert (net.layers[1].biases == stored["b1"]).all()
    assert net.notes == ()
    agrees(given, net)
    tensors = read_tensors(file(given))
    assert list(tensors) == list(stored)
    assert all((tensors[name] == array).all() for name, array in stored.items())


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("element", [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16])
def test_types_of_numbers(element: int, raw: bool) -> None:
    values = np.array([[1.0, -0.3], [2.0**-14, 3.0e-5], [1000.0, 1 / 3]])
    if element == TensorProto.BFLOAT16:  # by hand, since not every version of onnx makes them
        bits = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        stored: Any = (bits.astype(np.uint32) << 16).view(np.float32)
        tensor = TensorProto(name="w", dims=values.shape, data_type=element)
        if raw:
            tensor.raw_data = bits.tobytes()
        else:
            tensor.int32_data.extend(bits.ravel().tolist())
    else:
        stored = values.astype(helper.tensor_dtype_to_np_dtype(element))
        data = stored.tobytes() if raw else stored.ravel().tolist()
        tensor = helper.make_tensor("w", element, values.shape, data, raw=raw)
    given = model([node("MatMul", ["x", "w"], "y")], shape=(1, 3), element=element)
    given.graph.initializer.append(tensor)
    net = load(file(given))
    assert (net.layers[0].weights.T == stored.astype(float)).all()


C3 = normal(3)
CASES: dict[str, tuple[list[onnx.NodeProto], dict[str, Any], list[int | str | None], tuple[int, ...]]] = {
    "Gemm": (
        [node("Gemm", ["x", "w", "b"], "y", alpha=0.7, beta=-0.3, transB=1)],
        {"w": normal(4, 3), "b": normal(4)},
        ["batch", 3],
        (7, 9, 11, 13, NEWEST),
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
    "LeakyRelu": ([node("LeakyRelu", ["x"], "y", alpha=0.3)], {}, [1, 3], (6, 16)),
    "LeakyRelu as it comes": ([node("LeakyRelu", ["x"], "y")], {}, [1, 3], (6, 16)),
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
    "Flatten": (
        [node("Flatten", ["x"], "a"), node("MatMul", ["a", "w"], "y")],
        {"w": normal(12, 4)},
        ["batch", 3, 2, 2],
        (9, 11, 13, NEWEST),
    ),
    "Flatten, axis 0": (
        [node("Flatten", ["x"], "a", axis=0), node("MatMul", ["a", "w"], "y")],
        {"w": normal(12, 4)},
        [3, 2, 2],
        (9,),
    ),
    "Flatten, negative axis": (
        [node("Flatten", ["x"], "a", axis=-3), node("MatMul", ["a", "w"], "y")],
        {"w": normal(12, 4)},
        [1, 3, 2, 2],
        (11, 13),
    ),
    "Reshape": (
        [node("Reshape", ["x", "s"], "a"), node("MatMul", ["a", "w"], "y")],
        {"w": normal(6, 4), "s": np.array([0, -1])},
        ["batch", 3, 2],
        (5, 13, NEWEST),
    ),
    "Squeeze and Unsqueeze, old": (
        [
            node("Squeeze", ["x"], "a", axes=[2]),
            node("MatMul", ["a", "w"], "b"),
            node("Unsqueeze", ["b"], "c", axes=[0, 3]),
            node("Squeeze", ["c"], "y"),
        ],
        {"w": normal(3, 4)},
        [1, 3, 1],
        (1, 11),
    ),
    "Squeeze and Unsqueeze": (
        [
            node("Squeeze", ["x", "two"], "a"),
            node("MatMul", ["a", "w"], "b"),
            node("Unsqueeze", ["b", "ends"], "c"),
            node("Squeeze", ["c"], "y"),
        ],
        {"w": normal(3, 4), "two": np.array([-1]), "ends": np.array([0, -1])},
        [1, 3, 1],
        (13, NEWEST),
    ),
    "Transpose of an image": (
        [
            node("Transpose", ["x"], "a", perm=[0, 2, 3, 1]),
            node("Flatten", ["a"], "b"),
            node("MatMul", ["b", "w"], "y"),
        ],
        {"w": normal(12, 4)},
        [1, 3, 2, 2],
        (13, NEWEST),
    ),
    "Transpose between constants for each number": (
        [
            node("Mul", ["x", "m"], "a"),
            node("Transpose", ["a"], "b"),
            node("Add", ["b", "n"], "c"),
            node("PRelu", ["c", "s"], "d"),
            node("Flatten", ["d"], "e", axis=0),
            node("MatMul", ["e", "w"], "y"),
        ],
        {"w": normal(12, 4), "m": normal(2, 2, 3), "n": normal(3, 2, 2), "s": normal(3, 2, 2)},
        [2, 2, 3],
        (13,),
    ),
    "Transpose at the end": (
        [
            node("MatMul", ["x", "w"], "a"),
            node("Reshape", ["a", "s"], "b"),
            node("Transpose", ["b"], "y"),
        ],
        {"w": normal(3, 6), "s": np.array([2, 3])},
        [1, 3],
        (13,),
    ),
    "Transpose after a scaling at the end": (
        [
            node("MatMul", ["x", "w"], "a"),
            node("Reshape", ["a", "s"], "b"),
            node("Mul", ["b", "m"], "c"),
            node("Transpose", ["c"], "y"),
        ],
        {"w": normal(3, 6), "s": np.array([2, 3]), "m": normal(2, 3)},
        [1, 3],
        (13,),
    ),
    "Transpose after an activation at the end": (
        [
            node("MatMul", ["x", "w"], "a"),
            node("Reshape", ["a", "s"], "b"),
            node("Relu", ["b"], "c"),
            node("Transpose", ["c"], "y"),
        ],
        {"w": normal(3, 6), "s": np.array([2, 3])},
        [1, 3],
        (13,),
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
    if not any(one.op_type in ("MatMul", "Gemm", "Mul", "BatchNormalization") for one in nodes):
        # So that the width is known: it takes a layer, or something to fold into one.
        old = {"broadcast": 1} if opset < 7 else {}
        nodes, tensors, output = [*nodes, node("Mul", ["y", "two"], "z", **old)], tensors | {"two": np.float32(2)}, "z"
    given = model(nodes, tensors, shape=shape, opset=opset, outputs=[output])
    agrees(given, load(file(given)))


@pytest.mark.parametrize("name", ["BatchNormalization", "BatchNormalization of channels"])
def test_batch_norms_with_one_output_are_those_of_inference(name: str) -> None:
    """onnx's evaluator has them in training mode before version 14; the documentation does not."""
    nodes, tensors, shape, _ = CASES[name]
    newest, *older = (load(file(model(nodes, tensors, shape=shape, opset=opset))) for opset in (15, 7, 9))
    assert older == [newest, newest]


def test_reshapes_before_version_5() -> None:
    """onnx does not evaluate them."""
    nodes, tensors, shape, _ = CASES["Reshape"]
    old = [node("Reshape", ["x"], "a", shape=[0, -1]), *nodes[1:]]
    assert load(file(model(old, tensors, shape=shape, opset=1))) == load(file(model(nodes, tensors, shape=shape)))


def test_models_of_zoo_files_list_their_tensors_among_the_inputs() -> None:
    given = mlp()
    for tensor in given.graph.initializer:
        given.graph.input.append(helper.make_tensor_value_info(tensor.name, TensorProto.FLOAT, tensor.dims))
    assert load(file(given)) == load(file(mlp()))


def test_what_nothing_depends_on_is_not_looked_at() -> None:
    given = mlp()
    given.graph.node.insert(1, node("Tanh", ["h"], "unused"))
    given.graph.node.append(node("Nonsense", ["unused"], "unused too"))
    given.graph.initializer.append(helper.make_tensor("s", TensorProto.STRING, [1], [b"text"]))
    assert load(file(given)) == load(file(mlp()))


@pytest.mark.parametrize(
    "tail",
    [
        [node("Softmax", ["y"], "z")],
        [node("LogSoftmax", ["y"], "z")],
        [node("Sigmoid", ["y"], "z")],
        [node("Flatten", ["y"], "f"), node("ArgMax", ["f"], "a"), node("Cast", ["a"], "z", to=TensorProto.INT64)],
        [node("Softmax", ["y"], "p"), node("ArgMax", ["y"], "z")],
    ],
)
def test_tails_are_left_out_and_said_so(tail: list[onnx.NodeProto]) -> None:
    given = mlp()
    given.graph.node.extend(tail)
    given.graph.output[0].name = "z"
    if tail[0].output[0] == "p":
        given.graph.output.append(helper.make_tensor_value_info("p", TensorProto.FLOAT, None))
    net = load(file(given))
    assert net == load(file(mlp()))
    (note,) = net.notes
    assert note.startswith("left out at the end: node '")
    assert note.endswith("the outputs of this network are what goes into it")


def test_the_values_before_the_tail_may_be_an_output_too() -> None:
    given = mlp()
    given.graph.node.append(node("Softmax", ["y"], "p"))
    given.graph.output.append(helper.make_tensor_value_info("p", TensorProto.FLOAT, None))
    assert load(file(given)) == load(file(mlp()))


def test_notes_on_rounding_and_on_the_shape_of_the_input() -> None:
    nodes = [node("Sub", ["x", "m"], "a"), node("Mul", ["a", "s"], "b"), node("Flatten", ["b"], "c")]
    nodes.append(node("MatMul", ["c", "w"], "y"))
    exact = {"m": np.zeros(3, np.float32), "s": np.full(3, 0.5, np.float32), "w": normal(12, 2)}
    given = model(nodes, exact, shape=["N", 2, 2, 3])
    assert load(file(given)).notes == ("input 'x' [N, 2, 2, 3] is read as 12 numbers in the order of the array",)
    given = model(nodes, exact | {"m": np.full(3, 0.1, np.float32)}, shape=["N", 2, 2, 3])
    assert (
        load(file(given)).notes[1].startswith("Sub Sub_a, Mul Mul_b folded into MatMul_y, which follows it, in float64")
    )


def test_old_files_without_operator_sets() -> None:
    given = mlp()
    del given.graph.node[2:], given.opset_import[:]
    given.ir_version = 2
    given.graph.output[0].name = "r"
    given.graph.node[0].attribute.append(helper.make_attribute("broadcast", 1))
    assert load(file(given)).layers[0] is not None


def test_the_activation_is_known() -> None:
    assert load(file(mlp()), "relu").layers[0].activation == relu()
    with pytest.raises(AmbiguousCheckpointError, match="'abs' was named, but the file itself has relu"):
        load(file(mlp()), "abs")


def test_regions_of_a_file() -> None:
    """From the file to a count, which a file of another format confirms."""
    net = load(FILES / "torch_legacy_plain.onnx")
    domain = regions.Rectangle([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0])
    again = regions.Network([(layer.weights, layer.biases) for layer in net.layers])
    assert regions.count(net, domain) == regions.count(again, domain) > 1
