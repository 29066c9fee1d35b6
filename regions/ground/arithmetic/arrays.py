# SPDX-License-Identifier: MIT
"""Which numbers are accepted, and as which doubles?

All numbers that a user passes go through `exact_float64`: it returns float64 with exactly the same values, or refuses
them by name and index. Widening is exact; nothing is ever rounded. Lists of regions and vertices go through
`indices_of`, points to evaluate or look up through `points_float64`. Results computed from finite numbers must be
finite too: see `require_finite`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.errors import NetworkError, NonFiniteError, ShapeMismatchError
from regions.ground.arithmetic.arguments import shown
from regions.ground.arithmetic.thread_settings import require_exact_arithmetic
from regions.ground.arithmetic.types import Bits, Floats, Indices
from regions.ground.text.printable import printable

__all__ = [
    "as_numpy",
    "indices_of",
    "exact_float64",
    "name_point",
    "own_array",
    "points_float64",
    "read_only",
    "real_numbers",
    "require_finite",
]


def as_numpy(values: Any, name: str) -> NDArray[Any]:
    """Convert any object to an array of any type; refuse by name what numpy cannot convert."""
    if type(values) is np.ndarray:
        return _widened(values)
    try:
        masked = np.ma.is_masked(values)
    except Exception:  # looking at an attribute may raise anything
        masked = False
    if masked:
        raise NonFiniteError(f"{name}: some entries are masked, so their values are unknown; fill them first")
    if type(values).__module__.split(".")[0] == "torch":
        try:
            values = values.detach().cpu()
            if str(values.layout) != "torch.strided":
                values = values.to_dense()
            values = values.resolve_conj().resolve_neg()
            if str(values.dtype).startswith(("torch.bfloat16", "torch.float8_e")):  # numpy has no such types
                values = values.float()
            return np.asarray(values)
        except (AttributeError, TypeError, RuntimeError) as error:  # quantized, on the meta device, ...
            raise NetworkError(f"{name}: this torch object has no plain numbers to read: {error}") from error
    try:
        return _widened(np.asarray(values))
    except ValueError:
        raise ShapeMismatchError(f"{name}: not a rectangular array of numbers, its rows differ in length") from None
    except Exception:  # endless sequences, and whatever an object raises when it is asked for its numbers
        raise NetworkError(f"{name}: no array of numbers can be made of {shown(values)}") from None


def exact_float64(values: ArrayLike, name: str, *, copy: bool = True) -> Floats:
    """Return a C-contiguous float64 array with exactly the given numbers, a new one unless ``copy`` is False.

    Parameters
    ----------
    values : array_like
        Real numbers: float16, float32, float64, integers that fit a double, bfloat16 and other types of ml_dtypes;
        torch tensors also bfloat16 and float8.
    name : str
        What to call the array in messages.

    Raises
    ------
    NetworkError
        If the numbers are not real, or a double cannot hold their type exactly.
    ShapeMismatchError
        Rows of different lengths.
    NonFiniteError
        NaN or infinity; the message names the index.

    Examples
    --------
    >>> exact_float64([[1, 2], [3, 4]], "weights").dtype
    dtype('float64')
    """
    require_exact_arithmetic()
    given = as_numpy(values, name)
    if not _is_real(given):
        raise NetworkError(
            f"{name}: {_kind(given)} is not a real number that a double can hold; convert it to float64 first"
        )
    finite = np.isfinite(given)  # before the conversion, which would warn of a signalling NaN
    if np.count_nonzero(finite) < finite.size:
        index = np.argwhere(~finite)[0]
        raise NonFiniteError(f"{_entry(name, index)} is {given[tuple(index)]}; all numbers must be finite")
    exact = (np.array if copy else np.asarray)(given, dtype=np.float64, order="C")
    # An integer with at most 53 bits is exact, and any other one is rounded to 2^53 or more.
    if given.dtype.kind != "f" and given.dtype.itemsize == 8 and (np.abs(exact) >= 2.0**53).any():
        inexact = _needs_more_than_53_bits(given)
        if inexact.any():
            index = np.argwhere(inexact)[0]
            raise NetworkError(
                f"{_entry(name, index)} is {given[tuple(index)]}, an integer that a double cannot hold exactly"
            )
    return exact


def indices_of(indices: ArrayLike | None, count: int, what: str) -> Indices:
    """Return the indices of regions, or of whatever ``what`` names, int [m]; all of them by default.

    Raises
    ------
    TypeError, IndexError
        Not a list of integers; one that is negative or too large.
    """
    if indices is None:
        return np.arange(count)
    chosen = as_numpy(indices, "indices")
    if chosen.size == 0:
        chosen = chosen.astype(np.intp)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise TypeError(f"indices must be a list of {what} numbers, got {_kind(chosen)} of shape {list(chosen.shape)}")
    wrong = np.flatnonzero((chosen < 0) | (chosen >= count))
    if wrong.size:
        raise IndexError(f"indices[{wrong[0]}] is {chosen[wrong[0]]}; {what} numbers go from 0 to {count - 1}")
    return chosen.astype(np.intp)


def points_float64(
    values: ArrayLike, length: int, name: str = "points", shape: tuple[int, ...] = (), *, copy: bool = True
) -> Floats:
    """Convert points [.., length] exactly to float64, and check that they are finite; a new array unless ``copy`` is
    False.

    If the points are arranged in a ``shape`` of several axes, such as images, [.., *shape] is accepted as well.

    Raises
    ------
    TypeError
        Not real numbers.
    ShapeMismatchError, NonFiniteError
        Another length, NaN or infinity.
    """
    given = as_numpy(values, name)
    if not _is_real(given):
        raise TypeError(f"{name} must be real numbers that a double can hold, got {_kind(given)}")
    if len(shape) > 1 and given.shape[-len(shape) :] == shape:
        given = given.reshape(*given.shape[: -len(shape)], length)
    if given.ndim == 0 or given.shape[-1] != length:
        raise ShapeMismatchError(f"{name} must have shape [.., {length}], got {list(given.shape)}")
    try:
        return exact_float64(given, name if given.ndim > 1 else "coordinate", copy=copy)
    except NetworkError as error:  # an integer that a double cannot hold
        raise ValueError(str(error)) from None


def real_numbers(values: ArrayLike, name: str, *, infinite: bool = False) -> Floats:
    """Convert numbers of any shape exactly to a new float64 array, and refuse NaN, and infinity unless ``infinite``.

    Raises
    ------
    TypeError, ValueError
        Not real numbers; rows of different lengths, NaN or infinity.
    """
    given = as_numpy(values, name)
    if not _is_real(given):
        raise TypeError(f"{name} must be real numbers that a double can hold, got {_kind(given)}")
    beyond = np.isinf(given) if infinite else np.zeros(given.shape, dtype=bool)
    try:
        result = exact_float64(np.where(beyond, 0, given), name)
    except NetworkError as error:  # an integer that a double cannot hold
        raise ValueError(str(error)) from None
    result[beyond] = given[beyond]
    return result


def own_array(given: Any, dtype: type, name: str, *, private: bool = False) -> NDArray[Any]:
    """Return a read-only array that this package owns; a locked array that owns its memory is not copied.

    A ``private`` locked array is not copied either: the caller knows that nothing else can write to it.
    """
    array = as_numpy(given, name)
    flags = array.flags
    if array.dtype == dtype and (private or flags.owndata) and not flags.writeable and flags.c_contiguous:
        return array.view()
    if not np.can_cast(array.dtype, dtype, "safe"):
        with np.errstate(invalid="ignore"):
            same = array.dtype.kind in "fiu" and np.array_equal(array.astype(dtype), array)
        if not same:
            raise TypeError(f"{name} must be an array of {np.dtype(dtype)}, got {printable(array.dtype)}")
    return read_only(array.astype(dtype, order="C"))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Lock an array, and return a view through which it cannot be unlocked."""
    array.setflags(write=False)
    return array.view()


def name_point(flat: int, shape: tuple[int, ...]) -> str:
    """Return the name, for messages, of the point at a flat index among points [*shape, ..]."""
    return f"points{[int(i) for i in np.unravel_index(flat, shape)]}" if shape else "the point"


def require_finite(values: Floats, what: str) -> Floats:
    """Return values [*shape, n] computed for points, or raise NonFiniteError, naming the point, if they overflowed."""
    finite = np.isfinite(values)
    if np.count_nonzero(finite) < finite.size:
        first, shape = int(np.argmin(finite.all(axis=-1))), values.shape[:-1]
        where = f" at {name_point(first, shape)}" if shape else ""
        raise NonFiniteError(f"{what}{where} is beyond the largest double")
    return values


def _widened(given: NDArray[Any]) -> NDArray[Any]:
    """Return numbers of ml_dtypes, such as bfloat16 arrays of JAX, as doubles, which hold all of them exactly."""
    return given.astype(np.float64) if given.dtype.type.__module__ == "ml_dtypes" else given


def _is_real(given: NDArray[Any]) -> bool:
    return given.dtype.kind in "fiu" and given.dtype.itemsize <= 8


def _kind(given: NDArray[Any]) -> str:
    """Describe the type of values that are not numbers: for objects, by the type of the first entry."""
    note = ""
    if given.dtype.kind == "O" and given.size > 0:
        note = f" ({type(given.flat[0]).__name__})"
    elif given.dtype.kind == "V" and given.dtype.names is None:
        note = " (bytes: files of numpy do not keep types such as bfloat16, so save float32 instead)"
    return f"dtype {printable(given.dtype)}{note}"


def _needs_more_than_53_bits(integers: NDArray[Any]) -> Bits:
    bits = integers.astype(np.uint64)  # two's complement for negative numbers
    with np.errstate(over="ignore"):  # negation in two's complement wraps around on purpose
        magnitude = np.where(integers < 0, ~bits + np.uint64(1), bits)
        lowest_bit = np.maximum(magnitude & (~magnitude + np.uint64(1)), np.uint64(1))
    return magnitude // lowest_bit >= np.uint64(2**53)


def _entry(name: str, index: Indices) -> str:
    return f"{name}[{', '.join(str(i) for i in index)}]"
