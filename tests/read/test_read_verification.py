# SPDX-License-Identifier: MIT
"""Are networks read from files like those of verification benchmarks, with the right values?

The ACAS Xu networks (5-50x6-5) as ``.nnet`` and as ONNX, where the input is shifted first; fully connected networks for
MNIST as ONNX with a batch that has a name. Such files are of an old operator set, and list their weights among the
inputs. They are made here, with random weights.
"""

from __future__ import annotations

import io

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from regions.read import load

Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]
RNG = np.random.default_rng(11)


def layers_of(*sizes: int) -> Layers:
    return [
        (
            RNG.normal(0, (2 / before) ** 0.5, (after, before)).astype(np.float32),
            RNG.normal(0, 0.1, after).astype(np.float32),
        )
        for before, after in zip(sizes, sizes[1:], strict=False)
    ]


def values(layers: Layers, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of the layers, in long doubles if the machine has them."""
    given = points.astype(np.longdouble)
    for weights, biases in layers[:-1]:
        given = np.maximum(given @ weights.T.astype(np.longdouble) + biases, 0)
    return np.asarray(given @ layers[-1][0].T.astype(np.longdouble) + layers[-1][1], dtype=np.float64)


def agree(found: NDArray[np.float64], wanted: NDArray[np.float64]) -> None:
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= 1e-12 * np.abs(wanted).max()


def onnx_file(layers: Layers, shape: list[int | str], offset: NDArray[np.float32] | None) -> io.BytesIO:
    """Return a file with operator set 8 and format 3, which requires every weight among the inputs."""
    make, stored, nodes, value = onnx.helper.make_node, {}, [], "input"
    if offset is not None:
        stored["average"] = offset
        nodes.append(make("Sub", [value, "average"], ["shifted"]))
        value = "shifted"
    nodes.append(make("Flatten", [value], ["flat"], axis=1))
    value = "flat"
    for number, (weights, biases) in enumerate(layers):
        stored |= {f"W{number}": weights.T, f"B{number}": biases}
        nodes += [
            make("MatMul", [value, f"W{number}"], [f"M{number}"]),
            make("Add", [f"M{number}", f"B{number}"], [f"A{number}"]),
        ]
        value = f"A{number}"
        if number < len(layers) - 1:
            nodes.append(make("Relu", [value], [f"R{number}"]))
            value = f"R{number}"
    info, real = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    tensors = [onnx.numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in stored.items()]
    inputs = [info("input", real, shape), *(info(tensor.name, real, list(tensor.dims)) for tensor in tensors)]
    graph = onnx.helper.make_graph(
        nodes, "network", inputs, [info(value, real, [shape[0], len(layers[-1][1])])], tensors
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 8)], ir_version=3)
    onnx.checker.check_model(model)
    return io.BytesIO(model.SerializeToString())


def test_acas_xu_as_onnx() -> None:
    layers, offset = layers_of(5, *[50] * 6, 5), RNG.normal(size=(1, 1, 1, 5)).astype(np.float32)
    net = load(onnx_file(layers, [1, 1, 1, 5], offset))
    assert (repr(net), net.input_shape) == ("Network(5-50x6-5, relu, 300 hidden neurons)", (1, 1, 5))
    points = RNG.normal(size=(200, 5))
    agree(net(points), values(layers, points - offset.ravel().astype(np.float64)))
    assert (net(points.reshape(200, 1, 1, 5)) == net(points)).all()


def test_acas_xu_as_nnet() -> None:
    layers = layers_of(5, *[50] * 6, 5)
    means, ranges = RNG.normal(size=6), RNG.uniform(0.5, 100.0, 6)
    lines = ["// made for a test", "7,5,5,50,", "5," + "50," * 6 + "5,", "0,", "-1e4," * 5, "1e4," * 5]
    lines += ["".join(f"{number!r}," for number in part.tolist()) for part in (means, ranges)]
    for weights, biases in layers:
        lines += ["".join(f"{number!r}," for number in row) for row in weights.astype(float).tolist()]
        lines += [f"{bias!r}," for bias in biases.astype(float).tolist()]
    net = load(io.BytesIO("\n".join([*lines, ""]).encode()))
    assert repr(net) == "Network(5-50x6-5, relu, 300 hidden neurons)"
    points = RNG.normal(size=(200, 5)) * 100
    agree(net(points), values(layers, (points - means[:5]) / ranges[:5]) * ranges[5] + means[5])


@pytest.mark.parametrize("depth", [2, 4, 6])
def test_fully_connected_for_mnist(depth: int) -> None:
    layers = layers_of(784, *[32] * depth, 10)
    net = load(onnx_file(layers, ["batch", 1, 28, 28], None))
    assert net.widths == (32,) * depth and net.input_shape == (1, 28, 28)
    points = RNG.uniform(0, 1, (50, 784))
    agree(net(points), values(layers, points))
    assert (net(points.reshape(50, 1, 28, 28)) == net(points)).all()
