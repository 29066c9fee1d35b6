# SPDX-License-Identifier: MIT
"""How are numbers moved without changing them?

A tensor has arrays that say which result of which operation each of its elements is. Reshaping, transposing, slicing,
flipping and repeating rearrange these arrays in the same way as the elements, so `moved` applies one function of numpy
to the arrays. To a constant it applies the function directly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from regions.errors import InternalError, RegionsError
from regions.files.limits import MAX_AXES
from regions.ground.arithmetic.types import Floats
from regions.read.graphs.operations import Tensor
from regions.read.graphs.piecewise import Piecewise
from regions.read.graphs.site import BYTES_OF_ELEMENT, Site

__all__ = ["MOVED_BYTES", "axes_of", "axis_of", "moved", "repeated", "spread"]

# Memory for each repeated number: its operation and position, temporary copies of both, and an entry in lists.
MOVED_BYTES = 48
Value = TypeVar("Value", Tensor, Piecewise, NDArray[Any])


def moved(at: Site, x: Value, move: Callable[[NDArray[Any]], NDArray[Any] | None], most: int | None = None) -> Value:
    """Apply a function of numpy that only moves numbers to a tensor, a value that may jump, or a constant.

    A result without numbers is a constant.

    Parameters
    ----------
    at : Site
    x : Tensor, Piecewise or array
    move : callable
        Takes an array. If the array does not fit, it returns None or raises an error of numpy.
    most : int, optional
        The largest allowed size of the result; the size of x if left out. Its memory is compared with the limit before
        anything is built.
    """
    most = x.size if most is None else most
    at.charge(0, MOVED_BYTES * most if most > x.size else BYTES_OF_ELEMENT * most)

    def apply(array: NDArray[Any]) -> NDArray[Any]:
        result = move(array)
        if result is None:
            raise ValueError
        result = np.asarray(result)  # numpy returns a single number as a scalar, not as an array
        if result.size > most:
            raise InternalError(f"{at.label} makes {result.size} numbers, and only {most} were charged")
        at.require_axes(result.shape)
        if isinstance(x, (Tensor, Piecewise)) and not result.size:
            raise _NoNumbersError(result.shape)
        return result

    try:
        if isinstance(x, Piecewise):
            return x.moved(at, apply)  # type: ignore[return-value]
        return at.moved(x, apply) if isinstance(x, Tensor) else apply(x)  # type: ignore[return-value]
    except RegionsError:
        raise
    except _NoNumbersError as found:
        return np.zeros(found.shape)  # type: ignore[return-value]
    except (ValueError, IndexError, OverflowError, TypeError):
        raise at.refused(f"does not fit what reaches it, of shape {list(x.shape)}") from None


class _NoNumbersError(Exception):
    """A tensor that depends on the input is moved to a shape without numbers."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


def axis_of(at: Site, axis: int, count: int) -> int:
    """Return the number of an axis, from 0; the given number may be negative, and then counts from the end."""
    if not -count <= axis < count:
        raise at.refused(f"has an axis {axis}, and gets numbers with {count} axes")
    return axis % count


def axes_of(at: Site, axes: Sequence[int], count: int) -> list[int]:
    """Return the numbers of axes, which must be different."""
    if len(axes) > MAX_AXES:
        raise at.refused(f"names {len(axes)} axes; at most {MAX_AXES} are read")
    found = [axis_of(at, axis, count) for axis in axes]
    if len(set(found)) != len(found):
        raise at.refused(f"names an axis twice: {list(axes)[:20]}")
    return found


Repeated = TypeVar("Repeated", Tensor, Piecewise)


def repeated(at: Site, x: Repeated, shape: tuple[int, ...]) -> Repeated:
    """Return a tensor, repeated until it has a shape."""
    if x.shape == shape:
        return x
    return moved(at, x, lambda array: np.broadcast_to(array, shape), math.prod(shape))


def spread(at: Site, constant: Floats, shape: tuple[int, ...]) -> Floats:
    """Return a constant, repeated to a shape."""
    try:
        if np.broadcast_shapes(constant.shape, shape) == shape:
            return np.broadcast_to(constant, shape)
    except ValueError:
        pass
    raise at.refused(f"has a constant of shape {list(constant.shape)} for {list(shape)}")
