# SPDX-License-Identifier: MIT
"""Are distances, losses, differences, running maxima, and tensors without numbers read with their meaning in torch?

Large draws of the same kind are in `fuzz_operators.py`.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from regions.errors import UnsupportedLayerError
from regions.read import load

torch = pytest.importorskip("torch")

from exported_parts import Applied, exported  # noqa: E402

F, INF = torch.nn.functional, float("inf")
POINTS = np.random.default_rng(5).standard_normal((20, 3)) * 2
PARTS = {"v": torch.tensor([[0.5, -1.0, 0.25]]), "w": torch.tensor([[2.0, 0.75, -0.5], [1.0, 0.125, 3.0]])}
READ: dict[str, Callable[[Any, Any], Any]] = {
    "l1_loss": lambda m, x: F.l1_loss(x.relu(), m.v),
    "L1Loss": lambda m, x: torch.nn.L1Loss(reduction="sum")(x.relu(), m.v),
    "margin_ranking_loss": lambda m, x: F.margin_ranking_loss(x.relu(), m.v, m.v.sign(), margin=0.5),
    "dist": lambda m, x: torch.dist(x.relu(), m.v, INF),
    "pairwise_distance": lambda m, x: F.pairwise_distance(x.relu(), m.v, p=1.0, keepdim=True),
    "cdist": lambda m, x: torch.cdist(x.relu(), m.w, p=1.0) + torch.ops.aten._cdist_forward(m.w, x, INF, None).T,
    "diff": lambda m, x: torch.diff(x.relu(), prepend=m.v[:, :1]),
    "trapezoid": lambda m, x: torch.trapezoid(x.relu(), m.v[0]) + torch.cumulative_trapezoid(x, dx=0.5),
    "cross": lambda m, x: torch.cross(x.relu(), m.v, dim=1) - torch.linalg.cross(m.v, x),
    "cummax": lambda m, x: torch.cummax(x.relu(), 1).values - torch.cummin(x, 1)[0],
    "pow": lambda m, x: x.relu() ** 1 + x.pow(torch.tensor([1.0, 0.0, 1.0])),
    "nan_to_num": lambda m, x: torch.where(x.isnan() | x.isinf(), m.v, torch.nan_to_num(x.relu())),
    "no numbers": lambda m, x: torch.cat([x[:, :0], x.relu(), m.v[:, :0], x.new_zeros(0)], 1),
    "None": lambda m, x: (None, x.relu(), None),
    "constants": lambda m, x: x.relu() * (F.mse_loss(m.w, m.v) + F.cosine_similarity(m.w, m.v).sum()),
    "constants of two shapes": lambda m, x: (
        x.relu() * F.cosine_similarity(m.w[:, :1], m.v, dim=0) * F.cosine_similarity(m.w, m.v[0, :1], dim=-1).sum()
        + torch.trapezoid(m.w.expand(4, 2, 3), torch.cat([m.w, m.v]), dim=1).sum()
        + (torch.cross(m.v, torch.cat([m.w, m.v])) * m.w[0]).sum()
    ),
    "factors": lambda m, x: x.relu() @ torch.linalg.qr(m.w.T).Q * torch.linalg.pinv(m.w).sum(),
    "block_diag": lambda m, x: x.relu() @ torch.block_diag(m.w[:, :2], m.v[:, :1]),
    "meshgrid": lambda m, x: x.relu() * torch.meshgrid(m.w[0], m.w[:, 0], indexing="xy")[1].sum(0),
}  # fmt: skip
REFUSED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "pow": (lambda m, x: x.relu() ** 2, "is not piecewise linear"),
    "cdist": (lambda m, x: torch.cdist(x.relu(), m.w), "the Euclidean norm is not piecewise linear"),
    "mse_loss": (lambda m, x: F.mse_loss(x.relu(), m.v), "multiplies two values that depend on the input"),
    "positions": (lambda m, x: torch.cat([x, torch.cummax(x, 1)[1].float()], 1), "further result of node 'cummax'"),
    "rank": (
        lambda m, x: x * torch.linalg.pinv(torch.stack([m.v[0].exp(), m.v[0].exp() + 1e-6 * m.w[0]])).sum(),
        "rank depends on rounding",
    ),
}


@pytest.mark.parametrize("name", list(READ))
def test_read(name: str) -> None:
    module = Applied(READ[name], **PARTS)
    with torch.no_grad():
        results = [module.double()(torch.tensor(point[None])) for point in POINTS]
    parts = [one if isinstance(one, torch.Tensor) else one[1] for one in results]
    wanted = np.array([one.numpy().ravel() for one in parts])
    for network in (load(io.BytesIO(exported(module.float(), 3, batch=1))), load(module, input_shape=3)):
        np.testing.assert_allclose(network(POINTS), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", list(REFUSED))
def test_refused(name: str) -> None:
    function, why = REFUSED[name]
    with pytest.raises(UnsupportedLayerError, match=why):
        load(io.BytesIO(exported(Applied(function, **PARTS), 3, batch=1)))


def test_powers_and_empty_parts_of_onnx() -> None:
    pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Pow", ["r", "one"], ["p"]),
        helper.make_node("Concat", ["nothing", "p", "nothing"], ["c"], axis=1),
        helper.make_node("IsNaN", ["c"], ["is"]),
        helper.make_node("Where", ["is", "zero", "c"], ["w"]),
        helper.make_node("IsInf", ["w"], ["infinite"]),
        helper.make_node("Where", ["infinite", "zero", "w"], ["y"]),
    ]
    stored = {"one": np.array([1, 0, 1], np.float32), "nothing": np.zeros((1, 0), np.float32), "zero": np.float32(0)}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in stored.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    network = load(io.BytesIO(model.SerializeToString()))
    wanted = np.maximum(POINTS, 0.0)
    wanted[:, 1] = 1.0
    np.testing.assert_array_equal(network(POINTS), wanted)
