# SPDX-License-Identifier: MIT
"""Which members does a zip file have, and is it complete?

Both torch files and ``.npz`` are zip archives. A zip states everything twice, in a header before each member and in
the directory at the end. Python's `zipfile` trusts the directory, so one flipped bit there silently loses members.
Here both are read and compared with each other and with the end record. Invariant: members, headers and directory fill
the file without a gap or an overlap, their number is the one in the end record, and the bytes that `read` returns have
the stored checksum. Therefore a changed byte leads to the same members or to a `CheckpointError`.
Comments, encryption, archives in parts and other methods than stored and deflated are refused.
Cost: linear in the number of members. This number and the unpacked size are limited.
Source: APPNOTE.TXT, PKWARE's description of the format, sections 4.3 to 4.5.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from regions.errors import FileTooLargeError, NotACheckpointError, TruncatedFileError
from regions.files import limits
from regions.ground.text.printable import printable

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
# Data descriptors by length: checksum and two sizes again, with or without a signature.
_DESCRIPTORS = {
    12: struct.Struct("<3L"),
    16: struct.Struct("<4x3L"),
    20: struct.Struct("<L2Q"),
    24: struct.Struct("<4xL2Q"),
}
_STORED, _DEFLATED = 0, 8
_SIZES_FOLLOW = 0x0008
# Levels of deflate, sizes in a descriptor behind the data, names in UTF-8.
_KNOWN_FLAGS = 0x0006 | _SIZES_FOLLOW | 0x0800
_IN_EXTRA = 0xFFFFFFFF
_LONGEST_NAME = 1000


@dataclass(frozen=True)
class _Member:
    """One entry of the directory."""

    name: bytes
    flags: int
    method: int
    checksum: int
    packed: int
    size: int
    offset: int  # of its header


class Archive:
    """An open zip file.

    Parameters
    ----------
    file : binary file
        Open for reading; the caller closes it.
    path : str
        The file's name in messages.
    size : int
        Bytes in the file.

    Attributes
    ----------
    path : str
    size : int
    sizes : dict of str to int
        Unpacked size of each member, in the order of the directory. Their names are printable.

    Raises
    ------
    NotACheckpointError, TruncatedFileError, FileTooLargeError
    """

    def __init__(self, file: IO[bytes], path: str, size: int) -> None:
        self.path = path
        self.size = size
        self._file = file
        count, start, length = self._end()
        self._members: dict[str, _Member] = {}
        directory = self._bytes_at(start, length)
        for member in self._entries(directory, count):
            name = self._name(member.name)
            if name in self._members:
                raise self._damaged(f"two members are called '{printable(name)}'")
            self._require_readable(member, name)
            self._members[name] = member
        self._starts = self._tile(start)
        self.sizes = {name: member.size for name, member in self._members.items() if not name.endswith("/")}
        limits.require_expansion(path, size, sum(self.sizes.values()), "unpacking all members")

    def _damaged(self, what: str) -> NotACheckpointError:
        return NotACheckpointError(f"{self.path}: the zip archive is damaged: {what}")

    def _wrong(self, name: str, what: str) -> NotACheckpointError:
        return self._damaged(f"member '{printable(name)}' {what}")

    def _unread(self, name: str, what: str) -> NotACheckpointError:
        return NotACheckpointError(f"{self.path}: member '{printable(name)}' {what}")

    def _bytes_at(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        data = self._file.read(length)
        if len(data) != length:
            raise TruncatedFileError(f"{self.path}: the file ends within the {length} bytes at {start}")
        return data

    def _is_directory_before(self, tail: bytes, where: int) -> bool:
        """Return whether the directory of this end record begins where the record says, counted from the file's start.

        The record of an archive that is a member of this one counts from the member's start.
        """
        *_, length, start, _ = _END.unpack(tail[where : where + _END.size])
        return bool(start + length == self.size - len(tail) + where)

    def _end(self) -> tuple[int, int, int]:
        """Return the number of members, and start and length of the directory."""
        tail = self._bytes_at(max(self.size - 2**16 - _END.size, 0), min(self.size, 2**16 + _END.size))
        where = tail.rfind(b"PK\x05\x06")
        if where < 0 or len(tail) - where < _END.size:
            raise TruncatedFileError(
                f"{self.path}: begins like a zip archive, but its directory, the end of it, is not there; "
                "the file is cut off: copy it again"
            )
        if len(tail) - where > _END.size:
            if not self._is_directory_before(tail, where):
                raise TruncatedFileError(
                    f"{self.path}: the directory at the end of the zip archive is of an archive inside it; the file is "
                    "cut off: copy it again"
                )
            raise self._damaged("a comment or other bytes follow its directory")
        _, disk, first_disk, here, count, length, start, comment = _END.unpack(tail[where:])
        if disk or first_disk or here != count or comment:
            raise self._damaged("its end record contradicts itself")
        end = self.size - _END.size
        long = end >= _LOCATOR_64.size + _END_64.size and self._bytes_at(end - _LOCATOR_64.size, _LOCATOR_64.size)
        if long and long.startswith(b"PK\x06\x07"):
            end -= _LOCATOR_64.size + _END_64.size
            short = count, length, start
            count, length, start = self._end_64(end, _LOCATOR_64.unpack(long))
            for value, same, none in zip(short, (count, length, start), (0xFFFF, _IN_EXTRA, _IN_EXTRA), strict=True):
                if value not in (same, none):
                    raise self._damaged("its two end records differ")
        if length > limits.MAX_ZIP_DIRECTORY_BYTES or count > limits.MAX_ZIP_MEMBERS:
            raise FileTooLargeError(
                f"{self.path}: the zip directory claims {length} bytes and {count} members, above the limits of "
                f"{limits.MAX_ZIP_DIRECTORY_BYTES} and {limits.MAX_ZIP_MEMBERS}"
            )
        if start + length != end:
            raise self._damaged("its directory is not where the end record says")
        return count, start, length

    def _end_64(self, end: int, locator: tuple[bytes, int, int, int]) -> tuple[int, int, int]:
        signature, size, _, _, disk, first_disk, here, count, length, start = _END_64.unpack(
            self._bytes_at(end, _END_64.size)
        )
        _, locator_disk, offset, disks = locator
        consistent = signature == b"PK\x06\x06" and size == _END_64.size - 12 and offset == end and here == count
        if not consistent or disk or first_disk or locator_disk or disks > 1:
            raise self._damaged("its long end record contradicts itself")
        return count, length, start

    def _entries(self, directory: bytes, count: int) -> Iterator[_Member]:
        position = 0
        for _ in range(count):
            if len(directory) - position < _CENTRAL.size:
                raise self._damaged(f"its directory has fewer entries than the {count} that are announced")
            fields = _CENTRAL.unpack_from(directory, position)
            signature, _, _, flags, method, _, _, checksum, packed, size, *lengths, disk, _, _, offset = fields
            if signature != b"PK\x01\x02" or disk:
                raise self._damaged("an entry of its directory does not begin like one")
            if lengths[2]:
                raise self._damaged("a member has a comment")
            name_end = position + _CENTRAL.size + lengths[0]
            name = directory[position + _CENTRAL.size : name_end]
            position = name_end + lengths[1]
            size, packed, offset = self._long([size, packed, offset], directory[name_end:position])
            yield _Member(name, flags, method, checksum, packed, size, offset)
        if position != len(directory):
            raise self._damaged(f"its directory goes on after the {count} entries that are announced")

    def _long(self, numbers: list[int], extra: bytes) -> list[int]:
        """Take numbers that do not fit 32 bits from the extra field."""
        if _IN_EXTRA not in numbers:
            return numbers
        position = 0
        while position + 4 <= len(extra):
            kind, length = struct.unpack_from("<2H", extra, position)
            position += 4
            if kind == 1 and length >= 8 * numbers.count(_IN_EXTRA) and position + length <= len(extra):
                stored = iter(struct.unpack_from(f"<{length // 8}Q", extra, position))
                return [next(stored) if number == _IN_EXTRA else number for number in numbers]
            position += length
        raise self._damaged("a long size is missing")

    def _name(self, name: bytes) -> str:
        try:
            decoded = name.decode("utf-8")
        except UnicodeDecodeError:
            raise self._damaged(f"the name of a member is not text: {name[:50]!r}") from None
        if not decoded.isprintable() or len(decoded) > _LONGEST_NAME:
            raise self._damaged(f"the name of a member is too long or not printable: '{printable(decoded)}'")
        return decoded

    def _require_readable(self, member: _Member, name: str) -> None:
        if member.method not in (_STORED, _DEFLATED):
            raise self._unread(name, f"has compression method {member.method}; only stored and deflated are read")
        if member.flags & ~_KNOWN_FLAGS:
            raise self._unread(name, "is encrypted, or of a kind that is not read")
        if member.method == _STORED and member.packed != member.size:
            raise self._unread(name, "is stored with two different sizes")
        if name.endswith("/") and member.size:
            raise self._unread(name, "is a folder with content")
        if member.offset + member.packed > self.size:
            raise TruncatedFileError(f"{self.path}: member '{printable(name)}' reaches beyond the end of the file")

    def _tile(self, end: int) -> dict[str, int]:
        """Return the first byte of each member's data; the members must fill the file up to its directory."""
        starts = {}
        in_order = sorted(self._members.items(), key=lambda item: item[1].offset)
        offsets = [member.offset for _, member in in_order] + [end]
        if offsets[0] != 0:
            raise self._damaged("something stands before its first member")
        for (name, member), next_offset in zip(in_order, offsets[1:], strict=True):
            starts[name] = self._start_of_data(name, member, next_offset)
        return starts

    def _start_of_data(self, name: str, member: _Member, next_offset: int) -> int:
        """Compare a member's header and descriptor with the directory; return the first byte of its data."""
        header = self._bytes_at(member.offset, _LOCAL.size)
        signature, _, flags, method, _, _, checksum, packed, size, name_length, extra_length = _LOCAL.unpack(header)
        rest = self._bytes_at(member.offset + _LOCAL.size, name_length + extra_length)
        size, packed = self._long([size, packed], rest[name_length:])
        if (signature, flags, method, rest[:name_length]) != (b"PK\x03\x04", member.flags, member.method, member.name):
            raise self._wrong(name, "has another header than the directory says")
        later = (0,) if flags & _SIZES_FOLLOW else ()
        for here, there in ((checksum, member.checksum), (packed, member.packed), (size, member.size)):
            if here != there and here not in later:
                raise self._wrong(name, "has another size or checksum than the directory says")
        start = member.offset + _LOCAL.size + len(rest)
        left = next_offset - start - member.packed
        if left != 0 or flags & _SIZES_FOLLOW:
            descriptor = _DESCRIPTORS.get(left) if flags & _SIZES_FOLLOW else None
            if descriptor is None:
                raise self._damaged(f"bytes after member '{printable(name)}' belong to nothing, or to two members")
            data = self._bytes_at(next_offset - left, left)
            signed = left in (12, 20) or data.startswith(b"PK\x07\x08")
            if not signed or descriptor.unpack(data) != (member.checksum, member.packed, member.size):
                raise self._wrong(name, "is followed by another size or checksum than the directory says")
        return start

    def read(self, name: str) -> bytes:
        """Return the content of one member; its checksum has been compared."""
        member = self._members[name]
        data = self._bytes_at(self._starts[name], member.packed)
        if member.method == _DEFLATED:
            unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
            try:
                # At most the announced size and one byte, because deflate could unpack to any length.
                data = unpacking.decompress(data, member.size + 1)
            except zlib.error as error:
                raise self._wrong(name, f"cannot be unpacked: {error}") from None
            if len(data) != member.size or not unpacking.eof or unpacking.unused_data:
                raise self._wrong(name, f"does not unpack to the {member.size} bytes that are announced")
        if zlib.crc32(data) != member.checksum:
            raise self._wrong(name, "has another checksum than the one that is stored")
        return data


def looks_like_zip(start: bytes) -> bool:
    """Return whether a file beginning with these bytes is a zip archive, possibly without members."""
    return start.startswith((b"PK\x03\x04", b"PK\x05\x06"))
