# SPDX-License-Identifier: MIT
"""Is a torch module with its own forward accepted only if running it gives the same values?"""

from __future__ import annotations

import numpy as np
import pytest

from regions.errors import AmbiguousCheckpointError
from regions.read import load
from torch_parts import agrees, batch_norm, prelu

torch = pytest.importorskip("torch")
nn = torch.nn


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


@pytest.mark.parametrize("activation", [None, "relu"])
def test_a_wrapper_that_cannot_be_run_is_refused(activation: str | None) -> None:
    with pytest.raises(AmbiguousCheckpointError, match=r"regions.load\(module, input_shape="):
        load(WrappedImages(), activation)
    assert load(WrappedImages().state_dict(), "relu").hidden > 0


class DefinedInReverse(nn.Module):
    """Its layers chain in either order, and the order of definition is the wrong one."""

    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(4, 2)
        self.first = nn.Linear(2, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        computed: torch.Tensor = self.last(torch.relu(self.first(x)))
        return computed


def test_layers_defined_in_reverse_are_not_misread() -> None:
    with pytest.raises(AmbiguousCheckpointError, match=r"does not run on points \[n, 4\]"):
        load(DefinedInReverse(), "relu")


def test_a_forward_of_its_own_needs_the_activation() -> None:
    module = Functional()
    with pytest.raises(AmbiguousCheckpointError, match=r"\(Functional\) has a forward of its own.*input_shape="):
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
    assert repr(net) == f"Network(2-4-4-1, prelu({module.act.weight.item()!r}), 8 hidden neurons)"


def test_subclasses_of_sequential() -> None:
    parts = (nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
    assert load(SubSequential(*parts)) == load(nn.Sequential(*parts))
    for activation in (None, "relu"):
        with pytest.raises(AmbiguousCheckpointError):
            load(SubSequentialSquared(*parts), activation)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compiled_and_scripted_modules() -> None:
    module = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 3))
    compiled = load(torch.compile(module))
    assert compiled == load(module)
    assert compiled.notes == ()  # unwrapped: running it would have compiled it
    scripted = torch.jit.script(module)
    with pytest.raises(AmbiguousCheckpointError, match="forward of its own"):
        load(scripted)
    assert load(scripted, "relu") == load(module)


def test_the_global_random_states_are_left_alone() -> None:
    module = Functional()
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
    load(module, "relu")
    assert (torch.get_rng_state() == torch_state).all()
    assert (np.random.get_state()[1] == numpy_state).all()  # noqa: NPY002
