# SPDX-License-Identifier: MIT
"""Which arrays are in a ``.npz`` file?

A zip of ``NAME.npy`` members. `numpy.load` would allocate whatever a member's header announces; here the
member is unpacked under the limits of `regions.read.zip_file` first, and the header is held against the bytes
that are there. Arrays of Python objects, which are pickles, are refused.
"""

from __future__ import annotations

import io
import math
import tokenize
from typing import Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from regions.errors import NotACheckpointError, TruncatedFileError, UnsafePickleError
from regions.read.opened import OpenedFile

# What numpy's header parser (which uses ast and tokenize) raises on damaged input.
_PARSER_ERRORS = (
    ValueError,
    TypeError,
    KeyError,
    SyntaxError,
    RecursionError,
    MemoryError,
    tokenize.TokenError,
)


def read_npz(file: OpenedFile) -> dict[str, NDArray[Any]]:
    """Return the arrays by name, in the order of the file.

    Parameters
    ----------
    file : OpenedFile

    Raises
    ------
    NotACheckpointError, TruncatedFileError, FileTooLargeError
        Not such a file, or a damaged one.
    UnsafePickleError
        An array of Python objects.
    """
    path, archive = file.name, file.archive
    if archive is None:
        raise NotACheckpointError(f"{path}: not a file that numpy.savez wrote (those are zip archives)")
    names = [name for name in archive.sizes if name.endswith(".npy")]
    if not names:
        raise NotACheckpointError(
            f"{path}: a zip archive without arrays; numpy.savez writes members called NAME.npy"
        )
    return {name[: -len(".npy")]: _array(archive.read(name), f"{path}: array {name!r}") for name in names}


def _array(member: bytes, what: str) -> NDArray[Any]:
    stream = io.BytesIO(member)
    try:
        version = npy_format.read_magic(stream)
        if version not in ((1, 0), (2, 0)):  # 3.0 is for names of structured types, which are no weights
            raise ValueError(f"unsupported version {version}")
        read_header = (
            npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
        )
        shape, fortran_order, dtype = read_header(stream)
    except _PARSER_ERRORS as error:
        raise NotACheckpointError(f"{what} has a damaged header: {error}") from None
    if dtype.hasobject:
        raise UnsafePickleError(
            f"{what} holds Python objects, which are pickled; nothing was run. Save numbers only"
        )
    if not all(0 <= length < 2**48 for length in shape) or len(shape) > 32:
        raise NotACheckpointError(f"{what} has an impossible shape")
    start, count = stream.tell(), math.prod(shape)
    if start + count * dtype.itemsize > len(member):
        raise TruncatedFileError(
            f"{what} announces shape {list(shape)} but has only {len(member) - start} bytes of data"
        )
    if not count or not dtype.itemsize:
        return np.zeros([min(length, 1) for length in shape])
    values = np.frombuffer(member, dtype=dtype, count=count, offset=start)
    return values.reshape(shape, order="F" if fortran_order else "C")
