# SPDX-License-Identifier: MIT
"""Are ONNX files read as the right functions?

`tests/data/` has files of real exporters, with the outputs of the original models; see its README. Single operators are
tested in `test_read_onnx_operators.py`.
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
from regions.errors import AmbiguousCheckpointError, UnsupportedLayerError
from regions.networks.named_activations import relu
from regions.read import load, read_tensors

FILES = Path(__file__).parent.parent / "data"
EXPECTED = json.loads((FILES / "expected.json").read_text())


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


def test_models_of_zoo_files_list_their_tensors_among_the_inputs() -> None:
    given = mlp()
    for tensor in given.graph.initializer:
        given.graph.input.append(helper.make_tensor_value_info(tensor.name, TensorProto.FLOAT, tensor.dims))
    assert load(file(given)) == load(file(mlp()))


def test_nodes_that_the_outputs_do_not_need_are_ignored() -> None:
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
        [
            node("Flatten", ["y"], "f"),
            node("ArgMax", ["f"], "a", axis=1),
            node("Cast", ["a"], "z", to=TensorProto.INT64),
        ],
        [node("Softmax", ["y"], "p"), node("ArgMax", ["y"], "z", axis=1)],
        [node("Sigmoid", ["y"], "p"), node("Sub", ["one", "p"], "rest"), node("Concat", ["rest", "p"], "z", axis=1)],
    ],
)
def test_smooth_tails_are_left_out_with_a_note(tail: list[onnx.NodeProto]) -> None:
    given = mlp()
    given.graph.node.extend(tail)
    if any("one" in each.input for each in tail):
        given.graph.initializer.append(numpy_helper.from_array(np.float32([1.0]), "one"))
    given.graph.output[0].name = "z"
    if tail[0].output[0] == "p":
        given.graph.output.append(helper.make_tensor_value_info("p", TensorProto.FLOAT, None))
    net = load(file(given))
    assert net == load(file(mlp()))
    (note,) = net.notes
    assert note.startswith("left out at the end: node '")
    assert "; the outputs of this network are what goes into it" in note


@pytest.mark.parametrize("tail", [node("Softmax", ["y"], "z", axis=0), node("ArgMax", ["y"], "z")])
def test_tails_across_the_batch_are_refused(tail: onnx.NodeProto) -> None:
    given = mlp()
    given.graph.node.append(tail)
    given.graph.output[0].name = "z"
    with pytest.raises(UnsupportedLayerError, match="along axis 0, across the inputs of a batch.*outputs='y'"):
        load(file(given))


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
    """Count regions of the network in a file, and compare with a file of another format."""
    net = load(FILES / "torch_legacy_plain.onnx")
    domain = regions.Rectangle([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0])
    again = regions.Network([(layer.weights, layer.biases) for layer in net.layers])
    assert regions.count(net, domain) == regions.count(again, domain) > 1


def test_few_weights_may_be_used_at_many_places_of_a_large_image() -> None:
    kernels = {"v": np.ones((8, 1, 3, 3), np.float32), "w": np.ones((8, 8, 3, 3), np.float32)}
    nodes = [
        node("Conv", ["x", "v"], "a", pads=[1, 1, 1, 1]),
        node("Relu", ["a"], "b"),
        node("Conv", ["b", "w"], "c", pads=[1, 1, 1, 1]),
        node("Relu", ["c"], "y"),
    ]
    small = file(model(nodes, kernels, shape=[1, 1, 256, 256]))
    assert len(small.getvalue()) < 10_000
    assert load(small).n_out == 8 * 256 * 256


def test_a_transposed_convolution_to_a_shape() -> None:
    def padded(**attributes: Any) -> regions.Network:
        layer = node("ConvTranspose", ["x", "k"], "a", strides=[2, 3], output_padding=[0, 1], **attributes)
        return load(file(model([layer, node("Relu", ["a"], "y")], {"k": kernel}, shape=[1, 2, 3, 3], opset=11)))

    kernel = normal(2, 2, 3, 5)
    assert padded(output_shape=[6, 7]) == padded(pads=[1, 3, 0, 2])
    assert padded(output_shape=[6, 7], auto_pad="SAME_UPPER") == padded(pads=[0, 2, 1, 3])
    assert padded(auto_pad="SAME_LOWER") == padded(pads=[1, 2, 0, 1])


def test_a_slice_that_goes_backwards_from_before_the_first_number() -> None:
    bounds = {"s": np.array([-9]), "e": np.array([-9]), "a": np.array([1]), "t": np.array([-1])}
    net = load(file(model([node("Slice", ["x", *bounds], "z"), node("Neg", ["z"], "y")], bounds, shape=[1, 3])))
    assert net([5.0, 6.0, 7.0]) == [-5.0]
