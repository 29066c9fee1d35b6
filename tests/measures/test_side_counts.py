# SPDX-License-Identifier: MIT
"""Are sides of regions counted rightly, and are many random lines like Poisson lines?"""

from __future__ import annotations

from math import isnan, pi, sqrt

import numpy as np
import pytest

import regions
from regions.constructions import arrangement
from regions.domains import Box, Line, Plane, Rectangle
from regions.measures import side_counts
from regions.networks.network import Network

PLANE = Plane([0, 0], [1, 0], [0, 1])


def test_by_hand() -> None:
    triangle = side_counts(regions.enumerate(arrangement([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), PLANE))
    assert (triangle.counts.tolist(), triangle.inside, triangle.mean, triangle.variance) == ([0, 0, 0, 1], 1, 3.0, 0.0)
    assert triangle.simplices == 1.0 and "1 regions inside" in repr(triangle) and "Poisson" in triangle._repr_html_()
    # Four lines: a triangle next to a quadrilateral next to a triangle.
    four = side_counts(regions.enumerate(arrangement([[1, 0], [0, 1], [1, 1], [1, -2]], [0, 0, -1, -0.25]), PLANE))
    assert four.counts.tolist() == [0, 0, 0, 2, 1] and four.mean == 10 / 3 and four.simplices == 2 / 3
    assert four.variance == pytest.approx(2 / 9)


@pytest.mark.parametrize("dimension", [2, 3])
def test_grids(dimension: int) -> None:
    normals, offsets = np.repeat(np.eye(dimension), 4, axis=0), np.tile([-1.5, -0.5, 0.5, 1.5], dimension)
    corner = [-3.0] * dimension
    domain = Rectangle(corner, [6, 0], [0, 6]) if dimension == 2 else Box(corner, [3.0] * dimension)
    found = side_counts(regions.enumerate(arrangement(normals, offsets), domain))
    assert found.inside == 3**dimension and found.counts[2 * dimension] == found.inside
    assert found.mean == found.poisson_mean == 2 * dimension and found.simplices == 0.0


def test_no_region_inside() -> None:
    found = side_counts(regions.enumerate(arrangement([[1, 0], [1, 0]], [0, 1]), PLANE))
    assert found.inside == 0 and isnan(found.mean) and isnan(found.variance) and isnan(found.simplices)
    segments = side_counts(regions.enumerate(Network([([[1]] * 3, [0, 1, 2]), ([[1, 1, 1]], [0])]), Line([0.0], [1.0])))
    assert segments.counts.tolist() == [0, 0, 2] and segments.simplices == segments.poisson_simplices == 1.0


def test_random_lines() -> None:
    """Lines through a disc, uniform in direction and distance, seen in its middle."""
    rng, lines = np.random.default_rng(0), 400
    angles, distances = rng.uniform(0, 2 * pi, lines), rng.uniform(0, 1, lines)
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    domain = Rectangle([-0.5, -0.5], [1.0, 0.0], [0.0, 1.0])
    found = side_counts(regions.enumerate(arrangement(normals, -distances), domain))
    error = sqrt(found.poisson_simplices * (1 - found.poisson_simplices) / found.inside)
    # Regions next to each other are not independent, and fewer large ones are inside: hence twice the usual room.
    assert found.inside > 5000 and abs(found.simplices - found.poisson_simplices) < 8 * error
    assert abs(found.mean - 4) < 0.05 and abs(found.variance - found.poisson_variance) < 0.1
