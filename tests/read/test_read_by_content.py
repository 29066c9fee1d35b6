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
from hostile_files import safetensors_file, saved_as_safetensors, saved_by_torch
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


def other_files() -> dict[str, tuple[bytes, str]]:
    """Return files that are not models, and a word of the message about them."""
    tar, array = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("storages"), io.BytesIO())
    np.save(array, WEIGHTS["0.weight"])
    return {
        "tar": (tar.getvalue(), "a tar archive"),
        "npy": (array.getvalue(), "single array"),
        "gzip": (gzip.compress(files()["npz"]), "gzip"),
        "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(100), "HDF5"),
        "git lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull"),
        "text": (b"these are not weights", "not a model file.*torch files.* .npz"),
    }


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
