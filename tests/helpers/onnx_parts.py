# SPDX-License-Identifier: MIT
"""Which ONNX models do the tests need, and does a network agree with onnx's own evaluator?

Networks are compared with `onnx.reference.ReferenceEvaluator`, which is part of onnx and evaluates a file in the
precision of its types.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from regions.networks.network import Network

RNG = np.random.default_rng(3)
# The newest tested version of the operators.
NEWEST = min(onnx.defs.onnx_opset_version(), 25)


def normal(*shape: int, dtype: Any = np.float32) -> NDArray[Any]:
    return RNG.standard_normal(shape).astype(dtype)


def node(operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(operator, list(inputs), [output], name=f"{operator}_{output}", **attributes)


def model(
    nodes: Sequence[onnx.NodeProto],
    tensors: dict[str, NDArray[Any]] | None = None,
    *,
    shape: Sequence[int | str | None] = ("batch", 3),
    opset: int = 17,
    outputs: Sequence[str] = ("y",),
    element: int = TensorProto.FLOAT,
    domains: dict[str, int] | None = None,
) -> onnx.ModelProto:
    """Return a model that reads ``x``; the weights are stored as raw bytes."""
    graph = helper.make_graph(
        list(nodes),
        "graph",
        [helper.make_tensor_value_info("x", element, list(shape))],
        [helper.make_tensor_value_info(name, element, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (tensors or {}).items()],
    )
    sets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(*one) for one in (domains or {}).items()]
    return helper.make_model(graph, opset_imports=sets, ir_version=8)


def file(given: onnx.ModelProto) -> io.BytesIO:
    return io.BytesIO(given.SerializeToString())


def mlp() -> onnx.ModelProto:
    """Return a network with two inputs and three units, the smallest file that has all parts."""
    nodes = [
        node("Gemm", ["x", "w0", "b0"], "h", transB=1),
        node("Relu", ["h"], "r"),
        node("MatMul", ["r", "w1"], "q"),
        node("Add", ["q", "b1"], "y"),
    ]
    weights = {
        "w0": np.array([[1.5, -2.0], [0.25, 3.0], [-1.0, 0.5]], dtype=np.float32),
        "b0": np.array([0.5, -0.25, 1.0], dtype=np.float32),
        "w1": np.array([[1.0], [-2.0], [4.0]], dtype=np.float32),
        "b1": np.array([0.75], dtype=np.float32),
    }
    return model(nodes, weights, shape=(1, 2))


def agrees(given: onnx.ModelProto, net: Network, tolerance: float = 2e-6, count: int = 40) -> None:
    """Compare a network with onnx's evaluator at random points of several sizes."""
    (value,) = given.graph.input
    shape = [axis.dim_value or 1 for axis in value.type.tensor_type.shape.dim]
    dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    points = np.random.default_rng(1).standard_normal((count, net.n_in)) * 10 ** np.linspace(-1, 1, count)[:, None]
    points = points.astype(dtype)
    evaluator = ReferenceEvaluator(given)
    expected = np.array(
        [np.ravel(evaluator.run(None, {"x": point.reshape(shape)})[0]) for point in points], dtype=float
    )
    found = net(points.astype(float))
    assert found.shape == expected.shape, (found.shape, expected.shape)
    scale = max(np.abs(expected).max(), 1e-3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)
