# SPDX-License-Identifier: MIT
"""Are the operators read that onnxruntime writes when it saves an optimised model?

onnx has no schema for them, so the reader checks their attributes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from onnx_parts import agrees, file, model, node, normal
from regions.errors import NotACheckpointError, RegionsError, UnsupportedLayerError
from regions.read import load

DOMAIN = {"com.microsoft": 1}
W, B = normal(4, 3), normal(4)
KERNEL, SHIFTS = normal(2, 1, 3, 3), normal(2)


def _gemm(**attributes: Any) -> onnx.ModelProto:
    nodes = [node("FusedGemm", ["x", "w", "b"], "y", domain="com.microsoft", transB=1, **attributes)]
    return model(nodes, {"w": W, "b": B}, domains=DOMAIN)


def _convolution(inputs: str = "x w b", **attributes: Any) -> onnx.ModelProto:
    nodes = [node("FusedConv", inputs.split(), "y", domain="com.microsoft", pads=[1, 1, 1, 1], **attributes)]
    tensors = {"w": KERNEL, "b": SHIFTS, "z": normal(1, 2, 4, 4)}
    return model(nodes, {name: tensors[name] for name in inputs.split()[1:]}, shape=[1, 1, 4, 4], domains=DOMAIN)


ACTIVATIONS: dict[str, tuple[list[float], onnx.NodeProto]] = {
    "Relu": ([], node("Relu", ["h"], "y")),
    "LeakyRelu": ([0.25], node("LeakyRelu", ["h"], "y", alpha=0.25)),
    "HardSigmoid": ([0.25, 0.5], node("HardSigmoid", ["h"], "y", alpha=0.25, beta=0.5)),
    "Clip": ([-1.0, 2.0], node("Clip", ["h", "low", "high"], "y")),
}
BOUNDS = {"low": np.float32(-1.0), "high": np.float32(2.0)}


@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_products_and_convolutions(name: str) -> None:
    numbers, after = ACTIVATIONS[name]
    bounds = BOUNDS if name == "Clip" else {}
    if name != "Clip":
        own = dict(zip(("activation_alpha", "activation_beta"), numbers, strict=False))
        apart = model([node("Gemm", ["x", "w", "b"], "h", transB=1, alpha=0.5), after], {"w": W, "b": B, **bounds})
        network = load(file(_gemm(activation=name, alpha=0.5, **own)))
        assert network == load(file(apart))
        agrees(apart, network)
    apart = model(
        [node("Conv", ["x", "w", "b"], "h", pads=[1, 1, 1, 1]), after],
        {"w": KERNEL, "b": SHIFTS, **bounds},
        shape=[1, 1, 4, 4],
    )
    given = {"activation_params": numbers} if numbers else {}
    network = load(file(_convolution(activation=name, **given)))
    assert network == load(file(apart))
    agrees(apart, network)


def test_a_sum_before_the_activation() -> None:
    given = _convolution("x w b z", activation="Relu")
    (added,) = (each for each in given.graph.initializer if each.name == "z")
    nodes = [
        node("Conv", ["x", "w", "b"], "h", pads=[1, 1, 1, 1]),
        node("Add", ["h", "z"], "k"),
        node("Relu", ["k"], "y"),
    ]
    tensors = {"w": KERNEL, "b": SHIFTS, "z": onnx.numpy_helper.to_array(added)}
    assert load(file(given)) == load(file(model(nodes, tensors, shape=[1, 1, 4, 4])))
    assert load(file(_gemm())) == load(file(model([node("Gemm", ["x", "w", "b"], "y", transB=1)], {"w": W, "b": B})))


REFUSED: dict[str, tuple[Any, type[RegionsError], str]] = {
    "smooth": (
        lambda: _gemm(activation="Tanh"),
        UnsupportedLayerError,
        "its activation 'Tanh' is not piecewise linear",
    ),
    "unknown": (lambda: _gemm(activation="ScaledOdd"), UnsupportedLayerError, "'ScaledOdd' is not handled"),
    "no slope": (lambda: _gemm(activation="LeakyRelu"), NotACheckpointError, "has 0 numbers for its activation"),
    "attribute": (lambda: _gemm(nonsense=1), NotACheckpointError, "an attribute 'nonsense' that is not known"),
    "type": (lambda: _gemm(alpha=1), NotACheckpointError, "an attribute 'alpha' that is not known"),
    "inputs": (lambda: _convolution("x w b z z"), NotACheckpointError, "has 5 inputs"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_refused(name: str) -> None:
    make, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        load(file(make()))


@pytest.mark.parametrize("numbers", [[[-3, 100], [7, 0]], [[3, 200], [7, 0]]])
def test_weights_in_small_integers_are_exact(numbers: list[list[int]]) -> None:
    """Each scale times an integer of eight bits is a double."""
    kind = np.int8 if numbers[0][0] < 0 else np.uint8
    scales, zeros = np.float32([0.1, 0.7]), np.array([1, 2], kind)
    for axis in (0, 1):
        nodes = [node("DequantizeLinear", ["q", "s", "z"], "w", axis=axis), node("MatMul", ["x", "w"], "y")]
        network = load(file(model(nodes, {"q": np.array(numbers, kind), "s": scales, "z": zeros}, shape=[1, 2])))
        wide = [(-1, 1), (1, -1)][axis]
        exact = (np.array(numbers, float) - zeros.reshape(wide)) * scales.astype(float).reshape(wide)
        assert (network.layers[0].weights == exact.T).all() and network.notes == ()


def test_small_integers_in_lists_and_rounded_values() -> None:
    nodes = [node("DequantizeLinear", ["q", "s"], "w"), node("MatMul", ["x", "w"], "y")]
    given = model(nodes, {"s": np.float32(0.5)}, shape=[1, 2])
    given.graph.initializer.append(helper.make_tensor("q", onnx.TensorProto.INT8, [2, 1], [-128, 127]))
    assert load(file(given)).layers[0].weights.tolist() == [[-64.0, 63.5]]
    given.graph.initializer[1].int32_data[0] = -129
    with pytest.raises(NotACheckpointError, match="numbers of more than 8 bits"):
        load(file(given))
    nodes = [node("QuantizeLinear", ["x", "s"], "q"), node("DequantizeLinear", ["q", "s"], "y")]
    with pytest.raises(UnsupportedLayerError, match="QuantizeLinear.*rounds to whole numbers, which jumps"):
        load(file(model(nodes, {"s": np.float32(0.5)}, shape=[1, 2])))
    nodes = [node("LpNormalization", ["x"], "y")]
    with pytest.raises(UnsupportedLayerError, match="divides by a norm of its input, which is not piecewise linear"):
        load(file(model(nodes, shape=[1, 2])))
