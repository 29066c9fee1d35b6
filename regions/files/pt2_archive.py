# SPDX-License-Identifier: MIT
"""What is in an archive that ``torch.export.save`` wrote?

It is a zip with one folder. ``models/NAME.json`` has the graph; ``data/weights`` and ``data/constants`` have raw
storages in the byte order that ``byteorder`` states. A ``NAME_.._config.json`` in each says which tensor is which view
of which storage. All of that is data: torch is not needed and nothing is executed. Pickled tensors, such as instances
of tensor subclasses, are refused.
Invariant: every member's checksum has been compared, unusual members that are not needed are named, and no JSON object
has duplicate keys.
Cost: one pass over the archive, and one copy of each tensor.
Source: the layout is what torch 2.13 was seen to write (schema 8); archives before 2.8 have another one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import (
    AmbiguousCheckpointError,
    FileTooLargeError,
    NotACheckpointError,
    TruncatedFileError,
    UnsafePickleError,
    UnsupportedLayerError,
)
from regions.files import limits
from regions.files.json_objects import list_of_objects, object_of, parsed_object
from regions.files.opened import OpenedFile
from regions.files.torch_builders import Dtype, Storage, TensorBuilders
from regions.files.zip_file import Archive
from regions.ground.text.printable import printable

__all__ = ["TYPES", "ExportedArchive", "is_pt2", "read_pt2"]

# The types by their numbers in the schema.
TYPES = {
    1: Dtype("u1"),
    2: Dtype("i1"),
    3: Dtype("i2"),
    4: Dtype("i4"),
    5: Dtype("i8"),
    6: Dtype("f2"),
    7: Dtype("f4"),
    8: Dtype("f8"),
    12: Dtype("?"),
    13: Dtype("bfloat16"),
}
_STRIDED = 7
# Members other than tensors that torch writes.
_BESIDE = r"/(models/[^/]+\.json|archive_format|archive_version|byteorder|\.data/[^/]+|data/sample_inputs/[^/]+\.pt)"
_OLDER = "serialized_exported_program.json"


@dataclass(frozen=True)
class ExportedArchive:
    """The content of an archive.

    Attributes
    ----------
    program : dict
        The exported program, parsed and not checked.
    tensors : dict of str to array
        Parameters, buffers and constants, by their names in the module.
    unused : list of str
        Members that were not needed, and that torch writes only on request or not at all.
    """

    program: dict[str, Any]
    tensors: dict[str, NDArray[Any]]
    unused: list[str]


def is_pt2(file: OpenedFile) -> bool:
    """Return whether a file is an archive of an exported program, of any version."""
    return file.archive is not None and any(
        name == _OLDER or re.fullmatch(r"[^/]+/models/[^/]+\.json", name) for name in file.archive.sizes
    )


def read_pt2(file: OpenedFile) -> ExportedArchive:
    """Read an archive.

    Parameters
    ----------
    file : OpenedFile
        A file for which `is_pt2` returns True.

    Raises
    ------
    NotACheckpointError, TruncatedFileError, FileTooLargeError
        The archive is damaged, or has another layout.
    UnsafePickleError
        A tensor is pickled. Nothing is run.
    UnsupportedLayerError
        A tensor is of a kind that is not read.
    AmbiguousCheckpointError
        It has several models.
    """
    assert file.archive is not None
    archive, path = file.archive, file.name
    if _OLDER in archive.sizes:
        raise NotACheckpointError(
            f"{path}: an exported program in the layout before torch 2.8, whose weights are pickled; open it with "
            "torch.export.load only if you trust the file, and save it again with torch.export.save"
        )
    models = [name for name in archive.sizes if re.fullmatch(r"[^/]+/models/[^/]+\.json", name)]
    if len(models) > 1:
        shown = ", ".join(printable(name) for name in models[:8])
        raise AmbiguousCheckpointError(f"{path}: it has several models ({shown}); save the one that is meant alone")
    root, name = models[0].split("/models/")
    stem = name.removesuffix(".json")
    kind = archive.read(f"{root}/archive_format") if f"{root}/archive_format" in archive.sizes else b""
    order = archive.read(f"{root}/byteorder") if f"{root}/byteorder" in archive.sizes else b"little"
    if kind.strip() != b"pt2" or order not in (b"little", b"big"):
        raise NotACheckpointError(f"{path}: its format is not pt2, or its byte order is neither little nor big")
    builders = TensorBuilders(path, archive.size, "<" if order == b"little" else ">")
    tensors: dict[str, NDArray[Any]] = {}
    read: dict[str, bytes] = {}  # storages; several tensors may be views of one
    for folder in ("weights", "constants"):
        config = f"{root}/data/{folder}/{stem}_{folder}_config.json"
        if config not in archive.sizes:
            raise NotACheckpointError(f"{path}: member {printable(config)!r} is missing")
        entries = object_of(_json(archive, config), "config", f"{path}: {printable(config)}")
        read[config] = b""
        for key, entry in entries.items():
            what = f"{path}: tensor {printable(key)!r}"
            if key in tensors:
                raise NotACheckpointError(f"{what} is among the weights and among the constants")
            tensors[key] = _tensor(archive, builders, f"{root}/data/{folder}", entry, what, read)
    others = [name for name in archive.sizes if name not in read]
    for name in others:  # compares the checksums of the members that are not needed
        archive.read(name)
    known = re.compile(re.escape(root) + _BESIDE)
    return ExportedArchive(_json(archive, models[0]), tensors, [name for name in others if not known.fullmatch(name)])


def _tensor(
    archive: Archive, builders: TensorBuilders, folder: str, entry: Any, what: str, read: dict[str, bytes]
) -> NDArray[Any]:
    wrong = NotACheckpointError(f"{what} is not described as torch.export.save does")
    if not isinstance(entry, dict):
        raise wrong
    if entry.get("use_pickle") is not False:
        raise UnsafePickleError(
            f"{what} is pickled, as subclasses of tensors are, and was not opened; export the model with plain tensors"
        )
    meta = object_of(entry, "tensor_meta", what)
    kind = meta.get("dtype")
    if meta.get("layout") != _STRIDED or type(kind) is not int or kind not in TYPES:
        raise UnsupportedLayerError(f"{what} is sparse, quantized, complex, or of 8-bit floats; plain numbers are read")
    dtype = TYPES[kind]
    numbers = [_fixed(meta.get("storage_offset")), *map(_fixed, list_of_objects(meta, "sizes", what))]
    strides = [_fixed(stride) for stride in list_of_objects(meta, "strides", what)]
    member = f"{folder}/{entry.get('path_name')}"
    if None in numbers or None in strides or not isinstance(entry.get("path_name"), str):
        raise wrong
    if member not in archive.sizes:
        raise TruncatedFileError(f"{what}: its storage {printable(member)!r} is missing from the archive")
    if member not in read:
        read[member] = archive.read(member)
    data = read[member]
    offset, *sizes = numbers
    storage = Storage(memoryview(data)[: len(data) // dtype.size * dtype.size], dtype, member)
    array = builders.view((storage, offset, tuple(sizes), tuple(strides)))
    assert isinstance(array, np.ndarray)
    return array


def _fixed(length: Any) -> Any:
    """Return a length that is a number; None for an expression or anything else."""
    number = length.get("as_int") if isinstance(length, dict) else None
    return number if type(number) is int else None


def _json(archive: Archive, member: str) -> dict[str, Any]:
    what = f"{archive.path}: {printable(member)}"
    if archive.sizes[member] > limits.MAX_JSON_BYTES:
        raise FileTooLargeError(f"{what} has {archive.sizes[member]} bytes, the limit is {limits.MAX_JSON_BYTES}")
    return parsed_object(archive.read(member), what)
