# SPDX-License-Identifier: MIT
"""What are the mean, the covariance and the total variation of outputs over a domain, with proven bounds?

On a simplex with values v_k at its d + 1 corners, the mean of an output is the mean of these values. The mean of the
product of two outputs is (sum_k v_k v_k' + s s') / ((d + 1) (d + 2)), with s and s' the sums of the values. To lose
little to cancellation, the mean, rounded, is subtracted first. The integral of the length of the gradient is a sum over
regions: on a line of changes of the output, otherwise of the gradient's length times the area or volume.
Cost: a few products of matrices with a row for each vertex or simplex.
"""

from __future__ import annotations

import numpy as np

from regions.answers.pulled_simplices import AnySimplices
from regions.answers.shares import proven_sum
from regions.answers.simplices import JoinedSimplices
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.roundoff import UP

__all__ = ["covariance", "mean", "total_variation"]


def mean(simplices: AnySimplices) -> Proven:
    """Return the mean of each output, [m]."""
    with np.errstate(all="ignore"):
        return simplices.vertex_weights[:, np.newaxis].transposed_product(simplices.values)[0]


def covariance(simplices: AnySimplices, means: Proven) -> Proven:
    """Return the covariance of each two outputs, [m, m]."""
    d = simplices.dimension
    with np.errstate(all="ignore"):
        # From the computed means: the covariance about them is larger by the product of their errors.
        centred = simplices.values - means.value
        sums = centred[simplices.vertices].sum(axis=1)
        found = _weighted(centred, simplices.vertex_weights) / (d + 2)
        found += _weighted(sums, simplices.shares) / ((d + 1) * (d + 2))
        return Proven((found.value + found.value.T) / 2, (found.error + np.outer(means.error, means.error)) * UP)


def _weighted(rows: Proven, weights: Proven) -> Proven:
    """Return the sum of the products of each two columns of rows [k, m], with weights [k]: [m, m]."""
    return (rows * weights[:, np.newaxis]).transposed_product(rows)


def total_variation(simplices: AnySimplices, gradients: Proven | None) -> Proven:
    """Return the integral of the length of the gradient of each output, [m].

    Except on a line the lengths on the regions are given, [R, m].
    """
    with np.errstate(all="ignore"):
        if gradients is not None and not isinstance(simplices, JoinedSimplices):
            parts = gradients * simplices.areas
        else:
            own = simplices.values[simplices.vertices]
            parts = abs(own[:, 1] - own[:, 0])
        totals = [proven_sum(*column) for column in zip(*(each.T for each in parts), strict=True)]
        return Proven(*np.array(totals).T)
