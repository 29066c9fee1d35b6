# SPDX-License-Identifier: MIT
"""Which tensors are in a ``.safetensors`` file?

The file has eight bytes with the length of a JSON header, the header (name: dtype, shape, byte range), and the raw
little-endian numbers. The ranges must tile the rest of the file exactly, as the format demands: no overlap,
no hole, nothing beyond the end. The header may hold metadata, in which `regions.files.shared_tensors` finds the other
names of shared tensors.
The format does not keep the order in which a module holds its tensors, so callers cannot rely on it.
Source: the format's own description; the ``safetensors`` package is not needed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import FileTooLargeError, NotACheckpointError, TruncatedFileError, UnsupportedLayerError
from regions.files import limits
from regions.files.json_objects import parsed_object
from regions.files.opened import OpenedFile
from regions.files.shared_tensors import with_shared_tensors
from regions.ground.arithmetic.narrow_floats import numbers_of

__all__ = ["looks_like_safetensors", "read_metadata", "read_safetensors"]

_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "u1",
    "BOOL": "?",
    "F8_E4M3": "u1",
    "F8_E5M2": "u1",
    "F8_E4M3FNUZ": "u1",
    "F8_E5M2FNUZ": "u1",
}
# Real numbers that numpy does not have.
_NARROW = {
    "BF16": "bfloat16",
    "F8_E4M3": "float8e4m3fn",
    "F8_E5M2": "float8e5m2",
    "F8_E4M3FNUZ": "float8e4m3fnuz",
    "F8_E5M2FNUZ": "float8e5m2fnuz",
}


def looks_like_safetensors(start: bytes) -> bool:
    """Return whether a file begins with a length of less than 4 GiB and a brace.

    Lengths such as 384 begin with the bytes of a pickle, which has no zeros in the place of the upper bytes.
    """
    return start[4:9] == b"\0\0\0\0{"


def read_safetensors(opened: OpenedFile) -> dict[str, NDArray[Any]]:
    """Return the tensors by name, in the order of the header; bfloat16 and 8-bit floats become float32.

    Parameters
    ----------
    opened : OpenedFile

    Raises
    ------
    NotACheckpointError, TruncatedFileError, FileTooLargeError
        The file is not a safetensors file, or it is damaged.
    UnsupportedLayerError
        A tensor has a type that is not read, such as floats of 4 bits.
    """
    path = opened.name
    content, length = _header(opened)
    metadata = _metadata(content, path)
    entries = _entries(content, path)
    _require_tiling(entries, opened.size - 8 - length, path)
    opened.file.seek(8 + length)
    data = memoryview(opened.file.read())
    tensors = {name: _tensor(kind, shape, data[start:end]) for name, kind, shape, start, end in entries}
    return with_shared_tensors(tensors, metadata, path, opened.size)


def read_metadata(opened: OpenedFile) -> dict[str, str]:
    """Return the metadata in the header of a safetensors file; it raises the same errors as `read_safetensors`."""
    return _metadata(_header(opened)[0], opened.name)


def _header(opened: OpenedFile) -> tuple[dict[str, Any], int]:
    """Return the header and its length in bytes."""
    file, path, size = opened.file, opened.name, opened.size
    if size < 8:
        raise TruncatedFileError(f"{path}: {size} bytes are too few for a safetensors file")
    file.seek(0)
    header_size = int.from_bytes(file.read(8), "little")
    if header_size > limits.MAX_JSON_BYTES:
        raise FileTooLargeError(
            f"{path}: announces a header of {header_size} bytes, the limit is {limits.MAX_JSON_BYTES}; "
            "probably this is not a safetensors file"
        )
    if 8 + header_size > size:
        raise TruncatedFileError(f"{path}: announces a header of {header_size} bytes but has only {size} in all")
    return parsed_object(file.read(header_size), f"{path}: its header"), header_size


def _metadata(content: dict[str, Any], path: str) -> dict[str, str]:
    metadata = content.get("__metadata__")
    if metadata is None:  # MLX writes null
        return {}
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise NotACheckpointError(f"{path}: its __metadata__ are not names with texts")
    return metadata


def _entries(content: dict[str, Any], path: str) -> list[tuple[str, str, list[int], int, int]]:
    """Check the tensors of the header: name, dtype, shape, first byte, byte after the last."""
    if len(content) > limits.MAX_TENSORS:
        raise FileTooLargeError(f"{path}: announces {len(content)} tensors; at most {limits.MAX_TENSORS} are read")
    entries = []
    for name, entry in content.items():
        if name == "__metadata__":
            continue
        wrong = NotACheckpointError(f"{path}: the header's entry for {name[:200]!r} is malformed")
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
            raise wrong
        kind, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(kind, str) or not isinstance(shape, list) or not isinstance(offsets, list):
            raise wrong
        if kind not in _DTYPES:
            raise UnsupportedLayerError(
                f"{path}: tensor {name[:200]!r} has dtype {kind[:20]}, which is not supported; store it as F32 or F64"
            )
        if len(shape) > 32 or len(offsets) != 2:
            raise wrong
        if not all(type(number) is int and 0 <= number < 2**48 for number in (*shape, *offsets)):
            raise wrong
        if math.prod(shape) * np.dtype(_DTYPES[kind]).itemsize != offsets[1] - offsets[0]:
            raise NotACheckpointError(f"{path}: tensor {name[:200]!r} has a byte range that does not fit its shape")
        entries.append((name, kind, shape, offsets[0], offsets[1]))
    return entries


def _require_tiling(entries: list[tuple[str, str, list[int], int, int]], available: int, path: str) -> None:
    reached = 0
    for name, _kind, _shape, start, end in sorted(entries, key=lambda entry: entry[3:]):
        if start != reached:
            what = "overlaps another one" if start < reached else "leaves a hole before it"
            raise NotACheckpointError(f"{path}: the byte range of tensor {name[:200]!r} {what}")
        reached = end
    if reached > available:
        raise TruncatedFileError(f"{path}: the tensors need {reached} bytes, the file has {available}")
    if reached < available:
        raise NotACheckpointError(f"{path}: {available - reached} bytes after the last tensor belong to nothing")


def _tensor(kind: str, shape: list[int], data: memoryview) -> NDArray[Any]:
    if not math.prod(shape):
        # If one length is 0, huge other lengths would overflow in numpy. An empty tensor is refused later, with its
        # name.
        return np.zeros([min(length, 1) for length in shape])
    values = np.frombuffer(data, dtype=_DTYPES[kind]).reshape(shape)
    native = values.astype(values.dtype.newbyteorder("="))
    return numbers_of(native, _NARROW[kind]) if kind in _NARROW else native
