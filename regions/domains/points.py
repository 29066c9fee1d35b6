# SPDX-License-Identifier: MIT
"""How do points get in: from arrays and from files?

Invariant: what comes out is float64 with exactly the values that were given, finite, of the shape the caller
named.
"""

from __future__ import annotations

import os
from math import isfinite
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.arrays import exact_float64
from regions.errors import CheckpointError, DomainError, NetworkError, NonFiniteError, ShapeMismatchError
from regions.ordinary_file import require_ordinary_file
from regions.printable import file_name, printable_errors

__all__ = [
    "coordinate",
    "difference",
    "load_array",
    "load_points",
    "many_points",
    "one_point",
    "same_length",
    "two_directions",
]


def coordinate(word: str) -> float:
    """Read a number as people and programs write it; Python's ``1_0`` is no such thing.

    Raises
    ------
    ValueError
        Something else, with no message of use.
    """
    if "_" in word:
        raise ValueError(word)
    return float(word)


def one_point(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Take in one point or direction of input space, float64 [n_in]."""
    return _numbers(values, name, "[n_in]: one point is a flat list of its coordinates")


def many_points(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Take in several points, float64 [n, n_in]."""
    return _numbers(values, name, "[n, n_in]: one row per point")


def difference(b: NDArray[np.float64], a: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return ``b - a``, rounded, or say that it is beyond the largest double."""
    with np.errstate(over="ignore"):
        result = b - a
    if not np.isfinite(result).all():
        raise NonFiniteError(f"{name} is beyond the largest double; move or scale the points")
    return result


def same_length(name: str, **arrays: NDArray[np.float64]) -> None:
    """Refuse points [.., n_in] with different numbers of coordinates."""
    if len({array.shape[-1] for array in arrays.values()}) > 1:
        lengths = ", ".join(f"{key} has {array.shape[-1]}" for key, array in arrays.items())
        raise ShapeMismatchError(f"{name}: all points need the same number of coordinates, but {lengths}")


def two_directions(name: str, e1: ArrayLike, e2: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Take in the two directions of a chart in a plane, each float64 [n_in]."""
    pair = one_point(e1, f"{name}: e1"), one_point(e2, f"{name}: e2")
    same_length(name, e1=pair[0], e2=pair[1])
    return pair


def load_points(path: str | os.PathLike[str]) -> NDArray[np.float64]:
    """Read points from a ``.npy`` or ``.csv`` file.

    A ``.npy`` file holds an array [n, n_in], or [n_in] for one point; a ``.csv`` file has a row per point,
    and ``#`` starts a comment. Nothing in the file is executed: arrays of Python objects are refused.

    Parameters
    ----------
    path : str or path
        The name decides the format.

    Returns
    -------
    float64 [n, n_in]

    Raises
    ------
    DomainError
        Another kind of file, or content that is not what the name says, damaged or cut off.
    ShapeMismatchError, NonFiniteError
        No points, rows of different lengths; NaN or infinity.
    OSError
        The file can not be opened.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "points.csv")
    ...     _ = file.write_text("# two points\\n0,0,1\\n0.5,2,3\\n")
    ...     load_points(file)
    array([[0. , 0. , 1. ],
           [0.5, 2. , 3. ]])
    """
    file = Path(path)
    readers = {".npy": _load_npy, ".csv": _load_csv}
    if file.suffix.lower() not in readers:
        raise DomainError(
            f"{file}: points are read from .npy or .csv files, not {file.suffix or 'a bare name'}"
        )
    require_ordinary_file(file, DomainError, "the points", ".npy and .csv")
    with printable_errors():
        values = readers[file.suffix.lower()](file)
    if values.ndim not in (1, 2) or values.size == 0:
        raise ShapeMismatchError(
            f"{file}: expected points of shape [n, n_in] (or [n_in] for one), got {list(values.shape)}"
        )
    return many_points(np.atleast_2d(values), str(file))


def load_array(path: str | os.PathLike[str]) -> NDArray[np.generic]:
    """Read the array in a ``.npy`` file, as it is, under the same conditions as points.

    Raises
    ------
    DomainError
        Not an ordinary file, or not such an array.
    OSError
        The file can not be opened.
    """
    require_ordinary_file(path, DomainError, "the array", ".npy files")
    return _load_npy(Path(path))


def _load_npy(file: Path) -> NDArray[np.generic]:
    from regions.read import limits  # reading models needs networks and domains: not before it is asked for
    from regions.read.npz import read_array

    with printable_errors():
        try:
            limits.check_file_size(file_name(file), file.stat().st_size)
            content = file.read_bytes()
            if not content.startswith(b"\x93NUMPY"):
                raise DomainError(f"{file}: not a .npy file; save the points with numpy.save")
            return read_array(content, f"{file}: the array")
        except CheckpointError as error:
            raise DomainError(f"{error}: a damaged .npy file, or not plain numbers") from None


def _load_csv(file: Path) -> NDArray[np.generic]:
    rows: list[list[float]] = []
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise DomainError(f"{file}: not a text file, so not .csv") from None
    for number, line in enumerate(lines, start=1):
        content = line.split("#")[0].strip()
        if content:
            rows.append(_csv_row(content, f"{file}, line {number}"))
        if content and len(rows[-1]) != len(rows[0]):
            raise ShapeMismatchError(
                f"{file}, line {number}: {len(rows[-1])} coordinates, where the rows before have {len(rows[0])}"
            )
    if not rows:
        what = "nothing but comments in it" if any(lines) else "the file is empty"
        raise ShapeMismatchError(f"{file}: {what}; write a row of numbers, separated by commas, for each point")
    return np.array(rows)


def _csv_row(content: str, where: str) -> list[float]:
    try:
        row = [coordinate(word) for word in content.split(",")]
    except ValueError:
        raise DomainError(
            f"{where}: not numbers separated by commas: {content[:60]!r}; if it is a header, put # before it"
        ) from None
    if not all(map(isfinite, row)):
        raise NonFiniteError(f"{where}: all coordinates must be finite doubles, got {content[:60]!r}")
    return row


def _numbers(values: ArrayLike, name: str, shape: str) -> NDArray[np.float64]:
    try:
        result = exact_float64(values, name)
    except NetworkError as error:  # the dtype is refused: here it is a domain that it does not make
        raise DomainError(str(error)) from None
    if result.ndim != shape.count(",") + 1 or result.shape[-1] == 0:
        raise ShapeMismatchError(f"{name}: expected shape {shape}, got {list(result.shape)}")
    return result + 0.0  # without negative zeros, so that equal domains have equal bytes
