# SPDX-License-Identifier: MIT
"""What is in this zip file?

Both torch files and ``.npz`` are zip archives. This opens one under the limits of `regions.read.limits`:
directory size, total unpacked size against file size, only stored and deflated members, no duplicates,
checksums compared. The parsing is Python's own `zipfile`, with reads bounded so that a hostile directory or
member can not make it allocate.
Invariant: whatever is wrong with the bytes surfaces as a `CheckpointError`.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from regions.errors import FileTooLargeError, NotACheckpointError, TruncatedFileError
from regions.read import limits

# What zipfile and the codecs below it raise on damaged input, as found by flipping bits.
_PARSER_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
    OSError,
)


class _BoundedFile:
    """A file with bounded reads: `zipfile` reads the directory in one go, however long it claims to be."""

    def __init__(self, file: IO[bytes], path: str) -> None:
        self._file = file
        self._path = path
        self.seek, self.tell, self.seekable, self.close = file.seek, file.tell, file.seekable, file.close

    def read(self, count: int = -1) -> bytes:
        limit = limits.MAX_ZIP_DIRECTORY_BYTES
        if count > limit:
            raise FileTooLargeError(
                f"{self._path}: the zip directory claims {count} bytes, above the limit of {limit}"
            )
        return self._file.read(limit if count < 0 else count)


class Archive:
    """An open zip file.

    Parameters
    ----------
    file : binary file
        Open for reading; stays owned by the caller.
    path : str
        What to call it in messages.
    size : int
        Bytes in the file.

    Attributes
    ----------
    path : str
    size : int
    sizes : dict of str to int
        Unpacked size of each member.

    Raises
    ------
    NotACheckpointError, TruncatedFileError, FileTooLargeError
    """

    def __init__(self, file: IO[bytes], path: str, size: int) -> None:
        self.path = path
        self.size = size
        with self._parsing("its zip directory"):
            if not zipfile.is_zipfile(file):
                raise TruncatedFileError(
                    f"{path}: begins like a zip archive, but its directory, the end of it, is not there; "
                    "the file is cut off: copy it again"
                )
            self._zip = zipfile.ZipFile(_BoundedFile(file, path))
        members = self._zip.infolist()
        self.sizes = {member.filename: member.file_size for member in members}
        if len(self.sizes) != len(members):
            raise NotACheckpointError(f"{path}: the zip archive has two members of the same name")
        limits.check_expansion(path, self.size, sum(self.sizes.values()), "unpacking all members")
        for member in members:
            self._check(member)

    def _check(self, member: zipfile.ZipInfo) -> None:
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise NotACheckpointError(
                f"{self.path}: member {member.filename!r} has compression method {member.compress_type}; "
                "only stored and deflated are read"
            )
        if member.compress_type == zipfile.ZIP_STORED and member.compress_size != member.file_size:
            raise NotACheckpointError(
                f"{self.path}: member {member.filename!r} is stored with two different sizes"
            )
        if member.header_offset + member.compress_size > self.size:
            raise TruncatedFileError(
                f"{self.path}: member {member.filename!r} reaches beyond the end of the file"
            )

    def read(self, name: str) -> bytes:
        """Return the content of one member; its checksum has been compared."""
        remaining = self.sizes[name]
        chunks = []
        with self._parsing(f"member {name!r}"), self._zip.open(name) as stream:
            while remaining:
                # Never more than announced in one call: deflate would happily unpack more than the directory
                # says.
                chunk = stream.read(min(remaining, limits.MEBIBYTE))
                if not chunk:
                    raise TruncatedFileError(f"{self.path}: member {name!r} ends {remaining} bytes early")
                chunks.append(chunk)
                remaining -= len(chunk)
        return b"".join(chunks)

    @contextmanager
    def _parsing(self, what: str) -> Iterator[None]:
        try:
            yield
        except (FileTooLargeError, TruncatedFileError):
            raise
        except _PARSER_ERRORS as error:
            raise NotACheckpointError(f"{self.path}: {what} is damaged: {error}") from error


def looks_like_zip(start: bytes) -> bool:
    """Whether a file beginning with these bytes is a zip archive, be it one without members."""
    return start.startswith((b"PK\x03\x04", b"PK\x05\x06"))
