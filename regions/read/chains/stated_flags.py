# SPDX-License-Identifier: MIT
"""Which settings of a checkpoint, that are true or false, does a chain of layers contradict?

Programs state parts of their model as ``use_tanh: true`` or ``residual: true``. A state dict has no trace of such a
part, so a network that is read from the tensors alone may be another one. Where the part would be is not stated.
Therefore such a setting is not a reason to refuse the file: it is noted, with its key.
Rule: an activation that is on and was not used, or is off and was used; a part without tensors that is on, such as a
normalisation of inputs, whose tensors have other places; batch norms
that are on although none are stored. Other settings say nothing about the function, or nothing that is known here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regions.ground.text.printable import listed, printable
from regions.read.chains.settings_inside import MAX_STATEMENTS, MAX_TEXT, mappings_of
from regions.read.chains.stated_activation import names_a_function

__all__ = ["Flag", "find_flags", "notes_on_flags"]

# Words that do not change which part a key is about.
_VERBS = set("use using with apply add enable is has have do should".split())
_PLACES = set(
    "final output out last end head hidden inner mlp net network policy actor critic value encoder decoder model "
    "activation act fn func function layer layers on the in at".split()
)
_INPUTS = ("input", "inputs", "obs", "observation", "observations", "state", "states")
_PARTS = {
    **dict.fromkeys(("residual", "residuals", "skip", "skips", "shortcut", "shortcuts"), "skip connections"),
    **dict.fromkeys(("skipconnection", "skipconnections", "residualconnection"), "skip connections"),
    **dict.fromkeys(("residualconnections", "residualblock", "residualblocks", "resnet"), "skip connections"),
    **dict.fromkeys(("denseconnection", "denseconnections", "densenet"), "skip connections"),
    **dict.fromkeys(("layernorm", "ln", "rmsnorm", "groupnorm", "instancenorm"), "such a norm"),
    **dict.fromkeys(("batchnorm", "bn"), "batch norms"),
    **dict.fromkeys(("attention", "selfattention"), "attention"),
    **dict.fromkeys(("dueling", "duelling"), "dueling heads"),
    **dict.fromkeys(("squash", "squashoutput", "squashed"), "a final squashing function"),
    **dict.fromkeys(
        (
            *(verb + what for verb in ("normalize", "normalise", "norm") for what in _INPUTS),
            *(what + noun for what in (*_INPUTS, "empirical") for noun in ("normalization", "normalisation", "norm")),
        ),
        "a normalisation of inputs",
    ),
}


@dataclass(frozen=True)
class Flag:
    """A setting that is true or false.

    Attributes
    ----------
    where : str
        The keys, joined by dots; printable.
    word : str
        What it is about: the name of an activation without underscores, or a key of the parts above.
    on : bool
    """

    where: str
    word: str
    on: bool

    def __str__(self) -> str:
        return f"{self.where} = {self.on}"


def find_flags(content: Any) -> list[Flag]:
    """Return all settings that are true or false, and about an activation or a part of the model."""
    found: list[Flag] = []
    for place, settings in mappings_of(content):
        for key, value in settings.items():
            if not isinstance(value, (bool, np.bool_)) or not isinstance(key, str) or len(key) > MAX_TEXT:
                continue
            word = _word_of(key)
            if word is not None and len(found) < MAX_STATEMENTS:
                shown = printable(key)
                found.append(Flag(f"{place}.{shown}" if place else shown, word, bool(value)))
    return found


def _word_of(key: str) -> str | None:
    """Return the activation or part that a key is about."""
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", key)]
    for helpers in (_VERBS, _VERBS | _PLACES):
        word = "".join(word for word in words if word not in helpers)
        if word in _PARTS or names_a_function(word):
            return word
    return None


def notes_on_flags(flags: Sequence[Flag], used: Collection[str], with_batch_norms: bool) -> list[str]:
    """Return a note on the settings that the network contradicts.

    Parameters
    ----------
    flags : sequence of Flag
    used : collection of str
        The names of the activations of the network.
    with_batch_norms : bool
        Whether batch norms are stored.
    """
    names = {name.partition("(")[0].replace("_", "") for name in used}
    against = [
        one
        for one in flags
        if (one.word not in _PARTS and one.on != (one.word in names))
        or (one.word in _PARTS and one.on and not (with_batch_norms and _PARTS[one.word] == "batch norms"))
    ]
    if not against:
        return []
    without = list(dict.fromkeys(_PARTS.get(one.word, one.word) for one in against if one.on))
    read = f"without {listed(without)}" if without else f"with {listed(sorted(used))}"
    return [
        f"the file states {listed([str(one) for one in against], str)}, and the tensors are read as a chain {read}: if "
        "the model has another form, export it as .pt2 or ONNX, and load that file"
    ]
