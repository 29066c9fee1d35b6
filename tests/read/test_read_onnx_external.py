# SPDX-License-Identifier: MIT
"""Are weights in a file beside an ONNX model read, and no other files that a model may name?"""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from onnx_parts import mlp, node
from regions import load
from regions.errors import CheckpointError, FileTooLargeError, NotACheckpointError, RegionsError, TruncatedFileError
from regions.read import read_tensors


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Return a model with its weights in a separate file, as onnx writes both."""
    path = tmp_path / "m.onnx"
    onnx.save(mlp(), path, save_as_external_data=True, location="m.onnx.data", size_threshold=0)
    return path


def changed(path: Path, change: Callable[[onnx.ModelProto], None]) -> Path:
    model = onnx.load(path, load_external_data=False)
    change(model)
    path.write_bytes(model.SerializeToString())
    return path


def entries(path: Path, **values: str) -> Path:
    """Return the model with other entries in its first tensor."""

    def change(model: onnx.ModelProto) -> None:
        tensor = model.graph.initializer[0]
        given = {one.key: one.value for one in tensor.external_data} | values
        del tensor.external_data[:]
        for key, value in given.items():
            tensor.external_data.add(key=key, value=value)

    return changed(path, change)


def test_both_files_make_the_network(saved: Path) -> None:
    inside = saved.with_name("inside.onnx")
    onnx.save(mlp(), inside)
    assert saved.stat().st_size < inside.stat().st_size + 500
    assert load(saved) == load(inside)
    assert all(np.array_equal(array, read_tensors(inside)[name]) for name, array in read_tensors(saved).items())


def test_a_file_for_each_tensor_and_without_lengths(saved: Path) -> None:
    network = load(saved)
    onnx.save(mlp(), saved, save_as_external_data=True, all_tensors_to_one_file=False, size_threshold=0)
    assert load(saved) == network

    def without_length(model: onnx.ModelProto) -> None:
        for tensor in model.graph.initializer:
            (location,) = (one for one in tensor.external_data if one.key == "location")
            del tensor.external_data[:]
            tensor.external_data.append(location)

    assert load(changed(saved, without_length)) == network


def test_constants_of_nodes(saved: Path) -> None:
    def move(model: onnx.ModelProto) -> None:
        tensor = model.graph.initializer.pop(0)
        constant = node("Constant", [], tensor.name, value=tensor)
        model.graph.node.insert(0, constant)

    network = load(saved)
    assert load(changed(saved, move)) == network


@pytest.mark.parametrize("name", ["", ".", "..", "../m.onnx.data", "/etc/passwd", "a/b", "a\\b", "nul\0"])
def test_only_plain_names_are_opened(saved: Path, name: str) -> None:
    with pytest.raises(CheckpointError, match="is not opened, as only a plain name beside the model is"):
        load(entries(saved, location=name))


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("put", "words"),
    [
        (Path.unlink, "'m.onnx.data', which is not beside it; copy both files to one folder"),
        (_link, "it must be an ordinary file that can be read"),
        (_pipe, "which is not an ordinary file"),
        (_folder, "which is not an ordinary file"),
    ],
)
def test_unusable_files_of_external_data(saved: Path, put: Callable[[Path], None], words: str) -> None:
    put(saved.with_name("m.onnx.data"))
    with pytest.raises(CheckpointError, match=words):
        load(saved)


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"offset": "-1"}, NotACheckpointError, "impossible offset"),
        ({"length": "1e3"}, NotACheckpointError, "impossible length"),
        ({"length": "9" * 30}, NotACheckpointError, "impossible length"),
        ({"offset": "1000000"}, TruncatedFileError, "is at 1000000 in 'm.onnx.data'"),
        ({"length": "1000000"}, TruncatedFileError, "1000000 bytes, and that file has"),
        ({"length": "20"}, NotACheckpointError, "20 bytes of data"),
        ({"basepath": "/"}, NotACheckpointError, "in an unknown way where it is"),
    ],
)
def test_wrong_positions_of_external_data(
    saved: Path, values: dict[str, str], error: type[RegionsError], words: str
) -> None:
    with pytest.raises(error, match=words):
        load(entries(saved, **values))


def test_an_open_file_has_no_external_data(saved: Path) -> None:
    with open(saved, "rb") as file, pytest.raises(CheckpointError, match="was given open; give its path"):
        load(file)


def test_many_tensors_of_one_large_file(saved: Path) -> None:
    """Each of them is the whole file."""
    with open(saved.with_name("m.onnx.data"), "r+b") as data:
        data.write(b"x" * 2**21)

    def change(model: onnx.ModelProto) -> None:
        for number in range(40):
            tensor = model.graph.initializer.add()
            tensor.CopyFrom(model.graph.initializer[0])
            tensor.name = f"more{number}"
            del tensor.external_data[:]
            tensor.external_data.add(key="location", value="m.onnx.data")

    with pytest.raises(FileTooLargeError, match="the tensors in other files would take"):
        load(changed(saved, change))


@pytest.mark.parametrize("name", ["m.onnx", "m.onnx.data"])
def test_files_with_holes(saved: Path, name: str) -> None:
    os.truncate(saved.with_name(name), 2**32)
    tracemalloc.start()
    try:
        with pytest.raises(FileTooLargeError, match="the file, which has holes, would take 4294967296 bytes"):
            load(saved)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
