# SPDX-License-Identifier: MIT
"""Is this a file that can be opened without waiting for anybody?

Opening a pipe waits for whoever writes to it, perhaps for ever; devices do as they like. Everything that reads a
file whose name somebody handed over asks here first.
"""

from __future__ import annotations

import os
import stat

from regions.errors import RegionsError
from regions.printable import file_name

__all__ = ["require_ordinary_file"]


def require_ordinary_file(path: str | os.PathLike[str], error: type[RegionsError], what: str, kinds: str) -> None:
    """Refuse a directory, pipe, socket or device.

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
        There is no such file, or it can not be looked at.
    """
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise error(f"{file_name(path)}: a directory; give the file in it that holds {what}; read are {kinds}")
    if not stat.S_ISREG(mode):
        raise error(f"{file_name(path)}: not an ordinary file; copy {what} to one; read are {kinds}")
