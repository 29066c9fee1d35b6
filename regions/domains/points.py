# SPDX-License-Identifier: MIT
"""How do points get in from arrays?

Invariant: what comes out is float64 with exactly the values that were given, finite, of the shape the caller
named.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from regions.arithmetic.arrays import exact_float64
from regions.arithmetic.types import Floats
from regions.errors import DomainError, NetworkError, NonFiniteError, ShapeMismatchError


def one_point(values: ArrayLike, name: str) -> Floats:
    """Take in one point or direction of input space, float64 [n_in]."""
    return _numbers(values, name, "[n_in]: one point is a flat list of its coordinates")


def many_points(values: ArrayLike, name: str) -> Floats:
    """Take in several points, float64 [n, n_in]."""
    return _numbers(values, name, "[n, n_in]: one row per point")


def difference(b: Floats, a: Floats, name: str) -> Floats:
    """Return ``b - a``, rounded, or say that it is beyond the largest double."""
    with np.errstate(over="ignore"):
        result = b - a
    if not np.isfinite(result).all():
        raise NonFiniteError(f"{name} is beyond the largest double; move or scale the points")
    return result


def same_length(name: str, **arrays: Floats) -> None:
    """Refuse points [.., n_in] with different numbers of coordinates."""
    if len({array.shape[-1] for array in arrays.values()}) > 1:
        lengths = ", ".join(f"{key} has {array.shape[-1]}" for key, array in arrays.items())
        raise ShapeMismatchError(f"{name}: all points need the same number of coordinates, but {lengths}")


def two_directions(name: str, e1: ArrayLike, e2: ArrayLike) -> tuple[Floats, Floats]:
    """Take in the two directions of a chart in a plane, each float64 [n_in]."""
    pair = one_point(e1, f"{name}: e1"), one_point(e2, f"{name}: e2")
    same_length(name, e1=pair[0], e2=pair[1])
    return pair


def _numbers(values: ArrayLike, name: str, shape: str) -> Floats:
    try:
        result = exact_float64(values, name)
    except NetworkError as error:  # the dtype is refused: here it is a domain that it does not make
        raise DomainError(str(error)) from None
    if result.ndim != shape.count(",") + 1 or result.shape[-1] == 0:
        raise ShapeMismatchError(f"{name}: expected shape {shape}, got {list(result.shape)}")
    return result + 0.0  # without negative zeros, so that equal domains have equal bytes
