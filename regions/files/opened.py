# SPDX-License-Identifier: MIT
"""How does a reader get at a file: one with a name, or one that is open already?

`opened` takes a path or an open binary file and yields an `OpenedFile`, which is what formats are recognised by and
what readers read from: name for messages, size, first bytes, and the zip archive if it is one. Invariant: it is
an ordinary file or one that can seek, its size is known and below the limit, and a reader starts at its beginning.
What happens while a file is open comes out as one of the package's errors that names the file: a reader that fails on
content that it did not foresee is no reason for a caller to meet a ZeroDivisionError.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import IO, Any

from regions.arithmetic.arguments import path_of
from regions.errors import NotACheckpointError, RegionsError, TruncatedFileError
from regions.files import limits
from regions.files.zip_file import Archive, looks_like_zip
from regions.printable import file_name, printable

__all__ = [
    "START_BYTES",
    "UNFORESEEN",
    "OpenedFile",
    "is_open_file",
    "opened",
    "read_whole",
    "require_no_holes",
    "require_ordinary_file",
]

# Enough to recognise any format, a tar archive (magic at 257) included.
START_BYTES = 4096
# These words mark errors that no reader meant to raise.
UNFORESEEN = "its content is not valid, in a way that no check foresaw"


@dataclass(frozen=True)
class OpenedFile:
    """A file that is about to be read.

    Attributes
    ----------
    file : binary file
        At its beginning.
    name : str
        What to call it in messages; printable.
    size : int
        Bytes in it.
    start : bytes
        The first `START_BYTES` of them.
    folder : str or None
        Where it is; None of a file that was given open.
    """

    file: IO[bytes]
    name: str
    size: int
    start: bytes
    folder: str | None = None

    @cached_property
    def archive(self) -> Archive | None:
        """The zip archive that it is, or None if it does not begin like one.

        Raises
        ------
        CheckpointError
            It begins like one and is damaged.
        """
        return Archive(self.file, self.name, self.size) if looks_like_zip(self.start) else None

    def has_members(self, ending: str) -> bool:
        """Whether it is a zip archive with members whose names end like this."""
        return self.archive is not None and any(name.endswith(ending) for name in self.archive.sizes)


def is_open_file(source: Any) -> bool:
    """Whether this is a file object rather than a name or a mapping."""
    try:
        return callable(getattr(source, "read", None)) and callable(getattr(source, "seek", None))
    except Exception:  # an object that fails when it is asked
        return False


@contextmanager
def opened(source: str | os.PathLike[str] | IO[bytes], what: str, kinds: str) -> Iterator[OpenedFile]:
    """Open a file under the limits, or take one that is open.

    Parameters
    ----------
    source : path, or open binary file
        An open file is read from its beginning, wherever it stands, and stays open.
    what, kinds : str
        What should be in it and which files are read, for messages.

    Raises
    ------
    NotACheckpointError, FileTooLargeError, TruncatedFileError
        Not an ordinary file; too large; empty.
        `NotACheckpointError` also stands for any error that readers did not mean to raise.
    OSError
        The file cannot be opened.
    TypeError
        An open file that gives text, or cannot seek.
    """
    if not is_open_file(source) or isinstance(source, (str, os.PathLike)):
        path = path_of(source)
        require_ordinary_file(path, NotACheckpointError, what, kinds)
        with open(path, "rb") as file:
            try:
                examined = replace(_examined(file, file_name(path)), folder=os.path.dirname(path))
            except TypeError:  # it has a name, and cannot seek: memory of a process, and the like
                raise NotACheckpointError(
                    f"{file_name(path)}: not an ordinary file; copy {what} to one; read are {kinds}"
                ) from None
            with _foreseen(examined.name):
                yield examined
    else:
        given = getattr(source, "name", None)
        examined = _examined(source, file_name(given) if isinstance(given, str) else "the open file")
        with _foreseen(examined.name):
            yield examined


@contextmanager
def _foreseen(name: str) -> Iterator[None]:
    """Turn whatever a reader did not foresee into an error of the package."""
    try:
        yield
    except (RegionsError, OSError, MemoryError, ImportError, Warning):
        raise
    except Exception as error:
        raise NotACheckpointError(
            f"{name}: {UNFORESEEN} ({type(error).__name__}: {printable(error)}); save the model again, and if the same "
            "happens, please report it with the file"
        ) from error


def require_ordinary_file(path: str | os.PathLike[str], error: type[RegionsError], what: str, kinds: str) -> None:
    """Refuse a directory, pipe, socket or device: opening a pipe waits for whoever writes to it, perhaps for ever.

    Everything that reads a file whose name somebody handed over asks here first.

    Parameters
    ----------
    path : str or path
    error : type
        Which of the package's errors to raise.
    what : str
        What should be in the file, for the message: "the model".
    kinds : str
        Which files are read: ".npz".

    Raises
    ------
    RegionsError
        Of the class ``error``: not an ordinary file.
    OSError
        There is no such file, or it cannot be looked at.
    """
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise error(f"{file_name(path)}: a directory; give the file in it that holds {what}; read are {kinds}")
    if not stat.S_ISREG(mode):
        raise error(f"{file_name(path)}: not an ordinary file; copy {what} to one; read are {kinds}")


def require_no_holes(descriptor: int, name: str, size: int) -> None:
    """Refuse a file that takes little of the disk and much of the memory, as one with holes does.

    Some file systems leave out zeros, so holes are no reason to refuse a file: the part that is there must be in
    proportion to the whole.

    Raises
    ------
    FileTooLargeError
        It is not.
    """
    if size <= limits.FREE_EXPANSION_BYTES:
        return
    stored, end, before = 0, 0, os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        while stored * limits.MAX_EXPANSION < size:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
            end = os.lseek(descriptor, start, os.SEEK_HOLE)
            stored += end - start
    except OSError as error:
        if error.errno == errno.ENXIO:  # there is no more; else the file system does not say
            limits.require_expansion(name, stored, size, "the file, which has holes,")
    finally:
        os.lseek(descriptor, before, os.SEEK_SET)


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """Return the content of an ordinary file, under the limits.

    Raises
    ------
    FileTooLargeError
        It is too large, or consists of holes.
    OSError
        It cannot be opened.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        limits.require_file_size(file_name(path), size)
        require_no_holes(file.fileno(), file_name(path), size)
        return file.read()


def _examined(file: Any, name: str) -> OpenedFile:
    descriptor = None
    try:
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        start = file.read(START_BYTES)
        file.seek(0)
    except (OSError, ValueError) as error:  # a pipe, a socket; a closed file
        raise TypeError(
            f"{name}: an open file must be able to seek ({printable(error)}); give io.BytesIO(file.read())"
        ) from error
    if not isinstance(start, bytes):
        raise TypeError(f"{name}: an open file must be open in binary mode: open(path, 'rb')")
    limits.require_file_size(name, size)
    with suppress(AttributeError, OSError, ValueError):  # files in memory have no descriptor
        descriptor = file.fileno()
    if isinstance(descriptor, int):
        require_no_holes(descriptor, name, size)
    if not start:
        raise TruncatedFileError(f"{name}: the file is empty")
    return OpenedFile(file, name, size, start)
