# SPDX-License-Identifier: MIT
"""How is a malicious model file made?

Sound and hostile files are built byte by byte, so that readers are tested without torch and with files that no library
writes. `torch_file` wraps a pickle and storages as ``torch.save`` does; the small functions before it are an assembler
for pickles, each returning the opcodes that push one value.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from regions import errors

STORAGE = {"<f4": "FloatStorage", "<f8": "DoubleStorage", "<f2": "HalfStorage", "<i8": "LongStorage"}


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def integer(value: int) -> bytes:
    """Return the shortest opcode for an integer of any size."""
    if 0 <= value < 256:
        return b"K" + bytes([value])
    if -(2**31) <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return (b"\x8a" + bytes([len(data)]) if len(data) < 256 else b"\x8b" + struct.pack("<i", len(data))) + data


def tuple_of(*items: bytes) -> bytes:
    return b"(" + b"".join(items) + b"t"


def dict_of(items: Mapping[str, bytes]) -> bytes:
    return b"}(" + b"".join(text(key) + value for key, value in items.items()) + b"u"


def name(module: str, attribute: str) -> bytes:
    return f"c{module}\n{attribute}\n".encode()


def call(function: bytes, *arguments: bytes) -> bytes:
    return function + tuple_of(*arguments) + b"R"


def program(value: bytes) -> bytes:
    """Return a complete pickle that loads as the given value."""
    return b"\x80\x02" + value + b"."


ORDERED_DICT = call(name("collections", "OrderedDict"))


def storage(count: int, key: str = "0", kind: str = "FloatStorage") -> bytes:
    reference = (text("storage"), name("torch", kind), text(key), text("cpu"), integer(count))
    return tuple_of(*reference) + b"Q"


def tensor(size: Sequence[int], stride: Sequence[int], stored: bytes, offset: int = 0, metadata: bytes = b"") -> bytes:
    lengths = [tuple_of(*[integer(n) for n in numbers]) for numbers in (size, stride)]
    rest = (b"\x89", ORDERED_DICT, *([metadata] if metadata else []))
    return call(name("torch._utils", "_rebuild_tensor_v2"), stored, integer(offset), *lengths, *rest)


def zip_file(members: Mapping[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for member, data in members.items():
            archive.writestr(zipfile.ZipInfo(member), data, compression, compresslevel=1)
    return buffer.getvalue()


def torch_file(
    pickled: bytes, storages: Mapping[str, bytes] | None = None, *, byte_order: str = "little", **options: Any
) -> bytes:
    members = {
        "archive/data.pkl": pickled,
        "archive/byteorder": byte_order.encode(),
        "archive/version": b"3\n",
    }
    members |= {f"archive/data/{key}": data for key, data in (storages or {}).items()}
    return zip_file(members, **options)


def saved_by_torch(arrays: Mapping[str, NDArray[Any]], *, byte_order: Literal["little", "big"] = "little") -> bytes:
    """Return the file that ``torch.save`` writes for a state dict of these arrays, without torch."""
    entries, storages = {}, {}
    for number, (key, array) in enumerate(arrays.items()):
        kind = STORAGE[array.dtype.newbyteorder("<").str]
        stride = [step // array.itemsize for step in np.empty(array.shape, array.dtype).strides]
        entries[key] = tensor(array.shape, stride, storage(array.size, str(number), kind))
        storages[str(number)] = array.astype(array.dtype.newbyteorder(byte_order)).tobytes()
    return torch_file(program(dict_of(entries)), storages, byte_order=byte_order)


def address_torch_file(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return such a file as torch 1.6 to 1.8 wrote it: storages are named by their addresses in memory."""
    entries, storages = {}, {}
    for number, (key, array) in enumerate(arrays.items()):
        address = str(94_123_456_789_012 + 64 * number)
        stride = [step // array.itemsize for step in np.empty(array.shape, array.dtype).strides]
        view = tensor(array.shape, stride, storage(array.size, address, STORAGE[array.dtype.str]))
        entries[key] = call(name("torch._utils", "_rebuild_parameter"), view, b"\x88", ORDERED_DICT)
        storages[address] = array.tobytes()
    return torch_file(program(dict_of(entries)), storages)


def saved_before_1_6(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the same in the layout before 1.6: pickles one after the other, then the storages."""
    entries, raw = {}, b""
    for number, (key, array) in enumerate(arrays.items()):
        reference = (
            *(text("storage"), name("torch", STORAGE[array.dtype.str]), text(str(number)), text("cpu")),
            *(integer(array.size), b"N"),
        )
        stride = [step // array.itemsize for step in np.empty(array.shape, array.dtype).strides]
        entries[key] = tensor(array.shape, stride, tuple_of(*reference) + b"Q")
        raw += struct.pack("<Q", array.size) + array.tobytes()
    facts = dict_of({"protocol_version": integer(1001), "little_endian": b"\x88"})
    keys = b"](" + b"".join(text(str(number)) for number in range(len(arrays))) + b"e"
    magic = integer(0x1950A86A20F9469CFC6C)
    pickles = (magic, integer(1001), facts, ORDERED_DICT + dict_of(entries)[1:], keys)
    return b"".join(map(program, pickles)) + raw


def safetensors_file(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    encoded = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(encoded) if length is None else length) + encoded + data


def saved_as_safetensors(tensors: Mapping[str, NDArray[np.float32]]) -> bytes:
    """Return a sound file, without the library."""
    entries: dict[str, Any] = {}
    data = b""
    for name, array in tensors.items():
        offsets = [len(data), len(data) + array.nbytes]
        entries[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": offsets}
        data += array.tobytes()
    return safetensors_file(entries, data)


def npy(header: bytes, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header + data


class Calls:
    """An object whose pickle is a call of ``function`` with ``arguments``."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.reduced = (function, arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.reduced


def running_pickles(marker: str) -> dict[str, bytes]:
    """Pickles that create the file ``marker`` when Python's unpickler opens them."""
    command = f"touch {marker}"
    code = f"open({marker!r}, 'w').close()"
    dumped = {f"os.system, protocol {p}": pickle.dumps(Calls(os.system, command), p) for p in (0, 2, 4, 5)}
    return dumped | {
        "exec": pickle.dumps({"0.weight": Calls(exec, code)}, 2),
        "eval in a list": pickle.dumps([[Calls(eval, code)]], 2),
        "open": pickle.dumps(Calls(open, marker, "w"), 2),
        "inst": b"(" + text(command) + b"ios\nsystem\n.",
        "obj": b"\x80\x02(" + name("os", "system") + text(command) + b"o.",
        "newobj": b"\x80\x02" + name("os", "system") + tuple_of(text(command)) + b"\x81.",
        "stack global": b"\x80\x04" + text("os") + text("system") + b"\x93" + tuple_of(text(command)) + b"R.",
        "global with dots": b"\x80\x04"
        + text("os")
        + text("path.os.system")
        + b"\x93"
        + tuple_of(text(command))
        + b"R.",
        "build": program(ORDERED_DICT + call(name("os", "system"), text(command)) + b"b"),
        "as persistent id": program(call(name("os", "system"), text(command)) + b"Q"),
        "as builder": program(call(call(name("builtins", "getattr"), name("os", "system"), text("x")), text(command))),
        "hidden after pop": program(call(name("os", "system"), text(command)) + b"0" + b"}"),
        "torch.load": program(call(name("torch", "load"), text(marker))),
        "numpy": pickle.dumps({"0.weight": np.float64(1.0)}, 2),
    }


def hostile_torch_pickles() -> dict[str, tuple[bytes, type[errors.RegionsError]]]:
    """Pickles for `torch_file` (which gets 16 bytes as storage 0), and what must be raised."""
    damaged, short, large = errors.NotACheckpointError, errors.TruncatedFileError, errors.FileTooLargeError
    four = storage(4)

    def weight(value: bytes) -> bytes:
        return program(dict_of({"0.weight": value}))

    rebuild = name("torch._utils", "_rebuild_tensor_v2")
    return {
        "empty": (b"", damaged),
        "no stop": (b"\x80\x02}", damaged),
        "nothing left": (b"\x80\x02.", damaged),
        "two values left": (b"\x80\x02}}.", damaged),
        "mark left": (b"\x80\x02(}.", damaged),
        "pop from empty": (b"\x80\x020.", damaged),
        "no mark": (b"\x80\x02}u.", damaged),
        "odd items": (b"\x80\x02}(" + text("a") + b"u.", damaged),
        "recall of nothing": (b"\x80\x02h\x07.", damaged),
        "append to dict": (b"\x80\x02}Na.", damaged),
        "build on nothing": (b"\x80\x02NNb.", damaged),
        "unknown opcode": (b"\x80\x02\xff.", damaged),
        "text longer than file": (b"\x80\x02X\xff\xff\xff\x7f", damaged),
        "text of 2**63 bytes": (b"\x80\x04\x8d" + struct.pack("<Q", 2**63) + b".", damaged),
        "text that is not UTF-8": (b"\x80\x02X\x01\x00\x00\x00\xff.", damaged),
        "huge decimal number": (b"I" + b"9" * 5_000_000 + b"\n.", errors.UnsafePickleError),
        "text with escapes": (b"S'\\x'\n.", errors.UnsafePickleError),
        "only a string": (program(text("hello")), damaged),
        "only an integer of 200,000 bits": (program(integer(2**200_000)), damaged),
        "a list that contains itself": (b"\x80\x02]q\x00h\x00a.", damaged),
        "a dict that contains itself": (b"\x80\x02}q\x00" + text("a") + b"h\x00s.", damaged),
        "many nested lists": (b"\x80\x02" + b"]" * 290_000 + b"a" * 289_999 + b".", damaged),
        "many nested tuples": (b"\x80\x02)" + b"\x85" * 590_000 + b".", damaged),
        "a million nested tuples": (b"\x80\x02)" + b"\x85" * 1_000_000 + b".", large),
        "ten million marks": (b"\x80\x02" + b"(0" * 5_000_000 + b".", damaged),
        "one key twice": (b"\x80\x02}(" + text("a") + b"N" + text("a") + b"Nu.", damaged),
        "one key twice, one by one": (b"\x80\x02}" + (text("a") + b"Ns") * 2 + b".", damaged),
        "bytes after the end": (b"\x80\x02}..", damaged),
        "an OrderedDict with one key twice": (
            program(call(name("collections", "OrderedDict"), b"](" + tuple_of(text("a"), b"N") * 2 + b"e")),
            damaged,
        ),
        "a nested tuple as key": (program(b"}" + b")" + b"\x85" * 500_000 + b"Ns"), damaged),
        "doubling by memo": (b"\x80\x02)" + b"q\x00h\x00\x86" * 500 + b".", damaged),
        "mappings within mappings, many ways": (
            b"\x80\x02}q\x00"
            + b"".join(
                b"0}(" + b"".join(text(str(i)) + b"h" + bytes([level]) for i in range(500)) + b"uq" + bytes([level + 1])
                for level in range(5)
            )
            + b".",
            damaged,
        ),
        "marks in marks": (b"\x80\x02" + b"(" * 1001 + b".", large),
        "too many opcodes": (b"\x80\x02" + b"N0" * 1_100_000 + b"N.", large),
        "a reference that is no tuple": (program(text("0") + b"Q"), damaged),
        "a reference with too few parts": (program(tuple_of(text("storage")) + b"Q"), damaged),
        "a storage without type": (
            weight(tuple_of(text("storage"), text("x"), text("0"), text("cpu"), integer(4)) + b"Q"),
            damaged,
        ),
        "a storage that is not there": (weight(tensor([1, 1], [1, 1], storage(1, "7"))), short),
        "a storage outside its folder": (weight(tensor([1, 1], [1, 1], storage(1, "../version"))), damaged),
        "a storage longer than its bytes": (weight(tensor([1, 1], [1, 1], storage(5))), short),
        "a storage of 2**60 numbers": (weight(tensor([1, 1], [1, 1], storage(2**60))), damaged),
        "a storage of -1 numbers": (weight(tensor([1, 1], [1, 1], storage(-1))), damaged),
        "a storage of True numbers": (
            weight(tuple_of(text("storage"), name("torch", "FloatStorage"), text("0"), text("cpu"), b"\x88") + b"Q"),
            damaged,
        ),
        "a tensor beyond its storage": (weight(tensor([2, 3], [3, 1], four)), short),
        "a stride beyond the storage": (weight(tensor([2, 2], [3, 1], four)), short),
        "an offset beyond the storage": (weight(tensor([2, 2], [2, 1], four, 1)), short),
        "a negative stride": (weight(tensor([2, 2], [-2, 1], four, 3)), damaged),
        "a negative size": (weight(tensor([-2, -2], [2, 1], four)), damaged),
        "a negative offset": (weight(tensor([2, 2], [2, 1], four, -1)), damaged),
        "a size of 2**40 by repetition": (weight(tensor([2**20, 2**20], [0, 0], four)), large),
        "a size of 2**94": (weight(tensor([2**47, 2**47], [0, 0], four)), large),
        "forty axes": (weight(tensor([1] * 40, [1] * 40, four)), damaged),
        "sizes and strides that differ": (weight(tensor([2, 2], [1], four)), damaged),
        "sizes that are text": (
            weight(call(rebuild, four, integer(0), tuple_of(text("2")), tuple_of(integer(1)), b"\x89", b"}")),
            damaged,
        ),
        "a tensor of a tensor": (weight(tensor([1], [1], tensor([1], [1], four))), damaged),
        "a tensor with too few arguments": (weight(call(rebuild, four)), damaged),
        "a tensor that is negated perhaps": (
            weight(tensor([2, 2], [2, 1], four, 0, dict_of({"neg": b"\x89"}))),
            damaged,
        ),
        "a tensor that is inverted": (weight(tensor([2, 2], [2, 1], four, 0, dict_of({"inv": b"\x88"}))), damaged),
        "a tensor as metadata": (weight(tensor([2, 2], [2, 1], four, 0, tensor([4], [1], four))), damaged),
        "a parameter of nothing": (
            weight(call(name("torch._utils", "_rebuild_parameter"), b"N", b"N", b"N")),
            damaged,
        ),
        "an OrderedDict of a tensor": (
            weight(call(name("collections", "OrderedDict"), tensor([4], [1], four))),
            damaged,
        ),
        "a call of a storage type": (program(call(name("torch", "FloatStorage"))), errors.UnsafePickleError),
        "an unknown storage": (weight(storage(1, kind="QInt8Storage")), errors.UnsafePickleError),
        "a sparse tensor as a function": (
            weight(name("torch._utils", "_rebuild_sparse_tensor")),
            errors.NotACheckpointError,
        ),
    }


@cache
def hostile_files() -> dict[str, tuple[str, bytes, type[errors.RegionsError]]]:
    """Whole files: suffix, content, and what must be raised."""
    damaged, short, large = errors.NotACheckpointError, errors.TruncatedFileError, errors.FileTooLargeError
    sound = program(dict_of({"0.weight": tensor([2, 2], [2, 1], storage(4))}))
    bytes_16 = bytes(16)
    entry = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    bomb = bytes(65 * 2**20)  # just above the limit
    array_header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }"
    files: dict[str, tuple[str, bytes, type[errors.RegionsError]]] = {
        "empty .pt": (".pt", b"", short),
        "three bytes of .pt": (".pt", b"PK\x03", short),
        "text as .pt": (".pt", b"these are not weights\n" * 9, damaged),
        "legacy torch": (".pt", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.", damaged),
        "bare pickle": (".pt", pickle.dumps({"0.weight": [1.0]}, 4), errors.UnsafePickleError),
        "empty zip": (".pt", zip_file({}), damaged),
        "zip without data.pkl": (".pt", zip_file({"a/version": b"3"}), damaged),
        "two data.pkl": (".pt", zip_file({"a/data.pkl": sound, "b/data.pkl": sound}), damaged),
        "TorchScript": (
            ".pt",
            zip_file({"a/data.pkl": sound, "a/constants.pkl": b".", "a/code/x.py": b""}),
            damaged,
        ),
        "exported program": (
            ".pt",
            zip_file({"a/archive_format": b"pt2", "a/models/model.json": b"{}"}),
            damaged,
        ),
        "middle byte order": (".pt", torch_file(sound, {"0": bytes_16}, byte_order="middle"), damaged),
        "compressed bomb as storage": (
            ".pt",
            torch_file(sound, {"0": bomb}, compression=zipfile.ZIP_DEFLATED),
            large,
        ),
        "compressed bomb as pickle": (".pt", torch_file(bomb, compression=zipfile.ZIP_DEFLATED), large),
        "pickle of 40 MiB": (".pt", torch_file(bytes(40 * 2**20), compression=zipfile.ZIP_DEFLATED), large),
        "bzip2 member": (".pt", torch_file(sound, {"0": bytes_16}, compression=zipfile.ZIP_BZIP2), damaged),
        "wrong checksum": (
            ".pt",
            torch_file(sound, {"0": b"A" * 16}).replace(b"A" * 16, b"B" * 16, 1),
            damaged,
        ),
        "empty .npz": (".npz", b"", short),
        "text as .npz": (".npz", b"these are not weights", damaged),
        "zip bomb as .npz": (".npz", zip_file({"W0.npy": bomb}, zipfile.ZIP_DEFLATED), large),
        "array of objects": (
            ".npz",
            zip_file({"W0.npy": npy(array_header.replace(b"<f8", b"|O"), pickle.dumps([1]))}),
            errors.UnsafePickleError,
        ),
        "array shorter than announced": (".npz", zip_file({"W0.npy": npy(array_header, bytes(31))}), short),
        "array of 2**80 numbers": (
            ".npz",
            zip_file({"W0.npy": npy(array_header.replace(b"(2, 2)", b"(2**40, 2**40)"), bytes(32))}),
            damaged,
        ),
        "array of 10**12 numbers": (
            ".npz",
            zip_file({"W0.npy": npy(array_header.replace(b"(2, 2)", b"(1000000, 1000000)"), bytes(32))}),
            short,
        ),
        "array with negative length": (
            ".npz",
            zip_file({"W0.npy": npy(array_header.replace(b"(2, 2)", b"(-2, -2)"), bytes(32))}),
            damaged,
        ),
        "array header that calls": (
            ".npz",
            zip_file({"W0.npy": npy(array_header.replace(b"(2, 2)", b"__import__('os').getcwd()"))}),
            damaged,
        ),
        "array header deeply nested": (".npz", zip_file({"W0.npy": npy(b"(" * 9000)}), damaged),
        "array of the future": (
            ".npz",
            zip_file({"W0.npy": npy(array_header, bytes(32), b"\x09\x00")}),
            damaged,
        ),
        "array without magic": (".npz", zip_file({"W0.npy": bytes(64)}), damaged),
        "two arrays of one name": (".npz", _twice_in_zip(npy(array_header, bytes(32))), damaged),
        "array that ends outside the file": (".npz", _reaching_outside(npy(array_header, bytes(32))), short),
        "empty .safetensors": (".safetensors", b"", short),
        "header of 2**63 bytes": (".safetensors", safetensors_file({}, length=2**63), large),
        "header longer than file": (".safetensors", safetensors_file({}, length=1000), short),
        "header that is not JSON": (".safetensors", safetensors_file(b"{'a': 1}"), damaged),
        "header that is not UTF-8": (".safetensors", safetensors_file(b'{"\xff": 1}'), damaged),
        "header that is a list": (".safetensors", safetensors_file([]), damaged),
        "header deeply nested": (".safetensors", safetensors_file(b"[" * 500_000), damaged),
        "header with one name twice": (
            ".safetensors",
            safetensors_file(b'{"a": %s, "a": %s}' % ((json.dumps(entry).encode(),) * 2), bytes_16),
            damaged,
        ),
        "header without tensors": (".safetensors", safetensors_file({}), damaged),
    }
    entries = {"0.weight": entry, "2.weight": entry | {"data_offsets": [16, 32]}}
    for what, metadata in (
        ("metadata that are a list", []),
        ("metadata with numbers", {"a": 1}),
        ("a name of a tensor that is missing", {"4.weight": "6.weight"}),
        ("a name of a name", {"6.weight": "4.weight", "4.weight": "2.weight"}),
        ("two stored names of one tensor", {"0.weight": "2.weight"}),
    ):
        content = safetensors_file(entries | {"__metadata__": metadata}, bytes(32))
        files[f"safetensors with {what}"] = (".safetensors", content, damaged)
    large_entry = {"dtype": "F32", "shape": [1024, 1024], "data_offsets": [0, 2**22]}
    names = {f"{i}.weight": "0.weight" for i in range(1, 15_000)}
    content = safetensors_file({"__metadata__": names, "0.weight": large_entry}, bytes(2**22))
    files["safetensors with 15,000 names of one tensor"] = (".safetensors", content, large)
    for what, index, error in (
        ("that names a path", {"weight_map": {"0.weight": "../../etc/passwd"}}, errors.CheckpointError),
        ("that names itself", {"weight_map": {"0.weight": "."}}, errors.CheckpointError),
        ("that names a device", {"weight_map": {"0.weight": "/dev/zero"}}, errors.CheckpointError),
        ("that names a missing file", {"weight_map": {"0.weight": "none"}}, errors.CheckpointError),
        ("that names 100,000 files", {"weight_map": {f"{i}": f"{i}" for i in range(100_000)}}, errors.CheckpointError),
        ("with nothing", {"weight_map": {}}, errors.CheckpointError),
        ("with a list", {"weight_map": [1]}, damaged),
        ("with another entry", {"weight_map": {}, "code": "x"}, damaged),
    ):
        files[f"index {what}"] = (".json", json.dumps(index).encode(), error)
    files["index deeply nested"] = (".json", b'{"weight_map": ' + b"[" * 500_000, damaged)
    files["index of 8 MiB"] = (".json", b'{"weight_map": {}}' + b" " * 2**23, large)
    policy = saved_by_torch({"0.weight": np.ones((2, 2), "<f4")})
    for what, settings, error in (
        ("that are a pickle", pickle.dumps({"a": 1}), damaged),
        ("deeply nested", b'{"policy_kwargs": ' + b"[" * 500_000, damaged),
        ("that are a list", b"[]", damaged),
        ("of 8 MiB", b'{"a": "' + b"x" * 2**23 + b'"}', damaged),
    ):
        content = zip_file({"data": settings, "policy.pth": policy})
        files[f"policy with settings {what}"] = (".zip", content, error)
    files["policy with a bomb as settings"] = (
        ".zip",
        zip_file({"data": bomb, "policy.pth": policy}, zipfile.ZIP_DEFLATED),
        large,
    )
    for what, change, error in (
        ("shape that does not fit", {"shape": [2, 3]}, damaged),
        ("negative shape", {"shape": [-2, -2]}, damaged),
        ("huge shape", {"shape": [2**62, 2**62]}, damaged),
        ("shape of true", {"shape": [True, 4]}, damaged),
        ("offsets beyond the end", {"shape": [2, 3], "data_offsets": [0, 24]}, short),
        ("offsets backwards", {"data_offsets": [16, 0]}, damaged),
        ("a hole before", {"data_offsets": [16, 32]}, damaged),
        ("unclaimed bytes", {"shape": [2, 1], "data_offsets": [0, 8]}, damaged),
        ("unknown type", {"dtype": "F4", "data_offsets": [0, 4]}, errors.UnsupportedLayerError),
        ("type that is a number", {"dtype": 4}, damaged),
        ("an additional field", {"extra": 1}, damaged),
    ):
        content = safetensors_file({"0.weight": entry | change}, bytes_16)
        files[f"safetensors with {what}"] = (".safetensors", content, error)
    overlapping = {"0.weight": entry, "1.weight": entry | {"data_offsets": [8, 24]}}
    files["safetensors that overlap"] = (".safetensors", safetensors_file(overlapping, bytes(24)), damaged)
    return files


def _reaching_outside(member: bytes) -> bytes:
    """Return an archive that is sound except for the sizes of its member, 9999 bytes in both headers."""
    content = bytearray(zip_file({"W0.npy": member}))
    for signature, offset in ((b"PK\x03\x04", 18), (b"PK\x01\x02", 20)):
        start = content.find(signature) + offset
        content[start : start + 8] = struct.pack("<II", 9999, 9999)
    return bytes(content)


def _twice_in_zip(member: bytes) -> bytes:
    return zip_file({"W0.npy": member, "W1.npy": member}).replace(b"W1.npy", b"W0.npy")
