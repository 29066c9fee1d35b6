# SPDX-License-Identifier: MIT
"""Are the strata of a boundary right in three and more dimensions, by hand and by Hanin and Rolnick's theorem?"""

from __future__ import annotations

from math import comb, sqrt

import numpy as np
import pytest

import regions
from regions import measures
from regions.constructions import arrangement
from regions.domains import Box, Polytope
from regions.ensembles import Ensemble, Gaussian
from regions.measures import boundary_volume
from regions.networks.network import Network

CUBE = Box([-1.0] * 3, [1.0] * 3)


def strata(net: Network, domain: Polytope = CUBE) -> tuple[list[float], list[float]]:
    """Return the strata of the activation boundary, and of the gradient's."""
    part = regions.enumerate(net, domain)
    return boundary_volume(part).strata.tolist(), boundary_volume(part, "gradient").strata.tolist()


@pytest.mark.parametrize("dimension", [3, 4, 5])
def test_coordinate_planes(dimension: int) -> None:
    net, box = arrangement(np.eye(dimension)), Box([-1.0] * dimension, [1.0] * dimension)
    by_hand = [comb(dimension, k) * 2.0 ** (dimension - k) for k in range(1, dimension + 1)]
    ours, jumps = strata(net, box)
    assert ours == pytest.approx(by_hand, rel=1e-13) and jumps == pytest.approx(by_hand, rel=1e-13)


def test_one_plane_and_none() -> None:
    assert strata(arrangement([[1, 0, 0]])) == ([4.0, 0.0, 0.0],) * 2
    assert strata(arrangement([[1, 0, 0]] * 2)) == ([4.0, 0.0, 0.0],) * 2
    assert strata(arrangement([[0, 0, 0]])) == ([0.0, 0.0, 0.0],) * 2


def test_planes_through_a_line() -> None:
    # x = 0, y = 0, and x + y = 0, which cuts the cube in a rectangle of sides 2 and 2 sqrt(2), meet in the z-axis.
    ours, jumps = strata(arrangement([[1, 0, 0], [0, 1, 0], [1, 1, 0]]))
    assert ours == jumps == pytest.approx([8 + 4 * sqrt(2), 2.0, 0.0], rel=1e-13)


def test_a_plane_without_a_jump() -> None:
    # z has no path to the output: x = 0 and y = 0 meet in the z-axis, which has no vertex of its own.
    ours, jumps = strata(Network([(np.eye(3), None), ([[1, 1, 0]], None)]))
    assert (ours, jumps) == ([12.0, 6.0, 1.0], [8.0, 2.0, 0.0])


def test_a_corner_that_only_other_neurons_make() -> None:
    """max(x, y, z) bends at three half-planes around the diagonal, written with ReLUs that meet at the origin too."""
    first = [[1, -1, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]  # x - y, y, -y, z, -z
    second = [[1, 1, -1, -1, 1], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]  # max(x, y) - z, z, -z
    largest = Network([(first, None), (second, None), ([[1, 1, -1]], None)])
    ours, jumps = strata(largest)
    assert jumps == pytest.approx([6 * sqrt(2), 2 * sqrt(3), 0.0], rel=1e-13)
    assert ours[2] == 1.0


def test_sheared_charts_and_other_units() -> None:
    # The chart's unit cube is the parallelepiped of its directions; lengths are those of input space.
    directions = np.array([[2.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 3.0]])
    box = Box.around(np.zeros(4), 1.0, directions)
    net = arrangement([[1.0, -1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    ours, _ = strata(net, box)
    # Chart planes p = 0, q = 0, r = 0: edges of lengths 4, 2 sqrt(2) and 6.
    area = 4 * 2.0  # of the parallelogram of both directions in the first plane
    assert ours == pytest.approx([2 * sqrt(2) * 6 + 4 * 6 + area, 4 + 2 * sqrt(2) + 6, 1.0], rel=1e-13)


def test_densities() -> None:
    found = boundary_volume(regions.enumerate(arrangement(np.eye(3)), CUBE))
    assert found.densities.tolist() == [1.5, 0.75, 0.125] and "strata" not in repr(found)
    simplex = Polytope([[-1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 1, 1]], [1, 1, 1, 1])
    inside = boundary_volume(regions.enumerate(arrangement([[1, 0, 0]]), simplex))
    assert inside.densities[0] == pytest.approx(4.5 / (64 / 6))  # a right triangle with legs of 3


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
def test_both_sides_of_the_theorem_in_a_cube(k: int) -> None:
    random, cube = Ensemble([3, 4, 3, 1], biases=Gaussian(1.0)), measures.Hyperrectangle([-1.0] * 3, [1.0] * 3)
    left = measures.mean_boundary_density(random, cube, networks=100, rng=k, codimension=k)
    right = measures.hanin_rolnick_integral(random, cube, networks=400, rng=10 + k, codimension=k)
    assert left.value > 0 and abs(left.deviation(right)) < 4
