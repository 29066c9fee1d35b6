# SPDX-License-Identifier: MIT
"""Is a graph for a batch of a fixed size read for one row, if and only if its nodes keep the rows apart?"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from regions.errors import ShapeMismatchError, UnsupportedLayerError
from regions.networks.network import Network
from regions.read import load

torch = pytest.importorskip("torch")
from exported_parts import Applied, exported  # noqa: E402

F, nn = torch.nn.functional, torch.nn
ROWS = 5
PARTS: dict[str, Any] = {
    **{"a": nn.Linear(4, 6), "c": nn.Conv2d(1, 2, 2), "n": nn.BatchNorm2d(1), "row": torch.arange(6.0)},
    **{"rows": torch.arange(6.0).expand(ROWS, 6).clone(), "other": torch.arange(ROWS * 6.0).reshape(ROWS, 6)},
}
APART: dict[str, Callable[..., Any]] = {
    "dense": lambda m, x: torch.relu(m.a(x.flatten(1))),
    "image": lambda m, x: torch.relu(m.c(m.n(x))).reshape(ROWS, -1),
    "shapes": lambda m, x: torch.relu(m.a(x.view(-1, 4))).reshape(ROWS, 2, 3).transpose(1, 2).amax(2),
    "means": lambda m, x: torch.relu(x).mean((2, 3)) + x.flatten(1).sum(1, keepdim=True),
    "parts": lambda m, x: torch.cat([m.a(x.flatten(1))[:, 1:3].relu(), x[:, 0, 1]], 1),
    "windows": lambda m, x: F.max_pool2d(F.pad(x, (1, 0)), 2, 1).flatten(1).repeat(1, 2),
    "constants": lambda m, x: torch.relu(m.a(x.flatten(1)) * m.row - m.rows) + torch.zeros(ROWS, 6, dtype=x.dtype),
    "sequences": lambda m, x: torch.relu(m.a(x.reshape(ROWS, 1, 4).expand(ROWS, 3, 4))).permute(0, 2, 1).flatten(1),
}
TOGETHER: dict[str, Callable[..., Any]] = {
    "mean": lambda m, x: torch.relu(x.flatten(1) - x.flatten(1).mean(0)),
    "transpose": lambda m, x: torch.relu(m.a(x.flatten(1))).t(),
    "first row": lambda m, x: torch.relu(m.a(x.flatten(1)[0])),
    "other constants": lambda m, x: torch.relu(m.a(x.flatten(1)) + m.other),
    "reshape": lambda m, x: torch.relu(x.reshape(2, -1)),
    "flip": lambda m, x: torch.relu(x).flip(0),
    "roll": lambda m, x: torch.relu(x).roll(1),
    "sum": lambda m, x: torch.relu(x.sum()),
    "shifted": lambda m, x: torch.relu(F.pad(x, (0, 0, 0, 0, 0, 0, 1, -1))),
    "from the left": lambda m, x: torch.relu(m.other.t() @ x.flatten(1)),
    "squeezed": lambda m, x: torch.relu(x.flatten(1)).unsqueeze(0).amax(1),
}


def _exported(function: Callable[..., Any]) -> tuple[Any, io.BytesIO]:
    module = Applied(function, **PARTS).eval().double()
    program = torch.export.export(module, (torch.zeros(ROWS, 1, 2, 2, dtype=torch.float64),))
    content = io.BytesIO()
    torch.export.save(program, content)
    return module, content


@pytest.mark.parametrize("name", APART)
def test_programs_whose_rows_are_apart(name: str) -> None:
    module, content = _exported(APART[name])
    net = load(content)
    points = np.random.default_rng(0).standard_normal((ROWS, 4)) * 3
    with torch.no_grad():
        wanted = module(torch.tensor(points.reshape(ROWS, 1, 2, 2))).numpy().reshape(ROWS, -1)
    note = f"input 'x' [{ROWS}, 1, 2, 2] is a batch of {ROWS} rows, which the nodes keep apart: one row is read"
    assert note in net.notes
    np.testing.assert_allclose(net(points), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", TOGETHER)
def test_programs_that_mix_rows(name: str) -> None:
    module, content = _exported(TOGETHER[name])
    _is_of_all_rows(load(content), module)


def _is_of_all_rows(net: Network, module: Any) -> None:
    points = np.random.default_rng(0).standard_normal((7, ROWS * 4)) * 3
    with torch.no_grad():
        batches = torch.tensor(points.reshape(7, ROWS, 1, 2, 2))
        wanted = np.stack([module(batch).numpy().ravel() for batch in batches])
    np.testing.assert_allclose(net(points), wanted, rtol=1e-12, atol=1e-12)


def test_a_convolution_before_rows_are_mixed_is_refused_with_both_reasons() -> None:
    _, content = _exported(lambda m, x: torch.relu(m.c(x)).mean(0))
    words = "'mean'.* mixes the 5 rows of the batch.*, and all rows together cannot be read: node 'conv2d'"
    with pytest.raises(UnsupportedLayerError, match=words):
        load(content)


def _file_for(rows: int, *last: Any) -> io.BytesIO:
    onnx_parts = pytest.importorskip("onnx_parts")
    node = onnx_parts.node
    nodes = [node("Gemm", ["x", "w", "b"], "h"), node("Relu", ["h"], "r")]
    nodes += [node(operator, ["r" if i == 0 else "v", *more], "v") for i, (operator, *more) in enumerate(last)]
    nodes[-1].output[0] = "y"
    stored = {"w": np.array([[1, -2], [3, 1], [0.5, 2]], dtype=np.float32), "b": np.ones(2, dtype=np.float32)}
    stored |= {"shape": np.array([rows, 2, 1]), "first": np.array([0])}
    used = {name for one in nodes for name in one.input}
    kept = {name: array for name, array in stored.items() if name in used}
    result: io.BytesIO = onnx_parts.file(onnx_parts.model(nodes, kept, shape=(rows, 3), opset=18))
    return result


@pytest.mark.parametrize("rows", [2, 8, 800_000])
def test_onnx_for_a_fixed_batch(rows: int) -> None:
    net = load(_file_for(rows, ("Reshape", "shape")))
    assert net(np.array([[1.0, 1.0, -2.0], [0.0, -1.0, 0.0]])).tolist() == [[4.0, 0.0], [0.0, 0.0]]
    assert any(f"is a batch of {rows:,} rows" in note for note in net.notes)


def test_onnx_that_mixes_rows() -> None:
    assert load(_file_for(4, ("ReduceMean", "first"))).n_in == 12
    words = r"node 'ReduceMean_v' \(ReduceMean\) mixes the 800000 rows of the batch.* are 2400000 numbers"
    with pytest.raises(ShapeMismatchError, match=words):
        load(_file_for(800_000, ("ReduceMean", "first")))


def test_lengths_that_depend_on_the_batch() -> None:
    """The shape of a value has the length of the batch in the file."""
    onnx_parts = pytest.importorskip("onnx_parts")
    node = onnx_parts.node
    nodes = [
        node("Relu", ["x"], "r"),
        node("Shape", ["r"], "s"),
        node("Gather", ["s", "first"], "n"),
        node("Concat", ["n", "last"], "shape", axis=0),
        node("Reshape", ["r", "shape"], "q"),
        node("Cast", ["n"], "count", to=1),
        node("Div", ["q", "count"], "y"),
    ]
    given = onnx_parts.model(nodes, {"first": np.array([0]), "last": np.array([3, 2])}, shape=(4, 6))
    net = load(onnx_parts.file(given))
    assert net(np.arange(6.0)).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0, 1.25]


def test_a_matrix_on_the_left_of_an_input_without_a_batch() -> None:
    onnx_parts = pytest.importorskip("onnx_parts")
    nodes = [onnx_parts.node("MatMul", ["c", "x"], "h"), onnx_parts.node("Relu", ["h"], "y")]
    given = onnx_parts.model(nodes, {"c": onnx_parts.normal(4, 3)}, shape=(3, 2))
    net = load(onnx_parts.file(given))
    assert (net.n_in, net.n_out) == (6, 8)
    onnx_parts.agrees(given, net)


def test_exported_for_one_input_as_before() -> None:
    assert load(io.BytesIO(exported(nn.Linear(3, 2), 3))).notes == ()
