# SPDX-License-Identifier: MIT
"""How is a file opened that another file names?

Some models are spread over several files, and one of them names the others. A name from a file could point anywhere, so
only a plain name in the same folder is opened: no path, no link, no pipe, no device.
"""

from __future__ import annotations

import os
import stat

from regions.errors import CheckpointError
from regions.files.opened import OpenedFile
from regions.ground.text.printable import printable

__all__ = ["is_plain_name", "open_beside"]


def is_plain_name(name: str) -> bool:
    """Return whether a name stays in the folder in which it is opened."""
    return bool(name) and name not in (".", "..") and not any(one in name for one in "/\\\0")


def open_beside(name: str, file: OpenedFile) -> int:
    """Open a file beside another one, without following a link and without waiting for a pipe.

    Parameters
    ----------
    name : str
        A plain name.
    file : OpenedFile
        The file that names it; it was given by its path.

    Returns
    -------
    int
        The descriptor of an ordinary file.

    Raises
    ------
    CheckpointError
        It is missing, is not ordinary, or cannot be read.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(os.path.join(file.folder or "", name), flags)
    except FileNotFoundError:
        raise CheckpointError(
            f"{file.name}: its tensors are in {printable(name)!r}, which is not beside it; copy both files to one "
            "folder"
        ) from None
    except (OSError, ValueError) as error:  # a link, or no permission; a name that cannot be encoded
        why = error.strerror if isinstance(error, OSError) else "an impossible name"
        raise CheckpointError(
            f"{file.name}: its tensors are in {printable(name)!r}, which is not opened ({why}): it must be "
            "an ordinary file that can be read"
        ) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise CheckpointError(f"{file.name}: its tensors are in {printable(name)!r}, which is not an ordinary file")
    return descriptor
