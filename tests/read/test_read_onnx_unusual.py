# SPDX-License-Identifier: MIT
"""Are ONNX files with an unusual but legal form read?"""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import regions
from onnx_parts import agrees, file, mlp, model, node
from regions.errors import AmbiguousCheckpointError, CheckpointError, UnsupportedLayerError
from regions.networks.network import Network
from regions.read import load

C = {"c": np.array([1.0, -2.0, 0.5, 3.0], dtype=np.float32)}


def test_an_operator_set_that_is_declared_twice() -> None:
    given = mlp()
    given.opset_import.add(domain="", version=given.opset_import[0].version)
    assert load(file(given)) == load(file(mlp()))


def test_nodes_in_any_order() -> None:
    given = mlp()
    nodes = list(given.graph.node)
    del given.graph.node[:]
    given.graph.node.extend([nodes[2], nodes[0], nodes[3], nodes[1]])
    assert load(file(given)) == load(file(mlp()))


@pytest.mark.parametrize(
    "operators", [["Mul", "Relu", "Add"], ["Relu", "Mul"], ["Sub", "Abs"], ["Div", "Relu"], ["Relu", "Expand"]]
)
def test_values_that_a_constant_repeats(operators: list[str]) -> None:
    names = ["x", *(f"v{i}" for i in range(len(operators) - 1)), "y"]
    with_constant = ("Mul", "Add", "Sub", "Div")
    nodes = [
        node(
            operator, [before, *(["c"] if operator in with_constant else ["s"] if operator == "Expand" else [])], after
        )
        for operator, before, after in zip(operators, names, names[1:], strict=False)
    ]
    given = model(nodes, C | {"s": np.array([2, 1, 4], dtype=np.int64)}, shape=[1, 1])
    agrees(given, load(file(given)))


def test_constants_that_are_computed_from_others() -> None:
    nodes = [
        node("Neg", ["w"], "n"),
        node("Mul", ["n", "c"], "scaled"),
        node("MatMul", ["scaled", "v"], "m"),
        node("Relu", ["c"], "b"),
        node("Concat", ["b", "c"], "j", axis=0),
        node("MatMul", ["x", "m"], "h"),
        node("Add", ["h", "j"], "y"),
    ]
    numbers = {"w": np.arange(12, dtype=np.float32).reshape(3, 4) / 8, "v": np.eye(4, 8, 1, dtype=np.float32)}
    given = model(nodes, C | numbers, shape=[1, 3])
    net = load(file(given))
    agrees(given, net)
    computed = (
        "computed from constants, in float64: node 'Neg_n' (Neg), node 'Mul_scaled' (Mul), node 'MatMul_m' (MatMul)"
    )
    assert f"{computed}, node 'Relu_b' (Relu)" in net.notes
    assert net.is_chain and (net.layers[0].weights[1:5] == (-numbers["w"] * C["c"]).T).all()


def plane_of(net: Network) -> regions.Plane:
    return regions.Plane(np.zeros(net.n_in), *np.eye(net.n_in)[:2])


@pytest.mark.parametrize(
    ("given", "shown", "count"),
    [
        (model([node("Relu", ["x"], "y")], shape=[1, 2]), "Network(2-2-2, relu, 2 hidden neurons)", 4),
        (model([node("Relu", ["x"], "y")], shape=[1, 3]), "Network(3-3-3, relu, 3 hidden neurons)", 4),
        (model([node("Identity", ["x"], "y")], shape=[1, 2]), "Network(2-2, affine, 0 hidden neurons)", 1),
        (model([node("Concat", ["x", "x"], "y", axis=1)], shape=[1, 2]), "Network(2-4, affine, 0 hidden neurons)", 1),
    ],
)
def test_networks_without_a_dense_layer(given: ModelProto, shown: str, count: int) -> None:
    net = load(file(given))
    assert repr(net) == shown
    partition = regions.enumerate(net, plane_of(net))
    assert len(partition) == regions.count(net, plane_of(net)) == count
    assert regions.certify(partition, net)
    agrees(given, net)


def two_inputs() -> ModelProto:
    """Return a model of x [1, 2] and z [1, 3]: ReLUs of w @ x, joined with z."""
    nodes = [
        node("Gemm", ["x", "w"], "a"),
        node("Concat", ["z", "a"], "b", axis=1),
        node("Relu", ["b"], "y"),
        node("Softmax", ["a"], "p"),
    ]
    given = model(nodes, {"w": np.array([[1.0, -2.0], [3.0, 0.5]], dtype=np.float32)}, shape=[1, 2])
    given.graph.input.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 3]))
    for name in ("a", "p"):
        given.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return given


def test_several_inputs_and_outputs_are_joined() -> None:
    net = load(file(two_inputs()))
    x, z = np.array([1.0, -1.0]), np.array([-4.0, 5.0, 6.0])
    a = np.array([-2.0, -2.5])
    assert dict(net.input_names) == {"x": slice(0, 2), "z": slice(2, 5)}
    assert (net(np.concatenate([x, z])) == [0.0, 5.0, 6.0, 0.0, 0.0, *a]).all()
    assert net.notes[0] == "several inputs are read as one vector: 'x' is 0 to 1, 'z' is 2 to 4"
    assert net.notes[-1] == (
        "several outputs are read as one vector: 'y' is 0 to 4, 'a' is 5 to 6; outputs= chooses among them"
    )
    for other in (
        pickle.loads(pickle.dumps(net)),
        net.outputs([0]),
        net.until(0),
        load(file(two_inputs()), normalize=(0, 2)),
    ):
        assert other.input_names == net.input_names


def test_outputs_are_chosen_by_name() -> None:
    given = two_inputs()
    for outputs in ("a", ["p"]):
        net = load(file(given), outputs=outputs)
        assert net.n_in == 2 and (net([1.0, -1.0]) == [-2.0, -2.5]).all()
    assert load(file(given), outputs=["a", "y"])([1.0, -1.0, -4.0, 5.0, 6.0])[1] == -2.5
    assert load(file(given), outputs="b")([1.0, -1.0, -4.0, 5.0, 6.0])[0] == -4.0  # a value within the graph
    with pytest.raises(
        AmbiguousCheckpointError, match="no value 'q'; its outputs are 'y', 'a', 'p', and any other value"
    ):
        load(file(given), outputs="q")
    with pytest.raises(CheckpointError, match=r"no names for outputs; .*net.outputs"):
        load(io.BytesIO(b"// a net\n1,1,1,1,\n1,1,\n0,\n0,\n1,\n0,0,\n1,1,\n1.0,\n0.0,\n"), outputs="y")
    for wrong in ([], ["a", "a"]):
        with pytest.raises(ValueError, match="name at least one, and each once"):
            load(file(given), outputs=wrong)
    with pytest.raises(ValueError, match="outputs is for .pt2 and .onnx files, and modules with input_shape"):
        load({}, outputs="y")


def test_the_value_before_a_smooth_function_can_be_named() -> None:
    nodes = [node("Relu", ["x"], "r"), node("Sigmoid", ["r"], "s"), node("Abs", ["s"], "y")]
    given = model(nodes, shape=[1, 3])
    with pytest.raises(UnsupportedLayerError, match=r"only at the very end can it be left out. .*: outputs='r'$"):
        load(file(given))
    assert (load(file(given), outputs="r")([1.0, -1.0, 2.0]) == [1.0, 0.0, 2.0]).all()


@pytest.mark.parametrize("shape", [(3,), (1, 3), (2, 3), (1,)])
def test_maximum_and_minimum_with_a_constant_per_unit(shape: tuple[int, ...]) -> None:
    """max(x, c) is c + relu(x - c)."""
    bounds = np.arange(-3.0, -3.0 + np.prod(shape)).reshape(shape)
    nodes = [node("Max", ["x", "c"], "a"), node("Min", ["d", "a"], "y")]
    tensors = {"c": bounds.astype(np.float32), "d": (bounds + 2).astype(np.float32)}
    network = load(file(model(nodes, tensors, shape=(1, 3))))
    for x in ([-8.0, 0.0, 8.0], [-2.5, -1.5, -0.5]):
        assert network(x).tolist() == np.minimum(np.maximum([x], bounds), bounds + 2).ravel().tolist()


def test_the_input_of_a_graph_may_be_named_as_an_output() -> None:
    given = file(model([node("Sigmoid", ["x"], "h"), node("Relu", ["h"], "y")], shape=(1, 3)))
    assert load(given, outputs="x")([1.0, -2.0, 3.0]).tolist() == [1.0, -2.0, 3.0]


def test_outputs_that_are_named_and_are_the_same_are_read_once_with_a_note() -> None:
    nodes = [node("Neg", ["x"], "y"), node("Softmax", ["y"], "p")]
    given = file(model(nodes, shape=(1, 3), outputs=["y", "p"]))
    network = load(given, outputs=["y", "p"])
    assert network.n_out == 3 and "outputs with the same numbers are read once: 'p' has those of 'y'" in network.notes
    assert not any("read once" in note for note in load(given).notes)
