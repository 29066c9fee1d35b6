# SPDX-License-Identifier: MIT
"""Is this file an ONNX model, and can its bytes be parsed safely?

An ONNX file is one protobuf message: fields with a number, a kind and a content, and messages inside messages. Parsers
of protobuf skip unknown fields, merge duplicate fields, and build an object of a hundred bytes from two. Therefore one
flipped bit may silently drop a bias, and a small file may fill the memory. Here every field is compared with the
message descriptors of the `onnx` package before that package parses it. Each field must be known and of its kind, and
single fields may appear only once. Text must be UTF-8, and the number of fields is limited.
Cost: linear in the number of fields; all weights of a tensor are one field.
Source: protobuf's description of its encoding; the onnx.proto of ONNX for the first few field numbers.
"""

from __future__ import annotations

from typing import Any

from regions.errors import FileTooLargeError, NotACheckpointError, TruncatedFileError
from regions.files.opened import OpenedFile

__all__ = ["require_fields", "looks_like_onnx"]

# A dense layer takes some forty fields.
MAX_FIELDS = 200_000
MAX_NESTING = 20

# Kinds of content.
_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5

# The fields of a model that may precede the graph, and their kinds. All writers begin with the version.
_VERSION, _GRAPH = 1, 7
_BEFORE_GRAPH = {2: _LENGTH, 3: _LENGTH, 4: _LENGTH, 5: _VARINT, 6: _LENGTH, _GRAPH: _LENGTH}
_NEWEST_VERSION = 1000  # only a plausibility check

# Field types as descriptors number them, and their kinds; repeated numbers may also be packed into one content.
_TYPE_MESSAGE, _TYPE_STRING = 11, 9
_KINDS = {1: _EIGHT_BYTES, 2: _FOUR_BYTES, 3: _VARINT, 4: _VARINT, 5: _VARINT, 8: _VARINT, 13: _VARINT, 14: _VARINT}


def looks_like_onnx(file: OpenedFile) -> bool:
    """Return whether a file begins like a model: format version, fields that may precede the graph, graph."""
    start, position = memoryview(file.start), 0
    try:
        number, kind, position = _tag(start, 0)
        version, position = _varint(start, position)
        if (number, kind) != (_VERSION, _VARINT) or not 0 < version < _NEWEST_VERSION:
            return False
        while number != _GRAPH:
            number, kind, position = _tag(start, position)
            if _BEFORE_GRAPH.get(number) != kind:
                return False
            value, position = _varint(start, position)
            position += value if kind == _LENGTH and number != _GRAPH else 0
    except _Damage:  # the first bytes end before the graph begins
        return 0 < position < file.size and len(start) < file.size
    return True


class _Damage(Exception):
    """The bytes are not protobuf fields."""


def require_fields(data: bytes, descriptor: Any, path: str) -> None:
    """Check every field of a message, and of the messages in it.

    Parameters
    ----------
    data : bytes
    descriptor : google.protobuf.descriptor.Descriptor
        The descriptor of the whole message.
    path : str
        The file's name in messages.

    Raises
    ------
    NotACheckpointError, TruncatedFileError
        A field is unknown, of another kind, or appears too often.
    FileTooLargeError
        There are more fields than `MAX_FIELDS`.
    """
    view = memoryview(data)
    waiting = [(0, len(data), descriptor, 0)]  # unchecked messages: first byte, end, descriptor, depth
    count = 0
    while waiting:
        position, end, message, depth = waiting.pop()
        if depth > MAX_NESTING:
            raise NotACheckpointError(f"{path}: messages nested more than {MAX_NESTING} deep, which no network has")
        known, seen = message.fields_by_number, set()
        while position < end:
            count += 1
            if count > MAX_FIELDS:
                raise FileTooLargeError(f"{path}: more than {MAX_FIELDS} fields, which no dense network has")
            try:
                number, kind, position = _tag(view[:end], position)
                content, position = _content(view[:end], kind, position)
            except _Damage as damage:
                error = TruncatedFileError if depth == 0 else NotACheckpointError
                raise error(f"{path}: its {message.name} {damage}") from None
            field = known.get(number)
            if field is None or kind not in _kinds_of(field):
                raise NotACheckpointError(
                    f"{path}: field {number} of a {message.name} is not known to the installed onnx; the file is "
                    "damaged, or written by a newer onnx: then install that"
                )
            if not _is_repeated(field):
                # At most one member of a oneof may be present.
                key = field.number if field.containing_oneof is None else field.containing_oneof.name
                if key in seen:
                    raise NotACheckpointError(f"{path}: a {message.name} has field {field.name} twice")
                seen.add(key)
            if field.type == _TYPE_MESSAGE:
                waiting.append((position - len(content), position, field.message_type, depth + 1))
            elif field.type == _TYPE_STRING:
                _require_text(content, f"{path}: field {field.name} of a {message.name}")


def _is_repeated(field: Any) -> bool:
    # `label` is deprecated; `is_repeated` exists since protobuf 6.
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def _kinds_of(field: Any) -> tuple[int, ...]:
    kind = _KINDS.get(field.type, _LENGTH)
    return (kind, _LENGTH) if _is_repeated(field) else (kind,)


def _require_text(content: memoryview, what: str) -> None:
    try:
        str(content, "utf-8")
    except UnicodeDecodeError:
        raise NotACheckpointError(f"{what} is not text") from None


def _tag(view: memoryview, position: int) -> tuple[int, int, int]:
    """Return number and kind of the field at a position, and the position of its content."""
    tag, position = _varint(view, position)
    return tag >> 3, tag & 7, position


def _content(view: memoryview, kind: int, position: int) -> tuple[memoryview, int]:
    """Return the content of a field, and the position of its end."""
    if kind == _VARINT:
        _, end = _varint(view, position)
    elif kind == _LENGTH:
        length, position = _varint(view, position)
        end = position + length
    elif kind in (_FOUR_BYTES, _EIGHT_BYTES):
        end = position + (4 if kind == _FOUR_BYTES else 8)
    else:
        raise _Damage("has a field of no known kind")
    if end > len(view):
        raise _Damage("ends in the middle of a field")
    return view[position:end], end


def _varint(view: memoryview, position: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, whose last byte lacks the highest bit, and the position of its end."""
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(view):
            raise _Damage("ends in the middle of a field")
        byte = view[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise _Damage("has a number of more than ten bytes")
