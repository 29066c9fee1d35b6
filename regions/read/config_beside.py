# SPDX-License-Identifier: MIT
"""What does a ``config.json`` beside a file of tensors state?

Libraries that follow Hugging Face save settings under this name, in the folder of ``model.safetensors`` or
``pytorch_model.bin``. The file is read as text, below a limit, and only what it says about activations and parts of the
model is used. If it cannot be read, the activation is taken to be stated in unknown words: then the caller has to name
one. The name is fixed, so a link may be followed; caches of downloads consist of links.
"""

from __future__ import annotations

import os
import stat
from dataclasses import replace

from regions.errors import NotACheckpointError
from regions.files.json_objects import parsed_object
from regions.files.opened import OpenedFile
from regions.read.chains.stated_activation import Statement, find_statements
from regions.read.chains.stated_flags import Flag, find_flags

__all__ = ["statements_beside"]

NAME = "config.json"
# The settings of the largest models have less than 100 kB.
MOST_BYTES = 2**20


def statements_beside(file: OpenedFile) -> list[Statement | Flag]:
    """Return what ``config.json`` in the folder of a file states; nothing if there is none, or no folder."""
    if file.folder is None:
        return []
    try:
        content = parsed_object(_content(os.path.join(file.folder, NAME)), NAME)
    except FileNotFoundError:
        return []
    except (OSError, NotACheckpointError):
        return [Statement(NAME, "settings that cannot be read", None)]
    stated: list[Statement | Flag] = []
    stated += [replace(one, where=f"{NAME}: {one.where}") for one in find_statements(content)]
    stated += [replace(one, where=f"{NAME}: {one.where}") for one in find_flags(content)]
    return stated


def _content(path: str) -> bytes:
    """Return the bytes of an ordinary, small file; a pipe or device is not waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not an ordinary file")
        content = opened.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError("too large")
    return content
