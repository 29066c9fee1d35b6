# SPDX-License-Identifier: MIT
"""Are exported programs that are not networks, or are damaged, refused by the name of the node?"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regions.errors import (
    AmbiguousCheckpointError,
    CheckpointError,
    EmptyLayerError,
    FileTooLargeError,
    NonFiniteError,
    NotACheckpointError,
    RegionsError,
    ShapeMismatchError,
    UnsafePickleError,
    UnsupportedLayerError,
)
from regions.read import load

torch = pytest.importorskip("torch")
from exported_parts import Applied, exported, rewritten  # noqa: E402

nn, F = torch.nn, torch.nn.functional
SOUND = (Path(__file__).parent.parent / "data" / "torch_exported.pt2").read_bytes()


K, SINGULAR = torch.tensor([0.3, -1.1, 0.7, 0.1]), torch.arange(1.0, 10.0).reshape(3, 3)
MODULES: dict[str, tuple[Callable[..., Any], dict[str, Any], type[RegionsError], str]] = {
    "smooth": (lambda m, x: x.tanh() + x, {}, UnsupportedLayerError, "'tanh' .*comes before node 'add'"),
    "softmax inside": (lambda m, x: x.softmax(1) * 2, {}, UnsupportedLayerError, "comes before node 'mul'"),
    "softmax beside": (lambda m, x: torch.cat([x.relu(), x.softmax(1)], 1), {}, UnsupportedLayerError, "comes before"),
    "hard swish": (lambda m, x: F.hardswish(x), {}, UnsupportedLayerError, "hardswish.*not piecewise linear"),
    "positions of a max-pool": (
        lambda m, x: F.max_pool1d(x[:, None], 2, return_indices=True), {}, AmbiguousCheckpointError,
        r"'getitem_1' is a constant, or positions of maxima; .* outputs=\['getitem'\]"
    ),
    "largest of too many": (
        lambda m, x: torch.cat([x] * 65, 1).amax(1), {}, UnsupportedLayerError, "'amax' .*260 numbers.*255.*groups"
    ),
    "layer norm": (lambda m, x: F.layer_norm(x, [4]), {}, UnsupportedLayerError, "divides by the standard deviation"),
    "jump": (lambda m, x: torch.where(x > 1, x, 2 * x), {}, UnsupportedLayerError, "jumps from 2.0 to 1.0"),
    "product of branches": (lambda m, x: x * x.relu(), {}, UnsupportedLayerError, "'mul' .*multiplies two values"),
    "quotient": (lambda m, x: 1 / x, {}, UnsupportedLayerError, "reciprocal|divides by what depends"),
    "rounding": (lambda m, x: torch.div(x, 2, rounding_mode="floor"), {}, UnsupportedLayerError, "rounds"),
    "cast": (lambda m, x: x.to(torch.int32), {}, UnsupportedLayerError, "another kind, which jumps"),
    "training": (lambda m, x: F.dropout(x, 0.5, True), {}, UnsupportedLayerError, "training mode.*model.eval"),
    "norm of the batch": (
        lambda m, x: m.b(x), {"b": nn.BatchNorm1d(4, track_running_stats=False)}, UnsupportedLayerError, "whole batch"
    ),
    "statistics of training": (lambda m, x: m.b(x), {"b": nn.BatchNorm1d(4)}, UnsupportedLayerError, "model.eval"),
    "wrapping around more than is left": (
        lambda m, x: F.pad(x[:, None], (3, -2), mode="circular"), {}, NotACheckpointError, "more than is left of shape"
    ),
    "unknown": (lambda m, x: x.hypot(x), {}, UnsupportedLayerError, r"'hypot' \(aten.hypot.default\): not supp"),
    "picked by the input": (lambda m, x: x[:, x[0].long()], {}, UnsupportedLayerError, "another kind"),
    "enlarged by means": (
        lambda m, x: F.interpolate(x[:, None, None], scale_factor=2, mode="bicubic"),
        {},
        UnsupportedLayerError,
        "not supported: means of more",
    ),
    "enlarged by rounding": (
        lambda m, x: F.interpolate(x[:, None], scale_factor=41.0), {}, UnsupportedLayerError, "decided by rounding"
    ),
    "a jump": (lambda m, x: F.threshold(x, 1, 0), {}, UnsupportedLayerError, "jumps from 0.0 to 1.0"),
    "an output that is constant": (lambda m, x: (x * 2, torch.ones(2)), {}, AmbiguousCheckpointError, "outputs=..mul"),
    "random numbers": (lambda m, x: x * torch.rand(4), {}, UnsupportedLayerError, "is random, .*not a constant"),
    "a constant that is not a number": (
        lambda m, x: x * m.k.log(), {"k": -torch.ones(4)}, NonFiniteError, "'mul'.*: other.0. is nan"
    ),
    "an unknown function of a constant": (
        lambda m, x: x * torch.special.bessel_j0(m.k), {"k": torch.ones(4)}, UnsupportedLayerError,
        "'special_bessel_j0' .*computes a constant in a way that is not handled; .* into a buffer"
    ),
    "equal numbers without an order": (
        lambda m, x: x * m.k.topk(1)[1], {"k": torch.ones(4)}, UnsupportedLayerError,
        "'topk' .*, such as positions, of equal constants, whose order torch does not define; put "
    ),
    "equal numbers after the largest one": (
        lambda m, x: x * m.k.topk(2)[1][1], {"k": torch.tensor([3.0, 1.0, 1.0, 0.0])}, UnsupportedLayerError,
        "'topk' .* equal constants"
    ),
    "positions of equal numbers in order": (
        lambda m, x: x * m.k.argsort(), {"k": torch.ones(4)}, UnsupportedLayerError, "returns positions of equal const"
    ),
    "an order that rounding decides": (
        lambda m, x: x * m.k.exp().sort()[1], {"k": torch.tensor([2.0, 1.0, 1.0 + 2.0**-22, 0.0])},
        UnsupportedLayerError, "'sort' .*, such as positions, which depend on the rounding of constants; put "
    ),
    "a place of the largest number that rounding decides": (
        lambda m, x: x * m.k.exp().argmax(), {"k": torch.tensor([2.0, 2.0 - 2.0**-22, 1.0, 0.0])},
        UnsupportedLayerError, "returns positions which depend on the rounding of constants; put "
    ),
    "places of maxima that rounding decides": (
        lambda m, x: x * m.k.exp().max(0)[1], {"k": torch.tensor([2.0, 2.0 - 2.0**-22, 1.0, 0.0])},
        UnsupportedLayerError, "'max_1' .*, such as positions, which depend on the rounding of constants; put "
    ),
    "places of running maxima that rounding decides": (
        lambda m, x: x * m.k.exp().cummax(0)[1], {"k": torch.tensor([2.0, 2.0 - 2.0**-22, 1.0, 0.0])},
        UnsupportedLayerError, "'cummax' .*, such as positions, which depend on the rounding of constants; put "
    ),
    "the largest numbers in no order": (
        lambda m, x: x[:, :2] * m.k.topk(2, sorted=False)[0], {"k": torch.arange(4.0)}, UnsupportedLayerError,
        "'topk' .* in an order that is not defined"
    ),
    "a comparison that rounding decides": (
        lambda m, x: x * (0.1 * m.k == 0.3), {"k": torch.full((4,), 3.0)}, UnsupportedLayerError,
        "'eq' .*jumps, and its result for constants depends on their rounding"
    ),
    **{
        f"{name} that rounding decides": (function, {"k": K, "c": 3 * K, "d": SINGULAR}, UnsupportedLayerError,
        "jumps, and its result for constants depends on their rounding")
        for name, function in {
            "signs of a product": lambda m, x: (
                x[:, :3] * torch.linalg.cross(m.k[:3].exp(), 2 * m.k[:3].exp(), dim=0).sign()
            ),
            "signs of a difference": lambda m, x: x * torch.sign(3 * m.k - m.c),
            "the sign of a mean": lambda m, x: x * torch.sign((m.k - m.k.mean()).mean()),
            "the sign of a determinant": lambda m, x: x * torch.linalg.det(m.d).sign(),
            "choices": lambda m, x: x * torch.where(3 * m.k > m.c, m.k, m.c),
            "steps": lambda m, x: x * torch.heaviside(m.k.exp().log() - m.k, m.c),
            "thresholds": lambda m, x: x * F.threshold(3 * m.k - m.c, 0, 1),
            "truths": lambda m, x: x * (3 * m.k - m.c).any(),
            "numbers below the range of the type": lambda m, x: x * ((-1200 * m.k.abs()).exp() > 0),
            "a copied sign": lambda m, x: x * torch.copysign(m.k, 3 * m.k - m.c),
            "a side of an angle": lambda m, x: x * torch.atan2(3 * m.k - m.c, -m.k.exp()),
            "a Python number": lambda m, x: x * (m.k > (3 * m.k - m.c + m.k)[1].item()),
            "a number that fills": lambda m, x: x * torch.full((4,), (3 * m.k - m.c)[1].item()).sign(),
            "an end of a range": lambda m, x: x * torch.linspace((3 * m.k - m.c)[1], torch.tensor(1.0), 4).sign(),
            "a length of a range": lambda m, x: x * torch.arange(0, 3 + (3 * m.k - m.c)[1].item()).sum(),
            "a cast sign": lambda m, x: x * (3 * m.k - m.c).double().float().sign(),
            "numbers that replace": lambda m, x: x * (3 * m.k - m.c).sqrt().nan_to_num(5.0),
            "a quotient of stored numbers": lambda m, x: (
                x[:, :2] * torch.div(torch.tensor([0.7, 0.9]), torch.tensor([0.1, 0.3]), rounding_mode="trunc")
            ),
            "decimals of stored numbers": lambda m, x: x[:, :2] * torch.tensor([0.35, 0.45]).round(decimals=1),
            "the sign of a logarithm": lambda m, x: x * torch.linalg.slogdet(m.d)[0],
            "signs of factors": lambda m, x: x[:, :3] @ torch.linalg.qr(m.d)[0],
        }.items()
    },
    **{
        f"{name} that rounding decides": (function, {"k": K, "c": 3 * K, "d": SINGULAR}, UnsupportedLayerError,
        "has a pole, and its result for constants depends on their rounding")
        for name, function in {
            "a side of 1/x": lambda m, x: x * torch.tanh(1 / (3 * m.k - m.c)),
            "a direction": lambda m, x: x * ((3 * m.k - m.c) / (3 * m.k - m.c).norm()).tanh(),
            "a logarithm": lambda m, x: x * torch.log(3 * m.k - m.c).clamp(min=-9),
            "a power": lambda m, x: x * torch.zeros(4) ** (3 * m.k - m.c).abs(),
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("name", list(MODULES))
def test_modules(name: str) -> None:
    function, parts, error, words = MODULES[name]
    module = Applied(function, **parts)
    content = exported(module if "training" in name else module.eval(), 4)
    with pytest.raises(error, match=words) as caught:
        load(io.BytesIO(content))
    assert str(caught.value).isprintable() and len(str(caught.value)) < 1000
    if "rounding decides" in name:
        with pytest.raises(error, match=words):
            load(module, input_shape=4)


def node(program: dict[str, Any], number: int) -> dict[str, Any]:
    return program["graph_module"]["graph"]["nodes"][number]


def graph(program: dict[str, Any]) -> dict[str, Any]:
    return program["graph_module"]["graph"]


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], type[RegionsError], str]] = {
    "schema": (lambda p: p["schema_version"].update(major=9), UnsupportedLayerError, "version 9 of the schema"),
    "no graph": (lambda p: p.pop("graph_module"), NotACheckpointError, "has no 'graph_module'"),
    "graph of another kind": (lambda p: p["graph_module"].update(graph=3), NotACheckpointError, "'graph' is not an"),
    "higher order": (
        lambda p: node(p, 0).update(target="torch.ops.higher_order.cond"), UnsupportedLayerError, "higher_order.cond"
    ),
    "cycle": (
        lambda p: graph(p)["nodes"].reverse(), NotACheckpointError, "reads '.*', which nothing before it makes"
    ),
    "twice the same": (
        lambda p: graph(p)["nodes"].append(node(p, -1)), NotACheckpointError, "comes from two places"
    ),
    "output from nowhere": (
        lambda p: graph(p)["outputs"][0]["as_tensor"].update(name="\x1b[2J"), NotACheckpointError, "makes its output"
    ),
    "buffers that change": (
        lambda p: p["graph_module"]["signature"]["output_specs"].insert(0, {"a": {"buffer_name": "calls"}}),
        UnsupportedLayerError,
        "each call of the model changes 'calls', as batch norms do",
    ),
    "change that is not described": (
        lambda p: p["graph_module"]["signature"]["output_specs"].insert(0, {"buffer_mutation": 3}),
        UnsupportedLayerError,
        "each call of the model changes 'buffer_mutation'",
    ),
    "shape that differs": (
        lambda p: graph(p)["tensor_values"]["conv2d"]["sizes"][3].update(as_int=9), ShapeMismatchError, "the file says"
    ),
    "unknown argument": (
        lambda p: node(p, -1)["inputs"].append({"name": "new", "arg": {"as_int": 3}, "kind": 1}),
        RegionsError,
        "",
    ),
    "fixed axes": (
        lambda p: graph(p)["tensor_values"]["x"]["sizes"].__setitem__(2, {"as_expr": {"expr_str": "s1"}}),
        AmbiguousCheckpointError,
        "no fixed length along axis 2",
    ),
    "integers": (lambda p: graph(p)["tensor_values"]["x"].update(dtype=5), UnsupportedLayerError, "not of real num"),
    "huge": (
        lambda p: graph(p)["tensor_values"]["x"]["sizes"][2].update(as_int=2**40), ShapeMismatchError, "4 axes and"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in CHANGES if name != "unknown argument"])
def test_programs(name: str) -> None:
    change, error, words = CHANGES[name]
    with pytest.raises(error, match=words) as caught:
        load(io.BytesIO(rewritten(SOUND, change)))
    assert str(caught.value).isprintable() and len(str(caught.value)) < 1000


def test_an_argument_that_is_not_known() -> None:
    extra = {"name": "new", "arg": {"as_int": 3}, "kind": 1}

    def change(program: dict[str, Any]) -> None:
        (linear,) = [one for one in graph(program)["nodes"] if one["target"] == "torch.ops.aten.linear.default"]
        linear["inputs"].append(extra)

    with pytest.raises(NotACheckpointError, match=r"node 'linear' .* has an argument 'new' that is not known"):
        load(io.BytesIO(rewritten(SOUND, change)))


def test_slopes_that_are_left_out() -> None:
    def change(program: dict[str, Any]) -> None:
        (prelu,) = [one for one in graph(program)["nodes"] if one["target"] == "torch.ops.aten.prelu.default"]
        prelu["inputs"][1]["arg"] = {"as_none": True}

    with pytest.raises(NotACheckpointError, match="node 'prelu' .* lacks its argument 'weight'"):
        load(io.BytesIO(rewritten(SOUND, change)))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda entry: entry.update(use_pickle=True), UnsafePickleError, "pickled, as subclasses of tensors are"),
        (lambda entry: entry["tensor_meta"].update(layout=1), UnsupportedLayerError, "sparse"),
        (lambda entry: entry["tensor_meta"].update(dtype=[7]), UnsupportedLayerError, "plain numbers are read"),
        (lambda entry: entry.update(path_name="weight_99"), CheckpointError, "weight_99' is missing"),
        (
            lambda entry: entry["tensor_meta"]["sizes"][0].update(as_int=2**47),
            FileTooLargeError,
            "its tensors would",
        ),
        (lambda entry: entry["tensor_meta"]["storage_offset"].update(as_int=3), CheckpointError, "beyond its storage"),
        (lambda entry: entry["tensor_meta"]["storage_offset"].update(as_int=-1), CheckpointError, "offset"),
    ],
)
def test_weights(change: Callable[[dict[str, Any]], Any], error: type[RegionsError], words: str) -> None:
    damaged = rewritten(SOUND, lambda file: change(file["config"]["conv.weight"]), "model_weights_config.json")
    with pytest.raises(error, match=words):
        load(io.BytesIO(damaged))


def test_an_input_without_numbers() -> None:
    with pytest.raises(EmptyLayerError, match=r"input 'x' \[\?, 0\] has no numbers, as an axis of it has length 0"):
        load(io.BytesIO(exported(Applied(lambda m, x: x.relu()), 0)))


def test_small_files_stay_small() -> None:
    """A repeated tensor, a padding and a window, each out of proportion."""

    def widened(target: str, **arguments: Any) -> Callable[[dict[str, Any]], None]:
        def change(program: dict[str, Any]) -> None:
            first = node(program, 1)
            given = [{"name": key, "arg": value, "kind": 1} for key, value in arguments.items()]
            first.update(target=f"torch.ops.aten.{target}", inputs=[
                {"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}, *given])  # fmt: skip
            name = "conv2d"
            first["outputs"] = [{"as_tensor": {"name": name}}]
            graph(program)["tensor_values"].pop(name)

        return change

    sizes = {"as_ints": [2**14, 2**14, 3, 3]}
    for target, arguments in (
        ("expand.default", {"size": sizes}),
        ("pad.default", {"pad": {"as_ints": [2**20, 2**20, 2**20, 2**20]}}),
        ("adaptive_avg_pool2d.default", {"output_size": {"as_ints": [2**15, 2**15]}}),
    ):
        content = rewritten(SOUND, widened(target, **arguments))
        with pytest.raises(FileTooLargeError, match="all layers of the graph"):
            load(io.BytesIO(content))
