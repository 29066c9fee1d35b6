# SPDX-License-Identifier: MIT
"""Does a graph for a batch of a fixed size act on each row of the batch by itself?

Then one row is one input, and the graph is read for a batch of one. Each value keeps the axis of the batch in front, of
length 1 instead of the length in the file. Every node that depends on the input is checked: its operator must be known
here, its arguments may not name the first axis, and lengths in the file are replaced. A graph with a node that mixes
rows is a function of the whole array, and is read as such.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

from regions.errors import RegionsError, ShapeMismatchError, UnsupportedLayerError
from regions.files import limits
from regions.networks.named_activations import ACTIVATIONS
from regions.read.graphs.call import Call
from regions.read.graphs.operations import Tensor
from regions.read.graphs.piecewise import Piecewise

__all__ = ["batch_of", "for_one_row", "read_by_rows", "require_apart"]

Result = TypeVar("Result")


class _RowsMixed(Exception):
    """A node mixes the rows of a batch; the message names it."""


def batch_of(inputs: Sequence[Sequence[int | None]]) -> int:
    """Return the common first length of all inputs, if it may be a batch; otherwise 1."""
    first = {lengths[0] if len(lengths) > 1 else None for lengths in inputs}
    length = first.pop() if len(first) == 1 else None
    return 1 if length is None else length


def read_by_rows(rows: int, inputs: Sequence[Sequence[int | None]], read: Callable[[int], Result]) -> Result:
    """Read a graph for one row of its batch or, if its nodes mix rows, for all of them.

    Parameters
    ----------
    rows : int
        The length of the batch; see `batch_of`.
    inputs : sequence of sequence of (int or None)
        The lengths of the axes of each input.
    read : callable
        Takes a length of the batch that is read as 1.
    """
    if rows == 1:
        return read(1)
    try:
        return read(rows)
    except (_RowsMixed, RegionsError) as error:
        first = error
    count = sum(prod(length or 1 for length in lengths) for lengths in inputs)
    if count > limits.MAX_INPUTS:
        if isinstance(first, RegionsError):
            raise first
        raise ShapeMismatchError(
            f"{first}; all rows together are {count} numbers, and at most {limits.MAX_INPUTS:,} are read: export the "
            "model for single inputs"
        ) from None
    try:
        return read(1)
    except RegionsError as error:
        if isinstance(first, RegionsError):
            raise first from None
        raise UnsupportedLayerError(f"{first}, and all rows together cannot be read: {error}") from None


def for_one_row(call: Call) -> Call:
    """Return a call for a batch of one, in place of a call for the batch of the file."""
    rows = call.at.reading.rows
    tensors = _tensors(call)
    rank = len(tensors[0].shape)
    if any(len(x.shape) != rank or not rank for x in tensors):
        raise _mixed(call)
    key, replaced = _key(call), dict[str, Any]()
    beside = _BESIDE - _MATRICES.get(key, set())
    for name, value in call.arguments.items():
        if name in beside:
            several = isinstance(value, list)
            made = [_one_of(one, rows, rank, call) for one in (value if several else [value])]
            replaced[name] = made if several else made[0]
        elif name in ("size", "sizes") and key in _SIZED and np.size(value):
            replaced[name] = _one_length(call, name, rows, rank)
        elif isinstance(value, np.ndarray) and key in _MATRICES and value.ndim > rank:
            raise _mixed(call)
    return call.with_arguments(**replaced)


def require_apart(call: Call, results: Sequence[Any]) -> None:
    """Check that a node, which has been read for a batch of one, acts on each row by itself."""
    key, tensors = _key(call), _tensors(call)
    rank = len(tensors[0].shape)
    if key not in _KNOWN or any(isinstance(one, (Tensor, Piecewise)) and one.shape[:1] != (1,) for one in results):
        raise _mixed(call)
    if rank < _LEAST_AXES.get(key, 1) or _key(call).startswith("conv") and rank != call.constant("weight").ndim:
        raise _mixed(call)
    if any(0 in _axes(call, name, count) for name, count in _axes_named(call, key, rank, results)):
        raise _mixed(call)
    if _is_mixing(call, key, rank):
        raise _mixed(call)
    if key == "pad" or key.endswith(("pad1d", "pad2d", "pad3d", "padnd")):
        _require_no_border(call, rank)


def _is_mixing(call: Call, key: str, rank: int) -> bool:
    """Return whether the arguments of single operators let them mix rows."""
    given = call.arguments
    if key in ("permute", "transpose"):
        named = "dim0" in given or "dims" in given
        return not named or ("dims" in given and call.integers("dims")[0] % rank != 0)
    if key == "flatten":
        return "dim" in call.asked and call.integer("dim", 1) % rank != 1
    if key == "repeat":
        return len(call.integers("repeats")) != rank
    if key == "index":
        return not isinstance(given["indices"], list) or given["indices"][0] is not None
    if key in ("matmul", "mm", "mv"):
        return not isinstance(given["self"], Tensor) and rank < 3
    if key in ("gemm", "addmm"):
        return not isinstance(given["mat1"], Tensor) or call.flag("transposed1")
    if key in ("resize", "upsample"):
        return np.ravel(given.get("scales", [1.0]))[:1].tolist() not in ([], [1.0])
    return False


def _require_no_border(call: Call, rank: int) -> None:
    """Refuse a border along the axis of the batch; torch lists the last axis first."""
    if "pads" in call.arguments:
        pads = call.integers("pads")
        axes = [axis % rank for axis in call.integers("dim", list(range(rank)))]
        along = [pads[i] for i, axis in enumerate(axes * 2) if axis == 0]
    else:
        along = call.integers("padding")[2 * rank - 2 :]
    if any(along):
        raise _mixed(call)


def _axes_named(call: Call, key: str, rank: int, results: Sequence[Any]) -> list[tuple[str, int]]:
    """Return the arguments of a call that name axes, each with the number of axes that it counts."""
    count = len(results[0].shape) if key in ("unsqueeze", "stack") and isinstance(results[0], Tensor) else rank
    names = {"dim", "dim0", "dim1", "dim2", "source", "destination", "start_dim", "dimension"} & call.asked
    names |= {"dims"} & call.asked if key in ("flip", "roll", "rot90") else set()
    names -= {"dim"} if key in ("flatten", "pad") else set()
    return [(name, count) for name in sorted(names)]


def _axes(call: Call, name: str, count: int) -> list[int]:
    """Return the axes that an argument names, from 0; an argument that is left out may mean the first."""
    value = call.arguments.get(name)
    if value is None:
        return [0]
    return [axis % count for axis in call.integers(name)] or [0]


def _one_of(value: Any, rows: int, rank: int, call: Call) -> Any:
    """Return a constant for one row of the batch, if all its rows are equal."""
    if not isinstance(value, np.ndarray) or value.ndim < rank:
        return value
    if value.ndim > rank or len(value) not in (1, rows):
        raise _mixed(call)
    if len(value) > 1 and not (value == value[:1]).all():
        raise _mixed(call)
    return value[:1]


def _one_length(call: Call, name: str, rows: int, rank: int) -> Any:
    """Return a requested shape for one row of the batch."""
    lengths = call.integers(name)
    key = _key(call)
    if key in ("expand", "resize") and len(lengths) < rank:
        return lengths
    same = {"expand": (rows, -1, 1), "resize": (rows,)}.get(key, (rows, -1, 0))
    if not lengths or lengths[0] not in same or (key in ("expand", "resize") and len(lengths) > rank):
        raise _mixed(call)
    return [0 if lengths[0] == 0 else 1, *lengths[1:]]


def _tensors(call: Call) -> list[Tensor | Piecewise]:
    values = [one for value in call.arguments.values() for one in (value if isinstance(value, list) else [value])]
    return [one for one in values if isinstance(one, (Tensor, Piecewise))]


def _key(call: Call) -> str:
    """Return the name of an operator without capitals and underscores."""
    return call.at.node.operator.lower().replace("_", "")


def _mixed(call: Call) -> _RowsMixed:
    return _RowsMixed(
        f"{call.at.label} mixes the {call.at.reading.rows} rows of the batch, or is not known to keep them apart"
    )


# Arguments that are broadcast with the tensors, and operators that take a shape.
_BESIDE = {"self", "other", "tensors", "min", "max", "condition", "mask", "value", "values"}
_SIZED = {"reshape", "view", "unsafeview", "expand", "resize"}
# Arguments of products that are matrices.
_MATRICES = {
    **dict.fromkeys(("matmul", "mm", "mv"), {"self", "other"}),
    **dict.fromkeys(("gemm", "addmm"), {"mat1", "other"}),
}
_LEAST_AXES = {
    **dict.fromkeys(("linear", "matmul", "mm", "mv", "gemm", "addmm", "batchnormalization", "batchnorm"), 2),
    **dict.fromkeys(("pixelshuffle", "pixelunshuffle", "depthtospace", "spacetodepth", "im2col"), 4),
    "channelshuffle": 3,
    **{f"upsamplenearest{exact}{axes}d": axes + 2 for axes in (1, 2, 3) for exact in ("", "exact")},
}
_KNOWN = {
    *(name.replace("_", "") for row in ACTIVATIONS for name in row.aten),
    *(row.onnx.name.lower() for row in ACTIVATIONS if row.onnx),
    *(
        "hardtanh",
        "rrelu",
        "rreluwithnoisefunctional",
        "prelu",
        "prelukernel",
        "clamp",
        "clip",
        "clampmin",
        "clampmax",
        "hardsigmoid",
    ),
    *("neg", "negative", "add", "sub", "subtract", "rsub", "mul", "multiply", "div", "divide", "truedivide", "sum"),
    *(
        "max",
        "min",
        "maximum",
        "minimum",
        "amax",
        "amin",
        "mean",
        *(f"reduce{w}" for w in ("mean", "sum", "max", "min")),
    ),
    *("gt", "ge", "lt", "le", "eq", "ne", "greater", "greaterequal", "greaterorequal", "less", "lessequal"),
    *("lessorequal", "equal", "notequal", "sign", "sgn", "heaviside", "where", "maskedfill", "not", "and", "or", "xor"),
    *(f"{kind}{word}" for kind in ("logical", "bitwise") for word in ("not", "and", "or", "xor")),
    *("reducel1", "reducel2", "linalgvectornorm", "sort", "topk", "cumsum"),
    *("linear", "addmm", "matmul", "mm", "mv", "gemm", "batchnorm", "nativebatchnorm", "batchnormalization"),
    *("nativebatchnormlegitnotraining", "convolution", "conv", "convtranspose", "averagepool", "maxpool"),
    *(
        "globalaveragepool",
        "globalmaxpool",
        "im2col",
        "identity",
        "cast",
        "dropout",
        "ai.onnx.ml.scaler",
        "clone",
        "contiguous",
        "to",
    ),
    *(f"{kind}{axes}d" for axes in (1, 2, 3) for kind in ("conv", "convtranspose", "avgpool", "maxpool")),
    *(f"adaptive{kind}pool{axes}d" for axes in (1, 2, 3) for kind in ("avg", "max")),
    *(f"maxpool{axes}dwithindices" for axes in (1, 2, 3)),
    *("tocopy", "detach", "alias", "positive", "liftfreshcopy", "float", "double", "featuredropout", "alphadropout"),
    *("reshape", "view", "unsafeview", "flatten", "unflatten", "squeeze", "unsqueeze", "permute", "transpose"),
    *("swapaxes", "swapdims", "movedim", "moveaxis", "flip", "roll", "rot90", "diagonal", "slice", "narrow", "select"),
    *("indexselect", "index", "gather", "unfold", "expand", "repeat", "repeatinterleave", "channelshuffle"),
    *("pixelshuffle", "pixelunshuffle", "depthtospace", "spacetodepth", "chunk", "split", "splitwithsizes"),
    *("tensorsplit", "unbind", "cat", "concat", "concatenate", "stack", "pad", "constantpadnd", "resize", "upsample"),
    *(f"{kind}pad{axes}d" for axes in (1, 2, 3) for kind in ("reflection", "replication")),
    *(f"upsamplenearest{exact}{axes}d" for axes in (1, 2, 3) for exact in ("", "exact")),
    *(f"{new}{word}{like}" for word in ("ones", "zeros", "full") for new, like in (("", "like"), ("new", ""))),
}
