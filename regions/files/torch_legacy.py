# SPDX-License-Identifier: MIT
"""Which tensors are in a file that torch before 1.6 wrote?

The file is a sequence of pickles: a magic number, a version, facts about the machine, the object, and the list of its
storages' keys. The number of elements (8 bytes) and the raw numbers follow for each key. The object comes before the
storages, so it is read twice: first to list the storages, then, when their positions are known, to build it.
Such a file has no checksums. Its structure is checked instead: keys, lengths and the end of the file must agree, and
weights must fill their storages (`_require_filled`).
Source: what ``torch.save(.., _use_new_zipfile_serialization=False)`` was seen to write.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from regions.errors import NotACheckpointError, TruncatedFileError, UnsupportedLayerError
from regions.files import limits
from regions.files.opened import OpenedFile
from regions.files.restricted_pickle import Opaque, Unpickled, read_pickle
from regions.files.torch_builders import Dtype, Storage, TensorBuilders, require_lengths
from regions.files.unread_values import mappings_with_matrices
from regions.ground.text.printable import printable

__all__ = ["MAGIC", "read_legacy_file"]

# The first number that torch.save wrote.
MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001
_LONGEST_KEY = 100
_SAVE_CLONES = "if that is meant, open it in torch and save a clone of each tensor"


class _LegacyFile:
    def __init__(self, opened: OpenedFile) -> None:
        self.file, self.path, self.size = opened.file, opened.name, opened.size
        self.file.seek(0)
        self.pickles = io.BytesIO(self.file.read(limits.MAX_PICKLE_BYTES))
        self.builders = TensorBuilders(self.path, self.size, "<")
        self.types = {name: value for name, value in self.builders.names.items() if isinstance(value, Dtype)}
        self.storages: dict[str, tuple[Dtype, int]] = {}  # type, number of elements
        self.places: dict[str, int] = {}  # first byte in the file
        self.loaded: dict[str, memoryview] = {}

    def damaged(self, what: str) -> NotACheckpointError:
        return NotACheckpointError(f"{self.path}: a torch file from before 1.6, but {what}")

    def read(self) -> Unpickled:
        for expected in (MAGIC, _VERSION):
            if self._plain() != expected:
                raise self.damaged(f"{expected} is missing at its beginning")
        facts = self._plain()
        if type(facts) is not dict or facts.get("little_endian") is not True:
            raise self.damaged("written on a machine of another byte order; save it again with torch 1.6 or newer")
        start = self.pickles.tell()
        read_pickle(self.pickles, self.path, self.types, self._note)
        keys = self._plain()
        if type(keys) is not list or not all(type(key) is str for key in keys):
            raise self.damaged("its list of storages is not a list of names")
        if len(set(keys)) != len(keys) or set(keys) != set(self.storages):
            raise self.damaged("its list of storages does not match its tensors")
        self._place(keys)
        self.pickles.seek(start)
        result = read_pickle(self.pickles, self.path, self.builders.names, self._load)
        self._require_filled(result.value)
        return result

    def _plain(self) -> Any:
        return read_pickle(self.pickles, self.path, {}, self._refuse).value

    def _refuse(self, _persistent_id: Any) -> Any:
        raise self.damaged("it refers to a storage outside the object")

    def _parts(self, persistent_id: Any) -> tuple[Dtype, str, int, Any] | None:
        """Return type, key, number of elements and view of ``("storage", type, key, location, number[, view])``.

        Return None for ``("module", class, ..)``, which comes with pickled modules.
        """
        wrong = self.damaged("a reference to a storage is malformed")
        if type(persistent_id) is not tuple or not 4 <= len(persistent_id) <= 6:
            raise wrong
        if persistent_id[0] == "module":
            return None
        if persistent_id[0] != "storage" or len(persistent_id) < 5:
            raise wrong
        _tag, dtype, key, _location, count, *view = persistent_id
        if isinstance(dtype, Opaque):
            what = printable(dtype.name)
            raise UnsupportedLayerError(f"{self.path}: holds a tensor of type {what}, which is not read")
        if type(dtype) is not Dtype or type(key) is not str or len(key) > _LONGEST_KEY:
            raise wrong
        require_lengths((count,), wrong)
        return dtype, key, count, view[0] if view else None

    def _note(self, persistent_id: Any) -> Any:
        parts = self._parts(persistent_id)
        if parts is None:
            return persistent_id[1]
        dtype, key, count, _ = parts
        if self.storages.setdefault(key, (dtype, count)) != (dtype, count):
            raise self.damaged("a storage has two types or lengths")
        return None

    def _place(self, keys: list[str]) -> None:
        position = self.pickles.tell()
        for key in keys:
            dtype, count = self.storages[key]
            self.file.seek(position)
            if int.from_bytes(self.file.read(8), "little") != count:
                raise self.damaged(f"a storage of {count} elements is not where it should be")
            self.places[key] = position + 8
            position += 8 + count * dtype.size
            if position > self.size:
                raise TruncatedFileError(f"{self.path}: ends {position - self.size} bytes before a storage does")
        if position != self.size:
            raise self.damaged(f"{self.size - position} bytes at its end belong to nothing")

    def _load(self, persistent_id: Any) -> Any:
        parts = self._parts(persistent_id)
        if parts is None:
            return persistent_id[1]
        dtype, key, count, view = parts
        if key not in self.loaded:
            self.file.seek(self.places[key])
            self.loaded[key] = memoryview(self.file.read(count * dtype.size))
        if view is None:
            return Storage(self.loaded[key], dtype, key)
        wrong = self.damaged("a view of a storage is malformed")
        if type(view) is not tuple or len(view) != 3:
            raise wrong
        require_lengths(view[1:], wrong)
        _view_key, first, length = view
        if first + length > count:
            raise wrong
        data = self.loaded[key][first * dtype.size : (first + length) * dtype.size]
        return Storage(data, dtype, key, first)

    def _require_filled(self, content: Any) -> None:
        """Refuse weights that leave numbers of their storages unused, which damaged sizes and strides cause."""
        origins = {id(origin.array): origin for origin in self.builders.built}
        for mapping in mappings_with_matrices(content):
            used: dict[str, list[tuple[int, int]]] = {}
            for name, array in mapping.items():
                if id(array) in origins and isinstance(array, np.ndarray) and array.size:
                    origin = origins[id(array)]
                    if not _is_dense(origin.size, origin.stride):
                        raise self.damaged(f"{printable(name)} is a view with gaps or repetitions; {_SAVE_CLONES}")
                    first = origin.storage.first + origin.offset
                    used.setdefault(origin.storage.key, []).append((first, first + array.size))
            for key, intervals in used.items():
                reached = 0
                for first, end in sorted(intervals):
                    reached = max(reached, end) if first <= reached else reached
                if reached != self.storages[key][1]:
                    stored = self.storages[key][1]
                    raise self.damaged(f"weights use {reached} of {stored} stored numbers; {_SAVE_CLONES}")


def _is_dense(size: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """Return whether a view is a block without gaps, perhaps transposed."""
    expected = 1
    for step, length in sorted((step, length) for step, length in zip(stride, size, strict=True) if length > 1):
        if step != expected:
            return False
        expected *= length
    return True


def read_legacy_file(opened: OpenedFile) -> Unpickled:
    """Return the content of such a file; see `regions.files.torch_file.read_torch_file`."""
    return _LegacyFile(opened).read()
