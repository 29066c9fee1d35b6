# SPDX-License-Identifier: MIT
"""In which arithmetic are constants computed?

Real numbers are doubles, and whole numbers are exact integers of 64 bits. Memory is charged before arrays are made.
Infinite numbers and NaN are allowed here, because a later operator may remove them; the operator that uses a constant
as a weight refuses them.
A function that jumps, such as a comparison, may have another value for doubles than for the numbers of a runtime.
It is then refused, because the result would depend on the rounding; `rounding` says how this is found out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import UnsupportedLayerError
from regions.read.graphs.call import Call, Operation
from regions.read.graphs.constants.rounding import rounded

__all__ = [
    "BYTES",
    "PRODUCTS_OF_FUNCTION",
    "Array",
    "as_floats",
    "converted",
    "decided",
    "given_axes",
    "jumping",
    "numbers",
    "of_each",
    "of_whole_type",
    "remainder",
    "require_broadcast",
    "require_decided",
    "room",
    "truths",
    "whole",
]

Array = NDArray[Any]
# Bytes of one number in double precision, or of one integer.
BYTES = 8
# Products in a function of a matrix [n, n], such as its inverse, are at most this number times n^3. A product in einsum
# takes at most this number of times as long as one in a product of matrices.
PRODUCTS_OF_FUNCTION = 64
# Integers whose exact value is below this bound have not overflowed.
_LARGEST_WHOLE = 2.0**62
# Noise that happens to be small is taken this number of times.
_NOISES = 4.0
_MISSING: Any = object()


def numbers(call: Call, name: str = "self", default: Any = _MISSING) -> Array:
    """Return an argument as an array of doubles, of integers of 64 bits, or of truth values."""
    value = call.given(name) if default is _MISSING else call.given(name, default)
    if not isinstance(value, (bool, int, float, np.ndarray)):
        raise call.at.refused(f"has an argument {call.said(name)!r} that is not a number")
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise call.at.refused(f"has an argument {call.said(name)!r} that is not a number")
    room(call, array.shape)
    if array.dtype.kind == "b":
        return array
    return array.astype(np.float64 if array.dtype.kind == "f" else np.int64, copy=False)


def room(call: Call, shape: Sequence[int], copies: int = 2) -> None:
    """Check that there is memory for some arrays of a shape."""
    call.at.require_axes(shape)
    call.at.charge(0, BYTES * copies * math.prod(shape))


def as_floats(array: Array) -> NDArray[np.float64]:
    """Return numbers as doubles."""
    return np.asarray(array, dtype=np.float64)


def whole(call: Call, function: Callable[..., Any], operands: Sequence[Array]) -> Array:
    """Apply a function that keeps the type of its operands; refuse integers beyond 64 bits."""
    if all(operand.dtype.kind == "b" for operand in operands):
        operands = [operand.astype(np.int64) for operand in operands]
    result = np.asarray(function(*operands))
    if result.dtype.kind == "i":
        size = np.abs(as_floats(function(*map(as_floats, operands))))
        if size.size and not float(size.max()) < _LARGEST_WHOLE:
            raise call.at.refused("computes whole numbers of more than 64 bits, or divides one by 0")
    return result


def jumping(call: Call, function: Callable[..., Any], operands: Sequence[Array]) -> Array:
    """Apply a function that jumps; refuse results that depend on the rounding of computed operands.

    The operands are compared with those that were computed with noise, see `rounding`. The result may not change for
    these, nor for numbers that differ a few times as much.
    """
    result = np.asarray(function(*operands))
    _require_same(call, _stays(call, function, operands, result))
    return result


def _require_same(call: Call, stays: bool) -> None:
    if not stays:
        raise UnsupportedLayerError(
            f"{call.at.label} jumps, and its result for constants depends on their rounding; put the result "
            "into a buffer of the module before exporting it"
        )


def truths(call: Call, array: Array) -> Array:
    """Return which numbers are not 0; refuse numbers of which rounding decides on which side of 0 they are."""
    return np.asarray(jumping(call, np.sign, [as_floats(array)]) != 0)


def require_decided(call: Call, first: Array, second: Array) -> None:
    """Refuse numbers if rounding decides which one of a pair is larger."""
    _require_same(call, decided(call, first, second))


def decided(call: Call, first: Array, second: Array) -> bool:
    """Return whether rounding decides for no pair of numbers which one is larger; see `jumping`."""
    difference = as_floats(first) - as_floats(second)
    return _stays(call, np.sign, [difference], np.sign(difference))


def _stays(call: Call, function: Callable[..., Any], operands: Sequence[Array], result: Array) -> bool:
    """Return whether a function has this result also if computed operands are changed a little.

    All numbers of an operand change alike: each number of the result may depend on one number of each operand.
    """
    jumps = call.jumps
    if jumps is None:
        return True
    place = len(jumps.met)
    jumps.met.append(list(operands))
    if jumps.noisy is None:
        return True
    draws = [met[place] for met in jumps.noisy() if len(met) > place]
    if len(draws) < len(jumps.noisy()) or any(
        one.shape != operand.shape for draw in draws for one, operand in zip(draw, operands, strict=True)
    ):
        return False
    around = product(*map(_around, operands, *draws))
    return all(
        np.array_equal(result, np.asarray(function(*changed)), equal_nan=result.dtype.kind == "f")
        for changed in (*draws, *around)
    )


def _around(operand: Array, *noisy: Array) -> list[Array]:
    """Return numbers that are smaller and larger by a few times the noise."""
    if operand.dtype.kind != "f":
        return [operand]
    width = np.max([np.where(one == operand, 0.0, np.abs(one - operand)) for one in noisy], axis=0)
    return [operand] if not width.any() else [operand + side * _NOISES * width for side in (-1.0, 1.0)]


def remainder(
    call: Call, first: Array, second: Array, function: Callable[..., Any], rounds: Callable[..., Any]
) -> Array:
    """Return a remainder, whose quotient must not depend on the rounding of computed operands."""
    if first.dtype.kind == "f" or second.dtype.kind == "f":
        jumping(call, lambda a, b: rounds(a / b), [as_floats(first), as_floats(second)])
    elif not second.all():
        raise ZeroDivisionError
    return np.asarray(function(first, second))


def of_each(
    function: Callable[..., Any],
    *names: str,
    keeps_type: bool = False,
    jumps: bool = False,
    defaults: dict[str, Any] | None = None,
) -> Operation:
    """Return the operator that applies a function of arrays to some arguments, which are broadcast.

    Parameters
    ----------
    function : callable
    *names : str
        Names of its arguments; ``self`` if left out.
    keeps_type : bool
        Whether integers stay integers; otherwise all numbers become doubles.
    jumps : bool
        Whether the function is not continuous; implies ``keeps_type``.
    defaults : dict of str to number, optional
        Defaults of arguments that may be left out.
    """

    def compute(call: Call) -> Array:
        given = defaults or {}
        operands = [numbers(call, name, given.get(name, _MISSING)) for name in names or ("self",)]
        require_broadcast(call, operands)
        if jumps:
            return jumping(call, function, operands)
        if keeps_type:
            return whole(call, function, operands)
        return np.asarray(function(*map(as_floats, operands)))

    return compute


def require_broadcast(call: Call, operands: Sequence[Array]) -> tuple[int, ...]:
    """Return the common shape of operands; refuse shapes without one, and charge its memory."""
    try:
        shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    except ValueError:
        shapes = " and ".join(str(list(operand.shape)) for operand in operands)
        raise call.at.refused(f"does not fit constants of shapes {shapes}") from None
    room(call, shape, len(operands) + 3)
    return shape


def given_axes(call: Call, count: int, name: str = "dim") -> tuple[int, ...]:
    """Return the axes that a call names, from 0; all axes if it names none."""
    from regions.read.graphs.moving import axes_of

    named = [] if call.given(name, None) is None else call.integers(name)
    return tuple(axes_of(call.at, named or range(count), count))


def converted(call: Call, array: Array, name: str) -> Array:
    """Return numbers in another element type, rounded to it as a cast does; bfloat16 as float32.

    ``name`` is the type's name in numpy, or ``bfloat16``.
    """
    if name == "bool":
        return truths(call, array)
    if name == "bfloat16" or np.dtype(name).kind == "f":
        return rounded(array, name)
    if array.dtype.kind == "b":
        return array.astype(name)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all() or (np.abs(array) >= _LARGEST_WHOLE).any():
            raise call.at.refused(f"turns numbers that are not finite, or too large, into {name}")
        array = jumping(call, lambda x: np.trunc(x).astype(np.int64), [array])
    return of_whole_type(call, array, name)


def of_whole_type(call: Call, array: Array, name: str) -> Array:
    """Return whole numbers in their type; refuse numbers that it does not hold."""
    target = np.dtype(name)
    limits = np.iinfo(target)
    if array.size and not (limits.min <= int(array.min()) and int(array.max()) <= limits.max):
        raise call.at.refused(f"makes numbers that {name} does not hold")
    return array.astype(target)
