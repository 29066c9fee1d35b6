# SPDX-License-Identifier: MIT
"""Which operators pick, replace or clear numbers at constant places?

Source: the documentation of torch's and of ONNX's operators.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import UnsupportedLayerError
from regions.ground.arithmetic.arrays import exact_float64
from regions.read.graphs.call import Call, Operation
from regions.read.graphs.moving import axis_of, moved
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators import parts
from regions.read.graphs.operators.elementwise import added
from regions.read.graphs.operators.shapes import expand
from regions.read.graphs.operators.shapes import index as pick
from regions.read.graphs.site import places

__all__ = [
    "copy_into",
    "fill_places",
    "pick_along",
    "pick_along_broadcast",
    "pick_blocks",
    "pick_flat",
    "put",
    "replace_along",
    "replace_blocks",
    "replace_part",
    "triangle",
]


def pick_along(call: Call) -> Any:
    """Return numbers along an axis by an array of places with the axes of the result (``gather``)."""
    x, index = call.movable(), _places(call)
    axis = axis_of(call.at, call.integer("dim"), len(x.shape))
    call.ignore("sparse_grad")
    if index.ndim != len(x.shape) or any(
        n > m for i, (n, m) in enumerate(zip(index.shape, x.shape, strict=True)) if i != axis
    ):
        raise call.at.refused(f"picks by places of shape {list(index.shape)} from shape {list(x.shape)}")
    window = tuple(slice(None) if i == axis else slice(0, n) for i, n in enumerate(index.shape))
    return call.moved(lambda array: np.take_along_axis(array[window], index, axis), index.size)


def pick_along_broadcast(call: Call) -> Any:
    """Return the same, after the other axes of both have been repeated to equal lengths; without an axis, in flat order
    (``take_along_dim``).
    """
    call = call.with_arguments(index=call.given("indices"))
    x, index = call.movable(), _places(call)
    if call.given("dim", None) is None:
        return pick_flat(call)
    axis = axis_of(call.at, call.integer("dim"), len(x.shape))
    if index.ndim != len(x.shape):
        raise call.at.refused(f"picks by places of shape {list(index.shape)} from shape {list(x.shape)}")
    lengths = [(n, m) for i, (n, m) in enumerate(zip(index.shape, x.shape, strict=True)) if i != axis]
    if not all(n == m or 1 in (n, m) for n, m in lengths):
        raise call.at.refused(f"picks by places of shape {list(index.shape)} from shape {list(x.shape)}")
    rest = [max(n, m) for n, m in lengths]
    wide, deep = ((*rest[:axis], each.shape[axis], *rest[axis:]) for each in (index, x))
    places = np.broadcast_to(index, wide)
    return call.moved(lambda array: np.take_along_axis(np.broadcast_to(array, deep), places, axis), math.prod(wide))


def pick_flat(call: Call) -> Any:
    """Return numbers by their places in the flat order (``take``)."""
    index = _places(call)
    return call.moved(lambda array: array.reshape(-1)[index], index.size)


def pick_blocks(call: Call) -> Any:
    """Return blocks of numbers: the last axis of the places has the first coordinates of a block (``GatherND``).

    The first ``batch_dims`` axes of both belong together.
    """
    x, index, batch = call.movable(), _places(call), call.integer("batch_dims", 0)
    if not index.ndim or not 0 <= batch < min(index.ndim, len(x.shape)) or x.shape[:batch] != index.shape[:batch]:
        raise call.at.refused(f"picks by places of shape {list(index.shape)} from shape {list(x.shape)}")
    coordinates = index.shape[-1]
    if not 0 < coordinates <= len(x.shape) - batch:
        raise call.at.refused(f"picks by places with {coordinates} coordinates from shape {list(x.shape)}")
    shape = index.shape[:-1] + x.shape[batch + coordinates :]
    first = np.ogrid[tuple(slice(length) for length in index.shape[:-1])]
    window = (*first[:batch], *np.moveaxis(index, -1, 0))
    return call.moved(lambda array: array[window], math.prod(shape))


def replace_blocks(call: Call) -> Tensor:
    """Return x with blocks of numbers replaced by ``updates``, or with these added (``ScatterND``)."""
    shape, index = call.given("self").shape, _places(call)
    if not index.ndim or not 0 < index.shape[-1] <= len(shape):
        raise call.at.refused(f"replaces numbers at places of shape {list(index.shape)} of shape {list(shape)}")
    return _replaced(call, tuple(np.moveaxis(index, -1, 0)))


def replace_along(call: Call) -> Tensor:
    """Return x with numbers at places along an axis replaced by ``updates``, or with these added."""
    shape, index = call.given("self").shape, _places(call)
    axis = axis_of(call.at, call.integer("dim"), len(shape))
    if index.ndim != len(shape):
        raise call.at.refused(f"replaces numbers at places of shape {list(index.shape)} of shape {list(shape)}")
    window: list[Any] = list(np.ogrid[tuple(slice(length) for length in index.shape)])
    window[axis] = index
    return _replaced(call, tuple(window))


def replace_part(call: Call, *, part: Operation) -> Any:
    """Return x with the numbers replaced that an operator ``part`` with the same arguments would return."""
    wanted, updates = _places_in_part(call, part, "src"), call.given("src")
    if isinstance(updates, Tensor) and updates.shape != wanted[0].shape:
        raise call.at.refused(f"puts shape {list(updates.shape)} into a part of shape {list(wanted[0].shape)}")
    return _replaced(call, wanted)


def put(call: Call) -> Any:
    """Return x with numbers replaced, or added, at places like those of ``x[:, [2, 0]]`` (``index_put``)."""
    wanted, adds = _places_in_part(call, pick, "values", "accumulate"), call.flag("accumulate")
    size = list(wanted[0].shape)
    values = expand(replace(call, arguments={"self": call.given("values"), "size": size}, asked=set()))
    return _replaced(call.with_arguments(updates=values, reduce="add" if adds else "none"), wanted)


def _places_in_part(call: Call, part: Operation, *others: str) -> tuple[Any, ...]:
    """Return the places in x of what ``part`` returns, one array for each axis; ``others`` are not its arguments."""
    shape = call.given("self").shape
    call.at.charge(0, 16 * math.prod(shape))
    rest = {name: value for name, value in call.arguments.items() if name not in others}
    inner = replace(call, arguments={**rest, "self": np.arange(math.prod(shape)).reshape(shape)})
    wanted = np.unravel_index(part(inner), shape)
    call.ignore(*inner.asked)
    return wanted


def copy_into(call: Call) -> Any:
    """Return the second argument, repeated to the shape of the first (``copy``)."""
    shape = call.movable("self").shape
    call.ignore("self")
    return expand(call.with_arguments(self=call.given("src"), size=list(shape)))


def _replaced(call: Call, window: tuple[Any, ...]) -> Tensor:
    at, word = call.at, call.given(call.first_of("reduction", "reduce"), "none")
    if word not in ("none", "add"):
        raise UnsupportedLayerError(f"{at.label} combines old and new numbers by {word!r}, which is not handled")
    x, updates = (call.given(name) for name in ("self", call.first_of("updates", "src")))
    sources = np.arange(math.prod(x.shape)).reshape(x.shape)
    at.charge(0, 24 * sources.size)
    try:
        wanted = sources[window]
        if wanted.shape != updates.shape:
            raise IndexError
    except IndexError:
        raise at.refused(
            f"puts shape {list(updates.shape)} into shape {list(x.shape)} at places that do not fit"
        ) from None
    if word == "add":
        # Numbers that are added at one place are added one after the other.
        flat = wanted.ravel()
        order = np.argsort(flat, kind="stable")
        _, first, counts = np.unique(flat[order], return_index=True, return_counts=True)
        turn = np.empty(flat.size, dtype=np.int64)
        turn[order] = np.arange(flat.size) - np.repeat(first, counts)
        spreads = []
        for each in range(turn.max(initial=-1) + 1):
            at.charge(24 * sources.size)
            spread = np.full(sources.size, -1)
            spread[flat[turn == each]] = np.flatnonzero(turn == each)
            spreads.append(spread.reshape(x.shape))
        if isinstance(updates, Tensor) and spreads:
            return added(at, x, at.summed([(at.rearranged(updates, spread), 1.0) for spread in spreads]))
        numbers = np.append(exact_float64(updates, at.label).ravel(), 0.0)
        for spread in spreads:
            x = added(at, x, numbers[spread])
        return x
    if len(np.unique(wanted)) < wanted.size:
        raise UnsupportedLayerError(
            f"{at.label} names a place twice, so one number replaces another, in an order that is not defined"
        )
    flat = [moved(at, each, lambda array: array.reshape(-1)) for each in (x, updates)]
    sources[window] = sources.size + np.arange(wanted.size).reshape(wanted.shape)
    joined = parts.join(call.with_arguments(tensors=flat, dim=0))
    return moved(at, joined, lambda array: array[sources], sources.size)


def fill_places(call: Call) -> Tensor:
    """Return x with a number at places along an axis (``index_fill``)."""
    x, index, value = call.tensor(), _places(call), call.bound("value")
    if value is None or not math.isfinite(value):
        raise UnsupportedLayerError(f"{call.at.label} fills in {value}, which is not a finite number")
    axis = axis_of(call.at, call.integer("dim"), len(x.shape))
    filled = np.zeros(x.shape[axis], dtype=bool)
    try:
        filled[index] = True
    except IndexError:
        raise call.at.refused(f"fills places {index.ravel()[:20].tolist()} of {len(filled)}") from None
    shape = (1,) * axis + (-1,) + (1,) * (len(x.shape) - axis - 1)
    mask = np.broadcast_to(filled.reshape(shape), x.shape)
    kept = call.at.rearranged(x, np.where(mask, -1, places(x)))
    return call.at.scaled(kept, 1.0, np.where(mask, value, 0.0)) if value else kept


def triangle(call: Call, *, lower: bool) -> Any:
    """Return matrices with zeros above a diagonal, or below it."""
    x, diagonal = call.given("self"), call.integer(call.first_of("diagonal", "k"), 0)
    if len(x.shape) < 2:
        raise call.at.refused(f"takes matrices, and gets shape {list(x.shape)}")
    mask = np.tri(x.shape[-2], x.shape[-1], diagonal if lower else diagonal - 1, dtype=bool) == lower
    if isinstance(x, Tensor):
        return call.at.rearranged(x, np.where(mask, places(x), -1))
    return np.where(mask, x, np.zeros_like(x))


def _places(call: Call) -> NDArray[Any]:
    index = call.given("index")
    if not isinstance(index, np.ndarray) or index.dtype.kind not in "iu":
        raise UnsupportedLayerError(f"{call.at.label} picks by something that is not a constant list of integers")
    return index
