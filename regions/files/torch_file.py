# SPDX-License-Identifier: MIT
"""Which tensors are in a file written by ``torch.save``?

Since torch 1.6 such a file is a zip: ``NAME/data.pkl`` describes the object, ``NAME/data/KEY`` hold the raw storages
(KEY is a number, up to 1.8 an address) and ``NAME/byteorder`` their byte order. `regions.files.torch_legacy` reads the
older layout. `regions.files.restricted_pickle` reads the pickle with the builders of
`regions.files.torch_builders`; torch is not needed and nothing in the file is executed.
Cost: one pass over the pickle and one copy of each tensor.
Source: the layout is what ``torch.save`` was seen to write (versions 1.6 to 2.13).
"""

from __future__ import annotations

import io
import re
from functools import cached_property
from typing import Any, Literal

from regions.errors import (
    CheckpointError,
    FileTooLargeError,
    NotACheckpointError,
    TruncatedFileError,
    UnsafePickleError,
)
from regions.files import limits
from regions.files.opened import OpenedFile
from regions.files.restricted_pickle import SAVE_A_STATE_DICT, Opaque, Unpickled, read_pickle
from regions.files.torch_builders import Dtype, Storage, TensorBuilders, require_lengths
from regions.files.torch_legacy import MAGIC, read_legacy_file
from regions.files.unread_values import holds_an_array
from regions.files.zip_file import Archive
from regions.ground.text.printable import printable


class _TorchArchive:
    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.path = archive.path
        self.root = _root(archive)
        self.builders = TensorBuilders(self.path, archive.size, self.byte_order)
        self.storages: dict[str, bytes] = {}

    @cached_property
    def byte_order(self) -> Literal["<", ">"]:
        name = f"{self.root}/byteorder"
        order = self.archive.read(name) if self.archive.sizes.get(name, 99) < 16 else b"little"
        if order not in (b"little", b"big"):
            raise NotACheckpointError(f"{self.path}: its byte order is neither little nor big")
        return "<" if order == b"little" else ">"

    def read(self) -> Unpickled:
        member = f"{self.root}/data.pkl"
        if self.archive.sizes[member] > limits.MAX_PICKLE_BYTES:
            raise FileTooLargeError(
                f"{self.path}: {printable(member)} has {self.archive.sizes[member]} bytes, the limit is "
                f"{limits.MAX_PICKLE_BYTES}"
            )
        stream = io.BytesIO(self.archive.read(member))
        result = read_pickle(stream, self.path, self.builders.names, self.storage)
        if stream.read(1):
            raise NotACheckpointError(f"{self.path}: bytes follow the end of its pickle")
        self.require_rest()
        return result

    def require_rest(self) -> None:
        """Compare the checksums of members that were not needed, and refuse members that torch never writes."""
        for name in self.archive.sizes:
            inside = name.removeprefix(f"{self.root}/")
            if inside == name or not re.fullmatch(r"data\.pkl|byteorder|version|\..*|data/[0-9]+", inside):
                raise NotACheckpointError(f"{self.path}: torch.save writes no member {printable(name)}")
            if inside.removeprefix("data/") not in self.storages and inside != "data.pkl":
                self.archive.read(name)

    def storage(self, persistent_id: Any) -> Storage | Opaque:
        """Find the bytes of ``("storage", type, key, location, number of elements)``."""
        malformed = self.builders.malformed("a reference to a storage")
        if isinstance(persistent_id, Opaque):
            return persistent_id
        if type(persistent_id) is not tuple or len(persistent_id) != 5:
            raise malformed
        _tag, dtype, key, _location, count = persistent_id
        if type(dtype) not in (Dtype, Opaque) or type(key) is not str or not re.fullmatch("[0-9]{1,20}", key):
            raise malformed
        name = f"{self.root}/data/{key}"
        if name not in self.archive.sizes:
            raise TruncatedFileError(f"{self.path}: storage {printable(name)} is missing from the archive")
        require_lengths((count,), self.builders.malformed("the length of a storage"))
        if isinstance(dtype, Opaque):
            return dtype
        if count * dtype.size > self.archive.sizes[name]:
            raise TruncatedFileError(
                f"{self.path}: storage {printable(name)} has {self.archive.sizes[name]} bytes, its {count} elements "
                f"need {count * dtype.size}"
            )
        if key not in self.storages:
            self.storages[key] = self.archive.read(name)
        return Storage(memoryview(self.storages[key])[: count * dtype.size], dtype, key)


def _root(archive: Archive) -> str:
    """Return the folder inside the archive that holds ``data.pkl``."""
    names = archive.sizes
    if any(name.endswith(("/constants.pkl", "/archive_format")) or "/code/" in name for name in names):
        raise NotACheckpointError(
            f"{archive.path}: an exported program (TorchScript) holds code, which is not run. Open it in torch and "
            f"save its weights: torch.save(torch.jit.load({archive.path!r}).state_dict(), 'weights.pt')"
        )
    roots = [name[: -len("/data.pkl")] for name in names if name.endswith("/data.pkl") and name.count("/") == 1]
    if len(roots) != 1:
        raise NotACheckpointError(
            f"{archive.path}: a zip archive, but not one that torch.save wrote: {len(roots)} members are "
            "called data.pkl"
        )
    return roots[0]


def read_torch_file(file: OpenedFile) -> Any:
    """Return the saved object, made of dicts, lists, plain values, arrays for tensors, and `Opaque` for other objects.

    Parameters
    ----------
    file : OpenedFile

    Raises
    ------
    UnsafePickleError
        The file has no tensors but names of objects and functions, or is a bare pickle. Nothing is run.
    NotACheckpointError, TruncatedFileError, FileTooLargeError
        The file is not a torch file, is an exported program, or is damaged.
    """
    if file.archive is not None:
        result = _TorchArchive(file.archive).read()
    elif _is_legacy(file):
        result = read_legacy_file(file)
    elif b"sklearn." in file.start:
        raise UnsafePickleError(
            f"{file.name}: a pickled object of scikit-learn, which could run anything. It was not opened. If you "
            f"trust the file: regions.load(joblib.load({file.name!r}))"
        )
    else:
        raise UnsafePickleError(
            f"{file.name}: a bare pickle, which could run anything. It was not opened; {SAVE_A_STATE_DICT}"
        )
    if result.unknown is not None and not holds_an_array(result.value):
        place = _place_of_module(result.value)
        what = "more than ordinary tensors" if place is None else "a whole pickled module"
        opened = f"torch.load({file.name!r}, weights_only=False)"
        advice = f"{opened}; {SAVE_A_STATE_DICT}"
        if place is not None:
            advice = f"torch.save({opened}{place}.state_dict(), 'weights.pt')"
        raise UnsafePickleError(
            f"{file.name}: the pickle refers to {printable(result.unknown, 200)}, which is not among the names that "
            f"tensors need: it holds {what}. Nothing was run. If you trust the file, open it in torch: {advice}"
        )
    return result.value


def _place_of_module(content: Any) -> str | None:
    """Return the keys that lead to a pickled module, as in Python; None without one."""
    if isinstance(content, Opaque):
        return "" if "_modules" in content.state else None
    for key, value in content.items() if isinstance(content, dict) else ():
        if isinstance(value, Opaque) and "_modules" in value.state:
            return f"[{printable(key)!r}]"
    return None


def _is_legacy(file: OpenedFile) -> bool:
    try:
        first = read_pickle(io.BytesIO(file.start), file.name, {}, lambda _: None).value
    except CheckpointError:
        return False
    return type(first) is int and first == MAGIC
