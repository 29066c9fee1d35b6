# SPDX-License-Identifier: MIT
"""Is every length, area and distance within its bound of the true one?

Networks are degenerate and nearly degenerate, on lines, in polygons and on whole planes. Results are compared with
fractions (`coordinates_judge.py`), and with known numbers.
"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from coordinates_judge import findings
from generator_parts import FAMILIES
from generators import draw
from generators_nearly_degenerate import KINDS, nearly_degenerate
from regions import Network, measures
from regions.constructions import arrangement
from regions.domains import Plane

CORNERS = [[-2, -2], [2, -2], [2, 2], [-2, 2]]


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_nearly_degenerate_networks(kind: str, dimension: int) -> None:
    for seed in range(8):
        network, domain = nearly_degenerate(kind, dimension, seed)
        assert list(findings(regions.enumerate(network, domain))) == [], seed


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_degenerate_families(family: str) -> None:
    for dimension in (1, 2):
        network, domain = draw(family, dimension, 0)
        partition = regions.enumerate(network, domain)
        if len(partition) < 30:
            assert list(findings(partition)) == []


def test_the_error_of_a_strip_matches_its_ends() -> None:
    """2^-50 wide and 4 long: the area, 2^-48, is known to nearly no digit, and the bound says so."""
    network = Network([([[1.0, 0.0], [1.0, 0.0]], [0.7, 0.7 + 2.0**-50]), ([[1.0, 1.0]], [0.0])])
    partition = regions.enumerate(network, regions.Polygon(CORNERS))
    strip = int(partition.volumes.argmin())
    assert 0.0 < partition.volumes[strip] < 2.0**-47
    assert abs(partition.volumes[strip] - 2.0**-48) <= partition.volume_errors[strip] < 2.0**-40
    assert partition[strip].volume_error == partition.volume_errors[strip]
    others = np.delete(np.arange(len(partition)), strip)
    assert (partition.volume_errors[others] < 1e-13 * partition.volumes[others]).all()


def test_what_has_no_end_has_no_error() -> None:
    network = Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    partition = regions.enumerate(network, Plane([0, 0], [1, 0], [0, 1]))
    assert np.isinf(partition.volumes).all() and not partition.volume_errors.any()
    assert np.isinf(partition.facet_volumes).all() and not partition.facet_volume_errors.any()
    assert np.isinf(measures.perimeters(partition)).all() and not measures.perimeter_errors(partition).any()
    boundary = measures.boundary_volume(partition)
    assert boundary.total == np.inf and boundary.total_error == 0.0


def test_points_are_counted_without_an_error() -> None:
    network = Network([([[1.0], [3.0]], [-0.1, -0.7]), ([[1.0, 1.0]], [0.0])])
    boundary = measures.boundary_volume(regions.enumerate(network, regions.Segment([0.0], [1.0])))
    assert boundary.total == 2.0
    assert boundary.total_error == boundary.coincident_error == 0.0
    assert not boundary.layer_errors.any() and not boundary.neuron_errors.any() and not boundary.kink_errors.any()


def test_a_length_beyond_the_doubles_has_no_bound() -> None:
    network = Network([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])])
    partition = regions.enumerate(network, regions.Polygon(1e200 * np.array(CORNERS)))
    assert np.isinf(partition.volumes).all() and np.isinf(partition.volume_errors).all()
    assert np.isfinite(partition.facet_volume_errors).all()


def test_bounds_are_not_larger_than_necessary() -> None:
    """On a generic network: ten digits of every area that is not tiny, and of the boundary."""
    rng = np.random.default_rng(5)
    layers = [(rng.standard_normal((12, 2)), 0.3 * rng.standard_normal(12)), (rng.standard_normal((6, 12)), np.ones(6))]
    partition = regions.enumerate(Network([*layers, (np.ones((1, 6)), [0.0])]), regions.Polygon(CORNERS))
    large = partition.volumes > 1e-3
    assert large.any() and (partition.volume_errors[large] < 1e-10 * partition.volumes[large]).all()
    boundary = measures.boundary_volume(partition)
    assert 0.0 < boundary.total_error < 1e-10 * boundary.total
    assert abs(partition.volumes.sum() - 16.0) <= partition.volume_errors.sum() + 1e-13
    found = measures.distance_in_domain(partition, [[0.1, 0.2]], space="chart")
    assert 0.0 < found.errors[0] < 1e-9


def test_a_chart_with_nearly_parallel_directions_loses_no_digits_of_lengths() -> None:
    """The factor of the chart is rounded once: 2^-40 across, a facet along that direction is known to ten digits."""
    network = Network([([[1.0, 0.0]], [-0.5]), ([[1.0]], [0.0])])
    thin = 2.0**-40
    domain = regions.Domain([0.0, 0.0], [[1.0, 0.0], [1.0, thin]], [[1, 0, 0], [1, 0.25, 0], [1, -0.75, 1], [1, -1, 1]])
    partition = regions.enumerate(network, domain)
    assert list(findings(partition)) == []


def test_sizes_between_corners_that_no_double_reaches() -> None:
    slope, bias = 2.0**-1060, 2.0**-20
    weights = [[slope, 0.0], [slope, 0.0], [0.0, 1.0], [0.0, 1.0]]
    grid = arrangement(weights, [-bias, -bias * (1 + 2.0**-40), 0.0, -1.0])
    partition = regions.enumerate(grid, regions.Plane([0, 0], [1, 0], [0, 1]))
    assert sorted(partition.volumes.tolist()) == [2.0**1000] + 8 * [np.inf]
    assert sorted(partition.volume_errors.tolist()) == 8 * [0.0] + [2.0**948]
    inner = np.isfinite(partition.facet_volumes)
    assert sorted(partition.facet_volumes[inner].tolist()) == [1.0, 1.0, 2.0**1000, 2.0**1000]
    assert sorted(partition.facet_volume_errors[inner].tolist()) == [2.0**-52, 2.0**-52, 2.0**948, 2.0**948]
    assert list(findings(partition)) == []
