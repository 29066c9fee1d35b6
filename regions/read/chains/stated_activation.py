# SPDX-License-Identifier: MIT
"""Which activation does a checkpoint itself state?

A state dict does not hold the activations, but checkpoints often hold settings beside it: hyper-parameters of
Lightning, arguments of a program, the policy of Stable-Baselines3. If they name an activation, it is taken when the
caller names none. If the caller names another one, the network is refused: a network with tanh that is counted as one
with ReLU has a wrong count without any sign of it. Settings are read as text: classes are names here, and nothing is
built. Statements are found by their keys, at any depth, so that no list of programs is needed. A caller who knows
better gives the tensors alone.
Cost: linear in the number of settings.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regions.errors import AmbiguousCheckpointError, RegionsError, UnsupportedLayerError
from regions.files.restricted_pickle import Opaque
from regions.networks.activation import Activation
from regions.networks.named_activations import (
    ACTIVATIONS,
    activation_per_layer,
    is_discontinuous,
    is_smooth,
    parse_activation,
)
from regions.read.chains.between_layers import ActivationChoice
from regions.text.printable import listed, printable

__all__ = ["Statement", "find_statements", "is_statement", "settle_activation", "statement_of"]

# Settings are nested about three deep, and a file is not trusted.
MAX_DEPTH, MAX_LIST, MAX_STATEMENTS, MAX_TEXT = 8, 100, 50, 200

# A key is a statement if it has one of the first words, and all its other words are in the second list.
_MARKS = {"activation", "activations", "nonlinearity", "nonlinearities", "act", "actfn", "actfun", "actfunc"}
_OTHER_WORDS = set(
    "fn fun func function functions class cls type layer layers name non hidden mlp net network module actor critic "
    "policy value pi vf q encoder decoder model torch nn the default inner".split()
)
_AT_THE_END = {"output", "out", "final", "last", "head"}
# Words of other programs for functions that have another name here.
_SYNONYMS = {"lrelu": "leaky_relu", "rectifier": "relu", "rectify": "relu", "linear": "identity", "none": "identity"}
_MORE_SMOOTH = {"sin", "sine", "siren", "cos", "logistic", "gaussian", "gelunew", "quickgelu", "swiglu", "geglu", "exp"}
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
    if not isinstance(key, str) or len(key) > MAX_TEXT:
        return False
    lower = key.lower()
    if "act" not in lower and "nonlin" not in lower:
        return False
    words = _words(key)
    return bool(words & _MARKS) and words <= _MARKS | _OTHER_WORDS | _AT_THE_END and _text_of(value) is not None


def statement_of(where: str, value: Any, *, at_end: bool = False) -> Statement | None:
    """Return what the value of a setting says; None if it is not about a function."""
    text = _text_of(value)
    if text is None:
        return None
    match = next((match for form in _FORMS if (match := form.fullmatch(text.strip()))), None)
    word = match["name"].rpartition(".")[2] if match else text.strip()
    return Statement(where, printable(word), _name_of(match, value) if match else None, at_end)


def find_statements(content: Any) -> list[Statement]:
    """Return all statements in mappings, lists and attributes of objects, each pair of place and words once."""
    found: dict[tuple[str, str], Statement] = {}
    for where, key, value in _settings(content):
        values = value if isinstance(value, (list, tuple)) and len(value) <= MAX_LIST else [value]
        for one in values:
            statement = statement_of(where, one, at_end=bool(_words(key) & _AT_THE_END))
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
    notes = [
        f"the file states {one} at the end, which is not part of this network: outputs are those of the last layer"
        for one in statements
        if one.at_end and one.name != "identity"
    ]
    inside = [one for one in statements if not one.at_end]
    wanted = set().union(*map(_words, prefixes)) if prefixes else set()
    about = [one for one in inside if _words(one.where) & wanted - _MARKS] or inside
    if not about or not hidden:
        return activation, notes
    known = [one for one in about if one.name is not None]
    if activation is None:
        return _stated(about), [f"activation {_stated(about)}, as the file states: {about[0]}", *notes]
    given = printable(repr(activation))
    if not known:
        notes.insert(0, f"the file states {listed(about, str, most=3)}, which is not known here; {given} was used")
    elif not is_prelu and not all(_is_known(one) for one in named):
        notes.insert(0, f"the file states {listed(about, str, most=3)}; the given {given} was used")
    elif not any(one.name == "prelu" if is_prelu else _agree(named, one) for one in known):
        smooth = ", which is not piecewise linear, so the network has no linear regions" * known[0].has_no_regions
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


def _agree(named: Sequence[Activation], stated: Statement) -> bool:
    """Return whether the named activations may be the stated one; numbers that are not stated are free."""
    name = stated.name or ""
    if stated.has_no_regions:
        return False
    inside = [one for one in named if one.name != "identity"]
    if "(" in name:
        return all(one == parse_activation(name) for one in inside)
    return all(one.name.partition("(")[0] == name for one in inside)


def _is_known(activation: Activation) -> bool:
    """Return whether an activation has a name here; a function that the caller built is meant as it is."""
    return activation.name.partition("(")[0] in {"prelu", *(row.name for row in ACTIVATIONS)}


def _settings(content: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield place, key and value of each statement, without recursion."""
    left: deque[tuple[str, Any, int]] = deque([("", content, 0)])
    seen: set[int] = set()
    while left:
        place, value, depth = left.popleft()
        if id(value) in seen or depth > MAX_DEPTH:
            continue
        seen.add(id(value))
        if isinstance(value, Opaque):  # arguments, and perhaps entries as in a dict
            left.extend((place, one, depth + 1) for one in value.inside if isinstance(one, Mapping))
        inside = value.state if isinstance(value, Opaque) else value
        if isinstance(inside, (list, tuple)):
            inside = dict(enumerate(inside)) if len(inside) <= MAX_LIST else {}
        if not isinstance(inside, Mapping):
            continue
        for key, one in inside.items():
            several = isinstance(one, (list, tuple)) and len(one) > 0
            is_said = is_statement(key, one[0] if several else one)
            if is_said or isinstance(one, (Mapping, Opaque, list, tuple)):
                where = f"{place}.{printable(key)}" if place else printable(key)
                left.append((where, one, depth + 1))
                if is_said:
                    yield where, key, one


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


def _name_of(match: re.Match[str], value: Any) -> str | None:
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
    name = f"{row.name}({', '.join(numbers)})" if numbers else row.name
    try:
        return parse_activation(name).name if numbers else name
    except RegionsError:
        return row.name
