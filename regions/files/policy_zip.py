# SPDX-License-Identifier: MIT
"""Which tensors are in a ``.zip`` that Stable-Baselines3 wrote?

Such a file holds ``policy.pth``, a torch file with the policy's state dict, and also settings, optimizers and a
version. Only ``policy.pth`` is read here; no policy depends on the optimizers, the version, or
``pytorch_variables.pth`` (the temperature of SAC). `regions.read.policy_settings` reads the text in ``data``, whose
pickled objects are never opened. The members are stored
without compression, so ``policy.pth`` cannot be larger than its archive: expansion is limited once, not twice.
Source: the members that `BaseAlgorithm.save` of Stable-Baselines3 writes.
"""

from __future__ import annotations

import io
from typing import Any

from regions.errors import FileTooLargeError
from regions.files.opened import START_BYTES, OpenedFile
from regions.files.torch_file import read_torch_file

__all__ = ["read_policy_zip"]

_POLICY = "policy.pth"


def read_policy_zip(file: OpenedFile) -> Any:
    """Return the content of ``policy.pth``.

    Raises
    ------
    FileTooLargeError
        It is larger than the archive.
    CheckpointError
        As for any torch file.
    """
    archive = file.archive
    assert archive is not None
    size = archive.sizes[_POLICY]
    if size > file.size:
        raise FileTooLargeError(
            f"{file.name}: {_POLICY} unpacks to {size} bytes, more than the file has; unpack it and load {_POLICY}"
        )
    data = archive.read(_POLICY)
    return read_torch_file(OpenedFile(io.BytesIO(data), f"{file.name}: {_POLICY}", size, data[:START_BYTES]))
