# SPDX-License-Identifier: MIT
"""Is every member of a zip archive read or refused, whatever byte of it changes?"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hostile_files import saved_by_torch, zip_file
from regions.errors import CheckpointError, FileTooLargeError, NotACheckpointError, TruncatedFileError
from regions.files import limits
from regions.files.zip_file import Archive
from regions.read import read_tensors

# A header with a field for long sizes behind its name, of a version that knows no such field, as Python 3.11.2 writes.
UNREAD_SIZES = re.compile(b"PK\x03\x04\x14\x00.{22}\x14\x00.\x01\x00", re.DOTALL)
MEMBERS = {"a": b"first", "b": b"", "c": b"third" * 9}


def archive_of(content: bytes) -> dict[str, bytes]:
    archive = Archive(io.BytesIO(content), "x.zip", len(content))
    return {name: archive.read(name) for name in archive.sizes}


class Unseekable(io.RawIOBase):
    """Makes `zipfile` write the sizes behind the members."""

    def __init__(self) -> None:
        self.content = b""

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.content += bytes(data)
        return len(data)


def streamed(compression: int, long: bool = False) -> bytes:
    stream = Unseekable()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data in MEMBERS.items():
            with archive.open(name, "w", force_zip64=long) as member:
                member.write(data)
    return stream.content


def archives() -> dict[str, bytes]:
    return {
        "stored": zip_file(MEMBERS),
        "deflated": zip_file(MEMBERS, zipfile.ZIP_DEFLATED),
        "sizes follow": streamed(zipfile.ZIP_STORED),
        "sizes follow, deflated": streamed(zipfile.ZIP_DEFLATED),
        "long sizes follow": streamed(zipfile.ZIP_STORED, True),
    }


@pytest.mark.parametrize("kind", list(archives()))
def test_archives_that_python_writes(kind: str) -> None:
    assert archive_of(archives()[kind]) == MEMBERS


@pytest.mark.parametrize("kind", list(archives()))
def test_every_flipped_bit_changes_nothing_or_is_refused(kind: str) -> None:
    content = archives()[kind]
    same = 0
    for bit in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            assert archive_of(bytes(damaged)) == MEMBERS, bit
            same += 1
        except CheckpointError as error:
            assert len(str(error)) < 500
            assert str(error).isprintable()
    unread = 8 * 20 * len(UNREAD_SIZES.findall(content))
    assert 100 < same < 2 * len(content) + unread  # times, versions and attributes, and parts that are not read


def arrays() -> dict[str, np.ndarray]:
    weights = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "<f4")
    return {"W0": weights, "b0": np.ones(3, "<f4"), "W1": np.ones((1, 3), "<f4"), "b1": np.ones(1, "<f4")}


def saved_npz(save: Callable[..., None]) -> bytes:
    buffer = io.BytesIO()
    save(buffer, **arrays())
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [saved_npz(np.savez), saved_npz(np.savez_compressed), saved_by_torch(arrays())],
    ids=["npz", "npz deflated", "torch"],
)
def test_no_flipped_bit_drops_an_array(content: bytes) -> None:
    """One in the directory used to drop a bias, or whole layers."""
    for bit in range(0, 8 * len(content), 3):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            read = read_tensors(io.BytesIO(damaged))
        except CheckpointError:
            continue
        assert {name: array.tolist() for name, array in read.items()} == {k: v.tolist() for k, v in arrays().items()}


def tampered(where: bytes, offset: int, value: bytes, content: bytes | None = None) -> bytes:
    """Return the stored archive with some bytes after the last signature ``where`` replaced."""
    changed = bytearray(archives()["stored"] if content is None else content)
    start = changed.rfind(where) + offset
    changed[start : start + len(value)] = value
    return bytes(changed)


def with_comment() -> bytes:
    return tampered(b"PK\x05\x06", 20, struct.pack("<H", 3)) + b"abc"


def with_member_comment() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("a")
        info.comment = b"x"
        archive.writestr(info, b"data")
    return buffer.getvalue()


def without_last_entry() -> bytes:
    """Return an archive whose directory and end record list only two of three members."""
    content = archives()["stored"]
    last, end = content.rfind(b"PK\x01\x02"), content.rfind(b"PK\x05\x06")
    count, length = struct.pack("<2H", 2, 2), struct.unpack_from("<L", content, end + 12)[0] - (end - last)
    shorter = content[:last] + content[end:]
    return tampered(b"PK\x05\x06", 8, count + struct.pack("<L", length), shorter)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (with_comment(), "a comment or other bytes follow"),
        (archives()["stored"] + b"\0", "a comment or other bytes follow"),
        (with_member_comment(), "a member has a comment"),
        (without_last_entry(), "belong to nothing"),
        (b"MZ" + archives()["stored"], "its directory is not where"),
        (tampered(b"PK\x05\x06", 8, struct.pack("<2H", 2, 2)), "goes on after the 2 entries"),
        (tampered(b"PK\x05\x06", 8, struct.pack("<2H", 4, 4)), "fewer entries than the 4"),
        (tampered(b"PK\x05\x06", 8, struct.pack("<H", 2)), "end record contradicts"),
        (tampered(b"PK\x01\x02", 42, struct.pack("<L", 0)), "or to two members|another header"),
        (tampered(b"PK\x01\x02", 8, b"\x01"), "encrypted"),
        (tampered(b"PK\x01\x02", 46, b"a"), "two members are called 'a'"),
        (tampered(b"PK\x01\x02", 46, b"d"), "another header than the directory"),
        (tampered(b"PK\x01\x02", 46, b"\xff"), "is not text"),
        (tampered(b"PK\x01\x02", 46, b"\x1b"), r"not printable: '.x1b'"),
        (tampered(b"PK\x03\x04", 14, b"\0\0\0\0"), "another size or checksum"),
    ],
)
def test_archives_that_are_refused(content: bytes, words: str) -> None:
    with pytest.raises(NotACheckpointError, match=words):
        archive_of(content)


def test_an_archive_that_ends_within_an_archive_inside_it() -> None:
    inner = archives()["stored"]
    outer = zip_file({"data": b"1" * 50, "policy.pth": inner, "other": b"2" * 50})
    for cut in (0, 20):
        with pytest.raises(TruncatedFileError, match="is of an archive inside it; the file is cut off"):
            archive_of(outer[: outer.index(inner) + len(inner) + 1 + cut])


def test_too_many_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ZIP_MEMBERS", 2)
    with pytest.raises(FileTooLargeError, match="3 members"):
        archive_of(archives()["stored"])


def test_folders_are_not_listed_as_members() -> None:
    assert archive_of(zip_file({"folder/": b"", "folder/a": b"1"})) == {"folder/a": b"1"}
    with pytest.raises(NotACheckpointError, match="a folder with content"):
        archive_of(zip_file({"folder/": b"1"}))


def test_a_member_that_is_not_an_array_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    np.savez(path, W0=np.ones((1, 2)))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("b0.npx", b"")
    with pytest.raises(NotACheckpointError, match=r"array 'b0.npx' is not an array"):
        read_tensors(path)


def test_cut_off_archives() -> None:
    content = archives()["stored"]
    for length in range(4, len(content)):
        with pytest.raises(TruncatedFileError):
            archive_of(content[:length])
