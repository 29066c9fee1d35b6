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

from regions.read.graphs.call import Call, DecidedByRounding, Operation
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
    "require_side",
    "require_stable_sign",
    "room",
    "sign_of_determinant",
    "steps_to",
    "truths",
    "undecided",
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
# In which type a runtime computes functions of numbers of a narrow type.
_NARROWER = dict.fromkeys(("float16", "bfloat16", "float32"), np.float32)
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


def jumping(
    call: Call, function: Callable[..., Any], operands: Sequence[Array], has: str = "jumps", unless: Any = False
) -> Array:
    """Apply a function that jumps; refuse results that depend on the rounding of computed operands.

    The operands are compared with those that were computed with noise, see `rounding`. The result may not change for
    these, nor for numbers that differ a few times as much, nor if the function rounds as the type of the file does.

    Parameters
    ----------
    call : Call
    function : callable
    operands : sequence of array
    has : str
        What the operator does, for the message.
    unless : array of bool, optional
        Numbers of the result that may change.
    """
    result = np.asarray(function(*operands))
    _require_same(call, not (_changes(call, function, operands, result) & ~np.asarray(unless)).any(), has)
    return result


def _require_same(call: Call, stays: bool, has: str = "jumps") -> None:
    if not stays:
        raise DecidedByRounding(
            f"{call.at.label} {has}, and its result for constants depends on their rounding; put the result "
            "into a buffer of the module before exporting it"
        )


def undecided(call: Call, function: Callable[..., Any], operands: Sequence[Array]) -> NDArray[np.bool_]:
    """Return which numbers of the result of a function that jumps depend on rounding; see `jumping`."""
    return _changes(call, function, operands, np.asarray(function(*operands)))


def require_side(call: Call, *operands: Array, side: Callable[..., Any] = np.sign) -> None:
    """Refuse operands of which rounding decides on which side of a pole they are."""
    jumping(call, side, [as_floats(one) for one in operands], has="has a pole")


def truths(call: Call, array: Array) -> Array:
    """Return which numbers are not 0; refuse numbers of which rounding decides on which side of 0 they are."""
    return np.asarray(jumping(call, np.sign, [as_floats(array)]) != 0)


def require_decided(call: Call, first: Array, second: Array) -> None:
    """Refuse numbers if rounding decides which one of a pair is larger."""
    _require_same(call, decided(call, first, second))


def decided(call: Call, first: Array, second: Array) -> bool:
    """Return whether rounding decides for no pair of numbers which one is larger; see `jumping`."""
    difference = as_floats(first) - as_floats(second)
    return not _changes(call, np.sign, [difference], np.sign(difference)).any()


def _changes(call: Call, function: Callable[..., Any], operands: Sequence[Array], result: Array) -> NDArray[np.bool_]:
    """Return which numbers of a result change if computed operands are changed a little.

    All numbers of an operand change alike: each number of the result may depend on one number of each operand.
    """
    jumps = call.jumps
    others: list[Sequence[Array]] = []
    if call.stored in _NARROWER and all(map(_is_exact_in(call.stored), operands)):
        others.append([one.astype(_NARROWER[call.stored]) if one.dtype.kind == "f" else one for one in operands])
    if jumps is not None:
        # Kernels of torch differ in the sign of a computed 0, also at different places of one array.
        others.append([np.where(one == 0, -one, one) if one.dtype.kind == "f" else one for one in operands])
        place = len(jumps.met)
        jumps.met.append(list(operands))
        if jumps.noisy is not None:
            draws = [met[place] for met in jumps.noisy() if len(met) > place]
            if len(draws) < len(jumps.noisy()) or any(
                one.shape != operand.shape for draw in draws for one, operand in zip(draw, operands, strict=True)
            ):
                return np.ones(result.shape, dtype=bool)
            others += [*draws, *product(*map(_around, operands, *draws))]
    changed = np.zeros(result.shape, dtype=bool)
    for other in others:
        made = np.asarray(function(*other))
        if made.shape != result.shape:
            return np.ones(result.shape, dtype=bool)
        changed |= (made != result) & ((made == made) | (result == result))
    return changed


def _is_exact_in(name: str) -> Callable[[Array], bool]:
    return lambda one: one.dtype.kind != "f" or np.array_equal(rounded(one, name), one, equal_nan=True)


def _around(operand: Array, *noisy: Array) -> list[Array]:
    """Return numbers that are smaller and larger by a few times the noise."""
    if operand.dtype.kind != "f":
        return [operand]
    width = np.max([np.where(one == operand, 0.0, np.abs(one - operand)) for one in noisy], axis=0)
    return [operand] if not width.any() else [operand + side * _NOISES * width for side in (-1.0, 1.0)]


def require_stable_sign(call: Call, function: Callable[[Array], Array], x: Array) -> None:
    """Refuse matrices for which rounding decides the sign of a result, such as that of a determinant.

    Routines of LAPACK round in an order that is not known. Therefore the matrix is also changed itself.
    """
    size = 2.0 ** -(12 if call.stored in ("float16", "bfloat16") else 49 if call.stored == "float64" else 20)
    chance, result = np.random.default_rng(0), np.asarray(function(x))
    for _ in range(3):
        changed = x * (1.0 + size * chance.uniform(-1.0, 1.0, x.shape))
        _require_same(call, np.array_equal(result, function(changed)))
    jumping(call, function, [x])


def sign_of_determinant(x: Array) -> Array:
    """Return the signs of the determinants of matrices [.., n, n], which are 0 if a matrix has no inverse."""
    return np.asarray(np.linalg.slogdet(x)[0])


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
    side: Callable[..., Any] | None = None,
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
    side : callable, optional
        Says on which side of a pole operands are.
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
        if side is not None:
            require_side(call, *operands, side=side)
        return np.asarray(function(*map(as_floats, operands)))

    return compute


def steps_to(call: Call, start: Array, end: Array, step: Array) -> int:
    """Return how many steps lead from one number to another, which rounding must not decide."""
    # onnxruntime rounds the difference to the type of the file, and then uses doubles.
    count = jumping(call, lambda a, b, each: np.ceil(as_floats(b - a) / as_floats(each)), [start, end, step])
    if not np.isfinite(count):
        raise call.at.refused("makes a range without an end")
    return max(int(count), 0)


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
