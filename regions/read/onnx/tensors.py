# SPDX-License-Identifier: MIT
"""Which numbers does a tensor in an ONNX file hold?

They are stored either as raw little-endian bytes or in the list of their type; bytes in other files have been read
before. Their count must fit the shape. Numbers are returned as stored: float16, float32, float64 and integers in their
own type; bfloat16 and real numbers of 8 and 4 bits as float32, and integers of 4 and 2 bits as integers of 8 bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import NotACheckpointError, UnsupportedLayerError
from regions.files.limits import MAX_AXES, MAX_INPUTS
from regions.ground.arithmetic.narrow_floats import NARROW, numbers_of
from regions.ground.text.printable import printable

__all__ = ["BFLOAT16", "BOOL", "FLOATS", "Constant", "element_name", "read_tensor"]

# The element types of ONNX by number: name, type of the raw bytes, and name of the list that may hold them instead.
_TYPES = {
    1: ("float32", "<f4", "float_data"),
    2: ("uint8", "<u1", "int32_data"),
    3: ("int8", "<i1", "int32_data"),
    4: ("uint16", "<u2", "int32_data"),
    5: ("int16", "<i2", "int32_data"),
    6: ("int32", "<i4", "int32_data"),
    7: ("int64", "<i8", "int64_data"),
    9: ("bool", "?", "int32_data"),
    10: ("float16", "<f2", "int32_data"),
    11: ("float64", "<f8", "double_data"),
    16: ("bfloat16", "<u2", "int32_data"),
    17: ("float8e4m3fn", "<u1", "int32_data"),
    18: ("float8e4m3fnuz", "<u1", "int32_data"),
    19: ("float8e5m2", "<u1", "int32_data"),
    20: ("float8e5m2fnuz", "<u1", "int32_data"),
    21: ("uint4", "<u1", "int32_data"),
    22: ("int4", "<u1", "int32_data"),
    23: ("float4e2m1", "<u1", "int32_data"),
    25: ("uint2", "<u1", "int32_data"),
    26: ("int2", "<u1", "int32_data"),
}
# Types of which a byte holds several numbers, the first one in its lowest bits: bits of each number.
_PACKED = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}
BOOL, BFLOAT16 = 9, 16
FLOATS = (1, 10, 11, BFLOAT16)
_LISTS = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")


@dataclass(frozen=True)
class Constant:
    """Numbers that do not depend on the input.

    Attributes
    ----------
    array : array
        As `read_tensor` returns it.
    element : int
        The element type, by its number in ONNX.
    name : str
        The name for messages; printable.
    """

    array: NDArray[Any]
    element: int
    name: str

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def stored(self) -> str:
        """The name of its type in the file; empty if it has no real numbers."""
        return element_name(self.element) if self.element in FLOATS else ""


def element_name(element: int) -> str:
    """Return the name of an element type."""
    return _TYPES[element][0] if element in _TYPES else f"type {element}"


def read_tensor(tensor: Any, name: str) -> Constant:
    """Return the numbers of a tensor.

    Parameters
    ----------
    tensor : onnx.TensorProto
    name : str
        Its name in messages.

    Raises
    ------
    NotACheckpointError
        Their count does not fit the shape, or they are stored in two places.
    UnsupportedLayerError
        An element type that weights do not have.
    """
    if tensor.data_type not in _TYPES:
        raise UnsupportedLayerError(f"{name} holds {element_name(tensor.data_type)}, which is not supported")
    if tensor.HasField("segment"):
        raise NotACheckpointError(f"{name} is only a part of a tensor")
    shape = list(tensor.dims)
    if len(shape) > MAX_AXES or min(shape, default=0) < 0 or (0 in shape and max(shape) > MAX_INPUTS):
        raise NotACheckpointError(f"{name} has an impossible shape, {printable(shape)}")
    _, raw_type, list_name = _TYPES[tensor.data_type]
    others = [field for field in _LISTS if field != list_name and len(getattr(tensor, field))]
    values = getattr(tensor, list_name)
    if others or (len(tensor.raw_data) and len(values)):
        raise NotACheckpointError(f"{name} has numbers in two places")
    itemsize, name_of_type = np.dtype(raw_type).itemsize, element_name(tensor.data_type)
    bits = _PACKED.get(tensor.data_type, 0)
    wanted = -(-math.prod(shape) * bits // 8) if bits else math.prod(shape)
    count = len(values) if len(values) else len(tensor.raw_data) // itemsize
    if count != wanted or (not len(values) and len(tensor.raw_data) % itemsize):
        size = f"{len(values)} numbers" if len(values) else f"{len(tensor.raw_data)} bytes"
        raise NotACheckpointError(f"{name} has shape {printable(shape)} but {size} of data")
    if len(values):
        array = _from_list(values, raw_type, name)
    else:
        stored = np.frombuffer(tensor.raw_data, dtype=raw_type)
        array = stored.astype(stored.dtype.newbyteorder("="))
    array = (_unpacked(array, bits)[: math.prod(shape)] if bits else array).reshape(shape)
    if name_of_type in NARROW and name_of_type != "float16":
        array = numbers_of(array, name_of_type)
    elif bits and name_of_type.startswith("i"):
        array = (array.astype(np.int8) ^ (1 << (bits - 1))) - np.int8(1 << (bits - 1))
    # Operators of numpy make a number of an array without axes.
    return Constant(np.asarray(array), tensor.data_type, printable(tensor.name))


def _unpacked(stored: NDArray[Any], bits: int) -> NDArray[Any]:
    """Return the numbers of a few bits each that bytes hold, uint8 [8 / bits * bytes]."""
    return ((stored[:, np.newaxis] >> np.arange(0, 8, bits, dtype=np.uint8)) & (2**bits - 1)).ravel()


def _from_list(values: Any, raw_type: str, name: str) -> NDArray[Any]:
    if np.dtype(raw_type).itemsize <= 2 and raw_type != "?":  # kept as integers
        bits, stored = np.array(values, dtype=np.int64), np.dtype("<u2" if raw_type == "<f2" else raw_type)
        if bits.min() < np.iinfo(stored).min or bits.max() > np.iinfo(stored).max:
            raise NotACheckpointError(f"{name} has numbers of more than {8 * stored.itemsize} bits")
        return bits.astype(stored.newbyteorder("=")).view(np.float16 if raw_type == "<f2" else stored.newbyteorder("="))
    return np.array(values, dtype=np.dtype(raw_type).newbyteorder("="))
