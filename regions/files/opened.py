# SPDX-License-Identifier: MIT
"""How does a reader open a file that is given by name, or use one that is already open?

`opened` takes a path or an open binary file and yields an `OpenedFile`: name for messages, size, first bytes, and the
zip archive if it is one. Formats are recognised from it and readers read from it. Invariant: the file is ordinary or
can seek, its size is known and below the limit, and a reader starts at its beginning.
Unexpected exceptions of a reader become an error of the package that names the file. Hostile content therefore cannot
make a caller see a ZeroDivisionError.
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

from regions.errors import NotACheckpointError, RegionsError, TruncatedFileError
from regions.files import limits
from regions.files.zip_file import Archive, looks_like_zip
from regions.ground.arithmetic.arguments import path_of
from regions.ground.text.printable import LONGEST_MESSAGE, file_name, printable

__all__ = [
    "START_BYTES",
    "UNFORESEEN",
    "OpenedFile",
    "examined",
    "is_open_file",
    "opened",
    "printable_errors",
    "read_whole",
    "require_no_holes",
    "require_ordinary_file",
]

# Enough to recognise any format, including a tar archive (magic at 257).
START_BYTES = 4096
# These words mark errors that no reader raised on purpose.
UNFORESEEN = "its content is not valid, in a way that no check foresaw"


@dataclass(frozen=True)
class OpenedFile:
    """A file that is about to be read.

    Attributes
    ----------
    file : binary file
        At its beginning.
    name : str
        Its name in messages; printable.
    size : int
        In bytes.
    start : bytes
        The first `START_BYTES` bytes.
    folder : str or None
        The folder that holds it; None for a file that was given open.
    """

    file: IO[bytes]
    name: str
    size: int
    start: bytes
    folder: str | None = None

    @cached_property
    def archive(self) -> Archive | None:
        """The file as a zip archive, or None if it does not begin like one.

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
        `NotACheckpointError` also replaces any unexpected exception of a reader.
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
                known = replace(examined(file, file_name(path)), folder=os.path.dirname(path))
            except TypeError:  # it has a name but cannot seek, such as the memory of a process
                raise NotACheckpointError(
                    f"{file_name(path)}: not an ordinary file; copy {what} to one; read are {kinds}"
                ) from None
            with _foreseen(known.name):
                yield known
    else:
        given = getattr(source, "name", None)
        known = examined(source, file_name(given) if isinstance(given, str) else "the open file")
        with _foreseen(known.name):
            yield known


@contextmanager
def printable_errors() -> Iterator[None]:
    """Make every `RegionsError` that leaves this block harmless to print."""
    try:
        yield
    except RegionsError as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (printable(error.args[0], LONGEST_MESSAGE), *error.args[1:])
        raise


@contextmanager
def _foreseen(name: str) -> Iterator[None]:
    """Turn unexpected exceptions of a reader into an error of the package."""
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
    """Refuse a directory, pipe, socket or device: opening a pipe waits for its writer, perhaps for ever.

    Every reader calls this before it opens a file by a name that a user gave.

    Parameters
    ----------
    path : str or path
    error : type
        Which of the package's errors to raise.
    what : str
        The expected content, for the message: "the model".
    kinds : str
        Which files are read, for the message: ".npz".

    Raises
    ------
    RegionsError
        Raised as ``error`` if it is not an ordinary file.
    OSError
        The file does not exist, or its properties cannot be read.
    """
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise error(f"{file_name(path)}: a directory; give the file in it that holds {what}; read are {kinds}")
    if not stat.S_ISREG(mode):
        raise error(f"{file_name(path)}: not an ordinary file; copy {what} to one; read are {kinds}")


def require_no_holes(descriptor: int, name: str, size: int) -> None:
    """Refuse a file that takes little space on the disk and much in memory, such as one with holes.

    Some file systems leave out zeros, so a file may have holes, but its stored part must be in proportion to its size.

    Raises
    ------
    FileTooLargeError
        The stored part is too small.
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
        if error.errno == errno.ENXIO:  # no more data; other errors mean that the file system cannot tell
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


def examined(file: Any, name: str) -> OpenedFile:
    """Return what is known about an open file: size and first bytes; it raises the same errors as `opened`."""
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
