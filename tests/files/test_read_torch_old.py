# SPDX-License-Identifier: MIT
"""Are torch files of all versions read: the layout before 1.6, names by address, and objects beside the weights?

torch still writes the layout before 1.6. Parts that it no longer writes (storages named by addresses, classes of
graphics cards, dicts of Python 2) are made byte by byte.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import io
import pathlib
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuzz_file_kinds import kinds
from hostile_files import call, dict_of, integer, name, program, storage, tensor, text, torch_file, tuple_of
from regions.errors import (
    CheckpointError,
    NotACheckpointError,
    UnsafePickleError,
    UnsupportedLayerError,
)
from regions.files.restricted_pickle import Opaque
from regions.read import load, read_tensors

torch = pytest.importorskip("torch")
nn = torch.nn


def saved(content: Any, **options: Any) -> io.BytesIO:
    buffer = io.BytesIO()
    torch.save(content, buffer, **options)
    return buffer


def saved_as_before(content: Any, **options: Any) -> io.BytesIO:
    return saved(content, _use_new_zipfile_serialization=False, **options)


def model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_the_layout_before_1_6(protocol: int) -> None:
    network = model()
    file = saved_as_before({"state_dict": network.state_dict(), "epoch": 3}, pickle_protocol=protocol)
    assert load(file, "relu") == load(network)
    read = read_tensors(file)
    assert read["epoch"] == 3
    assert list(read["state_dict"]) == list(network.state_dict())


@pytest.mark.parametrize(
    "name",
    ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64"],
)
def test_every_type_before_1_6(name: str) -> None:
    values = torch.arange(1, 7).reshape(2, 3).to(getattr(torch, name))
    read = read_tensors(saved_as_before({"w": values, "v": torch.ones(3), "e": values[:0]}))
    assert read["w"].tolist() == values.tolist()
    assert read["v"].tolist() == [1.0, 1.0, 1.0]
    assert read["e"].size == 0


def test_parameters_and_shared_storages_before_1_6() -> None:
    weight = nn.Parameter(torch.randn(3, 3))
    read = read_tensors(saved_as_before({"a": weight, "b": weight, "c": weight.T}))
    assert (read["a"] == read["b"]).all()
    assert (read["a"].T == read["c"]).all()
    assert (read["a"] == weight.detach().numpy()).all()


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (lambda base: base[:2], "use 12 of 24 stored numbers"),
        (lambda base: base[:, ::2], "gaps or repetitions"),
        (lambda base: base[:1].expand(4, 6), "gaps or repetitions"),
    ],
)
def test_weights_that_do_not_fill_their_storage(view: Callable[[torch.Tensor], torch.Tensor], words: str) -> None:
    """There is no checksum in that layout, and a damaged size looks like this."""
    with pytest.raises(NotACheckpointError, match=words):
        load(saved_as_before({"weight": view(torch.randn(4, 6))}))


def test_every_flipped_bit_before_1_6() -> None:
    """Weights may change, because nothing protects them; any other change must be refused."""
    state = {"0.weight": torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), "0.bias": torch.tensor([0.5, 1.0, 2.0])}
    state |= {"2.weight": torch.tensor([[1.0, -1.0, 2.0]]), "2.bias": torch.tensor([0.25])}
    content = saved_as_before(state).getvalue()
    expected = load(io.BytesIO(content), "relu")
    for bit in range(0, 8 * len(content), 5):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            network = load(io.BytesIO(damaged), "relu")
        except (CheckpointError, ValueError) as error:
            assert str(error).isprintable()
            continue
        assert repr(network) == repr(expected)
        assert network.notes == expected.notes
        here, there = (
            np.concatenate([part.ravel() for layer in net.layers for part in (layer.weights, layer.biases)])
            for net in (network, expected)
        )
        assert (here != there).sum() <= 1


def address_file() -> bytes:
    """Return a file as torch 1.6 to 1.8 wrote it: storages are named by their addresses in memory."""
    keys = ("94123456789012", "140234567890128")
    entries = {
        "weight": tensor([1, 2], [2, 1], storage(2, keys[0])),
        "bias": call(
            name("torch._utils", "_rebuild_parameter"),
            tensor([1], [1], storage(1, keys[1])),
            b"\x88",
            call(name("collections", "OrderedDict")),
        ),
    }
    numbers = {keys[0]: np.array([1.5, 2.5], "<f4").tobytes(), keys[1]: np.array([3.0], "<f4").tobytes()}
    return torch_file(program(dict_of(entries)), numbers)


def test_storages_named_by_address() -> None:
    network = load(io.BytesIO(address_file()))
    assert network.layers[0].weights.tolist() == [[1.5, 2.5]]
    assert network.layers[0].biases.tolist() == [3.0]


def test_classes_of_graphics_cards_and_the_first_builder() -> None:
    reference = (text("storage"), name("torch.cuda", "FloatStorage"), text("0"), text("cuda:0"), integer(2))
    old = call(
        name("torch._utils", "_rebuild_tensor"),
        tuple_of(*reference) + b"Q",
        integer(0),
        tuple_of(integer(1), integer(2)),
        tuple_of(integer(2), integer(1)),
    )
    content = torch_file(program(dict_of({"weight": old})), {"0": np.array([1.5, 2.5], "<f4").tobytes()})
    assert read_tensors(io.BytesIO(content))["weight"].tolist() == [[1.5, 2.5]]


def test_ordered_dicts_of_python_2() -> None:
    pair = b"](" + text("weight") + tensor([1, 2], [2, 1], storage(2)) + b"e"
    content = torch_file(program(call(name("collections", "OrderedDict"), b"](" + pair + b"e")), {"0": bytes(8)})
    assert read_tensors(io.BytesIO(content))["weight"].shape == (1, 2)


class Unknown:
    """A class that no reader knows, with state, slots and all."""

    def __init__(self) -> None:
        self.value = {"a": torch.ones(1), "b": [1, 2]}


class Listed(list):  # type: ignore[type-arg]
    """A list with a class of its own."""


class Mapped(dict):  # type: ignore[type-arg]
    """A dict with a class of its own."""


def beside() -> dict[str, Any]:
    """Return objects that checkpoints hold beside the weights."""
    return {
        "numpy scalar": np.float64(0.5),
        "numpy array": np.arange(3.0),
        "namespace": argparse.Namespace(lr=0.1, path=pathlib.PurePosixPath("/tmp/x")),
        "path": pathlib.PurePosixPath("a"),
        "device": torch.device("cpu"),
        "dtype": torch.float32,
        "size": torch.Size([1, 2]),
        "set": {1, "a"},
        "frozenset": frozenset({1}),
        "counter": collections.Counter("abc"),
        "defaultdict": collections.defaultdict(list, a=[1]),
        "deque": collections.deque([1, 2], maxlen=3),
        "date": datetime.datetime(2020, 1, 1),
        "delta": datetime.timedelta(1),
        "complex": 1j,
        "bytes": b"abc",
        "bytearray": bytearray(b"abc"),
        "range": range(3),
        "unknown": Unknown(),
        "class": Unknown,
        "function": saved,
        "listed": Listed([1, 2]),
        "mapped": Mapped(a=1),
        "module": nn.ReLU(),
        "sparse": torch.ones(2).to_sparse(),
    }


@pytest.mark.parametrize("protocol", [2, 4, 5])
@pytest.mark.parametrize("what", list(beside()))
@pytest.mark.parametrize("save", [saved, saved_as_before])
@pytest.mark.filterwarnings("ignore")
def test_objects_stored_with_the_weights(what: str, protocol: int, save: Callable[..., io.BytesIO]) -> None:
    network = model()
    file = save({"extra": beside()[what], "model": network.state_dict()}, pickle_protocol=protocol)
    assert load(file, "relu") == load(network)


def test_objects_are_named_and_not_built() -> None:
    read = read_tensors(saved({"args": argparse.Namespace(lr=0.1), "w": torch.ones(1)}))
    assert isinstance(read["args"], Opaque)
    assert repr(read["args"]) == "<argparse.Namespace, not built>"
    assert read["args"].state == {"lr": 0.1}


UNREADABLE: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "sparse in blocks": (lambda: torch.ones(2, 2).to_sparse_bsr((1, 1)), UnsafePickleError),
    "numpy": (lambda: np.ones(3), UnsafePickleError),
    "quantized": (lambda: torch.quantize_per_tensor(torch.ones(3), 0.5, 0, torch.qint8), UnsafePickleError),
    "list": (lambda: [0.0, 0.0, 0.0], UnsupportedLayerError),
    "number": (lambda: 0.5, UnsupportedLayerError),
}


@pytest.mark.parametrize("what", list(UNREADABLE))
@pytest.mark.filterwarnings("ignore")
def test_an_unreadable_parameter_is_refused(what: str) -> None:
    """The network would silently lose its bias."""
    make, error = UNREADABLE[what]
    value = make()
    state = {"0.weight": torch.ones(3, 2), "0.bias": value, "2.weight": torch.ones(1, 3)}
    with pytest.raises(error, match=r"0\.bias"):
        load(saved(state), "relu")
    if not isinstance(value, torch.Tensor):
        with pytest.raises(error, match=r"0\.bias"):
            load(saved_as_before({"state_dict": state}), "relu")
    assert load(saved(state | {"0.bias": None}), "relu").layers[0].biases.tolist() == [0.0] * 3


def test_a_tensor_by_an_unknown_builder_is_refused() -> None:
    """Four bytes cut out of a key and the name of its builder once made it an unknown object of another name."""
    content = saved_as_before({"2.weight": torch.ones(1, 3), "2.bias": torch.ones(1)}).getvalue()
    for builder in (b"corch._utils\n", b"chidden\n"):
        damaged = content.replace(b"2.biasq", b"2.bixxq")
        head, _, tail = damaged.rpartition(b"h\x02(")
        damaged = head + builder + b"_rebuild_tensor_v2\n(" + tail
        with pytest.raises(UnsafePickleError, match="2.bixx"):
            load(io.BytesIO(damaged))


def test_a_list_in_a_mapping_is_refused() -> None:
    with pytest.raises(UnsupportedLayerError, match=r"b0 has type list and is not an array"):
        load({"W0": np.ones((3, 2)), "b0": [1.0, 2.0, 3.0]})


def test_damage_before_1_6() -> None:
    content = saved_as_before({"weight": torch.ones(1, 2)}).getvalue()
    for damaged, words in (
        (content + b"\0", "1 bytes at its end belong to nothing"),
        (content[:-1], "ends 1 bytes before a storage does"),
        (content.replace(b"little_endianq", b"little_endiaNq"), "another byte order"),
        (content.replace(b"FloatStorage", b"QInt8Storage"), "of type torch.QInt8Storage"),
        (content[:-16] + b"\3" + content[-15:], "is not where it should be"),
    ):
        with pytest.raises((CheckpointError, UnsupportedLayerError), match=words):
            load(io.BytesIO(damaged))
    for length in range(len(content)):
        with pytest.raises(CheckpointError):
            load(io.BytesIO(content[:length]))


def test_a_bare_pickle_is_not_opened() -> None:
    with pytest.raises(UnsafePickleError, match="bare pickle"):
        load(io.BytesIO(pickle.dumps({"a": 1}, 2)))


def test_a_maker_of_tensors_in_the_place_of_a_tensor(tmp_path: pathlib.Path) -> None:
    """16 bytes are missing, so the layer's weight is the function that should have made it."""
    content = kinds()["torch before 1.6"].content
    missing = content.index(b"tRX\x06\x00\x00\x002.biasctorch._utils") + 1
    (tmp_path / "damaged.pt").write_bytes(content[:missing] + content[missing + 16 :])
    with pytest.raises(UnsupportedLayerError, match="2.weight has type Function and is not an array"):
        load(tmp_path / "damaged.pt", activation="relu")
