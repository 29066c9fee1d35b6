# SPDX-License-Identifier: MIT
"""Which network is an ONNX graph, if it is a chain?

The nodes that the outputs depend on are walked in order. A value either is a constant, or is *the* flow: what depends
on the input, of which there is one at a time. A node that reads an older flow makes the graph branch, and is refused.
An operator that is not piecewise linear is refused too, by name, but for softmax and the like at the very end: such a
tail is left out, and a note says so. Whatever is not understood is refused: a graph is read as the function that it is.
Batch axes that are not fixed have length 1, since a network is read for one input.
Invariant: what is built stays in proportion to the file, however often it uses one tensor.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.types import Integers
from regions.errors import (
    AmbiguousCheckpointError,
    ShapeMismatchError,
    UnsupportedLayerError,
)
from regions.files import limits
from regions.files.opened import OpenedFile
from regions.networks.network import Network
from regions.printable import printable
from regions.read.between_layers import ActivationChoice, require_activation
from regions.read.chain import Dense, Step, build_network
from regions.read.onnx_graph import Graph, GraphInput, Node, read_graph
from regions.read.onnx_operators import OPERATORS
from regions.read.onnx_tensors import FLOATS, Constant, element_name
from regions.read.onnx_values import CONSTANT_OPERATORS, REARRANGING, Flow, Value, fold, rearrange, shape_of
from regions.read.scaling import Scaling

__all__ = ["network_from_onnx", "read_onnx_tensors"]

# What may come last and is left out, and what may still follow it: choosing, naming and reshaping of results.
_CUT = {"Softmax", "LogSoftmax", "Sigmoid", "ArgMax"}
_AFTER_CUT = _CUT | {
    *("Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Concat", "Sub"),
    *("ai.onnx.ml.ZipMap", "ai.onnx.ml.ArrayFeatureExtractor", "ai.onnx.ml.LabelEncoder"),
}
_SHAPE = {"Shape": 25}

_SMOOTH = {
    *("Softmax", "LogSoftmax", "Sigmoid", "Tanh", "Elu", "Selu", "Celu", "Gelu", "Mish", "Softplus", "Softsign"),
    *("Swish", "HardSwish", "Erf", "Exp", "Log", "Sqrt", "Pow", "Sin", "Cos", "LayerNormalization"),
}
_NOT_YET = {
    "Conv": "convolutions",
    "ConvTranspose": "convolutions",
    "MaxPool": "max-pooling",
    "GlobalMaxPool": "max-pooling",
    "AveragePool": "average pooling",
    "GlobalAveragePool": "average pooling",
    "Concat": "joining values",
    "Split": "splitting values",
    "Slice": "taking parts of values",
    "Gather": "taking parts of values",
    "Pad": "padding",
}


def network_from_onnx(file: OpenedFile, activation: ActivationChoice) -> Network:
    """Make a network of an ONNX file.

    Parameters
    ----------
    file : OpenedFile
    activation : str, Activation, sequence of these, or None
        May be left out; what is named must be what the file says.

    Raises
    ------
    MissingDependencyError
        onnx is not installed.
    CheckpointError
        The file is damaged, or several networks could be meant.
    UnsupportedLayerError, ShapeMismatchError, NonFiniteError, NetworkError
        The graph is not a chain that is handled; the message names the node.
    """
    graph = read_graph(file)
    chain = _Chain(graph, file)
    steps, notes = chain.walk()
    network = build_network(steps, notes)
    require_activation(network, activation, "the file")
    return network


def read_onnx_tensors(file: OpenedFile) -> dict[str, NDArray[Any]]:
    """Return the tensors that an ONNX file stores beside its graph, by name; bfloat16 as float32.

    Raises
    ------
    MissingDependencyError, CheckpointError, UnsupportedLayerError
        As for `network_from_onnx`; what the nodes do is not looked at.
    """
    graph = read_graph(file)
    return {name: graph.constant(name).array for name in graph.tensors}


class _Chain:
    """The walk through a graph; ``steps`` and ``notes`` grow."""

    def __init__(self, graph: Graph, file: OpenedFile) -> None:
        self.graph = graph
        self.file = file
        self.nodes = _needed(graph)
        self.names_read = {name for node in self.nodes for name in node.inputs} | set(graph.outputs)
        self.values: dict[str, Value] = {}
        self.tail: set[str] = set()  # names of what comes after the cut
        self.cut: list[Node] = []
        self.newest: Flow | None = None
        self.readers: dict[int, Node] = {}  # by which node each flow was read, by id
        self.steps: list[Step] = []
        self.notes: list[str] = []
        self.built = 0

    def walk(self) -> tuple[list[Step], list[str]]:
        """Make the steps of the whole graph."""
        self._start()
        for node in self.nodes:
            self._visit(node)
        self._finish()
        return self.steps, self.notes

    def _start(self) -> None:
        inputs = [value for value in self.graph.inputs if value.name in self.names_read]
        if len(inputs) != 1:
            shown = ", ".join(value.shown for value in inputs[:8]) or "none"
            raise AmbiguousCheckpointError(
                f"{self.file.name}: its outputs depend on {len(inputs)} inputs ({shown}), and a network has one"
            )
        (given,) = inputs
        shape = _shape(given, self.file)
        self.newest = Flow.in_order(shape, given.element, f"input {given.shown}")
        self.values[given.name] = self.newest
        if sum(length != 1 for length in shape) > 1:
            self.notes.append(f"input {given.shown} is read as {math.prod(shape)} numbers in the order of the array")

    def _visit(self, node: Node) -> None:
        if any(name in self.tail for name in node.inputs):
            if node.qualified not in _AFTER_CUT:
                raise UnsupportedLayerError(
                    f"{self.cut[0].label} is not piecewise linear, and comes before {node.label}; only at the very end "
                    "can it be left out"
                )
            self._cut(node)
            return
        values = [self._value(name) if name else None for name in node.inputs]
        flows = [value for value in values if isinstance(value, Flow)]
        if node.qualified in _SHAPE:
            _require_version(node, _SHAPE[node.qualified])
            assert values[0] is not None
            self._keep(node, shape_of(node, values[0]))
        elif not flows:
            self._keep(node, self._folded(node, [value for value in values if isinstance(value, Constant)]))
        else:
            self._follow(node, values, flows)

    def _folded(self, node: Node, values: list[Constant]) -> Constant:
        if node.qualified in REARRANGING:
            _require_version(node, REARRANGING[node.operator][1])
            result = rearrange(node, list(values))
            assert isinstance(result, Constant)
            return result
        if node.qualified not in CONSTANT_OPERATORS:
            raise UnsupportedLayerError(
                f"{node.label} computes with constants in a way that is not handled; simplify the file first, for "
                "instance by exporting with constant folding"
            )
        _require_version(node, CONSTANT_OPERATORS[node.operator][1])
        return fold(node, values)

    def _follow(self, node: Node, values: list[Value | None], flows: list[Flow]) -> None:
        """A node that reads what depends on the input."""
        for flow in flows:
            first = self.readers.setdefault(id(flow), node)
            both_cut = node.qualified in _CUT and first.qualified in _CUT
            if flow is not self.newest or (first is not node and not both_cut):
                raise UnsupportedLayerError(
                    f"the graph branches: {first.label} and {node.label} both read what {flow.name} gives; only chains "
                    "of layers are supported"
                )
        if node.qualified in _CUT:
            self._cut(node)
            return
        if node.qualified in REARRANGING:
            _require_version(node, REARRANGING[node.operator][1])
            result = rearrange(node, values)
            assert isinstance(result, Flow)
        elif node.qualified in OPERATORS:
            operation, newest = OPERATORS[node.qualified]
            _require_version(node, newest)
            steps, result = operation(node, values)
            self.steps += steps
            self.built += sum(step.weights.nbytes for step in steps if isinstance(step, Dense))
        else:
            raise _unsupported(node)
        self.built += result.array.nbytes
        limits.require_expansion(self.file.name, self.file.size, self.built, "all layers of the graph")
        result = Flow(result.array, result.element, node.label)  # another value, though of the same numbers
        self.newest = result
        self._keep(node, result)

    def _cut(self, node: Node) -> None:
        self.cut.append(node)
        self.tail.update(filter(None, node.outputs))

    def _keep(self, node: Node, value: Value) -> None:
        if any(name in self.names_read for name in filter(None, node.outputs[1:])):
            raise UnsupportedLayerError(f"{node.label}: its second output is used, which is not handled")
        self.values[node.outputs[0]] = value

    def _value(self, name: str) -> Value:
        if name not in self.values and name in self.graph.tensors:
            return self.graph.constant(name)
        return self.values[name]

    def _finish(self) -> None:
        assert self.newest is not None
        others = [name for name in self.graph.outputs if name not in self.tail and self._value(name) is not self.newest]
        if others or (self.cut and len(self.graph.outputs) > 1 and not self.tail & set(self.graph.outputs)):
            shown = ", ".join(repr(printable(name)) for name in self.graph.outputs[:8])
            raise AmbiguousCheckpointError(
                f"{self.file.name}: its outputs ({shown}) are not all made of the last layer; keep the one that is "
                "meant: onnx.utils.extract_model(path, new_path, [input name], [output name])"
            )
        if self.cut:
            rest = ", ".join(dict.fromkeys(node.operator for node in self.cut[1:]))
            left_out = f"{self.cut[0].label}{f' and {rest}' if rest else ''}"
            self.notes.append(f"left out at the end: {left_out}; the outputs of this network are what goes into it")
        self._note_what_is_unused()
        self._put_outputs_in_order(self.newest.array.ravel())

    def _note_what_is_unused(self) -> None:
        """A damaged name may leave a layer out, so nothing is left out without a word."""
        used = {name for node in self.nodes for name in node.outputs}
        unused = [node.label for node in self.graph.nodes if not any(name in used for name in node.outputs)]
        unused += [f"tensor {printable(name)!r}" for name in self.graph.tensors if name not in self.names_read]
        if unused:
            more = f" and {len(unused) - 8} more" if len(unused) > 8 else ""
            self.notes.append(f"no output depends on {', '.join(unused[:8])}{more}: left out")

    def _put_outputs_in_order(self, order: Integers) -> None:
        if (order == np.arange(len(order))).all():
            return
        last = self.steps[-1] if self.steps else None
        if isinstance(last, Dense):
            self.steps[-1] = Dense(last.name, last.weights[order], last.biases[order])
        elif isinstance(last, Scaling) and len(self.steps) > 1 and isinstance(self.steps[-2], Dense):
            before = self.steps[-2]
            self.steps[-2] = Dense(before.name, before.weights[order], before.biases[order])
            self.steps[-1] = Scaling(last.kind, last.name, last.scale[order], last.shift[order], last.exact)
        else:
            size = 8 * len(order) ** 2
            limits.require_expansion(self.file.name, self.file.size, size, "a layer that puts the outputs in order")
            self.steps.append(Dense("the order of the outputs", np.eye(len(order))[order], np.zeros(len(order))))
            self.notes.append("a last layer puts the outputs in order")


def _needed(graph: Graph) -> list[Node]:
    """The nodes that the outputs depend on, in order."""
    wanted = set(graph.outputs)
    result = []
    for node in reversed(graph.nodes):
        if any(name in wanted for name in node.outputs):
            wanted.update(node.inputs)
            result.append(node)
    return result[::-1]


def _shape(given: GraphInput, file: OpenedFile) -> list[int]:
    """The shape of one input."""
    if given.element not in FLOATS:
        raise UnsupportedLayerError(
            f"input {given.shown} holds numbers of {element_name(given.element)}; a network takes real numbers: export "
            "it with an input of float32"
        )
    if given.shape is None:
        raise AmbiguousCheckpointError(f"input {given.shown}: export the model with a fixed shape, but for the batch")
    unknown = [axis for axis, length in enumerate(given.shape) if length is None and axis > 0]
    if unknown:
        raise AmbiguousCheckpointError(
            f"input {given.shown} has no fixed length along axis {unknown[0]}; export the model with a fixed shape, "
            "but for the batch"
        )
    shape = [length or 1 for length in given.shape]
    if math.prod(shape) > file.size:  # each input has a weight in the file, of two bytes and more
        raise ShapeMismatchError(f"input {given.shown} has more numbers than the file has bytes")
    return shape


def _require_version(node: Node, newest: int) -> None:
    if not node.version:  # no schema, so nothing about it has been checked
        raise _unsupported(node)
    if node.version > newest:
        raise UnsupportedLayerError(
            f"{node.label} is version {node.version} of its operator, newer than the {newest} that is known here; "
            "export with an older opset"
        )


def _unsupported(node: Node) -> UnsupportedLayerError:
    if node.operator in _SMOOTH:
        advice = "it is not piecewise linear, so the network has no regions"
    elif node.operator in _NOT_YET:
        advice = f"not supported: {_NOT_YET[node.operator]}; only chains of dense layers are"
    else:
        advice = f"handled are {', '.join(sorted(OPERATORS))}, and what only changes shapes"
    return UnsupportedLayerError(f"{node.label}: {advice}")
