# SPDX-License-Identifier: MIT
"""How long is the image of a curve after each layer?

On a piece of the first l layers, the outputs of layer l are an affine function of the chart point. On a segment the
image is therefore straight, and its length is the length of the piece times the length of the derivative. On an arc the
image has the velocity -sin(t) u + cos(t) v, for two derivatives u and v, and the length is an elliptic integral of the
second kind. Derivatives come from `passes/derivatives.py`, never from differences of nearby images. On arcs the error
is absolute, not relative to the arc: the integral is a difference of two.

Error. `passes/derivatives.py` also bounds the errors of derivatives. The core bounds the errors of the ends of pieces;
as angles on an arc they are less than three times as large. The squares in the elliptic integral are off by h = 2 (n +
8) units of the largest. Where a square is as near to zero as sin^2, its root changes by at most min(sqrt(h), h / (2
|sin|)), whose integral is at most h (2 + log(1 / h) / 2), below 20 h. The sums in the bounds are rounded too, which
2^-20 covers.
Source: Raghu et al. 2017, section 2.2, and Price and Tanner 2020 measure this on sampled points.
"""

from __future__ import annotations

import numpy as np

from regions.domains.curves import ArcLeg
from regions.ground.arithmetic.roundoff import TINY, U
from regions.ground.arithmetic.types import Floats, Integers
from regions.passes.derivatives import Derivatives, derivatives, norms, scaled
from regions.results.cells.strands import Strands

__all__ = ["image_lengths"]

OUTWARDS = 1 + 2.0**-20


def image_lengths(strands: Strands) -> tuple[Floats, Floats]:
    """Return the lengths of the curve and of its images after each layer, and error bounds, float64 [layers + 1] each.

    A bound is infinite if a number is beyond the largest double.
    """
    directions = np.stack([leg.directions for leg in strands.curve.legs])  # [legs, 1 or 2, n_in]
    joints = np.flatnonzero(np.diff(strands.legs, prepend=-1))
    first = Derivatives(joints, directions, np.zeros(len(joints)))
    starts = [_first_strands(strands, layer, joints) for layer in range(strands.depth)]
    with np.errstate(over="ignore", invalid="ignore"):
        levels = derivatives(strands.network.graph, strands.packed_patterns, first, starts)
        lengths, bounds = np.array([_length(strands, level) for level in levels]).T
        lengths = np.where(np.isnan(lengths), np.inf, lengths)
        return lengths, np.where(np.isfinite(lengths) & np.isfinite(bounds), bounds * OUTWARDS, np.inf)


def _first_strands(strands: Strands, layer: int, joints: Integers) -> Integers:
    """Return the first strand of each piece of the layers up to a given one, cut at joints, where directions change."""
    starts = strands.starts(layer)
    starts[joints] = True
    return np.flatnonzero(starts)


def _length(strands: Strands, level: Derivatives) -> tuple[float, float]:
    """Return the length of all pieces of a layer, and a bound on its error."""
    last = np.append(level.starts[1:], len(strands)) - 1
    ends = np.stack([strands.ends[level.starts, 0], strands.ends[last, 1]], axis=1)
    off = strands.errors[level.starts, 0] + strands.errors[last, 1]
    sizes, units = norms(level.values), level.values.shape[2]
    if isinstance(strands.curve.legs[0], ArcLeg):
        lengths, ways = _arc_lengths(ends, level.values), _angles(ends)
        off, rounding = 3 * off, 48 * (units + 16) * U * sizes
    else:
        ways = ends[:, 1, 0] - ends[:, 0, 0]
        lengths, rounding = sizes * ways, (units + 8) * U * sizes * ways
    bounds = sizes * off + level.errors * (ways + off) + rounding + TINY
    total = float(lengths.sum())
    return total, float(bounds.sum()) + len(lengths) * U * total


def _angles(ends: Floats) -> Floats:
    """Return the angles from the first to the second of points [k, 2, 2] of the unit circle, in radians."""
    (x, y), (z, w) = ends[:, 0].T, ends[:, 1].T
    return np.maximum(np.arctan2(x * w - y * z, x * z + y * w), 0.0)


def _arc_lengths(ends: Floats, values: Floats) -> Floats:
    """Return integrals of |-sin u + cos v| between points [k, 2, 2] of the circle, for derivatives (u, v) [k, 2,
    units].

    The square is m + a cos 2 (angle - phase): (m + a) (1 - k sin^2) with k = 2 a / (m + a), at most 1.
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
