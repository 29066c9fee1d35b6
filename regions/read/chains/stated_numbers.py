# SPDX-License-Identifier: MIT
"""Which numbers does a checkpoint state for an activation, such as the slope of a leaky ReLU?

Numbers stand after the name, as in ``LeakyReLU(0.2)`` or ``["leaky_relu", 0.2]``, in its mapping, or beside it. Some
belong to it for certain: they have the name of the parameter, or are the arguments. Others may belong to it, such as
``alpha`` beside a leaky ReLU. If the numbers that belong to it are not exactly those that it takes, or if numbers may
belong to it, they are not understood. Then the caller has to name them; no default takes their place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from regions.files.restricted_pickle import Opaque
from regions.ground.text.printable import listed, printable
from regions.networks.named_activations import NamedActivation
from regions.read.chains.settings_inside import words_of

__all__ = [
    "ARGUMENT_WORDS",
    "Argument",
    "arguments_in",
    "arguments_of_object",
    "arguments_of_text",
    "may_belong_to",
    "numbers_for",
]

ARGUMENT_WORDS = set("arg args kwargs param params parameter parameters argument arguments config cfg options".split())
ARGUMENT_WORDS |= {"init", "dict"}  # init_args, dict_kwargs
MAX_ARGUMENTS = 20  # in the mapping of one activation

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SLOPE_WORDS = {"slope", "slopes", "leak", "leakiness"}
_LEAKY_WORDS = {"leaky", "lrelu", "leakyrelu"}
_MARKS = {"act", "activation", "activations", "nonlinearity"}
# Settings of modules and functions that are not numbers of the function.
_NOT_NUMBERS = {"inplace", "training", "name"}


class Argument(NamedTuple):
    """A value that is given to an activation, or beside it.

    Attributes
    ----------
    key : str or None
        None if it is given by its position.
    value : object
    is_own : bool
        Whether it belongs to the activation, whatever its key is.
    """

    key: str | None
    value: Any
    is_own: bool = True

    def __str__(self) -> str:
        shown = printable(self.value, 30) if isinstance(self.value, (str, int, float, list, tuple)) else "an object"
        return f"{printable(self.key)} = {shown}" if self.key is not None else shown


def arguments_of_text(text: str) -> list[Argument]:
    """Return the arguments in a text such as ``negative_slope=0.2, inplace=True``."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (word.strip() for word in part.partition("="))
        found.append(Argument(key, value) if equals else Argument(None, part))
    return found


def arguments_in(value: Any, depth: int = 0) -> list[Argument]:
    """Return the arguments in a mapping, a list or a single value, and in mappings and lists of arguments in it."""
    if isinstance(value, Opaque) and not value.state:
        value = value.inside
    if isinstance(value, Opaque):
        value = value.state
    if isinstance(value, Mapping):
        items: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, (list, tuple)):
        items = ((None, one) for one in value)
    else:
        return [Argument(None, value)]
    if len(value) > MAX_ARGUMENTS:
        return [Argument(f"{len(value)} entries", "too many")]
    found = []
    for key, one in items:
        is_list = isinstance(one, (list, tuple)) and (key is None or words_of(str(key)) <= ARGUMENT_WORDS)
        if depth < 2 and (isinstance(one, Mapping) or is_list):
            found += arguments_in(one, depth + 1)
        else:
            found.append(Argument(None if key is None else str(key), one))
    return found


def arguments_of_object(value: Any) -> list[Argument]:
    """Return the attributes of an object, or the arguments of one that was not built."""
    if isinstance(value, Opaque) and not value.state:
        return [one for one in arguments_in(value) if not isinstance(one.value, str) or is_number(one.value)]
    attributes = value.state if isinstance(value, Opaque) else getattr(value, "__dict__", {})
    if isinstance(value, type) or not isinstance(attributes, Mapping):
        return []
    return [Argument(key, one) for key, one in attributes.items() if isinstance(key, str) and key[:1] != "_"]


def may_belong_to(row: NamedActivation, one: Argument) -> bool:
    """Return whether a number at some other place in the settings may belong to an activation."""
    key = one.key or ""
    is_named = key in row.parameters or row.name == "leaky_relu" and words_of(key) & (_SLOPE_WORDS | _LEAKY_WORDS)
    return bool(is_named) and _has_numbers(one.value)


def is_number(value: Any) -> bool:
    """Return whether a value, or a text, is one number."""
    return _number_of(value) is not None


def numbers_for(row: NamedActivation, given: Sequence[Argument]) -> tuple[list[float], str]:
    """Return the numbers of an activation, and those that are not understood, in words.

    Parameters
    ----------
    row : NamedActivation
    given : sequence of Argument
        Those after its name, in its mapping, or beside it.

    Returns
    -------
    list of float
        As many as it takes; empty if none are given, or if they are not understood.
    str
        Empty if all are understood.
    """
    if not row.parameters:
        return [], ""
    found: dict[str, set[float]] = {}
    unclear: list[str] = []
    others: list[str] = []
    position = 0
    for one in given:
        is_switch = isinstance(one.value, (bool, np.bool_)) or one.value is None or one.value in ("True", "False")
        if is_switch or one.key in _NOT_NUMBERS:
            continue
        number = _number_of(one.value)
        parameter = _parameter(row, one, position)
        position += one.key is None
        if parameter is not None and number is not None:
            found.setdefault(parameter, set()).add(number)
        if parameter is not None or one.key is None:
            unclear += [str(one)] * (parameter is None or number is None or len(found[parameter]) > 1)
        elif _has_numbers(one.value):
            others += [str(one)] * (one.is_own or _may_belong(row, one.key))
    numbers = [number for name in row.parameters for number in found.get(name, ())]
    if len(numbers) == len(found) == len(row.parameters) and not unclear and all(map(math.isfinite, numbers)):
        return numbers, ""
    doubtful = [str(one) for one in given if _parameter(row, one, 0) in found]
    return [], listed(list(dict.fromkeys([*doubtful, *unclear, *others])), str, most=3)


def _parameter(row: NamedActivation, one: Argument, position: int) -> str | None:
    """Return the parameter of an activation that an argument is for."""
    if one.key is None:
        return row.parameters[position] if position < len(row.parameters) else None
    words = words_of(one.key)
    is_alpha = one.key == "alpha" and one.is_own or "alpha" in words and words & _LEAKY_WORDS
    if row.name == "leaky_relu" and (words & _SLOPE_WORDS or is_alpha):
        return row.parameters[0]
    return one.key if one.key in row.parameters else None


def _may_belong(row: NamedActivation, key: str) -> bool:
    """Return whether a number beside the name of an activation may belong to it."""
    words = words_of(key)
    return key == "alpha" or bool(words & (_MARKS | (_LEAKY_WORDS if row.name == "leaky_relu" else {row.name})))


def _has_numbers(value: Any) -> bool:
    return any(map(is_number, value[:MAX_ARGUMENTS])) if isinstance(value, (list, tuple)) else is_number(value)


def _number_of(value: Any) -> float | None:
    """Return a value, or a text, that is one number."""
    if isinstance(value, str):
        value = float(value) if len(value) < 100 and _NUMBER.fullmatch(value.strip()) else None
    elif hasattr(value, "shape") and hasattr(value, "dtype"):
        is_one = len(value.shape) == 0 and re.fullmatch(r"(torch\.)?b?(float|u?int)[0-9]*", str(value.dtype))
        value = value.item() if is_one else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
