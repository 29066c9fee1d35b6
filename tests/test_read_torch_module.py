# SPDX-License-Identifier: MIT
"""Is a torch module read as what it computes, or refused?

torch itself is the oracle: every module that is read is also run, in float64 and evaluation mode.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, prune

from regions.errors import (
    AmbiguousCheckpointError,
    EmptyLayerError,
    NetworkError,
    NonFiniteError,
    ShapeMismatchError,
    UnsupportedLayerError,
)
from regions.network import Network
from regions.read import load


def batch_norm(n: int, **options: Any) -> nn.BatchNorm1d:
    module = nn.BatchNorm1d(n, **options)
    assert module.running_mean is not None
    assert module.running_var is not None
    module.running_mean.normal_()
    module.running_var.uniform_(0.5, 2.0)
    if module.affine:
        nn.init.normal_(module.weight)
        nn.init.normal_(module.bias)
    return module


def prelu(n: int) -> nn.PReLU:
    module = nn.PReLU(n)
    nn.init.uniform_(module.weight, -0.5, 0.5)
    return module


def agrees(module: nn.Module, net: Network) -> None:
    points = torch.from_numpy(np.random.default_rng(2).standard_normal((300, net.n_in)) * 3)
    with torch.no_grad():
        expected = copy.deepcopy(module).double().eval()(points).numpy()
    np.testing.assert_allclose(net(points.numpy()), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


SHARED = nn.Linear(4, 4)
RELU = nn.ReLU()

CHAINS: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "plain": (
        lambda: nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3)),
        "Network(2-5-4-3, relu, 9 hidden neurons)",
    ),
    "a single layer": (lambda: nn.Linear(3, 2), "Network(3-2, affine, 0 hidden neurons)"),
    "without biases": (
        lambda: nn.Sequential(nn.Linear(2, 5, bias=False), nn.ReLU(), nn.Linear(5, 3, bias=False)),
        "Network(2-5-3, relu, 5 hidden neurons)",
    ),
    "nested": (
        lambda: nn.Sequential(
            nn.Sequential(nn.Linear(2, 5), nn.ReLU()), nn.Sequential(nn.Sequential(nn.Linear(5, 3)))
        ),
        "Network(2-5-3, relu, 5 hidden neurons)",
    ),
    "named": (
        lambda: nn.Sequential(OrderedDict(a=nn.Linear(2, 5), b=nn.ReLU(), c=nn.Linear(5, 3))),
        "Network(2-5-3, relu, 5 hidden neurons)",
    ),
    "every activation": (
        lambda: nn.Sequential(
            *(
                nn.Linear(3, 4),
                nn.LeakyReLU(0.2),
                nn.Linear(4, 4),
                nn.Hardtanh(-2, 3),
                nn.Linear(4, 4),
                nn.ReLU6(),
            ),
            *(
                nn.Linear(4, 4),
                prelu(4),
                nn.Linear(4, 4),
                prelu(1),
                nn.Linear(4, 4),
                nn.Identity(),
                nn.Linear(4, 2),
            ),
        ),
        "Network(3-4x6-2, leaky_relu(0.2) + hard_tanh(-2.0, 3.0) + relu6 + prelu + identity, "
        "24 hidden neurons, 28 kinks)",
    ),
    "what does nothing": (
        lambda: nn.Sequential(
            *(
                nn.Flatten(),
                nn.Identity(),
                nn.Linear(3, 4),
                nn.Dropout(0.5),
                nn.ReLU(),
                nn.Dropout(),
                nn.AlphaDropout(),
            ),
            *(nn.Identity(), nn.Linear(4, 2), nn.Dropout()),
        ),
        "Network(3-4-2, relu, 4 hidden neurons)",
    ),
    "the same activation object twice": (
        lambda: nn.Sequential(nn.Linear(2, 4), RELU, nn.Linear(4, 4), RELU, nn.Linear(4, 1)),
        "Network(2-4-4-1, relu, 8 hidden neurons)",
    ),
    "the same layer twice": (
        lambda: nn.Sequential(
            nn.Linear(2, 4), nn.ReLU(), SHARED, nn.ReLU(), SHARED, nn.ReLU(), nn.Linear(4, 1)
        ),
        "Network(2-4-4-4-1, relu, 12 hidden neurons)",
    ),
    "norm before": (
        lambda: nn.Sequential(nn.Linear(2, 4), batch_norm(4), nn.ReLU(), nn.Linear(4, 1)),
        "Network(2-4-1, relu, 4 hidden neurons)",
    ),
    "norm after": (
        lambda: nn.Sequential(nn.Linear(2, 4), nn.ReLU(), batch_norm(4), nn.Linear(4, 1)),
        "Network(2-4-1, relu, 4 hidden neurons)",
    ),
    "norms everywhere": (
        lambda: nn.Sequential(
            *(
                batch_norm(2),
                nn.Linear(2, 4),
                batch_norm(4),
                batch_norm(4),
                nn.ReLU(),
                batch_norm(4),
                batch_norm(4),
            ),
            *(nn.Linear(4, 3), batch_norm(3, affine=False, eps=0.5)),
        ),
        "Network(2-4-3, relu, 4 hidden neurons)",
    ),
    "norm between activations": (
        lambda: nn.Sequential(nn.Linear(2, 4), nn.ReLU(), batch_norm(4), nn.ReLU(), nn.Linear(4, 1)),
        "Network(2-4-4-1, relu, 8 hidden neurons)",
    ),
    "norm, then activation, first": (
        lambda: nn.Sequential(batch_norm(2), nn.ReLU(), nn.Linear(2, 1)),
        "Network(2-2-1, relu, 2 hidden neurons)",
    ),
    "norm last": (
        lambda: nn.Sequential(nn.Linear(2, 4), nn.ReLU(), batch_norm(4)),
        "Network(2-4-4, relu, 4 hidden neurons)",
    ),
    "only a norm": (lambda: nn.Sequential(batch_norm(3)), "Network(3-3, affine, 0 hidden neurons)"),
    "activation first": (
        lambda: nn.Sequential(nn.Hardtanh(), nn.Linear(3, 2)),
        "Network(3-3-2, hard_tanh, 3 hidden neurons, 6 kinks)",
    ),
    "activation last": (
        lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2), nn.ReLU()),
        "Network(3-4-2-2, relu, 6 hidden neurons)",
    ),
    "two activations": (
        lambda: nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(), nn.ReLU6(), nn.Linear(4, 2)),
        "Network(3-4-4-2, leaky_relu(0.01) + relu6, 8 hidden neurons, 12 kinks)",
    ),
    "two layers": (
        lambda: nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2)),
        "Network(3-4-5-2, identity + relu, 9 hidden neurons, 5 kinks)",
    ),
}


@pytest.mark.parametrize("name", list(CHAINS))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_chains(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(5)
    make, expected = CHAINS[name]
    module = make().to(dtype)
    net = load(module)
    assert repr(net) == expected
    agrees(module, net)


def test_plain_chains_are_copied_bit_for_bit_without_notes() -> None:
    module = CHAINS["plain"][0]()
    net = load(module)
    for layer, part in zip(net.layers, module[::2], strict=True):  # type: ignore[index]
        assert (layer.weights == part.weight.detach().numpy()).all()
        assert (layer.biases == part.bias.detach().numpy()).all()
    assert net.notes == ()


def test_what_was_done_is_noted() -> None:
    def notes(name: str) -> str:
        return "; ".join(load(CHAINS[name][0]().eval()).notes)

    assert "batch norm 1 folded into 0, which precedes it" in notes("norm before")
    assert "batch norm 2 folded into 3, which follows it" in notes("norm after")
    assert "diagonal layer of its own" in notes("norm between activations")
    assert "identity layer put in as output" in notes("activation last")
    assert "identity layer put in before 0" in notes("activation first")
    assert "nothing lies between 0 and 1" in notes("two layers")


def test_training_mode_is_noted_and_left_as_it_was() -> None:
    module = CHAINS["norm before"][0]().train()
    before = copy.deepcopy(module.state_dict())
    assert any("training mode" in note for note in load(module).notes)
    assert module.training
    assert all((before[key] == value).all() for key, value in module.state_dict().items())
    assert not any("training mode" in note for note in load(module.eval()).notes)


@pytest.mark.parametrize(
    "name", ["plain", "norm before", "norm after", "without biases", "the same layer twice"]
)
def test_module_state_dict_and_file_agree(tmp_path: Path, name: str) -> None:
    module = CHAINS[name][0]()
    torch.save(module.state_dict(), tmp_path / "model.pt")
    assert load(module) == load(module.state_dict(), "relu") == load(tmp_path / "model.pt", "relu")


def test_state_dicts_on_parameters_that_require_gradients() -> None:
    module = CHAINS["plain"][0]()
    assert load(dict(module.named_parameters()), "relu") == load(module)
    pairs = [(part.weight, part.bias) for part in module[::2]]  # type: ignore[index]
    assert Network(pairs) == load(module)


def test_naming_the_activation_of_a_sequential() -> None:
    module = CHAINS["plain"][0]()
    assert load(module, "relu") == load(module)
    with pytest.raises(AmbiguousCheckpointError, match="'abs' was named, but the module itself has relu"):
        load(module, "abs")
    with pytest.raises(AmbiguousCheckpointError, match="'prelu' was named"):
        load(module, "prelu")
    with_prelu = nn.Sequential(nn.Linear(2, 3), prelu(3), nn.Linear(3, 1))
    assert load(with_prelu, "prelu") == load(with_prelu)


class Wrapped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x.flatten(1))


class WrappedSoftmax(Wrapped):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x).softmax(1)


class WrappedNormalised(Wrapped):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net((x - 0.5) / 0.25)


class WrappedImages(Wrapped):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, channels, height, width = x.shape
        return self.net(x.reshape(batch, channels * height * width))


class Functional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.bn1, self.fc2, self.fc3 = (
            nn.Linear(2, 4),
            batch_norm(4, eps=0.1),
            nn.Linear(4, 4),
            nn.Linear(4, 2),
        )
        self.drop = nn.Dropout()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc3(self.drop(self.fc2(self.bn1(self.fc1(x)).relu()).relu()))


class NormAfter(Functional):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc3(self.fc2(self.bn1(self.fc1(x).relu())).relu())


class Residual(Functional):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.bn1(self.fc1(x)).relu()
        return self.fc3(self.fc2(h).relu() + h)


class SharedPReLU(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.act = prelu(1)
        self.layers = nn.ModuleList([nn.Linear(2, 4), nn.Linear(4, 4), nn.Linear(4, 1)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers[:-1]:
            x = self.act(layer(x))
        return self.layers[-1](x)


class SubSequential(nn.Sequential):
    pass


class SubSequentialSquared(nn.Sequential):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) ** 2


def test_a_wrapper_around_one_chain_is_read_and_checked() -> None:
    module = Wrapped()
    net = load(module)
    agrees(module, net)
    assert net == load(module.net)
    assert any("same values at 64 random points" in note for note in net.notes)


@pytest.mark.parametrize("make", [WrappedSoftmax, WrappedNormalised])
@pytest.mark.parametrize("activation", [None, "relu"])
def test_a_wrapper_that_does_more_is_refused(make: type[nn.Module], activation: str | None) -> None:
    with pytest.raises(AmbiguousCheckpointError, match="does not compute the same"):
        load(make(), activation)


def test_a_wrapper_that_can_not_be_run_needs_the_activation() -> None:
    with pytest.raises(AmbiguousCheckpointError, match=r"can not be run on points \[n, 2\]"):
        load(WrappedImages())
    net = load(WrappedImages(), "relu")
    assert any("can not be run on points" in note for note in net.notes)


def test_a_forward_of_its_own_needs_the_activation() -> None:
    module = Functional()
    with pytest.raises(
        AmbiguousCheckpointError, match=r"\(Functional\) has a forward of its own.*activation='relu'"
    ):
        load(module)
    net = load(module, "relu")
    agrees(module, net)
    assert any("same values at 64 random points" in note for note in net.notes)


@pytest.mark.parametrize("make", [NormAfter, Residual])
def test_another_order_of_calls_is_found_out(make: type[nn.Module]) -> None:
    with pytest.raises(AmbiguousCheckpointError, match="does not compute the same"):
        load(make(), "relu")


def test_another_activation_is_found_out() -> None:
    with pytest.raises(AmbiguousCheckpointError, match="does not compute the same"):
        load(Functional(), "leaky_relu")


def test_a_shared_prelu() -> None:
    module = SharedPReLU()
    net = load(module, "prelu")
    agrees(module, net)
    assert repr(net) == "Network(2-4-4-1, prelu, 8 hidden neurons)"


def test_subclasses_of_sequential() -> None:
    parts = (nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
    assert load(SubSequential(*parts)) == load(nn.Sequential(*parts))
    for activation in (None, "relu"):
        with pytest.raises(AmbiguousCheckpointError):
            load(SubSequentialSquared(*parts), activation)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compiled_and_scripted_modules() -> None:
    module = CHAINS["plain"][0]()
    assert load(torch.compile(module)) == load(module)
    scripted = torch.jit.script(module)
    with pytest.raises(AmbiguousCheckpointError, match="forward of its own"):
        load(scripted)
    assert load(scripted, "relu") == load(module)


def with_hook() -> nn.Module:
    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    module[0].register_forward_hook(lambda part, given, result: result * 2)
    return module


def pruned() -> nn.Module:
    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    prune.random_unstructured(module[0], "weight", 0.5)
    return module


def weight_normed() -> nn.Module:
    return nn.Sequential(parametrizations.weight_norm(nn.Linear(2, 3)), nn.ReLU(), nn.Linear(3, 1))


REFUSED: dict[str, tuple[Callable[[], nn.Module], type[Exception], str]] = {
    "softmax": (
        lambda: nn.Sequential(nn.Linear(2, 3), nn.Softmax(1)),
        UnsupportedLayerError,
        "Softmax.*leave it out",
    ),
    "sigmoid": (
        lambda: nn.Sequential(nn.Linear(2, 3), nn.Sigmoid()),
        UnsupportedLayerError,
        "Sigmoid.*leave it out",
    ),
    "tanh": (lambda: nn.Sequential(nn.Linear(2, 3), nn.Tanh()), UnsupportedLayerError, "module 1 is a Tanh"),
    "gelu": (lambda: nn.Sequential(nn.Linear(2, 3), nn.GELU()), UnsupportedLayerError, "module 1 is a GELU"),
    "convolution": (lambda: nn.Sequential(nn.Conv2d(1, 1, 3)), UnsupportedLayerError, "module 0 is a Conv2d"),
    "layer norm": (
        lambda: nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3)),
        UnsupportedLayerError,
        "LayerNorm",
    ),
    "LSTM": (lambda: nn.LSTM(2, 3), UnsupportedLayerError, "LSTM"),
    "norm without statistics": (
        lambda: nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3, track_running_stats=False)),
        UnsupportedLayerError,
        "keeps no running statistics",
    ),
    "hook": (with_hook, UnsupportedLayerError, "module 0 .* hooks"),
    "pruned": (pruned, UnsupportedLayerError, "prune.remove"),
    "weight norm": (weight_normed, UnsupportedLayerError, "remove_parametrizations"),
    "nothing": (lambda: nn.Sequential(), EmptyLayerError, "no dense layer"),
    "only an activation": (lambda: nn.Sequential(nn.ReLU()), EmptyLayerError, "no dense layer"),
    "no chain": (
        lambda: nn.Sequential(nn.Linear(2, 3), nn.Linear(4, 1)),
        ShapeMismatchError,
        "1 takes 4 values",
    ),
    "norm of another width": (
        lambda: nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(4)),
        ShapeMismatchError,
        "batch norm '1' has 4 features",
    ),
    "no data": (lambda: nn.Linear(2, 3, device="meta"), NetworkError, "no plain numbers"),
    "complex": (lambda: nn.Linear(2, 3, dtype=torch.complex64), NetworkError, "complex64"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_refused(name: str) -> None:
    make, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        load(make())


def test_pruned_modules_made_permanent_are_read() -> None:
    module = pruned()
    prune.remove(module[0], "weight")  # type: ignore[index]
    agrees(module, load(module))


def test_not_finite() -> None:
    module = nn.Linear(2, 3)
    with torch.no_grad():
        module.weight[1, 0] = torch.nan
    with pytest.raises(NonFiniteError, match=r"weight\[1, 0\] is nan"):
        load(module)


def test_the_global_random_states_are_left_alone() -> None:
    module = Functional()
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
    load(module, "relu")
    assert (torch.get_rng_state() == torch_state).all()
    assert (np.random.get_state()[1] == numpy_state).all()  # noqa: NPY002
