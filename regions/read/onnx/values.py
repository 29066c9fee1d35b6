# SPDX-License-Identifier: MIT
"""What flows through an ONNX graph, and which operators only rearrange it?

A `Flow` is what depends on the input; everything else is a constant. Operators that move numbers do the same to both.
Shapes, which exporters compute from one another, are constants, and are computed with as long as they are small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import NotACheckpointError, UnsupportedLayerError
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators import shapes
from regions.read.graphs.site import Site
from regions.read.onnx.graph import Node
from regions.read.onnx.tensors import FLOATS, Constant, element_name, read_tensor
from regions.text.printable import printable

__all__ = [
    "CONSTANT_OPERATORS",
    "REARRANGING",
    "Flow",
    "Rearrangement",
    "Value",
    "fold",
    "integers",
    "rearrange",
    "shape_of",
]

# Shapes and the like; nothing that large is computed from one another.
MAX_FOLDED = 1024


@dataclass(frozen=True)
class Flow:
    """A tensor that depends on the input, and the type of its numbers, as ONNX numbers types."""

    tensor: Tensor
    element: int

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor.shape


Value = Flow | Constant
# It takes and returns a tensor, or an array.
Rearrangement = Callable[[Site, Node, "list[Value | None]", Any], Any]


def rearrange(at: Site, node: Node, values: list[Value | None], operation: Rearrangement) -> Value:
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
    element = _cast(node, given) if node.operator == "Cast" else given.element
    if isinstance(given, Flow):
        return Flow(operation(at, node, values, given.tensor), element)
    array = operation(at, node, values, given.array)
    at.charge(array.nbytes)
    return Constant(array.astype(_NUMPY[element]) if node.operator == "Cast" else array, element, given.name)


_NUMPY = {1: np.float32, 6: np.int32, 7: np.int64, 10: np.float16, 11: np.float64}


def _cast(node: Node, given: Value) -> int:
    """Casts between kinds of floats leave a real number what it is; of constants, only those that change nothing."""
    target = node.attributes["to"]
    if isinstance(given, Flow):
        if target not in FLOATS:
            raise UnsupportedLayerError(
                f"{node.label} turns numbers into {element_name(target)}, which jumps; export the part before it"
            )
        return int(target)
    with np.errstate(over="ignore", invalid="ignore"):
        if target not in _NUMPY or not (given.array.astype(_NUMPY[target]) == given.array).all():
            raise UnsupportedLayerError(f"{node.label} would round {given.name!r} to {element_name(target)}")
    return int(target)


def integers(node: Node, attribute: str, values: Sequence[Value | None], position: int) -> list[int] | None:
    """Return integers that older versions have as an attribute and newer ones as an input; None if left out."""
    if attribute in node.attributes:
        return [int(number) for number in node.attributes[attribute]]
    given = values[position] if len(values) > position else None
    if given is None:
        return None
    if isinstance(given, Flow) or given.array.dtype.kind != "i" or given.array.ndim > 1:
        raise UnsupportedLayerError(f"{node.label}: its {attribute} are not a constant list of integers")
    return [int(number) for number in given.array.ravel()]


def _reshape(at: Site, node: Node, values: list[Value | None], x: Any) -> Any:
    shape = integers(node, "shape", values, 1)
    copied = not node.attributes.get("allowzero", 0)
    if shape is None or min(shape, default=0) < -1 or (copied and 0 in shape[len(x.shape) :]):
        raise at.refused(f"does not fit what reaches it, of shape {list(x.shape)}")
    lengths = [x.shape[i] if length == 0 and copied else length for i, length in enumerate(shape)]
    return shapes.moved(at, x, lambda array: array.reshape(lengths))


def _flatten(at: Site, node: Node, _: list[Value | None], x: Any) -> Any:
    axis, count = node.attributes.get("axis", 1), len(x.shape)
    first = count if axis == count else shapes.axis_of(at, axis, count)
    lengths = math.prod(x.shape[:first]), math.prod(x.shape[first:])
    return shapes.moved(at, x, lambda array: array.reshape(lengths))


def _squeeze(at: Site, node: Node, values: list[Value | None], x: Any) -> Any:
    axes = integers(node, "axes", values, 1)
    gone = None if axes is None else tuple(shapes.axes_of(at, axes, len(x.shape)))
    return shapes.moved(at, x, lambda array: array.squeeze(gone))


def _unsqueeze(at: Site, node: Node, values: list[Value | None], x: Any) -> Any:
    axes = integers(node, "axes", values, 1)
    if axes is None:
        raise at.refused("does not say which axes it puts in")
    new = tuple(shapes.axes_of(at, axes, len(x.shape) + len(axes)))
    return shapes.moved(at, x, lambda array: np.expand_dims(array, new))


def _transpose(at: Site, node: Node, _: list[Value | None], x: Any) -> Any:
    return shapes.moved(at, x, lambda array: array.transpose(node.attributes.get("perm")))


def _same(at: Site, _: Node, values: list[Value | None], x: Any) -> Any:
    return shapes.moved(at, x, lambda array: array)


def _dropout(at: Site, node: Node, values: list[Value | None], x: Any) -> Any:
    training = values[2] if len(values) > 2 else None
    if node.version < 7:
        off = bool(node.attributes.get("is_test", 0))
    else:
        off = training is None or (isinstance(training, Constant) and not training.array.any())
    if not off:
        raise UnsupportedLayerError(f"{node.label} is in training mode, so its values are random; export for inference")
    return _same(at, node, values, x)


def _slice(at: Site, node: Node, values: list[Value | None], x: Any) -> Any:
    starts, ends = integers(node, "starts", values, 1), integers(node, "ends", values, 2)
    axes, steps = integers(node, "axes", values, 3), integers(node, "steps", values, 4)
    if starts is None or ends is None:
        raise at.refused("does not say where it cuts")
    along = shapes.axes_of(at, range(len(starts)) if axes is None else axes, len(x.shape))
    by = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(along) == len(by):
        raise at.refused(f"has {len(starts)} starts, {len(ends)} ends, {len(along)} axes and {len(by)} steps")
    window = [slice(None)] * len(x.shape)
    for start, end, axis, step in zip(starts, ends, along, by, strict=True):
        window[axis] = _cut(start, end, step, x.shape[axis])
    return shapes.moved(at, x, lambda array: array[tuple(window)])


def _cut(start: int, end: int, step: int, length: int) -> slice:
    """A slice in ONNX's rules: backwards, it begins at the first number if it would begin before it."""
    if step < 0 and start < -length < 0:
        start = -length
    return slice(start, end, step)


def _gather(at: Site, node: Node, values: list[Value | None], x: Any) -> Any:
    indices = values[1]
    if not isinstance(indices, Constant) or indices.array.dtype.kind != "i":
        raise UnsupportedLayerError(f"{node.label} picks by something that is not a constant list of integers")
    return shapes.taken(at, x, indices.array, node.attributes.get("axis", 0))


def _blocks(at: Site, node: Node, _: list[Value | None], x: Any, apart: bool) -> Any:
    """Between channels and blocks of pixels, of images [batch, C, H, W]."""
    mode = node.attributes.get("mode", "DCR")
    move = shapes.blocks_apart if apart else shapes.blocks_together
    fits = mode in ("DCR", "CRD") and len(x.shape) == 4
    change = partial(move, size=node.attributes["blocksize"], channels_first=mode == "CRD")
    return shapes.moved(at, x, lambda array: change(array) if fits else None)


# Each with the newest version of the operator that was read about; a newer one may mean something else.
REARRANGING: dict[str, tuple[Rearrangement, int]] = {
    "Identity": (_same, 25),
    "Cast": (_same, 28),
    "Dropout": (_dropout, 22),
    "Reshape": (_reshape, 25),
    "Flatten": (_flatten, 25),
    "Squeeze": (_squeeze, 25),
    "Unsqueeze": (_unsqueeze, 25),
    "Transpose": (_transpose, 25),
    "Slice": (_slice, 13),
    "Gather": (_gather, 13),
    "DepthToSpace": (partial(_blocks, apart=True), 28),
    "SpaceToDepth": (partial(_blocks, apart=False), 28),
}


def shape_of(node: Node, value: Value) -> Constant:
    """The shape of a value, which is a constant."""
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
    """Arithmetic of lengths, rounded towards zero as ONNX divides."""

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
        It does not fit them, or is not one that makes shapes.
    """
    operation, _ = CONSTANT_OPERATORS[node.operator]
    try:
        return operation(node, values)
    except (IndexError, ValueError) as error:
        if isinstance(error, (NotACheckpointError, UnsupportedLayerError)):
            raise
        shown = printable([list(value.array.shape) for value in values])
        raise NotACheckpointError(f"{node.label} does not fit constants of shapes {shown}") from None
