# SPDX-License-Identifier: MIT
"""Are vertices right to the last bits if weights cancel?

Counts would be right with other vertices, too. Therefore stored coordinates are compared with exact ones. The networks
multiply differences of nearly equal units by up to 1e12; rounded rows know their kinks to 1e-4.
"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from regions import Network
from regions.domains import Domain
from regions.results.partition import Partition

SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
# The error after exact placing: two units in the last place of coordinates of about 1, and the rounding of the test.
LAST_BITS = 2.0**-50


def differences(seed: int, factor: float, width: int = 3, n_in: int = 2) -> Network:
    """``factor * (a - a') + ..`` for units a, a' that differ by about the inverse of the factor."""
    rng = np.random.default_rng(seed)
    weights, biases = rng.standard_normal((width, n_in)), 0.3 * rng.standard_normal(width)
    other = weights + rng.standard_normal(weights.shape) / factor, biases + rng.standard_normal(width) / factor
    first = np.vstack([weights, other[0]]), np.hstack([biases, other[1]])
    second = factor * np.hstack([np.eye(width), -np.eye(width)]), 0.1 * rng.standard_normal(width)
    return Network([first, second, (np.ones((1, width)), [0.0])])


def farthest(partition: Partition) -> float:
    """Return the largest distance of a finite stored vertex from the true one."""
    true = partition.exact_vertices().to_float()
    finite = np.isfinite(true).all(axis=1)
    return float(np.abs(partition.vertices[finite] - true[finite]).max())


@pytest.mark.parametrize("factor", [1e9, 1e12])
@pytest.mark.parametrize("seed", range(5))
def test_where_weights_cancel_vertices_are_right_to_the_last_bits(factor: float, seed: int) -> None:
    partition = regions.enumerate(differences(seed, factor), SQUARE)
    assert partition.vertex_errors.max() <= 2.0**-29
    assert farthest(partition) <= LAST_BITS


@pytest.mark.parametrize("seed", range(5))
def test_on_a_line_they_are_too_and_stay_in_order(seed: int) -> None:
    partition = regions.enumerate(differences(seed, 1e12, width=8), regions.Segment([-1.0, -0.7], [1.0, 0.9]))
    ends = partition.vertices[partition.cell_vertices, 0].reshape(-1, 2)
    assert (ends[:, 0] <= ends[:, 1]).all() and (ends[1:, 0] == ends[:-1, 1]).all()
    assert partition.vertex_errors.max() <= 2.0**-29
    assert farthest(partition) <= LAST_BITS


@pytest.mark.parametrize("domain", [regions.Line([0.1, 0.2], [1, 0.3]), regions.Plane([0, 0], [1, 0], [0, 1])])
def test_without_an_end_the_coordinates_themselves_are_the_measure(domain: Domain) -> None:
    partition = regions.enumerate(differences(1, 1e12), domain)
    finite = np.isfinite(partition.vertices).all(axis=1)
    sizes = np.abs(partition.vertices[finite]).max(axis=1)
    assert (partition.vertex_errors[finite] <= 2.0**-29 * sizes).all()


@pytest.mark.parametrize("workers", [1, 2])
def test_where_lines_are_almost_parallel_vertices_are_placed(workers: int) -> None:
    """Rounded arithmetic knows where such lines meet to 1e-7, and only these vertices are placed again."""
    rng = np.random.default_rng(5)
    below, shift = rng.standard_normal((2, 2)), np.full(2, 8.0)  # units that are on in the whole square
    tilted = np.array([1.0, 0.3]) + 1e-9 * np.arange(1, 7)[:, np.newaxis] * np.array([-0.4, 1.0])
    along = np.linalg.solve(below, [0.3, -1.0])  # through points of one line
    points = rng.uniform(-0.7, 0.7, 6)[:, np.newaxis] * along / np.abs(along).max()
    biases = -(tilted * (points @ below.T + shift)).sum(axis=1)
    partition = regions.enumerate(
        Network([(below, shift), (tilted, biases), (np.ones((1, 6)), [0.0])]), SQUARE, workers=workers
    )
    assert len(partition) > 12
    assert farthest(partition) <= partition.vertex_errors.max() <= 2.0**-45


def test_a_larger_network_pays_for_all_of_its_vertices() -> None:
    """There are more vertices than the first budget allows; each inaccurate vertex extends the budget."""
    partition = regions.enumerate(differences(0, 1e9, width=24), SQUARE)
    assert len(partition) > 500
    assert partition.vertex_errors.max() <= 2.0**-29


def test_no_vertex_of_a_generic_network_is_placed_again() -> None:
    """Exactly placed vertices have bounds of two units in the last place of their coordinates."""
    rng = np.random.default_rng(3)
    shapes = [(16, 2), (16, 16)]
    layers = [(rng.standard_normal(shape) * np.sqrt(2 / shape[1]), 0.1 * rng.standard_normal(16)) for shape in shapes]
    partition = regions.enumerate(Network([*layers, (np.ones((1, 16)), [0.0])]), SQUARE)
    inside = (np.abs(partition.vertices) < 1).all(axis=1)
    assert (partition.vertex_errors[inside] > 2.0**-51 * np.abs(partition.vertices[inside]).max(axis=1)).all()
