# SPDX-License-Identifier: MIT
"""What are the values of an ONNX graph?

A `Flow` depends on the input; every other value is a constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from regions.errors import UnsupportedLayerError
from regions.read.graphs.operations import Tensor
from regions.read.graphs.piecewise import Piecewise
from regions.read.onnx.graph import Node
from regions.read.onnx.tensors import FLOATS, Constant, element_name

__all__ = ["Flow", "Value", "cast", "shape_of"]


@dataclass(frozen=True)
class Flow:
    """A value that depends on the input and may jump, and its element type, by its number in ONNX."""

    tensor: Tensor | Piecewise
    element: int

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor.shape


Value = Flow | Constant


def cast(node: Node, given: Flow) -> Flow:
    """Return a value with another element type; casts between float types are read as the identity.

    Raises
    ------
    UnsupportedLayerError
        The type is not one of real numbers.
    """
    target = int(node.attributes["to"])
    if target not in (*FLOATS, given.element):
        raise UnsupportedLayerError(
            f"{node.label} turns numbers into {element_name(target)}, which jumps; export the part before it"
        )
    return replace(given, element=target)


def shape_of(node: Node, value: Value, rows: int) -> Constant:
    """Return the shape of a value, or its number of elements, as a constant; ``rows`` is the batch in the file."""
    shape = (rows * value.shape[0], *value.shape[1:]) if isinstance(value, Flow) and value.shape else value.shape
    if node.operator == "Size":
        return Constant(np.array(math.prod(shape), dtype=np.int64), 7, node.name)
    chosen = list(shape)[slice(node.attributes.get("start", 0), node.attributes.get("end"))]
    return Constant(np.array(chosen, dtype=np.int64), 7, node.name)
