# SPDX-License-Identifier: MIT
"""Which units are the largest or the smallest of several numbers?

Each result is a unit of `regions.networks.maxima`, with one branch for each number. The smallest is minus the largest
of the negated numbers, which is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regions.errors import NonFiniteError, UnsupportedLayerError
from regions.ground.arithmetic.types import Floats, Integers
from regions.networks.maxima import MOST_ARMS
from regions.read.graphs.call import Call
from regions.read.graphs.moving import moved, repeated
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators.elementwise import clipped, compared_with, widened
from regions.read.graphs.site import Site, places

__all__ = ["clamp", "compare", "largest", "largest_of"]


def compare(call: Call, *, smallest: bool = False) -> Tensor:
    """Return the largest of tensors and constants, element by element, or the smallest.

    A constant that is one number is a bound, which adds one kink to each element; an infinite bound adds none.
    Other constants are subtracted first, and added afterwards; infinite ones among them add no kink.
    """
    operands = call.operands(infinite=True)
    tensors = [each for each in operands if isinstance(each, Tensor)]
    x = tensors[0] if len(tensors) == 1 else largest_of(call.at, tensors, smallest=smallest)
    bounds = []
    for constant in operands:
        if isinstance(constant, Tensor):
            continue
        if constant.size and (constant == constant.flat[0]).all() and _repeats(constant.shape, x.shape):
            bounds.append(float(constant.flat[0]))
        else:
            x = _bounded(call, x, constant, smallest=smallest)
    if not bounds:
        return x
    low, high = (None, min(bounds)) if smallest else (max(bounds), None)
    return clipped(call, x, low, high)


def clamp(call: Call, least: float | None = None, most: float | None = None) -> Tensor:
    """Clip between ``min`` and ``max``; if these are left out, between ``least`` and ``most``.

    Each bound is a number, or has a number for each unit, which may depend on the input. If a lower bound is above the
    upper one, the result is the upper one.
    """
    x = call.tensor()
    bounds = [call.given(name, default) for name, default in (("min", least), ("max", most))]
    if not any(isinstance(one, Tensor) or (isinstance(one, np.ndarray) and one.size != 1) for one in bounds):
        return clipped(call, x, call.bound("min", least), call.bound("max", most))
    for name, bound, smallest in zip(("min", "max"), bounds, (False, True), strict=True):
        if bound is not None:
            pair = Call(call.at, {"self": x, "other": bound}, {"other": call.said(name)}, call.widest)
            x = compare(pair, smallest=smallest)
    return x


def _bounded(call: Call, x: Tensor, constant: Floats, *, smallest: bool) -> Tensor:
    """Return the larger, or smaller, of each number and its constant; an infinite constant may leave a number as is."""
    at = call.at
    x, constant = widened(at, x, constant)
    no_bound = constant >= call.widest if smallest else constant <= -call.widest
    if (np.isinf(constant) & ~no_bound).any():
        raise NonFiniteError(f"{at.label} has a bound that leaves only an infinite number")
    if not no_bound.any():
        return compared_with(at, x, constant, smallest=smallest)
    bounded = np.flatnonzero(~no_bound)
    if not len(bounded):
        return x
    at.charge(0, 40 * x.size)
    chosen = compared_with(at, at.rearranged(x, bounded), constant.ravel()[bounded], smallest=smallest)
    together = at.joined([moved(at, x, lambda array: array.reshape(-1)), chosen], 0)
    sources = places(x).ravel()
    sources[bounded] = x.size + np.arange(len(bounded))
    return at.rearranged(together, sources.reshape(x.shape))


def _repeats(lengths: Sequence[int], shape: Sequence[int]) -> bool:
    """Return whether broadcasting with an array of some lengths leaves a shape as it is."""
    pairs = zip(reversed(lengths), reversed(shape), strict=False)
    return len(lengths) <= len(shape) and all(length in (1, wanted) for length, wanted in pairs)


def largest_of(at: Site, tensors: Sequence[Tensor], *, smallest: bool = False) -> Tensor:
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
