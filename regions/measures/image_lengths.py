# SPDX-License-Identifier: MIT
"""How long is the image of a curve after each layer?

On a piece of the layers up to one, that layer's outputs are an affine function of the chart point. So on a segment the
image is straight, and as long as the piece times the length of its derivative; on an arc the point moves with
(-sin, cos) through two derivatives u and v, and the length is an elliptic integral of the second kind. Derivatives come
from `passes/derivatives.py`: no difference of nearby images is taken. On arcs the error is absolute, not relative to
the arc: the integral is a difference of two.

Error. Derivatives are off by what is said there, ends of pieces by what the core says; as an angle by less than three
times as much. The squares in the elliptic integral are off by h = 2 (n + 8) units of the largest. Where a square is as
near to zero as sin^2, its root changes by no more than min(sqrt(h), h / (2 |sin|)), whose integral is at most
h (2 + log(1 / h) / 2), below 20 h. Sums that bound are rounded too, which 2^-20 makes good.
Source: Raghu et al. 2017, section 2.2, and Price and Tanner 2020 measure this on sampled points.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter

import numpy as np

from regions.arithmetic.types import Floats, Integers
from regions.cells.strands import Strands
from regions.domains.curves import ArcLeg
from regions.passes.derivatives import TINY, UNIT, Derivatives, derivatives, norms, scaled

__all__ = ["image_lengths", "ratio_errors"]

OUTWARDS = 1 + 2.0**-20


def image_lengths(strands: Strands) -> tuple[Floats, Floats]:
    """Lengths of the curve and of its image after each layer, and bounds on their errors, float64 [layers + 1] each.

    A bound is infinite where a number is beyond the largest double.
    """
    directions = np.stack([leg.directions for leg in strands.curve.legs])  # [legs, 1 or 2, n_in]
    joints = np.flatnonzero(np.diff(strands.legs, prepend=-1))
    first = Derivatives(joints, directions, np.zeros(len(joints)))
    starts = [_beginnings(strands, layer, joints) for layer in range(strands.depth)]
    with np.errstate(over="ignore", invalid="ignore"):
        levels = derivatives(strands.network.graph, strands.packed_patterns, first, starts)
        lengths, bounds = np.array([_length(strands, level) for level in levels]).T
        lengths = np.where(np.isnan(lengths), np.inf, lengths)
        return lengths, np.where(np.isfinite(lengths) & np.isfinite(bounds), bounds * OUTWARDS, np.inf)


def ratio_errors(below: Floats, below_errors: Floats, above: Floats, above_errors: Floats) -> Floats:
    """Return how far the doubles ``above / below`` [k] are off at most, given how far both are; infinity where that may
    be 0.

    In fractions: the distances to the largest and to the smallest quotient, rounded upwards.
    """
    numbers = zip(*(each.tolist() for each in (below, below_errors, above, above_errors)), strict=True)
    return np.array([_ratio_error(*each) for each in numbers])


def _ratio_error(below: float, below_error: float, above: float, above_error: float) -> float:
    if not below_error < below < inf or not above + above_error < inf or above / below == inf:
        return inf
    divisor, dividend, ratio = Fraction(below), Fraction(above), Fraction(above / below)
    highest = (dividend + Fraction(above_error)) / (divisor - Fraction(below_error))
    lowest = max(dividend - Fraction(above_error), Fraction(0)) / (divisor + Fraction(below_error))
    try:
        return nextafter(float(max(highest - ratio, ratio - lowest)), inf)
    except OverflowError:
        return inf


def _beginnings(strands: Strands, layer: int, joints: Integers) -> Integers:
    """Return the strands that pieces of the layers up to one begin with, cut at joints, for directions change there."""
    starts = strands.starts(layer)
    starts[joints] = True
    return np.flatnonzero(starts)


def _length(strands: Strands, level: Derivatives) -> tuple[float, float]:
    """Return the length of all pieces of a layer, and how far off it is."""
    last = np.append(level.starts[1:], len(strands)) - 1
    ends = np.stack([strands.ends[level.starts, 0], strands.ends[last, 1]], axis=1)
    off = strands.errors[level.starts, 0] + strands.errors[last, 1]
    sizes, units = norms(level.values), level.values.shape[2]
    if isinstance(strands.curve.legs[0], ArcLeg):
        lengths, ways = _arc_lengths(ends, level.values), _angles(ends)
        off, rounding = 3 * off, 48 * (units + 16) * UNIT * sizes
    else:
        ways = ends[:, 1, 0] - ends[:, 0, 0]
        lengths, rounding = sizes * ways, (units + 8) * UNIT * sizes * ways
    bounds = sizes * off + level.errors * (ways + off) + rounding + TINY
    total = float(lengths.sum())
    return total, float(bounds.sum()) + len(lengths) * UNIT * total


def _angles(ends: Floats) -> Floats:
    """From the first to the second of points [k, 2, 2] of the unit circle, in radians."""
    (x, y), (z, w) = ends[:, 0].T, ends[:, 1].T
    return np.maximum(np.arctan2(x * w - y * z, x * z + y * w), 0.0)


def _arc_lengths(ends: Floats, values: Floats) -> Floats:
    """Integrals of |-sin u + cos v| between points [k, 2, 2] of the unit circle, for derivatives (u, v) [k, 2, units].

    The square is m + a cos 2 (angle - phase): (m + a) (1 - k sin^2) with k = 2 a / (m + a), no more than 1.
    """
    from scipy.special import ellipeinc

    about_one, exponents = scaled(values)
    u, v = about_one[:, 0], about_one[:, 1]
    squares = (u * u).sum(axis=1), (v * v).sum(axis=1)
    mean, half, mixed = (squares[0] + squares[1]) / 2, (squares[1] - squares[0]) / 2, (u * v).sum(axis=1)
    wave = np.hypot(half, mixed)
    phase = np.arctan2(-mixed, half) / 2
    largest = mean + wave
    modulus = np.minimum(2 * wave / np.where(largest > 0, largest, 1.0), 1.0)
    start = np.arctan2(ends[:, 0, 1], ends[:, 0, 0]) - phase
    end = start + _angles(ends)
    turns = np.round((start + end) / (2 * np.pi)) * np.pi
    lengths = np.sqrt(largest) * (ellipeinc(end - turns, modulus) - ellipeinc(start - turns, modulus))
    return np.ldexp(np.maximum(lengths, 0.0), exponents)
