# SPDX-License-Identifier: MIT
"""Are models in several files read by their index, and never one file alone as a whole network?"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hostile_files import safetensors_file, saved_as_safetensors, saved_by_torch
from regions import load
from regions.errors import (
    AmbiguousCheckpointError,
    CheckpointError,
    FileTooLargeError,
    NotACheckpointError,
    TruncatedFileError,
)
from regions.read import read_tensors

WEIGHTS = {
    "0.weight": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, -6.0]], dtype="<f4"),
    "0.bias": np.array([0.5, -0.5, 0.25], dtype="<f4"),
    "2.weight": np.array([[1.0, -1.0, 2.0], [2.0, 0.0, 1.0]], dtype="<f4"),
    "4.weight": np.array([[1.0, -1.0]], dtype="<f4"),
}
INDEX = {"safetensors": "model.safetensors.index.json", "bin": "pytorch_model.bin.index.json"}


def shard(number: int, kind: str) -> str:
    return f"{INDEX[kind].partition('.')[0]}-{number:05}-of-00002.{kind}"


def saved(folder: Path, kind: str, **change: Any) -> Path:
    """Write two shards and their index, with changes in the index."""
    save = saved_as_safetensors if kind == "safetensors" else saved_by_torch
    parts = ({"0.weight", "0.bias", "2.weight"}, {"4.weight"})
    for number, names in enumerate(parts, start=1):
        content = save({name: array for name, array in WEIGHTS.items() if name in names})
        (folder / shard(number, kind)).write_bytes(content)
    places = {name: shard(1 if name in parts[0] else 2, kind) for name in WEIGHTS}
    index = {"metadata": {"total_size": 60}, "weight_map": places} | change
    (folder / INDEX[kind]).write_text(json.dumps(index, indent=2))
    return folder / INDEX[kind]


def test_a_shard_whose_header_has_128_bytes(tmp_path: Path) -> None:
    """This length begins with the first byte of a pickle."""
    weights = {"0.weight": WEIGHTS["0.weight"]}
    entry = {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}
    names: dict[str, Any] = {"__metadata__": {"a": ""}, "0.weight": entry}
    names["__metadata__"]["a"] = "x" * (128 - len(safetensors_file(names)) + 8)
    content = safetensors_file(names, weights["0.weight"].tobytes())
    assert content[:8] == bytes([128, *[0] * 7])
    (tmp_path / "only.safetensors").write_bytes(content)
    index = tmp_path / INDEX["safetensors"]
    index.write_text(json.dumps({"weight_map": {"0.weight": "only.safetensors"}}))
    assert load(index, "relu") == load(weights, "relu")


@pytest.mark.parametrize("kind", ["safetensors", "bin"])
def test_the_index_reads_all_files(tmp_path: Path, kind: str) -> None:
    index = saved(tmp_path, kind)
    assert load(index, "relu") == load(WEIGHTS, "relu")
    assert {name: array.tolist() for name, array in read_tensors(index).items()} == {
        name: array.tolist() for name, array in WEIGHTS.items()
    }


@pytest.mark.parametrize("kind", ["safetensors", "bin"])
def test_one_file_of_several_is_refused(tmp_path: Path, kind: str) -> None:
    index = saved(tmp_path, kind)
    first = tmp_path / shard(1, kind)
    with pytest.raises(AmbiguousCheckpointError, match=rf"one of 2 files with parts of a model; load '{INDEX[kind]}'"):
        load(first, "relu")
    index.unlink()
    with pytest.raises(AmbiguousCheckpointError, match="copy all of them"):
        load(first, "relu")
    with first.open("rb") as file, pytest.raises(AmbiguousCheckpointError, match="one of 2 files"):
        load(file, "relu")
    joined = read_tensors(first) | read_tensors(tmp_path / shard(2, kind))
    assert load(joined, "relu") == load(WEIGHTS, "relu")
    for name in ("model-00001-of-00001.safetensors", "seed-1-of-3.safetensors"):
        (tmp_path / name).write_bytes(saved_as_safetensors(WEIGHTS))
        assert load(tmp_path / name, "relu") == load(WEIGHTS, "relu")


def test_files_with_a_part_of_every_layer_are_refused(tmp_path: Path) -> None:
    for first, second in (
        ("consolidated.00.safetensors", "consolidated.01.safetensors"),
        ("mp_rank_07_model_states.pt", "mp_rank_08_model_states.pt"),
    ):
        for name in (first, second):
            assert name != second or load(tmp_path / first, "relu").n_in == 2, "alone it may be a whole network"
            (tmp_path / name).write_bytes(saved_as_safetensors(WEIGHTS))
        for name, other in ((first, second), (second, first)):
            with pytest.raises(AmbiguousCheckpointError, match=f"'{other}' beside it, one of several files"):
                load(tmp_path / name, "relu")


def test_other_names_of_a_tensor_in_the_index(tmp_path: Path) -> None:
    weights = {"0.weight": np.eye(2, dtype="<f4"), "2.weight": np.eye(2, dtype="<f4"), "4.weight": WEIGHTS["4.weight"]}
    (tmp_path / "a.safetensors").write_bytes(saved_as_safetensors({"0.weight": weights["0.weight"]}))
    (tmp_path / "b.safetensors").write_bytes(saved_as_safetensors({"4.weight": weights["4.weight"]}))
    index = {
        "metadata": {"total_size": 24, "2.weight": "0.weight"},
        "weight_map": {"0.weight": "a.safetensors", "4.weight": "b.safetensors"},
    }
    (tmp_path / "i.json").write_text(json.dumps(index))
    assert load(tmp_path / "i.json", "relu") == load(weights, "relu")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("../model-00001-of-00002.safetensors", "only a plain name beside the index is"),
        ("/etc/passwd", "only a plain name"),
        ("..", "only a plain name"),
        ("", "only a plain name"),
        (7, "only a plain name"),
        ("a\0b", "only a plain name"),
        ("missing.safetensors", "which is not beside it"),
        ("\ud800", "not opened"),
        ("link.safetensors", "must be an ordinary file"),
        ("folder", "not an ordinary file"),
        ("pipe", "not an ordinary file"),
    ],
)
def test_names_that_are_not_opened(tmp_path: Path, place: Any, words: str) -> None:
    index = saved(tmp_path, "safetensors")
    (tmp_path / "link.safetensors").symlink_to(tmp_path / shard(1, "safetensors"))
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    index.write_text(json.dumps({"weight_map": {"0.weight": place}}))
    with pytest.raises(CheckpointError, match=words):
        load(index, "relu")


def test_index_and_files_that_differ(tmp_path: Path) -> None:
    index = saved(tmp_path, "safetensors")
    places = json.loads(index.read_text())["weight_map"]
    first = shard(1, "safetensors")
    for weight_map, words in (
        (places | {"6.weight": first}, f"names 6.weight in '{first}', which are not there"),
        ({name: places[name] for name in ("0.weight", "0.bias", "4.weight")}, f"does not name 2.weight, .*{first}"),
        (
            {name: place for name, place in places.items() if place == first},
            r"names 1 of the 2 files model-.*-of-00002",
        ),
        ({}, "names 0 files"),
        ({str(i): f"{i}.safetensors" for i in range(1001)}, "names 1001 files"),
    ):
        index.write_text(json.dumps({"weight_map": weight_map}))
        with pytest.raises(CheckpointError, match=words):
            load(index, "relu")
    with pytest.raises(CheckpointError, match="was given open; give its path"):
        load(io.BytesIO(json.dumps({"weight_map": places}).encode()), "relu")


def test_damaged_indices_and_files(tmp_path: Path) -> None:
    index = saved(tmp_path, "safetensors", metadata=[])
    with pytest.raises(NotACheckpointError, match="'metadata' are not an object"):
        load(index, "relu")
    index.write_text('{"weight_map": ["0.weight"]}')
    with pytest.raises(NotACheckpointError, match="'weight_map' is not an object"):
        load(index, "relu")
    index.write_text('{"weight_map": {}, "other": 1}')
    with pytest.raises(NotACheckpointError, match="an index has no entry 'other'"):
        load(index, "relu")
    index.write_text('{"weight_map": {"0.weight": ')
    with pytest.raises(NotACheckpointError, match="not JSON"):
        load(index, "relu")
    index.write_text(json.dumps({"weight_map": {INDEX["safetensors"]: INDEX["safetensors"]}}))
    with pytest.raises(CheckpointError):
        load(index, "relu")
    index.write_text('{"weight_map": {"0.weight": "x"}}' + " " * 2**23)
    with pytest.raises(FileTooLargeError, match="an index of"):
        load(index, "relu")
    index = saved(tmp_path, "safetensors", metadata={"total_size": 69})
    with pytest.raises(NotACheckpointError, match="announces 69 bytes of tensors, and those that it names have 68"):
        load(index, "relu")
    index = saved(tmp_path, "safetensors")
    (tmp_path / shard(2, "safetensors")).write_bytes(b"\x10")
    with pytest.raises(TruncatedFileError, match="too few"):
        load(index, "relu")
    with open(tmp_path / shard(2, "safetensors"), "wb") as file:
        file.truncate(2**40)
    with pytest.raises(FileTooLargeError):
        load(index, "relu")
