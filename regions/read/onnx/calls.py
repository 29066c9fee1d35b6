# SPDX-License-Identifier: MIT
"""How does a node of ONNX become a call, and what are its results?

A row of the table of operators has an operator's function, the newest version of the operator whose documentation was
read, the names of its inputs, and its defaults if they differ from torch's. The names of arguments are translated here
to those of torch, and the element types of operands are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any

import numpy as np

from regions.errors import NotACheckpointError
from regions.ground.text.printable import printable
from regions.read.graphs.call import Call, Operation
from regions.read.graphs.rows import for_one_row, require_apart
from regions.read.graphs.site import Site
from regions.read.onnx.graph import Node
from regions.read.onnx.tensors import BOOL, Constant, element_name
from regions.read.onnx.values import Flow, Value, cast

__all__ = ["Row", "call_of", "operands_of", "results_of", "version_of"]


@dataclass(frozen=True)
class Row:
    """How an operator is read.

    Attributes
    ----------
    operation : callable
    newest : int
        The newest known version of the operator.
    inputs : str
        The names of its inputs, in order; ``tensors`` stands for any number.
    defaults : dict of str to any
    moves : bool
        Whether it only moves numbers.
    truths : bool
        Whether its results are true or false.
    attributes : dict of str to type, optional
        The attributes of an operator for which onnx has no schema, and the types of their values.
    """

    operation: Operation
    newest: int
    inputs: str = "self"
    defaults: Mapping[str, Any] = field(default_factory=dict)
    moves: bool = False
    truths: bool = False
    attributes: Mapping[str, type] | None = None

    def require_attributes(self, node: Node) -> None:
        """Check a node of an operator for which onnx has no schema."""
        known = self.attributes or {}
        for name, value in node.attributes.items():
            if name not in known or type(value) is not known[name]:
                raise NotACheckpointError(f"{node.label} has an attribute {printable(name)!r} that is not known here")
        if not 2 <= len(node.inputs) <= len(self.inputs.split()) or not all(node.inputs[:2]) or len(node.outputs) != 1:
            raise NotACheckpointError(f"{node.label} has {len(node.inputs)} inputs and {len(node.outputs)} outputs")


_NAMES = {
    **{"strides": "stride", "dilations": "dilation", "group": "groups", "kernel_shape": "kernel_size"},
    **{"axis": "dim", "axes": "dim", "keepdims": "keepdim", "perm": "dims", "shape": "size", "split": "split_size"},
    **{"starts": "start", "ends": "end", "steps": "step", "paddings": "pads", "epsilon": "eps"},
    **{"transA": "transposed1", "transB": "transposed2"},
}
_FLAGS = {"keepdims", "ceil_mode", "count_include_pad", "transA", "transB", "spatial", "broadcast"}
# Inputs whose type differs from the type of the tensors.
_OTHER_TYPES = {
    *("quantized", "zero_point", "dim", "size", "start", "end", "step", "index", "split_size", "pads", "repeats"),
    *("roi", "scales", "sizes", "ratio", "train", "condition", "exponent", "k", "lengths"),
}


def results_of(at: Site, node: Node, row: Row, values: Sequence[Value | None]) -> list[Value]:
    """Return the results of a node, of the type of its first operand that depends on the input, or else of its first
    one.
    """
    typed = operands_of(row, values)
    first = next((value for value in typed if isinstance(value, Flow)), typed[0])
    call = call_of(at, node, row, values, first.element)
    made = row.operation(for_one_row(call) if at.reading.rows > 1 else call)
    if at.reading.rows > 1:
        require_apart(call, made if isinstance(made, list) else [made])
    element = 1 if node.operator == "ai.onnx.ml.Scaler" else BOOL if row.truths else first.element
    results: list[Value] = [
        Constant(one, element, node.name) if isinstance(one, np.ndarray) else Flow(one, element)
        for one in (made if isinstance(made, list) else [made])
    ]
    return [cast(node, one) if node.operator == "Cast" and isinstance(one, Flow) else one for one in results]


def operands_of(row: Row, values: Sequence[Value | None]) -> list[Value]:
    """Return the values that must have the type of the result, unlike indices and options."""
    names = chain(row.inputs.split(), repeat("tensors"))
    return [value for value, name in zip(values, names, strict=False) if value is not None and name not in _OTHER_TYPES]


def call_of(at: Site, node: Node, row: Row, values: Sequence[Value | None], element: int) -> Call:
    """Return a node as a call; constants must have the type of the tensors, except indices and options."""
    widest = float(np.finfo(np.float64 if element_name(element) == "float64" else np.float32).max)
    inputs = ["tensors"] * len(values) if row.inputs == "tensors" else row.inputs.split()
    given = [(name, value) for name, value in zip(inputs, values, strict=False) if value is not None]
    for name, value in given:
        if name not in _OTHER_TYPES and value.element != element:
            what = repr(value.name) if isinstance(value, Constant) else "numbers"
            raise NotACheckpointError(
                f"{node.label} takes {what} of {element_name(value.element)} beside numbers of {element_name(element)}"
            )
    arguments = dict(row.defaults)
    names = {ours: theirs for theirs, ours in _NAMES.items()}
    names |= {ours: theirs for theirs, ours in _NAMES.items() if theirs in node.attributes}
    for name, value in node.attributes.items():
        arguments[_NAMES.get(name, name)] = bool(value) if name in _FLAGS else value
    for name, value in given:
        arguments[name] = value.tensor if isinstance(value, Flow) else value.array
        if isinstance(value, Constant) and name not in _OTHER_TYPES:
            names[name] = value.name
    stored = next((value.stored for _, value in given if isinstance(value, Constant) and value.stored), "")
    if row.inputs == "tensors":
        arguments["tensors"] = [value.tensor if isinstance(value, Flow) else value.array for _, value in given]
    return Call(at, arguments, names, widest, stored)


def version_of(call: Call) -> int:
    assert isinstance(call.at.node, Node)
    return call.at.node.version
