# SPDX-License-Identifier: MIT
"""Are forms that published modules use read alike from the module, and from its ``.pt2`` file?"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from regions.errors import InternalError
from regions.read import load

torch = pytest.importorskip("torch")

from exported_parts import Applied, exported  # noqa: E402

POINTS = np.random.default_rng(3).standard_normal((20, 3)) * 2
MATRIX = torch.tensor([[0.5, -1.0, 0.25], [2.0, 0.75, -0.5], [1.0, 0.125, 3.0]])
VECTOR = torch.tensor([1.5, -0.5, 2.0])


def _orthogonal(m: Any) -> Any:
    return torch.linalg.householder_product(torch.tril(m.w, -1) + torch.eye(3), m.v / 4)


def _with_places_changed(x: Any, places: Any, values: Any) -> Any:
    made = x.clone()
    made[:, places] = values
    return made


FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "lerp": lambda m, x: torch.lerp(x.relu(), x - 1, 0.25) + torch.lerp(x, m.v, m.v),
    "addcmul": lambda m, x: torch.addcmul(x.abs(), x, m.v, value=2.0) + torch.addcmul(x, m.v, m.v),
    "addcdiv": lambda m, x: torch.addcdiv(x.abs(), x, m.v, value=-0.5),
    "fmax, fmin": lambda m, x: x.fmax(m.v).fmin(x.abs() + 1),
    "broadcast_tensors": lambda m, x: (
        torch.broadcast_tensors(x[:, :1].relu(), m.v)[0] * torch.broadcast_tensors(m.v, m.w)[0][1]
    ),
    "dot": lambda m, x: x.relu() / torch.dot(m.v, m.v),
    "linalg_solve": lambda m, x: x @ torch.linalg.solve(torch.eye(3) + m.w - m.w.T, torch.eye(3) - m.w + m.w.T),
    "linalg_solve, right": lambda m, x: x @ torch.linalg.solve(m.w, m.w[:2], left=False).T,
    "linalg_householder_product": lambda m, x: x.relu() @ _orthogonal(m),
    "addmm": lambda m, x: torch.addmm(x.abs(), x, m.w, beta=0.5, alpha=-2.0),
    "index_put": lambda m, x: _with_places_changed(x, [2, 0], x[:, :2].relu()),
    "index_put, one number": lambda m, x: _with_places_changed(x.relu(), torch.tensor([True, False, True]), 1.5),
    "index_put, accumulate": lambda m, x: (
        x.relu().T.index_put((torch.tensor([1, 0, 1]),), x.abs().T, accumulate=True).T
    ),
    "batch_norm of weights": lambda m, x: (
        x.relu() @ torch.nn.functional.batch_norm(m.w, None, None, m.v, m.v, training=True, momentum=0.0, eps=1e-3)
    ),
    "batch_norm of weights, stored": lambda m, x: (
        x.relu() @ torch.nn.functional.batch_norm(m.w, m.v, m.v.abs() + 1, m.v, None, eps=1e-3)
    ),
    "one_hot": lambda m, x: x.relu() + torch.nn.functional.one_hot(torch.tensor([2, 0]), 3).sum(0),
}


@pytest.mark.parametrize("name", list(FORMS))
def test_forms(name: str) -> None:
    module = Applied(FORMS[name], w=MATRIX, v=VECTOR)
    with torch.no_grad():
        wanted = np.array([module.double()(torch.tensor(point[None])).numpy().ravel() for point in POINTS])
    for network in (load(io.BytesIO(exported(module.float(), 3))), load(module, input_shape=3)):
        np.testing.assert_allclose(network(POINTS), wanted, rtol=1e-9, atol=1e-9)


def test_an_orthogonal_layer() -> None:
    torch.manual_seed(0)
    layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(3, 5))
    module = torch.nn.Sequential(layer, torch.nn.ReLU(), torch.nn.Linear(5, 2))
    network = load(io.BytesIO(exported(module, 3)))
    with torch.no_grad():
        np.testing.assert_allclose(network(POINTS), module.double()(torch.tensor(POINTS)), rtol=1e-9, atol=1e-9)


def test_a_cast_to_a_narrower_type_is_noted() -> None:
    module = Applied(lambda m, x: (x.half() * 0.3).float().relu())
    for network in (load(io.BytesIO(exported(module, 3))), load(module, input_shape=3)):
        assert any("rounds its numbers to float16, which the network does not" in note for note in network.notes)


def test_a_module_with_a_narrow_cast_is_still_compared() -> None:
    class Inconsistent(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            y = (x.half() * 0.3).float().relu()
            return y if torch.compiler.is_exporting() else y * 1.01

    with pytest.raises(InternalError, match="misread"):
        load(Inconsistent(), input_shape=3)


def test_equal_outputs_are_noted() -> None:
    for function, word in (
        (lambda m, x: (x.relu(), x.relu() * 1, x.tanh()), None),
        (lambda m, x: (lambda h: (h, h))(x.relu()), "'relu' has those of 'relu'"),
        (lambda m, x: (lambda h: (h, h.tanh()))(x.relu()), "'tanh' has those of 'relu'"),
        (lambda m, x: (lambda h: (h, h.softmax(1)))(x.relu()), None),
    ):
        notes = load(io.BytesIO(exported(Applied(function), 3))).notes
        found = [note for note in notes if note.startswith("outputs with the same numbers are read once")]
        assert found == ([f"outputs with the same numbers are read once: {word}"] if word else [])
