# SPDX-License-Identifier: MIT
"""Are recurrent layers of ReLUs (torch's ``rnn_relu`` and ``rnn_relu_cell``, ONNX's ``RNN``) read as they run?"""

from __future__ import annotations

import io
import itertools
from typing import Any

import numpy as np
import pytest

from regions.errors import NotACheckpointError, UnsupportedLayerError
from regions.read import load

STEPS, INPUTS, WIDTH = 4, 3, 2
RNG = np.random.default_rng(0)


def _torch_module(**options: Any) -> Any:
    torch = pytest.importorskip("torch")

    class Both(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = torch.nn.RNN(INPUTS, WIDTH, **{"nonlinearity": "relu", **options})

        def forward(self, x: Any) -> Any:
            states, last = self.rnn(x)
            return torch.cat([states.flatten(), last.flatten()])[None]

    return Both().double()


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(("both", "first", "bias"), list(itertools.product((False, True), repeat=3)))
def test_layers_of_torch(count: int, both: bool, first: bool, bias: bool) -> None:
    torch = pytest.importorskip("torch")
    module = _torch_module(num_layers=count, bidirectional=both, batch_first=first, bias=bias)
    shape = (1, STEPS, INPUTS) if first else (STEPS, 1, INPUTS)
    file = io.BytesIO()
    torch.export.save(torch.export.export(module, (torch.zeros(shape).double(),)), file)
    file.seek(0)
    network = load(file)
    for point in RNG.standard_normal((5, *shape)):
        with torch.no_grad():
            wanted = module(torch.tensor(point)).numpy()
        np.testing.assert_allclose(network(point.reshape(1, -1)), wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("stored", [False, True])
def test_a_cell_of_torch(stored: bool) -> None:
    """The first state is a part of the input, or zeros."""
    torch = pytest.importorskip("torch")

    class Steps(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = torch.nn.RNNCell(INPUTS, WIDTH, nonlinearity="relu", bias=not stored)

        def forward(self, x: Any) -> Any:
            state = x.new_zeros(x.shape[0], WIDTH) if stored else x[:, 0, :WIDTH]
            for step in range(1, STEPS):
                state = self.cell(x[:, step], state)
            return state

    module = Steps().double()
    network = load(module, input_shape=(STEPS, INPUTS))
    points = RNG.standard_normal((20, STEPS, INPUTS))
    with torch.no_grad():
        np.testing.assert_allclose(network(points.reshape(20, -1)), module(torch.tensor(points)), rtol=0, atol=1e-12)


def test_a_learned_first_state() -> None:
    torch = pytest.importorskip("torch")

    class Learned(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = torch.nn.RNN(INPUTS, WIDTH, nonlinearity="relu", batch_first=True)
            self.first = torch.nn.Parameter(torch.tensor([[[0.5, -1.5]]]))

        def forward(self, x: Any) -> Any:
            return self.rnn(x, self.first.expand(-1, x.shape[0], -1).contiguous())[0][:, -1]

    module = Learned().double()
    network = load(module, input_shape=(STEPS, INPUTS))
    points = RNG.standard_normal((20, STEPS, INPUTS))
    with torch.no_grad():
        np.testing.assert_allclose(network(points.reshape(20, -1)), module(torch.tensor(points)), rtol=0, atol=1e-12)


def test_layers_that_are_refused() -> None:
    pytest.importorskip("torch")
    with pytest.raises(UnsupportedLayerError, match="applies tanh in each step"):
        load(_torch_module(nonlinearity="tanh"), input_shape=(1, INPUTS))
    with pytest.raises(UnsupportedLayerError, match="has 3000 steps, and at most 2000 are written out"):
        load(_torch_module(batch_first=True, num_layers=3), input_shape=(1000, INPUTS))


def _onnx_file(way: str, read: tuple[str, ...], output: str, **changed: Any) -> bytes:
    onnx = pytest.importorskip("onnx")
    ways = 2 if way == "bidirectional" else 1
    rng = np.random.default_rng(1)
    tensors = {
        "w": rng.standard_normal((ways, WIDTH, INPUTS)),
        "r": rng.standard_normal((ways, WIDTH, WIDTH)),
        "b": rng.standard_normal((ways, 2 * WIDTH)),
        "h": np.zeros((ways, 1, WIDTH)),
    }
    stored = {name: array.astype(np.float32) for name, array in tensors.items()}
    stored["lengths"] = np.array([STEPS], dtype=np.int32)
    attributes = {"activations": ["Relu"] * ways, "direction": way, "hidden_size": WIDTH, **changed}
    names = [name if name in read else "" for name in ("x", "w", "r", "b", "lengths", "h")]
    node = onnx.helper.make_node("RNN", names, ["y", "last"], **attributes)
    graph = onnx.helper.make_graph(
        [node],
        "g",
        [onnx.helper.make_tensor_value_info("x", 1, [STEPS, 1, INPUTS])],
        [onnx.helper.make_tensor_value_info(output, 1, None)],
        [onnx.numpy_helper.from_array(array, name) for name, array in stored.items() if name in names],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9)
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("read", [("x", "w", "r"), ("x", "w", "r", "b"), ("x", "w", "r", "b", "lengths", "h")])
@pytest.mark.parametrize("output", ["y", "last"])
def test_layers_of_onnx(direction: str, read: tuple[str, ...], output: str) -> None:
    runtime = pytest.importorskip("onnxruntime")
    content = _onnx_file(direction, read, output)
    session, network = runtime.InferenceSession(content), load(io.BytesIO(content))
    for point in RNG.standard_normal((5, STEPS, 1, INPUTS)).astype(np.float32):
        (wanted,) = session.run(None, {"x": point})
        np.testing.assert_allclose(network(point.reshape(1, -1).astype(float)).ravel(), wanted.ravel(), atol=1e-5)


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"activations": ["Tanh"]}, UnsupportedLayerError, "activation 'Tanh' is not piecewise linear"),
        ({"activations": ["Affine"]}, UnsupportedLayerError, "activation 'Affine' is not handled"),
        ({"clip": 1.0}, UnsupportedLayerError, "clips what enters"),
        ({"layout": 1}, UnsupportedLayerError, "layout 1"),
        ({"direction": "sideways"}, NotACheckpointError, "direction 'sideways' that does not exist"),
        ({"hidden_size": 5}, NotACheckpointError, r"weights of shape \[1, 2, 3\] instead of \[1, 5, 3\]"),
    ],
)
def test_layers_of_onnx_that_are_refused(changed: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        load(io.BytesIO(_onnx_file("forward", ("x", "w", "r"), "y", **changed)))
