# SPDX-License-Identifier: MIT
"""Which units are the largest or the smallest of several numbers: over windows, along axes, element by element?

Each result is a unit of `regions.networks.maxima`, with one arm for each number. A window that reaches beyond the
border has fewer arms. The smallest is minus the largest of the negated numbers, which is exact.
Source: the documentation of torch's and of ONNX's operators.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from regions.arithmetic.types import Floats
from regions.errors import UnsupportedLayerError
from regions.networks.maxima import MOST_ARMS
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators.elementwise import clipped, compared_with, repeated, repeats
from regions.read.graphs.operators.shapes import moved
from regions.read.graphs.operators.windows import Axis, sources_along_axes, sources_in_windows
from regions.read.graphs.site import Site, places

__all__ = ["compared", "largest_along_axes", "largest_in_windows", "largest_of"]


def largest_in_windows(at: Site, x: Tensor, axes: Sequence[Axis]) -> Tensor:
    """The largest in each window of x [1, channels, *lengths], or without the 1."""
    sources, shape = sources_in_windows(at, x, axes)
    return _largest(at, x, sources, shape)


def largest_along_axes(at: Site, x: Tensor, axes: Sequence[int], keep: bool, *, smallest: bool = False) -> Tensor:
    """The largest along axes, which stay with length 1 or go; or the smallest."""
    sources, shape = sources_along_axes(at, x, axes, keep)
    return _turned(at, _largest(at, _turned(at, x, smallest), sources, shape), smallest)


def largest_of(at: Site, tensors: Sequence[Tensor], *, smallest: bool = False) -> Tensor:
    """The largest of tensors, element by element; they are repeated until their shapes agree."""
    try:
        shape = np.broadcast_shapes(*(x.shape for x in tensors))
    except ValueError:
        shapes = " and ".join(str(list(x.shape)) for x in tensors)
        raise at.refused(f"compares shapes {shapes}") from None
    wide = [repeated(at, x, shape) for x in tensors]
    together = at.joined([moved(at, x, lambda array: array.reshape(1, -1)) for x in wide], 0)
    return _turned(at, _largest(at, _turned(at, together, smallest), places(together).T, shape), smallest)


def compared(
    at: Site, tensors: Sequence[Tensor], constants: Sequence[Floats], *, smallest: bool, widest: float = math.inf
) -> Tensor:
    """Return the largest of tensors and constants, element by element, or the smallest.

    A constant that is one number is a bound, which adds one kink to each element; bounds from ``widest`` on add none.
    Other constants are subtracted first, and added afterwards.
    """
    x = tensors[0] if len(tensors) == 1 else largest_of(at, tensors, smallest=smallest)
    bounds = []
    for constant in constants:
        if constant.size and (constant == constant.flat[0]).all() and repeats(constant.shape, x.shape):
            bounds.append(float(constant.flat[0]))
        else:
            x = compared_with(at, x, constant, smallest=smallest)
    if not bounds:
        return x
    low, high = (None, min(bounds)) if smallest else (max(bounds), None)
    return clipped(at, x, low, high, widest=widest)


def _turned(at: Site, x: Tensor, turned: bool) -> Tensor:
    return at.scaled(x, -1.0) if turned else x


def _largest(at: Site, x: Tensor, sources: np.ndarray, shape: Sequence[int]) -> Tensor:
    """Return the largest of each row of ``sources`` [units, arms]: positions in x, -1 for a missing arm."""
    there = sources >= 0
    sizes = there.sum(axis=1)
    if not sizes.all():
        raise at.refused("has a window with nothing in it")
    if sizes.max() > MOST_ARMS:
        raise UnsupportedLayerError(
            f"{at.label} takes the largest of {sizes.max()} numbers, and at most {MOST_ARMS} are handled; take the "
            "largest of smaller groups first, and then of the results"
        )
    if (sizes == 1).all():
        return at.rearranged(x, sources[there].reshape(shape))
    return at.largest(at.rearranged(x, sources[there]), sizes, shape)
