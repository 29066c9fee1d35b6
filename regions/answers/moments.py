# SPDX-License-Identifier: MIT
"""What are the mean, the covariance and the total variation of outputs over a domain, with proven bounds?

On a simplex with values v_k at its d + 1 corners, the mean of an output is the mean of these values. The mean of the
product of two outputs is (sum_k v_k v_k' + s s') / ((d + 1) (d + 2)), with s and s' the sums of the values. To lose
little to cancellation, the mean, rounded, is subtracted first. The integral of the length of the gradient over a
triangle is half the length of (v_1 - v_0) b - (v_2 - v_0) a, with a and b its sides from the first corner.
Cost: a few products of matrices with a row for each vertex or simplex.
"""

from __future__ import annotations

import numpy as np

from regions.answers.shares import proven_sum
from regions.answers.simplices import TINY, UP, AnySimplices, JoinedSimplices, U
from regions.arithmetic.types import Floats

__all__ = ["covariance", "mean", "total_variation"]

Bounded = tuple[Floats, Floats]

# Rows in a block of a matrix product. A sum has this many roundings in each block, and one for each block.
ROWS = 1024


def mean(simplices: AnySimplices) -> Bounded:
    """Return the mean of each output, float64 [m], and bounds on the errors."""
    (weights, weight_errors), (values, errors) = _vertex_weights(simplices), simplices.values
    with np.errstate(all="ignore"):
        found = _product(weights[:, np.newaxis], values)
        sizes = np.abs(values)
        bounds = _bound(weight_errors[:, np.newaxis], sizes + errors) + _bound(weights[:, np.newaxis], errors)
        rounded = _rounding(len(values)) * _bound(weights[:, np.newaxis], sizes)
        return found[0], ((bounds + rounded) * UP + TINY)[0]


def covariance(simplices: AnySimplices, means: Bounded) -> Bounded:
    """Return the covariance of each two outputs, float64 [m, m], and bounds on the errors."""
    values, errors = simplices.values
    (shares, share_errors), (weights, weight_errors) = simplices.shares, _vertex_weights(simplices)
    d = simplices.dimension
    with np.errstate(all="ignore"):
        centred = values - means[0]
        errors = errors + 2 * U * np.abs(centred)
        sums, sum_errors = centred[simplices.vertices].sum(axis=1), errors[simplices.vertices].sum(axis=1)
        sum_errors = (sum_errors + 4 * U * np.abs(centred)[simplices.vertices].sum(axis=1)) * UP
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


def total_variation(simplices: AnySimplices) -> Bounded:
    """Return the integral of the length of the gradient of each output, float64 [m], and bounds on the errors."""
    values, errors = simplices.values
    d = simplices.dimension
    found: list[float] = []
    bounds: list[float] = []
    with np.errstate(all="ignore"):
        for output in range(values.shape[1]):
            own, own_errors = (each[:, output][simplices.vertices] for each in (values, errors))
            rises = own[:, 1:] - own[:, :1]
            rise_errors = own_errors[:, 1:] + own_errors[:, :1] + 2 * U * np.abs(rises)
            if isinstance(simplices, JoinedSimplices) or d == 1:
                variation, variation_errors = np.abs(rises[:, 0]), rise_errors[:, 0]
            else:
                vectors, moved = simplices.sides
                turned = rises[:, :1] * vectors[:, 1] - rises[:, 1:] * vectors[:, 0]
                lengths = np.hypot(vectors[..., 0], vectors[..., 1])[:, ::-1]
                large = np.abs(rises) + rise_errors
                off = (large * moved[:, ::-1] + rise_errors * lengths + 8 * U * np.abs(rises) * lengths).sum(axis=1)
                variation, variation_errors = np.hypot(*turned.T) / 2, off / 2
            total, error = proven_sum(variation, (variation_errors + 4 * U * variation) * UP + TINY)
            found.append(total)
            bounds.append(error)
        shift = np.intc(0 if isinstance(simplices, JoinedSimplices) or d == 1 else simplices.exponent)
        return np.ldexp(found, shift), np.ldexp(bounds, shift) * UP + TINY


def _vertex_weights(simplices: AnySimplices) -> Bounded:
    """The share of the domain that each vertex has of its simplices, float64 [V], and bounds on the errors."""
    shares, errors = simplices.shares
    corners, count = simplices.vertices, len(simplices.values[0])
    each = corners.shape[1]
    parts = (np.repeat(part / each, each) for part in (shares, errors))
    weights, bounds = (np.bincount(corners.ravel(), part, count).astype(np.float64) for part in parts)
    terms = np.bincount(corners.ravel(), minlength=count)
    return weights, (bounds + (terms + 2) * U * weights) * (1 + (terms + 4) * U) + TINY


def _product(rows: Floats, others: Floats) -> Floats:
    """Return the transposed matrix [n, a] times another one [n, b], in blocks of rows."""
    total = np.zeros((rows.shape[1], others.shape[1]))
    for start in range(0, len(rows), ROWS):
        total += rows[start : start + ROWS].T @ others[start : start + ROWS]
    return total


def _bound(rows: Floats, others: Floats) -> Floats:
    """Return an upper bound on that product, of numbers that are not negative."""
    bound: Floats = _product(rows, others) * (1 + 2 * _rounding(len(rows))) + TINY
    return bound


def _rounding(rows: int) -> float:
    """Return a bound on the rounding of such a product, relative to the sum of its terms' magnitudes."""
    return 2 * U * (min(rows, ROWS) + rows // ROWS + 4)
