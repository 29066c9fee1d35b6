# SPDX-License-Identifier: MIT
"""How many regions does a wide random ReLU network have on a segment or in a polygon?

For wide layers below, the units of a layer are Gaussian affine functions with covariance proportional to x.x' + c_l^2,
in coordinates of the line or plane around the point that is nearest to 0. The *height* c_l has c_l^2 = distance^2 + B_l
/ A_l, with A_l and B_l as in `wide_lines.py`. So a unit is a random plane through the origin of a space with one more
dimension, in which the domain lies at height c_l. Each set of units that switch together in the domain adds a region:
none, one, and in a plane two. By the formula of Kac and Rice:

- a unit switches on a segment, or meets an edge of a polygon, with probability angle / pi, the angle at which the
  segment is seen from the origin; in a polygon with probability perimeter / (2 pi), the sum of the angles of all edges;
- the lines of two units with heights c and e meet near x with the density (1/pi^2) sqrt(a) E(1 - b / a) / sqrt((r^2 +
  c^2) (r^2 + e^2)), where r = |x|, a >= b are c^2 / (r^2 + c^2) and e^2 / (r^2 + e^2), and E is the complete elliptic
  integral of the second kind.

Without biases all heights are the distance of the domain from 0. The two integrals are then the perimeter and the area
of the domain seen from 0, over 2 pi, and units have this law at every width: ``docs/depth.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from math import acos, atan2, comb, hypot, pi, prod, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.errors import BoundDoesNotApply, ShapeMismatchError
from regions.ground.arithmetic.arguments import number, positive
from regions.ground.arithmetic.arrays import exact_float64
from regions.theory.bounds.bound_arguments import Widths, in_range, shape

__all__ = ["expected_regions_wide_polygon"]

Corners = NDArray[np.float64]
# Nodes of Gauss's rule in each panel, whose ends differ by at most this factor.
NODES, GROWTH = 24, 4.0


def expected_regions_wide_polygon(
    corners: ArrayLike, widths: Widths, *, sigma_w: float = sqrt(2.0), sigma_b: float = 1.0
) -> float:
    """Return the limit of the mean number of regions on a segment or in a convex polygon, for wide ReLU layers.

    Parameters
    ----------
    corners : array_like, float64 [k, n_in]
        Two ends of a segment, or the corners of a convex polygon in a plane, in order.
    widths : int or sequence of int
        Units of the hidden layers.
    sigma_w, sigma_b : float
        Weights are Gaussian of variance sigma_w^2 / fan-in (He: 2), biases N(0, sigma_b^2).

    Returns
    -------
    float
        Exact for one layer. Without biases its error is at most r(N, d) times P(some layer below the last has at most d
        open units), d = 1 or 2, which is exponentially small in the width. With biases it is a limit only, which is too
        large for narrow layers. In the square from -1 to 1 the relative error was measured to be about 0.8 (L - 1) / n
        for L layers of n units: 19 percent for 3 layers of 8, 1 percent for 3 layers of 128. Biases must be Gaussian:
        `expected_regions_wide_line` has numbers for others.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        Fewer than two corners, or corners of fewer than two dimensions that are not a segment; not finite numbers.
    ValueError
        Corners that are not a convex polygon in a plane, in order; or equal.
    BoundDoesNotApply
        No biases, and a domain in a line or plane through 0.

    References
    ----------
    Derived here; checked by simulation in ``docs/reproduce/wide_polygons_law.py``.

    Examples
    --------
    >>> square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
    >>> round(expected_regions_wide_polygon(square, [64]), 6)
    723.153799
    >>> from regions.theory.bounds import expected_regions_wide_line
    >>> segment = expected_regions_wide_polygon([[-1.0], [1.0]], [8, 8])
    >>> abs(segment - expected_regions_wide_line(1, [8, 8], -1, 1)) < 1e-12
    True
    """
    points = exact_float64(corners, "corners")
    if points.ndim != 2 or len(points) < 2 or (points.shape[1] < 2 and len(points) > 2):
        raise ShapeMismatchError(
            f"corners must be an array [k, n_in] of two ends of a segment or more corners of a polygon in a plane, got "
            f"shape {list(points.shape)}"
        )
    inputs, layers = shape(points.shape[1], widths)
    chart, distance = _chart(points)
    weight, bias = positive(sigma_w, "sigma_w"), number(sigma_b, "sigma_b")
    heights = finite_heights(inputs, len(layers), distance, weight, bias)
    if not all(heights):
        what = "line" if len(points) == 2 else "plane"
        raise BoundDoesNotApply(f"without biases all units switch at 0: a {what} through 0 needs a sigma_b above 0")
    if len(points) == 2:
        total = 1.0 + sum(
            n * angle_seen(chart[0], chart[1], height) / pi for n, height in zip(layers, heights, strict=True)
        )
        return in_range(total, "the mean number of regions")
    return in_range(_in_polygon(chart, layers, heights), "the mean number of regions")


def _chart(points: Corners) -> tuple[Corners, float]:
    """Return corners in orthonormal coordinates around the point of their line or plane that is nearest to 0, float64
    [k, 1] or [k, 2], counterclockwise, and its distance from 0.
    """
    dimension = 1 if len(points) == 2 else 2
    edges = points[1:] - points[0]
    _, sizes, directions = np.linalg.svd(edges, full_matrices=False)
    if len(sizes) < dimension or sizes[dimension - 1] <= 1e-12 * max(sizes[0], np.abs(points).max()):
        raise ValueError("corners must be different, and corners of a polygon must not lie on one line")
    if len(sizes) > dimension and sizes[dimension] > 1e-9 * sizes[0]:
        raise ValueError("corners must lie in one plane")
    basis = directions[:dimension]
    chart = points @ basis.T
    rest = points[0] - chart[0] @ basis
    if dimension == 2:
        around = np.roll(chart, -1, axis=0) - chart
        turns = _cross(around, np.roll(around, -1, axis=0))
        if turns.sum() < 0:
            chart, turns = chart[::-1].copy(), -turns
        whole = abs(np.arctan2(turns, (around * np.roll(around, -1, axis=0)).sum(axis=1)).sum() - 2 * pi)
        if (turns < -1e-12 * sizes[0] ** 2).any() or (whole > 1e-6 and len(points) > 3):
            raise ValueError("corners must be those of a convex polygon, in order")
    distance = float(np.linalg.norm(rest))
    return chart, distance if distance > 1e-12 * np.abs(points).max() else 0.0


def _cross(one: Corners, other: Corners) -> NDArray[np.float64]:
    return np.asarray(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0])


def finite_heights(inputs: int, layers: int, distance: float, weight: float, bias: float) -> list[float]:
    """Return c_l for each layer."""
    try:
        heights = _heights(inputs, layers, distance, weight, bias)
    except (OverflowError, ZeroDivisionError):
        heights = []
    if not heights or (bias and not all(heights)):
        raise ValueError(
            f"sigma_w is {weight:g} and sigma_b is {bias:g}: the variances of the layers leave the range of a double"
        )
    return heights


def _heights(inputs: int, layers: int, distance: float, weight: float, bias: float) -> list[float]:
    first, half = inputs * (bias / weight) ** 2, weight * weight / 2.0
    if bias and not first:
        raise OverflowError
    ratio, heights = first, []
    for _ in range(layers):
        heights.append(hypot(distance, sqrt(ratio)))
        first /= half
        ratio += first
    return heights


def angle_seen(start: Corners, end: Corners, height: float) -> float:
    """Return the angle at which a segment at this height is seen."""
    a, b = np.append(start, height), np.append(end, height)
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    return 2.0 * atan2(float(np.linalg.norm(a - b)), float(np.linalg.norm(a + b)))


def _in_polygon(chart: Corners, layers: Sequence[int], heights: Sequence[float]) -> float:
    edges = list(zip(chart, np.roll(chart, -1, axis=0), strict=True))
    total = 1.0
    for n, height in zip(layers, heights, strict=True):
        total += n * sum(angle_seen(start, end, height) for start, end in edges) / (2 * pi)
    return total + sum(count * crossings(chart, *pair) for pair, count in sets_of_units(layers, heights, 2).items())


def sets_of_units(layers: Sequence[int], heights: Sequence[float], size: int) -> dict[tuple[float, ...], int]:
    """Return how many sets of units have these heights, for each ascending list of as many heights."""
    units: dict[float, int] = {}
    for n, height in zip(layers, heights, strict=True):
        units[height] = units.get(height, 0) + n
    return {
        chosen: prod(comb(units[height], chosen.count(height)) for height in set(chosen))
        for chosen in combinations_with_replacement(sorted(units), size)
    }


def crossings(chart: Corners, low: float, high: float) -> float:
    """Return the mean number of points in a convex polygon where two units with these heights switch together.

    Parameters
    ----------
    chart : float64 [k, 2]
        Corners, counterclockwise, in coordinates around the point of the plane that is nearest to 0.
    low, high : float
        Ascending, not both 0.
    """
    from scipy.special import ellipe

    radii, areas = radii_inside(chart, low or high)
    one, other = np.hypot(radii, low), np.hypot(radii, high)
    tilts = (low / one) ** 2, (high / other) ** 2
    largest = np.maximum(*tilts)
    meeting = np.sqrt(largest) * ellipe(1.0 - np.minimum(*tilts) / largest) / (pi * pi)
    return float((areas * meeting / one / other).sum())


def radii_inside(chart: Corners, height: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return radii in a convex polygon, and the areas that belong to them: the nodes and weights of a quadrature.

    It is Gauss's rule in panels, for functions of the radius that change on the scale of the height, and further out on
    that of the radius. Where the radius passes an edge or a corner, the arc inside begins or ends like a root, which a
    substitution in each panel removes.
    """
    lines = list(_lines(list(zip(chart, np.roll(chart, -1, axis=0), strict=True))))
    ends = {hypot(*corner) for corner in chart.tolist()} | {abs(offset) for _, offset in lines} | {0.0}
    step, largest = height / 2, max(ends)
    while step < largest:
        ends.add(step)
        step *= GROWTH
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    unit = (nodes + 1) / 2
    starts = np.array(sorted(ends))[:, np.newaxis]
    sizes = np.diff(starts, axis=0)
    radii = (starts[:-1] + sizes * unit**2 * (3 - 2 * unit)).ravel()
    lengths = (sizes * 6 * unit * (1 - unit) * weights / 2).ravel()
    arcs = np.array([_arc(lines, radius) for radius in radii.tolist()])
    return radii, lengths * radii * arcs


def _lines(edges: Sequence[tuple[Corners, Corners]]) -> Iterator[tuple[float, float]]:
    """Yield, for each edge, the direction of its outer normal, and the distance of its line from the origin.

    The distance is negative if the origin is outside.
    """
    for start, end in edges:
        along = end - start
        normal = np.array([along[1], -along[0]]) / np.linalg.norm(along)
        yield atan2(normal[1], normal[0]), float(normal @ start)


def _arc(lines: Sequence[tuple[float, float]], radius: float) -> float:
    """Return the angle of the part of a circle around the origin that lies in the polygon."""
    outside: list[tuple[float, float]] = []
    for direction, offset in lines:
        if offset <= -radius:
            return 0.0
        if offset < radius:
            half = acos(offset / radius)
            start = (direction - half) % (2 * pi)
            outside += [(start, start + 2 * half), (start - 2 * pi, start + 2 * half - 2 * pi)]
    inside, reached = 2 * pi, 0.0
    for start, end in sorted(outside):
        start, end = max(start, reached), min(end, 2 * pi)
        if end > start:
            inside -= end - start
            reached = end
    return max(inside, 0.0)
