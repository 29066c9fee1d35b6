# SPDX-License-Identifier: MIT
"""Which units are the largest or the smallest of several numbers?

Each result is a unit of `regions.networks.maxima`, with one branch for each number. The smallest is minus the largest
of the negated numbers, which is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regions.arithmetic.types import Integers
from regions.errors import UnsupportedLayerError
from regions.networks.maxima import MOST_ARMS
from regions.read.graphs.call import Call
from regions.read.graphs.moving import moved, repeated
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators.elementwise import clipped, compared_with
from regions.read.graphs.site import Site, places

__all__ = ["compare", "largest"]


def compare(call: Call, *, smallest: bool = False) -> Tensor:
    """Return the largest of tensors and constants, element by element, or the smallest.

    A constant that is one number is a bound, which adds one kink to each element; an infinite bound adds none.
    Other constants are subtracted first, and added afterwards.
    """
    operands = call.operands(infinite=True)
    tensors = [each for each in operands if isinstance(each, Tensor)]
    x = tensors[0] if len(tensors) == 1 else _largest_of(call.at, tensors, smallest=smallest)
    bounds = []
    for constant in operands:
        if isinstance(constant, Tensor):
            continue
        if constant.size and (constant == constant.flat[0]).all() and _repeats(constant.shape, x.shape):
            bounds.append(float(constant.flat[0]))
        elif np.isinf(constant).any():
            raise UnsupportedLayerError(f"{call.at.label} has different infinite bounds for different units")
        else:
            x = compared_with(call.at, x, constant, smallest=smallest)
    if not bounds:
        return x
    low, high = (None, min(bounds)) if smallest else (max(bounds), None)
    return clipped(call, x, low, high)


def _repeats(lengths: Sequence[int], shape: Sequence[int]) -> bool:
    """Return whether broadcasting with an array of some lengths leaves a shape as it is."""
    pairs = zip(reversed(lengths), reversed(shape), strict=False)
    return len(lengths) <= len(shape) and all(length in (1, wanted) for length, wanted in pairs)


def _largest_of(at: Site, tensors: Sequence[Tensor], *, smallest: bool) -> Tensor:
    """Return the largest of tensors, element by element; they are broadcast to one shape."""
    try:
        shape = np.broadcast_shapes(*(x.shape for x in tensors))
    except ValueError:
        shapes = " and ".join(str(list(x.shape)) for x in tensors)
        raise at.refused(f"compares shapes {shapes}") from None
    wide = [repeated(at, x, shape) for x in tensors]
    together = at.joined([moved(at, x, lambda array: array.reshape(1, -1)) for x in wide], 0)
    return largest(at, together, places(together).T, shape, smallest=smallest)


def largest(at: Site, x: Tensor, sources: Integers, shape: Sequence[int], *, smallest: bool = False) -> Tensor:
    """Return the largest of each row of ``sources`` [units, branches]: positions in x, -1 for a missing branch."""
    if smallest:
        return at.scaled(largest(at, at.scaled(x, -1.0), sources, shape), -1.0)
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
