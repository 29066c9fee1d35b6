# SPDX-License-Identifier: MIT
"""Does the search for extremes, which leaves cells out, find what an enumeration finds?

``tests/fuzz_extremes.py`` has many more cases.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import regions
from extremes_judge import difference_of, some_forms, with_small_blocks
from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from polytope_cases import OF_THEIR_OWN, he_normal
from regions import Box, Network, Polygon
from regions.answers import extreme_regions

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
EVERY = FAMILIES | CLIPPED_FAMILIES | GRAPH_FAMILIES | MAX_FAMILIES
DEEP = he_normal([2, 48, 48, 48, 3])


@pytest.mark.parametrize("family", EVERY)
def test_values_and_places_are_those_of_all_regions(family: str) -> None:
    for dimension in (2,) if family in OF_THEIR_OWN else (2, 3):
        net, domain = draw(family, dimension, 11)
        if (dimension > 2 and not domain.bounded) or regions.count(net, domain) > 60:
            continue
        forms = some_forms(net, np.random.default_rng(dimension))
        for blocks in ((2, 8), ()):
            with with_small_blocks(blocks=blocks):
                assert difference_of(net, domain, forms)[0] == ""


@pytest.mark.parametrize("dimension", [2, 3, 4, 5, 6])
def test_generic_networks_in_boxes(dimension: int) -> None:
    net = he_normal([dimension, 8, 6, 2])
    domain = SQUARE if dimension == 2 else Box([-0.5] * dimension, [0.5] * dimension)
    with with_small_blocks():
        difference, found = difference_of(net, domain, np.eye(2), threads=2)
    assert difference == "" and "left" in repr(found)


def test_most_regions_are_left_out() -> None:
    net, box = he_normal([4, 16, 16, 1]), Box([-1] * 4, [1] * 4)
    found = regions.extremes(net, box)
    assert found.regions_met < regions.count(net, box) / 20
    assert repr(found).endswith(f", bounds left {found.regions_met} regions)")
    assert found.as_dict()["regions"] == found.regions_met


def test_all_regions_are_found_on_first_use() -> None:
    found = regions.extremes(DEEP, SQUARE)
    assert found.regions_met < 2000
    again: Any = pickle.loads(pickle.dumps(found))
    assert len(again.partition) == len(found.partition) == regions.count(DEEP, SQUARE)
    for ends, numbers in ((found.argmin, found.argmin_regions), (found.argmax, again.argmax_regions)):
        for end, number in zip(ends, numbers.tolist(), strict=True):
            start, stop = found.partition.cell_offsets[number : number + 2]
            corners = found.partition.vertices[found.partition.cell_vertices[start:stop]]
            assert np.abs(corners - end).sum(axis=1).min() < 1e-9


def test_thresholds_that_are_too_high_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = regions.extremes(DEEP, SQUARE).exact_maximum
    for off in (1e-9, 1e-3, 1e3):
        with monkeypatch.context() as patch:
            patch.setattr(extreme_regions._Search, "_thresholds", lambda self, off=off: self.best + off)
            found = regions.extremes(DEEP, SQUARE)
        assert found.exact_maximum == exact


def test_an_output_that_is_constant_on_many_regions() -> None:
    # The first output is at its least value, 0, on part of the square, and the second one on all of it.
    layers = [(layer.weights, layer.biases) for layer in he_normal([2, 10, 10, 1]).layers]
    flat = Network([*layers, ([[1.0], [0.0]], [0.0, 0.5])])
    with with_small_blocks():
        difference, found = difference_of(flat, SQUARE, np.eye(2))
    assert difference == "" and "left" in repr(found)
    assert found.exact_minimum == (0, 0.5) and found.exact_maximum[1] == 0.5
    assert found.argmin[1].tolist() == found.argmax[1].tolist() == [-1.0, -1.0]


def test_of_several_places_the_one_with_the_smallest_coordinates_is_taken() -> None:
    tent = Network([(np.vstack([np.eye(3), -np.eye(3)]), None), (np.ones((1, 6)), None)])  # |x| + |y| + |z|
    cube = Box([-1] * 3, [1] * 3)
    with with_small_blocks():
        found = regions.extremes(tent, cube)
    assert "left" in repr(found)
    assert found.argmax.tolist() == regions.extremes(tent, cube).argmax.tolist() == [[-1.0, -1.0, -1.0]]
    tent = Network([(np.vstack([np.eye(2), -np.eye(2)]), None), (np.ones((1, 4)), None)])  # |x| + |y|
    corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]]
    for first in range(4):
        square = Polygon(corners[first:] + corners[:first])
        with with_small_blocks():
            found = regions.extremes(tent, square)
        assert found.argmax.tolist() == regions.extremes(tent, square).argmax.tolist() == [[-1.0, -1.0]]


def test_a_limit_counts_cells_that_are_left_out() -> None:
    with pytest.raises(regions.LimitReached, match="more than 10 regions;"):
        regions.extremes(DEEP, SQUARE, limit=10)
    with with_small_blocks(), pytest.raises(regions.LimitReached, match="cells that bounds leave out") as stopped:
        regions.extremes(DEEP, SQUARE, limit=20)
    assert len(stopped.value.partial) <= 21


def test_progress_never_goes_back() -> None:
    shares: list[float] = []
    with with_small_blocks():
        regions.extremes(
            he_normal([3, 16, 16, 1]), Box([-1] * 3, [1] * 3), progress=lambda share, _: shares.append(share)
        )
    assert shares == sorted(shares) and all(0 <= share <= 1 for share in shares)


def test_the_largest_difference_of_two_networks() -> None:
    net = he_normal([3, 16, 16, 2])
    other = Network([(np.round(layer.weights * 256) / 256, layer.biases) for layer in net.layers])
    box = Box([-1] * 3, [1] * 3)
    found = regions.compare(net, other, box)
    assert found.extremes.regions_met < found.regions[2] / 10
    assert found.regions[:2] == (regions.count(net, box), regions.count(other, box))
    points = np.random.default_rng(0).uniform(-1, 1, (20_000, 3))
    seen = np.abs(net(points) - other(points)).max(axis=0)
    assert (seen <= found.max_difference).all() and (seen > found.max_difference / 2).all()
