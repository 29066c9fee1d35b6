# SPDX-License-Identifier: MIT
"""Which operators of torch make constants, or compute lengths, and which types do computed constants have?

Filled tensors and ranges have the type that torch recorded for them, and their numbers are rounded to that type, as in
torch. Other constants are computed by `regions.read.graphs.constants`: real numbers in float64, whole numbers exactly.
Source: the operators' documentation in torch 2.13.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import UnsupportedLayerError
from regions.files.pt2_archive import TYPES
from regions.read.exported.compositions import COMPOSITIONS
from regions.read.exported.nodes import ExportedNode
from regions.read.graphs.call import Call, Operation, Unread
from regions.read.graphs.constants.evaluation import FUNCTIONS, computed
from regions.read.graphs.constants.numbers import as_floats, converted, jumping, numbers, of_whole_type, steps_to
from regions.read.graphs.moving import axis_of

__all__ = ["LENGTHS", "MAKERS", "constants_of", "name_of_type"]

BFLOAT16 = "bfloat16"
# Bytes of one number in double precision.
BYTES = 8


def constants_of(call: Call, operation: Operation | None) -> list[Any]:
    """Return the results of a node that reads only constants; ``operation`` reads it where it depends on an input."""
    node = call.at.node
    assert isinstance(node, ExportedNode)
    if node.operator == "empty":  # torch writes it where numbers are asked for and not used
        for name in call.arguments:
            call.ignore(name)
        why = "whose numbers are not defined; fill it, or export the part before it"
        return [Unread(call.at.label, why, what=f"the result of {call.at.label}")]
    function = _OF_CONSTANTS.get(node.operator, FUNCTIONS.get(node.operator))
    if function is None and node.operator in COMPOSITIONS:
        function = operation
    made = computed(call, function, operation)
    types = [*node.types, *[None] * len(made)]
    return [_of_type(call, one, kind) for one, kind in zip(made, types, strict=False)]


def _of_type(call: Call, value: Any, kind: int | None) -> Any:
    """Return a result of the kind of numbers that torch recorded; real numbers stay doubles."""
    if not isinstance(value, np.ndarray) or kind not in TYPES:
        return value
    name = name_of_type(kind)
    if name == "bool":
        return value.astype(bool)
    if name == BFLOAT16 or np.dtype(name).kind == "f":
        return value if value.dtype.kind == "f" else value.astype(np.float64)
    if value.dtype.kind == "f":
        return converted(call, value, name)
    return of_whole_type(call, value, name)


def _recorded_type(call: Call) -> str:
    """Return the name of the type that torch recorded for the result of a call."""
    call.ignore("dtype")
    node = call.at.node
    kind = node.types[0] if isinstance(node, ExportedNode) and node.types else None
    if kind not in TYPES:
        raise call.at.refused("makes numbers of no known type")
    return name_of_type(kind)


def name_of_type(kind: int) -> str:
    """Return the name of an element type, by its number in the schema."""
    name = TYPES[kind].name
    return name if name == BFLOAT16 else np.dtype(name).name


def _filled(number: float | None) -> Operation:
    """Return the operation that fills an array of the call's size, or of its first argument's size, with a number.

    If ``number`` is None, the number is an argument of the call.
    """

    def fill(call: Call) -> NDArray[Any]:
        call.ignore("self")  # `new_ones` and the like take only its type
        like = call.at.node.operator.endswith("_like")
        shape = list(getattr(call.given("self"), "shape", ())) if like else call.integers("size", [])
        _require_room(call, shape)
        value = call.given("fill_value") if number is None else number
        if not isinstance(value, (bool, int, float)):
            raise call.at.refused("fills with something that is not a number")
        return _of_its_type(call, np.full(shape, float(value)))

    return fill


def _require_room(call: Call, shape: list[int]) -> None:
    if min(shape, default=1) < 0:
        raise call.at.refused(f"makes a tensor of shape {shape}")
    call.at.require_axes(shape)
    call.at.charge(BYTES * prod(shape))


def _filled_again(call: Call) -> NDArray[Any]:
    """Return an array of the shape of the first argument, filled with a number."""
    x, value = numbers(call), numbers(call, "value")
    if value.size != 1:
        raise ValueError
    return np.full(x.shape, value.item())


def _range(call: Call) -> NDArray[Any]:
    start, end, step = (as_floats(numbers(call, *one)) for one in (("start", 0), ("end",), ("step", 1)))
    if not start.size == end.size == step.size == 1 or not step.all():
        raise call.at.refused("makes a range of steps of 0, or between several numbers")
    count = steps_to(call, start, end, step)
    _require_room(call, [count])
    return _of_its_type(call, start.item() + step.item() * np.arange(count, dtype=np.float64))


def _evenly_spaced(call: Call) -> NDArray[Any]:
    start, end, count = numbers(call, "start"), numbers(call, "end"), call.integer("steps")
    if not start.size == end.size == 1:
        raise ValueError
    _require_room(call, [count])
    return _of_its_type(call, np.linspace(start.item(), end.item(), count))


def _identity(call: Call) -> NDArray[Any]:
    rows = call.integer("n")
    columns = call.integer("m", rows)
    _require_room(call, [rows, columns])
    return _of_its_type(call, np.eye(rows, columns))


def _of_its_type(call: Call, array: NDArray[np.float64]) -> NDArray[Any]:
    """Return the constant of a call, in the type that torch recorded."""
    name = _recorded_type(call)
    result = converted(call, array, name)
    if (name == BFLOAT16 or result.dtype.kind != "f") and not np.array_equal(result, array):
        raise UnsupportedLayerError(
            f"{call.at.label} rounds what it fills in to {name}; put the constant into a buffer of the module before "
            "exporting it"
        )
    return result


def _cast(call: Call) -> NDArray[Any]:
    """Return numbers in the type that torch recorded, rounded to it."""
    call.ignore("other")
    target = _recorded_type(call)
    return numbers(call) if call.stored == target else converted(call, numbers(call), target)


def _rows_of_table(call: Call) -> NDArray[Any]:
    table, places = numbers(call, "weight"), numbers(call, "indices")
    call.ignore("padding_idx", "scale_grad_by_freq", "sparse")
    if table.ndim != 2 or places.dtype.kind != "i" or (places.size and places.min() < 0):
        raise ValueError
    _require_room(call, [*places.shape, table.shape[1]])
    return np.asarray(table[places])


def _one_hot(call: Call) -> NDArray[Any]:
    places, count = numbers(call), call.integer("num_classes", -1)
    if places.dtype.kind != "i" or not places.size or places.min() < 0:
        raise ValueError
    count = int(places.max()) + 1 if count == -1 else count
    if places.max() >= count:
        raise ValueError
    _require_room(call, [*places.shape, count])
    return np.asarray(places[..., np.newaxis] == np.arange(count)).astype(np.int64)


def _copied(call: Call) -> NDArray[Any]:
    """Return the second argument, repeated to the shape of the first."""
    return np.broadcast_to(numbers(call, "src"), numbers(call).shape)


def _number_of(call: Call) -> Any:
    array = numbers(call)
    if array.size != 1:
        raise ValueError
    return array.item()


def _size(call: Call) -> int:
    value, axis = call.given("self"), call.integer("dim")
    shape = getattr(value, "shape", ())
    return int(shape[axis_of(call.at, axis, len(shape))])


def _of_numbers(operation: Callable[[Any, Any], Any]) -> Operation:
    """Return an operation on two numbers, such as lengths."""

    def compute(call: Call) -> Any:
        first, second = (call.given(name) for name in list(call.arguments)[:2])
        if not all(type(one) in (int, float) for one in (first, second)):
            raise call.at.refused("computes with something that is not a number")
        if operation is _quotient:
            jumping(call, np.floor_divide, [np.asarray(first), np.asarray(second)])
        try:
            result = operation(first, second)
        except (ZeroDivisionError, OverflowError, MemoryError):
            result = 2**63
        if isinstance(result, complex) or abs(result) >= 2**63:
            raise call.at.refused("makes no length")
        return result

    return compute


def _quotient(first: Any, second: Any) -> Any:
    return first // second


def _power(first: Any, second: Any) -> Any:
    if abs(second) > 64:
        raise OverflowError
    return first**second


# These are read in the same way if their tensor depends on an input, because they read only its shape and type.
MAKERS: dict[str, Operation] = {
    **{f"{new}ones{like}": _filled(1.0) for new, like in (("", ""), ("new_", ""), ("", "_like"))},
    **{f"{new}zeros{like}": _filled(0.0) for new, like in (("", ""), ("new_", ""), ("", "_like"))},
    **{f"{new}full{like}": _filled(None) for new, like in (("", ""), ("new_", ""), ("", "_like"))},
    "scalar_tensor": _filled(None),
    "arange": _range,
    "sym_size": _size,
    "_operator.mul": _of_numbers(lambda first, second: first * second),
    "_operator.add": _of_numbers(lambda first, second: first + second),
    "_operator.sub": _of_numbers(lambda first, second: first - second),
    "_operator.floordiv": _of_numbers(_quotient),
    "_operator.truediv": _of_numbers(lambda first, second: first / second),
    "_operator.pow": _of_numbers(_power),
}
_OF_CONSTANTS: dict[str, Operation] = {
    **MAKERS,
    **dict.fromkeys(("to", "_to_copy", "type_as", "float", "double", "half"), _cast),
    "fill": _filled_again,
    "zero": lambda call: _filled_again(call.with_arguments(value=0)),
    "eye": _identity,
    "linspace": _evenly_spaced,
    "embedding": _rows_of_table,
    "one_hot": _one_hot,
    "copy": _copied,
    "topk": lambda call: FUNCTIONS["topk"](call.with_arguments(stable=False)),
    **dict.fromkeys(("item", "_local_scalar_dense"), _number_of),
}
# Operators that read only the shape of a tensor, and the argument whose shape it is.
LENGTHS = {
    "sym_size": "self",
    **{f"{word}_like": "self" for word in ("ones", "zeros", "full")},
    **{f"new_{word}": "self" for word in ("ones", "zeros", "full")},
    **dict.fromkeys(("expand_as", "view_as", "reshape_as", "type_as"), "other"),
}
