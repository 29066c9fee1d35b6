# SPDX-License-Identifier: MIT
"""Which operators does an exported program of torch apply, to which values, and in which order?

The JSON of a program becomes plain checked data: nodes with their operator, named arguments and results; the tensors
that are parameters, buffers and constants; the inputs; the shapes that torch recorded for each value. Every name is
defined once, before it is read.
Source: ``torch/_export/serde/schema.py`` of torch 2.13, schema 8.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from regions.errors import AmbiguousCheckpointError, NotACheckpointError, UnsupportedLayerError
from regions.files.json_objects import list_of_objects, member_of, object_of
from regions.files.pt2_archive import ExportedArchive
from regions.ground.text.printable import printable
from regions.read.exported.in_place import CHANGES_ITSELF, require_nothing_changes_below, with_copies
from regions.read.exported.nodes import ExportedNode, Name, Word
from regions.read.graphs.nodes import require_names

__all__ = ["FLOATS", "Known", "Program", "read_program"]

_MAJOR = 8
# Strict JSON has no infinity, so torch writes these words in place of numbers.
_NOT_FINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
# Element types of real numbers, by torch's numbers.
FLOATS = (6, 7, 8, 13)


@dataclass(frozen=True)
class Program:
    """An exported program, checked.

    Attributes
    ----------
    nodes : list of ExportedNode
        Each after those whose values it reads.
    tensors : dict of str to array
        By their names in the nodes.
    given : list of str
        Names of the inputs.
    outputs : list of str
    shapes : dict of str to list of int or None
        The shape that torch recorded for each value; None for a length that is not fixed.
    types : dict of str to int or None
        The element type that torch recorded for each value, by its number in the schema.
    """

    nodes: list[ExportedNode]
    tensors: dict[str, NDArray[Any]]
    given: list[str]
    outputs: list[str]
    shapes: dict[str, list[int | None]] = field(default_factory=dict)
    types: dict[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Known:
    """Constants that torch has computed.

    Attributes
    ----------
    values : dict of str to array or number
        Constants that other nodes read, by their names in the nodes.
    done : set of str
        The names of all values that have been computed.
    rounded : list of str
        The nodes whose results may be rounded, for a note.
    """

    values: dict[str, Any] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    rounded: list[str] = field(default_factory=list)


_NOTHING = Known()


def read_program(archive: ExportedArchive, path: str, known: Known = _NOTHING) -> Program:
    """Check the program of an archive.

    Parameters
    ----------
    archive : ExportedArchive
    path : str
        The file's name for messages.
    known : Known
        Constants that have been computed. Their nodes are left out.

    Raises
    ------
    NotACheckpointError
        It is not valid in the format.
    UnsupportedLayerError
        It has parts that are not handled.
    AmbiguousCheckpointError
        It has no input.
    """
    version = object_of(archive.program, "schema_version", path)
    if version.get("major") != _MAJOR:
        raise UnsupportedLayerError(
            f"{path}: version {printable(version.get('major'))} of the schema of exported programs; known is {_MAJOR}, "
            "which torch 2.8 and newer write: export it again"
        )
    module = object_of(archive.program, "graph_module", path)
    graph = object_of(module, "graph", path)
    signature = object_of(module, "signature", path)
    tensors, given = _inputs(signature, archive.tensors, path)
    kinds = object_of(graph, "tensor_values", path)
    shapes = {name: _lengths(kind, f"{path}: value {printable(name)!r}") for name, kind in kinds.items()}
    for name in given:
        if name not in shapes:
            raise NotACheckpointError(f"{path}: input {printable(name)!r} has no shape")
        if kinds[name].get("dtype") not in FLOATS:
            raise UnsupportedLayerError(
                f"input {printable(name)!r} is not of real numbers; export the model with an input of floats"
            )
    nodes = [_node(node, number, kinds, path) for number, node in enumerate(list_of_objects(graph, "nodes", path))]
    outputs = _outputs(graph, signature, path)
    require_names(nodes, {*tensors, *given}, outputs, path)
    nodes, outputs = with_copies(nodes, outputs, known.done)
    require_nothing_changes_below(nodes, outputs, known.done, tensors.keys())
    nodes = [each for node in nodes if known.done.isdisjoint(node.outputs) for each in _apart(node, shapes)]
    tensors.update(known.values)
    types = {name: _type(kind) for name, kind in kinds.items()}
    return Program(nodes, tensors, given, outputs, shapes, types)


def _apart(node: ExportedNode, shapes: dict[str, list[int | None]]) -> list[ExportedNode]:
    """Return a node for each result of ``broadcast_tensors`` that repeats nothing, and other nodes as they are.

    Distributions of torch broadcast a mean with a deviation. The mean does not depend on the deviation, which may
    not be piecewise linear.
    """
    given = node.arguments.get("tensors")
    if node.operator != "broadcast_tensors" or not isinstance(given, list) or len(given) != len(node.outputs):
        return [node]
    pairs = list(zip(given, node.outputs, node.types, strict=True))
    if not all(
        isinstance(one, Name) and one.name in shapes and shapes[one.name] == shapes.get(to) for one, to, _ in pairs
    ):
        return [node]
    alone = replace(node, operator="alias", several=False)
    return [
        replace(alone, inputs=[one.name], outputs=[to], arguments={"self": one}, types=[kind])
        for one, to, kind in pairs
    ]


def _inputs(
    signature: dict[str, Any], stored: dict[str, NDArray[Any]], path: str
) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Return the stored tensors by their names in the nodes, and the names of the inputs."""
    tensors: dict[str, NDArray[Any]] = {}
    given: list[str] = []
    keys = {"parameter": "parameter_name", "buffer": "buffer_name", "tensor_constant": "tensor_constant_name"}
    for spec in list_of_objects(signature, "input_specs", path):
        ((kind, content),) = spec.items() if len(spec) == 1 else ((None, None),)
        if kind == "user_input":
            argument = object_of(content, "arg", path)
            if list(argument) != ["as_tensor"]:
                raise UnsupportedLayerError(
                    f"{path}: the model takes {printable(next(iter(argument), ''))}, which is not a tensor; export it "
                    "for its tensor alone"
                )
            given.append(_text(argument["as_tensor"], "name", path))
        elif kind in keys:
            name, key = _text(object_of(content, "arg", path), "name", path), _text(content, keys[kind], path)
            if key not in stored:
                raise NotACheckpointError(f"{path}: {kind} {printable(key)!r} is not stored")
            if name in tensors:
                raise NotACheckpointError(f"{path}: two inputs are called {printable(name)!r}")
            tensors[name] = stored[key]
        else:
            raise UnsupportedLayerError(f"{path}: an input of kind {printable(kind)} is not handled")
    if not given:
        raise AmbiguousCheckpointError(f"{path}: the model does not take a tensor, so it is not a network")
    if len({*given, *tensors}) < len(given) + len(tensors):
        raise NotACheckpointError(f"{path}: two inputs have one name, of {', '.join(map(printable, given[:8]))}")
    return tensors, given


def _outputs(graph: dict[str, Any], signature: dict[str, Any], path: str) -> list[str]:
    for spec in list_of_objects(signature, "output_specs", path):
        if list(spec) != ["user_output"]:
            kind, content = next(iter(spec.items()), ("", None))
            target = content if isinstance(content, dict) else {}
            changed = target.get("buffer_name", target.get("parameter_name", kind))
            raise UnsupportedLayerError(
                f"{path}: each call of the model changes {printable(changed)!r}, {CHANGES_ITSELF}"
            )
    names = []
    for output in list_of_objects(graph, "outputs", path):
        if list(output) == ["as_none"]:
            continue
        if list(output) != ["as_tensor"]:
            raise UnsupportedLayerError(f"{path}: an output is not a tensor; export the model with tensors as outputs")
        names.append(_text(output["as_tensor"], "name", path))
    return names


def _text(content: Any, key: str, what: str) -> str:
    found = member_of(content, key, what)
    if not isinstance(found, str) or not found:
        raise NotACheckpointError(f"{what}: {key!r} is not a text")
    return found


def _lengths(kind: Any, what: str) -> list[int | None]:
    """Return a shape; None for lengths that are expressions."""
    lengths: list[int | None] = []
    for length in list_of_objects(kind, "sizes", what):
        number = length.get("as_int")
        if list(length) == ["as_int"] and type(number) is int and 0 <= number < 2**48:
            lengths.append(number)
        elif list(length) == ["as_expr"]:
            lengths.append(None)
        else:
            raise NotACheckpointError(f"{what} has an impossible shape")
    return lengths


def _node(node: dict[str, Any], number: int, kinds: dict[str, Any], path: str) -> ExportedNode:
    target = _text(node, "target", path)
    results = list_of_objects(node, "outputs", path)
    names, several = _results(results, path)
    own = node.get("name")
    name = printable(own if isinstance(own, str) and own else next(iter(names), "") or f"number {number}")
    match = re.fullmatch(r"torch\.ops\.aten\.(\w+?)(_?)\.(\w+)", target)
    special = bool(match and match[1].startswith("__"))  # such as __and__, which is not in place
    word = (f"{match[1]}{match[2]}" if special else match[1]) if match else target
    in_place = bool(match and match[2]) and not special
    shown = printable(target.removeprefix("torch.ops."))
    label = f"node {name!r} ({shown})"
    arguments: dict[str, Any] = {}
    for given in list_of_objects(node, "inputs", label):
        key = member_of(given, "name", label)
        if not isinstance(key, str) or key in arguments:
            raise NotACheckpointError(f"{label} has two arguments {printable(key)!r}, or one without a name")
        arguments[key or f"argument {len(arguments)}"] = _argument(object_of(given, "arg", label), label)
    inputs = [part.name for part in _flat(arguments.values()) if isinstance(part, Name)]
    types = [_type(kinds.get(output)) for output in names]
    last = _has_channels_last(kinds.get(inputs[0]) if inputs else None)
    return ExportedNode(name, printable(word), inputs, names, shown, arguments, types, in_place, several, last)


def _type(kind: Any) -> int | None:
    number = kind.get("dtype") if isinstance(kind, dict) else None
    return number if type(number) is int else None


def _has_channels_last(kind: Any) -> bool:
    """Return whether a tensor [batch, channels, ..] is stored without gaps as [batch, .., channels]."""
    sizes, strides = (kind.get(name) if isinstance(kind, dict) else None for name in ("sizes", "strides"))
    if not (isinstance(sizes, list) and isinstance(strides, list) and len(sizes) == len(strides) > 2):
        return False
    wanted = 1
    for axis in (1, *range(len(sizes) - 1, 1, -1)):
        size, stride = (each.get("as_int") if isinstance(each, dict) else None for each in (sizes[axis], strides[axis]))
        if type(size) is not int or (size != 1 and stride != wanted):
            return False
        wanted *= size
    return True


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        yield from value if isinstance(value, list) else [value]


def _results(results: Sequence[dict[str, Any]], path: str) -> tuple[list[str], bool]:
    names: list[str] = []
    several = False
    for result in results:
        ((kind, content),) = result.items() if len(result) == 1 else ((None, None),)
        if kind == "as_tensor":
            names.append(_text(content, "name", path))
        elif kind == "as_tensors" and isinstance(content, list):
            several = True
            names += [_text(one, "name", path) for one in content]
        elif kind in ("as_sym_int", "as_sym_bool", "as_sym_float") and isinstance(content, dict):
            if list(content) == ["as_name"]:
                names.append(_text(content, "as_name", path))
        elif kind != "as_none":
            raise UnsupportedLayerError(f"{path}: a node gives {printable(kind)}, which is not handled")
    return names, several or len(names) > 1


def _number(item: Any) -> Any:
    """Return the number that a word stands for, and anything else as it is."""
    return _NOT_FINITE.get(item, item) if isinstance(item, str) else item


def _argument(argument: dict[str, Any], label: str) -> Any:
    """Return the value of an argument; a `Name` for the value of another node."""
    ((kind, content),) = argument.items() if len(argument) == 1 else ((None, None),)
    plain = {"as_int": (int,), "as_bool": (bool,), "as_float": (float, int), "as_string": (str,)}
    if kind == "as_none":
        return None
    if kind == "as_float":
        content = _number(content)
    if isinstance(kind, str) and kind in plain and type(content) in plain[kind]:
        return content
    if kind in ("as_ints", "as_floats", "as_bools") and isinstance(kind, str) and isinstance(content, list):
        if kind == "as_floats":
            content = [_number(item) for item in content]
        if all(type(item) in plain[kind[:-1]] for item in content):
            return list(content)
    elif kind == "as_tensor":
        return Name(_text(content, "name", label))
    elif kind in ("as_tensors", "as_optional_tensors") and isinstance(content, list):
        return [_optional(item, label) for item in content]
    elif kind == "as_optional_tensor" and isinstance(content, dict):
        return _optional(content, label)
    elif kind in ("as_sym_int", "as_sym_float", "as_sym_bool") and isinstance(content, dict):
        return _symbol(content, label)
    elif kind == "as_sym_ints" and isinstance(content, list):
        return [_symbol(item, label) for item in content]
    elif isinstance(kind, str) and re.fullmatch(r"as_(scalar_type|memory_format|layout|device)s?", kind):
        return Word(kind, content)
    elif kind in ("as_graph", "as_custom_obj", "as_operator", "as_complex", "as_strings", "as_string_to_argument"):
        return Word(kind)
    raise NotACheckpointError(f"{label} has an argument that is not in the form of the schema")


def _optional(item: Any, label: str) -> Name | None:
    inner = item.get("as_tensor", item) if isinstance(item, dict) else item
    return None if isinstance(item, dict) and list(item) == ["as_none"] else Name(_text(inner, "name", label))


def _symbol(item: Any, label: str) -> Any:
    if isinstance(item, dict) and list(item) == ["as_name"]:
        return Name(_text(item, "as_name", label))
    number = item.get("as_int") if isinstance(item, dict) and len(item) == 1 else None
    if type(number) is not int:
        raise NotACheckpointError(f"{label} has an argument that is not in the form of the schema")
    return number
