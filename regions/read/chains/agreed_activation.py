# SPDX-License-Identifier: MIT
"""Do the activation that a checkpoint states and the one that the caller names agree?

The stated one is taken if the caller names none. If the caller names another one, the network is refused: a network
with tanh that is counted as one with ReLU has a wrong count without any sign of it. If one is stated for each layer, in
a list or under numbered keys, all must agree with the caller's. If several are stated for different parts, one of them
must agree, and a note names all. Numbers that are not understood, and defaults that are not stated, are named. A caller
who knows better gives the tensors alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from operator import and_

from regions.errors import AmbiguousCheckpointError, UnsupportedLayerError
from regions.ground.text.printable import listed, printable
from regions.networks.activation import Activation
from regions.networks.named_activations import ACTIVATIONS, activation_per_layer, parse_activation
from regions.read.chains.between_layers import ActivationChoice
from regions.read.chains.settings_inside import words_of
from regions.read.chains.stated_activation import MARKS, Statement

__all__ = ["is_about_another_part", "settle_activation"]

# Words for the same part of a model.
_PARTS = ({"actor", "policy", "pi"}, {"critic", "value", "vf", "q"}, {"encoder"}, {"decoder"})


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
    statements = _with_last_layers(statements, hidden)
    notes = [
        f"the file states {one} at the end, which is not part of this network: outputs are those of the last layer"
        for one in statements
        if one.at_end and one.name != "identity" and not is_about_another_part(one.where, prefixes)
    ]
    notes += _on_guesses(statements, named, is_prelu, prefixes)
    inside = [one for one in statements if not one.at_end and not one.is_guess]
    about = [one for one in inside if words_of(one.where) & wanted - MARKS] or inside
    if about and not hidden:
        what = (
            f"the file states {listed(about, str, most=3)}, and there is no hidden layer: outputs are those of the only"
        )
        return activation, [f"{what} layer, to which no activation is applied", *notes]
    if not about:
        return activation, notes
    known = [one for one in about if one.name is not None]
    if activation is None:
        return _stated(about), [
            f"activation {_stated(about)}, as the file states: {about[0]}{_default(about[0])}",
            *notes,
        ]
    used = f"{printable(repr(activation))} was used"
    agreeing = [_agree(named, is_prelu, together) for together in _by_place(known)]
    if len(known) < len(about):
        unknown = [one for one in about if one.name is None]
        notes.insert(0, f"the file states {listed(unknown, str, most=3)}, which is not known here; {used}")
    if known and not is_prelu and not all(_is_known(one) for one in named):
        notes.insert(0, f"the file states {listed(known, str, most=3)}; the given {used}")
    elif known and not any(agreeing):
        has_no_regions = any(one.has_no_regions for one in known)
        smooth = ", which is not piecewise linear, so the network has no linear regions" * has_no_regions
        raise (UnsupportedLayerError if smooth else AmbiguousCheckpointError)(
            f"activation={printable(repr(activation))} was named, but the file states "
            f"{listed(known, str, most=3)}{smooth}. If that is not so, load the tensors alone: {tensors_alone}"
        )
    elif not all(agreeing):
        notes.insert(0, f"the file states several activations, {listed(known, str, most=3)}; the given {used}")
    elif any(one.unclear for one in known):
        unclear = [one for one in known if one.unclear]
        doubt = "and it is not clear which numbers belong to it"
        notes.insert(0, f"the file states {listed(unclear, str, most=3)}, {doubt}; the given {used}")
    return activation, notes


def _with_last_layers(statements: Sequence[Statement], hidden: int) -> list[Statement]:
    """Return the statements, of which those for the last of the layers are marked as about the end."""
    layers: dict[str, dict[str, None]] = {}
    for one in statements:
        if not one.at_end and not one.is_guess:
            layers.setdefault(_without_numbers(one.where), {})[one.where] = None
    last = {list(places)[-1] for places in layers.values() if hidden and len(places) == hidden + 1}
    return [replace(one, at_end=True) if one.where in last else one for one in statements]


def _on_guesses(
    statements: Sequence[Statement], named: Sequence[Activation], is_prelu: bool, prefixes: Sequence[str] | None
) -> list[str]:
    """Return a note on settings that may be statements, and do not agree with what is named or stated."""
    stated = {one.name for one in statements if not one.is_guess}
    against = [
        one
        for one in statements
        if one.is_guess
        and one.name not in stated
        and not (_agree(named, is_prelu, [one]) if named or is_prelu else not stated)
        and not is_about_another_part(one.where, prefixes)
    ]
    if not against:
        return []
    return [
        f"the file has the words {listed(against, str, most=3)}: if an activation of this network is meant, name it "
        "with activation="
    ]


def _default(stated: Statement) -> str:
    """Return words on the numbers of an activation that are not stated."""
    row = next((row for row in ACTIVATIONS if row.name == stated.name), None)
    if row is None or not row.parameters:
        return ""
    numbers = ", ".join(f"{name} = {default}" for name, default in zip(row.parameters, row.defaults, strict=True))
    return f", without numbers; those are torch's defaults, {numbers}"


def _stated(about: Sequence[Statement]) -> str:
    """Return the only stated activation."""
    names = {one.name for one in about}
    if len(names) > 1 or None in names:
        what = "several activations" if len(names) > 1 else "an activation that is not known here"
        raise AmbiguousCheckpointError(
            f"name the activation, for instance activation='relu': the file states {what}, {listed(about, str, most=4)}"
        )
    if any(one.unclear for one in about):
        unclear = [one for one in about if one.unclear]
        raise AmbiguousCheckpointError(
            f"the file states {listed(unclear, str, most=4)}, and it is not clear which numbers belong to it. Please "
            "name the activation with its numbers, for instance activation='leaky_relu(0.2)'"
        )
    if about[0].has_no_regions:
        raise UnsupportedLayerError(
            f"the file states the activation {about[0]}, which is not piecewise linear, so the network has no linear "
            "regions. Train one with ReLU in its place"
        )
    return str(about[0].name)


def is_about_another_part(where: str, prefixes: Sequence[str] | None) -> bool:
    """Return whether the keys of a setting are about another part of the model than the caller's prefixes."""
    stated, chosen = ([bool(words & part) for part in _PARTS] for words in (words_of(where), _words_of(prefixes)))
    return any(stated) and any(chosen) and not any(map(and_, stated, chosen))


def _by_place(statements: Sequence[Statement]) -> list[list[Statement]]:
    """Return the statements of each place together: those of a list, or of numbered layers, are about one network."""
    found: dict[str, list[Statement]] = {}
    for one in statements:
        found.setdefault(_without_numbers(one.where), []).append(one)
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


def _without_numbers(where: str) -> str:
    return re.sub(r"[0-9]+", "", where)


def _words_of(prefixes: Sequence[str] | None) -> set[str]:
    return set().union(*map(words_of, prefixes)) if prefixes else set()
