# SPDX-License-Identifier: MIT
"""Are inscribed discs, degrees and diameters right, on generic partitions, thin cells and many-sided domains?

They are compared with scipy's linear programming on single polygons, and its shortest paths between all regions.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse.csgraph import shortest_path

import regions
from partition_cases import SQUARE, drawn, everywhere, families, in_plane
from random_networks import random_network
from regions import bounds
from regions.domains import Domain, Plane, Polygon, Rectangle, Segment
from regions.errors import DomainError, LimitReached, NonFiniteError
from regions.measures import degrees, diameter, inscribed_discs
from regions.measures.exact_discs import exact_discs
from regions.measures.rounded_discs import _bounds, _Edges, _Guess, rounded_discs
from regions.networks.network import Network
from shapes_judge import wrong_discs


def chebyshev_radius(corners: np.ndarray) -> float:
    """Return the largest radius by the linear program itself."""
    edges = np.roll(corners, -1, axis=0) - corners
    normals = np.stack([edges[:, 1], -edges[:, 0]], axis=1) / np.linalg.norm(edges, axis=1, keepdims=True)
    table = np.column_stack([normals, np.ones(len(normals))])
    found = linprog([0, 0, -1], A_ub=table, b_ub=(normals * corners).sum(axis=1), bounds=[(None, None)] * 3)
    return float(-found.fun)


@in_plane
def test_discs_solve_the_linear_program(network: Network, domain: Domain) -> None:
    partition = regions.enumerate(network, domain)
    discs = inscribed_discs(partition)
    # In coordinates of the plane that keep lengths.
    q, _ = np.linalg.qr(domain.directions.T)
    turn = np.sign(np.linalg.det(q.T @ domain.directions.T))
    for region in partition:
        corners = domain.to_input(region.vertices) @ q
        expected = chebyshev_radius(corners if turn > 0 else corners[::-1])
        assert discs.radii[region.index] == pytest.approx(expected, rel=1e-7, abs=1e-12)
        center = domain.to_input(discs.centers[region.index]) @ q
        edges = np.roll(corners, -1, axis=0) - corners
        to_center = center - corners
        heights = turn * (edges[:, 0] * to_center[:, 1] - edges[:, 1] * to_center[:, 0]) / np.linalg.norm(edges, axis=1)
        assert heights.min() == pytest.approx(discs.radii[region.index], rel=1e-7, abs=1e-12)


def test_discs_by_hand() -> None:
    whole = Network([([[1.0, 2.0]], [0.0])])
    for e1, e2 in (([3, 0], [0, 8]), ([-3, 0], [0, 8]), ([3, 0], [0, -8]), ([0, -8], [-3, 0])):  # mirrored or not
        discs = inscribed_discs(regions.enumerate(whole, Rectangle([5, 5], e1, e2)))
        assert discs.radii.tolist() == [1.5] and 3 / 16 <= discs.centers.min() <= discs.centers.max() <= 13 / 16
    discs = inscribed_discs(regions.enumerate(whole, Polygon([[0, 0], [3, 0], [0, 4]])))
    assert discs.radii == pytest.approx([1.0], rel=1e-15)
    assert discs.centers == pytest.approx(np.ones((1, 2)), rel=1e-15)
    circle = [[np.cos(t), np.sin(t)] for t in np.arange(100) * np.pi / 50]
    discs = inscribed_discs(regions.enumerate(whole, Polygon(circle)))
    assert discs.radii == pytest.approx([np.cos(np.pi / 100)], rel=1e-12)


TWO = Polygon([[-2, -2], [2, -2], [2, 2], [-2, 2]])


def first_layer(weights: object, biases: object) -> Network:
    return Network([(weights, biases), (np.ones((1, len(biases))), [0.0])])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("weights", "biases", "largest"),
    [
        # Two triangles, except for corners that are not doubles.
        ([[1, -1]], [2.0**-53], 4 - 8**0.5),
        ([[1 - 2**-52, 1 - 2**-52], [1 - 2**-52, 1 + 2**-51]], [-(2.0**-53), -(2.0**-52)], 4 - 8**0.5),
        # Three lines that meet in (0.7, 0.7), up to rounding of the decimals.
        ([[0.3, -1.1], [0.7, 0.2], [-0.9, 1.3]], [0.56, -0.63, -0.28], None),
        ([[0.1, 0.2], [0.3, -0.1], [0.2, 0.3]], [-0.21, -0.14, -0.35], None),
    ],
)
def test_discs_next_to_edges_as_long_as_the_spacing_of_doubles(
    weights: list[list[float]], biases: list[float], largest: float | None
) -> None:
    partition = regions.enumerate(first_layer(weights, biases), TWO)
    assert list(wrong_discs(partition)) == []
    discs = inscribed_discs(partition)
    if largest:
        assert discs.radii.max() == pytest.approx(largest, rel=1e-15)
    # For each region: between half and all of twice its area over its perimeter.
    exact = partition.exact_vertices().to_float()
    for region, cell in enumerate(np.split(partition.cell_vertices, partition.cell_offsets[1:-1])):
        perimeter = np.linalg.norm(exact[cell] - exact[np.roll(cell, -1)], axis=1).sum()
        least = partition.volumes[region] / perimeter
        assert least * (1 - 1e-9) - 1e-15 <= discs.radii[region] <= 2 * least * (1 + 1e-9) + 1e-15


SLANTED = Polygon.in_chart([1, 0, 0], [[1, 1, 0], [1, 1.0001, 0.0001]], [[-2, -2], [2, -2], [2, 2], [-2, 2]])
NEARLY_PARALLEL = Rectangle([0, 0], [1, 1], [1, 1 + 2**-40])
MIRRORED = Polygon.in_chart([5, 5], [[0, -3], [1e-3, 7]], [[-2, -2], [2, -2], [2, 2], [-2, 2]])


@pytest.mark.parametrize("domain", [SLANTED, NEARLY_PARALLEL, MIRRORED], ids=["slanted", "parallel", "mirrored"])
@pytest.mark.parametrize("seed", range(3))
def test_discs_are_measured_in_input_space(domain: Domain, seed: int) -> None:
    network = random_network([domain.n_in, 6, 5, 2], seed)
    assert list(wrong_discs(regions.enumerate(network, domain))) == []


def test_no_bound_without_an_inside() -> None:
    """A guess that is outside, or NaN, has no bound; one that is inside has a bound, good or bad."""
    corners = np.array([[0.0, 4.0, 4.0, 0.0], [0.0, 0.0, 2.0, 2.0]])[:, :, np.newaxis]
    edges = _Edges.between(corners)
    size, slack = np.array([6.0]), np.array([1e-12])
    for center, touched, least in (
        ([2.0, 1.0], [0, 1, 2], 1.0),
        ([2.0, 0.75], [0, 1, 2], 0.75),
        ([2.0, -3.0], [0, 1, 2], -np.inf),
        ([-1.0, 1.0], [0, 1, 2], -np.inf),
        ([np.nan, 1.0], [0, 1, 2], -np.inf),
    ):
        place = np.array(center)[:, np.newaxis]
        guess = _Guess(place, np.array([1.0]), np.array(touched)[:, np.newaxis])
        low, high = _bounds(edges, guess, place, size, slack)
        assert low == pytest.approx(least, rel=1e-11)
        assert not high < 1.0


@families
def test_discs_of_degenerate_regions_exactly(family: str, dimension: int) -> None:
    for seed in (5, 6):
        network, domain = drawn(family, dimension, seed)
        if domain.bounded:
            assert list(wrong_discs(regions.enumerate(network, domain))) == []


def test_exact_discs_are_the_rounded_ones() -> None:
    partition = regions.enumerate(random_network([2, 8, 8, 1], seed=8), SQUARE)
    (radii, centers), rounded = exact_discs(partition, np.arange(len(partition))), rounded_discs(partition)
    assert (np.abs(radii - rounded.radii) <= rounded.errors).all()
    assert rounded.errors.max() < 1e-12 and 0 < rounded.errors.min()
    assert (partition.locate(centers, space="chart") == np.arange(len(partition))).all()
    circle = Polygon([[np.cos(t), np.sin(t)] for t in np.arange(50) * np.pi / 25])
    whole = regions.enumerate(Network([([[1.0, 2.0]], [0.0])]), circle)
    assert exact_discs(whole, np.arange(1))[0] == pytest.approx([np.cos(np.pi / 50)], rel=1e-14)


def test_discs_on_a_line() -> None:
    partition = regions.enumerate(random_network([2, 5, 5, 1]), Segment([-1, 0], [2, 1]))
    discs = inscribed_discs(partition)
    assert discs.radii == pytest.approx(partition.volumes / 2, rel=1e-12)
    assert (partition.locate(discs.centers, space="chart") == np.arange(len(partition))).all()


@families
def test_discs_of_degenerate_regions(family: str, dimension: int) -> None:
    """Very thin cells: no NaN, no disc larger than the area allows, and no negative radius."""
    for seed in range(3):
        network, domain = drawn(family, dimension, seed)
        if not domain.bounded:
            continue
        partition = regions.enumerate(network, domain)
        discs = inscribed_discs(partition)
        assert (discs.radii >= 0.0).all() and np.isfinite(discs.centers).all()
        if dimension == 2:
            largest = np.abs(domain.directions).max() * np.abs(domain.generators[:, 1:]).max()
            assert (np.pi * discs.radii**2 <= partition.volumes * (1 + 1e-9) + 1e-12 * largest**2).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("exponent", [-1000, -550, 550, 1000])
def test_discs_at_any_scale(exponent: int) -> None:
    """A power of two changes nothing else, although squares are beyond the doubles."""
    network, scale = random_network([2, 6, 5, 1], seed=3), 2.0**exponent
    scaled = Network([(layer.weights, scale * layer.biases) for layer in network.layers])
    expected = inscribed_discs(regions.enumerate(network, SQUARE))
    square = Polygon(scale * SQUARE.generators[:, 1:])
    for domain in (square, Rectangle([-scale, -scale], [2 * scale, 0], [0, 2 * scale])):
        partition = regions.enumerate(scaled, domain)
        found = inscribed_discs(partition)
        assert sorted(found.radii / scale) == pytest.approx(sorted(expected.radii), rel=1e-12)
        # Some regions are strips, with more than one largest disc.
        assert (partition.locate(found.centers, space="chart") == np.arange(len(partition))).all()


@pytest.mark.filterwarnings("error")
def test_discs_of_the_largest_and_the_thinnest() -> None:
    largest = np.finfo(np.float64).max
    whole = Network([([[1.0, 2.0]], [0.0])])
    corners = Polygon([[-largest, -largest], [largest, -largest], [largest, largest], [-largest, largest]])
    assert inscribed_discs(regions.enumerate(whole, corners)).radii == pytest.approx([largest], rel=1e-15)
    assert inscribed_discs(regions.enumerate(whole, Segment([-largest, 0], [0, 0]))).radii.tolist() == [largest / 2]
    with pytest.raises(NonFiniteError, match="the radius of the largest disc in region 0 is beyond the largest double"):
        inscribed_discs(
            regions.enumerate(whole, Polygon.in_chart([0, 0], 1e200 * np.eye(2), 1e200 * SQUARE.generators[:, 1:]))
        )
    thin = Rectangle([0, 0], [1, 0], [0, 1e-300])
    assert inscribed_discs(regions.enumerate(whole, thin)).radii.tolist() == [5e-301]
    # Directions that floating point cannot tell from parallel ones.
    thin = Rectangle([0, 0], [1, 0], [1, 1e-300])
    assert inscribed_discs(regions.enumerate(whole, thin)).radii == pytest.approx([5e-301], rel=1e-15)
    discs = inscribed_discs(regions.enumerate(whole, Rectangle([0, 0], [1, 0], [1, 5e-324])))
    assert discs.radii[0] <= discs.errors[0] == 5e-324


@everywhere
def test_degrees_and_diameter(network: Network, domain: Domain) -> None:
    partition = regions.enumerate(network, domain)
    table = partition.adjacency.toarray()
    assert degrees(partition).tolist() == table.sum(axis=1).tolist()
    steps = shortest_path(partition.adjacency.astype(float), unweighted=True)
    assert diameter(partition) == steps.max()


@families
def test_diameter_of_degenerate_partitions(family: str, dimension: int) -> None:
    partition = regions.enumerate(*drawn(family, dimension, seed=4))
    steps = shortest_path(partition.adjacency.astype(float), unweighted=True)
    assert diameter(partition) == steps.max()
    assert degrees(partition).sum() == 2 * (partition.facet_kinks >= 0).sum()


def test_bounds_on_graphs_hold() -> None:
    network = random_network([2, 16, 16, 1], seed=3)
    partition = regions.enumerate(network, Plane([0, 0], [1, 0], [0, 1]))
    found = degrees(partition)
    assert found.mean() <= bounds.gaines_bi_degree(2, network.widths)
    assert found.min() >= bounds.gaines_bi_min_degree(2, network.widths)
    assert diameter(partition) <= bounds.gaines_bi_diameter(2, network.widths)
    # Lines in general position: a path between opposite unbounded cells crosses all 16.
    lines = regions.enumerate(random_network([2, 16, 1], seed=3), Plane([0, 0], [1, 0], [0, 1]))
    assert diameter(lines) == 16


def test_many_regions_take_seconds() -> None:
    partition = regions.enumerate(random_network([2, 64, 64, 1], seed=4), SQUARE)
    assert len(partition) > 3000
    assert 64 < diameter(partition) < 128
    assert inscribed_discs(partition).radii.max() < 0.5


def test_refusals() -> None:
    network = random_network([2, 4, 1])
    with pytest.raises(DomainError, match="inscribed discs exist in bounded domains"):
        inscribed_discs(regions.enumerate(network, Plane([0, 0], [1, 0], [0, 1])))
    with pytest.raises(LimitReached) as stopped:
        regions.enumerate(network, SQUARE, limit=2)
    for measure in (inscribed_discs, degrees, diameter):
        with pytest.raises(ValueError, match="partial result"):
            measure(stopped.value.partial)
        with pytest.raises(TypeError, match="expected a regions.Partition"):
            measure(network)  # type: ignore[arg-type]
