# SPDX-License-Identifier: MIT
"""Is every activation of the table known by name, in torch modules, in exported programs and in ONNX files?"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from regions.errors import UnsupportedLayerError
from regions.networks.named_activations import ACTIVATIONS, NamedActivation, identity, is_discontinuous, is_smooth
from regions.networks.network import Network
from regions.read import load

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
from exported_parts import Applied, exported  # noqa: E402
from onnx_parts import file, model, node  # noqa: E402

nn = torch.nn
TABLE = pytest.mark.parametrize("row", ACTIVATIONS, ids=lambda row: row.name)
DOCS = Path(__file__).parent.parent.parent / "docs" / "loading-networks.md"


def numbers_of(row: NamedActivation) -> list[float]:
    """Return numbers that are not the defaults, and that float32 can hold."""
    return [0.5 if default is None else float(np.float32(default / 2)) for default in row.defaults]


def around(middle: Any) -> Any:
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(2, 3), middle, nn.Linear(3, 1)).eval()


def of_state_dict(model: Any, activation: Any) -> Network:
    return load({f"{i}.{name}": value for i in (0, 2) for name, value in model[i].state_dict().items()}, activation)


@TABLE
def test_the_name_that_a_network_prints_is_accepted(row: NamedActivation) -> None:
    numbers = numbers_of(row)
    activation = row.make(*numbers)
    layers = [([[1.0, 2.0]], [0.0]), ([[3.0]], [0.0])]
    written = f"{row.name}({', '.join(map(repr, numbers))})" if numbers else row.name
    for name in (written, activation.name):
        network = Network(layers, name)
        assert network.activations == (activation,) and activation.name in repr(network)
    assert f"`{row.name}" in DOCS.read_text("utf-8")


@pytest.mark.parametrize("row", [row for row in ACTIVATIONS if row.module], ids=lambda row: row.name)
def test_modules_state_dicts_and_exported_modules_give_the_same_network(row: NamedActivation) -> None:
    numbers = numbers_of(row)
    module = around(getattr(nn, str(row.module))(*numbers))
    network = load(module)
    assert network == of_state_dict(module, row.make(*numbers).name)
    assert load(module, input_shape=2) == network


@pytest.mark.parametrize(("row", "operator"), [(row, operator) for row in ACTIVATIONS for operator in row.aten])
def test_operators_of_torch(row: NamedActivation, operator: str) -> None:
    numbers = numbers_of(row)
    function = getattr(torch.ops.aten, operator)
    module = around(Applied(lambda m, x: function(x, *numbers)))
    network = load(io.BytesIO(exported(module, 2)))
    assert network.activations == (row.make(*numbers),)


# How ONNX writes the activations for which it has no operator of that name; `hard_sigmoid` has another slope there.
OTHERS_IN_ONNX: dict[str, Callable[..., tuple[str, dict[str, float], dict[str, float]]]] = {
    "hard_tanh": lambda low, high: ("Clip", {"min": low, "max": high}, {}),
    "relu6": lambda: ("Clip", {"min": 0.0, "max": 6.0}, {}),
    "identity": lambda: ("Identity", {}, {}),
    "soft_shrink": lambda width: ("Shrink", {}, {"lambd": width, "bias": width}),
    "threshold": lambda limit, _: ("Max", {"limit": limit}, {}),
    "rrelu": lambda lower, upper: ("LeakyRelu", {}, {"alpha": (lower + upper) / 2}),
    "clamp_min": lambda low: ("Max", {"min": low}, {}),
    "clamp_max": lambda high: ("Min", {"max": high}, {}),
}


@pytest.mark.parametrize(
    "row", [row for row in ACTIVATIONS if row.onnx or row.name in OTHERS_IN_ONNX], ids=lambda row: row.name
)
def test_onnx_gives_the_same_network_as_the_name(row: NamedActivation) -> None:
    numbers = numbers_of(row)
    if row.name in OTHERS_IN_ONNX:
        operator, inputs, attributes = OTHERS_IN_ONNX[row.name](*numbers)
    else:
        assert row.onnx is not None
        operator, inputs, attributes = row.onnx.name, {}, dict(zip(row.onnx.attributes, numbers, strict=True))
    weights, biases = np.array([[1, 2], [-3, 1], [0.5, 1]], np.float32), np.array([0.25, 0, 1], np.float32)
    last = np.array([[1, -2, 0.5]], np.float32)
    nodes = [
        node("Gemm", ["x", "w0", "b0"], "h", transB=1),
        node(operator, ["h", *inputs], "a", **attributes),
        node("Gemm", ["a", "w1"], "y", transB=1),
    ]
    tensors = {name: np.float32(number) for name, number in inputs.items()}
    found = load(file(model(nodes, tensors | {"w0": weights, "b0": biases, "w1": last}, shape=("batch", 2))))
    assert found == Network([(weights, biases), (last, None)], row.make(*numbers).name)


ONNX = {"Shrink": {"lambd": 0.25, "bias": 0.25}, "ThresholdedRelu": {"alpha": 0.0}}


@pytest.mark.parametrize("row", [row for row in ACTIVATIONS if row.onnx], ids=lambda row: row.onnx.name)
def test_operators_of_onnx(row: NamedActivation) -> None:
    assert row.onnx is not None
    operator = row.onnx.name
    attributes = ONNX.get(operator) or dict.fromkeys(row.onnx.attributes, 0.25)
    network = load(file(model([node(operator, ["x"], "y", **attributes)], shape=(1, 3))))
    assert network.activations[0] == row.onnx.make(*attributes.values())
    assert row.onnx.make(*attributes.values()).name.startswith((row.name, "relu"))


def test_every_activation_of_torch_is_known_or_refused_for_a_reason() -> None:
    known = {row.module for row in ACTIVATIONS} | {"PReLU", "MultiheadAttention"}
    for name in nn.modules.activation.__all__:
        assert name in known or is_smooth(name) != is_discontinuous(name)
    with pytest.raises(UnsupportedLayerError, match="module 1 is of type Hardshrink. It is not continuous"):
        load(around(nn.Hardshrink()))
    with pytest.raises(UnsupportedLayerError, match="module 1: threshold: .* jumps from 0.5 to 1.0"):
        load(around(nn.Threshold(1.0, 0.5)))


def test_the_slopes_of_a_prelu_are_the_same_everywhere() -> None:
    module = around(nn.PReLU(3, 0.25))
    with torch.no_grad():
        module[1].weight[1] = -1.0
    network = load(module)
    assert network == load(module, input_shape=2) == load(io.BytesIO(exported(module, 2)))
    assert network == load(module.state_dict(), "prelu") == of_state_dict(module, "prelu(0.25, -1.0, 0.25)")
    assert network == Network([(layer.weights, layer.biases) for layer in network.layers], network.activations[0].name)


@pytest.mark.parametrize("pool", ["MaxPool1d", "AvgPool1d"])
def test_pools_along_vectors_do_not_need_a_shape(pool: str) -> None:
    kind = getattr(nn, pool)
    module = nn.Sequential(nn.Linear(3, 8), nn.Sequential(kind(2), nn.ReLU()), kind(3, 1), nn.Linear(2, 1)).eval()
    assert load(module) == load(module, input_shape=3)
    with pytest.raises(UnsupportedLayerError, match="Give the shape of one input"):
        load(nn.Sequential(kind(2), nn.Linear(2, 1)))
    with pytest.raises(UnsupportedLayerError, match="Give the shape of one input"):
        load(nn.Sequential(nn.Linear(3, 8), kind(2), nn.Conv1d(1, 1, 2)))


def test_soft_shrink_by_zero_is_left_out() -> None:
    network = load(around(nn.Softshrink(0.0)))
    assert network.activations == (identity(),) and network == load(around(nn.Softshrink(0.0)), input_shape=2)


def test_a_random_slope_is_its_mean_in_evaluation_mode() -> None:
    network = load(nn.Sequential(nn.Linear(2, 3), nn.RReLU(0.25, 0.5), nn.Linear(3, 1)))
    assert network.activations == (regions.Network([([[1.0]], [0.0])] * 2, "leaky_relu(0.375)").activations[0],)
    assert "the module is in training mode; it was read as in evaluation mode" in network.notes
