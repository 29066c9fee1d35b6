# SPDX-License-Identifier: MIT
"""How many regions does a wide random ReLU network have in a box with three free coordinates?

As in `wide_polygons.py`, a unit of layer l is a random plane through the origin of a space with one more dimension, in
which the box lies at the height c_l. Each set of at most three units that switch together in the box adds a region.

- One unit with height c. By the conic formula of Crofton it meets the box K with probability 2 (u_2 + u_4), where u_k
  are the intrinsic volumes of the cone over the lifted box: u_4 is half of the integral below for three heights c, and
  u_2 is the sum, over the edges of K, of the angle at which the edge is seen times its external angle, both over 2 pi.
  Two facets with offsets a, b from the point nearest to 0 have the external angle arccos(a b / sqrt((c^2 + a^2) (c^2 +
  b^2))).
- Two units. Where both switch there is a line. If it meets K, it meets two facets. So the probability is half of the
  mean number of crossings in all facets, which are rectangles in planes (`crossings`).
- Three units with heights c_i meet near x with the density R_G(a_1, a_2, a_3) / (pi^2 prod sqrt(r^2 + c_i^2)), by the
  formula of Kac and Rice: r = |x|, a_i = c_i^2 / (r^2 + c_i^2), and R_G is Carlson's symmetric elliptic integral, the
  mean of sqrt(sum a_i u_i^2) over the sphere. By the divergence theorem its integral over K is that of G(r) b over the
  facets, where b is the offset of the facet and r^3 G(r) the integral of the density times s^2 from 0 to r.

Without biases all heights are the distance of the box from 0: these are then conic formulas, true at every width up to
terms that are exponentially small (``docs/depth.md``).
"""

from __future__ import annotations

from itertools import product
from math import acos, hypot, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.errors import BoundDoesNotApply, ShapeMismatchError
from regions.ground.arithmetic.arguments import number, positive
from regions.ground.arithmetic.arrays import exact_float64
from regions.theory.bounds.bound_arguments import Widths, in_range, shape
from regions.theory.bounds.wide_polygons import (
    angle_seen,
    crossings,
    finite_heights,
    radii_inside,
    sets_of_units,
)

__all__ = ["expected_regions_wide_box"]

Floats = NDArray[np.float64]
# Nodes of Gauss's rule between two radii.
NODES = 8


def expected_regions_wide_box(
    low: ArrayLike, high: ArrayLike, widths: Widths, *, sigma_w: float = sqrt(2.0), sigma_b: float = 1.0
) -> float:
    """Return the limit of the mean number of regions in a box with three free coordinates, for wide ReLU layers.

    Parameters
    ----------
    low, high : array_like, float64 [n_in]
        Bounds of each coordinate, as for `regions.Box`. Three coordinates have ``low < high``, the others are fixed.
    widths : int or sequence of int
        Units of the hidden layers.
    sigma_w, sigma_b : float
        Weights are Gaussian of variance sigma_w^2 / fan-in (He: 2), biases N(0, sigma_b^2).

    Returns
    -------
    float
        Exact for one layer. Without biases its error is at most r(N, 3) times P(some layer below the last has at most
        three open units), which is exponentially small in the width. With biases it is a limit only, which is too large
        for narrow layers: ``docs/reproduce/wide_boxes_law.txt`` has the measured errors. Biases must be Gaussian.

    Raises
    ------
    ShapeMismatchError, NonFiniteError
        Bounds of different lengths, or not three free coordinates; not finite numbers.
    ValueError
        A ``low`` above its ``high``.
    BoundDoesNotApply
        No biases, and a box that contains 0. In the whole space around it there are
        `cover_central` regions.

    References
    ----------
    Derived here; checked by simulation in ``docs/reproduce/wide_boxes_law.py``. Schneider, Weil, Stochastic and
    integral geometry, 2008, section 6.5, on the conic formula. Other domains and laws of weights can be sampled with
    `regions.ensembles.frozen`.

    Examples
    --------
    At the distance 1 from 0, the cube is a facet of a cube in four dimensions. Three units switch together in one of
    its eight facets, on both sides of 0, so each of three units does with probability 1/4:

    >>> round(expected_regions_wide_box([-1, -1, -1, 1], [1, 1, 1, 1], [16, 16], sigma_b=0), 3)
    1592.258
    >>> from regions.theory.bounds import zaslavsky
    >>> round(expected_regions_wide_box([-1e9] * 3, [1e9] * 3, [8, 8]), 3), zaslavsky(3, 16)
    (697.0, 697)
    """
    least, most = exact_float64(low, "low"), exact_float64(high, "high")
    if least.ndim != 1 or least.shape != most.shape:
        raise ShapeMismatchError(
            f"low and high must be arrays [n_in], got shapes {list(least.shape)} and {list(most.shape)}"
        )
    for index in np.flatnonzero(least > most)[:1]:
        raise ValueError(f"low[{index}] = {least[index]:g} is above high[{index}] = {most[index]:g}")
    free = least < most
    if free.sum() != 3:
        raise ShapeMismatchError(
            f"{free.sum()} coordinates have low < high, and 3 are needed. For 1 or 2 take "
            "expected_regions_wide_polygon. For more draw networks, and count the regions of ensembles.frozen"
        )
    inputs, layers = shape(len(least), widths)
    weight, bias = positive(sigma_w, "sigma_w"), number(sigma_b, "sigma_b")
    distance = float(np.linalg.norm(least[~free]))
    if not bias and not distance and (least <= 0).all() and (most >= 0).all():
        raise BoundDoesNotApply("without biases all units switch at 0: a box that contains 0 needs a sigma_b above 0")
    heights = finite_heights(inputs, len(layers), distance, weight, bias)
    box = np.stack([least[free], most[free]])
    total = 1.0
    for size, meetings in ((1, _planes), (2, _lines), (3, _points)):
        total += sum(count * meetings(box, *each) for each, count in sets_of_units(layers, heights, size).items())
    return in_range(total, "the mean number of regions")


def _planes(box: Floats, height: float) -> float:
    """Return the probability that a unit with this height switches in a box, float64 [2, 3]."""
    edges = 0.0
    for axis in range(3):
        one, other = (each for each in range(3) if each != axis)
        for first, second in product((0, 1), repeat=2):
            fixed = np.zeros(3)
            fixed[[one, other]] = box[first, one], box[second, other]
            start, end = fixed.copy(), fixed
            start[axis], end[axis] = box[:, axis]
            a, b = (-box[0, one], box[1, one])[first], (-box[0, other], box[1, other])[second]
            # A facet whose plane goes through 0 is seen as an edge: half of a right angle for each side.
            sizes = hypot(height, a), hypot(height, b)
            cosine = (a / sizes[0]) * (b / sizes[1]) if all(sizes) else 0.0
            edges += angle_seen(start, end, height) * acos(max(-1.0, min(1.0, cosine)))
    return 2.0 * edges / (2 * pi) ** 2 + _points(box, height, height, height)


def _lines(box: Floats, low: float, high: float) -> float:
    """Return the probability that two units with these heights switch together in a box."""
    met = 0.0
    for chart, offset in _facets(box):
        pair = hypot(low, offset), hypot(high, offset)
        if all(pair):  # a plane through 0 is met in 0 only
            met += crossings(chart, *pair)
    return met / 2.0


def _points(box: Floats, *heights: float) -> float:
    """Return the mean number of points in a box where three units with these ascending heights switch together."""
    if not heights[0]:
        return 0.0
    total = 0.0
    for chart, offset in _facets(box):
        if offset:
            radii, areas = radii_inside(chart, hypot(heights[0], offset))
            total += offset * float((areas * _per_volume(np.hypot(radii, offset), *heights)).sum())
    return total


def _facets(box: Floats) -> list[tuple[Floats, float]]:
    """Return the corners of each facet in its plane, float64 [4, 2], and its offset along the outer normal."""
    found = []
    for axis in range(3):
        (a, b), (c, d) = (box[:, each].tolist() for each in range(3) if each != axis)
        chart = np.array([[a, c], [b, c], [b, d], [a, d]])
        found += [(chart, -float(box[0, axis])), (chart, float(box[1, axis]))]
    return found


def _per_volume(radii: Floats, *heights: float) -> Floats:
    """Return G for each radius: the integral of the density of meetings times s^2 from 0 to r, over r^3."""
    from scipy.special import elliprg

    grid, step, largest = [0.0], heights[0] / 4, float(radii.max())
    while step < largest:
        grid.append(step)
        step *= 2.0
    ends, where = np.unique(np.concatenate([grid, radii]), return_inverse=True)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    sizes = np.diff(ends)[:, np.newaxis]
    inside = ends[:-1, np.newaxis] + sizes * (nodes + 1) / 2
    squares = [inside * inside + height * height for height in heights]
    tilts = [height * height / square for height, square in zip(heights, squares, strict=True)]
    density = elliprg(*tilts) / (pi * pi * np.sqrt(squares[0]) * np.sqrt(squares[1]) * np.sqrt(squares[2]))
    reached = np.concatenate([[0.0], (density * inside * inside * sizes * weights / 2).sum(axis=1).cumsum()])
    # Far inside all heights the density is constant, and the cube of a radius may be too small for a double.
    with np.errstate(invalid="ignore", divide="ignore"):
        found = reached[where[len(grid) :]] / radii / radii / radii
    return np.asarray(found)
