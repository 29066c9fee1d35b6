# SPDX-License-Identifier: MIT
"""Which tensors are in a file written by ``torch.save``?

Since torch 1.6 such a file is a zip: ``NAME/data.pkl`` describes the object, ``NAME/data/0, 1, ..`` hold the
raw storages and ``NAME/byteorder`` their byte order. The pickle is read by `regions.read.restricted_pickle`
with an allow-list of four builders and the storage types; every tensor is a strided view that is checked
against the bytes that are really there. torch is not needed and nothing in the file is executed.
Cost: one pass over the pickle and one copy of each tensor.
Source: the layout is what ``torch.save`` was seen to write (versions 1.6 to 2.13).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from regions.arrays import bfloat16_to_float32
from regions.errors import (
    CheckpointError,
    FileTooLargeError,
    NotACheckpointError,
    TruncatedFileError,
    UnsafePickleError,
)
from regions.printable import printable
from regions.read import limits
from regions.read.opened import OpenedFile
from regions.read.restricted_pickle import SAVE_A_STATE_DICT, Function, read_pickle
from regions.read.zip_file import Archive

# Storage class (older dtypes) or dtype name (newer ones): numpy's name for the raw numbers.
_STORAGE_TYPES = {
    "torch.DoubleStorage": "f8",
    "torch.FloatStorage": "f4",
    "torch.HalfStorage": "f2",
    "torch.BFloat16Storage": "bfloat16",
    "torch.LongStorage": "i8",
    "torch.IntStorage": "i4",
    "torch.ShortStorage": "i2",
    "torch.CharStorage": "i1",
    "torch.ByteStorage": "u1",
    "torch.BoolStorage": "?",
    "torch.ComplexFloatStorage": "c8",
    "torch.ComplexDoubleStorage": "c16",
    "torch.storage.UntypedStorage": "u1",
}
_DTYPES = {"torch.uint16": "u2", "torch.uint32": "u4", "torch.uint64": "u8"}
_LEGACY_MAGIC = (
    b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # pickled number that torch.save wrote first before 1.6
)


@dataclass(frozen=True)
class _Dtype:
    """A name such as ``torch.FloatStorage`` or ``torch.uint16`` as an inert value."""

    name: str  # numpy's, without byte order; or "bfloat16"

    @property
    def size(self) -> int:
        return 2 if self.name == "bfloat16" else np.dtype(self.name).itemsize


@dataclass(frozen=True)
class _Storage:
    data: memoryview
    dtype: _Dtype


class _TorchArchive:
    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.path = archive.path
        self.root = _root(archive)
        self.storages: dict[str, bytes] = {}
        self.tensor_bytes = 0

    @cached_property
    def byte_order(self) -> Literal["<", ">"]:
        name = f"{self.root}/byteorder"
        order = self.archive.read(name) if self.archive.sizes.get(name, 99) < 16 else b"little"
        if order not in (b"little", b"big"):
            raise NotACheckpointError(f"{self.path}: its byte order is neither little nor big")
        return "<" if order == b"little" else ">"

    def read(self) -> Any:
        names: dict[str, Any] = {name: _Dtype(kind) for name, kind in (_STORAGE_TYPES | _DTYPES).items()}
        for name, build in (
            ("collections.OrderedDict", self.ordered_dict),
            ("torch._utils._rebuild_tensor_v2", self.tensor),
            ("torch._utils._rebuild_tensor_v3", self.tensor_of_dtype),
            ("torch._utils._rebuild_parameter", self.parameter),
        ):
            names[name] = Function(build)
        member = f"{self.root}/data.pkl"
        if self.archive.sizes[member] > limits.MAX_PICKLE_BYTES:
            raise FileTooLargeError(
                f"{self.path}: {member} has {self.archive.sizes[member]} bytes, the limit is "
                f"{limits.MAX_PICKLE_BYTES}"
            )
        content = read_pickle(self.archive.read(member), self.path, names, self.storage)
        self.check_rest()
        return content

    def check_rest(self) -> None:
        """Hold the members that nothing asked for against their checksums, and refuse those that torch never writes."""
        for name in self.archive.sizes:
            inside = name.removeprefix(f"{self.root}/")
            if inside == name or not re.fullmatch(r"data\.pkl|byteorder|version|\..*|data/[0-9]+", inside):
                raise NotACheckpointError(f"{self.path}: torch.save writes no member {printable(name)}")
            if inside.removeprefix("data/") not in self.storages and inside != "data.pkl":
                self.archive.read(name)

    def malformed(self, what: str) -> NotACheckpointError:
        return NotACheckpointError(f"{self.path}: {what} is not in the form torch.save writes")

    def ordered_dict(self, *arguments: Any) -> dict[str, Any]:
        if arguments:
            raise self.malformed("an OrderedDict")
        return {}

    def parameter(self, *arguments: Any) -> NDArray[Any]:
        if len(arguments) != 3 or not isinstance(arguments[0], np.ndarray):
            raise self.malformed("a parameter")
        return arguments[0]

    def storage(self, persistent_id: Any) -> _Storage:
        """Find the bytes of ``("storage", type, key, location, number of elements)``."""
        if type(persistent_id) is not tuple or len(persistent_id) != 5:
            raise self.malformed("a reference to a storage")
        _tag, dtype, key, _location, count = persistent_id
        if type(dtype) is not _Dtype or type(key) is not str or not re.fullmatch("[0-9]{1,20}", key):
            raise self.malformed("a reference to a storage")
        name = f"{self.root}/data/{key}"
        if name not in self.archive.sizes:
            raise TruncatedFileError(f"{self.path}: storage {name} is missing from the archive")
        _check_lengths((count,), self.malformed("the length of a storage"))
        if count * dtype.size > self.archive.sizes[name]:
            raise TruncatedFileError(
                f"{self.path}: storage {name} has {self.archive.sizes[name]} bytes, its {count} elements "
                f"need {count * dtype.size}"
            )
        if key not in self.storages:
            self.storages[key] = self.archive.read(name)
        return _Storage(memoryview(self.storages[key])[: count * dtype.size], dtype)

    def tensor(self, *arguments: Any) -> NDArray[Any]:
        # Storage, offset, size, stride, requires_grad, hooks, and perhaps metadata.
        if len(arguments) not in (6, 7) or type(arguments[0]) is not _Storage or not _is_empty(arguments[6:]):
            raise self.malformed("a tensor")
        return self.view(arguments, arguments[0].dtype)

    def tensor_of_dtype(self, *arguments: Any) -> NDArray[Any]:
        # The same with the dtype before the metadata.
        if len(arguments) not in (7, 8) or type(arguments[0]) is not _Storage or not _is_empty(arguments[7:]):
            raise self.malformed("a tensor")
        if type(arguments[6]) is not _Dtype:
            raise self.malformed("the type of a tensor")
        return self.view(arguments, arguments[6])

    def view(self, arguments: tuple[Any, ...], dtype: _Dtype) -> NDArray[Any]:
        """Copy the strided view out of the storage, in native byte order; bfloat16 becomes float32."""
        storage, offset, size, stride = arguments[:4]
        wrong = self.malformed("the size, stride or offset of a tensor")
        if type(size) is not tuple or type(stride) is not tuple or len(size) != len(stride) or len(size) > 32:
            raise wrong
        _check_lengths((offset, *size, *stride), wrong)
        count = math.prod(size)
        self.tensor_bytes += count * dtype.size
        limits.check_expansion(self.path, self.archive.size, self.tensor_bytes, "its tensors")
        last = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
        if count and (last + 1) * dtype.size > len(storage.data):
            raise TruncatedFileError(
                f"{self.path}: a tensor of size {list(size)}, stride {list(stride)} and offset {offset} "
                f"reaches beyond its storage of {len(storage.data) // dtype.size} elements"
            )
        numpy_type = np.dtype("u2" if dtype.name == "bfloat16" else dtype.name).newbyteorder(self.byte_order)
        if count:
            steps = [step * dtype.size for step in stride]
            values: NDArray[Any] = np.ndarray(size, numpy_type, storage.data, offset * dtype.size, steps)
        else:
            values = np.zeros([min(length, 1) for length in size], dtype=numpy_type)
        native = values.astype(numpy_type.newbyteorder("="))
        return bfloat16_to_float32(native) if dtype.name == "bfloat16" else native


def _check_lengths(numbers: tuple[Any, ...], error: CheckpointError) -> None:
    # Booleans are no lengths, and anything near 2**63 would overflow in numpy.
    if not all(type(number) is int and 0 <= number < 2**48 for number in numbers):
        raise error


def _is_empty(metadata: tuple[Any, ...]) -> bool:
    # Torch marks lazily negated and conjugated tensors here; their stored numbers are not their values.
    return all(item is None or (type(item) is dict and not item) for item in metadata)


def _root(archive: Archive) -> str:
    """The folder inside the archive that holds ``data.pkl``."""
    names = archive.sizes
    if any(name.endswith(("/constants.pkl", "/archive_format")) or "/code/" in name for name in names):
        raise NotACheckpointError(
            f"{archive.path}: an exported program (TorchScript or .pt2) holds code, which is not run; "
            f"{SAVE_A_STATE_DICT}"
        )
    roots = [
        name[: -len("/data.pkl")] for name in names if name.endswith("/data.pkl") and name.count("/") == 1
    ]
    if len(roots) != 1:
        raise NotACheckpointError(
            f"{archive.path}: a zip archive, but not one that torch.save wrote: {len(roots)} members are "
            "called data.pkl"
        )
    return roots[0]


def read_torch_file(file: OpenedFile) -> Any:
    """Return what was saved: dicts, lists, plain values, and a numpy array for each tensor.

    Parameters
    ----------
    file : OpenedFile

    Raises
    ------
    UnsafePickleError
        Anything but tensors and plain containers. Nothing is run.
    NotACheckpointError, TruncatedFileError, FileTooLargeError
        Not a torch file, an old or exported one, or a damaged one.
    """
    path, start = file.name, file.start
    if file.archive is not None:
        return _TorchArchive(file.archive).read()
    if start.startswith(_LEGACY_MAGIC):
        raise NotACheckpointError(
            f"{path}: written in the format of torch before 1.6; open it in torch and save it again: "
            "torch.save(torch.load(path, weights_only=True), new_path)"
        )
    if start.startswith(b"\x80"):
        raise UnsafePickleError(
            f"{path}: a bare pickle, which could run anything. It was not opened; {SAVE_A_STATE_DICT}"
        )
    raise NotACheckpointError(f"{path}: not a file that torch.save wrote (those are zip archives)")
