# SPDX-License-Identifier: MIT
"""What are the values of an ONNX graph, and which constants are computed as lengths?

A `Flow` depends on the input; every other value is a constant. Exporters compute shapes from one another. These are
constants, and are computed if they are small.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import NotACheckpointError, UnsupportedLayerError
from regions.read.graphs.operations import Tensor
from regions.read.onnx.graph import Node
from regions.read.onnx.tensors import FLOATS, Constant, element_name, read_tensor
from regions.text.printable import printable

__all__ = ["CONSTANT_OPERATORS", "Flow", "Value", "cast", "fold", "shape_of"]

# The largest number of elements of shapes and similar constants.
MAX_FOLDED = 1024


@dataclass(frozen=True)
class Flow:
    """A tensor that depends on the input, and its element type, by its number in ONNX."""

    tensor: Tensor
    element: int

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor.shape


Value = Flow | Constant

_NUMPY = {1: np.float32, 6: np.int32, 7: np.int64, 10: np.float16, 11: np.float64}


def cast(node: Node, given: Value) -> Value:
    """Return a value with another element type.

    Casts between float types are read as the identity; casts of constants only if they change no number.

    Raises
    ------
    UnsupportedLayerError
        Numbers would be rounded.
    """
    target = int(node.attributes["to"])
    if isinstance(given, Flow):
        if target not in FLOATS:
            raise UnsupportedLayerError(
                f"{node.label} turns numbers into {element_name(target)}, which jumps; export the part before it"
            )
        return replace(given, element=target)
    with np.errstate(over="ignore", invalid="ignore"):
        if target not in _NUMPY or not ((array := given.array.astype(_NUMPY[target])) == given.array).all():
            raise UnsupportedLayerError(f"{node.label} would round {given.name!r} to {element_name(target)}")
    return replace(given, array=array, element=target)


def shape_of(node: Node, value: Value) -> Constant:
    """Return the shape of a value, as a constant."""
    shape = value.shape if isinstance(value, Flow) else value.array.shape
    chosen = list(shape)[slice(node.attributes.get("start", 0), node.attributes.get("end"))]
    return Constant(np.array(chosen, dtype=np.int64), 7, node.name)


def _stored(node: Node, _: list[Constant]) -> Constant:
    if len(node.attributes) != 1:
        raise NotACheckpointError(f"{node.label} has {len(node.attributes)} values instead of one")
    ((kind, value),) = node.attributes.items()
    if kind == "value":
        return read_tensor(value, f"the value of {node.label}")
    if kind in ("value_float", "value_floats"):
        return Constant(np.array(value, dtype=np.float32), 1, node.name)
    if kind in ("value_int", "value_ints"):
        return Constant(np.array(value, dtype=np.int64), 7, node.name)
    raise UnsupportedLayerError(f"{node.label} holds {kind.removeprefix('value_')}, which are not numbers")


def _filled(node: Node, values: list[Constant]) -> Constant:
    if values[0].array.dtype.kind != "i":
        raise NotACheckpointError(f"{node.label} takes a shape, and gets {element_name(values[0].element)}")
    shape = [int(length) for length in values[0].array.ravel()]
    given = node.attributes.get("value")
    filling = Constant(np.zeros(1, dtype=np.float32), 1, "") if given is None else read_tensor(given, node.label)
    if min(shape, default=0) < 0 or math.prod(shape) > MAX_FOLDED or filling.array.size != 1:
        raise UnsupportedLayerError(
            f"{node.label} makes a constant of shape {printable(shape)}, which is not a shape itself"
        )
    return replace(filling, array=np.full(shape, filling.array.item(), filling.array.dtype), name=node.name)


def _concatenate(node: Node, values: list[Constant]) -> Constant:
    if sum(value.array.size for value in values) > MAX_FOLDED or any(value.array.ndim != 1 for value in values):
        raise UnsupportedLayerError(f"{node.label} joins constants that are not shapes")
    if len({value.element for value in values}) > 1:
        raise NotACheckpointError(f"{node.label} joins numbers of different types")
    return Constant(np.concatenate([value.array for value in values]), values[0].element, node.name)


def _computed(function: Callable[..., NDArray[Any]]) -> Callable[[Node, list[Constant]], Constant]:
    """Compute with lengths; division rounds towards zero, as in ONNX."""

    def compute(node: Node, values: list[Constant]) -> Constant:
        arrays = [value.array for value in values]
        if any(array.dtype.kind != "i" or array.size > MAX_FOLDED or array.ndim > 1 for array in arrays):
            raise UnsupportedLayerError(
                f"{node.label} computes with constants in a way that is not handled; simplify the file first, for "
                "instance by exporting with constant folding"
            )
        with np.errstate(over="ignore"):
            if any((np.abs(array.astype(np.float64)) >= 2**31).any() for array in arrays):
                raise NotACheckpointError(f"{node.label} computes with lengths beyond 2^31")
            return Constant(function(*arrays), values[0].element, node.name)

    return compute


def _quotient(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    if not second.all():
        raise ValueError
    return np.asarray(np.sign(first) * np.sign(second) * (np.abs(first) // np.abs(second)))


CONSTANT_OPERATORS: dict[str, tuple[Callable[[Node, list[Constant]], Constant], int]] = {
    "Constant": (_stored, 25),
    "ConstantOfShape": (_filled, 25),
    "Concat": (_concatenate, 13),
    "Add": (_computed(np.add), 14),
    "Sub": (_computed(np.subtract), 14),
    "Mul": (_computed(np.multiply), 14),
    "Div": (_computed(_quotient), 14),
}


def fold(node: Node, values: list[Constant]) -> Constant:
    """Apply an operator to constants.

    Raises
    ------
    NotACheckpointError, UnsupportedLayerError
        It does not fit the constants, or does not compute shapes.
    """
    operation, _ = CONSTANT_OPERATORS[node.operator]
    try:
        return operation(node, values)
    except (IndexError, ValueError) as error:
        if isinstance(error, (NotACheckpointError, UnsupportedLayerError)):
            raise
        shown = printable([list(value.array.shape) for value in values])
        raise NotACheckpointError(f"{node.label} does not fit constants of shapes {shown}") from None
