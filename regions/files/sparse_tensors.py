# SPDX-License-Identifier: MIT
"""Which array does a sparse tensor of torch stand for?

COO stores the coordinates of each number, and coordinates may repeat. CSR stores the columns of each row's numbers;
CSC exchanges rows and columns. All other entries are 0.
Positions and counts come from a file, so each is checked here before it is used.
Source: the invariants in torch's documentation of ``torch.sparse``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["array_of_compressed", "array_of_coordinates", "empty_shape"]

# numpy must be able to count an array's numbers, ignoring axes of length 0.
MOST_NUMBERS = 2**48


def empty_shape(size: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape for an array without numbers, smaller than ``size`` if numpy does not support that shape."""
    counted = math.prod(max(length, 1) for length in size)
    return size if counted < MOST_NUMBERS else tuple(min(length, 1) for length in size)


def array_of_coordinates(
    indices: NDArray[Any], values: NDArray[Any], size: tuple[int, ...], distinct: bool
) -> NDArray[Any] | None:
    """Return the array of a COO tensor; None if its parts contradict each other.

    Numbers with the same coordinates are added, one after the other.

    Parameters
    ----------
    indices : int64 [axes, numbers]
        The coordinates along the first axes.
    values : [numbers, *lengths of the other axes]
    size : tuple of int
    distinct : bool
        Whether coordinates must be distinct and sorted, as they are in a coalesced tensor.
    """
    if indices.ndim != 2 or indices.dtype != np.int64 or not values.ndim:
        return None
    axes, count = indices.shape
    lengths = size[:axes]
    if len(lengths) != axes or values.shape != (count, *size[axes:]):
        return None
    if count and axes and ((indices < 0) | (indices >= np.reshape(lengths, (axes, 1)))).any():
        return None
    if not all(size):
        return np.zeros(empty_shape(size), dtype=values.dtype)
    result = np.zeros(size, dtype=values.dtype)
    places = np.ravel_multi_index(tuple(indices), lengths) if axes else np.zeros(count, dtype=np.int64)
    if distinct and (np.diff(places) <= 0).any():
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        np.add.at(result.reshape(-1, *size[axes:]), places, values)
    return result


def array_of_compressed(
    starts: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], size: tuple[int, ...]
) -> NDArray[Any] | None:
    """Return the matrix of a CSR tensor; None if its parts contradict each other.

    Parameters
    ----------
    starts : int32 or int64 [rows + 1]
        Row i has the numbers from ``starts[i]`` to ``starts[i + 1]``.
    columns : int32 or int64 [numbers]
        Ascending in each row.
    values : [numbers]
    size : (rows, columns)
    """
    kinds = (np.dtype(np.int32), np.dtype(np.int64))
    if starts.dtype not in kinds or columns.dtype not in kinds or values.ndim != 1 or len(size) != 2:
        return None
    if starts.shape != (size[0] + 1,) or columns.shape != values.shape:
        return None
    lengths: NDArray[np.int64] = starts[1:].astype(np.int64) - starts[:-1]
    if starts[0] != 0 or starts[-1] != len(values) or (lengths < 0).any():
        return None
    if ((columns < 0) | (columns >= size[1])).any():
        return None
    rows = np.repeat(np.arange(size[0]), lengths)
    if ((np.diff(rows) == 0) & (np.diff(columns) <= 0)).any():
        return None
    result = np.zeros(size if all(size) else empty_shape(size), dtype=values.dtype)
    result[rows, columns] = values
    return result
