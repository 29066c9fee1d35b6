# SPDX-License-Identifier: MIT
"""Where do the activations go between the modules of a bare state dict?

Between two dense layers there may be batch norms, and somewhere among them the activation, whose only trace is a gap in
the numbers: in ``0.weight, 1.running_mean, 3.weight`` it is number 2, after the norm; in ``0.weight, 2.running_mean,
3.weight`` it is number 1, before it. Names that are not numbers (``fc1, bn1, fc2``) say nothing. The usual order, dense
- norm - activation, is then assumed, with a note. PReLUs have weights, so their positions are known. Anything else is
refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from regions.errors import AmbiguousCheckpointError
from regions.ground.arithmetic.arguments import list_of
from regions.ground.arithmetic.arrays import exact_float64
from regions.ground.arithmetic.types import Floats
from regions.networks.named_activations import Activation, activation_per_layer, prelu
from regions.networks.network import Network
from regions.read.chains.layer_order import HOW_TO_SETTLE, Module, list_shapes
from regions.read.chains.steps import Dense, Nonlinearity, Step
from regions.read.scaling import scaling_of_batch_norm

ActivationChoice = str | Activation | Sequence[str | Activation] | None


def as_activation_choice(activation: Any) -> ActivationChoice:
    """Check the type of the activation that a caller named, before any file is opened; names are parsed later.

    Raises
    ------
    TypeError
        Neither a name, nor an Activation, nor a sequence of these.
    """
    if activation is None or isinstance(activation, (str, Activation)):
        return activation
    what = "a name such as 'relu', an Activation, or a list with one for each hidden layer"
    given = list_of(activation, "activation", what)
    for i, one in enumerate(given):
        if not isinstance(one, (str, Activation)):
            raise TypeError(f"activation[{i}] must be a name or an Activation, got {type(one).__name__}")
    return given


def place_activations(
    modules: Sequence[Module], activation: ActivationChoice, batch_norm_eps: float
) -> tuple[list[Step], list[str]]:
    """Return the steps of the network, in order, and notes on what was assumed.

    Parameters
    ----------
    modules : sequence of Module
        In the order of their calls, at least one of them dense.
    activation : str, Activation, sequence of these, or None
        What the caller named, for all hidden layers or each; ``"prelu"`` stands for the PReLUs among the
        modules.
    batch_norm_eps : float
        A state dict does not store it.

    Raises
    ------
    AmbiguousCheckpointError
        No activation named, or its place cannot be known.
    """
    placement = _Placement(list(modules), batch_norm_eps)
    hidden = len(placement.dense_at) - 1
    if isinstance(activation, str) and activation.strip().lower() == "prelu":
        return placement.steps_with_prelus(hidden), placement.notes
    for module in modules:
        if module.kind == "prelu":
            if activation is not None and not isinstance(activation, (str, Activation)):
                advice = "next to other activations its place cannot be known from a state dict: load the torch module"
            else:
                advice = f"if it is a PReLU, name activation='prelu'; else {HOW_TO_SETTLE}"
            raise AmbiguousCheckpointError(f"{module.name}.weight has one axis and no bias: {advice}")
    if activation is None and hidden:
        raise AmbiguousCheckpointError(
            "name the activation, for instance activation='relu': a state dict does not store it. The layers are "
            f"{list_shapes(modules)}"
        )
    activations = activation_per_layer([] if activation is None else activation, hidden)
    return placement.steps_with(activations), placement.notes


def require_activation(network: Network, activation: ActivationChoice, source: str) -> None:
    """Refuse a named activation that is not the activation of ``source`` itself.

    Raises
    ------
    AmbiguousCheckpointError
        It is not.
    """
    if activation is None:
        return
    found = list(network.activations)
    names = ", ".join(dict.fromkeys(one.name for one in found))
    if isinstance(activation, str) and activation.strip().lower() == "prelu":
        agrees = bool(found) and all(one.name.startswith("prelu") for one in found)
    else:
        agrees = activation_per_layer(activation, len(found)) == found
    if not agrees:
        raise AmbiguousCheckpointError(
            f"activation={activation!r} was named, but {source} itself has {names or 'none'}; name none for it"
        )


class _Placement:
    """Modules in order; ``notes`` grows as their steps are made."""

    def __init__(self, modules: list[Module], eps: float) -> None:
        self.modules = modules
        self.dense_at = [i for i, module in enumerate(modules) if module.kind == "dense"]
        self.eps = eps
        self.notes: list[str] = []
        without_bias = [modules[i].name for i in self.dense_at if "bias" not in modules[i].tensors]
        if without_bias:
            self.notes.append(f"no biases stored for {', '.join(without_bias)}: taken as zeros")
        if any(module.kind == "norm" for module in modules):
            self.notes.append(f"batch norms were taken to have eps={eps:g}, which is not stored")

    def steps_with_prelus(self, hidden: int) -> list[Step]:
        prelus = [i for i, module in enumerate(self.modules) if module.kind == "prelu"]
        between = [sum(start < i < end for i in prelus) for start, end in pairwise(self.dense_at)]
        if not prelus:
            raise AmbiguousCheckpointError(
                "activation='prelu' was named, but no tensor with one axis and no bias is stored"
            )
        if all(count == 1 for count in between):
            return [self.step(module) for module in self.modules]
        position = prelus[0]
        neighbours = self.modules[max(position - 1, 0) : position + 2]
        if len(prelus) > 1 or any(_numbers_between(a.name, b.name) is not None for a, b in pairwise(neighbours)):
            raise self.unclear("a PReLU")
        shared = self.modules.pop(position)
        self.notes.append(f"the only PReLU, {shared.name}, was taken to follow every hidden layer")
        self.dense_at = [i - (i > position) for i in self.dense_at]
        return self.steps_with([_prelu(shared)] * hidden)

    def steps_with(self, activations: Sequence[Activation]) -> list[Step]:
        """Return all steps, with one activation between each two dense layers."""
        first, last = self.dense_at[0], self.dense_at[-1]
        self.require_clear_leading_norms(first)
        self.require_clear_trailing_norms(last)
        steps = [self.step(module) for module in self.modules[: first + 1]]
        for (start, end), activation in zip(pairwise(self.dense_at), activations, strict=True):
            place = self.place(start, end)
            steps += [self.step(module) for module in self.modules[start + 1 : place + 1]]
            steps.append(Nonlinearity(f"the activation after {self.modules[start].name}", activation))
            steps += [self.step(module) for module in self.modules[place + 1 : end + 1]]
        self.require_numbering()
        self.note_open_places()
        return steps + [self.step(module) for module in self.modules[last + 1 :]]

    def gaps(self, start: int, end: int) -> list[int | None]:
        return [_numbers_between(a.name, b.name) for a, b in pairwise(self.modules[start : end + 1])]

    def place(self, start: int, end: int) -> int:
        """Return the index of the module before the activation between the dense modules ``start`` and ``end``."""
        gaps = self.gaps(start, end)
        possible = [start + i for i, gap in enumerate(gaps) if gap != 0]
        if not possible:
            # The numbers have no gap, so the activation is not a module but a call in the model's code.
            return end - 1
        if len(possible) == 1:
            return possible[0]
        if gaps == [None, None]:
            dense, norm = self.modules[start].name, self.modules[start + 1].name
            self.notes.append(f"batch norm {norm} was taken to follow {dense} directly, before the activation")
            return end - 1
        raise self.unclear(f"the activation between {self.modules[start].name} and {self.modules[end].name}")

    def require_numbering(self) -> None:
        """Refuse numbers that leave room for an activation between some layers and not between others."""
        numbered = [gaps for gaps in (self.gaps(*pair) for pair in pairwise(self.dense_at)) if None not in gaps]
        through = [gaps for gaps in numbered if not any(gaps)]
        if not through:
            return
        if len(through) < len(numbered):
            raise self.unclear("an activation between layers whose numbers leave no room for it, as they do elsewhere,")
        self.notes.append(
            "layers are numbered without gaps: an activation was assumed after each hidden one (and its norm)"
        )

    def note_open_places(self) -> None:
        """Note the layers between which names do not show an activation, if numbers show one between others."""
        pairs = [(pair, self.gaps(*pair)) for pair in pairwise(self.dense_at)]
        if not any(gap for _, gaps in pairs for gap in gaps):
            return
        for (start, end), gaps in pairs:
            if None in gaps:
                before, after = self.modules[start].name, self.modules[end].name
                self.notes.append(f"whether an activation lies between {before} and {after} cannot be seen")

    def require_clear_leading_norms(self, first: int) -> None:
        if first == 0:
            return
        norm, dense = self.modules[0], self.modules[first]
        gaps = self.gaps(0, first)
        # A single norm with a name that is a word may act on the input. If its width fits the layer too, it may have
        # been defined first and be called later.
        plausible = gaps == [None] and dense.n_in != dense.n_out
        if any(gap != 0 for gap in gaps) and not plausible:
            raise self.unclear(f"batch norm {norm.name}, stored before the first dense layer,")
        self.notes.append(f"batch norm {norm.name} was taken to act on the input")

    def require_clear_trailing_norms(self, last: int) -> None:
        for before, after in pairwise(self.modules[last:]):
            if _numbers_between(before.name, after.name) != 0:
                raise self.unclear(f"batch norm {after.name}, stored after the last dense layer,")

    def step(self, module: Module) -> Step:
        tensors = module.tensors
        if module.kind == "prelu":
            return Nonlinearity(module.name, _prelu(module))
        if module.kind == "norm":
            mean, variance = tensors["running_mean"], tensors["running_var"]
            weight, bias = tensors.get("weight"), tensors.get("bias")
            return scaling_of_batch_norm(module.name, mean, variance, weight, bias, self.eps)
        weights = _exact(module, "weight")
        return Dense(module.name, weights, _exact(module, "bias") if "bias" in tensors else np.zeros(len(weights)))

    def unclear(self, what: str) -> AmbiguousCheckpointError:
        return AmbiguousCheckpointError(
            f"it cannot be known where {what} belongs; found {list_shapes(self.modules)}; {HOW_TO_SETTLE}"
        )


def _exact(module: Module, parameter: str) -> Floats:
    """Return a tensor as float64; errors have its name in the file."""
    return exact_float64(module.tensors[parameter], module.stored_names.get(parameter, f"{module.name}.{parameter}"))


def _prelu(module: Module) -> Activation:
    return prelu(_exact(module, "weight"))


def _numbers_between(before: str, after: str) -> int | None:
    """Return how many numbers are free between ``net.3`` and ``net.5``; None if the names have another form."""
    match_before, match_after = (re.fullmatch(r"(.*\.)?([0-9]{1,18})", name) for name in (before, after))
    if match_before is None or match_after is None or match_before.group(1) != match_after.group(1):
        return None
    difference = int(match_after.group(2)) - int(match_before.group(2))
    return difference - 1 if difference > 0 else None
