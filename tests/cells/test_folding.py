# SPDX-License-Identifier: MIT
"""Are exactly those regions reported as folded that are not polygons as stored?

The result is compared with shapely, where its 32 digits are enough, and with polygons made by hand.
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import shapely

import regions
from generators import FAMILIES
from partition_cases import SQUARE, drawn
from random_networks import random_network
from raw_from_reference import raw_from_reference
from regions.domains import Polygon
from regions.networks.network import Network
from regions.results.cells.folding import _simple, _surely_convex
from regions.results.definitions.shapes import merged_polygons
from regions.results.partition import Partition


@pytest.mark.parametrize(
    ("ring", "simple"),
    [
        ([(0, 0), (2, 0), (2, 2), (0, 2)], True),
        ([(0, 0), (0, 2), (2, 2), (2, 0)], False),  # clockwise
        ([(0, 0), (2, 2), (2, 0), (0, 2)], False),  # edges cross
        ([(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)], True),  # a dent
        ([(0, 0), (4, 0), (4, 4), (2, 0), (0, 4)], False),  # a dent down to an edge
        ([(0, 0), (4, 0), (4, 4), (2, -1), (0, 4)], False),  # and beyond it
        ([(0, 0), (2, 0), (4, 0), (4, 4)], True),  # a corner in the middle of a side
        ([(0, 0), (4, 0), (2, 0), (4, 4)], False),  # there and back
        ([(0, 0), (4, 0), (4, 4), (6, 6), (4, 4)], False),  # a corner twice
        ([(0, 0), (4, 0), (4, 4), (6, 6), (5, 5)], False),  # a spike
        ([(0, 0), (1, 1), (2, 2)], False),  # no area
        ([(0, 6), (-5, -6), (5, 2), (-5, 2), (5, -6)], False),  # twice around
    ],
)
def test_simple_polygons_by_hand(ring: list[tuple[int, int]], simple: bool) -> None:
    for start in range(len(ring)):
        assert _simple(ring[start:] + ring[:start]) == simple


@pytest.mark.parametrize("family", FAMILIES)
def test_shapely_finds_nothing_else(family: str) -> None:
    for seed in range(3, 7):
        network, domain = drawn(family, 2, seed)
        if not domain.bounded:
            continue
        partition = regions.enumerate(network, domain)
        folded, polygons = partition.folded_cells(), partition.to_shapely()
        coordinates = np.abs(partition.vertices)
        if coordinates.min(where=coordinates > 0, initial=1.0) < 1e-130 or coordinates.max() > 1e130:
            continue
        if not folded.size:
            assert shapely.is_valid(polygons).all() and shapely.coverage_is_valid(polygons)
            merged = merged_polygons(partition, np.arange(len(partition)) % 2 % len(partition))
            assert shapely.is_valid(merged).all()
        assert set(np.flatnonzero(~shapely.is_valid(polygons))) <= set(folded)
        for cell in folded:
            ring = partition[int(cell)].vertices
            twice = len(np.unique(ring, axis=0)) < len(ring)
            assert twice or not (polygons[cell].is_valid and polygons[cell].exterior.is_ccw)


def test_inside_out() -> None:
    """A triangle two of whose corners are exchanged: a valid polygon, but clockwise."""
    network = Network([([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, -0.5]), ([[1.0, 1.0, 1.0]], [0.0])])
    raw = raw_from_reference(network, SQUARE)
    partition = Partition(network, SQUARE, raw)
    assert partition.folded_cells().tolist() == []
    smallest = int(np.argmin(partition.volumes))
    corners = raw["cell_vertices"][slice(*raw["cell_offsets"][smallest : smallest + 2])]
    raw["vertices"][corners[:2]] = raw["vertices"][corners[1::-1]]
    turned = Partition(network, SQUARE, raw)
    assert turned.to_shapely()[smallest].is_valid
    assert smallest in turned.folded_cells()


def test_backwards_along_the_border() -> None:
    """The ends of a strip's edge on the domain boundary are exchanged."""
    strip = Polygon([[0, 0], [1, 0], [1, 1], [0, 1]])
    network = Network([([[1.0, 0.0], [1.0, 0.0]], [-0.5, -0.5 - 2**-50]), ([[1.0, 1.0]], [0.0])])
    raw = raw_from_reference(network, strip)
    partition = Partition(network, strip, raw)
    assert partition.folded_cells().tolist() == []
    middle = int(np.argmin(partition.volumes))
    corners = raw["cell_vertices"][slice(*raw["cell_offsets"][middle : middle + 2])]
    low = corners[raw["vertices"][corners, 1] == 0.0]
    raw["vertices"][low] = raw["vertices"][low[::-1]]
    assert middle in Partition(network, strip, raw).folded_cells()


@pytest.mark.parametrize("exponent", [-300, -100, 100, 300])
def test_folding_at_any_scale(exponent: int) -> None:
    """Lines in tenths that nearly meet: the folded regions do not depend on a power of two."""
    weights = np.array([[3, -11], [7, 2], [-9, 13], [1, 1], [2, -5]]) / 10
    biases = -(weights @ [0.7, 0.7])
    expected = regions.enumerate(Network([(weights, biases), (np.ones((1, 5)), None)]), SQUARE).folded_cells()
    scale = 2.0**exponent
    network = Network([(weights, biases * scale), (np.ones((1, 5)), None)])
    found = regions.enumerate(network, Polygon(scale * SQUARE.generators[:, 1:]))
    assert len(found.folded_cells()) == len(expected)


def test_what_is_seen_in_floating_point_is_so() -> None:
    """Triangles with a corner on the line through the other two, up to rounding; and ordinary ones.

    Differences of corners are rounded, since one of them is near the origin.
    """
    rng, count = np.random.default_rng(0), 2000
    one, other = rng.uniform(0.25, 1.0, (2, count, 2))
    one *= 0.001
    between = one + rng.uniform(0.0, 1.0, (count, 1)) * (other - one)
    cells = {"cell_vertices": np.arange(3 * count), "cell_offsets": np.arange(0, 3 * count + 1, 3)}

    def judged(third: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rings = np.stack([one, other, third], axis=1)
        triangles = SimpleNamespace(vertices=rings.reshape(-1, 2), **cells)
        exact = [_simple([(int(x * 2.0**80), int(y * 2.0**80)) for x, y in ring]) for ring in rings.tolist()]
        return _surely_convex(triangles), np.array(exact)  # type: ignore[arg-type]

    seen, exact = judged(between)
    assert not (seen & ~exact).any() and 800 < exact.sum() < 1200
    seen, exact = judged(rng.uniform(0.25, 1.0, (count, 2)))
    assert (seen == exact).all() and 800 < exact.sum() < 1200


def test_generic_regions_are_not_folded() -> None:
    partition = regions.enumerate(random_network([2, 16, 16, 1], seed=5), SQUARE)
    assert partition.folded_cells().tolist() == []
    assert min(map(Fraction, partition.volumes.tolist())) > 0
