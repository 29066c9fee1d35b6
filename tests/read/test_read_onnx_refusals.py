# SPDX-License-Identifier: MIT
"""Are ONNX files refused, with the name of what is wrong, if their graphs are not chains or cannot be read?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import regions.read.onnx.network as onnx_network
from onnx_parts import file, mlp, model, node, normal
from regions.errors import (
    AmbiguousCheckpointError,
    CheckpointError,
    MissingDependencyError,
    NetworkError,
    NonFiniteError,
    NotACheckpointError,
    RegionsError,
    ShapeMismatchError,
    UnsupportedLayerError,
)
from regions.read import load

W = {"w": normal(3, 3)}


def one(operator: str, tensors: dict[str, Any] | None = None, **attributes: Any) -> onnx.ModelProto:
    """Return a model with an operator on the output of a layer, with constants as its other inputs."""
    nodes = [node("MatMul", ["x", "w"], "a"), node(operator, ["a", *(tensors or {})], "y", **attributes)]
    return model(nodes, W | (tensors or {}), shape=[1, 3])


def at(opset: int, nodes: list[onnx.NodeProto], tensors: dict[str, Any], *shape: int | str | None) -> onnx.ModelProto:
    return model(nodes, tensors, shape=list(shape) or [1, 3], opset=opset)


def changed(change: Callable[[onnx.ModelProto], Any]) -> onnx.ModelProto:
    given = mlp()
    change(given)
    return given


def _external() -> onnx.ModelProto:
    given = mlp()
    tensor = given.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    return given


def _branches() -> onnx.ModelProto:
    body = helper.make_graph([node("Relu", ["x"], "z")], "body", [], [])
    return at(
        17, [helper.make_node("If", ["c"], ["y"], name="if", then_branch=body, else_branch=body)], {"c": np.array(True)}
    )


def _function() -> onnx.ModelProto:
    given = mlp()
    made = helper.make_function("own", "F", ["x"], ["y"], [node("Relu", ["x"], "y")], [helper.make_opsetid("", 17)])
    given.functions.append(made)
    return given


def _tail(*tail: onnx.NodeProto) -> onnx.ModelProto:
    given = mlp()
    given.graph.node.extend(tail)
    given.graph.initializer.append(numpy_helper.from_array(np.float32([1.0]), "one"))
    given.graph.output[0].name = tail[-1].output[0]
    return given


def _ratio_and_training() -> dict[str, Any]:
    return {"r": np.float32(0.5), "t": np.array(True)}


Case = tuple[Callable[[], onnx.ModelProto], type[RegionsError], str]
REFUSED: dict[str, Case] = {
    "product of branches": (
        lambda: at(17, [node("Mul", ["x", "x"], "y")], {}),
        UnsupportedLayerError,
        r"'Mul_y' \(Mul\) multiplies two values",
    ),
    "several matrices": (
        lambda: at(17, [node("MatMul", ["x", "x"], "y")], {}, 3, 3),
        UnsupportedLayerError,
        r"'MatMul_y' \(MatMul\) multiplies inputs by inputs",
    ),
    "largest of several shapes": (
        lambda: at(9, [node("Slice", ["x"], "z", starts=[0], ends=[2], axes=[1]), node("Max", ["x", "z"], "y")], {}),
        NotACheckpointError,
        r"'Max_y' \(Max\) compares shapes \[1, 3\] and \[1, 2\]",
    ),
    "an output that is constant": (
        lambda: model([node("Neg", ["x"], "y"), node("Identity", ["w"], "z")], W, shape=[1, 3], outputs=["y", "z"]),
        AmbiguousCheckpointError,
        r"output 'z' is a constant, .*; name those that are meant: outputs=\['y'\]",
    ),
    "convolution": (lambda: one("Conv", {"k": normal(1, 1, 1)}), NotACheckpointError, r"'Conv_y' \(Conv\).*convol"),
    "transposed convolution": (
        lambda: at(17, [node("ConvTranspose", ["x", "k"], "y", output_shape=[6])], {"k": normal(1, 1, 2)}, 1, 1, 3),
        UnsupportedLayerError,
        r"'ConvTranspose_y' \(ConvTranspose\) makes \[6\] numbers, more than its windows reach",
    ),
    "spread windows that pad by themselves": (
        lambda: at(
            12, [node("MaxPool", ["x"], "y", kernel_shape=[2], dilations=[2], auto_pad="SAME_UPPER")], {}, 1, 1, 8
        ),
        UnsupportedLayerError,
        "runtimes do not read alike; export it with pads",
    ),
    "pooling": (
        lambda: one("MaxPool", kernel_shape=[1]),
        NotACheckpointError,
        "'MaxPool_y' .*does not have one stride",
    ),
    "unpooling": (lambda: one("LpPool", kernel_shape=[1]), UnsupportedLayerError, "not supported: this kind of pool"),
    "smooth": (lambda: one("Gelu"), UnsupportedLayerError, r"node 'Gelu_y' \(Gelu\): it is not piecewise linear"),
    "sigmoid inside": (
        lambda: _tail(node("Sigmoid", ["y"], "s"), node("Relu", ["s"], "z")),
        UnsupportedLayerError,
        r"'Sigmoid_s' \(Sigmoid\) is not piecewise linear, and comes before node 'Relu_z'",
    ),
    "sigmoid minus itself": (
        lambda: _tail(
            node("Sigmoid", ["y"], "s"), node("Sub", ["s", "s"], "z"), node("Concat", ["z", "s"], "u", axis=1)
        ),
        UnsupportedLayerError,
        "which reverses its order",
    ),
    "softmax beside": (
        lambda: _tail(node("Softmax", ["y"], "s"), node("Relu", ["y"], "z"), node("Concat", ["s", "z"], "u", axis=1)),
        UnsupportedLayerError,
        "branches",
    ),
    "unknown operator": (lambda: one("Nonsense"), UnsupportedLayerError, r"\(Nonsense\): not supported; export"),
    "operator with a dot": (lambda: one("ai.onnx.ml.Scaler"), UnsupportedLayerError, "Handled are Abs"),
    **{
        f"smooth, {name}": (
            lambda name=name, count=count: at(
                17,
                [node(name, ["x", *"sb"[:count]], "y")],
                {each: np.ones(3, np.float32) for each in "sb"},
                1,
                3,
                4,
            ),
            UnsupportedLayerError,
            rf"^node '{name}_y' \({name}\): it {words}, which is not piecewise linear",
        )
        for name, count, words in (
            ("InstanceNormalization", 2, "divides by the standard deviation of its input"),
            ("ReduceSumSquare", 0, "adds squares"),
            ("MeanVarianceNormalization", 0, "divides by the size of its input"),
        )
    },
    "resized by cubic means": (
        lambda: one("Resize", {"r": np.float32([]), "s": np.float32([1, 2])}, mode="cubic"),
        UnsupportedLayerError,
        r"^node 'Resize_y' \(Resize\) makes means of pixels in mode 'cubic', .*; export it with mode 'nearest'",
    ),
    "resized without the pixels beyond the border": (
        lambda: one("Resize", {"r": np.float32([]), "s": np.float32([1, 2])}, mode="linear", exclude_outside=1),
        UnsupportedLayerError,
        "export it without antialias and exclude_outside",
    ),
    "resized by rounding": (
        lambda: at(
            11, [node("Resize", ["x", "r", "s"], "y")], {"r": np.float32([]), "s": np.float32([1, 3, 2.1])}, 1, 1, 10
        ),
        UnsupportedLayerError,
        r"whether there are \[1, 3, 20\] or \[1, 3, 21\] pixels is decided by rounding",
    ),
    "shrunk by an old version": (
        lambda: at(10, [node("Resize", ["x", "s"], "y")], {"s": np.float32([1, 1, 0.5])}, 1, 1, 10),
        UnsupportedLayerError,
        "does not say which pixels remain; export it with opset 11 or newer",
    ),
    "repeated, but not along each axis": (
        lambda: one("Tile", {"s": np.array([2])}),
        NotACheckpointError,
        r"repeats \[2\] times along the axes of",
    ),
    "expanded to what does not fit": (
        lambda: one("Expand", {"s": np.array([2, 2])}),
        NotACheckpointError,
        r"expands shape \[1, 3\] to \[2, 2\]",
    ),
    "sum by formula": (
        lambda: at(17, [node("Einsum", ["x", "x"], "y", equation="ij,ij->i")], {}, 1, 3),
        UnsupportedLayerError,
        r"^node 'Einsum_y' \(Einsum\) multiplies inputs by inputs",
    ),
    "bound that is no number": (
        lambda: one("Clip", {"l": np.float32(np.nan)}),
        NonFiniteError,
        r"'Clip_y' \(Clip\): its l is not a finite number",
    ),
    **{
        f"blocks, {name}, {size}": (
            lambda name=name, size=size: at(13, [node(name, ["x"], "y", blocksize=size)], {}, 1, 4, 3, 5),
            NotACheckpointError,
            rf"'{name}_y' \({name}\) does not fit what reaches it, of shape \[1, 4, 3, 5\]",
        )
        for name in ("DepthToSpace", "SpaceToDepth")
        for size in (0, -1, -2, 4, 2**62)
    },
    "blocks of another kind": (
        lambda: at(13, [node("DepthToSpace", ["x"], "y", blocksize=2, mode="RCD")], {}, 1, 4, 3, 5),
        NotACheckpointError,
        "does not fit",
    ),
    "blocks of three axes": (lambda: one("DepthToSpace", blocksize=1), NotACheckpointError, "does not fit"),
    "divided by the input": (
        lambda: at(17, [node("Div", ["c", "x"], "y")], {"c": np.float32(1)}),
        UnsupportedLayerError,
        "not piecewise linear",
    ),
    "divided by zero": (lambda: one("Div", {"c": np.float32(0)}), NetworkError, "divides by 0"),
    "constant that does not fit": (lambda: one("Add", {"c": normal(2, 4)}), NotACheckpointError, r"shape \[2, 4\] for"),
    "two versions": (
        lambda: changed(lambda m: m.opset_import.add(domain="ai.onnx", version=11)),
        NotACheckpointError,
        r"'Gemm_h' \(Gemm\) is another operator in each of the versions \[11, 17\], .*; keep the one that its nodes",
    ),
    "constant of another type": (
        lambda: one("Add", {"c": normal(3, dtype=np.float64)}),
        NotACheckpointError,
        "'c' of float64 beside numbers of float32",
    ),
    "not finite": (lambda: one("Add", {"c": np.float32([1, np.nan, 2])}), NonFiniteError, r"'Add_y' .Add.: c\[1\]"),
    "axis without length": (
        lambda: at(17, [node("MatMul", ["x", "w"], "y")], W, "batch", "features"),
        AmbiguousCheckpointError,
        r"'x' \[batch, features\] has no fixed length along axis 1",
    ),
    "matrix that does not fit": (
        lambda: at(17, [node("MatMul", ["x", "w"], "y")], W, 1, 4),
        NotACheckpointError,
        "matrix for 3 numbers and gets 4",
    ),
    "reshape that does not fit": (
        lambda: one("Reshape", {"s": np.array([2, 2])}),
        NotACheckpointError,
        r"'Reshape_y' \(Reshape\) does not fit",
    ),
    "huge input": (
        lambda: at(17, [node("Relu", ["x"], "y")], {}, 1, 2**40),
        ShapeMismatchError,
        "at most 32 axes and 1,000,000 numbers are read",
    ),
    "input of integers": (
        lambda: changed(lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", TensorProto.INT64)),
        UnsupportedLayerError,
        "int64; a network takes real numbers",
    ),
    "dropout in training": (lambda: one("Dropout", _ratio_and_training()), UnsupportedLayerError, "training mode"),
    "old dropout in training": (
        lambda: at(6, [node("Dropout", ["x"], "y")], {}),
        UnsupportedLayerError,
        "training mode",
    ),
    "batch norm in training": (
        lambda: one("BatchNormalization", {n: np.ones(3, np.float32) for n in "sbmv"}, training_mode=1),
        UnsupportedLayerError,
        "whole batch",
    ),
    "old batch norm in training": (
        lambda: at(6, [node("BatchNormalization", ["x", *"sbmv"], "y")], {n: np.ones(3, np.float32) for n in "sbmv"}),
        UnsupportedLayerError,
        "whole batch",
    ),
    "old add without broadcasting": (
        lambda: at(6, [node("Add", ["x", "c"], "y")], {"c": normal(3)}),
        NotACheckpointError,
        "without broadcasting",
    ),
    "bounds for another shape": (
        lambda: one("Max", {"c": normal(3, 1, 7)}),
        NotACheckpointError,
        r"has a constant of shape \[3, 1, 7\] for",
    ),
    "bounds in a knot": (
        lambda: one("Clip", {"l": np.float32(1), "u": np.float32(1)}),
        NetworkError,
        "clips between 1.0 and 1.0",
    ),
    "cast to integers": (lambda: one("Cast", to=TensorProto.INT32), UnsupportedLayerError, "int32, which jumps"),
    "weights elsewhere": (
        _external,
        CheckpointError,
        "tensor 'w0' is in another file, '/etc/passwd', and this one was given open",
    ),
    "padding by less than nothing": (
        lambda: at(
            17, [node("Conv", ["x", "k"], "y", strides=[4], auto_pad="SAME_UPPER")], {"k": normal(1, 1, 2)}, 1, 1, 8
        ),
        UnsupportedLayerError,
        r"windows \[2\] that skip the last of \[8\] numbers, so the padding 'SAME_UPPER' would be -2",
    ),
    "branches": (_branches, UnsupportedLayerError, "'if' .If. has a graph inside"),
    "functions": (_function, UnsupportedLayerError, "inline_local_functions"),
    "sparse": (
        lambda: changed(lambda m: m.graph.sparse_initializer.add()),
        UnsupportedLayerError,
        "sparse tensors",
    ),
    "training": (lambda: changed(lambda m: m.training_info.add()), UnsupportedLayerError, "training information"),
    "cycle": (
        lambda: at(17, [node("Relu", ["z"], "y"), node("Relu", ["y"], "z")], {}),
        NotACheckpointError,
        "reads 'z', which nothing before it makes: there is a cycle",
    ),
    "missing tensor": (
        lambda: at(17, [node("MatMul", ["x", "w"], "y")], {}),
        NotACheckpointError,
        "reads 'w', which nothing before it makes: a tensor is missing",
    ),
    "two of one name": (
        lambda: changed(lambda m: m.graph.initializer.append(m.graph.initializer[0])),
        NotACheckpointError,
        "tensor 'w0' comes from two places",
    ),
    "undeclared domain": (
        lambda: changed(lambda m: setattr(m.graph.node[1], "domain", "com.example")),
        NotACheckpointError,
        "operator set 'com.example', which the file does not declare",
    ),
    "future operators": (
        lambda: changed(lambda m: setattr(m.opset_import[0], "version", 999)),
        UnsupportedLayerError,
        "version 999.*install a newer onnx",
    ),
    "attribute of another version": (lambda: one("Clip", min=0.0), NotACheckpointError, "'min' that version 13 of"),
    "infinite bounds, of both signs": (
        lambda: one("Max", {"c": np.array([np.inf, -np.inf, np.inf], np.float32)}),
        NonFiniteError,
        "'Max_y' .* has a bound that leaves only an infinite number",
    ),
    "Shrink as it comes": (lambda: one("Shrink"), UnsupportedLayerError, "Shrink_y.*: Shrink by 0.0 beyond 0.5 jumps"),
    "ThresholdedRelu as it comes": (lambda: one("ThresholdedRelu"), UnsupportedLayerError, "jumps from 0.0 to 1.0"),
    "attribute of another type": (lambda: one("LeakyRelu", alpha=1), NotACheckpointError, "does not have with such"),
    "an operand that is left out": (
        lambda: at(17, [node("Max", ["x", ""], "y")], {}),
        NotACheckpointError,
        r"'Max_y' \(Max\) lacks its input 'data_0'",
    ),
    "an input of a join that is left out": (
        lambda: at(17, [node("Concat", ["x", "x", ""], "y", axis=1)], {}),
        NotACheckpointError,
        r"'Concat_y' \(Concat\) lacks its input 'inputs'",
    ),
    "too many inputs": (lambda: one("Relu", {"c": normal(1)}), NotACheckpointError, "has 2 inputs, and takes 1 to 1"),
    "too few numbers": (
        lambda: changed(lambda m: m.graph.initializer[0].dims.append(2)),
        NotACheckpointError,
        r"tensor 'w0' has shape \[3, 2, 2\] but 24 bytes",
    ),
    "huge shape": (
        lambda: changed(lambda m: m.graph.initializer[0].dims.extend([2**62, 2**62])),
        NotACheckpointError,
        "tensor 'w0' has shape",
    ),
    "negative shape": (
        lambda: changed(lambda m: m.graph.initializer[0].dims.extend([-1, -1])),
        NotACheckpointError,
        "impossible shape",
    ),
    "numbers in two places": (
        lambda: changed(lambda m: m.graph.initializer[0].float_data.append(1.0)),
        NotACheckpointError,
        "in two places",
    ),
    "type of numbers that weights do not have": (
        lambda: changed(lambda m: setattr(m.graph.initializer[0], "data_type", TensorProto.UINT32)),
        UnsupportedLayerError,
        "type 12, which is not supported",
    ),
    "output from nowhere": (
        lambda: changed(lambda m: setattr(m.graph.output[0], "name", "\x1b[2J")),
        CheckpointError,
        r"nothing makes its output '.+x1b\[2J'",
    ),
    "no output": (lambda: changed(lambda m: m.graph.ClearField("output")), NotACheckpointError, "no output"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_refused(name: str) -> None:
    make, error, words = REFUSED[name]
    with pytest.raises(error, match=words) as caught:
        load(file(make()))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


def test_a_newer_version_of_an_operator_than_was_read_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(onnx_network.OPERATORS, "Relu", replace(onnx_network.OPERATORS["Relu"], newest=13))
    with pytest.raises(UnsupportedLayerError, match="version 14 of its operator, newer than the 13"):
        load(file(mlp()))


def test_without_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingDependencyError, match=r"to read .onnx files.*relu-regions\[onnx\]"):
        load(file(mlp()))


def test_values_of_nodes_are_compared_with_their_shape() -> None:
    stored = numpy_helper.from_array(normal(3, 4), "w")
    stored.dims[0] = 5
    constant = helper.make_node("Constant", [], ["w"], value=stored)
    with pytest.raises(NotACheckpointError, match="the value of node 'w' .Constant. has shape"):
        load(file(model([constant, node("MatMul", ["x", "w"], "y")])))


def test_an_input_of_thousands_of_axes_has_a_short_message() -> None:
    given = model([node("MatMul", ["x", "w"], "y")], W, shape=[*["n"] * 3000, 3])
    with pytest.raises(RegionsError) as caught:
        load(file(given))
    assert len(str(caught.value)) < 1000
