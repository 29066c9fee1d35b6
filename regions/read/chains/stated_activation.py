# SPDX-License-Identifier: MIT
"""Which activation does a checkpoint itself state?

A state dict does not hold the activations, but checkpoints often hold settings beside it: hyper-parameters of
Lightning, arguments of a program, the policy of Stable-Baselines3. If they name an activation, it is taken when the
caller names none. If the caller names another one, the network is refused: a network with tanh that is counted as one
with ReLU has a wrong count without any sign of it. Settings are read as text: classes are names here, and nothing is
built. Statements are found by their keys, at any depth and in texts that are JSON, so that no list of programs is
needed. Numbers beside a name, such as ``negative_slope``, belong to it. A list names an activation for each layer, and
all of them must agree with the caller's. A caller who knows better gives the tensors alone.
Cost: linear in the number of settings.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import and_
from typing import Any

import numpy as np

from regions.errors import AmbiguousCheckpointError, NotACheckpointError, RegionsError, UnsupportedLayerError
from regions.files import limits
from regions.files.json_objects import parsed_object
from regions.files.restricted_pickle import Opaque
from regions.ground.text.printable import listed, printable
from regions.networks.activation import Activation
from regions.networks.named_activations import (
    ACTIVATIONS,
    activation_per_layer,
    is_discontinuous,
    is_smooth,
    parse_activation,
)
from regions.read.chains.between_layers import ActivationChoice

__all__ = [
    "MAX_STATEMENTS",
    "MAX_TEXT",
    "Statement",
    "find_statements",
    "is_about_another_part",
    "is_statement",
    "mappings_of",
    "names_a_function",
    "settle_activation",
    "statement_of",
]

# Settings are nested about three deep, and a file is not trusted.
MAX_DEPTH, MAX_LIST, MAX_STATEMENTS, MAX_TEXT = 8, 100, 50, 200
MAX_ARGUMENTS = 20  # entries in the mapping of one activation

# A key is a statement if it has one of the first words, and all its other words are in the second list.
_MARKS = {"activation", "activations", "nonlinearity", "nonlinearities", "act", "actfn", "actfun", "actfunc"}
_OTHER_WORDS = set(
    "fn fun func function functions class cls type layer layers name non hidden mlp net network module actor critic "
    "policy value pi vf q encoder decoder model torch nn the default inner".split()
)
_AT_THE_END = {"output", "out", "final", "last", "head"}
# Words for the same part of a model.
_PARTS = ({"actor", "policy", "pi"}, {"critic", "value", "vf", "q"}, {"encoder"}, {"decoder"})
# If an activation is a mapping, its name is under one of these keys; its numbers are beside the name or in mappings.
_NAME_KEYS = ("name", "type", "class_name", "_target_", "target", "class", "cls", "kind", "fn", "function")
_ARGUMENT_WORDS = {"args", "kwargs", "params", "parameters", "arguments", "config", "cfg", "options"}
_SLOPE_WORDS = {"slope", "leak", "leakiness"}
# Words of other programs for functions that have another name here.
_SYNONYMS = {"lrelu": "leaky_relu", "rectifier": "relu", "rectify": "relu", "linear": "identity", "none": "identity"}
_MORE_SMOOTH = {"sin", "sine", "siren", "cos", "logistic", "gaussian", "gelunew", "quickgelu", "swiglu", "geglu", "exp"}
# Activations whose names are also those of other settings.
_OTHER_MEANINGS = {"abs", "clamp", "cos", "exp", "identity", "sin", "sine", "square"}
_ROWS = {row.name.replace("_", ""): row for row in ACTIVATIONS}
# The forms in which a class, a function or an object is written as text; the name, and perhaps numbers.
_FORMS = tuple(
    re.compile(form)
    for form in (
        r"<class '(?P<name>[\w.]+)'>",
        r"<function (?P<name>[\w.]+) at 0x[0-9a-f]+>",
        r"<built-in (?:method|function) (?P<name>\w+)[^>]*>",
        r"(?P<name>[\w.]+)\s*(?:\((?P<numbers>[^()]*)\))?",
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
    """

    where: str
    said: str
    name: str | None
    at_end: bool = False

    @property
    def has_no_regions(self) -> bool:
        """Whether a network with this activation has no linear regions."""
        name = self.name or ""
        return is_smooth(name) or is_discontinuous(name) or name in _MORE_SMOOTH

    def __str__(self) -> str:
        return f"{self.said} ({self.where})"


def is_statement(key: Any, value: Any) -> bool:
    """Return whether an entry of a mapping says something about activations, in words."""
    return _is_about(key) and _text_of(value) is not None


def _is_about(key: Any) -> bool:
    """Return whether the key of a setting is about activations."""
    if not isinstance(key, str) or len(key) > MAX_TEXT:
        return False
    lower = key.lower()
    if "act" not in lower and "nonlin" not in lower:
        return False
    words = _words(key) - _ARGUMENT_WORDS
    return bool(words & _MARKS) and words <= _MARKS | _OTHER_WORDS | _AT_THE_END


def statement_of(
    where: str, value: Any, *, at_end: bool = False, beside: Mapping[str, float] | None = None
) -> Statement | None:
    """Return what the value of a setting, and the numbers beside it, say; None if it is not about a function."""
    text = _text_of(value)
    if text is None:
        return None
    match = next((match for form in _FORMS if (match := form.fullmatch(text.strip()))), None)
    word = match["name"].rpartition(".")[2] if match else text.strip()
    name = _name_of(match, value, beside or {}) if match else None
    said = f"{word}, here {name}" if name is not None and "(" in name else word
    return Statement(where, printable(said), name, at_end)


def find_statements(content: Any) -> list[Statement]:
    """Return all statements in mappings, lists and attributes of objects, each pair of place and words once."""
    found: dict[tuple[str, str], Statement] = {}
    for where, key, value, beside in _settings(content):
        values = value if isinstance(value, (list, tuple)) and len(value) <= MAX_LIST else [value]
        for one in values:
            statement = statement_of(where, one, at_end=bool(_words(key) & _AT_THE_END), beside=beside)
            if statement is not None and len(found) < MAX_STATEMENTS:
                found.setdefault((where, statement.said), statement)
    return list(found.values())


def settle_activation(
    activation: ActivationChoice,
    statements: Sequence[Statement],
    hidden: int,
    prefixes: Sequence[str] | None,
    tensors_alone: str,
) -> tuple[ActivationChoice, list[str]]:
    """Return the activation to use, and notes.

    Parameters
    ----------
    activation : str, Activation, sequence of these, or None
        The caller's choice.
    statements : sequence of Statement
    hidden : int
        Number of hidden layers; without any, activations do not matter.
    prefixes : sequence of str, or None
        The caller's prefixes. If some statements are about them, the others are not used.
    tensors_alone : str
        The call that loads the tensors without the statements, for messages.

    Raises
    ------
    UnsupportedLayerError
        The stated activation is not piecewise linear, and none is named.
    AmbiguousCheckpointError
        The caller names another one, or names none and the statements differ or are not understood.
    """
    is_prelu = isinstance(activation, str) and activation.strip().lower() == "prelu"
    named = [] if activation is None or is_prelu else activation_per_layer(activation, hidden)
    wanted = _words_of(prefixes)
    notes = [
        f"the file states {one} at the end, which is not part of this network: outputs are those of the last layer"
        for one in statements
        if one.at_end and one.name != "identity" and not is_about_another_part(one.where, prefixes)
    ]
    inside = [one for one in statements if not one.at_end]
    about = [one for one in inside if _words(one.where) & wanted - _MARKS] or inside
    if about and not hidden:
        what = (
            f"the file states {listed(about, str, most=3)}, and there is no hidden layer: outputs are those of the only"
        )
        return activation, [f"{what} layer, to which no activation is applied", *notes]
    if not about:
        return activation, notes
    known = [one for one in about if one.name is not None]
    if activation is None:
        return _stated(about), [f"activation {_stated(about)}, as the file states: {about[0]}", *notes]
    given = printable(repr(activation))
    if not known:
        notes.insert(0, f"the file states {listed(about, str, most=3)}, which is not known here; {given} was used")
    elif not is_prelu and not all(_is_known(one) for one in named):
        notes.insert(0, f"the file states {listed(about, str, most=3)}; the given {given} was used")
    elif not any(_agree(named, is_prelu, places) for places in _by_place(known)):
        has_no_regions = any(one.has_no_regions for one in known)
        smooth = ", which is not piecewise linear, so the network has no linear regions" * has_no_regions
        raise (UnsupportedLayerError if smooth else AmbiguousCheckpointError)(
            f"activation={given} was named, but the file states {listed(known, str, most=3)}{smooth}. If that is not "
            f"so, load the tensors alone: {tensors_alone}"
        )
    return activation, notes


def _stated(about: Sequence[Statement]) -> str:
    """Return the only stated activation."""
    names = {one.name for one in about}
    if len(names) > 1 or None in names:
        what = "several activations" if len(names) > 1 else "an activation that is not known here"
        raise AmbiguousCheckpointError(
            f"name the activation, for instance activation='relu': the file states {what}, {listed(about, str, most=4)}"
        )
    if about[0].has_no_regions:
        raise UnsupportedLayerError(
            f"the file states the activation {about[0]}, which is not piecewise linear, so the network has no linear "
            "regions. Train one with ReLU in its place"
        )
    return str(about[0].name)


def is_about_another_part(where: str, prefixes: Sequence[str] | None) -> bool:
    """Return whether the keys of a setting are about another part of the model than the caller's prefixes."""
    stated, chosen = ([bool(words & part) for part in _PARTS] for words in (_words(where), _words_of(prefixes)))
    return any(stated) and any(chosen) and not any(map(and_, stated, chosen))


def _by_place(statements: Sequence[Statement]) -> list[list[Statement]]:
    """Return the statements of each place together: those of a list are about one network."""
    found: dict[str, list[Statement]] = {}
    for one in statements:
        found.setdefault(one.where, []).append(one)
    return list(found.values())


def _agree(named: Sequence[Activation], is_prelu: bool, stated: Sequence[Statement]) -> bool:
    """Return whether the named activations may be the stated ones: each is stated, and each stated one is named."""
    if is_prelu:
        return all(one.name == "prelu" for one in stated)
    inside = [one for one in named if one.name != "identity"] or named
    return all(any(_may_be(one, other) for other in stated) for one in inside) and all(
        other.name == "identity" or any(_may_be(one, other) for one in inside) for other in stated
    )


def _may_be(named: Activation, stated: Statement) -> bool:
    """Return whether a named activation may be the stated one; numbers that are not stated are free."""
    name = stated.name or ""
    if stated.has_no_regions:
        return False
    return named == parse_activation(name) if "(" in name else named.name.partition("(")[0] == name


def _is_known(activation: Activation) -> bool:
    """Return whether an activation has a name here; a function that the caller built is meant as it is."""
    return activation.name.partition("(")[0] in {"prelu", *(row.name for row in ACTIVATIONS)}


def mappings_of(content: Any) -> Iterator[tuple[str, dict[Any, Any]]]:
    """Yield the place and the entries of each mapping, list and object, without recursion; texts of JSON are parsed."""
    left: deque[tuple[str, Any, int]] = deque([("", content, 0)])
    seen: dict[int, Any] = {}  # the values are kept, because ids of others may be used again
    parsed = 0
    while left:
        place, value, depth = left.popleft()
        if id(value) in seen or depth > MAX_DEPTH:
            continue
        seen[id(value)] = value
        if isinstance(value, Opaque):  # arguments, and perhaps entries as in a dict
            left.extend((place, one, depth + 1) for one in value.inside if isinstance(one, Mapping))
        inside = value.state if isinstance(value, Opaque) else value
        if isinstance(inside, (list, tuple)):
            inside = dict(enumerate(inside)) if len(inside) <= MAX_LIST else {}
        if not isinstance(inside, Mapping):
            continue
        entries = dict(inside)
        for key, one in inside.items():
            if isinstance(one, str) and one[:1] == "{" and parsed + len(one) <= limits.MAX_JSON_BYTES:
                parsed += len(one)
                entries[key] = one = _parsed(one)
            if isinstance(one, (Mapping, Opaque, list, tuple)):
                left.append((_joined(place, key), one, depth + 1))
        yield place, entries


def _settings(content: Any) -> Iterator[tuple[str, str, Any, dict[str, float]]]:
    """Yield place, key and value of each statement, and the numbers beside it."""
    named = set[int]()
    for place, inside in mappings_of(content):
        numbers: dict[str, float] | None = None
        for key, one in inside.items():
            several = isinstance(one, (list, tuple)) and len(one) > 0
            if is_statement(key, one[0] if several else one):
                numbers = _numbers_beside(inside) if numbers is None else numbers
                yield _joined(place, key), key, one, numbers
            elif isinstance(one, Mapping) and _is_about(key) and id(one) not in named:
                named.add(id(one))
                name = next((name for name in _NAME_KEYS if _text_of(one.get(name)) is not None), None)
                if name is not None:
                    yield f"{_joined(place, key)}.{name}", key, one[name], _numbers_in(one)


def _joined(place: str, key: Any) -> str:
    return f"{place}.{printable(key)}" if place else printable(key)


def names_a_function(word: str) -> bool:
    """Return whether a word in small letters, without underscores, is the name of an activation and of nothing else."""
    return word not in _OTHER_MEANINGS and (word in _ROWS or word in _MORE_SMOOTH or is_smooth(word))


def _parsed(text: str) -> Any:
    """Return a text that is a JSON object as a mapping, and another as it is."""
    try:
        return parsed_object(text.encode("utf-8", "replace"), "a setting")
    except NotACheckpointError:
        return text


def _numbers_in(mapping: Mapping[Any, Any]) -> dict[str, float]:
    """Return the numbers in the mapping of an activation, and in mappings in it."""
    if len(mapping) > MAX_ARGUMENTS:
        return {}
    inner = (one for one in mapping.values() if isinstance(one, Mapping) and len(one) <= MAX_ARGUMENTS)
    found = {key: value for level in (mapping, *inner) for key, value in _numbers(level).items()}
    return {"slope" if key == "alpha" else key: value for key, value in found.items()}


def _numbers_beside(mapping: Mapping[Any, Any]) -> dict[str, float]:
    """Return the numbers beside the name of an activation, and in mappings there that are about activations."""
    about = {id(one): one for key, one in mapping.items() if isinstance(one, Mapping) and _is_about(key)}
    found = _numbers(mapping)
    for one in about.values():
        found |= _numbers_in(one)
    return found


def _numbers(mapping: Mapping[Any, Any]) -> dict[str, float]:
    return {
        key: value
        for key, value in mapping.items()
        if isinstance(key, str) and isinstance(value, (int, float)) and not isinstance(value, bool)
    }


def _words_of(prefixes: Sequence[str] | None) -> set[str]:
    return set().union(*map(_words, prefixes)) if prefixes else set()


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text)}


def _text_of(value: Any) -> str | None:
    """Return a setting as text; None if it is not one that can name a function."""
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if isinstance(
        value, Opaque
    ):  # a class or an object; a setting of OmegaConf or a member of an enumeration holds text
        held = [one for one in (value.state.get("_val"), *value.inside) if isinstance(one, str)]
        return held[0][:MAX_TEXT] if len(held) == 1 else value.name[:MAX_TEXT]
    if isinstance(value, np.ndarray):
        return str(value.flat[0])[:MAX_TEXT] if value.dtype.kind == "U" and value.size == 1 else None
    if isinstance(value, type) or callable(value):
        kind: Any = value if hasattr(value, "__qualname__") or hasattr(value, "__name__") else type(value)
        return str(getattr(kind, "__qualname__", None) or getattr(kind, "__name__", ""))[:MAX_TEXT]
    return None


def _name_of(match: re.Match[str], value: Any, beside: Mapping[str, float]) -> str | None:
    word = match["name"].rpartition(".")[2].lower().replace("_", "")
    word = _SYNONYMS.get(word, word).replace("_", "")
    if is_smooth(word) or is_discontinuous(word) or word in _MORE_SMOOTH or word == "prelu":
        return word
    row = _ROWS.get(word)
    if row is None:
        return None
    numbers = re.findall(r"-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?", match.groupdict().get("numbers") or "")
    attributes = value.state if isinstance(value, Opaque) else getattr(value, "__dict__", {})
    stored = [attributes.get(parameter) for parameter in row.parameters]
    if stored and all(isinstance(one, (int, float)) for one in stored):
        numbers = [repr(one) for one in stored]
    elif not numbers:
        given = {beside[one] for one in row.parameters if one in beside}
        if row.name == "leaky_relu" and not given:
            given = {number for key, number in beside.items() if _words(key) & _SLOPE_WORDS}
        if len(row.parameters) == 1 and len(given) > 1:  # which of them is not said
            return None
        if len(row.parameters) == 1:
            numbers = [repr(one) for one in given]
        elif all(one in beside for one in row.parameters):
            numbers = [repr(beside[one]) for one in row.parameters]
    name = f"{row.name}({', '.join(numbers)})" if numbers else row.name
    try:
        return parse_activation(name).name if numbers else name
    except RegionsError:
        return row.name
