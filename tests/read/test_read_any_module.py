# SPDX-License-Identifier: MIT
"""Is a live torch module of any structure read, for inputs of a shape?"""

from __future__ import annotations

import numpy as np
import pytest

import regions.read.exported.module as exported_module
from regions.errors import AmbiguousCheckpointError, FileTooLargeError, InternalError, UnsupportedLayerError
from regions.read import load

torch = pytest.importorskip("torch")
from exported_parts import Applied, agrees, prepared, residual_net  # noqa: E402

nn = torch.nn


def test_a_residual_net() -> None:
    module = prepared(residual_net(1, (4, 6)))
    before = {name: value.clone() for name, value in module.state_dict().items()}
    net = load(module.train(), input_shape=(3, 8, 8))
    assert net.notes[-1] == "the module is in training mode; it was read as in evaluation mode"
    assert module.training and all((before[name] == value).all() for name, value in module.state_dict().items())
    agrees(module.eval(), net, 3, 8, 8)
    assert net.input_shape == (3, 8, 8)


def test_a_chain_and_its_end() -> None:
    chain = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double()
    net = load(nn.Sequential(chain, nn.Softmax(1)), input_shape=[3])
    assert net == load(chain) and net.notes[0].startswith("left out at the end")
    with pytest.raises(AmbiguousCheckpointError, match="'abs' was named"):
        load(chain, "abs", input_shape=[3])


class Policy(nn.Module):
    """A mean and a deviation, and a distribution with both: its mean, or a sample of it."""

    def __init__(self, sample: bool) -> None:
        super().__init__()
        self.sample = sample
        self.first, self.mean, self.deviation = nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.relu(self.first(x))
        mean = self.mean(h)
        found = torch.distributions.Normal(mean, torch.ones_like(mean) * self.deviation(h).clamp(-20, 2).exp())
        return torch.tanh(found.rsample() if self.sample else found.mean)


def test_the_mean_of_a_distribution() -> None:
    """As actors of SAC are written. torch checks the values of a distribution, which an export does not have."""
    checked = torch.distributions.Distribution._validate_args
    module = prepared(Policy(False))
    net = load(module, input_shape=3)
    assert repr(net) == "Network(3-4-2, relu, 4 hidden neurons)" and "returns tanh(h)" in net.notes[0]
    agrees(nn.Sequential(module.first, nn.ReLU(), module.mean), net, 3)
    assert torch.distributions.Distribution._validate_args is checked
    with pytest.raises(UnsupportedLayerError, match="normal_.*is random"):
        load(Policy(True), input_shape=3)


def test_an_image_enlarged_by_a_factor_that_is_not_whole() -> None:
    module = nn.Sequential(
        nn.Upsample(scale_factor=2.1), nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(392, 1)
    )
    agrees(prepared(module), load(module, input_shape=(1, 8, 8)), 1, 8, 8)


def test_the_value_before_a_smooth_function() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Tanh(), nn.Linear(4, 2))
    with pytest.raises(UnsupportedLayerError, match="'tanh' .* Name what goes into it: outputs='relu'$"):
        load(module, input_shape=3)
    assert repr(load(module, input_shape=3, outputs="relu")) == "Network(3-4-4, relu, 4 hidden neurons)"


def test_the_network_is_compared_with_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    other = load(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    monkeypatch.setattr(exported_module, "network_of", lambda *_: other)
    with pytest.raises(InternalError, match="misread"):
        load(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), input_shape=[3])


def test_refused() -> None:
    for norm, shape in (
        (nn.BatchNorm1d(4, track_running_stats=False), [3]),
        (nn.BatchNorm1d(3, track_running_stats=False), [3, 4]),
    ):
        with pytest.raises(
            UnsupportedLayerError, match="batch norm 1 keeps no running statistics .*train it with track_r"
        ):
            load(nn.Sequential(nn.Linear(shape[-1], 4), norm), input_shape=shape)
    branching = Applied(lambda m, x: x if x.sum() > 0 else -x)
    with pytest.raises(UnsupportedLayerError, match=r"torch.export cannot export this Applied for inputs \[1, 3\]"):
        load(branching, input_shape=[3])
    with pytest.raises(UnsupportedLayerError, match="input_shape="):
        load(nn.Conv2d(1, 1, 2))


def test_torch_prints_nothing_about_refused_modules(capfd: pytest.CaptureFixture[str]) -> None:
    chain = nn.Sequential(nn.Flatten(), nn.Linear(8, 1))
    with pytest.raises(UnsupportedLayerError, match=r"does not run on torch.zeros\(1, 1, 5\): .* the batch axis"):
        load(chain, input_shape=(1, 5))
    with pytest.raises(UnsupportedLayerError, match="cannot export"):
        load(Applied(lambda m, x: x if x.sum() > 0 else -x), input_shape=3)
    assert capfd.readouterr() == ("", "")


def test_messages_name_the_module_and_not_a_file() -> None:
    wide = Applied(lambda m, x: x.repeat(1, 100_000).flip(1).relu())
    with pytest.raises(FileTooLargeError, match="the module: "):
        load(wide, input_shape=1000)


def test_a_softmax_across_the_batch_is_not_left_out() -> None:
    chain = nn.Sequential(nn.Linear(3, 2), nn.Softmax(dim=0))
    words = "along axis 0, across the inputs of a batch, so that each output depends on the other inputs"
    for shape in (None, 3):
        with pytest.raises(UnsupportedLayerError, match=words):
            load(chain, input_shape=shape)
    for dim in (-1, 1):
        chain[1].dim = dim
        assert load(chain) == load(chain, input_shape=3) == load(chain[:1])
    assert load(Applied(lambda m, x: m.l(x)[0].softmax(0), l=chain[0]), input_shape=3) == load(chain[:1])


def test_a_sparse_matrix_that_is_made_plain() -> None:
    sparse = torch.tensor([[1.0, 0.0], [-2.0, 0.0]]).to_sparse()
    module = Applied(lambda m, x: (x @ m.w.to_dense()).relu())
    module.register_buffer("w", sparse)
    agrees(Applied(lambda m, x: (x @ sparse.to_dense().to(x)).relu()), load(module, input_shape=2), 2)
    attention = Applied(lambda m, x: m.a(x, x, x)[0], a=nn.MultiheadAttention(8, 2, batch_first=True))
    with pytest.raises(UnsupportedLayerError, match="'bmm' .* multiplies inputs by inputs, as attention does"):
        load(attention, input_shape=[4, 8])
    for first in (False, True):
        layer = nn.TransformerEncoderLayer(8, 2, batch_first=True, norm_first=first)
        with pytest.raises(UnsupportedLayerError, match="attention multiplies inputs by inputs, so the network has no"):
            load(Applied(lambda m, x: m.layer(x), layer=layer), input_shape=[4, 8])
    with pytest.raises(ValueError, match="input_shape is for torch modules"):
        load({}, input_shape=[3])


class _Centred(nn.Module):
    """Subtracts the mean of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 3)

    def forward(self, x):
        return torch.relu(self.layer(x - x.mean(0)))


def test_modules_that_mix_the_points_of_a_batch_are_refused() -> None:
    with pytest.raises(UnsupportedLayerError, match="_Centred mixes the points of a batch"):
        load(_Centred(), input_shape=2)


class _OfOne(nn.Module):
    """Is written for a batch of one."""

    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(torch.relu(x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.reshape(1, -1)[:, :2],
        lambda x: x.reshape(1, -1).roll(1, 1),
        lambda x: x[0].flatten(),
        lambda x: x.view(1, 4) @ torch.ones(4, 2, dtype=x.dtype),
    ],
)
@pytest.mark.parametrize("shape", [(4,), (1, 2, 2)])
def test_modules_for_a_batch_of_one(function, shape) -> None:
    net = load(_OfOne(function), input_shape=shape)
    point = np.array([1.0, -2.0, 3.0, 4.0])
    assert (net(point) == function(torch.relu(torch.tensor(point.reshape(1, *shape)))).numpy().ravel()).all()


class _Constant(nn.Module):
    """Ignores its input."""

    def __init__(self) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.ones(1, 3))

    def forward(self, x):
        return self.value


class _Sum(nn.Module):
    """Takes two inputs."""

    def forward(self, x, y):
        return x + y


def test_modules_that_are_not_functions_of_one_input() -> None:
    with pytest.raises(AmbiguousCheckpointError, match="is a constant, .*; no output depends on the input otherwise"):
        load(_Constant(), input_shape=2)
    with pytest.raises(UnsupportedLayerError, match="If it takes several inputs, export it with torch.export"):
        load(_Sum(), input_shape=2)


def test_lazy_modules_have_no_numbers_before_their_first_call() -> None:
    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.LazyLinear(1))
    for source, options in ((module, {}), (module, {"input_shape": 2}), (module.state_dict(), {"activation": "relu"})):
        with pytest.raises(UnsupportedLayerError, match="'2.weight' has no numbers yet; call the module once"):
            load(source, **options)
    module(torch.zeros(1, 2))
    assert load(module).n_out == 1


class _Controller(nn.Module):
    """Its numbers are buffers of doubles, perhaps beside a parameter of another type that is not used."""

    def __init__(self, with_parameter: bool) -> None:
        super().__init__()
        if with_parameter:
            self.unused = nn.Parameter(torch.ones(1))
        self.register_buffer("gain", torch.tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 4.0]], dtype=torch.float64))

    def forward(self, x):
        return torch.clamp(x @ self.gain.T, -1, 1)


@pytest.mark.parametrize("with_parameter", [False, True])
def test_numbers_that_are_buffers_of_doubles(with_parameter: bool) -> None:
    network = load(_Controller(with_parameter), input_shape=3)
    assert network([0.25, 0.0, 0.0]).tolist() == [0.25, 0.125]
    with pytest.raises(UnsupportedLayerError, match=r"does not run on torch.zeros\(1, 4\)"):
        load(_Controller(with_parameter), input_shape=4)
