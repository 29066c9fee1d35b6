# SPDX-License-Identifier: MIT
"""Which of the tensors in a file are read?

A file holds one mapping of names to tensors, or several: a policy and its target, a model and its moving average, an
actor and a critic under two beginnings of names. Without a prefix there must be one mapping, and all of it is read. A
prefix is the beginning of names, in whole parts: ``actor`` stands for ``actor.0.weight`` and not for
``actor_old.0.weight``. It may begin in the mapping that holds the tensors or in an outer mapping, so ``actor``,
``state_dict.actor`` and ``state_dict`` may all fit one file. Several prefixes are read one after the other, which also
says in which order layers are called. `working_parts` finds the prefixes that a user can choose: the largest part of
each branch of names that makes a chain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regions.arithmetic.arguments import shown
from regions.errors import AmbiguousCheckpointError, CheckpointError, NotACheckpointError
from regions.files.unread_values import require_tensors_read
from regions.text.printable import listed, printable

__all__ = ["Part", "Prefix", "arrays_beside", "as_prefixes", "find_mappings", "select", "working_parts"]

MAX_NESTING = 4
MAX_LIST = 100  # ensembles are shorter, and histories of trainings longer
MAX_NAME_LENGTH = 500
# Limits of the search for prefixes: the depth of names, the number of tensors (counted each time they are examined),
# and the number of listed prefixes.
MAX_DEPTH, MAX_LOOKS, MAX_LISTED = 8, 5000, 12

Prefix = str | Sequence[str] | None


@dataclass(frozen=True)
class Part:
    """Some tensors of one mapping.

    Attributes
    ----------
    prefix : str
        The keys that lead to the mapping, followed by the beginning of names in it.
    within : str
        The beginning of names in the mapping.
    tensors : dict of str to array
        By their full names in the mapping.
    """

    prefix: str
    within: str
    tensors: dict[str, Any]


def as_prefixes(prefix: Any) -> list[str] | None:
    """Check the prefixes that a caller named.

    Raises
    ------
    TypeError, ValueError
        Not a word or a sequence of words; an empty sequence, or a word twice.
    """
    if prefix is None:
        return None
    prefixes = [prefix] if isinstance(prefix, str) else prefix
    if not isinstance(prefixes, (list, tuple)) or not all(isinstance(one, str) for one in prefixes):
        what = "the beginning of names, such as 'actor', or a list of these"
        raise TypeError(f"prefix must be {what}; got {shown(prefix)}")
    if not prefixes or len(set(prefixes)) < len(prefixes):
        raise ValueError(f"prefix must name at least one part, and none twice; got {shown(prefix)}")
    return [one.removesuffix(".") for one in prefixes]


def find_mappings(content: Any, source: str) -> list[Part]:
    """Return each mapping in ``content`` that has weight matrices, as a whole.

    Nested mappings under string keys are searched, and lists of mappings, whose indices become keys. States of
    optimizers have integer keys and are skipped.

    Raises
    ------
    NotACheckpointError
        A mapping of names to tensors is missing.
    CheckpointError
        A name is too long or not printable, because messages print names. Or a parameter is not a tensor.
    """
    found: list[Part] = []
    seen: set[int] = set()  # a pickle may refer to one mapping many times
    packed: list[str] = []

    def visit(mapping: Mapping[Any, Any], path: tuple[str, ...]) -> None:
        seen.add(id(mapping))
        packed.extend(key for key in mapping if isinstance(key, str) and "_packed_params" in key)
        tensors = {key: value for key, value in mapping.items() if isinstance(key, str) and _is_tensor(value)}
        if any(len(value.shape) >= 2 for value in tensors.values()):
            for key in (*path, *tensors):
                _require_name(key)
            require_tensors_read(mapping, source)
            found.append(Part(".".join(path), "", tensors))
        for key, value in mapping.items():
            if not isinstance(key, str) or len(path) >= MAX_NESTING:
                continue
            several = isinstance(value, (list, tuple)) and len(value) <= MAX_LIST
            items = {f"{key}.{i}": one for i, one in enumerate(value)} if several else {key: value}
            for name, one in items.items():
                if isinstance(one, Mapping) and id(one) not in seen:
                    visit(one, (*path, name))

    if isinstance(content, Mapping):
        visit(content, ())
    if not found and packed:
        raise NotACheckpointError(
            f"{source}: holds quantized layers, and {printable(packed[0])} is not a plain tensor. Load the float model "
            "that they were made of"
        )
    if not found:
        keys = list(content)[:8] if isinstance(content, Mapping) else []
        names = [repr(key[:50]) for key in keys if isinstance(key, str)]
        what = f"mapping with {', '.join(names)}" if names else type(content).__name__
        raise NotACheckpointError(
            f"{source}: holds no weights under their names, but a {what}; save model.state_dict(), "
            "or arrays named W0, b0, W1, b1, .."
        )
    return found


def arrays_beside(content: Any, mappings: Sequence[Part]) -> list[str]:
    """Return names of arrays in outer mappings that may belong to the model, such as means and scales."""
    read = {id(value) for mapping in mappings for value in mapping.tensors.values()}
    beside: list[str] = []

    def visit(mapping: Mapping[Any, Any], path: str) -> None:
        for key, value in mapping.items():
            if not isinstance(key, str):
                continue
            name = _joined(path, key)
            if isinstance(value, Mapping) and any(one.prefix.startswith(f"{name}.") for one in mappings):
                visit(value, name)
            elif _is_tensor(value) and len(value.shape) > 0 and "float" in str(value.dtype) and id(value) not in read:
                beside.append(printable(name))

    visit(content, "")
    return beside


def select(mappings: Sequence[Part], prefixes: Sequence[str] | None, source: str) -> list[Part]:
    """Return the selected parts, in the order of the prefixes.

    Raises
    ------
    AmbiguousCheckpointError
        Several mappings and no prefix, or a prefix that fits several of them.
    CheckpointError
        A prefix that fits no tensor.
    """
    if prefixes is None:
        if len(mappings) > 1:
            places = ", ".join(repr(one.prefix) if one.prefix else "the top level" for one in mappings[:8])
            raise AmbiguousCheckpointError(f"{source}: several mappings of tensors, at {places}")
        return list(mappings)
    return [_one_part(mappings, prefix, source) for prefix in prefixes]


def working_parts(mappings: Sequence[Part], sizes_of: Callable[[Part], str | None]) -> list[str]:
    """List the prefixes that would work, each with the sizes of its network: ``"actor (4-64-64-2)"``.

    Parameters
    ----------
    mappings : sequence of Part
    sizes_of : callable
        Returns the sizes of the network in a part, or None if it is not a network.
    """
    listed: list[str] = []
    looks = 0

    def visit(part: Part, depth: int) -> None:
        nonlocal looks
        looks += len(part.tensors)
        if looks > MAX_LOOKS or len(listed) > MAX_LISTED or depth > MAX_DEPTH:
            return
        sizes = sizes_of(part) if part.prefix else None
        if sizes is not None:
            listed.append(f"{printable(part.prefix)} ({sizes})")
            return
        for child in _children(part):
            visit(child, depth + 1)

    for mapping in mappings:
        visit(mapping, 0)
    return [*listed[:MAX_LISTED], ".."] if len(listed) > MAX_LISTED else listed


def _children(part: Part) -> Iterator[Part]:
    """Yield the parts of a part, one for each next word of the names that is not a parameter itself."""
    start = len(part.within) + 1 if part.within else 0
    groups: dict[str, dict[str, Any]] = {}
    for name, value in part.tensors.items():
        word, dot, _ = name[start:].partition(".")
        if dot:
            groups.setdefault(word, {})[name] = value
    for word, tensors in groups.items():
        yield Part(_joined(part.prefix, word), _joined(part.within, word), tensors)


def _one_part(mappings: Sequence[Part], prefix: str, source: str) -> Part:
    fitting = [part for mapping in mappings if (part := _in_mapping(mapping, prefix)) is not None]
    if not fitting:
        names = [_joined(mapping.prefix, name) for mapping in mappings for name in mapping.tensors]
        raise CheckpointError(
            f"{source}: no name of several parts begins with the prefix {shown(prefix)}; 'actor', say, stands for "
            f"actor.0.weight and not for actor_old.0.weight; there are {listed(names, most=6)}"
        )
    if len(fitting) > 1:
        places = ", ".join(repr(part.prefix) for part in fitting[:8])
        raise AmbiguousCheckpointError(
            f"{source}: the prefix {prefix!r} fits in several mappings; write one of {places}"
        )
    return fitting[0]


def _in_mapping(mapping: Part, prefix: str) -> Part | None:
    """Return the part with a prefix in one mapping. The prefix may contain the keys that lead to the mapping."""
    if mapping.prefix == prefix or mapping.prefix.startswith(f"{prefix}.") and prefix:
        return mapping
    for within in (prefix.removeprefix(f"{mapping.prefix}.") if mapping.prefix else prefix, prefix):
        tensors = {name: value for name, value in mapping.tensors.items() if within and name.startswith(f"{within}.")}
        if tensors:
            return Part(_joined(mapping.prefix, within), within, tensors)
    return None


def _joined(before: str, after: str) -> str:
    return f"{before}.{after}" if before and after else before or after


def _require_name(name: str) -> None:
    if len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise CheckpointError(f"a tensor's name is too long or not printable: {name[:50]!r}, {len(name)} characters")


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")
