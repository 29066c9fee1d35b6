# SPDX-License-Identifier: MIT
"""Are operators of torch read that Python code reaches only under other names?

Decompositions and exporters use such names. Each module calls the operator itself, as ``torch.ops.aten`` has it.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from exported_parts import Applied, agrees, exported, rewritten  # noqa: E402
from regions.read import load  # noqa: E402
from regions.read.exported.operators import OPERATORS  # noqa: E402
from regions.read.graphs.call import Call  # noqa: E402
from regions.read.graphs.site import Reading, Site  # noqa: E402

ops = torch.ops.aten
STATISTICS = (torch.tensor([2.0, 0.5]), torch.tensor([1.0, -1.0]), torch.tensor([0.5, -2.0]), torch.tensor([1.0, 4.0]))
PLACES = torch.tensor([1, 0])


def _norm(x: Any, name: str, *flags: Any) -> Any:
    return getattr(ops, name)(x, *(each.to(x) for each in STATISTICS), *flags)[0]


def _either(x: Any, name: str) -> Any:
    """Return x between -1 and 1, and its sign outside."""
    first, second = x > 1, x < -1
    return torch.where(getattr(ops, name)(first, second), x.sign(), x)


def _inside(x: Any, name: str) -> Any:
    return torch.where(getattr(ops, name)(x > -1, x < 1), x, x.sign())


# The operators, the shape of an input, and a function that calls one of them.
CALLS: dict[str, tuple[list[str], tuple[int, ...], Callable[..., Any]]] = {
    "batch norms": (
        ["native_batch_norm"],
        (2, 3),
        lambda _, x: _norm(x, "native_batch_norm", False, 0.1, 1e-5),
    ),
    "batch norms, decomposed": (
        ["_native_batch_norm_legit_no_training"],
        (2, 3),
        lambda _, x: _norm(x, "_native_batch_norm_legit_no_training", 0.1, 1e-5),
    ),
    "prelu": (["_prelu_kernel"], (2, 3), lambda _, x: ops._prelu_kernel(x, STATISTICS[0].to(x).reshape(1, 2, 1))),
    "subtract": (["subtract", "rsub"], (3,), lambda _, x: ops.subtract(ops.rsub(x, 2.0, 3.0), 2 * x, alpha=2)),
    "single numbers": (["sum", "subtract"], (3,), lambda _, x: ops.subtract(x.sum(), 2.0, alpha=3).reshape(1, 1)),
    "quotient": (["true_divide"], (3,), lambda _, x: ops.true_divide(x, 4.0)),
    "comparisons": (
        ["ne", "not_equal", "bitwise_not"],
        (3,),
        lambda _, x: torch.where(ops.bitwise_not(ops.ne(x, 0.0)), 0.0, torch.where(ops.not_equal(x, 0.0), x, 0.0)),
    ),
    **{
        name: ([name], (3,), lambda _, x, name=name: _either(x, name))
        for name in ("logical_or", "bitwise_or", "__or__")
    },
    **{name: ([name], (3,), lambda _, x, name=name: _either(x, name)) for name in ("bitwise_xor", "__xor__")},
    **{name: ([name], (3,), lambda _, x, name=name: _inside(x, name)) for name in ("bitwise_and", "__and__")},
    "pool 1": (["_adaptive_avg_pool2d"], (2, 4, 4), lambda _, x: ops._adaptive_avg_pool2d(x, [2, 1])),
    "pool 2": (["_adaptive_avg_pool3d"], (2, 4, 4, 2), lambda _, x: ops._adaptive_avg_pool3d(x, [2, 1, 2])),
    "largest in planes": (
        ["max_pool2d_with_indices"],
        (2, 4, 4),
        lambda _, x: ops.max_pool2d_with_indices(x, [2, 2])[0],
    ),
    "largest in solids": (
        ["max_pool3d_with_indices"],
        (2, 4, 4, 2),
        lambda _, x: ops.max_pool3d_with_indices(x, [2, 2, 2])[0],
    ),
    "columns": (["im2col"], (1, 3, 3), lambda _, x: ops.im2col(x, [2, 2], [1, 1], [0, 0], [1, 1])),
    "norms": (
        ["linalg_norm", "linalg_vector_norm", "linalg_matrix_norm"],
        (2, 2),
        lambda _, x: (
            torch.stack([ops.linalg_norm(x[0], 1), ops.linalg_vector_norm(x, float("inf"))])
            + ops.linalg_matrix_norm(x, 1)
        ),
    ),
    "copies": (
        ["_to_copy", "alias", "lift_fresh_copy", "type_as"],
        (3,),
        lambda _, x: ops.type_as(ops.lift_fresh_copy(ops.alias(ops._to_copy(x))), x) * 2,
    ),
    "dropout": (
        ["feature_dropout", "alpha_dropout", "feature_alpha_dropout"],
        (3, 2),
        lambda _, x: ops.feature_alpha_dropout(
            ops.alpha_dropout(ops.feature_dropout(x, 0.5, False), 0.5, False), 0.5, False
        ),
    ),
    "shapes": (
        ["_unsafe_view", "unflatten", "numpy_T", "moveaxis", "swapdims"],
        (4,),
        lambda _, x: ops.swapdims(
            ops.moveaxis(ops.numpy_T(ops.unflatten(ops._unsafe_view(x, [1, 4]), 1, [2, 2])), [2], [0]), 1, 2
        ),
    ),
    "parts": (
        ["split_with_sizes", "concat"],
        (3,),
        lambda _, x: ops.concat(ops.split_with_sizes(x, [1, 2], 1)[::-1], 1),
    ),
    "borders 1": (
        ["reflection_pad1d", "replication_pad1d"],
        (2, 3),
        lambda _, x: ops.reflection_pad1d(ops.replication_pad1d(x, [1, 2]), [2, 0]),
    ),
    "borders 2": (
        ["reflection_pad2d", "replication_pad2d"],
        (1, 3, 2),
        lambda _, x: ops.reflection_pad2d(ops.replication_pad2d(x, [1, 0, 0, 2]), [1, 0, 1, 1]),
    ),
    "borders 3": (
        ["reflection_pad3d", "replication_pad3d"],
        (1, 2, 2, 2),
        lambda _, x: ops.reflection_pad3d(ops.replication_pad3d(x, [1, 0, 0, 1, 0, 0]), [1, 0, 0, 0, 1, 0]),
    ),
    **{
        first: (
            [first, second],
            (2, *[2] * axes),
            lambda _, x, first=first, second=second, axes=axes: getattr(ops, first)(
                getattr(ops, second)(x, [4] * axes, None), [8] * axes, None
            ),
        )
        for axes, (first, second) in enumerate(
            (
                ("upsample_nearest1d", "_upsample_nearest_exact1d"),
                ("upsample_nearest2d", "_upsample_nearest_exact2d"),
                ("upsample_nearest3d", "_upsample_nearest_exact3d"),
            ),
            1,
        )
    },
    "largest in rows": (["max_pool1d_with_indices"], (2, 4), lambda _, x: ops.max_pool1d_with_indices(x, [2])[0]),
    "constants": (
        ["new_zeros", "scalar_tensor"],
        (3,),
        lambda _, x: x * ops.scalar_tensor(2.0).to(x) + ops.new_zeros(x, [3]),
    ),
}


@pytest.mark.parametrize("name", list(CALLS))
def test_operators(name: str) -> None:
    operators, shape, function = CALLS[name]
    module = Applied(function)
    content = exported(module, *shape, batch=1)
    assert set(operators) <= _targets(content)
    network = load(io.BytesIO(content))
    agrees(module, network, *shape, tolerance=1e-6)
    ties = np.random.default_rng(0).integers(-1, 2, (5, network.n_in)).astype(float)
    wanted = module.double()(torch.tensor(ties.reshape(5, *shape))) if len(operators) == 1 and len(shape) == 1 else None
    if wanted is not None:
        assert np.array_equal(network(ties), wanted.numpy())


def test_an_operator_that_only_older_files_have() -> None:
    def rename(program: dict[str, Any]) -> None:
        for node in program["graph_module"]["graph"]["nodes"]:
            node["target"] = node["target"].replace("lift_fresh_copy", "lift_fresh")

    module = Applied(CALLS["copies"][2])
    content = rewritten(exported(module, 3, batch=1), rename)
    agrees(module, load(io.BytesIO(content)), 3)


def test_lengths_that_are_computed() -> None:
    """A program for any size of the batch computes lengths by operators of Python."""
    seen = set[str]()
    for function in (
        lambda _, x: x.view(x.size(0) * 2, 2).view(-1, 4) * 2,
        lambda _, x: torch.cat([x, x]).narrow(0, x.size(0) - 1 + 1, x.size(0) * 2 - x.size(0)),
        lambda _, x: torch.cat([x, x])[: (x.size(0) * 2 + 2) // 2 - 1],
    ):
        content = exported(Applied(function), 4)
        seen |= _targets(content)
        agrees(Applied(function), load(io.BytesIO(content)), 4)
    assert {"sym_size", "_operator.mul", "_operator.add", "_operator.sub", "_operator.floordiv"} <= seen


def test_quotients_and_powers_of_lengths() -> None:
    """Exporters write them into factors of sizes."""
    for name, wanted in (("_operator.truediv", 1.5), ("_operator.pow", 9)):
        assert OPERATORS[name](Call(Site(Reading("a.pt2", 100), None), {"a": 3, "b": 2})) == wanted  # type: ignore[arg-type]


def _targets(content: bytes) -> set[str]:
    """Return the operators of a program, without their overloads."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        (member,) = (each for each in archive.namelist() if each.endswith("models/model.json"))
        nodes = json.loads(archive.read(member))["graph_module"]["graph"]["nodes"]
    targets = {node["target"] for node in nodes}
    return {
        target.removeprefix("torch.ops.aten.").rpartition(".")[0] if target.startswith("torch.ops") else target
        for target in targets
    }
