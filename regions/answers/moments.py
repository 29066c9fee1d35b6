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
from regions.ground.arithmetic.roundoff import TINY, UP, U
from regions.ground.arithmetic.types import Floats

__all__ = ["covariance", "mean", "total_variation"]

Bounded = tuple[Floats, Floats]

# Rows in a block of a matrix product. A sum has this many roundings in each block, and one for each block.
ROWS = 1024


def mean(simplices: AnySimplices) -> Bounded:
    """Return the mean of each output, float64 [m], and bounds on the errors."""
    (weights, weight_errors), (values, errors) = simplices.vertex_weights, simplices.values
    with np.errstate(all="ignore"):
        found = _product(weights[:, np.newaxis], values)
        sizes = np.abs(values)
        bounds = _bound(weight_errors[:, np.newaxis], sizes + errors) + _bound(weights[:, np.newaxis], errors)
        rounded = _rounding(len(values)) * _bound(weights[:, np.newaxis], sizes)
        return found[0], ((bounds + rounded) * UP + TINY)[0]


def covariance(simplices: AnySimplices, means: Bounded) -> Bounded:
    """Return the covariance of each two outputs, float64 [m, m], and bounds on the errors."""
    values, errors = simplices.values
    (shares, share_errors), (weights, weight_errors) = simplices.shares, simplices.vertex_weights
    d = simplices.dimension
    with np.errstate(all="ignore"):
        centred = values - means[0]
        errors = errors + 2 * U * np.abs(centred)
        sums, sum_errors = centred[simplices.vertices].sum(axis=1), errors[simplices.vertices].sum(axis=1)
        sum_errors = (sum_errors + (d + 2) * U * np.abs(centred)[simplices.vertices].sum(axis=1)) * UP
        found, bounds = np.zeros((2, *means[0].shape * 2))
        for rows, row_errors, sizes, size_errors, factor in (
            (centred, errors, weights, weight_errors, 1 / (d + 2)),
            (sums, sum_errors, shares, share_errors, 1 / ((d + 1) * (d + 2))),
        ):
            weighted, large = rows * sizes[:, np.newaxis], np.abs(rows)
            found += _product(weighted, rows) * factor
            off = row_errors * (sizes + size_errors)[:, np.newaxis]
            one = _bound(off, large + row_errors / 2)
            other = _bound(large * size_errors[:, np.newaxis], large)
            rounded = (_rounding(len(rows)) + 4 * U) * _bound(np.abs(weighted), large)
            bounds += (one + one.T + other + rounded) * factor
        bounds += 2 * U * np.abs(found) + np.outer(means[1], means[1])
        return (found + found.T) / 2, bounds * UP + TINY


def total_variation(simplices: AnySimplices, gradients: Bounded | None) -> Bounded:
    """Return the integral of the length of the gradient of each output, float64 [m], and bounds on the errors.

    Except on a line the lengths on the regions are given, [R, m], and bounds on their errors.
    """
    with np.errstate(all="ignore"):
        if gradients is not None and not isinstance(simplices, JoinedSimplices):
            (lengths, errors), (areas, far) = gradients, simplices.areas
            return _sums(lengths * areas, errors * (areas + far) + lengths * far)
        values, value_errors = simplices.values
        own, own_errors = values[simplices.vertices], value_errors[simplices.vertices]
        rises = np.abs(own[:, 1] - own[:, 0])
        return _sums(rises, own_errors[:, 1] + own_errors[:, 0] + 2 * U * rises)


def _sums(sizes: Floats, errors: Floats) -> Bounded:
    """The sum of each column of sizes [k, m] that are known up to errors, and bounds on the errors."""
    bounds = (errors + 4 * U * sizes) * UP + TINY
    found = [proven_sum(*column) for column in zip(sizes.T, bounds.T, strict=True)]
    totals, total_errors = np.array(found).T
    return totals, total_errors


def _product(rows: Floats, others: Floats) -> Floats:
    """Return the transposed matrix [n, a] times another one [n, b], in blocks of rows."""
    total = np.zeros((rows.shape[1], others.shape[1]))
    for start in range(0, len(rows), ROWS):
        total += rows[start : start + ROWS].T @ others[start : start + ROWS]
    return total


def _bound(rows: Floats, others: Floats) -> Floats:
    """Return an upper bound on the same product, for matrices without negative numbers."""
    bound: Floats = _product(rows, others) * (1 + 2 * _rounding(len(rows))) + TINY
    return bound


def _rounding(rows: int) -> float:
    """Return a bound on the rounding of a product in blocks, relative to the sum of its terms' magnitudes."""
    return 2 * U * (min(rows, ROWS) + rows // ROWS + 4)
