# SPDX-License-Identifier: MIT
"""Which activation does a checkpoint itself state?

A state dict does not hold the activations, but checkpoints often hold settings beside it: hyper-parameters of
Lightning, arguments of a program, the policy of Stable-Baselines3. Settings are read as text: classes are names here,
and nothing is built. Statements are found by their keys, so that no list of programs is needed. A setting under
another key, whose value is the name of an activation and of nothing else, may be a statement, and is marked so.
Cost: linear in the number of settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from regions.errors import RegionsError
from regions.files.restricted_pickle import Opaque
from regions.ground.text.printable import printable
from regions.networks.named_activations import ACTIVATIONS, is_discontinuous, is_smooth, parse_activation
from regions.read.chains.settings_inside import (
    MAX_LIST,
    MAX_STATEMENTS,
    MAX_TEXT,
    joined,
    mappings_of,
    plain_text,
    words_of,
)
from regions.read.chains.stated_numbers import (
    ARGUMENT_WORDS,
    Argument,
    arguments_in,
    arguments_of_object,
    arguments_of_text,
    is_number,
    may_belong_to,
    numbers_for,
)

__all__ = ["MARKS", "Statement", "find_statements", "is_statement", "names_a_function", "statement_of"]

# A key is a statement if it has one of the first words, and all its other words are in the second list.
MARKS = {"activation", "activations", "nonlinearity", "nonlinearities", "act", "actfn", "actfun", "actfunc"}
MARKS |= {"activ", "actv", "nonlin", "nonlins", "linearity", "transfer"}
_OTHER_WORDS = set(
    "fn fun func function functions class cls type layer layers name non hidden mlp net network module actor critic "
    "policy value pi vf q encoder decoder model torch nn the default inner".split()
)
_AT_THE_END = {"output", "out", "final", "last", "head"}
# Names of activations under keys with these words are about something else.
_NO_ACTIVATIONS = set("init initializer initialization kaiming xavier gain loss criterion metric".split())
# If an activation is a mapping, its name is under one of these keys; its numbers are beside the name or in mappings.
_NAME_KEYS = (
    *("name", "type", "class_name", "class_path", "_target_", "target", "class", "cls", "kind", "fn", "function"),
)
MAX_NESTING = 3  # of mappings and lists that are about one activation
# Words of other programs for functions that have another name here.
_SYNONYMS = {"lrelu": "leaky_relu", "rectifier": "relu", "rectify": "relu", "linear": "identity", "none": "identity"}
_MORE_SMOOTH = {"sin", "sine", "siren", "cos", "logistic", "gaussian", "gelunew", "quickgelu", "swiglu", "geglu", "exp"}
# Activations whose names are also those of other settings.
_OTHER_MEANINGS = {"abs", "clamp", "cos", "exp", "identity", "sin", "sine", "square", "threshold"}
_ROWS = {row.name.replace("_", ""): row for row in ACTIVATIONS}
# The forms in which a class, a function or an object is written as text; the name, and perhaps numbers.
_FORMS = tuple(
    re.compile(form)
    for form in (
        r"<class '(?P<name>[\w.]+)'>",
        r"<function (?P<name>[\w.]+) at 0x[0-9a-f]+>",
        r"<built-in (?:method|function) (?P<name>\w+)[^>]*>",
        r"(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*(?:\((?P<numbers>[^()]*)\))?",
    )
)


@dataclass(frozen=True)
class Statement:
    """What a checkpoint says about its activation.

    Attributes
    ----------
    where : str
        Where it says so: the keys, joined by dots, or a sentence.
    said : str
        The words of the checkpoint; printable.
    name : str or None
        The name of this activation here, perhaps with numbers, or the name of a function that is not piecewise linear.
        None if the words are not understood.
    at_end : bool
        Whether it is about the last layer.
    unclear : str
        Numbers that may belong to it and are not understood, in words; empty if there are none.
    is_guess : bool
        Whether only its value suggests that it is about an activation.
    """

    where: str
    said: str
    name: str | None
    at_end: bool = False
    unclear: str = ""
    is_guess: bool = False

    @property
    def has_no_regions(self) -> bool:
        """Whether a network with this activation has no linear regions."""
        name = self.name or ""
        return is_smooth(name) or is_discontinuous(name) or name in _MORE_SMOOTH

    def __str__(self) -> str:
        return f"{self.said}{f' with {self.unclear}' if self.unclear else ''} ({self.where})"


def is_statement(key: Any, value: Any) -> bool:
    """Return whether an entry of a mapping says something about activations, in words."""
    return _is_about(key) and _text_of(value) is not None


def _is_about(key: Any) -> bool:
    """Return whether the key of a setting is about activations."""
    if not isinstance(key, str) or len(key) > MAX_TEXT:
        return False
    lower = key.lower()
    if not any(start in lower for start in ("act", "nonlin", "linearity", "transfer")):
        return False
    words = words_of(key) - ARGUMENT_WORDS
    if words & {"linearity", "transfer"} and not words & {"non", "fn", "fun", "func", "function", "functions"}:
        return False
    return bool(words & MARKS) and words <= MARKS | _OTHER_WORDS | _AT_THE_END


def names_a_function(word: str) -> bool:
    """Return whether a word in small letters, without underscores, is the name of an activation and of nothing else."""
    return word not in _OTHER_MEANINGS and (word in _ROWS or word in _MORE_SMOOTH or is_smooth(word))


def statement_of(
    where: str,
    value: Any,
    *,
    at_end: bool = False,
    own: Sequence[Argument] = (),
    beside: Sequence[Argument] = (),
    elsewhere: Sequence[Argument] = (),
) -> Statement | None:
    """Return what the value of a setting says; None if it is not about a function.

    Parameters
    ----------
    where : str
    value : object
    at_end : bool
    own, beside, elsewhere : sequence of Argument
        Numbers that belong to it, those beside it, and those anywhere in the settings. The first that say anything
        about its numbers are used, and the last are only doubts.
    """
    text = _text_of(value)
    if text is None:
        return None
    match = _match(text)
    word = match["name"].rpartition(".")[2] if match else text.strip()
    if match is None:
        return Statement(where, printable(word), None, at_end)
    key = _key(word)
    row = _ROWS.get(key)
    if row is None:
        return Statement(where, printable(word), key if _is_known(key) else None, at_end)
    written = match.groupdict().get("numbers")
    inside = arguments_of_object(value) if written is None else arguments_of_text(written)
    numbers: list[float] = []
    unclear = ""
    for given in ([*inside, *own], beside):
        if not numbers and not unclear:
            numbers, unclear = numbers_for(row, given)
    doubts = [one for one in elsewhere if may_belong_to(row, one)]
    if not numbers and not unclear and doubts:
        unclear = str(doubts[0])
    name = f"{row.name}({', '.join(map(repr, numbers))})" if numbers else row.name
    try:
        name = parse_activation(name).name if numbers else name
    except RegionsError:  # numbers that such a function cannot have
        name, unclear = row.name, ", ".join(map(repr, numbers))
    said = f"{word}, here {name}" if "(" in name else word
    return Statement(where, printable(said), name, at_end, unclear)


def find_statements(content: Any) -> list[Statement]:
    """Return all statements in mappings, lists, texts and attributes of objects, each pair of place and words once."""
    mappings = list(mappings_of(content))
    everywhere = (
        Argument(key, one, is_own=False)
        for _, inside in mappings
        for key, one in inside.items()
        if isinstance(key, str) and len(key) <= MAX_TEXT and not _is_about(key)
    )
    with_numbers = [row for row in ACTIVATIONS if row.parameters]
    doubts = (one for one in everywhere if any(may_belong_to(row, one) for row in with_numbers))
    elsewhere = list(islice(doubts, MAX_STATEMENTS))
    found: dict[tuple[str, str], Statement] = {}
    guesses: list[Statement] = []
    seen = set[int]()
    for place, inside in mappings:
        beside: list[Argument] | None = None
        for key, one in inside.items():
            where = joined(place, key)
            if isinstance(key, str) and len(guesses) < MAX_STATEMENTS and not _is_about(key):
                guesses += _guess(where, key, one)
            for end, value, own in _functions(one, seen) if _is_about(key) and len(found) < MAX_STATEMENTS else ():
                beside = _beside(inside) if beside is None else beside
                at_end = bool(words_of(f"{key}.{end}") & _AT_THE_END)
                statement = statement_of(where + end, value, at_end=at_end, own=own, beside=beside, elsewhere=elsewhere)
                if statement is not None:
                    found.setdefault((statement.where, statement.said), statement)
    places = {where for where, _ in found}
    return [*found.values(), *(one for one in guesses if one.where not in places)]


def _functions(value: Any, seen: set[int], depth: int = 0) -> Iterator[tuple[str, Any, list[Argument]]]:
    """Yield the names of functions in a setting: the end of the place, the name as it is, and the arguments beside it.

    In a list, mappings without a name, lists, and values that are not names belong to the name before them.
    """
    if isinstance(value, (list, tuple, Mapping)):
        if depth > MAX_NESTING or id(value) in seen:
            return
        seen.add(id(value))
    if isinstance(value, (list, tuple)):
        last: tuple[str, Any] | None = None
        own: list[Argument] = []
        for one in value[:MAX_LIST]:
            new = list(_functions(one, seen, depth + 1))
            if not new:
                own += arguments_in(one)
                continue
            if last is not None:
                yield *last, own
            *before, (end, name, own) = new
            yield from before
            last = end, name
        if last is not None:
            yield *last, own
    elif isinstance(value, Mapping):
        key = next((key for key in _NAME_KEYS if _text_of(value.get(key)) is not None), None)
        if key is not None:
            yield f".{key}", value[key], arguments_in(value)
            return
        for key, one in islice(value.items(), MAX_LIST):
            if names_a_function(_key(str(key))) and not isinstance(one, (str, bool)):  # {"leaky_relu": {"slope": 0.2}}
                yield f".{printable(key)}", str(key), arguments_in(one)
                continue
            for end, name, own in _functions(one, seen, depth + 1):
                if _guess("", "", name):  # other words are other settings
                    yield f".{printable(key)}{end}", name, own
    elif _text_of(value) is not None and not is_number(value):
        yield "", value, []


def _beside(mapping: Mapping[Any, Any]) -> list[Argument]:
    """Return the values beside the name of an activation, and arguments there that are about activations."""
    found: list[Argument] = []
    for key, one in mapping.items():
        if not isinstance(key, str) or len(key) > MAX_TEXT:
            continue
        if _is_about(key) and (isinstance(one, Mapping) or words_of(key) & ARGUMENT_WORDS) and not _has_name(one):
            found += arguments_in(one)
        else:
            found.append(Argument(key, one, is_own=False))
    return found


def _has_name(value: Any) -> bool:
    """Return whether a setting itself names a function."""
    if isinstance(value, Mapping):
        return any(_text_of(value.get(key)) is not None for key in _NAME_KEYS)
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return _text_of(first) is not None and not is_number(first)


def _guess(where: str, key: str, value: Any) -> list[Statement]:
    """Return a statement if the value of a setting is the name of an activation, and of nothing else."""
    match = _match_of(value)
    if match is None or words_of(key) & (_AT_THE_END | _NO_ACTIVATIONS):
        return []
    word = match["name"].rpartition(".")[2]
    return [Statement(where, printable(word), _key(word), is_guess=True)] if names_a_function(_key(word)) else []


def _match_of(value: Any) -> re.Match[str] | None:
    """Return the match of a value that names a function that is known here."""
    text = _text_of(value)
    match = None if text is None else _match(text)
    key = _key(match["name"].rpartition(".")[2]) if match else ""
    return match if _is_known(key) else None


def _is_known(key: str) -> bool:
    return key in _ROWS or is_smooth(key) or is_discontinuous(key) or key in _MORE_SMOOTH or key == "prelu"


def _match(text: str) -> re.Match[str] | None:
    return next((match for form in _FORMS if (match := form.fullmatch(text.strip()))), None)


def _key(word: str) -> str:
    """Return the name of a function without case and underscores; a synonym becomes the name here."""
    key = word.lower().replace("_", "")
    return _SYNONYMS.get(key, key).replace("_", "")


def _text_of(value: Any) -> str | None:
    """Return a setting as text; None if it is not one that can name a function."""
    text = plain_text(value)
    if text is not None:
        return text[:MAX_TEXT]
    if isinstance(
        value, Opaque
    ):  # a class or an object; a setting of OmegaConf or a member of an enumeration holds text
        held = [one for one in (value.state.get("_val"), *value.inside) if isinstance(one, str)]
        return held[0][:MAX_TEXT] if len(held) == 1 else value.name[:MAX_TEXT]
    if isinstance(value, np.ndarray):
        return None
    if isinstance(value, type) or callable(value):
        kind: Any = value if hasattr(value, "__qualname__") or hasattr(value, "__name__") else type(value)
        return str(getattr(kind, "__qualname__", None) or getattr(kind, "__name__", ""))[:MAX_TEXT]
    return None
