# SPDX-License-Identifier: MIT
"""Which settings are inside this content of a checkpoint?

Settings are entries of mappings, lists and attributes of objects, at any depth. Texts may hold settings, too: JSON, or
pairs of a key and a value as in YAML, TOML, command lines, and what Python prints for arguments and modules. The pairs
of such a text are read without its nesting. Nothing in a file is executed or built.
Cost: linear in the number of settings and the length of texts.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from regions.errors import NotACheckpointError
from regions.files import limits
from regions.files.json_objects import parsed_object
from regions.files.restricted_pickle import Opaque
from regions.ground.text.printable import printable

__all__ = ["MAX_LIST", "MAX_STATEMENTS", "MAX_TEXT", "joined", "mappings_of", "plain_text", "words_of"]

# Settings are nested about three deep, and a file is not trusted.
MAX_DEPTH, MAX_LIST, MAX_STATEMENTS, MAX_TEXT, MAX_PAIRS = 8, 100, 50, 200, 1000

# ``key: value``, ``key=value``, ``--key value`` or ``(key): value``. Every repetition is bounded, and a match begins at
# the start of a word, so that the search is linear.
_PAIR = re.compile(
    r"""(?<![\w.-])(?:--(?P<option>\w[\w.-]{0,99})(?:=|[ \t]{1,20})"""
    r"""|['"]?(?P<key>\w[\w.-]{0,99})['")]?[ \t]{0,20}[:=][ \t]{0,20})"""
    r"""(?P<value>\[[^\[\]\n]{0,200}\]|<[^<>\n]{0,200}>|['"]?[\w.+-]{1,100}(?:\([^()\n]{0,200}\))?)"""
)
_TRUTHS = {"true": True, "false": False}


def words_of(text: str) -> set[str]:
    """Return the words of a key, in small letters: those of ``hiddenAct_fn`` are hidden, act and fn."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text)}


def joined(place: str, key: Any) -> str:
    """Return the place of an entry."""
    return f"{place}.{printable(key)}" if place else printable(key)


def mappings_of(content: Any) -> Iterator[tuple[str, dict[Any, Any]]]:
    """Yield the place and the entries of each mapping, list, object and text with settings, without recursion."""
    left: deque[tuple[str, Any, int]] = deque([("", content, 0)])
    seen: dict[int, Any] = {}  # the values are kept, because ids of others may be used again
    parsed, texts = 0, 0
    while left:
        place, value, depth = left.popleft()
        if id(value) in seen or depth > MAX_DEPTH:
            continue
        seen[id(value)] = value
        if isinstance(value, Opaque):  # arguments, and perhaps entries as in a dict
            left.extend((place, one, depth + 1) for one in value.inside if isinstance(one, Mapping))
        inside = value.state if isinstance(value, Opaque) else value
        if isinstance(inside, (list, tuple)):
            left.append((place, _options_in(inside), depth + 1))
            inside = dict(enumerate(inside)) if len(inside) <= MAX_LIST else {}
        if not isinstance(inside, Mapping):
            continue
        entries = dict(inside)
        for key, one in inside.items():
            text = plain_text(one)
            if text is not None and parsed + len(text) <= limits.MAX_JSON_BYTES:
                parsed += len(text)
                found = _json_in(text)
                if found is not None:
                    entries[key] = found
                one = found if found is not None else _pairs_in(text) if texts < MAX_PAIRS else {}
                texts += found is None and bool(one)
            if isinstance(one, (Mapping, Opaque, list, tuple)) and one:
                left.append((joined(place, key), one, depth + 1))
        yield place, entries


def _options_in(words: Sequence[Any]) -> dict[str, Any]:
    """Return the options in a list of the words of a command line."""
    texts = [one[:MAX_TEXT] for one in words[: 10 * MAX_LIST] if isinstance(one, str)]
    return _pairs_in(" ".join(texts)) if any(one.startswith("--") for one in texts) else {}


def plain_text(value: Any) -> str | None:
    """Return a value that is a text, bytes of a text, or an array of one text; None for others."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "US" and value.size == 1:
        value = value.flat[0]
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8") if len(value) <= limits.MAX_JSON_BYTES else None
        except UnicodeDecodeError:
            return None
    return str(value) if isinstance(value, str) else None


def _json_in(text: str) -> dict[str, Any] | None:
    """Return the object that a text of JSON is; None if it is another text."""
    if text[:100].lstrip()[:1] != "{":
        return None
    try:
        return parsed_object(text.encode("utf-8", "replace"), "a setting")
    except NotACheckpointError:
        return None


def _pairs_in(text: str) -> dict[str, Any]:
    """Return the keys in a text and their values; a list if a key has several."""
    found: dict[str, list[Any]] = {}
    if ":" in text or "=" in text or "--" in text:
        for count, match in enumerate(_PAIR.finditer(text)):
            if count >= MAX_PAIRS:
                break
            found.setdefault(match["option"] or match["key"], []).append(_value_of(match["value"]))
    return {key: values[0] if len(values) == 1 else values for key, values in found.items()}


def _value_of(text: str) -> Any:
    if text[0] == "[":
        return [_value_of(one.strip()) for one in text[1:-1].split(",") if one.strip()]
    word = text.strip("'\"")
    return _TRUTHS.get(word.lower(), word)
