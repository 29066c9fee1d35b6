# SPDX-License-Identifier: MIT
"""How is a file written so that a failure leaves the old one, and nothing else?

Beside it, under a name of its own, and put in its place once it is whole and on the disk. What is not an ordinary file,
such as a pipe, is written to directly.
A process that is killed can not clean up after itself. Whoever writes next in that folder does: a temporary file is
known by its name, and its writer holds a lock on it, which the system takes away with the process. So a file that can
be locked has nobody any more, and is removed. Between making a file and locking it, it has nobody either: a writer that
finds its file gone by then makes another.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing"]

PREFIX, SUFFIX = ".relu-regions-", ".partial"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the path to write to; what is there at the end of the block takes the place of `path`."""
    if path.exists() and not path.is_file():
        yield path
        return
    target = path.resolve()  # of a link, what it points to
    try:
        _remove_what_nobody_has(target.parent)
        handle, beside = _make_locked(target.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        yield beside
        beside.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_mask())
        _sync(beside)
        beside.replace(target)
        with contextlib.suppress(OSError):  # not every file system can do that for a folder
            _sync(target.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    finally:
        beside.unlink(missing_ok=True)
        os.close(handle)  # and with it the lock


def _make_locked(folder: Path) -> tuple[int, Path]:
    """A new file in the folder, and a handle that holds a lock on it."""
    while True:
        handle, name = tempfile.mkstemp(prefix=PREFIX, suffix=SUFFIX, dir=folder)
        with contextlib.suppress(OSError):  # a file system without locks: nothing is removed there either
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_nlink:
            return handle, Path(name)
        os.close(handle)


def _remove_what_nobody_has(folder: Path) -> None:
    """Remove temporary files in a folder whose writers are no more."""
    for left in folder.glob(f"{PREFIX}*{SUFFIX}"):
        with contextlib.suppress(OSError):  # somebody else's, or gone already
            handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()
            finally:
                os.close(handle)


def _sync(path: Path) -> None:
    """Have the system write what it still holds of a file or folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
