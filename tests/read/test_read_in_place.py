# SPDX-License-Identifier: MIT
"""Are operators that change a part of a value in place read alike from the module, and from its ``.pt2`` file?"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from regions.errors import UnsupportedLayerError
from regions.read import load

torch = pytest.importorskip("torch")

from exported_parts import Applied, agrees, exported  # noqa: E402


def _columns(m: Any, x: Any) -> Any:
    h = x.relu() * 2
    h[:, :2] -= 1
    h[:, 2] = 1
    h[..., 1:3] *= m.v[1:3]
    return h * 2


def _copied(m: Any, x: Any) -> Any:
    h = torch.zeros_like(x)
    h[:, 1:].copy_(x.relu()[:, :3])
    h[:, 0].add_(3.0)
    return h


def _view_of_changed(m: Any, x: Any) -> Any:
    h = x * 2
    view = h[:, :2]
    h.relu_()
    return h[:, 2:] + view


def _views_of_views(m: Any, x: Any) -> Any:
    h = x * 2
    v = h.view(-1, 2, 2)
    w = v[:, 0]
    w.relu_()
    v.transpose(1, 2)[:, 1].mul_(3)
    h.narrow(1, 0, 1).unsqueeze(1).permute(1, 0, 2).squeeze(0).neg_()
    return h + w.sum(1, keepdim=True)


def _whole_then_part(m: Any, x: Any) -> Any:
    h = (x + 0).relu_()
    h[:, 0] = h[:, 1]
    h[:, 1].fill_(2.0)
    h.view(-1, 4)[:, 2].zero_()
    return h


def _loop(m: Any, x: Any) -> Any:
    h = x * 1
    for i in range(4):
        h[:, i] = h[:, i].relu() - h.sum(1) * 0.5
    return h


def _constant(m: Any, x: Any) -> Any:
    own = torch.zeros(1, 4, dtype=x.dtype)
    own[:, 0] = x[:, 1]
    return torch.relu(own + 1)


def _diagonal(m: Any, x: Any) -> Any:
    h = x.view(-1, 2, 2) * 1
    h.diagonal(0, 1, 2).clamp_(max=0.25)
    return torch.diagonal_scatter(h, x[:, :2].abs(), 0, 1, 2).flatten(1) + h.flatten(1)


FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "columns": _columns,
    "copied": _copied,
    "a view of what is changed": _view_of_changed,
    "views of views": _views_of_views,
    "whole, then part": _whole_then_part,
    "loop": _loop,
    "part of a constant": _constant,
    "diagonal": _diagonal,
    "scatter": lambda m, x: torch.select_scatter(torch.slice_scatter(x, x[:, :2].relu(), 1, 2, 4), x[:, 1].abs(), 1, 0),
    "copy": lambda m, x: torch.ops.aten.copy(x, x[:, :1].relu()) + torch.ops.aten.zero(x) + torch.ops.aten.fill(x, 2),
}


@pytest.mark.parametrize("name", list(FORMS))
def test_forms(name: str) -> None:
    module = Applied(FORMS[name], v=torch.tensor([1.0, 2.0, 3.0, 4.0])).eval()
    batch = 1 if name == "part of a constant" else None
    for network in (load(io.BytesIO(exported(module, 4, batch=batch))), load(module, input_shape=4)):
        agrees(module, network, 4)


def test_a_change_is_refused_if_a_copy_may_have_been_made() -> None:
    def function(m: Any, x: Any) -> Any:
        h = x * 2
        h.reshape(-1, 2, 2)[:, 0] = 0
        return h

    with pytest.raises(UnsupportedLayerError, match="'fill_' .*works in place, and 'mul', which shares memory"):
        load(io.BytesIO(exported(Applied(function), 4)))


def test_einsum_of_one_tensor_may_be_a_view() -> None:
    def function(m: Any, x: Any) -> Any:
        h = x.relu()
        torch.einsum("ij->ji", h).add_(10)
        return h * 1.0

    with pytest.raises(UnsupportedLayerError, match="works in place, and"):
        load(io.BytesIO(exported(Applied(function), 4)))


def test_models_that_count_their_calls_are_refused() -> None:
    def function(m: Any, x: Any) -> Any:
        m.calls += 1
        return x.relu()

    module = Applied(function, calls=torch.zeros(())).eval()
    with pytest.raises(UnsupportedLayerError, match=r"'add_' .*changes the stored 'b_calls', as"):
        load(io.BytesIO(exported(module, 4)))
    with pytest.raises(UnsupportedLayerError, match="each call of the model changes 'calls', as batch norms do"):
        load(module, input_shape=4)


def test_a_shape_that_does_not_fit_is_refused() -> None:
    from exported_parts import rewritten

    def longer(program: dict[str, Any]) -> None:
        for node in program["graph_module"]["graph"]["nodes"]:
            if "slice_scatter" in node["target"]:
                next(each for each in node["inputs"] if each["name"] == "end")["arg"]["as_int"] = 3

    content = exported(Applied(lambda m, x: torch.slice_scatter(x, x[:, :2].relu(), 1, 0, 2)), 4)
    with pytest.raises(Exception, match=r"puts shape \[1, 2\] into a part of shape \[1, 3\]"):
        load(io.BytesIO(rewritten(content, longer)))
