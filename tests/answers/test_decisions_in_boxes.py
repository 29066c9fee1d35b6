# SPDX-License-Identifier: MIT
"""Are classes, and the boundary between them, right in three and more dimensions?"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

import regions
from polytope_cases import he_normal
from regions import Box, Network
from regions.errors import DomainError, ShapeMismatchError

CUBE = Box([-1] * 3, [1] * 3)


def integer_network(seed: int) -> Network:
    """Outputs of small integers, which tie in places and on whole regions."""
    rng = np.random.default_rng(seed)
    sizes = [3, 6, 5, 3]
    return Network(
        [(rng.integers(-1, 2, (n, m)), rng.integers(-1, 2, n)) for m, n in zip(sizes, sizes[1:], strict=False)]
    )


@pytest.mark.parametrize("net", [he_normal([3, 10, 10, 4]), integer_network(0), integer_network(5), integer_network(8)])
def test_classes_and_pairs(net: Network) -> None:
    found = regions.decisions(net, CUBE)
    part = found.partition
    values = net(part.interior_points)
    tied = np.sort(values, axis=1)[:, -1] - np.sort(values, axis=1)[:, -2] < 1e-9
    assert (values.argmax(axis=1) == found.classes)[~tied].all()
    for facet, pair in zip(found.facets.tolist(), found.pairs.tolist(), strict=True):
        assert sorted(found.classes[part.facet_regions[facet]].tolist()) == pair
    sizes = found.class_volumes
    assert abs(sum(size for size, _ in sizes.values()) - 8) <= sum(error for _, error in sizes.values()) + 1e-13
    assert np.isclose(sum(size for size, _ in found.between.values()), found.volume)
    for each, point in found.witnesses.items():
        members = part.volumes * (found.classes == each)
        assert part.locate(point) == members.argmax()
    # Neighbouring regions of one class are in one area.
    for facet in np.flatnonzero(part.facet_regions[:, 1] >= 0):
        one, other = part.facet_regions[facet]
        assert found.classes[one] != found.classes[other] or found.areas[one] == found.areas[other]


@pytest.mark.parametrize("net", [he_normal([3, 10, 10, 4]), integer_network(0), integer_network(5), integer_network(8)])
def test_surfaces_between_classes(net: Network) -> None:
    """At the corners of a surface two outputs are equal and the largest, and on each side lies one of the two
    classes."""
    found = regions.decisions(net, CUBE)
    for (low, high), (area, error) in found.between.items():
        surface = found.surface(high, low)
        assert abs(surface.area - area) <= error + surface.error
        assert (found.classes[surface.regions] == [high, low]).all()
        values = net(surface.points)
        assert np.allclose(values[:, low], values[:, high]) and np.allclose(values.max(axis=1), values[:, low])
        inside = found.partition.interior_points[surface.regions[:, 0]]
        for polygon, (start, end) in enumerate(zip(surface.offsets, surface.offsets[1:], strict=False)):
            corners = surface.points[surface.corners[start:end]]
            normal = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
            assert normal @ (inside[polygon] - corners[0]) > 0
        # An edge inside the cube at which the surface ends has a third class beside it.
        for edge in surface.boundary_edges:
            middle = surface.points[edge].mean(axis=0)
            at_end = np.isclose(np.abs(middle).max(), 1)
            assert at_end or (np.isclose(net(middle), net(middle).max()).sum() >= 3)


def test_a_surface_is_the_level_surface_of_a_difference() -> None:
    """With two outputs, all points where they tie are on the boundary."""
    net = he_normal([3, 12, 12, 2])
    *hidden, last = [(layer.weights, layer.biases) for layer in net.layers]
    difference = Network([*hidden, tuple(each[1:] - each[:1] for each in last)])
    surface, level = regions.decisions(net, CUBE).surface(0, 1), regions.level_set(difference, CUBE)
    assert surface.euler_characteristic == level.euler_characteristic
    assert abs(surface.area - level.area) < 1e-9
    assert sorted(surface.genera) == sorted(level.genera) and len(surface.edges) == len(level.edges)


def test_a_logit_has_a_closed_surface() -> None:
    net = Network([(np.vstack([np.eye(3), -np.eye(3)]), None), (np.ones((1, 6)), None)])  # |x| + |y| + |z|
    found = regions.decisions(net, Box([-2] * 3, [2] * 3), threshold=1.0)
    surface = found.surface(0, 1)
    assert surface.closed and surface.genera.tolist() == [0] and abs(surface.area - 4 * sqrt(3)) < 1e-12
    assert abs(surface.enclosed[0] - 4 / 3) < 1e-12 and abs(found.class_volumes[0][0] - 4 / 3) < 1e-12
    assert Counter(surface.exact_vertices()) == Counter(
        tuple(Fraction(sign * (k == axis)) for k in range(3)) for axis in range(3) for sign in (1, -1)
    )
    smallest = regions.decisions(net, Box([-2] * 3, [2] * 3), threshold=1.0, largest=False)
    assert smallest.surface(1, 0).enclosed[0] == pytest.approx(-4 / 3)


def test_four_and_five_dimensions() -> None:
    net = Network([(np.eye(4), None), (np.eye(4), None)])  # the largest coordinate, if it is positive
    found = regions.decisions(net, Box([0] * 4, [1] * 4))
    assert [round(size, 12) for size, _ in found.class_volumes.values()] == [0.25] * 4
    # Two coordinates are equal and the others are smaller: sqrt(2) times a third of the 3-dimensional cube.
    assert all(np.isclose(size, sqrt(2) / 3) for size, _ in found.between.values()) and len(found.between) == 6
    assert len(regions.decisions(he_normal([5, 4, 2]), Box([-1] * 5, [1] * 5)).class_volumes) == 2


def test_distances_from_the_boundary_of_classes() -> None:
    """The class is the largest of x, y and z: the plane x = y is (x - y) / sqrt 2 away from (x, y, z), and so on."""
    found = regions.decisions(Network([(np.eye(3), None), (np.eye(3), None)]), Box([0] * 3, [1] * 3))
    within = found.distance([[0.9, 0.5, 0.1], [0.25, 0.5, 0.5], [0.75, 0.75, 0.75]])
    assert (
        abs(within.distances - [0.4 / sqrt(2), 0, 0]) <= within.errors + 1e-16
    ).all() and within.errors.max() < 1e-12


def test_what_works_in_planes_only_says_so() -> None:
    net = he_normal([3, 4, 2])
    found = regions.decisions(net, CUBE)
    with pytest.raises(DomainError, match=r"curves between classes exist .* or surface\(first, second\)"):
        _ = found.curves
    with pytest.raises(DomainError, match=r"pictures of merged regions.*, such as domain\.section\(point, axes\)"):
        regions.plot(found)
    with pytest.raises(DomainError, match="surfaces between classes exist in 3 dimensions; this domain has 2"):
        regions.decisions(net, CUBE.section()).surface(0, 1)
    with pytest.raises(ValueError, match="first and second must be different classes, both are 1"):
        found.surface(1, 1)
    with pytest.raises(ValueError, match="second must be at most 1"):
        found.surface(0, 2)
    with pytest.raises(ShapeMismatchError, match="3 dimensions"):
        regions.decisions(he_normal([4, 4, 2]), CUBE)
    with pytest.raises(DomainError, match="bounded"):
        regions.decisions(net, regions.Space([0] * 3, np.eye(3)))
