# SPDX-License-Identifier: MIT
"""How is a file written so that a failure leaves the old one, and nothing else?

The new content is written to a temporary file in the same folder, which is renamed once it is complete and on the disk.
Pipes and devices cannot be replaced, and libraries expect that they can go back in what they write. Their content is
first written to a file in the system's folder for temporary files, and then copied.
A process that is killed cannot clean up after itself. The next writer in that folder does it. Temporary files are
recognised by their names. A running writer holds a lock on its file, which the system releases when the process ends. A
temporary file that can be locked therefore has no writer, and is removed. A new file may be removed too before its
writer has locked it; the writer then makes another.

Other users may write to the folder. They can neither stop a writer nor lead it elsewhere: the names of temporary files
cannot be guessed and must be free, links are replaced and never followed, and nothing that is found is opened unless it
is an ordinary file of this user. A pipe or device is written to only if this user or root put it there. The umask is
never touched, because it belongs to all threads: the system applies it when the file is made.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["remove_abandoned", "replacing", "written_aside"]

PREFIX, SUFFIX = ".relu-regions-", ".partial"
NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
FOUND = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
ROOT = 0


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path to write to; at the end of the block, the file there replaces `path`.

    Raises
    ------
    OSError
        The folder or the file cannot be written to, or another user put a pipe or a device there.
    """
    if _is_pipe_or_device(path):
        with TemporaryDirectory() as folder:
            aside = Path(folder, f"output{path.suffix}")
            yield aside
            _copy(aside, path)
        return
    try:
        remove_abandoned(path.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    with written_aside(path) as beside:
        yield beside


@contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """Do the same as `replacing` for an ordinary file, without removing temporary files of killed writers."""
    try:
        kept = _mode(path)
        handle, beside = _make_locked(path.parent, 0o666 if kept is None else kept)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        yield beside
        if kept is not None:
            os.fchmod(handle, kept)
        os.fsync(handle)
        beside.replace(path)
        with contextlib.suppress(OSError):  # not every file system can do that for a folder
            _sync(path.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    finally:
        beside.unlink(missing_ok=True)
        os.close(handle)  # and with it the lock


def remove_abandoned(folder: Path) -> None:
    """Remove temporary files of this user in a folder if their writers no longer exist."""
    with os.scandir(folder) as entries:
        left = [each.name for each in entries if each.name.startswith(PREFIX) and each.name.endswith(SUFFIX)]
    for name in left:
        with contextlib.suppress(OSError):  # it has a writer, or is gone already
            handle = os.open(folder / name, FOUND)
            try:
                if _is_own_file(os.fstat(handle)):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    (folder / name).unlink()
            finally:
                os.close(handle)


def _is_own_file(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()


def _is_pipe_or_device(path: Path) -> bool:
    """Return whether content is copied to a path, which cannot be replaced; True for a folder as well, so that opening
    it raises the right error.
    """
    try:
        if stat.S_ISREG(path.stat().st_mode):
            return False
        owner = path.lstat().st_uid
    except (OSError, RuntimeError):  # nothing is there, or a link to nothing
        return False
    if owner not in (ROOT, os.geteuid()):
        raise PermissionError(errno.EPERM, "another user put a pipe, a device or a link there", str(path))
    return True


def _copy(file: Path, target: Path) -> None:
    try:
        with file.open("rb") as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(target)) from None


def _mode(path: Path) -> int | None:
    """Return the permissions of the user's own file that will be replaced, or None without such a file."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return stat.S_IMODE(status.st_mode) & 0o777 if _is_own_file(status) else None


def _make_locked(folder: Path, mode: int) -> tuple[int, Path]:
    """Make a new file in the folder; return a handle that holds a lock on it, and its path."""
    while True:
        beside = folder / f"{PREFIX}{secrets.token_hex(16)}{SUFFIX}"
        # Its writer opens it once more, so this user needs both permissions.
        handle = os.open(beside, NEW, mode | stat.S_IRUSR | stat.S_IWUSR)
        with contextlib.suppress(OSError):  # without locks in the file system, nothing is removed there either
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_nlink:
            return handle, beside
        os.close(handle)


def _sync(folder: Path) -> None:
    """Make the system write a folder's pending changes to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
