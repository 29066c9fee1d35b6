# SPDX-License-Identifier: MIT
"""Does the reader of torch files, which knows nothing of torch, see what torch saved?"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from hostile_files import dict_of, program, saved_by_torch, storage, tensor, torch_file, zip_file
from regions.errors import (
    CheckpointError,
    FileTooLargeError,
    NetworkError,
    NotACheckpointError,
    TruncatedFileError,
    UnsafePickleError,
    UnsupportedLayerError,
)
from regions.read import load, read_tensors

torch = pytest.importorskip("torch")
nn = torch.nn


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.pt"


def saved(path: Path, content: Any, **options: Any) -> Any:
    torch.save(content, path, **options)
    return read_tensors(path)


DTYPES = [
    *("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8"),
    *("uint16", "uint32", "uint64", "bool", "complex64", "complex128"),
]


@pytest.mark.parametrize("name", DTYPES)
def test_every_type_exactly(path: Path, name: str) -> None:
    dtype = getattr(torch, name)
    integers = torch.arange(1, 7).reshape(2, 3)
    values = (integers / 7).to(dtype) if dtype.is_floating_point or dtype.is_complex else integers.to(dtype)
    read = saved(path, {"w": values})["w"]
    assert read.shape == (2, 3)
    assert read.tolist() == values.tolist()
    assert read.dtype.isnative
    assert read.dtype.name == {"bfloat16": "float32"}.get(name, name)


def test_extreme_bfloat16(path: Path) -> None:
    values = torch.tensor([1e-40, -3.0e38, 0.0, -0.0, 1.0, 3.14159], dtype=torch.bfloat16)
    read = saved(path, {"w": values})["w"]
    assert read.tolist() == values.float().tolist()
    assert np.signbit(read).tolist() == [False, True, False, True, False, False]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_pickle_protocol(path: Path, protocol: int) -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    read = saved(path, model.state_dict(), pickle_protocol=protocol)
    assert list(read) == list(model.state_dict())
    for key, value in model.state_dict().items():
        assert (read[key] == value.numpy()).all()


def views() -> dict[str, torch.Tensor]:
    base = torch.arange(24.0).reshape(4, 6)
    return {
        "transposed": base.T,
        "every other": base[::2, 1::3],
        "tail": base[3:],
        "one number": base[2, 3],
        "row": base[1],
        "expanded": base[0].expand(3, 6),
        "diagonal": base.diagonal(),
        "empty": base[:0],
        "empty elsewhere": torch.zeros(3, 0, 2),
        "three axes": base.reshape(2, 2, 6).permute(2, 0, 1),
    }


@pytest.mark.parametrize("name", list(views()))
def test_every_kind_of_view(path: Path, name: str) -> None:
    view = views()[name]
    read = saved(path, {"v": view})["v"]
    assert read.size == view.numel()
    assert read.tolist() == view.tolist() or read.size == 0


def test_tensors_that_share_storage(path: Path) -> None:
    weight = nn.Parameter(torch.randn(3, 3))
    read = saved(path, {"a": weight, "b": weight, "c": weight.T, "d": weight[1]})
    assert (read["a"] == read["b"]).all()
    assert (read["a"].T == read["c"]).all()
    assert (read["a"][1] == read["d"]).all()


def test_tied_layers(path: Path) -> None:
    shared = nn.Linear(4, 4)
    model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), shared, nn.ReLU(), shared, nn.ReLU(), nn.Linear(4, 1))
    torch.save(model.state_dict(), path)
    net = load(path, activation="relu")
    assert repr(net) == "Network(2-4-4-4-1, relu, 12 hidden neurons)"
    assert (net.layers[1].weights == net.layers[2].weights).all()


def test_plain_values_and_containers(path: Path) -> None:
    content = {
        "epoch": 3,
        "loss": 0.25,
        "big": 2**100,
        "name": "zürich",
        "flags": [True, None, (1, "a")],
        "nested": OrderedDict(x=torch.ones(1)),
        5: "a number",
        -1: "a number that is not small",
        (1, 2): torch.ones(2, 2),
    }
    read = saved(path, content)
    nested = read.pop("nested")
    assert read.pop("<int 7>") == "a number that is not small"
    assert read.pop("<tuple 8>").tolist() == [[1.0, 1.0], [1.0, 1.0]]
    del content["nested"], content[-1], content[1, 2]  # type: ignore[arg-type]
    assert read == content
    assert nested["x"].tolist() == [1.0]


@pytest.mark.parametrize("byte_order", ["little", "big"])
def test_byte_order(path: Path, byte_order: Any) -> None:
    weights = {"0.weight": np.array([[1.5, -2.25]], "<f4"), "0.bias": np.array([1 / 3], "<f8")}
    path.write_bytes(saved_by_torch(weights, byte_order=byte_order))
    read = read_tensors(path)
    for key, value in weights.items():
        assert read[key].tolist() == value.tolist()
        assert read[key].dtype.isnative


def test_byte_order_is_little_where_it_is_not_stored(path: Path) -> None:
    pickled = program(dict_of({"w": tensor([2], [1], storage(2))}))
    data = np.array([1.5, 2.5], "<f4").tobytes()
    path.write_bytes(zip_file({"a/data.pkl": pickled, "a/version": b"3\n", "a/data/0": data}))
    assert read_tensors(path)["w"].tolist() == [1.5, 2.5]
    content = torch_file(pickled, {"0": data}, byte_order="big")
    path.write_bytes(content.replace(b"byteorder", b"bytexrder"))  # the checksums are still right
    with pytest.raises(NotACheckpointError, match="torch.save writes no member archive/bytexrder"):
        read_tensors(path)


def test_checksums_of_unused_members_are_compared(path: Path) -> None:
    pickled = program(dict_of({"w": tensor([2], [1], storage(2))}))
    content = torch_file(pickled, {"0": bytes(8), "1": b"not asked for"})
    path.write_bytes(content)
    assert read_tensors(path)["w"].tolist() == [0.0, 0.0]
    for part in (b"not asked for", b"3\n"):
        path.write_bytes(content.replace(part, part.swapcase().replace(b"3", b"4")))
        with pytest.raises(NotACheckpointError, match="checksum"):
            read_tensors(path)


def test_a_compressed_torch_file_is_read(path: Path) -> None:
    pickled = program(dict_of({"w": tensor([2], [1], storage(2))}))
    data = np.array([1.5, 2.5], "<f4").tobytes()
    path.write_bytes(torch_file(pickled, {"0": data}, compression=zipfile.ZIP_DEFLATED))
    assert read_tensors(path)["w"].tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("wrapping", "activation"),
    [
        (lambda state: state, "relu"),
        (lambda state: {"state_dict": state, "epoch": 3}, "relu"),
        (lambda state: {"model": state, "best": 0.9, "history": [1.0, 2.0]}, "relu"),
        (lambda state: {"checkpoint": {"net": state}}, "relu"),
        (lambda state: {f"module.{key}": value for key, value in state.items()}, "relu"),
        (lambda state: {"a": state, "b": state}, "relu"),
    ],
)
def test_state_dicts_inside_checkpoints(path: Path, wrapping: Any, activation: str) -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    torch.save(wrapping(model.state_dict()), path)
    assert load(path, activation) == load(model)


def test_optimizer_states_are_not_taken_as_weights(path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(5, 2)).sum().backward()
    optimizer.step()
    torch.save({"optimizer": optimizer.state_dict(), "model": model.state_dict()}, path)
    assert load(path, "relu") == load(model)


def test_suffix_pth_and_upper_case(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    for name in ("model.pth", "MODEL.PT"):
        torch.save(model.state_dict(), tmp_path / name)
        assert load(tmp_path / name) == load(str(tmp_path / name)) == load(model)


class Net(nn.Module):  # type: ignore[misc, name-defined]
    """A module of a class that is not torch's own."""


def test_whole_modules_are_refused_with_advice(path: Path) -> None:
    torch.save(nn.Sequential(nn.Linear(2, 1)), path)
    with pytest.raises(UnsafePickleError, match=r"whole pickled module.*weights_only=False\).state_dict\(\), "):
        load(path, "relu")
    torch.save({"epoch": 3, "model": Net()}, path)
    with pytest.raises(UnsafePickleError, match=r"whole pickled module.*=False\)\['model'\].state_dict\(\), "):
        load(path, "relu")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript_is_refused_with_advice(path: Path) -> None:
    torch.jit.script(nn.Linear(2, 1)).save(path)
    with pytest.raises(NotACheckpointError, match=r"TorchScript.*torch\.jit\.load\(.*\)\.state_dict\(\), 'weights"):
        load(path, "relu")


@pytest.mark.parametrize("dtype", [torch.complex64, torch.bool])
def test_weights_that_are_not_real_numbers(path: Path, dtype: torch.dtype) -> None:
    torch.save({"weight": torch.ones(1, 2).to(dtype)}, path)
    with pytest.raises(NetworkError, match=r"\.weight|dtype"):
        load(path)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"])
@pytest.mark.parametrize("legacy", [False, True])
def test_real_numbers_of_8_bits(path: Path, name: str, legacy: bool) -> None:
    """The numbers are those of torch, from the file and from the tensors."""
    weights = torch.tensor([[0.3, -17.0], [2e-3, 200.0]]).to(getattr(torch, name))
    torch.save({"0.weight": weights}, path, _use_new_zipfile_serialization=not legacy)
    for source in (path, {"0.weight": weights}):
        assert load(source).layers[0].weights.tolist() == weights.double().tolist()


@pytest.mark.parametrize("legacy", [False, True])
def test_views_that_are_negated_or_conjugated_later(path: Path, legacy: bool) -> None:
    numbers = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex64)
    views = {"imag": numbers.conj().imag, "conj": numbers.clone().conj(), "neg": torch._neg_view(torch.ones(2, 2))}
    if legacy:
        del views["imag"]  # a view with gaps, which is not read from such files
    torch.save(views, path, _use_new_zipfile_serialization=not legacy)
    read = read_tensors(path)
    assert all(np.array_equal(read[name], view.resolve_conj().resolve_neg().numpy()) for name, view in views.items())
    torch.save({"0.weight": torch._neg_view(torch.ones(2, 2))}, path)
    assert load(path).layers[0].weights.tolist() == [[-1.0, -1.0], [-1.0, -1.0]]


class Mapping(dict):  # type: ignore[type-arg]
    """A class that only the file's author has."""


class Packed(torch.Tensor):
    """A tensor without numbers of its own, as torchao makes them."""

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Packed:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape)  # type: ignore[attr-defined]

    def __init__(self, inner: torch.Tensor) -> None:
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


def test_weights_of_another_class_are_named(path: Path) -> None:
    torch.save({"0.weight": Packed(torch.ones(2, 2)), "0.bias": torch.ones(2)}, path)
    with pytest.raises(UnsupportedLayerError, match=r"'0.weight' is not a plain tensor but a \S*Packed, .*dequantize"):
        load(path)


def test_arrays_inside_unknown_objects_are_noted(path: Path) -> None:
    model, other = nn.Linear(2, 1).state_dict(), nn.Linear(3, 1)
    for beside, words in (
        ({"sd": Mapping(other.state_dict())}, r"sd \(.*Mapping\)"),
        ({"whole": other}, r"whole \(torch\.nn\.modules\.linear\.Linear\)"),
        ({"list": [{"a": Mapping(w=torch.ones(2, 2))}]}, r"list\.0\.a \(.*Mapping\)"),
    ):
        torch.save({"model": model, **beside}, path)
        notes = " ".join(load(path).notes)
        assert re.search(f"arrays beside the weights, left out: {words}", notes), notes
    torch.save({"model": model, "optimizer": torch.optim.Adam(other.parameters()).state_dict()}, path)
    assert len(load(path).notes) == 1


def test_tuples_and_lists_at_the_top(path: Path) -> None:
    states = [nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, n)).state_dict() for n in (1, 2)]
    for content, before in ((tuple(states), ""), (states, ""), ({"all": tuple(states)}, "all.")):
        torch.save(content, path)
        for i, state in enumerate(states):
            assert load(path, "relu", prefix=f"{before}{i}") == load(state, "relu")
        with pytest.raises(CheckpointError, match=rf"there are {before}0 \(3-8-1\), {before}1 \(3-8-2\)"):
            load(path, "relu")
    torch.save([states[0][name] for name in ("0.weight", "0.bias", "2.weight", "2.bias")], path)
    assert load(path, "relu") == load(states[0], "relu")


@pytest.mark.slow
def test_torch_is_not_imported(path: Path) -> None:
    torch.save(nn.Linear(2, 1).state_dict(), path)
    code = f"import sys; from regions.read import load; print(load({str(path)!r}), 'torch' in sys.modules)"
    folder = Path(regions.__file__).parent.parent  # the copy that is tested, not the source folder
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    assert result.stdout.strip() == "Network(2-1, affine, 0 hidden neurons) False"


def policy_zip(path: Path, policy: bytes, **kind: int) -> Path:
    """Write the members that Stable-Baselines3 writes, without settings."""
    with zipfile.ZipFile(path, "w", **kind) as archive:  # type: ignore[arg-type]
        for name, content in {
            "data": b"{}",
            "pytorch_variables.pth": b"",
            "policy.pth": policy,
            "policy.optimizer.pth": b"not opened",
            "_stable_baselines3_version": b"2.3.2",
            "system_info.txt": b"- OS: Linux",
        }.items():
            archive.writestr(name, content)
    return path


def test_policies_of_stable_baselines(tmp_path: Path) -> None:
    body = {"policy_net": nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU())}
    body["value_net"] = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU())
    policy = nn.ModuleDict({"mlp_extractor": nn.ModuleDict(body), "action_net": nn.Linear(8, 2)})
    policy["value_net"] = nn.Linear(8, 1)
    policy.log_std = nn.Parameter(torch.zeros(2))
    content = io.BytesIO()
    torch.save(policy.state_dict(), content)
    path = policy_zip(tmp_path / "model.zip", content.getvalue())
    actor = load(path, "relu", prefix=["mlp_extractor.policy_net", "action_net"])
    assert actor == load(nn.Sequential(*body["policy_net"], policy["action_net"]))
    with pytest.raises(CheckpointError, match=r"mlp_extractor\.policy_net \(4-8-8\)"):
        load(path, "relu")


def test_hostile_policies(tmp_path: Path) -> None:
    with pytest.raises(TruncatedFileError, match=r"model\.zip: policy\.pth: begins like a zip"):
        load(policy_zip(tmp_path / "model.zip", b"PK\x03\x04" + bytes(100)), "relu")
    with pytest.raises(FileTooLargeError, match=r"policy\.pth unpacks to 10000 bytes, more than the file has"):
        load(policy_zip(tmp_path / "packed.zip", bytes(10000), compression=zipfile.ZIP_DEFLATED), "relu")
    with pytest.raises(UnsafePickleError, match=r"empty\.zip: policy\.pth: a bare pickle"):
        load(policy_zip(tmp_path / "empty.zip", b""), "relu")
