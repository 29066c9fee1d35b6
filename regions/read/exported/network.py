# SPDX-License-Identifier: MIT
"""Which network is an exported program of torch?

Its nodes are read one by one, as the operations of `regions.read.graphs.builder`, and every resulting shape is compared
with the shape that torch recorded. Batch axes that are not fixed have length 1, because a network is read for one
input. Nothing in the program is executed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import NetworkError, ShapeMismatchError, UnsupportedLayerError
from regions.files.opened import OpenedFile
from regions.files.pt2_archive import ExportedArchive, read_pt2
from regions.ground.text.printable import printable
from regions.read.exported.constants import LENGTHS, constants_of
from regions.read.exported.graph import FLOATS, Known, Program, read_program
from regions.read.exported.nodes import ExportedNode, Name, Word
from regions.read.exported.operators import OPERATORS, call_of, operation_of
from regions.read.graphs.nodes import dependent, is_attention, needed, needed_values, unsupported
from regions.read.graphs.operations import Tensor
from regions.read.graphs.piecewise import Piecewise, settled
from regions.read.graphs.rows import batch_of, for_one_row, read_by_rows, require_apart
from regions.read.graphs.site import Reading, Site
from regions.read.graphs.tails import Formula, increasing_formula, scaled_formula
from regions.read.graphs.walk import chosen_outputs, walk

__all__ = ["read_exported_tensors", "read_operations"]

_CUT = {"softmax", "log_softmax", "_softmax", "_log_softmax", "argmax"}
_INCREASING = {
    *("tanh", "sigmoid", "log_sigmoid", "softplus", "elu", "celu", "selu", "exp", "expm1", "erf", "special_erf"),
    *("special_expm1", "atan", "arctan", "sinh", "asinh", "arcsinh", "log", "log1p"),
}
_KEPT = {"view", "reshape", "flatten", "squeeze", "unsqueeze", "clone", "contiguous", "detach"}
_CAST = {"to"}
_NEGATIVE = {"neg", "negative"}
_MOVES = {
    *(_KEPT | LENGTHS.keys()),
    *(
        "cat",
        "concat",
        "concatenate",
        "hstack",
        "stack",
        "chunk",
        "split",
        "split_with_sizes",
        "tensor_split",
        "unbind",
    ),
    *("permute", "t", "numpy_T", "mT", "mH", "adjoint", "movedim", "moveaxis", "transpose", "swapaxes", "swapdims"),
    *("slice", "narrow", "select", "index_select", "index", "gather", "unflatten", "view_as", "reshape_as", "flip"),
    *("expand", "expand_as", "repeat", "alias", "roll"),
}
_SCALING = {
    **{"add": "add", "sub": "sub", "subtract": "sub", "mul": "mul", "multiply": "mul", "div": "div", "divide": "div"},
    **{"true_divide": "div", "rsub": "sub"},
}
_HANDLED = (
    "linear maps, convolutions, batch norms, means, sums, maxima, piecewise-linear activations, and what only moves "
    "numbers, as docs/model-files.md lists them; write this part of the model with those, or export what is before"
)


def read_exported_tensors(file: OpenedFile) -> dict[str, NDArray[Any]]:
    """Return the parameters, buffers and constants of an archive, by their names in the module."""
    return read_pt2(file).tensors


def read_operations(
    file: OpenedFile, outputs: Sequence[str] | None = None, known: Known | None = None
) -> tuple[Reading, Tensor]:
    """Return the operations of a program, and the tensor of its outputs, or of the named ones.

    ``known`` are constants that torch has computed already.

    Raises
    ------
    CheckpointError
        The file is damaged, or several networks could be meant.
    UnsupportedLayerError, ShapeMismatchError, NonFiniteError, NetworkError
        An operator that is not handled; the message names the node.
    """
    archive = read_pt2(file)
    known = Known() if known is None else known
    program = read_program(archive, file.name, known)
    inputs = [program.shapes[name] for name in program.given]

    def read(rows: int) -> tuple[Reading, Tensor]:
        return _read_operations(archive, program, Reading(file.name, file.size, rows=rows), outputs, known)

    return read_by_rows(batch_of(inputs), inputs, read)


def _read_operations(
    archive: ExportedArchive, program: Program, reading: Reading, outputs: Sequence[str] | None, known: Known
) -> tuple[Reading, Tensor]:
    reading.computed += known.rounded
    if archive.unused:
        more = f" and {len(archive.unused) - 8} more" if len(archive.unused) > 8 else ""
        shown = ", ".join(repr(printable(name)) for name in archive.unused[:8])
        reading.notes.append(f"left out, as neither the program nor a tensor names it: {shown}{more}")
    values: dict[str, Any] = dict(program.tensors)
    made = {name for node in program.nodes for name in node.outputs} | set(program.given) | set(known.values)
    wanted = chosen_outputs(program.outputs, outputs, made, reading.file)
    nodes = needed(program.nodes, wanted)
    read = {name for node in nodes for name in node.inputs} | set(wanted)
    given = [name for name in program.given if name in read] or program.given
    values.update(zip(given, reading.inputs([_described(name, program.shapes[name]) for name in given]), strict=True))

    wanted_values = needed_values(nodes, wanted, _read_for_shape)
    only_shapes = {name for node in nodes for name in node.outputs if name not in wanted_values}
    depends = dependent(nodes, given, _read_for_shape)
    # Name the cause, not its consequence: attention begins with a product that alone would be allowed.
    read_here = {*OPERATORS, *_CUT, *_INCREASING, *_KEPT, *_CAST}
    refused = [
        node
        for node in nodes
        if node.operator not in read_here
        and operation_of(node.operator) is None
        and not depends.isdisjoint(node.outputs)
        and not only_shapes.issuperset(node.outputs)
    ]
    if refused:
        raise _unsupported(next(filter(is_attention, refused), refused[0]))

    def visit(node: ExportedNode) -> None:
        at = Site(reading, node)
        try:
            made = _made(at, node, values, program.types)
        except (UnsupportedLayerError, NetworkError):
            if not only_shapes.issuperset(node.outputs):
                raise
            made = [_of_shape(at, name, program) for name in node.outputs]
        for name, value in zip(node.outputs, made, strict=True):
            _require_shape(node, name, value, program.shapes, reading.rows)
            values[name] = value

    def formula(node: ExportedNode, name: str, before: Formula, shape: tuple[int, ...]) -> Formula | None:
        arguments = dict(node.arguments)
        if node.operator in _INCREASING:
            numbers = {word: value for word, value in arguments.items() if not isinstance(value, Name)}
            return increasing_formula(node.operator.removeprefix("special_"), numbers, before)
        if node.operator in _CAST and before != Formula():
            kind = arguments.get("dtype")
            return before if kind is None or (isinstance(kind, Word) and kind.number in FLOATS) else None
        if node.operator in _NEGATIVE and before != Formula():
            return scaled_formula("mul", True, -1, before, shape)
        if node.operator not in _SCALING or before == Formula() or arguments.keys() != {"self", "other"}:
            return None
        first = arguments["self"] == Name(name)
        constant = arguments["other" if first else "self"]
        constant = values.get(constant.name) if isinstance(constant, Name) else constant
        if isinstance(constant, (Tensor, Piecewise)) or constant is None:
            return None
        return scaled_formula(_SCALING[node.operator], first != (node.operator == "rsub"), constant, before, shape)

    def operands(node: ExportedNode) -> tuple[str, list[str | None]] | None:
        word = "where" if node.operator == "where" else _SCALING.get(node.operator, "")
        wanted = ["condition", "self", "other"] if word == "where" else ["self", "other"]
        if word not in ("sub", "div", "where") or node.arguments.keys() != set(wanted):
            return None
        given = [node.arguments[each] for each in (reversed(wanted) if node.operator == "rsub" else wanted)]
        return word, [each.name if isinstance(each, Name) else None for each in given]

    def flows(name: str) -> bool:
        return isinstance(values[name], (Tensor, Piecewise))

    def tensor(name: str) -> Tensor | None:
        value = values[name]
        return settled(reading, value) if isinstance(value, (Tensor, Piecewise)) else None

    return reading, walk(
        reading,
        program.nodes,
        wanted,
        visit,
        flows,
        tensor,
        put=lambda node, value: values.update({node.outputs[0]: value}),
        moves=_MOVES,
        cut=_CUT,
        after_cut=_CUT | _KEPT | _CAST,
        kept=_KEPT,
        axis=lambda node: node.arguments.get("dim"),
        formula=formula,
        operands=operands,
        value=lambda name: values[name] if flows(name) else None,
        named=outputs is not None,
        only_shapes=only_shapes,
    )


def _read_for_shape(node: ExportedNode) -> set[str]:
    """Return the inputs of a node of which it reads only the shape."""
    argument = LENGTHS.get(node.operator)
    value = node.arguments.get(argument) if argument else None
    return {value.name} if isinstance(value, Name) and node.inputs.count(value.name) == 1 else set()


def _of_shape(at: Site, name: str, program: Program) -> NDArray[Any]:
    """Return zeros in place of a value of which only the shape is read."""
    if name not in program.shapes:
        raise _unsupported(at.node)  # type: ignore[arg-type]
    shape = [1 if length is None else length for length in program.shapes[name]]
    at.require_axes(shape)
    at.charge(8 * prod(shape))
    return np.zeros(shape)


def _described(name: str, lengths: Sequence[int | None]) -> tuple[str, str, Sequence[int | None]]:
    """Return an input's name, its description for messages, and its lengths."""
    shown = ", ".join("?" if length is None else str(length) for length in lengths)
    return name, f"input {printable(name)!r} [{shown}]", lengths


def _made(at: Site, node: ExportedNode, values: dict[str, Any], types: dict[str, int | None]) -> Sequence[Any]:
    call = call_of(at, node, values, types)
    if any(isinstance(values[name], (Tensor, Piecewise)) for name in node.inputs):
        operation = operation_of(node.operator)
        if operation is None:
            raise _unsupported(node)
        made = operation(for_one_row(call) if at.reading.rows > 1 else call)
        if at.reading.rows > 1:
            require_apart(call, made if isinstance(made, list) else [made])
    else:
        made = constants_of(call, operation_of(node.operator))
    call.require_all_asked()
    results = made if isinstance(made, list) else [made]
    if len(results) != len(node.outputs):
        raise at.refused(f"makes {len(results)} values, and the file has names for {len(node.outputs)}")
    return results


def _unsupported(node: ExportedNode) -> UnsupportedLayerError:
    return unsupported(node, _HANDLED, (_CUT | _INCREASING) - {"log", "log1p"})


def _require_shape(node: ExportedNode, name: str, value: Any, shapes: dict[str, list[int | None]], rows: int) -> None:
    if not isinstance(value, (Tensor, Piecewise)) or name not in shapes:
        return
    said = shapes[name]
    wanted = (rows * value.shape[0], *value.shape[1:]) if value.shape else ()
    if len(said) != len(wanted) or any(length not in (None, found) for length, found in zip(said, wanted, strict=True)):
        raise ShapeMismatchError(
            f"{node.label} gives shape {list(value.shape)}, and the file says {said}: it is damaged, or the model was "
            "exported for another batch"
        )
