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
    "hinge_embedding_loss": lambda m, x: F.hinge_embedding_loss(x, m.v.sign(), margin=0.5, reduction="none"),
    "triplet_margin_loss": lambda m, x: (
        F.triplet_margin_loss(x.relu(), m.v, -m.v, p=1.0) + F.triplet_margin_loss(x, m.v, x.relu(), p=INF, swap=True)
    ),
    "stacks": lambda m, x: (
        torch.hstack([x.relu()[0], m.v[0]]).sum() + torch.vstack([x.relu()[0], m.w]) + torch.row_stack([x, m.w])
        + torch.dstack([x.relu(), m.v]).reshape(2, 3)[:1] + torch.column_stack([x[0], x.relu()[0], m.v[0]]).T
    ),
    "splits": lambda m, x: (
        torch.hsplit(x.relu(), 3)[2] + torch.tensor_split(x, (1, -1), dim=1)[1] + torch.hsplit(x.relu()[0], [1])[1]
        + torch.vsplit(x.relu().T, 3)[1] - torch.dsplit(x[None], (1, 2))[2]
    ),
    "axes": lambda m, x: (
        x.relu().ravel() + torch.atleast_2d(x[0]) + torch.atleast_3d(x.relu())[:, :, 0]
        + torch.atleast_1d(x.relu()[0, 0]) + x.relu().broadcast_to(2, 3).fliplr() + torch.flipud(x.relu().T).T
    ),
    "products": lambda m, x: (
        torch.ops.aten.linalg_vecdot(x.relu(), m.v) + torch.ops.aten.linalg_multi_dot([x.relu(), m.w.T, m.w])
        + torch.ops.aten.chain_matmul([x, m.w.T, m.w])
        + torch.diag_embed(x.relu())[0] @ m.w.T @ m.w + torch.trace(x.relu().T @ m.v)
    ),
    "sums": lambda m, x: x.relu().nansum(1) + x.abs().nanmean(),
    "elu and hardshrink": lambda m, x: F.elu(x, 0.0) + F.hardshrink(x, 0.0),
    "constants of stacks": lambda m, x: x.relu() * torch.vstack([m.v, m.w]).sum(0) * F.triplet_margin_loss(
        m.v, m.w[:1], m.w[1:], swap=True
    ) * torch.atleast_3d(m.v).ravel() * F.hinge_embedding_loss(m.v, m.v.sign()),
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
    "elu": (lambda m, x: F.elu(x, 0.5) * m.v + x.relu(), "is not piecewise linear"),
    "hardshrink": (lambda m, x: F.hardshrink(x, 0.5), "keeps the others, which jumps"),
    "triplet_margin_loss": (lambda m, x: F.triplet_margin_loss(x, m.v, -m.v), "Euclidean norm is not piecewise linear"),
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


def test_means_maxima_and_elu_of_onnx() -> None:
    onnx_parts = pytest.importorskip("onnx_parts")
    a, b = (np.array([one], np.float32) for one in ([0.5, -1.0, 2.0], [1.0, 0.25, -3.0]))
    nodes = [
        onnx_parts.node("Elu", ["x"], "r", alpha=0.0),
        *(onnx_parts.node(word, ["r", "x", "a", "b"], word) for word in ("Mean", "Sum", "Max", "Min")),
        *(onnx_parts.node(word, ["a", "b", "a"], f"constant {word}") for word in ("Mean", "Sum", "Max", "Min")),
        onnx_parts.node("Sum", [*("Mean", "Sum", "Max", "Min"), "constant Sum", "constant Max", "constant Min"], "s"),
        onnx_parts.node("Mul", ["s", "constant Mean"], "y"),
    ]
    given = onnx_parts.model(nodes, {"a": a, "b": b}, shape=(1, 3))
    onnx_parts.agrees(given, load(onnx_parts.file(given)))


def test_modules_with_numbers_that_make_them_piecewise_linear() -> None:
    nn = torch.nn
    net = load(nn.Sequential(nn.Linear(2, 3), nn.ELU(0.0), nn.Linear(3, 3), nn.Hardshrink(0.0), nn.Linear(3, 1)))
    assert [layer.activation.name for layer in net.layers] == ["relu", "identity", "identity"]
    with pytest.raises(UnsupportedLayerError, match="ELU.* is not piecewise linear"):
        load(nn.Sequential(nn.Linear(2, 3), nn.ELU(0.5), nn.Linear(3, 1)))


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
