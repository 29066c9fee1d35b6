# SPDX-License-Identifier: MIT
"""How are the values of an output distributed over a domain?

On a simplex an output is affine. The share of the simplex that is above a threshold follows from the values at the
corners by a recursion of means (Varsi 1973; Ali 1973), in which nothing cancels. The share grows with each value, so
bounds on the values give bounds on the share. If rounding leaves open the signs at all corners of a region, they are
computed exactly: an output that equals the threshold on a whole region is not above it.
Cost: a sweep over the simplices for each threshold, and a millisecond for each region that is decided exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from regions.answers.corner_values import value_at
from regions.answers.pulled_simplices import AnySimplices, PulledSimplices
from regions.answers.shares import proven_sum
from regions.answers.simplices import Simplices
from regions.ground.arithmetic.dyadic import nearest_float
from regions.ground.arithmetic.roundoff import SMALLEST, TINY, UP, U
from regions.ground.arithmetic.types import Bits, Floats

__all__ = ["quantile", "share_above"]


def share_above(simplices: AnySimplices, output: int, threshold: float) -> tuple[float, float]:
    """Return the share of the domain where an output is above a threshold, and a bound on the error."""
    distances, errors = _distances(simplices, output, threshold)
    _decide(simplices, output, threshold, distances, errors)
    return _share_above_zero(simplices, distances, errors)


def quantile(simplices: AnySimplices, output: int, share: float) -> tuple[float, float]:
    """Return the least t such that an output is at most t on this share of the domain, and a bound on the error."""
    values, errors = simplices.values[:, output]

    def bounds(threshold: float) -> tuple[float, float]:
        found, error = _share_above_zero(simplices, *_distances(simplices, output, threshold))
        return float(np.nextafter(found - error, -np.inf)), float(np.nextafter(found + error, np.inf))

    with np.errstate(over="ignore"):
        low, high = float(np.min(values - 2 * errors)), float(np.max(values + 2 * errors))
    largest = float(np.finfo(np.float64).max)
    low, high = max(np.nextafter(low, -np.inf), -largest), min(np.nextafter(high, np.inf), largest)
    width = U * max(-low, high)
    # The quantile is above t if the output is proven to be above t on more than 1 - share of the domain. It is at most
    # t if that is disproved.
    low, _ = _bisected(low, high, width, lambda t: bounds(t)[0] > 1.0 - share)
    _, high = _bisected(low, high, width, lambda t: bounds(t)[1] > 1.0 - share)
    middle = float(low / 2 + high / 2)
    return middle, float(high / 2 - low / 2) * UP + 2 * U * abs(middle) + SMALLEST


def _bisected(low: float, high: float, width: float, below: Callable[[float], bool]) -> tuple[float, float]:
    """Move two numbers towards each other: a condition stays true at the first, and false at the second."""
    while high - low > width:
        middle = low / 2 + high / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if below(middle) else (low, middle)
    return low, high


def _distances(simplices: AnySimplices, output: int, threshold: float) -> tuple[Floats, Floats]:
    """The output minus the threshold at the corners of simplices, float64 [S, d + 1], and bounds on the errors."""
    values = simplices.values[:, output]
    # Shares do not depend on the scale of the values: scaled so that no difference overflows.
    if max(np.abs(values.value).max(initial=0.0), abs(threshold)) > 2.0**1020:
        values, threshold = values / 8, threshold / 8
    distances, bounds = (values - threshold)[simplices.vertices]
    return distances, bounds


def _decide(simplices: AnySimplices, output: int, threshold: float, distances: Floats, bounds: Floats) -> None:
    """Compute the distances of regions exactly, up to a factor, if rounding leaves open the signs at all corners."""
    within: Bits = np.abs(distances) <= bounds
    undecided: Bits = np.logical_and(within.all(axis=1), bounds.any(axis=1))
    for part, rows in simplices.parts:
        for region in np.unique(part.regions[undecided[rows]]).tolist():
            own = np.arange(*np.searchsorted(part.regions, [region, region + 1])) + rows.start
            distances[own] = _exact_distances(part, region, output, threshold)
            bounds[own] = 2 * U * np.abs(distances[own])


def _exact_distances(
    simplices: Simplices | PulledSimplices, region: int, output: int, threshold: float
) -> list[list[float]]:
    """The output minus the threshold at the corners of the simplices of a region, exactly, scaled and rounded."""
    at, part = simplices.at.exact, simplices.partition
    form = at.form(region, output)
    form = (form[0] - Fraction(threshold), *form[1:])
    exact: dict[int, Fraction] = {}
    for corner in at.corners_of(region).tolist():
        vertex = int(part.cell_vertices[corner])
        exact[vertex] = value_at(form, at.point(corner)) if any(form[1:]) else form[0]
    # Shares do not depend on the scale of the values.
    largest = max(map(abs, exact.values())) or 1
    scaled = {vertex: nearest_float(value / largest) for vertex, value in exact.items()}
    own = slice(*np.searchsorted(simplices.regions, [region, region + 1]))
    return [[scaled[vertex] for vertex in corners] for corners in simplices.vertices[own].tolist()]


def _share_above_zero(simplices: AnySimplices, distances: Floats, errors: Floats) -> tuple[float, float]:
    """Return the share of the domain where distances [S, d + 1] that are known up to errors are above 0."""
    shares, share_errors = simplices.shares
    low, found, high = (_above_zero(each) for each in (distances - errors, distances, distances + errors))
    rounded = np.where((high > 0.0) & (low < 1.0), 128 * U, 0.0)
    # If a simplex may be partly above 0, the share of that part may underflow.
    underflow = np.where((distances + errors).max(axis=1) > 0.0, TINY, 0.0)
    return proven_sum(shares * found, shares * (high - low + rounded) + share_errors * high + underflow)


def _above_zero(distances: Floats) -> Floats:
    """The share of each simplex where an affine function with these values at its corners, [S, d + 1], is above 0.

    Let p_1, .., p_K be the values above 0. Begin with a_0 = 0 and a_1 = .. = a_K = 1. For each other value -n, replace
    a_k by (p_k a_k + n a_(k-1)) / (p_k + n), for k from 1 to K. The final a_K is the share. It results from at most d +
    1 means in a row, so its relative error is at most 4 (d + 1) U.
    """
    found = (distances.min(axis=1) > 0.0).astype(np.float64)
    mixed = np.flatnonzero((found == 0.0) & (distances.max(axis=1) > 0.0))
    ordered = -np.sort(-np.clip(distances[mixed], -(2.0**1022), 2.0**1022), axis=1)
    positive = ordered > 0.0
    means = np.ones((len(ordered), ordered.shape[1] + 1))
    means[:, 0] = 0.0
    with np.errstate(all="ignore"):
        for number in range(1, ordered.shape[1]):
            for k in range(1, number + 1):
                rows = np.flatnonzero(positive[:, k - 1] & ~positive[:, number])
                p, n = ordered[rows, k - 1], -ordered[rows, number]
                means[rows, k] = means[rows, k] * (p / (p + n)) + means[rows, k - 1] * (n / (p + n))
    found[mixed] = means[np.arange(len(ordered)), positive.sum(axis=1)]
    return found
