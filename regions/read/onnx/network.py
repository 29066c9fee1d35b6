# SPDX-License-Identifier: MIT
"""Which network is an ONNX graph?

The nodes that the outputs depend on are read in order, as operations of `GraphBuilder`. A value either is a
constant or depends on the input. An operator that is not piecewise linear raises an error that names its node, except
softmax and similar functions at the very end. Everything that is not understood is refused, so that the network is the
function of the graph. Batch axes that are not fixed have length 1, since a network is read for one input.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import AmbiguousCheckpointError, NetworkError, UnsupportedLayerError
from regions.files.opened import OpenedFile
from regions.ground.text.printable import printable
from regions.read.graphs.call import Unread
from regions.read.graphs.nodes import needed, needed_values, unsupported
from regions.read.graphs.operations import Tensor
from regions.read.graphs.piecewise import Piecewise, settled
from regions.read.graphs.rows import batch_of, read_by_rows
from regions.read.graphs.site import Reading, Site
from regions.read.graphs.tails import Formula, increasing_formula, scaled_formula
from regions.read.graphs.walk import chosen_outputs, walk
from regions.read.onnx.calls import results_of
from regions.read.onnx.constants import ELEMENTWISE, constants_of, newest_version
from regions.read.onnx.graph import Graph, Node, read_graph
from regions.read.onnx.operators import OPERATORS
from regions.read.onnx.tensors import FLOATS, Constant, element_name
from regions.read.onnx.values import Flow, Value, shape_of

__all__ = ["read_onnx_tensors", "read_operations"]

# Operators that are left out at the end, and operators that may follow them: choosing, naming and reshaping of results.
_CUT = {"Softmax", "LogSoftmax", "ArgMax"}
_INCREASING = {
    *("Tanh", "Sigmoid", "Softplus", "Softsign", "Elu", "Celu", "Selu", "Exp", "Erf", "Atan", "Sinh", "Asinh", "Log"),
}
_KEPT = {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"}
_SCALING = {"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div"}
_AFTER_CUT = {
    *(*_CUT, *_KEPT, "Cast", "Transpose", "Concat", "Sub"),
    *("ai.onnx.ml.ZipMap", "ai.onnx.ml.ArrayFeatureExtractor", "ai.onnx.ml.LabelEncoder"),
}
_SHAPES = {"Shape": 25, "Size": 25}
_MOVES = {
    *(_KEPT | _SHAPES.keys()),
    *("Concat", "Split", "Transpose", "Slice", "Gather", "GatherElements", "GatherND", "Expand", "Tile"),
}


def read_onnx_tensors(file: OpenedFile) -> dict[str, NDArray[Any]]:
    """Return the tensors that an ONNX file stores beside its graph, by name; bfloat16 as float32.

    Raises
    ------
    MissingDependencyError, CheckpointError, UnsupportedLayerError
        As for `read_operations`, but operators are not examined.
    """
    graph = read_graph(file)
    return {name: graph.constant(name).array for name in graph.tensors}


def read_operations(file: OpenedFile, outputs: Sequence[str] | None = None) -> tuple[Reading, Tensor]:
    """Return the operations of a graph, and the tensor of its outputs, or of the named ones.

    Raises
    ------
    MissingDependencyError
        onnx is not installed.
    CheckpointError
        The file is damaged, or several networks could be meant.
    UnsupportedLayerError, ShapeMismatchError, NonFiniteError, NetworkError
        An unsupported operator; the message names the node.
    """
    graph = read_graph(file)
    inputs = [value.shape for value in graph.inputs if value.shape is not None]
    return read_by_rows(batch_of(inputs), inputs, lambda rows: _read_operations(graph, file, outputs, rows))


def _read_operations(
    graph: Graph, file: OpenedFile, outputs: Sequence[str] | None, rows: int
) -> tuple[Reading, Tensor]:
    """Return the operations of a graph; of ``rows`` rows of its batch, one is read."""
    made = {name for node in graph.nodes for name in node.outputs if name} | {value.name for value in graph.inputs}
    wanted = chosen_outputs(graph.outputs, outputs, made, file.name)
    nodes = _Values(graph, wanted, Reading(file.name, graph.size, rows=rows))
    result = walk(
        nodes.reading,
        graph.nodes,
        wanted,
        nodes.visit,
        nodes.depends,
        nodes.tensor,
        put=nodes.put,
        moves=_MOVES,
        cut=_CUT,
        after_cut=_AFTER_CUT,
        kept=_KEPT,
        axis=_axis_of_tail,
        formula=nodes.formula,
        operands=nodes.operands,
        value=nodes.flow,
        complement="Sub",
        named=outputs is not None,
        only_shapes=nodes.only_shapes,
    )
    if outputs is None:
        nodes.note_what_is_unused()
    return nodes.reading, result


def _axis_of_tail(node: Node) -> int | None:
    """Return the axis of an operator that may come last."""
    defaults = {"ArgMax": 0, "Softmax": -1 if node.version >= 13 else 1, "LogSoftmax": -1 if node.version >= 13 else 1}
    return node.attributes.get("axis", defaults[node.operator]) if node.operator in defaults else None


class _Values:
    """The values of a graph, which grow node by node."""

    def __init__(self, graph: Graph, outputs: Sequence[str], reading: Reading) -> None:
        self.graph = graph
        self.reading = reading
        self.nodes = needed(graph.nodes, outputs)
        self.names_read = {name for node in self.nodes for name in node.inputs} | set(outputs)
        wanted = needed_values(self.nodes, outputs, _read_for_shape)
        self.only_shapes = {name for node in self.nodes for name in node.outputs if name not in wanted}
        self.values: dict[str, Value] = {}
        inputs = [value for value in graph.inputs if value.name in self.names_read]
        if not inputs:
            raise AmbiguousCheckpointError(
                f"{reading.file}: its outputs do not depend on an input, so it is not a network"
            )
        given = []
        for value in inputs:
            if value.element not in FLOATS:
                raise UnsupportedLayerError(
                    f"input {value.shown} holds numbers of {element_name(value.element)}; a network takes real "
                    "numbers: export it with an input of float32"
                )
            if value.shape is None:
                raise AmbiguousCheckpointError(
                    f"input {value.shown}: export the model with a fixed shape, but for the batch"
                )
            given.append((value.name, f"input {value.shown}", value.shape))
        for value, tensor in zip(inputs, reading.inputs(given), strict=True):
            self.values[value.name] = Flow(tensor, value.element)

    def visit(self, node: Node) -> None:
        values = [self.value(name) if name else None for name in node.inputs]
        at = Site(self.reading, node)
        try:
            results = self.made(at, node, values)
        except (UnsupportedLayerError, NetworkError):
            if not self.only_shapes.issuperset(node.outputs) or node.operator not in ELEMENTWISE:
                raise
            results = [_of_shape(at, values)]
        if any(name in self.names_read for name in filter(None, node.outputs[len(results) :])):
            raise UnsupportedLayerError(f"{node.label}: its second output is used, which is not handled")
        for name, value in zip(node.outputs, results, strict=False):
            if isinstance(value, Unread):
                if name in self.names_read:
                    raise value.refused("the graph", name)
                continue
            at.require_axes(value.shape)
            self.reading.charge(8 * prod(value.shape))
            self.values[name] = value

    def made(self, at: Site, node: Node, values: list[Value | None]) -> Sequence[Value | Unread]:
        if node.operator in _SHAPES:
            _require_version(node, _SHAPES[node.operator])
            assert values[0] is not None
            return [shape_of(node, values[0], self.reading.rows)]
        if not any(isinstance(value, Flow) for value in values):
            newest = newest_version(node.operator)
            if newest is not None:
                _require_version(node, newest)
            return constants_of(at, node, values)
        row = OPERATORS.get(node.operator)
        if row is None:
            raise _unsupported(node)
        if row.attributes is None:
            _require_version(node, row.newest)
        else:
            row.require_attributes(node)
        return results_of(at, node, row, values)

    def put(self, node: Node, value: Tensor) -> None:
        """Let a tensor stand for the result of a node, with the type of what the node reads."""
        read = next(each for name in node.inputs if isinstance(each := self.values.get(name), Flow))
        element = node.attributes["to"] if node.operator == "Cast" else read.element
        self.values[node.outputs[0]] = Flow(value, element)

    def value(self, name: str) -> Value:
        if name not in self.values and name in self.graph.tensors:
            return self.graph.constant(name)
        return self.values[name]

    def depends(self, name: str) -> bool:
        """Return whether the value of this name depends on the input."""
        return isinstance(self.values.get(name), Flow)

    def tensor(self, name: str) -> Tensor | None:
        """Return the tensor of this name; None for a constant."""
        value = self.values.get(name)
        return settled(self.reading, value.tensor) if isinstance(value, Flow) else None

    def formula(self, node: Node, name: str, before: Formula, shape: tuple[int, ...]) -> Formula | None:
        """Return the formula of a strictly monotone function of a value with this name and formula."""
        if node.operator in _INCREASING:
            return increasing_formula(node.operator, node.attributes, before)
        if node.operator == "Cast" and before != Formula():
            return before if node.attributes["to"] in FLOATS else None
        if node.operator == "Neg" and before != Formula():
            return scaled_formula("mul", True, -1, before, shape)
        if node.operator not in _SCALING or node.version < 7 or before == Formula():
            return None
        first = node.inputs[0] == name
        constant = self.value(node.inputs[int(first)])
        if not isinstance(constant, Constant):
            return None
        return scaled_formula(_SCALING[node.operator], first, constant.array, before, shape)

    def operands(self, node: Node) -> tuple[str, list[str | None]] | None:
        """Return what a node does, and its operands, if it may complete a function of several operators."""
        word = {"Sub": "sub", "Div": "div", "Where": "where"}.get(node.operator)
        return (word, list(node.inputs)) if word and node.version >= 7 else None

    def flow(self, name: str) -> Tensor | Piecewise | None:
        """Return the value of this name, which may jump; None for a constant."""
        value = self.values.get(name)
        return value.tensor if isinstance(value, Flow) else None

    def note_what_is_unused(self) -> None:
        """Note all nodes and tensors that are not used, because a damaged name could leave out a layer."""
        used = {name for node in self.nodes for name in node.outputs}
        unused = [node.label for node in self.graph.nodes if not any(name in used for name in node.outputs)]
        unused += [f"tensor {printable(name)!r}" for name in self.graph.tensors if name not in self.names_read]
        if unused:
            more = f" and {len(unused) - 8} more" if len(unused) > 8 else ""
            self.reading.notes.append(f"no output depends on {', '.join(unused[:8])}{more}: left out")


def _read_for_shape(node: Node) -> list[str]:
    """Return the inputs of a node of which it reads only the shape."""
    return node.inputs[:1] if node.operator in _SHAPES else []


def _of_shape(at: Site, values: list[Value | None]) -> Value:
    """Return zeros in place of the result of an elementwise operator of which only the shape is read."""
    given = [value for value in values if value is not None]
    try:
        shape = np.broadcast_shapes(*(value.shape for value in given))
    except ValueError:
        raise at.refused(f"does not fit shapes {[list(value.shape) for value in given][:8]}") from None
    at.require_axes(shape)
    at.charge(8 * prod(shape))
    flow = next((value for value in given if isinstance(value, Flow)), None)
    if flow is None or not prod(shape):
        return Constant(np.zeros(shape), given[0].element, at.node.name)
    return Flow(at.rearranged(at.reading.builder.first(), np.full(shape, -1)), flow.element)


def _require_version(node: Node, newest: int) -> None:
    if not node.version:  # no schema, so nothing about it has been checked
        raise _unsupported(node)
    if node.version > newest:
        raise UnsupportedLayerError(
            f"{node.label} is version {node.version} of its operator, newer than the {newest} that is known here; "
            "export with an older opset"
        )


def _unsupported(node: Node) -> UnsupportedLayerError:
    handled = ", ".join(sorted(name for name, row in OPERATORS.items() if not row.moves))
    return unsupported(node, f"{handled}, and what only moves numbers", (_CUT | _INCREASING) - {"Log"})
