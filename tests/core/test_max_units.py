# SPDX-License-Identifier: MIT
"""Does the core find the regions of networks with max units?

The judge is rational arithmetic. `test_fuzz_slice.py` tries random ones; this file tests special cases.
"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from core_judge import difference
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Maxima, Node, Read, Units
from regions.networks.named_activations import identity
from regions.networks.network import Network

SQUARE = regions.Rectangle([-1, -1], [2, 0], [0, 2])
WHOLE = regions.Plane([0, 0], [1, 0], [0, 1])


def largest_of(rows: list[list[float]], sizes: list[int]) -> Network:
    """Units over the plane; each row is a constant and two weights."""
    table = np.array(rows, dtype=float)
    units = Maxima.of_sizes(sizes)
    hidden = Node(table[:, 0], (Read(Dense(table[:, 1:]), -1),), units, slice(0, units.kinks))
    end = Node(np.zeros(1), (Read(Dense(np.ones((1, len(sizes)))), 0),), Units(1, identity()), slice(units.kinks, None))
    return Network.from_graph(Graph(2, [hidden, end]))


THREE_FROM_A_POINT = [[0, 1, 0], [0, -1, 1], [0, -1, -1]]
CASES = {
    "three from a point": (THREE_FROM_A_POINT, [3], 3, 3),
    # Branches that are largest only on a line or in a point of the envelope have no region.
    "one that touches": ([[0, 1, 0], [0, -1, 0], [0, 0, 0], [-1, 0, 1], [0, 0, 0]], [5], 2, 3),
    "the same twice": ([[0, 1, 0], [0, 1, 0], [0, -1, 0], [0, -1, 0]], [4], 2, 2),
    "all the same": ([[1, 1, 0]] * 4, [4], 1, 1),
    "one arm": ([[1, 1, 0], [0, 0, 1]], [1, 1], 1, 1),
    # A pyramid, whose ridges end in the corners of the square.
    "ridges through corners": ([[0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], [4], 4, 4),
    "a flat top": ([[0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1], [0.5, 0, 0]], [5], 5, 5),
    "two on one line": ([[0, 1, 1], [0, -1, -1], [0, 2, 2], [1, -2, 3], [-1, 5, 0.5]], [2, 3], None, None),
    "many": ([[-(i % 7) / 8, np.cos(i), np.sin(i)] for i in range(24)], [24], None, None),
}


@pytest.mark.parametrize("name", CASES)
def test_cells_of_an_envelope(name: str) -> None:
    rows, sizes, in_square, in_plane = CASES[name]
    net = largest_of(rows, sizes)
    for domain, wanted in ((SQUARE, in_square), (WHOLE, in_plane)):
        assert difference(net, domain) is None
        assert wanted is None or regions.count(net, domain) == wanted
    assert difference(net, regions.Segment([-1.0, -0.75], [1.0, 0.5])) is None
    assert difference(net, regions.Line([0.0, 0.0], [1.0, 0.0])) is None


HUGE = 1.5e308  # the difference of two such is beyond the largest double
TOO_FAR_APART = {
    "one unit": ([[-1e300, HUGE, 0], [0, HUGE, 0], [0, -HUGE, 0]], [3], [1.0, 0.0]),
    "two units": ([[-1e300, HUGE, 0], [0, HUGE, 0], [0, -HUGE, 0], [-1e300, HUGE, 0], [1e300, HUGE, 0], [0, -HUGE, 0]],
                  [3, 3], [1.0, 0.0]),
    "pairs": ([[0, 1, 2], [0.3, 2, 1], [0, HUGE, 0.3 * HUGE], [0, -HUGE, 0.1 * HUGE], [0.1, 1, -1], [0.3, 1, 1]],
              [2, 2, 2], [1.0, 0.3]),
}  # fmt: skip


@pytest.mark.parametrize("case", TOO_FAR_APART)
def test_arms_may_differ_by_more_than_a_double_holds(case: str) -> None:
    rows, sizes, direction = TOO_FAR_APART[case]
    net = largest_of(rows, sizes)
    for domain in (SQUARE, WHOLE, regions.Line([0.0, 0.0], direction)):
        assert difference(net, domain) is None


def test_facets_name_the_arms_on_both_sides() -> None:
    found = regions.enumerate(largest_of(THREE_FROM_A_POINT, [3]), SQUARE)
    inner = found.facet_regions[:, 1] >= 0
    assert sorted(found.facet_kinks[inner].tolist()) == [0, 1, 2]
    assert np.bincount(found.facet_vertices[inner].ravel()).max() == 3  # they meet in one vertex


def test_an_arm_that_is_below_two_others_together_is_not_a_neighbour() -> None:
    # The third branch is as large as the others only on the line x = 0.
    found = regions.enumerate(largest_of([[0, 1, 0], [0, -1, 0], [0, 0, 0]], [3]), SQUARE)
    assert sorted(map(tuple, found.patterns.tolist())) == [(0, 0, 0), (1, 0, 0)]
    assert found.facet_kinks[found.facet_regions[:, 1] >= 0].tolist() == [0]


def test_a_limit_stops_a_count() -> None:
    rows = [[-(i % 7) / 8, np.cos(i), np.sin(i)] for i in range(24)]
    with pytest.raises(regions.LimitReached):
        regions.count(largest_of(rows, [24]), WHOLE, limit=3)
