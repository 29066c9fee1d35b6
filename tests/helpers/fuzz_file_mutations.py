# SPDX-License-Identifier: MIT
"""In which ways does `fuzz_files.py` damage a file?

`damage` changes bytes without knowing the format; `rewrite` knows it, and changes opcodes of pickles, entries of JSON
headers, numbers in text and members of archives, and repairs lengths and checksums.
"""

from __future__ import annotations

import copy
import io
import json
import pickletools
import random
import re
import struct
import warnings
import zipfile

from hostile_files import safetensors_file

# fmt: off
EXTREMES = [0, 1, 2, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**47, 2**63 - 1, 2**63, 2**64 - 1]
OPCODES = [bytes([code]) for code in b"NK}])(tuseaRbQ0122q\x85\x86\x87\x88\x89\x94\x93\x81\x90\x91\x8f.h"]
PIECES = [
    b"q\x00", b"h\x00", b"h\x01", b"h\x05", b"K\x00", b"K\x07", b"K\xff", b"J\xff\xff\xff\x7f", b"\x8a\x01\xff",
        b"\x8a\x08" + b"\xff" * 7 + b"\x7f",
    b"X\x01\x00\x00\x000", b"ctorch\nFloatStorage\n", b"ctorch\nDoubleStorage\n",
        b"ctorch._utils\n_rebuild_tensor_v2\n",
    b"ctorch._utils\n_rebuild_parameter\n", b"ccollections\nOrderedDict\n", b"cos\nsystem\n", b"cnumpy\ndtype\n",
        b"G" + bytes(8),
]
# fmt: on


def damage(content: bytes, other: bytes, chance: random.Random) -> tuple[bytes, int]:
    """Change bytes, once to three times; returns the file and how many bytes it changed at most."""
    data, changed = bytearray(content), 0
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        where = chance.randrange(len(data)) if data else 0
        length = min(chance.choice((1, 2, 3, 4, 8, 16, 64, 200)), max(len(data) - where, 0))
        way = chance.randrange(11)
        if way <= 2 and data:
            data[where] ^= 1 << chance.randrange(8)
            changed += 1
        elif way == 3:
            data[where : where + length] = chance.randbytes(length)
            changed += length
        elif way == 4:
            data[where : where + length] = bytes([chance.choice((0, 255, 32, 80))]) * length
            changed += length
        elif way == 5:
            del data[chance.randrange(len(data) + 1) :]
            changed += len(content)
        elif way == 6:
            del data[where : where + length]
            changed += len(content)
        elif way == 7:
            data[where:where] = data[where : where + length]
            changed += len(content)
        elif way == 8:
            data[where:where] = chance.randbytes(length)
            changed += len(content)
        elif way == 9:
            start = chance.randrange(len(other))
            data[where : where + length] = other[start : start + length]
            changed += len(content)
        else:
            width, order = chance.choice((1, 2, 4, 8)), chance.choice(("little", "big"))
            value = chance.choice([*EXTREMES, len(content), len(content) - 1]) % 2 ** (8 * width)
            data[where : where + width] = value.to_bytes(width, order)  # type: ignore[arg-type]
            changed += width
    return bytes(data), changed


def rewrite(content: bytes, other: bytes, chance: random.Random) -> bytes:
    """Change the content of a file, as its format allows."""
    if content.startswith(b"PK"):
        return _archive(content, other, chance)
    if content.startswith(b"\x80"):
        end = content.rfind(b".", 0, content.rfind(b"]") + 1) + 1
        return _pickle(content[:end], chance) + content[end:]
    if content[8:9] == b"{":
        return _safetensors(content, chance)
    if content.startswith(b"\x93NUMPY"):
        return _array(content, chance)
    if content.startswith(b"\x08"):
        return _message(content, chance)
    if content.startswith(b"{"):
        return _json(content, chance)
    return _text(content, chance)


def _archive(content: bytes, other: bytes, chance: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    for _ in range(chance.choice((1, 1, 2))):
        index = chance.randrange(len(members))
        name, data = members[index]
        way = chance.randrange(9)
        if way == 0:
            members.pop(index)
        elif way == 1:
            members.insert(chance.randrange(len(members) + 1), (name, data))
        elif way == 2:
            chance.shuffle(members)
        elif way == 3:
            members[index] = (
                chance.choice([name + "x", name[:-1], "x" + name, name.replace("0", "1"), "../a"]) or "a",
                data,
            )
        elif way == 4:
            members[index] = name, damage(data, other, chance)[0] if data else b"x"
        elif name.endswith(".pkl"):
            members[index] = name, _pickle(data, chance)
        elif name == "header.npy":
            members[index] = name, data[:128] + _text(data[128:], chance)
        elif name.endswith(".npy"):
            members[index] = name, _array(data, chance)
        elif name.endswith(".json"):
            members[index] = name, _json(data, chance)
        else:
            spoken = next((i for i, (key, _) in enumerate(members) if key.endswith((".pkl", "model.json"))), index)
            name, data = members[spoken]
            members[spoken] = name, (_json if name.endswith(".json") else _pickle)(data, chance)
        if not members:
            break
    buffer = io.BytesIO()
    method = chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(buffer, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two members with one name are intended
        for name, data in members:
            info = zipfile.ZipInfo(name)
            with archive.open(info, "w") as stream:
                stream.write(data)
    return buffer.getvalue()


def _pickle(content: bytes, chance: random.Random) -> bytes:
    try:
        places = [position for _, _, position in pickletools.genops(content)] + [content.rfind(b".") + 1]
    except ValueError:
        return damage(content, content, chance)[0]
    parts = [content[start:end] for start, end in zip(places, places[1:], strict=False)]
    for _ in range(chance.choice((1, 1, 2, 4))):
        index, way = chance.randrange(len(parts)), chance.randrange(8)
        if way == 0:
            parts.pop(index)
        elif way == 1:
            parts.insert(index, parts[index])
        elif way == 2:
            parts[index], parts[index - 1] = parts[index - 1], parts[index]
        elif way == 3:
            parts[index] = chance.choice(OPCODES)
        elif way == 4:
            parts[index] = chance.choice(PIECES)
        elif way == 5:
            parts.insert(index, chance.choice(PIECES + OPCODES))
        elif way == 6:
            parts.insert(index, chance.choice(parts))
        else:
            times = chance.choice((2, 50, 2000))
            parts[index:index] = parts[max(index - 8, 0) : index] * times
        if not parts:
            break
    return b"".join(parts) + content[places[-1] :]


def _safetensors(content: bytes, chance: random.Random) -> bytes:
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    name = chance.choice(list(header))
    values = [
        *EXTREMES,
        -1,
        1.5,
        True,
        None,
        "F64",
        "F16",
        "I32",
        "BF16",
        "\x1b[2J",
        [],
        {},
        [2, 2],
        [3],
        [0],
        [1] * 40,
    ]
    way = chance.randrange(6)
    if name == "__metadata__" and way in (1, 2):  # other names of tensors
        names = [*header, *header[name], "format", "", "a1" * 240]
        header[name][chance.choice(names)] = chance.choice([*names, *values])
    elif way == 0:
        header.pop(name)
    elif way == 1:
        header[name][chance.choice(list(header[name]))] = chance.choice(values)
    elif way == 2:
        numbers = header[name][chance.choice(("shape", "data_offsets"))]
        numbers[chance.randrange(len(numbers))] = chance.choice(values)
    elif way == 3:
        header[chance.choice((name + "x", name[:-1], "\x1b]0;x\x07", "__metadata__", "", "a1" * 240))] = header.pop(
            name
        )
    elif way == 4:
        header[name] = header[chance.choice(list(header))]
    else:
        return safetensors_file(_text(content[8 : 8 + length], chance), content[8 + length :])
    return safetensors_file(header, content[8 + length :])


def _json(content: bytes, chance: random.Random) -> bytes:
    """Change values somewhere in a JSON, or its text."""
    if chance.randrange(8) == 0:
        return _text(content, chance)
    try:
        parsed = json.loads(content)
    except ValueError:  # damaged before
        return damage(content, content, chance)[0] if content else b"{}"
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        holders = _holders(parsed)
        holder = chance.choice(holders)
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key, way = chance.choice(keys), chance.randrange(7)
        if way == 0:
            del holder[key]
        elif way == 1:
            holder[key] = chance.choice([*EXTREMES, -1, -2, 1.5, 1e400, True, None, "\x1b[2J", [], {}, [2, 2], 3, 4, 8])
        elif way == 2:
            other = chance.choice(holders)
            holder[key] = copy.deepcopy(chance.choice(list(other.values()) if isinstance(other, dict) else other))
        elif way == 3 and isinstance(holder, list):
            holder[key:key] = [holder[key]] * chance.choice((1, 1, 3, 300))
        elif way == 4 and isinstance(holder, list):
            chance.shuffle(holder)
        elif way == 5 and isinstance(holder, dict):
            holder[chance.choice((f"{key}x", "as_none", "as_int", "as_ints", "as_tensor", "as_bool"))] = holder.pop(key)
        elif type(holder[key]) is int:
            holder[key] += chance.choice((-1, 1, 2, 1000, 2**31))
        else:
            same = [one for each in holders for one in (each.values() if isinstance(each, dict) else each)]
            holder[key] = copy.deepcopy(chance.choice([one for one in same if type(one) is type(holder[key])]))
    return json.dumps(parsed).encode()


def _holders(parsed: object) -> list[dict | list]:
    """Return all nested objects and lists that are not empty."""
    found, waiting = [], [parsed]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (dict, list)) and one and len(found) < 20_000:
            found.append(one)
            waiting += one.values() if isinstance(one, dict) else one
    return found or [{"": 0}]


def _array(content: bytes, chance: random.Random) -> bytes:
    end = content.find(b"\n") + 1
    header = content[10:end]
    changes = [
        (rb"'descr': '[^']*'", [b"'<f8'", b"'>f8'", b"'<f4'", b"'<i8'", b"'|b1'", b"'<c16'", b"'<f16'", b"'|S8'",
            b"'<U2'", b"'<M8[ns]'", b"'|O'", b"[('a', '<f8')]", b"'|V4'", b"3"]),
        (rb"'shape': \([^)]*\)", [b"(2, 3)", b"(3,)", b"()", b"(0,)", b"(-1,)", b"(6, 1)", b"(3, 2)", b"(1e9,)",
            b"(2**40, 4)", b"(281474976710655, 99999)", b"(3)", b"(True,)"]),
        (rb"(?:True|False)", [b"True", b"False", b"None", b"1"]),
    ]  # fmt: skip
    pattern, values = chance.choice(changes)
    found = re.search(pattern, header)
    if found is None or chance.randrange(4) == 0:
        header = _text(header, chance)
    else:
        label = found[0].split(b":")[0] + b": " if b":" in found[0] else b""
        header = header[: found.start()] + label + chance.choice(values) + header[found.end() :]
    return content[:8] + struct.pack("<H", len(header) % 2**16) + header + content[end:]


def _message(content: bytes, chance: random.Random) -> bytes:
    """Change fields of a protobuf message, or of a message inside it."""
    fields, position = [], 0
    while position < len(content):
        start = position
        tag, position = _varint(content, position)
        value, end = _varint(content, position) if tag & 7 in (0, 2) else (0, position)
        kind = tag & 7
        begin = position if kind == 0 else end
        position = end + (value if kind == 2 else 4 if kind == 5 else 8 if kind == 1 else 0)
        if kind in (3, 4, 6, 7) or position > len(content):
            return damage(content, content, chance)[0]  # not a message
        fields.append((tag, content[start:position], content[begin:position]))
    if not fields:
        return content
    index, way = chance.randrange(len(fields)), chance.randrange(10)
    tag, whole, inside = fields[index]
    parts = [field[1] for field in fields]
    if way < 5 and tag & 7 == 2 and inside:
        inner = _message(inside, chance)
        parts[index] = _encoded(tag) + _encoded(len(inner)) + inner
    elif way < 6:
        parts.pop(index)
    elif way == 6:
        parts.insert(index, whole)
    elif way == 7:
        parts[index], parts[index - 1] = parts[index - 1], parts[index]
    elif way == 8:
        parts[index : index + 1] = [parts[index]] * chance.choice((3, 40, 5000))
    elif tag & 7 == 0:
        parts[index] = _encoded(tag) + _encoded(chance.choice((0, 1, 2, 7, 11, 2**31, 2**63, 2**64 - 1)))
    else:
        parts[index] = _encoded(chance.choice((tag ^ 8, tag + 8, 1 << 3 | 2))) + whole[len(_encoded(tag)) :]
    return b"".join(parts)


def _varint(content: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(content):
        byte = content[position]
        value |= (byte & 127) << shift
        shift, position = shift + 7, position + 1
        if byte < 128:
            break
    return value, position


def _encoded(value: int) -> bytes:
    result = b""
    while value > 127:
        result, value = result + bytes([value & 127 | 128]), value >> 7
    return result + bytes([value])


def _text(content: bytes, chance: random.Random) -> bytes:
    tokens = re.findall(rb"[0-9A-Za-z_.+-]+|[^0-9A-Za-z_.+-]", content)
    words = [b"nan", b"inf", b"-1", b"0", b"1e400", b"1e-400", b"9" * 400, b"0x1p3", b"1_0", b"\x1b[2J", b"\xff",
        b"\0", b"", b",", b"\n", b";", b"true", b"null", b"[", b"}", b"1e999999999", b"0.1", b"65536",
        b"2147483648", b"\xc2\xb2"]  # fmt: skip
    for _ in range(chance.choice((1, 1, 2, 3))):
        index, way = chance.randrange(len(tokens) + 1), chance.randrange(5)
        if way == 0:
            tokens.insert(index, chance.choice(words))
        elif way == 1:
            tokens[index : index + 1] = [chance.choice(words)]
        elif way == 2:
            del tokens[index : index + chance.choice((1, 1, 2, 9))]
        elif way == 3:
            tokens[index:index] = tokens[index : index + chance.choice((1, 4, 30))] * chance.choice((1, 2, 300))
        elif tokens:
            tokens[index : index + 1] = [chance.choice(tokens)]
    return b"".join(tokens)
