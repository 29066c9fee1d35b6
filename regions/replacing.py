# SPDX-License-Identifier: MIT
"""How is a file written so that a failure leaves the old one?

Beside it, under a name of its own, and put in its place once it is whole. What is not an ordinary file, such as a
pipe, is written to directly.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the path to write to; what is there at the end of the block takes the place of `path`."""
    if path.exists() and not path.is_file():
        yield path
        return
    target = path.resolve()  # of a link, what it points to
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
        beside.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_mask())
        beside.replace(target)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    finally:
        beside.unlink(missing_ok=True)


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
