# SPDX-License-Identifier: MIT
"""What flows through an ONNX graph, and which operators only rearrange it?

A `Flow` is what depends on the input: a tensor each of whose positions holds one number of a vector. Reshaping and
transposing change which position holds which number, and nothing else; they do to the array of those numbers' indices
what they would do to the tensor. So no layer is needed for them, and the next matrix gets its columns in that order.
Shapes, which exporters compute from one another, are constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from regions.arithmetic.types import Integers
from regions.errors import NotACheckpointError, RegionsError, UnsupportedLayerError
from regions.printable import printable
from regions.read.onnx_graph import Node
from regions.read.onnx_tensors import FLOATS, Constant, element_name, read_tensor

__all__ = ["CONSTANT_OPERATORS", "REARRANGING", "Flow", "Value", "fold", "rearrange", "shape_of"]

# Shapes and the like; nothing that large is computed from one another.
MAX_FOLDED = 1024


@dataclass(frozen=True)
class Flow:
    """A tensor that depends on the input.

    Attributes
    ----------
    array : int64 array
        Which number of the vector each position holds; all of them, each once.
    element : int
        Type of the numbers, as ONNX numbers types.
    name : str
        What makes it, for messages.
    """

    array: Integers
    element: int
    name: str

    @classmethod
    def in_order(cls, shape: Sequence[int], element: int, name: str) -> Flow:
        """A tensor of this shape that holds the vector in the order of its positions."""
        return cls(np.arange(math.prod(shape), dtype=np.int64).reshape(shape), element, name)


Value = Flow | Constant


def rearrange(node: Node, values: list[Value | None]) -> Value:
    """Apply an operator that moves numbers without changing them.

    Raises
    ------
    NotACheckpointError
        It does not fit the shape.
    UnsupportedLayerError
        It depends on what is not constant.
    """
    given = values[0]
    assert given is not None
    operation, _ = REARRANGING[node.operator]
    element = given.element
    if node.operator == "Cast":
        element = _cast(node, given)
    try:
        array = operation(node, given.array, values)
    except RegionsError:
        raise
    except (ValueError, IndexError, OverflowError, TypeError):
        array = None
    if array is None or array.size != given.array.size:
        raise NotACheckpointError(f"{node.label} does not fit what reaches it, of shape {list(given.array.shape)}")
    if isinstance(given, Flow):
        return Flow(array, element, node.label)
    return Constant(array.astype(_NUMPY[element]) if node.operator == "Cast" else array, element, given.name)


_NUMPY = {1: np.float32, 6: np.int32, 7: np.int64, 10: np.float16, 11: np.float64}


def _cast(node: Node, given: Value) -> int:
    """Casts between kinds of floats leave a real number what it is; of constants, only those that change nothing."""
    target = node.attributes["to"]
    if isinstance(given, Flow):
        if target not in FLOATS:
            raise UnsupportedLayerError(f"{node.label} turns numbers into {element_name(target)}, which jumps")
        return int(target)
    with np.errstate(over="ignore", invalid="ignore"):
        if target not in _NUMPY or not (given.array.astype(_NUMPY[target]) == given.array).all():
            raise UnsupportedLayerError(f"{node.label} would round {given.name!r} to {element_name(target)}")
    return int(target)


def integers(node: Node, attribute: str, values: list[Value | None], position: int) -> list[int] | None:
    """What older versions have as an attribute and newer ones as an input; None if it is left out."""
    if attribute in node.attributes:
        return [int(number) for number in node.attributes[attribute]]
    given = values[position] if len(values) > position else None
    if given is None:
        return None
    if isinstance(given, Flow) or given.array.dtype.kind != "i" or given.array.ndim > 1:
        raise UnsupportedLayerError(f"{node.label}: its {attribute} are not a constant list of integers")
    return [int(number) for number in given.array.ravel()]


def _reshape(node: Node, array: Integers, values: list[Value | None]) -> Integers | None:
    shape = integers(node, "shape", values, 1)
    if shape is None:
        return None
    if not node.attributes.get("allowzero", 0):
        shape = [array.shape[i] if length == 0 else length for i, length in enumerate(shape)]
    return array.reshape(shape) if min(shape, default=0) >= -1 else None


def _flatten(node: Node, array: Integers, _: list[Value | None]) -> Integers | None:
    axis = node.attributes.get("axis", 1)
    if not -array.ndim <= axis <= array.ndim:
        return None
    axis += array.ndim if axis < 0 else 0
    return array.reshape(math.prod(array.shape[:axis]), math.prod(array.shape[axis:]))


def _squeeze(node: Node, array: Integers, values: list[Value | None]) -> Integers | None:
    axes = integers(node, "axes", values, 1)
    return array.squeeze() if axes is None else array.squeeze(tuple(axes))


def _unsqueeze(node: Node, array: Integers, values: list[Value | None]) -> Integers | None:
    axes = integers(node, "axes", values, 1)
    return None if axes is None else np.expand_dims(array, tuple(axes))


def _transpose(node: Node, array: Integers, _: list[Value | None]) -> Integers | None:
    return array.transpose(node.attributes.get("perm"))


def _same(node: Node, array: Integers, values: list[Value | None]) -> Integers | None:
    return array


def _dropout(node: Node, array: Integers, values: list[Value | None]) -> Integers | None:
    training = values[2] if len(values) > 2 else None
    if node.version < 7:
        off = bool(node.attributes.get("is_test", 0))
    else:
        off = training is None or (isinstance(training, Constant) and not training.array.any())
    if not off:
        raise UnsupportedLayerError(f"{node.label} is in training mode, so its values are random; export for inference")
    return array


_Rearrangement = Callable[[Node, Integers, list["Value | None"]], "Integers | None"]

# Each with the newest version of the operator that was read about; a newer one may mean something else.
REARRANGING: dict[str, tuple[_Rearrangement, int]] = {
    "Identity": (_same, 25),
    "Cast": (_same, 28),
    "Dropout": (_dropout, 22),
    "Reshape": (_reshape, 25),
    "Flatten": (_flatten, 25),
    "Squeeze": (_squeeze, 25),
    "Unsqueeze": (_unsqueeze, 25),
    "Transpose": (_transpose, 25),
}


def shape_of(node: Node, value: Value) -> Constant:
    """The shape of a value, which is a constant."""
    shape = list(value.array.shape)[slice(node.attributes.get("start", 0), node.attributes.get("end"))]
    return Constant(np.array(shape, dtype=np.int64), 7, node.name)


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
    raise UnsupportedLayerError(f"{node.label} holds {kind.removeprefix('value_')}, which are no numbers")


def _gather(node: Node, values: list[Constant]) -> Constant:
    data, indices = values
    if max(data.array.size, indices.array.size) > MAX_FOLDED or data.array.ndim != 1 or indices.array.dtype.kind != "i":
        raise UnsupportedLayerError(f"{node.label} picks from a constant that is no shape")
    return Constant(data.array[indices.array], data.element, node.name)


def _concatenate(node: Node, values: list[Constant]) -> Constant:
    if sum(value.array.size for value in values) > MAX_FOLDED or any(value.array.ndim != 1 for value in values):
        raise UnsupportedLayerError(f"{node.label} joins constants that are no shapes")
    if len({value.element for value in values}) > 1:
        raise NotACheckpointError(f"{node.label} joins numbers of different types")
    return Constant(np.concatenate([value.array for value in values]), values[0].element, node.name)


CONSTANT_OPERATORS: dict[str, tuple[Callable[[Node, list[Constant]], Constant], int]] = {
    "Constant": (_stored, 25),
    "Gather": (_gather, 13),
    "Concat": (_concatenate, 13),
}


def fold(node: Node, values: list[Constant]) -> Constant:
    """Apply an operator to constants.

    Raises
    ------
    NotACheckpointError, UnsupportedLayerError
        It does not fit them, or is not one that makes shapes.
    """
    operation, _ = CONSTANT_OPERATORS[node.operator]
    try:
        return operation(node, values)
    except IndexError:
        raise NotACheckpointError(f"{node.label} reaches beyond {printable([list(v.array) for v in values])}") from None
