# SPDX-License-Identifier: MIT
"""Does the reader of safetensors files see what the format's own library wrote?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file as save_arrays

from hostile_files import safetensors_file
from regions.errors import (
    AmbiguousCheckpointError,
    FileTooLargeError,
    NonFiniteError,
    NotACheckpointError,
    UnsupportedLayerError,
)
from regions.read import load, read_tensors


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


def save_with_torch(tensors: dict[str, Any], path: Path) -> None:
    from safetensors.torch import save_file

    save_file(tensors, path)


@pytest.mark.parametrize(
    "name",
    [
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint64",
        "bool",
    ],
)
def test_every_type_exactly(path: Path, name: str) -> None:
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, name)
    integers = torch.arange(1, 7).reshape(2, 3)
    values = (integers / 7).to(dtype) if dtype.is_floating_point else integers.to(dtype)
    save_with_torch({"w": values}, path)
    read = read_tensors(path)["w"]
    assert read.tolist() == values.tolist()
    assert read.dtype.isnative


def test_scalars_and_empty_tensors(path: Path) -> None:
    save_arrays({"a": np.array(3.0), "b": np.zeros((0, 3)), "c": np.arange(3.0)}, path)
    read = read_tensors(path)
    assert read["a"].shape == ()
    assert read["a"] == 3.0
    assert read["b"].size == 0
    assert read["c"].tolist() == [0.0, 1.0, 2.0]


def test_metadata_about_other_things(path: Path) -> None:
    save_arrays({"0.weight": np.ones((1, 2))}, path, metadata={"format": "0.weight", "author": "0.weight and 1.weight"})
    assert repr(load(path)) == "Network(2-1, affine, 0 hidden neurons)"
    assert list(read_tensors(path)) == ["0.weight"]


SHARED = {"0.weight": np.ones((4, 2)), "2.weight": np.eye(4), "2.bias": np.ones(4), "6.weight": np.ones((1, 4))}


def test_tensors_that_are_stored_once_under_several_names(path: Path) -> None:
    save_arrays(SHARED, path, metadata={"4.weight": "2.weight", "4.bias": "2.bias", "format": "pt"})
    network = load(path, "relu")
    whole = SHARED | {"4.weight": SHARED["2.weight"], "4.bias": SHARED["2.bias"]}
    assert network == load({name: whole[name] for name in sorted(whole)}, "relu")
    assert repr(network) == "Network(2-4-4-4-1, relu, 12 hidden neurons)"


@pytest.mark.slow
def test_shared_layers_as_the_library_stores_them(path: Path) -> None:
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_model

    layer = torch.nn.Linear(3, 3)
    model = torch.nn.Sequential(layer, torch.nn.ReLU(), layer, torch.nn.ReLU(), torch.nn.Linear(3, 1))
    save_model(model, path)
    assert load(path, "relu") == load(model)


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"4.weight": "3.weight"}, "'4.weight' is the tensor '3.weight', which is not stored"),
        ({"4.weight": "2.weigh4"}, "'4.weight' is the tensor '2.weigh4', which is not stored"),
        ({"2.weight": "0.weight"}, "but both are stored"),
        ({"4.weight": 5}, "not names with texts"),
        (["4.weight"], "not names with texts"),
    ],
)
def test_metadata_that_do_not_fit_the_tensors(path: Path, metadata: Any, words: str) -> None:
    entries = {
        "0.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "2.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [16, 32]},
    }
    path.write_bytes(safetensors_file(entries | {"__metadata__": metadata}, bytes(32)))
    with pytest.raises(NotACheckpointError, match=words):
        load(path, "relu")


def test_metadata_that_are_null(path: Path) -> None:
    """MLX writes them so."""
    entry = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    path.write_bytes(safetensors_file({"0.weight": entry, "__metadata__": None}, np.eye(2, dtype="<f4").tobytes()))
    assert load(path).layers[0].weights.tolist() == [[1, 0], [0, 1]]


def test_many_names_of_one_large_tensor_are_counted(path: Path) -> None:
    names = {f"{i}.weight": "0.weight" for i in range(1, 200)}
    save_arrays({"0.weight": np.zeros((512, 512), np.float32)}, path, metadata=names)
    with pytest.raises(FileTooLargeError, match="tensors under all names"):
        load(path, "relu")


def test_a_file_made_by_hand(path: Path) -> None:
    header = {"0.weight": {"dtype": "BF16", "shape": [1, 2], "data_offsets": [0, 4]}}
    path.write_bytes(safetensors_file(header, np.array([0x3F80, 0xC000], "<u2").tobytes()))
    assert load(path).layers[0].weights.tolist() == [[1.0, -2.0]]


@pytest.mark.parametrize("kind", ["F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ"])
def test_real_numbers_of_8_bits(path: Path, kind: str) -> None:
    """0x3C and 0xC1 are sign, exponent and digits; the biases are 7, 15, 8 and 16."""
    header = {"0.weight": {"dtype": kind, "shape": [1, 2], "data_offsets": [0, 2]}}
    path.write_bytes(safetensors_file(header, bytes([0x3C, 0xC1])))
    expected = {"F8_E4M3": [1.5, -2.25], "F8_E5M2": [1.0, -2.5], "F8_E4M3FNUZ": [0.75, -1.125]}
    assert load(path).layers[0].weights.tolist() == [expected.get(kind, [0.5, -1.25])]
    path.write_bytes(safetensors_file(header, bytes([0x3C, 0x80 if "FNUZ" in kind else 0x7F])))
    with pytest.raises(NonFiniteError, match="is nan; all numbers must be finite"):
        load(path)


def test_scales_beside_weights_are_not_left_out(path: Path) -> None:
    scaled = {"0.weight": np.ones((2, 2), np.float32), "0.weight_scale": np.float32([0.5])}
    save_arrays(scaled, path)
    with pytest.raises(UnsupportedLayerError, match="0.weight_scale"):
        load(path)


def test_twelve_numbered_layers_come_back_in_order(path: Path) -> None:
    """The file holds 0, 10, 12, 14, .., 2, 20, 22, 4, ..: equal widths would chain in that order too."""
    nn = pytest.importorskip("torch").nn
    model = nn.Sequential(*[part for _ in range(12) for part in (nn.Linear(4, 4), nn.ReLU())], nn.Linear(4, 4))
    save_with_torch(model.state_dict(), path)
    assert load(path, "relu") == load(model)


def test_batch_norms_between_numbered_layers(path: Path) -> None:
    torch = pytest.importorskip("torch")
    nn = torch.nn
    parts = [part for _ in range(6) for part in (nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU())]
    model = nn.Sequential(*parts, nn.Linear(4, 2)).eval()
    for part in model:
        if isinstance(part, nn.BatchNorm1d):
            part.running_mean = torch.randn(4)
            part.running_var = torch.rand(4) + 0.5
    save_with_torch(model.state_dict(), path)
    assert load(path, "relu") == load(model)


def test_words_are_ordered_by_the_only_order_that_chains(path: Path) -> None:
    layers = {"input": np.ones((5, 3)), "hidden": np.ones((4, 5)), "output": np.ones((2, 4))}
    save_arrays({f"{name}.weight": weight for name, weight in layers.items()}, path)
    net = load(path, "relu")
    assert repr(net) == "Network(3-5-4-2, relu, 9 hidden neurons)"
    assert any("input, hidden, output" in note for note in net.notes)


def test_numbers_within_words_help(path: Path) -> None:
    """fc1 .. fc11 have equal shapes, and `out` the only other one."""
    layers = {f"fc{i}": np.full((4, 4), float(i)) for i in range(1, 12)} | {"out": np.ones((1, 4))}
    save_arrays({f"{name}.weight": weight for name, weight in layers.items()}, path)
    net = load(path, "relu")
    assert [layer.weights[0, 0] for layer in net.layers] == [*range(1, 12), 1.0]


@pytest.mark.parametrize(
    "shapes",
    [
        {"encoder": (4, 2), "decoder": (2, 4)},  # both orders chain
        {"first": (4, 4), "second": (4, 4)},
        {"fc1": (4, 4), "fc2": (4, 4), "out": (4, 4)},
    ],
)
def test_words_in_more_than_one_possible_order_are_refused(path: Path, shapes: dict[str, tuple[int, int]]) -> None:
    save_arrays({f"{name}.weight": np.ones(shape) for name, shape in shapes.items()}, path)
    with pytest.raises(AmbiguousCheckpointError, match=r"keeps no order.*read_tensors"):
        load(path, "relu")


def test_batch_norms_with_words_are_refused(path: Path) -> None:
    vector = np.ones(4)
    arrays = {"fc1.weight": np.ones((4, 2)), "fc2.weight": np.ones((1, 4)), "bn1.running_mean": vector}
    save_arrays(arrays | {"bn1.running_var": vector}, path)
    with pytest.raises(AmbiguousCheckpointError, match="batch norms"):
        load(path, "relu")


def test_the_advice_works(path: Path) -> None:
    save_arrays({"encoder.weight": np.ones((4, 2)), "decoder.weight": np.ones((2, 4))}, path)
    tensors = read_tensors(path)
    ordered = {name: tensors[name] for name in ("encoder.weight", "decoder.weight")}
    assert repr(load(ordered, "relu")) == "Network(2-4-2, relu, 4 hidden neurons)"


def test_more_tensors_than_a_network_has_are_counted_first(path: Path) -> None:
    entry = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    header = json.dumps({str(i): entry for i in range(20_001)}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(FileTooLargeError, match="announces 20001 tensors; at most 20000 are read"):
        load(path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file of Linux")
def test_a_file_that_cannot_seek_is_refused() -> None:
    with pytest.raises(NotACheckpointError, match="/proc/self/mem: not an ordinary file; copy the model to one"):
        load("/proc/self/mem")
