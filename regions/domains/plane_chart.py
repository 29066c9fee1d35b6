# SPDX-License-Identifier: MIT
"""What is the chart of a plane that is given only by points in it?

It is an orthonormal basis and the points' coordinates in it, computed in floating point and then fixed: from there
on, the chart is the domain. The two tolerances judge whether points *given in floating point* were meant to
span one plane at all; no count depends on them.
"""

from __future__ import annotations

import numpy as np

from regions.domains.corners import require_distinct
from regions.domains.gram import independent
from regions.domains.points import difference
from regions.errors import DegenerateDomainError, NotCoplanarError
from regions.ground.arithmetic.types import Floats

# Corners computed in float32 miss their plane by some 1e-6 of the polygon's width; unrelated points by about 1.
COPLANAR = 1e-5
# Below some units in the last place of the coordinates, the distance from a line is noise.
NOISE = 2.0**-50


def plane_through(vertices: Floats) -> tuple[Floats, Floats, Floats]:
    """Return origin, orthonormal directions and coordinates [v, 2] of vertices [v, n_in] in one plane."""
    require_distinct([*map(tuple, vertices.tolist())])  # before rounding can make equal points differ
    offsets = difference(vertices, vertices[0], "the distance between two vertices")
    farthest = int(np.abs(offsets).max(axis=1).argmax())
    directions, coordinates, exponent = orthonormal_chart(vertices, farthest)
    return vertices[0], directions, np.ldexp(coordinates, exponent)


def orthonormal_chart(vertices: Floats, along: int) -> tuple[Floats, Floats, int]:
    """Return directions [2, n_in], coordinates [v, 2] and an exponent for vertices [v, n_in] in one plane.

    Up to rounding, ``vertices - vertices[0] = coordinates @ directions * 2**exponent``. The first direction
    points to vertex ``along``; the second is turned so that the vertices go counter-clockwise.
    """
    offsets = difference(vertices, vertices[0], "the distance between two vertices")
    if not any(independent(offsets[[along, other]]) for other in range(len(offsets)) if other != along):
        raise DegenerateDomainError(f"the {len(vertices)} points lie on one line, or coincide, so they span no plane")
    # Scaled to size one, because the square of 1e200 overflows, and 1e-200 squared underflows.
    _, exponent = np.frexp(np.abs(offsets).max())
    offsets = np.ldexp(offsets, -exponent)
    first = offsets[along] / np.linalg.norm(offsets[along])
    across = _remove(_remove(offsets, first), first)  # the second time removes the rounding error of the first
    widths = np.linalg.norm(across, axis=1)
    size = float(np.linalg.norm(np.ldexp(vertices, -exponent), axis=1).max())
    if widths.max() <= NOISE * size:
        raise DegenerateDomainError(
            "up to rounding of their coordinates, the points lie on one line; if a strip this thin "
            "is meant, give its chart: Rectangle or Polygon.in_chart"
        )
    second = _remove(across[widths.argmax()] / widths.max(), first)
    second /= np.linalg.norm(second)
    heights = np.linalg.norm(_remove(across, second), axis=1)
    if heights.max() > COPLANAR * widths.max():
        raise NotCoplanarError(
            f"the vertices do not lie in one plane: vertex {heights.argmax()} is off by "
            f"{heights.max() / widths.max():.2g} of the polygon's width; compute the corners in float64, or "
            "use Rectangle"
        )
    coordinates = np.stack([offsets @ first, across @ second], axis=1)
    coordinates[along, 1] = 0.0
    x, y = coordinates.T
    if (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() < 0:
        second, coordinates[:, 1] = -second, -y
    return np.stack([first, second]), coordinates, int(exponent)


def _remove(vectors: Floats, unit: Floats) -> Floats:
    """Subtract from each vector [.., n_in] its component along a unit vector [n_in]."""
    return vectors - (vectors @ unit)[..., np.newaxis] * unit
