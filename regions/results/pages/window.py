# SPDX-License-Identifier: MIT
"""Which part of an unbounded domain is shown?

A window around all kinks (in a plane, around all points where edges meet). A few that lie far out are left out.
"""

from __future__ import annotations

import numpy as np

from regions.domains import Domain
from regions.ground.arithmetic.types import Floats
from regions.results.cells.complex import CellComplex
from regions.results.cells.sizes import interior_points

__all__ = ["window"]

# This fraction of the points is near the middle.
MOST = 0.7


def window(cells: CellComplex, marks: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of the window on an unbounded domain, each float64 [d].

    It contains ``marks``, float64 [m, d], in chart coordinates.
    """
    domain = cells.domain
    directions, exponents = domain.split_directions
    # In the scale of the input space, up to a power of two; a line has one scale anyway.
    scale = np.linalg.norm(directions, axis=1) * np.exp2((exponents - exponents.max()).astype(np.float64))
    points = cells.vertices[np.isfinite(cells.vertices).all(axis=1)]
    if not len(points):  # parallel lines, or no lines
        points = interior_points(cells)
    middle = np.median(points, axis=0)
    distances = np.abs((points - middle) * scale).max(axis=1)
    most = np.quantile(distances, MOST)
    furthest = distances.max()
    far_out, shown, ends_of = _WINDOWS[domain.dimension]
    radius = furthest if furthest <= far_out * most else shown * most
    if radius == 0:
        radius = max(float(np.abs(middle * scale).max()), 1.0)
    around = np.stack([middle - radius / scale, middle + radius / scale])
    return ends_of(domain, around, points[distances <= radius], marks, radius)


def _line_ends(domain: Domain, around: Floats, kept: Floats, marks: Floats, radius: float) -> tuple[Floats, Floats]:
    points = np.concatenate([kept, marks])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.1 * (high - low)
    margin = np.where(margin > 0, 2 * margin, radius)
    # A finite end of a ray stays.
    (left, end), (right, other_end) = domain.generators
    return np.where(left, end, low - margin), np.where(right, other_end, high + margin)


def _plane_ends(domain: Domain, around: Floats, kept: Floats, marks: Floats, radius: float) -> tuple[Floats, Floats]:
    points = np.concatenate([around, marks])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.1 * (high - low)
    return low - margin, high + margin


# The window contains all points, unless some are more than the first number times as far from the middle as most
# points. Then it contains the points up to the second number times as far. In a plane, more points are far out.
_WINDOWS = {1: (16.0, 4.0, _line_ends), 2: (4.0, 1.2, _plane_ends)}
