# SPDX-License-Identifier: MIT
"""Are programs exported by torch read as the right functions?"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from regions.errors import AmbiguousCheckpointError
from regions.read import load, read_tensors

torch = pytest.importorskip("torch")
from exported_parts import Applied, agrees, exported, prepared, residual_net  # noqa: E402

nn, F = torch.nn, torch.nn.functional

Case = tuple[Callable[..., Any], tuple[int, ...], dict[str, Any]]
SEED = torch.Generator().manual_seed(7)


def normal(*shape: int) -> Any:
    return torch.randn(*shape, generator=SEED)


CASES: dict[str, Case] = {
    "convolution": (
        lambda m, x: m.c(x),
        (4, 9, 7),
        {"c": nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2)},
    ),
    "one axis, same": (lambda m, x: m.c(x), (4, 9), {"c": nn.Conv1d(4, 6, 3, padding="same", dilation=2)}),
    "even window, same": (lambda m, x: m.c(x), (2, 5, 6), {"c": nn.Conv2d(2, 3, (2, 4), padding="same")}),
    "three axes": (lambda m, x: m.c(x), (2, 5, 4, 3), {"c": nn.Conv3d(2, 3, 2, padding=1, stride=2)}),
    "depthwise": (lambda m, x: m.c(x), (4, 5, 6), {"c": nn.Conv2d(4, 8, 3, groups=4, bias=False)}),
    "transposed convolution": (
        lambda m, x: m.c(x),
        (4, 3, 5),
        {"c": nn.ConvTranspose2d(4, 6, (3, 2), (2, 3), (1, 0), output_padding=(1, 2), groups=2, dilation=(2, 1))},
    ),
    "transposed, all of it cut off but the middle": (
        lambda m, x: m.c(x),
        (2, 3, 4),
        {"c": nn.ConvTranspose2d(2, 1, 2, 2, padding=(2, 1))},
    ),
    "transposed, one axis": (lambda m, x: m.c(x), (2, 4), {"c": nn.ConvTranspose1d(2, 3, 4, 2, 1, bias=False)}),
    "transposed, three axes": (lambda m, x: m.c(x), (2, 2, 3, 2), {"c": nn.ConvTranspose3d(2, 1, 2, 2)}),
    "mean, border left out": (lambda m, x: F.avg_pool2d(x, 3, 2, 1, True, False), (2, 7, 8), {}),
    "mean, border counted": (lambda m, x: F.avg_pool2d(x, 3, 2, 1, True, True), (2, 7, 8), {}),
    "mean with a divisor": (lambda m, x: F.avg_pool2d(x, (2, 3), divisor_override=5), (2, 7, 8), {}),
    "mean of one axis": (lambda m, x: F.avg_pool1d(x, 3, 2, 1, True), (2, 8), {}),
    "mean of three axes": (lambda m, x: F.avg_pool3d(x, 2, ceil_mode=True), (2, 5, 5, 4), {}),
    "adaptive mean": (lambda m, x: F.adaptive_avg_pool2d(x, (3, 5)), (2, 7, 8), {}),
    "adaptive mean of one axis": (lambda m, x: F.adaptive_avg_pool2d(x, (None, 3)), (2, 7, 8), {}),
    "mean of all": (lambda m, x: F.adaptive_avg_pool2d(x, 1).flatten(1), (2, 7, 8), {}),
    "means and sums": (lambda m, x: x.mean((2,), True) + x.sum(1, True) - x.mean(), (2, 7, 8), {}),
    "max-pool": (lambda m, x: F.max_pool2d(m.c(x).relu(), 2), (2, 5, 6), {"c": nn.Conv2d(2, 3, 3)}),
    "max-pool, border": (lambda m, x: F.max_pool2d(x, (3, 2), 2, (1, 0), (1, 2), True), (2, 7, 8), {}),
    "max-pool that ends early": (lambda m, x: F.max_pool2d(x, 2, 3, 1, 1, True), (2, 7, 8), {}),
    "max-pool of one axis": (lambda m, x: F.max_pool1d(x, 3, 2, 1, 2), (2, 9), {}),
    "max-pool of three axes": (lambda m, x: F.max_pool3d(x, 2, ceil_mode=True), (2, 5, 5, 4), {}),
    "max-pool of single numbers": (lambda m, x: F.max_pool2d(m.c(x), 1, 2), (2, 5, 6), {"c": nn.Conv2d(2, 3, 2)}),
    "max-pools": (lambda m, x: F.max_pool2d(F.max_pool2d(x, 3, 1, 1), 2), (2, 6, 6), {}),
    "adaptive max": (lambda m, x: F.adaptive_max_pool2d(x, (3, 5)) - F.adaptive_max_pool2d(x, 1), (2, 7, 8), {}),
    "adaptive max of one axis": (lambda m, x: F.adaptive_max_pool1d(x, 3), (2, 8), {}),
    "maxout": (lambda m, x: m.l(x).view(-1, 4, 3).max(dim=2).values, (5,), {"l": nn.Linear(5, 12)}),
    "maxout, reordered": (lambda m, x: m.l(x).view(-1, 3, 4).amax(1).abs(), (5,), {"l": nn.Linear(5, 12)}),
    "largest and smallest": (lambda m, x: x.amax((1, 2), True) - x.min(2)[0].max() + x.amin(-1), (2, 3), {}),
    "larger and smaller": (lambda m, x: torch.maximum(x, x.flip(2)) + torch.min(x, -x[:, :1]), (2, 3), {}),
    "largest with numbers": (
        lambda m, x: torch.maximum(x, m.k) - torch.min(m.k, x),
        (2, 3),
        {"k": torch.full((1,), 0.25)},
    ),
    "linear at places": (lambda m, x: m.l(x), (5, 3), {"l": nn.Linear(3, 4)}),
    "activations": (
        lambda m, x: (
            F.hardsigmoid(x) + F.relu6(x) + F.leaky_relu(x, 0.3) + x.clamp(min=-1) + x.clamp(max=2) - x.abs() + (-x)
        ),
        (6,),
        {},
    ),
    "clipping": (lambda m, x: F.hardtanh(x) + F.hardtanh(x, -2, 0.5) - torch.clamp(x, -1, 2), (6,), {}),
    "bound that is stored": (lambda m, x: torch.clamp(x, m.k), (6,), {"k": torch.tensor(-0.5)}),
    "arithmetic": (
        lambda m, x: (3 - x) * m.k / m.d + x / 4 - m.k,
        (2, 3),
        {"k": normal(2, 1), "d": normal(3).abs() + 1},
    ),
    "factors": (lambda m, x: torch.add(x, x.flip(1), alpha=0.5) + torch.sub(x, x, alpha=2), (4,), {}),
    "in place": (lambda m, x: x.relu().add_(1).mul_(2).clamp_(min=0.5), (3,), {}),
    "stacked": (lambda m, x: torch.stack([x[:, 0], x[:, -1]], 1).transpose(1, 2).reshape(-1, 10), (4, 5), {}),
    "permuted": (lambda m, x: m.l(x.permute(0, 2, 3, 1).contiguous().flatten(1)), (4, 5, 2), {"l": nn.Linear(40, 3)}),
    "split into lengths": (lambda m, x: torch.cat(x.split([1, 3], 1)[::-1], 1), (4, 5), {}),
    "split evenly": (lambda m, x: torch.cat(x.split(3, 1)[::-1], 1), (4, 5), {}),
    "chunks": (lambda m, x: torch.cat(torch.chunk(x, 3, 2)[::-1], 2), (4, 5), {}),
    "unbound": (lambda m, x: x.unbind(1)[1] + x.unbind(1)[0], (4, 5), {}),
    "padded by a number": (lambda m, x: F.pad(x, (1, 2, 0, 1), value=0.5), (2, 4, 5), {}),
    "padded by itself": (
        lambda m, x: (
            F.pad(x, (1, 2, 0, 1), mode="reflect")
            + F.pad(x, (1, 2, 0, 1), mode="replicate")
            + F.pad(x, (1, 2, 0, 1), mode="circular")
            + nn.ReplicationPad2d((1, 2, 0, 1))(x)
        ),
        (2, 4, 5),
        {},
    ),
    "cut by padding": (lambda m, x: F.pad(x, (-1, 2, 0, -1)), (2, 4, 5), {}),
    "reflected, then cut": (
        lambda m, x: F.pad(x, (2, -2), mode="reflect") + F.pad(x, (-1, 1), mode="replicate"),
        (2, 3),
        {},
    ),
    "cut, then wrapped around": (lambda m, x: F.pad(x, (2, -1), mode="circular"), (2, 4), {}),
    "windows": (
        lambda m, x: torch.cat([F.unfold(x, 2, (1, 2), 1, (2, 1)).flatten(1), x.unfold(2, 3, 1).flatten(1)], 1),
        (2, 3, 4),
        {},
    ),
    "turned": (lambda m, x: torch.rot90(x, 3, (1, 2)) + x.diagonal(1, 1, 2).sum(), (4, 4), {}),
    "split nearly evenly": (lambda m, x: torch.cat(x.tensor_split(3, 1)[::-1], 1), (4, 2), {}),
    "slopes of channels": (lambda m, x: m.p(x * 2), (2, 4, 5), {"p": nn.PReLU(2)}),
    "one slope": (lambda m, x: m.p(x * 2), (2, 4, 5), {"p": nn.PReLU()}),
    "norm of one axis": (lambda m, x: m.b(x), (2, 4), {"b": nn.BatchNorm1d(2)}),
    "norm without weights": (lambda m, x: m.b(x), (6,), {"b": nn.BatchNorm1d(6, affine=False)}),
    "norm and dropout": (lambda m, x: m.b(m.d(x)), (3, 2, 2, 2), {"b": nn.BatchNorm3d(3), "d": nn.Dropout3d()}),
    "shuffled": (lambda m, x: F.pixel_shuffle(x, 2), (8, 3, 2), {}),
    "products": (lambda m, x: x @ m.w + torch.addmm(m.b, x, m.w), (3,), {"w": normal(3, 4), "b": normal(4)}),
    "product from the left": (
        lambda m, x: m.k @ x.mT + m.k.mH.mT @ x[:, :1].mH + 0 * (m.k @ x.adjoint()),
        (3, 2),
        {"k": normal(4, 2)},
    ),
    "transposed weights": (lambda m, x: F.linear(x, m.w.t()), (3,), {"w": normal(3, 4)}),
    "picked": (lambda m, x: x.index_select(1, m.i)[:, ::2, 1:], (4, 3), {"i": torch.tensor([2, 0, 0, 3])}),
    "picked by lists": (
        lambda m, x: torch.cat([x[:, [2, 0, -1]], x[:, [0, 1], [2, 1]][:, :, None].expand(-1, -1, 3)], 1),
        (4, 3),
        {},
    ),
    "picked by truths": (lambda m, x: x[:, m.k], (3, 2), {"k": torch.tensor([True, False, True])}),
    "repeated": (lambda m, x: x.repeat(1, 2, 1) + x.tile(2, 1) + x.repeat_interleave(2, 1), (3, 2), {}),
    "rolled": (lambda m, x: x.roll((1, -1), (1, 2)) + x.roll(3, 2), (4, 3), {}),
    "axes moved": (lambda m, x: x.movedim(1, 3) + x.swapaxes(1, 2).mT + x.narrow(1, 0, 2).mT.mT.mT, (2, 2, 2), {}),
    "shuffled back": (lambda m, x: F.channel_shuffle(F.pixel_unshuffle(x, 2), 2), (2, 4, 6), {}),
    "filled": (
        lambda m, x: (
            (x + torch.ones(3)) * torch.full_like(x, 0.75) * torch.arange(3)
            + x * x.new_full((3,), 0.25)
            + torch.cat([torch.hstack([x[:, :1], torch.zeros(x.shape[0], 1)]), x.new_ones(x.shape[0], 1)], 1)
        ),
        (3,),
        {},
    ),
    "enlarged": (
        lambda m, x: F.interpolate(x, scale_factor=2) + F.interpolate(x, size=(6, 8), mode="nearest-exact"),
        (2, 3, 4),
        {},
    ),
    "enlarged to lengths": (lambda m, x: F.interpolate(x, size=(7, 5)), (2, 3, 4), {}),
    "enlarged by a fraction": (lambda m, x: F.interpolate(x, scale_factor=(1.75, 1.5)), (2, 5, 4), {}),
    "enlarged along one axis": (lambda m, x: F.interpolate(x, scale_factor=3), (2, 4), {}),
    "enlarged along three axes": (lambda m, x: F.interpolate(x, scale_factor=2), (1, 2, 3, 2), {}),
    "enlarged by more than 2, to twice the length": (lambda m, x: F.interpolate(x, scale_factor=2.1), (2, 8, 7), {}),
    "enlarged so, one axis": (lambda m, x: F.interpolate(x, scale_factor=2.1), (2, 8), {}),
    "enlarged so, wide": (lambda m, x: F.interpolate(x, scale_factor=(2.1, 1.005)), (1, 8, 120), {}),
    "enlarged so, three axes": (lambda m, x: F.interpolate(x, scale_factor=(2.1, 1, 1.1)), (4, 8, 1, 2), {}),
    "enlarged so, channels innermost": (
        lambda m, x: F.interpolate(
            x.contiguous(memory_format=torch.channels_last_3d), scale_factor=(2.1, 1, 1.1), mode="nearest"
        ),
        (4, 8, 1, 2),
        {},
    ),
    "shrunk and cut": (lambda m, x: F.softshrink(x, 0.25) + F.threshold(x, 0.5, 0.5) + F.rrelu(x), (4,), {}),
    "unflattened": (lambda m, x: nn.Unflatten(1, (2, 3))(x * 2).unsqueeze(1).squeeze(), (6,), {}),
    "constants": (lambda m, x: x + torch.tensor([1.0, 2.0, 3.0]), (3,), {}),
    "lengths": (lambda m, x: (x * 2).view(x.size(0), x.size(1) * x.size(2)), (3, 4), {}),
    "twice the same": (lambda m, x: x + x, (3,), {}),
}


@pytest.mark.parametrize("name", list(CASES))
def test_operators(name: str) -> None:
    function, shape, parts = CASES[name]
    module = prepared(Applied(function, **parts))
    net = load(io.BytesIO(exported(module, *shape, batch=1 if name == "unflattened" else None)))
    agrees(module, net, *shape)
    assert net.input_shape == shape


class TwoEnds(nn.Module):
    """Two inputs and two outputs."""

    def forward(self, x: Any, z: Any) -> tuple[Any, Any]:
        return torch.relu(x - z), torch.cat([z, x], 1)


def test_several_inputs_and_outputs_are_joined() -> None:
    buffer = io.BytesIO()
    torch.export.save(torch.export.export(TwoEnds(), (torch.zeros(1, 2), torch.zeros(1, 2))), buffer)
    net = load(buffer)
    assert dict(net.input_names) == {"x": slice(0, 2), "z": slice(2, 4)}
    assert (net([1.0, 2.0, 3.0, -5.0]) == [0.0, 7.0, 3.0, -5.0, 1.0, 2.0]).all()
    assert (load(buffer, outputs=["cat", "sub"])([1.0, 2.0, 3.0, -5.0]) == [3.0, -5.0, 1.0, 2.0, -2.0, 7.0]).all()


def test_full_like_has_the_type_of_the_program() -> None:
    module = Applied(lambda m, x: m.l(x) * torch.full_like(x, 0.1), l=nn.Linear(1, 1, bias=False))
    (layer,) = load(io.BytesIO(exported(module, 1))).layers
    assert layer.weights.item() == module.l.weight.double().item() * float(np.float32(0.1))


@pytest.mark.parametrize("name", ["torch_exported.pt2", "torch_exported_pools.pt2", "torch_exported_moves.pt2"])
def test_the_files_in_the_data(name: str) -> None:
    folder = Path(__file__).parent.parent / "data"
    expected = json.loads((folder / "expected.json").read_text())[name]
    found = load(folder / name)(expected["points"])
    np.testing.assert_allclose(found, expected["outputs"], rtol=0, atol=1e-14)


@pytest.mark.parametrize("batch", [None, 1])
def test_a_residual_net(batch: int | None) -> None:
    module = prepared(residual_net(2, (4, 6)))
    net = load(io.BytesIO(exported(module, 3, 8, 8, batch=batch)))
    agrees(module, net, 3, 8, 8)
    assert sum(len(node.reads) == 2 for node in net.graph.nodes) == 4  # a block is no more than two nodes
    images = np.random.default_rng(0).standard_normal((5, 3, 8, 8))
    assert (net(images) == net(images.reshape(5, -1))).all()
    assert (net.pattern(images[0]) == net.pattern(images[0].ravel())).all()


def test_values_of_a_residual_net_with_twenty_convolutions() -> None:
    module = prepared(residual_net(3, (16, 32, 64)))
    net = load(io.BytesIO(exported(module, 3, 32, 32)))
    assert net.hidden > 180_000
    agrees(module, net, 3, 32, 32)


class Repeated(nn.Module):
    """Tensors with repeated numbers, which torch stores with strides of 0."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.register_buffer("shift", torch.full((1,), 0.5).expand(4))
        self.weight = nn.Parameter(torch.tensor([[1.0], [2.0]]).expand(2, 4))
        self.register_buffer("constant", torch.tensor([0.25]).expand(2), persistent=False)

    def forward(self, x: Any) -> Any:
        return F.linear(torch.relu(self.linear(x) + self.shift), self.weight, self.constant)


@pytest.mark.filterwarnings("ignore:No complete tensor:UserWarning")
def test_a_shared_storage_is_read_for_each_use() -> None:
    module = prepared(Repeated())
    content = exported(module, 3)
    strides = [meta["tensor_meta"]["strides"] for meta in configs(content).values()]
    assert [{"as_int": 0}] in strides and [{"as_int": 1}, {"as_int": 0}] in strides
    agrees(module, load(io.BytesIO(content)), 3)
    assert read_tensors(io.BytesIO(content))["shift"].tolist() == [0.5] * 4


def configs(content: bytes) -> dict[str, Any]:
    """Return the description of an archive's tensors."""
    archive = zipfile.ZipFile(io.BytesIO(content))
    names = [name for name in archive.namelist() if name.endswith("_config.json")]
    return {key: one for name in names for key, one in json.loads(archive.read(name))["config"].items()}


def test_members_that_nothing_needs_are_named() -> None:
    program = torch.export.export(
        prepared(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))), (torch.zeros(1, 3),)
    )
    buffer = io.BytesIO()
    torch.export.save(program, buffer, extra_files={"more.txt": "\n"})
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("archive/data/weights/weight_9", b"abcd")
    (note,) = load(buffer).notes
    members = "'archive/extra/more.txt', 'archive/data/weights/weight_9'"
    assert note == f"left out, as neither the program nor a tensor names it: {members}"


def test_a_chain_equals_the_chain_of_the_module() -> None:
    module = prepared(nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 4), nn.LeakyReLU(), nn.Linear(4, 2)))
    content = exported(module, 3)
    net = load(io.BytesIO(content))
    assert net == load(module) and net.notes == ()
    assert [layer.name for layer in net.layers] == ["layer 0 (linear)", "layer 1 (linear_1)", "layer 2 (linear_2)"]
    tensors = read_tensors(io.BytesIO(content))
    assert list(tensors) == list(module.state_dict())
    assert all((tensors[name] == value.numpy()).all() for name, value in module.state_dict().items())
    with pytest.raises(AmbiguousCheckpointError, match="'abs' was named, but the file itself has relu"):
        load(io.BytesIO(content), "abs")


@pytest.mark.parametrize("end", [nn.Softmax(1), nn.LogSoftmax(1), nn.Sigmoid()])
def test_smooth_ends_are_left_out_with_a_note(end: Any) -> None:
    module = prepared(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    net = load(io.BytesIO(exported(nn.Sequential(module, end), 3)))
    assert net == load(module)
    (note,) = net.notes
    assert note.startswith("left out at the end: node '")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_types_of_numbers(dtype: Any) -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).to(dtype)
    program = torch.export.export(module, (torch.zeros(1, 3, dtype=dtype),))
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    assert load(buffer) == load(module)


def test_normalised_images() -> None:
    module = prepared(nn.Sequential(nn.Conv2d(3, 2, 2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(18, 2)))
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    content = exported(module, 3, 2, 2)
    net = load(io.BytesIO(content), normalize=(mean, std))
    agrees(Applied(lambda m, x: m.inner((x - m.mean[:, None, None]) / m.std[:, None, None]), inner=module, mean=mean,
                   std=std), net, 3, 2, 2)  # fmt: skip
    assert net.input_shape == (3, 2, 2)
    assert net.notes[-1].startswith(
        "inputs are taken as they are: their normalisation, mean 0.406 to 0.485 and std 0.22"
    )
    assert load(io.BytesIO(content), normalize=(mean.reshape(3, 1, 1), std.reshape(3, 1, 1))) == net
    assert (
        load(io.BytesIO(content), normalize=(0.0, 1.0))(np.ones(12)).tolist()
        == load(io.BytesIO(content))(np.ones(12)).tolist()
    )


def test_regions_of_a_chain() -> None:
    module = prepared(nn.Sequential(nn.Flatten(), nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
    net = load(io.BytesIO(exported(module, 1, 2, 2)))
    assert net.input_shape == (1, 2, 2)
    assert regions.count(net, regions.Segment(np.zeros(4), np.ones(4))) >= 1
