# SPDX-License-Identifier: MIT
"""Is a file recognised by its content, with any name, and as an open file, too?"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest

import regions
from hostile_files import safetensors_file, saved_as_safetensors, saved_by_torch, zip_file
from regions.errors import NotACheckpointError, TruncatedFileError
from regions.read import load, read_tensors

WEIGHTS = {
    "0.weight": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype="<f4"),
    "0.bias": np.array([0.5, -0.5, 0.25], dtype="<f4"),
    "2.weight": np.array([[1.0, -1.0, 2.0]], dtype="<f4"),
    "2.bias": np.array([0.25], dtype="<f4"),
}


def files() -> dict[str, bytes]:
    """Return the same network in each format."""
    arrays = io.BytesIO()
    np.savez(arrays, **WEIGHTS)
    return {
        "npz": arrays.getvalue(),
        "torch": saved_by_torch(WEIGHTS),
        "safetensors": saved_as_safetensors(WEIGHTS),
    }


EXPECTED = regions.load(WEIGHTS, "relu")


@pytest.mark.parametrize("kind", list(files()))
@pytest.mark.parametrize(
    "name", ["m.pt", "m.ckpt", "m.bin", "m.pth.tar", "m.pkl", "m", "m.npz", "m.safetensors", ".hidden", "m.txt"]
)
def test_names_do_not_matter(tmp_path: Path, kind: str, name: str) -> None:
    (tmp_path / name).write_bytes(files()[kind])
    assert load(tmp_path / name, "relu") == EXPECTED


@pytest.mark.parametrize("kind", list(files()))
def test_open_files(tmp_path: Path, kind: str) -> None:
    (tmp_path / "model").write_bytes(files()[kind])
    for file in (
        io.BytesIO(files()[kind]),
        (tmp_path / "model").open("rb"),
        (tmp_path / "model").open("rb", buffering=0),
        gzip.open(io.BytesIO(gzip.compress(files()[kind]))),
    ):
        with file:
            file.seek(3)  # as after a write: the position does not matter
            assert load(file, "relu") == EXPECTED
            assert list(read_tensors(file)) == list(WEIGHTS)
            assert not file.closed


def test_open_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(files()["npz"])
    reading, writing = os.pipe()
    with (tmp_path / "model").open(encoding="latin-1") as text, pytest.raises(TypeError, match="'rb'"):
        load(text, "relu")
    with open(reading, "rb") as pipe, open(writing, "wb"), pytest.raises(TypeError, match="must be able to seek"):
        load(pipe, "relu")
    closed = io.BytesIO(files()["npz"])
    closed.close()
    with pytest.raises(TypeError, match="closed file"):
        load(closed, "relu")
    with pytest.raises(TruncatedFileError, match="the open file: the file is empty"):
        load(io.BytesIO(), "relu")


def _zip_of(*names: str) -> bytes:
    return zip_file(dict.fromkeys(names, b""))


def other_files() -> dict[str, tuple[bytes, str]]:
    """Return files that are not models, and a word of the message about them."""
    tar, array = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("storages"), io.BytesIO())
    np.save(array, WEIGHTS["0.weight"])
    return {
        "tar": (tar.getvalue(), "a tar archive"),
        "npy": (array.getvalue(), "without a name, or several"),
        "gzip": (gzip.compress(files()["npz"]), "gzip"),
        "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(100), "HDF5"),
        "git lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull"),
        "matlab": (b"MATLAB 5.0 MAT-file, Platform: posix" + bytes(100), r"scipy\.io\.loadmat\('the open file'\)"),
        "matlab, large": (b"MATLAB 7.3 MAT-file, Platform: GLNXA64" + bytes(600), r"h5py\.File"),
        "executorch": (b"<\0\0\0ET12eh00" + bytes(100), r"a program of ExecuTorch.*torch\.export\.save"),
        "tensorflow lite": (b"\x1c\0\0\0TFL3" + bytes(100), r"tf2onnx\.convert --tflite 'the open file' --output"),
        "flax": (b"\x81\xa6params\x81\xa5Dense\x80", r"msgpack_restore.*'W0': kernel\.T"),
        "keras": (_zip_of("config.json", "model.weights.h5"), r"a Keras model.*format='onnx'"),
        "text": (b"these are not weights", "not a model file.*torch files.* .npz"),
    }


NAMED: dict[str, tuple[str, bytes, str]] = {
    "part of a distributed checkpoint": (
        "__0_0.distcp",
        b"PK\x03\x04" + bytes(50),
        r"one file of a distributed checkpoint of torch.*dcp_to_torch_save\('.*', 'model.pt'\)",
    ),
    "its index": (".metadata", b"\x80\x04N.", "one file of a distributed checkpoint"),
    "saved model": ("saved_model.pb", b"\x08\x01\x12\x04", r"a SavedModel of TensorFlow.*--saved-model '.*' --output"),
    "frozen graph": (
        "frozen.pb",
        b"\x0a\x10\x0a\x01x\x12\x0bPlaceholder",
        r"a graph of TensorFlow.*--graphdef '.*frozen.pb'",
    ),
}


@pytest.mark.parametrize("case", list(NAMED))
def test_files_of_other_programs_with_a_name(tmp_path: Path, case: str) -> None:
    name, content, words = NAMED[case]
    (tmp_path / name).write_bytes(content)
    for read in (load, read_tensors):
        with pytest.raises(NotACheckpointError, match=words):
            read(tmp_path / name)


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        (".metadata", r"a distributed checkpoint of torch.*dcp_to_torch_save\('.*/folder', 'model.pt'\)"),
        ("saved_model.pb", r"a SavedModel of TensorFlow.*--saved-model '.*/folder' --output"),
        ("_CHECKPOINT_METADATA", r"a checkpoint of Orbax.*restore\('.*/folder'\)"),
        ("manifest.ocdbt", "a checkpoint of Orbax"),
        ("model.safetensors.index.json", "give the file in it: '.*/folder/model.safetensors.index.json'"),
        ("model.onnx", "give the file in it: '.*/folder/model.onnx'"),
        ("other", "a directory; give the file in it that holds the model"),
    ],
)
def test_folders(tmp_path: Path, inside: str, words: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / inside).touch()
    for read in (load, read_tensors):
        with pytest.raises(NotACheckpointError, match=words):
            read(tmp_path / "folder")


def test_a_header_that_begins_like_another_format(tmp_path: Path) -> None:
    """The first bytes of a safetensors file are a length, which may be the mark of gzip, zlib, msgpack or a pickle."""
    for length in (0x8B1F, 0x0178, 0xA281, 0x0180, 0x0280, 0x0480):
        names = {"__metadata__": {"a": ""}, "0.weight": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}
        names["__metadata__"]["a"] = "x" * (length - len(safetensors_file(names)) + 8)
        content = safetensors_file(names, np.array([1.0, 2.0], "<f4").tobytes())
        assert int.from_bytes(content[:8], "little") == length
        assert load(io.BytesIO(content)).layers[0].weights.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("kind", list(other_files()))
def test_other_files_are_named(kind: str) -> None:
    content, words = other_files()[kind]
    with pytest.raises(NotACheckpointError, match=words):
        load(io.BytesIO(content))


def test_pipes_are_not_opened(tmp_path: Path) -> None:
    """Opening a pipe would wait for its writer."""
    os.mkfifo(tmp_path / "pipe.npz")
    for read in (load, read_tensors, regions.load_partition):
        with pytest.raises(NotACheckpointError, match="not an ordinary file"):
            read(tmp_path / "pipe.npz")


def test_escape_sequences_do_not_reach_the_terminal(tmp_path: Path) -> None:
    entry = {"dtype": "\x1b[2J\x07", "shape": [1], "data_offsets": [0, 4]}
    name = "\x1b]0;title\x07.safetensors"
    (tmp_path / name).write_bytes(safetensors_file({"0.\x1b[31mweight" + "x" * 10_000: entry}, bytes(4)))
    with pytest.raises(regions.errors.RegionsError) as caught:
        load(tmp_path / name)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000
