# SPDX-License-Identifier: MIT
"""Are affine maps compared exactly?

They are compared with the maps of the reference, as fractions. Hard cases agree up to one part in 2^53, modulo the
first primes, or lie beyond the range of doubles.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import regions
from generators import draw
from partition_cases import families
from raw_from_reference import partition_from_reference, sorted_regions
from regions.domains import Domain, Line, Segment
from regions.networks.network import Network
from regions.passes.modular import primes
from regions.results.cells.equal_maps import equal_maps, numbered

LINE = Line([0.0], [1.0])


def maps_on_line(network: Network) -> list[int]:
    return equal_maps(regions.enumerate(network, LINE)).tolist()


def two_units(first: float, second: float) -> Network:
    """first * relu(x) + second * relu(x)."""
    return Network([([[1.0], [1.0]], None), ([[first, second]], None)])


@pytest.mark.slow
@families
def test_classes_match_the_reference(family: str, dimension: int) -> None:
    for seed in range(3):
        network, domain = draw(family, dimension, seed)
        partition = partition_from_reference(network, domain)
        maps = [tuple(region.output) for region in sorted_regions(network, domain)]
        numbers = {output: number for number, output in enumerate(dict.fromkeys(maps))}
        assert equal_maps(partition).tolist() == [numbers[output] for output in maps]


@pytest.mark.parametrize("scale", [1.0, 2.0**-1074, 2.0**1000, 1e-300])
def test_one_unit_in_the_last_place(scale: float) -> None:
    assert maps_on_line(two_units(scale, -scale)) == [0, 0]
    assert maps_on_line(two_units(scale, np.nextafter(-scale, 0))) == [0, 1]


def test_constants_alone_can_differ() -> None:
    """Two steps up and one down: four times the map is constant, the last time as after the first step."""
    kinks, slopes = -np.arange(6.0), [1.0, -1.0, 1.0, -1.0, -1.0, 1.0]
    network = Network([(np.ones((6, 1)), kinks), ([slopes], [0.125])])
    assert maps_on_line(network) == [0, 1, 2, 3, 4, 5, 2]


def test_maps_that_agree_modulo_the_first_primes() -> None:
    shape = two_units(1.0, 1.0)
    first, second, third = islice(primes(shape.graph), 3)
    assert first * second * third > 2**60
    # Slopes 0 and p; 0 and p q; 0 and p q r: each a product of doubles.
    assert maps_on_line(two_units(float(first), 0.0)) == [0, 1]
    for factors in ([first, second], [first, second, third]):
        layers = [
            ([[float(p)], [1.0]] if not i else [[float(p), 0.0], [0.0, 1.0]], None) for i, p in enumerate(factors)
        ]
        assert next(primes((network := Network([*layers, ([[1.0, 0.0]], None)])).graph)) == first
        assert maps_on_line(network) == [0, 1]


def test_units_that_reach_no_output() -> None:
    """All regions of a layer that is off have one map, whatever lies below it: 2^-1074 is not 0."""
    rng = np.random.default_rng(1)
    below = [
        (rng.standard_normal((8, 1)), rng.standard_normal(8)),
        (rng.standard_normal((8, 8)), rng.standard_normal(8)),
    ]
    off = Network([*below, (-np.eye(8), np.zeros(8)), (np.ones((2, 8)), np.ones(2))])
    assert len(set(maps_on_line(off))) == 1 < len(maps_on_line(off))
    weak = Network([*below, (2.0**-1074 * np.eye(8), np.zeros(8)), (np.ones((2, 8)), np.ones(2))])
    same = Network([*below, (np.eye(8), np.zeros(8)), (np.ones((2, 8)), np.ones(2))])
    assert maps_on_line(weak) == maps_on_line(same) and len(set(maps_on_line(same))) > 1


def test_units_that_are_constant_reach_outputs_by_their_constant() -> None:
    """hard_tanh saturates at -1 and 1: slope 0 on both sides, and not the same."""
    network = Network([([[1.0]], None), ([[3.0]], None)], "hard_tanh")
    assert maps_on_line(network) == [0, 1, 2]


def test_numbers() -> None:
    assert numbered(np.array([5, 3, 5, 9, 3])).tolist() == [0, 1, 0, 2, 1]
    assert numbered(np.array([[1, 2], [2, 1], [1, 2]])).tolist() == [0, 1, 0]


@pytest.mark.parametrize("domain", [Segment([0.0], [1.0]), LINE], ids=["segment", "line"])
def test_one_region(domain: Domain) -> None:
    assert equal_maps(regions.enumerate(Network([([[1.0]], None)]), domain)).tolist() == [0]


def test_a_partition_keeps_its_numbers() -> None:
    absolute = regions.Network([([[1.0], [-1.0], [1.0]], [0.0, 0.0, -1.0]), ([[1.0, 1.0, 0.0]], [0.0])])
    partition = regions.enumerate(absolute, regions.Segment([-1.0], [2.0]))
    assert partition.map_numbers.tolist() == equal_maps(partition).tolist() == [0, 1, 1]
    assert partition.map_numbers is partition.map_numbers and not partition.map_numbers.flags.writeable
