# SPDX-License-Identifier: MIT
"""Which numbers are accepted, and as which doubles?

Everything numeric a user hands over passes through `exact_float64`: it comes out as float64 with exactly the
same values, or it is refused by name and index. Widening is exact; nothing is ever rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.errors import NetworkError, NonFiniteError, ShapeMismatchError

__all__ = ["bfloat16_to_float32", "exact_float64"]


def bfloat16_to_float32(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Widen bfloat16 numbers, given as native bit patterns: they are the upper halves of float32 numbers."""
    return np.asarray(np.left_shift(bits, 16, dtype=np.uint32)).view(np.float32)


def _as_numpy(values: Any, name: str) -> NDArray[Any]:
    if type(values).__module__.split(".")[0] == "torch":
        try:
            values = values.detach().cpu().resolve_conj().resolve_neg()
            if str(values.dtype) == "torch.bfloat16":  # numpy has no such type; float32 holds all its values
                values = values.float()
            return np.asarray(values)
        except (
            AttributeError,
            TypeError,
            RuntimeError,
        ) as error:  # quantized, sparse, on the meta device, ...
            raise NetworkError(f"{name}: this torch object has no plain numbers to read: {error}") from error
    try:
        return np.asarray(values)
    except ValueError:
        raise ShapeMismatchError(
            f"{name}: not a rectangular array of numbers, its rows differ in length"
        ) from None


def exact_float64(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return a new C-contiguous float64 array with exactly the given numbers.

    Parameters
    ----------
    values : array_like
        Real numbers: float16, float32, float64, integers that fit a double; torch tensors also bfloat16.
    name : str
        What to call the array in messages.

    Raises
    ------
    NetworkError
        A type that is not a real number, or that a double can not hold exactly.
    ShapeMismatchError
        Rows of different lengths.
    NonFiniteError
        NaN or infinity; the message names the index.

    Examples
    --------
    >>> exact_float64([[1, 2], [3, 4]], "weights").dtype
    dtype('float64')
    """
    given = _as_numpy(values, name)
    if given.dtype.kind not in "fiu" or given.dtype.itemsize > 8:
        raise NetworkError(
            f"{name}: dtype {given.dtype} is not a real number that a double can hold; convert it to float64 "
            "first"
        )
    with np.errstate(invalid="ignore"):  # a signalling NaN is refused below like any other
        exact = np.array(given, dtype=np.float64, order="C")
    if given.dtype.kind != "f":
        inexact = _needs_more_than_53_bits(given)
        if inexact.any():
            index = np.argwhere(inexact)[0]
            raise NetworkError(
                f"{_entry(name, index)} is {given[tuple(index)]}, an integer that a double can not hold "
                "exactly"
            )
    if not np.isfinite(exact).all():
        index = np.argwhere(~np.isfinite(exact))[0]
        raise NonFiniteError(f"{_entry(name, index)} is {exact[tuple(index)]}; all numbers must be finite")
    return exact


def _needs_more_than_53_bits(integers: NDArray[Any]) -> NDArray[np.bool_]:
    bits = integers.astype(np.uint64)  # two's complement for negative numbers
    with np.errstate(over="ignore"):  # a sum that wraps around is what negation means here
        magnitude = np.where(integers < 0, ~bits + np.uint64(1), bits)
        lowest_bit = np.maximum(magnitude & (~magnitude + np.uint64(1)), np.uint64(1))
    result: NDArray[np.bool_] = magnitude // lowest_bit >= np.uint64(2**53)
    return result


def _entry(name: str, index: NDArray[np.intp]) -> str:
    return f"{name}[{', '.join(str(i) for i in index)}]"
