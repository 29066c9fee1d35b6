# SPDX-License-Identifier: MIT
"""Which norms are piecewise linear?

The norm of order 1 is a sum of absolute values, and those of order infinity and minus infinity are the largest and the
smallest absolute value. A norm of any order above 0 of a single number is its absolute value.
"""

from __future__ import annotations

import math
from typing import Any

from regions.errors import UnsupportedLayerError
from regions.networks.named_activations import absolute
from regions.read.graphs.call import Call
from regions.read.graphs.moving import axes_of
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators.windows import largest_along_axes, means_along_axes

__all__ = ["matrix_norm", "norm", "norm_of_vector_or_matrix"]


def norm(call: Call, order: float | None = None, name: str = "ord") -> Tensor:
    """Return the norms of vectors along axes; the order is given, or an argument of the call, 2 if left out."""
    x = call.tensor()
    if order is None:
        given = call.given(name, None)
        order = 2.0 if given is None or given == "fro" else call.bound(name)
    assert order is not None
    axes = [] if call.given("dim", None) is None else call.integers("dim")
    gone = axes_of(call.at, axes or range(len(x.shape)), len(x.shape))
    single = math.prod(x.shape[axis] for axis in gone) == 1
    if order == 0 or not (single or order in (1.0, math.inf, -math.inf)):
        raise _not_linear(call, order)
    sizes = call.with_arguments(self=call.at.activated(x, absolute()), dim=axes or None)
    if math.isinf(order):
        return largest_along_axes(sizes, smallest=order < 0)
    return means_along_axes(sizes, total=True)


def norm_of_vector_or_matrix(call: Call) -> Tensor:
    """Return ``torch.linalg.norm``: of vectors, or of matrices if an order and no axis, or two axes, are given."""
    order, axes, x = call.given("ord", None), call.given("dim", None), call.tensor()
    count = len(x.shape) if axes is None else len(call.integers("dim"))
    if order is not None and count == 2:
        return matrix_norm(call if axes is not None else call.with_arguments(dim=[0, 1]))
    if order is not None and axes is None and count != 1:
        raise call.at.refused(f"takes a vector or a matrix, and gets shape {list(x.shape)}")
    return norm(call)


def matrix_norm(call: Call) -> Tensor:
    """Return the largest sum of absolute values of a column (order 1) or of a row (order infinity), or the smallest."""
    order: Any = call.given("ord", "fro")
    rows, columns = axes_of(call.at, call.integers("dim", [-2, -1]), len(call.tensor().shape))
    if order not in (1, -1, math.inf, -math.inf):
        raise _not_linear(call, order, of_matrices=True)
    summed, kept = (rows, columns) if abs(order) == 1 else (columns, rows)
    sizes = call.at.activated(call.tensor(), absolute())
    sums = means_along_axes(call.with_arguments(self=sizes, dim=[summed], keepdim=True), total=True)
    result = largest_along_axes(call.with_arguments(self=sums, dim=[kept], keepdim=True), smallest=order < 0)
    if call.flag("keepdim"):
        return result
    return call.at.moved(result, lambda array: array.squeeze((rows, columns)))


def _not_linear(call: Call, order: Any, of_matrices: bool = False) -> UnsupportedLayerError:
    if order == 0 and not of_matrices:
        return UnsupportedLayerError(f"{call.at.label} counts the numbers that are not 0, which jumps")
    words: dict[Any, str] = {"fro": "the Frobenius norm", "nuc": "the nuclear norm"}
    words[2.0] = "the spectral norm" if of_matrices else "the Euclidean norm"
    what = words.get(order, f"the norm of order {order}")
    return UnsupportedLayerError(
        f"{call.at.label}: {what} is not piecewise linear, so the network has no linear regions; norms of order 1 and "
        "infinity are"
    )
