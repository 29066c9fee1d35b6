# SPDX-License-Identifier: MIT
"""Which arrays are in a ``.npz`` file?

The file is a zip of ``NAME.npy`` members. `numpy.load` would allocate whatever a member's header announces. Here the
member is first unpacked under the limits of `regions.files.zip_file`, and the header is compared with the bytes that
are present. The header is a Python expression; a regular expression reads only the form that numpy writes, so no
Python parser sees hostile text. Arrays of Python objects, which are pickles, are refused. Members that are not arrays
are refused too, because a skipped member could be a bias.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import NotACheckpointError, TruncatedFileError, UnsafePickleError
from regions.files import limits
from regions.files.opened import OpenedFile
from regions.ground.text.printable import printable

_ENDING = ".npy"
_MAGIC = b"\x93NUMPY"
# Format version, and bytes of the header's length. 3.0 is for names of structured types, which cannot be weights.
_LENGTH_BYTES = {b"\x01\x00": 2, b"\x02\x00": 4}
_HEADER = re.compile(
    rb"\{\s*'descr'\s*:\s*'([<>|=]?[?biufcSUVmMO][0-9]{0,9}(?:\[[a-zA-Z0-9]{1,9}\])?)'\s*,"
    rb"\s*'fortran_order'\s*:\s*(True|False)\s*,"
    rb"\s*'shape'\s*:\s*\(([0-9L, ]{0,999})\)\s*,?\s*\}\s*"
)


def read_npz(file: OpenedFile) -> dict[str, NDArray[Any]]:
    """Return the arrays by name, in the order of the file.

    Parameters
    ----------
    file : OpenedFile

    Raises
    ------
    NotACheckpointError, TruncatedFileError, FileTooLargeError
        The file is not an ``.npz`` file, or it is damaged.
    UnsafePickleError
        It has an array of Python objects.
    """
    archive = file.archive
    if archive is None:
        raise NotACheckpointError(f"{file.name}: not a file that numpy.savez wrote (those are zip archives)")
    arrays: dict[str, NDArray[Any]] = {}
    built = 0
    for name in archive.sizes:
        what = f"{file.name}: array '{printable(name)}'"
        if name.endswith("data.pkl"):
            raise NotACheckpointError(
                f"{file.name}: a file that torch saved, and not a .npz file; regions.load reads models"
            )
        if not name.endswith(_ENDING):
            raise NotACheckpointError(f"{what} is not an array: its name does not end in .npy, as numpy.savez writes")
        array = read_array(archive.read(name), what)
        built += array.size * max(array.itemsize, limits.BYTES_PER_NUMBER)
        limits.require_expansion(file.name, file.size, built, "its arrays")
        arrays[name.removesuffix(_ENDING)] = array
    if not arrays:
        raise NotACheckpointError(f"{file.name}: a zip archive without arrays")
    return arrays


def read_array(member: bytes, what: str) -> NDArray[Any]:
    """Return the array in the bytes of a ``.npy`` file; ``what`` names it in messages.

    Raises
    ------
    NotACheckpointError, TruncatedFileError, UnsafePickleError
        The member is damaged, longer or shorter than it announces, or holds Python objects.
    """
    length_bytes = _LENGTH_BYTES.get(member[6:8], 0)
    start = 8 + length_bytes + int.from_bytes(member[8 : 8 + length_bytes], "little")
    header = _HEADER.fullmatch(member, 8 + length_bytes, min(start, len(member)))
    if not member.startswith(_MAGIC) or not length_bytes or header is None:
        raise NotACheckpointError(f"{what} has a damaged header, or one that numpy does not write")
    kind, fortran, lengths = (group.decode("ascii") for group in header.groups())
    if "O" in kind:
        raise UnsafePickleError(f"{what} holds Python objects, which are pickled; nothing was run. Save numbers only")
    try:
        dtype = np.dtype(kind)
    except (TypeError, ValueError):
        raise NotACheckpointError(f"{what} has the type {kind!r}, which numpy does not know") from None
    if not re.fullmatch(r"((0|[1-9][0-9]{0,14})L?, ?)*((0|[1-9][0-9]{0,14})L?)?", lengths) or lengths.isdigit():
        raise NotACheckpointError(f"{what} has an impossible shape")
    shape = [int(length.rstrip("L")) for length in lengths.replace(" ", "").split(",") if length]
    if len(shape) > 32:
        raise NotACheckpointError(f"{what} has an impossible shape")
    count = math.prod(shape)
    if count * dtype.itemsize != len(member) - start:
        short = count * dtype.itemsize > len(member) - start
        raise (TruncatedFileError if short else NotACheckpointError)(
            f"{what} announces shape {shape} but has {len(member) - start} bytes of data"
        )
    if not count or not dtype.itemsize:
        return np.zeros([min(length, 1) for length in shape], dtype)
    values = np.frombuffer(member, dtype=dtype, count=count, offset=start)
    return values.reshape(shape, order="F" if fortran == "True" else "C")
