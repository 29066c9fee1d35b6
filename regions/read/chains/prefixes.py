# SPDX-License-Identifier: MIT
"""Which of the tensors in a file are read?

A file holds one mapping of names to tensors, or several: a policy and its target, a model and its moving average, an
actor and a critic under two beginnings of names. Without a prefix there must be one mapping, and all of it is read. A
prefix is the beginning of names, in whole parts: ``actor`` stands for ``actor.0.weight`` and not for
``actor_old.0.weight``. It may begin in the mapping that holds the tensors or in an outer mapping, so ``actor``,
``state_dict.actor`` and ``state_dict`` may all fit one file. A beginning that all names share, such as ``_orig_mod`` or
``module``, may be left out. Names outside the chosen part are not judged. Several prefixes are read one after the
other, which also says in which order layers are called. `working_parts` finds the prefixes that a user can choose: the
largest part of each branch of names that makes a chain.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from regions.errors import AmbiguousCheckpointError, CheckpointError, NotACheckpointError, UnsupportedLayerError
from regions.files.restricted_pickle import Opaque, plain_key
from regions.files.unread_values import require_tensors_read
from regions.ground.arithmetic.arguments import shown
from regions.ground.text.printable import listed, printable
from regions.read.chains.stated_activation import is_statement

__all__ = [
    "Part",
    "Prefix",
    "arrays_beside",
    "as_prefixes",
    "find_mappings",
    "require_parts_read",
    "select",
    "working_parts",
]

MAX_NESTING = 6
MAX_LIST = 100  # ensembles are shorter, and histories of trainings longer
MAX_NAME_LENGTH = 500
MAX_BESIDE = 50
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
    path : tuple of str or int
        The keys that lead to the mapping.
    others : dict of str to object
        The entries of the mapping that are not tensors.
    """

    prefix: str
    within: str
    tensors: dict[str, Any]
    path: tuple[str | int, ...] = ()
    others: dict[str, Any] = field(default_factory=dict)


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

    Nested mappings are searched, and lists of mappings, whose indices become keys. Optimizers are skipped: their state
    is about the training. A file that holds a list of arrays is one mapping, with the names that ``numpy.savez`` gives.

    Raises
    ------
    NotACheckpointError
        A mapping of names to tensors is missing.
    CheckpointError
        A name is too long or not printable, because messages print names.
    """
    found: list[Part] = []
    seen: set[int] = set()  # a pickle may refer to one mapping many times
    packed: list[str] = []

    def visit(value: Any, path: tuple[str | int, ...]) -> None:
        items = _items(value)
        if id(value) in seen or not items or is_optimizer(value):
            return
        seen.add(id(value))
        if isinstance(value, Mapping):
            packed.extend(key for key in items if isinstance(key, str) and "_packed_params" in key)
            add(items, path)
        if len(path) < MAX_NESTING:
            for key, one in items.items():
                if isinstance(one, (Mapping, list, tuple)):
                    visit(one, (*path, key))

    def add(items: Mapping[Any, Any], path: tuple[str | int, ...]) -> None:
        named = {key: one for key, one in items.items() if isinstance(key, str)}
        tensors = {key: one for key, one in named.items() if _is_tensor(one) and not _is_word(key, one)}
        if any(len(one.shape) >= 2 for one in tensors.values()):
            for name in (*map(str, path), *tensors):
                _require_name(name)
            others = {key: one for key, one in named.items() if key not in tensors}
            found.append(Part(".".join(map(str, path)), "", tensors, path, others))

    if isinstance(content, (list, tuple)) and all(map(_is_tensor, content)):
        content = {f"arr_{i}": array for i, array in enumerate(content)}
    visit(content, ())
    if not found and packed:
        raise NotACheckpointError(
            f"{source}: holds quantized layers, and {printable(packed[0])} is not a plain tensor. Load the float model "
            "that they were made of"
        )
    if not found:
        for name, value in _items(content).items():
            if isinstance(value, Opaque) and str(name).rpartition(".")[2] == "weight":
                raise UnsupportedLayerError(
                    f"{source}: {printable(name)!r} is not a plain tensor but a {_kind_of(value)}, which is not "
                    "opened. Load the float model that it was made of, or save plain tensors: value.dequantize() if it "
                    "is quantized"
                )
        keys = list(content)[:8] if isinstance(content, Mapping) else []
        names = [repr(key[:50]) for key in keys if isinstance(key, str)]
        what = f"mapping with {', '.join(names)}" if names else type(content).__name__
        raise NotACheckpointError(
            f"{source}: holds no weights under their names, but a {what}; save model.state_dict(), "
            "or arrays named W0, b0, W1, b1, .."
        )
    return found


def is_optimizer(value: Any) -> bool:
    """Return whether this is the state dict of an optimizer of torch; no network depends on it."""
    return isinstance(value, Mapping) and "param_groups" in value and "state" in value


def arrays_beside(content: Any, mappings: Sequence[Part]) -> list[str]:
    """Return names of what is in no mapping and may belong to the model: means and scales, whole modules, other layers.

    These are floating-point arrays with axes, objects that hold such arrays, and tensors that were not built. A network
    may depend on each of them. Arrays of integers and single numbers are counters and random states.
    """
    read = {id(value) for mapping in mappings for value in mapping.tensors.values()}
    beside: dict[str, None] = {}
    # For each value: its name, and the object or long list around it, which is named in place of its parts.
    left: list[tuple[str, Any, tuple[str, Any] | None]] = [("", content, None)]
    seen: set[int] = set()
    while left and len(beside) < MAX_BESIDE:
        name, value, around = left.pop()
        if id(value) in seen or id(value) in read or is_optimizer(value):
            continue
        seen.add(id(value))
        if isinstance(value, Opaque):
            around = around or (name, value)
            inside = [value.state, *value.inside] if value.state else value.inside
            left += [(name, one, around) for one in inside if _may_hold_arrays(one)]
        elif isinstance(value, (list, tuple)) and len(value) > MAX_LIST:
            around = around or (name, value)
            left += [(name, one, around) for one in value if _may_hold_arrays(one)]
        else:
            items = [(key, one) for key, one in _items(value).items() if _may_hold_arrays(one)]
            left += [(_joined(name, str(key)), one, around) for key, one in reversed(items)]
        is_array = _is_tensor(value) and len(value.shape) > 0 and "float" in str(value.dtype)
        if is_array or (isinstance(value, Opaque) and value.has_data):
            beside[_shown(*(around or (name, value)))] = None
    return list(beside)


def _kind_of(value: Opaque) -> str:
    """Return the class of an object that was not built, which torch's functions may have made."""
    inside: list[Any] = [value]
    for one in inside:
        if isinstance(one, Opaque) and not one.name.startswith(("torch.", "collections.")):
            return printable(one.name)
        if len(inside) < MAX_LIST:  # objects may hold one another
            inside += one.inside if isinstance(one, Opaque) else one if isinstance(one, (list, tuple)) else []
    return printable(value.name)


def _shown(name: str, value: Any) -> str:
    if isinstance(value, Opaque):
        return f"{printable(name)} ({printable(value.name)})"
    return f"{printable(name)} (a list of {len(value)})" if isinstance(value, (list, tuple)) else printable(name)


def _may_hold_arrays(value: Any) -> bool:
    return not isinstance(value, (str, int, float, bytes, type(None)))


def _items(value: Any) -> dict[Any, Any]:
    """Return the entries of a mapping under words and numbers, or of a list that is not long.

    Other keys become words, so that no entry is skipped.
    """
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value)) if len(value) <= MAX_LIST else {}
    if not isinstance(value, Mapping):
        return {}
    if all(type(key) is str for key in value):
        return dict(value)
    return {plain_key(key, i): one for i, (key, one) in enumerate(value.items())}


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


def require_parts_read(parts: Sequence[Part], source: str) -> None:
    """Refuse parts in which another value than a tensor has the name of a parameter.

    Raises
    ------
    UnsafePickleError, UnsupportedLayerError
    """
    for part in parts:
        within = f"{part.within}." if part.within else ""
        others = {name: value for name, value in part.others.items() if name.startswith(within)}
        require_tensors_read(others | part.tensors, source)


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
        yield replace(part, prefix=_joined(part.prefix, word), within=_joined(part.within, word), tensors=tensors)


def _one_part(mappings: Sequence[Part], prefix: str, source: str) -> Part:
    fitting = [part for mapping in mappings if (part := _in_mapping(mapping, prefix)) is not None]
    if not fitting:
        names = [_joined(mapping.prefix, name) for mapping in mappings for name in mapping.tensors]
        raise CheckpointError(
            f"{source}: no name of several parts begins with the prefix {shown(prefix)}; 'actor', say, stands for "
            f"actor.0.weight and not for actor_old.0.weight; there are {listed(names, most=6)}"
        )
    # The keys that lead to a mapping name it, even if another mapping has such names, too.
    fitting = [part for part in fitting if part.prefix == prefix and not part.within] or fitting
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
    rest = prefix.removeprefix(f"{mapping.prefix}.") if mapping.prefix else prefix
    common = _common_beginning(mapping.tensors)
    for within in (rest, prefix, _joined(common, rest), _joined(common, prefix)):
        tensors = {name: value for name, value in mapping.tensors.items() if within and name.startswith(f"{within}.")}
        if tensors:
            return replace(mapping, prefix=_joined(mapping.prefix, within), within=within, tensors=tensors)
    return None


def _common_beginning(tensors: Mapping[str, Any]) -> str:
    """Return the words with which all names begin, such as ``module._orig_mod``; counters without a dot do not count.

    Compiled, parallel and Lightning modules put such words before the names of the module that they wrap.
    """
    split = [name.split(".")[:-1] for name, value in tensors.items() if "." in name or len(value.shape)]
    return ".".join(os.path.commonprefix(split)) if split else ""


def _joined(before: str, after: str) -> str:
    return f"{before}.{after}" if before and after else before or after


def _require_name(name: str) -> None:
    if len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise CheckpointError(f"a tensor's name is too long or not printable: {name[:50]!r}, {len(name)} characters")


def _is_word(key: str, value: Any) -> bool:
    """Return whether an array is a setting that names an activation."""
    return getattr(value.dtype, "kind", "") == "U" and is_statement(key, value)


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")
