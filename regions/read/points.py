# SPDX-License-Identifier: MIT
"""Which points are in a file?

Text has a row per point; an array of numpy with one axis is one point, with two axes rows of points. Images have more
axes, and are flattened in row-major order, last axis fastest, like torch.nn.Flatten: [C, H, W] is one point,
[N, C, H, W] are N points. With ``inputs`` this is not guessed: the last axes whose sizes multiply to that number are
flattened, so that [N, H, W] are N points too. Images whose axes are in another order than the network's are refused.
Invariant: float64 with exactly the values in the file, finite. Nothing in a file is executed.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.domains.points import many_points
from regions.errors import CheckpointError, DomainError, FileTooLargeError, ShapeMismatchError
from regions.files.npz import read_array, read_npz
from regions.files.opened import opened, printable_errors, read_whole, require_ordinary_file
from regions.files.text_table import load_table
from regions.ground.arithmetic.arguments import path_of
from regions.ground.arithmetic.types import Floats
from regions.ground.text.printable import file_name, printable

_TEXTS = (".csv", ".tsv")
POINT_SUFFIXES = (".npy", ".npz", *_TEXTS)
_KINDS = ".npy, .npz, .csv and .tsv files"


def load_points(
    path: str | os.PathLike[str],
    *,
    inputs: int | Sequence[int] | None = None,
    skip_columns: str | int | Sequence[str | int] = (),
    array: str | None = None,
) -> Floats:
    """Read points from a ``.npy``, ``.npz``, ``.csv`` or ``.tsv`` file.

    An array [n, n_in] holds n points, and [n_in] is one. Images are flattened in row-major order, like
    torch.nn.Flatten: [C, H, W] is one point, [N, C, H, W] are N points. ``inputs`` makes clear which axes belong to a
    point. A text file has a row per point, in columns separated by commas, semicolons, tabs or blanks; a header is
    skipped, and ``#`` starts a comment. Nothing in the file is executed: arrays of Python objects are refused.

    Parameters
    ----------
    path : str or path
        The suffix of the name decides the format.
    inputs : int or sequence of int, optional
        Number of coordinates of a point, ``network.n_in``: then it is required, and [N, H, W] are N points. Or their
        shape, ``network.input_shape``: then images [H, W, C] are refused if [C, H, W] is expected.
    skip_columns : str, int, or a sequence of these
        Columns that are not coordinates, such as labels: by their names in the header, or by numbers from 0 (-1 is the
        last one).
    array : str, optional
        Name of the array in a ``.npz`` file; not needed if it holds one.

    Returns
    -------
    float64 [n, n_in]

    Raises
    ------
    DomainError
        Another kind of file, or content that is not what the name says, damaged or cut off.
    ShapeMismatchError, NonFiniteError
        No points, rows of different lengths or of another number than ``inputs``, images with other axes; NaN or
        infinity.
    OSError
        The file cannot be opened.
    TypeError, ValueError
        Invalid arguments.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "points.csv")
    ...     _ = file.write_text("x,y,label\\n0,0.5,cat\\n2,3,dog\\n")
    ...     load_points(file, skip_columns="label")
    array([[0. , 0.5],
           [2. , 3. ]])
    """
    skipped = [skip_columns] if isinstance(skip_columns, (str, int)) else skip_columns
    if not isinstance(skipped, (list, tuple)) or not all(type(one) in (str, int) for one in skipped):
        raise TypeError(f"skip_columns must be names or numbers of columns, got {skip_columns!r}")
    wanted = _arranged(inputs)
    if array is not None and not isinstance(array, str):
        raise TypeError(f"array must be a name, got {type(array).__name__}")
    file = path_of(path)
    suffix = file.suffix.lower()
    if suffix not in POINT_SUFFIXES:
        raise DomainError(f"{file_name(file)}: points are read from {_KINDS}, not {file.suffix or 'a bare name'}")
    if array is not None and suffix != ".npz":
        raise DomainError(
            f"{file_name(file)}: only .npz files have arrays with names, such as {printable(repr(array))}"
        )
    with printable_errors():
        require_ordinary_file(file, DomainError, "the points", _KINDS)
        if suffix in _TEXTS:
            values: NDArray[Any] = load_table(file, skipped)
        else:
            stored = _load_npz(file, array) if suffix == ".npz" else _load_npy(file)
            values = _without_columns(stored, skipped, str(file))
        return many_points(_as_rows(values, wanted, str(file), text=suffix in _TEXTS), str(file))


def load_array(path: str | os.PathLike[str]) -> NDArray[np.generic]:
    """Read the array in a ``.npy`` file unchanged, with the same checks as for points.

    Raises
    ------
    DomainError
        Not an ordinary file, or not such an array.
    OSError
        The file cannot be opened.
    """
    require_ordinary_file(path, DomainError, "the array", ".npy files")
    return _load_npy(Path(path))


def _load_npy(file: Path) -> NDArray[np.generic]:
    with printable_errors():
        try:
            content = read_whole(file)
            if not content.startswith(b"\x93NUMPY"):
                raise DomainError(f"{file}: not a .npy file; save the points with numpy.save")
            return read_array(content, f"{file}: the array")
        except FileTooLargeError as error:
            raise DomainError(str(error)) from None
        except CheckpointError as error:
            raise DomainError(f"{error}: a damaged .npy file, or not plain numbers") from None


def _load_npz(file: Path, name: str | None) -> NDArray[Any]:
    try:
        with opened(file, "the points", _KINDS) as archive:
            arrays = read_npz(archive)
    except CheckpointError as error:
        raise DomainError(str(error)) from None
    names = ", ".join(printable(f"{one} {list(values.shape)}") for one, values in list(arrays.items())[:12])
    if name is None and len(arrays) != 1:
        raise DomainError(f"{file}: holds several arrays; name the one with the points, array=..: {names}")
    if name is not None and name not in arrays:
        raise DomainError(f"{file}: holds no array {printable(repr(name))}; there are {names}")
    return arrays[name] if name is not None else next(iter(arrays.values()))


def _without_columns(values: NDArray[Any], skipped: Sequence[str | int], file: str) -> NDArray[Any]:
    if not skipped:
        return values
    if values.ndim != 2 or any(isinstance(one, str) and not one.lstrip("-").isdecimal() for one in skipped):
        raise DomainError(
            f"{file}: columns are left out of arrays [n, columns], by numbers; this one has shape {list(values.shape)}"
        )
    width = values.shape[1]
    numbers = [int(one) for one in skipped]
    for one in numbers:
        if not -width <= one < width:
            raise DomainError(f"{file}: column {one} does not exist; it has {width}, counted from 0")
    return np.delete(values, numbers, axis=1)


def _arranged(inputs: Any) -> tuple[int, ...] | None:
    """Return the given shape of a point, or its number of coordinates as a shape."""
    if inputs is None:
        return None
    sizes = tuple(inputs) if isinstance(inputs, (list, tuple)) and inputs else (inputs,)
    for size in sizes:
        if type(size) is not int or size < 1:
            wrong = ValueError if type(size) is int else TypeError
            raise wrong(f"inputs must be a positive integer, or a shape of such, got {inputs!r}")
    return sizes


def _as_rows(values: NDArray[Any], wanted: tuple[int, ...] | None, file: str, *, text: bool) -> NDArray[Any]:
    """Return points [n, n_in] from an array of any shape that can be interpreted as points."""
    shape = values.shape
    if values.size == 0:
        raise ShapeMismatchError(f"{file}: holds no points, because it has no numbers")
    if values.ndim == 0 or values.ndim > 4:
        raise ShapeMismatchError(
            f"{file}: expected points of shape [n, n_in] (or [n_in] for one), or images [n, C, H, W] (or [C, H, W] for "
            f"one), got {list(shape)}"
        )
    if wanted is None:
        return values.reshape(1 if values.ndim in (1, 3) else shape[0], -1)
    inputs = math.prod(wanted)
    first_axis = 1 if text else 0  # a row of text is never a part of a point
    for axis in range(first_axis, values.ndim):
        if math.prod(shape[axis:]) == inputs:
            _require_axes(shape[axis:], wanted, file)
            return values.reshape(-1, inputs)
    advice = ""
    if values.ndim == 2 and shape[1] == inputs + 1:
        advice = "; if the first or the last column holds labels, leave it out: skip_columns=0 or -1 (--skip-column ..)"
    raise ShapeMismatchError(
        f"{file}: has shape {list(shape)}, from which no points with {inputs} coordinate{'s' * (inputs > 1)}, one for "
        f"each input, can be made{advice}"
    )


def _require_axes(found: tuple[int, ...], wanted: tuple[int, ...], file: str) -> None:
    """Refuse images with axes in another order; axes of length one do not matter."""
    if min(len(found), len(wanted)) > 1 and [n for n in found if n > 1] != [n for n in wanted if n > 1]:
        raise ShapeMismatchError(
            f"{file}: holds images {list(found)}, the network takes {list(wanted)}: put their axes in this order, for "
            "instance with numpy.moveaxis"
        )
