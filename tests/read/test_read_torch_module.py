# SPDX-License-Identifier: MIT
"""Is a torch module that is determined by its structure read correctly, or refused?"""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regions.errors import (
    AmbiguousCheckpointError,
    EmptyLayerError,
    NetworkError,
    NonFiniteError,
    ShapeMismatchError,
    UnsupportedLayerError,
)
from regions.networks.network import Network
from regions.read import load
from regions.read.graphs.module_check import TOLERANCE, relative_difference
from torch_parts import agrees, batch_norm, prelu

torch = pytest.importorskip("torch")
nn = torch.nn
prune = pytest.importorskip("torch.nn.utils.prune")
parametrizations = pytest.importorskip("torch.nn.utils.parametrizations")

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
        lambda: nn.Sequential(nn.Sequential(nn.Linear(2, 5), nn.ReLU()), nn.Sequential(nn.Sequential(nn.Linear(5, 3)))),
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
                nn.PReLU(4, 0.5),
                nn.Linear(4, 4),
                nn.PReLU(1, 0.5),
                nn.Linear(4, 4),
                nn.Identity(),
                nn.Linear(4, 2),
            ),
        ),
        "Network(3-4x6-2, leaky_relu(0.2) + hard_tanh(-2.0, 3.0) + relu6 + prelu(0.5, 0.5, 0.5, 0.5) + prelu(0.5) + "
        "identity, 24 hidden neurons, 28 kinks)",
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
        lambda: nn.Sequential(nn.Linear(2, 4), nn.ReLU(), SHARED, nn.ReLU(), SHARED, nn.ReLU(), nn.Linear(4, 1)),
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


def test_changes_by_the_loader_are_noted() -> None:
    def notes(name: str) -> str:
        return "; ".join(load(CHAINS[name][0]().eval()).notes)

    assert "batch norm 1 folded into 0, which precedes it" in notes("norm before")
    assert "batch norm 2 folded into 3, which follows it" in notes("norm after")
    assert "diagonal layer of its own" in notes("norm between activations")
    assert "identity layer put in as output" in notes("activation last")
    assert "identity layer put in before 0" in notes("activation first")
    assert "nothing lies between 0 and 1" in notes("two layers")


def test_training_mode_is_noted_and_restored() -> None:
    module = CHAINS["norm before"][0]().train()
    before = copy.deepcopy(module.state_dict())
    assert any("training mode" in note for note in load(module).notes)
    assert module.training
    assert all((before[key] == value).all() for key, value in module.state_dict().items())
    assert not any("training mode" in note for note in load(module.eval()).notes)


@pytest.mark.parametrize("name", ["plain", "norm before", "norm after", "without biases", "the same layer twice"])
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


class Alone(nn.Module):
    """A module around another one."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Any) -> Any:
        return self.inner(x)


@pytest.mark.parametrize("end", [nn.Softmax(1), nn.LogSoftmax(1), nn.Sigmoid(), nn.Sequential(nn.Softmax(1))])
def test_a_smooth_end_is_left_out_with_a_note(end: nn.Module) -> None:
    """Modules and files with a graph agree."""
    chain = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
    network, of_graph = load(nn.Sequential(chain, end)), load(nn.Sequential(chain, end), input_shape=2)
    assert network == load(chain) == of_graph
    (note,) = network.notes
    assert note.startswith("left out at the end: module 1") and note.partition("; ")[2] in of_graph.notes[0]
    with pytest.raises(AmbiguousCheckpointError, match="forward of its own"):
        load(Alone(nn.Sequential(chain, end)))


REFUSED: dict[str, tuple[Callable[[], nn.Module], type[Exception], str]] = {
    "softmax": (
        lambda: nn.Sequential(nn.Linear(2, 3), nn.Softmax(1), nn.Linear(3, 1)),
        UnsupportedLayerError,
        "module 1 is of type Softmax.*module 2 comes after it",
    ),
    "sigmoid": (
        lambda: nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Sigmoid(), nn.ReLU())),
        UnsupportedLayerError,
        "module 1.0 is of type Sigmoid.*module 1.1 comes after it",
    ),
    "tanh": (
        lambda: nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.ReLU()),
        UnsupportedLayerError,
        "module 1 is of type Tanh. It is not piecewise linear, and module 2 comes after it",
    ),
    "decreasing elu": (
        lambda: nn.Sequential(nn.Linear(2, 3), nn.ELU(-1.0)),
        UnsupportedLayerError,
        "module 1 is of type ELU",
    ),
    "gelu": (lambda: nn.Sequential(nn.Linear(2, 3), nn.GELU()), UnsupportedLayerError, "module 1 is of type GELU"),
    "convolution": (lambda: nn.Sequential(nn.Conv2d(1, 1, 3)), UnsupportedLayerError, "module 0 is of type Conv2d"),
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


PRUNED = "pruned weights, read as weight_orig * weight_mask: 0.weight"


@pytest.mark.parametrize("given", [{}, {"input_shape": 2}])
def test_pruned_modules_are_read_and_not_changed(given: dict[str, int]) -> None:
    """Also with a second mask, and with weights that changed after the masks were applied."""
    module = pruned()
    prune.l1_unstructured(module[0], "weight", 1)  # type: ignore[index]
    with torch.no_grad():
        module[0].weight_orig.mul_(2.0)  # type: ignore[index, operator]
    network = load(module, **given)
    assert PRUNED in network.notes
    assert network == load(module.state_dict(), "relu")
    prune.remove(module[0], "weight")  # type: ignore[index]
    agrees(module, network)


@pytest.mark.parametrize("norm", ["weight_norm", "spectral_norm"])
def test_modules_that_compute_their_weights_before_each_call(norm: str) -> None:
    """Old weight norms and spectral norms keep a result of an operation, which torch does not copy."""
    module = nn.Sequential(getattr(nn.utils, norm)(nn.Linear(2, 3)), nn.ReLU(), nn.Linear(3, 1)).double().eval()
    module(torch.ones(1, 2, dtype=torch.float64))
    assert not module[0].weight.is_leaf  # type: ignore[union-attr, operator]
    network = load(module, input_shape=2)
    assert not module[0].weight.is_leaf, "the module is not changed"  # type: ignore[union-attr, operator]
    with pytest.raises(UnsupportedLayerError, match=r"has hooks.* give the shape of one input"):
        load(module)
    getattr(nn.utils, f"remove_{norm}")(module[0])
    agrees(module, network)


def test_a_module_that_cannot_be_copied() -> None:
    module = nn.Sequential(nn.Linear(2, 3))
    module[0].kept = threading.Lock()  # type: ignore[assignment]
    with pytest.raises(UnsupportedLayerError, match=r"this Sequential cannot be copied.* Remove what is not part"):
        load(module, input_shape=2)
    prune.random_unstructured(module[0], "weight", 0.5)
    with pytest.raises(NetworkError, match=r"this Sequential is pruned and cannot be copied"):
        load(module)


@pytest.mark.parametrize("last", [nn.Linear(3, 3), nn.Tanh()])
@pytest.mark.parametrize("place", [1, None])
def test_a_forward_that_one_object_was_given(last: nn.Module, place: int | None) -> None:
    """A final tanh is left out, and such a network is not compared with its module."""
    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), last)
    part = module if place is None else module[place]
    part.forward = lambda x: nn.functional.leaky_relu(x, 0.5)  # type: ignore[method-assign, assignment]
    with pytest.raises(AmbiguousCheckpointError, match="has a forward of its own"):
        load(module)


def test_values_too_large_to_compare_with() -> None:
    """The network is compared with the module if both can be computed; here neither can."""
    chain = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)).double()
    with torch.no_grad():
        for layer in (chain[0], chain[2]):
            layer.weight.fill_(1e300)
    assert repr(load(chain)) == "Network(1-1-1, relu, 1 hidden neuron)"


def test_not_finite() -> None:
    module = nn.Linear(2, 3)
    with torch.no_grad():
        module.weight[1, 0] = torch.nan
    with pytest.raises(NonFiniteError, match=r"weight\[1, 0\] is nan"):
        load(module)


@pytest.mark.parametrize("hidden", [False, True])
def test_cancelling_terms_are_not_taken_for_a_wrong_network(hidden: bool) -> None:
    cancelling = nn.Linear(3, 1)
    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), cancelling, *([nn.ReLU(), nn.Linear(1, 1)] if hidden else []))
    module = module.double()
    with torch.no_grad():
        for parameter, value in zip(module.parameters(), (1.0, 5.0), strict=False):
            parameter.fill_(value)
        cancelling.weight[:] = torch.tensor([[0.1, 0.2, -0.3]], dtype=torch.float64)
        cancelling.bias.zero_()
        if hidden:
            module[-1].bias.zero_()
    assert load(module).widths == ((3, 1) if hidden else (3,))


def test_rounding_does_not_hide_another_activation() -> None:
    torch.manual_seed(0)
    layers = [nn.Linear(2, 30), *(layer for _ in range(20) for layer in (nn.ReLU(), nn.Linear(30, 30)))]
    module = nn.Sequential(*layers).double()
    right, wrong = load(module), load(module.state_dict(), activation="leaky_relu(0.01)")
    assert (relative_difference(module, right) or 0.0) <= TOLERANCE
    assert (relative_difference(module, wrong) or 0.0) > 1e-4


@pytest.mark.filterwarnings("ignore")
def test_quantised_layers_are_named() -> None:
    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)).eval()
    small = torch.ao.quantization.quantize_dynamic(module, {nn.Linear}, dtype=torch.qint8)
    for shape in (None, 2):
        with pytest.raises(UnsupportedLayerError, match=r"0 \(Linear\) is a quantised layer.*load the float model"):
            load(small, input_shape=shape)
