# SPDX-License-Identifier: MIT
"""Is the diameter of the region graph found with few searches, and bounded before it is found?

`test_measures_shapes.py` compares it with scipy on many kinds of partitions.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

import regions
from damage_parts import undamaged
from damages import IN_PLANE
from partition_cases import SQUARE
from random_networks import random_network
from regions.domains import Domain, Plane
from regions.measures import degrees, diameter, region_graph
from regions.measures.region_graph import diameter_bounds
from regions.networks.network import Network

PLANE = Plane([0, 0], [1, 0], [0, 1])
# Each region has a region at the distance of the diameter.
RING = Network([(np.random.default_rng(0).standard_normal((50, 2)), np.zeros(50)), (np.ones((1, 50)), [0])])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "domain", "most_searches"),
    [
        (random_network([2, 60, 1], seed=1), PLANE, 20),  # the diameter is the number of lines
        (random_network([2, 60, 1], 2, "hard_tanh"), PLANE, 20),
        (random_network([2, 60, 1], seed=1), SQUARE, 60),
        (random_network([2, 30, 30, 1], seed=1), PLANE, 150),
        (RING, PLANE, 3),
    ],
)
def test_few_searches(network: Network, domain: Domain, most_searches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    partition = regions.enumerate(network, domain)
    searches: list[int] = []
    search = region_graph._distances
    monkeypatch.setattr(region_graph, "_distances", lambda graph, node: searches.append(node) or search(graph, node))
    assert diameter(partition) == shortest_path(partition.adjacency.astype(float), unweighted=True).max()
    assert len(searches) == len(set(searches)) <= most_searches


def test_brackets() -> None:
    partition = regions.enumerate(random_network([2, 20, 20, 1], seed=3), PLANE)
    steps = shortest_path(partition.adjacency.astype(float), unweighted=True)
    exactly, before = int(steps.max()), (0, len(partition) - 1)
    for searches in range(60):
        least, most = diameter_bounds(partition, searches)
        assert before[0] <= least <= exactly <= most <= before[1]
        before = least, most
    assert diameter_bounds(partition) == (exactly, exactly)
    assert diameter_bounds(partition, 1) == (steps[0].max(), 2 * steps[0].max())


def test_lines_on_top_of_each_other_count_once() -> None:
    net = Network([([[1, 0], [2, 0], [-1, 0], [0, 1]], [0, 0, 0, 0]), ([[1, 1, 1, 1]], [0])])
    assert diameter_bounds(regions.enumerate(net, PLANE)) == (2, 2)


def test_one_region() -> None:
    assert diameter_bounds(regions.enumerate(Network([([[1, 0]], [0])]), SQUARE)) == (0, 0)


def test_regions_in_two_parts() -> None:
    case = IN_PLANE["all_listed_twice"][0](undamaged(random_network([2, 6, 5, 3]), SQUARE))
    with pytest.raises(ValueError, match="are not connected"):
        diameter(case.partition())


def test_degrees_and_diameter_in_boxes() -> None:
    grid = regions.Network([(np.eye(3), [0.0, 0.25, -0.25]), (np.ones((1, 3)), [0.0])])
    part = regions.enumerate(grid, regions.Box([-1] * 3, [1] * 3))
    assert degrees(part).tolist() == [3] * 8 and diameter(part) == 3
    rng = np.random.default_rng(0)
    net = regions.Network(
        [
            (rng.standard_normal((6, 3)), rng.standard_normal(6) / 4),
            (rng.standard_normal((4, 6)), rng.standard_normal(4)),
            (np.ones((1, 4)), [0.0]),
        ]
    )
    part = regions.enumerate(net, regions.Box([-1] * 3, [1] * 3))
    number, longest = degrees(part), 0
    neighbours = [set(part.adjacency[[region]].nonzero()[1].tolist()) for region in range(len(part))]
    assert number.tolist() == [len(each) for each in neighbours] and number.max() > 6
    for start in range(len(part)):
        seen, edge, steps = {start}, {start}, 0
        while edge := set().union(*(neighbours[region] for region in edge)) - seen:
            seen, steps = seen | edge, steps + 1
        longest = max(longest, steps)
    assert diameter(part) == longest > 5
