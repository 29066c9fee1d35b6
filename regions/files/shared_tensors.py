# SPDX-License-Identifier: MIT
"""Which tensors does a file store once, under one of their names?

Layers may share a tensor. ``safetensors.torch.save_model`` stores it under one name, and its metadata give the other
names: ``{"4.weight": "2.weight"}`` says that ``4.weight`` is the stored ``2.weight``. Without them a layer would be
missing, and the rest could still make a network. Therefore an entry that looks like such a pair and does not fit the
stored tensors is refused. All other metadata are text for people, on which no tensor depends.
Source: the metadata that safetensors 0.8 and huggingface_hub write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from regions.errors import NotACheckpointError
from regions.files import limits
from regions.ground.text.printable import printable

__all__ = ["with_shared_tensors"]

# "format" holds "pt", "np", "tf" or "flax".
_NO_NAMES = {"format"}
_PARAMETER = re.compile(r"(\S*\.)?(weight|bias|running_mean|running_var)")


def with_shared_tensors(
    tensors: Mapping[str, Any], metadata: Mapping[str, Any], source: str, file_size: int
) -> dict[str, Any]:
    """Return the tensors under all their names; a stored tensor and its other names share one array.

    Parameters
    ----------
    tensors : mapping of str to array
        The stored tensors.
    metadata : mapping of str to object
        Other names, with the stored names. Entries of any other kind are skipped.
    source : str
        The file's name in messages.
    file_size : int
        In bytes.

    Raises
    ------
    NotACheckpointError
        Another name is stored too, or stands for a tensor that is not stored.
    FileTooLargeError
        The tensors, counted under every name, are out of proportion to the file.
    """
    result = dict(tensors)
    for name, stored in metadata.items():
        if name in _NO_NAMES or not isinstance(stored, str):
            continue
        pair = f"{source}: its metadata say that {printable(name)!r} is the tensor {printable(stored)!r}"
        if stored in tensors and name not in tensors:
            result[name] = tensors[stored]
        elif stored in tensors:
            raise NotACheckpointError(f"{pair}, but both are stored; save the model again")
        elif _PARAMETER.fullmatch(name[:1000]) or _PARAMETER.fullmatch(stored[:1000]):
            raise NotACheckpointError(f"{pair}, which is not stored; save the model again")
    if len(result) > len(tensors):
        numbers = sum(array.size for array in result.values())
        limits.require_expansion(file_size=file_size, path=source, unpacked=8 * numbers, what="tensors under all names")
    return result
