# SPDX-License-Identifier: MIT
"""Which array is this tensor in a pickle of torch?

torch pickles a tensor as a call of one of its builders with a storage (a run of numbers elsewhere in the file), an
offset, a size and a stride. These builders are the only functions that a torch file may call here; each checks its
view against the bytes that are present. A sparse tensor becomes a dense array. A tensor becomes an `Opaque` if its
values would have to be computed (quantized), are sparse in blocks, or have a type that numpy lacks. A view that torch
negates or conjugates later is negated or conjugated here, which is exact.
Invariant: the size of all arrays, counted as doubles, is checked against the limits before an array is built.
Cost: one copy of each tensor.
Source: what ``torch.save`` of torch 2.13 was seen to write in both layouts, and public files in the older one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from regions.errors import CheckpointError, FileTooLargeError, NotACheckpointError, TruncatedFileError
from regions.files import limits
from regions.files.restricted_pickle import Function, Loaded, Opaque, plain_key
from regions.files.sparse_tensors import array_of_compressed, array_of_coordinates, empty_shape
from regions.ground.arithmetic.narrow_floats import NARROW, numbers_of

__all__ = ["Dtype", "Origin", "Storage", "TensorBuilders", "require_lengths"]

# Storage class (older dtypes) or dtype name (newer ones): numpy's name for the raw numbers.
_STORAGE_KINDS = {
    "DoubleStorage": "f8",
    "FloatStorage": "f4",
    "HalfStorage": "f2",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "i8",
    "IntStorage": "i4",
    "ShortStorage": "i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "?",
    "ComplexFloatStorage": "c8",
    "ComplexDoubleStorage": "c16",
}
# Types that numpy does not have: names in torch, and in `narrow_floats`.
_NARROW = {
    "torch.float8_e4m3fn": "float8e4m3fn",
    "torch.float8_e5m2": "float8e5m2",
    "torch.float8_e4m3fnuz": "float8e4m3fnuz",
    "torch.float8_e5m2fnuz": "float8e5m2fnuz",
}
_TYPES = _NARROW | {"torch.uint16": "u2", "torch.uint32": "u4", "torch.uint64": "u8"}
_TYPES |= {"torch.storage.UntypedStorage": "u1"}
# Older versions had separate classes for tensors on a graphics card.
_TYPES |= {f"{module}.{name}": kind for module in ("torch", "torch.cuda") for name, kind in _STORAGE_KINDS.items()}


@dataclass(frozen=True)
class Dtype:
    """A name such as ``torch.FloatStorage`` or ``torch.uint16`` as an inert value."""

    name: str  # numpy's, without byte order; or a format that numpy does not have

    @property
    def is_narrow(self) -> bool:
        """Whether numpy has bits only, and the numbers become float32."""
        return self.name in NARROW

    @property
    def raw(self) -> str:
        """Numpy's name for the stored bits."""
        return f"u{NARROW[self.name].bits // 8}" if self.is_narrow else self.name

    @property
    def size(self) -> int:
        return np.dtype(self.raw).itemsize


@dataclass(frozen=True)
class Storage(Loaded):
    """The bytes of one storage, and the element of the file's storage ``key`` at which they begin."""

    data: memoryview
    dtype: Dtype
    key: str = ""
    first: int = 0


@dataclass(frozen=True)
class Origin:
    """The origin of an array: offset, size and stride in elements of a storage."""

    array: NDArray[Any]
    storage: Storage
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]


class TensorBuilders:
    """The builders of one file.

    Parameters
    ----------
    path : str
        The file's name in messages.
    file_size : int
    byte_order : "<" or ">"
        The byte order of the numbers in storages.

    Attributes
    ----------
    names : dict
        The values of the names in a pickle.
    built : list of Origin
    """

    def __init__(self, path: str, file_size: int, byte_order: Literal["<", ">"]) -> None:
        self.path = path
        self.file_size = file_size
        self.byte_order: Literal["<", ">"] = byte_order
        self.built: list[Origin] = []
        self._numbers = self._entries = self._tensors = 0
        self._widened: set[int] = set()
        builders: dict[str, Callable[..., Any]] = {
            "collections.OrderedDict": self._ordered_dict,
            "collections.defaultdict": lambda *_: {},
            "torch._utils._rebuild_tensor": partial(self._tensor, (4,)),
            "torch._utils._rebuild_tensor_v2": partial(self._tensor, (6, 7)),
            "torch._utils._rebuild_tensor_v3": partial(self._tensor, (7, 8)),
            "torch._utils._rebuild_sparse_tensor": self._sparse,
            "torch.serialization._get_layout": lambda *names: names[0] if len(names) == 1 else None,
            "torch.Size": self._size,
            "torch._utils._rebuild_parameter": self._parameter,
            "torch._utils._rebuild_parameter_with_state": self._parameter,
        }
        self.names: dict[str, Any] = {name: Dtype(kind) for name, kind in _TYPES.items()}
        self.names |= {name: Function(build) for name, build in builders.items()}

    def malformed(self, what: str) -> NotACheckpointError:
        return NotACheckpointError(f"{self.path}: {what} is not in the form torch.save writes")

    def _ordered_dict(self, *arguments: Any) -> dict[Any, Any]:
        # Python 2 wrote the entries as an argument.
        pairs = arguments[0] if arguments else []
        result: dict[Any, Any] = {}
        if len(arguments) > 1 or type(pairs) is not list:
            raise self.malformed("an OrderedDict")
        # One list may be the argument of many calls.
        self._entries += len(pairs)
        if self._entries > limits.MAX_PICKLE_OPCODES:
            raise FileTooLargeError(f"{self.path}: its dicts have more than {limits.MAX_PICKLE_OPCODES} entries")
        for pair in pairs:
            if type(pair) not in (list, tuple) or len(pair) != 2:
                raise self.malformed("an OrderedDict")
            key = plain_key(pair[0], len(result))
            if key in result:
                raise self.malformed("an OrderedDict")
            result[key] = pair[1]
        return result

    def _parameter(self, *arguments: Any) -> Any:
        # Data, requires_grad, hooks, and perhaps attributes.
        if len(arguments) not in (3, 4) or not isinstance(arguments[0], (np.ndarray, Opaque)):
            raise self.malformed("a parameter")
        return arguments[0]

    def _size(self, *arguments: Any) -> tuple[int, ...]:
        wrong = self.malformed("a size")
        if len(arguments) != 1 or type(arguments[0]) is not tuple or len(arguments[0]) > limits.MAX_AXES:
            raise wrong
        require_lengths(arguments[0], wrong)
        return arguments[0]

    def _sparse(self, *arguments: Any) -> NDArray[Any] | Opaque:
        """Return the array of a sparse tensor, given its layout and its parts."""
        wrong = self.malformed("a sparse tensor")
        if len(arguments) != 2 or type(arguments[0]) is not str or type(arguments[1]) is not tuple:
            raise wrong
        layout, parts = arguments
        count = {"torch.sparse_coo": 2, "torch.sparse_csr": 3, "torch.sparse_csc": 3}.get(layout)
        arrays = parts[:count]
        if count is None or any(isinstance(array, Opaque) for array in arrays):
            return Opaque("torch._utils._rebuild_sparse_tensor", has_data=True)
        size = parts[count] if len(parts) > count else None
        coalesced = parts[3:] if count == 2 else ()
        if type(size) is not tuple or len(parts) > 4 or any(type(flag) not in (bool, type(None)) for flag in coalesced):
            raise wrong
        if not all(isinstance(array, np.ndarray) for array in arrays):
            raise wrong
        self._size(size)
        self._charge(math.prod(size) + sum(array.size for array in arrays), "its sparse tensors, with their zeros,")
        first, second, third = (*arrays, None)[:3]
        if third is None:
            # torch rounds each sum to the narrow type, but here the numbers are float32, so sums would differ.
            distinct = coalesced == (True,) or id(second) in self._widened
            result = array_of_coordinates(first, second, size, distinct)
        elif layout == "torch.sparse_csr":
            result = array_of_compressed(first, second, third, size)
        else:
            transposed = array_of_compressed(first, second, third, size[::-1])
            result = None if transposed is None else np.ascontiguousarray(transposed.T)
        if result is None:
            raise NotACheckpointError(
                f"{self.path}: a sparse tensor of size {list(size)} names places that it does not have, or one place "
                "several times; save tensor.to_dense() in its place"
            )
        return result

    def _tensor(self, counts: tuple[int, ...], *arguments: Any) -> Any:
        # Storage, offset, size, stride; then requires_grad and hooks; then the dtype; and perhaps metadata.
        marks = _marks(arguments[counts[0] :])
        if len(arguments) not in counts or marks is None:
            raise self.malformed("a tensor")
        given = arguments[6] if 6 < counts[0] else None
        if 6 < counts[0] and type(given) not in (Dtype, Opaque):
            raise self.malformed("the type of a tensor")
        return self.view(arguments[:4], given, marks)

    def view(
        self, arguments: tuple[Any, ...], given: Dtype | Opaque | None = None, marks: Collection[str] = ()
    ) -> NDArray[Any] | Opaque:
        """Copy the strided view out of the storage, in native byte order; bfloat16 and 8-bit floats become float32.

        ``arguments`` are the storage, and offset, size and stride in elements of it. ``marks`` may be "neg" and "conj".
        """
        storage, offset, size, stride = arguments
        if isinstance(storage, Opaque) or isinstance(given, Opaque):
            return given if isinstance(given, Opaque) else storage
        if type(storage) is not Storage:
            raise self.malformed("a tensor")
        dtype = given or storage.dtype
        wrong = self.malformed("the size, stride or offset of a tensor")
        if type(size) is not tuple or type(stride) is not tuple or len(size) != len(stride) or len(size) > 32:
            raise wrong
        require_lengths((offset, *size, *stride), wrong)
        count = math.prod(size)
        self._charge(count * max(1, dtype.size // limits.BYTES_PER_NUMBER), "its tensors")
        last = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
        if count and (last + 1) * dtype.size > len(storage.data):
            raise TruncatedFileError(
                f"{self.path}: a tensor of size {list(size)}, stride {list(stride)} and offset {offset} "
                f"reaches beyond its storage of {len(storage.data) // dtype.size} elements"
            )
        numpy_type = np.dtype(dtype.raw).newbyteorder(self.byte_order)
        if count:
            steps = [step * dtype.size for step in stride]
            values: NDArray[Any] = np.ndarray(size, numpy_type, storage.data, offset * dtype.size, steps)
        else:
            values = np.zeros(empty_shape(size), dtype=numpy_type)
        native = values.astype(numpy_type.newbyteorder("="), order="C")
        array: NDArray[Any] = numbers_of(native, dtype.name) if dtype.is_narrow else native
        if "neg" in marks:
            if array.dtype.kind not in "fci":
                raise self.malformed("a negated tensor")
            array = np.negative(array)
        if "conj" in marks:
            array = np.conjugate(array)
        if dtype.is_narrow:
            self._widened.add(id(array))  # `built` keeps the array alive, so its id stays unique
        self.built.append(Origin(array, storage, offset, size, stride))
        return array

    def _charge(self, numbers: int, what: str) -> None:
        """Refuse another tensor with this many numbers if it exceeds the limits."""
        self._numbers += numbers
        self._tensors += 1
        if self._tensors > limits.MAX_TENSORS:
            raise FileTooLargeError(f"{self.path}: has more than {limits.MAX_TENSORS} tensors")
        limits.require_expansion(self.path, self.file_size, self._numbers * limits.BYTES_PER_NUMBER, what)


def require_lengths(numbers: tuple[Any, ...], error: CheckpointError) -> None:
    """Refuse values that are not lengths: booleans, and numbers near 2**63, which would overflow in numpy."""
    if not all(type(number) is int and 0 <= number < 2**48 for number in numbers):
        raise error


def _marks(metadata: tuple[Any, ...]) -> set[str] | None:
    """Return the marks of a lazily negated or conjugated view; None if the metadata hold anything else."""
    marks: set[str] = set()
    for item in metadata:
        if item is None:
            continue
        if (
            type(item) is not dict
            or not item.keys() <= {"neg", "conj"}
            or not all(one is True for one in item.values())
        ):
            return None
        marks |= item.keys()
    return marks
