# SPDX-License-Identifier: MIT
"""Which bytes of a file beside an ONNX model are the numbers of its tensors?

Exporters write large tensors into a separate file, ``m.onnx.data`` beside ``m.onnx``, and the model names it. A name
could point anywhere, so only an ordinary file in the model's folder is opened: no path, no link. Offset and length are
compared with its size before anything is read, and the total with the sizes of both files.
Source: ``onnx/docs/ExternalData.md``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from regions.errors import CheckpointError, NotACheckpointError, TruncatedFileError
from regions.files import limits
from regions.files.beside import is_plain_name, open_beside
from regions.files.opened import OpenedFile, require_no_holes
from regions.ground.text.printable import printable

__all__ = ["put_in_external_data"]

_ADVICE = "put all into one: torch.onnx.export(.., external_data=False), or onnx.save(onnx.load(path), 'one.onnx')"
_KEYS = {"location", "offset", "length"}


def put_in_external_data(model: Any, file: OpenedFile) -> int:
    """Read the tensors that are stored in files beside the model.

    Parameters
    ----------
    model : onnx.ModelProto
        Its tensors are changed: afterwards none of them has external data.
    file : OpenedFile

    Returns
    -------
    int
        Total size of these files, in bytes.

    Raises
    ------
    CheckpointError
        A file that is missing, or is not opened.
    NotACheckpointError, TruncatedFileError
        A bad name, or an offset or length that is not a number or beyond the end of the file.
    FileTooLargeError
        More than the limits allow.
    """
    outside = [each for each in _tensors(model.graph) if each[0].data_location or each[0].external_data]
    places = [_place(tensor, f"{file.name}: {what}", file) for tensor, what in outside]
    sizes = {name: _size(name, file) for name in dict.fromkeys(name for name, _, _ in places)}
    together = file.size + sum(sizes.values())
    wanted = 0
    for (tensor, what), (name, offset, length) in zip(outside, places, strict=True):
        size = sizes[name]
        if offset > size or (length is not None and offset + length > size):
            raise TruncatedFileError(
                f"{file.name}: {what} is at {offset} in {printable(name)!r}, {length} bytes, and that file has {size}"
            )
        count = size - offset if length is None else length
        wanted += count
        limits.require_expansion(file.name, together, wanted, "the tensors in other files")
        tensor.raw_data = _read(name, file, offset, count)
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
    return together


def _tensors(graph: Any) -> Iterator[tuple[Any, str]]:
    """Yield stored tensors and tensors in attributes, with their names for messages."""
    for tensor in graph.initializer:
        yield tensor, f"tensor {printable(tensor.name)!r}"
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t, f"the {printable(attribute.name)} of node {printable(node.name)!r}"


def _place(tensor: Any, what: str, file: OpenedFile) -> tuple[str, int, int | None]:
    """Return the name of the file, the tensor's offset there, and its number of bytes; None for all following bytes."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    if file.folder is None:
        raise CheckpointError(
            f"{what} is in another file, {printable(location)!r}, and this one was given open; give its path, or "
            f"{_ADVICE}"
        )
    if not is_plain_name(location):
        raise CheckpointError(
            f"{what} is in another file, {printable(location)!r}, which is not opened, as only a plain name beside the "
            f"model is; {_ADVICE}"
        )
    if len(entries) != len(tensor.external_data) or not entries.keys() <= _KEYS or tensor.HasField("raw_data"):
        raise NotACheckpointError(
            f"{what} says in an unknown way where it is ({', '.join(map(printable, list(entries)[:8]))}); {_ADVICE}"
        )
    numbers: list[int | None] = []
    for key in ("offset", "length"):
        text = entries.get(key)
        if text is not None and not (text.isascii() and text.isdigit() and len(text) < 20):
            raise NotACheckpointError(f"{what} has an impossible {key}, {printable(text)!r}")
        numbers.append(None if text is None else int(text))
    offset, length = numbers
    return location, offset or 0, length


def _size(name: str, file: OpenedFile) -> int:
    descriptor = open_beside(name, file)
    try:
        size = os.fstat(descriptor).st_size
        limits.require_file_size(printable(name), size)
        require_no_holes(descriptor, printable(name), size)
        return size
    finally:
        os.close(descriptor)


def _read(name: str, file: OpenedFile, offset: int, count: int) -> bytes:
    descriptor = open_beside(name, file)
    with os.fdopen(descriptor, "rb") as opened:
        opened.seek(offset)
        content = opened.read(count)
    if len(content) != count:
        raise TruncatedFileError(f"{file.name}: {printable(name)!r} ended while it was read")
    return content
