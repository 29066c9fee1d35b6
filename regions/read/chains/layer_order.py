# SPDX-License-Identifier: MIT
"""In which order are the modules of a bare state dict called?

A state dict is a mapping of names, and does not store the order of calls. These are hints:
- a mapping or torch file keeps the order of definition, which is nearly always the order of the calls;
- numbers in names count upwards (``net.2`` before ``net.10``, ``fc1`` before ``fc2``);
- some words, such as ``input``, have a usual position, or belong to no chain (`regions.read.chains.name_hints`);
- the output width of each layer must be the input width of the next one. If these agree, the order is accepted. If one
of them decides what another leaves open, it is accepted with a note. If two orders remain possible, it is refused.
Cost: linear, except for a search among at most 64 layers if names and stored order do not decide.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from regions.errors import AmbiguousCheckpointError, CheckpointError, ShapeMismatchError
from regions.ground.text.printable import listed, printable
from regions.read.chains.name_hints import find_contradiction, find_parallel

MAX_LAYERS_TO_SEARCH = 64
MAX_SEARCH_STEPS = 20_000
# Far more than in any network whose regions can be enumerated. The memory for names grows with the product of these two
# limits; such a file takes about a second.
MAX_MODULES, MAX_TOKENS = 2_000, 65

HOW_TO_SETTLE = (
    "load the torch module, which shows the order of the calls: regions.load(module, input_shape=(n,)). Or give a "
    "mapping in the order of the calls; regions.read.read_tensors(path) returns one to reorder"
)


@dataclass(frozen=True)
class Module:
    """The tensors under one name.

    Attributes
    ----------
    name : str
        For instance ``"net.0"``.
    kind : str
        ``"dense"``, ``"norm"`` or ``"prelu"``.
    tensors : dict of str to array
        By parameter name: ``weight``, ``bias``, ``running_mean``, ..
    stored_names : dict of str to str
        Names of the tensors in the file, by parameter name, if they are not the name, a dot and the parameter name.
    """

    name: str
    kind: str
    tensors: dict[str, Any]
    stored_names: dict[str, str] = field(default_factory=dict)

    @property
    def n_in(self) -> int:
        """Number of inputs of a dense layer."""
        return int(self.tensors["weight"].shape[1])

    @property
    def n_out(self) -> int:
        """Number of outputs of a dense layer."""
        return int(self.tensors["weight"].shape[0])


def order_modules(
    modules: Sequence[Module], order_is_kept: bool, within: str = "", *, names_count: bool = True
) -> tuple[list[Module], list[str]]:
    """Return the modules in the order of their calls, and notes on how it was found.

    Parameters
    ----------
    modules : sequence of Module
        As stored.
    order_is_kept : bool
        Whether the source keeps the order of definition. safetensors files do not.
    within : str
        The beginning that all names have because of the caller's prefix; its words are not used.
    names_count : bool
        Whether words that contradict the order, or belong to no chain, are refused.

    Raises
    ------
    AmbiguousCheckpointError
        Widths fit in no order, or in several; names contradict the order.
    CheckpointError
        More modules, or more deeply nested names, than any network has.
    """
    stored = list(modules)
    _require_numbers_of_names(stored)
    ordered, notes = _by_number_and_width(stored, order_is_kept)
    if names_count:
        notes += _notes_on_words(ordered, within)
    return ordered, notes


def _by_number_and_width(stored: list[Module], order_is_kept: bool) -> tuple[list[Module], list[str]]:
    numbered = _sorted_by_number(stored)
    if not order_is_kept:
        return _without_stored_order(numbered)
    if _numbers_ascend(stored):
        return chained(stored), []
    if not _chains(numbered):
        dense = [module for module in chained(stored) if module.kind == "dense"]
        if len(_all_chains(dense, in_order_of_numbers=False)) > 1:
            raise AmbiguousCheckpointError(
                f"the order of the layers is unclear: stored as {list_names(stored)}, where numbers do not ascend, and "
                f"the shapes allow another order ({list_shapes(stored)}); {HOW_TO_SETTLE}"
            )
        return stored, ["numbers in the names do not ascend; the stored order was kept, since only that one chains"]
    if not _chains(stored):
        return numbered, ["layers reordered by the numbers in their names, since the stored order does not chain"]
    raise AmbiguousCheckpointError(
        f"the order of the layers is unclear: stored as {list_names(stored)}, by number {list_names(numbered)}, "
        f"and the shapes fit both ({list_shapes(stored)}); {HOW_TO_SETTLE}"
    )


def _notes_on_words(ordered: Sequence[Module], within: str) -> list[str]:
    """Refuse an order that the names contradict, unless widths fit in no other order; return notes."""
    dense = [module for module in ordered if module.kind == "dense"]
    names = [module.name.removeprefix(f"{within}.") if within else module.name for module in dense]
    parallel = find_parallel(names)
    if parallel and len(dense) > 1:
        raise AmbiguousCheckpointError(
            f"not read as one chain: {parallel}; found {list_shapes(ordered)}. If it is one, {HOW_TO_SETTLE}"
        )
    copies = _copies(dense, names)
    if copies:
        raise AmbiguousCheckpointError(
            f"not read as one chain: {copies} look like copies of one network; found {list_shapes(ordered)}. If they "
            f"do follow each other, {HOW_TO_SETTLE}"
        )
    contradiction = find_contradiction(names)
    if contradiction is None:
        return []
    if len(_all_chains(dense, in_order_of_numbers=False)) > 1:
        raise AmbiguousCheckpointError(
            f"the order of the layers is unclear: {contradiction}, and the shapes allow another order "
            f"({list_shapes(ordered)}); {HOW_TO_SETTLE}"
        )
    return [f"{contradiction}; that order was kept, since only that one chains"]


def _copies(dense: Sequence[Module], names: Sequence[str]) -> str | None:
    """Return parts of several layers that differ only in one word of their names, or None."""
    split = [name.split(".") for name in names]
    common = len(os.path.commonprefix(split)) if len(split) > 1 else 0
    parts: dict[str, list[tuple[str, int, int]]] = {}
    for module, words in zip(dense, split, strict=True):
        word, rest = ".".join(words[: common + 1]), ".".join(words[common + 1 :])
        parts.setdefault(word, []).append((rest, module.n_in, module.n_out))
    found: dict[tuple[tuple[str, int, int], ...], str] = {}
    for word, layers in parts.items():
        other = found.setdefault(tuple(layers), word)
        # Numbered parts may follow each other, as blocks do, and a decoder follows its encoder.
        numbered = re.sub("[0-9]+", "", other) == re.sub("[0-9]+", "", word)
        if len(layers) > 1 and not numbered and not {"encoder", "decoder"} & {*re.split("[._]", f"{other}.{word}")}:
            return f"{printable(other)} and {printable(word)}"
    return None


def _without_stored_order(numbered: list[Module]) -> tuple[list[Module], list[str]]:
    if _numbers_decide_all(numbered):
        return chained(numbered), []
    if any(module.kind != "dense" for module in numbered):
        raise AmbiguousCheckpointError(
            f"this file keeps no order, and the names {list_names(numbered)} do not tell where batch norms or "
            f"PReLUs belong; {HOW_TO_SETTLE}"
        )
    orders = _all_chains(numbered)
    if not orders:
        return chained(numbered), []
    if len(orders) > 1:
        raise AmbiguousCheckpointError(
            f"this file keeps no order, and the shapes allow more than one ({list_shapes(numbered)}); {HOW_TO_SETTLE}"
        )
    return orders[0], [f"this file keeps no order; the shapes allow only {list_names(orders[0])}"]


def list_shapes(modules: Sequence[Module]) -> str:
    """Return names and weight shapes of the modules for messages, at most twelve."""

    def described(module: Module) -> str:
        first = next(iter(module.tensors))  # pruning puts a bias before its weight
        return f"{_shown(module)} {list(module.tensors['weight' if 'weight' in module.tensors else first].shape)}"

    return listed(modules, described)


def list_names(modules: Sequence[Module]) -> str:
    """Return names of the modules for messages, at most twelve."""
    return listed(modules, _shown)


def _shown(module: Module) -> str:
    return printable(module.name) or "weight"


def _chains(modules: Sequence[Module]) -> bool:
    dense = [module for module in modules if module.kind == "dense"]
    return all(before.n_out == after.n_in for before, after in zip(dense, dense[1:], strict=False))


def _chain_transposed(modules: Sequence[Module]) -> bool:
    """Return whether transposed weights make a chain and fit all biases, of which there is at least one."""
    dense = [module for module in modules if module.kind == "dense"]
    biased = [module for module in dense if "bias" in module.tensors]
    fit = all(tuple(module.tensors["bias"].shape) == (module.n_in,) for module in biased)
    chain = all(before.n_in == after.n_out for before, after in zip(dense, dense[1:], strict=False))
    return bool(biased) and fit and chain


def chained(modules: list[Module]) -> list[Module]:
    """Return the modules, or refuse them if the widths of dense layers do not fit together."""
    if not _chains(modules):
        if _chain_transposed(modules):
            raise ShapeMismatchError(
                f"the weights are stored as [inputs, outputs], as their biases show: {list_shapes(modules)}. Pass W.T "
                "in place of each weight W"
            )
        raise AmbiguousCheckpointError(
            "the layers do not form a chain: each must take as many values as the one before gives. Found (out x in): "
            f"{list_shapes(modules)}. If the network is a chain, {HOW_TO_SETTLE}"
        )
    return modules


def _tokens(name: str) -> list[str]:
    """Return words and numbers, alternating: even positions are words (maybe empty), odd ones numbers."""
    return re.split(r"([0-9]+)", name)


def _require_numbers_of_names(modules: Sequence[Module]) -> None:
    if len(modules) > MAX_MODULES:
        raise CheckpointError(f"{len(modules)} modules; at most {MAX_MODULES} are read")
    for module in modules:
        if max(len(_tokens(module.name)), module.name.count(".")) > MAX_TOKENS:
            raise CheckpointError(f"a name with too many parts or numbers: {module.name[:50]!r}, ..")


class _Beginnings:
    """Gives a number to each beginning of lists of tokens, so that they need not be stored, which would take quadratic
    space.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[int, str], int] = {}

    def of(self, tokens: Sequence[str]) -> Iterator[int]:
        """Yield the number of the beginning before each token, and of the whole list."""
        number = 0
        yield number
        for token in tokens:
            number = self.known.setdefault((number, token), len(self.known) + 1)
            yield number


def _numbers_ascend(modules: Sequence[Module]) -> bool:
    """Return whether, after equal beginnings, numbers never decrease."""
    beginnings = _Beginnings()
    reached: dict[int, int] = {}
    for module in modules:
        tokens = _tokens(module.name)
        for position, (token, beginning) in enumerate(zip(tokens, beginnings.of(tokens), strict=False)):
            if position % 2:
                number = _value(token)
                if number < reached.get(beginning, number):
                    return False
                reached[beginning] = number
    return True


def _sorted_by_number(modules: Sequence[Module]) -> list[Module]:
    """Sort by numbers; words keep the order in which they first appear after the same beginning."""
    beginnings = _Beginnings()

    def key(module: Module) -> list[int]:
        tokens = _tokens(module.name)
        after = list(beginnings.of(tokens))[1:]
        return [_value(token) if position % 2 else after[position] for position, token in enumerate(tokens)]

    return [module for _, module in sorted(((key(m), m) for m in modules), key=lambda pair: pair[0])]


def _value(digits: str) -> int:
    return int(digits[:18])  # no module has a larger number, and longer ones would only cost time


def _numbers_decide_all(modules: Sequence[Module]) -> bool:
    """Return whether every two names first differ in a number."""
    beginnings = _Beginnings()
    words: dict[int, str] = {}
    for module in modules:
        tokens = _tokens(module.name)
        for position, (token, beginning) in enumerate(zip(tokens, beginnings.of(tokens), strict=False)):
            if position % 2 == 0 and words.setdefault(beginning, token) != token:
                return False
    return True


def _all_chains(modules: list[Module], *, in_order_of_numbers: bool = True) -> list[list[Module]]:
    """Return orders in which widths fit and numbers ascend; stop at two, or if the search takes too long."""
    if len(modules) > MAX_LAYERS_TO_SEARCH:
        return [modules, modules]
    count = len(modules)
    pairs = combinations(range(count), 2) if in_order_of_numbers else ()
    before = {(i, j) for i, j in pairs if _numbers_decide_all([modules[i], modules[j]])}
    found: list[list[Module]] = []
    steps = 0

    def extend(chosen: list[int], left: list[int]) -> None:
        nonlocal steps
        steps += 1
        if not left:
            found.append([modules[i] for i in chosen])
        for candidate in left:
            if len(found) > 1 or steps > MAX_SEARCH_STEPS:
                return
            fits = not chosen or modules[chosen[-1]].n_out == modules[candidate].n_in
            if fits and not any((other, candidate) in before for other in left):
                extend([*chosen, candidate], [other for other in left if other != candidate])

    extend([], list(range(count)))
    return found if steps <= MAX_SEARCH_STEPS else [modules, modules]
