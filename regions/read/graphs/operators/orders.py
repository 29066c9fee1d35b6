# SPDX-License-Identifier: MIT
"""Which operators sort numbers, or take the largest of the first ones?

A network of comparators sorts them: each comparator replaces two numbers by the larger and the smaller of both. Within
one order of the numbers every comparator has the same result, and two orders differ in some comparator. Therefore the
activation regions are those of the orders, whatever the network is.
Source: Knuth, The Art of Computer Programming, volume 3, algorithm 5.2.2M (merge exchange).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regions.errors import UnsupportedLayerError
from regions.networks.maxima import MOST_ARMS
from regions.read.graphs.call import Call
from regions.read.graphs.constants.along_axes import require_order
from regions.read.graphs.moving import axis_of, moved
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators.maxima import largest
from regions.read.graphs.site import Site, places

__all__ = ["first_in_order", "median", "nth_smallest", "running_largest", "sort"]


def sort(call: Call) -> Tensor:
    """Return the numbers along an axis in increasing order, or in decreasing order if ``descending``."""
    x = call.tensor()
    call.ignore("stable")
    if not x.shape:
        return x
    axis = axis_of(call.at, call.integer("dim", -1), len(x.shape))
    return _sorted(call.at, x, axis, descending=call.flag("descending"))


def first_in_order(call: Call) -> Tensor:
    """Return the ``k`` largest numbers along an axis in decreasing order, or the smallest ones in increasing order."""
    x, count, from_largest = call.tensor(), call.integer("k"), call.flag("largest", True)
    axis = axis_of(call.at, call.integer("dim", -1), len(x.shape))
    if not 0 < count <= x.shape[axis]:
        raise call.at.refused(f"takes {count} of {x.shape[axis]} numbers")
    require_order(call, count)
    return _taken(call.at, x, axis, slice(0, count), descending=from_largest)


def nth_smallest(call: Call) -> Tensor:
    """Return the k-th smallest number along an axis, counted from 1."""
    x, count = call.tensor(), call.integer("k")
    axis = axis_of(call.at, call.integer("dim", -1), len(x.shape))
    if not 0 < count <= x.shape[axis]:
        raise call.at.refused(f"takes number {count} of {x.shape[axis]}")
    return _one_of(call, x, axis, count - 1)


def median(call: Call) -> Tensor:
    """Return the median along an axis, or of all numbers; of two numbers in the middle, the smaller one."""
    x = call.tensor()
    if call.given("dim", None) is None:
        x = moved(call.at, x, lambda array: array.reshape(-1))
        return _one_of(call, x, 0, (x.size - 1) // 2)
    axis = axis_of(call.at, call.integer("dim"), len(x.shape))
    return _one_of(call, x, axis, (x.shape[axis] - 1) // 2)


def running_largest(call: Call, *, smallest: bool = False) -> Tensor:
    """Return the largest of the numbers up to each one along an axis, or the smallest."""
    x = call.tensor()
    axis = axis_of(call.at, call.integer("dim"), max(len(x.shape), 1))
    if not x.shape:
        return x
    length = x.shape[axis]
    call.at.charge(0, 24 * x.size * length)
    last = np.moveaxis(places(x), axis, -1)
    upto = np.where(np.tri(length, dtype=bool), last[..., np.newaxis, :], -1)
    made = largest(call.at, x, upto.reshape(-1, length), last.shape, smallest=smallest)
    return moved(call.at, made, lambda array: np.moveaxis(array, -1, axis))


def _one_of(call: Call, x: Tensor, axis: int, number: int) -> Tensor:
    made = _taken(call.at, x, axis, slice(number, number + 1), descending=False)
    return made if call.flag("keepdim") else moved(call.at, made, lambda array: array.squeeze(axis))


def _taken(at: Site, x: Tensor, axis: int, window: slice, *, descending: bool) -> Tensor:
    """Return some of the sorted numbers; the first or last one alone is a single maximum."""
    if window in (slice(0, 1), slice(x.shape[axis] - 1, x.shape[axis])):
        last = np.moveaxis(places(x), axis, -1)
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        smallest = descending != (window.start == 0)
        return largest(at, x, last.reshape(-1, last.shape[-1]), shape, smallest=smallest)
    every: tuple[Any, ...] = (slice(None),) * axis + (window,)
    return moved(at, _sorted(at, x, axis, descending=descending), lambda array: array[every])


def _sorted(at: Site, x: Tensor, axis: int, *, descending: bool) -> Tensor:
    length = x.shape[axis]
    if length > MOST_ARMS:
        raise UnsupportedLayerError(
            f"{at.label} sorts {length} numbers, and at most {MOST_ARMS} are handled; sort smaller groups"
        )
    if length == 1:
        return x
    x = moved(at, x, lambda array: np.moveaxis(array, axis, 0))
    rest = x.shape[1:]
    x = moved(at, x, lambda array: array.reshape(length, -1))
    for pairs in _stages(length):
        lower, upper = pairs.T
        compared = np.stack([places(x)[lower], places(x)[upper]], axis=-1).reshape(-1, 2)
        shape = (len(pairs), x.shape[1])
        small, large = (largest(at, x, compared, shape, smallest=smallest) for smallest in (True, False))
        together = at.joined([x, small, large], 0)
        rows = np.arange(length)
        rows[lower], rows[upper] = length + np.arange(len(pairs)), length + len(pairs) + np.arange(len(pairs))
        x = moved(at, together, lambda array, rows=rows: array[rows], 3 * x.size)  # type: ignore[misc]
    x = moved(at, x, lambda array: (array[::-1] if descending else array).reshape(length, *rest))
    return moved(at, x, lambda array: np.moveaxis(array, 0, axis))


def _stages(count: int) -> list[Any]:
    """Return pairs of places [pairs, 2] that are compared at the same time, stage by stage."""
    stages = []
    top = 1 << (count - 1).bit_length() >> 1
    step = top
    while step > 0:
        far, remainder, distance = top, 0, step
        while True:
            stages.append(np.array([(i, i + distance) for i in range(count - distance) if i & step == remainder]))
            if far == step:
                break
            distance, far, remainder = far - step, far >> 1, step
        step >>= 1
    return [stage for stage in stages if len(stage)]
