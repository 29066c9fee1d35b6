# SPDX-License-Identifier: MIT
"""How are points in arrays converted?

A point is a flat list of its coordinates, or an image [C, H, W], which is flattened in row-major order like
torch.nn.Flatten.
Invariant: the result is float64 with exactly the given values, finite, of the requested shape.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.errors import DegenerateDomainError, DomainError, NetworkError, NonFiniteError, ShapeMismatchError
from regions.ground.arithmetic.arrays import as_numpy, exact_float64
from regions.ground.arithmetic.types import Floats, Integers

# Axes of an image: channels, rows and columns.
IMAGE = 3


def one_point(values: ArrayLike, name: str) -> Floats:
    """Convert one point or direction of input space, [n_in] or [C, H, W], to float64 [n_in]."""
    return _numbers(
        values,
        name,
        1,
        "[n_in]: one point is a flat list of its coordinates, such as array.ravel(), or an image [C, H, W]",
    )


def many_points(values: ArrayLike, name: str) -> Floats:
    """Convert several points, [n, n_in] or [n, C, H, W], to float64 [n, n_in]."""
    return _numbers(values, name, 2, "[n, n_in]: one row per point, or one image, [n, C, H, W]")


def as_points(values: ArrayLike, name: str) -> NDArray[Any]:
    """Convert points to an array of any type and shape, once for all that is asked of it."""
    try:
        return as_numpy(values, name)
    except NetworkError as error:  # in this file the error is about a domain
        raise DomainError(str(error)) from None


def pairs_of_points(values: ArrayLike, name: str) -> Floats:
    """Convert pairs of points, [n, 2, n_in] or [n, 2, C, H, W], to float64 [n, 2, n_in]."""
    shape = "[n, 2, n_in]: two points in each row, or two images, [n, 2, C, H, W]"
    result = _numbers(values, name, 3, shape)
    if result.shape[1] != 2:
        raise ShapeMismatchError(f"{name}: expected shape {shape}, got {list(np.shape(values))}")
    return result


def shape_of_points(name: str, **given: ArrayLike) -> tuple[int, ...]:
    """Return the shape of the given points: [C, H, W] if some are images, else [n_in].

    Raises
    ------
    ShapeMismatchError
        Images of different shapes.
    """
    shapes = {key: as_numpy(values, key).shape for key, values in given.items()}
    images = {key: shape[-IMAGE:] for key, shape in shapes.items() if len(shape) >= IMAGE}
    if len(set(images.values())) > 1:
        said = ", ".join(f"{key} has {list(shape)}" for key, shape in images.items())
        raise ShapeMismatchError(f"{name}: all images need the same shape, but {said}")
    return next(iter(images.values()), next(iter(shapes.values()))[-1:])


def difference(b: Floats, a: Floats, name: str) -> Floats:
    """Return ``b - a``, rounded, or refuse a difference beyond the largest double."""
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
    """Convert the two directions of a chart in a plane, each to float64 [n_in]."""
    pair = one_point(e1, f"{name}: e1"), one_point(e2, f"{name}: e2")
    same_length(name, e1=pair[0], e2=pair[1])
    return pair


def _numbers(values: ArrayLike, name: str, axes: int, shape: str) -> Floats:
    try:
        result = exact_float64(as_points(values, name), name, copy=False)
    except NetworkError as error:  # the dtype is refused
        raise DomainError(str(error)) from None
    if result.ndim not in (axes, axes + IMAGE - 1) or not result.size:
        empty = "" if result.size else ", which is empty; give at least one"
        raise ShapeMismatchError(f"{name}: expected shape {shape}, got {list(result.shape)}{empty}")
    result = result.reshape(*result.shape[: axes - 1], -1)
    return result + 0.0  # a new array, without negative zeros, so that equal domains have equal bytes


def bounds(name: str, low: ArrayLike, high: ArrayLike) -> tuple[Floats, Floats, Integers]:
    """Return two opposite corners of a box, float64 [n_in], and the coordinates in which they differ.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        Points of different lengths; NaN or infinity.
    DegenerateDomainError
        ``low > high`` in a coordinate.
    """
    least, most = one_point(low, f"{name}: low"), one_point(high, f"{name}: high")
    same_length(name, low=least, high=most)
    for index in np.flatnonzero(least > most)[:1]:
        raise DegenerateDomainError(f"{name}: low[{index}] = {least[index]:g} is above high[{index}] = {most[index]:g}")
    return least, most, np.flatnonzero(least < most)


def along_axes(point: Floats, free: Integers) -> tuple[Floats, Floats]:
    """Return the chart of some coordinates, where the others are as in a point: origin [n_in], directions [d, n_in]."""
    origin, directions = point.copy(), np.zeros((len(free), len(point)))
    origin[free] = 0.0
    directions[np.arange(len(free)), free] = 1.0
    return origin, directions
