# SPDX-License-Identifier: MIT
"""Can a file make the readers run code, hang, exhaust memory, or fail with anything but an error of ours?"""

from __future__ import annotations

import struct
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from hostile_files import (
    hostile_files,
    hostile_torch_pickles,
    npy,
    program,
    running_pickles,
    safetensors_file,
    saved_by_torch,
    torch_file,
    zip_file,
)
from regions.errors import CheckpointError, FileTooLargeError, RegionsError, TruncatedFileError, UnsafePickleError
from regions.files import limits
from regions.read import load, read_tensors

WEIGHTS = {
    "0.weight": np.array([[1.0, 2.0], [3.0, 4.0]], dtype="<f4"),
    "0.bias": np.array([0.5, -0.5], dtype="<f4"),
    "2.weight": np.array([[1.0, -1.0]], dtype="<f8"),
    "2.bias": np.array([0.25], dtype="<f8"),
}


def small_files() -> dict[str, bytes]:
    """Return a sound file of each format, all with the same network."""
    members = {}
    for name, array in zip(("W0", "b0", "W1", "b1"), WEIGHTS.values(), strict=True):
        header = f"{{'descr': {array.dtype.str!r}, 'fortran_order': False, 'shape': {array.shape}, }}"
        members[f"{name}.npy"] = npy(header.encode(), array.tobytes())
    entries: dict[str, dict[str, object]] = {}
    data = b""
    for name, array in WEIGHTS.items():
        kind = {4: "F32", 8: "F64"}[array.itemsize]
        offsets = [len(data), len(data) + array.nbytes]
        entries[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": offsets}
        data += array.tobytes()
    return {
        ".pt": saved_by_torch(WEIGHTS),
        ".npz": zip_file(members),
        ".npz deflated": zip_file(members, zipfile.ZIP_DEFLATED),
        ".safetensors": safetensors_file(entries, data),
    }


@pytest.fixture(params=list(small_files()))
def small_file(request: pytest.FixtureRequest) -> tuple[str, bytes]:
    return request.param.split()[0], small_files()[request.param]


def write(folder: Path, suffix: str, content: bytes) -> Path:
    path = folder / f"model{suffix}"
    path.write_bytes(content)
    return path


def test_the_small_files_are_sound(tmp_path: Path, small_file: tuple[str, bytes]) -> None:
    net = load(write(tmp_path, *small_file), activation="relu")
    assert repr(net) == "Network(2-2-1, relu, 2 hidden neurons)"
    assert net([1.0, 1.0]) == [3.5 - 6.5 + 0.25]


@pytest.mark.parametrize("what", list(hostile_files()))
def test_hostile_file_is_refused_by_name(tmp_path: Path, what: str) -> None:
    suffix, content, expected = hostile_files()[what]
    with pytest.raises(expected) as caught:
        load(write(tmp_path, suffix, content), activation="relu")
    assert type(caught.value) is expected
    assert "model" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("what", list(hostile_torch_pickles()))
def test_hostile_pickle_is_refused_by_name(tmp_path: Path, what: str) -> None:
    pickled, expected = hostile_torch_pickles()[what]
    path = write(tmp_path, ".pt", torch_file(pickled, {"0": bytes(16)}))
    started = time.process_time()
    with pytest.raises(expected) as caught:
        load(path, activation="relu")
    assert type(caught.value) is expected
    assert len(str(caught.value)) < 2000
    assert time.process_time() - started < 120  # measured: 2 s for the longest; a hang would be hours


@pytest.mark.parametrize("what", list(running_pickles("x")))
def test_nothing_is_run(tmp_path: Path, what: str) -> None:
    marker = tmp_path / "was_run"
    pickled = running_pickles(str(marker))[what]
    for content in (torch_file(pickled, {"0": bytes(16)}), pickled):
        with pytest.raises(CheckpointError):
            load(write(tmp_path, ".pt", content), activation="relu")
        assert not marker.exists()
    inside = zip_file({"W0.npy": npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", pickled)})
    with pytest.raises(UnsafePickleError):
        load(write(tmp_path, ".npz", inside), activation="relu")
    assert not marker.exists()


def test_calls_are_named_as_unsafe(tmp_path: Path) -> None:
    for what, pickled in running_pickles(str(tmp_path / "was_run")).items():
        with pytest.raises(UnsafePickleError, match="Nothing was run"):
            load(write(tmp_path, ".pt", torch_file(pickled)), activation="relu")
        assert what


def test_the_hostile_pickles_do_run_elsewhere(tmp_path: Path) -> None:
    """The tests above would pass for pickles that are merely broken; these are not."""
    import pickle

    marker = tmp_path / "was_run"
    for what in (
        "os.system, protocol 0",
        "os.system, protocol 4",
        "exec",
        "inst",
        "obj",
        "stack global",
    ):
        pickle.loads(running_pickles(str(marker))[what])
        assert marker.exists(), what
        marker.unlink()


@pytest.mark.slow
def test_every_truncation_is_a_checkpoint_error(tmp_path: Path, small_file: tuple[str, bytes]) -> None:
    suffix, content = small_file
    path = tmp_path / f"model{suffix}"
    for length in range(len(content)):
        path.write_bytes(content[:length])
        # Zip archives are recognised by their end; other formats by their beginning.
        with pytest.raises(TruncatedFileError if content.startswith(b"PK") else CheckpointError):
            load(path, activation="relu")


@pytest.mark.slow
def test_random_damage_is_an_error_of_ours_or_loads(tmp_path: Path, small_file: tuple[str, bytes]) -> None:
    suffix, content = small_file
    path = tmp_path / f"model{suffix}"
    generator = np.random.default_rng(20)
    outcomes = set()
    for trial in range(800):
        damaged = bytearray(content)
        for position in generator.integers(len(content), size=1 + trial % 4):
            damaged[position] = generator.integers(256) if trial % 2 else damaged[position] ^ (1 << trial % 8)
        path.write_bytes(damaged)
        try:
            load(path, activation="relu")
            outcomes.add("loaded")
        except RegionsError as error:
            outcomes.add(type(error).__name__)
    assert len(outcomes) >= 3


@pytest.mark.slow
def test_random_damage_to_the_pickle_itself(tmp_path: Path) -> None:
    """As above, but below the zip's checksum, which hides nearly all damage from the pickle reader."""
    with zipfile.ZipFile(write(tmp_path, ".pt", saved_by_torch(WEIGHTS))) as archive:
        members = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    pickled = members["data.pkl"]
    storages = {name[5:]: data for name, data in members.items() if name.startswith("data/")}
    generator = np.random.default_rng(21)
    outcomes = set()
    for trial in range(2500):
        damaged = bytearray(pickled)
        for position in generator.integers(len(pickled), size=1 + trial % 3):
            damaged[position] = generator.integers(256)
        if trial % 5 == 0:
            del damaged[generator.integers(len(damaged)) :]
        path = write(tmp_path, ".pt", torch_file(bytes(damaged), storages))
        try:
            load(path, activation="relu")
            outcomes.add("loaded")
        except RegionsError as error:
            outcomes.add(type(error).__name__)
    assert {"loaded", "NotACheckpointError", "UnsafePickleError"} <= outcomes


@pytest.mark.slow
def test_random_opcodes_are_refused_or_read(tmp_path: Path) -> None:
    """Programs of the machine's own opcodes in random order reach states that damage does not."""
    generator = np.random.default_rng(22)
    parts = [
        b"N",
        b"}",
        b"]",
        b")",
        b"(",
        b"t",
        b"u",
        b"s",
        b"a",
        b"e",
        b"\x85",
        b"\x86",
        b"\x87",
        b"R",
        b"b",
        b"0",
    ]
    parts += [
        b"Q",
        b"q\x00",
        b"h\x00",
        b"\x94",
        b"K\x02",
        b"X\x01\x00\x00\x000",
        b"ctorch\nFloatStorage\n",
        b"\x88",
    ]
    parts += [
        b"ctorch._utils\n_rebuild_tensor_v2\n",
        b"ccollections\nOrderedDict\n",
        b"\x93",
        b"G" + bytes(8),
    ]
    for _ in range(2000):
        chosen = b"".join(parts[i] for i in generator.integers(len(parts), size=generator.integers(1, 40)))
        path = write(tmp_path, ".pt", torch_file(program(chosen), {"0": bytes(16)}))
        try:
            read_tensors(path)
        except RegionsError:
            pass


def test_a_deflate_stream_longer_than_announced_is_not_unpacked(tmp_path: Path) -> None:
    """The zip directory says 64 bytes; the stream would give 200 MiB."""
    content = bytearray(zip_file({"W0.npy": bytes(200 * 2**20)}, zipfile.ZIP_DEFLATED))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = content.find(signature) + offset
        content[start : start + 4] = struct.pack("<I", 64)
    path = write(tmp_path, ".npz", bytes(content))
    tracemalloc.start()
    with pytest.raises(CheckpointError):
        read_tensors(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * 2**20


def test_a_zip_directory_that_claims_gigabytes_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(2**31)  # sparse: takes no room on the disk
        file.seek(2**31)
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFE, 0xFFFE, 2**31 - 16, 16, 0))
    with pytest.raises(FileTooLargeError, match="directory"):
        read_tensors(path)


@pytest.mark.parametrize("suffix", [".pt", ".npz", ".safetensors"])
def test_a_file_above_the_limit_is_refused_before_it_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(limits.MAX_FILE_BYTES + 1)
    with pytest.raises(FileTooLargeError, match=str(limits.MAX_FILE_BYTES)):
        read_tensors(path)


def test_views_of_one_storage_may_not_add_up_to_gigabytes(tmp_path: Path) -> None:
    from hostile_files import dict_of, storage, tensor

    one = tensor([1000, 1000], [0, 0], storage(4))
    pickled = program(dict_of({f"{i}.weight": one for i in range(500)}))
    with pytest.raises(FileTooLargeError, match="tensors"):
        read_tensors(write(tmp_path, ".pt", torch_file(pickled, {"0": bytes(16)})))


def test_small_files_do_not_build_large_networks(tmp_path: Path) -> None:
    """617 bytes once took 2.7 GB: one byte, repeated by a stride of 0, and converted to doubles."""
    from hostile_files import dict_of, storage, tensor

    one = tensor([8000, 8000], [0, 0], storage(16, kind="ByteStorage"))
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (8, 1000000), }"
    for content in (
        torch_file(program(dict_of({"weight": one})), {"0": bytes(16)}),
        zip_file({"W0.npy": npy(header, bytes(8_000_000))}, zipfile.ZIP_DEFLATED),
    ):
        tracemalloc.start()
        with pytest.raises(FileTooLargeError, match="would take"):
            load(write(tmp_path, ".pt", content), activation="relu")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40 * 2**20


def test_calls_by_memo_are_counted(tmp_path: Path) -> None:
    """One list of 2,000 pairs, made into a dict 10,000 times by 5 bytes each."""
    from hostile_files import name, text

    pairs = b"](" + b"".join(b"](" + text(f"k{i}") + b"Ne" for i in range(2000)) + b"e\x85"
    calls = b"\x80\x02" + name("collections", "OrderedDict") + b"q\x00" + pairs + b"q\x010]" + b"h\x00h\x01Ra" * 10_000
    tracemalloc.start()
    with pytest.raises(FileTooLargeError, match="entries"):
        read_tensors(write(tmp_path, ".pt", torch_file(calls + b"e.")))
    assert tracemalloc.get_traced_memory()[1] < 100 * 2**20
    tracemalloc.stop()


def test_views_by_memo_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hostile_files import dict_of, storage, tensor

    monkeypatch.setattr(limits, "MAX_TENSORS", 5)
    entries = {f"{i}.weight": tensor([1, 1], [1, 1], storage(1)) for i in range(6)}
    with pytest.raises(FileTooLargeError, match="more than 5 tensors"):
        read_tensors(write(tmp_path, ".pt", torch_file(program(dict_of(entries)), {"0": bytes(16)})))
